/* Static synapses: the weight never changes. */
#include <spikemill/synapse-ops.h>

static const struct mill_synapse_ops ops = {.plastic = 0};
MILL_PLUGIN(MILL_SYNAPSE, MILL_CPU | MILL_CUDA | MILL_EXACT, "static", "constant weight", 0, NULL, 0, ops);
