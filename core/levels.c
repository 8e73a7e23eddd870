/* The level-wise driver: what it goes through level by level, when it stops, and what it keeps. Where candidates are made is a way of its own
   (levels-private.h). */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <string.h>

#include "levels-private.h"
#include "memory.h"
#include "simulation.h"
#include "text.h"

#define FIRST_BATCH 64 /* candidates, before anything is known of the counter's speed */
#define BATCH_BYTES (32 << 20)
#define BATCH_SHARE 4 /* of the budget, at most */
#define SHORT_S 0.04  /* a batch that takes less is followed by a larger one, */
#define LONG_S 0.15   /* one that takes more by a smaller one */

/* Where the candidates of a level are: types are counted on the host. */
static const struct mill_way *way_of(const struct mill_search *s, uint32_t level)
{
  struct mill_miner *miner;
  return level > 1 && mill_counting_there(s->setup->counting, &miner) ? &mill_way_device : &mill_way_host;
}

/* ---- Stops ---- */

static const char *complete_text(const struct mill_search *s, char *text, size_t size)
{
  uint32_t n = s->episodes->levels;
  if (n == 0)
    return "no level is complete";
  mill_text_format(text, size, n == 1 ? "level 1 is complete" : "levels 1 to %u are complete", n);
  return text;
}

static int too_many_candidates(const struct mill_search *s, struct mill_error *error)
{
  char text[64];
  if (s->level == 1)
    return mill_fail(error, MILL_RESOURCES,
                     "level 1 has %" PRIu64 " candidates, and max_candidates is %" PRIu64
                     "; no level is complete. They are the types of the recording: raise max_candidates",
                     s->candidates, s->setup->max_candidates);
  return mill_fail(error, MILL_RESOURCES,
                   "level %u has %s%" PRIu64 " candidates, and max_candidates is %" PRIu64 "; %s. Raise support (%" PRIu64
                   " now), give fewer intervals, or raise max_candidates",
                   s->level, s->candidates == UINT64_MAX ? "more than " : "", s->candidates, s->setup->max_candidates,
                   complete_text(s, text, sizeof text), s->setup->threshold);
}

int mill_search_too_many(const struct mill_search *s, struct mill_error *error)
{
  char text[64], budget[32], memory[32];
  return mill_fail(
      error, MILL_RESOURCES,
      "the frequent episodes up to level %u (%u of it so far) need more than %s, the half of memory (%s) that is theirs; %s. "
      "Raise support (%" PRIu64 " now) or memory",
      s->level, mill_search_level(s, s->level)->count, mill_memory_text(budget, s->episodes->budget),
      mill_memory_text(memory, s->setup->memory), complete_text(s, text, sizeof text), s->setup->threshold);
}

/* ---- A level ---- */

uint64_t mill_search_each(const struct mill_search *s)
{
  return (2 * s->level + 2) * sizeof(uint32_t) + sizeof(uint64_t);
}

uint32_t mill_search_room(const struct mill_search *s)
{
  const uint64_t share = s->episodes->budget / BATCH_SHARE, fit = (share < BATCH_BYTES ? share : BATCH_BYTES) / mill_search_each(s);
  const uint64_t room = fit < s->counted ? fit : s->counted;
  return room ? (uint32_t)room : 1;
}

static int keep_number(struct mill_search *s, uint64_t number)
{
  uint32_t n = mill_search_level(s, s->level)->count;
  if (n == s->kept_room) {
    uint64_t room = s->kept_room ? 2 * s->kept_room : 1024, *kept;
    kept = mill_episodes_allocate(s->episodes, "numbers of frequent candidates", room, sizeof *kept);
    if (!kept)
      return -1;
    if (n)
      memcpy(kept, s->kept, n * sizeof *kept);
    mill_episodes_release(s->episodes, s->kept, s->kept_room, sizeof *kept);
    s->kept = kept;
    s->kept_room = room;
  }
  s->kept[n] = number;
  return 0;
}

int mill_search_keep(struct mill_search *s, uint64_t number, const struct mill_episode *episode, struct mill_error *error)
{
  if (keep_number(s, number) < 0 || mill_episodes_add(s->episodes, s->level, episode) < 0)
    return mill_search_too_many(s, error);
  return 0;
}

