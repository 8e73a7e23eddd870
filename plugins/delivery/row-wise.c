/* Row-wise delivery: for each spike the source's row is walked, target by target. A worker takes the part of the row that lies in its
   slice, found by binary search since rows are sorted by target. The baseline of Spice (Bautembach et al. 2021, section 3). */
#include <stdlib.h>

#include <spikemill/delivery.h>

static int applicable(const struct mill_network *network, char *why, size_t size)
{
  (void)network;
  (void)why;
  (void)size;
  return 1;
}

static uint32_t slice_width(uint32_t size, uint32_t threads)
{
  return size / threads + (size % threads != 0);
}

static int prepare(const struct mill_host *host, const void *params, const struct mill_network *network, void **self,
                   struct mill_error *error)
{
  (void)host;
  (void)params;
  (void)error;
  *self = (void *)(uintptr_t)network;
  return 0;
}

static void release(const struct mill_host *host, void *self)
{
  (void)host;
  (void)self;
}

#define AHEAD 2 /* spikes between asking for a row and walking it */

/* First synapse of row[low … high) whose target is ≥ target, searched from `guess` outwards: where targets are spread evenly the guess
   is close, and the search touches lines of memory that the delivery will read anyway. */
static uint64_t seek(const uint32_t *column, uint64_t low, uint64_t high, uint64_t guess, uint32_t target)
{
  uint64_t reach = 8;
  while (guess > low && column[guess - 1] >= target) { /* the answer is below the guess: bring high down, low near */
    high = guess;
    guess = guess - low > reach ? guess - reach : low;
    reach *= 2;
  }
  low = guess;
  for (reach = 8; high - low > reach && column[low + reach] < target; reach *= 2)
    low += reach;
  high = high - low > reach ? low + reach : high;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (column[middle] < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Adds synapses begin … end-1 of a projection for a spike of one step. One function per kind of storage; `base` is the step. */
typedef void add_function(const struct mill_projection *p, const struct mill_ring *ring, uint64_t begin, uint64_t end, uint64_t base);

#define ADD(name, cell_type, weight_of, delay_of)                                                                                \
  static void name(const struct mill_projection *p, const struct mill_ring *ring, uint64_t begin, uint64_t end, uint64_t base)   \
  {                                                                                                                              \
    cell_type *cell = (cell_type *)ring->cell;                                                                                   \
    const uint32_t *column = p->column;                                                                                          \
    for (uint64_t i = begin; i < end; i++)                                                                                       \
      cell[((base + (delay_of)) & ring->mask) * ring->stride + column[i]] += (cell_type)(weight_of);                             \
  }
#define ADD_SAME_DELAY(name, cell_type, weight_of)                                                                               \
  static void name(const struct mill_projection *p, const struct mill_ring *ring, uint64_t begin, uint64_t end, uint64_t base)   \
  {                                                                                                                              \
    cell_type *cell = (cell_type *)ring->cell + ((base + p->delay_all) & ring->mask) * ring->stride;                             \
    const uint32_t *column = p->column;                                                                                          \
    for (uint64_t i = begin; i < end; i++)                                                                                       \
      cell[column[i]] += (cell_type)(weight_of);                                                                                 \
  }
#define W0 p->weight_all
#define W16 ((const int16_t *)p->weight)[i]
#define W32 ((const int32_t *)p->weight)[i]
#define D8 ((const uint8_t *)p->delay)[i]
#define D16 ((const uint16_t *)p->delay)[i]
ADD_SAME_DELAY(add_32_w0_d0, uint32_t, W0)
ADD_SAME_DELAY(add_32_w16_d0, uint32_t, W16)
ADD_SAME_DELAY(add_32_w32_d0, uint32_t, W32)
ADD_SAME_DELAY(add_64_w0_d0, uint64_t, W0)
ADD_SAME_DELAY(add_64_w16_d0, uint64_t, W16)
ADD_SAME_DELAY(add_64_w32_d0, uint64_t, W32)
ADD(add_32_w0_d8, uint32_t, W0, D8)
ADD(add_32_w16_d8, uint32_t, W16, D8)
ADD(add_32_w32_d8, uint32_t, W32, D8)
ADD(add_64_w0_d8, uint64_t, W0, D8)
ADD(add_64_w16_d8, uint64_t, W16, D8)
ADD(add_64_w32_d8, uint64_t, W32, D8)
ADD(add_32_w0_d16, uint32_t, W0, D16)
ADD(add_32_w16_d16, uint32_t, W16, D16)
ADD(add_32_w32_d16, uint32_t, W32, D16)
ADD(add_64_w0_d16, uint64_t, W0, D16)
ADD(add_64_w16_d16, uint64_t, W16, D16)
ADD(add_64_w32_d16, uint64_t, W32, D16)

/* [cell bits == 64][weight: none, 16, 32 bits][delay: none, 8, 16 bits] */
static add_function *const add[2][3][3] = {
  {{add_32_w0_d0, add_32_w0_d8, add_32_w0_d16}, {add_32_w16_d0, add_32_w16_d8, add_32_w16_d16}, {add_32_w32_d0, add_32_w32_d8, add_32_w32_d16}},
  {{add_64_w0_d0, add_64_w0_d8, add_64_w0_d16}, {add_64_w16_d0, add_64_w16_d8, add_64_w16_d16}, {add_64_w32_d0, add_64_w32_d8, add_64_w32_d16}}};

/* Where in a row of n synapses the targets from `target` on should begin. */
static uint64_t expected(uint64_t n, uint32_t target, uint32_t size)
{
  return (uint64_t)((double)n * target / size);
}

/* Asks for the lines of a row that should hold its part for the slice. */
static void prefetch(const struct mill_projection *p, const struct mill_slice *slice, uint32_t size, uint32_t neuron)
{
  const uint64_t begin = p->row[neuron], n = p->row[neuron + 1] - begin;
  const char *line = (const char *)(p->column + begin + expected(n, slice->first, size));
  const char *end = (const char *)(p->column + begin + expected(n, slice->first + slice->count, size));
  for (line -= slice->first > 0 ? 64 : 0; line < end + 64; line += 64)
    __builtin_prefetch(line);
}

static uint64_t deliver_list(const struct mill_projection *p, const struct mill_population *target, const struct mill_slice *slice,
                             int64_t first, const struct mill_spike *spikes, uint32_t count)
{
  const struct mill_ring *ring = &target->ring[p->receptor];
  const uint32_t last = slice->first + slice->count;
  add_function *const add_run = add[ring->bits == 64][p->weight_bits / 16][p->delay_bits / 8];
  uint64_t events = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint64_t begin = p->row[spikes[k].neuron], end = p->row[spikes[k].neuron + 1], n = end - begin, from = begin;
    if (k + AHEAD < count)
      prefetch(p, slice, target->size, spikes[k + AHEAD].neuron);
    if (slice->first > 0)
      begin = seek(p->column, from, end, from + expected(n, slice->first, target->size), slice->first);
    if (last < target->size) {
      uint64_t guess = from + expected(n, last, target->size);
      end = seek(p->column, begin, end, guess > begin ? guess : begin, last);
    }
    for (uint32_t mask = spikes[k].mask; mask; mask &= mask - 1) {
      add_run(p, ring, begin, end, (uint64_t)first + (uint32_t)__builtin_ctz(mask));
      events += end - begin;
    }
  }
  return events;
}

static uint64_t deliver(void *self, const struct mill_epoch *epoch, const struct mill_slice *slice)
{
  const struct mill_network *network = (const struct mill_network *)self;
  const struct mill_population *target = &network->population[slice->population];
  uint64_t events = 0;
  for (uint32_t i = 0; i < network->projection_count; i++) {
    const struct mill_projection *p = &network->projection[i];
    if (p->target != slice->population || p->synapses == 0)
      continue;
    for (uint32_t s = epoch->slice_of[p->source]; s < epoch->slice_of[p->source + 1]; s++)
      events += deliver_list(p, target, slice, epoch->first, epoch->spikes[s], epoch->count[s]);
  }
  return events;
}

static const struct mill_delivery_ops ops = {applicable, slice_width, prepare, deliver, release};
MILL_PLUGIN(MILL_DELIVERY, MILL_CPU | MILL_EXACT, "row-wise", "each spike walks its row of targets",
            0, NULL, 0, ops);
