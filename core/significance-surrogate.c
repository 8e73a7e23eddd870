/* Episodes counted in surrogates. The frequent episodes hold the beginnings of each of them, so that a counter goes through them level by
   level as it does in mining, all being candidates; one that does not occur in a surrogate has no successors there. Threads share out the
   surrogates, each with a counter of its own, and what they add up are whole numbers: their order does not matter. Types that are in
   no episode are left out. A counter that counts in many streams on a GPU, the one of the job or another, does all of it there
   (significance-device.c). */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "significance.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "cuda/device-surrogates.h"
#include "memory.h"
#include "simulation.h"
#include "surrogates.h"

#define BATCH 4096 /* candidates */
#define NONE UINT32_MAX
#define LOOK_S 0.05 /* between two calls of progress */

struct worker {
  struct mill_team *team; /* of this thread alone */
  struct mill_counting *counting;
  struct mill_surrogate_room *room;
  uint32_t *parent[2]; /* [largest level]: which of the kept ones an episode of a level is, or NONE */
  uint64_t *kept;      /* [largest level] */
  uint32_t kept_count;
  uint64_t numbered;                  /* candidates of the level so far, but for the batch */
  uint32_t last;                      /* 1: none of the batch is extended */
  uint32_t count;                     /* of the batch: */
  uint32_t *index;                    /* [BATCH] the episode within its level */
  uint32_t *type, *interval, *prefix; /* [BATCH × levels] and [BATCH] */
  uint64_t *counts;
  uint32_t *reached; /* [tests] */
  uint64_t *sum;
  struct mill_error error;
};

struct surrogates {
  const struct mill_tests_setup *setup;
  const struct mill_tests *tests;
  struct mill_trains *trains;
  uint32_t *number;  /* [types]: that of a type among those in episodes, or NONE */
  uint32_t levels;   /* the last one with an episode */
  uint8_t *extended; /* [tests]: 1 for an episode that another one begins with */
  uint32_t workers;
  struct worker *worker;
  atomic_uint_fast64_t done;
  atomic_int stop, failed; /* failed: 1 + the worker that was the first to fail */
  double shown;
};

/* ---- One surrogate ------------------------------------------------------------------------------------------------------ */

/* Adds the counts of a batch to the results and keeps what occurs. Level 1 has no results. */
static void take_counts(const struct surrogates *s, struct worker *w, uint32_t level)
{
  const struct mill_episodes *episodes = s->setup->episodes;
  uint32_t *parent = w->parent[level & 1];
  for (uint32_t k = 0; k < w->count; k++) {
    const uint32_t index = w->index[k];
    if (level > 1) {
      const uint64_t test = s->tests->first[level] + index;
      w->sum[test] += w->counts[k];
      w->reached[test] += w->counts[k] >= mill_episode_at(episodes, level, index)->count;
    }
    if (w->counts[k] && !w->last) {
      w->kept[w->kept_count] = w->numbered + k;
      parent[index] = w->kept_count++;
    }
  }
  w->numbered += w->count;
  w->count = 0;
}

static int count_batch(const struct surrogates *s, struct worker *w, uint32_t level)
{
  const struct mill_candidates candidates = {.level = level,
                                             .count = w->count,
                                             .first = w->numbered,
                                             .type = w->type,
                                             .interval = level > 1 ? w->interval : NULL,
                                             .parent = level > 1 ? w->prefix : NULL,
                                             .last = w->last,
                                             .total = s->setup->episodes->level[level].count};
  if (w->count && mill_counting_count(w->counting, &candidates, w->counts, &w->error) < 0)
    return -1;
  take_counts(s, w, level);
  return 0;
}

