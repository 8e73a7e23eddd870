/* The symbol is a function. */
#include <spikemill/plugin.h>

MILL_EXPORT int spikemill_plugin(void);
int spikemill_plugin(void)
{
  return 0;
}
