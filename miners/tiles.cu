/* One thread per episode (Cao et al. 2009, section V): the threads of a block go through the stream together, which comes to them through
   shared memory, a tile of events at a time, with a row of bits for each of some classes of types. A thread goes to the events of its own
   types through the rows, so that the others cost it a look at a word for 32 of them. What an episode does with an event is a machine: that
   of Algorithm 1 (algorithm-1.cu) or the relaxed one (relaxed.cu). What a machine knows of its nodes lies in shared memory, node by node, the
   threads side by side. */

#define TILE 1024u
#define WORDS (TILE / 32)
#define ROW (WORDS + 1) /* so that the words of one place lie in different banks */
#define ALL_EVENTS 0xffffffffu

/* Candidates of one level, at least 2, as the host has them. */
struct mill_batch {
  const uint32_t *type;     /* [count][level] */
  const uint32_t *interval; /* [count][level - 1] */
  const uint32_t *which;    /* [count] the candidates that are meant; 0: all */
  uint32_t count, level;
  uint32_t rows;            /* classes of types: a power of two */
  uint32_t list;            /* times of a list of Algorithm 1: a power of two */
  MILL_TIME *lists;         /* [level - 1][list][count], where they are not in shared memory */
};

static_assert(sizeof(mill_batch) == 48, "as in tiles-device.h");

struct mill_tile {
  MILL_TIME *time;  /* [TILE] */
  uint32_t *type;   /* [TILE] */
  uint32_t *row;    /* [rows][ROW]: bit i is set when event i is of the class */
};

static __device__ __forceinline__ uint32_t candidate_of(const mill_batch &batch, uint32_t i)
{
  return batch.which ? batch.which[i] : i;
}

/* By all threads of the block: events first … first + count - 1 into the tile. */
static __device__ void fill_tile(const mill_device_stream &stream, const mill_tile &tile, uint32_t rows, uint32_t first, uint32_t count)
{
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < rows * ROW; i += blockDim.x)
    tile.row[i] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t type = stream.type[first + i];
    tile.time[i] = stream.time[first + i];
    tile.type[i] = type;
    atomicOr(&tile.row[(type & (rows - 1)) * ROW + i / 32], 1u << i % 32);
  }
  __syncthreads();
}

/* Gives the machine the tile's events from … to - 1, which are the stream's from event `first` on. */
template <class Machine>
static __device__ __forceinline__ void take_tile(Machine &machine, const mill_tile &tile, uint32_t rows, uint32_t from, uint32_t to,
                                                 uint32_t first)
{
  for (uint32_t w = from / 32; 32 * w < to; w++) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < machine.length; i++)
      left |= tile.row[(machine.type(i) & (rows - 1)) * ROW + w];
    if (from > 32 * w)
      left &= ALL_EVENTS << (from - 32 * w);
    if (to < 32 * w + 32)
      left &= ALL_EVENTS >> (32 * w + 32 - to);
    for (; left; left &= left - 1) {
      const uint32_t i = 32 * w + __ffs((int)left) - 1;
      machine.take(tile.type[i], tile.time[i], first + i);
    }
  }
}

/* By all threads of the block: the events from … to - 1, of which the thread's machine takes start … stop - 1. */
template <class Machine>
static __device__ __forceinline__ void take_events(const mill_device_stream &stream, Machine &machine, const mill_tile &tile,
                                                   uint32_t rows, uint32_t from, uint32_t to, uint32_t start, uint32_t stop)
{
  for (uint32_t first = from, count; first < to; first += count) {
    count = to - first < TILE ? to - first : TILE;
    fill_tile(stream, tile, rows, first, count);
    if (start < first + count && stop > first)
      take_tile(machine, tile, rows, start > first ? start - first : 0, stop - first < count ? stop - first : count, first);
  }
}

/* The candidates whose counts are at least `least`: which[0 … *selected - 1], in any order. */
MILL_KERNEL tiles_select(const uint32_t *counts, uint32_t count, uint32_t least, uint32_t *which, uint32_t *selected)
{
  for (uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (uint64_t)gridDim.x * blockDim.x)
    if (counts[k] >= least)
      which[atomicAdd(selected, 1u)] = (uint32_t)k;
}

/* Puts counts where which[] says. */
MILL_KERNEL tiles_scatter(const uint32_t *counts, const uint32_t *which, uint32_t count, uint32_t *to)
{
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (uint64_t)gridDim.x * blockDim.x)
    to[which[i]] = counts[i];
}
