/* Whole minings by every counter, with the candidates made on a GPU or on the CPU, with little memory too: the same episodes, the same stops; rows, jobs
   that are drawn, and counters of an older ABI, whose candidates come from the host. Runs on a real GPU when there is one, else on the emulator.
   SPIKEMILL_LONG=1, or a real one: more of them; JOBS=FIRST:COUNT: so many of the drawn jobs and nothing else. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>

#include "counting.h"
#include "cuda/miner.h"
#include "gpu.h"
#include "levels.h"
#include "mined.h"
#include "mine.h"
#include "registry.h"

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
  return chance(&seed) % below;
}

static const char *const counters[] = {"latest-start", "ptpe", "a2", "two-pass", "hybrid", "mapconcatenate"};
static char path[] = "/tmp/mill-candidates-XXXXXX.csv";

static void write_stream(uint32_t events, uint32_t types, uint32_t mean, uint32_t burst)
{
  FILE *out = fopen(path, "w");
  uint64_t time = 0, before = 0;
  if (!out)
    bail("cannot write to /tmp");
  fprintf(out, "type,time_ms\n");
  for (uint32_t i = 0; i < events; i++) {
    const uint64_t type = i && !draw(3) ? (before + 1) % types : draw(types) * draw(types) / types;
    before = type;
    time += i % 500 < burst ? 1 : draw(2 * mean);
    fprintf(out, "%" PRIu64 ",%" PRIu64 "\n", type, time);
  }
  if (fclose(out))
    bail("cannot write to /tmp");
}

static int stop_at_three(const struct mill_mining_progress *progress, void *self)
{
  (void)self;
  return progress->level == 3;
}

/* What a mining has found, and how it ended. */
struct found {
  struct mill_mining_report report;
  struct mill_mining_level level[16];
  struct mill_error error;
};

static void mine(const char *const *sets, int stops, struct found *found)
{
  struct mill_error error;
  struct mill_mining *m = opened(path, sets, &error);
  if (!m)
    bail("%s", error.text);
  memset(found, 0, sizeof *found);
  if (mill_mining_run(m, stops ? stop_at_three : NULL, NULL, &error))
    found->error = error;
  mill_mining_report(m, &found->report);
  for (uint32_t n = 1; n <= found->report.levels && n < 16; n++)
    mill_mining_level(m, n, &found->level[n]);
  found->report.input = found->report.counter = found->report.backend = found->report.ties = NULL;
  mill_mining_free(m);
}

/* The CPU's culled counts of level 1 aside, which are of types that are not looked at. */
static int same(const struct found *a, const struct found *b)
{
  int good = a->report.count_hash == b->report.count_hash && a->report.levels == b->report.levels &&
             a->report.complete == b->report.complete && a->report.episodes == b->report.episodes &&
             strcmp(a->error.text, b->error.text) == 0;
  for (uint32_t n = 1; n <= a->report.levels && n < 16; n++)
    good &= a->level[n].candidates == b->level[n].candidates && a->level[n].frequent == b->level[n].frequent &&
            a->level[n].culled == b->level[n].culled;
  return good;
}

/* A stream, and how it is mined. */
struct task {
  uint32_t events, types, mean, burst, support;
  const char *intervals, *memory;
  uint32_t levels;
  int repeats, stops, strict;
  const char *counter;
};

/* Mines on either, with the stream that `seed` draws. */
static int mine_both(const struct task *t, uint64_t of, struct found *here, struct found *there)
{
  char sets[6][64];
  seed = of;
  write_stream(t->events, t->types, t->mean, t->burst);
  snprintf(sets[0], sizeof *sets, "mining.counter=%s", t->counter);
  snprintf(sets[1], sizeof *sets, "mining.ties=%s", t->strict ? "strict" : "order");
  snprintf(sets[2], sizeof *sets, "mining.max_length=%u", t->levels);
  snprintf(sets[3], sizeof *sets, "mining.intervals=%s", t->intervals);
  snprintf(sets[4], sizeof *sets, "mining.support=%u", t->support);
  snprintf(sets[5], sizeof *sets, "mining.memory=%s", t->memory);
  const char *const repeated = t->repeats ? "mining.repeats=yes" : "mining.repeats=no";
  mine(SET("mining.backend=cpu", "mining.threads=2", repeated, sets[0], sets[1], sets[2], sets[3], sets[4], sets[5]), t->stops,
       here);
  mine(SET("mining.backend=cuda", "mining.threads=2", repeated, sets[0], sets[1], sets[2], sets[3], sets[4], sets[5]), t->stops,
       there);
  const int good = same(here, there);
  if (!good)
    diag("on the device %" PRIu64 " episodes in %u levels: %s", there->report.episodes, there->report.levels, there->error.text);
  return good;
}

