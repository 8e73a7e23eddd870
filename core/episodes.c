/* The store of frequent episodes: twenty bytes each, in blocks, so that nothing is moved when a level grows and the memory that is held
   is known to the byte. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "episodes.h"
#include "memory.h"

void *mill_episodes_allocate(struct mill_episodes *e, const char *name, uint64_t count, size_t size)
{
  uint64_t bytes;
  void *memory;
  if (__builtin_mul_overflow(count, (uint64_t)size, &bytes) || bytes > e->budget - e->held)
    return NULL;
  memory = mill_allocate(name, count, size);
  if (memory)
    e->held += bytes;
  return memory;
}

void mill_episodes_release(struct mill_episodes *e, void *memory, uint64_t count, size_t size)
{
  if (!memory)
    return;
  mill_release(memory);
  e->held -= count * size;
}

int mill_episodes_hold(struct mill_episodes *e, uint64_t count, uint64_t size)
{
  uint64_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > e->budget - e->held)
    return -1;
  e->held += bytes;
  return 0;
}

void mill_episodes_let_go(struct mill_episodes *e, uint64_t count, uint64_t size)
{
  e->held -= count * size;
}

/* Room for one more block's address. */
static int more_blocks(struct mill_episodes *e, struct mill_episode_level *level)
{
  uint32_t room = level->block_room ? 2 * level->block_room : 4;
  struct mill_episode **block = mill_episodes_allocate(e, "blocks of episodes", room, sizeof *block);
  if (!block)
    return -1;
  if (level->blocks)
    memcpy(block, level->block, level->blocks * sizeof *block);
  mill_episodes_release(e, level->block, level->block_room, sizeof *block);
  level->block = block;
  level->block_room = room;
  return 0;
}

int mill_episodes_add(struct mill_episodes *e, uint32_t n, const struct mill_episode *episode)
{
  struct mill_episode_level *level = &e->level[n];
  uint32_t b = level->count / MILL_EPISODE_BLOCK;
  if (level->count == UINT32_MAX)
    return -1;
  if (b == level->blocks) {
    if (level->blocks == level->block_room && more_blocks(e, level) < 0)
      return -1;
    level->block[b] = mill_episodes_allocate(e, "episodes", MILL_EPISODE_BLOCK, sizeof **level->block);
    if (!level->block[b])
      return -1;
    level->blocks++;
  }
  level->block[b][level->count++ % MILL_EPISODE_BLOCK] = *episode;
  return 0;
}

void mill_episodes_drop(struct mill_episodes *e, uint32_t n)
{
  struct mill_episode_level *level = &e->level[n];
  for (uint32_t b = 0; b < level->blocks; b++)
    mill_episodes_release(e, level->block[b], MILL_EPISODE_BLOCK, sizeof **level->block);
  mill_episodes_release(e, level->block, level->block_room, sizeof *level->block);
  mill_release(level->order);
  mill_release(level->list);
  memset(level, 0, sizeof *level);
}

void mill_episode_nodes(const struct mill_episodes *e, uint32_t n, uint32_t index, uint32_t *type, uint32_t *interval)
{
  for (uint32_t k = n; k; k--) {
    const struct mill_episode *episode = mill_episode_at(e, k, index);
    type[k - 1] = episode->type;
    if (k > 1)
      interval[k - 2] = episode->interval;
    index = episode->prefix;
  }
}

/* ---- Order and hash ---- */

/* What an episode is ordered by: the rank of its prefix' types and its last type, the rank of its prefix' intervals and its last one. */
struct key {
  uint64_t types, intervals;
  uint32_t index;
};

static int by_intervals(const void *a, const void *b)
{
  const struct key *x = a, *y = b;
  return (x->intervals > y->intervals) - (x->intervals < y->intervals);
}

static int by_types(const void *a, const void *b)
{
  const struct key *x = a, *y = b;
  int types = (x->types > y->types) - (x->types < y->types);
  return types ? types : by_intervals(a, b);
}

struct ranks {
  uint32_t *types, *intervals; /* of a level's episodes; equal sequences share a rank */
};

