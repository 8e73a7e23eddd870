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

#ifndef MILL_PLUGIN_VERSION
#define MILL_PLUGIN_VERSION "1.0"
#endif
static const struct mill_plasticity_ops ops = {applicable};
extern MILL_EXPORT const struct mill_plugin spikemill_plugin;
const struct mill_plugin spikemill_plugin = {MILL_PLUGIN_HEAD(MILL_PLASTICITY),
                                             MILL_CPU | MILL_EXACT,
                                             sizeof ops,
                                             0,
                                             0,
                                             "naive",
                                             MILL_PLUGIN_VERSION,
                                             "every plastic synapse in every step",
                                             "MIT",
                                             NULL,
                                             &ops,
                                             NULL,
                                             NULL};
