/* <spikemill/device.h>, random numbers: known answers, Random123 where it is installed, and the distributions. Every draw is a
   function of fixed keys, so a statistic that passes once passes always. */
#include <float.h>
#include <math.h>
#include <spikemill/device.h>
#include "tap.h"

#if defined(__has_include)
#if __has_include(<Random123/philox.h>)
#include <Random123/philox.h>
#define HAVE_RANDOM123 1
#endif
#endif

static void test_philox(void)
{
  /* Random123's kat_vectors, philox4x32 10. */
  static const struct {
    uint64_t key, lo, hi;
    uint32_t want[4];
  } known[] = {
    {0, 0, 0, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
    {~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
    {0x299f31d0a4093822u, 0x85a308d3243f6a88u, 0x0370734413198a2eu, {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    struct mill_u32x4 r = mill_philox(known[i].key, known[i].lo, known[i].hi);
    ok(memcmp(r.x, known[i].want, sizeof r.x) == 0, "philox known answer %zu: %08x %08x %08x %08x", i, r.x[0], r.x[1], r.x[2],
       r.x[3]);
  }
  struct mill_u32x4 r = mill_philox(1, 2, 3);
  struct mill_u64x2 p = mill_random_pair(1, 2, 3);
  ok(p.x[0] == ((uint64_t)r.x[1] << 32 | r.x[0]) && p.x[1] == ((uint64_t)r.x[3] << 32 | r.x[2]) && mill_random(1, 2, 3) == p.x[0],
     "two numbers from one philox, low words first");
#ifdef HAVE_RANDOM123
  int bad = 0;
  for (uint64_t i = 0; i < 100000; i++) {
    uint64_t key = mill_mix(3 * i), lo = mill_mix(3 * i + 1), hi = mill_mix(3 * i + 2);
    philox4x32_key_t k = {{(uint32_t)key, (uint32_t)(key >> 32)}};
    philox4x32_ctr_t c = {{(uint32_t)lo, (uint32_t)(lo >> 32), (uint32_t)hi, (uint32_t)(hi >> 32)}};
    c = philox4x32_R(10, c, k);
    r = mill_philox(key, lo, hi);
    bad += memcmp(r.x, c.v, sizeof r.x) != 0;
  }
  is_int(bad, 0, "philox agrees with Random123");
#else
  skip(1, "Random123's headers are not installed");
#endif
}

static int ascending(const void *a, const void *b)
{
  uint64_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

static size_t duplicates(uint64_t *x, size_t n)
{
  size_t found = 0;
  qsort(x, n, sizeof *x, ascending);
  for (size_t i = 1; i < n; i++)
    found += x[i] == x[i - 1];
  return found;
}

/* Standard normal deviate of a chi-square sum (Wilson and Hilferty 1931). */
static double chi_deviate(double sum, double freedom)
{
  double v = 2 / (9 * freedom);
  return (cbrt(sum / freedom) - (1 - v)) / sqrt(v);
}

static double chi_even(const uint64_t *count, size_t n, double total)
{
  double sum = 0, expected = total / (double)n;
  for (size_t i = 0; i < n; i++)
    sum += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
  return chi_deviate(sum, (double)n - 1);
}

static void test_keys(void)
{
  enum { SEEDS = 10, INDICES = 3000, KEYS = SEEDS * 7 * INDICES };
  uint64_t *key = malloc(KEYS * sizeof *key), bits[64] = {0};
  size_t n = 0;
  double worst = 0;
  if (!key)
    bail("no memory");
  for (uint32_t seed = 0; seed < SEEDS; seed++)
    for (uint32_t purpose = MILL_PURPOSE_CONNECT; purpose <= MILL_PURPOSE_SURROGATE; purpose++)
      for (uint32_t index = 0; index < INDICES; index++)
        key[n++] = mill_key(seed, purpose, index);
  for (size_t i = 0; i < n; i++)
    for (int b = 0; b < 64; b++)
      bits[b] += key[i] >> b & 1;
  for (int b = 0; b < 64; b++)
    worst = fmax(worst, fabs((double)bits[b] - n / 2.0) / sqrt(n / 4.0));
  ok(worst < 4.5, "each bit of a key is set half the time (worst %.2f sd)", worst);
  is_int((intmax_t)duplicates(key, n), 0, "keys of seeds, purposes and indices differ");
  free(key);
  uint64_t flips = 0;
  for (uint64_t i = 0; i < 20000; i++)
    flips += (uint64_t)__builtin_popcountll(mill_key(i, 1, 7) ^ mill_key(i ^ (uint64_t)1 << (i & 63), 1, 7));
  is_real((double)flips / 20000, 32, 0.15, "a flipped bit of the seed flips half of the key");
}

static void test_uniform(void)
{
  enum { N = 1000000 };
  static uint64_t bin[256], binf[256];
  ok(mill_uniform(0) == 0x1p-53 && mill_uniform(~(uint64_t)0) == 1 - 0x1p-53, "uniform lies in the open interval");
  ok(mill_uniform((uint64_t)1 << 63) == 0.5 + 0x1p-53 && mill_uniform(((uint64_t)1 << 63) - 1) == 0.5 - 0x1p-53,
     "and is symmetric");
  ok(mill_uniform((uint64_t)12345 << 12) == 12345.5 * 0x1p-52, "and is an odd multiple of 2^-53");
  ok(mill_uniformf(0) == 0x1p-24f && mill_uniformf(~0u) == 1 - 0x1p-24f, "uniformf lies in the open interval");
  double sum = 0, square = 0;
  for (uint64_t i = 0; i < N; i++) {
    uint64_t r = mill_random(11, i, 0);
    double u = mill_uniform(r);
    sum += u;
    square += u * u;
    bin[(int)(u * 256)]++;
    binf[(int)(mill_uniformf((uint32_t)r) * 256)]++;
  }
  is_real(sum / N, 0.5, 4 * sqrt(1.0 / 12 / N), "mean of uniform");
  is_real(square / N, 1.0 / 3, 4 * sqrt(4.0 / 45 / N), "second moment of uniform");
  double z = chi_even(bin, 256, N), zf = chi_even(binf, 256, N);
  ok(fabs(z) < 4 && fabs(zf) < 4, "chi-square of uniform and uniformf (%.2f, %.2f sd)", z, zf);
}

static void test_below(void)
{
  static const uint64_t sizes[] = {2, 3, 7, 10, 64, 1000};
  ok(mill_below(0, 1) == 0 && mill_below(~(uint64_t)0, 1) == 0, "below 1 there is 0");
  ok(mill_below(~(uint64_t)0, 3) == 2 && mill_below(~(uint64_t)0, ~(uint64_t)0) == ~(uint64_t)0 - 1, "the largest number is n - 1");
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    uint64_t count[1000] = {0};
    for (uint64_t i = 0; i < 200000; i++)
      count[mill_below(mill_random(12, i, s), sizes[s])]++;
    double z = chi_even(count, sizes[s], 200000);
    ok(fabs(z) < 4, "below %ju: chi-square (%.2f sd)", (uintmax_t)sizes[s], z);
  }
}

static int ascending_real(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void test_normal(void)
{
  enum { N = 500000 };
  double worst = 0, m1 = 0, m2 = 0, m3 = 0, m4 = 0, ks = 0, *x = malloc(N * sizeof *x);
  if (!x)
    bail("no memory");
  /* The quantile against the distribution function: an error e in p is an error e / density(x) in x. */
  for (uint64_t i = 0; i < 200000; i++) {
    double u = mill_uniform(mill_random(13, i, 0));
    double p = i & 1 ? u : 0x1p-53 * exp(u * 36);
    double q = mill_normal_quantile(p);
    long double wide = (long double)q, density = expl(-wide * wide / 2) / sqrtl(2 * acosl(-1));
    long double error = (erfcl(-wide / sqrtl(2)) / 2 - (long double)p) / density;
    if (q != 0)
      worst = fmax(worst, (double)fabsl(error / wide));
  }
  ok(worst < 2e-15, "normal quantile: relative error %.2g", worst);
  ok(mill_normal_quantile(0.5) == 0, "the median is 0");
  is_real(mill_normal_quantile(0.975), 1.959963984540054, 1e-15, "97.5 %% lie below 1.96");
  is_real(mill_normal_quantile(0x1p-53), -8.2095361516013856, 1e-13, "the smallest deviate");
  ok(mill_normal(0) == -mill_normal(~(uint64_t)0), "deviates are symmetric");
  for (uint64_t i = 0; i < N; i++) {
    double v = x[i] = mill_normal(mill_random(14, i, 0));
    m1 += v, m2 += v * v, m3 += v * v * v, m4 += v * v * v * v;
  }
  is_real(m1 / N, 0, 4 * sqrt(1.0 / N), "mean of normal");
  is_real(m2 / N, 1, 4 * sqrt(2.0 / N), "variance of normal");
  is_real(m3 / N, 0, 4 * sqrt(15.0 / N), "third moment of normal");
  is_real(m4 / N, 3, 4 * sqrt(96.0 / N), "fourth moment of normal");
  qsort(x, N, sizeof *x, ascending_real);
  for (int i = 0; i < N; i++) {
    double f = erfc(-x[i] / sqrt(2)) / 2;
    ks = fmax(ks, fmax(f - (double)i / N, (double)(i + 1) / N - f));
  }
  ok(ks * sqrt(N) < 1.95, "Kolmogorov-Smirnov of normal (%.3f, 0.1 %% point 1.95)", ks * sqrt(N));
  free(x);
}

static void test_feistel(void)
{
  static const uint64_t large[] = {(uint64_t)1 << 20, ((uint64_t)1 << 33) + 5, (uint64_t)1 << 62, ((uint64_t)1 << 62) + 1,
                                   (uint64_t)1 << 63};
  static uint8_t seen[70000];
  static uint64_t image[100000];
  int bad = 0, tried = 0;
  for (uint64_t n = 1; n <= 66000; n += n < 260 ? 1 : n < 5000 ? 251 : 3989) {
    memset(seen, 0, n);
    for (uint64_t i = 0; i < n; i++) {
      uint64_t j = mill_feistel(n * 3, n, i);
      bad += j >= n || seen[j < n ? j : 0]++;
    }
    tried++;
  }
  is_int(bad, 0, "feistel is a permutation for %d sizes up to 66000", tried);
  for (size_t s = 0; s < sizeof large / sizeof large[0]; s++) {
    size_t outside = 0;
    double mean = 0;
    for (uint64_t i = 0; i < 100000; i++) {
      image[i] = mill_feistel(5, large[s], i < 50000 ? i : large[s] - 1 - (i - 50000));
      outside += image[i] >= large[s];
      mean += (double)image[i] / (double)large[s] / 100000;
    }
    ok(!outside && !duplicates(image, 100000) && fabs(mean - 0.5) < 4 * sqrt(1.0 / 12 / 100000),
       "feistel of %ju: distinct, in range, even", (uintmax_t)large[s]);
  }
  /* Over keys, a position goes everywhere equally often, and so does a pair of neighbours. */
  static const uint64_t sizes[] = {2, 3, 4, 5, 7, 10, 16, 17, 31, 64};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    static uint64_t single[64], pair[64 * 64];
    uint64_t n = sizes[s], keys = 200000;
    memset(single, 0, sizeof single);
    memset(pair, 0, sizeof pair);
    for (uint64_t k = 0; k < keys; k++) {
      uint64_t i = n / 2 - 1, a = mill_feistel(k, n, i), b = mill_feistel(k, n, i + 1);
      single[a]++;
      pair[a * (n - 1) + b - (b > a)]++;
    }
    double z = chi_even(single, n, (double)keys), z2 = chi_even(pair, n * (n - 1), (double)keys);
    ok(fabs(z) < 4 && fabs(z2) < 4, "feistel of %ju: positions and pairs are uniform (%.2f, %.2f sd)", (uintmax_t)n, z, z2);
  }
  uint64_t orders[256] = {0}, used[24], u = 0;
  for (uint64_t k = 0; k < 240000; k++) {
    uint64_t code = 0;
    for (uint64_t i = 0; i < 4; i++)
      code = code * 4 + mill_feistel(mill_key(k, 1, 0), 4, i);
    orders[code]++;
  }
  for (int i = 0; i < 256; i++)
    if (orders[i] && u < 24)
      used[u++] = orders[i];
  is_int((intmax_t)u, 24, "feistel of 4: all orders occur");
  double z = chi_even(used, 24, 240000);
  ok(fabs(z) < 4, "and equally often (%.2f sd)", z);
}

static void test_poisson_table(double lambda)
{
  struct mill_poisson t;
  long double p[400], below = 0, above = 0, worst = 0, worst_tail = 0, mean;
  uint64_t linear = 0;
  if (mill_poisson_table(lambda, &t) != 0) {
    ok(false, "table for %g", lambda);
    return;
  }
  ok(t.parts == (lambda > 64 ? ceil(lambda / 64) : 1), "table for %g: %u parts of %u", lambda, t.parts, t.size);
  mean = (long double)lambda / t.parts;
  p[0] = expl(-mean);
  for (int c = 1; c < 400; c++)
    p[c] = p[c - 1] * mean / c;
  for (uint32_t c = 0; c < t.size; c++) {
    below += p[c];
    worst = fmaxl(worst, fabsl(below * 0x1p64L - (long double)t.threshold[c]));
  }
  for (uint32_t c = 399; c > 0; c--) {
    above += p[c];
    if (c == t.size)
      ok(above >= 0x1p-64L * 0.999L && above - p[c] < 0x1p-64L, "the largest count is the last with a tail of 2^-64");
    if (c > t.size || above > 0x1p-10L)
      continue;
    worst_tail = fmaxl(worst_tail, fabsl(above * 0x1p64L - (long double)(~t.threshold[c - 1] + 1)));
  }
  ok(worst <= 2 * t.size + 2 && worst_tail <= 2, "thresholds within 2 units a term (%.2Lf; %.2Lf in the tail)", worst, worst_tail);
  for (uint32_t c = t.size; c < 256; c++)
    linear += t.threshold[c] != ~(uint64_t)0;
  for (uint32_t i = 0; i < 20000 + 3 * t.size; i++) {
    uint64_t bits = i < 3 * t.size ? t.threshold[i / 3] + i % 3 - 1 : mill_random(15, i, 0);
    uint32_t count = 0;
    while (count < t.size && bits >= t.threshold[count])
      count++;
    linear += mill_poisson_count(&t, bits) != count;
  }
  linear += mill_poisson_count(&t, ~(uint64_t)0) != t.size;
  is_int((intmax_t)linear, 0, "the guide changes no count");
}

static void test_poisson_draws(double lambda, uint64_t n)
{
  struct mill_poisson t;
  static uint64_t seen[2000];
  double sum = 0, square = 0, chi = 0, expected = 0, observed = 0, freedom = -1;
  if (mill_poisson_table(lambda, &t) != 0)
    bail("table for %g", lambda);
  memset(seen, 0, sizeof seen);
  for (uint64_t i = 0; i < n; i++) {
    uint32_t c = mill_poisson_draw(&t, 16, i % 1000, (int64_t)(i / 1000));
    seen[c < 2000 ? c : 1999]++;
    sum += c;
    square += (c - lambda) * (c - lambda);
  }
  double total = (double)n;
  is_real(sum / total, lambda, 4 * sqrt(lambda / total), "mean of Poisson(%g)", lambda);
  is_real(square / total, lambda, 4 * sqrt((lambda + 2 * lambda * lambda) / total), "variance of Poisson(%g)", lambda);
  for (int c = 0; c < 2000; c++) { /* bins of at least 10 */
    expected += total * exp(-lambda + c * log(lambda) - lgamma(c + 1.0));
    observed += (double)seen[c];
    if (expected >= 10 || c == 1999) {
      chi += expected > 0 ? (observed - expected) * (observed - expected) / fmax(expected, 1) : 0;
      freedom += expected >= 10;
      expected = observed = 0;
    }
  }
  double z = freedom > 0 ? chi_deviate(chi, freedom) : 0;
  ok(freedom > 0 && z < 4 && z > -4, "chi-square of Poisson(%g) (%.2f sd, %g degrees of freedom)", lambda, z, freedom);
}

static void test_poisson(void)
{
  static const double means[] = {1e-18, 0.001, 0.02, 0.5, 1, 1.6, 5, 20, 32.0625, 63.999, 64, 64.0000001, 500, MILL_POISSON_MAX};
  static const double refused[] = {-1, -0x1p-1074, HUGE_VAL, (double)NAN, MILL_POISSON_MAX * (1 + DBL_EPSILON)};
  struct mill_poisson t;
  for (size_t i = 0; i < sizeof means / sizeof means[0]; i++)
    test_poisson_table(means[i]);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    is_int(mill_poisson_table(refused[i], &t), -1, "a mean of %g is refused", refused[i]);
  static const double none[] = {0, -0.0, 1e-300, 0x1p-1074, 1e-20};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    is_int(mill_poisson_table(none[i], &t), 0, "a mean of %g is valid", none[i]);
    ok(t.size == 0 && mill_poisson_count(&t, ~(uint64_t)0) == 0 && mill_poisson_largest(&t) == 0, "and gives nothing");
  }
  test_poisson_draws(0.001, 1000000);
  test_poisson_draws(0.02, 1000000);
  test_poisson_draws(1, 1000000);
  test_poisson_draws(20, 1000000);
  test_poisson_draws(64, 1000000);
  test_poisson_draws(500, 200000);

  int bad = 0;
  if (mill_poisson_table(200, &t) != 0)
    bail("table for 200");
  is_int(mill_poisson_largest(&t), (intmax_t)t.parts * t.size, "the largest count is that of all parts");
  for (uint64_t i = 0; i < 10000; i++) {
    int64_t step = (int64_t)(i % 100) - 50;
    uint32_t pair[2], count = 0;
    for (uint32_t p = 0; p < t.parts; p++)
      count += mill_poisson_count(&t, mill_random_pair(17, i >> 1, (uint64_t)step * t.parts + p).x[i & 1]);
    mill_poisson_pair(&t, 17, i >> 1, step, pair);
    bad += count != pair[i & 1] || count != mill_poisson_draw(&t, 17, i, step);
  }
  is_int(bad, 0, "one neuron, a pair and the documented layout agree");
}

int main(void)
{
  plan_later();
  test_philox();
  test_keys();
  test_uniform();
  test_below();
  test_normal();
  test_feistel();
  test_poisson();
  return done_testing();
}
