/* What is drawn for a synapse and how it becomes whole numbers, in the one text that host and devices have of it (core/value.h and core/weights.h
   say what for). */
#ifndef MILL_DISTRIBUTION_H
#define MILL_DISTRIBUTION_H

#include <spikemill/device.h>

enum mill_dist_kind {
  MILL_DIST_NUMBER,           /* a */
  MILL_DIST_UNIFORM,          /* uniform(a, b): a ≤ x < b */
  MILL_DIST_NORMAL,           /* normal(mean a, sd b) */
  MILL_DIST_NORMAL_CLIPPED,   /* normal-clipped(a, b, lo, hi) */
  MILL_DIST_NORMAL_TRUNCATED, /* normal-truncated(a, b, lo, hi): redraws */
  MILL_DIST_LOGNORMAL,        /* lognormal(a, b): exp of normal(a, b) */
  MILL_DIST_FILE              /* file.csv: one value a line */
};

#define MILL_REDRAW_MAX 100000u              /* at 1e-3 of the probability, never reached: 0.999^100000 is 4e-44 */
#define MILL_REDRAW_STEP 0x9e3779b97f4a7c15u /* odd, so that the keys of all redraws differ */
#define MILL_DELAY_STEPS_MAX 65535u

/* The parameters of a kind; 0 those that it has not. */
struct mill_distribution {
  int32_t kind, reserved;
  double a, b, lo, hi;
};

MILL_FN double mill_distribution_normal(const struct mill_distribution *d, uint64_t key, uint64_t a, uint64_t b)
{
  double z = d->b * mill_normal(mill_random(key, a, b));
  return d->a + z;
}

/* The largest number below x, which is finite. */
MILL_FN double mill_number_below(double x)
{
  uint64_t bits = mill_bits(x);
  if (x == 0)
    return mill_from_bits((uint64_t)1 << 63 | 1);
  return mill_from_bits(x > 0 ? bits - 1 : bits + 1);
}

/* As mill_dist_draw. */
MILL_FN double mill_distribution_draw(const struct mill_distribution *d, uint64_t key, uint64_t a, uint64_t b, uint64_t *redraws,
                                      uint64_t *clips)
{
  double x, width;
  uint64_t r;
  switch (d->kind) {
  case MILL_DIST_UNIFORM:
    width = d->b - d->a;
    x = width * mill_uniform(mill_random(key, a, b));
    x = d->a + x;
    return x < d->b || !(width > 0) ? x : mill_number_below(d->b);
  case MILL_DIST_NORMAL:
    return mill_distribution_normal(d, key, a, b);
  case MILL_DIST_NORMAL_CLIPPED:
    x = mill_distribution_normal(d, key, a, b);
    *clips += x < d->lo || x > d->hi;
    return mill_clamp(x, d->lo, d->hi);
  case MILL_DIST_NORMAL_TRUNCATED:
    x = d->a;
    for (r = 0; r < MILL_REDRAW_MAX; r++) {
      x = mill_distribution_normal(d, key + r * MILL_REDRAW_STEP, a, b);
      if (x >= d->lo && x <= d->hi)
        break;
      ++*redraws;
    }
    return mill_clamp(x, d->lo, d->hi);
  case MILL_DIST_LOGNORMAL:
    return mill_exp(mill_distribution_normal(d, key, a, b));
  default:
    return d->a;
  }
}

/* ---- Delays ------------------------------------------------------------------------------------------------------------- */

/* ms as picoseconds; -1 when it is negative, no number, or longer than any that could be used. */
MILL_FN int64_t mill_picoseconds(double ms)
{
  return ms >= 0 && ms < 9e9 ? (int64_t)(ms * 1e9 + 0.5) : -1;
}

/* Steps of a delay, rounded half up; 0 when it cannot be had: below half a step, or above MILL_DELAY_STEPS_MAX. */
MILL_FN uint32_t mill_steps_of(int64_t ps, int64_t dt_ps)
{
  uint64_t steps, rest;
  if (ps <= 0)
    return 0;
  steps = (uint64_t)ps / (uint64_t)dt_ps;
  rest = (uint64_t)ps % (uint64_t)dt_ps;
  steps += rest >= (uint64_t)dt_ps - rest;
  return steps > MILL_DELAY_STEPS_MAX ? 0 : (uint32_t)steps;
}

/* ---- Weights as whole numbers --------------------------------------------------------------------------------------------- */

/* x · 2^k for |k| ≤ 2044: exact where the product is a normal number. */
MILL_FN double mill_times_power(double x, int32_t k)
{
  int32_t half = k / 2;
  return x * mill_power_of_two(half) * mill_power_of_two(k - half);
}

/* |weight| in units of 2^-k, rounded up; below 2^63. */
MILL_FN uint64_t mill_weight_units(double weight, int32_t k)
{
  double x = mill_times_power(weight < 0 ? -weight : weight, k);
  uint64_t whole = (uint64_t)x;
  return whole + ((double)whole < x);
}

/* A weight in quanta of 2^-k, to nearest even, within ±(2^31 - 1). */
MILL_FN int32_t mill_weight_quanta(double weight, int32_t k)
{
  return mill_round_int(mill_clamp(mill_times_power(weight, k), -2147483647.0, 2147483647.0));
}

#endif
