/* Counters against each other and against brute force over all occurrences: streams that are drawn, candidates level by level through `keep`
   as the driver goes, in pieces as it cuts them. The includer says who takes part: `enum { …, COUNTERS }` and
   `static const struct contestant contestant[COUNTERS]`, of which the first is a counter with exact counts. */
#ifndef CONTEST_H
#define CONTEST_H

#include <time.h>

#include "brute.h"
#include "counting.h"
#include "cuda/miner.h"
#include "mine.h"
#include "registry.h"
#include "threads.h"

enum { THREADS = 3, CANDIDATES = 4096 };

static const struct mill_plugin *plugin[COUNTERS];
static struct mill_miner *miner[COUNTERS]; /* NULL: on the CPU */
static struct mill_team *team[THREADS];    /* of 1, 2, … threads */

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
  return chance(&seed) % below;
}

/* One stream and how it is mined. */
struct mine {
  const struct mill_event *event;
  uint32_t events, types, intervals, levels;
  struct mill_interval interval[4];
  int ties;
  uint64_t threshold;
  uint32_t most; /* candidates of a level */
  int brute;     /* whether it is short enough for brute force */
  uint64_t memory[COUNTERS];
  uint32_t threads[COUNTERS];
  struct parameters {
    int64_t segments;
    const char *crossover;
  } parameters[COUNTERS]; /* of those that have any: mapconcatenate has the first, hybrid both */
  int without[COUNTERS];  /* left out */
};

/* The candidates of a level, as counters get them. */
struct level {
  uint32_t level, count;
  uint32_t extended; /* the first so many may be parents */
  uint32_t type[CANDIDATES * BRUTE_NODES], interval[CANDIDATES * BRUTE_NODES], parent[CANDIDATES];
  uint64_t counts[COUNTERS][CANDIDATES];
};

static struct level one, two;
static uint64_t checked;

static void add(struct level *to, const struct level *from, const uint64_t *kept, uint32_t parent, uint32_t type, uint32_t interval)
{
  const uint32_t n = to->level, k = to->count++;
  if (n > 1)
    memcpy(to->type + k * n, from->type + kept[parent] * (n - 1), (n - 1) * sizeof *to->type);
  if (n > 2)
    memcpy(to->interval + k * (n - 1), from->interval + kept[parent] * (n - 2), (n - 2) * sizeof *to->interval);
  to->type[k * n + n - 1] = type;
  if (n > 1)
    to->interval[k * (n - 1) + n - 2] = interval;
  to->parent[k] = parent;
}

/* Every kept episode with every type and interval behind it, or as many of these as there may be, drawn. */
static void make_candidates(const struct mine *m, struct level *to, const struct level *from, const uint64_t *kept, uint32_t n)
{
  const uint64_t all = (uint64_t)n * m->types * m->intervals;
  to->level = from->level + 1;
  to->count = 0;
  for (uint32_t p = 0; p < n; p++)
    for (uint32_t e = 0; e < m->types; e++)
      for (uint32_t j = 0; j < m->intervals; j++)
        if (to->count < CANDIDATES && (all <= m->most || draw(all) < m->most))
          add(to, from, kept, p, e, j);
}

/* Counts a level in pieces of drawn sizes, each of candidates that may be parents or of others. */
static int count_level(struct mill_counting *counting, const struct mine *m, struct level *level, int c, struct mill_error *error)
{
  const uint32_t n = level->level;
  for (uint32_t done = 0, piece; done < level->count; done += piece) {
    const uint32_t left = (done < level->extended ? level->extended : level->count) - done;
    piece = draw(2) ? left : 1 + (uint32_t)draw(left);
    struct mill_candidates candidates = {.level = n,
                                         .count = piece,
                                         .first = done,
                                         .type = level->type + done * n,
                                         .interval = n > 1 ? level->interval + done * (n - 1) : NULL,
                                         .parent = n > 1 ? level->parent + done : NULL,
                                         .last = n == m->levels || done >= level->extended,
                                         .total = level->count};
    if (mill_counting_count(counting, &candidates, level->counts[c] + done, error))
      return -1;
  }
  return 0;
}

static void get_episode(const struct mine *m, const struct level *level, uint32_t k, struct brute_episode *episode)
{
  episode->length = level->level;
  for (uint32_t i = 0; i < level->level; i++)
    episode->type[i] = level->type[k * level->level + i];
  for (uint32_t i = 0; i + 1 < level->level; i++)
    episode->gap[i] = m->interval[level->interval[k * (level->level - 1) + i]];
}