static void test_mining(int longer)
{
  static const struct task tasks[] = {
      {1500, 8, 3, 0, 25, "(0,5] (5,10] ms", "1G", 5, 0, 0, 0, NULL},
      {1500, 8, 3, 0, 25, "(0,5] (5,10] ms", "900K", 5, 1, 0, 0, NULL}, /* batches, and ends that are not kept */
      {1500, 8, 3, 0, 25, "(0,5] (5,10] ms", "300K", 5, 1, 0, 0, NULL}, /* a level has no room for its episodes */
      {1500, 8, 3, 0, 25, "(0,5] (5,10] ms", "1G", 5, 0, 1, 0, NULL},   /* interrupted */
      {900, 4, 2, 0, 12, "(0,4] (2,7] (6,14] (0,30] ms", "800K", 4, 1, 0, 0, NULL},
      {1200, 3, 9, 80, 30, "(0,70] (30,90] ms", "1M", 4, 1, 0, 0, NULL}, /* longer lists than shared memory has */
      {300, 60, 9, 0, 3, "(0,12] ms", "1G", 6, 0, 0, 0, NULL},
      {2000, 2, 5, 0, 400, "(0,4] (4,8] ms", "1G", 8, 1, 0, 0, NULL}, /* few candidates: in segments */
  };
  for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
    for (int strict = 0; strict < 2; strict++)
      for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
        struct task t = tasks[i];
        struct found here, there;
        if (!longer && (i + c) % 3 != (strict ? 1 : 0) && (strict || (i + c) % 3 != 2))
          continue;
        t.strict = strict;
        t.counter = counters[c];
        const int good = mine_both(&t, 5000 + i, &here, &there);
        ok(good, "%u events of %u types, memory %s, ties %s, %s: %" PRIu64 " episodes in %u levels%s%s", t.events, t.types,
           t.memory, strict ? "strict" : "order", t.counter, here.report.episodes, here.report.levels,
           here.error.text[0] ? ", then: " : "", here.error.text);
      }
}

/* Streams, jobs and counters that are drawn: `count` of them from number `first` on. */
static void test_drawn(int longer, uint32_t first, uint32_t count)
{
  static const char *const intervals[] = {"(0,5] ms", "(0,4] (4,8] ms", "(2,7] (0,40] ms", "(0,3] (1,9] (20,60] ms", "(0,100] ms"},
                           *const memory[] = {"1G", "1G", "4M", "700K", "400K"};
  uint32_t right = 0, deep = 0, cut = 0;
  for (uint32_t k = first; k < first + count; k++) {
    struct found here, there;
    seed = 90000 + k;
    struct task t = {.events = (uint32_t)(50 + draw((draw(4) ? 1200 : 6000) / (longer ? 1 : 4))),
                     .types = (uint32_t)(1 + draw(12)),
                     .mean = (uint32_t)(1 + draw(9)),
                     .burst = (uint32_t)(draw(2) ? 0 : draw(200)),
                     .intervals = intervals[draw(5)],
                     .memory = memory[draw(5)],
                     .levels = (uint32_t)(2 + draw(7)),
                     .repeats = (int)draw(2),
                     .strict = (int)draw(2),
                     .counter = counters[k % (sizeof counters / sizeof *counters)]};
    t.support = (uint32_t)(2 + t.events / (6 + draw(12) * t.types));
    const int good = mine_both(&t, seed, &here, &there);
    right += good;
    deep += here.report.levels > 3;
    cut += here.error.text[0] != 0;
    if (!good)
      diag("job %u: %s, %u events of %u types, mean gap %u ms, bursts of %u, support %u, %s, memory %s, to length %u, repeats %d, "
           "strict %d",
           k, t.counter, t.events, t.types, t.mean, t.burst, t.support, t.intervals, t.memory, t.levels, t.repeats, t.strict);
  }
  ok(right == count,
     "%u of %u drawn jobs: the episodes, counts and ends of the CPU; %u of them above level 3, %u at an end of memory", right,
     count, deep, cut);
}

