/* MapConcatenate as printed is not exact, and ours is: the five cases of the printed one that go wrong, each with the cut where it
   does, by a plugin of the tests; and the same cases, and others, by ours with every number of segments. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "brute.h"
#include "counting.h"
#include "memory.h"
#include "registry.h"
#include "threads.h"

/* As the plugin of the tests has them. */
struct printed {
  int64_t cut;
  int32_t inclusive, last;
};
struct ours {
  int64_t segments;
};

static const struct mill_plugin *printed, *ours;
static struct mill_team *team;

/* Counts an episode; -1 with the error's text when the counter fails. */
static int64_t count(const struct mill_plugin *plugin, const void *params, const char *stream, const char *text, int ties,
                     struct mill_error *error)
{
  struct mill_event event[BRUTE_EVENTS];
  struct brute_episode episode;
  const uint32_t n = brute_read_stream(stream, event);
  uint32_t interval[BRUTE_NODES], parent = 0;
  struct mill_counting *counting;
  uint64_t found = 0;
  brute_read_episode(text, &episode);
  for (uint32_t i = 0; i < BRUTE_NODES; i++)
    interval[i] = i;
  const struct mill_counting_setup setup = {plugin, params, event, n, 26, ties, episode.gap, episode.length - 1, 1, 1 << 20, team, NULL, NULL};
  const struct mill_candidates candidate = {episode.length, 1, 0, episode.type, interval, &parent, 1, 1};
  if (mill_counting_open(&setup, &counting, error))
    bail("%s", error->text);
  const int failed = mill_counting_count(counting, &candidate, &found, error);
  mill_counting_close(counting);
  return failed ? -1 : (int64_t)found;
}

static const struct {
  const char *stream, *episode;
  int64_t cut;
  int inclusive;
  int64_t right, first, last; /* as printed, by the first and the last machine that can be joined; -1: there is none */
} rows[] = {
    {"A@0 A@3 B@4 A@6 B@7 B@10", "A (3,7] B", 8, 0, 2, -1,
     -1},                                              /* a serial reset kills A@3, the machine that starts later keeps it */
    {"A@0 A@3 A@5 A@7", "A (0,4] A", 6, 0, 2, -1, -1}, /* a repeated type */
    {"A@1 B@2", "A (0,1] B", 1, 0, 1, 0, 1},           /* an occurrence of exactly the window's length is not seen */
    {"A@2 A@3 A@6", "A (0,3] A", 3, 1, 1, 2, 1},       /* with a start that is part of the window */
    {"B@0 A@0 A@3 B@3 A@5 B@5 B@7", "A (0,4] B", 5, 0, 2, -1, -1} /* ties */
};

static void as_printed(void)
{
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int last = 0; last < 2; last++) {
      const struct printed params = {rows[i].cut, rows[i].inclusive, last};
      const int64_t want = last ? rows[i].last : rows[i].first;
      struct mill_error error = {.text = ""};
      is_int(count(printed, &params, rows[i].stream, rows[i].episode, MILL_TIES_ORDER, &error), want,
             "%s, %s cut at %" PRId64 ", as printed, the %s match: %" PRId64 " (right is %" PRId64 ")", rows[i].stream,
             rows[i].episode, rows[i].cut, last ? "last" : "first", want, rows[i].right);
      if (want < 0)
        is_str(error.text, "counter `mapconcatenate-printed`: no tuple matches", "there is none");
    }
  }
}

/* Our segments are of events: with as many segments as this every place between two events is a cut. */
static void as_ours(void)
{
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (struct ours params = {1}; params.segments <= 64; params.segments *= 2) {
      struct mill_error error = {.text = ""};
      is_int(count(ours, &params, rows[i].stream, rows[i].episode, MILL_TIES_ORDER, &error), rows[i].right,
             "%s, %s in %" PRId64 " segments: %" PRId64, rows[i].stream, rows[i].episode, params.segments, rows[i].right);
    }
  }
}