/* Puts an episode into the batch, unless it cannot occur. */
static void add_candidate(const struct surrogates *s, struct worker *w, uint32_t level, uint32_t index)
{
  const struct mill_episodes *episodes = s->setup->episodes;
  const uint32_t prefix = mill_episode_at(episodes, level, index)->prefix;
  uint32_t *type = w->type + (size_t)w->count * level;
  w->parent[level & 1][index] = NONE;
  if (level > 1 && w->parent[~level & 1][prefix] == NONE)
    return;
  mill_episode_nodes(episodes, level, index, type, w->interval + (size_t)w->count * (level - 1));
  for (uint32_t i = 0; i < level; i++)
    type[i] = s->number[type[i]];
  if (level == 1 && type[0] == NONE)
    return;
  w->prefix[w->count] = level > 1 ? w->parent[~level & 1][prefix] : 0;
  w->index[w->count++] = index;
}

/* On the caller's thread, now and then. */
static void show(struct surrogates *s)
{
  const struct mill_tests_setup *setup = s->setup;
  const double now = mill_seconds();
  if (!setup->progress || now - s->shown < LOOK_S)
    return;
  s->shown = now;
  if (setup->progress(atomic_load(&s->done), setup->options->surrogates, setup->self))
    atomic_store(&s->stop, 1);
}

/* Counts the episodes of a level: all, or from level 3 on those that are extended or those that are not, of which the counter keeps
   nothing. Links between two types are wanted at all levels. */
static int count_part(struct surrogates *s, struct worker *w, uint32_t level, uint32_t last)
{
  const uint32_t episodes = s->setup->episodes->level[level].count;
  w->last = last;
  for (uint32_t i = 0; i < episodes; i++) {
    if (level < 3 || s->extended[s->tests->first[level] + i] != last)
      add_candidate(s, w, level, i);
    if (w->count < BATCH && i + 1 < episodes)
      continue;
    if (count_batch(s, w, level) < 0)
      return -1;
    if (w == s->worker)
      show(s);
    if (atomic_load(&s->stop))
      return 1;
  }
  return 0;
}

/* Returns 1 when there is nothing more to count. */
static int count_level(struct surrogates *s, struct worker *w, uint32_t level)
{
  int rc = 0;
  w->kept_count = 0;
  w->numbered = 0;
  if (level < s->levels)
    rc = count_part(s, w, level, 0);
  if (rc == 0 && (level > 2 || level == s->levels))
    rc = count_part(s, w, level, 1);
  if (rc)
    return rc;
  if (level == s->levels || !w->kept_count)
    return 1;
  return mill_counting_keep(w->counting, level, w->kept_count, w->kept, &w->error) < 0 ? -1 : 0;
}

static int begin_counting(const struct surrogates *s, struct worker *w, const struct mill_event *event)
{
  struct mill_counting_setup counting = s->setup->counting;
  counting.event = event;
  counting.events = mill_trains_events(s->trains);
  counting.types = mill_trains_types(s->trains);
  counting.threshold = 1;
  counting.memory /= s->workers;
  counting.team = w->team;
  counting.miner = NULL;
  if (w->counting)
    return mill_counting_restart(w->counting, &counting, &w->error);
  return mill_counting_open(&counting, &w->counting, &w->error);
}

static void count_surrogate(void *self, uint64_t index, uint32_t worker)
{
  struct surrogates *s = self;
  struct worker *w = &s->worker[worker];
  int rc, none = 0;
  if (atomic_load(&s->stop))
    return;
  rc = begin_counting(s, w, mill_surrogate_make(s->trains, index, w->room));
  for (uint32_t level = 1; rc == 0; level++)
    rc = count_level(s, w, level);
  if (rc < 0) {
    atomic_compare_exchange_strong(&s->failed, &none, (int)worker + 1);
    atomic_store(&s->stop, 1);
  }
  atomic_fetch_add(&s->done, 1);
}

/* ---- Workers ------------------------------------------------------------------------------------------------------------ */

static uint32_t largest_level(const struct mill_episodes *episodes)
{
  uint32_t most = 0;
  for (uint32_t n = 1; n <= episodes->levels; n++)
    most = episodes->level[n].count > most ? episodes->level[n].count : most;
  return most;
}

