/* Are the frequent episodes more than chance? A p-value for each of two and more nodes, by a model of weak links (significance-model.h)
   or by what surrogates of the recording give (surrogates.h), and from these the false discovery rate q over all candidates that mining
   has tried: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", J. R. Statist. Soc. B 57, 1995. Candidates that were
   not frequent have p = 1. */
#ifndef MILL_SIGNIFICANCE_H
#define MILL_SIGNIFICANCE_H

#include "counting.h"
#include "episodes.h"
#include "significance-job.h"

/* What is known of an episode. */
struct mill_test {
  double expected; /* count under the null: the model's mean, or the mean over the surrogates */
  double strength; /* of mill_model_strength */
  double p, q;
  double threshold; /* of mill_model_threshold at the asked level; NaN when the model's counts do not vary, and with surrogates */
};

struct mill_tests {
  uint64_t count;                      /* tested episodes: all of two and more nodes */
  uint64_t first[MILL_LENGTH_MAX + 1]; /* of each level from 2 on */
  struct mill_test *test;              /* [count]: those of a level in order of index; NULL: nothing was tested */
  uint64_t candidates;                 /* of levels 2 and up, with those that were not frequent */
  uint64_t significant;                /* episodes with q at most what was asked */
};

struct mill_tests_setup {
  const struct mill_significance_options *options;
  const struct mill_episodes *episodes;
  struct mill_counting_setup counting; /* what the episodes were counted with; its team runs the tests, its events are not used */
  int64_t tick_ps;
  uint64_t duration;  /* ticks, ≥ 1 */
  int64_t begin, end; /* first and last tick of the recording; no event lies outside */
  int64_t dither;     /* ticks */
  /* May be NULL. Called when surrogates that a GPU can make are about to be counted, and nothing is counted any more: plugin, params and miner
     of *counting, which are those of `counting` above, may be replaced by others that count them there (mill_counting_takes_streams), in
     times of 32 bits when `narrow`, else of 64; without a miner they are counted on the CPU. Negative: a failure. */
  int (*to_device)(int narrow, struct mill_counting_setup *counting, void *self, struct mill_error *error);
  /* May be NULL. Called when a GPU has failed to count them: 1: the CPU is to do it, 0: that is the failure of the tests. */
  int (*refused)(const struct mill_error *reason, void *self);
  /* May be NULL; called on the caller's thread with how many surrogates (or, with the model, episodes) are done; 1: stop. */
  int (*progress)(uint64_t done, uint64_t all, void *self);
  void *self;
};

/* Tests every episode. *counting is the one that found them: the recording is taken from it, and it is closed (and set to NULL) when that
   is done, so that what it keeps is free for the surrogates. tests is zeroed before. Fails with MILL_USAGE when so few surrogates could
   not give the asked q (below 1) to even one episode, naming the number that could; with MILL_INTERRUPTED; with MILL_RESOURCES; or with what the
   counter says; *tests has nothing then. The results are the same for every number of threads. */
int mill_tests_run(const struct mill_tests_setup *setup, struct mill_counting **counting, struct mill_tests *tests,
                   struct mill_error *error);
void mill_tests_free(struct mill_tests *tests);

/* The test of episode `index` of a level; NULL when there is none. */
const struct mill_test *mill_tests_at(const struct mill_tests *tests, uint32_t level, uint32_t index);

/* q of n tests among `candidates`, those that are not among them having p = 1. p is share[i] / whole, with whole ≥ 1, so that the p of
   surrogates, a fraction of whole numbers, is rounded once and not twice. q[i] = the least of candidates · p / rank over all p not
   below p[i], at most 1. order[n] is room. */
void mill_false_discovery(const double *share, double whole, uint64_t n, uint64_t candidates, double *q, uint64_t *order);

/* The least number of surrogates with which an episode's q can be as low as asked, should none of the surrogates reach the count of any
   of n episodes among the candidates. */
double mill_surrogates_needed(uint64_t n, uint64_t candidates, double q);

/* significance-surrogate.c: counts every episode in the surrogates. reached[test] gets the number of surrogates with at least the
   episode's count, sum[test] the sum of their counts. */
int mill_tests_by_surrogates(const struct mill_tests_setup *setup, struct mill_counting **counting, const struct mill_tests *tests,
                             uint32_t *reached, uint64_t *sum, struct mill_error *error);

struct mill_trains; /* surrogates.h */

/* significance-device.c: the same by `counter`, one that takes streams (mill_counting_takes_streams), in surrogates of these trains, which can
   be made on a device (mill_device_surrogates_can). number[type] are those of the types among the trains, `levels` is the last level with an
   episode; there are less than 2^32 tests. */
int mill_tests_on_device(const struct mill_tests_setup *setup, const struct mill_counting_setup *counter,
                         const struct mill_tests *tests, const struct mill_trains *trains, const uint32_t *number, uint32_t levels,
                         uint32_t *reached, uint64_t *sum, struct mill_error *error);

#endif
