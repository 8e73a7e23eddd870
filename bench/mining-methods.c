/* Counters on more and more candidates of one length: mining-methods SPIKES COLUMNS NODES SIZES ROUNDS SLOW_MS COUNTER:BACKEND… (COLUMNS:
   "-" for none; SIZES: "1,2,4"; intervals (0,5] (5,10] (10,15] ms; one thread). Candidates are drawn from what occurs: an event, another one of
   another type within an interval behind it, and so on. For each size and counter a line as soon as it is measured: size, counter, backend, median,
   least and most milliseconds, candidates that were counted, method ("-" for none). `serial` counts no more than SAMPLE of them, evenly
   spread, and once; it scans the stream for each, so that all of them take in proportion. The others take turns for some rounds, behind one that
   warms up; one that takes more than SLOW_MS is left out of larger sizes. A line `rule N` of hybrid on a device: it takes PTPE from N
   candidates on. Counts must agree. Built by `make bench/mining-methods`. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <string.h>

#include "bench.h"
#include "counting.h"
#include "cuda/device.h"
#include "cuda/miner.h"
#include "registry.h"
#include "simulation.h"
#include "stream-private.h"
#include "text.h"
#include "threads.h"

enum { NODES = 64, WORDS = 2 * NODES - 1, VARIANTS = 8, RUNS = 100, SAMPLE = 32, INTERVALS = 3 };

struct variant {
  char counter[64];
  int on_device, samples; /* samples: counts some of them only */
  struct mill_miner *miner;
  struct mill_counting *counting;
  double seconds[RUNS];
  int slow;
};

/* Candidates: [count] of each; key: type, and type and interval of each further node, which sorts them as counters get them. */
struct set {
  uint32_t nodes, count;
  uint32_t (*key)[WORDS];
  uint32_t *type, *interval, *parent;
};

static uint64_t state = 1;

static uint32_t draw(uint64_t below)
{
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((state >> 33) % below);
}

static void *memory(size_t count, size_t size)
{
  void *p = calloc(count ? count : 1, size);
  if (!p)
    stop("out of memory");
  return p;
}

/* Draws an episode that occurs, its types all different. Returns 0 where there is none to go on with. */
static int draw_episode(const struct mill_stream *s, const struct mill_interval *interval, uint32_t nodes, uint32_t *key)
{
  uint64_t at = draw(s->count);
  key[0] = s->event[at].unit;
  for (uint32_t n = 1; n < nodes; n++) {
    const uint32_t j = draw(INTERVALS);
    const uint64_t first = mill_stream_after(s, s->event[at].tick + interval[j].low),
                   end = mill_stream_after(s, s->event[at].tick + interval[j].high);
    if (first == end)
      return 0;
    at = first + draw(end - first);
    key[2 * n - 1] = s->event[at].unit;
    key[2 * n] = j;
    for (uint32_t i = 0; i < n; i++)
      if (key[i ? 2 * i - 1 : 0] == s->event[at].unit)
        return 0;
  }
  return 1;
}

static int by_key(const void *a, const void *b)
{
  const uint32_t *x = a, *y = b;
  for (int i = 0; i < WORDS; i++)
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  return 0;
}

/* Fills the set with so many different ones. Returns 0 when drawing eight times as many does not find them. */
static int make_set(struct set *set, const struct mill_stream *s, const struct mill_interval *interval, uint32_t nodes,
                    uint32_t count)
{
  uint32_t had = 0, before;
  uint64_t drawn = 0;
  *set = (struct set){.nodes = nodes, .count = count, .key = memory(count, sizeof *set->key)};
  do {
    uint32_t n = before = had;
    for (uint64_t i = 0; n < count && i < UINT64_C(50) * count; i++)
      n += (uint32_t)draw_episode(s, interval, nodes, set->key[n]);
    if (n == before) /* hardly anything is an episode of so many nodes */
      break;
    qsort(set->key, n, sizeof *set->key, by_key);
    had = n ? 1 : 0;
    for (uint32_t i = 1; i < n; i++)
      if (by_key(set->key[i], set->key[had - 1]))
        memmove(set->key[had++], set->key[i], sizeof *set->key);
    memset(set->key + had, 0, (count - had) * sizeof *set->key);
    drawn += n - before;
  } while (had < count && drawn < UINT64_C(8) * count);
  set->type = memory((size_t)count * nodes, sizeof *set->type);
  set->interval = memory((size_t)count * nodes, sizeof *set->interval);
  set->parent = memory(count, sizeof *set->parent);
  for (uint32_t k = 0; k < had; k++) {
    const uint32_t *key = set->key[k];
    for (uint32_t i = 0; i < nodes; i++)
      set->type[(size_t)k * nodes + i] = key[i ? 2 * i - 1 : 0];
    for (uint32_t i = 0; i + 1 < nodes; i++)
      set->interval[(size_t)k * (nodes - 1) + i] = key[2 * i + 2];
    if (k)
      set->parent[k] = set->parent[k - 1] + (nodes > 1 && memcmp(key, key - WORDS, (2 * nodes - 3) * sizeof *key) != 0);
  }
  return had == count;
}

