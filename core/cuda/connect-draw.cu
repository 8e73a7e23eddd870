/* Fixed probability, target by target: a thread draws a row, two draws at a time, so that the threads of a warp draw together. */

/* A base-2 logarithm for 2^-33 ≤ x ≤ 1: within 2^-22 of the exact one, or of its size when x is below a half (PTX ISA, lg2). */
#ifndef MILL_ROUGH_LOG2
static __device__ __forceinline__ float mill_rough_log2(float x)
{
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#define MILL_ROUGH_LOG2(x) mill_rough_log2(x)
#endif

/* Keeps a number in a register: else it is computed anew in every turn of a loop. */
#define MILL_KEEP(x) asm volatile("" : "+r"(x))

/* Where a row is: the draws of a pair come next. */
struct mill_row {
  uint32_t source;
  uint32_t next, end;     /* the candidate, and where its chunk ends */
  uint32_t chunk, pair;
};

static __device__ __forceinline__ uint32_t mill_chunk_end(const mill_device_connection &c, uint32_t begin)
{
  return begin + min(c.targets - begin, MILL_CHUNK);
}

static __device__ __forceinline__ mill_row mill_row_from(const mill_device_connection &c, uint32_t source, uint32_t chunk)
{
  return {source, chunk * MILL_CHUNK, mill_chunk_end(c, chunk * MILL_CHUNK), chunk, 0};
}

/* mill_philox(c.key, source << 32 | chunk, pair), the keys of its rounds being made already. */
static __device__ __forceinline__ mill_u32x4 mill_row_bits(const mill_device_connection &c, const mill_row &row)
{
  uint32_t c0 = row.chunk, c1 = row.source, c2 = row.pair, c3 = 0;
#pragma unroll
  for (uint32_t round = 0; round < 10; round++) {
    const uint64_t p0 = (uint64_t)0xd2511f53u * c0, p1 = (uint64_t)0xcd9e8d57u * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ c.round_key[2 * round];
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ c.round_key[2 * round + 1];
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
  }
  return {c0, c1, c2, c3};
}

/* The gap of a draw, targets passed over, from its upper half and a logarithm in single precision. That is within 2^-20 (and as much of its size)
   of the exact one for draws of 2^-14 or more, about twice what can go wrong: 2^-22 of the hardware's logarithm, 2^-33 of what the upper half
   leaves out, three roundings. Returns how far that leaves the whole part open; below c.open, it does not. */
static __device__ __forceinline__ float mill_gap_roughly(const mill_device_connection &c, uint32_t high, uint32_t *gap)
{
  const float rough = MILL_ROUGH_LOG2(__fmaf_rn((float)high, 0x1p-32f, 0x1p-33f)) * c.rough;
  const float whole = __fadd_rd(rough, 0x1.8p23f), part = rough - (whole - 0x1.8p23f); /* rough may be a little below 0 */
  *gap = __float_as_uint(whole) - 0x4b400000u;
  return __fmaf_rn(rough, 0x1p-20f, fabsf(part - 0.5f));
}

/* The exact one; a chunk or more is a chunk. */
static __device__ __forceinline__ uint32_t mill_gap_exactly(const mill_device_connection &c, uint32_t low, uint32_t high)
{
  const double gap = mill_log(mill_uniform((uint64_t)high << 32 | low)) * c.inverse;
  return gap < (double)MILL_CHUNK ? (uint32_t)gap : MILL_CHUNK;
}

/* The next pair of draws: emit(target, valid) for either. */
template <class emitter>
static __device__ __forceinline__ void mill_draw_pair(const mill_device_connection &c, mill_row &row, emitter &emit)
{
  const mill_u32x4 bits = mill_row_bits(c, row);
  uint32_t gap[2], left = row.end - row.next;
  const float open = fmaxf(mill_gap_roughly(c, bits.x[1], &gap[0]), mill_gap_roughly(c, bits.x[3], &gap[1]));
  const uint32_t least = min(bits.x[1], bits.x[3]);
  if (!((open < c.open) & (least >= 1u << 18))) {
    gap[0] = mill_gap_exactly(c, bits.x[0], bits.x[1]);
    gap[1] = mill_gap_exactly(c, bits.x[2], bits.x[3]);
  }
  const bool inside = gap[0] < left;
  uint32_t target = row.next + gap[0];
  emit(target, inside);
  left -= gap[0] + 1;
  const bool both = inside && gap[1] < left;
  target += gap[1] + 1;
  emit(target, both);
  row.next = both ? target + 1 : row.end;
  row.pair = both ? row.pair + 1 : 0;
  row.chunk += !both;
  row.end = both ? row.end : mill_chunk_end(c, row.end);
}

template <class emitter> struct mill_valid_targets {
  emitter &emit;
  uint32_t without;
  __device__ __forceinline__ void operator()(uint32_t target, bool valid)
  {
    if (valid && target != without)
      emit(target);
  }
};

static __device__ __forceinline__ uint32_t mill_left_out(const mill_device_connection &c, uint32_t source)
{
  return c.no_autapses ? source : MILL_NO_TARGET;
}

/* Calls emit(target) for each target of a row in ascending order. */
template <class emitter>
static __device__ __forceinline__ void mill_each_target(const mill_device_connection &c, uint32_t source, emitter &emit)
{
  mill_valid_targets<emitter> valid = {emit, mill_left_out(c, source)};
  mill_row row = mill_row_from(c, source, 0);
  if (c.rows == MILL_ROWS_DRAWN) {
    while (row.next < c.targets)
      mill_draw_pair(c, row, valid);
    return;
  }
  for (uint32_t target = c.rows == MILL_ROWS_OF_ONE ? source : 0, end = c.rows == MILL_ROWS_OF_ONE ? source + 1 : c.targets; target < end; target++)
    valid(target, true);
}
