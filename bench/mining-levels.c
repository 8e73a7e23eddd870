/* A recording mined level by level by several counters in turns, in one process, so that a level's time is all there is to it: mining-levels
   SPIKES COLUMNS SUPPORT LEVELS ROUNDS COUNTER:BACKEND… (COLUMNS: "-" for none; intervals (0,5] (5,10] (10,15] ms; one thread). Prints a line
   a level as soon as a run has ended: counter, backend, round, level, candidates, frequent, culled, milliseconds, method ("-" for none), hash of
   all counts. Round 0 warms up; a counter whose round 0 lasts longer than SLOW seconds has no other, and that is the one that counts. Built by
   `make bench/mining-levels`. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <string.h>

#include <spikemill/mining.h>
#include "bench.h"
#include "cuda/device.h"

#define SLOW 2.0 /* s */
enum { MOST = 16, LENGTH = 64 };

struct variant {
  char counter[64];
  const char *backend;
  uint64_t hash;
  int slow;
};

static struct mill_mining *mine(char **argument, const struct variant *v)
{
  static const char *const key[] = {"mining.support", "mining.max_length"};
  char text[5][4096];
  const char *sets[] = {
      text[0], text[1], text[2], text[3], "mining.threads=1", "mining.intervals=(0,5] (5,10] (10,15] ms", "mining.memory=4G",
      text[4]};
  struct mill_mining *m;
  struct mill_error error;
  for (int i = 0; i < 2; i++)
    snprintf(text[i], sizeof *text, "%s=%s", key[i], argument[3 + i]);
  snprintf(text[2], sizeof *text, "mining.counter=%s", v->counter);
  snprintf(text[3], sizeof *text, "mining.backend=%s", v->backend);
  snprintf(text[4], sizeof *text, "mining.columns=%s", argument[2]);
  if (mill_mining_open(argument[1], sets, sizeof sets / sizeof *sets - (strcmp(argument[2], "-") == 0), &m, &error) ||
      mill_mining_run(m, NULL, NULL, &error))
    stop(error.text);
  return m;
}

/* One run. Returns the seconds of its levels. */
static double run(char **argument, struct variant *v, int round)
{
  struct mill_mining *m = mine(argument, v);
  struct mill_mining_report report;
  struct mill_mining_level level;
  double all = 0;
  mill_mining_report(m, &report);
  if (round && report.count_hash != v->hash)
    stop("two runs of one counter give other counts");
  v->hash = report.count_hash;
  for (uint32_t n = 1; mill_mining_level(m, n, &level) == 0; n++) {
    printf("%s %s %d %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.6f %s %016" PRIx64 "\n", v->counter, v->backend, round, n,
           level.candidates, level.frequent, level.culled, level.wall_s * 1e3, level.method ? level.method : "-", v->hash);
    all += level.wall_s;
  }
  fflush(stdout);
  mill_mining_free(m);
  return all;
}

int main(int argc, char **argv)
{
  static struct variant variant[MOST];
  struct mill_cuda *cuda = NULL;
  struct mill_error error;
  const int count = argc - 6;
  if (count < 1 || count > MOST)
    stop("usage: mining-levels SPIKES COLUMNS SUPPORT LEVELS ROUNDS COUNTER:BACKEND…");
  const int rounds = atoi(argv[5]);
  if (rounds < 1)
    stop("ROUNDS is at least 1");
  for (int i = 0; i < count; i++) {
    char *colon = strchr(argv[6 + i], ':');
    if (!colon || (size_t)(colon - argv[6 + i]) >= sizeof variant->counter)
      stop("a variant is COUNTER:BACKEND");
    memcpy(variant[i].counter, argv[6 + i], (size_t)(colon - argv[6 + i]));
    variant[i].backend = colon + 1;
    if (!cuda && strcmp(colon, ":cuda") == 0 &&
        mill_cuda_open(&cuda, &error)) /* which keeps the device's context for all that follows */
      stop(error.text);
  }
  for (int round = 0; round <= rounds; round++)
    for (int i = 0; i < count; i++)
      if (!variant[i].slow)
        variant[i].slow = run(argv, &variant[i], round) > SLOW && round == 0;
  mill_cuda_close(cuda);
  return 0;
}
