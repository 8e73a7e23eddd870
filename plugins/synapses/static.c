/* Static synapses: the weight never changes. */
#include <spikemill/synapse.h>

#ifndef MILL_PLUGIN_VERSION
#define MILL_PLUGIN_VERSION "1.0"
#endif
static const struct mill_synapse_ops ops = {0, 0};
extern MILL_EXPORT const struct mill_plugin spikemill_plugin;
const struct mill_plugin spikemill_plugin = {MILL_PLUGIN_HEAD(MILL_SYNAPSE),
                                             MILL_CPU | MILL_CUDA | MILL_EXACT,
                                             sizeof ops,
                                             0,
                                             0,
                                             "static",
                                             MILL_PLUGIN_VERSION,
                                             "constant weight",
                                             "MIT",
                                             NULL,
                                             &ops,
                                             NULL,
                                             NULL};
