/* A counter of upper bounds whose bounds are others with several threads: `spikemill compare` must notice (tests/compare.test). */
#define NAME "unsteady"
#define EXACT 0
#define MISSED(in) (-(int)((in)->workers > 1))
#include "counter-miscount.c"
