/* PTPE against MapConcatenate when there are few candidates: few-candidates SPIKES COLUMNS THREADS REPEAT (COLUMNS: "-" for none). Times
   both on 1, 2, 4 … 64 episodes of four neighbouring types, in turns, and prints medians. Built by `make bench/few-candidates`, run by
   bench/sections/few-candidates. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "counting.h"
#include "registry.h"
#include "simulation.h"
#include "stream.h"
#include "threads.h"

enum { NODES = 4, MOST = 64, RUNS = 1000 };

static const struct counter {
  const char *name;
  int64_t params[2]; /* segments of mapconcatenate: as many as threads */
} counters[] = {{"ptpe", {0}}, {"mapconcatenate", {0}}};
#define COUNTERS (sizeof counters / sizeof *counters)

/* Episode k has the types k, k + 1, k + 2, k + 3 and one interval in all gaps, another one each time the types begin anew. */
static void make_candidates(struct mill_candidates *c, uint32_t count, uint32_t types, uint32_t intervals)
{
  static uint32_t type[MOST][NODES], interval[MOST][NODES - 1], parent[MOST];
  for (uint32_t k = 0; k < count; k++) {
    for (uint32_t i = 0; i < NODES; i++)
      type[k][i] = (k + i) % types;
    for (uint32_t i = 0; i + 1 < NODES; i++)
      interval[k][i] = k / types % intervals;
    parent[k] = k;
  }
  *c = (struct mill_candidates){NODES, count, 0, *type, *interval, parent, 1, count};
}

static void compare(struct mill_counting *const *counting, const struct mill_candidates *c, int repeat)
{
  static double seconds[COUNTERS][RUNS];
  static uint64_t counts[COUNTERS][MOST];
  struct mill_error error;
  for (int run = 0; run <= repeat; run++) { /* the first one warms up */
    for (size_t i = 0; i < COUNTERS; i++) {
      const double begun = mill_seconds();
      if (mill_counting_count(counting[i], c, counts[i], &error) < 0)
        stop(error.text);
      seconds[i][run ? run - 1 : 0] = mill_seconds() - begun;
    }
  }
  if (memcmp(counts[0], counts[1], c->count * sizeof **counts) != 0)
    stop("the counts differ");
  const double ptpe = median(seconds[0], repeat), map = median(seconds[1], repeat);
  printf("%10u %12.4f %14.4f %22.2f\n", c->count, ptpe * 1e3, map * 1e3, ptpe / map);
}

int main(int argc, char **argv)
{
  static const struct mill_interval ms[] = {{0, 5}, {5, 10}, {10, 15}};
  const uint32_t intervals = sizeof ms / sizeof *ms;
  struct mill_interval interval[sizeof ms / sizeof *ms];
  struct mill_counting *counting[COUNTERS];
  struct mill_stream *stream;
  struct mill_team *team;
  struct mill_error error;
  if (argc != 5)
    stop("usage: few-candidates SPIKES COLUMNS THREADS REPEAT");
  const struct mill_stream_options options = {.columns = strcmp(argv[2], "-") == 0 ? NULL : argv[2]};
  const int threads = atoi(argv[3]), repeat = atoi(argv[4]);
  if (threads < 1 || repeat < 1 || repeat > RUNS)
    stop("THREADS is at least 1, REPEAT 1 to 1000");
  if (mill_stream_read(argv[1], &options, &stream, &error) < 0 || mill_team_create((uint32_t)threads, &team, &error) < 0)
    stop(error.text);
  const uint32_t types = (uint32_t)mill_stream_units(&stream->info);
  if (types < NODES)
    stop("the recording has too few types");
  for (uint32_t j = 0; j < intervals; j++) {
    interval[j].low = ms[j].low * 1000000000 / stream->info.tick_ps;
    interval[j].high = ms[j].high * 1000000000 / stream->info.tick_ps;
  }
  for (size_t i = 0; i < COUNTERS; i++) {
    struct mill_counting_setup setup = {.params = counters[i].params,
                                        .event = stream->event,
                                        .events = stream->count,
                                        .types = types,
                                        .interval = interval,
                                        .interval_count = intervals,
                                        .threshold = 1,
                                        .team = team};
    if (mill_plugin_load(MILL_COUNTER, counters[i].name, NULL, &setup.plugin, &error) < 0 ||
        mill_counting_open(&setup, &counting[i], &error) < 0)
      stop(error.text);
  }
  printf("%llu events, %u types, %d threads, %d runs\n", (unsigned long long)stream->count, types, threads, repeat);
  printf("%10s %12s %14s %22s\n", "candidates", "ptpe ms", "mapconc. ms", "mapconc. faster by");
  for (uint32_t count = 1; count <= MOST; count *= 2) {
    struct mill_candidates candidates;
    make_candidates(&candidates, count, types, intervals);
    compare(counting, &candidates, repeat);
  }
  for (size_t i = 0; i < COUNTERS; i++)
    mill_counting_close(counting[i]);
  mill_team_free(team);
  mill_stream_free(stream);
  return 0;
}
