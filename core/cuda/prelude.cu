/* What every program begins with: the types of its precision, and how kernels find their way around a network. */
#include <spikemill/device-network.h>
#include <spikemill/propagator.h>
#define MILL_COMMON_PART
#include <spikemill/neuron.h>
#include <spikemill/synapse.h>
#undef MILL_COMMON_PART

#include "core/cuda/kernel.cu"

/* Asks for memory that will be read soon. */
#ifndef MILL_PREFETCH
#define MILL_PREFETCH(address) asm volatile("prefetch.global.L1 [%0];" ::"l"(address))
#endif

/* A kernel's first parameter. */
#define MILL_NETWORK const __grid_constant__ mill_device_network net

/* The spikes of one epoch, and the neurons that did not fire whose rows are due. */
struct mill_list {
  const mill_device_spike *spike, *due;
  uint32_t count;
  uint32_t entries; /* both */
  uint32_t parity;
  uint32_t steps;   /* of the epoch */
  int64_t first;    /* its first step */
};

/* The epoch that a kernel simulates. */
struct mill_now {
  mill_device_batch *batch;
  int64_t first;
  uint32_t steps, slot, half, index; /* index: of the epoch in its batch */
  uint32_t parity;
};

static __device__ __forceinline__ mill_now mill_epoch_at(const mill_device_network &net, uint32_t slot, uint32_t steps)
{
  mill_now now;
  now.slot = slot;
  now.steps = steps;
  now.half = slot / MILL_DEVICE_EPOCHS;
  now.index = slot % MILL_DEVICE_EPOCHS;
  now.batch = net.batch + now.half;
  now.first = now.batch->first + (int64_t)now.index * net.epoch_steps;
  now.parity = (now.batch->parity + now.index) & 1;
  return now;
}

static __device__ __forceinline__ uint64_t mill_begin(const mill_device_network &net, uint32_t slot)
{
  return slot % MILL_DEVICE_EPOCHS == 0 ? 0 : net.base[slot];
}

/* The spikes of the epoch before `now`, which are due. */
static __device__ __forceinline__ mill_list mill_last(const mill_device_network &net, const mill_now &now)
{
  mill_list list;
  const uint32_t last = now.index == 0 ? now.batch->last : now.slot - 1;
  list.parity = now.parity ^ 1;
  list.due = net.due + (uint64_t)list.parity * net.neurons;
  if (last == MILL_NO_TARGET) {
    list.spike = net.spike;
    list.count = list.entries = list.steps = 0;
    list.first = now.first;
    return list;
  }
  list.steps = now.index == 0 ? now.batch->last_steps : net.epoch_steps;
  list.first = now.first - list.steps;
  list.count = net.batch[last / MILL_DEVICE_EPOCHS].count[last % MILL_DEVICE_EPOCHS];
  list.entries = list.count + (MILL_PLASTIC ? net.batch[last / MILL_DEVICE_EPOCHS].due[last % MILL_DEVICE_EPOCHS] : 0);
  list.spike = net.spike + last / MILL_DEVICE_EPOCHS * net.capacity + mill_begin(net, last);
  return list;
}

static __device__ __forceinline__ mill_device_spike mill_entry(const mill_list &list, uint32_t k)
{
  return MILL_PLASTIC && k >= list.count ? list.due[k - list.count] : list.spike[k];
}

/* Where the list of `now` begins; says so to the epoch after it. */
static __device__ __forceinline__ uint64_t mill_list_begin(const mill_device_network &net, const mill_now &now)
{
  uint64_t base = 0;
  if (now.index)
    base = mill_begin(net, now.slot - 1) + now.batch->count[now.index - 1];
  if (blockIdx.x == 0 && threadIdx.x == 0)
    net.base[now.slot] = base;
  return base;
}