static void free_set(struct set *set)
{
  free(set->key);
  free(set->type);
  free(set->interval);
  free(set->parent);
}

/* Every step-th of a set. */
static struct set sample(const struct set *from, uint32_t count)
{
  const uint32_t nodes = from->nodes;
  struct set to = {nodes,
                   count,
                   NULL,
                   memory((size_t)count * nodes, sizeof *to.type),
                   memory((size_t)count * nodes, sizeof *to.type),
                   memory(count, sizeof *to.type)};
  for (uint32_t i = 0; i < count; i++) {
    const size_t k = (size_t)i * from->count / count;
    memcpy(to.type + (size_t)i * nodes, from->type + k * nodes, nodes * sizeof *to.type);
    memcpy(to.interval + (size_t)i * (nodes - 1), from->interval + k * (nodes - 1), (nodes - 1) * sizeof *to.interval);
    to.parent[i] = from->parent[k];
  }
  return to;
}

static void count(const struct variant *v, const struct set *set, uint64_t total, uint64_t *counts)
{
  const int first = set->nodes == 1;
  const struct mill_candidates c = {.level = set->nodes,
                                    .count = set->count,
                                    .type = set->type,
                                    .interval = first ? NULL : set->interval,
                                    .parent = first ? NULL : set->parent,
                                    .last = 1,
                                    .total = total};
  struct mill_error error;
  if (mill_counting_count(v->counting, &c, counts, &error))
    stop(error.text);
}

static const char *method_of(const struct variant *v)
{
  struct mill_counter_level told;
  mill_counting_tell(v->counting, &told);
  return told.method ? told.method : "-";
}

/* From how many candidates on hybrid takes PTPE: it asks for the level's total, which may be any. */
static void print_rule(const struct variant *v, const struct mill_stream *s, const struct mill_interval *interval, uint32_t nodes)
{
  uint64_t low = 0, high = 1, counts[SAMPLE];
  struct set some;
  if (!make_set(&some, s, interval, nodes, SAMPLE)) {
    free_set(&some);
    return;
  }
  while (count(v, &some, high, counts), strcmp(method_of(v), "ptpe") != 0 && high < UINT32_MAX)
    high *= 2;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    count(v, &some, middle, counts);
    *(strcmp(method_of(v), "ptpe") ? &low : &high) = middle;
  }
  printf("rule %" PRIu64 "\n", high);
  fflush(stdout);
  free_set(&some);
}

static void measure(struct variant *variant, int variants, const struct set *set, int rounds, double slow)
{
  struct set some = sample(set, set->count < SAMPLE ? set->count : SAMPLE);
  uint64_t *right = memory(set->count, sizeof *right), *counts = memory(set->count, sizeof *counts);
  const struct variant *judge = NULL; /* the first that counts all */
  for (int round = 0; round <= rounds; round++) {
    for (int i = 0; i < variants; i++) {
      struct variant *v = &variant[i];
      const struct set *mine = v->samples ? &some : set;
      if (v->slow || (v->samples && round))
        continue;
      const double begun = mill_seconds();
      count(v, mine, set->count, counts);
      v->seconds[round ? round - 1 : 0] = mill_seconds() - begun;
      if (!judge && !v->samples) {
        judge = v;
        memcpy(right, counts, set->count * sizeof *right);
      }
      for (uint32_t k = 0; judge && k < mine->count; k++)
        if (counts[k] != right[v->samples ? (size_t)k * set->count / mine->count : k])
          stop("the counts differ");
    }
  }
  for (int i = 0; i < variants; i++) {
    struct variant *v = &variant[i];
    const uint32_t counted = v->samples ? some.count : set->count;
    if (v->slow)
      continue;
    const int times = v->samples ? 1 : rounds;
    const double middle = median(v->seconds, times) * 1e3, scale = (double)set->count / counted;
    printf("%" PRIu32 " %s %s %.6f %.6f %.6f %" PRIu32 " %s\n", set->count, v->counter, v->on_device ? "cuda" : "cpu",
           middle * scale, v->seconds[0] * 1e3 * scale, v->seconds[times - 1] * 1e3 * scale, counted, method_of(v));
    v->slow = !v->samples && middle > slow;
  }
  fflush(stdout);
  free_set(&some);
  free(right);
  free(counts);
}

