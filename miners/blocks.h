/* One worker per episode over the whole stream (Cao et al. 2009, section V, "per-thread per-episode"), as a processor likes it: the
   events that concern a block of episodes are gathered once for all of them, tile by tile, each tile with a row of bits for every type;
   an episode then goes to the events of its own types through the rows, so that the others cost it nothing. Tile and block stay in the
   first-level cache. What an episode does with an event is a method: the machine of Algorithm 1 (ptpe.h) or the relaxed one
   (relaxed.h). */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdint.h>
#include <string.h>

#include <spikemill/counter.h>

#include "nodes.h"

#define TILE 1024                /* events */
#define WORDS (TILE / 64)        /* of a row of bits */
#define BLOCK 16                 /* episodes, at most */
#define BLOCK_BYTES (256u << 10) /* of their machines, unless one alone needs more */

/* Events that concern the block. Types of the block are numbered from 1; 0 is every other. */
struct tile {
  uint32_t events;
  int64_t time[TILE];
  uint16_t type[TILE];
  uint64_t (*row)[WORDS]; /* [types of the block + 1]: bit i is set when event i is of the type */
};

/* An episode at work. */
struct episode {
  uint32_t types;
  uint16_t type[64]; /* [types]: without repeats */
  uint64_t *nodes;   /* [types of the block + 1]: the set of the nodes of each type */
  void *machine;
  uint64_t count;
};

/* How an episode is counted. */
struct method {
  /* Makes a machine in the episode's memory. */
  void (*make)(const void *self, struct episode *e, uint32_t length, const uint32_t *type, const uint32_t *interval);
  void (*take)(const void *self, struct episode *e, const struct tile *tile);
};

struct block_worker {
  uint16_t *number; /* [types of the stream]; zeroed between blocks */
  uint64_t *nodes;  /* [BLOCK][rows] */
  char *machines;   /* [BLOCK] of machine_bytes */
  struct tile tile;
  struct episode episode[BLOCK];
};

struct blocks {
  const struct mill_host *host;
  const struct mill_counter_input *in;
  struct block_worker *worker; /* [workers] */
  uint32_t rows;               /* room for so many */
  uint64_t bytes;              /* room for so many of the machines of a block */
  uint64_t beside;             /* of the counter's memory, what is not for blocks */
};

/* The candidates numbered which[0 … count - 1] of a batch, or the first `count`. */
struct pass {
  struct blocks *blocks;
  const struct method *method;
  const void *self; /* of the method */
  const struct mill_candidates *candidates;
  const uint32_t *which;
  uint32_t count, block; /* episodes of a block */
  uint64_t bytes;        /* of a machine, at most; a multiple of 8 */
  uint64_t *counts;
};

/* ---- Going over the stream ---- */

/* Calls take(self, e, nodes, time) for each event of the tile that can be nodes of the episode: those of the set. */
static inline void each_event(struct episode *e, const struct tile *tile,
                              void (*take)(const void *self, struct episode *e, uint64_t nodes, int64_t time), const void *self)
{
  for (uint32_t w = 0; 64 * w < tile->events; w++) {
    uint64_t left = 0;
    for (uint32_t k = 0; k < e->types; k++)
      left |= tile->row[e->type[k]][w];
    for (; left; left &= left - 1) {
      const uint32_t i = 64 * w + (uint32_t)__builtin_ctzll(left);
      take(self, e, e->nodes[tile->type[i]], tile->time[i]);
    }
  }
}

/* Gathers events from q on; returns the first one that is not looked at. */
static inline uint32_t fill_tile(struct tile *tile, const struct mill_counter_input *in, const uint16_t *number, uint32_t types,
                                 uint32_t q)
{
  uint32_t n = 0;
  for (; q < in->events && n < TILE; q++) {
    tile->time[n] = in->time[q];
    tile->type[n] = number[in->type[q]];
    n += tile->type[n] != 0; /* what does not concern the block is written over */
  }
  memset(tile->row, 0, (types + 1) * sizeof *tile->row);
  for (uint32_t i = 0; i < n; i++)
    tile->row[tile->type[i]][i / 64] |= UINT64_C(1) << i % 64;
  tile->events = n;
  return q;
}

