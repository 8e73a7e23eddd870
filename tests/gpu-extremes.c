/* Counters on a GPU where inputs are at their ends: no events, one, one type, all at one time, a million types, times and intervals at the ends
   of 64 and of 32 bits, 64 nodes, thresholds that nothing reaches, lists and machines that are too few, more segments than events, no candidates.
   Each has to say what it says on the CPU, and the exact ones what the reference says. Runs on a real GPU when there is one, else on the emulator.
   With SPIKEMILL_LONG=1, on a real one, also 10^9 events, whose counts are known; HUGE=EVENTS:COUNTER,… does nothing but that, with so many events and
   these counters. It takes 50 GB of memory, and minutes. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <time.h>

#include "counting.h"
#include "cuda/miner.h"
#include "gpu.h"
#include "registry.h"
#include "simulation.h"
#include "threads.h"

enum { LATEST_START, PTPE, MAPCONCATENATE, HYBRID, TWO_PASS, A2, COUNTERS, NODES = 64 };

static const struct contestant {
  const char *name;
  int exact;
} contestant[COUNTERS] = {{"latest-start", 1}, {"ptpe", 1}, {"mapconcatenate", 1}, {"hybrid", 1}, {"two-pass", 0}, {"a2", 0}};

static const struct mill_plugin *plugin[COUNTERS], *serial;
static struct mill_miner *miner[COUNTERS];
static struct mill_team *team;
static enum gpu gpu;

/* A stream and an episode. */
struct extreme {
  const char *what;
  const struct mill_event *event;
  uint32_t events, types, nodes;
  const uint32_t *type;                 /* [nodes] */
  const struct mill_interval *interval; /* [intervals] */
  uint32_t intervals, which[NODES];     /* [nodes - 1] */
  uint64_t threshold;
};

struct way {
  uint64_t memory;
  struct parameters {
    int64_t segments;
    const char *crossover;
  } parameters;
};

static struct mill_counting_setup setup_of(const struct extreme *x, const struct mill_plugin *counter, struct mill_miner *on,
                                           int ties, const struct way *way)
{
  return (struct mill_counting_setup){.plugin = counter,
                                      .params = &way->parameters,
                                      .event = x->event,
                                      .events = x->events,
                                      .types = x->types,
                                      .ties = ties,
                                      .interval = x->interval,
                                      .interval_count = x->intervals,
                                      .threshold = x->threshold,
                                      .memory = way->memory,
                                      .team = team,
                                      .miner = on};
}

/* Counts the episode and all its prefixes, each as the only candidate of its level, `twins` times in one batch, which have to agree; a prefix is
   kept when it reaches the threshold. counts: [nodes]. */
static int count_all(const struct mill_counting_setup *setup, const struct extreme *x, uint32_t twins, uint64_t *counts,
                     struct mill_error *error)
{
  static uint32_t type[8 * NODES], interval[8 * NODES], parent[8];
  struct mill_counting *counting = NULL;
  int rc = mill_counting_open(setup, &counting, error);
  for (uint32_t n = 1; rc == 0 && n <= x->nodes; n++) {
    uint64_t got[8] = {0};
    const uint64_t kept = 0;
    const uint32_t many = n > 1 ? twins : 1;
    for (uint32_t k = 0; k < many; k++) {
      memcpy(type + k * n, x->type, n * sizeof *type);
      memcpy(interval + k * (n - 1), x->which, (n - 1) * sizeof *interval);
    }
    const struct mill_candidates none = {.level = n, .type = type, .interval = interval, .parent = parent, .last = n == x->nodes};
    const struct mill_candidates c = {n, many, 0, type, n > 1 ? interval : NULL, n > 1 ? parent : NULL, n == x->nodes, many};
    if ((rc = mill_counting_count(counting, &none, got, error)) || (rc = mill_counting_count(counting, &c, got, error)))
      break;
    for (uint32_t k = 1; k < many; k++)
      if (got[k] != got[0])
        rc = mill_fail(error, MILL_DATA, "%u nodes: %" PRIu64 ", and then %" PRIu64, n, got[0], got[k]);
    counts[n - 1] = got[0];
    if (rc == 0 && n < x->nodes)
      rc = mill_counting_keep(counting, n, got[0] >= x->threshold, &kept, error);
  }
  mill_counting_close(counting);
  return rc;
}

