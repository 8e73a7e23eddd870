/* What the host knows of a device's latest starts: the pools in which the ends of episodes are, and which episodes have theirs there. Part of
   latest-start-device.h. */
#ifndef LATEST_START_POOL_H
#define LATEST_START_POOL_H

#include <stdlib.h>

#include "on-device.h"

#define THREADS 256u                     /* of a block: a candidate for each 32 of them */
#define SCRATCH (UINT64_C(256) << 20)    /* bytes for prefixes that are made anew, at most, unless one takes more */
#define MARKS (UINT64_C(64) << 20)       /* bytes for marks of segments, at most */
#define BLOCK_BYTES (UINT64_C(32) << 20) /* of a pool, unless there is less memory or one episode takes more; */
#define BLOCK_ENDS 4096u                 /* and unless so many episodes, each as long as can be, take less */
#define BATCH                                                                                                                      \
  (UINT64_C(1) << 16) /* candidates for which there is room from the beginning, unless there can't be as many of level 3 */
#define STEPS 8u      /* of 32 events that a segment has at least */
#define SEGMENTS_MOST 1024u

/* As in latest-start.cu. */
struct device_end {
  uint32_t at, start;
};
struct device_ends {
  uint64_t end;
  uint32_t count, reserved;
};
struct device_result {
  uint32_t count, ends;
};
struct device_target {
  uint64_t end;
  struct mill_device_candidate job;
  uint32_t which;
};
struct device_part {
  uint32_t count, last, ends;
};

_Static_assert(sizeof(struct device_end) == 8 && sizeof(struct device_ends) == 16 && sizeof(struct device_result) == 8 &&
                   sizeof(struct device_target) == 32 && sizeof(struct device_part) == 12,
               "as in latest-start.cu");

/* Device memory for the ends of a level's episodes: blocks, of which those before the last one in use are full. */
struct pool {
  struct room *block; /* [blocks] */
  uint32_t blocks, in_use;
  uint64_t used;  /* bytes of the last one in use */
  uint64_t bytes; /* of all blocks */
};

/* A candidate of which the ends are kept. */
struct device_record {
  uint64_t number;
  struct device_ends ends;
};

/* Arrays of the host for a batch: [room]. */
struct device_batch {
  uint32_t room;
  struct mill_device_candidate *job;
  uint32_t *which; /* the candidates that the jobs are of */
  struct device_result *result;
  struct device_target *target;
  struct device_ends *ends;
};

struct on_device {
  const struct mill_host *host;
  const struct mill_device_host *device;
  const struct mill_counter_input *in;
  struct mill_device_stream stream;
  const struct mill_device_kernel *count, *segments, *join, *write;
  uint32_t longest;          /* events of a type, at least 1 */
  struct room window, event; /* [intervals][events] and [events] */
  struct room table;         /* [parents] */
  struct room job, result, target, part, marks;
  struct room scratch[2], chain[2];
  struct pool pool[2];
  uint32_t turn;              /* the pool of the level that is counted */
  uint32_t *type_of;          /* [types] of the candidates of level 1 */
  struct device_ends *parent; /* [parents] as in the table; their `end` is 0 where nothing is kept */
  uint32_t parents;
  uint32_t unkept; /* parents of which nothing is kept */
  struct device_record *record;
  uint64_t records, record_room;
  int disorder; /* they are not in ascending order of number */
  struct device_batch batch;
};

/* ---- Pools -------------------------------------------------------------------------------------------------------------- */

/* Bytes that a pool may still grow by: each of the two has half of the memory. */
static uint64_t left_for(const struct on_device *self, const struct pool *pool)
{
  return self->in->memory / 2 - pool->bytes;
}

static uint64_t block_bytes(const struct on_device *self, const struct pool *pool)
{
  const uint64_t enough = BLOCK_ENDS * (uint64_t)self->longest * sizeof(struct device_end), left = left_for(self, pool);
  const uint64_t bytes = enough < BLOCK_BYTES ? enough : BLOCK_BYTES;
  return bytes < left ? bytes : left;
}

/* Adds a block of so many bytes. Returns whether there was room. */
static int add_block(struct on_device *self, struct pool *pool, uint64_t bytes)
{
  const struct mill_device_host *device = self->device;
  struct room *block = bytes <= left_for(self, pool)
                           ? (struct room *)self->host->allocate("blocks of episodes", pool->blocks + UINT64_C(1), sizeof *block)
                           : NULL;
  if (!block || room_make(device, &block[pool->blocks], "ends of kept episodes", bytes, NULL)) {
    self->host->release(block);
    return 0;
  }
  if (pool->blocks)
    memcpy(block, pool->block, pool->blocks * sizeof *block);
  self->host->release(pool->block);
  pool->block = block;
  pool->blocks++;
  pool->bytes += bytes;
  return 1;
}

/* Room for so many ends in the level's pool; 0: there is none. What is kept depends on the candidates and on memory alone. */
static uint64_t take_room(struct on_device *self, uint32_t ends)
{
  struct pool *pool = &self->pool[self->turn];
  const uint64_t bytes = ends * (uint64_t)sizeof(struct device_end);
  while (!pool->in_use || pool->used + bytes > pool->block[pool->in_use - 1].bytes) {
    const uint64_t usual = block_bytes(self, pool);
    if (pool->in_use == pool->blocks && !add_block(self, pool, usual > bytes ? usual : bytes))
      return 0;
    pool->in_use++;
    pool->used = 0;
  }
  const uint64_t address = pool->block[pool->in_use - 1].address + pool->used;
  pool->used += bytes;
  return address;
}

/* ---- Records --------------------------------------------------------------------------------------------------------- */

static int add_record(struct on_device *self, uint64_t number, struct device_ends ends, struct mill_error *error)
{
  if (self->records == self->record_room) {
    const uint64_t room = self->record_room ? 2 * self->record_room : 1024;
    struct device_record *record = (struct device_record *)self->host->allocate("kept episodes", room, sizeof *record);
    if (!record)
      return self->host->fail(error, MILL_RESOURCES, "no memory for %llu episodes", (unsigned long long)room);
    if (self->records)
      memcpy(record, self->record, self->records * sizeof *record);
    self->host->release(self->record);
    self->record = record;
    self->record_room = room;
  }
  self->disorder |= self->records && number < self->record[self->records - 1].number;
  self->record[self->records++] = (struct device_record){number, ends};
  return 0;
}

#endif
