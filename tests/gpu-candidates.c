/* Candidates made on a GPU. The sieve against joins of whole episodes, node by node, with counts that are drawn; and random streams mined with every
   counter there and on the CPU, with little memory too: the same episodes, the same stops. Runs on a real GPU when there is one, else on the
   emulator. SPIKEMILL_LONG=1, or a real one: more of both. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>

#include "counting.h"
#include "cuda/candidates.h"
#include "gpu.h"
#include "levels.h"
#include "mined.h"
#include "mine.h"
#include "registry.h"

enum { LEVELS = 6, MOST = 80000 };

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
  return chance(&seed) % below;
}

/* ---- The sieve ---- */

/* A frequent episode, or a candidate: parent and suffix among those of the level before. */
struct whole {
  uint32_t type[LEVELS], interval[LEVELS], parent, suffix;
};

static struct whole *frequent[LEVELS + 1], *candidate;
static uint32_t frequent_count[LEVELS + 1], candidate_count;

struct trial {
  uint32_t types, intervals, levels;
  int repeats;
  uint32_t batch; /* candidates of one, at most; drawn below that when `drawn` */
  int drawn;
  uint32_t keep, of; /* so many of the candidates are frequent, about; keep 0: about as many of a level as `of` */
  uint32_t words;
};

/* Whether the last n - 1 nodes of a are the first ones of b, and the gaps between them too. */
static int joins(const struct whole *a, const struct whole *b, uint32_t n)
{
  return memcmp(a->type + 1, b->type, (n - 1) * sizeof *a->type) == 0 &&
         (n < 3 || memcmp(a->interval + 1, b->interval, (n - 2) * sizeof *a->interval) == 0);
}

static int repeats(const struct whole *a, uint32_t n)
{
  for (uint32_t i = 0; i + 1 < n; i++)
    if (a->type[i] == a->type[n - 1])
      return 1;
  return 0;
}

/* The candidates of level n. */
static int join_level(const struct trial *t, uint32_t n)
{
  candidate_count = 0;
  for (uint32_t a = 0; a < frequent_count[n - 1]; a++)
    for (uint32_t b = 0; b < frequent_count[n - 1]; b++)
      for (uint32_t j = 0; j < (n == 2 ? t->intervals : 1); j++) {
        struct whole *c = &candidate[candidate_count];
        if (!joins(&frequent[n - 1][a], &frequent[n - 1][b], n - 1))
          break;
        *c = frequent[n - 1][a];
        c->parent = a;
        c->suffix = b;
        c->type[n - 1] = frequent[n - 1][b].type[n - 2];
        c->interval[n - 2] = n == 2 ? j : frequent[n - 1][b].interval[n - 3];
        if (!t->repeats && repeats(c, n))
          break;
        if (++candidate_count == MOST)
          return 0;
      }
  return 1;
}

/* Whether the batch in the device's memory is candidates first … of level n. */
static int same_batch(const struct mill_device_host *device, const struct mill_device_candidates *batch, struct mill_error *error)
{
  const uint32_t n = batch->level;
  struct mill_device_candidate *c = malloc(batch->count * sizeof *c);
  uint32_t *type = malloc((uint64_t)batch->count * n * sizeof *type),
           *interval = malloc((uint64_t)batch->count * n * sizeof *interval);
  if (!c || !type || !interval)
    bail("out of memory");
  if (device->download(device->self, c, batch->candidate, batch->count * sizeof *c, error) ||
      device->download(device->self, type, batch->type, (uint64_t)batch->count * n * sizeof *type, error) ||
      device->download(device->self, interval, batch->interval, (uint64_t)batch->count * (n - 1) * sizeof *interval, error))
    bail("%s", error->text);
  int good = 1;
  for (uint32_t k = 0; k < batch->count && good; k++) {
    const struct whole *want = &candidate[batch->first + k];
    good = c[k].parent == want->parent && c[k].suffix == want->suffix && c[k].type == want->type[n - 1] &&
           c[k].interval == want->interval[n - 2] && memcmp(type + (uint64_t)k * n, want->type, n * sizeof *type) == 0 &&
           memcmp(interval + (uint64_t)k * (n - 1), want->interval, (n - 1) * sizeof *interval) == 0;
    if (!good)
      diag("level %u, candidate %" PRIu64 ": parent %u, suffix %u, type %u, interval %u; expected %u, %u, %u, %u", n,
           batch->first + k, c[k].parent, c[k].suffix, c[k].type, c[k].interval, want->parent, want->suffix, want->type[n - 1],
           want->interval[n - 2]);
  }
  free(c);
  free(type);
  free(interval);
  return good;
}

