/* Synthetic streams against the formulas: tests with fixed seeds, |z| < 4.5 throughout. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "made.h"

#define Z 4.5

/* ---- sym26 */

/* Source of unit u in the default chains, -1 for none. */
static int source_of(int u)
{
  return (u >= 1 && u <= 3) || (u >= 5 && u <= 10) ? u - 1 : -1;
}

/* Events of a train in (low, high]; *at is a place to begin the search, which moves on. */
static int events_in(const struct made *m, uint32_t u, int64_t low, int64_t high, uint64_t *at)
{
  int n = 0;
  while (*at < m->length[u] && m->train[u][*at] <= low)
    ++*at;
  for (uint64_t i = *at; i < m->length[u] && m->train[u][i] <= high; i++)
    n++;
  return n;
}

/* How often links did what, over the streams that were added. */
struct tally {
  uint64_t sources;    /* events of sources */
  uint64_t in_step;    /* with the target in the step one delay later */
  uint64_t in_window;  /* with the target in (delay - dt, delay + dt] */
  uint64_t ready, hit; /* the target was not refractory when that step began; and came in it */
};

static void add_links(const struct made *m, struct tally *t)
{
  enum { DT = 1000, DELAY = 5000, REFRACTORY = 1000 };
  for (int u = 0; u < 26; u++) {
    int source = source_of(u);
    uint64_t step_at = 0, window_at = 0, before_at = 0;
    for (uint64_t i = 0; source >= 0 && i < m->length[source]; i++) {
      int64_t tick = m->train[source][i], begin = (tick - 1) / DT * DT + DELAY;
      if (begin + DT > m->is.stop)
        break;
      int hit = events_in(m, (uint32_t)u, begin, begin + DT, &step_at) > 0;
      int ready = !events_in(m, (uint32_t)u, begin - REFRACTORY, begin, &before_at);
      t->sources++;
      t->in_step += (unsigned)hit;
      t->in_window += events_in(m, (uint32_t)u, tick + DELAY - DT, tick + DELAY + DT, &window_at) > 0;
      t->ready += (unsigned)ready;
      t->hit += (unsigned)(ready && hit);
    }
  }
}

static double z_of(double got, double n, double p)
{
  return (got - n * p) / sqrt(n * p * (1 - p));
}

static void test_sym26(void)
{
  enum { SEEDS = 12 };
  double sum = 0, worst = 0, square = 0, square_n = 0;
  uint64_t least = UINT64_MAX, most = 0;
  struct tally t = {0};
  int bad = 0;
  int64_t gap = INT64_MAX;
  /* An unlinked unit is a renewal process: intervals of 1 ms and an exponential of 50 ms. */
  const double mean = 51, deviation = 50, expected = 60000 / mean, spread = sqrt(60000 * deviation * deviation / pow(mean, 3));
  for (int seed = 1; seed <= SEEDS; seed++) {
    char options[32];
    snprintf(options, sizeof options, "seed=%d", seed);
    struct made *m = make("sym26", options);
    sum += (double)m->count;
    least = m->count < least ? m->count : least;
    most = m->count > most ? m->count : most;
    bad += m->bad;
    gap = least_gap(m) < gap ? least_gap(m) : gap;
    for (int u = 0; u < 26; u++) {
      double z = ((double)m->length[u] - expected) / spread;
      if (u != 0 && u != 4 && u < 11)
        continue;
      worst = fabs(z) > worst ? fabs(z) : worst;
      square += z * z;
      square_n++;
    }
    add_links(m, &t);
    if (seed == 1)
      ok(m->count >= 48000 && m->count <= 50000, "the default stream has 48,000 to 50,000 events: %" PRIu64, m->count);
    made_free(m);
  }
  diag("events of %d seeds: %" PRIu64 " to %" PRIu64 ", mean %.1f", SEEDS, least, most, sum / SEEDS);
  /* 48,213 with a standard deviation of 319: from 600 seeds; 48,219 from 400 of a program that draws gaps anew in every step. */
  ok(fabs(sum / SEEDS - 48213) < Z * 319 / sqrt(SEEDS), "the mean number of events is 48,213");
  ok(least > 48213 - Z * 319 && most < 48213 + Z * 319, "and no seed is far from it");
  is_int(bad, 0, "events are in order, inside the stream, of units that exist");
  ok(gap >= 1000, "no unit has two events within 1 ms: %" PRId64 " us", gap);
  ok(worst < Z, "units without a source: each has the rate 20 / 1.02 Hz, worst z %.2f", worst);
  ok(fabs(square - square_n) < Z * sqrt(2 * square_n), "and their spread is that of a renewal process: %.2f", square / square_n);
  double z = z_of((double)t.hit, (double)t.ready, 0.8);
  diag("of %" PRIu64 " events of sources %.4f have the target in the step one delay later, %.4f in (4, 6] ms", t.sources,
       (double)t.in_step / (double)t.sources, (double)t.in_window / (double)t.sources);
  ok(fabs(z) < Z, "a target that is not refractory follows with probability 0.8: %.4f of %" PRIu64 ", z %.2f",
     (double)t.hit / (double)t.ready, t.ready, z);
  /* 0.7901 and 0.8034 of 24 million. */
  is_real((double)t.in_step / (double)t.sources, 0.7901, Z * 0.0008, "with refractoriness a little less");
  is_real((double)t.in_window / (double)t.sources, 0.8034, Z * 0.0008, "and (4, 6] ms holds what came by chance too");
}

