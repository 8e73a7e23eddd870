/* <spikemill/device.h>, arithmetic: errors in ulp against the 64-bit mantissa of long double, special cases against libm, and the
   bits themselves: results are pinned by a hash, since they must be the same whatever the compiler, the machine and its libm. */
#include <float.h>
#include <math.h>
#include <spikemill/device.h>
#include "tap.h"

#define SAMPLES 100000

static uint64_t drawn;

static double between(double lo, double hi)
{
  return lo + (hi - lo) * mill_uniform(mill_random(1, drawn++, 0));
}

static double any_double(void)
{
  return mill_from_bits(mill_random(2, drawn++, 0));
}

static double any_float(void)
{
  return (double)mill_from_bitsf((uint32_t)mill_random(3, drawn++, 0));
}

/* |got - want| in units of the last of `mantissa` bits of `want`; huge where one is special and the other is not. */
static double ulps(double got, long double want, int mantissa, int smallest, int largest)
{
  int exponent;
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got) ? 0 : 1e99;
  if (fabsl(want) >= ldexpl(1.0L - ldexpl(1, -mantissa - 1), largest))
    return (double)got == (want > 0 ? HUGE_VAL : -HUGE_VAL) ? 0 : 1e99;
  if (isinf(got))
    return 1e99;
  frexpl(want, &exponent);
  exponent = want == 0 || exponent - mantissa < smallest ? smallest : exponent - mantissa;
  return (double)(fabsl((long double)got - want) / ldexpl(1, exponent));
}

static double expf_(double x) { return (double)mill_expf((float)x); }
static double logf_(double x) { return (double)mill_logf((float)x); }
static double expm1f_(double x) { return (double)mill_expm1f((float)x); }
static double log1pf_(double x) { return (double)mill_log1pf((float)x); }
static double sqrtf_(double x) { return (double)mill_sqrtf((float)x); }

/* lo = hi: every bit pattern. */
static const struct {
  const char *name;
  double (*function)(double);
  long double (*truth)(long double);
  double lo, hi, bound;
  int single;
} accuracies[] = {
  {"exp", mill_exp, expl, -1, 1, 0.8, 0},
  {"exp", mill_exp, expl, -746, 711, 0.8, 0},
  {"exp", mill_exp, expl, -746, -708, 0.8, 0},
  {"exp", mill_exp, expl, 0, 0, 0.8, 0},
  {"expm1", mill_expm1, expm1l, -0.4, 0.4, 1.25, 0},
  {"expm1", mill_expm1, expm1l, -1e-5, 1e-5, 1.25, 0},
  {"expm1", mill_expm1, expm1l, -50, 50, 1.25, 0},
  {"expm1", mill_expm1, expm1l, 36, 38, 1.25, 0},
  {"expm1", mill_expm1, expm1l, 0, 0, 1.25, 0},
  {"log", mill_log, logl, 0.7, 1.42, 0.95, 0},
  {"log", mill_log, logl, 0, 10, 0.95, 0},
  {"log", mill_log, logl, 0, 0, 0.95, 0},
  {"log", mill_log, logl, 0, 0x1p-1022, 0.95, 0},
  {"log1p", mill_log1p, log1pl, -0.4, 0.6, 0.95, 0},
  {"log1p", mill_log1p, log1pl, -1, 8, 0.95, 0},
  {"log1p", mill_log1p, log1pl, -1e-5, 1e-5, 0.95, 0},
  {"log1p", mill_log1p, log1pl, 0, 0, 0.95, 0},
  {"sqrt", mill_sqrt, sqrtl, 0, 0, 0.501, 0},
  {"expf", expf_, expl, -1, 1, 0.8, 1},
  {"expf", expf_, expl, -105, 90, 0.8, 1},
  {"expf", expf_, expl, 0, 0, 0.8, 1},
  {"logf", logf_, logl, 0.7, 1.42, 0.95, 1},
  {"logf", logf_, logl, 0, 0, 0.95, 1},
  {"logf", logf_, logl, 0, 0x1p-126, 0.95, 1},
  {"expm1f", expm1f_, expm1l, -1, 1, 0.51, 1},
  {"expm1f", expm1f_, expm1l, 0, 0, 0.51, 1},
  {"log1pf", log1pf_, log1pl, -1, 1, 0.51, 1},
  {"log1pf", log1pf_, log1pl, 0, 0, 0.51, 1},
  {"sqrtf", sqrtf_, sqrtl, 0, 0, 0.501, 1},
};

