/* Candidates made, numbered and culled on a device, as levels.c has them on the host: those of a parent are the extensions of its suffix, which
   are neighbours among the frequent episodes of the level before; without repeats not those whose type is the parent's first. Episodes of a
   level stand by prefix, then by type and interval. */

#define MILL_SIEVE_THREADS 256u /* of a block, each with one parent or one candidate */

/* What the host reads after a batch. */
struct mill_sieve_state {
  uint64_t candidates;          /* of the next level; at most 2^64 - 1 */
  uint32_t frequent, taken;     /* of the level so far; of the batch */
  uint32_t arrived, reserved;   /* blocks that are done */
};

/* The extensions of a parent's suffix: those from `first` on, without `skipped` from `skip` on. Its candidates are numbers `start` and on,
   counted from the first of its block of parents. */
struct mill_sieve_family {
  uint64_t start;
  uint32_t first, skip, skipped, reserved;
};

struct mill_sieve_levels {
  const mill_device_frequent *level[65];
};

static_assert(sizeof(mill_sieve_state) == 24 && sizeof(mill_sieve_family) == 24, "as in candidates.c");

static __device__ __forceinline__ uint64_t mill_sieve_add(uint64_t a, uint64_t b)
{
  return a + b < a ? 0xffffffffffffffffu : a + b;
}

/* By all threads of a block: the sum of the values of those before, and of all. */
static __device__ __forceinline__ uint64_t mill_sieve_scan(uint64_t value, uint64_t &all)
{
  __shared__ uint64_t warp[MILL_SIEVE_THREADS / 32];
  const uint32_t lane = threadIdx.x % 32, w = threadIdx.x / 32;
  uint64_t sum = value, before = 0;
  for (uint32_t step = 1; step < 32; step *= 2) {
    const uint64_t left = __shfl_up_sync(0xffffffffu, sum, step);
    sum = lane >= step ? mill_sieve_add(sum, left) : sum;
  }
  if (lane == 31)
    warp[w] = sum;
  sum = __shfl_up_sync(0xffffffffu, sum, 1);
  __syncthreads();
  all = 0;
  for (uint32_t i = 0; i < MILL_SIEVE_THREADS / 32; i++) {
    before = i < w ? mill_sieve_add(before, warp[i]) : before;
    all = mill_sieve_add(all, warp[i]);
  }
  __syncthreads();
  return lane ? mill_sieve_add(before, sum) : before;
}

/* By all threads of a block, which has so much in all: sums[] is what each block has, and becomes what those before it have when the last one is
   done. Returns whether this is the last one; then *all is the sum. */
static __device__ bool mill_sieve_gather(mill_sieve_state *state, uint64_t *sums, uint64_t mine, uint64_t *all)
{
  __shared__ bool last;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = mine;
    __threadfence();
    last = atomicAdd(&state->arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last)
    return false;
  __threadfence();
  uint64_t before = 0;
  for (uint32_t first = 0; first < gridDim.x; first += MILL_SIEVE_THREADS) {
    const uint32_t i = first + threadIdx.x;
    uint64_t some;
    const uint64_t sum = mill_sieve_scan(i < gridDim.x ? *(volatile uint64_t *)&sums[i] : 0, some);
    if (i < gridDim.x)
      sums[i] = mill_sieve_add(before, sum);
    before = mill_sieve_add(before, some);
  }
  if (threadIdx.x == 0)
    state->arrived = 0;
  *all = before;
  return true;
}

