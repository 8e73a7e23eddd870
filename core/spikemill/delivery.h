/* Delivery strategies: how spikes reach their targets (Spice 2021, section 3). */
#ifndef SPIKEMILL_DELIVERY_H
#define SPIKEMILL_DELIVERY_H

#include <spikemill/network.h>
#include <spikemill/plasticity.h>
#include <spikemill/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mill_delivery_ops {
  /* 1 when the strategy can serve the network; else 0 and a reason in why[size]. */
  int (*applicable)(const struct mill_network *network, char *why, size_t size);

  /* Neurons per slice of a population of `size` neurons when `threads` workers share it; the core rounds up to 64. params is the plugin's
     parameter block. */
  uint32_t (*slice_width)(const void *params, uint32_t size, uint32_t threads);

  /* Builds what the strategy needs into *self (NULL is allowed), after the network was cut into slices of that width. The network stays
     valid until `release`. Returns 0, or -1 with *self NULL and nothing kept; `release` takes NULL. */
  int (*prepare)(const struct mill_host *host, const void *params, const struct mill_network *network, void **self,
                 struct mill_error *error);

  /* Adds the epoch's spikes to the rings of the neurons of network->slice[slice], and only theirs. Called by several workers at once,
     each with a slice of its own, after the epoch was simulated and before the next one starts for that slice; worker is below
     network->workers. Returns the number of synaptic events. */
  uint64_t (*deliver)(void *self, const struct mill_epoch *epoch, uint32_t slice, uint32_t worker);

  void (*release)(const struct mill_host *host, void *self);
};

/* Visits synapses begin … end-1 of the row of entry `index`, all of one slice: the rule's updates, and what the source's spikes deliver.
   Returns the number of synaptic events. */
static inline uint64_t mill_deliver_row(const struct mill_projection *p, const struct mill_ring *ring, const struct mill_epoch *epoch,
                                        uint32_t index, uint64_t begin, uint64_t end)
{
  const struct mill_entries *entries = &epoch->entries[p->index];
  const struct mill_entry *entry = &entries->entry[index];
  mill_visit(p, ring, entry, entries->pre + (uint64_t)index * p->plastic->code->pre_size, epoch->first, epoch->steps, begin, end);
  return (end - begin) * (uint32_t)__builtin_popcount(entry->mask);
}

#ifdef __cplusplus
}
#endif
#endif
