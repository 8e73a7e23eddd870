/* What the delivery strategies share: rows cut at the slices' borders, and the loops that add a part of a row to a ring. Rows are sorted by
   target, so a slice's part of a row is found by binary search, once. */
#ifndef ROWS_H
#define ROWS_H

#include <stdint.h>

#include <spikemill/delivery.h>

#define AHEAD 2 /* spikes between asking for a row and walking it */

/* Where each row is cut: cut[i][row * (slices + 1) + s], counted from the row's start, is the first synapse of the row for slice s of the
   target; the last is the row's length. */
struct cuts {
  const struct mill_network *network;
  uint32_t *cut[]; /* [projection_count] */
};

static inline uint32_t slices_of(const struct mill_network *network, uint32_t population)
{
  return network->slice_of[population + 1] - network->slice_of[population];
}

static inline void cut_rows(const struct mill_network *network, const struct mill_projection *p, uint32_t *cut)
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
      *cut++ = (uint32_t)(low - p->row[row]);
    }
    *cut++ = (uint32_t)(p->row[row + 1] - p->row[row]);
  }
}

static inline void cuts_free(const struct mill_host *host, struct cuts *cuts)
{
  for (uint32_t i = 0; cuts && i < cuts->network->projection_count; i++)
    host->release(cuts->cut[i]);
  host->release(cuts);
}

static inline struct cuts *cuts_make(const struct mill_host *host, const struct mill_network *network, struct mill_error *error)
{
  struct cuts *cuts =
      (struct cuts *)host->allocate("row cuts", 1, sizeof *cuts + (network->projection_count + (size_t)1) * sizeof *cuts->cut);
  if (!cuts) {
    host->fail(error, MILL_RESOURCES, "out of memory");
    return NULL;
  }
  cuts->network = network;
  for (uint32_t i = 0; i < network->projection_count; i++) {
    const struct mill_projection *p = &network->projection[i];
    if (p->synapses == 0)
      continue;
    cuts->cut[i] = (uint32_t *)host->allocate("row cuts", network->population[p->source].size,
                                              (slices_of(network, p->target) + (size_t)1) * sizeof **cuts->cut);
    if (!cuts->cut[i]) {
      cuts_free(host, cuts);
      host->fail(error, MILL_RESOURCES, "out of memory for the cuts of %u rows at the borders of %u slices",
                 network->population[p->source].size, slices_of(network, p->target));
      return NULL;
    }
    cut_rows(network, p, cuts->cut[i]);
  }
  return cuts;
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

/* The spikes of a projection's sources, each along its row's part for one slice. `cut` is that of row 0 and the slice, `stride` the distance
   to that of the next row. */
static inline uint64_t deliver_spikes(const struct mill_projection *p, const struct mill_ring *ring, const uint32_t *cut,
                                      uint64_t stride, const struct mill_epoch *epoch)
{
  add_function *const add_run = add[ring->bits == 64][p->weight_bits / 16][p->delay_bits / 8];
  const struct mill_spike *spikes = epoch->spikes[p->source];
  const uint32_t count = epoch->count[p->source];
  uint64_t events = 0;
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t *part = cut + spikes[k].neuron * stride;
    const uint64_t row = p->row[spikes[k].neuron], begin = row + part[0], end = row + part[1];
    if (k + 2 * AHEAD < count) {
      __builtin_prefetch(cut + spikes[k + 2 * AHEAD].neuron * stride);
      __builtin_prefetch(p->row + spikes[k + 2 * AHEAD].neuron);
    }
    if (k + AHEAD < count) {
      const uint32_t *next = cut + spikes[k + AHEAD].neuron * stride;
      const uint32_t *column = p->column + p->row[spikes[k + AHEAD].neuron];
      for (uint64_t i = next[0]; i < next[1]; i += 16)
        __builtin_prefetch(column + i);
    }
    for (uint32_t mask = spikes[k].mask; mask; mask &= mask - 1) {
      add_run(p, ring, begin, end, (uint64_t)epoch->first + (uint32_t)__builtin_ctz(mask));
      events += end - begin;
    }
  }
  return events;
}

/* The same for a plastic projection, whose rows to visit are listed. */
static inline uint64_t deliver_entries(const struct mill_projection *p, const struct mill_ring *ring, const uint32_t *cut,
                                       uint64_t stride, const struct mill_epoch *epoch)
{
  const struct mill_entries *entries = &epoch->entries[p->index];
  uint64_t events = 0;
  for (uint32_t k = 0; k < entries->count; k++) {
    const uint32_t source = entries->entry[k].source, *part = cut + source * stride;
    events += mill_deliver_row(p, ring, epoch, k, p->row[source] + part[0], p->row[source] + part[1]);
  }
  return events;
}

/* One projection into the slice with number `at` of its target, through `ring`. */
static inline uint64_t deliver_projection(const struct cuts *cuts, const struct mill_projection *p, const struct mill_ring *ring,
                                          uint32_t at, const struct mill_epoch *epoch)
{
  const uint64_t stride = slices_of(cuts->network, p->target) + UINT64_C(1);
  return p->plastic ? deliver_entries(p, ring, cuts->cut[p->index] + at, stride, epoch)
                    : deliver_spikes(p, ring, cuts->cut[p->index] + at, stride, epoch);
}

/* The functions of a strategy whose self is the cuts, and that adds to the rings themselves. */
static inline int rows_prepare(const struct mill_host *host, const void *params, const struct mill_network *network, void **self,
                               struct mill_error *error)
{
  (void)params;
  *self = cuts_make(host, network, error);
  return *self ? 0 : -1;
}

static inline uint64_t rows_deliver(void *self, const struct mill_epoch *epoch, uint32_t slice, uint32_t worker)
{
  const struct cuts *cuts = (const struct cuts *)self;
  const struct mill_network *network = cuts->network;
  const uint32_t population = network->slice[slice].population;
  uint64_t events = 0;
  (void)worker;
  for (uint32_t i = 0; i < network->projection_count; i++) {
    const struct mill_projection *p = &network->projection[i];
    if (p->target == population && p->synapses)
      events += deliver_projection(cuts, p, &network->population[population].ring[p->receptor],
                                   slice - network->slice_of[population], epoch);
  }
  return events;
}

static inline void rows_release(const struct mill_host *host, void *self)
{
  cuts_free(host, (struct cuts *)self);
}

/* On a device, strategies that add to the rings themselves and leave the neurons to the host's kernel. A group of threads takes a part of
   a row; threads of a block and blocks of a multiprocessor: */
#define DEVICE_THREADS 256u
#define DEVICE_BLOCKS 8u

/* The kernel that delivers; lanes, a power of two, is its argument. */
static inline void rows_settle(const struct mill_device_shape *shape, uint32_t lanes, struct mill_launch *launch)
{
  *launch = (struct mill_launch){"mill_deliver", shape->multiprocessors * DEVICE_BLOCKS, DEVICE_THREADS, 0, lanes};
}

static inline uint32_t rows_epoch(const struct mill_device_shape *shape, uint32_t lanes, struct mill_launch *launch)
{
  rows_settle(shape, lanes, &launch[0]);
  launch[1] = (struct mill_launch){0};
  return 2;
}

/* The text of the plugin's .cu file, which is included as a list of bytes. */
#define TEXT_END (text + sizeof text)

static inline int serves_all(const struct mill_network *network, char *why, size_t size)
{
  (void)network, (void)why, (void)size;
  return 1;
}

#endif
