/* Triplet rule (Pfister & Gerstner 2006, eq. 2 to 4, all to all; NEST's stdp_triplet_synapse): a pair's effect grows with how active its
   own side was before. Hard bounds 0 and w_max; the amplitudes are in units of the weight. */
#define MILL_PARAMS(P)                                                                                                           \
  P(tau_plus, "ms", 16.8, 1e-3, 1e5, "fast trace of the source")                                                                 \
  P(tau_plus_triplet, "ms", 101, 1e-3, 1e5, "slow trace of the source")                                                          \
  P(tau_minus, "ms", 33.7, 1e-3, 1e5, "fast trace of the target")                                                                \
  P(tau_minus_triplet, "ms", 125, 1e-3, 1e5, "slow trace of the target")                                                         \
  P(a_plus, "", 5e-10, 0, 1e30, "potentiation by pairs")                                                                         \
  P(a_plus_triplet, "", 6.2e-3, 0, 1e30, "potentiation by triplets")                                                             \
  P(a_minus, "", 7e-3, 0, 1e30, "depression by pairs")                                                                           \
  P(a_minus_triplet, "", 2.3e-4, 0, 1e30, "depression by triplets")                                                              \
  P(w_max, "", 100, 1e-30, 1e30, "largest weight, in units of the weight")
#define MILL_DECAYS(D)                                                                                                           \
  D(plus, -dt / v->tau_plus)                                                                                                     \
  D(plus_triplet, -dt / v->tau_plus_triplet)                                                                                     \
  D(minus, -dt / v->tau_minus)                                                                                                   \
  D(minus_triplet, -dt / v->tau_minus_triplet)
#define MILL_PRE(T)                                                                                                              \
  T(r1, plus, 0, "spikes of the source, fast")                                                                                   \
  T(r2, plus_triplet, 0, "spikes of the source, slow")
#define MILL_POST(T)                                                                                                             \
  T(o1, minus, 0, "spikes of the target, fast")                                                                                  \
  T(o2, minus_triplet, 0, "spikes of the target, slow")
#include <spikemill/synapse.h>

static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered)
{
  *least = 0;
  *most = *delivered = v->w_max;
}

static void mill_on_post(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  mill_real w = s->w + x->r1 * (p->a_plus + p->a_plus_triplet * y->o2);
  (void)n;
  s->w = w < p->w_max ? w : p->w_max;
}

static mill_real mill_on_pre(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  mill_real w = s->w - y->o1 * (p->a_minus + p->a_minus_triplet * x->r2);
  (void)n;
  s->w = w > 0 ? w : 0;
  return s->w;
}

static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p)
{
  (void)p;
  x->r1 += 1;
  x->r2 += 1;
}

static void mill_post_up(struct mill_post *y, const struct mill_rule *p)
{
  (void)p;
  y->o1 += 1;
  y->o2 += 1;
}

MILL_SYNAPSE_RULE("stdp-triplet", "spike-timing dependent, triplets");
