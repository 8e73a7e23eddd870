/* What the programs that make synapses begin with. */
#include <spikemill/device-network.h>

#include "core/cuda/kernel.cu"

#define MILL_CHUNK 1024u
#define MILL_WARPS (MILL_ROWS / 32)
#define MILL_ALL_LANES 0xffffffffu

static __device__ __forceinline__ uint64_t mill_warp_sum(uint64_t x)
{
  for (uint32_t step = 16; step; step /= 2)
    x += __shfl_xor_sync(MILL_ALL_LANES, x, (int)step);
  return x;
}

static __device__ __forceinline__ uint32_t mill_warp_max(uint32_t x)
{
  for (uint32_t step = 16; step; step /= 2) {
    const uint32_t other = __shfl_xor_sync(MILL_ALL_LANES, x, (int)step);
    x = other > x ? other : x;
  }
  return x;
}
