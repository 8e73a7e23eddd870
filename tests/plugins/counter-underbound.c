/* The counter that misses an occurrence, as one of upper bounds: `spikemill compare` must notice that it is none (tests/compare.test). */
#define NAME "underbound"
#define EXACT 0
#include "counter-miscount.c"
