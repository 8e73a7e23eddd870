/* The ops table lacks its only member. */
#include <spikemill/plasticity.h>
#define NAME "no-member"
#define KIND MILL_PLASTICITY
#define OPS_TABLE static const struct mill_plasticity_ops ops = {0}
#include "broken.h"
