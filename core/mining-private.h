/* A mining, for the files that implement it. */
#ifndef MILL_MINING_PRIVATE_H
#define MILL_MINING_PRIVATE_H

#include <pthread.h>

#include <spikemill/mining.h>
#include "choice.h"
#include "cuda/miner.h"
#include "episodes.h"
#include "job.h"
#include "memory.h"
#include "occurrences.h"
#include "significance.h"
#include "stream.h"
#include "threads.h"
#include "truth.h"
#include "windows.h"

/* Where windows of a mining are mined one after the other, beside other slots: each has a thread of its own. */
struct mill_mining_slot {
  struct mill_miner *miner;  /* its own; that of the whole in the first slot; NULL: the CPU */
  struct mill_miner *tester; /* likewise, of tests: its own once they have begun; NULL in the first slot */
  struct mill_team *team;
  struct mill_memory_account account; /* of the window at hand */
  int first;
};

struct mill_mining {
  struct mill_job *job;
  struct mill_stream *stream;
  struct mill_miner *miner;    /* the GPU that counts; NULL: the CPU does. Of a window: its whole's */
  struct mill_spike_log *log;  /* of a live one, and its windows: the spikes on that GPU; NULL: they are not there */
  struct mill_choice testing;  /* of the whole: the counter of surrogates on the GPU, when the job's cannot; plugin NULL: none */
  struct mill_miner *tester;   /* of the whole: the GPU for it; NULL before tests begin. Of a window: the one in use */
  pthread_mutex_t lock;        /* of the whole: held while a tester is opened, and for `refused` */
  int refused;                 /* of the whole: 1 when a GPU has failed to count in surrogates, and the CPU does so from then on */
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
  struct mill_mining_slot *slot; /* of a window that is mined beside others; else NULL */
  int64_t dither;                /* ticks */
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

int mill_mining_on_gpu(const struct mill_mining *mining);
/* Of mining-device.c: opens the GPU that the job asks for, or that `auto` takes; notes why it is not taken. */
int mill_mining_open_gpu(struct mill_mining *mining, struct mill_error *error);
/* Of tests by surrogates on a GPU, while nothing is counted there: struct mill_tests_setup, to_device; `mining` is its self. Where the job's
   counter does not take streams, what does is opened. It is released by mill_mining_end_tests, after a failure too. */
int mill_mining_begin_tests(int narrow, struct mill_counting_setup *counting, void *mining, struct mill_error *error);
/* Of tests that could not be made there: struct mill_tests_setup, refused. */
int mill_mining_tests_refused(const struct mill_error *reason, void *mining);
void mill_mining_end_tests(struct mill_mining *mining);
/* Of a mining on a GPU, before spikes come: they are kept by their simulation on the GPU that counts, too. */
void mill_mining_take_log(struct mill_mining *live, struct mill_spike_log *log);

/* How many slots windows are best mined in: at least 1. */
uint32_t mill_mining_slots(const struct mill_mining *whole);
/* Opens slot `index` of `count` on the thread that will use it, or another one that does not go on with it. On failure there is nothing to
   close. A slot is closed before the whole is freed. */
int mill_mining_slot_open(struct mill_mining *whole, uint32_t index, uint32_t count, struct mill_mining_slot *slot,
                          struct mill_error *error);
void mill_mining_slot_close(struct mill_mining_slot *slot);
/* While no window is at hand: gives back what it keeps of the device's memory. */
void mill_mining_slot_shed(struct mill_mining_slot *slot);
/* As mill_mining_window, of a whole that is no live one; run and freed by this thread before the slot has another one. */
int mill_mining_slot_window(struct mill_mining *whole, uint64_t index, struct mill_mining_slot *slot, struct mill_mining **window,
                            struct mill_error *error);

/* Reads a job for `run --mine`, which names no spikes, and finds what is wrong with it as far as that can be told without a network. *job is
   to be freed. */
int mill_mining_check_live(const char *path, const char *const *overrides, size_t override_count, struct mill_job **job,
                           struct mill_error *error);

#endif
