/* A kind that this version does not serve. */
#define NAME "any"
#define KIND MILL_COUNTER
#include "broken.h"
