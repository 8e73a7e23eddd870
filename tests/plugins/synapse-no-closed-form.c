/* A rule whose traces age in a loop and not by a closed form: z - z²/50 - z/100 a step. */
#define MILL_PRE(T) T(x, none, 0, "spikes of the source")
#define MILL_POST(T) T(y, none, 0, "spikes of the target")
#define MILL_PARAMS(P) P(w_max, "", 6, 1e-30, 1e30, "largest weight")
#define MILL_OWN_AGEING
#define MILL_PLUGIN_LICENCE "MIT"
#include <spikemill/synapse.h>

static inline mill_real mill_age(mill_real z, const struct mill_rule *p)
{
  (void)p;
  return z - z * z * MILL_R(0.02) - z * MILL_R(0.01);
}

static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered)
{
  *least = 0;
  *most = *delivered = v->w_max;
}

static void mill_on_post(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  mill_real w = s->w + (p->w_max - s->w) * x->x * MILL_R(0.03);
  (void)y, (void)n;
  s->w = w < p->w_max ? w : p->w_max;
}

static mill_real mill_on_pre(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  mill_real w = s->w - s->w * y->y * MILL_R(0.04);
  (void)x, (void)p, (void)n;
  s->w = w > 0 ? w : 0;
  return s->w;
}

static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p)
{
  (void)p;
  x->x += MILL_R(0.5);
}

static void mill_post_up(struct mill_post *y, const struct mill_rule *p)
{
  (void)p;
  y->y += MILL_R(0.5);
}

MILL_SYNAPSE_RULE("no-closed-form", "traces that age in a loop");
