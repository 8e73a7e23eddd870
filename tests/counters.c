/* The counters against brute force over all occurrences, on small cases with known counts and on random streams, level by level
   through `keep` as the driver goes; and against each other on streams that are too long for it. The relaxed counter is compared with
   brute force over gaps from zero on, and is never below the others. SPIKEMILL_LONG=1: a million random streams. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

enum { SERIAL, LATEST_START, PTPE, MAPCONCATENATE, HYBRID, TWO_PASS, A2, COUNTERS };

static const struct contestant {
  const char *name;
  int relaxed, culls; /* counts bounds: of all, or of those that are not frequent */
  int parts;          /* that take memory in any case: blocks or segments */
} contestant[COUNTERS] = {
    [SERIAL] = {"serial", 0, 0, 0}, [LATEST_START] = {"latest-start", 0, 0, 0},
    [PTPE] = {"ptpe", 0, 0, 1},     [MAPCONCATENATE] = {"mapconcatenate", 0, 0, 1},
    [HYBRID] = {"hybrid", 0, 0, 2}, [TWO_PASS] = {"two-pass", 0, 1, 1},
    [A2] = {"a2", 1, 0, 1},
};
#include "contest.h"

static void known_cases(void)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mill_event event[BRUTE_EVENTS];
    struct brute_episode episode;
    const uint32_t n = brute_read_stream(cases[i].stream, event);
    brute_read_episode(cases[i].episode, &episode);
    for (int strict = 0; strict < 2; strict++) {
      const uint32_t want = strict ? cases[i].strict : cases[i].order;
      is_int(brute_count(event, n, &episode, strict), want, "%s: %s, ties = %s: %u by brute force", cases[i].stream,
             cases[i].episode, strict ? "strict" : "order", want);
      for (int c = 0; c < COUNTERS; c++) {
        const uint64_t due = contestant[c].relaxed ? brute_relaxed(event, n, episode) : want;
        int right = due >= want;
        for (uint32_t threads = 1; threads <= THREADS; threads++)
          for (uint64_t memory = 0; memory <= 1000000; memory = 10 * memory + 100)
            right &= count_case(c, event, n, &episode, strict ? MILL_TIES_STRICT : MILL_TIES_ORDER, memory, threads) == due;
        ok(right, "and by %s", contestant[c].name);
      }
    }
  }
}

/* ---- Long streams ---- */

static void long_streams(void)
{
  static const struct long_row row[] = {
      {40000, 6, 60, 4, 3, 1},     /* ties, most pairs are linked */
      {60000, 40, 60, 5, 200, 3},  /* few ends among many events */
      {20000, 600, 400, 4, 10, 2}, /* more types than a sweep has room for */
      {3000, 2, 300, 6, 1, 50},    /* several events a tick */
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    seed = 77 + i;
    struct mill_event *event = long_stream(row[i].events, row[i].types, row[i].mean);
    for (int ties = MILL_TIES_ORDER; ties <= MILL_TIES_STRICT; ties++)
      for (uint32_t threads = 1; threads <= THREADS; threads++) {
        struct mine m = mine_of(&row[i], event, ties);
        m.memory[1] = threads == 1 ? UINT64_C(1) << 30 : threads == 2 ? 500000 : 0;
        for (int c = 0; c < COUNTERS; c++) {
          m.threads[c] = c == SERIAL ? 2 : threads;
          m.parameters[c].segments = threads == 1 ? 64 : 0;
          m.parameters[c].crossover = "100 30";
        }
        checked = 0;
        int good = mine(&m);
        ok(good && checked > row[i].most,
           "%u events of %u types, ties = %s, %u threads, %" PRIu64 " bytes: the same count of %" PRIu64 " episodes", row[i].events,
           row[i].types, ties ? "strict" : "order", threads, m.memory[1], checked);
      }
    free(event);
  }
}

/* A type with many events of which an episode ends at a few early ones, and an interval that reaches back to them from behind all
   of them: what is known of the type's last events counts. */
static void late_nodes(void)
{
  enum { SHORTEST = 1000, LENGTHS = 300 };
  static struct mill_event event[SHORTEST + 2 * LENGTHS];
  uint64_t right = 0;
  for (uint32_t i = 0; i < LENGTHS; i++) {
    uint32_t n = 0;
    seed = i;
    for (uint32_t k = 0; k < SHORTEST + i; k++) {
      if (k < 30 && draw(10) == 0)
        event[n++] = (struct mill_event){.tick = k, .unit = 0};
      event[n++] = (struct mill_event){.tick = k + 1, .unit = 1};
    }
    event[n++] = (struct mill_event){.tick = SHORTEST + i + 1, .unit = 2};
    const struct mine m = {.event = event,
                           .events = n,
                           .types = 3,
                           .levels = 3,
                           .most = 60,
                           .threshold = 1,
                           .intervals = 2,
                           .interval = {{0, 1}, {0, 2 * SHORTEST}},
                           .memory = {0, UINT64_C(1) << 30},
                           .threads = {1, 1, 1, 1, 1, 1, 1}};
    right += (uint64_t)mine(&m);
  }
  is_int((intmax_t)right, LENGTHS, "the last node far behind the prefix: the counters agree");
}

int main(void)
{
  plan_later();
  contest_open();
  known_cases();
  random_streams("brute force", 0, getenv("SPIKEMILL_LONG") ? 1000000 : 100000, 14, 5, 1, 1);
  random_streams("each other", 0, 2000, 600, 5, 0, 1);
  long_streams();
  late_nodes();
  contest_close();
  return done_testing();
}