static void test_accuracy(void)
{
  for (size_t a = 0; a < sizeof accuracies / sizeof accuracies[0]; a++) {
    double worst = 0, where = 0;
    int single = accuracies[a].single, every = accuracies[a].lo == accuracies[a].hi;
    for (int i = 0; i < SAMPLES; i++) {
      double x = every ? single ? any_float() : any_double() : between(accuracies[a].lo, accuracies[a].hi);
      x = single ? (double)(float)x : x;
      long double want = accuracies[a].truth((long double)x);
      double got = accuracies[a].function(x), u = single ? ulps(got, want, 24, -149, 128) : ulps(got, want, 53, -1074, 1024);
      if (u > worst)
        worst = u, where = x;
    }
    ok(worst <= accuracies[a].bound, "%s, %g to %g: within %g ulp (%.3f at %.17g)", accuracies[a].name, accuracies[a].lo,
       accuracies[a].hi, accuracies[a].bound, worst, where);
  }
}

static long double true_pow(double x, double y)
{
  return powl((long double)x, (long double)y);
}

static void test_pow_accuracy(void)
{
  double worst[5] = {0};
  for (int i = 0; i < SAMPLES; i++) {
    double y = between(-1100, 1100), x = exp(between(-700, 700) / fabs(y)), u;
    u = ulps(mill_pow(x, y), true_pow(x, y), 53, -1074, 1024);
    worst[0] = fmax(worst[0], u);
    x = any_double(), y = any_double();
    u = ulps(mill_pow(x, y), true_pow(x, y), 53, -1074, 1024);
    worst[1] = fmax(worst[1], u);
    x = 1 + between(-7e-13, 7e-13), y = between(-1e15, 1e15);
    u = ulps(mill_pow(x, y), true_pow(x, y), 53, -1074, 1024);
    worst[2] = fmax(worst[2], u);
    x = between(0, 0x1p-1022), y = between(-1, 1.06);
    u = ulps(mill_pow(x, y), true_pow(x, y), 53, -1074, 1024);
    worst[3] = fmax(worst[3], u);
    x = (double)(float)between(0, 40), y = (double)(float)between(-30, 30);
    u = ulps((double)mill_powf((float)x, (float)y), true_pow(x, y), 24, -149, 128);
    worst[4] = fmax(worst[4], u);
    x = any_float(), y = any_float();
    u = ulps((double)mill_powf((float)x, (float)y), true_pow(x, y), 24, -149, 128);
    worst[4] = fmax(worst[4], u);
  }
  ok(worst[0] <= 0.8, "pow over its range: within 0.8 ulp (%.3f)", worst[0]);
  ok(worst[1] <= 0.8, "pow of any two numbers: within 0.8 ulp (%.3f)", worst[1]);
  ok(worst[2] <= 0.8, "pow near 1 with huge exponents: within 0.8 ulp (%.3f)", worst[2]);
  ok(worst[3] <= 0.8, "pow of subnormal numbers: within 0.8 ulp (%.3f)", worst[3]);
  ok(worst[4] <= 0.51, "powf: within 0.51 ulp (%.3f)", worst[4]);
}