/* Fraction of the steps with n source events in which unit 1 has an event; only steps without an event in the step before. */
static void check_rate(const struct made *m, int64_t dt, int64_t delay, int n, double p)
{
  int64_t steps = m->is.stop / dt;
  unsigned char *source = calloc((size_t)steps, 1), *target = calloc((size_t)steps, 1);
  double all = 0, hit = 0;
  for (uint64_t i = 0; i < m->length[0]; i++)
    source[(m->train[0][i] - 1) / dt]++;
  for (uint64_t i = 0; i < m->length[1]; i++)
    target[(m->train[1][i] - 1) / dt]++;
  for (int64_t s = delay / dt; s < steps; s++) {
    if (source[s - delay / dt] == n && !target[s - 1]) {
      all++;
      hit += target[s] > 0;
    }
  }
  ok(all > 100 && (p > 0 ? fabs(z_of(hit, all, p)) < Z : hit == 0), "%d events of the source: probability %.4f, found %.4f of %.0f",
     n, p, hit / all, all);
  free(source);
  free(target);
}

/* The formulas once more, in libm's arithmetic. */
static double probability_of(double rate, double dt_ms, double certainty, double p, int n)
{
  double highest = -log(1 - certainty) / (dt_ms / 1000), off = log(highest / rate - 1);
  double beta = -log(1 - p) / (dt_ms / 1000) / highest, w = log(beta / (1 - beta) * (highest / rate - 1));
  return 1 - exp(-highest / (1 + exp(off - n * w)) * dt_ms / 1000);
}

static void test_links(void)
{
  struct made *m = make("sym26", "neurons=2 chains=2 rate=150 probability=0.3 dt=2 delay=6 refractory=0 duration=400000 tick=0.01");
  is_int(m->is.tick_ps, 10000000, "a coarser tick");
  for (int n = 0; n < 4; n++)
    check_rate(m, 200, 600, n, probability_of(150, 2, 0.99, 0.3, n));
  made_free(m);
  m = make("sym26", "neurons=2 chains=2 rate=100 probability=0 delay=1 refractory=1 duration=100000");
  check_rate(m, 1000, 1000, 1, 0);
  made_free(m);
  m = make("sym26", "neurons=2 chains=2 rate=100 probability=0.98 certainty=0.999 refractory=0.5 delay=20 duration=100000");
  check_rate(m, 1000, 20000, 1, 0.98);
  is_int(least_gap(m) >= 500, 1, "half a step of refractoriness");
  made_free(m);
  /* Nothing goes against the chain, nor into another one. */
  m = make("sym26", "duration=600000 seed=5");
  static const int pair[][2] = {{1, 0}, {3, 2}, {3, 4}, {10, 20}, {0, 2}};
  for (size_t k = 0; k < 5; k++) {
    uint32_t a = (uint32_t)pair[k][0], b = (uint32_t)pair[k][1];
    uint64_t at = 0;
    double hits = 0;
    for (uint64_t i = 0; i < m->length[a]; i++)
      hits += events_in(m, b, m->train[a][i] + 4000, m->train[a][i] + 6000, &at) > 0;
    double p = (double)m->length[b] / 600000 * 2, z = z_of(hits, (double)m->length[a], p);
    if (k < 4)
      ok(fabs(z) < Z, "no link from %c to %c: z %.2f", 'A' + a, 'A' + b, z);
    else
      ok(fabs(z) < 2 * Z, "no direct one from A to C in the time of one link: z %.2f", z);
  }
  made_free(m);
}

