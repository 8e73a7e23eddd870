/* The occurrences behind an episode's count: as many as it says, each after the one before. */
#ifndef MILL_OCCURRENCES_H
#define MILL_OCCURRENCES_H

#include <spikemill/counter.h>

/* A recording by types, and room to look for the occurrences of one episode. */
struct mill_occurrences;

/* Copies what it needs of a counter's input: 12 bytes an event, and 16 for each event of the most frequent type. *out is to be
   freed. */
int mill_occurrences_open(const struct mill_counter_input *input, struct mill_occurrences **out, struct mill_error *error);

/* Calls `take` for each occurrence of type[length] with gap[length - 1], in order, with the ticks of its nodes; they are strictly
   ascending. The first one is the one that ends first, the next one the one that ends first of those that start after it, and so
   on; of those that end at one event the one that starts last is taken, and among those with the same start the one whose nodes,
   from the last to the first, are the latest. Stops when `take` returns 1. Returns 0, 1 when it was stopped, or -1 when memory is
   short. */
int mill_occurrences_find(struct mill_occurrences *occurrences, uint32_t length, const uint32_t *type,
                          const struct mill_interval *gap, int (*take)(const int64_t *ticks, void *self), void *self,
                          struct mill_error *error);

void mill_occurrences_free(struct mill_occurrences *occurrences);

#endif