/* Every counter in every way. */
static void check(const struct extreme *x)
{
  static const struct way way[] = {{UINT64_C(1) << 30, {0, NULL}}, {UINT64_C(1) << 30, {64, "0"}}, {0, {8, "1000000"}}};
  uint64_t right[NODES] = {0}, here[NODES] = {0}, there[NODES] = {0};
  struct mill_error error = {.text = ""};
  for (int c = 0; c < COUNTERS; c++) {
    int good = 1;
    for (int ties = MILL_TIES_ORDER; ties <= MILL_TIES_STRICT && good; ties++)
      for (size_t w = 0; w < sizeof way / sizeof *way && good; w++) {
        const struct way roomy = {UINT64_C(1) << 30, way[w].parameters};
        const struct mill_counting_setup reference = setup_of(x, serial, NULL, ties, &roomy),
                                         cpu = setup_of(x, plugin[c], NULL, ties, &roomy),
                                         device = setup_of(x, plugin[c], miner[c], ties, &way[w]);
        good = !count_all(&reference, x, 1, right, &error) && !count_all(&cpu, x, 1, here, &error) &&
               !count_all(&device, x, 3, there, &error);
        if (!good)
          diag("%s: %s", contestant[c].name, error.text);
        for (uint32_t n = 0; n < x->nodes && good; n++) {
          good = there[n] == here[n] && (contestant[c].exact ? there[n] == right[n] : there[n] >= right[n]);
          if (!good)
            diag("%s, way %zu, ties %s, %u nodes: %" PRIu64 "; on the CPU %" PRIu64 ", by the reference %" PRIu64,
                 contestant[c].name, w, ties == MILL_TIES_STRICT ? "strict" : "order", n + 1, there[n], here[n], right[n]);
        }
      }
    ok(good, "%s: %s", x->what, contestant[c].name);
  }
}

/* ---- Few events ---- */

static const uint32_t abc[] = {0, 1, 2}, aaa[] = {0, 0, 0}, ab[] = {0, 1};
static const struct mill_interval wide[] = {{0, INT64_MAX}, {INT64_MAX - 1, INT64_MAX}, {0, 1}};

static void few_events(void)
{
  static struct mill_event event[5000];
  check(&(struct extreme){"no events", NULL, 0, 3, 3, abc, wide, 3, {0, 2}, 1});
  event[0] = (struct mill_event){.tick = INT64_MIN};
  check(&(struct extreme){"one event", event, 1, 1, 3, aaa, wide, 3, {0, 1}, 1});
  event[0] = (struct mill_event){.tick = INT64_MAX};
  check(&(struct extreme){"one event, at the other end", event, 1, 3, 3, aaa, wide, 3, {0, 1}, 1});
  for (uint32_t i = 0; i < 1500; i++)
    event[i] = (struct mill_event){.tick = i / 2};
  check(&(struct extreme){"one type", event, 1500, 1, 3, aaa, wide, 3, {2, 2}, 1});
  check(&(struct extreme){"one type, any gap", event, 1500, 1, 3, aaa, wide, 3, {0, 0}, 1});
  for (uint32_t i = 0; i < 5000; i++)
    event[i] = (struct mill_event){.tick = 7, .unit = i % 3};
  check(&(struct extreme){"all at one time", event, 5000, 3, 3, abc, wide, 3, {0, 2}, 1});
  for (uint32_t i = 0; i < 3000; i++)
    event[i] = (struct mill_event){.tick = i < 1500 ? 7 : 8, .unit = i % 3};
  check(&(struct extreme){"all at two times", event, 3000, 3, 3, abc, wide, 3, {0, 2}, 1});
  for (uint32_t i = 0; i < 40; i++)
    event[i] = (struct mill_event){.tick = i, .unit = i % 2};
  check(&(struct extreme){"a support above all counts", event, 40, 2, 2, ab, wide, 3, {2}, 41});
  check(&(struct extreme){"the largest support", event, 40, 2, 2, ab, wide, 3, {2}, UINT64_MAX});
}