/* The number of the pass' candidate k within the batch. */
static inline uint64_t candidate_of(const struct pass *pass, uint32_t k)
{
  return pass->which ? pass->which[k] : k;
}

/* Numbers the types of a block's episodes; returns how many there are. */
static inline uint32_t number_types(const struct pass *pass, struct block_worker *w, uint32_t first, uint32_t episodes)
{
  const struct mill_candidates *c = pass->candidates;
  uint32_t types = 0;
  for (uint32_t k = 0; k < episodes; k++) {
    const uint64_t number = candidate_of(pass, first + k);
    const uint32_t *type = c->type + number * c->level;
    struct episode *e = &w->episode[k];
    e->types = 0;
    e->nodes = w->nodes + (uint64_t)k * pass->blocks->rows;
    e->machine = w->machines + k * pass->bytes;
    e->count = 0;
    for (uint32_t i = 0; i < c->level; i++) {
      uint16_t *t = &w->number[type[i]];
      if (!*t)
        *t = (uint16_t)++types;
    }
    pass->method->make(pass->self, e, c->level, type, c->level > 1 ? c->interval + number * (c->level - 1) : NULL);
  }
  return types;
}

static inline void set_nodes(const struct pass *pass, struct block_worker *w, uint32_t first, uint32_t episodes, uint32_t types)
{
  const struct mill_candidates *c = pass->candidates;
  for (uint32_t k = 0; k < episodes; k++) {
    const uint64_t number = candidate_of(pass, first + k);
    struct episode *e = &w->episode[k];
    memset(e->nodes, 0, (types + 1) * sizeof *e->nodes);
    for (uint32_t i = 0; i < c->level; i++) {
      const uint16_t t = w->number[c->type[number * c->level + i]];
      if (!e->nodes[t])
        e->type[e->types++] = t;
      e->nodes[t] |= node_at(c->level, i);
    }
  }
}

static inline void take_block(void *argument, uint64_t block, uint32_t worker)
{
  const struct pass *pass = (const struct pass *)argument;
  const struct mill_counter_input *in = pass->blocks->in;
  const struct mill_candidates *c = pass->candidates;
  struct block_worker *w = &pass->blocks->worker[worker];
  const uint32_t first = (uint32_t)block * pass->block;
  const uint32_t episodes = pass->count - first < pass->block ? pass->count - first : pass->block;
  const uint32_t types = number_types(pass, w, first, episodes);
  set_nodes(pass, w, first, episodes, types);
  for (uint32_t q = 0; q < in->events;) {
    q = fill_tile(&w->tile, in, w->number, types, q);
    for (uint32_t k = 0; k < episodes; k++)
      pass->method->take(pass->self, &w->episode[k], &w->tile);
  }
  for (uint32_t k = 0; k < episodes; k++) {
    const uint64_t number = candidate_of(pass, first + k);
    pass->counts[number] = w->episode[k].count;
    for (uint32_t i = 0; i < c->level; i++)
      w->number[c->type[number * c->level + i]] = 0;
  }
}

/* ---- Memory ---- */

static inline void blocks_close(struct blocks *b)
{
  for (uint32_t i = 0; b->worker && i < b->in->workers; i++) {
    struct block_worker *w = &b->worker[i];
    b->host->release(w->number);
    b->host->release(w->nodes);
    b->host->release(w->machines);
    b->host->release(w->tile.row);
  }
  b->host->release(b->worker);
}

/* What is open is to be closed whatever it returns: 0, or -1 with the error filled. */
static inline int blocks_open(struct blocks *b, const struct mill_host *host, const struct mill_counter_input *in,
                              struct mill_error *error)
{
  *b = (struct blocks){host, in, NULL, 0, 0, 0};
  b->worker = (struct block_worker *)host->allocate("blocks of episodes", in->workers, sizeof *b->worker);
  int failed = !b->worker;
  for (uint32_t i = 0; !failed && i < in->workers; i++) {
    b->worker[i].number = (uint16_t *)host->allocate("types of blocks", in->types, sizeof(uint16_t));
    failed = !b->worker[i].number;
  }
  return failed ? host->fail(error, MILL_RESOURCES, "no memory for %u threads and %u types", in->workers, in->types) : 0;
}