/* The same with gaps that may be anything up to their high bounds, in the order of the stream: what A2 counts. */
static uint64_t brute_relaxed(const struct mill_event *event, uint32_t n, struct brute_episode episode)
{
  for (uint32_t i = 0; i + 1 < episode.length; i++)
    episode.gap[i].low = -1;
  return brute_count(event, n, &episode, 0);
}

/* Whether a count is right: that of an exact counter; a bound for it that is below the threshold, of two-pass; that of A2. */
static int is_right(const struct mine *m, int c, uint64_t count, uint64_t right, const struct brute_episode *episode)
{
  if (contestant[c].relaxed)
    return count >= right && (!m->brute || count == brute_relaxed(m->event, m->events, *episode));
  return count == right || (contestant[c].culls && count > right && count < m->threshold);
}

/* Whether the counters agree, and agree with brute force. Shows the first case where they don't. */
static int check_level(const struct mine *m, const struct level *level)
{
  for (uint32_t k = 0; k < level->count; k++) {
    struct brute_episode episode;
    get_episode(m, level, k, &episode);
    uint64_t right = m->brute ? brute_count(m->event, m->events, &episode, m->ties == MILL_TIES_STRICT) : level->counts[0][k];
    checked++;
    for (int c = 0; c < COUNTERS; c++) {
      if (m->without[c] || is_right(m, c, level->counts[c][k], right, &episode))
        continue;
      brute_show(m->event, m->brute ? m->events : 0, &episode);
      diag("%s: %" PRIu64 ", right %" PRIu64 "; ties %s, threshold %" PRIu64 ", memory %" PRIu64 ", threads %u, segments %" PRId64
           ", crossover %s",
           contestant[c].name, level->counts[c][k], right, m->ties == MILL_TIES_STRICT ? "strict" : "order", m->threshold,
           m->memory[c], m->threads[c], m->parameters[c].segments, m->parameters[c].crossover ? m->parameters[c].crossover : "-");
      return 0;
    }
  }
  return 1;
}

/* What a counter may hold: those that work on blocks or segments take something in any case. */
static uint64_t memory_of(int c, uint64_t memory, uint32_t events, uint32_t threads)
{
  const uint64_t least = 30000 + (20000 + UINT64_C(70) * events) * threads;
  return memory + (miner[c] ? 0 : (uint64_t)contestant[c].parts * least);
}

/* Mines with every counter. Returns whether all was right. */
static int mine(const struct mine *m)
{
  struct mill_counting *counting[COUNTERS] = {NULL};
  struct mill_error error = {.text = ""};
  struct level *level = &one, *next = &two;
  uint64_t kept[CANDIDATES];
  int good = 1;
  for (int c = 0; c < COUNTERS && good; c++) {
    if (m->without[c])
      continue;
    struct mill_counting_setup setup = {.plugin = plugin[c],
                                        .params = &m->parameters[c],
                                        .event = m->event,
                                        .events = m->events,
                                        .types = m->types,
                                        .ties = m->ties,
                                        .interval = m->interval,
                                        .interval_count = m->intervals,
                                        .threshold = m->threshold,
                                        .memory = memory_of(c, m->memory[c], m->events, m->threads[c]),
                                        .team = team[m->threads[c] - 1],
                                        .miner = miner[c]};
    good = !mill_counting_open(&setup, &counting[c], &error);
  }
  level->level = 1;
  level->count = 0;
  for (uint32_t e = 0; e < m->types; e++)
    add(level, NULL, NULL, 0, e, 0);
  while (good && level->count) {
    uint32_t n = 0;
    level->extended = level->level < 3 || draw(4) ? level->count : (uint32_t)draw(level->count + 1);
    for (int c = 0; c < COUNTERS && good; c++)
      good = m->without[c] || !count_level(counting[c], m, level, c, &error);
    if (!good || !(good = check_level(m, level)) || level->level == m->levels)
      break;
    const uint64_t one_in = draw(4) ? UINT64_MAX : 3; /* of those that may be kept, sometimes, one is not */
    for (uint32_t k = 0; k < level->extended; k++)
      if (level->counts[0][k] >= m->threshold && draw(one_in))
        kept[n++] = k;
    for (int c = 0; c < COUNTERS && good; c++)
      good = m->without[c] || !mill_counting_keep(counting[c], level->level, n, kept, &error);
    make_candidates(m, next, level, kept, n);
    struct level *swap = level;
    level = next;
    next = swap;
  }
  for (int c = 0; c < COUNTERS; c++)
    mill_counting_close(counting[c]);
  if (error.text[0])
    diag("%s", error.text);
  return good;
}

/* ---- Cases with known counts ---- */

