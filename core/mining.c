/* The public face of mining: <spikemill/mining.h>. Types are the units with at least one event, numbered in order of their units, so that
   a network's silent neurons cost nothing. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include <spikemill/mining.h>
#include "job.h"
#include "levels.h"
#include "memory.h"
#include "occurrences.h"
#include "registry.h"
#include "significance.h"
#include "simulation.h"
#include "stream-private.h"
#include "text.h"
#include "truth.h"
#include "windows.h"

#define NAME_SIZE 8192

struct mill_mining {
  struct mill_job *job;
  struct mill_stream *stream;
  struct mill_mining *whole;   /* of a window: what it is of, whose the job is; else NULL */
  struct mill_windows windows; /* of the whole */
  uint64_t number;             /* of a window, from 1 */
  int live;                    /* spikes come through mill_mining_push; 1: more of them may */
  uint64_t room;               /* for them */
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

/* ---- The recording ---- */

#define ASK_FROM (UINT64_C(1) << 20) /* bytes; for less the system is not asked what is free */

/* The units with events: a bit each, and how many there are before each word. */
struct presence {
  uint64_t words;
  uint64_t *bit;
  uint32_t *before;
};

static int find_types(struct mill_mining *m, struct presence *p, struct mill_error *error)
{
  const struct mill_stream *s = m->stream;
  uint64_t units = mill_stream_units(&s->info);
  p->words = units / 64 + 1;
  const uint64_t bytes = p->words * (sizeof *p->bit + sizeof *p->before);
  char need[32], have[32];
  if (bytes > ASK_FROM && bytes > mill_memory_free())
    return mill_fail(error, MILL_RESOURCES,
                     "%s: a file of %" PRIu64 " units needs %s of memory to find those with events, and %s is free", m->job->spikes,
                     units, mill_memory_text(need, bytes), mill_memory_text(have, mill_memory_free()));
  p->bit = mill_allocate_or_fail("units with events", p->words, sizeof *p->bit, error);
  p->before = p->bit ? mill_allocate_or_fail("numbers of types", p->words, sizeof *p->before, error) : NULL;
  if (!p->before)
    return -1;
  for (uint64_t i = 0; i < s->count; i++)
    p->bit[s->event[i].unit / 64] |= UINT64_C(1) << s->event[i].unit % 64;
  for (uint64_t w = 0; w < p->words; w++) {
    p->before[w] = m->types;
    m->types += (uint32_t)__builtin_popcountll(p->bit[w]);
  }
  return 0;
}

static int name_types(struct mill_mining *m, const struct presence *p, struct mill_error *error)
{
  char *buffer = malloc(NAME_SIZE);
  uint32_t type = 0;
  m->name = calloc((size_t)m->types + 1, sizeof *m->name);
  for (uint64_t w = 0; m->name && buffer && w < p->words; w++) {
    for (uint64_t left = p->bit[w]; left; left &= left - 1, type++) {
      uint32_t unit = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left);
      m->name[type] = strdup(mill_stream_unit(&m->stream->info, unit, buffer, NAME_SIZE));
      if (!m->name[type])
        goto failed;
    }
  }
  if (!m->name || !buffer)
    goto failed;
  free(buffer);
  return 0;
failed:
  free(buffer);
  return mill_fail(error, MILL_RESOURCES, "out of memory for the names of %u types", m->types);
}

/* Only how many there are. */
static int count_types(struct mill_mining *m, struct mill_error *error)
{
  struct presence p = {0};
  const int rc = find_types(m, &p, error);
  mill_release(p.bit);
  mill_release(p.before);
  return rc;
}

/* Numbers the types, names them, and renumbers the events. */
static int take_types(struct mill_mining *m, struct mill_error *error)
{
  struct presence p = {0};
  struct mill_stream *s = m->stream;
  int rc = -1;
  if (find_types(m, &p, error) == 0 && name_types(m, &p, error) == 0) {
    for (uint64_t i = 0; i < s->count; i++) {
      uint32_t unit = s->event[i].unit, w = unit / 64;
      s->event[i].unit = p.before[w] + (uint32_t)__builtin_popcountll(p.bit[w] & ((UINT64_C(1) << unit % 64) - 1));
    }
    rc = 0;
  }
  mill_release(p.bit);
  mill_release(p.before);
  return rc;
}

static int is_bounded(const struct mill_stream_info *info)
{
  return info->start != info->stop;
}

/* Where the recording ends, as it states itself: as far as a run came that was interrupted. */
static int64_t stop_of(const struct mill_stream *s)
{
  const int cut = !s->end.complete && s->end.stop > s->info.start && s->end.stop < s->info.stop;
  return cut ? s->end.stop : s->info.stop;
}

/* As the recording states it; else from the first event to the last. */
static uint64_t duration_of(const struct mill_mining *m)
{
  if (is_bounded(&m->stream->info))
    return (uint64_t)stop_of(m->stream) - (uint64_t)m->stream->info.start;
  return (uint64_t)m->last - (uint64_t)m->first;
}

