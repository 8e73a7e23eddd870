/* Events in order of (time, unit) from the spikes of a simulation on the same device, which are listed epoch by epoch, in each in any order.
   A block takes an epoch, step by step: it sets a bit for each unit that fires, and takes the bits out in order. */

/* As in spike-log.h: an epoch's list, which steps first … end - 1 of it are wanted, and the tick of step 0 less that of the first event. */
struct mill_log_spike {
  uint32_t unit, mask;
};
struct mill_log_epoch {
  const mill_log_spike *spike; /* [count] */
  int64_t tick;
  uint32_t count, steps; /* steps: bit b for step b */
};
static_assert(sizeof(mill_log_epoch) == 24, "as on the host");

/* events: how many there are of each epoch. */
MILL_KERNEL mill_log_count(const mill_log_epoch *epoch, uint32_t epochs, uint32_t *events)
{
  __shared__ mill_sort_room room;
  for (uint64_t e = blockIdx.x; e < epochs; e += gridDim.x) {
    uint32_t sum = 0, all;
    for (uint32_t k = threadIdx.x; k < epoch[e].count; k += MILL_SORT_THREADS)
      sum += __popc(epoch[e].spike[k].mask & epoch[e].steps);
    mill_sort_before(room, sum, all);
    if (!threadIdx.x)
      events[e] = all;
  }
}

/* Writes times and units, those of an epoch from before[epoch] on, and marks the units. A block has `words` of bits, each thread the same number
   of them; more units than bits are taken part by part. */
MILL_KERNEL mill_log_write(const mill_log_epoch *epoch, uint32_t epochs, const uint32_t *before, uint32_t units, uint32_t words, MILL_TIME *time,
                           uint32_t *unit, uint32_t *mark)
{
  __shared__ mill_sort_room room;
  MILL_DYNAMIC_SHARED(uint32_t, bits);
  const uint32_t each = words / MILL_SORT_THREADS, own = threadIdx.x * each;
  for (uint64_t e = blockIdx.x; e < epochs; e += gridDim.x) {
    const mill_log_epoch mine = epoch[e];
    uint32_t at = before[e];
    for (uint32_t left = mine.steps; left; left &= left - 1) {
      const uint32_t step = (uint32_t)__ffs((int)left) - 1;
      for (uint64_t part = 0; part < units; part += 32 * (uint64_t)words) {
        uint32_t count = 0, all;
        for (uint32_t w = threadIdx.x; w < words; w += MILL_SORT_THREADS)
          bits[w] = 0;
        __syncthreads();
        for (uint32_t k = threadIdx.x; k < mine.count; k += MILL_SORT_THREADS) {
          const mill_log_spike spike = mine.spike[k];
          const uint64_t bit = spike.unit - part; /* of a unit before the part: large */
          if (spike.mask >> step & 1 && bit < 32 * (uint64_t)words)
            atomicOr(&bits[bit / 32], 1u << bit % 32);
        }
        __syncthreads();
        for (uint32_t w = 0; w < each; w++)
          count += __popc(bits[own + w]);
        uint32_t to = at + mill_sort_before(room, count, all);
        for (uint32_t w = 0; w < each; w++)
          for (uint32_t set = bits[own + w]; set; set &= set - 1, to++) {
            const uint32_t u = (uint32_t)(part + 32 * (own + w)) + (uint32_t)__ffs((int)set) - 1;
            time[to] = (MILL_TIME)(mine.tick + step);
            unit[to] = u;
            mark[u] = 1;
          }
        at += all;
        __syncthreads();
      }
    }
  }
}

/* Units become types: how many marked ones there are before each is in `before`. */
MILL_KERNEL mill_log_types(uint32_t *type, uint32_t events, const uint32_t *before)
{
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < events; i += (uint64_t)gridDim.x * blockDim.x)
    type[i] = before[type[i]];
}
