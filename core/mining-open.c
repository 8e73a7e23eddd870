/* Minings of recordings, of spikes that are still coming, and of windows of both. Types are the units with at least one event, numbered in
   order of their units, so that a network's silent neurons cost nothing. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mining-private.h"

#include <inttypes.h>
#include <stdlib.h>

#include "counting.h"
#include "memory.h"
#include "registry.h"
#include "stream-private.h"
#include "text.h"

#define NAME_SIZE 8192
#define BINS_MOST 1e8

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
static int set_tests(struct mill_mining *m, struct mill_error *error)
{
  const struct mill_significance_options *o = &m->job->significance;
  const int64_t tick_ps = m->stream->info.tick_ps;
  char tick[64], asked[64];
  if (o->kind == MILL_SIGNIFICANCE_NONE)
    return 0;
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
  if (set_tests(m, error) < 0)
    return -1;
  if (job->window && !bounded && !none && m->first == INT64_MIN)
    return mill_fail(error, MILL_DATA, "%s: the first event is at tick %" PRId64 ", and no window can begin before it", job->spikes,
                     m->first);
  return mill_windows_set(&m->windows, job, info->tick_ps,
                          bounded ? info->start
                          : none  ? 0
                                  : m->first - (m->first > INT64_MIN),
                          bounded ? stop_of(m->stream) : m->last, error);
}

/* The model goes through a recording of `duration` ticks bin by bin. */
static int check_bins(const struct mill_mining *m, double duration, struct mill_error *error)
{
  const struct mill_significance_options *o = &m->job->significance;
  const double bins = duration * (double)m->stream->info.tick_ps / (double)o->bin;
  if (o->kind == MILL_SIGNIFICANCE_NONE || bins <= BINS_MOST)
    return 0;
  return mill_place_fail(error, &m->job->place, "bin", "%s has %.3g of them, more than %.0g: expected longer ones", m->job->spikes,
                         bins, BINS_MOST);
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
  if (m->job->significance.kind != MILL_SIGNIFICANCE_NONE && m->events && !m->duration)
    return mill_fail(error, MILL_DATA, "%s: all events have one time: there are no rates, and so no tests of significance",
                     job->spikes);
  return check_bins(m, (double)m->duration, error);
}

/* Files beside that of the episodes are for one mining, and occurrences for counts, not for bounds of them. */
static int check_files(const struct mill_mining *m, struct mill_error *error)
{
  const struct mill_job *job = m->job;
  const char *key = job->occurrences ? "occurrences" : "graph";
  if (job->occurrences && !(job->counter.plugin->flags & MILL_EXACT))
    return mill_place_fail(error, &job->place, key,
                           "counter `%s` finds upper bounds, and there may be fewer; expected an exact counter",
                           job->counter.plugin->name);
  if ((!m->windows.count && !m->live) || (!job->occurrences && !job->graph))
    return 0;
  return mill_place_fail(error, &job->place, key, "is written for a whole recording, not %s",
                         m->live ? "by `run --mine`" : "for windows");
}

/* What is found to be wrong when a whole recording is mined otherwise, or a window: after a run, perhaps. */
static int check_early(const struct mill_mining *m, struct mill_error *error)
{
  const struct mill_job *job = m->job;
  const struct mill_truth_types none = {.info = &m->stream->info};
  struct mill_truth *truth = NULL;
  struct mill_error inner = {0};
  if (mill_counting_check(job->counter.plugin, job->counter.values, &inner) < 0)
    return mill_place_refuse(error, &job->place, inner.status, inner.text);
  if ((m->live || m->windows.count) &&
      check_bins(m, (double)(m->windows.count ? m->windows.length : m->stream->info.stop - m->stream->info.start), error) < 0)
    return -1;
  if (job->truth && (m->live || m->windows.count) && mill_truth_read(job->truth, &none, &truth, error) < 0)
    return -1;
  mill_truth_free(truth);
  return 0;
}

static void note_between(const struct mill_mining *m, uint64_t between)
{
  if (between)
    mill_note("%s: %" PRIu64 " event%s between windows, and %s in none: step is longer than window", m->job->spikes, between,
              between == 1 ? " lies" : "s lie", between == 1 ? "is" : "are");
}

