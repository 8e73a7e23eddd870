/* exp, log and their kin in pure arithmetic; part of <spikemill/device.h>, which is what to include.

   Reduction to a small interval, a polynomial, and a last addition whose error term is kept (T. J. Dekker, Numer. Math. 18, 1971).
   The polynomials are minimax fits over the reduced interval with coefficients rounded to the type. Bounds are in units in the last
   place of the result and were measured by tests/device.c; they hold for subnormal results too. */
#ifndef SPIKEMILL_DEVICE_MATH_H
#define SPIKEMILL_DEVICE_MATH_H

/* An unevaluated sum, |lo| ≤ ulp(hi) / 2. */
struct mill_pair {
  double hi, lo;
};

/* a + b exactly, for |a| ≥ |b| or a = 0. */
MILL_FN struct mill_pair mill_fast_sum(double a, double b)
{
  struct mill_pair s;
  s.hi = a + b;
  s.lo = b - (s.hi - a);
  return s;
}

/* a + b exactly (Knuth, The Art of Computer Programming 2, section 4.2.2). */
MILL_FN struct mill_pair mill_sum(double a, double b)
{
  struct mill_pair s;
  s.hi = a + b;
  double back = s.hi - a;
  s.lo = (a - (s.hi - back)) + (b - back);
  return s;
}

/* a · b exactly, for |a|, |b| < 2^990 and products well above the subnormals. */
MILL_FN struct mill_pair mill_product(double a, double b)
{
  const double split = 134217729.0; /* 2^27 + 1 */
  double t = a * split, a1 = t - (t - a), a2 = a - a1;
  double u = b * split, b1 = u - (u - b), b2 = b - b1;
  struct mill_pair p;
  p.hi = a * b;
  p.lo = ((a1 * b1 - p.hi) + a1 * b2 + a2 * b1) + a2 * b2;
  return p;
}

