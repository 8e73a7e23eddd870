/* The host's side of tiles.cu: candidates on the device, and blocks that fit there. */
#ifndef TILES_DEVICE_H
#define TILES_DEVICE_H

#include "on-device.h"

#define TILE_BYTES (1024u * 12 + 256) /* of shared memory, that kernels declare themselves */
#define ROW_BYTES (33u * 4)           /* of a row of bits */
#define ROWS_MOST 64u                 /* classes of types */
#define THREADS_MOST 128u             /* of a block */
#define THREADS_LEAST 8u

/* As struct mill_batch of tiles.cu. */
struct tiles_batch {
  uint64_t type, interval, which;
  uint32_t count, level, rows, list;
  uint64_t lists;
};

_Static_assert(sizeof(struct tiles_batch) == 48, "as in tiles.cu");

struct tiles {
  const struct mill_host *host;
  const struct mill_device_host *device;
  const struct mill_counter_input *in;
  struct mill_device_stream stream;
  struct room type, interval, which, counts;
  uint32_t *out; /* [out_room] counts as they come */
  uint32_t out_room;
};

static inline void tiles_open(struct tiles *t, const struct mill_host *host, const struct mill_device_host *device,
                              const struct mill_counter_input *in, const struct mill_device_stream *stream)
{
  *t = (struct tiles){.host = host, .device = device, .in = in, .stream = *stream};
}

static inline void tiles_close(struct tiles *t)
{
  t->host->release(t->out); /* what is on the device is the host's to release */
}

static inline uint32_t tiles_rows(const struct tiles *t)
{
  uint32_t rows = 1;
  while (rows < ROWS_MOST && rows < t->in->types)
    rows *= 2;
  return rows;
}

/* Bytes of shared memory that a block can have besides a tile. */
static inline uint32_t tiles_budget(const struct tiles *t)
{
  return t->device->shared_block - TILE_BYTES;
}

/* Threads of a block, for so many of them in all with so many bytes each: no more than leave a block for every multiprocessor, and than fit. */
static inline uint32_t tiles_threads(const struct tiles *t, uint64_t count, uint64_t bytes)
{
  uint32_t threads = THREADS_MOST;
  while (threads > 32 && count < (uint64_t)threads * t->device->multiprocessors)
    threads /= 2;
  while (threads > THREADS_LEAST && threads * bytes + tiles_rows(t) * ROW_BYTES > tiles_budget(t))
    threads /= 2;
  return threads;
}

/* A batch that is on the device already. */
static inline struct tiles_batch tiles_there(const struct tiles *t, const struct mill_device_candidates *c)
{
  return (struct tiles_batch){c->type, c->interval, 0, c->count, c->level, tiles_rows(t), 1, 0};
}

/* Sends a batch's candidates, of level 2 or more, and makes room for their counts. */
static inline int tiles_send(struct tiles *t, const struct mill_candidates *c, struct tiles_batch *batch, struct mill_error *error)
{
  const uint64_t nodes = (uint64_t)c->count * c->level;
  if (c->count > t->out_room) {
    t->host->release(t->out);
    t->out = (uint32_t *)t->host->allocate("counts of candidates", c->count, sizeof *t->out);
    t->out_room = t->out ? c->count : 0;
    if (!t->out)
      return t->host->fail(error, MILL_RESOURCES, "no memory for a batch of %u candidates", c->count);
  }
  if (room_put(t->device, &t->type, "types of candidates", c->type, nodes * sizeof *c->type, error) ||
      room_put(t->device, &t->interval, "intervals of candidates", c->interval, (nodes - c->count) * sizeof *c->interval, error) ||
      room_make(t->device, &t->counts, "counts of candidates", c->count * sizeof(uint32_t), error))
    return -1;
  *batch = (struct tiles_batch){t->type.address, t->interval.address, 0, c->count, c->level, tiles_rows(t), 1, 0};
  return 0;
}

/* Brings the first `count` counts back, to where which[] says or in order. */
static inline int tiles_fetch(struct tiles *t, const uint32_t *which, uint32_t count, uint64_t *counts, struct mill_error *error)
{
  if (t->device->download(t->device->self, t->out, t->counts.address, count * sizeof *t->out, error))
    return -1;
  for (uint32_t i = 0; i < count; i++)
    counts[which ? which[i] : i] = t->out[i];
  return 0;
}

/* Level 1 takes no device. */
static inline void count_level_one(const struct mill_counter_input *in, const struct mill_candidates *c, uint64_t *counts)
{
  for (uint32_t k = 0; k < c->count; k++)
    counts[k] = events_of(in, c->type[k]);
}

#endif
