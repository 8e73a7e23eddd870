/* Plastic projections at work: the state that the core owns for them, the rows to visit, and the spikes that leave the histories.
   What must come out is fixed by doc/plasticity.md; <spikemill/plasticity.h> is what strategies see. */
#ifndef MILL_PLASTIC_H
#define MILL_PLASTIC_H

#include <spikemill/plasticity.h>
#include "netfile.h"

struct mill_simulation;
struct mill_unit;

/* The rows to visit for one epoch. During it those of a unit of sources start at its first neuron; then they are put together. */
struct mill_entry_list {
  struct mill_entry *entry; /* [sources] */
  unsigned char *pre;       /* [sources][pre_size] */
};

/* One plastic projection. */
struct mill_plastic_run {
  struct mill_plastic plastic;  /* what strategies see; points at what follows */
  void *param;
  struct mill_decay *decay;
  void **syn;                   /* [syn_count] */
  uint32_t decay_count, sources, targets;
  uint32_t index;               /* of the projection */
  uint32_t source, target;      /* populations */
  /* Rows: traces of the source at k_last, what was applied, whether it has fired. */
  unsigned char *pre;           /* [sources][pre_size] */
  int64_t *k_last, *u;          /* [sources] */
  unsigned char *fired;         /* [sources] */
  /* Anchors of the targets. */
  unsigned char *post;          /* [targets][post_size] */
  int64_t *post_step;           /* [targets] */
  int64_t patience;             /* a row is due when its u lies more steps than this before the end of the epoch */
  struct mill_entry_list list[2]; /* of the simulation's generations */
  int32_t over;                 /* 1: the rule delivered more than it declares */
};

/* Bytes that a plastic projection needs besides its rows and delays; 0 for a static one. Upper estimate for n synapses and a longest delay in
   steps. */
uint64_t mill_plastic_estimate(const struct mill_netfile *file, const struct mill_projection_setup *setup, uint64_t n, uint32_t delay);

/* Words of a history that serves a plastic projection, once delays and the epoch are known. */
uint32_t mill_plastic_words(const struct mill_simulation *simulation, uint32_t projection);

/* Whether a projection's rule is plastic. */
int mill_plastic_is(const struct mill_projection_setup *setup);

/* Bounds of a projection's rule; 0 when it is static. */
int mill_plastic_bounds(const struct mill_projection_setup *setup, double *least, double *most, double *delivered);

/* Fails with the place of a projection: an initial weight that its rule does not allow. */
int mill_plastic_refuse(const struct mill_projection_setup *setup, double weight, uint32_t source, uint32_t target,
                        struct mill_error *error);

/* Fails (MILL_USAGE) with the place of a projection whose rule delivered more than mill_bounds says, so that a sum could have overflowed. */
int mill_plastic_check(const struct mill_simulation *simulation, struct mill_error *error);

/* Builds all plastic projections, once rows, delays, rings and accumulators are there. Initial weights outside the rule's bounds and rules
   without a bound in 32-bit accumulation are refused with their place. */
int mill_plastic_build(struct mill_simulation *simulation, struct mill_error *error);
/* The state of a projection's synapses as it is in the beginning, when its rows are there and its state is not. */
int mill_plastic_columns(struct mill_simulation *simulation, uint32_t projection, struct mill_error *error);
void mill_plastic_free(struct mill_simulation *simulation);

/* After a unit's neurons went through an epoch: spikes that leave the histories go into the anchors, the new ones come in (bits as of
   mill_history_push), and the rows to visit are listed for those of its neurons that are sources. spikes are the unit's. */
void mill_plastic_unit(struct mill_simulation *simulation, struct mill_unit *unit, const uint64_t (*bits)[MILL_BATCH / 64],
                       const struct mill_spike *spikes, uint32_t count);
/* At the end of an epoch, after all units: puts the lists together. */
void mill_plastic_turn(struct mill_simulation *simulation);

/* Applies everything that has arrived before the next step, in every row. Changes no later result. */
void mill_plastic_flush(struct mill_simulation *simulation);

/* Takes histories of another length ([neurons][words]) for a population: those that are not kept go into the anchors. */
void mill_plastic_history(struct mill_simulation *simulation, uint32_t population, const uint64_t *history, uint32_t words);

/* Makes a population's histories `words` long, which is longer than they are (0: there are none yet). */
int mill_plastic_lengthen(struct mill_simulation *simulation, uint32_t population, uint32_t words, struct mill_error *error);

/* The weight of a plastic synapse as it stands. */
double mill_plastic_weight(const struct mill_plastic *plastic, uint64_t synapse);

#endif
