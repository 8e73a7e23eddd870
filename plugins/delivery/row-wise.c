/* Row-wise delivery: for each spike the source's row is walked, target by target. A worker takes the part of the row that lies in its
   slice; where rows are cut is found once, by binary search, since they are sorted by target. The baseline of Spice (Bautembach et al.
   2021, section 3). */
#include <stdint.h>

#include <spikemill/delivery.h>

#define AHEAD 2 /* spikes between asking for a row and walking it */

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

/* Where each row is cut: cut[i][row * (slices + 1) + s] is the first synapse of the row for slice s of the target; the last is the row's
   end. */
struct cuts {
  const struct mill_network *network;
  uint64_t *cut[]; /* [projection_count] */
};

static uint32_t slices_of(const struct mill_network *network, uint32_t population)
{
  return network->slice_of[population + 1] - network->slice_of[population];
}

static void cut_rows(const struct mill_network *network, const struct mill_projection *p, uint64_t *cut)
{
  const struct mill_slice *slice = &network->slice[network->slice_of[p->target]];
  const uint32_t slices = slices_of(network, p->target), sources = network->population[p->source].size;
  for (uint32_t row = 0; row < sources; row++) {
    uint64_t low = p->row[row];
    for (uint32_t s = 0; s < slices; s++) {
      uint64_t high = p->row[row + 1];
      while (low < high) { /* first target that is not below the slice */
        uint64_t middle = low + (high - low) / 2;
        if (p->column[middle] < slice[s].first)
          low = middle + 1;
        else
          high = middle;
      }
      *cut++ = low;
    }
    *cut++ = p->row[row + 1];
  }
}

static void release(const struct mill_host *host, void *self)
{
  struct cuts *cuts = (struct cuts *)self;
  for (uint32_t i = 0; cuts && i < cuts->network->projection_count; i++)
    host->release(cuts->cut[i]);
  host->release(cuts);
}

static int prepare(const struct mill_host *host, const void *params, const struct mill_network *network, void **self,
                   struct mill_error *error)
{
  struct cuts *cuts =
      (struct cuts *)host->allocate("row cuts", 1, sizeof *cuts + (network->projection_count + (size_t)1) * sizeof *cuts->cut);
  (void)params;
  if (!cuts)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  cuts->network = network;
  for (uint32_t i = 0; i < network->projection_count; i++) {
    const struct mill_projection *p = &network->projection[i];
    if (p->synapses == 0)
      continue;
    cuts->cut[i] = (uint64_t *)host->allocate("row cuts", network->population[p->source].size,
                                              (slices_of(network, p->target) + (size_t)1) * sizeof **cuts->cut);
    if (!cuts->cut[i]) {
      release(host, cuts);
      return host->fail(error, MILL_RESOURCES, "out of memory");
    }
    cut_rows(network, p, cuts->cut[i]);
  }
  *self = cuts;
  return 0;
}

/* Adds synapses begin … end-1 of a projection for a spike of one step. One function per kind of storage; `base` is the step. */
typedef void add_function(const struct mill_projection *p, const struct mill_ring *ring, uint64_t begin, uint64_t end,
                          uint64_t base);

#define ADD(name, cell_type, weight_of, delay_of)                                                                                  \
  static void name(const struct mill_projection *p, const struct mill_ring *ring, uint64_t begin, uint64_t end, uint64_t base)     \
  {                                                                                                                                \
    cell_type *cell = (cell_type *)ring->cell;                                                                                     \
    const uint32_t *column = p->column;                                                                                            \
    for (uint64_t i = begin; i < end; i++)                                                                                         \
      cell[((base + (delay_of)) & ring->mask) * ring->stride + column[i]] += (cell_type)(weight_of);                               \
  }
