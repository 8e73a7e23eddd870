/* One program from the texts of a network's models, stimuli, synapse rules and strategies: what it holds depends on which of them there are, and on the
   precision and the width of the cells, but on no parameter. */
#ifndef MILL_CUDA_COMPOSE_H
#define MILL_CUDA_COMPOSE_H

#include <spikemill/plugin.h>
#include "cuda/program.h"

#define MILL_PROGRAM_MAX 256u /* models, stimuli, or rules of a program */

struct mill_composition {
  int precision;                      /* 0 single, 1 double */
  uint32_t cell_bits;                 /* 32 or 64 */
  const struct mill_plugin *delivery, *plasticity; /* the second is read when there are rules */
  uint32_t model_count, stimulus_count, rule_count;
  /* each once; stimuli that have a text, rules that are plastic */
  const struct mill_plugin *model[MILL_PROGRAM_MAX], *stimulus[MILL_PROGRAM_MAX], *rule[MILL_PROGRAM_MAX];
  uint32_t stimulus_bytes[MILL_PROGRAM_MAX];                                      /* of their data */
};

/* The index of a plugin in a list of *count, appended when it is not there yet; MILL_PROGRAM_MAX when there is no room. */
uint32_t mill_composition_index(const struct mill_plugin **list, uint32_t *count, const struct mill_plugin *plugin);

/* Compiles it for an architecture, or takes it from the cache. */
int mill_compose(struct mill_compiler *compiler, const struct mill_composition *composition, int major, int minor,
                 struct mill_program_image *image, struct mill_error *error);

#endif