/* Segments shorter than the window, and last completions that are exactly as far away as they may be. */
static const struct {
  const char *stream, *episode;
  int64_t order, strict;
} cases[] = {
    {"A@0 B@9 C@9 A@9 B@18 C@27", "A (0,9] B (0,9] C", 1, 1},
    {"A@0 B@5 C@10 A@10 B@15 C@20 A@20", "A (0,5] B (0,5] C", 2, 1},
    {"A@0 A@0 A@0 B@1 B@1 B@1", "A (0,1] B", 1, 1},
    {"A@0 B@1 A@1 B@2 A@2 B@3 A@3 B@4", "A (0,1] B", 4, 2},
    {"A@0 A@1 A@2 A@3 A@4 A@5 A@6 A@7 A@8 A@9", "A (0,1] A (0,1] A", 3, 3},
    {"A@0 A@1 A@2 A@3 A@4 A@5 A@6 A@7 A@8 A@9", "A (0,9223372036854775807] A (0,9223372036854775807] A", 3, 3},
    {"A@1 A@1 A@1 A@1", "A", 4, 1},
    {"B@1 B@2 B@3", "A (0,5] B", 0, 0},
};

static void edges(void)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mill_event event[BRUTE_EVENTS];
    struct brute_episode episode;
    const uint32_t n = brute_read_stream(cases[i].stream, event);
    brute_read_episode(cases[i].episode, &episode);
    for (int strict = 0; strict < 2; strict++) {
      const int64_t want = strict ? cases[i].strict : cases[i].order;
      int right = (int64_t)brute_count(event, n, &episode, strict) == want;
      for (struct ours params = {1}; params.segments <= 64; params.segments *= 2) {
        struct mill_error error;
        right &=
            count(ours, &params, cases[i].stream, cases[i].episode, strict ? MILL_TIES_STRICT : MILL_TIES_ORDER, &error) == want;
      }
      ok(right, "%s: %s, ties = %s: %" PRId64 " in 1, 2, 4 … 64 segments", cases[i].stream, cases[i].episode,
         strict ? "strict" : "order", want);
    }
  }
}

/* A window of the whole stream, in which every completion can be the last before a cut: more tuples than there is room for, so that
   there are fewer segments. */
static void many_tuples(void)
{
  enum { EVENTS = 20000, SEGMENTS = 1024 };
  static struct mill_event event[EVENTS];
  const struct mill_interval gap = {0, EVENTS};
  const uint32_t type[2] = {0, 1}, interval = 0, parent = 0;
  const struct ours params = {SEGMENTS};
  const struct mill_candidates candidate = {2, 1, 0, type, &interval, &parent, 1, 1};
  struct mill_counting *counting;
  struct mill_error error = {.text = ""};
  uint64_t found = 0;
  for (uint32_t i = 0; i < EVENTS; i++)
    event[i] = (struct mill_event){.tick = i, .unit = i % 2};
  const struct mill_counting_setup setup = {ours, &params, event, EVENTS, 2, MILL_TIES_ORDER, &gap, 1, 1, 1 << 20, team, NULL, NULL};
  if (mill_counting_open(&setup, &counting, &error) || mill_counting_count(counting, &candidate, &found, &error))
    bail("%s", error.text);
  mill_counting_close(counting);
  is_int((intmax_t)found, EVENTS / 2, "%d events in windows of all of them", EVENTS);
}

/* Counts all pairs of the stream's types. Returns what the counter holds then, or -1 after an error. */
static int64_t count_pairs(const struct mill_event *event, uint32_t events, int64_t segments, int64_t high, uint64_t memory,
                           uint64_t *counts, struct mill_error *error)
{
  enum { TYPES = 30, PAIRS = TYPES * TYPES };
  static uint32_t type[2 * PAIRS], interval[PAIRS], parent[PAIRS];
  const struct mill_interval gap = {3, high};
  const struct ours params = {segments};
  const struct mill_candidates candidates = {2, PAIRS, 0, type, interval, parent, 1, PAIRS};
  const struct mill_counting_setup setup = {ours, &params, event, events, TYPES, MILL_TIES_ORDER, &gap, 1, 1, memory, team, NULL, NULL};
  struct mill_counting *counting;
  int64_t held = -1;
  for (uint32_t k = 0; k < PAIRS; k++) {
    type[2 * k] = parent[k] = k / TYPES;
    type[2 * k + 1] = k % TYPES;
  }
  if (mill_counting_open(&setup, &counting, error))
    bail("%s", error->text);
  const uint64_t before = mill_memory_held();
  if (!mill_counting_count(counting, &candidates, counts, error))
    held = (int64_t)(mill_memory_held() - before);
  mill_counting_close(counting);
  return held;
}

