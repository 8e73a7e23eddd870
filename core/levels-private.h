/* The level-wise driver in parts: levels.c goes through the levels; candidates are made, counted and culled here (levels-host.c) or on a
   device (levels-device.c), in the same order and with the same numbers. */
#ifndef MILL_LEVELS_PRIVATE_H
#define MILL_LEVELS_PRIVATE_H

#include "levels.h"

struct mill_search;
struct mill_sieve; /* cuda/candidates.h */

/* Where the candidates of a level are. Functions return -1 with the error filled. What takes memory on a device counts against the budget of
   the episodes as if it were here, so that a search stops at the same level either way. */
struct mill_way {
  int (*open)(struct mill_search *s, struct mill_error *error);
  /* Whatever the candidates of the next level need of s->level, which is complete. */
  int (*index)(struct mill_search *s, struct mill_error *error);
  /* Sets how many candidates s->level has, the level after that one: s->candidates and s->counted, at most UINT64_MAX. */
  int (*number)(struct mill_search *s, struct mill_error *error);
  /* Room for batches of s->level; sets how many candidates one can have: s->room. */
  int (*allocate)(struct mill_search *s, struct mill_error *error);
  /* Counts the batch, candidates s->first … s->first + s->count - 1, and keeps the frequent ones. */
  int (*count)(struct mill_search *s, struct mill_error *error);
  void (*release)(struct mill_search *s); /* that room */
  void (*close)(struct mill_search *s);   /* what there is for all levels, also when open failed */
};
extern const struct mill_way mill_way_host, mill_way_device;

/* A batch on the host: arrays with room for s->room candidates. */
struct mill_batch {
  uint32_t *type, *interval, *parent, *suffix;
  uint64_t *counts;
};

struct mill_search {
  const struct mill_levels_setup *setup;
  struct mill_episodes *episodes;
  uint32_t level;      /* the one that is counted */
  uint64_t candidates; /* of the level */
  uint64_t counted;    /* those that the counter gets: at level 1 the types with enough events */
  uint64_t child_count, start_count;
  uint64_t *kept; /* [kept_room] numbers of the frequent candidates */
  uint64_t kept_room;
  int stopped;           /* progress has said so */
  uint64_t wanted;       /* candidates of the next batch, as far as there is room */
  uint64_t first;        /* the batch's first candidate */
  uint32_t room, count;  /* of a batch: what there is room for, and its candidates */

  /* On the host. */
  uint32_t *child; /* [child_count]: the episodes of the level before whose prefix is i are child[i] … child[i + 1] - 1 */
  uint64_t *start; /* [start_count]: the candidates of parent i are numbers start[i] … start[i + 1] - 1; NULL at level 1 */
  struct mill_batch batch;
  uint32_t next_type; /* the first one that is in no batch yet, at level 1 */

  /* On a device. */
  struct mill_sieve *sieve; /* NULL: the counter does not take candidates from there */
  uint64_t next_candidates; /* of the level after the one that is counted, when that is complete */
};

static inline struct mill_episode_level *mill_search_level(const struct mill_search *s, uint32_t level)
{
  return &s->episodes->level[level];
}

/* Whether a type has as many events as a frequent episode has occurrences. */
static inline int mill_search_has_enough(const struct mill_search *s, uint32_t type)
{
  const uint32_t *first = mill_counting_input(s->setup->counting)->first;
  return first[type + 1] - first[type] >= s->setup->threshold;
}

/* Bytes of a batch for each of its candidates, and how many one can have. */
uint64_t mill_search_each(const struct mill_search *s);
uint32_t mill_search_room(const struct mill_search *s);

/* Keeps a candidate of s->level that is frequent. */
int mill_search_keep(struct mill_search *s, uint64_t number, const struct mill_episode *episode, struct mill_error *error);

/* -1: the budget of the episodes does not allow what is needed. */
int mill_search_too_many(const struct mill_search *s, struct mill_error *error);

#endif
