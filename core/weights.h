/* Weights and delays of synapses, and the integer accumulator that each receptor gets: simulation.md "Accumulation is integer
   arithmetic". A synapse's weight and delay are a function of (seed, projection, source, target, m) alone. */
#ifndef MILL_WEIGHTS_H
#define MILL_WEIGHTS_H

#include <stdint.h>
#include <spikemill/error.h>
#include <spikemill/network.h>
#include "connect.h"
#include "threads.h"
#include "value.h"

struct mill_weighing;

/* Passes over all weights of a weighing. */
enum mill_weights_aim {
  MILL_WEIGHTS_MOST,  /* the largest |w|; what was drawn again and clipped */
  MILL_WEIGHTS_SUM,   /* |w| · 2^exponent, rounded up, added to sum[target] */
  MILL_WEIGHTS_STORE, /* w · 2^exponent as weight_bits bits; which became zero */
  MILL_WEIGHTS_BOUND  /* |w| as stored added to sum[target] */
};
struct mill_weights_found {
  double most;
  uint64_t redrawn, clipped, zeroed;
};

/* Passes over synapses whose rows only a device has. Return 0 or -1. */
struct mill_weights_elsewhere {
  void *self;
  int (*pass)(void *self, struct mill_weighing *weighing, enum mill_weights_aim aim, int exponent, uint64_t *sum,
              struct mill_weights_found *found, struct mill_error *error);
  /* |w| of `count` synapses, given by their places in the rows. */
  int (*sample)(void *self, const struct mill_weighing *weighing, uint32_t count, const uint64_t *synapse, double *weight,
                struct mill_error *error);
};

/* What one projection brings to one receptor. */
struct mill_weighing {
  const char *name;                /* of the projection or stimulus, for messages */
  const struct mill_rows *rows;    /* NULL for a stimulus; without columns when only a device has them */
  const struct mill_weights_elsewhere *elsewhere; /* then */
  uint32_t *in_degree;             /* [targets] when all weights are one number, to be released; NULL: not counted, and `sources` is the most it can be */
  uint32_t sources, targets;
  struct mill_dist weight;         /* not used when edges give weights */
  struct mill_dist delay;          /* ms; not used when edges give delays */
  const struct mill_edges *edges;  /* EDGES rule: its columns win */
  uint64_t weight_key, delay_key;
  int varies;                      /* 1: plastic, `weight` is the largest that can be delivered */
  double typical;                  /* when it varies: median of what the initial weights deliver */
  uint32_t largest;                /* stimulus: events that one neuron can get in a step */

  /* Filled by mill_weigh. */
  uint32_t weight_bits, delay_bits;
  int32_t weight_all;
  int64_t most;                    /* largest |weight| in quanta */
  uint32_t delay_all, delay_min, delay_max;
  void *weight_store, *delay_store;
  uint64_t zeroed;                 /* weights that became zero quanta but were not zero */
  uint64_t clipped, redrawn;
  int64_t delay_rounded_from_ps;   /* an example of a delay that was rounded, 0 when none was */
};

/* A receptor's accumulator. */
struct mill_accumulator {
  uint32_t bits;       /* 32 or 64: in */
  int counts;          /* 1: rule (a), all weights equal `scale`, or all are zero; 0: rule (b), scale = 2^-exponent */
  double scale;        /* value of one count */
  int exponent;        /* k of rule (b) */
  uint64_t bound;      /* largest |count| that can arise in one cell */
};

/* Weighs all projections and stimuli of one receptor together: decides (a) or (b), then fills each weighing. Rule (b): B is the
   largest sum over a neuron's incoming synapses of |w|, in 64-bit integers rounded up, stimuli counted `largest` times; k the
   largest with B·2^k < 2^31 (bits = 32) or 2^62 and |w|·2^k < 2^31 (bits = 64); with bits = 32, lowered to where the largest |w| of
   a static synapse is below 2^15 quanta, and is stored in 16 bits, if every median then keeps 2^10 (else left as it is). Should rounding carry a neuron's sum of
   quanta to the limit after all, k is one less. A weighing that brings nothing (no synapses, `largest` 0) has no say and gets
   weight_all 0, and so do weights that are all zero. Warns through mill_note when a median is below 2^10 quanta or weights became
   zero; error (status 2) below 2^6, with the way out (accumulate = int64, or other weights). Non-finite weights are an error that
   names the projection. Adds to `redrawn` and `clipped`. Results do not depend on the team's size. */
int mill_weigh(struct mill_team *team, struct mill_weighing *const *weighings, uint32_t count, const char *receptor,
               struct mill_accumulator *accumulator, struct mill_error *error);

/* Draws (or copies from edges) the delays of one projection into steps: none when all are equal, u8 when all are below 256, else
   u16; above 65535 steps, or 0 steps after rounding half up, is an error. Its text begins with "delay: ", or with file and line of
   an edge. Drawn or listed delays of a projection without synapses are MILL_EPOCH_MAX. Adds to `redrawn` and `clipped`. */
int mill_delay(struct mill_team *team, struct mill_weighing *weighing, int64_t dt_ps, struct mill_error *error);

/* 1 when all delays of the weighing are one number. */
int mill_delay_is_number(const struct mill_weighing *weighing);

/* What follows from the smallest and largest delay of a projection that has synapses. */
void mill_delay_between(struct mill_weighing *weighing, uint32_t low, uint32_t high);

/* Real weight of synapse (source, target, m), before rounding to quanta. */
double mill_weight_draw(const struct mill_weighing *weighing, uint32_t source, uint32_t target, uint32_t m, uint64_t *redraws,
                        uint64_t *clips);

/* Median of |w| over the synapses, those of exactly 0 left out; of many, over a sample at evenly spaced places. 0 when there are none,
   -1 with the error when there is no memory. */
double mill_weight_median(const struct mill_weighing *weighing, struct mill_error *error);

/* 1 when all weights of the weighing are one number. */
int mill_weight_is_number(const struct mill_weighing *weighing);

/* Real weight of a synapse that is in the rows (from edges or drawn), given its source and m; and those of a synapse anywhere. */
double mill_weight_at(const struct mill_weighing *weighing, uint32_t source, uint64_t synapse, uint32_t m, uint64_t *redraws,
                      uint64_t *clips);
void mill_synapse_find(const struct mill_rows *rows, uint32_t sources, uint64_t synapse, uint32_t *source, uint32_t *m);

/* Bytes that the weights and delays of n synapses will take at most, known before anything is built. */
uint64_t mill_weighing_estimate(const struct mill_weighing *weighing, uint64_t synapses);

void mill_weighing_free(struct mill_weighing *weighing);

/* XXH64 over (u32 projection, u32 source, u32 target, u32 m, u64 bits of the double weight quanta × scale), little-endian, rows in
   order, of all projections in order. */
uint64_t mill_weight_hash(const struct mill_network *network);

#endif
