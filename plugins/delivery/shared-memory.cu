/* Shared-memory delivery on a device: a block owns a chunk of neurons. It takes every spike of the last epoch through its runs into a window
   in shared memory, one cell for each receptor, step of the epoch and neuron, and then its neurons through the epoch: one kernel an
   epoch. What is due after the epoch waits in the ring. Plastic synapses are visited by a kernel before it. (Bautembach et al. 2021, section 3.3)

   A warp takes spikes in tiles of up to 32. First each thread looks up one spike's run, so that the look-ups wait for memory together; then
   teams of `lanes` threads walk the runs, four synapses a thread. */
#define MOST_THREADS 1024 /* as in shared-memory.c */
#define AT_ONCE 8         /* runs that a team has in flight */
#define UNEVEN 0xffffffffu

/* A run that is looked up. `cell` is where its one step begins in the window; UNEVEN: it needs more than that, see mill_walk_any. */
struct mill_found_run {
  const ushort4 *target; /* its first group */
  uint32_t groups, cell;
};

static_assert(sizeof(mill_found_run) + sizeof(uint32_t) == 20, "RUN_BYTES of shared-memory.c");

struct mill_window {
  MILL_CELL *cell;      /* [receptors][steps][width] */
  uint32_t steps, width;
  __device__ __forceinline__ uint32_t at(uint32_t receptor, uint32_t step) const { return (receptor * steps + step) * width; }
};

struct mill_from_window {
  mill_window window;
  uint32_t i;
  __device__ __forceinline__ MILL_CELL take(uint32_t receptor, uint32_t step) const { return window.cell[window.at(receptor, step) + i]; }
};

/* Projection number `turn` of those from the spike's population into the slice's; 0: there are fewer. */
static __device__ __forceinline__ const mill_device_projection *mill_projection_of(const mill_device_network &net,
                                                                                   const mill_device_slice &slice, uint32_t neuron,
                                                                                   uint32_t turn, uint32_t &row)
{
  const uint32_t source = mill_population_of(net, neuron), pair = slice.population * net.populations + source;
  const uint32_t q = net.into_begin[pair] + turn;
  row = neuron - net.population[source].first;
  return q < net.into_begin[pair + 1] ? net.projection + net.into[q] : 0;
}

/* Any run of any spike: into the window what is due in it, which begins with step `first`, and the rest into the ring. Seldom called, and out
   of the way: what it takes stays in registers. */
static __device__ __noinline__ void mill_walk_any(const mill_device_network &net, mill_device_slice slice, int64_t list_first,
                                                  mill_device_spike spike, uint32_t turn, mill_window window, int64_t first, uint32_t lane,
                                                  uint32_t lanes)
{
  uint32_t row;
  const mill_device_projection &p = *mill_projection_of(net, slice, spike.neuron, turn, row);
  const mill_device_ring &ring = net.population[slice.population].ring[p.receptor];
  const mill_run_of_row run = mill_run(p, slice.index, row);
  for (uint32_t g = run.begin + lane; g < run.end; g += lanes) {
    const ushort4 four = ((const ushort4 *)p.target)[g];
#pragma unroll
    for (uint32_t j = 0; j < MILL_GROUP; j++) {
      const uint32_t target = j == 0 ? four.x : j == 1 ? four.y : j == 2 ? four.z : four.w;
      const uint64_t i = (uint64_t)g * MILL_GROUP + j;
      if (target == MILL_NO_NARROW_TARGET)
        continue;
      const MILL_CELL weight = mill_weight(p, i);
      const int64_t due = list_first + mill_delay(p, i);
      for (uint32_t m = spike.mask; m; m &= m - 1) {
        const int64_t step = due + (__ffs((int)m) - 1);
        if (step - first < window.steps)
          atomicAdd((MILL_ATOMIC *)window.cell + window.at(p.receptor, (uint32_t)(step - first)) + target, (MILL_ATOMIC)weight);
        else
          mill_ring_add(ring, step, slice.first + target, weight);
      }
    }
  }
}

static __device__ __forceinline__ void mill_add_four(MILL_CELL *cell, ushort4 four, MILL_CELL weight)
{
  MILL_ATOMIC *to = (MILL_ATOMIC *)cell;
  atomicAdd(to + four.x, (MILL_ATOMIC)weight); /* a group's first is never padding */
  if (four.y != MILL_NO_NARROW_TARGET)
    atomicAdd(to + four.y, (MILL_ATOMIC)weight);
  if (four.z != MILL_NO_NARROW_TARGET)
    atomicAdd(to + four.z, (MILL_ATOMIC)weight);
  if (four.w != MILL_NO_NARROW_TARGET)
    atomicAdd(to + four.w, (MILL_ATOMIC)weight);
}

