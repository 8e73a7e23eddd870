/* A simulation from inside: what is built from a network file (build.c), advanced epoch by epoch (engine.c) and recorded (record.c).
   The public face is <spikemill/spikemill.h> (simulation.c). */
#ifndef MILL_SIMULATION_H
#define MILL_SIMULATION_H

#include <stdio.h>

#include <spikemill/delivery.h>
#include <spikemill/neuron-ops.h>
#include <spikemill/stimulus.h>
#include "connect.h"
#include "netfile.h"
#include "order.h"
#include "plastic.h"
#include "stream.h"
#include "threads.h"
#include "weights.h"

/* A stimulus on one population. */
struct mill_stimulus_run {
  const struct mill_stimulus_ops *ops;
  void *self;
  int64_t quanta;              /* of one event */
  uint32_t receptor;
  int64_t *step;               /* [steps] spike table, when it reads a file */
  uint32_t *neuron;
  uint64_t steps;
};

/* A population at work. */
struct mill_population_run {
  const struct mill_neuron_ops *ops;
  const struct mill_neuron_code *code;
  void *param;
  uint64_t key;
  void **column;               /* [state_count], each [size] */
  struct mill_accumulator *accumulator; /* [receptor_count] */
  uint32_t event_count, current_count;
  struct mill_stimulus_run **event, **current;
  uint64_t *history;           /* [size][history_words], newest step in bit 0 of word 0; NULL when nobody asked */
  uint32_t history_words;
  int history_kept;            /* 1: the user asked for it, not only a plastic projection */
  uint32_t plastic_in_count, plastic_out_count; /* plastic projections to and from the population */
  struct mill_plastic_run **plastic_in, **plastic_out;
};

/* Bytes of one cell of a state column. */
static inline size_t mill_state_size(const struct mill_population_run *run, uint32_t state)
{
  const size_t sizes[] = {0, run->code->real_size, 4, 8, 8};
  return sizes[run->ops->state[state].type];
}

/* One cell as a double. */
static inline double mill_state_value(const struct mill_population_run *run, uint32_t state, uint32_t i)
{
  const void *column = run->column[state];
  switch (run->ops->state[state].type) {
  case MILL_STATE_INT: return ((const int32_t *)column)[i];
  case MILL_STATE_LONG: return (double)((const int64_t *)column)[i];
  case MILL_STATE_DOUBLE: return ((const double *)column)[i];
  default: return run->code->real_size == 4 ? (double)((const float *)column)[i] : ((const double *)column)[i];
  }
}

/* The spikes and samples of one epoch. Two exist: one is simulated while the other is delivered and recorded. */
struct mill_generation {
  int64_t first;
  uint32_t steps;              /* 0: empty */
  struct mill_spike **spikes;  /* [populations][size]: during the epoch those of a unit from its first neuron on, then put together */
  uint32_t *count;             /* [populations] */
  struct mill_entries *entries; /* [projections] rows of plastic ones to visit */
  double *sample;              /* [MILL_EPOCH_MAX][samples] */
};

/* Neurons that one worker takes through the epoch: a part of a slice. */
struct mill_unit {
  uint32_t population, first, count; /* count ≤ MILL_BATCH */
  uint32_t spikes;                   /* listed in this epoch */
  uint32_t *rows;                    /* [plastic_out_count] listed in this epoch */
};

/* How far a slice is in this epoch: 0, then claimed by the worker that delivers to it, then open for everybody. */
enum mill_phase { MILL_PHASE_NEW, MILL_PHASE_CLAIMED, MILL_PHASE_OPEN };
struct mill_slice_run {
  uint32_t worker;             /* whose own it is */
  uint32_t opener;             /* who delivered to it in this epoch, and sees to its last units */
  uint32_t unit, units;        /* unit … unit + units - 1 */
  uint32_t phase;              /* atomic */
  uint32_t next;               /* atomic: units taken */
  char pad[40];                /* a cache line each */
};

/* Scratch of a worker. */
struct mill_worker {
  void **input;                /* [largest receptor_count] rows of MILL_BATCH reals */
  void *current;               /* row of MILL_BATCH reals */
  void *zero;
  uint32_t *event;             /* row of MILL_BATCH */
  uint64_t synaptic_events;
  char pad[64];
};

/* Rows of the state file: one variable of one neuron each. */
struct mill_sample_plan {
  uint32_t count;              /* samples in all */
  struct mill_sample { uint32_t population, state, neuron; } *sample; /* by population, variable, neuron */
  uint32_t *of_variable;       /* [variable_count + 1] */
};

/* A CSV file of a run. */
struct mill_table {
  FILE *out; /* NULL: none is open */
  char *path, *part;
};

struct mill_recorder {
  struct mill_writer *writer;  /* NULL: no spike file */
  struct mill_spike_hash *hash;      /* of the whole run */
  struct mill_spike_hash *file_hash; /* of the spikes in the file, when the run was resumed */
  uint64_t before;                   /* spikes that a resumed run had already */
  struct mill_event *event;    /* of one epoch, grows */
  uint64_t event_capacity;
  uint64_t spikes;
  uint64_t *population_spikes;
  struct mill_table state, weights;
  int64_t weights_step;        /* of which weights were written last */
  struct mill_sample_plan plan;
  void (*sink)(const struct mill_event *events, size_t n, void *self);
  void *sink_self;
  char *file[3];               /* put in place */
  uint32_t file_count;
  int failed;                  /* error holds why; the run stops at the end of the call */
  struct mill_error error;
};