static void many_types(void)
{
  enum { MANY = 1000000, SOME = 3000 };
  struct mill_event *event = calloc(SOME, sizeof *event);
  uint32_t *type = malloc(MANY * sizeof *type);
  uint64_t *counts = malloc(MANY * sizeof *counts);
  static const uint32_t last[] = {MANY - 1, 64, MANY - 1};
  struct mill_error error = {.text = ""};
  if (!event || !type || !counts)
    bail("out of memory");
  for (uint32_t i = 0; i < SOME; i++) /* most of them in the class of the first */
    event[i] = (struct mill_event){.tick = i, .unit = i % 3 == 0 ? MANY - 1 : i % 3 == 1 ? 64 : 64 * (i % 1000)};
  check(&(struct extreme){"a million types", event, SOME, MANY, 3, last, wide, 3, {2, 0}, 1});
  for (uint32_t e = 0; e < MANY; e++)
    type[e] = e;
  for (int c = 0; c < COUNTERS; c++) {
    static const struct way way = {1 << 20, {0, NULL}};
    const struct extreme x = {.event = event, .events = SOME, .types = MANY, .interval = wide, .intervals = 3, .threshold = 1};
    const struct mill_counting_setup setup = setup_of(&x, plugin[c], miner[c], MILL_TIES_ORDER, &way);
    const struct mill_candidates candidates = {1, MANY, 0, type, NULL, NULL, 1, MANY};
    struct mill_counting *counting = NULL;
    uint64_t all = 0;
    if (mill_counting_open(&setup, &counting, &error) || mill_counting_count(counting, &candidates, counts, &error))
      diag("%s", error.text);
    else
      for (uint32_t e = 0; e < MANY; e++)
        all += counts[e];
    mill_counting_close(counting);
    ok(all == SOME && counts[64] >= SOME / 3, "a million candidates of one node: %s", contestant[c].name);
  }
  free(event);
  free(type);
  free(counts);
}

/* ---- Ends of the numbers ---- */

static void far_times(void)
{
  static const int64_t first[] = {INT64_MIN, 0, -INT64_MAX / 2, -1};
  static struct mill_event event[8];
  char what[96];
  for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
    const int64_t last = first[i] == 0 ? INT64_MAX : first[i] == -1 ? INT64_MAX - 1 : first[i] + INT64_MAX;
    const int64_t tick[8] = {first[i], first[i], first[i] + 1, first[i] + 1, last - 1, last - 1, last, last};
    for (uint32_t k = 0; k < 8; k++)
      event[k] = (struct mill_event){.tick = tick[k], .unit = k % 2};
    for (uint32_t j = 0; j < 3; j++) {
      snprintf(what, sizeof what, "from %" PRId64 " to %" PRId64 ", interval %u", first[i], last, j);
      check(&(struct extreme){what, event, 8, 2, 2, ab, wide, 3, {j}, 1});
    }
  }
  static const struct way way = {1 << 20, {0, NULL}};
  for (uint32_t k = 0; k < 8; k++)
    event[k].tick = k ? 0 : INT64_MIN;
  const struct extreme x = {.event = event, .events = 8, .types = 2, .interval = wide, .intervals = 3, .threshold = 1};
  struct mill_counting *counting;
  struct mill_error error = {.text = ""};
  const struct mill_counting_setup setup = setup_of(&x, plugin[PTPE], miner[PTPE], MILL_TIES_ORDER, &way);
  ok(mill_counting_open(&setup, &counting, &error) && strstr(error.text, "can lie between them"),
     "further apart than that: an error");
}

/* About where times go from 32 bits to 64. */
static void narrow_times(void)
{
  static const int64_t span[] = {INT32_MAX - INT64_C(1), INT32_MAX, INT32_MAX + INT64_C(1), UINT32_MAX, UINT32_MAX + INT64_C(1)};
  static struct mill_event event[600];
  char what[96];
  for (size_t i = 0; i < sizeof span / sizeof *span; i++) {
    const struct mill_interval around[] = {{span[i] - 2, span[i]}, {span[i] - 1, span[i]},     {span[i], span[i] + 1},
                                           {0, INT32_MAX},         {INT32_MAX - 1, INT64_MAX}, {INT32_MAX, INT64_MAX},
                                           {0, UINT32_MAX}};
    for (uint32_t k = 0; k < 600; k++) /* at the first two ticks and at the last two */
      event[k] = (struct mill_event){.tick = -5 + (k < 300 ? k / 150 : span[i] + k / 150 - 3), .unit = k % 2};
    for (uint32_t j = gpu == GPU_REAL ? 0 : i % 2; j < sizeof around / sizeof *around; j += gpu == GPU_REAL ? 1 : 2) {
      snprintf(what, sizeof what, "times over %" PRId64 " ticks, gaps (%" PRId64 ",%" PRId64 "]", span[i], around[j].low,
               around[j].high);
      check(&(struct extreme){what, event, 600, 2, 3, aaa, around, 7, {j, 3}, 1});
    }
  }
}

