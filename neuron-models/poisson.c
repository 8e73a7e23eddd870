/* Poisson source neuron: fires with probability rate·dt in every step, at most once. Instead of a draw a step it draws the number of
   silent steps before the next spike, which is geometric; the draw is a function of (seed, neuron, step of the last spike), so that a
   run may be cut anywhere. */
#define MILL_PARAMS(P) P(rate, "Hz", 20, 0, 1e9, "mean rate")
#define MILL_STATE(S) S(long, next, "step", -1, "step of the next spike; -1 before the first draw")
#define MILL_DERIVED(D)                                                                                                          \
  D(double, probability, "of a spike in a step")                                                                                 \
  D(double, per_log, "1 / log(1 - probability)")
#include <spikemill/neuron.h>

static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt)
{
  p->probability = v->rate * dt / 1000;
  if (p->probability > 1)
    return "rate: is above one spike a step";
  p->per_log = p->probability > 0 && p->probability < 1 ? 1 / mill_log1p(-p->probability) : 0;
  return 0;
}

/* Silent steps before the next spike; floor(log u / log(1 - p)), at most 2^62. */
#undef silence
#define silence MILL_LOCAL(silence)
static inline int64_t silence(const struct mill_param *p, const struct mill_input *in, uint64_t draw)
{
  double gap;
  if (p->probability <= 0)
    return (int64_t)1 << 62;
  gap = mill_log(mill_uniform(mill_random(in->key, in->id, draw))) * p->per_log;
  return gap < 4.6e18 ? (int64_t)gap : (int64_t)1 << 62;
}

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  if (in->step < s->next)
    return 0;
  if (in->step > s->next)
    s->next = in->step + silence(p, in, 2 * (uint64_t)in->step);
  if (in->step < s->next)
    return 0;
  s->next = in->step + 1 + silence(p, in, 2 * (uint64_t)in->step + 1);
  return 1;
}

MILL_NEURON_MODEL("poisson", "Poisson source, at most one spike a step");
