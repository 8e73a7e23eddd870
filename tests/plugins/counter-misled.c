/* A counter that is wrong in surrogates alone, where every count is asked for: `spikemill compare` must notice (tests/compare.test). */
#define NAME "misled"
#define EXACT MILL_EXACT
#define MISSED(in) ((in)->threshold == 1)
#include "counter-miscount.c"