/* (a.hi + a.lo) · (b.hi + b.lo) to about 2^-102. */
MILL_FN struct mill_pair mill_pair_product(struct mill_pair a, struct mill_pair b)
{
  struct mill_pair p = mill_product(a.hi, b.hi);
  return mill_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* (a.hi + a.lo) + (b.hi + b.lo) to about 2^-102 for terms of equal sign. */
MILL_FN struct mill_pair mill_pair_sum(struct mill_pair a, struct mill_pair b)
{
  struct mill_pair s = mill_sum(a.hi, b.hi);
  return mill_fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

/* (a.hi + a.lo) / (b.hi + b.lo) to about 2^-102. */
MILL_FN struct mill_pair mill_pair_quotient(struct mill_pair a, struct mill_pair b)
{
  double q = a.hi / b.hi;
  struct mill_pair p = mill_product(q, b.hi);
  return mill_fast_sum(q, ((((a.hi - p.hi) - p.lo) + a.lo) - q * b.lo) / b.hi);
}

/* 2^k for k = -1022 … 1023. */
MILL_FN double mill_power_of_two(int32_t k)
{
  return mill_from_bits((uint64_t)((uint32_t)k + 1023u) << 52);
}

MILL_FN float mill_power_of_twof(int32_t k)
{
  return mill_from_bitsf(((uint32_t)k + 127u) << 23);
}

/* y · 2^k for y about 1 and |k| < 1100, rounded once. Unsigned arithmetic: k is arbitrary when y is a NaN. */
MILL_FN double mill_scale(double y, int32_t k)
{
  int32_t half = (int32_t)(((uint32_t)k + 2048u) >> 1) - 1024;
  return (y * mill_power_of_two(half)) * mill_power_of_two((int32_t)((uint32_t)k - (uint32_t)half));
}

MILL_FN float mill_scalef(float y, int32_t k)
{
  int32_t half = (int32_t)(((uint32_t)k + 256u) >> 1) - 128;
  return (y * mill_power_of_twof(half)) * mill_power_of_twof((int32_t)((uint32_t)k - (uint32_t)half));
}

/* e^r - 1 - r for |r| ≤ log(2) / 2. */
MILL_FN double mill_exp_rest(double r)
{
  double p = 0x1.1f86f0def2ce8p-29;
  p = p * r + 0x1.af4ecf3058f07p-26;
  p = p * r + 0x1.27e4cfaefd041p-22;
  p = p * r + 0x1.71de01aacddadp-19;
  p = p * r + 0x1.a01a01ab9885dp-16;
  p = p * r + 0x1.a01a01ac1e913p-13;
  p = p * r + 0x1.6c16c16c156a5p-10;
  p = p * r + 0x1.111111111005p-7;
  p = p * r + 0x1.5555555555557p-5;
  p = p * r + 0x1.5555555555557p-3;
  p = p * r + 0.5;
  return r * r * p;
}

/* e^(x.hi + x.lo) for x.hi within -746 … 710 or NaN. */
MILL_FN double mill_exp_pair(struct mill_pair x)
{
  double t = x.hi * 0x1.71547652b82fep0 + 0x1.8p52;
  double k = t - 0x1.8p52;
  double hi = x.hi - k * 0x1.62e42fefp-1; /* log 2 in two parts; this difference is exact */
  double lo = k * 0x1.473de6af278edp-34 - x.lo;
  double rest = mill_exp_rest(hi - lo);
  struct mill_pair s = mill_fast_sum(1.0, hi);
  return mill_scale(s.hi + (s.lo + (rest - lo)), (int32_t)(uint32_t)mill_bits(t));
}

/* e^x; error below 0.8. exp(-inf) = 0, overflow gives inf. */
MILL_FN double mill_exp(double x)
{
  struct mill_pair a;
  a.hi = mill_clamp(x, -746.0, 710.0);
  a.lo = 0;
  return mill_exp_pair(a);
}

/* e^x - 1; error below 1.25. Keeps the sign of zero. */
MILL_FN double mill_expm1(double x)
{
  if (x > 37.0)
    return mill_exp(x) - 1.0;
  double a = mill_clamp(x, -40.0, 37.0);
  double t = a * 0x1.71547652b82fep0 + 0x1.8p52;
  double k = t - 0x1.8p52;
  double hi = a - k * 0x1.62e42fefp-1, lo = k * 0x1.473de6af278edp-34;
  double rest = mill_exp_rest(hi - lo);
  if (k == 0)
    return x == 0 ? x : hi + rest;
  double scale = mill_power_of_two((int32_t)(uint32_t)mill_bits(t));
  double whole = scale - 1.0; /* exact: -58 ≤ k ≤ 53, and below -53 the lost part is under half an ulp of 1 */
  struct mill_pair sum = mill_sum(whole, scale * hi);
  return sum.hi + (sum.lo + scale * (rest - lo));
}

/* R with log(1 + f) = 2 s + s R, s = f / (2 + f), from z = s²: 2 atanh(s) - 2 s divided by s. */
MILL_FN double mill_log_rest(double z)
{
  double p = 0x1.2b5f5b2f9f26fp-3;
  p = p * z + 0x1.39fdcbbceb515p-3;
  p = p * z + 0x1.7462b925fa03dp-3;
  p = p * z + 0x1.c71c62d649d8cp-3;
  p = p * z + 0x1.2492492dfb9b8p-2;
  p = p * z + 0x1.99999999952b9p-2;
  p = p * z + 0x1.5555555555558p-1;
  return p * z;
}

/* k log 2 + log(1 + f) + c. log(1 + f) = f - (h - s (h + R)) with h = f² / 2 leaves f, the largest term, unrounded. */
MILL_FN double mill_log_parts(double k, double f, double c)
{
  double s = f / (2.0 + f), h = 0.5 * f * f;
  double rest = h - s * (h + mill_log_rest(s * s));
  struct mill_pair sum = mill_fast_sum(k * 0x1.62e42fefp-1, f);
  return sum.hi + (sum.lo + ((k * 0x1.473de6af278edp-34 + c) - rest));
}

/* Splits a positive, finite, normal x into 2^k · m, √½ ≤ m < √2. */
MILL_FN double mill_log_split(double x, int32_t *k)
{
  const uint64_t root = 0x3fe6a09e667f3bcdu; /* √½ */
  uint64_t bits = mill_bits(x) - root + ((uint64_t)1024 << 52);
  *k = (int32_t)(bits >> 52) - 1024;
  return mill_from_bits((bits & (((uint64_t)1 << 52) - 1)) + root);
}

/* Natural logarithm; error below 0.95. log(0) = -inf, NaN below 0. */
MILL_FN double mill_log(double x)
{
  int32_t k, tiny = x < 0x1p-1022;
  double m = mill_log_split(tiny ? x * 0x1p54 : x, &k);
  double y = mill_log_parts((double)(tiny ? k - 54 : k), m - 1.0, 0.0);
  y = x == mill_infinity() ? x : y;
  y = x == 0 ? -mill_infinity() : y;
  return x >= 0 ? y : mill_nan();
}

/* log(1 + x); error below 0.95. Keeps the sign of zero; log1p(-1) = -inf, NaN below. */
MILL_FN double mill_log1p(double x)
{
  int32_t k;
  double u = 1.0 + x;
  double c = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  double m = mill_log_split(u, &k);
  double y = k == 0 ? mill_log_parts(0.0, x, 0.0) : mill_log_parts((double)k, m - 1.0, c / u);
  y = x == mill_infinity() || x == 0 ? x : y;
  y = x == -1.0 ? -mill_infinity() : y;
  return x >= -1.0 ? y : mill_nan();
}

/* log(x) as a pair, for a positive, finite, normal x: relative error about 2^-64. */
MILL_FN struct mill_pair mill_log_pair(double x)
{
  int32_t k;
  double f = mill_log_split(x, &k) - 1.0;
  struct mill_pair one, s, w, sum, r;
  one.hi = f;
  one.lo = 0;
  s = mill_pair_quotient(one, mill_fast_sum(2.0, f));
  struct mill_pair z = mill_pair_product(s, s);
  double p = 0x1.daa559ed8cce9p-4;
  p = p * z.hi + 0x1.e01971bc08f3ap-4;
  p = p * z.hi + 0x1.111551154f755p-3;
  p = p * z.hi + 0x1.3b13a9cbb9294p-3;
  p = p * z.hi + 0x1.745d173ce41bap-3;
  p = p * z.hi + 0x1.c71c71c74c77ap-3;
  p = p * z.hi + 0x1.24924924922fep-2;
  p = p * z.hi + 0x1.999999999999ap-2;
  w = mill_fast_sum(0x1.5555555555555p-1, p * z.hi);
  w.lo += 0x1.5555555555555p-55;
  r = mill_pair_product(s, mill_pair_product(z, w));
  s.hi *= 2.0;
  s.lo *= 2.0;
  sum = mill_pair_sum(s, r);
  r = mill_fast_sum((double)k * 0x1.62e42fefa2p-1, sum.hi);
  return mill_fast_sum(r.hi, r.lo + ((double)k * 0x1.9ef35793c7673p-41 + sum.lo));
}

/* 0 when y is no integer, 1 when it is an odd one, 2 when it is even. */
MILL_FN int32_t mill_parity(double y)
{
  double a = y < 0 ? -y : y;
  if (!(a < 0x1p53))
    return 2;
  uint64_t n = (uint64_t)a;
  return (double)n != a ? 0 : n & 1 ? 1 : 2;
}

/* What pow gives for arguments that are zero, infinite or NaN, as C11 annex F says; returns 0 when there is nothing special. `size`
   is |x|. */
MILL_FN int32_t mill_pow_special(double x, double y, double size, int32_t parity, double *result)
{
  const double infinity = mill_infinity();
  int32_t grows;
  if (x == 1.0 || y == 0)
    *result = 1.0;
  else if (x != x || y != y)
    *result = mill_nan();
  else if (y == infinity || y == -infinity) {
    grows = (size > 1.0) == (y > 0);
    *result = size == 1.0 ? 1.0 : grows ? infinity : 0.0;
  } else if (size == 0 || size == infinity) {
    grows = (size > 0) == (y > 0);
    *result = grows ? infinity : 0.0;
    if (parity == 1 && mill_bits(x) >> 63)
      *result = -*result;
  } else if (x < 0 && parity == 0)
    *result = mill_nan();
  else
    return 0;
  return 1;
}

/* x to the power y; error below 0.8. Special cases as C11 annex F. */
MILL_FN double mill_pow(double x, double y)
{
  double size = x < 0 ? -x : x, special;
  int32_t parity = mill_parity(y);
  if (mill_pow_special(x, y, size, parity, &special))
    return special;
  struct mill_pair l, p;
  if (size < 0x1p-1022) {
    l = mill_log_pair(size * 0x1p54);
    l = mill_pair_sum(l, mill_product(-54.0, 0x1.62e42fefa39efp-1));
    l.lo += -54.0 * 0x1.abc9e3b39803fp-56;
  } else
    l = mill_log_pair(size);
  y = mill_clamp(y, -0x1p65, 0x1p65); /* |log x| ≥ 2^-53: beyond this every power overflows or vanishes */
  p = mill_product(y, l.hi);
  p = mill_fast_sum(p.hi, p.lo + y * l.lo);
  if (!(p.hi >= -746.0 && p.hi <= 710.0)) {
    p.hi = mill_clamp(p.hi, -746.0, 710.0);
    p.lo = 0;
  }
  double r = mill_exp_pair(p);
  return x < 0 && parity == 1 ? -r : r;
}

/* ---- Single precision ------------------------------------------------------------------------------------------------- */

/* e^x; error below 0.8. */
MILL_FN float mill_expf(float x)
{
  x = mill_clampf(x, -105.0f, 89.0f);
  float t = x * 0x1.715476p0f + 0x1.8p23f;
  float k = t - 0x1.8p23f;
  float hi = x - k * 0x1.62ep-1f, lo = k * 0x1.0bfbe8p-15f, r = hi - lo;
  float p = 0x1.a2d998p-13f;
  p = p * r + 0x1.6d2e08p-10f;
  p = p * r + 0x1.110fc2p-7f;
  p = p * r + 0x1.555502p-5f;
  p = p * r + 0x1.555556p-3f;
  p = p * r + 0.5f;
  float sum = 1.0f + hi, error = hi - (sum - 1.0f);
  return mill_scalef(sum + (error + (r * r * p - lo)), (int32_t)(mill_bitsf(t) - 0x4b400000u));
}

/* Natural logarithm; error below 0.95. */
MILL_FN float mill_logf(float x)
{
  const uint32_t root = 0x3f3504f3u; /* √½ */
  int32_t tiny = x < 0x1p-126f;
  uint32_t bits = mill_bitsf(tiny ? x * 0x1p25f : x) - root + ((uint32_t)128 << 23);
  float k = (float)((int32_t)(bits >> 23) - (tiny ? 153 : 128));
  float f = mill_from_bitsf((bits & 0x7fffffu) + root) - 1.0f;
  float s = f / (2.0f + f), z = s * s, h = 0.5f * f * f;
  float p = 0x1.ce848ep-3f;
  p = p * z + 0x1.24c14p-2f;
  p = p * z + 0x1.99986ep-2f;
  p = p * z + 0x1.555556p-1f;
  float rest = h - s * (h + p * z);
  float whole = k * 0x1.62ep-1f, sum = whole + f, error = f - (sum - whole);
  float y = sum + (error + (k * 0x1.0bfbe8p-15f - rest));
  y = x == (float)mill_infinity() ? x : y;
  y = x == 0 ? -(float)mill_infinity() : y;
  return x >= 0 ? y : (float)mill_nan();
}

/* In double and rounded: error below 0.51. */
MILL_FN float mill_expm1f(float x)
{
  return (float)mill_expm1((double)x);
}

MILL_FN float mill_log1pf(float x)
{
  return (float)mill_log1p((double)x);
}

MILL_FN float mill_powf(float x, float y)
{
  double wide = (double)x, size = wide < 0 ? -wide : wide, special;
  int32_t parity = mill_parity((double)y);
  if (mill_pow_special(wide, (double)y, size, parity, &special))
    return (float)special;
  double r = mill_exp((double)y * mill_log(size));
  return (float)(wide < 0 && parity == 1 ? -r : r);
}

#endif
