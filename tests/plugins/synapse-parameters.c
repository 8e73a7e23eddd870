/* The default lies outside of the range. */
#define NAME "parameters"
#define PARAMS {"tau", "ms", "2000", 0, "time constant", 0.1, 100, 0, MILL_REAL, 0}
#include "broken.h"
