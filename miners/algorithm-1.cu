#line 2 "miners/algorithm-1.cu" /* behind tiles.cu in one text */
/* Algorithm 1 (Cao et al. 2009, section IV) on a device: for each node but the last a list of times at which an occurrence of the nodes up to
   it has ended since the last whole one. Of a list only the oldest time that is not out of reach is looked at: it is the furthest back within
   the high bound, so that it is above the low bound when any is.

   PTPE is one thread per episode. A list that is full loses its oldest time; when that is not out of reach, the thread says so instead of a
   count, and the host counts the episode again with lists as long as they can ever have to be.

   MapConcatenate is one thread per episode, segment of the stream and machine (mapconcatenate.h says why that is exact). Machine 0 of a
   segment starts as far before it as an occurrence can reach, as if no occurrence had been completed there; machine i after the i-th
   event of the last type in that reach, as if one had been completed at it and none since. Each leaves a tuple: how many occurrences it
   completes in the segment, and which machine of the next segment goes on from where it ends. A tree of joins makes one of all segments.
   A cut in a burst, where the reach has more such events than there are machines, is none for that episode: the machines of the segment
   before go on, and those of the segment behind it pass on what they get. */

#define NO_COUNT 0xffffffffu
#define MACHINES 16u

/* What machines know of their nodes: [nodes][threads of the block]. */
struct mill_nodes {
  MILL_TIME *list; /* [nodes][list][threads], here or in the device's memory */
  mill_gap *gap;
  uint32_t *type, *first, *held; /* held: how many times the list has; the oldest is number `first` */
  uint32_t side;                 /* threads of a row of `list` */
};

struct mill_machine {
  mill_nodes nodes;
  uint32_t length, mask, place, list_place, stride;
  uint32_t begin; /* occurrences are counted that end at this event or later; */
  uint32_t alive; /* one before it: this machine is not wanted */
  uint32_t strict, count, last; /* last: the event at which the last of them ends */
  uint32_t lost;  /* 1: a list was too short */
  MILL_TIME completed;

  __device__ __forceinline__ uint32_t type(uint32_t i) const { return nodes.type[i * stride + place]; }
  __device__ __forceinline__ MILL_TIME &time(uint32_t i, uint32_t number) const
  {
    return nodes.list[(i * (mask + 1) + (number & mask)) * (uint64_t)nodes.side + list_place];
  }
  __device__ __forceinline__ void clear() const
  {
    for (uint32_t i = 0; i + 1 < length; i++)
      nodes.held[i * stride + place] = 0;
  }
  /* Whether an event at `now` reaches back to an occurrence of nodes 0 … i. */
  __device__ __forceinline__ bool reaches(uint32_t i, MILL_TIME now) const
  {
    const uint32_t at = i * stride + place;
    const mill_gap gap = nodes.gap[at];
    uint32_t first = nodes.first[at], held = nodes.held[at];
    while (held && now - time(i, first) > gap.high) {
      first++;
      held--;
    }
    nodes.first[at] = first;
    nodes.held[at] = held;
    return held && now - time(i, first) > gap.low;
  }
  __device__ __forceinline__ void push(uint32_t i, MILL_TIME now)
  {
    const uint32_t at = i * stride + place;
    uint32_t first = nodes.first[at], held = nodes.held[at];
    if (held > mask) {
      lost |= !(now - time(i, first) > nodes.gap[at].high);
      nodes.first[at] = ++first;
      held--;
    }
    time(i, first + held) = now;
    nodes.held[at] = held + 1;
  }
  /* From the last node to the first, so that an event does not serve two. */
  __device__ __forceinline__ void take(uint32_t event_type, MILL_TIME now, uint32_t event)
  {
    if (!alive || (strict && count && now == completed))
      return;
    for (uint32_t i = length; i-- > 0;) {
      if (type(i) != event_type || (i && !reaches(i - 1, now)))
        continue;
      if (i + 1 < length) {
        push(i, now);
        continue;
      }
      clear();
      alive = event >= begin;
      count++;
      last = event;
      completed = now;
      return;
    }
  }
};

/* The block's shared memory: the lists where they are there, the nodes, the rows of the tile. As ptpe-device.h counts its bytes. */
static __device__ __forceinline__ mill_nodes share(const mill_batch &batch, MILL_TIME *shared, mill_tile &tile)
{
  const uint32_t threads = blockDim.x, nodes = batch.level - 1;
  mill_nodes n;
  n.list = batch.lists ? batch.lists : shared;
  n.side = batch.lists ? batch.count : threads;
  n.gap = (mill_gap *)(shared + (batch.lists ? 0 : nodes * batch.list * threads));
  n.type = (uint32_t *)(n.gap + nodes * threads);
  n.first = n.type + batch.level * threads;
  n.held = n.first + nodes * threads;
  tile.row = n.held + nodes * threads;
  return n;
}

