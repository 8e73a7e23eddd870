/* The arrays of a stream (struct mill_device_stream), made from the times and types of its events in order: the order of events, and the events
   type by type. These come from a stable counting sort by eight bits of the type at a time, least first, so that any number of types is
   sorted. Blocks take runs of events: each counts the digits of its run, a scan over (digit, run) says where each goes, and the blocks put
   them there. A short stream is the work of one block, in one launch. */
#define MILL_SORT_THREADS 256u /* of a block; as many as there are digits */
#define MILL_SORT_WARPS (MILL_SORT_THREADS / 32u)
#define MILL_SORT_ALL 0xffffffffu

/* As in miner-stream.c. */
struct mill_sorting {
  const MILL_TIME *time;   /* [events] */
  const uint32_t *type;    /* [events] */
  uint32_t *order;         /* [events] */
  uint32_t *first;         /* [types + 1] */
  MILL_TIME *type_time;    /* [events] */
  uint32_t *type_order;    /* [events] */
  uint32_t *sorted;        /* [events] types in order */
  uint32_t *place[2];      /* [events] which event stands where, after all passes but the last; 0 when there is one */
  uint32_t *table;         /* [MILL_SORT_THREADS][runs] */
  uint32_t events, types, strict, passes;
  uint32_t runs, run;      /* events of a run: a multiple of the threads */
};
static_assert(sizeof(mill_sorting) == 104, "as on the host");

/* Shared memory of a block. */
struct mill_sort_room {
  uint32_t at[MILL_SORT_THREADS];                       /* events of each digit; then where the next of them goes */
  uint32_t of_warp[MILL_SORT_WARPS][MILL_SORT_THREADS]; /* of each digit: events of a warp; then where they go */
  uint32_t sum[MILL_SORT_WARPS];
};

/* The sum over the threads before this one; `all`: over all. */
static __device__ __forceinline__ uint32_t mill_sort_before(mill_sort_room &room, uint32_t value, uint32_t &all)
{
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t sum = value, before = 0;
  for (uint32_t step = 1; step < 32; step *= 2) {
    const uint32_t other = __shfl_up_sync(MILL_SORT_ALL, sum, step);
    sum += lane >= step ? other : 0;
  }
  if (lane == 31)
    room.sum[warp] = sum;
  __syncthreads();
  all = 0;
  for (uint32_t w = 0; w < MILL_SORT_WARPS; w++) {
    before += w < warp ? room.sum[w] : 0;
    all += room.sum[w];
  }
  __syncthreads();
  return before + sum - value;
}

/* Whether an event's time is another one than that of the event before it. */
static __device__ __forceinline__ uint32_t mill_sort_later(const mill_sorting &s, uint64_t i)
{
  return i && s.time[i] != s.time[i - 1];
}

/* The order of events from … to - 1, `rank` being that of the one before. */
static __device__ void mill_sort_order(const mill_sorting &s, mill_sort_room &room, uint64_t from, uint64_t to, uint32_t rank)
{
  for (uint64_t tile = from; tile < to; tile += MILL_SORT_THREADS) {
    const uint64_t i = tile + threadIdx.x;
    if (s.strict) {
      uint32_t all;
      const uint32_t later = i < to ? mill_sort_later(s, i) : 0, before = mill_sort_before(room, later, all);
      if (i < to)
        s.order[i] = rank + before + later;
      rank += all;
    } else if (i < to) {
      s.order[i] = (uint32_t)i;
    }
  }
}

/* The event at place i before a pass, and the pass' digit of it. */
static __device__ __forceinline__ uint32_t mill_sort_event(const mill_sorting &s, uint32_t pass, uint64_t i)
{
  return pass ? s.place[(pass - 1) % 2][i] : (uint32_t)i;
}
static __device__ __forceinline__ uint32_t mill_sort_digit(uint32_t type, uint32_t pass)
{
  return type >> 8 * pass & (MILL_SORT_THREADS - 1);
}

/* room.at: how often each digit comes in places from … to - 1. */
static __device__ void mill_sort_count(const mill_sorting &s, mill_sort_room &room, uint32_t pass, uint64_t from, uint64_t to)
{
  room.at[threadIdx.x] = 0;
  __syncthreads();
  for (uint64_t i = from + threadIdx.x; i < to; i += MILL_SORT_THREADS)
    atomicAdd(&room.at[mill_sort_digit(s.type[mill_sort_event(s, pass, i)], pass)], 1u);
  __syncthreads();
}

/* Puts what is in places from … to - 1 where room.at says, which moves on. Those of a tile that share a digit keep their order: warps by
   of_warp, lanes by their number. */
