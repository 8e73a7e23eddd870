/* For tests that simulate: networks written as text, opened through the library. */
#ifndef NET_H
#define NET_H

#include <unistd.h>

#include <spikemill/spikemill.h>
#include "tap.h"

/* Opens a network given as text; overrides end with NULL. NULL on failure, the reason in *error. */
static inline struct mill_simulation *net_open(const char *text, const char *const *overrides, uint32_t threads, struct mill_error *error)
{
  char path[] = "/tmp/mill-net-XXXXXX";
  struct mill_options how = {overrides, 0, threads, NULL, NULL};
  struct mill_simulation *sim = NULL;
  int file = mkstemp(path);
  FILE *out = file < 0 ? NULL : fdopen(file, "w");
  if (!out)
    bail("cannot write to /tmp");
  fputs(text, out);
  fclose(out);
  while (overrides && overrides[how.override_count])
    how.override_count++;
  memset(error, 0, sizeof *error);
  mill_simulation_open(path, &how, &sim, error);
  unlink(path);
  return sim;
}

/* The same from a checkpoint; it must open. */
static inline struct mill_simulation *net_resume(const char *text, const char *const *overrides, uint32_t threads, const char *checkpoint)
{
  char path[] = "/tmp/mill-net-XXXXXX";
  struct mill_options how = {overrides, 0, threads, NULL, checkpoint};
  struct mill_simulation *sim = NULL;
  struct mill_error error = {0};
  int file = mkstemp(path);
  FILE *out = file < 0 ? NULL : fdopen(file, "w");
  if (!out)
    bail("cannot write to /tmp");
  fputs(text, out);
  fclose(out);
  while (overrides && overrides[how.override_count])
    how.override_count++;
  if (mill_simulation_open(path, &how, &sim, &error) < 0)
    bail("%s", error.text);
  unlink(path);
  return sim;
}

/* The same for a network that must open. */
static inline struct mill_simulation *net(const char *text, const char *const *overrides, uint32_t threads)
{
  struct mill_error error;
  struct mill_simulation *sim = net_open(text, overrides, threads, &error);
  if (!sim)
    bail("%s", error.text);
  return sim;
}

static inline void net_advance(struct mill_simulation *sim, int64_t steps)
{
  struct mill_error error;
  if (mill_simulation_advance(sim, steps, &error) < 0)
    bail("%s", error.text);
}

/* A state of neuron 0 of a population. */
static inline double net_state(struct mill_simulation *sim, const char *population, const char *variable)
{
  double values[4096];
  if (mill_simulation_state(sim, population, variable, values) < 0)
    bail("no state %s.%s", population, variable);
  return values[0];
}

/* Stamps of the spikes of one unit, in steps. */
struct net_spikes {
  uint32_t unit;
  size_t count;
  int64_t stamp[4096];
};

static inline void net_collect(const struct mill_event *events, size_t n, void *self)
{
  struct net_spikes *spikes = self;
  for (size_t i = 0; i < n; i++) {
    if (events[i].unit == spikes->unit && spikes->count < 4096)
      spikes->stamp[spikes->count++] = events[i].tick;
  }
}

static inline uint64_t net_hash(const struct mill_simulation *sim)
{
  struct mill_simulation_report report;
  mill_simulation_report(sim, &report);
  return report.spike_hash;
}

#endif
