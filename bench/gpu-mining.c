/* Counting on a GPU beside counting on one thread of the CPU: gpu-mining SPIKES COLUMNS SUPPORT REPEAT (COLUMNS: "-" for none). First the
   recording is mined to level 5, with intervals (0,5] (5,10] (10,15] ms, by the reference and by every counter that has a text for a GPU, in
   turns; medians of each level's time, and one hash of the counts. Then episodes of four neighbouring types, few and many of them. Built by
   `make bench/gpu-mining`. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/mining.h>
#include "bench.h"
#include "counting.h"
#include "cuda/miner.h"
#include "registry.h"
#include "simulation.h"
#include "stream.h"
#include "threads.h"

enum { LEVELS = 5, NODES = 4, MOST = 10000, RUNS = 100 };

static const struct variant {
  const char *counter, *backend;
} variants[] = {
    {"serial", "cpu"},  {"latest-start", "cpu"},    {"latest-start", "cuda"}, {"ptpe", "cuda"},
    {"hybrid", "cuda"}, {"mapconcatenate", "cuda"}, {"two-pass", "cuda"},     {"a2", "cuda"},
};
#define VARIANTS (sizeof variants / sizeof *variants)

/* ---- Level by level ---- */

static uint64_t mine(const char *path, const char *columns, const char *support, const struct variant *v, double *seconds)
{
  char text[7][4096];
  const char *sets[] = {text[0], text[1], text[2], text[3], text[4], "mining.threads=1", "mining.intervals=(0,5] (5,10] (10,15] ms",
                        text[5]};
  const size_t count = strcmp(columns, "-") == 0 ? 7 : 8;
  struct mill_mining *m;
  struct mill_mining_report report;
  struct mill_mining_level level;
  struct mill_error error;
  snprintf(text[0], sizeof *text, "mining.counter=%s", v->counter);
  snprintf(text[1], sizeof *text, "mining.backend=%s", v->backend);
  snprintf(text[2], sizeof *text, "mining.support=%s", support);
  snprintf(text[3], sizeof *text, "mining.max_length=%d", LEVELS);
  snprintf(text[4], sizeof *text, "mining.memory=4G");
  snprintf(text[5], sizeof *text, "mining.columns=%s", columns);
  if (mill_mining_open(path, sets, count, &m, &error) || mill_mining_run(m, NULL, NULL, &error))
    stop(error.text);
  for (uint32_t n = 1; n <= LEVELS; n++)
    seconds[n] = mill_mining_level(m, n, &level) ? 0 : level.wall_s;
  mill_mining_report(m, &report);
  const uint64_t hash = report.count_hash;
  mill_mining_free(m);
  return hash;
}

static void by_levels(const char *path, const char *columns, const char *support, int repeat)
{
  static double seconds[VARIANTS][LEVELS + 1][RUNS], run[LEVELS + 1];
  uint64_t hash[VARIANTS] = {0};
  double reference = 0;
  for (int i = 0; i <= repeat; i++) { /* the first one warms up */
    for (size_t v = 0; v < VARIANTS; v++) {
      const uint64_t now = mine(path, columns, support, &variants[v], run);
      if (i && now != hash[v])
        stop("two runs give other counts");
      hash[v] = now;
      for (uint32_t n = 2; n <= LEVELS && i; n++)
        seconds[v][n][i - 1] = run[n];
    }
  }
  printf("%-22s", "milliseconds of level");
  for (uint32_t n = 2; n <= LEVELS; n++)
    printf(" %10u", n);
  printf(" %10s %10s  %s\n", "in all", "faster by", "hash of counts");
  for (size_t v = 0; v < VARIANTS; v++) {
    double all = 0;
    char name[64];
    snprintf(name, sizeof name, "%s, %s", variants[v].counter, variants[v].backend);
    printf("%-22s", name);
    for (uint32_t n = 2; n <= LEVELS; n++) {
      const double value = median(seconds[v][n], repeat);
      all += value;
      printf(" %10.3f", value * 1e3);
    }
    reference = v ? reference : all;
    printf(" %10.3f %10.1f  %016" PRIx64 "%s\n", all * 1e3, reference / all, hash[v],
           hash[v] == hash[0]                       ? ""
           : strcmp(variants[v].counter, "a2") == 0 ? " (bounds)"
                                                    : " DIFFERS");
  }
}

/* ---- Few and many candidates ---- */

/* Episode k has the types k, k + 1, k + 2, k + 3, and intervals that differ each time the types begin anew. */
static void make_candidates(struct mill_candidates *c, uint32_t count, uint32_t types, uint32_t intervals)
{
  static uint32_t type[MOST][NODES], interval[MOST][NODES - 1], parent[MOST];
  for (uint32_t k = 0; k < count; k++) {
    for (uint32_t i = 0; i < NODES; i++)
      type[k][i] = (k + i) % types;
    for (uint32_t i = 0, j = k / types; i + 1 < NODES; i++, j /= intervals)
      interval[k][i] = j % intervals;
    parent[k] = k;
  }
  *c = (struct mill_candidates){NODES, count, 0, *type, *interval, parent, 1, count};
}

