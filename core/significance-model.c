/* Counts under a null of weak links; the header has the formulas. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "significance-model.h"

#include <string.h>
#include <spikemill/device.h>

#define EVEN 1e-11 /* relative difference of growths that count as one, */
#define CLOSE 1e-9 /* of guesses that do */
#define TRIES 100
#define PATIENCE (UINT64_C(1) << 20) /* bins between two questions whether to stop */

double mill_model_chance(double rate, double time)
{
  return -mill_expm1(-rate * time);
}

/* The least and the largest of some numbers. */
struct range {
  double least, most;
};
static const struct range nothing = {1e300, -1e300};

static void widen(struct range *range, double x)
{
  range->least = x < range->least ? x : range->least;
  range->most = x > range->most ? x : range->most;
}

static int is_even(struct range range)
{
  return range.most - range.least <= EVEN * range.most;
}

static int stopped(const struct mill_model *model)
{
  return model->stop && model->stop(model->self);
}

struct mill_moments mill_model_moments(const struct mill_model *model, double p, double *ring)
{
  const uint64_t bins = model->bins, span = model->span;
  double *means = ring, *variances = ring + span; /* of bin n at n % span, for the last span of them */
  struct mill_moments now = {0, 0};
  if (span > bins)
    return now;
  memset(ring, 0, 2 * span * sizeof *ring);
  for (uint64_t n = span; n <= bins;) {
    struct range growth[2] = {nothing, nothing};
    uint64_t i = 0;
    for (; i < span && n <= bins; i++, n++) {
      if (n % PATIENCE == 0 && stopped(model))
        return now;
      const double gain = 1 + means[i] - now.mean;
      const double more = p * (variances[i] - now.variance + (1 - p) * gain * gain);
      widen(&growth[0], p * gain);
      widen(&growth[1], more);
      means[i] = now.mean += p * gain;
      variances[i] = now.variance += more;
    }
    if (i == span && is_even(growth[0]) && is_even(growth[1])) {
      const double left = (double)(bins + 1 - n);
      now.mean += left * growth[0].most;
      now.variance += left * growth[1].most;
      break;
    }
  }
  return now;
}

double mill_model_threshold(struct mill_moments moments, double level)
{
  return moments.mean + mill_sqrt(moments.variance / level);
}

double mill_model_p(struct mill_moments moments, uint64_t count)
{
  const double above = (double)count - moments.mean, p = moments.variance / (above * above);
  return above > 0 && moments.variance > 0 && p < 1 ? p : 1;
}

/* The p that makes F the count, in (0, most). The next guess is right when F is the straight line L / (span + (1-p) / p), which it
   nearly is, times what it was at the guess before; where that leaves the bounds they are halved. */
static double solve(const struct mill_model *model, double most, double count, double *ring)
{
  double low = 0, high = most, p = most / 2, step = most;
  for (int i = 0; i < TRIES && step > CLOSE * p; i++) {
    const double mean = mill_model_moments(model, p, ring).mean;
    const double cycle = ((double)model->span + (1 - p) / p) * mean / count;
    double next = 1 / (cycle - (double)model->span + 1);
    *(mean < count ? &low : &high) = p;
    if (!(next > low && next < high))
      next = low + (high - low) / 2;
    step = next > p ? next - p : p - next;
    p = next;
    if (stopped(model))
      break;
  }
  return p;
}

double mill_model_strength(const struct mill_model *model, uint64_t count, double *ring)
{
  if (mill_model_moments(model, model->start, ring).mean <= (double)count)
    return 1;
  return mill_pow(solve(model, model->start, (double)count, ring) / model->start, 1.0 / model->links);
}