static __device__ __forceinline__ uint32_t mill_population_of(const mill_device_network &net, uint32_t neuron)
{
  uint32_t low = 0, high = net.populations;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (net.population[middle].first <= neuron)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* A row's part for one slice: groups begin … end-1. */
struct mill_run_of_row {
  uint32_t begin, end;
};

static __device__ __forceinline__ mill_run_of_row mill_run(const mill_device_projection &p, uint32_t slice, uint32_t row)
{
  const uint32_t *start = p.start + ((uint64_t)slice * p.blocks + row / MILL_ROWS) * (MILL_ROWS + 1) + row % MILL_ROWS;
  mill_run_of_row run;
  run.begin = start[0];
  run.end = start[1];
  return run;
}

/* Weight and delay of synapse i of group g. */
static __device__ __forceinline__ MILL_CELL mill_weight(const mill_device_projection &p, uint64_t i)
{
  return p.weight_bits == 0    ? (MILL_CELL)p.weight_all
         : p.weight_bits == 16 ? (MILL_CELL)((const int16_t *)p.weight)[i]
                               : (MILL_CELL)((const int32_t *)p.weight)[i];
}

static __device__ __forceinline__ uint32_t mill_delay(const mill_device_projection &p, uint64_t i)
{
  return p.delay_bits == 0 ? p.delay_all : p.delay_bits == 8 ? ((const uint8_t *)p.delay)[i] : ((const uint16_t *)p.delay)[i];
}

/* Adds to a ring's cell for step `due` of neuron `i` of the population. */
static __device__ __forceinline__ void mill_ring_add(const mill_device_ring &ring, int64_t due, uint32_t i, MILL_CELL value)
{
  atomicAdd((MILL_ATOMIC *)ring.cell + ((uint64_t)due & ring.mask) * ring.stride + i, (MILL_ATOMIC)value);
}

/* The cells of a ring in global memory, as neuron i takes them. */
struct mill_from_ring {
  const mill_device_ring *ring;
  int64_t first;
  uint32_t i;
  __device__ __forceinline__ MILL_CELL take(uint32_t receptor, uint32_t step) const
  {
    MILL_CELL *cell = (MILL_CELL *)ring[receptor].cell + ((uint64_t)(first + step) & ring[receptor].mask) * ring[receptor].stride + i;
    const MILL_CELL value = *cell;
    if (value)
      *cell = 0;
    return value;
  }
};

/* Collects the spikes of a block's neurons, to append them to the list at once. */
struct mill_collector {
  mill_device_spike *spike; /* shared, one for each neuron of the block's */
  uint32_t *count;          /* shared */
};

static __device__ __forceinline__ void mill_collect(const mill_collector &c, uint32_t neuron, uint32_t mask)
{
  if (mask) {
    const uint32_t at = atomicAdd(c.count, 1u);
    c.spike[at].neuron = neuron;
    c.spike[at].mask = mask;
  }
}

/* By all threads of a block, after a barrier that follows the last mill_collect. */
static __device__ __forceinline__ void mill_append(const mill_device_network &net, const mill_now &now, uint64_t base,
                                                   const mill_collector &c, uint32_t *at)
{
  const uint32_t n = *c.count;
  if (n == 0)
    return;
  if (threadIdx.x == 0)
    *at = atomicAdd(&now.batch->count[now.index], n);
  __syncthreads();
  mill_device_spike *to = net.spike + now.half * net.capacity + base + *at;
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
    to[i] = c.spike[i];
}

/* Adds groups begin, begin + stride, … of a projection whose targets are indices of the population: a source's spikes, bit b being the step
   first + b, into the ring in global memory. */
static __device__ __forceinline__ void mill_add_to_ring(const mill_device_projection &p, const mill_device_ring &ring, uint32_t begin,
                                                        uint32_t end, uint32_t stride, uint32_t mask, int64_t first)
{
  for (uint32_t g = begin; g < end; g += stride) {
    const uint4 four = ((const uint4 *)p.target)[g];
    const uint32_t target[MILL_GROUP] = {four.x, four.y, four.z, four.w};
    for (uint32_t j = 0; j < MILL_GROUP; j++) {
      const uint64_t i = (uint64_t)g * MILL_GROUP + j;
      if (target[j] == MILL_NO_TARGET)
        continue;
      const MILL_CELL weight = mill_weight(p, i);
      const int64_t due = first + mill_delay(p, i);
      for (uint32_t m = mask; m; m &= m - 1)
        mill_ring_add(ring, due + (__ffs((int)m) - 1), target[j], weight);
    }
  }
}
