/* The spikes of a simulation, kept on its device for a miner there: the lists as kernels wrote them, batch by batch. What the device has no room
   for is not kept; the spikes then go to the miner through the host. */
#ifndef MILL_CUDA_SPIKE_LOG_H
#define MILL_CUDA_SPIKE_LOG_H

#include <spikemill/device-network.h>
#include "cuda/device.h"

struct mill_spike_log;

/* An epoch with spikes, as core/cuda/log.cu has it. */
struct mill_log_epoch {
  uint64_t spike; /* address of [count] struct mill_device_spike, each neuron once */
  int64_t tick;   /* of a spike in step 0 */
  uint32_t count;
  uint32_t steps; /* bit b: step b */
};

/* An empty one for `units` neurons. `stream`: where batches are, which stays the caller's, as does cuda. NULL when out of memory. */
struct mill_spike_log *mill_spike_log_create(struct mill_cuda *cuda, mill_cu_stream stream, uint32_t units);
void mill_spike_log_free(struct mill_spike_log *log); /* NULL is allowed */

/* Adds a batch: count[e] spikes of epoch e, one list after the other from address `spike` on, in the stream, which may be changed by what the
   stream does next. The epochs have `steps` steps each, from step `first` on. When it cannot be kept nothing is kept any more, which is noted. */
void mill_spike_log_add(struct mill_spike_log *log, mill_cu_address spike, const uint32_t *count, uint32_t epochs, int64_t first,
                        uint32_t steps);
/* Forgets spikes up to a tick. */
void mill_spike_log_drop(struct mill_spike_log *log, int64_t tick);

/* The epochs that have spikes in (start, stop], with `steps` those of them that lie in it; all that was added is on the device on return. *epoch
   is malloc'ed, and NULL when not all was kept, or there are none. */
int mill_spike_log_epochs(const struct mill_spike_log *log, int64_t start, int64_t stop, struct mill_log_epoch **epoch, uint32_t *epochs,
                          struct mill_error *error);
uint32_t mill_spike_log_units(const struct mill_spike_log *log);
/* Whether all spikes were kept. */
int mill_spike_log_is_whole(const struct mill_spike_log *log);

#endif