/* An empty machine of candidate `candidate`, in the thread's place. */
static __device__ __forceinline__ mill_machine make_machine(const mill_device_stream &stream, const mill_batch &batch, const mill_nodes &nodes,
                                                            uint32_t candidate, uint32_t list_place)
{
  mill_machine m = {nodes, batch.level, batch.list - 1, threadIdx.x, list_place, blockDim.x, 0, 1, stream.strict, 0, 0, 0, 0};
  const uint32_t *type = batch.type + (uint64_t)candidate * batch.level;
  const uint32_t *interval = batch.interval + (uint64_t)candidate * (batch.level - 1);
  for (uint32_t i = 0; i < batch.level; i++) {
    const uint32_t at = i * m.stride + m.place;
    nodes.type[at] = type[i];
    if (i + 1 < batch.level) {
      nodes.gap[at] = stream.interval[interval[i]];
      nodes.first[at] = nodes.held[at] = 0;
    }
  }
  return m;
}

/* The most events of a type within the high bound of an interval, over the nodes of a batch's candidates: most[types][intervals]. */
MILL_KERNEL algorithm_1_longest(const mill_batch batch, const uint32_t *most, uint32_t intervals, uint32_t *longest)
{
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x, nodes = batch.level - 1;
  uint32_t mine = 1;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < batch.count * nodes; i += step) {
    const uint64_t k = candidate_of(batch, (uint32_t)(i / nodes)), node = i % nodes;
    const uint32_t bound = most[(uint64_t)batch.type[k * batch.level + node] * intervals + batch.interval[k * nodes + node]];
    mine = bound > mine ? bound : mine;
  }
  for (uint32_t lanes = 16; lanes; lanes /= 2) {
    const uint32_t other = __shfl_xor_sync(0xffffffffu, mine, (int)lanes);
    mine = other > mine ? other : mine;
  }
  if (threadIdx.x % 32 == 0)
    atomicMax(longest, mine);
}

MILL_KERNEL ptpe_count(MILL_STREAM, const mill_batch batch, uint32_t *counts)
{
  MILL_DYNAMIC_SHARED(MILL_TIME, shared);
  __shared__ MILL_TIME time[TILE];
  __shared__ uint32_t type[TILE];
  mill_tile tile = {time, type, 0};
  const mill_nodes nodes = share(batch, shared, tile);
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, mine = i < batch.count ? i : batch.count - 1;
  mill_machine machine = make_machine(stream, batch, nodes, candidate_of(batch, mine), mine);
  if (!batch.lists)
    machine.list_place = threadIdx.x;
  take_events(stream, machine, tile, batch.rows, 0, stream.events, 0, i < batch.count ? stream.events : 0);
  if (i < batch.count)
    counts[i] = machine.lost ? NO_COUNT : machine.count;
}

/* ---- MapConcatenate ---- */

struct mill_tuple {
  uint32_t count, next; /* next: the machine of the segment that follows */
};

/* The events of the last type before a cut that lie within the reach of an occurrence: first … end - 1 of the stream's, type by type. */
struct mill_reach {
  uint32_t first, end;
};

