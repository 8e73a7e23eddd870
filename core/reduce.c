/* Reductions of the list of frequent episodes. Each episode knows its prefix and its suffix in the level before, so that one look
   at each is enough. An episode that a much longer one begins or ends with need not be found from there: the ones in between are
   frequent as well, and the shortest of them has one node more than it. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "episodes.h"
#include "memory.h"

static int is_dropped(const uint64_t *dropped, uint32_t index)
{
  return dropped[index / 64] >> index % 64 & 1;
}

/* What an episode of level n + 1 makes superfluous in level n: its prefix or its suffix. */
static void drop(const struct mill_episodes *e, uint32_t n, uint32_t part, uint32_t count, enum mill_reduce reduce,
                 uint64_t *dropped)
{
  if (reduce == MILL_REDUCE_MAXIMAL || mill_episode_at(e, n, part)->count == count)
    dropped[part / 64] |= UINT64_C(1) << part % 64;
}

/* Lists a level that is followed by another. */
static int reduce_level(struct mill_episodes *e, uint32_t n, enum mill_reduce reduce, struct mill_error *error)
{
  struct mill_episode_level *level = &e->level[n];
  uint64_t *dropped = mill_allocate_or_fail("superfluous episodes", level->count / 64 + UINT64_C(1), sizeof *dropped, error);
  uint32_t kept = 0;
  if (!dropped)
    return -1;
  for (uint32_t i = 0; i < e->level[n + 1].count; i++) {
    const struct mill_episode *longer = mill_episode_at(e, n + 1, i);
    drop(e, n, longer->prefix, longer->count, reduce, dropped);
    drop(e, n, longer->suffix, longer->count, reduce, dropped);
  }
  for (uint32_t i = 0; i < level->count; i++)
    kept += !is_dropped(dropped, i);
  level->list = mill_allocate_or_fail("list of episodes", kept, sizeof *level->list, error);
  level->listed = 0;
  for (uint32_t i = 0; level->list && i < level->count; i++)
    if (!is_dropped(dropped, level->order[i]))
      level->list[level->listed++] = level->order[i];
  mill_release(dropped);
  return level->list ? 0 : -1;
}

int mill_episodes_reduce(struct mill_episodes *e, enum mill_reduce reduce, struct mill_error *error)
{
  for (uint32_t n = 1; n <= e->levels; n++) {
    e->level[n].listed = e->level[n].count;
    if (reduce != MILL_REDUCE_NONE && n < e->levels && reduce_level(e, n, reduce, error) < 0)
      return -1;
  }
  return 0;
}