/* Draws counts for a batch, and culls it. */
static int cull_batch(struct mill_sieve *sieve, const struct mill_device_host *device, const struct trial *t, uint64_t threshold,
                      const struct mill_device_candidates *batch, int ends, uint64_t *next, struct mill_error *error)
{
  const uint32_t n = batch->level, keep = t->keep ? t->keep : t->of, of = t->keep ? t->of : candidate_count;
  uint32_t *result = malloc((uint64_t)batch->count * t->words * sizeof *result), taken = 0;
  struct mill_sieve_kept kept;
  int good = 1;
  if (!result)
    bail("out of memory");
  for (uint32_t k = 0; k < batch->count; k++) {
    result[k * t->words] = draw(of) < keep ? (uint32_t)(threshold + draw(3)) : (uint32_t)draw(threshold);
    if (t->words > 1)
      result[k * t->words + 1] = (uint32_t)draw(1000);
  }
  if (device->upload(device->self, batch->result, result, (uint64_t)batch->count * t->words * sizeof *result, error) ||
      mill_sieve_cull(sieve, batch, ends, &kept, error))
    bail("%s", error->text);
  for (uint32_t k = 0; k < batch->count; k++) {
    const struct whole *want = &candidate[batch->first + k];
    const uint32_t *r = result + (uint64_t)k * t->words;
    if (r[0] < threshold)
      continue;
    const struct mill_device_frequent *e = &kept.episode[taken];
    good &= taken < kept.count && e->prefix == want->parent && e->suffix == want->suffix && e->type == want->type[n - 1] &&
            e->interval == want->interval[n - 2] && e->first == want->type[0] && e->count == r[0] &&
            e->more == (t->words > 1 ? r[1] : 0) && e->which == k;
    taken++;
    if (frequent_count[n] < MOST)
      frequent[n][frequent_count[n]++] = *want;
  }
  if (taken != kept.count)
    diag("level %u, %" PRIu64 " and on: %u frequent, %u expected", n, batch->first, kept.count, taken);
  *next = kept.candidates;
  free(result);
  return good && taken == kept.count;
}

/* Goes through the levels. Returns the last one whose candidates were right, or 0; *most: the most candidates of a level. */
static uint32_t try_sieve(struct mill_miner *miner, const struct trial *t, uint32_t *most)
{
  const struct mill_device_host *device = mill_miner_host(miner);
  const uint64_t threshold = 1 + draw(50);
  const struct mill_sieve_setup setup = {miner, t->intervals, t->repeats, threshold, t->words};
  struct mill_sieve *sieve;
  struct mill_error error;
  uint32_t *type = calloc(t->types, sizeof *type), n = 1;
  uint64_t candidates, next;
  int good = 1;
  if (!type)
    bail("out of memory");
  frequent_count[1] = 0;
  for (uint32_t i = 0, e = 0; i < t->types; i++, e += 1 + (uint32_t)draw(3)) {
    type[i] = e;
    frequent[1][frequent_count[1]++] = (struct whole){.type = {e}};
  }
  if (mill_sieve_open(&setup, &sieve, &error) || mill_sieve_begin(sieve, type, t->types, &candidates, &error))
    bail("%s", error.text);
  *most = 0;
  while (good && n < t->levels && candidates) {
    const int whole = join_level(t, ++n);
    *most = candidate_count > *most ? candidate_count : *most;
    if (whole && candidates != candidate_count)
      diag("level %u: %" PRIu64 " candidates, expected %u", n, candidates, candidate_count);
    good = whole ? candidates == candidate_count : candidates >= candidate_count;
    frequent_count[n] = 0;
    next = 0;
    for (uint32_t first = 0, count; good && first < candidate_count; first += count) {
      const uint32_t left = candidate_count - first, largest = left < t->batch ? left : t->batch;
      struct mill_device_candidates batch;
      count = t->drawn ? 1 + (uint32_t)draw(largest) : largest;
      if (mill_sieve_make(sieve, n, first, count, &batch, &error))
        bail("%s", error.text);
      batch.last = n == t->levels;
      good = same_batch(device, &batch, &error) &&
             cull_batch(sieve, device, t, threshold, &batch, first + count == candidate_count, &next, &error);
    }
    good &= n < t->levels || next == 0;
    candidates = next;
    if (!whole)
      break;
  }
  if (good && !candidates && n < t->levels)
    good = join_level(t, n + 1) && candidate_count == 0;
  mill_sieve_close(sieve);
  free(type);
  return good ? n : 0;
}

