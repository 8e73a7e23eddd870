/* A shared object that is no plugin. */
#include <spikemill/plugin.h>

MILL_EXPORT extern const int not_a_plugin;
const int not_a_plugin = 1;
