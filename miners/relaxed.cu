#line 2 "miners/relaxed.cu" /* behind tiles.cu in one text */
/* The relaxed machine (relaxed.h) on a device: low bounds are dropped, and a node has one time, the latest. */

struct mill_relaxed {
  MILL_TIME *time, *high;       /* [nodes][threads]: the latest time at which the nodes up to this one have ended; the gap behind it */
  uint32_t *types;              /* [level][threads] */
  uint32_t length, place, stride, count;
  uint64_t ended;               /* the set of the nodes that have a time */

  __device__ __forceinline__ uint32_t type(uint32_t i) const { return types[i * stride + place]; }
  __device__ __forceinline__ void take(uint32_t event_type, MILL_TIME now, uint32_t event)
  {
    (void)event;
    for (uint32_t i = length; i-- > 0;) {
      if (type(i) != event_type)
        continue;
      if (i && !(ended >> (i - 1) & 1 && now - time[(i - 1) * stride + place] <= high[(i - 1) * stride + place]))
        continue;
      if (i + 1 == length) {
        ended = 0;
        count++;
        return;
      }
      time[i * stride + place] = now;
      ended |= (uint64_t)1 << i;
    }
  }
};

/* One thread per episode, whose bounds these are. */
MILL_KERNEL relaxed_count(MILL_STREAM, const mill_batch batch, uint32_t *counts)
{
  MILL_DYNAMIC_SHARED(MILL_TIME, shared);
  __shared__ MILL_TIME time[TILE];
  __shared__ uint32_t type[TILE];
  const uint32_t threads = blockDim.x, nodes = batch.level - 1;
  MILL_TIME *high = shared + nodes * threads;
  uint32_t *types = (uint32_t *)(high + nodes * threads);
  const mill_tile tile = {time, type, types + batch.level * threads};
  const uint32_t i = blockIdx.x * threads + threadIdx.x, mine = i < batch.count ? i : batch.count - 1, k = candidate_of(batch, mine);
  mill_relaxed machine = {shared, high, types, batch.level, threadIdx.x, threads, 0, 0};
  for (uint32_t node = 0; node < batch.level; node++) {
    types[node * threads + threadIdx.x] = batch.type[(uint64_t)k * batch.level + node];
    if (node < nodes)
      high[node * threads + threadIdx.x] = stream.interval[batch.interval[(uint64_t)k * nodes + node]].high;
  }
  take_events(stream, machine, tile, batch.rows, 0, stream.events, 0, i < batch.count ? stream.events : 0);
  if (i < batch.count)
    counts[i] = machine.count;
}
