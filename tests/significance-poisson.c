/* Poisson streams, in which there is nothing to find: p of surrogates is spread evenly, and hardly a stream has a discovery. */
#include "made.h"
#include "mined.h"
#include "spikes.h"

/* Ten units at 30 Hz for 20 s. */
static const char *write_poisson(int seed)
{
  static char name[10][2];
  struct mill_group group[10];
  struct mill_error error;
  char options[200];
  snprintf(options, sizeof options, "neurons=10 rate=30 duration=20000 tick=0.1 seed=%d", seed);
  struct made *made = make("poisson", options);
  for (uint32_t u = 0; u < 10; u++) {
    name[u][0] = (char)('A' + u);
    group[u] = (struct mill_group){name[u], u, 1};
  }
  const struct mill_stream_info info = {
      .tick_ps = made->is.tick_ps, .stop = made->is.stop, .group_count = 10, .group = group, .version = "", .config = ""};
  if (write_stream(in_folder("poisson.smk"), NULL, &info, made->event, made->count, 1, &error))
    bail("%s", error.text);
  made_free(made);
  return in_folder("poisson.smk");
}

int main(void)
{
  const int seeds = getenv("SPIKEMILL_LONG") ? 100 : 10;
  uint64_t low = 0, candidates = 0;
  int discovered = 0;
  plan_later();
  spikes_begin();
  for (int seed = 1; seed <= seeds; seed++) {
    struct mill_mining_episode e;
    struct mill_mining_report r;
    struct mill_mining *m = mined(write_poisson(seed), SET("mining.intervals=(0,5] ms", "mining.support=1", "mining.max_length=2",
                                                           "mining.significance=surrogate=1999"));
    mill_mining_report(m, &r);
    candidates += r.tested_candidates;
    for (uint64_t i = 0; !mill_mining_episode(m, i, &e); i++)
      low += e.length == 2 && e.p < 0.05;
    discovered += r.significant > 0;
    mill_mining_free(m);
  }
  const double share = (double)low / (double)candidates;
  ok(candidates == 90 * (uint64_t)seeds && share >= 0.03 && share <= 0.06, "%d streams: %.4f of %ju candidates have p < .05", seeds,
     share, (uintmax_t)candidates);
  ok(100 * discovered <= 11 * seeds, "%d of them have a q of .05 or less", discovered);
  spikes_end();
  return done_testing();
}
