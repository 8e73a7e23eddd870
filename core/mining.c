/* The search for episodes and their tests. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mining-private.h"

#include "levels.h"
#include "memory.h"
#include "simulation.h"

/* Candidates of a GPU's first batch, which has thousands at work in the time of one: as many as take a moment at most. */
#define BATCH_MOST (1u << 16)
#define BATCH_LEAST (1u << 12)
#define BATCH_WORK (UINT64_C(1) << 37) /* candidates times events */

/* The most held so far: by the process' peak when it is of this mining, else by what is held now. */
static void measure(struct mill_mining *m)
{
  uint64_t held = mill_memory_held(), peak = mill_memory_peak();
  if (m->slot) {
    m->memory_bytes = __atomic_load_n(&m->slot->account.peak, __ATOMIC_RELAXED);
    return;
  }
  uint64_t most = peak > m->peak_before ? peak : held;
  if (most > m->memory_before && most - m->memory_before > m->memory_bytes)
    m->memory_bytes = most - m->memory_before;
}

static int on_progress(const struct mill_mining_progress *progress, void *self)
{
  struct mill_mining *m = self;
  measure(m);
  return m->progress ? m->progress(progress, m->self) : 0;
}

static int on_tests(uint64_t done, uint64_t all, void *self)
{
  const struct mill_mining *m = self;
  const int surrogates = m->job->significance.kind == MILL_SIGNIFICANCE_SURROGATE;
  const struct mill_mining_progress progress = {
      .candidates = all, .done = done, .wall_s = mill_seconds() - m->begun, .testing = surrogates ? "surrogate" : "episode"};
  return on_progress(&progress, self);
}

/* Tests what was found. */
static int test(struct mill_mining *m, const struct mill_counting_setup *counter, struct mill_counting **counting,
                struct mill_error *error)
{
  const struct mill_stream_info *info = &m->stream->info;
  const int stated = info->start != info->stop;
  const int64_t begin = info->start + 1, end = (int64_t)((uint64_t)info->start + m->duration);
  struct mill_counting_setup here = *counter;
  here.log = NULL; /* surrogates are not what was simulated */
  const struct mill_tests_setup setup = {.options = &m->job->significance,
                                         .episodes = &m->episodes,
                                         .counting = here,
                                         .tick_ps = info->tick_ps,
                                         .duration = m->duration,
                                         .begin = stated && begin < m->first ? begin : m->first,
                                         .end = stated && end > m->last ? end : m->last,
                                         .dither = m->dither,
                                         .to_device = mill_mining_begin_tests,
                                         .refused = mill_mining_tests_refused,
                                         .progress = on_tests,
                                         .self = m};
  const int rc = mill_tests_run(&setup, counting, &m->tests, error);
  mill_mining_end_tests(m);
  return rc;
}

static uint32_t device_batch(uint64_t events)
{
  const uint64_t batch = BATCH_WORK / events;
  return batch < BATCH_LEAST ? BATCH_LEAST : batch < BATCH_MOST ? (uint32_t)batch : BATCH_MOST;
}

static int search(struct mill_mining *m, struct mill_error *error)
{
  const struct mill_job *job = m->job;
  struct mill_team *team = m->slot ? m->slot->team : NULL;
  struct mill_counting *counting = NULL;
  int rc = -1;
  m->episodes.budget = job->memory / 2;
  if (!team && mill_team_create(m->threads, &team, error) < 0)
    return -1;
  const struct mill_stream_info *info = &m->stream->info;
  const struct mill_miner_log log = {m->log, info->start, info->stop};
  const struct mill_counting_setup counter = {.plugin = job->counter.plugin,
                                              .params = job->counter.values,
                                              .event = m->stream->event,
                                              .events = m->events,
                                              .types = m->types,
                                              .ties = job->ties,
                                              .interval = job->interval,
                                              .interval_count = job->interval_count,
                                              .threshold = m->support,
                                              .memory = job->memory - job->memory / 2,
                                              .team = team,
                                              .miner = m->miner,
                                              .log = m->log ? &log : NULL};
  if (mill_counting_open(&counter, &counting, error) < 0)
    goto done;
  measure(m);
  mill_release(m->stream->event);
  m->stream->event = NULL;
  if (job->occurrences && mill_occurrences_open(mill_counting_input(counting), &m->occurrences, error) < 0)
    goto done;
  const struct mill_levels_setup levels = {.counting = counting,
                                           .types = m->types,
                                           .interval_count = job->interval_count,
                                           .threshold = m->support,
                                           .max_length = job->max_length,
                                           .repeats = job->repeats,
                                           .max_candidates = job->max_candidates,
                                           .memory = job->memory,
                                           .workers = mill_team_size(team),
                                           .batch = m->miner ? device_batch(m->events) : 0,
                                           .begun = m->begun,
                                           .progress = on_progress,
                                           .self = m};
  rc = mill_levels_run(&levels, &m->episodes, error);
  measure(m);
  m->complete = rc == 0;
  if (rc == 0 && job->significance.kind != MILL_SIGNIFICANCE_NONE) {
    rc = test(m, &counter, &counting, error);
    measure(m);
  }
done:
  mill_counting_close(counting);
  if (!m->slot)
    mill_team_free(team);
  return rc;
}

int mill_mining_run(struct mill_mining *m, int (*progress)(const struct mill_mining_progress *progress, void *self), void *self,
                    struct mill_error *error)
{
  int rc = 0;
  if (m->ran)
    return mill_fail(error, MILL_USAGE, "mined already");
  if (m->windows.count)
    return mill_place_fail(error, &m->job->place, "window", "the windows are to be mined one by one, as `spikemill mine` does");
  if (m->live)
    return mill_fail(error, MILL_USAGE, "%s: more spikes may come", m->job->spikes);
  m->ran = 1;
  m->begun = mill_seconds();
  m->progress = progress;
  m->self = self;
  m->complete = !m->events;
  if (m->events)
    rc = search(m, error);
  m->tested = rc == 0 && m->job->significance.kind != MILL_SIGNIFICANCE_NONE;
  if (mill_episodes_sort(&m->episodes, m->job->interval, &m->count_hash, rc == 0 ? error : NULL) < 0 ||
      mill_episodes_reduce(&m->episodes, m->job->reduce, rc == 0 ? error : NULL) < 0) {
    m->episodes.levels = 0;
    m->complete = 0;
    rc = -1;
  }
  measure(m);
  m->wall_s = mill_seconds() - m->begun;
  return rc;
}