static const double corners[] = {
  0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1p-1023, 0x1p-149, 0x1p-126, 0x1p-140,
  1e-300, -1e-300, 1e-20, -1e-20, 37.0, -37.0, 45.0, 88.5, 89.5, -103.0, -104.5, 709.5, 710.5, -745.0, -746.5, 1e19, -1e19,
  1e300, -1e300, (double)FLT_MAX, DBL_MAX, -DBL_MAX, 0x1.fffffffffffffp52, -0x1.fffffffffffffp52, 0x1p53, -0x1p53,
  0x1.fffffffffffffp-1, 0x1.0000000000001p0, 0.70710678118654752, 1.4142135623730951, HUGE_VAL, -HUGE_VAL, (double)NAN
};
#define CORNERS (int)(sizeof corners / sizeof corners[0])

/* Equal, both NaN, or neighbours, and of one sign. */
static bool same(double got, double want)
{
  if (isnan(got) || isnan(want))
    return isnan(got) && isnan(want);
  return signbit(got) == signbit(want) && (got == want || (isfinite(want) && want != 0 && nextafter(want, got) == got));
}

static bool samef(double got, double want)
{
  float f = (float)got, w = (float)want;
  if (isnan(f) || isnan(w))
    return isnan(f) && isnan(w);
  return signbit(f) == signbit(w) && (f == w || (isfinite(w) && nextafterf(w, f) == f));
}

static void test_corners(void)
{
  int bad[10] = {0};
  for (int i = 0; i < CORNERS; i++) {
    double x = corners[i];
    float f = (float)x;
    bad[0] += !same(mill_exp(x), exp(x));
    bad[1] += !same(mill_expm1(x), expm1(x));
    bad[2] += !same(mill_log(x), log(x));
    bad[3] += !same(mill_log1p(x), log1p(x));
    bad[4] += !samef((double)mill_expf(f), exp((double)f));
    bad[5] += !samef((double)mill_logf(f), log((double)f));
    bad[6] += !samef((double)mill_expm1f(f), expm1((double)f)) || !samef((double)mill_log1pf(f), log1p((double)f));
    for (int j = 0; j < CORNERS; j++) {
      double y = corners[j];
      if (!same(mill_pow(x, y), pow(x, y))) {
        bad[7]++;
        diag("pow(%a, %a) = %a, not %a", x, y, mill_pow(x, y), pow(x, y));
      }
      bad[8] += !samef((double)mill_powf(f, (float)y), pow((double)f, (double)(float)y));
    }
    bad[9] += !same(mill_sqrt(x), sqrt(x)) || !samef((double)mill_sqrtf(f), (double)sqrtf(f));
  }
  is_int(bad[0], 0, "exp of special values");
  is_int(bad[1], 0, "expm1 of special values");
  is_int(bad[2], 0, "log of special values");
  is_int(bad[3], 0, "log1p of special values");
  is_int(bad[4], 0, "expf of special values");
  is_int(bad[5], 0, "logf of special values");
  is_int(bad[6], 0, "expm1f and log1pf of special values");
  is_int(bad[7], 0, "pow of special values");
  is_int(bad[8], 0, "powf of special values");
  is_int(bad[9], 0, "sqrt and sqrtf of special values");
  for (uint64_t payload = 1; payload < 0xfffffffffffffu; payload = payload * 5 + 7) {
    double x = mill_from_bits((uint64_t)0xfff << 52 | payload);
    if (!isnan(mill_exp(x)) || !isnan(mill_expm1(x)) || !isnan(mill_log(x)) || !isnan(mill_log1p(x)) || !isnan(mill_pow(x, 2.0)))
      ok(false, "NaN with payload %jx", (uintmax_t)payload);
  }
}

