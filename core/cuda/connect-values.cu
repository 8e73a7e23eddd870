/* Weights and delays of synapses that lie on the device: functions of (source, target, m) as on the host, in one pass for each thing that is to be
   known or stored: one kernel for all, since each would have the drawing of values in it, which takes long to compile. A program of its own. */
#include "core/cuda/connect-common.cu"
#include "core/cuda/connect-draw.cu"
#include "core/distribution.h"

struct mill_synapse_at {
  uint64_t place;            /* in the arrays of synapses */
  uint32_t source, target, m;
};

static __device__ __forceinline__ uint32_t mill_target_at(const mill_device_values &v, uint64_t place)
{
  if (!v.narrow)
    return ((const uint32_t *)v.target)[place];
  const uint32_t target = ((const uint16_t *)v.target)[place];
  return target == MILL_NO_NARROW_TARGET ? MILL_NO_TARGET : target;
}

/* Equal targets before it in its run, which begins at group `begin`. */
static __device__ __forceinline__ uint32_t mill_rank_at(const mill_device_values &v, uint64_t place, uint32_t begin)
{
  uint32_t m = 0;
  if (v.multapses) {
    const uint32_t target = mill_target_at(v, place);
    while (place - m > (uint64_t)begin * MILL_GROUP && mill_target_at(v, place - m - 1) == target)
      m++;
  }
  return m;
}

/* Calls visit(synapse) for all synapses of the block, and pad(place) for the padding. All threads of the block come here. */
template <class visitor, class padder>
static __device__ __forceinline__ void mill_each_synapse(const mill_device_values &v, visitor visit, padder pad)
{
  __shared__ uint32_t start[MILL_ROWS + 1];
  const uint32_t slice = blockIdx.x / v.blocks, block = blockIdx.x % v.blocks, first = v.narrow ? slice * v.width : 0;
  for (uint32_t i = threadIdx.x; i <= MILL_ROWS; i += blockDim.x)
    start[i] = v.start[blockIdx.x * (uint64_t)(MILL_ROWS + 1) + i];
  __syncthreads();
  for (uint32_t g = start[0] + threadIdx.x; g < start[MILL_ROWS]; g += blockDim.x) {
    uint32_t row = 0;
    for (uint32_t step = MILL_ROWS / 2; step; step /= 2)
      row += start[row + step] <= g ? step : 0;
#pragma unroll 1
    for (uint32_t j = 0; j < MILL_GROUP; j++) {
      const uint64_t place = (uint64_t)g * MILL_GROUP + j;
      const uint32_t target = mill_target_at(v, place);
      if (target != MILL_NO_TARGET)
        visit(mill_synapse_at{place, block * MILL_ROWS + row, target + first, mill_rank_at(v, place, start[row])});
      else
        pad(place);
    }
  }
}

/* What was changed of what was drawn. */
struct mill_value_counts {
  uint64_t redrawn, clipped;
};

static __device__ __noinline__ double mill_draw_value(const mill_device_values &v, uint32_t source, uint32_t target, uint32_t m,
                                                      mill_value_counts &counts)
{
  const mill_distribution d = {v.kind, 0, v.a, v.b, v.lo, v.hi};
  return mill_distribution_draw(&d, v.key, (uint64_t)source << 32 | target, m, &counts.redrawn, &counts.clipped);
}

static __device__ __forceinline__ void mill_found_most(const mill_device_values &v, uint32_t which, uint64_t value)
{
  for (uint32_t step = 16; step; step /= 2) {
    const uint64_t other = __shfl_xor_sync(MILL_ALL_LANES, value, (int)step);
    value = other > value ? other : value;
  }
  if (threadIdx.x % 32 == 0 && value)
    atomicMax((unsigned long long *)v.found + which, (unsigned long long)value);
}

static __device__ __forceinline__ void mill_found_sum(const mill_device_values &v, uint32_t which, uint64_t value)
{
  value = mill_warp_sum(value);
  if (threadIdx.x % 32 == 0 && value)
    atomicAdd((unsigned long long *)v.found + which, (unsigned long long)value);
}

/* ---- What is found and stored ----------------------------------------------------------------------------------------------- */

/* What a thread finds: as `found` of mill_device_values. */
struct mill_findings {
  uint64_t found[8];
  mill_value_counts counts;
};

static __device__ __forceinline__ void mill_raise(uint64_t &most, uint64_t value)
{
  most = value > most ? value : most;
}

static __device__ __forceinline__ void mill_put_whole(const mill_device_values &v, uint64_t place, int32_t number)
{
  if (v.bits == 8)
    ((uint8_t *)v.store)[place] = (uint8_t)number;
  else if (v.bits == 16)
    ((uint16_t *)v.store)[place] = (uint16_t)number;
  else
    ((int32_t *)v.store)[place] = number;
}

static __device__ __forceinline__ void mill_put_real(const mill_device_values &v, uint64_t place, double number)
{
  if (v.bits == 32)
    ((float *)v.store)[place] = (float)number;
  else
    ((double *)v.store)[place] = number;
}

static __device__ __forceinline__ void mill_add_to_sum(const mill_device_values &v, uint32_t target, uint64_t number)
{
  atomicAdd((unsigned long long *)v.sum + target, (unsigned long long)number);
}

