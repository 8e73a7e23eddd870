/* Synapse rules. A rule without state is static: its weight never changes and every delivery strategy may apply it itself. */
#ifndef SPIKEMILL_SYNAPSE_H
#define SPIKEMILL_SYNAPSE_H

#include <spikemill/network.h>
#include <spikemill/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mill_synapse_ops {
  uint32_t plastic;    /* 0: weights are constant and no member after `reserved` is read */
  uint32_t reserved;
};

#ifdef __cplusplus
}
#endif
#endif
