/* Naive plasticity: every plastic synapse is updated in every step. With static synapses only there is nothing to update. */
#include <stdio.h>

#include <spikemill/plasticity.h>

static int applicable(const struct mill_network *network, uint32_t plastic, char *why, size_t size)
{
  (void)network;
  if (plastic == 0)
    return 1;
  snprintf(why, size, "%u projections have a plastic rule, this version updates static ones only", plastic);
  return 0;
}

static const struct mill_plasticity_ops ops = {applicable};
MILL_PLUGIN(MILL_PLASTICITY, MILL_CPU | MILL_EXACT, "naive", "every plastic synapse in every step", 0, NULL, 0, ops);
