/* Frequent episodes, level by level. An episode of level N is its prefix, an episode of level N - 1, and one more node; its suffix, what
   is left without its first node, is one of level N - 1 as well. Those of a level stand in order of (types and intervals, node by node),
   so that those with one prefix are neighbours. */
#ifndef MILL_EPISODES_H
#define MILL_EPISODES_H

#include <stdint.h>
#include <spikemill/counter.h>
#include <spikemill/error.h>
#include "job.h"

struct mill_episode {
  uint32_t prefix, suffix; /* indices into the level before; 0 at level 1 */
  uint32_t type, interval; /* of the last node, and of the gap before it */
  uint32_t count;
};

#define MILL_EPISODE_BLOCK 4096u

struct mill_episode_level {
  uint64_t candidates, culled;
  const char *method;          /* how the counter counted them; NULL: it has nothing to say */
  double wall_s;
  uint32_t count;              /* frequent ones */
  uint32_t blocks, block_room;
  struct mill_episode **block; /* [blocks], MILL_EPISODE_BLOCK each */
  uint32_t *order;             /* [count] indices by types, then by intervals; of mill_episodes_sort */
  uint32_t listed, *list;      /* [listed] those of them that a reduction leaves; NULL: all. Of mill_episodes_reduce */
};

struct mill_episodes {
  uint32_t levels;             /* complete ones: 1 … levels */
  struct mill_episode_level level[MILL_LENGTH_MAX + 1];
  uint64_t held, budget;       /* bytes */
};

static inline const struct mill_episode *mill_episode_at(const struct mill_episodes *e, uint32_t level, uint32_t index)
{
  return &e->level[level].block[index / MILL_EPISODE_BLOCK][index % MILL_EPISODE_BLOCK];
}

/* Memory that counts against the budget; NULL when that does not allow it. The caller says its size again when it is released. */
void *mill_episodes_allocate(struct mill_episodes *episodes, const char *name, uint64_t count, size_t size);
void mill_episodes_release(struct mill_episodes *episodes, void *memory, uint64_t count, size_t size);

/* The same for memory that is elsewhere: counts it against the budget, -1 when that does not allow it; and no more. */
int mill_episodes_hold(struct mill_episodes *episodes, uint64_t count, uint64_t size);
void mill_episodes_let_go(struct mill_episodes *episodes, uint64_t count, uint64_t size);

/* Appends to a level. -1 when the budget or 2^32 - 1 episodes do not allow it. */
int mill_episodes_add(struct mill_episodes *episodes, uint32_t level, const struct mill_episode *episode);

/* Drops a level that is not complete. */
void mill_episodes_drop(struct mill_episodes *episodes, uint32_t level);

/* Nodes of an episode: type[level], interval[level - 1]. */
void mill_episode_nodes(const struct mill_episodes *episodes, uint32_t level, uint32_t index, uint32_t *type, uint32_t *interval);

/* Orders every complete level by types, then by intervals, and hashes them in this order: XXH64 over u32 level, u32 types, i64 low and
   high of each interval, u64 count, little-endian. Needs about 40 bytes for each episode of the largest level beside the budget, of which
   4 stay. */
int mill_episodes_sort(struct mill_episodes *episodes, const struct mill_interval *interval, uint64_t *hash, struct mill_error *error);

/* Which episodes are listed; counts and hash are those of all of them. Closed: not those of which an episode with one more node, in
   front or behind, has the same count, and so says the same. Maximal: not those that a longer frequent one holds as prefix or suffix.
   Only prefix and suffix are looked at, since only they are sure to be as frequent (mill_levels_run). */
enum mill_reduce { MILL_REDUCE_NONE, MILL_REDUCE_CLOSED, MILL_REDUCE_MAXIMAL };

/* Sets the list of each complete level, which is sorted. Needs a bit for each episode of a level, and 4 bytes for each that is listed. */
int mill_episodes_reduce(struct mill_episodes *episodes, enum mill_reduce reduce, struct mill_error *error);

void mill_episodes_free(struct mill_episodes *episodes);

#endif
