/* Counters on a GPU against brute force over all occurrences and against the reference on the CPU: on small cases with known counts, on random
   streams, by themselves and many at a time, and on longer ones. Runs on a real GPU when there is one, else on the emulator. SPIKEMILL_LONG=1, or
   a real one: more streams. BATCHES=FIRST:COUNT: so many batches of 256 random streams, and nothing else; a million streams are batches 0 to
   3906, which several processes can share. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "gpu.h"

enum { SERIAL, LATEST_START, PTPE, MAPCONCATENATE, HYBRID, TWO_PASS, A2, COUNTERS };

static const struct contestant {
  const char *name;
  int relaxed, culls; /* counts bounds: of all, or of those that are not frequent */
  int parts;          /* that take memory in any case */
} contestant[COUNTERS] = {
    [SERIAL] = {"serial", 0, 0, 0}, [LATEST_START] = {"latest-start", 0, 0, 0},
    [PTPE] = {"ptpe", 0, 0, 0},     [MAPCONCATENATE] = {"mapconcatenate", 0, 0, 0},
    [HYBRID] = {"hybrid", 0, 0, 0}, [TWO_PASS] = {"two-pass", 0, 1, 0},
    [A2] = {"a2", 1, 0, 0},
};
#include "contest.h"
#include "batches.h"
#include "cuda/miner-private.h"

enum { BATCH_STREAMS = 256 };

static int longer;

static void open_miners(void)
{
  struct mill_error error;
  for (int c = 1; c < COUNTERS; c++)
    if (mill_miner_open(plugin[c], &miner[c], &error) || mill_miner_load(miner[c], 0, &error) ||
        mill_miner_load(miner[c], 1, &error))
      bail("%s: %s", contestant[c].name, error.text);
}

static void known_cases(void)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mill_event event[BRUTE_EVENTS];
    struct brute_episode episode;
    const uint32_t n = brute_read_stream(cases[i].stream, event);
    brute_read_episode(cases[i].episode, &episode);
    for (int c = 1; c < COUNTERS; c++) {
      int right = 1;
      for (int strict = 0; strict < 2; strict++) {
        const uint32_t want = strict ? cases[i].strict : cases[i].order;
        const uint64_t due = contestant[c].relaxed ? brute_relaxed(event, n, episode) : want;
        for (uint64_t memory = 0; memory <= 100000; memory = 100 * memory + 100)
          right &= count_case(c, event, n, &episode, strict ? MILL_TIES_STRICT : MILL_TIES_ORDER, memory, 1) == due;
      }
      ok(right, "%s: %s: by %s", cases[i].stream, cases[i].episode, contestant[c].name);
    }
  }
}

static void long_streams(void)
{
  static const struct long_row row[] = {
      {1500, 6, 40, 4, 3, 1},     /* ties, most pairs are linked */
      {3000, 40, 60, 5, 200, 3},  /* few ends among many events */
      {2000, 300, 200, 4, 10, 2}, /* many types */
      {800, 2, 60, 8, 1, 20},     /* several events a tick */
      {4000, 2, 12, 4, 40, 1},    /* few candidates with long lists: in segments */
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    seed = 177 + i;
    struct mill_event *event = long_stream(row[i].events, row[i].types, row[i].mean);
    for (int ties = MILL_TIES_ORDER; ties <= MILL_TIES_STRICT; ties++)
      for (uint32_t part = 0; part < 3; part++) {
        if (!longer && part != (i + (uint32_t)ties) % 3)
          continue;
        const uint64_t memory[] = {UINT64_C(1) << 30, 500000, 0};
        struct mine m = mine_of(&row[i], event, ties);
        for (int c = 0; c < COUNTERS; c++) {
          m.threads[c] = 1;
          m.memory[c] = memory[part];
          m.parameters[c].segments = part == 0 ? 64 : 0;
          m.parameters[c].crossover = "100 30";
        }
        checked = 0;
        int good = mine(&m);
        ok(good && checked > row[i].most,
           "%u events of %u types, ties = %s, %" PRIu64 " bytes: the same count of %" PRIu64 " episodes", row[i].events,
           row[i].types, ties ? "strict" : "order", memory[part], checked);
      }
    free(event);
  }
}

