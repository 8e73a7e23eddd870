/* A network file, read: every section checked against its tables, every plugin loaded, nothing built yet. */
#ifndef MILL_NETFILE_H
#define MILL_NETFILE_H

#include <stdint.h>
#include <spikemill/neuron-ops.h>
#include <spikemill/stimulus.h>
#include "choice.h"
#include "connect.h"
#include "expr.h"
#include "ini.h"
#include "value.h"

struct mill_population_setup {
  char *name;
  struct mill_place place;
  struct mill_choice model;
  uint32_t size;
  struct mill_dist *initial;   /* [state_count]; kind -1: the model's own */
};

/* One source to one target: what a [projection.NAME] expands to. */
struct mill_projection_setup {
  char *name;                  /* of the section */
  struct mill_place place;
  struct mill_choice synapse;
  uint32_t source, target, receptor;
  struct mill_connection connection;
  struct mill_edges *edges;    /* shared by the pairs of a section; owned by the first */
  int owns_edges;
  struct mill_dist weight, delay;
};

struct mill_stimulus_setup {
  char *name;
  struct mill_place place;
  struct mill_choice stimulus;
  uint32_t target, receptor;
  struct mill_dist weight;     /* a number */
};

struct mill_record_setup {
  struct mill_place place;
  char *spikes;                /* file name, NULL: none */
  char *state_file, *weight_file;
  uint32_t variable_count;
  struct mill_variable { uint32_t population, state; } *variable;
  int64_t every;               /* steps */
  uint32_t range_count;        /* of `neurons`; 0: all */
  struct mill_range { uint32_t first, last; } *range;
  uint32_t weight_count;
  uint32_t *weight;            /* projections */
  int64_t weights_every;       /* steps; 0: only at the end */
};

struct mill_netfile {
  struct mill_ini *ini;
  struct mill_defines defines;
  char *folder;                /* of the file: "" or ends in '/' */
  double dt;                   /* ms */
  int64_t dt_ps, duration, t0; /* duration and t0 in steps */
  uint64_t seed;
  int precision;               /* 0 single, 1 double */
  int accumulate;              /* bits: 32 or 64 */
  int off_grid;                /* 1: allowed */
  int backend;                 /* 0 auto, 1 cpu, 2 cuda */
  int on_gpu;                  /* what that means here */
  char cpu_reason[512];        /* of auto: why the GPU that there is is not taken; "": it is, or there is none */
  struct mill_choice delivery, plasticity;
  uint32_t history_words;      /* usable words of the histories of plastic synapses' targets */
  uint32_t population_count, projection_count, stimulus_count;
  struct mill_population_setup *population;
  struct mill_projection_setup *projection;
  struct mill_stimulus_setup *stimulus;
  struct mill_record_setup record;
};

/* Reads and checks. `overrides` as for mill_ini_read; with gpu 0 no GPU is taken, nor looked for. Returns 0 with *netfile to be freed, or
   -1. */
int mill_netfile_read(const char *path, const char *const *overrides, size_t override_count, int gpu,
                      struct mill_netfile **netfile, struct mill_error *error);
void mill_netfile_free(struct mill_netfile *netfile);

#endif