/* ---- Long episodes, long lists ---- */

static void long_episodes(void)
{
  enum { EVENTS = 64 * 20 };
  static struct mill_event event[EVENTS];
  uint32_t type[NODES];
  struct extreme x = {"64 nodes of 64 types", event, EVENTS, NODES, NODES, type, wide, 3, {0}, 1};
  for (uint32_t i = 0; i < NODES; i++) {
    type[i] = i;
    x.which[i] = 2;
  }
  for (uint32_t i = 0; i < EVENTS; i++)
    event[i] = (struct mill_event){.tick = i, .unit = i % NODES};
  check(&x);
  x.what = "64 nodes, any gaps";
  for (uint32_t i = 0; i < NODES; i++)
    x.which[i] = 0;
  check(&x);
  for (uint32_t i = 0; i < EVENTS; i++)
    event[i].tick = INT64_MIN + (int64_t)i * (INT64_MAX / EVENTS);
  x.what = "64 nodes, any gaps, over all times";
  check(&x);
}

/* Bursts of one type, of which the oldest are those that fit; and as many ends of the last type within reach. */
static void long_lists(void)
{
  enum { BURST = 600, TURNS = 4 };
  static const struct mill_interval gap[] = {{BURST, BURST + 20}, {0, 2 * BURST}, {0, 4}};
  static struct mill_event event[TURNS * 2 * BURST];
  for (uint32_t i = 0; i < TURNS * 2 * BURST; i++)
    event[i] = (struct mill_event){.tick = i, .unit = i / BURST % 2};
  check(&(struct extreme){"lists of 600 times", event, TURNS * 2 * BURST, 2, 2, ab, gap, 3, {0}, 1});
  check(&(struct extreme){"two such lists", event, TURNS * 2 * BURST, 2, 3, (const uint32_t[]){0, 1, 0}, gap, 3, {0, 0}, 1});
  check(&(struct extreme){"600 ends within reach", event, TURNS * 2 * BURST, 2, 3, (const uint32_t[]){0, 0, 0}, gap, 3, {1, 2}, 1});
}

static void many_segments(void)
{
  static struct mill_event event[100];
  static const struct way way[] = {{UINT64_C(1) << 30, {1 << 16, NULL}}, {UINT64_C(1) << 30, {1 << 10, NULL}}};
  struct extreme x = {"", event, 100, 2, 3, (const uint32_t[]){0, 1, 0}, wide, 3, {0, 0}, 1};
  uint64_t right[NODES], there[NODES];
  struct mill_error error = {.text = ""};
  for (uint32_t i = 0; i < 100; i++)
    event[i] = (struct mill_event){.tick = i / 3, .unit = i % 2};
  for (size_t w = gpu == GPU_REAL ? 0 : 1; w < 2; w++)
    for (int ties = MILL_TIES_ORDER; ties <= MILL_TIES_STRICT; ties++) {
      const struct mill_counting_setup reference = setup_of(&x, serial, NULL, ties, &way[w]),
                                       device = setup_of(&x, plugin[MAPCONCATENATE], miner[MAPCONCATENATE], ties, &way[w]);
      const int good = !count_all(&reference, &x, 1, right, &error) && !count_all(&device, &x, 1, there, &error);
      ok(good && memcmp(right, there, x.nodes * sizeof *right) == 0, "%" PRId64 " segments of 100 events, ties %d %s",
         way[w].parameters.segments, ties, error.text);
    }
}

/* ---- 10^9 events ---- */

enum { HUGE_TYPES = 64, HUGE_INTERVALS = 3 };