/* Looks up the run of one spike. */
static __device__ __forceinline__ void mill_find(const mill_device_network &net, const mill_device_slice &slice, const mill_list &list,
                                                 const mill_device_spike &spike, uint32_t turn, const mill_window &window,
                                                 mill_found_run &found, uint32_t &weight)
{
  uint32_t row;
  const mill_device_projection *p = mill_projection_of(net, slice, spike.neuron, turn, row);
  found.groups = 0;
  if (!p || mill_is_plastic(*p))
    return;
  const mill_run_of_row run = mill_run(*p, slice.index, row);
  const uint32_t step = __ffs((int)spike.mask) - 1 + p->delay_all - list.steps;
  found.target = (const ushort4 *)p->target + run.begin;
  found.groups = run.end - run.begin;
  found.cell = p->weight_bits == 0 && p->delay_bits == 0 && (spike.mask & (spike.mask - 1)) == 0 && step < window.steps
                 ? window.at(p->receptor, step)
                 : UNEVEN;
  weight = (uint32_t)p->weight_all;
}

/* Most projections from one population into the slice's. */
static __device__ __forceinline__ uint32_t mill_turns(const mill_device_network &net, const mill_device_slice &slice)
{
  const uint32_t *begin = net.into_begin + slice.population * net.populations;
  uint32_t turns = 0;
  for (uint32_t s = 0; s < net.populations; s++)
    turns = begin[s + 1] - begin[s] > turns ? begin[s + 1] - begin[s] : turns;
  return turns;
}

/* The spikes of a list into a slice, by all threads of the block. `found` and `weight` are shared, one of each a thread. */
static __device__ __forceinline__ void mill_into_slice(const mill_device_network &net, const mill_device_slice &slice, const mill_list &list,
                                                       const mill_window &window, int64_t first, uint32_t lanes, mill_found_run *found,
                                                       uint32_t *weight)
{
  const uint32_t warp = threadIdx.x / 32, thread = threadIdx.x % 32, warps = blockDim.x / 32;
  const uint32_t lane = thread % lanes, team = thread / lanes, teams = 32 / lanes, turns = mill_turns(net, slice);
  uint32_t tile = (list.count + warps - 1) / warps;
  tile = tile > 32 ? 32 : tile < teams ? teams : tile;
  found += warp * 32;
  weight += warp * 32;
  for (uint32_t turn = 0; turn < turns; turn++) {
    for (uint32_t begin = warp * tile; begin < list.count; begin += warps * tile) {
      const uint32_t n = list.count - begin < tile ? list.count - begin : tile;
      if (thread < n)
        mill_find(net, slice, list, list.spike[begin + thread], turn, window, found[thread], weight[thread]);
      __syncwarp();
      for (uint32_t k = team; k < n; k += AT_ONCE * teams) {
        ushort4 four[AT_ONCE];
#pragma unroll
        for (uint32_t u = 0; u < AT_ONCE; u++) {
          const uint32_t j = k + u * teams;
          if (j < n && lane < found[j].groups && found[j].cell != UNEVEN)
            four[u] = found[j].target[lane];
        }
#pragma unroll
        for (uint32_t u = 0; u < AT_ONCE; u++) {
          const uint32_t j = k + u * teams;
          if (j >= n || lane >= found[j].groups)
            continue;
          if (found[j].cell == UNEVEN) {
            mill_walk_any(net, slice, list.first, list.spike[begin + j], turn, window, first, lane, lanes);
            continue;
          }
          mill_add_four(window.cell + found[j].cell, four[u], (MILL_CELL)(MILL_SIGNED)(int32_t)weight[j]);
          for (uint32_t g = lane + lanes; g < found[j].groups; g += lanes) {
            const ushort4 more = found[j].target[g];
            mill_add_four(window.cell + found[j].cell, more, (MILL_CELL)(MILL_SIGNED)(int32_t)weight[j]);
          }
        }
      }
      __syncwarp();
    }
  }
}

/* Plastic synapses of all slices, one slice after the other, into the rings, a synapse a thread: how many are visited differs between slices, so
   no block owns one. A slice may be as wide as a target can be written in 16 bits. */