/* What a network will need, before anything is allocated. */
struct mill_estimate {
  uint64_t neurons, synapses;              /* synapses: upper estimate for fixed-probability */
  uint64_t synapse_bytes, ring_bytes, state_bytes, transient_bytes, total_bytes;
  struct {
    const struct mill_place *place;        /* of the section that needs most; NULL: no section needs any */
    const char *what;                      /* it needs most of it for */
    uint64_t bytes;
  } largest;
};

struct mill_simulation {
  struct mill_netfile *file;
  struct mill_team *team;
  uint32_t workers;
  struct mill_network network; /* its arrays are the next two */
  struct mill_population *population;
  struct mill_projection *projection;
  struct mill_rows *rows;
  struct mill_weighing *weighing;          /* [projections] then [stimuli] */
  struct mill_weights_elsewhere elsewhere; /* of what a GPU made */
  struct mill_population_run *run;
  struct mill_stimulus_run *stimulus;
  struct mill_plastic_run **plastic;       /* [projections] NULL: static */
  struct mill_gpu *gpu;                    /* NULL: the host simulates */
  const struct mill_plasticity_ops *plasticity;
  const struct mill_delivery_ops *delivery;
  void *delivery_self;
  uint32_t slice_count;
  struct mill_slice *slice;
  uint32_t *slice_of;                      /* [populations + 1] */
  struct mill_slice_run *slice_run;        /* [slices] */
  struct mill_unit *unit;                  /* in order of population and neuron */
  uint32_t unit_count;
  struct mill_generation generation[2];
  uint32_t parity;                         /* of the generation that is simulated */
  struct mill_worker *worker;
  int64_t step;                            /* first of the epoch to simulate */
  int64_t begun;                           /* the step in which this process took over: t0, or that of a checkpoint */
  int64_t until;                           /* of the call in progress */
  struct mill_recorder recorder;
  char *folder;                            /* outputs, NULL: none */
  char *config;                            /* INI text recorded in outputs */
  struct mill_estimate estimate;
  uint64_t memory_bytes;
  double setup_s, wall_s;
  int finished;
};

/* Monotonic time. */
double mill_seconds(void);

void mill_estimate(const struct mill_netfile *file, struct mill_estimate *estimate);
/* Fails (status 4), with the place that needs most, when the estimate is above what is free. */
int mill_estimate_check(const struct mill_estimate *estimate, struct mill_error *error);

/* Builds everything in `simulation` (zeroed but for file, team, workers). */
int mill_build(struct mill_simulation *simulation, struct mill_error *error);
void mill_build_free(struct mill_simulation *simulation);

/* Parts of building, in files of their own. */
int mill_build_populations(struct mill_simulation *simulation, struct mill_error *error);
int mill_build_stimuli(struct mill_simulation *simulation, struct mill_error *error);
int mill_build_slices(struct mill_simulation *simulation, const struct mill_delivery_ops *delivery, struct mill_error *error);
void mill_build_populations_free(struct mill_simulation *simulation);
void mill_build_stimuli_free(struct mill_simulation *simulation);
void mill_build_slices_free(struct mill_simulation *simulation);

/* Makes the rows on the host that only a device has: for what goes through all synapses. */
int mill_build_rows(struct mill_simulation *simulation, struct mill_error *error);

/* Simulates steps step … until-1. */
void mill_engine_run(struct mill_simulation *simulation, int64_t until);
/* The sum of a population's currents in a step, in order of declaration and in the model's precision: 1 and *sum, or 0 when there is none. */
int mill_engine_current(const struct mill_simulation *simulation, uint32_t population, int64_t step, double *sum);
/* Delivers the spikes of the last epoch now, which the next epoch would begin with. */
void mill_engine_settle(struct mill_simulation *simulation);

/* The lines of a configuration as "# config …" comments. */
void mill_write_config(FILE *out, const char *config);

/* Recording: prepare counters and hash, open the files before the first step, take each epoch in order (worker 0), close at the end. */
int mill_record_prepare(struct mill_simulation *simulation, struct mill_error *error);
int mill_record_open(struct mill_simulation *simulation, struct mill_error *error);
void mill_record_epoch(struct mill_simulation *simulation, const struct mill_generation *generation);
/* The same with the spikes in order already, and events if a file or a listener wants them; of the generation, steps and samples are read. */
void mill_record_ordered(struct mill_simulation *simulation, const struct mill_generation *generation,
                         const struct mill_ordered *epoch);
/* Adds to the spikes of each population, and sets spikes[populations] to 0. */
void mill_record_counts(struct mill_simulation *simulation, uint64_t *spikes);
/* The step up to which the run goes on before mill_record_step is called, which records what is due at the step that is reached. */
int64_t mill_record_next(const struct mill_simulation *simulation);
void mill_record_step(struct mill_simulation *simulation);
/* Fails with MILL_USAGE when path is that of a file of the run. */
int mill_record_spares(const struct mill_simulation *simulation, const char *path, struct mill_error *error);
int mill_record_close(struct mill_simulation *simulation, int complete, struct mill_error *error);
void mill_record_abandon(struct mill_simulation *simulation);
void mill_record_free_recorder(struct mill_simulation *simulation);

#endif
