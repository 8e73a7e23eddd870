/* Fixed-probability connections made on the device: the synapses of core/connect-rows.c, target by target, in the layout of
   <spikemill/device-network.h>. A thread makes one row, first to count, then to write: nothing is drawn in common, so nothing waits. */
#include <spikemill/device-network.h>

#include "core/cuda/kernel.cu"

#define CHUNK 1024u
#define WARPS (MILL_ROWS / 32)

/* The gap of a draw: targets passed over, `left` at most. Its logarithm in single precision, of the draw's upper half, is within 2^-18 (and as much
   of its size) of the exact one, several times what the hardware promises; only when that leaves the whole part open, or the draw is so
   small that its lower half counts, the exact one is computed. */
static __device__ __forceinline__ uint32_t mill_gap(const mill_device_connection &c, uint64_t bits, uint32_t left)
{
  const uint32_t upper = (uint32_t)(bits >> 32);
  const float inverse = (float)c.inverse, rough = __logf((float)upper * 0x1p-32f) * inverse, slack = 0x1p-18f * (rough - inverse);
  if (upper >> 20 && rough < 0x1p20f) {
    const uint32_t whole = (uint32_t)rough;
    const float part = rough - (float)whole;
    if (part > slack && part < 1 - slack)
      return whole < left ? whole : left;
  }
  const double gap = mill_log(mill_uniform(bits)) * c.inverse;
  return gap < (double)left ? (uint32_t)gap : left;
}

/* Calls emit(target) for each target of a row in ascending order. Both halves of a draw are used in one turn, so that the threads of a warp draw
   together. */
template <class emitter>
static __device__ __forceinline__ void mill_each_target(const mill_device_connection &c, uint32_t source, emitter &emit)
{
  uint32_t chunk = 0, at = 0, left = c.targets < CHUNK ? c.targets : CHUNK;
  uint32_t pair = 0;
  while (at < c.targets) {
    const mill_u64x2 draw = mill_random_pair(c.key, (uint64_t)source << 32 | chunk, pair++);
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t gap = mill_gap(c, draw.x[half], left);
      if (gap == left) {
        at = ++chunk * CHUNK;
        left = c.targets - at < CHUNK ? c.targets - at : CHUNK;
        pair = 0;
        break;
      }
      const uint32_t target = at + gap;
      at = target + 1;
      left -= gap + 1;
      if (!c.no_autapses || target != source)
        emit(target);
    }
  }
}

static __device__ __forceinline__ uint32_t *mill_start_of(const mill_device_connection &c, uint32_t slice)
{
  return c.start + ((uint64_t)slice * c.blocks + blockIdx.x) * (MILL_ROWS + 1) + threadIdx.x;
}

struct mill_counter {
  uint32_t *start;        /* of the run */
  uint64_t stride;        /* to that of the next slice */
  uint32_t width, end, n, length;
  __device__ __forceinline__ void next()
  {
    *start = n;
    start += stride;
    end += width;
    length += n;
    n = 0;
  }
  __device__ __forceinline__ void operator()(uint32_t target)
  {
    while (target >= end)
      next();
    n++;
  }
};

/* Synapses of each run into `start`, and of each row. */
MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_connect_count(const __grid_constant__ mill_device_connection c)
{
  const uint32_t source = blockIdx.x * MILL_ROWS + threadIdx.x;
  mill_counter counter = {mill_start_of(c, 0), (uint64_t)c.blocks * (MILL_ROWS + 1), c.width, c.width, 0, 0};
  if (source < c.sources)
    mill_each_target(c, source, counter);
  for (uint32_t *end = mill_start_of(c, c.slices); counter.start < end;)
    counter.next();
  if (source < c.sources)
    c.out_degree[source] = counter.length;
}

/* From lengths to starts; a block for each block of rows in each slice takes room behind those that came before. groups[0] counts groups,
   groups[1] is the longest run. */
MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_connect_place(const __grid_constant__ mill_device_connection c)
{
  __shared__ uint32_t warp[WARPS];
  __shared__ unsigned long long begin;
  uint32_t *start = c.start + (uint64_t)blockIdx.x * (MILL_ROWS + 1) + threadIdx.x;
  const uint32_t lane = threadIdx.x % 32, n = (*start + MILL_GROUP - 1) / MILL_GROUP;
  uint32_t sum = n, before = 0, longest = n;
  for (uint32_t step = 1; step < 32; step *= 2) {
    const uint32_t other = __shfl_up_sync(0xffffffffu, sum, step), long_one = __shfl_xor_sync(0xffffffffu, longest, step);
    sum += lane >= step ? other : 0;
    longest = long_one > longest ? long_one : longest;
  }
  if (lane == 31)
    warp[threadIdx.x / 32] = sum;
  if (lane == 0)
    atomicMax((unsigned long long *)c.groups + 1, (unsigned long long)longest);
  __syncthreads();
  for (uint32_t w = 0; w < threadIdx.x / 32; w++)
    before += warp[w];
  if (threadIdx.x == MILL_ROWS - 1)
    begin = atomicAdd((unsigned long long *)c.groups, (unsigned long long)(before + sum));
  __syncthreads();
  start[0] = (uint32_t)begin + before + sum - n;
  if (threadIdx.x == MILL_ROWS - 1)
    start[1] = (uint32_t)begin + before + sum;
}

