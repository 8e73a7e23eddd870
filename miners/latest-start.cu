/* Latest-start propagation on a device (latest-start.c says what it is). Of each event and interval it is known which events lie in its
   *window*: those that the interval reaches back to. The *ends* of a prefix, in order, are the events at which it ends, each with its latest
   start. A warp takes a candidate: its lanes take events of the last type, 32 at a time, and look up the newest end of the prefix before the
   window's end; when that lies in the window, the event is an end of the candidate, with the same start. Of these ends the warp then takes
   one after the other whose start lies after the end taken before: their number is the count.

   With few candidates there is a warp for each segment of one: it takes ends as if nothing had been taken before its segment, and leaves
   marks of those that it took. A second kernel goes over the segments from left to right with the end that was really taken last, until it
   takes a marked one: from there on both take the same. */

#define WARP 32u
#define ALL_LANES 0xffffffffu

/* Events are told by their order. A start is order + 1; 0: there is none. */
struct mill_end {
  uint32_t at, start;
};
struct mill_ends {
  const mill_end *end; /* [count], ascending */
  uint32_t count, reserved;
};
/* The events whose order is low … high - 1. */
struct mill_window {
  uint32_t low, high;
};
struct mill_result {
  uint32_t count, ends;
};
/* A candidate whose ends are kept: where, and which of those that were counted it was. */
struct mill_target {
  mill_end *end;
  mill_device_candidate job;
  uint32_t which;
};
/* What a segment's warp leaves. */
struct mill_part {
  uint32_t count, last; /* ends taken; order + 1 of the last of them */
  uint32_t ends;        /* in all */
};

static_assert(sizeof(mill_end) == 8 && sizeof(mill_ends) == 16 && sizeof(mill_result) == 8 && sizeof(mill_target) == 32 &&
                  sizeof(mill_part) == 12,
              "as in latest-start-pool.h");

/* Windows of all events, type by type, for all intervals: [intervals][events]. And the ends of single types: their events. */
MILL_KERNEL latest_start_windows(MILL_STREAM, mill_window *window, mill_end *end)
{
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, threads = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = thread; i < stream.events; i += threads)
    end[i] = {stream.type_order[i], stream.type_order[i] + 1};
  for (uint64_t i = thread; i < (uint64_t)stream.events * stream.intervals; i += threads) {
    const mill_gap gap = stream.interval[i / stream.events];
    const MILL_TIME time = stream.type_time[i % stream.events];
    uint32_t bound[2];
    for (uint32_t k = 0; k < 2; k++) { /* the first event that comes no more than the high bound before, then the low bound */
      uint32_t first = 0, last = stream.events - 1;
      while (first < last) {
        const uint32_t middle = first + (last - first) / 2;
        if (stream.time[middle] < time && time - stream.time[middle] > (k ? gap.low : gap.high))
          first = middle + 1;
        else
          last = middle;
      }
      bound[k] = stream.order[first];
    }
    window[i] = {bound[0], bound[1]};
  }
}