/* The size of the next batch, from the time of this one. */
static void adapt(struct mill_search *s, double seconds)
{
  const uint32_t count = s->count;
  if (seconds > LONG_S)
    s->wanted = (uint64_t)count * 2 / 3;
  else if (seconds < SHORT_S && count >= s->wanted)
    s->wanted = (uint64_t)count * (seconds < SHORT_S / 8 ? 8 : 2);
  if (s->wanted < s->setup->workers)
    s->wanted = s->setup->workers;
}

static int show(struct mill_search *s, uint64_t done, struct mill_error *error)
{
  const struct mill_levels_setup *setup = s->setup;
  const struct mill_mining_progress progress = {.level = s->level,
                                                .candidates = s->counted,
                                                .done = done,
                                                .frequent = mill_search_level(s, s->level)->count,
                                                .wall_s = mill_seconds() - setup->begun};
  char text[64];
  if (!s->stopped && (!setup->progress || !setup->progress(&progress, setup->self)))
    return 0;
  s->stopped = 1;
  return mill_fail(error, MILL_INTERRUPTED, "interrupted at level %u after %" PRIu64 " of %" PRIu64 " candidates; %s", s->level,
                   done, s->candidates, complete_text(s, text, sizeof text));
}

static int count_level(struct mill_search *s, const struct mill_way *way, struct mill_error *error)
{
  if (show(s, 0, error) < 0 || way->allocate(s, error) < 0)
    return -1;
  for (s->first = 0; s->first < s->counted; s->first += s->count) {
    const uint64_t left = s->counted - s->first, most = s->wanted < s->room ? s->wanted : s->room;
    const double before = mill_seconds();
    s->count = (uint32_t)(left < most ? left : most);
    if (way->count(s, error) < 0)
      return -1;
    adapt(s, mill_seconds() - before);
    if (show(s, s->first + s->count, error) < 0 && s->first + s->count < s->counted) /* else the level is complete */
      return -1;
  }
  return 0;
}

/* One level, its frequent episodes and what the next one needs of them. */
static int mine_level(struct mill_search *s, struct mill_error *error)
{
  struct mill_episode_level *level = mill_search_level(s, s->level);
  struct mill_counter_level told;
  double begun = mill_seconds();
  const struct mill_way *way = way_of(s, s->level);
  int rc = count_level(s, way, error);
  way->release(s);
  if (rc < 0) {
    mill_episodes_drop(s->episodes, s->level);
    return -1;
  }
  mill_counting_tell(s->setup->counting, &told);
  level->candidates = s->candidates;
  level->culled = told.culled;
  level->method = told.method;
  level->wall_s = mill_seconds() - begun;
  s->episodes->levels = s->level;
  return 0;
}

/* Goes on to the next level. 1: there is one. */
static int next_level(struct mill_search *s, struct mill_error *error)
{
  struct mill_episode_level *level = mill_search_level(s, s->level);
  const struct mill_way *way = way_of(s, s->level + 1);
  double begun = mill_seconds();
  int rc = 0;
  if (!level->count || s->level == s->setup->max_length)
    return 0;
  if (way->index(s, error) < 0)
    return -1;
  s->level++;
  if (way->number(s, error) < 0)
    return -1;
  if (s->candidates > s->setup->max_candidates)
    return too_many_candidates(s, error);
  if (s->candidates)
    rc = mill_counting_keep(s->setup->counting, s->level - 1, level->count, s->kept, error);
  level->wall_s += mill_seconds() - begun;
  return rc < 0 ? -1 : s->candidates > 0;
}

int mill_levels_run(const struct mill_levels_setup *setup, struct mill_episodes *episodes, struct mill_error *error)
{
  struct mill_search s = {.setup = setup,
                          .episodes = episodes,
                          .level = 1,
                          .candidates = setup->types,
                          .wanted = setup->batch ? setup->batch : FIRST_BATCH};
  int rc = 1;
  for (uint32_t type = 0; type < setup->types; type++)
    s.counted += (uint64_t)mill_search_has_enough(&s, type);
  if (s.candidates > setup->max_candidates)
    rc = too_many_candidates(&s, error);
  else if (setup->max_length > 1 && way_of(&s, 2)->open(&s, error) < 0)
    rc = -1;
  while (rc > 0 && s.candidates) {
    rc = mine_level(&s, error);
    if (rc == 0)
      rc = next_level(&s, error);
  }
  way_of(&s, 2)->close(&s);
  mill_episodes_release(episodes, s.kept, s.kept_room, sizeof *s.kept);
  return rc < 0 ? -1 : 0;
}