/* What is known of the events when all of them are there. */
static void survey(struct mill_mining *m)
{
  m->events = m->stream->count;
  if (m->events) {
    m->first = m->stream->event[0].tick;
    m->last = m->stream->event[m->events - 1].tick;
  }
  m->duration = duration_of(m);
}

static int read_stream(struct mill_mining *m, struct mill_error *error)
{
  const struct mill_stream_options options = {.columns = m->job->columns, .tick = m->job->tick};
  if (mill_stream_read(m->job->spikes, &options, &m->stream, error) < 0)
    return -1;
  survey(m);
  if (!m->stream->was_sorted)
    mill_note("%s: was not in order of time, and was sorted", m->job->spikes);
  if (!m->stream->end.complete)
    mill_note("%s: is a part of a run that was interrupted", m->job->spikes);
  return 0;
}

/* Of significance. */
static int resolve_tests(struct mill_mining *m, struct mill_error *error)
{
  const struct mill_significance_options *o = &m->job->significance;
  const int64_t tick_ps = m->stream->info.tick_ps;
  char tick[64], asked[64];
  if (o->kind == MILL_SIGNIFICANCE_NONE)
    return 0;
  if (m->events && !m->duration)
    return mill_fail(error, MILL_DATA, "%s: all events have one time: there are no rates, and so no tests of significance",
                     m->job->spikes);
  m->dither = o->dither / tick_ps;
  if (o->kind == MILL_SIGNIFICANCE_SURROGATE && mill_significance_heeds(o, "dither") && o->dither % tick_ps)
    return mill_place_fail(error, &m->job->place, "dither", "%s ms is no whole number of ticks, which are %s ms long",
                           mill_text_ms(asked, o->dither, 1), mill_text_ms(tick, 1, tick_ps));
  return 0;
}

/* What depends on the ticks and bounds of the recording. */
static int set_times(struct mill_mining *m, struct mill_error *error)
{
  struct mill_job *job = m->job;
  const struct mill_stream_info *info = &m->stream->info;
  const int bounded = is_bounded(info), none = !bounded && !m->events;
  struct mill_error inner = {0};
  m->threads = job->threads ? job->threads : mill_processors();
  if (mill_intervals_to_ticks(job->interval, job->interval_count, info->tick_ps, &inner) < 0)
    return mill_place_fail(error, &job->place, "intervals", "%s", inner.text);
  return mill_windows_set(&m->windows, job, info->tick_ps,
                          bounded ? info->start
                          : none  ? 0
                                  : m->first - 1,
                          bounded ? stop_of(m->stream) : m->last, error);
}

/* What depends on the events: their types, and the support that is asked of them. */
static int take_events(struct mill_mining *m, struct mill_error *error)
{
  const struct mill_job *job = m->job;
  struct mill_error inner = {0};
  if (take_types(m, error) < 0)
    return -1;
  if (mill_support_count(&job->support, m->duration, m->stream->info.tick_ps, m->events, &m->support, &inner) < 0)
    return mill_place_fail(error, &job->place, "support", "%s", inner.text);
  if (job->support.kind == MILL_SUPPORT_RATE && m->duration == 0 && m->events)
    mill_note("%s: all events have one time, so that a support of %s is that of 1", job->spikes, job->support_text);
  const struct mill_truth_types types = {.types = m->types, .name = m->name, .info = &m->stream->info};
  if (job->truth && mill_truth_read(job->truth, &types, &m->truth, error) < 0)
    return -1;
  return resolve_tests(m, error);
}

/* Files beside that of the episodes are for one mining. */
static int check_files(const struct mill_mining *m, struct mill_error *error)
{
  const struct mill_job *job = m->job;
  const char *key = job->occurrences ? "occurrences" : "graph";
  if ((!m->windows.count && !m->live) || (!job->occurrences && !job->graph))
    return 0;
  return mill_place_fail(error, &job->place, key, "is written for a whole recording, not %s",
                         m->live ? "by `run --mine`" : "for windows");
}

static void note_rest(const struct mill_mining *m)
{
  char rest[64];
  if (m->windows.rest)
    mill_note("%s: the last %s ms are in no window: one more would reach past the end", m->job->spikes,
              mill_text_ms(rest, m->windows.rest, m->stream->info.tick_ps));
}

static struct mill_mining *create(struct mill_mining *whole, struct mill_error *error)
{
  struct mill_mining *m = calloc(1, sizeof *m);
  if (!m) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    return NULL;
  }
  m->memory_before = mill_memory_held();
  m->peak_before = mill_memory_peak();
  m->whole = whole;
  return m;
}

int mill_mining_open(const char *path, const char *const *overrides, size_t override_count, struct mill_mining **mining,
                     struct mill_error *error)
{
  struct mill_mining *m = create(NULL, error);
  uint64_t limit;
  *mining = NULL;
  if (!m)
    return -1;
  if (mill_memory_limit(&limit, error) < 0 || mill_job_read(path, overrides, override_count, &m->job, error) < 0 ||
      read_stream(m, error) < 0 || set_times(m, error) < 0 || check_files(m, error) < 0 ||
      (m->windows.count ? count_types(m, error) : take_events(m, error)) < 0) {
    mill_mining_free(m);
    return -1;
  }
  note_rest(m);
  *mining = m;
  return 0;
}

