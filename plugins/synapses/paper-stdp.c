/* The benchmark rule of Spice (Bautembach et al. 2021), as its authors' program computes it, for comparing times and not for science:
   weights in volts between 0 and 0.3 mV, traces that lose dt/tau of themselves in a step and start at 1, and exponentials of the traces
   over dt in seconds, so that it acts only when a partner has been silent for long. Delivered is scale times the weight. */
#define MILL_PARAMS(P)                                                                                                           \
  P(tau, "ms", 20, 1e-3, 1e5, "of both traces; a step leaves 1 - dt/tau")                                                        \
  P(scale, "", 1000, -1e30, 1e30, "what a spike delivers in units of the receptor, over the weight in V")
#define MILL_DECAYS(D) D(z, mill_log(1 - dt / v->tau))
#define MILL_PRE(T) T(z, z, 1, "spikes of the source")
#define MILL_POST(T) T(z, z, 1, "spikes of the target")
#define MILL_DERIVED(D) D(real, per_second, "1 / dt, in 1/s")
#define MILL_ON_BOTH
#include <spikemill/synapse.h>

static const char *mill_derive(struct mill_rule *p, const struct mill_values *v, double dt)
{
  if (!(v->tau > dt))
    return "tau: must be longer than a time step";
  p->per_second = (mill_real)(1000 / dt);
  return 0;
}

static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered)
{
  *least = 0;
  *most = 3e-4;
  *delivered = 3e-4 * (v->scale < 0 ? -v->scale : v->scale);
}

#define clamp MILL_LOCAL(clamp)
static inline mill_real clamp(mill_real w)
{
  return w < 0 ? 0 : w < MILL_R(3e-4) ? w : MILL_R(3e-4);
}

static void mill_on_post(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  (void)y, (void)n;
  s->w = clamp(s->w + MILL_R(0.01) * (1 - s->w) * MILL_EXP(-x->z * p->per_second));
}

static mill_real mill_on_pre(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  (void)x, (void)n;
  s->w = clamp(s->w - MILL_R(0.0202) * s->w * MILL_EXP(-y->z * p->per_second));
  return s->w * p->scale;
}

static mill_real mill_on_both(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  (void)x, (void)y, (void)n;
  return s->w * p->scale;
}

static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p)
{
  (void)p;
  x->z += 1;
}

static void mill_post_up(struct mill_post *y, const struct mill_rule *p)
{
  (void)p;
  y->z += 1;
}

MILL_SYNAPSE_RULE("paper-stdp", "the benchmark rule of Spice 2021");
