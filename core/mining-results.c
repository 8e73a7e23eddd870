/* What a mining has found, as <spikemill/mining.h> gives it. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mining-private.h"

#include <inttypes.h>

#include <spikemill/device.h>
#include "counting.h"

/* Of a level: how many are frequent, or are listed. */
static uint32_t size_of(const struct mill_episode_level *level, int listed)
{
  return listed ? level->listed : level->count;
}

static uint64_t episode_count(const struct mill_mining *m, int listed)
{
  uint64_t count = 0;
  for (uint32_t n = 1; n <= m->episodes.levels; n++)
    count += size_of(&m->episodes.level[n], listed);
  return count;
}

static void report_tests(const struct mill_mining *m, struct mill_mining_report *report)
{
  static const char *const kinds[] = {
      [MILL_SIGNIFICANCE_NONE] = "none", [MILL_SIGNIFICANCE_MODEL] = "model", [MILL_SIGNIFICANCE_SURROGATE] = "surrogate"};
  const struct mill_significance_options *o = &m->job->significance;
  report->significance = kinds[o->kind];
  report->tested = m->tested;
  report->q = o->q;
  report->tested_candidates = m->tests.candidates;
  report->significant = m->tests.significant;
  report->epsilon = o->epsilon;
  if (o->kind != MILL_SIGNIFICANCE_SURROGATE)
    return;
  report->surrogates = o->surrogates;
  report->surrogate = mill_surrogate_names[o->surrogate];
  report->seed = o->seed;
}

void mill_mining_report(const struct mill_mining *m, struct mill_mining_report *report)
{
  static const char *const ties[] = {[MILL_TIES_ORDER] = "order", [MILL_TIES_STRICT] = "strict"};
  static const char *const reduce[] = {
      [MILL_REDUCE_NONE] = "none", [MILL_REDUCE_CLOSED] = "closed", [MILL_REDUCE_MAXIMAL] = "maximal"};
  const struct mill_job *job = m->job;
  const struct mill_stream *s = m->stream;
  *report = (struct mill_mining_report){.input = job->spikes,
                                        .counter = job->counter.plugin->name,
                                        .exact = (job->counter.plugin->flags & MILL_EXACT) != 0,
                                        .backend = m->miner ? "cuda" : "cpu",
                                        .ties = ties[job->ties],
                                        .events = m->events,
                                        .types = m->types,
                                        .threads = m->threads,
                                        .sorted = s->was_sorted,
                                        .tick_ps = s->info.tick_ps,
                                        .first = m->first,
                                        .last = m->last,
                                        .duration_s = (double)m->duration * (double)s->info.tick_ps / 1e12,
                                        .support = m->support,
                                        .support_text = job->support_text,
                                        .levels = m->episodes.levels,
                                        .complete = m->complete,
                                        .episodes = episode_count(m, 0),
                                        .count_hash = m->count_hash,
                                        .memory_bytes = m->memory_bytes,
                                        .wall_s = m->wall_s,
                                        .spike_hash = s->end.spike_hash,
                                        .max_length = job->max_length,
                                        .repeats = job->repeats,
                                        .interval_count = job->interval_count,
                                        .interval = job->interval,
                                        .intervals_text = job->intervals_text,
                                        .listed = episode_count(m, 1),
                                        .reduce = reduce[job->reduce],
                                        .occurrences = job->occurrences,
                                        .graph = job->graph,
                                        .truth = job->truth,
                                        .windows = (m->whole ? m->whole : m)->windows.count,
                                        .window = m->number,
                                        .window_start = m->number ? s->info.start : 0,
                                        .window_stop = m->number ? s->info.stop : 0};
  report_tests(m, report);
}

int mill_mining_level(const struct mill_mining *m, uint32_t level, struct mill_mining_level *out)
{
  if (level < 1 || level > m->episodes.levels)
    return -1;
  const struct mill_episode_level *l = &m->episodes.level[level];
  *out = (struct mill_mining_level){.candidates = l->candidates,
                                    .frequent = l->count,
                                    .culled = l->culled,
                                    .method = l->method,
                                    .wall_s = l->wall_s,
                                    .listed = l->listed};
  return 0;
}

