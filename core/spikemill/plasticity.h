/* Plasticity strategies: when synapse updates run (Spice 2021, section 4). */
#ifndef SPIKEMILL_PLASTICITY_H
#define SPIKEMILL_PLASTICITY_H

#include <spikemill/network.h>
#include <spikemill/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mill_plasticity_ops {
  /* 1 when the strategy can serve the network; else 0 and a reason in why[size]. A network whose rules are all static has nothing
     to update and is served by every strategy. `plastic` is the number of projections with a plastic rule. */
  int (*applicable)(const struct mill_network *network, uint32_t plastic, char *why, size_t size);
};

#ifdef __cplusplus
}
#endif
#endif