static void test_sieve(int longer)
{
  static const struct trial fixed[] = {
      {1, 1, 4, 0, 10, 0, 1, 1, 1},         /* a type alone: no candidates */
      {1, 2, 6, 1, 10, 0, 1, 1, 2},         /* with itself, all frequent */
      {26, 3, 4, 0, 3000, 0, 1, 4, 2},      /* levels grow from batch to batch */
      {26, 3, 3, 1, 20000, 0, 1, 1, 2},     /* more frequent ones than are fetched at once; more candidates than are looked at */
      {150, 1, 3, 0, 1 << 16, 0, 1, 16, 1}, /* few of many, most parents without extensions */
      {5, 300, 4, 0, 5000, 1, 0, 90, 1},    /* many intervals */
      {300, 1, 2, 0, 1 << 17, 0, 1, 3, 1},  /* more blocks than a block has threads */
      {9, 2, 5, 0, 4096, 0, 0, 0, 1},       /* none is frequent */
  };
  struct mill_event event[] = {{.tick = 0, .unit = 0}, {.tick = 1, .unit = 0}};
  const struct mill_interval gap = {0, 5};
  struct mill_miner *miner;
  struct mill_team *team;
  struct mill_counting *counting;
  struct mill_error error;
  struct mill_counting_setup setup = {
      .event = event, .events = 2, .types = 1, .interval = &gap, .interval_count = 1, .threshold = 1, .memory = 1 << 20};
  if (mill_plugin_load(MILL_COUNTER, "latest-start", NULL, &setup.plugin, &error) || mill_team_create(1, &team, &error) ||
      mill_miner_open(setup.plugin, &miner, &error))
    bail("%s", error.text);
  setup.team = team;
  setup.miner = miner;
  if (mill_counting_open(&setup, &counting, &error))
    bail("%s", error.text);
  for (uint32_t n = 1; n <= LEVELS; n++)
    frequent[n] = malloc(MOST * sizeof *frequent[n]);
  candidate = malloc(MOST * sizeof *candidate);
  const struct mill_sieve_setup wide = {.miner = miner, .intervals = 1, .threshold = 1, .words = 3};
  struct mill_sieve *none;
  ok(mill_sieve_open(&wide, &none, &error) && !none && error.status == MILL_USAGE, "refused: %s", error.text);
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
    uint32_t most;
    seed = 99 + i;
    const uint32_t last = try_sieve(miner, &fixed[i], &most);
    ok(last, "%u types, %u intervals, repeats %s: the candidates of levels 2 to %u, at most %u", fixed[i].types, fixed[i].intervals,
       fixed[i].repeats ? "yes" : "no", last, most);
  }
  uint32_t right = 0, deep = 0;
  const uint32_t trials = longer ? 2000 : 60;
  for (; right < trials; right++) {
    uint32_t most;
    seed = 1000 + right;
    struct trial t = {.types = 1 + (uint32_t)draw(20),
                      .intervals = 1 + (uint32_t)draw(6),
                      .levels = 2 + (uint32_t)draw(LEVELS - 1),
                      .repeats = (int)draw(2),
                      .batch = draw(2) ? 1 + (uint32_t)draw(600) : 1 << 16,
                      .drawn = (int)draw(2),
                      .of = (uint32_t)draw(120),
                      .words = 1 + (uint32_t)draw(2)};
    const uint32_t last = try_sieve(miner, &t, &most);
    deep += last > 3;
    if (!last) {
      diag("trial %u", right);
      break;
    }
  }
  ok(right == trials && deep > trials / 4, "%u random sets of episodes, %u of them above level 3", right, deep);
  for (uint32_t n = 1; n <= LEVELS; n++)
    free(frequent[n]);
  free(candidate);
  mill_counting_close(counting);
  mill_miner_close(miner);
  mill_team_free(team);
}

