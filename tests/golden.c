// The golden table: the mining authors' own stream (stream-new-1.csv in the folder that SPIKEMILL_DATA names) by every counter, for both
// readings of ties and one, two and three threads. The reference counter takes its time: it stops at level 3 unless SPIKEMILL_LONG is set.
#include <spikemill/mining.h>
#include "tap.h"

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct mill_mining *mined(const char *path, const char *const *sets)
{
  struct mill_error error;
  struct mill_mining *m = NULL;
  size_t n = 0;
  while (sets[n])
    n++;
  if (mill_mining_open(path, sets, n, &m, &error) || mill_mining_run(m, NULL, NULL, &error))
    bail("%s: %s", path, error.text);
  return m;
}

static uint64_t count_of(const struct mill_mining *m, const char *types, int64_t low, int64_t high)
{
  struct mill_mining_episode e;
  uint32_t n = (uint32_t)strlen(types);
  for (uint64_t i = 0; mill_mining_episode(m, i, &e) == 0; i++) {
    int same = e.length == n;
    for (uint32_t k = 0; same && k < n; k++)
      same = mill_mining_type(m, e.type[k])[0] == types[k] && (k + 1 == n || (e.low[k] == low && e.high[k] == high));
    if (same)
      return e.count;
  }
  return 0;
}

static const struct {
  uint64_t candidates, order, strict;
} golden[] = {{26, 26, 26}, {1950, 881, 880}, {40633, 2786, 2768}, {40609, 3818, 3775}, {19141, 2828, 2796}};

// The candidates of levels 4 and 5 follow from the frequent episodes of the level before: those of strict ties are fewer.
static void test_golden(const char *path)
{
  static const char *const counters[] = {"latest-start", "serial"};
  uint64_t hash[2][2] = {{0}}; // of ties; whole, and up to length 3
  for (int c = 0; c < 2; c++) {
    for (int strict = 0; strict < 2; strict++) {
      for (int threads = 1; threads <= 3; threads++) {
        char counter[64], ties[64], workers[64], length[64];
        uint32_t levels = c && !getenv("SPIKEMILL_LONG") ? 3 : 5, good = 0;
        struct mill_mining_report report;
        struct mill_mining_level level;
        snprintf(counter, sizeof counter, "mining.counter=%s", counters[c]);
        snprintf(ties, sizeof ties, "mining.ties=%s", strict ? "strict" : "order");
        snprintf(workers, sizeof workers, "mining.threads=%d", threads);
        snprintf(length, sizeof length, "mining.max_length=%u", levels);
        if (levels == 3 && threads == 2)
          continue; // the reference takes its time
        struct mill_mining *m = mined(path, SET("mining.columns=type,time_ms", "mining.support=100",
                                                "mining.intervals=(0,5] (5,10] (10,15] ms", "mining.backend=cpu", counter, ties,
                                                workers, length));
        mill_mining_report(m, &report);
        for (uint32_t n = 1; n <= levels && mill_mining_level(m, n, &level) == 0; n++)
          good += level.frequent == (strict ? golden[n - 1].strict : golden[n - 1].order) &&
                  (strict ? n > 1 || level.candidates == 26 : level.candidates == golden[n - 1].candidates);
        ok(good == levels && report.levels == levels && report.complete,
           "%s, ties %s, %d threads: the golden table, levels 1 to %u", counters[c], report.ties, threads, levels);
        if (c == 0 && threads == 1) {
          hash[strict][0] = report.count_hash;
          is_int((intmax_t)count_of(m, "AB", 0, 5), strict ? 344 : 347, "A-(0,5]->B");
          mill_mining_free(m);
          m = mined(path, SET("mining.columns=type,time_ms", "mining.support=100", "mining.intervals=(0,5] (5,10] (10,15] ms", ties,
                              "mining.max_length=3"));
          mill_mining_report(m, &report);
          hash[strict][1] = report.count_hash;
        } else {
          ok(report.count_hash == hash[strict][levels == 3], "the same counts, to the last");
        }
        mill_mining_free(m);
      }
    }
  }
  ok(hash[0][0] != hash[1][0], "ties make a difference");
  struct mill_mining *m = mined(path, SET("mining.columns=type,time_ms", "mining.support=200",
                                          "mining.intervals=(0,5] (4,5] (4,6] ms", "mining.max_length=4"));
  is_int((intmax_t)count_of(m, "ABCD", 0, 5), 225, "ABCD, (0,5] three times");
  is_int((intmax_t)count_of(m, "ABCD", 4, 5), 205, "ABCD, (4,5] three times");
  is_int((intmax_t)count_of(m, "ABCD", 4, 6), 210, "ABCD, (4,6] three times");
  mill_mining_free(m);
}

int main(void)
{
  const char *data = getenv("SPIKEMILL_DATA");
  char path[1000];
  plan_later();
  snprintf(path, sizeof path, "%s/stream-new-1.csv", data ? data : "");
  if (data)
    test_golden(path);
  else if (getenv("SPIKEMILL_REQUIRE_DATA"))
    ok(0, "SPIKEMILL_DATA names no folder");
  else
    skip(1, "SPIKEMILL_DATA names no folder with stream-new-1.csv");
  return done_testing();
}