static void open_variant(struct variant *v, const char *text, const struct mill_stream *s, const struct mill_interval *interval,
                         struct mill_team *team)
{
  static const int64_t params[2]; /* segments: chosen; no crossover */
  struct mill_counting_setup setup = {.params = params,
                                      .event = s->event,
                                      .events = s->count,
                                      .types = (uint32_t)mill_stream_units(&s->info),
                                      .interval = interval,
                                      .interval_count = INTERVALS,
                                      .threshold = 1,
                                      .memory = UINT64_C(4) << 30,
                                      .team = team};
  struct mill_error error;
  const char *colon = strchr(text, ':');
  if (!colon || (size_t)(colon - text) >= sizeof v->counter)
    stop("a variant is COUNTER:BACKEND");
  memcpy(v->counter, text, (size_t)(colon - text));
  v->on_device = strcmp(colon, ":cuda") == 0;
  v->samples = strcmp(v->counter, "serial") == 0;
  if (mill_plugin_load(MILL_COUNTER, v->counter, NULL, &setup.plugin, &error) ||
      (v->on_device && mill_miner_open(setup.plugin, &v->miner, &error)))
    stop(error.text);
  setup.miner = v->miner;
  if (mill_counting_open(&setup, &v->counting, &error))
    stop(error.text);
}

int main(int argc, char **argv)
{
  static const struct mill_interval ms[INTERVALS] = {{0, 5}, {5, 10}, {10, 15}};
  static struct variant variant[VARIANTS];
  struct mill_interval interval[INTERVALS];
  struct mill_stream *stream;
  struct mill_team *team;
  struct mill_error error;
  const int variants = argc - 7;
  if (variants < 1 || variants > VARIANTS)
    stop("usage: mining-methods SPIKES COLUMNS NODES SIZES ROUNDS SLOW_MS COUNTER:BACKEND…");
  const struct mill_stream_options options = {.columns = strcmp(argv[2], "-") == 0 ? NULL : argv[2]};
  const int nodes = atoi(argv[3]), rounds = atoi(argv[5]);
  if (nodes < 1 || nodes > NODES || rounds < 1 || rounds > RUNS)
    stop("NODES is 1 to 64, ROUNDS 1 to 100");
  if (mill_stream_read(argv[1], &options, &stream, &error) || mill_team_create(1, &team, &error))
    stop(error.text);
  if (!stream->count)
    stop("the recording has no events");
  for (int j = 0; j < INTERVALS; j++) {
    interval[j].low = ms[j].low * 1000000000 / stream->info.tick_ps;
    interval[j].high = ms[j].high * 1000000000 / stream->info.tick_ps;
  }
  for (int i = 0; i < variants; i++)
    open_variant(&variant[i], argv[7 + i], stream, interval, team);
  for (char *list = argv[4], *size; (size = strsep(&list, ","));) {
    const int wanted = atoi(size);
    struct set set;
    if (wanted < 1)
      stop("SIZES are whole numbers of at least 1");
    if (make_set(&set, stream, interval, (uint32_t)nodes, (uint32_t)wanted))
      measure(variant, variants, &set, rounds, atof(argv[6]));
    free_set(&set);
  }
  for (int i = 0; i < variants; i++)
    if (nodes > 1 && variant[i].on_device && strcmp(variant[i].counter, "hybrid") == 0)
      print_rule(&variant[i], stream, interval, (uint32_t)nodes);
  for (int i = 0; i < variants; i++) {
    mill_counting_close(variant[i].counting);
    mill_miner_close(variant[i].miner);
  }
  mill_team_free(team);
  mill_stream_free(stream);
  return 0;
}
