/* The level-wise search for frequent episodes (Cao et al. 2009, section II): every type; every ordered pair of frequent types with every interval;
   then every two frequent episodes α and β of a level of which α without its first node is β without its last one, joined. Only prefixes
   and suffixes of a frequent episode are sure to be frequent when gaps are bounded, and these are the two that are asked for. */
#ifndef MILL_LEVELS_H
#define MILL_LEVELS_H

#include <spikemill/mining.h>
#include "counting.h"
#include "episodes.h"

struct mill_levels_setup {
  struct mill_counting *counting;
  uint32_t types, interval_count;
  uint64_t threshold;
  uint32_t max_length;     /* 1 … MILL_LENGTH_MAX */
  int repeats;
  uint64_t max_candidates; /* of one level */
  uint64_t memory;         /* as the user gave it, for messages; the budget of the episodes is what counts */
  uint32_t workers;        /* a batch has at least so many candidates */
  uint32_t batch;          /* candidates of the first batch, as far as there is room; 0: a few */
  double begun;            /* mill_seconds */
  int (*progress)(const struct mill_mining_progress *progress, void *self); /* may be NULL */
  void *self;
};

/* Mines into `episodes`, which is zeroed but for its budget. 0: there are no more up to max_length. -1 with MILL_RESOURCES when a cap
   stopped it, with MILL_INTERRUPTED when progress returned 1, or with what the counter says; episodes->levels are complete in each
   case. */
int mill_levels_run(const struct mill_levels_setup *setup, struct mill_episodes *episodes, struct mill_error *error);

#endif