static __device__ __forceinline__ void mill_find_delay(const mill_device_values &v, uint64_t pair, int64_t ps, mill_findings &f)
{
  const uint64_t steps = mill_steps_of(ps, v.dt_ps);
  mill_raise(f.found[0], steps);
  mill_raise(f.found[1], ~steps);
  mill_raise(f.found[5], steps ? 0 : ~pair);
  mill_raise(f.found[6], ps % v.dt_ps ? ~pair : 0);
  f.found[7]++;
}

static __device__ __forceinline__ void mill_visit_weight(const mill_device_values &v, const mill_synapse_at &s, double weight, mill_findings &f)
{
  if (v.aim == MILL_VALUES_MOST) {
    mill_raise(f.found[0], mill_bits(weight) & ~((uint64_t)1 << 63));
  } else if (v.aim == MILL_VALUES_SUM) {
    mill_add_to_sum(v, s.target, mill_weight_units(weight, v.exponent));
  } else if (v.aim == MILL_VALUES_QUANTA) {
    const int32_t quanta = mill_weight_quanta(weight, v.exponent);
    f.found[4] += quanta == 0 && (weight > 0 || weight < 0);
    mill_put_whole(v, s.place, quanta);
  } else {
    mill_raise(f.found[5], weight >= v.least && weight <= v.most ? 0 : ~((uint64_t)s.source << 32 | s.target));
    mill_put_real(v, s.place, weight);
  }
}

static __device__ __forceinline__ void mill_visit_synapse(const mill_device_values &v, const mill_synapse_at &s, mill_findings &f)
{
  if (v.aim == MILL_VALUES_BOUND) {
    const int64_t quanta = v.bits == 16 ? ((const int16_t *)v.store)[s.place] : ((const int32_t *)v.store)[s.place];
    mill_add_to_sum(v, s.target, (uint64_t)(quanta < 0 ? -quanta : quanta));
    return;
  }
  const uint32_t edge = v.edge ? v.edge[s.place] : 0;
  const double drawn = v.edge ? 0 : mill_draw_value(v, s.source, s.target, s.m, f.counts);
  if (v.aim != MILL_VALUES_DELAYS && v.aim != MILL_VALUES_STEPS) {
    mill_visit_weight(v, s, v.edge ? ((const double *)v.listed)[edge] : drawn, f);
    return;
  }
  const int64_t ps = v.edge ? ((const int64_t *)v.listed)[edge] : mill_picoseconds(drawn);
  if (v.aim == MILL_VALUES_STEPS)
    mill_put_whole(v, s.place, (int32_t)mill_steps_of(ps, v.dt_ps));
  else
    mill_find_delay(v, (uint64_t)s.source << 32 | s.target, ps, f);
}

static __device__ __forceinline__ void mill_visit_padding(const mill_device_values &v, uint64_t place)
{
  if (v.aim == MILL_VALUES_QUANTA || v.aim == MILL_VALUES_STEPS)
    mill_put_whole(v, place, 0);
  else if (v.aim == MILL_VALUES_REALS)
    mill_put_real(v, place, 0);
}

/* The synapse with a place in its row; there is one. */
static __device__ __forceinline__ mill_synapse_at mill_synapse_of_row(const mill_device_values &v, uint32_t source, uint64_t left)
{
  for (uint32_t slice = 0;; slice++) {
    const uint32_t *start = v.start + ((uint64_t)slice * v.blocks + source / MILL_ROWS) * (MILL_ROWS + 1) + source % MILL_ROWS;
    uint64_t n = (uint64_t)(start[1] - start[0]) * MILL_GROUP;
    while (n && mill_target_at(v, (uint64_t)start[0] * MILL_GROUP + n - 1) == MILL_NO_TARGET)
      n--;
    if (left < n) {
      const uint64_t place = (uint64_t)start[0] * MILL_GROUP + left;
      return {place, source, mill_target_at(v, place) + (v.narrow ? slice * v.width : 0), mill_rank_at(v, place, start[0])};
    }
    left -= n;
  }
}

MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_values(const __grid_constant__ mill_device_connection c, const __grid_constant__ mill_device_values v)
{
  mill_findings f = {};
  const uint32_t i = blockIdx.x * MILL_ROWS + threadIdx.x;
  if (v.aim == MILL_VALUES_FORESEEN) {
    auto add = [&](uint32_t target) {
      mill_find_delay(v, (uint64_t)i << 32 | target, mill_picoseconds(mill_draw_value(v, i, target, 0, f.counts)), f);
    };
    if (i < c.sources)
      mill_each_target(c, i, add);
  } else if (v.aim == MILL_VALUES_PICK) {
    if (i < v.picks) {
      const mill_synapse_at s = mill_synapse_of_row(v, v.pick[2 * i], v.pick[2 * i + 1]);
      mill_put_real(v, i, v.edge ? ((const double *)v.listed)[v.edge[s.place]] : mill_draw_value(v, s.source, s.target, s.m, f.counts));
    }
  } else {
    mill_each_synapse(v, [&](const mill_synapse_at &s) { mill_visit_synapse(v, s, f); }, [&](uint64_t place) { mill_visit_padding(v, place); });
  }
  f.found[2] = f.counts.redrawn;
  f.found[3] = f.counts.clipped;
#pragma unroll
  for (uint32_t which = 0; which < 8; which++) {
    if (which >= 2 && which != 5 && which != 6)
      mill_found_sum(v, which, f.found[which]);
    else
      mill_found_most(v, which, f.found[which]);
  }
}
