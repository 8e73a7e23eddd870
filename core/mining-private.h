/* A mining, for the files that implement it. */
#ifndef MILL_MINING_PRIVATE_H
#define MILL_MINING_PRIVATE_H

#include <spikemill/mining.h>
#include "cuda/miner.h"
#include "episodes.h"
#include "job.h"
#include "occurrences.h"
#include "significance.h"
#include "stream.h"
#include "truth.h"
#include "windows.h"

struct mill_mining {
  struct mill_job *job;
  struct mill_stream *stream;
  struct mill_miner *miner;    /* the GPU that counts; NULL: the CPU does. Of a window: its whole's */
  struct mill_mining *whole;   /* of a window: what it is of, whose the job is; else NULL */
  struct mill_windows windows; /* of the whole */
  uint64_t number;             /* of a window, from 1 */
  int live;                    /* spikes come through mill_mining_push; 1: more of them may */
  uint64_t room;               /* for them, */
  uint64_t between;            /* and how many were between windows so far */
  uint32_t types;
  char **name;               /* [types] */
  uint64_t events, duration; /* duration in ticks */
  int64_t first, last;
  uint64_t support;
  uint32_t threads;
  int64_t dither; /* ticks */
  struct mill_episodes episodes;
  struct mill_occurrences *occurrences; /* NULL: not asked for */
  struct mill_truth *truth;             /* NULL: none */
  struct mill_tests tests;
  int ran, complete, tested;
  uint64_t count_hash, memory_before, peak_before, memory_bytes;
  double begun, wall_s;
  int (*progress)(const struct mill_mining_progress *progress, void *self);
  void *self;
};

/* Reads a job for `run --mine`, which names no spikes, and finds what is wrong with it as far as that can be told without a network. *job is
   to be freed. */
int mill_mining_check_live(const char *path, const char *const *overrides, size_t override_count, struct mill_job **job,
                           struct mill_error *error);

#endif