/* What is in no window, of a recording that is here. */
static void note_rest(const struct mill_mining *m)
{
  char rest[64];
  if (m->windows.count)
    note_between(m, mill_windows_between(&m->windows, m->stream->event, m->stream->count));
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
  pthread_mutex_init(&m->lock, NULL);
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
      read_stream(m, error) < 0 || set_times(m, error) < 0 || check_files(m, error) < 0 || check_early(m, error) < 0 ||
      mill_mining_open_gpu(m, error) < 0 || (m->windows.count ? count_types(m, error) : take_events(m, error)) < 0) {
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
      mill_stream_create(source, info, &m->stream, error) < 0 || set_times(m, error) < 0 || check_files(m, error) < 0 ||
      check_early(m, error) < 0 || mill_mining_open_gpu(m, error) < 0) {
    mill_mining_free(m);
    return -1;
  }
  note_rest(m);
  *mining = m;
  return 0;
}

int mill_mining_check_live(const char *path, const char *const *overrides, size_t override_count, struct mill_job **job,
                           struct mill_error *error)
{
  struct mill_mining *m = create(NULL, error);
  struct mill_error inner = {0};
  struct mill_ini *truth = NULL;
  int rc = -1;
  *job = NULL;
  if (!m)
    return -1;
  m->live = 1;
  if (mill_job_read_live(path, overrides, override_count, "a run", &m->job, error) < 0 || check_files(m, error) < 0)
    goto done;
  if (mill_counting_check(m->job->counter.plugin, m->job->counter.values, &inner) < 0) {
    mill_place_refuse(error, &m->job->place, inner.status, inner.text);
    goto done;
  }
  if (m->job->truth && mill_ini_read(m->job->truth, NULL, 0, &truth, error) < 0)
    goto done;
  *job = m->job;
  m->job = NULL;
  rc = 0;
done:
  mill_ini_free(truth);
  mill_mining_free(m);
  return rc;
}

void mill_mining_take_log(struct mill_mining *live, struct mill_spike_log *log)
{
  live->log = log;
}

int mill_mining_on_gpu(const struct mill_mining *m)
{
  return m->miner != NULL;
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

/* Forgets the events up to a window's start. */
static void forget(struct mill_mining *whole, uint64_t index, int64_t start)
{
  const struct mill_stream *s = whole->stream;
  uint64_t past = 0;
  while (past < s->count && s->event[past].tick <= start)
    past++;
  whole->between += mill_windows_between(&whole->windows, s->event, past);
  mill_stream_drop(whole->stream, start);
  if (whole->log)
    mill_spike_log_drop(whole->log, start);
  if (index + 1 == whole->windows.count)
    note_between(whole, whole->between);
}

uint64_t mill_mining_windows(const struct mill_mining *m)
{
  return m->windows.count;
}

int64_t mill_mining_window_stop(const struct mill_mining *m, uint64_t index)
{
  return mill_window_start(&m->windows, index) + m->windows.length;
}

static int open_window(struct mill_mining *whole, uint64_t index, struct mill_mining_slot *slot, struct mill_mining **window,
                       struct mill_error *error)
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
  m->miner = slot ? slot->miner : whole->miner;
  m->slot = slot;
  m->log = whole->log;
  m->threads = whole->threads;
  m->dither = whole->dither;
  m->number = index + 1;
  if (whole->live)
    forget(whole, index, start);
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

int mill_mining_window(struct mill_mining *whole, uint64_t index, struct mill_mining **window, struct mill_error *error)
{
  return open_window(whole, index, NULL, window, error);
}

int mill_mining_slot_window(struct mill_mining *whole, uint64_t index, struct mill_mining_slot *slot, struct mill_mining **window,
                            struct mill_error *error)
{
  slot->account = (struct mill_memory_account){0};
  return open_window(whole, index, slot, window, error);
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
  if (!m->whole) {
    mill_miner_close(m->miner);
    mill_miner_close(m->tester);
    mill_choice_free(&m->testing);
    mill_job_free(m->job);
  }
  pthread_mutex_destroy(&m->lock);
  free(m);
}