/* With less memory there are fewer segments at a time, or fewer at all; with too little there is an error. */
static void little_memory(void)
{
  enum { EVENTS = 30000, PAIRS = 900 };
  static struct mill_event event[EVENTS];
  static uint64_t right[PAIRS], counts[PAIRS];
  struct mill_error error = {.text = ""};
  uint64_t state = 5;
  int64_t tick = 0;
  for (uint32_t i = 0; i < EVENTS; i++) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    tick += (int64_t)(state >> 60);
    event[i] = (struct mill_event){.tick = tick, .unit = (uint32_t)((state >> 40) * 30 >> 24)};
  }
  const int64_t all = count_pairs(event, EVENTS, 64, 200, UINT64_C(1) << 30, right, &error);
  ok(all > 4 << 20, "with 1 GiB it holds %" PRId64 " bytes", all);
  for (uint64_t memory = UINT64_C(1) << 23; memory >= UINT64_C(1) << 15; memory /= 2) {
    memset(counts, 0, sizeof counts);
    const int64_t held = count_pairs(event, EVENTS, 64, 200, memory, counts, &error);
    ok(held > 0 && held <= (int64_t)memory && memcmp(counts, right, sizeof right) == 0,
       "with %" PRIu64 " bytes it holds %" PRId64 ", and counts the same", memory, held);
  }
  if (count_pairs(event, EVENTS, 64, 5000, UINT64_C(1) << 30, right, &error) < 0)
    bail("%s", error.text);
  const int64_t wide = count_pairs(event, EVENTS, 64, 5000, UINT64_C(1) << 20, counts, &error);
  ok(wide > 12 * EVENTS && wide <= 1 << 20 && memcmp(counts, right, sizeof right) == 0,
     "a wide interval takes few long segments, of 1 MiB %" PRId64 " bytes, and counts the same", wide);
  if (count_pairs(event, EVENTS, 64, 200, UINT64_C(1) << 30, right, &error) < 0)
    bail("%s", error.text);
  ok(count_pairs(event, EVENTS, 64, 200, 10000, counts, &error) < 0 && error.status == MILL_RESOURCES, "with 10000 bytes it stops");
  unsigned long long needed = 0, one = 0;
  const char *number = strstr(error.text, "an episode of 2 nodes takes ");
  ok(number && sscanf(number, "an episode of 2 nodes takes %llu bytes", &needed) == 1 &&
         strstr(error.text, " bytes on 2 threads, and the counter's part of memory is 10000: raise memory"),
     "and says what it takes: %s", error.text);
  ok(count_pairs(event, EVENTS, 64, 200, needed - 1, counts, &error) < 0, "a byte less than that is too little");
  memset(counts, 0, sizeof counts);
  ok(count_pairs(event, EVENTS, 64, 200, needed, counts, &error) > 0 && memcmp(counts, right, sizeof right) == 0, "that is enough");
  ok(count_pairs(event, EVENTS, 1, 200, needed, counts, &error) < 0 && (number = strstr(error.text, " takes ")) &&
         sscanf(number, " takes %llu bytes", &one) == 1 && one > 12 * EVENTS,
     "one segment takes more: %s", error.text);
}

static void bad_segments(void)
{
  static const struct mill_event event[] = {{.tick = 0, .unit = 0}};
  const struct mill_interval gap = {0, 1};
  const struct ours params = {12};
  const struct mill_counting_setup setup = {ours, &params, event, 1, 1, MILL_TIES_ORDER, &gap, 1, 1, 1 << 20, team, NULL, NULL};
  struct mill_counting *counting;
  struct mill_error error = {.text = ""};
  ok(mill_counting_open(&setup, &counting, &error) && error.status == MILL_USAGE, "segments that are no power of two are refused");
  is_str(error.text, "counter `mapconcatenate`: segments: expected a power of two, or 0 for one that is not below the threads",
         "and it says so");
}

int main(void)
{
  const char *build = getenv("top_builddir");
  struct mill_error error;
  char path[4200];
  plan_later();
  snprintf(path, sizeof path, "%s/tests/plugins/.libs/counter-mapconcatenate-printed.so", build ? build : ".");
  if (mill_plugin_open(path, MILL_COUNTER, &printed, &error) ||
      mill_plugin_load(MILL_COUNTER, "mapconcatenate", NULL, &ours, &error) || mill_team_create(2, &team, &error))
    bail("%s", error.text);
  as_printed();
  as_ours();
  edges();
  many_tuples();
  little_memory();
  bad_segments();
  mill_team_free(team);
  return done_testing();
}