static const struct {
  const char *stream, *episode;
  uint32_t order, strict;
} cases[] = {
    {"", "A", 0, 0},
    {"", "A (0,5] B", 0, 0},
    {"A@7", "A", 1, 1},
    {"A@7", "A (0,5] A", 0, 0},
    {"A@1 A@1 A@2 B@2 A@2", "A", 4, 2},
    {"A@0 B@1 A@1 B@2", "A (0,1] B", 2, 1},
    {"A@0 A@1 B@1 B@2", "A (0,1] B", 1, 1}, /* the order of tied events matters, but not when ties are strict */
    {"A@2 A@4 B@4", "A (1,6] B", 1, 1},
    {"A@1 A@2 B@3", "A (0,5] B", 1, 1},
    {"A@1 A@2 B@3 A@4 B@5", "A (0,3] A (0,3] B", 1, 1},
    {"A@1 B@2 A@3 B@4 A@5", "A (0,2] B (0,2] A", 1, 1},
    {"1@1 2@2 2@3 3@4 1@5 2@6 3@7", "1 (0,100] 2 (0,100] 3", 2, 2},
    {"A@0 B@5", "A (5,9] B", 0, 0}, /* a low bound is excluded */
    {"A@0 B@5", "A (4,5] B", 1, 1}, /* a high bound is included */
    {"A@0 B@5", "A (4,4611686018427387904] B", 1, 1},
    {"A@0 B@6", "A (4,5] B", 0, 0},
    {"A@3 B@3", "A (0,5] B", 0, 0},                  /* no gap of zero */
    {"A@0 A@3 B@4 A@6 B@7 B@10", "A (3,7] B", 2, 2}, /* the cases on which MapConcatenate, as printed, fails */
    {"A@0 A@3 A@5 A@7", "A (0,4] A", 2, 2},
    {"A@1 B@2", "A (0,1] B", 1, 1},
    {"A@2 A@3 A@6", "A (0,3] A", 1, 1},
    {"B@0 A@0 A@3 B@3 A@5 B@5 B@7", "A (0,4] B", 2, 2},
    {"A@0 A@1 A@2 A@3 A@4 A@5", "A (0,1] A", 3, 3},
    {"A@0 A@1 A@2 A@3 A@4 A@5", "A (0,2] A (0,2] A", 2, 2},
    {"A@0 B@3 A@4 B@5 C@6", "A (2,3] B (0,3] C", 1, 1}, /* an older start is the one that fits */
    {"A@0 B@2 B@4 C@5", "A (0,4] B (2,3] C", 1, 1},     /* and an older node in between */
};

/* Counts one episode as a candidate whose prefixes were kept. */
static uint64_t count_case(int c, const struct mill_event *event, uint32_t n, const struct brute_episode *episode, int ties,
                           uint64_t memory, uint32_t threads)
{
  struct mill_counting *counting;
  struct mill_error error;
  const struct parameters parameters = {0, NULL};
  struct mill_counting_setup setup = {
      plugin[c],         &parameters, event, n, 26, ties, episode->gap, episode->length - 1, 1, memory_of(c, memory, n, threads),
      team[threads - 1], miner[c], NULL};
  uint64_t count = 0;
  uint32_t interval[BRUTE_NODES], parent = 0;
  if (mill_counting_open(&setup, &counting, &error))
    bail("%s", error.text);
  for (uint32_t k = 1; k <= episode->length; k++) {
    const uint64_t kept = 0;
    struct mill_candidates candidates = {
        k, 1, 0, episode->type, k > 1 ? interval : NULL, k > 1 ? &parent : NULL, k == episode->length, 1};
    interval[k - 1] = k - 1;
    if (mill_counting_count(counting, &candidates, &count, &error) ||
        (k < episode->length && mill_counting_keep(counting, k, count > 0, &kept, &error)))
      bail("%s", error.text);
  }
  mill_counting_close(counting);
  return count;
}

/* ---- Random streams ---- */

static uint64_t draw_memory(void)
{
  return draw(3) ? UINT64_C(1) << 30 : draw(2) ? draw(3000) : 0;
}