/* The first i of first … end - 1 for which value[i] is at least `least`, or `end`. */
static __device__ uint32_t lower_bound(const uint32_t *value, uint32_t first, uint32_t end, uint32_t least)
{
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (value[middle] < least)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* The first of time[first … end - 1] that is no more than `span` before `until`; none of them is after it. */
static __device__ uint32_t first_within(const MILL_TIME *time, uint32_t first, uint32_t end, MILL_TIME until, MILL_TIME span)
{
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (until - time[middle] > span)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

static __device__ mill_reach reach_of(const mill_device_stream &stream, uint32_t type, uint32_t cut, MILL_TIME span)
{
  const uint32_t first = stream.first[type], end = lower_bound(stream.type_order, first, stream.first[type + 1], stream.order[cut]);
  return {first_within(stream.type_time, first, end, stream.time[cut], span), end};
}

/* The longest that an occurrence can last. */
static __device__ MILL_TIME span_of(const mill_device_stream &stream, const mill_machine &m)
{
  const MILL_TIME most = sizeof(MILL_TIME) == 4 ? (MILL_TIME)0x7fffffff : (MILL_TIME)0x7fffffffffffffffll;
  MILL_TIME span = 0;
  for (uint32_t i = 0; i + 1 < m.length; i++) {
    const MILL_TIME high = m.nodes.gap[i * m.stride + m.place].high;
    span = high > most - span ? most : span + high;
  }
  return span;
}

/* Whether there are machines for all that may have happened before a cut, which is not at the stream's end. */
static __device__ bool is_cut(const mill_reach &reach)
{
  return reach.end - reach.first < MACHINES;
}

/* Segment s is events cut[s] … cut[s + 1] - 1, and those of the segments behind it whose cuts are none. `blocks` blocks a segment; a thread takes
   candidate i and machine i / count. tuple: [count][segments][MACHINES]; lost: [count] is set where a list was too small. */
MILL_KERNEL map_segments(MILL_STREAM, const mill_batch batch, const uint32_t *cut, uint32_t segments, uint32_t blocks, mill_tuple *tuple,
                         uint32_t *lost)
{
  MILL_DYNAMIC_SHARED(MILL_TIME, shared);
  __shared__ MILL_TIME time[TILE];
  __shared__ uint32_t type[TILE];
  __shared__ uint32_t from, to;
  mill_tile tile = {time, type, 0};
  const mill_nodes nodes = share(batch, shared, tile);
  const uint32_t s = blockIdx.x / blocks, begin = cut[s];
  const uint32_t i = blockIdx.x % blocks * blockDim.x + threadIdx.x, k = i % batch.count, number = i / batch.count;
  mill_machine machine = make_machine(stream, batch, nodes, candidate_of(batch, k), threadIdx.x);
  const uint32_t last_type = machine.type(batch.level - 1);
  mill_reach before = {0, 0};
  uint32_t start = stream.events, stop = 0, next = s + 1; /* next: the segment that follows */
  if (threadIdx.x == 0) {
    from = stream.events;
    to = 0;
  }
  __syncthreads();
  machine.begin = begin;
  if (number < MACHINES && begin < stream.events) {
    const MILL_TIME span = span_of(stream, machine);
    before = reach_of(stream, last_type, begin, span);
    if (is_cut(before) && number == 0)
      start = first_within(stream.time, 0, begin, stream.time[begin], span);
    else if (is_cut(before) && number <= before.end - before.first)
      start = lower_bound(stream.order, 0, begin, stream.type_order[before.first + number - 1] + 1);
    if (start < stream.events) {
      while (cut[next] < stream.events && !is_cut(reach_of(stream, last_type, cut[next], span)))
        next++;
      stop = cut[next];
      atomicMin(&from, start);
      atomicMax(&to, stop);
    }
  }
  __syncthreads();
  take_events(stream, machine, tile, batch.rows, from, to, start, stop);
  if (number >= MACHINES)
    return;
  mill_tuple out = {0, is_cut(before) ? 0 : number};
  if (start < stream.events && machine.alive) {
    out.count = machine.count;
    if (stop < stream.events) {
      const mill_reach after = reach_of(stream, last_type, stop, span_of(stream, machine));
      uint32_t at = before.first + number - 1; /* of the last completion */
      if (machine.count)
        at = lower_bound(stream.type_order, stream.first[last_type], after.end, stream.order[machine.last]);
      if ((machine.count || number) && at >= after.first)
        out.next = at - after.first + 1;
    }
  }
  if (machine.lost)
    lost[k] = 1;
  tuple[((uint64_t)k * segments + s) * MACHINES + number] = out;
}

/* A block for each candidate: joins neighbours, then neighbours of these, and so on. */
MILL_KERNEL map_join(mill_tuple *tuple, uint32_t segments, const uint32_t *lost, uint32_t *counts)
{
  mill_tuple *mine = tuple + (uint64_t)blockIdx.x * segments * MACHINES;
  for (uint32_t step = 1; step < segments; step *= 2) {
    for (uint32_t i = threadIdx.x; i < segments / (2 * step) * MACHINES; i += blockDim.x) {
      const uint32_t left = i / MACHINES * 2 * step;
      mill_tuple *a = &mine[left * MACHINES + i % MACHINES];
      const mill_tuple b = mine[(left + step) * MACHINES + a->next];
      *a = {a->count + b.count, b.next};
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    counts[blockIdx.x] = lost[blockIdx.x] ? NO_COUNT : mine->count;
}