/* More times than a list in shared memory holds, of which the oldest ones are those that fit. */
static void long_lists(void)
{
  enum { BURST = 120, EVENTS = 4 * BURST + 4 };
  static struct mill_event event[EVENTS];
  uint32_t n = 0;
  for (uint32_t k = 0; k < 4; k++) {
    for (uint32_t i = 0; i < BURST; i++)
      event[n++] = (struct mill_event){.tick = 1000 * k + i, .unit = k % 2};
    event[n++] = (struct mill_event){.tick = 1000 * k + BURST + 60, .unit = 2};
  }
  for (int ties = MILL_TIES_ORDER; ties <= MILL_TIES_STRICT; ties++)
    for (int little = 0; little < 2; little++) {
      struct mine m = {.event = event,
                       .events = n,
                       .types = 3,
                       .levels = 4,
                       .most = 60,
                       .threshold = 1,
                       .ties = ties,
                       .intervals = 3,
                       .interval = {{150, 175}, {1000 - BURST / 2, 1000}, {0, 3000}}};
      seed = 5;
      for (int c = 0; c < COUNTERS; c++) {
        m.threads[c] = 1;
        m.memory[c] = little ? 2000 : UINT64_C(1) << 30;
        m.parameters[c].segments = little ? 2 : 8;
        m.parameters[c].crossover = little ? "0" : "1000";
      }
      ok(mine(&m), "lists of %d times, ties = %s, %s memory: the counters agree", BURST, ties ? "strict" : "order",
         little ? "little" : "much");
    }
}

/* Bursts with more ends within reach of a cut than there are machines, and quiet between them: some cuts are none, of some episodes. */
static void bursts(void)
{
  enum { BURSTS = 6, BURST = 70, QUIET = 40, TYPES = 3, EVENTS = BURSTS * (BURST + QUIET) };
  static struct mill_event event[EVENTS];
  uint32_t n = 0;
  int64_t tick = 0;
  seed = 11;
  for (uint32_t k = 0; k < BURSTS; k++) {
    for (uint32_t i = 0; i < BURST; i++)
      event[n++] = (struct mill_event){.tick = tick += draw(2), .unit = draw(k % 2 ? 10 : TYPES) % TYPES};
    for (uint32_t i = 0; i < QUIET; i++)
      event[n++] = (struct mill_event){.tick = tick += 1 + draw(20), .unit = draw(TYPES)};
  }
  for (int ties = MILL_TIES_ORDER; ties <= MILL_TIES_STRICT; ties++)
    for (int64_t segments = 2; segments <= 512; segments *= 4) {
      struct mine m = {.event = event,
                       .events = n,
                       .types = TYPES,
                       .levels = 5,
                       .most = 40,
                       .threshold = 1,
                       .ties = ties,
                       .intervals = 3,
                       .interval = {{0, 3}, {2, 9}, {5, 25}}};
      for (int c = 0; c < COUNTERS; c++) {
        m.threads[c] = 1;
        m.memory[c] = UINT64_C(1) << 30;
        m.parameters[c].segments = segments;
        m.parameters[c].crossover = "100000";
      }
      ok(mine(&m), "bursts, ties = %s, %" PRId64 " segments: the counters agree", ties ? "strict" : "order", segments);
    }
}

