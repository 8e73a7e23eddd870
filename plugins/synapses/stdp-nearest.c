/* Pair-based spike-timing dependent plasticity, nearest symmetric (Morrison et al. 2008, figure 7A): a spike sets its trace, so that each
   pairs with the last one of the other side only. */
#include <spikemill/pair-rule.h>

static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p)
{
  (void)p;
  x->x = 1;
}

static void mill_post_up(struct mill_post *y, const struct mill_rule *p)
{
  (void)p;
  y->y = 1;
}

MILL_SYNAPSE_RULE("stdp-nearest", "spike-timing dependent, nearest pairs");
