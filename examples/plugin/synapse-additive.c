#define MILL_PARAMS(P) P(tau, "ms", 20, 1e-3, 1e5, "time constant of both traces") P(a, "mV", 0.01, 0, 10, "step") \
  P(w_max, "mV", 1, 1e-6, 1e3, "largest weight")
#define MILL_DECAYS(D) D(fade, -dt / v->tau)
#define MILL_PRE(T) T(x, fade, 0, "spikes of the source")
#define MILL_POST(T) T(y, fade, 0, "spikes of the target")
#include <spikemill/synapse.h>
static void mill_on_post(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  mill_real w = s->w + p->a * x->x;
  s->w = w < p->w_max ? w : p->w_max;
}
static mill_real mill_on_pre(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  mill_real w = s->w - p->a * y->y;
  s->w = w > 0 ? w : 0;
  return s->w; /* is delivered */
}
static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p) { x->x += 1; }
static void mill_post_up(struct mill_post *y, const struct mill_rule *p) { y->y += 1; }
static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered)
{
  *least = 0;
  *most = *delivered = v->w_max;
}
MILL_SYNAPSE_RULE("additive", "spike-timing dependent: a fixed step for each pair, between 0 and w_max");
