/* Rules that give pairs of neurons, and lists of them: counted by runs, placed, scattered, and each run sorted by target and then by place in the
   list. A pair is made anew whenever it is needed. A program of its own. */
#include "core/cuda/connect-common.cu"

/* Pair i of the rule as source << 32 | target: core/connect-rows.c says which that is. */
static __device__ __noinline__ uint64_t mill_permuted(uint64_t key, uint64_t n, uint64_t i)
{
  return mill_feistel(key, n, i);
}

static __device__ __forceinline__ uint32_t mill_partner(const mill_device_connection &c, const mill_device_pairs &p, uint32_t neuron, uint64_t m)
{
  const uint64_t other =
      p.multapses ? mill_below(mill_random(c.key, neuron, m), p.partners) : mill_permuted(mill_random(c.key, neuron, 0), p.partners, m);
  return (uint32_t)(other + (c.no_autapses && other >= neuron));
}

static __device__ __forceinline__ void mill_pair_at(const mill_device_connection &c, const mill_device_pairs &p, uint64_t i, uint32_t *source,
                                                    uint32_t *target)
{
  if (p.rule == MILL_PAIRS_LISTED) {
    *source = p.source[i];
    *target = p.target[i];
  } else if (p.rule == MILL_PAIRS_BY_TARGET) {
    *target = (uint32_t)(i / p.n);
    *source = mill_partner(c, p, *target, i % p.n);
  } else if (p.rule == MILL_PAIRS_BY_SOURCE) {
    *source = (uint32_t)(i / p.n);
    *target = mill_partner(c, p, *source, i % p.n);
  } else {
    const uint64_t width = (uint64_t)c.targets - c.no_autapses, pairs = c.sources * width,
                   pair = p.multapses ? mill_below(mill_random(c.key, i, 0), pairs) : mill_permuted(c.key, pairs, i), other = pair % width;
    *source = (uint32_t)(pair / width);
    *target = (uint32_t)(other + (c.no_autapses && other >= *source));
  }
}

/* The run of a pair, as an index of `start`. */
static __device__ __forceinline__ uint64_t mill_run_index(const mill_device_connection &c, uint32_t source, uint32_t target)
{
  return (target / c.width * (uint64_t)c.blocks + source / MILL_ROWS) * (MILL_ROWS + 1) + source % MILL_ROWS;
}

#define MILL_PAIRS const __grid_constant__ mill_device_connection c, const __grid_constant__ mill_device_pairs p

MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_pairs_count(MILL_PAIRS)
{
  for (uint64_t i = blockIdx.x * (uint64_t)MILL_ROWS + threadIdx.x; i < p.items; i += (uint64_t)gridDim.x * MILL_ROWS) {
    uint32_t source, target;
    mill_pair_at(c, p, i, &source, &target);
    atomicAdd(&c.start[mill_run_index(c, source, target)], 1u);
    atomicAdd(&c.out_degree[source], 1u);
  }
}

MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_pairs_scatter(MILL_PAIRS)
{
  for (uint64_t i = blockIdx.x * (uint64_t)MILL_ROWS + threadIdx.x; i < p.items; i += (uint64_t)gridDim.x * MILL_ROWS) {
    uint32_t source, target;
    mill_pair_at(c, p, i, &source, &target);
    const uint64_t run = mill_run_index(c, source, target),
                   place = c.start[run] * (uint64_t)MILL_GROUP + atomicAdd(&p.length[run], 1u);
    if (p.narrow)
      ((uint16_t *)c.target)[place] = (uint16_t)(target % c.width);
    else
      ((uint32_t *)c.target)[place] = target;
    if (p.edge)
      p.edge[place] = (uint32_t)i;
  }
}

/* ---- Sorting ---------------------------------------------------------------------------------------------------------------- */

/* A run where it lies: target << 32 | place in the list. */
struct mill_run_memory {
  void *target;
  uint32_t *edge;
  uint32_t narrow;
  __device__ __forceinline__ uint64_t get(uint64_t i) const
  {
    const uint64_t high = narrow ? ((const uint16_t *)target)[i] : ((const uint32_t *)target)[i];
    return high << 32 | (edge ? edge[i] : 0);
  }
  __device__ __forceinline__ void put(uint64_t i, uint64_t key) const
  {
    if (narrow)
      ((uint16_t *)target)[i] = (uint16_t)(key >> 32);
    else
      ((uint32_t *)target)[i] = (uint32_t)(key >> 32);
    if (edge)
      edge[i] = (uint32_t)key;
  }
};

struct mill_shared_run {
  uint64_t *key;
  __device__ __forceinline__ uint64_t get(uint64_t i) const
  {
    return key[i];
  }
  __device__ __forceinline__ void put(uint64_t i, uint64_t x) const
  {
    key[i] = x;
  }
};

/* K. E. Batcher's bitonic sort (AFIPS Spring Joint Computer Conference 1968), all merges ascending, so that a run of any length is one of the next
   power of two whose end is not there. Thread `rank` of `threads` that meet at `barrier`. */
template <class memory, class waiter>
static __device__ __forceinline__ void mill_sort_run(const memory &run, uint64_t n, uint32_t rank, uint32_t threads, waiter barrier)
{
  for (uint64_t size = 2; size / 2 < n; size *= 2) {
    for (uint64_t half = size / 2; half; half /= 2) {
      for (uint64_t pair = rank;; pair += threads) {
        const uint64_t offset = pair & (half - 1), low = 2 * (pair - offset) + offset,
                       high = half == size / 2 ? low + 2 * (half - offset) - 1 : low + half;
        if (low >= n)
          break;
        if (high < n) {
          const uint64_t a = run.get(low), b = run.get(high);
          if (a > b) {
            run.put(low, b);
            run.put(high, a);
          }
        }
      }
      barrier();
    }
  }
}

#define MILL_WARP_RUN 256u  /* synapses that a warp sorts in shared memory */

/* A block sorts the runs of 256 rows in one slice: short ones warp by warp, then long ones all together. */
MILL_KERNEL __launch_bounds__(MILL_ROWS) mill_pairs_sort(MILL_PAIRS)
{
  __shared__ uint64_t key[MILL_WARPS][MILL_WARP_RUN];
  const uint64_t first = blockIdx.x * (uint64_t)(MILL_ROWS + 1);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, size = p.narrow ? 2 : 4;
  for (uint32_t r = warp; r < MILL_ROWS; r += MILL_WARPS) {
    const uint32_t n = p.length[first + r];
    const uint64_t at = c.start[first + r] * (uint64_t)MILL_GROUP;
    const mill_run_memory run = {(char *)c.target + at * size, p.edge ? p.edge + at : p.edge, p.narrow};
    if (n < 2 || n > MILL_WARP_RUN)
      continue;
    for (uint32_t i = lane; i < n; i += 32)
      key[warp][i] = run.get(i);
    __syncwarp();
    mill_sort_run(mill_shared_run{key[warp]}, n, lane, 32, [] { __syncwarp(); });
    for (uint32_t i = lane; i < n; i += 32)
      run.put(i, key[warp][i]);
    __syncwarp();
  }
  for (uint32_t r = 0; r < MILL_ROWS; r++) {
    const uint32_t n = p.length[first + r];
    const uint64_t at = c.start[first + r] * (uint64_t)MILL_GROUP;
    const mill_run_memory run = {(char *)c.target + at * size, p.edge ? p.edge + at : p.edge, p.narrow};
    if (n > MILL_WARP_RUN)
      mill_sort_run(run, n, threadIdx.x, MILL_ROWS, [] { __syncthreads(); });
  }
}