static __device__ void mill_sort_place(const mill_sorting &s, mill_sort_room &room, uint32_t pass, uint64_t from, uint64_t to)
{
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int last = pass + 1 == s.passes;
  for (uint64_t tile = from; tile < to; tile += MILL_SORT_THREADS) {
    const uint64_t i = tile + threadIdx.x;
    const int here = i < to;
    const uint32_t event = here ? mill_sort_event(s, pass, i) : 0, type = here ? s.type[event] : 0;
    const uint32_t digit = here ? mill_sort_digit(type, pass) : MILL_SORT_THREADS;
    const uint32_t same = __match_any_sync(MILL_SORT_ALL, digit), rank = __popc(same & ((1u << lane) - 1));
    for (uint32_t w = 0; w < MILL_SORT_WARPS; w++)
      room.of_warp[w][threadIdx.x] = 0;
    __syncthreads();
    if (here && !rank)
      room.of_warp[warp][digit] = __popc(same);
    __syncthreads();
    uint32_t at = room.at[threadIdx.x];
    for (uint32_t w = 0; w < MILL_SORT_WARPS; w++) {
      const uint32_t n = room.of_warp[w][threadIdx.x];
      room.of_warp[w][threadIdx.x] = at;
      at += n;
    }
    room.at[threadIdx.x] = at;
    __syncthreads();
    if (here) {
      const uint32_t to_place = room.of_warp[warp][digit] + rank;
      if (last) {
        s.sorted[to_place] = type;
        s.type_time[to_place] = s.time[event];
        s.type_order[to_place] = s.order[event];
      } else {
        s.place[pass % 2][to_place] = event;
      }
    }
    __syncthreads();
  }
}

/* Where each type begins: by thread `thread` of so many. */
static __device__ void mill_sort_first(const mill_sorting &s, uint64_t thread, uint64_t threads)
{
  for (uint64_t i = thread; i <= s.events; i += threads) {
    const uint64_t end = i < s.events ? s.sorted[i] : s.types;
    for (uint64_t e = i ? s.sorted[i - 1] + (uint64_t)1 : 0; e <= end; e++)
      s.first[e] = (uint32_t)i;
  }
}

/* All of it, by one block. */
MILL_KERNEL mill_stream_whole(const mill_sorting s)
{
  __shared__ mill_sort_room room;
  mill_sort_order(s, room, 0, s.events, 0);
  for (uint32_t pass = 0; pass < s.passes; pass++) {
    uint32_t all;
    mill_sort_count(s, room, pass, 0, s.events);
    const uint32_t at = mill_sort_before(room, room.at[threadIdx.x], all);
    room.at[threadIdx.x] = at;
    __syncthreads();
    mill_sort_place(s, room, pass, 0, s.events);
  }
  mill_sort_first(s, threadIdx.x, MILL_SORT_THREADS);
}

/* The run of a block. */
static __device__ __forceinline__ void mill_sort_run(const mill_sorting &s, uint64_t &from, uint64_t &to)
{
  from = (uint64_t)blockIdx.x * s.run;
  to = from + s.run < s.events ? from + s.run : s.events;
}

/* table: how many events of each run have another time than the one before. */
MILL_KERNEL mill_stream_ties(const mill_sorting s)
{
  uint64_t from, to;
  uint32_t count = 0;
  mill_sort_run(s, from, to);
  for (uint64_t tile = from; tile < to; tile += MILL_SORT_THREADS) {
    const uint64_t i = tile + threadIdx.x;
    count += (uint32_t)__syncthreads_count(i < to && mill_sort_later(s, i));
  }
  if (!threadIdx.x)
    s.table[blockIdx.x] = count;
}

/* The first entries of the table become the sums of those before each. By one block. */
MILL_KERNEL mill_stream_scan(const mill_sorting s, uint32_t entries)
{
  __shared__ mill_sort_room room;
  uint32_t before = 0;
  for (uint32_t tile = 0; tile < entries; tile += 4 * MILL_SORT_THREADS) {
    const uint32_t i = tile + 4 * threadIdx.x;
    uint32_t value[4], sum = 0, all;
    for (uint32_t k = 0; k < 4; k++) {
      value[k] = i + k < entries ? s.table[i + k] : 0;
      sum += value[k];
    }
    uint32_t at = before + mill_sort_before(room, sum, all);
    for (uint32_t k = 0; k < 4; k++) {
      if (i + k < entries)
        s.table[i + k] = at;
      at += value[k];
    }
    before += all;
  }
}

MILL_KERNEL mill_stream_order(const mill_sorting s)
{
  __shared__ mill_sort_room room;
  uint64_t from, to;
  mill_sort_run(s, from, to);
  mill_sort_order(s, room, from, to, s.strict ? s.table[blockIdx.x] : 0);
}

MILL_KERNEL mill_stream_count(const mill_sorting s, uint32_t pass)
{
  __shared__ mill_sort_room room;
  uint64_t from, to;
  mill_sort_run(s, from, to);
  mill_sort_count(s, room, pass, from, to);
  s.table[(uint64_t)threadIdx.x * s.runs + blockIdx.x] = room.at[threadIdx.x];
}

MILL_KERNEL mill_stream_place(const mill_sorting s, uint32_t pass)
{
  __shared__ mill_sort_room room;
  uint64_t from, to;
  mill_sort_run(s, from, to);
  room.at[threadIdx.x] = s.table[(uint64_t)threadIdx.x * s.runs + blockIdx.x];
  __syncthreads();
  mill_sort_place(s, room, pass, from, to);
}

MILL_KERNEL mill_stream_first(const mill_sorting s)
{
  mill_sort_first(s, (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, (uint64_t)gridDim.x * blockDim.x);
}
