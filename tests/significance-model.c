/* Significance by the model: its numbers against those that are published, against its formulas as they are printed, and those of mined
   episodes. */
#include "chain.h"
#include "memory.h"
#include "mined.h"
#include "significance-model.h"

enum { BINS = 200000 };
static double ring[2 * BINS];

/* F and V by the formulas as they are printed; the difference of large numbers takes more digits than a double has. */
static struct mill_moments moments_plainly(uint64_t bins, uint64_t span, double p)
{
  static long double f[BINS + 1], g[BINS + 1];
  for (uint64_t n = 0; n <= bins; n++) {
    f[n] = n < span ? 0 : (1 - (long double)p) * f[n - 1] + (long double)p * (1 + f[n - span]);
    g[n] = n < span ? 0 : (1 - (long double)p) * g[n - 1] + (long double)p * (1 + g[n - span] + 2 * f[n - span]);
  }
  return (struct mill_moments){(double)f[bins], (double)(g[bins] - f[bins] * f[bins])};
}

static void test_published(void)
{
  static const struct {
    double e0, mean, variance, threshold;
  } row[] = {{.2, 3.548, 3.530, 12.0}, {.4, 27.902, 26.785, 51.0}, {.6, 89.995, 78.630, 129.7}, {.8, 196.364, 144.413, 250.1}};
  const struct mill_model model = {20000, 15, mill_model_chance(22.5, 0.001), 3, NULL, NULL};
  is_real(model.start, 1 - exp(-0.0225), 1e-15, "a spike in a bin at 22.5 Hz");
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const struct mill_moments m = mill_model_moments(&model, model.start * pow(row[i].e0, 3), ring);
    is_real(m.mean, row[i].mean, 0.0005, "e0 %.1f: mean", row[i].e0);
    is_real(m.variance, row[i].variance, 0.0005, "e0 %.1f: variance", row[i].e0);
    is_real(mill_model_threshold(m, 0.05), row[i].threshold, 0.05, "e0 %.1f: threshold", row[i].e0);
    is_real(mill_model_p(m, 300), m.variance / pow(300 - m.mean, 2), 1e-15, "e0 %.1f: p of 300", row[i].e0);
  }
  is_real(mill_model_strength(&model, 200, ring), 0.806, 0.0005, "200 occurrences: strength");
  is_real(mill_model_strength(&model, 100, ring), 0.623, 0.0005, "100 occurrences: strength");
  is_real(mill_model_strength(&model, 2000, ring), 1, 0, "more than sure links give: strength");
  const struct mill_moments m = {10, 4};
  is_real(mill_model_p(m, 10), 1, 0, "p of the mean");
  is_real(mill_model_p(m, 3), 1, 0, "p of less");
  is_real(mill_model_p(m, 11), 1, 0, "p is at most 1");
  is_real(mill_model_p(m, 14), 0.25, 0, "p of 2 standard deviations more");
  is_real(mill_model_p((struct mill_moments){0, 0}, 14), 1, 0, "p where no occurrence has room");
}

static void test_recursion(void)
{
  uint64_t state = 5;
  double worst[3] = {0, 0, 0};
  for (int run = 0; run < 400; run++) {
    const uint64_t bins = run % 40 ? 1 + below(&state, 3000) : BINS;
    const uint64_t span = 1 + below(&state, run % 7 ? 40 : 4000);
    const double p = run % 5 ? pow(10, -4.0 * below(&state, 1000) / 1000) : 1 - 0.001 * below(&state, 500);
    const struct mill_model model = {bins, span, p, 1 + below(&state, 6), NULL, NULL};
    const struct mill_moments want = moments_plainly(bins, span, p), got = mill_model_moments(&model, p, ring);
    const double scale[2] = {want.mean + 1e-300, want.variance + 1e-9 * (1 + want.mean * want.mean)};
    if (fabs(got.mean - want.mean) / scale[0] > worst[0])
      worst[0] = fabs(got.mean - want.mean) / scale[0];
    if (fabs(got.variance - want.variance) / scale[1] > worst[1])
      worst[1] = fabs(got.variance - want.variance) / scale[1];
    const uint64_t count = (uint64_t)(want.mean * (1 + below(&state, 90)) / 100);
    if (!count)
      continue;
    const double e = mill_model_strength(&model, count, ring);
    const double back = moments_plainly(bins, span, p * pow(e, model.links)).mean;
    if (fabs(back - (double)count) / (double)count > worst[2])
      worst[2] = fabs(back - (double)count) / (double)count;
  }
  ok(worst[0] < 1e-9, "400 models: mean within %.1e of the recursion", worst[0]);
  ok(worst[1] < 1e-7, "400 models: variance within %.1e of it", worst[1]);
  ok(worst[2] < 1e-7, "400 models: the strength gives the count back within %.1e", worst[2]);
}

/* The model, by its formulas, for A -(0,5]→ B -(5,10]→ C in 1001 ms. */
static void test_model_episode(const char *path)
{
  struct mill_mining_episode e;
  for (int given = 0; given < 2; given++) {
    struct mill_mining *m =
        mined(path, SET("mining.intervals=(0,5] ms", "mining.support=50", "mining.significance=model",
                        given ? "mining.e0=0.3" : "mining.e0=independence", "mining.bin=0.5", "mining.epsilon=0.01"));
    int found = 0;
    for (uint64_t i = 0; !mill_mining_episode(m, i, &e); i++) {
      if (e.length != 3 || e.type[0] != 0 || e.type[1] != 1 || e.type[2] != 2)
        continue;
      const double rate = 60 / 1.001, link = given ? 0.3 : 1 - exp(-rate * 0.005), start = 1 - exp(-rate * 0.0005);
      const struct mill_moments want = moments_plainly(2002, 10, start * link * link);
      is_real(e.expected, want.mean, 1e-9 * want.mean, "A B C: the expected count, %s", given ? "e0 given" : "independence");
      is_real(e.p, want.variance / pow((double)e.count - want.mean, 2), 1e-9, "A B C: p");
      is_real(e.threshold, want.mean + sqrt(want.variance / 0.01), 1e-9 * e.threshold, "A B C: the count with a p of epsilon");
      ok(moments_plainly(2002, 10, start).mean < (double)e.count && e.strength == 1,
         "A B C: more often than sure links would make it, since A comes like a clock");
      ok(e.q >= e.p && e.q <= 1, "A B C: q");
      found++;
    }
    is_int(found, 1, "A B C is there");
    mill_mining_free(m);
  }
  int pairs = 0, wrong = 0; /* 2.5 s on average, in 1 s of recording */
  struct mill_mining *m =
      mined(path, SET("mining.intervals=(0,5000] ms", "mining.support=15", "mining.significance=model", "mining.max_length=2"));
  for (uint64_t i = 0; !mill_mining_episode(m, i, &e); i++) {
    pairs += e.length == 2;
    wrong += e.length == 2 && (!isnan(e.threshold) || e.p != 1 || e.expected != 0);
  }
  ok(pairs && !wrong, "no threshold for %d pairs that the model has no room for", pairs);
  mill_mining_free(m);
}

int main(void)
{
  struct mill_event event[CHAIN_MOST];
  plan_later();
  spikes_begin();
  test_published();
  test_recursion();
  write_chain("chain.smk", event, make_chain(event));
  test_model_episode(in_folder("chain.smk"));
  spikes_end();
  is_int((intmax_t)mill_memory_held(), 0, "no memory is left behind");
  return done_testing();
}