/* An episode of 64 nodes, of two types in turn, and all its prefixes. */
static void deepest_level(void)
{
  enum { NODES = 64, EVENTS = 1000 };
  static struct mill_event event[EVENTS];
  static const struct mill_interval gap[] = {{0, 3}};
  static const uint32_t interval[NODES], parent;
  uint32_t type[NODES];
  uint64_t want[NODES + 1];
  struct mill_error error;
  int right = 1;
  for (uint32_t i = 0; i < EVENTS; i++)
    event[i] = (struct mill_event){.tick = i + i / 97, .unit = i % 2};
  for (uint32_t i = 0; i < NODES; i++)
    type[i] = i % 2;
  for (int c = 0; c < COUNTERS; c++) {
    struct mill_counting *counting;
    const struct parameters parameters = {4, NULL};
    const struct mill_counting_setup setup = {.plugin = plugin[c],
                                              .params = &parameters,
                                              .event = event,
                                              .events = EVENTS,
                                              .types = 2,
                                              .interval = gap,
                                              .interval_count = 1,
                                              .threshold = 1,
                                              .memory = 1 << 20,
                                              .team = team[0],
                                              .miner = miner[c]};
    if (mill_counting_open(&setup, &counting, &error))
      bail("%s", error.text);
    for (uint32_t n = 1; n <= NODES && right; n++) {
      const uint64_t kept = 0;
      uint64_t count;
      struct mill_candidates candidates = {n, 1, 0, type, n > 1 ? interval : NULL, n > 1 ? &parent : NULL, n == NODES, 1};
      if (mill_counting_count(counting, &candidates, &count, &error) ||
          (n < NODES && mill_counting_keep(counting, n, 1, &kept, &error)))
        bail("%s: %s", contestant[c].name, error.text);
      want[n] = c ? want[n] : count;
      right = contestant[c].relaxed ? count >= want[n] : count == want[n];
      if (!right)
        diag("%s: %u nodes: %" PRIu64 ", right %" PRIu64, contestant[c].name, n, count, want[n]);
    }
    mill_counting_close(counting);
  }
  ok(right && want[NODES] == EVENTS / NODES, "an episode of %d nodes occurs %" PRIu64 " times", NODES, want[NODES]);
}

/* Bytes of the device that latest-start holds when it has counted all pairs, with so much memory to keep them in. */
static uint64_t held_with(uint64_t memory)
{
  enum { EVENTS = 1500, TYPES = 5 };
  const struct mill_interval gap[] = {{0, 9}};
  struct mill_event *event = long_stream(EVENTS, TYPES, 3);
  struct mill_miner *own = NULL;
  struct mill_counting *counting;
  struct mill_error error;
  uint32_t type[TYPES], pair[TYPES * TYPES * 2], interval[TYPES * TYPES] = {0}, parent[TYPES * TYPES];
  uint64_t counts[TYPES * TYPES], kept[TYPES];
  for (uint32_t i = 0; i < TYPES * TYPES; i++) {
    pair[2 * i] = parent[i] = i / TYPES;
    pair[2 * i + 1] = type[i % TYPES] = i % TYPES;
    kept[i % TYPES] = i % TYPES;
  }
  const struct mill_candidates first = {1, TYPES, 0, type, NULL, NULL, 0, TYPES},
                               second = {2, TYPES * TYPES, 0, pair, interval, parent, 0, TYPES * TYPES};
  if (mill_miner_open(plugin[LATEST_START], &own, &error))
    bail("%s", error.text);
  const struct mill_counting_setup setup = {.plugin = plugin[LATEST_START],
                                            .event = event,
                                            .events = EVENTS,
                                            .types = TYPES,
                                            .interval = gap,
                                            .interval_count = 1,
                                            .threshold = 1,
                                            .memory = memory,
                                            .team = team[0],
                                            .miner = own};
  if (mill_counting_open(&setup, &counting, &error) || mill_counting_count(counting, &first, counts, &error) ||
      mill_counting_keep(counting, 1, TYPES, kept, &error) || mill_counting_count(counting, &second, counts, &error))
    bail("%s", error.text);
  const uint64_t held = own->cuda->held;
  mill_counting_close(counting);
  mill_miner_close(own);
  free(event);
  return held;
}

