/* What latest-start keeps between calls: the links of level 2 until the end, the ends of the kept episodes of a level until the
   next level is done. The caller's thread makes one block a batch, in which each record has its place, and the workers fill it;
   so what is kept depends on the candidates alone, and what does not fit is not kept. Part of latest-start.c, which includes it. */
#ifndef LATEST_START_CACHE_H
#define LATEST_START_CACHE_H

#define NONE UINT32_MAX

/* Event `end` of the second of two types may follow events low … high of the first: numbers within the types. */
struct link {
  uint32_t low, high, end;
};
struct links {
  const struct link *link; /* [count], ascending; NULL when they are not in the cache */
  uint32_t count;
};

/* An episode ends at event at - 1 of its last type, and the latest start of it is the event whose order is start - 1. */
struct end {
  uint32_t at, start;
};
struct ends {
  const struct end *end; /* [count + 1], ascending; end[0] is {0, 0}, which is no end */
  uint32_t count;
};

/* What is kept of one candidate. */
struct record {
  uint64_t number; /* of the candidate within its level */
  void *data;      /* level 2: its links; above: its ends; with room for one more */
  uint32_t count;
  uint32_t a, b, j; /* its last two types and last interval */
};
/* The records of a batch, and behind them their data. */
struct block {
  struct block *next;
  uint64_t bytes;
  uint32_t count;
  int filled; /* of level 2: the links are written already */
  struct record record[];
};

/* An entry of the hash table of links. */
struct pair {
  uint32_t a, b, j;
  struct links links;
};

struct cache {
  const struct mill_host *host;
  uint64_t memory, held;        /* bytes: the most that may be held, and what is */
  struct block *block, **tail;  /* of the level that is being counted */
  struct block *parent_block;   /* of the level before, when that is above 2 */
  const struct record **parent; /* [parents]; NULL where nothing is kept */
  uint32_t parents;
  struct block *pair_block; /* of level 2 */
  struct pair *pair;        /* [pair_mask + 1] */
  uint64_t pair_mask;
};

/* The entry of a pair, or the free one where it belongs. */
static struct pair *cache_pair(const struct cache *cache, uint32_t a, uint32_t b, uint32_t j)
{
  uint64_t hash = (((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15) ^ j) * UINT64_C(0xd6e8feb86659fd93);
  for (uint64_t i = hash ^ hash >> 32;; i++) {
    struct pair *pair = &cache->pair[i & cache->pair_mask];
    if (!pair->links.link || (pair->a == a && pair->b == b && pair->j == j))
      return pair;
  }
}

static struct links cache_links(const struct cache *cache, uint32_t a, uint32_t b, uint32_t j)
{
  return cache->pair ? cache_pair(cache, a, b, j)->links : (struct links){NULL, 0};
}

static const struct record *cache_parent(const struct cache *cache, uint32_t parent)
{
  return parent < cache->parents ? cache->parent[parent] : NULL;
}

static uint64_t data_bytes(uint32_t level, uint32_t count)
{
  return level == 2 ? (count + UINT64_C(1)) * sizeof(struct link) : (count + UINT64_C(2)) * sizeof(struct end);
}

/* A block with the records of those of a batch that reached the threshold, as far as there is room; NULL when there are none.
   `keep` has the number of links or ends of each candidate, and gets the place of its record in the block, or NONE. */
static struct block *cache_block(struct cache *cache, const struct mill_candidates *c, const uint64_t *counts, uint64_t threshold,
                                 uint32_t *keep)
{
  uint64_t bytes = sizeof(struct block);
  uint32_t count = 0;
  for (uint32_t k = 0; k < c->count; k++) {
    const uint64_t more = sizeof(struct record) + data_bytes(c->level, keep[k]);
    if (counts[k] >= threshold && cache->held + bytes + more <= cache->memory) {
      bytes += more;
      count++;
    } else {
      keep[k] = NONE;
    }
  }
  struct block *block = count ? (struct block *)cache->host->allocate("kept episodes", bytes, 1) : NULL;
  if (!block)
    return NULL;
  char *data = (char *)&block->record[count];
  block->bytes = bytes;
  for (uint64_t k = 0; k < c->count; k++) {
    if (keep[k] == NONE)
      continue;
    const uint32_t *type = c->type + (k + 1) * c->level - 2, j = c->interval[(k + 1) * (c->level - 1) - 1];
    block->record[block->count] = (struct record){c->first + k, data, keep[k], type[0], type[1], j};
    data += data_bytes(c->level, keep[k]);
    keep[k] = block->count++;
  }
  cache->held += bytes;
  *cache->tail = block;
  cache->tail = &block->next;
  return block;
}

static void release_blocks(struct cache *cache, struct block **first)
{
  for (struct block *block = *first, *next; block; block = next) {
    next = block->next;
    cache->held -= block->bytes;
    cache->host->release(block);
  }
  *first = NULL;
}

/* An index of what is kept, which counts as part of it; NULL when there is no room. */
static void *make_index(struct cache *cache, uint64_t count, size_t size)
{
  const int fits = count <= (cache->memory - cache->held) / size;
  void *index = fits ? cache->host->allocate("index of kept episodes", count, size) : NULL;
  if (index)
    cache->held += count * size;
  return index;
}

/* Returns whether the blocks are in use now. */
static int index_pairs(struct cache *cache)
{
  uint64_t records = 0, size = 1;
  for (const struct block *block = cache->block; block; block = block->next)
    records += block->count;
  while (size < 2 * records)
    size *= 2;
  if (!records || !(cache->pair = (struct pair *)make_index(cache, size, sizeof *cache->pair)))
    return 0;
  cache->pair_mask = size - 1;
  for (const struct block *block = cache->block; block; block = block->next)
    for (const struct record *r = block->record; r < block->record + block->count; r++)
      *cache_pair(cache, r->a, r->b, r->j) = (struct pair){r->a, r->b, r->j, {(const struct link *)r->data, r->count}};
  return 1;
}

/* The same above level 2. Records and kept are both in ascending order of number. */
static int index_parents(struct cache *cache, uint32_t n, const uint64_t *kept)
{
  uint32_t at = 0;
  if (!cache->block || !(cache->parent = (const struct record **)make_index(cache, n, sizeof *cache->parent)))
    return 0;
  cache->parents = n;
  for (const struct block *block = cache->block; block; block = block->next)
    for (const struct record *r = block->record; r < block->record + block->count; r++) {
      while (at < n && kept[at] < r->number)
        at++;
      if (at < n && kept[at] == r->number)
        cache->parent[at] = r;
    }
  return 1;
}

static void drop_parents(struct cache *cache)
{
  cache->held -= cache->parents * sizeof *cache->parent;
  cache->host->release(cache->parent);
  release_blocks(cache, &cache->parent_block);
  cache->parent = NULL;
  cache->parents = 0;
}

/* What was kept of `level` takes the place of the level before. */
static void cache_keep(struct cache *cache, uint32_t level, uint32_t n, const uint64_t *kept)
{
  if (level > 2)
    drop_parents(cache);
  if (level == 2 && index_pairs(cache))
    cache->pair_block = cache->block;
  else if (level > 2 && index_parents(cache, n, kept))
    cache->parent_block = cache->block;
  else
    release_blocks(cache, &cache->block);
  cache->block = NULL;
  cache->tail = &cache->block;
}

static void cache_release(struct cache *cache)
{
  drop_parents(cache);
  release_blocks(cache, &cache->block);
  release_blocks(cache, &cache->pair_block);
  cache->host->release(cache->pair);
}

#endif