/* Writes runs of 16-bit targets, four at a time: the last of `four` is the target that came last. */
struct mill_narrow_writer {
  const uint32_t *start;
  uint64_t stride;
  uint64_t *all, *to;
  uint64_t four;
  uint32_t width, first, n;
  __device__ __forceinline__ void finish()
  {
    for (; n % MILL_GROUP; n++)
      four = four >> 16 | (uint64_t)MILL_NO_NARROW_TARGET << 48;
    if (n)
      *to = four;
    n = 0;
  }
  __device__ __forceinline__ void operator()(uint32_t target)
  {
    if (target - first >= width) {
      finish();
      do {
        first += width;
        start += stride;
      } while (target - first >= width);
      to = all + *start;
    }
    four = four >> 16 | (uint64_t)(target - first) << 48;
    if (++n == MILL_GROUP) {
      *to++ = four;
      n = 0;
    }
  }
};

MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_connect_narrow(const __grid_constant__ mill_device_connection c)
{
  const uint32_t source = blockIdx.x * MILL_ROWS + threadIdx.x, *start = mill_start_of(c, 0);
  uint64_t *all = (uint64_t *)c.target;
  mill_narrow_writer writer = {start, (uint64_t)c.blocks * (MILL_ROWS + 1), all, all + *start, 0, c.width, 0, 0};
  if (source < c.sources)
    mill_each_target(c, source, writer);
  writer.finish();
}

struct mill_wide_writer {
  uint4 *to;
  uint4 four;
  uint32_t n;
  __device__ __forceinline__ void operator()(uint32_t target)
  {
    four = make_uint4(four.y, four.z, four.w, target);
    if (++n == MILL_GROUP) {
      *to++ = four;
      n = 0;
    }
  }
};

MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_connect_wide(const __grid_constant__ mill_device_connection c)
{
  const uint32_t source = blockIdx.x * MILL_ROWS + threadIdx.x;
  mill_wide_writer writer = {(uint4 *)c.target + *mill_start_of(c, 0), make_uint4(0, 0, 0, 0), 0};
  if (source < c.sources)
    mill_each_target(c, source, writer);
  while (writer.n)
    writer(MILL_NO_TARGET);
}

/* In-degrees from 16-bit targets: a block reads the runs of one slice in some of the blocks of rows, and counts in shared memory, one uint32_t for
   each neuron of the slice. The blocks of a slice are c.slices apart. */
MILL_KERNEL mill_connect_degrees_narrow(const __grid_constant__ mill_device_connection c)
{
  MILL_DYNAMIC_SHARED(uint32_t, arrived);
  const uint32_t slice = blockIdx.x % c.slices, first = slice * c.width, count = c.targets - first < c.width ? c.targets - first : c.width;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    arrived[i] = 0;
  __syncthreads();
  for (uint32_t b = blockIdx.x / c.slices; b < c.blocks; b += gridDim.x / c.slices) {
    const uint32_t *start = c.start + ((uint64_t)slice * c.blocks + b) * (MILL_ROWS + 1);
    for (uint32_t g = start[0] + threadIdx.x; g < start[MILL_ROWS]; g += blockDim.x) {
      const ushort4 four = ((const ushort4 *)c.target)[g];
      const uint32_t target[MILL_GROUP] = {four.x, four.y, four.z, four.w};
      for (uint32_t j = 0; j < MILL_GROUP; j++) {
        if (target[j] != MILL_NO_NARROW_TARGET)
          atomicAdd(&arrived[target[j]], 1u);
      }
    }
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (arrived[i])
      atomicAdd(&c.in_degree[first + i], arrived[i]);
  }
}

/* The same from 32-bit targets, in global memory. */
MILL_KERNEL mill_connect_degrees_wide(const __grid_constant__ mill_device_connection c)
{
  for (uint64_t g = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; g < c.room; g += (uint64_t)gridDim.x * blockDim.x) {
    const uint4 four = ((const uint4 *)c.target)[g];
    const uint32_t target[MILL_GROUP] = {four.x, four.y, four.z, four.w};
    for (uint32_t j = 0; j < MILL_GROUP; j++) {
      if (target[j] != MILL_NO_TARGET)
        atomicAdd(&c.in_degree[target[j]], 1u);
    }
  }
}
