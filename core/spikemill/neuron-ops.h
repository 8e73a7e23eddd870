/* The neuron interface as the host sees it: what MILL_NEURON_MODEL of <spikemill/neuron.h> exports. */
#ifndef SPIKEMILL_NEURON_OPS_H
#define SPIKEMILL_NEURON_OPS_H

#include <spikemill/network.h>
#include <spikemill/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mill_state_type { MILL_STATE_REAL = 1, MILL_STATE_INT, MILL_STATE_LONG, MILL_STATE_DOUBLE };

struct mill_state_spec {
  const char *name, *unit;
  const char *initial;    /* the expression's text, for people */
  const char *doc;
  uint32_t type;          /* enum mill_state_type */
  uint32_t reserved;
};

/* The unit of a receptor that counts spikes. A network file that sends it weights other than 1 is refused. */
#define MILL_SPIKES "spikes"

struct mill_receptor_spec {
  const char *name, *unit, *doc;
};

/* Consecutive neurons of one population in one step. Columns point at the batch's first neuron. */
struct mill_neuron_batch {
  uint32_t count;          /* ≤ MILL_BATCH */
  uint32_t id;             /* global id of the first */
  int64_t step;
  uint64_t key;
  const void *param;       /* struct mill_param of this precision */
  void *const *state;      /* [state_count] */
  const void *const *input; /* [receptor_count] of mill_real */
  const void *current;     /* [count] of mill_real */
  uint64_t *fired;         /* [(count + 63) / 64] bits, written */
};

/* The functions of one precision. Any thread; no two calls at once for the same neurons. */
struct mill_neuron_code {
  uint32_t real_size, param_size;
  /* Fills the parameter struct; returns NULL or "KEY: reason" (static text). */
  const char *(*derive)(const void *values, double dt, void *param);
  /* Writes initial values into the state columns; of the batch only count, param and state are read. */
  void (*init)(const struct mill_neuron_batch *batch);
  void (*step)(const struct mill_neuron_batch *batch);
};

struct mill_neuron_ops {
  uint32_t state_count, receptor_count;
  const struct mill_state_spec *state;
  const struct mill_receptor_spec *receptor;
  const char *current_unit; /* NULL: takes no real-valued input */
  struct mill_neuron_code code[2]; /* single, double */
};

#ifdef __cplusplus
}
#endif
#endif