static __device__ __forceinline__ void mill_visit_all(const mill_device_network &net, const mill_list &list)
{
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (uint32_t q = 0; q < net.projections && list.entries; q++) {
    const mill_device_projection &p = net.projection[q];
    if (!mill_is_plastic(p))
      continue;
    const mill_device_population &source = net.population[p.source];
    const mill_to_ring out = {net.population[p.target_population].ring[p.receptor]};
    uint32_t lanes = 4;
    while (lanes < blockDim.x && 2 * lanes <= p.longest) /* four synapses a thread, or more */
      lanes *= 2;
    lanes = mill_team(lanes, threads, (uint64_t)p.slices * list.entries);
    const uint32_t lane = thread % lanes;
    uint32_t slice = 0, k = thread / lanes;
    for (;; k += threads / lanes) {
      slice += k / list.entries; /* in one step: few entries among many teams go round the slices many times */
      k %= list.entries;
      if (slice >= p.slices)
        break;
      const mill_device_spike spike = mill_entry(list, k);
      const uint32_t row = spike.neuron - source.first;
      if (row >= source.size)
        continue;
      const mill_run_of_row run = mill_run(p, slice, row);
      mill_visit_run<uint16_t>(net, p, list, spike, row, MILL_GROUP * (uint64_t)run.begin + lane, MILL_GROUP * (uint64_t)run.end, lanes,
                               slice * p.width, out);
    }
  }
}

MILL_KERNEL __launch_bounds__(256, 4) mill_visit_rows(MILL_NETWORK, uint32_t slot, uint32_t steps, uint32_t unused)
{
  mill_visit_all(net, mill_last(net, mill_epoch_at(net, slot, steps)));
}

MILL_KERNEL __launch_bounds__(MOST_THREADS, 1) mill_epoch(MILL_NETWORK, uint32_t slot, uint32_t steps, uint32_t lanes)
{
  MILL_DYNAMIC_SHARED(MILL_CELL, cells);
  __shared__ uint32_t count, at;
  const mill_now now = mill_epoch_at(net, slot, steps);
  const mill_list list = mill_last(net, now);
  const uint64_t base = mill_list_begin(net, now);
  const mill_device_slice slice = net.slice[blockIdx.x];
  const mill_device_population &pop = net.population[slice.population];
  const mill_window window = {cells, steps, slice.count};
  const uint32_t all = pop.receptors * steps * slice.count;
  unsigned char *behind = (unsigned char *)cells + ((size_t)all * sizeof(MILL_CELL) + 15) / 16 * 16;
  const mill_collector collector = {(mill_device_spike *)behind, &count};
  if (threadIdx.x == 0)
    count = 0;
  if (now.batch->ring_live) {
    for (uint32_t c = threadIdx.x; c < all; c += blockDim.x) {
      const mill_from_ring from = {pop.ring, now.first, slice.first + c % slice.count};
      cells[c] = from.take(c / slice.count / steps, c / slice.count % steps);
    }
  } else {
    for (uint32_t c = threadIdx.x; c < (all * sizeof(MILL_CELL) + 15) / 16; c += blockDim.x)
      ((uint4 *)cells)[c] = make_uint4(0, 0, 0, 0);
  }
  __syncthreads();
  mill_into_slice(net, slice, list, window, now.first, lanes, (mill_found_run *)behind,
                  (uint32_t *)(behind + blockDim.x * sizeof(mill_found_run)));
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < slice.count; i += blockDim.x) {
    const mill_from_window from = {window, i};
    mill_collect(collector, pop.first + slice.first + i, mill_advance_any(net, pop, now, slice.first + i, from));
  }
  __syncthreads();
  mill_append(net, now, base, collector, &at);
}

/* The spikes of the last epoch into the rings, and nothing else: a window of no steps. */
MILL_KERNEL __launch_bounds__(MOST_THREADS, 1) mill_settle(MILL_NETWORK, uint32_t slot, uint32_t steps, uint32_t lanes)
{
  __shared__ mill_found_run found[MOST_THREADS];
  __shared__ uint32_t weight[MOST_THREADS];
  const mill_now now = mill_epoch_at(net, slot, steps);
  const mill_window nothing = {0, 0, 0};
  mill_into_slice(net, net.slice[blockIdx.x], mill_last(net, now), nothing, now.first, lanes, found, weight);
  mill_visit_all(net, mill_last(net, now));
}
