/* The symbol is smaller than the part of a descriptor that never changes. */
#include <spikemill/plugin.h>

MILL_EXPORT extern const uint32_t spikemill_plugin;
const uint32_t spikemill_plugin = MILL_PLUGIN_MAGIC;