/* What the workers hold with room for so many rows and machines of so many bytes. */
static inline uint64_t blocks_bytes(const struct blocks *b, uint64_t rows, uint64_t bytes)
{
  return b->in->workers * (sizeof *b->worker + b->in->types * sizeof(uint16_t) +
                           rows * (BLOCK * sizeof(uint64_t) + sizeof(uint64_t[WORDS])) + bytes);
}

static inline int blocks_fit(const struct blocks *b, uint64_t rows, uint64_t bytes)
{
  return b->beside <= b->in->memory && blocks_bytes(b, rows, bytes) <= b->in->memory - b->beside;
}

/* Rows for a block of so many episodes of `length` nodes. */
static inline uint32_t blocks_rows(const struct blocks *b, uint32_t episodes, uint32_t length)
{
  return (episodes * length < b->in->types ? episodes * length : b->in->types) + 1;
}

/* Makes room for so many rows and for machines of `bytes`, which fit; keeps what there is as far as it fits too. */
static inline int blocks_room(struct blocks *b, uint32_t rows, uint64_t bytes, struct mill_error *error)
{
  const struct mill_host *host = b->host;
  const uint32_t more_rows = rows > b->rows ? rows : b->rows;
  const uint64_t more_bytes = bytes > b->bytes ? bytes : b->bytes;
  if (rows <= b->rows && bytes <= b->bytes)
    return 0;
  const int both = blocks_fit(b, more_rows, more_bytes);
  b->rows = both ? more_rows : rows;
  b->bytes = both ? more_bytes : bytes;
  for (uint32_t i = 0; i < b->in->workers; i++) {
    struct block_worker *w = &b->worker[i];
    host->release(w->nodes);
    host->release(w->machines);
    host->release(w->tile.row);
    w->nodes = (uint64_t *)host->allocate("nodes of blocks", (uint64_t)BLOCK * b->rows, sizeof *w->nodes);
    w->machines = (char *)host->allocate("machines of episodes", b->bytes, 1);
    w->tile.row = (uint64_t(*)[WORDS])host->allocate("rows of tiles", b->rows, sizeof *w->tile.row);
    if (!w->nodes || !w->machines || !w->tile.row)
      return host->fail(error, MILL_RESOURCES,
                        "no memory for blocks of episodes: %u rows and %llu bytes of machines for each thread", b->rows,
                        (unsigned long long)b->bytes);
  }
  return 0;
}

/* Counts candidates by a method whose machines take up to `bytes` each. */
static inline int blocks_count(struct blocks *b, const struct method *method, const void *self, uint64_t bytes,
                               const struct mill_candidates *candidates, const uint32_t *which, uint32_t count, uint64_t *counts,
                               struct mill_error *error)
{
  const uint64_t workers = b->in->workers, each = (bytes + 7) / 8 * 8;
  const uint64_t most = each * BLOCK <= BLOCK_BYTES ? BLOCK : each < BLOCK_BYTES ? BLOCK_BYTES / each : 1;
  if (!b->in->events)
    memset(counts, 0, candidates->count * sizeof *counts);
  if (!count || !b->in->events)
    return 0;
  uint64_t blocks = (count + most * workers - 1) / (most * workers) * workers; /* as many for each worker */
  uint32_t block = (uint32_t)((count + blocks - 1) / blocks);
  while (block > 1 && !blocks_fit(b, blocks_rows(b, block, candidates->level), each * block))
    block--;
  const uint32_t rows = blocks_rows(b, block, candidates->level);
  if (!blocks_fit(b, rows, each * block))
    return b->host->fail(error, MILL_RESOURCES,
                         "an episode of %u node%s takes %llu bytes on %u thread%s, and the counter's part of memory is %llu: raise "
                         "memory, or take fewer threads",
                         candidates->level, candidates->level == 1 ? "" : "s",
                         (unsigned long long)(b->beside + blocks_bytes(b, rows, each * block)), b->in->workers,
                         workers == 1 ? "" : "s", (unsigned long long)b->in->memory);
  struct pass pass = {b, method, self, candidates, which, count, block, each, counts};
  blocks = (count + (uint64_t)block - 1) / block;
  if (blocks_room(b, rows, each * block, error))
    return -1;
  b->host->each(b->in->team, blocks, take_block, &pass);
  return 0;
}

#endif
