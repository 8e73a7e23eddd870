/* Surrogates of a recording, many at a time: those of core/surrogates.c, to the bit. The events of a train are moved by a thread each or, where a
   choice depends on the ones before, all of a train by one thread. Then sorted runs are merged two by two, first within the trains, then trains with
   trains: where an event goes is how many of its own run and of the other one come before it, which one search tells. The host defines
   MILL_TIME and MILL_TICKS, the type of times without a sign. */
#include <spikemill/device.h>
#include "core/cuda/kernel.cu"

/* In the order of times, then of places, which are all different. */
struct alignas(2 * sizeof(MILL_TICKS)) mill_moved {
  MILL_TICKS time; /* since the beginning of the recording */
  uint32_t place;
};

struct mill_trains {
  /* The recording, train by train. */
  const MILL_TICKS *time;
  const uint32_t *place, *train; /* [events] */
  const uint32_t *first;         /* [trains + 1] */
  const uint32_t *type;          /* [trains]: for draws */
  const MILL_TICKS *apart;       /* [trains]: the least interval */
  /* Surrogates, one after the other: [surrogates][events]. */
  mill_moved *moved[2];
  uint32_t *rank; /* at a place: where its event stands in its train, by time */
  MILL_TIME *to_time, *to_type_time;
  uint32_t *to_type, *to_order, *to_type_order;
  uint64_t key, width, reach;
  uint32_t events, trains, surrogates, kind, strict, reserved;
};

static_assert(sizeof(mill_trains) == 160 && sizeof(mill_moved) == 2 * sizeof(MILL_TICKS), "as in core/cuda/device-surrogates.c");
#define MILL_TRAINS const __grid_constant__ mill_trains t

/* As enum mill_surrogate. */
enum { MILL_MOVE_DITHER, MILL_MOVE_DITHER_REFRACTORY, MILL_MOVE_ISI_SHUFFLE, MILL_MOVE_SHIFT };

/* The thread's event i of each of its surrogates s. */
#define MILL_EACH_EVENT(s, i)                                                                                                      \
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;                                                              \
  if (i >= t.events)                                                                                                               \
    return;                                                                                                                        \
  for (uint32_t s = blockIdx.y; s < t.surrogates; s += gridDim.y)

static __device__ __forceinline__ uint64_t between(uint64_t bits, uint64_t low, uint64_t high)
{
  return low + mill_below(bits, high - low + 1);
}

static __device__ __forceinline__ uint64_t key_of(const mill_trains &t, uint64_t first, uint32_t s)
{
  return mill_mix(t.key + first + s);
}

/* Lays out the events of surrogates first, first + 1, …, moved when each moves by itself. */
MILL_KERNEL surrogates_lay(MILL_TRAINS, uint64_t first)
{
  MILL_EACH_EVENT(s, i)
  {
    const uint32_t train = t.train[i];
    const uint64_t n = i - t.first[train], now = t.time[i], key = key_of(t, first, s), last = t.width - 1;
    uint64_t time = now;
    if (t.kind == MILL_MOVE_DITHER) {
      const mill_u64x2 pair = mill_random_pair(key, t.type[train], n >> 1);
      time = between(pair.x[n & 1], now > t.reach ? now - t.reach : 0, last - now > t.reach ? now + t.reach : last);
    }
    if (t.kind == MILL_MOVE_SHIFT) {
      const uint64_t by = mill_below(mill_random(key, t.type[train], 0), t.width);
      time = t.width - now > by ? now + by : by - (t.width - now);
    }
    t.moved[0][(uint64_t)s * t.events + i] = {(MILL_TICKS)time, t.place[i]};
  }
}

/* Draws 0, 1, … of a train, two of a block of 128 bits. */
struct mill_draws {
  uint64_t key, type, next;
  mill_u64x2 pair;

  __device__ __forceinline__ mill_draws(uint64_t k, uint64_t train) : key(k), type(train), next(0), pair() {}
  __device__ __forceinline__ uint64_t operator()()
  {
    if (!(next & 1))
      pair = mill_random_pair(key, type, next >> 1);
    return pair.x[next++ & 1];
  }
};

static __device__ __forceinline__ void dither_refractory(const mill_trains &t, mill_draws &draw, mill_moved *event, uint32_t n, uint64_t apart)
{
  const uint64_t visits = mill_random(draw.key, draw.type, ~(uint64_t)0), last = t.width - 1;
  for (uint32_t k = 0; k < n; k++) {
    const uint64_t i = mill_feistel(visits, n, k), now = event[i].time;
    const uint64_t back = i ? now - event[i - 1].time - apart : now;
    const uint64_t on = i + 1 < n ? event[i + 1].time - now - apart : last - now;
    event[i].time = (MILL_TICKS)between(draw(), now - (back < t.reach ? back : t.reach), now + (on < t.reach ? on : t.reach));
  }
}

static __device__ __forceinline__ void shuffle_intervals(mill_draws &draw, mill_moved *event, uint32_t n)
{
  for (uint32_t i = n; i-- > 1;)
    event[i].time -= event[i - 1].time;
  for (uint32_t i = n; i-- > 2;) {
    const uint64_t k = between(draw(), 1, i);
    const MILL_TICKS interval = event[i].time;
    event[i].time = event[k].time;
    event[k].time = interval;
  }
  for (uint32_t i = 1; i < n; i++)
    event[i].time += event[i - 1].time;
}

