/* Shared-memory delivery: chunks of neurons of a fixed size, each with an inbox that its worker fills before it goes into the ring as a
   whole. On a GPU the inbox is a block's shared memory (Bautembach et al. 2021, section 3.3); on a CPU it is small, contiguous and the
   worker's own, and stays in the nearest cache. */
#include <string.h>

#include "rows.h"

struct values {
  int64_t chunk;
};

struct chunks {
  struct cuts *cuts;
  uint32_t inboxes;
  char *inbox[]; /* [workers] of the cells of the deepest ring for one chunk; all zero between deliveries */
};

static uint32_t slice_width(const void *params, uint32_t size, uint32_t threads)
{
  (void)size, (void)threads;
  return (uint32_t)((const struct values *)params)->chunk;
}

static void release(const struct mill_host *host, void *self)
{
  struct chunks *chunks = (struct chunks *)self;
  for (uint32_t w = 0; chunks && w < chunks->inboxes; w++)
    host->release(chunks->inbox[w]);
  if (chunks)
    cuts_free(host, chunks->cuts);
  host->release(chunks);
}

static uint64_t inbox_bytes(const struct mill_network *network)
{
  uint64_t most = 0;
  for (uint32_t p = 0; p < network->population_count; p++) {
    const struct mill_population *population = &network->population[p];
    uint32_t width = population->size ? network->slice[network->slice_of[p]].count : 0;
    for (uint32_t r = 0; r < population->receptor_count; r++) {
      uint64_t bytes = (population->ring[r].mask + UINT64_C(1)) * width * (population->ring[r].bits / 8);
      most = bytes > most ? bytes : most;
    }
  }
  return most;
}

static int prepare(const struct mill_host *host, const void *params, const struct mill_network *network, void **self,
                   struct mill_error *error)
{
  struct chunks *chunks =
      (struct chunks *)host->allocate("inboxes", 1, sizeof *chunks + network->workers * sizeof *chunks->inbox);
  (void)params;
  if (!chunks)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  chunks->inboxes = network->workers;
  for (uint32_t w = 0; w < network->workers; w++) {
    chunks->inbox[w] = (char *)host->allocate("inboxes", inbox_bytes(network), 1);
    if (!chunks->inbox[w]) {
      release(host, chunks);
      return host->fail(error, MILL_RESOURCES, "out of memory for an inbox of %llu bytes", (unsigned long long)inbox_bytes(network));
    }
  }
  chunks->cuts = cuts_make(host, network, error);
  if (!chunks->cuts) {
    release(host, chunks);
    return -1;
  }
  *self = chunks;
  return 0;
}

#define EMPTY(name, cell_type)                                                                                                     \
  static void name(void *to, void *from, uint64_t count)                                                                           \
  {                                                                                                                                \
    cell_type *restrict cell = (cell_type *)to;                                                                                    \
    cell_type *restrict inbox = (cell_type *)from;                                                                                 \
    for (uint64_t i = 0; i < count; i++) {                                                                                         \
      cell[i] += inbox[i];                                                                                                         \
      inbox[i] = 0;                                                                                                                \
    }                                                                                                                              \
  }
EMPTY(empty_32, uint32_t)
EMPTY(empty_64, uint64_t)

/* The inbox has the shape of the ring, cut down to the chunk: its cell of neuron `first` is at its start. */
static uint64_t deliver_receptor(const struct chunks *chunks, const struct mill_epoch *epoch, uint32_t index, uint32_t receptor,
                                 char *inbox)
{
  const struct mill_network *network = chunks->cuts->network;
  const struct mill_slice *slice = &network->slice[index];
  const struct mill_ring *ring = &network->population[slice->population].ring[receptor];
  const size_t cell = ring->bits / 8;
  struct mill_ring local = *ring;
  uint32_t nearest = UINT32_MAX, farthest = 0;
  uint64_t events = 0;
  local.stride = slice->count;
  local.cell = (void *)((uintptr_t)inbox - slice->first * cell);
  for (uint32_t i = 0; i < network->projection_count; i++) {
    const struct mill_projection *p = &network->projection[i];
    uint64_t n;
    if (p->target != slice->population || p->receptor != receptor || !p->synapses)
      continue;
    n = deliver_projection(chunks->cuts, p, &local, index - network->slice_of[slice->population], epoch);
    if (n) {
      nearest = p->delay_min < nearest ? p->delay_min : nearest;
      farthest = p->delay_max > farthest ? p->delay_max : farthest;
    }
    events += n;
  }
  if (!events)
    return 0;
  for (uint64_t k = (uint64_t)epoch->first + nearest; k < (uint64_t)epoch->first + epoch->steps + farthest; k++) {
    char *to = (char *)ring->cell + ((k & ring->mask) * ring->stride + slice->first) * cell;
    (ring->bits == 32 ? empty_32 : empty_64)(to, inbox + (k & ring->mask) * slice->count * cell, slice->count);
  }
  return events;
}

static uint64_t deliver(void *self, const struct mill_epoch *epoch, uint32_t slice, uint32_t worker)
{
  const struct chunks *chunks = (const struct chunks *)self;
  const struct mill_network *network = chunks->cuts->network;
  uint64_t events = 0;
  for (uint32_t r = 0; r < network->population[network->slice[slice].population].receptor_count; r++)
    events += deliver_receptor(chunks, epoch, slice, r, chunks->inbox[worker]);
  return events;
}

static const struct mill_param_spec params[] = {
    {"chunk", "neurons", "1024", NULL, "neurons of a chunk; rounded up to a multiple of 64", 64, 1048576,
     offsetof(struct values, chunk), MILL_INT, 0},
};

static const struct mill_delivery_ops ops = {serves_all, slice_width, prepare, deliver, release};
MILL_PLUGIN(MILL_DELIVERY, MILL_CPU | MILL_EXACT, "shared-memory", "chunks of neurons with inboxes of their own", sizeof(struct values),
            params, sizeof params / sizeof *params, ops);
