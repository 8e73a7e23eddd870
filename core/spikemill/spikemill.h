/* libspikemill: simulate a network from a program. The command `spikemill run` is written with these functions.

   A simulation belongs to one thread at a time; different simulations are independent. Functions that return int return 0, or -1 with
   the error filled. Strings returned belong to the simulation. */
#ifndef SPIKEMILL_SPIKEMILL_H
#define SPIKEMILL_SPIKEMILL_H

#include <stddef.h>
#include <stdint.h>
#include <spikemill/error.h>
#include <spikemill/format.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mill_simulation;

struct mill_options {
  const char *const *overrides; /* texts "section.key=value", as of --set; override_count of them */
  size_t override_count;
  uint32_t threads;             /* 0: as many as this process may use processors */
  const char *folder;           /* output folder, made when missing; NULL: no files */
  const char *resume;           /* checkpoint to go on from; NULL: from the start. Files then hold what follows it */
};

/* Reads a network file, checks it, builds the network and opens the outputs. Fails before anything large is allocated when memory does
   not hold the network (status 4). */
int mill_simulation_open(const char *path, const struct mill_options *options, struct mill_simulation **simulation,
                         struct mill_error *error);

/* Simulates `steps` more steps, 0 or more. Results do not depend on how a run is cut into calls. May go beyond the configured duration
   when no spike file is written, whose head states it (MILL_USAGE else, and after `finish`). Fails with what a full disk or a rule that
   delivers more than it declares says; the simulation is then to be freed. */
int mill_simulation_advance(struct mill_simulation *simulation, int64_t steps, struct mill_error *error);

/* Writes the whole state into a checkpoint file, which appears whole or not at all. Between two calls of advance or after the last one, also
   after `finish`; not while one runs. Brings all weights up to date, which changes no later result. */
int mill_simulation_save(struct mill_simulation *simulation, const char *path, struct mill_error *error);

/* Writes what is left and puts the output files in place; marks them partial when `complete` is 0. Call once, before free; without it no
   file appears. */
int mill_simulation_finish(struct mill_simulation *simulation, int complete, struct mill_error *error);
/* NULL is allowed. Outputs that are not finished are removed. */
void mill_simulation_free(struct mill_simulation *simulation);

/* Every spike, in order of (tick, unit), epoch by epoch, while advance runs. tick is the stamp in steps, unit the global neuron id. */
void mill_simulation_listen(struct mill_simulation *simulation, void (*sink)(const struct mill_event *events, size_t n, void *self), void *self);

struct mill_simulation_report {
  double dt;                    /* ms */
  int64_t first, step, duration; /* first step, next step, configured steps */
  int64_t begun;                /* step from which this process simulated: first, or that of the checkpoint */
  uint64_t seed;
  uint32_t threads, populations, projections, neurons;
  int precision;                /* 0 single, 1 double */
  const char *backend, *device; /* "cpu" or "cuda"; the GPU's name, NULL on the CPU */
  double connect_s;             /* of the set-up: making synapses on the GPU */
  int rows_on_device;           /* 1: the rows of some projections are on the GPU alone; the hash of the weights makes them here too */
  const char *delivery, *plasticity;
  uint64_t synapses, spikes, synaptic_events;
  uint64_t spike_hash;          /* XXH64 over (u64 step stamp, u32 population, u32 neuron), in order */
  uint64_t memory_bytes;        /* held by the network's arrays and by what writes its files */
  double setup_s, wall_s;       /* building; stepping so far */
};
/* At any time between calls; strings belong to the simulation. */
void mill_simulation_report(const struct mill_simulation *simulation, struct mill_simulation_report *report);

/* XXH64 over (u32 projection, u32 source, u32 target, u32 m, u64 bits of the weight as double). Walks all synapses. */
uint64_t mill_simulation_weight_hash(struct mill_simulation *simulation);

struct mill_population_report {
  const char *name, *model;
  uint32_t size;
  uint64_t spikes;
};
/* 0, or -1 when there is no population `index`. */
int mill_simulation_population(const struct mill_simulation *simulation, uint32_t index, struct mill_population_report *report);

/* Copies a state variable of every neuron of a population into values[size]. 0, or -1 when there is no such thing. */
int mill_simulation_state(struct mill_simulation *simulation, const char *population, const char *variable, double *values);

/* Keeps the last 64 × words steps of every neuron of a population as bits, from the next step on; words 1 … 64. */
int mill_simulation_keep_history(struct mill_simulation *simulation, const char *population, uint32_t words, struct mill_error *error);
/* The history of a neuron: words of 64 steps, newest step in bit 0 of word 0; NULL when none is kept. */
const uint64_t *mill_simulation_history(struct mill_simulation *simulation, const char *population, uint32_t neuron);

/* Files that `finish` has put in place: index 0, 1, …; NULL past the last. */
const char *mill_simulation_file(const struct mill_simulation *simulation, uint32_t index);

/* "0.1.0" */
const char *mill_version(void);

#ifdef __cplusplus
}
#endif
#endif