/* Event i is at tick i and of type i mod 64. */
static void huge(uint64_t events, const char *counters)
{
  static const struct mill_interval gap[HUGE_INTERVALS] = {{0, 1}, {1, 2}, {0, HUGE_TYPES}};
  static const uint32_t first[] = {0, 1, 63}, second[] = {0, 0, 0, 1, 0, 1, 63, 0}, second_gap[] = {2, 0, 1, 0},
                        second_parent[] = {0, 0, 0, 2}, third[] = {0, 1, 2}, third_gap[] = {0, 0}, third_parent[] = {0};
  const uint64_t turns = events / HUGE_TYPES, rest = events % HUGE_TYPES,
                 of[] = {turns + (rest > 0), turns + (rest > 1), turns + (rest > 2), turns}; /* events of types 0, 1, 2, 63 */
  const uint64_t right[] = {of[0], of[1], of[3], of[0] / 2, of[1], 0, of[0] ? of[0] - 1 : 0, of[2]};
  struct mill_event *event = malloc(events * sizeof *event);
  static const struct way way = {UINT64_C(4) << 30, {0, NULL}};
  if (!event) {
    skip(1, "no memory for %" PRIu64 " events", events);
    return;
  }
  for (uint64_t i = 0; i < events; i++)
    event[i] = (struct mill_event){.tick = (int64_t)i, .unit = (uint32_t)(i % HUGE_TYPES)};
  for (int c = 0; c < COUNTERS; c++) {
    const struct extreme x = {.event = event,
                              .events = (uint32_t)events,
                              .types = HUGE_TYPES,
                              .interval = gap,
                              .intervals = HUGE_INTERVALS,
                              .threshold = 1};
    const struct mill_counting_setup setup = setup_of(&x, plugin[c], miner[c], MILL_TIES_ORDER, &way);
    const struct mill_candidates level[] = {{1, 3, 0, first, NULL, NULL, 0, 3},
                                            {2, 4, 0, second, second_gap, second_parent, 0, 4},
                                            {3, 1, 0, third, third_gap, third_parent, 1, 1}};
    const uint64_t kept[2][3] = {{0, 1, 2}, {1}}, keep[2] = {3, 1};
    struct mill_counting *counting = NULL;
    struct mill_error error = {.text = ""};
    uint64_t got[8] = {0};
    if (counters && !strstr(counters, contestant[c].name))
      continue;
    const double begun = mill_seconds();
    int rc = mill_counting_open(&setup, &counting, &error);
    const double opened = mill_seconds();
    for (uint32_t n = 0, at = 0; n < 3 && rc == 0; at += level[n++].count)
      if ((rc = mill_counting_count(counting, &level[n], got + at, &error)) == 0 && n < 2)
        rc = mill_counting_keep(counting, n + 1, (uint32_t)keep[n], kept[n], &error);
    mill_counting_close(counting);
    diag("%s: %" PRIu64 " events sent in %.1f s, 5 episodes of two and three nodes counted in %.1f s%s%s", contestant[c].name,
         events, opened - begun, mill_seconds() - opened, rc ? ": " : "", error.text);
    if (rc && error.status == MILL_RESOURCES) {
      skip(1, "%s: %s", contestant[c].name, error.text);
      continue;
    }
    int good = rc == 0;
    for (int k = 0; k < 8 && good; k++) { /* A2 lets the gap of one tick pass where (1,2] is asked for */
      const uint64_t want = c == A2 && k == 5 ? of[1] : right[k];
      good = got[k] == want;
      if (!good)
        diag("episode %d: %" PRIu64 ", right %" PRIu64, k, got[k], want);
    }
    ok(good, "%" PRIu64 " events: %s", events, contestant[c].name);
  }
  free(event);
}

int main(void)
{
  const char *asked = getenv("HUGE");
  struct mill_error error;
  uint64_t events = 0;
  int used = 0;
  plan_later();
  if (asked && (sscanf(asked, "%" SCNu64 "%n", &events, &used) != 1 || (asked[used] && asked[used] != ':') || !events ||
                events > UINT32_MAX))
    bail("HUGE = %s; expected EVENTS or EVENTS:COUNTER,…", asked);
  gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  if (mill_team_create(1, &team, &error) || mill_plugin_load(MILL_COUNTER, "serial", NULL, &serial, &error))
    bail("%s", error.text);
  for (int c = 0; c < COUNTERS; c++)
    if (mill_plugin_load(MILL_COUNTER, contestant[c].name, NULL, &plugin[c], &error) ||
        mill_miner_open(plugin[c], &miner[c], &error))
      bail("%s: %s", contestant[c].name, error.text);
  if (!asked) {
    few_events();
    many_types();
    far_times();
    narrow_times();
    long_episodes();
    long_lists();
    many_segments();
    huge(20000, NULL);
  }
  if (asked)
    huge(events, asked[used] ? asked + used : NULL);
  else if (gpu == GPU_REAL && getenv("SPIKEMILL_LONG"))
    huge(1000000000, NULL);
  for (int c = 0; c < COUNTERS; c++)
    mill_miner_close(miner[c]);
  mill_team_free(team);
  return done_testing();
}
