/* The sieve: candidates of levels 2, 3, … that are made, numbered and culled in a GPU's memory, where the frequent episodes of all levels
   are. Same candidates, order and numbers as on the host (levels-host.c). A batch takes one wait for the device, in which the host gets what
   is frequent of it and, after the last one of a level, how many candidates the next level has. By one thread at a time. */
#ifndef MILL_CUDA_CANDIDATES_H
#define MILL_CUDA_CANDIDATES_H

#include <spikemill/counter.h>
#include "cuda/miner.h"

struct mill_sieve;

struct mill_sieve_setup {
  struct mill_miner *miner;   /* between its begin and end */
  uint32_t intervals;
  int repeats;
  uint64_t threshold;
  uint32_t words;             /* of a result: 1 or 2 */
};

/* *sieve is NULL after a failure: MILL_USAGE for other words, else MILL_RESOURCES, as below. Close takes NULL. */
int mill_sieve_open(const struct mill_sieve_setup *setup, struct mill_sieve **sieve, struct mill_error *error);
void mill_sieve_close(struct mill_sieve *sieve);

/* Level 1: `count` frequent types, ascending. Sets how many candidates level 2 has, at most UINT64_MAX. */
int mill_sieve_begin(struct mill_sieve *sieve, const uint32_t *type, uint32_t count, uint64_t *candidates, struct mill_error *error);

/* Makes candidates first … first + count - 1 of `level`, which is the one after the last that is complete, and room for their results. Sets
   all of *batch but total and last. */
int mill_sieve_make(struct mill_sieve *sieve, uint32_t level, uint64_t first, uint32_t count, struct mill_device_candidates *batch,
                    struct mill_error *error);

/* Those of the batch whose counts reach the threshold, when its results are set. ends: it is the level's last one; then *candidates is set to
   how many the next level has. Else 0, as when batch->last is. */
struct mill_sieve_kept {
  uint32_t count;
  uint64_t candidates;
  const struct mill_device_frequent *episode; /* [count] the sieve's, until the next call */
};
int mill_sieve_cull(struct mill_sieve *sieve, const struct mill_device_candidates *batch, int ends, struct mill_sieve_kept *kept,
                    struct mill_error *error);

#endif