int mill_mining_open_live(const char *job, const char *const *overrides, size_t override_count, const char *source,
                          const struct mill_stream_info *info, struct mill_mining **mining, struct mill_error *error)
{
  struct mill_mining *m = create(NULL, error);
  uint64_t limit;
  *mining = NULL;
  if (!m)
    return -1;
  m->live = 1;
  if (mill_memory_limit(&limit, error) < 0 || mill_job_read_live(job, overrides, override_count, source, &m->job, error) < 0 ||
      mill_stream_create(source, info, &m->stream, error) < 0 || set_times(m, error) < 0 || check_files(m, error) < 0) {
    mill_mining_free(m);
    return -1;
  }
  note_rest(m);
  *mining = m;
  return 0;
}

int mill_mining_push(struct mill_mining *m, const struct mill_event *events, size_t n, struct mill_error *error)
{
  if (!m->live)
    return mill_fail(error, MILL_USAGE, "%s: takes no more spikes", m->job->spikes);
  return mill_stream_append(m->stream, m->job->spikes, &m->room, events, n, error);
}

int mill_mining_seal(struct mill_mining *m, int64_t stop, struct mill_error *error)
{
  if (!m->live)
    return mill_fail(error, MILL_USAGE, "%s: takes no more spikes", m->job->spikes);
  m->live = 0;
  m->stream->end.stop = stop;
  m->stream->end.complete = stop >= m->stream->info.stop;
  if (mill_stream_seal(m->stream, m->job->spikes, error) < 0)
    return -1;
  survey(m);
  return take_events(m, error);
}

/* ---- Windows ---- */

uint64_t mill_mining_windows(const struct mill_mining *m)
{
  return m->windows.count;
}

int64_t mill_mining_window_stop(const struct mill_mining *m, uint64_t index)
{
  return mill_window_start(&m->windows, index) + m->windows.length;
}

int mill_mining_window(struct mill_mining *whole, uint64_t index, struct mill_mining **window, struct mill_error *error)
{
  const struct mill_windows *w = &whole->windows;
  struct mill_mining *m;
  *window = NULL;
  if (index >= w->count)
    return mill_fail(error, MILL_USAGE, "there is no window %" PRIu64, index + 1);
  m = create(whole, error);
  if (!m)
    return -1;
  const int64_t start = mill_window_start(w, index);
  m->job = whole->job;
  m->threads = whole->threads;
  m->number = index + 1;
  if (whole->live)
    mill_stream_drop(whole->stream, start);
  if (mill_stream_cut(whole->stream, m->job->spikes, start, start + w->length, &m->stream, error) < 0)
    goto failed;
  survey(m);
  if (take_events(m, error) < 0)
    goto failed;
  *window = m;
  return 0;
failed:
  mill_mining_free(m);
  return -1;
}

void mill_mining_free(struct mill_mining *m)
{
  if (!m)
    return;
  mill_episodes_free(&m->episodes);
  mill_occurrences_free(m->occurrences);
  mill_truth_free(m->truth);
  mill_tests_free(&m->tests);
  for (uint32_t i = 0; m->name && i < m->types; i++)
    free(m->name[i]);
  free(m->name);
  mill_stream_free(m->stream);
  if (!m->whole)
    mill_job_free(m->job);
  free(m);
}

/* ---- Mining ---- */

/* The most held so far: by the process' peak when it is of this mining, else by what is held now. */
static void measure(struct mill_mining *m)
{
  uint64_t held = mill_memory_held(), peak = mill_memory_peak();
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
  const struct mill_tests_setup setup = {.options = &m->job->significance,
                                         .episodes = &m->episodes,
                                         .counting = *counter,
                                         .tick_ps = info->tick_ps,
                                         .duration = m->duration,
                                         .begin = stated && begin < m->first ? begin : m->first,
                                         .end = stated && end > m->last ? end : m->last,
                                         .dither = m->dither,
                                         .progress = on_tests,
                                         .self = m};
  return mill_tests_run(&setup, counting, &m->tests, error);
}

static int search(struct mill_mining *m, struct mill_error *error)
{
  const struct mill_job *job = m->job;
  struct mill_team *team = NULL;
  struct mill_counting *counting = NULL;
  int rc = -1;
  m->episodes.budget = job->memory / 2;
  if (mill_team_create(m->threads, &team, error) < 0)
    return -1;
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
                                              .team = team};
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
                                           .workers = m->threads,
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

/* ---- Results ---- */

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
                                        .backend = "cpu",
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
  return asked->kind == MILL_SIGNIFICANCE_NONE || level == 1 || (tested && tested->q <= asked->q);
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
  if (!m->truth)
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