/* Mines a stream with the sieve or, as a counter of ABI 0.4, without it. Returns the hash of the counts. */
static uint64_t search(const struct mill_plugin *plugin, uint64_t memory, struct mill_team *team, int *there,
                       struct mill_episodes *episodes)
{
  enum { EVENTS = 1200, TYPES = 7 };
  static struct mill_event event[EVENTS];
  static const struct mill_interval interval[] = {{0, 4}, {4, 9}};
  struct mill_miner *miner, *of;
  struct mill_counting *counting;
  struct mill_error error;
  int64_t time = 0;
  uint64_t hash;
  seed = 42;
  for (uint32_t i = 0; i < EVENTS; i++) {
    event[i] = (struct mill_event){.tick = time, .unit = (uint32_t)(i && draw(2) ? (event[i - 1].unit + 1) % TYPES : draw(TYPES))};
    time += (int64_t)draw(4);
  }
  if (mill_miner_open(plugin, &miner, &error))
    bail("%s", error.text);
  const struct mill_counting_setup setup = {.plugin = plugin,
                                            .event = event,
                                            .events = EVENTS,
                                            .types = TYPES,
                                            .interval = interval,
                                            .interval_count = 2,
                                            .threshold = 25,
                                            .memory = memory,
                                            .team = team,
                                            .miner = miner};
  if (mill_counting_open(&setup, &counting, &error))
    bail("%s", error.text);
  *there = mill_counting_there(counting, &of) != NULL;
  const struct mill_levels_setup levels = {.counting = counting,
                                           .types = TYPES,
                                           .interval_count = 2,
                                           .threshold = 25,
                                           .max_length = 5,
                                           .max_candidates = 1 << 20,
                                           .memory = 1 << 20,
                                           .workers = 1,
                                           .batch = 100};
  *episodes = (struct mill_episodes){.budget = 1 << 20};
  if (mill_levels_run(&levels, episodes, &error) || mill_episodes_sort(episodes, interval, &hash, &error))
    bail("%s", error.text);
  mill_counting_close(counting);
  mill_miner_close(miner);
  return hash;
}

static void test_older(void)
{
  const struct mill_plugin *plugin;
  struct mill_team *team;
  struct mill_error error;
  if (mill_team_create(1, &team, &error))
    bail("%s", error.text);
  for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
    if (mill_plugin_load(MILL_COUNTER, counters[c], NULL, &plugin, &error))
      bail("%s", error.text);
    if (plugin->params_size) /* this one wants its parameters */
      continue;
    struct mill_plugin older = *plugin;
    older.abi_minor = 4;
    for (uint64_t memory = 0; memory <= 40000; memory += 20000) {
      struct mill_episodes a, b;
      int there, here;
      const uint64_t first = search(plugin, memory, team, &there, &a), second = search(&older, memory, team, &here, &b);
      int good = there && !here && first == second && a.levels == b.levels && a.levels > 3 && a.held == b.held;
      for (uint32_t n = 1; good && n <= a.levels; n++) {
        good = a.level[n].count == b.level[n].count && a.level[n].culled == b.level[n].culled;
        for (uint32_t i = 0; good && i < a.level[n].count; i++)
          good = memcmp(mill_episode_at(&a, n, i), mill_episode_at(&b, n, i), sizeof(struct mill_episode)) == 0;
      }
      ok(good, "%s, %" PRIu64 " bytes: %u episodes of level 3, one by one those of candidates from the host", counters[c], memory,
         a.level[3].count);
      mill_episodes_free(&a);
      mill_episodes_free(&b);
    }
  }
  mill_team_free(team);
}

int main(void)
{
  const char *const jobs = getenv("JOBS");
  unsigned first = 0, count = 0;
  plan_later();
  if (jobs && (sscanf(jobs, "%u:%u", &first, &count) != 2 || !count))
    bail("JOBS = %s; expected FIRST:COUNT", jobs);
  const enum gpu gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  const int longer = gpu == GPU_REAL || getenv("SPIKEMILL_LONG"), file = mkstemps(path, 4);
  if (file < 0)
    bail("cannot write to /tmp");
  close(file);
  if (jobs)
    test_drawn(longer, first, count);
  else {
    test_mining(longer);
    test_drawn(longer, 0, longer ? 300 : 24);
    test_older();
  }
  unlink(path);
  return done_testing();
}
