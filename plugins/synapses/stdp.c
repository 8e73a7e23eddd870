/* Pair-based spike-timing dependent plasticity, all pairs: a spike adds to its trace, so that it pairs with every one of the other side. */
#include <spikemill/pair-rule.h>

static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p)
{
  (void)p;
  x->x += 1;
}

static void mill_post_up(struct mill_post *y, const struct mill_rule *p)
{
  (void)p;
  y->y += 1;
}

MILL_SYNAPSE_RULE("stdp", "spike-timing dependent, all pairs");
