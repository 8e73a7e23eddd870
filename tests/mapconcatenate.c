/* MapConcatenate as printed is not exact, and ours is: the five cases of the printed one that go wrong, each with the cut where it
   does, by a plugin of the tests; and the same cases, and others, by ours with every number of segments. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "brute.h"
#include "counting.h"
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
  const struct mill_counting_setup setup = {plugin, params, event, n, 26, ties, episode.gap, episode.length - 1, 1, 0, team};
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
  const struct mill_counting_setup setup = {ours, &params, event, EVENTS, 2, MILL_TIES_ORDER, &gap, 1, 1, 0, team};
  if (mill_counting_open(&setup, &counting, &error) || mill_counting_count(counting, &candidate, &found, &error))
    bail("%s", error.text);
  mill_counting_close(counting);
  is_int((intmax_t)found, EVENTS / 2, "%d events in windows of all of them", EVENTS);
}

static void bad_segments(void)
{
  static const struct mill_event event[] = {{.tick = 0, .unit = 0}};
  const struct mill_interval gap = {0, 1};
  const struct ours params = {12};
  const struct mill_counting_setup setup = {ours, &params, event, 1, 1, MILL_TIES_ORDER, &gap, 1, 1, 0, team};
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
  bad_segments();
  mill_team_free(team);
  return done_testing();
}
