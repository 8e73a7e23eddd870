/* The spikes of an epoch put in order of (step, population, neuron), whatever the order in which a device lists them. Each step has a bitmap of
   the neurons that fired in it, and a bitmap of the words of that one which are not 0: what is set comes out in order, and in time that goes
   with the spikes and not with the neurons. */
#ifndef MILL_ORDER_H
#define MILL_ORDER_H

#include <spikemill/device-network.h>
#include <spikemill/network.h>
#include "stream.h"

/* What a worker needs for it. */
struct mill_order_scratch {
  uint64_t *fired;             /* [epoch_steps][neurons / 64 + 1] all 0 in between */
  uint64_t *some;              /* [epoch_steps][words of fired / 64 + 1] as well */
  uint64_t *population_spikes; /* [populations] put in order since they were last fetched */
};

/* An epoch: what came, then what it is in order. Arrays grow, and are the epoch's until mill_order_free. */
struct mill_ordered {
  const struct mill_device_spike *spike; /* [count] in any order, each neuron once */
  uint32_t count;
  uint32_t steps;
  int64_t first;                 /* its first step */
  int with_events;               /* 1: events are wanted */
  uint64_t spikes, synaptic_events;
  uint64_t record_capacity, event_capacity;
  struct mill_hash_record *record; /* [spikes] */
  struct mill_event *event;        /* [spikes] when they are wanted */
};

/* Scratch for epochs of a network. Fails when out of memory, with what there is left to mill_order_scratch_free. */
int mill_order_scratch_build(const struct mill_network *network, struct mill_order_scratch *scratch, struct mill_error *error);
void mill_order_scratch_free(struct mill_order_scratch *scratch);

/* Puts an epoch in order. out_degree[neurons]: synapses of each, for synaptic_events. Fails when out of memory, for a spike that no neuron
   of the network can have, and one that is listed twice. Any thread. */
int mill_order(const struct mill_network *network, const uint32_t *out_degree, struct mill_order_scratch *scratch,
               struct mill_ordered *epoch, struct mill_error *error);
void mill_order_free(struct mill_ordered *epoch);

#endif
