/* Candidates made on a device: the sieve has the frequent episodes there, and the host gets those of each batch. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "cuda/candidates.h"
#include "levels-private.h"
#include "memory.h"

static int open_device(struct mill_search *s, struct mill_error *error)
{
  const struct mill_levels_setup *setup = s->setup;
  struct mill_sieve_setup sieve = {.intervals = setup->interval_count, .repeats = setup->repeats, .threshold = setup->threshold};
  sieve.words = mill_counting_there(setup->counting, &sieve.miner)->words;
  return mill_sieve_open(&sieve, &s->sieve, error);
}

/* Level 1 has come from the host. */
static int begin(struct mill_search *s, struct mill_error *error)
{
  const uint32_t count = mill_search_level(s, 1)->count;
  uint32_t *type = mill_allocate_or_fail("frequent types", count, sizeof *type, error);
  int rc;
  if (!type)
    return -1;
  for (uint32_t i = 0; i < count; i++)
    type[i] = mill_episode_at(s->episodes, 1, i)->type;
  rc = mill_sieve_begin(s->sieve, type, count, &s->next_candidates, error);
  mill_release(type);
  return rc;
}

/* The sieve's own index of a level is part of its numbers. */
static int index_level(struct mill_search *s, struct mill_error *error)
{
  const uint64_t children = (s->level > 1 ? mill_search_level(s, s->level - 1)->count : 1) + UINT64_C(1);
  mill_episodes_let_go(s->episodes, s->child_count, sizeof(uint32_t));
  s->child_count = 0;
  if (mill_episodes_hold(s->episodes, children, sizeof(uint32_t)) < 0)
    return mill_search_too_many(s, error);
  s->child_count = children;
  return s->level == 1 ? begin(s, error) : 0;
}

static int number(struct mill_search *s, struct mill_error *error)
{
  const uint64_t starts = mill_search_level(s, s->level - 1)->count + UINT64_C(1);
  mill_episodes_let_go(s->episodes, s->start_count, sizeof(uint64_t));
  s->start_count = 0;
  if (mill_episodes_hold(s->episodes, starts, sizeof(uint64_t)) < 0)
    return mill_search_too_many(s, error);
  s->start_count = starts;
  s->candidates = s->counted = s->next_candidates;
  return 0;
}

static int allocate(struct mill_search *s, struct mill_error *error)
{
  const uint32_t room = mill_search_room(s);
  if (mill_episodes_hold(s->episodes, room, mill_search_each(s)) < 0)
    return mill_search_too_many(s, error);
  s->room = room;
  return 0;
}

static void release(struct mill_search *s)
{
  mill_episodes_let_go(s->episodes, s->room, mill_search_each(s));
  s->room = 0;
}

static int count(struct mill_search *s, struct mill_error *error)
{
  struct mill_counting *counting = s->setup->counting;
  struct mill_device_candidates batch;
  struct mill_sieve_kept kept;
  if (mill_sieve_make(s->sieve, s->level, s->first, s->count, &batch, error) < 0)
    return -1;
  batch.total = s->counted;
  batch.last = s->level == s->setup->max_length;
  if (mill_counting_count_there(counting, &batch, error) < 0 ||
      mill_sieve_cull(s->sieve, &batch, s->first + s->count == s->counted, &kept, error) < 0 ||
      mill_counting_keep_there(counting, &batch, kept.episode, kept.count, error) < 0)
    return -1;
  s->next_candidates = kept.candidates;
  for (uint32_t i = 0; i < kept.count; i++) {
    const struct mill_device_frequent *e = &kept.episode[i];
    const struct mill_episode episode = {e->prefix, e->suffix, e->type, e->interval, e->count};
    if (mill_search_keep(s, s->first + e->which, &episode, error) < 0)
      return -1;
  }
  return 0;
}

static void close_device(struct mill_search *s)
{
  mill_episodes_let_go(s->episodes, s->child_count, sizeof(uint32_t));
  mill_episodes_let_go(s->episodes, s->start_count, sizeof(uint64_t));
  mill_sieve_close(s->sieve);
}

const struct mill_way mill_way_device = {open_device, index_level, number, allocate, count, release, close_device};