/* The first of the episodes first … end - 1 whose prefix, or type, is at least `least`. */
static __device__ __forceinline__ uint32_t mill_sieve_bound(const mill_device_frequent *episode, uint32_t first, uint32_t end, uint32_t least,
                                                            bool by_type)
{
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if ((by_type ? episode[middle].type : episode[middle].prefix) < least)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* Numbers the candidates of the level that follows that of episode[0 … state->frequent - 1]. `each`: candidates of an extension. */
MILL_KERNEL mill_sieve_number(const mill_device_frequent *episode, uint32_t repeats, uint32_t each, mill_sieve_state *state,
                              mill_sieve_family *family, uint64_t *sums)
{
  const uint64_t i = (uint64_t)blockIdx.x * MILL_SIEVE_THREADS + threadIdx.x;
  const uint32_t n = state->frequent;
  mill_sieve_family mine = {0, 0, 0xffffffffu, 0, 0};
  uint64_t candidates = 0, all;
  if (i < n) {
    const uint32_t suffix = episode[i].suffix, type = episode[i].first;
    mine.first = mill_sieve_bound(episode, 0, n, suffix, false);
    const uint32_t end = suffix == 0xffffffffu ? n : mill_sieve_bound(episode, mine.first, n, suffix + 1, false);
    if (!repeats) {
      mine.skip = mill_sieve_bound(episode, mine.first, end, type, true);
      mine.skipped = (type == 0xffffffffu ? end : mill_sieve_bound(episode, mine.skip, end, type + 1, true)) - mine.skip;
    }
    candidates = (uint64_t)(end - mine.first - mine.skipped) * each;
  }
  mine.start = mill_sieve_scan(candidates, all);
  if (i < n)
    family[i] = mine;
  if (mill_sieve_gather(state, sums, all, &all) && threadIdx.x == 0)
    state->candidates = all;
}

/* Writes down candidates first … first + count - 1 of a level, whose parents are families 0 … parents - 1. */
MILL_KERNEL mill_sieve_make(const __grid_constant__ mill_sieve_levels levels, uint32_t level, uint32_t parents, const mill_sieve_family *family,
                            const uint64_t *sums, uint64_t first, uint32_t count, uint32_t each, mill_device_candidate *candidate,
                            uint32_t *types, uint32_t *intervals)
{
  const uint64_t k = (uint64_t)blockIdx.x * MILL_SIEVE_THREADS + threadIdx.x;
  if (k >= count)
    return;
  uint64_t number = first + k;
  uint32_t low = 0, high = (uint32_t)(((uint64_t)parents + MILL_SIEVE_THREADS - 1) / MILL_SIEVE_THREADS);
  while (high - low > 1) { /* sums[low] <= number */
    const uint32_t middle = low + (high - low) / 2;
    if (sums[middle] <= number)
      low = middle;
    else
      high = middle;
  }
  number -= sums[low];
  low *= MILL_SIEVE_THREADS;
  high = parents - low < MILL_SIEVE_THREADS ? parents : low + MILL_SIEVE_THREADS;
  while (high - low > 1) { /* family[low].start <= number */
    const uint32_t middle = low + (high - low) / 2;
    if (family[middle].start <= number)
      low = middle;
    else
      high = middle;
  }
  const mill_sieve_family mine = family[low];
  number -= mine.start;
  uint32_t at = mine.first + (uint32_t)(number / each);
  at += at >= mine.skip ? mine.skipped : 0;
  const mill_device_frequent last = levels.level[level - 1][at];
  const uint32_t interval = level == 2 ? (uint32_t)(number % each) : last.interval;
  candidate[k] = {low, at, last.type, interval};
  types += k * level;
  intervals += k * (level - 1);
  types[level - 1] = last.type;
  intervals[level - 2] = interval;
  for (uint32_t node = level - 1, index = low; node; node--) {
    const mill_device_frequent episode = levels.level[node][index];
    types[node - 1] = episode.type;
    if (node > 1)
      intervals[node - 2] = episode.interval;
    index = episode.prefix;
  }
}

/* How many of a batch's candidates reach the threshold: in all, and in the blocks before each. `base` ones of the level did before. */
MILL_KERNEL mill_sieve_cull(const uint32_t *result, uint32_t words, uint32_t count, uint64_t threshold, uint32_t base, mill_sieve_state *state,
                            uint64_t *sums)
{
  const uint64_t k = (uint64_t)blockIdx.x * MILL_SIEVE_THREADS + threadIdx.x;
  const int taken = __syncthreads_count(k < count && result[k * words] >= threshold);
  uint64_t all;
  if (mill_sieve_gather(state, sums, (uint64_t)taken, &all) && threadIdx.x == 0) {
    state->taken = (uint32_t)all;
    state->frequent = base + (uint32_t)all;
  }
}

/* Puts them at episode[0], [1], … in order. parent: the episodes of the level before. */
MILL_KERNEL mill_sieve_take(const uint32_t *result, uint32_t words, uint32_t count, uint64_t threshold, const mill_device_candidate *candidate,
                            const mill_device_frequent *parent, const uint64_t *sums, mill_device_frequent *episode)
{
  const uint64_t k = (uint64_t)blockIdx.x * MILL_SIEVE_THREADS + threadIdx.x;
  const bool taken = k < count && result[k * words] >= threshold;
  uint64_t all;
  const uint64_t rank = mill_sieve_scan(taken, all);
  if (!taken)
    return;
  const mill_device_candidate mine = candidate[k];
  episode[sums[blockIdx.x] + rank] = {mine.parent,
                                      mine.suffix,
                                      mine.type,
                                      mine.interval,
                                      parent[mine.parent].first,
                                      result[k * words],
                                      words > 1 ? result[k * words + 1] : 0,
                                      (uint32_t)k};
}

/* When a level grows: its episodes, and zeros behind them, since the host may fetch more than there are. */
MILL_KERNEL mill_sieve_move(mill_device_frequent *to, uint64_t room, const mill_device_frequent *from, uint32_t count)
{
  const uint64_t i = (uint64_t)blockIdx.x * MILL_SIEVE_THREADS + threadIdx.x;
  if (i < room)
    to[i] = i < count ? from[i] : mill_device_frequent{};
}
