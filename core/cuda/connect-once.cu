/* 16-bit targets, each drawn once: a thread draws a row into a ring in shared memory, the block puts 256 rows' parts of a slice together and
   writes them where there is room behind those that were written before. A row may be ahead of its slice by what its ring holds, which
   keeps a warp's rows together. */

#define MILL_AHEAD (65536u - 2 * MILL_CHUNK) /* targets from the slice's first on: 16 bits tell them apart */

/* How many of `count` targets in a ring, which ascend from `tail` on, lie before first + width. */
static __device__ __forceinline__ uint32_t mill_ring_before(const uint16_t *ring, uint32_t size, uint32_t tail, uint32_t count,
                                                            uint32_t first, uint32_t width)
{
  uint32_t low = 0;
  while (low < count) {
    const uint32_t middle = (low + count) / 2;
    if ((uint16_t)(ring[mill_wrap(tail + middle, size)] - first) < width)
      low = middle + 1;
    else
      count = middle;
  }
  return low;
}

/* The parts of a warp's rows: lane r holds those of row r. */
static __device__ __forceinline__ void mill_copy_rings(const uint16_t *rings, uint32_t size, uint32_t tail, uint32_t n, uint32_t begin,
                                                       uint32_t first, ushort4 *all)
{
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t r = lane / MILL_COPY_LANES, step = 0; step < MILL_COPY_LANES; step++, r += 32 / MILL_COPY_LANES) {
    const uint32_t count = __shfl_sync(MILL_ALL_LANES, n, (int)r), at = __shfl_sync(MILL_ALL_LANES, tail, (int)r),
                   to = __shfl_sync(MILL_ALL_LANES, begin, (int)r);
    const uint16_t *ring = rings + r * size;
    for (uint32_t i = lane % MILL_COPY_LANES * MILL_GROUP; i < count; i += MILL_COPY_LANES * MILL_GROUP) {
      uint16_t four[MILL_GROUP];
#pragma unroll
      for (uint32_t j = 0; j < MILL_GROUP; j++) {
        const uint16_t target = (uint16_t)(ring[mill_wrap(at + i + j, size)] - first);
        four[j] = i + j < count ? target : (uint16_t)MILL_NO_NARROW_TARGET;
      }
      all[to + i / MILL_GROUP] = make_ushort4(four[0], four[1], four[2], four[3]);
    }
  }
}

/* Block i makes slices segment · (i / blocks) … of block of rows i % blocks. Its dynamic memory is 256 rings of c.ring targets and 8 bytes.
   found[3] becomes 1 when a row does not fit its ring. */
MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_connect_once(const __grid_constant__ mill_device_connection c)
{
  MILL_DYNAMIC_SHARED(uint16_t, rings);
  __shared__ uint32_t warp_groups[2][MILL_WARPS];
  __shared__ unsigned long long block_begin[2];
  const uint32_t block = blockIdx.x % c.blocks, from = blockIdx.x / c.blocks * c.segment,
                 to = c.slices - from < c.segment ? c.slices : from + c.segment, source = block * MILL_ROWS + threadIdx.x,
                 stop = to == c.slices ? c.targets : to * c.width, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t first = from * c.width, tail = 0, taken = 0, longest = 0;
  mill_row row = mill_row_from(c, source, first / MILL_CHUNK);
  const uint16_t *ring = rings + threadIdx.x * c.ring;
  mill_ring_writer<uint16_t> writer = {mill_shared_place_of(ring), mill_shared_place_of(ring + c.ring), mill_shared_place_of(ring), 0, first,
                             mill_left_out(c, source)};
  if (source >= c.sources)
    row.next = stop;
  for (uint32_t slice = from; slice < to; slice++, first += c.width) {
    uint32_t end = first + min(stop - first, c.width), limit = first + min(stop - first, MILL_AHEAD), full = taken + c.ring - 1;
    const uint32_t parity = slice % 2;
    MILL_KEEP(end);
    MILL_KEEP(limit);
    MILL_KEEP(full);
    while (__any_sync(MILL_ALL_LANES, row.next < end)) {
      if (row.next < limit && writer.count < full) {
        mill_draw_pair(c, row, writer);
      } else if (row.next < end) {
        row.next = stop;
        c.found[3] = 1;
      }
    }
    const uint32_t n = mill_ring_before(ring, c.ring, tail, writer.count - taken, first, c.width),
                   groups = (n + MILL_GROUP - 1) / MILL_GROUP;
    uint32_t sum = groups, before = 0, all = 0;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
      const uint32_t other = __shfl_up_sync(MILL_ALL_LANES, sum, step);
      sum += lane >= step ? other : 0;
    }
    if (lane == 31)
      warp_groups[parity][warp] = sum;
    __syncthreads();
#pragma unroll
    for (uint32_t w = 0; w < MILL_WARPS; w++) {
      before += w < warp ? warp_groups[parity][w] : 0;
      all += warp_groups[parity][w];
    }
    if (threadIdx.x == 0)
      block_begin[parity] = atomicAdd((unsigned long long *)c.found, (unsigned long long)all);
    __syncthreads();
    const uint32_t begin = (uint32_t)block_begin[parity] + before + sum - groups;
    uint32_t *start = c.start + ((uint64_t)slice * c.blocks + block) * (MILL_ROWS + 1) + threadIdx.x;
    start[0] = begin;
    if (threadIdx.x == MILL_ROWS - 1)
      start[1] = begin + groups;
    if (block_begin[parity] + all <= c.room)
      mill_copy_rings(rings + warp * 32 * c.ring, c.ring, tail, n, begin, first, (ushort4 *)c.target);
    __syncwarp();
    tail = mill_wrap(tail + n, c.ring);
    taken += n;
    longest = groups > longest ? groups : longest;
  }
  if (source < c.sources)
    atomicAdd(&c.out_degree[source], taken);
  const uint64_t synapses = mill_warp_sum(taken);
  longest = mill_warp_max(longest);
  if (lane == 0) {
    atomicMax((unsigned long long *)c.found + 1, (unsigned long long)longest);
    atomicAdd((unsigned long long *)c.found + 2, (unsigned long long)synapses);
  }
}