/* ---- Mining ---- */

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

static void test_mining(int longer)
{
  static const struct {
    uint32_t events, types, mean, burst, support;
    const char *intervals, *memory;
    uint32_t levels;
    int repeats, stops;
  } row[] = {
      {1500, 8, 3, 0, 25, "(0,5] (5,10] ms", "1G", 5, 0, 0},
      {1500, 8, 3, 0, 25, "(0,5] (5,10] ms", "900K", 5, 1, 0}, /* batches, and ends that are not kept */
      {1500, 8, 3, 0, 25, "(0,5] (5,10] ms", "300K", 5, 1, 0}, /* a level has no room for its episodes */
      {1500, 8, 3, 0, 25, "(0,5] (5,10] ms", "1G", 5, 0, 1},   /* interrupted */
      {900, 4, 2, 0, 12, "(0,4] (2,7] (6,14] (0,30] ms", "800K", 4, 1, 0},
      {1200, 3, 9, 80, 30, "(0,70] (30,90] ms", "1M", 4, 1, 0}, /* longer lists than shared memory has */
      {300, 60, 9, 0, 3, "(0,12] ms", "1G", 6, 0, 0},
      {2000, 2, 5, 0, 400, "(0,4] (4,8] ms", "1G", 8, 1, 0}, /* few candidates: in segments */
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    for (int strict = 0; strict < 2; strict++)
      for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
        char sets[6][64];
        struct found here, there;
        if (!longer && (i + c) % 3 != (strict ? 1 : 0) && (strict || (i + c) % 3 != 2))
          continue;
        seed = 5000 + i;
        write_stream(row[i].events, row[i].types, row[i].mean, row[i].burst);
        snprintf(sets[0], sizeof *sets, "mining.counter=%s", counters[c]);
        snprintf(sets[1], sizeof *sets, "mining.ties=%s", strict ? "strict" : "order");
        snprintf(sets[2], sizeof *sets, "mining.max_length=%u", row[i].levels);
        snprintf(sets[3], sizeof *sets, "mining.intervals=%s", row[i].intervals);
        snprintf(sets[4], sizeof *sets, "mining.support=%u", row[i].support);
        snprintf(sets[5], sizeof *sets, "mining.memory=%s", row[i].memory);
        const char *const repeated = row[i].repeats ? "mining.repeats=yes" : "mining.repeats=no";
        mine(SET("mining.backend=cpu", "mining.threads=2", repeated, sets[0], sets[1], sets[2], sets[3], sets[4], sets[5]), row[i].stops, &here);
        mine(SET("mining.backend=cuda", "mining.threads=2", repeated, sets[0], sets[1], sets[2], sets[3], sets[4], sets[5]), row[i].stops, &there);
        const int good = same(&here, &there);
        ok(good, "%u events of %u types, memory %s, ties %s, %s: %" PRIu64 " episodes in %u levels%s%s", row[i].events,
           row[i].types, row[i].memory, strict ? "strict" : "order", counters[c], here.report.episodes, here.report.levels,
           here.error.text[0] ? ", then: " : "", here.error.text);
        if (!good)
          diag("on the device %" PRIu64 " episodes in %u levels: %s", there.report.episodes, there.report.levels, there.error.text);
      }
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
  plan_later();
  const enum gpu gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  const int longer = gpu == GPU_REAL || getenv("SPIKEMILL_LONG"), file = mkstemps(path, 4);
  if (file < 0)
    bail("cannot write to /tmp");
  close(file);
  test_sieve(longer);
  test_mining(longer);
  test_older();
  unlink(path);
  return done_testing();
}
