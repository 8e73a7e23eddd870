/* The golden table (golden.c) by every counter on a GPU, for both readings of ties: the authors' stream-new-1.csv in the folder that
   SPIKEMILL_DATA names. The whole table on a GPU, and with SPIKEMILL_LONG=1; on the emulator level 2, and level 3 by the two counters for which
   that takes no time. */
#include "gpu.h"
#include "mined.h"

static const char *const counters[] = {"latest-start", "ptpe", "mapconcatenate", "hybrid", "two-pass"};

static const uint32_t emulated[] = {2, 3, 2, 2, 3}; /* on the emulator, when ties are not strict */

static const struct {
  uint64_t candidates, order, strict, culled;
} golden[] = {
    {26, 26, 26, 0}, {1950, 881, 880, 730}, {40633, 2786, 2768, 24090}, {40609, 3818, 3775, 10970}, {19141, 2828, 2796, 2374}};

static struct mill_mining *mine(const char *path, const char *counter, int strict, uint32_t levels, const char *backend)
{
  char sets[4][64];
  snprintf(sets[0], sizeof *sets, "mining.counter=%s", counter);
  snprintf(sets[1], sizeof *sets, "mining.ties=%s", strict ? "strict" : "order");
  snprintf(sets[2], sizeof *sets, "mining.max_length=%u", levels);
  snprintf(sets[3], sizeof *sets, "mining.backend=%s", backend);
  return mined(path, SET("mining.columns=type,time_ms", "mining.support=100", "mining.intervals=(0,5] (5,10] (10,15] ms", sets[0],
                         sets[1], sets[2], sets[3]));
}

static void test_counter(const char *path, const char *counter, int strict, uint32_t most)
{
  struct mill_mining *m = mine(path, counter, strict, most, "cuda"), *want = mine(path, "latest-start", strict, most, "cpu");
  struct mill_mining_report report, right;
  struct mill_mining_level level;
  const int culls = strcmp(counter, "two-pass") == 0 && !strict;
  int good = 1;
  mill_mining_report(m, &report);
  mill_mining_report(want, &right);
  for (uint32_t n = 1; n <= most && mill_mining_level(m, n, &level) == 0; n++) {
    good &= level.frequent == (strict ? golden[n - 1].strict : golden[n - 1].order) &&
            (strict || level.candidates == golden[n - 1].candidates) && (!culls || level.culled == golden[n - 1].culled);
    diag("%s, level %u: %.6f s", counter, n, level.wall_s);
  }
  ok(good && report.levels == most && report.complete && strcmp(report.backend, "cuda") == 0,
     "%s, ties %s: the golden table, levels 1 to %u", counter, report.ties, most);
  ok(report.count_hash == right.count_hash, "the counts of the CPU, to the last");
  mill_mining_free(m);
  mill_mining_free(want);
}

int main(void)
{
  const char *data = getenv("SPIKEMILL_DATA");
  char path[1000];
  plan_later();
  const enum gpu gpu = gpu_find();
  const int whole = gpu == GPU_REAL || getenv("SPIKEMILL_LONG");
  if (gpu == GPU_NONE)
    return done_testing();
  snprintf(path, sizeof path, "%s/stream-new-1.csv", data ? data : "");
  for (int strict = 0; data && strict < 2; strict++) {
    for (size_t c = 0; c < sizeof counters / sizeof *counters; c++)
      test_counter(path, counters[c], strict, whole ? 5 : strict ? 2 : emulated[c]);
  }
  if (!data && getenv("SPIKEMILL_REQUIRE_DATA"))
    ok(0, "SPIKEMILL_DATA names no folder");
  else if (!data)
    skip(1, "SPIKEMILL_DATA names no folder with stream-new-1.csv");
  return done_testing();
}
