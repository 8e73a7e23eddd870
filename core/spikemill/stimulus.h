/* Stimuli: input from outside the network. A stimulus gives either events (whole numbers, times a weight, into a receptor) or a
   real-valued current, step by step, for a batch of neurons. It keeps no running state: what it gives is a function of its
   parameters, the neuron and the step, so that a run may start, be cut and be shared out anywhere. */
#ifndef SPIKEMILL_STIMULUS_H
#define SPIKEMILL_STIMULUS_H

#include <spikemill/device.h>
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
  /* Spike files: the parameter key that names the file, or NULL. The core reads it after `prepare` and passes the table to
     `events_from`, which must copy nothing: the table stays valid until `release`. */
  const char *file_key;
  void (*events_from)(void *self, const struct mill_spike_table *table); /* NULL when file_key is */

  /* Largest number of events that one neuron can get in one step. Called after prepare and events_from. */
  uint32_t (*largest)(const void *self);
  /* Writes events[count]; returns 0 when all are zero (events then need not be written), else 1. Any thread. */
  int (*events)(const void *self, const struct mill_stimulus_batch *batch, uint32_t *events);
  /* Writes *value, the current of every neuron in this step, and returns 1; returns 0 for none. Any thread. */
  int (*current)(const void *self, int64_t step, double *value);

  /* Frees self, which `prepare` has made; once, on the thread that prepared it. */
  void (*release)(const struct mill_host *host, void *self);

  /* ABI 0.3, of a stimulus that gives events and whose descriptor has a text for devices. The text defines struct mill_data and
       static inline uint32_t mill_events(const struct mill_data *data, uint32_t neuron, int64_t step)
     with what `events` gives one neuron, in the language of a neuron model. Returns the struct's bytes, which belong to self. NULL: the host
     evaluates the stimulus and sends its events. */
  const void *(*device)(const void *self, size_t *bytes);
};

/* The step that begins at `ms`; -1 after an error that starts with "KEY: ". Times lie within a hundredth of a step of the grid. */
static inline int64_t mill_stimulus_step(const struct mill_host *host, const struct mill_stimulus_target *target, const char *key,
                                         double ms, struct mill_error *error)
{
  int64_t ps = mill_round_int64(ms * 1e9), step = ps / target->dt_ps, rest = ps % target->dt_ps, near = target->dt_ps / 100;
  if (rest <= near)
    return step;
  if (target->dt_ps - rest <= near)
    return step + 1;
  return host->fail(error, MILL_USAGE, "%s: %.10g ms is no whole number of steps of %.10g ms; the nearest are %.10g and %.10g ms",
                    key, ms, target->dt, (double)step * target->dt, (double)(step + 1) * target->dt);
}

/* The steps *start … *stop - 1 of a stimulus with the parameters `start` and `stop` in ms, stop = -1 meaning never. 0, or -1. */
static inline int mill_stimulus_window(const struct mill_host *host, const struct mill_stimulus_target *target, double start_ms,
                                       double stop_ms, int64_t *start, int64_t *stop, struct mill_error *error)
{
  *start = mill_stimulus_step(host, target, "start", start_ms, error);
  *stop = INT64_MAX;
  if (*start < 0)
    return -1;
  if (stop_ms < 0 && stop_ms != -1)
    return host->fail(error, MILL_USAGE, "stop: expected a time from 0 ms on, or -1 for never, not %.10g ms", stop_ms);
  if (stop_ms >= 0)
    *stop = mill_stimulus_step(host, target, "stop", stop_ms, error);
  if (*stop < 0)
    return -1;
  if (*stop < *start)
    return host->fail(error, MILL_USAGE, "stop: %.10g ms is before the start at %.10g ms", stop_ms, start_ms);
  return 0;
}

#ifdef __cplusplus
}
#endif
#endif
