/* A rule that delivers more than it declares (tests/rule-values.c). */
#include <spikemill/synapse.h>

static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered)
{
  (void)v;
  *least = 0;
  *most = 10;
  *delivered = 1;
}

static void mill_on_post(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  (void)s, (void)x, (void)y, (void)p, (void)n;
}

static mill_real mill_on_pre(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  (void)x, (void)y, (void)p, (void)n;
  return s->w;
}

static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p)
{
  (void)x, (void)p;
}

static void mill_post_up(struct mill_post *y, const struct mill_rule *p)
{
  (void)y, (void)p;
}

MILL_SYNAPSE_RULE("beyond", "a test: delivers its weight, and declares 1");
