/* Numbers of sources: in-degrees from the targets as they lie. */

/* Calls count(target) for the 16-bit targets of one slice in some of the blocks of rows: the blocks of a slice are c.slices apart. */
template <class counter> static __device__ __forceinline__ void mill_each_narrow(const mill_device_connection &c, counter count)
{
  const uint32_t slice = blockIdx.x % c.slices;
  for (uint32_t b = blockIdx.x / c.slices; b < c.blocks; b += gridDim.x / c.slices) {
    const uint32_t *start = c.start + ((uint64_t)slice * c.blocks + b) * (MILL_ROWS + 1);
    for (uint32_t g = start[0] + threadIdx.x; g < start[MILL_ROWS]; g += blockDim.x) {
      const ushort4 four = ((const ushort4 *)c.target)[g];
      const uint32_t target[MILL_GROUP] = {four.x, four.y, four.z, four.w};
      for (uint32_t j = 0; j < MILL_GROUP; j++) {
        if (target[j] != MILL_NO_NARROW_TARGET)
          count(target[j]);
      }
    }
  }
}

/* A block counts in shared memory, one uint32_t for each neuron of its slice. */
MILL_KERNEL mill_connect_degrees_narrow(const __grid_constant__ mill_device_connection c)
{
  MILL_DYNAMIC_SHARED(uint32_t, arrived);
  const uint32_t first = blockIdx.x % c.slices * c.width, count = c.targets - first < c.width ? c.targets - first : c.width;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    arrived[i] = 0;
  __syncthreads();
  mill_each_narrow(c, [=](uint32_t target) { atomicAdd(&arrived[target], 1u); });
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (arrived[i])
      atomicAdd(&c.in_degree[first + i], arrived[i]);
  }
}

/* The same for slices that are too wide for it. */
MILL_KERNEL mill_connect_degrees_broad(const __grid_constant__ mill_device_connection c)
{
  uint32_t *in_degree = c.in_degree + blockIdx.x % c.slices * c.width;
  mill_each_narrow(c, [=](uint32_t target) { atomicAdd(&in_degree[target], 1u); });
}

/* 32-bit targets. */
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

/* Adds the out-degrees of one projection to those of the network, which are in `in_degree`. */
MILL_KERNEL __launch_bounds__(256) mill_connect_add(const __grid_constant__ mill_device_connection c)
{
  const uint32_t source = blockIdx.x * 256 + threadIdx.x;
  if (source < c.sources)
    c.in_degree[source] += c.out_degree[source];
}
