/* Delivery strategies: how spikes reach their targets (Spice 2021, section 3). */
#ifndef SPIKEMILL_DELIVERY_H
#define SPIKEMILL_DELIVERY_H

#include <spikemill/network.h>
#include <spikemill/plasticity.h>
#include <spikemill/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- On a device: the strategy's text (the descriptor's `source`, see <spikemill/device-network.h>) and how it is launched ---------------- */

/* What a device and a network on it are like. */
struct mill_device_shape {
  uint32_t multiprocessors;
  uint32_t shared_block;     /* bytes of shared memory that a block can have */
  uint32_t epoch_steps;
  uint32_t cell_bytes;
  uint32_t receptors;        /* most of a population */
  uint32_t slices, width;    /* in all, and neurons of the widest; not yet known to slice_widths */
  double run_groups;         /* mean groups of four synapses of a run, plastic_width apart; likewise */
  uint32_t plastic;          /* 1: some synapses are */
};

/* One kernel of an epoch: kernel(network, slot, steps, argument). */
struct mill_launch {
  const char *kernel;        /* NULL: the host's own kernel that takes all neurons through the epoch, with input from the rings */
  uint32_t blocks, threads, shared_bytes, argument;
};
#define MILL_LAUNCHES 4u

struct mill_delivery_device {
  uint32_t narrow;           /* 1: 16-bit targets, counted within the slice; 0: 32-bit targets, and each population is one slice */
  uint32_t reserved;
  /* Neurons per slice of each of `count` populations, 1 to 65535, into width[]; receives[p] is 0 when no projection leads to p. Not called
     when narrow is 0. Returns 1, or 0 with a reason in why[size] when that cannot be. */
  int (*slice_widths)(const void *params, const struct mill_device_shape *shape, uint32_t count, const uint32_t *sizes,
                      const unsigned char *receives, uint32_t *width, char *why, size_t size);
  /* The kernels of an epoch in order, at most MILL_LAUNCHES; the first spikes they deliver are those of the epoch before. Then one that only
     delivers, into the rings. Returns their number, or 0 with a reason in why[size] when they cannot be launched. */
  uint32_t (*epoch)(const void *params, const struct mill_device_shape *shape, struct mill_launch *launch, char *why, size_t size);
  void (*settle)(const void *params, const struct mill_device_shape *shape, struct mill_launch *launch);
  /* ABI 0.6. When narrow is 1: neurons per slice of a target of `size` neurons for plastic projections, 1 to 65535, whose synapses are
     visited and need no slice in common with others; NULL: those of slice_widths. */
  uint32_t (*plastic_width)(const void *params, uint32_t size);
};

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

  /* ABI 0.3. NULL: only the CPU is served. */
  const struct mill_delivery_device *device;
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