/* ---- poisson */

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: √n times the largest distance from an exponential distribution of that mean beyond the refractory period. */
static double distance(const struct made *m, double mean, double refractory)
{
  double *gap = malloc(m->count * sizeof *gap), largest = 0;
  size_t n = 0;
  for (uint32_t u = 0; u < m->is.units; u++)
    for (uint64_t i = 1; i < m->length[u]; i++)
      gap[n++] = (double)(m->train[u][i] - m->train[u][i - 1]) - refractory;
  qsort(gap, n, sizeof *gap, ascending);
  for (size_t i = 0; i < n; i++) {
    double p = gap[i] < 0 ? 0 : 1 - exp(-gap[i] / mean), low = fabs(p - (double)i / (double)n),
           high = fabs(p - (double)(i + 1) / (double)n);
    largest = fmax(largest, fmax(low, high));
  }
  free(gap);
  return largest * sqrt((double)n);
}

static void test_poisson(void)
{
  struct made *m = make("poisson", "rate=20 duration=600000 seed=3");
  double n = 26 * 600 * 20.0, z = ((double)m->count - n) / sqrt(n);
  is_int(m->bad, 0, "poisson: events in order and inside");
  ok(fabs(z) < Z, "the mean rate is 20 Hz: z %.2f", z);
  z = distance(m, 50000, 0);
  ok(z < 1.95, "the gaps are exponential: √n D = %.3f", z);
  /* Counts in 5 ms: no two units know of each other. */
  enum { BINS = 120000 };
  unsigned char(*bin)[BINS] = calloc(26, BINS);
  double worst = 0;
  for (uint64_t i = 0; i < m->count; i++)
    bin[m->event[i].unit][(m->event[i].tick - 1) / 5000]++;
  for (int a = 0; a < 26; a++)
    for (int b = 0; b < a; b++) {
      double both = 0;
      for (int i = 0; i < BINS; i++)
        both += bin[a][i] * bin[b][i];
      worst = fmax(worst, fabs(both - BINS * 0.01) / sqrt(BINS * 0.01));
    }
  ok(worst < Z, "units are independent: worst z of 325 pairs %.2f", worst);
  free(bin);
  made_free(m);

  m = make("poisson", "neurons=10 rate=100 refractory=4 duration=600000");
  ok(least_gap(m) >= 4000 && least_gap(m) < 4020, "with refractoriness no gap is shorter: %" PRId64 " us", least_gap(m));
  z = ((double)m->count - 600000) / sqrt(600000 * 0.36); /* the gaps vary by 6 ms in 10 */
  ok(fabs(z) < Z, "the mean rate is the one asked for: z %.2f", z);
  z = distance(m, 6000, 4000);
  ok(z < 1.95, "beyond it gaps are exponential: √n D = %.3f", z);
  made_free(m);

  /* From the start: half of the units are refractory then, and a stream of any length has the rate. */
  m = make("poisson", "neurons=100000 rate=100 refractory=5 duration=1");
  z = z_of((double)m->count, 100000, 0.1);
  ok(fabs(z) < Z, "10^5 units: the first ms has its share, %" PRIu64 ", z %.2f", m->count, z);
  made_free(m);

  m = make("poisson", "neurons=6 rate=5,0,40 duration=1000000 refractory=1");
  static const double rate[] = {5, 0, 40};
  for (uint32_t u = 0; u < 6; u++) {
    n = rate[u % 3] * 1000;
    ok(fabs((double)m->length[u] - n) <= Z * sqrt(n), "a list of rates: unit %u has %.0f Hz", u + 1, rate[u % 3]);
  }
  made_free(m);
}

int main(void)
{
  plan_later();
  test_sym26();
  test_links();
  test_poisson();
  return done_testing();
}