static void cache_size(void)
{
  enum { WORK = 4000 }; /* bytes for segments, and to say which candidates are kept */
  const uint64_t none = held_with(0), most = held_with(1 << 20);
  ok(most > none + 30000, "latest-start keeps the ends of pairs: %" PRIu64 " bytes", most - none);
  for (uint64_t memory = 4000; memory < 20000; memory = memory * 3 / 2) {
    const uint64_t held = held_with(memory);
    ok(held > none && held - none <= memory + WORK, "and no more than it may: %" PRIu64 " bytes of %" PRIu64, held - none, memory);
  }
}

/* Another stream of the same size in the place of the first, with times that need more bits. */
static void restart(void)
{
  enum { EVENTS = 200 };
  static struct mill_event event[2][EVENTS];
  const struct mill_interval gap[] = {{0, 3}, {0, INT64_C(1) << 40}};
  const uint32_t type[] = {0, 1}, interval[] = {0, 0, 1, 1}, parent[] = {0, 0};
  const uint64_t kept = 0;
  const struct parameters parameters = {4, NULL};
  struct mill_error error;
  for (uint32_t i = 0; i < EVENTS; i++) {
    event[0][i] = (struct mill_event){.tick = i, .unit = i % 2};
    event[1][i] = (struct mill_event){.tick = (int64_t)i << 35, .unit = i % 2};
  }
  for (int c = 1; c < COUNTERS; c++) {
    uint64_t got[2][2];
    struct mill_counting *counting = NULL;
    struct mill_counting_setup setup = {.plugin = plugin[c],
                                        .params = &parameters,
                                        .events = EVENTS,
                                        .types = 2,
                                        .interval = gap,
                                        .interval_count = 2,
                                        .threshold = 1,
                                        .memory = 1 << 20,
                                        .team = team[0],
                                        .miner = miner[c]};
    for (int turn = 0; turn < 4; turn++) {
      setup.event = event[turn % 2];
      uint64_t one_count;
      const uint32_t types[] = {0, 1, 0, 1}, gaps[] = {interval[0], interval[2]};
      struct mill_candidates first = {1, 1, 0, type, NULL, NULL, 0, 1}, second = {2, 2, 0, types, gaps, parent, 1, 2};
      if ((turn ? mill_counting_restart(counting, &setup, &error) : mill_counting_open(&setup, &counting, &error)) ||
          mill_counting_count(counting, &first, &one_count, &error) || mill_counting_keep(counting, 1, 1, &kept, &error) ||
          mill_counting_count(counting, &second, got[turn % 2], &error))
        bail("%s: %s", contestant[c].name, error.text);
    }
    mill_counting_close(counting);
    ok(got[0][0] == EVENTS / 2 && got[0][1] == EVENTS / 2 && got[1][0] == 0 && got[1][1] == EVENTS / 2,
       "%s begins anew with another stream", contestant[c].name);
  }
}

int main(void)
{
  unsigned long first, count;
  int used = 0;
  const char *batches = getenv("BATCHES");
  plan_later();
  if (batches && (sscanf(batches, "%lu:%lu%n", &first, &count, &used) != 2 || batches[used] || !count))
    bail("BATCHES = %s; expected FIRST:COUNT", batches);
  const enum gpu gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  longer = gpu == GPU_REAL || getenv("SPIKEMILL_LONG");
  contest_open();
  open_miners();
  if (batches) {
    random_batches(first, count, BATCH_STREAMS);
    goto done;
  }
  known_cases();
  random_streams("brute force", 1000000, longer ? 100000 : 2000, 14, 6, 1, 0);
  random_streams("each other", 1000000, longer ? 2000 : 100, 600, 6, 0, 0);
  random_batches(0, longer ? 40 : 4, longer ? BATCH_STREAMS : 10);
  long_streams();
  long_lists();
  bursts();
  deepest_level();
  restart();
  cache_size();
done:
  for (int c = 0; c < COUNTERS; c++)
    mill_miner_close(miner[c]);
  contest_close();
  return done_testing();
}
