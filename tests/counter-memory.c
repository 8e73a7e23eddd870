/* What counters hold stays within their part of memory: with less of it they work on less at a time, and with too little they say what they
   need. Bounds of rings are a large part here: there are many types and intervals. */
#include <inttypes.h>

#include "counting.h"
#include "memory.h"
#include "registry.h"
#include "tap.h"

enum { EVENTS = 40000, TYPES = 700, INTERVALS = 60, COUNT = 500, LEVEL = 3, BESIDE = 4096 /* bytes of structs */ };

static struct mill_event event[EVENTS];
static struct mill_interval interval[INTERVALS];
static uint32_t type[COUNT * LEVEL], gap[COUNT * (LEVEL - 1)], parent[COUNT];
static struct mill_team *team;

struct crossed {
  int64_t segments;
  const char *crossover;
};

static void make(void)
{
  uint64_t state = 11;
  int64_t tick = 0;
  for (uint32_t i = 0; i < EVENTS; i++) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    tick += (int64_t)(state >> 62);
    event[i] =
        (struct mill_event){.tick = tick, .unit = state >> 63 ? (uint32_t)(state >> 40) % 5 : (uint32_t)(state >> 32) % TYPES};
  }
  for (uint32_t j = 0; j < INTERVALS; j++)
    interval[j] = (struct mill_interval){j, j + 150};
  for (uint32_t k = 0; k < COUNT; k++) {
    parent[k] = k;
    for (uint32_t i = 0; i < LEVEL; i++)
      type[k * LEVEL + i] = (k + i * i) % 25;
    for (uint32_t i = 0; i + 1 < LEVEL; i++)
      gap[k * (LEVEL - 1) + i] = (k + i) % INTERVALS;
  }
}

/* Counts all episodes, in two batches. Returns what the counter holds at the end, or -1 after an error. */
static int64_t count(const struct mill_plugin *plugin, const void *params, uint64_t memory, uint64_t *counts,
                     struct mill_error *error)
{
  const struct mill_counting_setup setup = {plugin,   params,    event, EVENTS, TYPES, MILL_TIES_ORDER,
                                            interval, INTERVALS, 1,     memory, team, NULL, NULL};
  const uint64_t host = UINT64_C(28) * EVENTS + 4 * (TYPES + 1), before = mill_memory_held();
  const uint32_t half = COUNT / 2;
  struct mill_counting *counting;
  int64_t held = -1;
  if (mill_counting_open(&setup, &counting, error))
    bail("%s", error->text);
  const struct mill_candidates first = {LEVEL, half, 0, type, gap, parent, 1, COUNT},
                               rest = {LEVEL, COUNT - half, half, type + half * LEVEL, gap + half * (LEVEL - 1), parent, 1, COUNT};
  if (!mill_counting_count(counting, &first, counts, error) && !mill_counting_count(counting, &rest, counts + half, error))
    held = (int64_t)(mill_memory_held() - before - host);
  mill_counting_close(counting);
  return held;
}

static void test_counter(const char *name, const void *params, const char *how, int exact)
{
  static uint64_t right[COUNT], counts[COUNT];
  const struct mill_plugin *plugin;
  struct mill_error error = {.text = ""};
  unsigned long long needed = 0;
  const char *number;
  int rounds = 0;
  if (mill_plugin_load(MILL_COUNTER, name, NULL, &plugin, &error))
    bail("%s", error.text);
  const int64_t all = count(plugin, params, UINT64_C(1) << 30, right, &error);
  ok(all > 0, "%s%s with 1 GiB holds %" PRId64 " bytes", name, how, all);
  for (uint64_t memory = (exact ? 1 : 4) * (uint64_t)all; memory > 1000; memory = memory * 9 / 10, rounds++) {
    memset(counts, 0, sizeof counts);
    const int64_t held = count(plugin, params, memory, counts, &error);
    if (held < 0)
      break;
    if (held > (int64_t)memory + BESIDE || memcmp(counts, right, sizeof right) != 0)
      ok(false, "with %" PRIu64 " bytes it holds %" PRId64 ", and counts the same", memory, held);
  }
  number = strstr(error.text, " takes ");
  ok(rounds > 0 && number && sscanf(number, " takes %llu bytes", &needed) == 1 && strstr(error.text, "raise memory"),
     "after %d steps down it has too little: %s", rounds, error.text);
  ok(count(plugin, params, needed + (exact ? 0 : needed), counts, &error) > 0 && memcmp(counts, right, sizeof right) == 0,
     "what it says is enough");
  ok(!exact || count(plugin, params, needed - 1, counts, &error) < 0, "a byte less is not");
}

int main(void)
{
  static const struct crossed by_ptpe = {0, "1"}, by_map = {0, "1000000"};
  static const int64_t segments[2] = {4, 0};
  struct mill_error error;
  plan_later();
  make();
  if (mill_team_create(2, &team, &error))
    bail("%s", error.text);
  test_counter("ptpe", NULL, "", 1);
  test_counter("a2", NULL, "", 1);
  test_counter("two-pass", NULL, "", 0); /* passes that need different amounts */
  test_counter("mapconcatenate", segments, "", 1);
  test_counter("hybrid", &by_ptpe, ", by ptpe,", 0); /* each way has half */
  test_counter("hybrid", &by_map, ", by mapconcatenate,", 0);
  mill_team_free(team);
  is_int((intmax_t)mill_memory_held(), 0, "nothing is left");
  return done_testing();
}
