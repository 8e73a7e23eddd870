/* Stimuli: input from outside the network. A stimulus gives either events (whole numbers, times a weight, into a receptor) or a
   real-valued current, step by step, for a batch of neurons. It keeps no running state: what it gives is a function of its
   parameters, the neuron and the step, so that a run may start, be cut and be shared out anywhere. */
#ifndef SPIKEMILL_STIMULUS_H
#define SPIKEMILL_STIMULUS_H

#include <spikemill/network.h>
#include <spikemill/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a stimulus drives: one population. */
struct mill_stimulus_target {
  double dt;              /* ms */
  int64_t dt_ps;          /* the same in picoseconds, exact */
  int64_t t0;             /* first step of the run */
  uint64_t key;           /* random key of this stimulus and target */
  uint32_t size;          /* neurons of the population */
  const char *population;
  const char *folder;     /* relative file names start here; "" or ends in '/' */
};

/* A batch of neurons in one step. */
struct mill_stimulus_batch {
  int64_t step;
  uint32_t first;         /* index within the population; a multiple of 64 */
  uint32_t count;         /* ≤ MILL_BATCH */
};

/* Spike files, read by the core on behalf of a stimulus (through the format plugins). Events are sorted by step, then neuron. */
struct mill_spike_table {
  uint64_t count;
  const int64_t *step;    /* stamps in steps: a spike at t has stamp t/dt */
  const uint32_t *neuron;
};

struct mill_stimulus_ops {
  /* Exactly one of `events` and `current` is set. */

  /* Checks parameters and builds tables into *self. An error's text starts with "KEY: " where a key is at fault. */
  int (*prepare)(const struct mill_host *host, const void *params, const struct mill_stimulus_target *target, void **self,
                 struct mill_error *error);
  /* Spike files: the parameter key that names the file, or NULL. The core reads it before `prepare` and passes the table to
     `events_from`, which must copy nothing: the table stays valid until `release`. */
  const char *file_key;
  void (*events_from)(void *self, const struct mill_spike_table *table);

  /* Largest number of events that one neuron can get in one step. Called after prepare and events_from. */
  uint32_t (*largest)(const void *self);
  /* Writes events[count]; returns 0 when all are zero (events then need not be written), else 1. Any thread. */
  int (*events)(const void *self, const struct mill_stimulus_batch *batch, uint32_t *events);
  /* Writes *value, the current of every neuron in this step, and returns 1; returns 0 for none. Any thread. */
  int (*current)(const void *self, int64_t step, double *value);

  void (*release)(const struct mill_host *host, void *self);
};

#ifdef __cplusplus
}
#endif
#endif
