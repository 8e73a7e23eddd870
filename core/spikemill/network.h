/* What plugins see of a network: populations, projections in row form, the delay rings, and the spikes of an epoch.

   Neurons have global ids: population after population in order of declaration. All arrays belong to the core. */
#ifndef SPIKEMILL_NETWORK_H
#define SPIKEMILL_NETWORK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_BATCH 1024u    /* most neurons that a model's batch function gets at once */
#define MILL_EPOCH_MAX 32u  /* most steps of an epoch: the bits of mill_spike.mask */

/* Input that waits for its step: one unsigned cell per slot and neuron of a population, receptor by receptor. A spike of step k
   over delay d adds at slot (k + d) & mask. Addition is modulo 2^bits, so its order does not matter. */
struct mill_ring {
  void *cell;         /* [mask + 1][stride] of uint32_t or uint64_t */
  uint64_t stride;    /* cells per slot: the population's size rounded up to 64 */
  uint32_t mask;      /* slots - 1; slots is a power of two */
  uint32_t bits;      /* 32 or 64 */
  double scale;       /* value of one count: a weight (rule a) or a power of two (rule b); simulation.md "Accumulation" */
};

struct mill_population {
  const char *name;
  uint32_t index;
  uint32_t first;          /* global id of neuron 0 */
  uint32_t size;
  uint32_t receptor_count;
  struct mill_ring *ring;  /* [receptor_count] */
};

/* One source population to one target population. Row s holds the synapses of source neuron s, sorted by (target, draw). */
struct mill_projection {
  const char *name;
  uint32_t index;
  uint32_t source, target;  /* population indices */
  uint32_t receptor;        /* of the target's model */
  uint64_t synapses;
  const uint64_t *row;      /* [source size + 1] */
  const uint32_t *column;   /* [synapses] index within the target population */

  /* Weights in quanta of the ring, as signed integers. weight_bits 0: all are `weight_all`. */
  uint32_t weight_bits;     /* 0, 16, 32 */
  int32_t weight_all;
  const void *weight;       /* [synapses] int16_t or int32_t */

  /* Delays in steps. delay_bits 0: all are `delay_all`. */
  uint32_t delay_bits;      /* 0, 8, 16 */
  uint32_t delay_all;
  const void *delay;        /* [synapses] uint8_t or uint16_t */
  uint32_t delay_min, delay_max;

  const struct mill_plastic *plastic; /* of <spikemill/plasticity.h>; NULL: the weights above are constant. Else they are not used */
};

/* A run of neurons of one population whose input one worker at a time adds up. `first` is a multiple of 64 within the population. */
struct mill_slice {
  uint32_t population;
  uint32_t first, count;
};

struct mill_network {
  double dt;                /* ms */
  uint32_t neurons;
  uint32_t population_count, projection_count;
  const struct mill_population *population;
  const struct mill_projection *projection;
  uint32_t epoch_steps;     /* D */
  uint32_t delay_max;       /* over all projections; 0 when there is none */

  uint32_t workers;         /* threads that simulate */

  /* How populations are shared out: those of population p are slice[slice_of[p]] … slice[slice_of[p + 1] - 1], in ascending order. */
  uint32_t slice_count;
  const struct mill_slice *slice;
  const uint32_t *slice_of; /* [population_count + 1] */
};

/* A neuron's spikes of one epoch: bit b is step epoch.first + b. */
struct mill_spike {
  uint32_t neuron; /* index within its population */
  uint32_t mask;
};

/* A row of a plastic projection that is to be visited for an epoch, as it was before it. */
struct mill_entry {
  uint32_t source;          /* row */
  uint32_t mask;            /* its spikes: bit b is step epoch.first + b; 0: visited because it is due */
  int64_t k_last, u;        /* as in struct mill_run */
  uint32_t fired;
  uint32_t reserved;
};

struct mill_entries {
  const struct mill_entry *entry; /* [count] rows in ascending order */
  const unsigned char *pre;       /* [count] traces of the sources, pre_size bytes each */
  uint32_t count;
};

/* The spikes of the epoch that was simulated last: those of population p are spikes[p][0 … count[p]-1], neurons in ascending order. */
struct mill_epoch {
  int64_t first;
  uint32_t steps;
  const struct mill_spike *const *spikes; /* [populations] */
  const uint32_t *count;                  /* [populations] */
  const struct mill_entries *entries;     /* [projections]; empty for those that are not plastic */
};

#ifdef __cplusplus
}
#endif
#endif
