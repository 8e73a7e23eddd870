/* Rows of any kind in two passes: their targets are counted, which gives each run its place, and then made again and written. A thread makes a
   row. It is for what core/cuda/connect-once.cu has no room for, and for rows that are not drawn. */

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
  const uint64_t length = mill_warp_sum(counter.length);
  if (threadIdx.x % 32 == 0)
    atomicAdd((unsigned long long *)c.found + 2, (unsigned long long)length);
}

/* From lengths to starts; a block for each block of rows in each slice takes room behind those that came before. found[0] counts groups,
   found[1] is the longest run. */
MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_connect_place(const __grid_constant__ mill_device_connection c)
{
  __shared__ uint32_t warp[MILL_WARPS];
  __shared__ unsigned long long begin;
  uint32_t *start = c.start + (uint64_t)blockIdx.x * (MILL_ROWS + 1) + threadIdx.x;
  const uint32_t lane = threadIdx.x % 32, n = (*start + MILL_GROUP - 1) / MILL_GROUP;
  uint32_t sum = n, before = 0, longest = n;
  for (uint32_t step = 1; step < 32; step *= 2) {
    const uint32_t other = __shfl_up_sync(MILL_ALL_LANES, sum, step), long_one = __shfl_xor_sync(MILL_ALL_LANES, longest, step);
    sum += lane >= step ? other : 0;
    longest = long_one > longest ? long_one : longest;
  }
  if (lane == 31)
    warp[threadIdx.x / 32] = sum;
  if (lane == 0)
    atomicMax((unsigned long long *)c.found + 1, (unsigned long long)longest);
  __syncthreads();
  for (uint32_t w = 0; w < threadIdx.x / 32; w++)
    before += warp[w];
  if (threadIdx.x == MILL_ROWS - 1)
    begin = atomicAdd((unsigned long long *)c.found, (unsigned long long)(before + sum));
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

/* The wide parts of a warp's rows: lane r holds those of row r. */
static __device__ __forceinline__ void mill_copy_wide(const uint32_t *rings, uint32_t size, uint32_t tail, uint32_t n, uint32_t begin,
                                                      uint4 *all)
{
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t r = lane / MILL_COPY_LANES, step = 0; step < MILL_COPY_LANES; step++, r += 32 / MILL_COPY_LANES) {
    const uint32_t count = __shfl_sync(MILL_ALL_LANES, n, (int)r), at = __shfl_sync(MILL_ALL_LANES, tail, (int)r),
                   to = __shfl_sync(MILL_ALL_LANES, begin, (int)r);
    const uint32_t *ring = rings + r * size;
    for (uint32_t i = lane % MILL_COPY_LANES * MILL_GROUP; i < count; i += MILL_COPY_LANES * MILL_GROUP) {
      uint32_t four[MILL_GROUP];
#pragma unroll
      for (uint32_t j = 0; j < MILL_GROUP; j++)
        four[j] = i + j < count ? ring[mill_wrap(at + i + j, size)] : MILL_NO_TARGET;
      all[to + i / MILL_GROUP] = make_uint4(four[0], four[1], four[2], four[3]);
    }
  }
}

#define MILL_FLUSH 32u  /* targets of a row that are written together, at least */
#define MILL_SECTOR 8u  /* and of which they are multiples */

/* 32-bit targets of rows that are drawn, once it is known where they go: written by warps, whole sectors at a time. Its dynamic memory is 256 rings of
   c.ring targets and 16 bytes. */
MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_connect_flow(const __grid_constant__ mill_device_connection c)
{
  MILL_DYNAMIC_SHARED(uint32_t, rings);
  const uint32_t source = blockIdx.x * MILL_ROWS + threadIdx.x;
  const uint32_t *ring = rings + threadIdx.x * c.ring;
  uint32_t begin = *mill_start_of(c, 0), tail = 0, taken = 0;
  mill_row row = mill_row_from(c, source, 0);
  mill_ring_writer<uint32_t> writer = {mill_shared_place_of(ring), mill_shared_place_of(ring + c.ring), mill_shared_place_of(ring), 0, 0,
                                       mill_left_out(c, source)};
  if (source >= c.sources)
    row.next = c.targets;
  for (;;) {
    uint32_t full = taken + c.ring - 1, enough = taken + MILL_FLUSH;
    MILL_KEEP(full);
    MILL_KEEP(enough);
    while (__any_sync(MILL_ALL_LANES, row.next < c.targets && writer.count < enough)) {
      if (row.next < c.targets && writer.count < full)
        mill_draw_pair(c, row, writer);
    }
    const uint32_t held = writer.count - taken, n = row.next < c.targets ? held / MILL_SECTOR * MILL_SECTOR : held;
    __syncwarp();
    mill_copy_wide(rings + threadIdx.x / 32 * 32 * c.ring, c.ring, tail, n, begin, (uint4 *)c.target);
    __syncwarp();
    begin += (n + MILL_GROUP - 1) / MILL_GROUP;
    tail = mill_wrap(tail + n, c.ring);
    taken += n;
    if (!__any_sync(MILL_ALL_LANES, row.next < c.targets))
      return;
  }
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