/* A train of a surrogate to a thread: those of which one event moves after the other. They stay in order. */
MILL_KERNEL surrogates_move(MILL_TRAINS, uint64_t first)
{
  const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; at < (uint64_t)t.surrogates * t.trains; at += threads) {
    const uint32_t s = (uint32_t)(at / t.trains), train = (uint32_t)(at % t.trains), from = t.first[train];
    mill_moved *event = t.moved[0] + (uint64_t)s * t.events + from;
    mill_draws draw(key_of(t, first, s), t.type[train]);
    if (t.kind == MILL_MOVE_DITHER_REFRACTORY)
      dither_refractory(t, draw, event, t.first[train + 1] - from, t.apart[train]);
    else
      shuffle_intervals(draw, event, t.first[train + 1] - from);
  }
}

static __device__ __forceinline__ bool is_before(const mill_moved &a, const mill_moved &b)
{
  return a.time < b.time || (a.time == b.time && a.place < b.place);
}

/* How many of the events first … stop - 1, which are sorted, come before one. */
static __device__ __forceinline__ uint64_t number_before(const mill_moved *event, uint64_t first, uint64_t stop, const mill_moved &mine)
{
  uint64_t at = first;
  while (at < stop) {
    const uint64_t middle = at + (stop - at) / 2;
    if (is_before(event[middle], mine))
      at = middle + 1;
    else
      stop = middle;
  }
  return at - first;
}

/* Merges runs of `length` events of a train two by two or, when `trains` is not 0, all of so many trains with as many others. */
MILL_KERNEL surrogates_merge(MILL_TRAINS, uint32_t which, uint64_t length, uint32_t trains)
{
  MILL_EACH_EVENT(s, i)
  {
    const mill_moved *from = t.moved[which] + (uint64_t)s * t.events;
    mill_moved *to = t.moved[which ^ 1] + (uint64_t)s * t.events;
    const uint32_t train = t.train[i];
    uint64_t first, middle, stop;
    if (trains) {
      const uint64_t group = train / (2 * (uint64_t)trains) * 2 * trains;
      first = t.first[group];
      middle = t.first[min(group + trains, (uint64_t)t.trains)];
      stop = t.first[min(group + 2 * (uint64_t)trains, (uint64_t)t.trains)];
    } else {
      const uint64_t begin = t.first[train], end = t.first[train + 1];
      first = begin + (i - begin) / (2 * length) * 2 * length;
      middle = min(first + length, end);
      stop = min(first + 2 * length, end);
    }
    const mill_moved mine = from[i];
    to[i < middle ? i + number_before(from, middle, stop, mine) : i - (middle - first) + number_before(from, first, middle, mine)] = mine;
  }
}

/* The trains, each in order. */
MILL_KERNEL surrogates_trains(MILL_TRAINS, uint32_t which)
{
  MILL_EACH_EVENT(s, i)
  {
    const uint64_t at = (uint64_t)s * t.events;
    const mill_moved mine = t.moved[which][at + i];
    t.to_type_time[at + i] = (MILL_TIME)mine.time;
    t.rank[at + mine.place] = (uint32_t)i;
  }
}

/* All of them in order. When ties are strict an event's order is that of the first one of its time. */
MILL_KERNEL surrogates_order(MILL_TRAINS, uint32_t which)
{
  MILL_EACH_EVENT(s, i)
  {
    const uint64_t at = (uint64_t)s * t.events;
    const mill_moved *event = t.moved[which] + at;
    const mill_moved mine = event[i];
    const uint32_t j = t.rank[at + mine.place];
    const uint32_t order = (uint32_t)(t.strict ? number_before(event, 0, i, {mine.time, 0}) : i);
    t.to_time[at + i] = (MILL_TIME)mine.time;
    t.to_type[at + i] = t.train[j];
    t.to_order[at + i] = order;
    t.to_type_order[at + j] = order;
  }
}

#define MILL_ROWS 64u /* surrogates that a thread adds up */

/* Adds up how often each episode occurs in the surrogates, [surrogates][episodes], and in how many as often as `least` says. */
MILL_KERNEL surrogates_tally(const uint32_t *counts, uint32_t surrogates, uint32_t episodes, const uint32_t *least, uint32_t *reached,
                             uint64_t *sum)
{
  const uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= episodes)
    return;
  for (uint64_t from = blockIdx.y * (uint64_t)MILL_ROWS; from < surrogates; from += gridDim.y * (uint64_t)MILL_ROWS) {
    const uint64_t stop = min(from + MILL_ROWS, (uint64_t)surrogates);
    uint32_t often = 0;
    uint64_t all = 0;
    for (uint64_t s = from; s < stop; s++) {
      const uint32_t count = counts[s * episodes + k];
      often += count >= least[k];
      all += count;
    }
    atomicAdd(reached + k, often);
    atomicAdd(sum + k, all);
  }
}