static void test_small_things(void)
{
  static const struct {
    double x;
    int64_t want, wide;
  } roundings[] = {
    {0.5, 0, 0}, {1.5, 2, 2}, {2.5, 2, 2}, {-0.5, 0, 0}, {-1.5, -2, -2}, {-2.5, -2, -2}, {0.49999999999999994, 0, 0},
    {2147483646.5, 2147483646, 2147483646}, {2147483647.5, 2147483647, 2147483648}, {-2147483648.5, INT32_MIN, -2147483648},
    {-2147483649.5, INT32_MIN, -2147483650}, {1e300, INT32_MAX, INT64_MAX}, {-1e300, INT32_MIN, INT64_MIN},
    {HUGE_VAL, INT32_MAX, INT64_MAX}, {-HUGE_VAL, INT32_MIN, INT64_MIN}, {(double)NAN, 0, 0},
    {4503599627370497.0, INT32_MAX, 4503599627370497},
    {4503599627370495.5, INT32_MAX, 4503599627370496}, {-4503599627370495.5, INT32_MIN, -4503599627370496},
    {0x1.fffffffffffffp62, INT32_MAX, 0x7ffffffffffffc00}, {0x1p63, INT32_MAX, INT64_MAX}, {-0x1p63, INT32_MIN, INT64_MIN},
  };
  for (size_t i = 0; i < sizeof roundings / sizeof roundings[0]; i++) {
    is_int(mill_round_int(roundings[i].x), roundings[i].want, "%.17g to int32", roundings[i].x);
    is_int(mill_round_int64(roundings[i].x), roundings[i].wide, "%.17g to int64", roundings[i].x);
  }
  ok(mill_clamp(3, 1, 2) == 2 && mill_clamp(0, 1, 2) == 1 && mill_clamp(1.5, 1, 2) == 1.5, "clamp");
  ok(isnan(mill_clamp((double)NAN, 1, 2)), "clamp keeps a NaN");
  ok(mill_clampf(3, 1, 2) == 2 && mill_clampf(0, 1, 2) == 1 && isnan(mill_clampf(NAN, 1, 2)), "clampf");
  ok(isinf(mill_infinity()) && isnan(mill_nan()), "infinity and NaN");
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 wide;
  int bad = 0;
  for (uint64_t i = 0; i < 100000; i++) {
    uint64_t a = mill_random(4, i, 0), b = mill_random(4, i, 1);
    a = i % 7 == 0 ? ~(uint64_t)0 : a >> (i & 63);
    b = i % 11 == 0 ? ~(uint64_t)0 : b >> (i % 61);
    bad += mill_multiply_high(a, b) != (uint64_t)((wide)a * b >> 64);
  }
  is_int(bad, 0, "high products");
#else
  skip(1, "no 128-bit integers to compare with");
#endif
}

static void add(uint64_t *hash, double x)
{
  *hash = mill_mix(*hash + (x != x ? 1 : mill_bits(x)));
}

/* Any change of these bits changes the spike trains of existing configurations. */
static void test_bits(void)
{
  uint64_t doubles = 0, floats = 0, pairs = 0;
  drawn = 0;
  for (int i = 0; i < 20000; i++) {
    double x = i & 1 ? any_double() : between(-30, 30), y = i & 2 ? any_double() : between(-30, 30);
    float f = (float)x;
    add(&doubles, mill_exp(x));
    add(&doubles, mill_expm1(x));
    add(&doubles, mill_log(x));
    add(&doubles, mill_log1p(x));
    add(&doubles, mill_sqrt(x));
    add(&doubles, mill_normal(mill_bits(x)));
    add(&floats, (double)mill_expf(f));
    add(&floats, (double)mill_logf(f));
    add(&floats, (double)mill_expm1f(f));
    add(&floats, (double)mill_log1pf(f));
    add(&floats, (double)mill_sqrtf(f));
    add(&pairs, mill_pow(x, y));
    add(&pairs, (double)mill_powf(f, (float)y));
  }
  ok(doubles == 0x11afe68b9eaaaf36u, "bits of the functions of a double: %016jx", (uintmax_t)doubles);
  ok(floats == 0xa4a4869a91cf7d64u, "bits of the functions of a float: %016jx", (uintmax_t)floats);
  ok(pairs == 0x6c030cacc8bc37deu, "bits of the powers: %016jx", (uintmax_t)pairs);
}

int main(void)
{
  plan_later();
  test_small_things();
  test_corners();
  if (LDBL_MANT_DIG >= 64) {
    test_accuracy();
    test_pow_accuracy();
  } else
    skip(1, "long double is no wider than double");
  test_bits();
  return done_testing();
}
