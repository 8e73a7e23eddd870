/* Short-term plasticity (Tsodyks & Markram 1997; Tsodyks, Uziel & Markram 2000 in the form of Maass & Markram 2002; NEST's
   tsodyks2_synapse): each spike takes the share u of what is left, R, and both recover until the next. It depends on the source alone;
   the weight itself never changes. */
#define MILL_PARAMS(P)                                                                                                           \
  P(u, "", 0.5, 0, 1, "share taken by a spike at rest, and added by one to what facilitation left")                              \
  P(tau_rec, "ms", 800, 1e-3, 1e5, "recovery from depression")                                                                   \
  P(tau_fac, "ms", 10, 1e-3, 1e5, "decay of facilitation")
#define MILL_DECAYS(D)                                                                                                           \
  D(rec, -dt / v->tau_rec)                                                                                                       \
  D(fac, -dt / v->tau_fac)
#define MILL_SYN(S)                                                                                                              \
  S(u, "", 0, "share that the last spike took")                                                                                  \
  S(r, "", 1, "share that was there for it")
#include <spikemill/synapse.h>

static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered)
{
  (void)v;
  *least = -MILL_UNBOUNDED;
  *most = MILL_UNBOUNDED;
  *delivered = MILL_INITIAL_WEIGHT;
}

static void mill_on_post(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  (void)s, (void)x, (void)y, (void)p, (void)n;
}

static mill_real mill_on_pre(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  (void)x, (void)y;
  if (n < 0) {
    s->u = p->u;
    s->r = 1;
  } else {
    s->r = 1 + (s->r - s->r * s->u - 1) * MILL_DECAY(p, rec, n);
    s->u = p->u + s->u * (1 - p->u) * MILL_DECAY(p, fac, n);
  }
  return s->u * s->r * s->w;
}

static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p)
{
  (void)x, (void)p;
}

static void mill_post_up(struct mill_post *y, const struct mill_rule *p)
{
  (void)y, (void)p;
}

MILL_SYNAPSE_RULE("stp", "short-term depression and facilitation");
