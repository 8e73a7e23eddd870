/* Delivery strategies: how spikes reach their targets (Spice 2021, section 3). */
#ifndef SPIKEMILL_DELIVERY_H
#define SPIKEMILL_DELIVERY_H

#include <spikemill/network.h>
#include <spikemill/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mill_delivery_ops {
  /* 1 when the strategy can serve the network; else 0 and a reason in why[size]. */
  int (*applicable)(const struct mill_network *network, char *why, size_t size);

  /* Neurons per slice of a population of `size` neurons when `threads` workers share it; the core rounds up to 64. */
  uint32_t (*slice_width)(uint32_t size, uint32_t threads);

  /* Builds what the strategy needs into *self (NULL is allowed), after the network was cut into slices of that width. The network stays
     valid until `release`. Returns 0 or -1. */
  int (*prepare)(const struct mill_host *host, const void *params, const struct mill_network *network, void **self,
                 struct mill_error *error);

  /* Adds the epoch's spikes to the rings of the neurons of network->slice[slice], and only theirs. Called by several workers at once,
     each with a slice of its own, after the epoch was simulated and before the next one starts for that slice. Returns the number of synaptic
     events. */
  uint64_t (*deliver)(void *self, const struct mill_epoch *epoch, uint32_t slice);

  void (*release)(const struct mill_host *host, void *self);
};

#ifdef __cplusplus
}
#endif
#endif
