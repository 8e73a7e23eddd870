
/* Many streams: a warp to an episode and a stream. The ends of the episode's parent lie there by time, so that neither windows nor the places of
   events in the stream are needed: an event of the last type looks up the newest end that is further back than the low bound. */

/* Ends of a level's episodes, in `streams` streams: those of the episode at `at` in stream s are time[s * events + at] … and start[…]: the
   order of the first event. count: [streams][slots]; 0: the ends of types, which are their events. */
struct mill_ends_in {
  MILL_TIME *time;
  uint32_t *start, *count;
  uint64_t events;
  uint32_t slots, reserved;
};
struct mill_node {
  uint64_t from, to; /* where the ends of its parent and its own are */
  uint32_t type, interval;
  uint32_t parent;   /* the slot, or type, of its parent */
  uint32_t slot;     /* its own; ALL_LANES: its ends are not kept */
  uint32_t number, reserved;
};

static_assert(sizeof(mill_ends_in) == 40 && sizeof(mill_node) == 40, "as in latest-start-streams.h");

/* How many of `count` times, ascending, are before `until`; `from` of them are known to. */
static __device__ __forceinline__ uint32_t times_before(const MILL_TIME *time, uint32_t count, uint32_t from, MILL_TIME until)
{
  uint32_t step = 1, left;
  while (step < count - from && time[from + step - 1] < until) {
    from += step;
    step *= 2;
  }
  left = step < count - from ? step : count - from;
  while (left) {
    const uint32_t half = left / 2;
    if (time[from + half] < until) {
      from += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return from;
}

/* Times are at least 0, so that what lies a bound before one is a number too. */
MILL_KERNEL latest_start_streams(MILL_STREAM, uint32_t streams, const mill_node *node, uint32_t nodes,
                                 const __grid_constant__ mill_ends_in from, const __grid_constant__ mill_ends_in to, uint32_t *counts,
                                 uint32_t episodes)
{
  const uint32_t lane = threadIdx.x % WARP;
  const uint64_t warps = (uint64_t)gridDim.x * (blockDim.x / WARP), all = (uint64_t)streams * nodes;
  for (uint64_t i = (uint64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP; i < all; i += warps) {
    const uint64_t s = i / nodes;
    const mill_node mine = node[i % nodes];
    const mill_gap gap = stream.interval[mine.interval];
    const uint32_t first = stream.first[mine.type], events = stream.first[mine.type + 1] - first;
    const MILL_TIME *time = stream.type_time + s * stream.events + first, *end = from.time + s * from.events + mine.from;
    const uint32_t *order = stream.type_order + s * stream.events + first, *begin = from.start + s * from.events + mine.from;
    const uint32_t ends = from.count ? from.count[s * from.slots + mine.parent] : stream.first[mine.parent + 1] - stream.first[mine.parent];
    const uint64_t put = s * to.events + mine.to;
    uint32_t count = 0, found = 0, last = 0, before = 0;
    for (uint64_t next = 0; ends && next < events; next += WARP) {
      const uint64_t q = next + lane;
      uint32_t rank = before, at = 0, start = 0;
      MILL_TIME now = 0;
      if (q < events) {
        now = time[q];
        at = order[q];
        rank = times_before(end, ends, before, now - gap.low);
        if (rank && now - end[rank - 1] <= gap.high)
          start = begin[rank - 1] + 1;
      }
      before = __shfl_sync(ALL_LANES, rank, 0);
      count += __popc(take_ends(at, start, last));
      if (mine.slot != ALL_LANES) {
        const uint32_t is = __ballot_sync(ALL_LANES, start != 0);
        if (start) {
          const uint64_t place = put + found + __popc(is & ((1u << lane) - 1));
          to.time[place] = now;
          to.start[place] = start - 1;
        }
        found += __popc(is);
      }
    }
    if (lane == 0) {
      counts[s * episodes + mine.number] = count;
      if (mine.slot != ALL_LANES)
        to.count[s * to.slots + mine.slot] = found;
    }
  }
}