/* Whether an episode of the store counts as found: the one place where that is decided. */
static int is_reported(const struct mill_mining *m, uint32_t level, uint32_t index)
{
  const struct mill_significance_options *asked = &m->job->significance;
  const struct mill_test *tested = mill_tests_at(&m->tests, level, index);
  if (mill_episode_at(&m->episodes, level, index)->count < m->support)
    return 0;
  return asked->kind == MILL_SIGNIFICANCE_NONE || !m->tested || level == 1 || (tested && tested->q <= asked->q);
}

/* Describes an episode by its number in one of the two lists. */
static int get_episode(const struct mill_mining *m, uint64_t number, int listed, struct mill_mining_episode *out)
{
  const struct mill_episodes *e = &m->episodes;
  uint32_t interval[MILL_LENGTH_MAX], n = 1;
  for (; n <= e->levels && number >= size_of(&e->level[n], listed); n++)
    number -= size_of(&e->level[n], listed);
  if (n > e->levels)
    return -1;
  const struct mill_episode_level *level = &e->level[n];
  const uint32_t at = (listed && level->list ? level->list : level->order)[number];
  out->length = n;
  out->count = mill_episode_at(e, n, at)->count;
  out->reported = is_reported(m, n, at);
  mill_episode_nodes(e, n, at, out->type, interval);
  for (uint32_t k = 0; k + 1 < n; k++) {
    out->low[k] = m->job->interval[interval[k]].low;
    out->high[k] = m->job->interval[interval[k]].high;
  }
  const struct mill_test *tested = mill_tests_at(&m->tests, n, at);
  out->rate = m->duration ? (double)out->count / ((double)m->duration * (double)m->stream->info.tick_ps / 1e12) : mill_nan();
  out->expected = tested ? tested->expected : mill_nan();
  out->strength = tested ? tested->strength : mill_nan();
  out->p = tested ? tested->p : mill_nan();
  out->q = tested ? tested->q : mill_nan();
  out->threshold = tested ? tested->threshold : mill_nan();
  return 0;
}

int mill_mining_episode(const struct mill_mining *m, uint64_t index, struct mill_mining_episode *out)
{
  return get_episode(m, index, 1, out);
}

int mill_mining_frequent(const struct mill_mining *m, uint64_t index, struct mill_mining_episode *out)
{
  return get_episode(m, index, 0, out);
}

int mill_mining_occurrences(struct mill_mining *m, uint64_t index, int (*take)(const int64_t *ticks, void *self), void *self,
                            struct mill_error *error)
{
  struct mill_mining_episode e;
  struct mill_interval gap[MILL_LENGTH_MAX];
  int rc;
  if (!m->job->occurrences)
    return mill_fail(error, MILL_USAGE, "the occurrences were not asked for (the job's key `occurrences`)");
  if (mill_mining_episode(m, index, &e) < 0)
    return mill_fail(error, MILL_USAGE, "there is no episode %" PRIu64, index);
  for (uint32_t k = 0; k + 1 < e.length; k++)
    gap[k] = (struct mill_interval){e.low[k], e.high[k]};
  rc = mill_occurrences_find(m->occurrences, e.length, e.type, gap, take, self, error);
  return rc > 0 ? mill_fail(error, MILL_INTERRUPTED, "interrupted at the occurrences of episode %" PRIu64, index) : rc;
}

int mill_mining_score(const struct mill_mining *m, struct mill_mining_score *score)
{
  if (!m->truth || (m->job->significance.kind != MILL_SIGNIFICANCE_NONE && !m->tested))
    return -1;
  mill_truth_score(m->truth, m, score);
  return 0;
}

const char *mill_mining_type(const struct mill_mining *m, uint32_t type)
{
  return m->name && type < m->types ? m->name[type] : NULL;
}

const char *mill_mining_config(const struct mill_mining *m)
{
  return m->job->config;
}
