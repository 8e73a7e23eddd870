/* What surrogates are made of, for the files that make them: on the CPU, and on a GPU. */
#ifndef MILL_SURROGATES_PRIVATE_H
#define MILL_SURROGATES_PRIVATE_H

#include "surrogates.h"

struct mill_trains {
  struct mill_surrogate_setup setup;
  uint64_t width; /* ticks of the recording */
  uint32_t events, types;
  uint32_t *first; /* [types + 1]: those of train e are first[e] … first[e + 1] - 1 */
  uint64_t *time;  /* [events] */
  uint32_t *place; /* [events]: where each stands in the order of ties */
  uint32_t *type;  /* [types]: its number in the recording, for draws */
};

/* The least interval between n events of a train; UINT64_MAX when there is none. */
uint64_t mill_train_least_interval(const uint64_t *time, uint32_t n);

#endif
