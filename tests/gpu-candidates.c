/* Candidates made on a GPU: the sieve against joins of whole episodes, node by node, with counts that are drawn. Runs on a real GPU when there is one,
   else on the emulator. SPIKEMILL_LONG=1, or a real one: more of them. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>

#include "counting.h"
#include "cuda/candidates.h"
#include "gpu.h"
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

int main(void)
{
  plan_later();
  const enum gpu gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  test_sieve(gpu == GPU_REAL || getenv("SPIKEMILL_LONG"));
  return done_testing();
}
