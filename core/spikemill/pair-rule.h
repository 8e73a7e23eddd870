/* What the pair-based rules share (Morrison, Diesmann & Gerstner 2008, eq. 6 and 7; Gütig et al. 2003; NEST's stdp_synapse): a spike of the
   source depresses by the trace of the target, one of the target potentiates by the trace of the source. mu = 0 is additive with hard
   bounds, mu = 1 multiplicative with soft ones. They differ in how a spike raises its trace. Read twice, like the file that includes it. */
#define MILL_PARAMS(P)                                                                                                             \
  P(lambda, "", 0.01, 0, 1, "step of potentiation, in units of w_max")                                                             \
  P(alpha, "", 1, 0, 1e3, "depression relative to potentiation")                                                                   \
  P(tau_plus, "ms", 20, 1e-3, 1e5, "time constant of potentiation")                                                                \
  P(tau_minus, "ms", 20, 1e-3, 1e5, "time constant of depression")                                                                 \
  P(mu_plus, "", 0, 0, 10, "weight dependence of potentiation: (1 - w/w_max)^mu_plus")                                             \
  P(mu_minus, "", 0, 0, 10, "weight dependence of depression: (w/w_max)^mu_minus")                                                 \
  P(w_max, "", 100, 1e-30, 1e30, "largest weight, in units of the weight")
#define MILL_DECAYS(D)                                                                                                             \
  D(plus, -dt / v->tau_plus)                                                                                                       \
  D(minus, -dt / v->tau_minus)
#define MILL_PRE(T) T(x, plus, 0, "spikes of the source")
#define MILL_POST(T) T(y, minus, 0, "spikes of the target")
#define MILL_DERIVED(D)                                                                                                            \
  D(real, per_w_max, "1 / w_max")                                                                                                  \
  D(real, up, "lambda · w_max")                                                                                                    \
  D(real, down, "lambda · alpha · w_max")
#include <spikemill/synapse.h>

static const char *mill_derive(struct mill_rule *p, const struct mill_values *v, double dt)
{
  (void)dt;
  p->per_w_max = (mill_real)(1 / v->w_max);
  p->up = (mill_real)(v->lambda * v->w_max);
  p->down = (mill_real)(v->lambda * v->alpha * v->w_max);
  return 0;
}

static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered)
{
  *least = 0;
  *most = *delivered = v->w_max;
}

/* z^mu for z in [0, 1], up to rounding. */
#define power MILL_LOCAL(power)
static inline mill_real power(mill_real z, mill_real mu)
{
  return !(mu > 0) ? 1 : !(z > 0) ? 0 : !(mu < 1) && !(mu > 1) ? z : MILL_POW(z, mu);
}

/* A trace of 0 leaves the weight as it is, to the bit. */
static void mill_on_post(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p,
                         int64_t n)
{
  const mill_real w = s->w + p->up * power(1 - s->w * p->per_w_max, p->mu_plus) * x->x;
  (void)y, (void)n;
  s->w = w < p->w_max ? w : p->w_max;
}

static mill_real mill_on_pre(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p,
                             int64_t n)
{
  const mill_real w = s->w - p->down * power(s->w * p->per_w_max, p->mu_minus) * y->y;
  (void)x, (void)n;
  s->w = w > 0 ? w : 0;
  return s->w;
}