/* How many of the ends lie before the event `until`; `from` of them are known to. In steps that double, then by halving. */
static __device__ __forceinline__ uint32_t ends_before(const mill_ends &ends, uint32_t from, uint32_t until)
{
  uint32_t step = 1, left;
  while (step < ends.count - from && ends.end[from + step - 1].at < until) {
    from += step;
    step *= 2;
  }
  left = step < ends.count - from ? step : ends.count - from;
  while (left) { /* it is among from … from + left */
    const uint32_t half = left / 2;
    if (ends.end[from + half].at < until) {
      from += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return from;
}

/* A candidate's events first … stop - 1 of its last type, 32 at a time. */
struct mill_walk {
  const mill_window *window;
  const uint32_t *order;
  mill_ends prefix;
  uint64_t next, stop;
  uint32_t before; /* ends of the prefix that lie before all windows to come */

  __device__ __forceinline__ mill_walk(const mill_device_stream &stream, const mill_window *windows, const mill_ends *parent,
                                       mill_device_candidate job, uint32_t from, uint32_t to)
    : window(windows + (uint64_t)job.interval * stream.events), order(stream.type_order), prefix(parent[job.parent]), next(from), stop(to),
      before(0)
  {
  }
  __device__ __forceinline__ bool more() const { return next < stop; }
  /* The lane's event: where it lies, and the start of the candidate's end at it, 0 when there is none. */
  __device__ __forceinline__ void take(uint32_t lane, uint32_t &at, uint32_t &start)
  {
    const uint64_t q = next + lane;
    uint32_t rank = before;
    at = start = 0;
    if (q < stop) {
      const mill_window w = window[q];
      at = order[q];
      rank = ends_before(prefix, before, w.high);
      if (rank && prefix.end[rank - 1].at >= w.low)
        start = prefix.end[rank - 1].start;
    }
    before = __shfl_sync(ALL_LANES, rank, 0); /* windows ascend: the first lane's is a bound for all that follow */
    next += WARP;
  }
};

/* Of the lanes' ends takes one after the other that starts after the last one taken. Returns the set of the lanes. */
static __device__ __forceinline__ uint32_t take_ends(uint32_t at, uint32_t start, uint32_t &last)
{
  uint32_t taken = 0;
  for (uint32_t can = __ballot_sync(ALL_LANES, start > last); can; can = __ballot_sync(ALL_LANES, start > last)) {
    const int lane = __ffs((int)can) - 1;
    last = __shfl_sync(ALL_LANES, at, lane) + 1;
    taken |= 1u << lane;
  }
  return taken;
}

/* Counts `jobs` candidates, a warp each. */
MILL_KERNEL latest_start_count(MILL_STREAM, const mill_window *window, const mill_ends *parent, const mill_device_candidate *job, uint32_t jobs,
                               mill_result *result)
{
  const uint32_t lane = threadIdx.x % WARP;
  const uint64_t k = (uint64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
  if (k >= jobs)
    return;
  const mill_device_candidate mine = job[k];
  mill_walk walk(stream, window, parent, mine, stream.first[mine.type], stream.first[mine.type + 1]);
  uint32_t count = 0, ends = 0, last = 0;
  while (walk.more()) {
    uint32_t at, start;
    walk.take(lane, at, start);
    ends += __popc(__ballot_sync(ALL_LANES, start != 0));
    count += __popc(take_ends(at, start, last));
  }
  if (lane == 0)
    result[k] = {count, ends};
}

/* Segment s of a candidate's events, in whole steps of 32. */
static __device__ __forceinline__ void segment_bounds(const mill_device_stream &stream, uint32_t type, uint32_t s, uint32_t segments,
                                                      uint32_t &from, uint32_t &to)
{
  const uint32_t first = stream.first[type], stop = stream.first[type + 1];
  const uint64_t steps = ((uint64_t)(stop - first) + WARP - 1) / WARP;
  const uint64_t begin = first + steps * s / segments * WARP, end = first + steps * (s + 1) / segments * WARP;
  from = begin < stop ? (uint32_t)begin : stop;
  to = end < stop ? (uint32_t)end : stop;
}

/* A warp for each segment of each candidate: [jobs][segments]. marks has a word for each 32 events: [jobs][words]. */
MILL_KERNEL latest_start_segments(MILL_STREAM, const mill_window *window, const mill_ends *parent, const mill_device_candidate *job, uint32_t jobs,
                                  uint32_t segments, mill_part *part, uint32_t *marks, uint32_t words)
{
  const uint32_t lane = threadIdx.x % WARP;
  const uint64_t i = (uint64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, k = i / segments;
  uint32_t from, to, count = 0, last = 0, ends = 0;
  if (k >= jobs)
    return;
  const mill_device_candidate mine = job[k];
  segment_bounds(stream, mine.type, (uint32_t)(i % segments), segments, from, to);
  uint32_t *mark = marks + k * words + (from - stream.first[mine.type]) / WARP;
  for (mill_walk walk(stream, window, parent, mine, from, to); walk.more(); mark++) {
    uint32_t at, start;
    walk.take(lane, at, start);
    const uint32_t taken = take_ends(at, start, last);
    count += __popc(taken);
    ends += __popc(__ballot_sync(ALL_LANES, start != 0));
    if (lane == 0)
      *mark = taken;
  }
  if (lane == 0)
    part[i] = {count, last, ends};
}

/* Joins the segments of each candidate from left to right, a warp each. */
MILL_KERNEL latest_start_join(MILL_STREAM, const mill_window *window, const mill_ends *parent, const mill_device_candidate *job, uint32_t jobs,
                              uint32_t segments, const mill_part *part, const uint32_t *marks, uint32_t words, mill_result *result)
{
  const uint32_t lane = threadIdx.x % WARP;
  const uint64_t k = (uint64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
  if (k >= jobs)
    return;
  const mill_device_candidate mine = job[k];
  uint32_t count = 0, last = 0, ends = 0;
  for (uint32_t s = 0; s < segments; s++) {
    const mill_part there = part[k * segments + s];
    ends += there.ends;
    if (!there.count) /* nor is there anything to take */
      continue;
    uint32_t from, to, passed = 0, met = 0; /* of the marked ones, those before the first that is taken here too */
    segment_bounds(stream, mine.type, s, segments, from, to);
    const uint32_t *mark = marks + k * words + (from - stream.first[mine.type]) / WARP;
    for (mill_walk walk(stream, window, parent, mine, from, to); walk.more() && !met; mark++) {
      uint32_t at, start, then = last;
      walk.take(lane, at, start);
      const uint32_t taken = take_ends(at, start, then), marked = *mark;
      met = taken & marked;
      if (met) {
        const uint32_t before = (met & (0 - met)) - 1;
        count += __popc(taken & before);
        passed += __popc(marked & before);
      } else {
        count += __popc(taken);
        passed += __popc(marked);
        last = then;
      }
    }
    if (met) {
      count += there.count - passed;
      last = there.last;
    }
  }
  if (lane == 0)
    result[k] = {count, ends};
}

/* Writes the ends of candidates, a warp for each segment; part is read when there are several. made: 0, or a table of what is written. */
MILL_KERNEL latest_start_write(MILL_STREAM, const mill_window *window, const mill_ends *parent, const mill_target *target, uint32_t targets,
                               uint32_t segments, const mill_part *part, mill_ends *made)
{
  const uint32_t lane = threadIdx.x % WARP;
  const uint64_t i = (uint64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, k = i / segments;
  const uint32_t s = (uint32_t)(i % segments);
  if (k >= targets)
    return;
  const mill_target mine = target[k];
  uint32_t from, to, ends = 0;
  for (uint32_t earlier = lane; earlier < s; earlier += WARP)
    ends += part[(uint64_t)mine.which * segments + earlier].ends;
  for (uint32_t step = WARP / 2; step; step /= 2)
    ends += __shfl_xor_sync(ALL_LANES, ends, (int)step);
  segment_bounds(stream, mine.job.type, s, segments, from, to);
  for (mill_walk walk(stream, window, parent, mine.job, from, to); walk.more();) {
    uint32_t at, start;
    walk.take(lane, at, start);
    const uint32_t is = __ballot_sync(ALL_LANES, start != 0);
    if (start)
      mine.end[ends + __popc(is & ((1u << lane) - 1))] = {at, start};
    ends += __popc(is);
  }
  if (made && lane == 0)
    made[k] = {mine.end, ends, 0};
}