static int worker_open(const struct surrogates *s, struct worker *w, struct mill_error *error)
{
  const uint32_t most = largest_level(s->setup->episodes);
  const uint64_t nodes = (uint64_t)BATCH * s->levels, tests = s->tests->count;
  if (mill_team_create(1, &w->team, error) < 0 || !(w->room = mill_surrogate_room_create(s->trains, error)))
    return -1;
  return (w->parent[0] = mill_allocate_or_fail("parents in a surrogate", most, sizeof **w->parent, error)) &&
                 (w->parent[1] = mill_allocate_or_fail("parents in a surrogate", most, sizeof **w->parent, error)) &&
                 (w->kept = mill_allocate_or_fail("episodes in a surrogate", most, sizeof *w->kept, error)) &&
                 (w->index = mill_allocate_or_fail("episodes of a batch", BATCH, sizeof *w->index, error)) &&
                 (w->type = mill_allocate_or_fail("types of a batch", nodes, sizeof *w->type, error)) &&
                 (w->interval = mill_allocate_or_fail("intervals of a batch", nodes, sizeof *w->interval, error)) &&
                 (w->prefix = mill_allocate_or_fail("parents of a batch", BATCH, sizeof *w->prefix, error)) &&
                 (w->counts = mill_allocate_or_fail("counts of a batch", BATCH, sizeof *w->counts, error)) &&
                 (w->reached = mill_allocate_or_fail("surrogates that reach a count", tests, sizeof *w->reached, error)) &&
                 (w->sum = mill_allocate_or_fail("counts in surrogates", tests, sizeof *w->sum, error))
             ? 0
             : -1;
}

static void worker_close(struct worker *w)
{
  mill_counting_close(w->counting);
  mill_surrogate_room_free(w->room);
  mill_team_free(w->team);
  mill_release(w->parent[0]);
  mill_release(w->parent[1]);
  mill_release(w->kept);
  mill_release(w->index);
  mill_release(w->type);
  mill_release(w->interval);
  mill_release(w->prefix);
  mill_release(w->counts);
  mill_release(w->reached);
  mill_release(w->sum);
}

/* ---- All of them -------------------------------------------------------------------------------------------------------- */

/* Marks the episodes that others begin with. */
static void mark_extended(const struct surrogates *s)
{
  const struct mill_episodes *episodes = s->setup->episodes;
  for (uint32_t level = 3; level <= s->levels; level++)
    for (uint32_t i = 0; i < episodes->level[level].count; i++)
      s->extended[s->tests->first[level - 1] + mill_episode_at(episodes, level, i)->prefix] = 1;
}

/* Numbers the types that are in episodes of two and more nodes. */
static void number_types(const struct surrogates *s, uint32_t types)
{
  const struct mill_episodes *episodes = s->setup->episodes;
  uint32_t next = 0;
  for (uint32_t e = 0; e < types; e++)
    s->number[e] = NONE;
  for (uint32_t i = 0; i < episodes->level[2].count; i++) {
    const struct mill_episode *pair = mill_episode_at(episodes, 2, i);
    s->number[pair->type] = s->number[mill_episode_at(episodes, 1, pair->prefix)->type] = 0;
  }
  for (uint32_t e = 0; e < types; e++)
    if (s->number[e] != NONE)
      s->number[e] = next++;
}

static int take_recording(struct surrogates *s, struct mill_counting **counting, struct mill_error *error)
{
  const struct mill_tests_setup *setup = s->setup;
  const struct mill_counter_input *input = mill_counting_input(*counting);
  const struct mill_surrogate_setup making = {.kind = setup->options->surrogate,
                                              .dither = setup->dither,
                                              .seed = setup->options->seed,
                                              .begin = setup->begin,
                                              .end = setup->end};
  s->number = mill_allocate_or_fail("numbers of types", input->types, sizeof *s->number, error);
  if (!s->number)
    return -1;
  number_types(s, input->types);
  s->trains = mill_trains_create(&making, input, s->number, error);
  mill_counting_close(*counting);
  *counting = NULL;
  return s->trains ? 0 : -1;
}