#define ADD_SAME_DELAY(name, cell_type, weight_of)                                                                                 \
  static void name(const struct mill_projection *p, const struct mill_ring *ring, uint64_t begin, uint64_t end, uint64_t base)     \
  {                                                                                                                                \
    cell_type *cell = (cell_type *)ring->cell + ((base + p->delay_all) & ring->mask) * ring->stride;                               \
    const uint32_t *column = p->column;                                                                                            \
    for (uint64_t i = begin; i < end; i++)                                                                                         \
      cell[column[i]] += (cell_type)(weight_of);                                                                                   \
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
static add_function *const add[2][3][3] = {{{add_32_w0_d0, add_32_w0_d8, add_32_w0_d16},
                                            {add_32_w16_d0, add_32_w16_d8, add_32_w16_d16},
                                            {add_32_w32_d0, add_32_w32_d8, add_32_w32_d16}},
                                           {{add_64_w0_d0, add_64_w0_d8, add_64_w0_d16},
                                            {add_64_w16_d0, add_64_w16_d8, add_64_w16_d16},
                                            {add_64_w32_d0, add_64_w32_d8, add_64_w32_d16}}};

static void prefetch(const uint32_t *column, const uint64_t *cut)
{
  for (uint64_t i = cut[0]; i < cut[1]; i += 16)
    __builtin_prefetch(column + i);
}

/* `cut` is that of row 0 and the slice, `stride` the distance to that of the next row. */
static uint64_t deliver_list(const struct mill_projection *p, const struct mill_ring *ring, const uint64_t *cut, uint64_t stride,
                             int64_t first, const struct mill_spike *spikes, uint32_t count)
{
  add_function *const add_run = add[ring->bits == 64][p->weight_bits / 16][p->delay_bits / 8];
  uint64_t events = 0;
  for (uint32_t k = 0; k < count; k++) {
    const uint64_t *part = cut + spikes[k].neuron * stride;
    if (k + 2 * AHEAD < count)
      __builtin_prefetch(cut + spikes[k + 2 * AHEAD].neuron * stride);
    if (k + AHEAD < count)
      prefetch(p->column, cut + spikes[k + AHEAD].neuron * stride);
    for (uint32_t mask = spikes[k].mask; mask; mask &= mask - 1) {
      add_run(p, ring, part[0], part[1], (uint64_t)first + (uint32_t)__builtin_ctz(mask));
      events += part[1] - part[0];
    }
  }
  return events;
}

/* The same for a plastic projection. */
static uint64_t deliver_entries(const struct mill_projection *p, const struct mill_ring *ring, const uint64_t *cut, uint64_t stride,
                                const struct mill_epoch *epoch)
{
  const struct mill_entries *entries = &epoch->entries[p->index];
  uint64_t events = 0;
  for (uint32_t k = 0; k < entries->count; k++) {
    const uint64_t *part = cut + entries->entry[k].source * stride;
    events += mill_deliver_row(p, ring, epoch, k, part[0], part[1]);
  }
  return events;
}

static uint64_t deliver(void *self, const struct mill_epoch *epoch, uint32_t slice)
{
  const struct cuts *cuts = (const struct cuts *)self;
  const struct mill_network *network = cuts->network;
  const uint32_t population = network->slice[slice].population, at = slice - network->slice_of[population];
  const uint64_t stride = slices_of(network, population) + UINT64_C(1);
  uint64_t events = 0;
  for (uint32_t i = 0; i < network->projection_count; i++) {
    const struct mill_projection *p = &network->projection[i];
    if (p->target != population || p->synapses == 0)
      continue;
    if (p->plastic)
      events += deliver_entries(p, &network->population[population].ring[p->receptor], cuts->cut[i] + at, stride, epoch);
    else
      events += deliver_list(p, &network->population[population].ring[p->receptor], cuts->cut[i] + at, stride, epoch->first,
                           epoch->spikes[p->source], epoch->count[p->source]);
  }
  return events;
}

static const struct mill_delivery_ops ops = {applicable, slice_width, prepare, deliver, release};
MILL_PLUGIN(MILL_DELIVERY, MILL_CPU | MILL_EXACT, "row-wise", "each spike walks its row of targets", 0, NULL, 0, ops);