/* Up to `most` events: with few and many ties, in steps of one tick and of 2^33, near both ends of 64 bits. */
static void draw_stream(struct mine *m, struct mill_event *event, uint32_t most, uint32_t types)
{
  const int64_t unit = draw(4) ? 1 : INT64_C(1) << (1 + draw(33));
  const uint64_t steps = 2 + draw(4) * draw(3), spread = m->brute || draw(2) ? 1 : 1 + draw(20); /* 20: few events are linked */
  int64_t time = 0;
  m->event = event;
  m->events = (uint32_t)(draw(3) ? most / 2 + draw(most / 2 + 1) : draw(most + 1));
  m->types = 1 + (uint32_t)draw(types);
  for (uint32_t i = 0; i < m->events; i++) {
    event[i] = (struct mill_event){.tick = time, .unit = (uint32_t)draw(m->types)};
    time += unit * (int64_t)(draw(steps) * spread);
  }
  const int64_t start = draw(4) ? 0 : draw(2) ? INT64_MIN : INT64_MAX - time;
  for (uint32_t i = 0; i < m->events; i++)
    event[i].tick += start;
  m->intervals = 1 + (uint32_t)draw(3);
  for (uint32_t j = 0; j < m->intervals; j++) {
    const int64_t low = draw(2) ? 0 : unit * (int64_t)draw(2 * steps) + (int64_t)draw(2) * (int64_t)draw(3);
    m->interval[j].low = low;
    m->interval[j].high = draw(8) ? low + unit * (int64_t)draw(2 * steps) + 1 : INT64_MAX;
  }
}

/* ---- Long streams ---- */

/* Events at random times, and many that follow another of a neighbouring type. Sorted, since each is put before later ones. */
static struct mill_event *long_stream(uint32_t events, uint32_t types, uint64_t mean)
{
  struct mill_event *event = malloc(events * sizeof *event);
  int64_t time = 0;
  if (!event)
    bail("out of memory");
  for (uint32_t i = 0; i < events; i++) {
    const uint32_t type = i && !draw(3) ? (event[i - 1].unit + 1) % types : (uint32_t)(draw(types) * draw(types) / types);
    time += (int64_t)draw(2 * mean);
    event[i] = (struct mill_event){.tick = time, .unit = type};
  }
  return event;
}

/* How long streams are mined. */
struct long_row {
  uint32_t events, types, most, levels;
  uint64_t mean, threshold; /* `mean` ticks between events */
};

static struct mine mine_of(const struct long_row *row, const struct mill_event *event, int ties)
{
  const int64_t mean = (int64_t)row->mean;
  return (struct mine){.event = event,
                       .events = row->events,
                       .types = row->types,
                       .levels = row->levels,
                       .most = row->most,
                       .threshold = row->threshold,
                       .ties = ties,
                       .intervals = 3,
                       .interval = {{0, 2 * mean}, {5 * mean / 2, 6 * mean}, {0, 1}}};
}

/* The counters on drawn streams, numbers `first` and on, mined in drawn ways: against brute force or, when they are too long for that, against
   each other. On the CPU on some threads, and those but the first two in every other stream, unless SPIKEMILL_LONG is set. */
static void random_streams(const char *what, uint64_t first, uint64_t streams, uint32_t events, uint32_t levels, int brute, int on_cpu)
{
  static const char *const crossover[] = {NULL, "0", "1000", " 5 0  20"};
  struct mill_event *event = malloc(events * sizeof *event);
  uint64_t right = 0;
  clock_t start = clock();
  if (!event)
    bail("out of memory");
  checked = 0;
  for (uint64_t i = 0; i < streams && right == i; i++) {
    struct mine m = {.brute = brute};
    seed = first + i;
    draw_stream(&m, event, events, 4);
    m.levels = 1 + (uint32_t)draw(levels);
    m.threshold = 1 + draw(3) * draw(2);
    m.ties = draw(2) ? MILL_TIES_ORDER : MILL_TIES_STRICT;
    m.most = 8 + (uint32_t)draw(32);
    for (int c = 0; c < COUNTERS; c++) {
      m.memory[c] = draw_memory();
      m.threads[c] = !on_cpu || draw(32) ? 1 : 1 + (uint32_t)draw(THREADS);
      m.without[c] = on_cpu && c > 1 && draw(2) && !getenv("SPIKEMILL_LONG");
      m.parameters[c].segments = draw(4) ? INT64_C(1) << draw(6) : 0;
      m.parameters[c].crossover = crossover[draw(4)];
    }
    right += (uint64_t)mine(&m);
  }
  diag("%" PRIu64 " episodes in %.1f s of processor time", checked, (double)(clock() - start) / CLOCKS_PER_SEC);
  is_int((intmax_t)right, (intmax_t)streams, "%" PRIu64 " random streams: the counters agree with %s", streams, what);
  free(event);
}

/* Loads the counters, and makes the teams. */
static void contest_open(void)
{
  struct mill_error error;
  for (int c = 0; c < COUNTERS; c++)
    if (mill_plugin_load(MILL_COUNTER, contestant[c].name, NULL, &plugin[c], &error))
      bail("%s", error.text);
  for (uint32_t i = 0; i < THREADS; i++)
    if (mill_team_create(i + 1, &team[i], &error))
      bail("%s", error.text);
}

static void contest_close(void)
{
  for (uint32_t i = 0; i < THREADS; i++)
    mill_team_free(team[i]);
}

#endif