static int ranks_allocate(struct ranks *ranks, uint32_t count, struct mill_error *error)
{
  ranks->types = mill_allocate_or_fail("ranks of types", count, sizeof *ranks->types, error);
  ranks->intervals = ranks->types ? mill_allocate_or_fail("ranks of intervals", count, sizeof *ranks->intervals, error) : NULL;
  return ranks->intervals ? 0 : -1;
}

static void ranks_free(struct ranks *ranks)
{
  mill_release(ranks->types);
  mill_release(ranks->intervals);
  *ranks = (struct ranks){0};
}

/* Sets the level's order and ranks from those of the level before. */
static int sort_level(struct mill_episodes *e, uint32_t n, const struct ranks *before, struct ranks *ranks,
                      struct mill_error *error)
{
  struct mill_episode_level *level = &e->level[n];
  struct key *key = mill_allocate_or_fail("sorting of episodes", level->count, sizeof *key, error);
  uint32_t rank = 0;
  if (!key)
    return -1;
  level->order = mill_allocate_or_fail("order of episodes", level->count, sizeof *level->order, error);
  if (!level->order || ranks_allocate(ranks, level->count, error) < 0) {
    mill_release(key);
    return -1;
  }
  for (uint32_t i = 0; i < level->count; i++) {
    const struct mill_episode *episode = mill_episode_at(e, n, i);
    uint64_t types = n > 1 ? before->types[episode->prefix] : 0, intervals = n > 1 ? before->intervals[episode->prefix] : 0;
    key[i] = (struct key){types << 32 | episode->type, intervals << 32 | episode->interval, i};
  }
  qsort(key, level->count, sizeof *key, by_intervals);
  for (uint32_t i = 0; i < level->count; i++) {
    rank += i && key[i].intervals != key[i - 1].intervals;
    ranks->intervals[key[i].index] = rank;
  }
  qsort(key, level->count, sizeof *key, by_types);
  rank = 0;
  for (uint32_t i = 0; i < level->count; i++) {
    rank += i && key[i].types != key[i - 1].types;
    ranks->types[key[i].index] = rank;
    level->order[i] = key[i].index;
  }
  mill_release(key);
  return 0;
}

static unsigned char *put(unsigned char *p, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++)
    *p++ = (unsigned char)(value >> 8 * i);
  return p;
}

static void hash_level(const struct mill_episodes *e, uint32_t n, const struct mill_interval *interval, XXH64_state_t *state)
{
  unsigned char record[4 + MILL_LENGTH_MAX * (4 + 16) + 8];
  uint32_t types[MILL_LENGTH_MAX], intervals[MILL_LENGTH_MAX];
  const struct mill_episode_level *level = &e->level[n];
  for (uint32_t i = 0; i < level->count; i++) {
    unsigned char *p = put(record, n, 4);
    mill_episode_nodes(e, n, level->order[i], types, intervals);
    for (uint32_t k = 0; k < n; k++)
      p = put(p, types[k], 4);
    for (uint32_t k = 0; k + 1 < n; k++) {
      p = put(p, (uint64_t)interval[intervals[k]].low, 8);
      p = put(p, (uint64_t)interval[intervals[k]].high, 8);
    }
    p = put(p, mill_episode_at(e, n, level->order[i])->count, 8);
    XXH64_update(state, record, (size_t)(p - record));
  }
}

int mill_episodes_sort(struct mill_episodes *e, const struct mill_interval *interval, uint64_t *hash, struct mill_error *error)
{
  struct ranks before = {0}, ranks = {0};
  XXH64_state_t *state = XXH64_createState();
  int rc = -1;
  if (!state)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  XXH64_reset(state, 0);
  for (uint32_t n = 1; n <= e->levels; n++) {
    if (sort_level(e, n, &before, &ranks, error) < 0)
      goto done;
    hash_level(e, n, interval, state);
    ranks_free(&before);
    before = ranks;
    ranks = (struct ranks){0};
  }
  *hash = XXH64_digest(state);
  rc = 0;
done:
  ranks_free(&before);
  ranks_free(&ranks);
  XXH64_freeState(state);
  return rc;
}

void mill_episodes_free(struct mill_episodes *e)
{
  for (uint32_t n = 1; n <= MILL_LENGTH_MAX; n++)
    mill_episodes_drop(e, n);
}
