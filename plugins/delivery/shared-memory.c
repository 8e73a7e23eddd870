/* Shared-memory delivery: chunks of neurons of a fixed size, each with an inbox that its worker fills before it goes into the ring as a
   whole. On a GPU the inbox is a block's shared memory (Bautembach et al. 2021, section 3.3); on a CPU it is small, contiguous and the
   worker's own, and stays in the nearest cache. */
#include <stdio.h>
#include <string.h>

#include "rows.h"

#define WIDEST 1024u         /* neurons of a chunk, when nobody says */
#define LEAST 32u            /* on a device */
#define WIDEST_NARROW 65535u /* what 16 bits tell apart beside padding */

struct values {
  int64_t chunk; /* 0: nobody says */
};

struct chunks {
  struct cuts *cuts;
  uint32_t inboxes;
  char *inbox[]; /* [workers] of the cells of the deepest ring for one chunk; all zero between deliveries */
};

static uint32_t slice_width(const void *params, uint32_t size, uint32_t threads)
{
  (void)size, (void)threads;
  const int64_t chunk = ((const struct values *)params)->chunk;
  return chunk ? (uint32_t)chunk : WIDEST;
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
  struct chunks *chunks = (struct chunks *)host->allocate("inboxes", 1, sizeof *chunks + network->workers * sizeof *chunks->inbox);
  (void)params;
  if (!chunks)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  chunks->inboxes = network->workers;
  for (uint32_t w = 0; w < network->workers; w++) {
    chunks->inbox[w] = (char *)host->allocate("inboxes", inbox_bytes(network), 1);
    if (!chunks->inbox[w]) {
      release(host, chunks);
      return host->fail(error, MILL_RESOURCES, "out of memory for an inbox of %llu bytes",
                        (unsigned long long)inbox_bytes(network));
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

static const struct mill_param_spec specs[] = {
    {"chunk", "neurons", "0", NULL,
     "neurons of a chunk, rounded up to a multiple of 64; 0: 1024, and on a GPU as many as share the neurons evenly, or, for "
     "plastic synapses, as 16 bits tell apart",
     0, 1048576, offsetof(struct values, chunk), MILL_INT, 0},
};

/* Shared memory of a block of so many threads: the window, and the runs that are looked up, whose place the list of its spikes takes later. As
   in shared-memory.cu. */
#define RUN_BYTES 20u
#define MOST_THREADS 1024u /* of a block */
#define OWN_BYTES 64u      /* that the kernel declares itself */
static uint64_t device_bytes(const struct mill_device_shape *shape, uint64_t width, uint32_t threads)
{
  const uint64_t window = (shape->receptors * (uint64_t)shape->epoch_steps * width * shape->cell_bytes + 15) / 16 * 16,
                 runs = threads * (uint64_t)RUN_BYTES, spikes = width * sizeof(struct mill_spike);
  return window + (runs > spikes ? runs : spikes) + OWN_BYTES;
}

/* Threads of a block: two a neuron, as far as there are so many. */
static uint32_t device_threads(uint64_t width)
{
  uint32_t threads = 256;
  while (threads < MOST_THREADS && threads < 2 * width)
    threads *= 2;
  return threads;
}

/* The widest of chunks that still have enough shared memory; long runs cost less. */
static uint32_t widest(const struct mill_device_shape *shape)
{
  uint32_t width = LEAST;
  while (width + LEAST <= 32768 && device_bytes(shape, width + LEAST, MOST_THREADS) <= shape->shared_block)
    width += LEAST;
  return width;
}

/* The narrowest width with which the receiving neurons go as few times over the multiprocessors as with the widest. */
static uint32_t even_width(const struct mill_device_shape *shape, uint32_t count, const uint32_t *sizes,
                           const unsigned char *receives)
{
  const uint32_t most = widest(shape);
  uint64_t neurons = 0, blocks, slices;
  uint32_t width;
  for (uint32_t p = 0; p < count; p++)
    neurons += receives[p] ? sizes[p] : 0;
  blocks = (neurons + most - 1) / most;
  blocks = (blocks + shape->multiprocessors - 1) / shape->multiprocessors * shape->multiprocessors;
  width = blocks ? (uint32_t)((neurons + blocks - 1) / blocks) : 1;
  for (width = width < LEAST ? LEAST : width; width < most; width++) {
    slices = 0;
    for (uint32_t p = 0; p < count; p++)
      slices += receives[p] ? (sizes[p] + width - 1) / width : 0;
    if (slices <= blocks)
      break;
  }
  return width;
}

static uint32_t rounded(int64_t chunk)
{
  return (uint32_t)(chunk + 63) / 64 * 64;
}

static int device_widths(const void *params, const struct mill_device_shape *shape, uint32_t count, const uint32_t *sizes,
                         const unsigned char *receives, uint32_t *width, char *why, size_t size)
{
  const int64_t chunk = ((const struct values *)params)->chunk;
  uint32_t most = chunk ? rounded(chunk) : even_width(shape, count, sizes, receives);
  if (most > 65535 || device_bytes(shape, most, MOST_THREADS) > shape->shared_block) {
    snprintf(why, size,
             "the input of %u neurons with %u receptors over %u steps takes %llu bytes of shared memory, and a block can have %u%s",
             most, shape->receptors, shape->epoch_steps, (unsigned long long)device_bytes(shape, most, MOST_THREADS),
             shape->shared_block, chunk ? "; expected a smaller chunk" : "");
    return 0;
  }
  for (uint32_t p = 0; p < count; p++)
    width[p] = receives[p] || chunk ? most : widest(shape) < WIDEST ? widest(shape) : WIDEST;
  return 1;
}

/* Plastic synapses are added to the rings from wherever they are, so their slices are as wide as can be: a row in one piece is visited fastest. */
static uint32_t device_plastic_width(const void *params, uint32_t size)
{
  const int64_t chunk = ((const struct values *)params)->chunk;
  const uint32_t slices = size / WIDEST_NARROW + (size % WIDEST_NARROW != 0);
  return chunk ? rounded(chunk) : slices ? (size - 1) / slices + 1 : 1;
}

static struct mill_launch device_launch(const struct mill_device_shape *shape, const char *kernel)
{
  struct mill_launch launch = {kernel, shape->slices, device_threads(shape->width), 0, 1};
  while (launch.argument < 32 && launch.argument < 1.25 * shape->run_groups) /* most runs in one go */
    launch.argument *= 2;
  return launch;
}

static uint32_t device_epoch(const void *params, const struct mill_device_shape *shape, struct mill_launch *launch, char *why,
                             size_t size)
{
  uint32_t n = 0;
  (void)params, (void)why, (void)size;
  if (shape->plastic)
    launch[n++] = (struct mill_launch){"mill_visit_rows", DEVICE_BLOCKS * shape->multiprocessors, DEVICE_THREADS, 0, 0};
  launch[n] = device_launch(shape, "mill_epoch");
  launch[n].shared_bytes = (uint32_t)device_bytes(shape, shape->width, launch[n].threads);
  return n + 1;
}

static void device_settle(const void *params, const struct mill_device_shape *shape, struct mill_launch *launch)
{
  (void)params;
  *launch = device_launch(shape, "mill_settle");
}

static const unsigned char text[] = {
#include "plugins/delivery/shared-memory.cu_text"
};
static const struct mill_delivery_device device = {.narrow = 1,
                                                   .slice_widths = device_widths,
                                                   .epoch = device_epoch,
                                                   .settle = device_settle,
                                                   .plastic_width = device_plastic_width};

static const struct mill_delivery_ops ops = {serves_all, slice_width, prepare, deliver, release, &device};
MILL_PLUGIN_WITH_TEXT(MILL_DELIVERY, MILL_CPU | MILL_CUDA | MILL_EXACT, "shared-memory",
                      "chunks of neurons with inboxes of their own", sizeof(struct values), specs, sizeof specs / sizeof *specs,
                      ops, text, TEXT_END, "plugins/delivery/shared-memory.cu");