static int stopped(const struct surrogates *s, struct mill_error *error)
{
  const int failed = atomic_load((atomic_int *)&s->failed);
  if (failed) {
    if (error)
      *error = s->worker[failed - 1].error;
    return mill_fail_within(error, "in a surrogate");
  }
  return mill_fail(error, MILL_INTERRUPTED,
                   "interrupted after %" PRIu64 " of %" PRIu32 " surrogates; every level is complete, nothing is tested",
                   (uint64_t)atomic_load((atomic_uint_fast64_t *)&s->done), s->setup->options->surrogates);
}

/* Finds what counts them on a GPU: 1 when there is something, which *counter is then; 0: nothing; negative: a failure. */
static int on_device(const struct surrogates *s, struct mill_counting_setup *counter, struct mill_error *error)
{
  const struct mill_tests_setup *setup = s->setup;
  *counter = setup->counting;
  if (!counter->miner || !mill_device_surrogates_can(s->trains) || s->tests->count > UINT32_MAX)
    return 0;
  if (setup->to_device && setup->to_device(mill_device_surrogates_are_narrow(s->trains), counter, setup->self, error) < 0)
    return -1;
  return mill_counting_takes_streams(counter) != 0;
}

/* 1: it is done; 0: the CPU is to do it; negative: a failure. */
static int count_on_device(const struct surrogates *s, uint32_t *reached, uint64_t *sum, struct mill_error *error)
{
  const struct mill_tests_setup *setup = s->setup;
  struct mill_counting_setup counter;
  struct mill_error reason = {0};
  const int there = on_device(s, &counter, error);
  if (there <= 0)
    return there;
  if (mill_tests_on_device(setup, &counter, s->tests, s->trains, s->number, s->levels, reached, sum, &reason) == 0)
    return 1;
  if (!setup->refused || !setup->refused(&reason, setup->self)) {
    if (error)
      *error = reason;
    return -1;
  }
  memset(reached, 0, s->tests->count * sizeof *reached);
  memset(sum, 0, s->tests->count * sizeof *sum);
  return 0;
}

int mill_tests_by_surrogates(const struct mill_tests_setup *setup, struct mill_counting **counting, const struct mill_tests *tests,
                             uint32_t *reached, uint64_t *sum, struct mill_error *error)
{
  struct surrogates s = {.setup = setup, .tests = tests, .workers = mill_team_size(setup->counting.team)};
  const uint32_t surrogates = setup->options->surrogates;
  int rc = -1, there;
  while (s.levels < setup->episodes->levels && setup->episodes->level[s.levels + 1].count)
    s.levels++;
  s.worker = mill_allocate_or_fail("workers of surrogates", s.workers, sizeof *s.worker, error);
  s.extended = s.worker ? mill_allocate_or_fail("marks of episodes", tests->count, sizeof *s.extended, error) : NULL;
  if (!s.extended || take_recording(&s, counting, error) < 0)
    goto done;
  if ((there = count_on_device(&s, reached, sum, error)) != 0) {
    rc = there < 0 ? -1 : 0;
    goto done;
  }
  mark_extended(&s);
  for (uint32_t i = 0; i < s.workers; i++)
    if (worker_open(&s, &s.worker[i], error) < 0)
      goto done;
  mill_team_each(setup->counting.team, surrogates, count_surrogate, &s);
  if (atomic_load(&s.stop)) {
    stopped(&s, error);
    goto done;
  }
  for (uint32_t i = 0; i < s.workers; i++) {
    for (uint64_t test = 0; test < tests->count; test++) {
      reached[test] += s.worker[i].reached[test];
      sum[test] += s.worker[i].sum[test];
    }
  }
  rc = 0;
done:
  for (uint32_t i = 0; s.worker && i < s.workers; i++)
    worker_close(&s.worker[i]);
  mill_release(s.worker);
  mill_release(s.extended);
  mill_trains_free(s.trains);
  mill_release(s.number);
  return rc;
}