static const struct variant contestants[] = {{"serial", "cpu"}, {"ptpe", "cuda"}, {"mapconcatenate", "cuda"}, {"hybrid", "cuda"}};
#define CONTESTANTS (sizeof contestants / sizeof *contestants)

static void compare(struct mill_counting *const *counting, const struct mill_candidates *c, int repeat)
{
  static double seconds[CONTESTANTS][RUNS];
  static uint64_t counts[CONTESTANTS][MOST];
  struct mill_error error;
  double value[CONTESTANTS];
  for (int run = 0; run <= repeat; run++) {
    for (size_t i = 0; i < CONTESTANTS; i++) {
      const double begun = mill_seconds();
      if (mill_counting_count(counting[i], c, counts[i], &error) < 0)
        stop(error.text);
      seconds[i][run ? run - 1 : 0] = mill_seconds() - begun;
    }
  }
  printf("%10u", c->count);
  for (size_t i = 0; i < CONTESTANTS; i++) {
    value[i] = median(seconds[i], repeat);
    printf(" %14.4f", value[i] * 1e3);
    if (memcmp(counts[0], counts[i], c->count * sizeof **counts) != 0)
      stop("the counts differ");
  }
  struct mill_counter_level told;
  mill_counting_tell(counting[CONTESTANTS - 1], &told);
  printf(" %12.1f %12.1f %12.2f  %s\n", value[0] / value[1], value[0] / value[2], value[1] / value[2],
         told.method ? told.method : "");
}

static void by_candidates(const char *path, const char *columns, int repeat)
{
  static const struct mill_interval ms[] = {{0, 5}, {5, 10}, {10, 15}};
  static const uint32_t sizes[] = {1, 4, 16, 64, 100, 200, 300, 700, 2000, 10000};
  static const int64_t params[2]; /* segments: chosen; no crossover */
  const uint32_t intervals = sizeof ms / sizeof *ms;
  struct mill_interval interval[sizeof ms / sizeof *ms];
  struct mill_counting *counting[CONTESTANTS];
  struct mill_miner *miner[CONTESTANTS] = {NULL};
  struct mill_stream *stream;
  struct mill_team *team;
  struct mill_error error;
  const struct mill_stream_options options = {.columns = strcmp(columns, "-") == 0 ? NULL : columns};
  if (mill_stream_read(path, &options, &stream, &error) < 0 || mill_team_create(1, &team, &error) < 0)
    stop(error.text);
  const uint32_t types = (uint32_t)mill_stream_units(&stream->info);
  if (types < NODES)
    stop("the recording has too few types");
  for (uint32_t j = 0; j < intervals; j++) {
    interval[j].low = ms[j].low * 1000000000 / stream->info.tick_ps;
    interval[j].high = ms[j].high * 1000000000 / stream->info.tick_ps;
  }
  for (size_t i = 0; i < CONTESTANTS; i++) {
    struct mill_counting_setup setup = {.params = params,
                                        .event = stream->event,
                                        .events = stream->count,
                                        .types = types,
                                        .interval = interval,
                                        .interval_count = intervals,
                                        .threshold = 1,
                                        .memory = UINT64_C(1) << 30,
                                        .team = team};
    if (mill_plugin_load(MILL_COUNTER, contestants[i].counter, NULL, &setup.plugin, &error) < 0 ||
        (i && mill_miner_open(setup.plugin, &miner[i], &error) < 0))
      stop(error.text);
    setup.miner = miner[i];
    if (mill_counting_open(&setup, &counting[i], &error) < 0)
      stop(error.text);
  }
  printf("\n%10s", "candidates");
  for (size_t i = 0; i < CONTESTANTS; i++)
    printf(" %11s ms", i == 2 ? "mapconc." : contestants[i].counter);
  printf(" %12s %12s %12s  %s\n", "serial/ptpe", "serial/map", "ptpe/map", "hybrid takes");
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    struct mill_candidates candidates;
    make_candidates(&candidates, sizes[s], types, intervals);
    compare(counting, &candidates, repeat);
  }
  for (size_t i = 0; i < CONTESTANTS; i++) {
    mill_counting_close(counting[i]);
    mill_miner_close(miner[i]);
  }
  mill_team_free(team);
  mill_stream_free(stream);
}

int main(int argc, char **argv)
{
  struct mill_cuda *cuda;
  struct mill_error error;
  if (argc != 5)
    stop("usage: gpu-mining SPIKES COLUMNS SUPPORT REPEAT");
  const int repeat = atoi(argv[4]);
  if (repeat < 1 || repeat > RUNS)
    stop("REPEAT is 1 to 100");
  if (mill_cuda_open(&cuda, &error) < 0) /* which keeps the device's context, for all that follows */
    stop(error.text);
  printf("%s; %s, support %s, %d runs in turns\n", cuda->properties.name, argv[1], argv[3], repeat);
  by_levels(argv[1], argv[2], argv[3], repeat);
  by_candidates(argv[1], argv[2], repeat);
  mill_cuda_close(cuda);
  return 0;
}
