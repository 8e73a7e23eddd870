/* Candidates made on the host. Those of a level are numbered without being made: those of a parent are its suffix' extensions, which are
   neighbours, so that any of them can be written down from its number, by any thread, and how many there are is known before. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <string.h>

#include "levels-private.h"

#define SLICE 512    /* candidates that a thread writes down at a time, */
#define PARENTS 1024 /* parents whose candidates it counts */

/* The extensions of a parent's suffix are the episodes first … end - 1 of the level before. Those of skip … skip_end - 1 would repeat
   the parent's first type and are left out. */
struct extensions {
  uint32_t first, end, skip, skip_end;
};

static struct mill_team *team_of(const struct mill_search *s)
{
  return mill_counting_input(s->setup->counting)->team;
}

/* Where the extensions of each episode of the level before stand in the one that is complete now. */
static int index_children(struct mill_search *s, struct mill_error *error)
{
  const uint32_t n = s->level, count = mill_search_level(s, n)->count;
  uint64_t parents = n > 1 ? mill_search_level(s, n - 1)->count : 1;
  uint32_t at = 0;
  mill_episodes_release(s->episodes, s->child, s->child_count, sizeof *s->child);
  s->child_count = parents + 1;
  s->child = mill_episodes_allocate(s->episodes, "extensions of episodes", s->child_count, sizeof *s->child);
  if (!s->child)
    return mill_search_too_many(s, error);
  for (uint64_t parent = 0; parent < parents; parent++) {
    s->child[parent] = at;
    while (at < count && mill_episode_at(s->episodes, n, at)->prefix == parent)
      at++;
  }
  s->child[parents] = at;
  return 0;
}

/* The first of the episodes first … end-1 of the level before, which are in order of type, whose type is at least `type`. */
static uint32_t lower_bound(const struct mill_search *s, uint32_t first, uint32_t end, uint64_t type)
{
  while (first < end) {
    uint32_t middle = first + (end - first) / 2;
    if (mill_episode_at(s->episodes, s->level - 1, middle)->type < type)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* Without repeats only the parent's first type can come again: the others are in the suffix, whose extensions have none twice. */
static struct extensions extensions(const struct mill_search *s, uint32_t parent, uint32_t first_type)
{
  const uint32_t suffix = mill_episode_at(s->episodes, s->level - 1, parent)->suffix;
  struct extensions e = {s->child[suffix], s->child[suffix + 1], UINT32_MAX, UINT32_MAX};
  if (!s->setup->repeats) {
    e.skip = lower_bound(s, e.first, e.end, first_type);
    e.skip_end = lower_bound(s, e.skip, e.end, first_type + UINT64_C(1));
  }
  return e;
}

/* Candidates that an extension makes. */
static uint32_t each_extension(const struct mill_search *s)
{
  return s->level == 2 ? s->setup->interval_count : 1;
}

/* Sets start[i + 1] of a part of the parents to how many candidates i has. */
static void count_part(void *self, uint64_t part, uint32_t worker)
{
  struct mill_search *s = self;
  uint32_t type[MILL_LENGTH_MAX], interval[MILL_LENGTH_MAX];
  (void)worker;
  for (uint64_t i = part * PARENTS; i < (part + 1) * PARENTS && i + 1 < s->start_count; i++) {
    mill_episode_nodes(s->episodes, s->level - 1, (uint32_t)i, type, interval);
    const struct extensions e = extensions(s, (uint32_t)i, type[0]);
    s->start[i + 1] = (uint64_t)((e.end - e.first) - (e.skip_end - e.skip)) * each_extension(s);
  }
}

/* Numbers the candidates of s->level and sets how many there are, at most UINT64_MAX. */
static int number_candidates(struct mill_search *s, struct mill_error *error)
{
  const uint64_t parents = mill_search_level(s, s->level - 1)->count;
  mill_episodes_release(s->episodes, s->start, s->start_count, sizeof *s->start);
  s->start_count = parents + 1;
  s->start = mill_episodes_allocate(s->episodes, "numbers of candidates", s->start_count, sizeof *s->start);
  if (!s->start)
    return mill_search_too_many(s, error);
  mill_team_each(team_of(s), (parents + PARENTS - 1) / PARENTS, count_part, s);
  s->start[0] = 0;
  for (uint64_t i = 0; i < parents; i++)
    if (__builtin_add_overflow(s->start[i + 1], s->start[i], &s->start[i + 1]))
      s->start[i + 1] = UINT64_MAX;
  s->candidates = s->counted = s->start[parents];
  return 0;
}

/* The parent of a candidate. */
static uint32_t parent_of(const struct mill_search *s, uint64_t number)
{
  uint64_t low = 0, high = s->start_count - 1; /* start[low] <= number < start[high] */
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (s->start[middle] <= number)
      low = middle;
    else
      high = middle;
  }
  return (uint32_t)low;
}

/* Writes down candidates k … end - 1 of the batch, which are of one parent. */
static void write_family(struct mill_search *s, uint32_t parent, uint64_t k, uint64_t end)
{
  const uint32_t n = s->level, each = each_extension(s);
  uint32_t *type = s->batch.type + k * n, *interval = s->batch.interval + k * (n - 1);
  uint32_t parent_type[MILL_LENGTH_MAX], parent_interval[MILL_LENGTH_MAX];
  mill_episode_nodes(s->episodes, n - 1, parent, parent_type, parent_interval);
  const struct extensions e = extensions(s, parent, parent_type[0]);
  uint64_t number = s->first + k - s->start[parent];
  for (; k < end; k++, number++, type += n, interval += n - 1) {
    uint32_t at = e.first + (uint32_t)(number / each);
    if (at >= e.skip)
      at += e.skip_end - e.skip;
    const struct mill_episode *last = mill_episode_at(s->episodes, n - 1, at);
    memcpy(type, parent_type, (n - 1) * sizeof *type);
    memcpy(interval, parent_interval, (n - 2) * sizeof *interval);
    type[n - 1] = last->type;
    interval[n - 2] = n == 2 ? (uint32_t)(number % each) : last->interval;
    s->batch.parent[k] = parent;
    s->batch.suffix[k] = at;
  }
}

static void write_slice(void *self, uint64_t slice, uint32_t worker)
{
  struct mill_search *s = self;
  const uint64_t end = (slice + 1) * SLICE < s->count ? (slice + 1) * SLICE : s->count;
  uint64_t k = slice * SLICE;
  (void)worker;
  for (uint32_t parent = parent_of(s, s->first + k); k < end; parent++) {
    const uint64_t left = s->start[parent + 1] - s->first;
    const uint64_t stop = left < end ? left : end;
    if (k < stop)
      write_family(s, parent, k, stop);
    k = stop;
  }
}

/* Writes down the candidates of the batch. */
static void fill_batch(struct mill_search *s)
{
  if (s->level > 1)
    mill_team_each(team_of(s), (s->count + UINT64_C(1) * SLICE - 1) / SLICE, write_slice, s);
  else
    for (uint32_t k = 0; k < s->count; s->next_type++)
      if (mill_search_has_enough(s, s->next_type))
        s->batch.type[k++] = s->next_type;
}

static void release(struct mill_search *s)
{
  struct mill_batch *b = &s->batch;
  mill_episodes_release(s->episodes, b->type, (uint64_t)s->room * s->level, sizeof *b->type);
  mill_episodes_release(s->episodes, b->interval, (uint64_t)s->room * s->level, sizeof *b->interval);
  mill_episodes_release(s->episodes, b->parent, s->room, sizeof *b->parent);
  mill_episodes_release(s->episodes, b->suffix, s->room, sizeof *b->suffix);
  mill_episodes_release(s->episodes, b->counts, s->room, sizeof *b->counts);
  *b = (struct mill_batch){0};
  s->room = 0;
}

static int allocate(struct mill_search *s, struct mill_error *error)
{
  struct mill_episodes *e = s->episodes;
  struct mill_batch *b = &s->batch;
  s->room = mill_search_room(s);
  b->type = mill_episodes_allocate(e, "types of candidates", (uint64_t)s->room * s->level, sizeof *b->type);
  b->interval = mill_episodes_allocate(e, "intervals of candidates", (uint64_t)s->room * s->level, sizeof *b->interval);
  b->parent = mill_episodes_allocate(e, "parents of candidates", s->room, sizeof *b->parent);
  b->suffix = mill_episodes_allocate(e, "suffixes of candidates", s->room, sizeof *b->suffix);
  b->counts = mill_episodes_allocate(e, "counts of candidates", s->room, sizeof *b->counts);
  return b->type && b->interval && b->parent && b->suffix && b->counts ? 0 : mill_search_too_many(s, error);
}

/* Keeps the frequent ones of a batch. */
static int take_batch(struct mill_search *s, struct mill_error *error)
{
  const struct mill_batch *b = &s->batch;
  const uint32_t n = s->level;
  for (uint32_t k = 0; k < s->count; k++) {
    if (b->counts[k] < s->setup->threshold)
      continue;
    if (b->counts[k] > UINT32_MAX)
      return mill_fail(error, MILL_RESOURCES,
                       "the counter gives candidate %" PRIu64 " of level %u a count of %" PRIu64 ", more than there are events",
                       s->first + k, n, b->counts[k]);
    const struct mill_episode episode = {
        .prefix = n > 1 ? b->parent[k] : 0,
        .suffix = n > 1 ? b->suffix[k] : 0,
        .type = b->type[(uint64_t)k * n + n - 1],
        .interval = n > 1 ? b->interval[(uint64_t)k * (n - 1) + n - 2] : 0,
        .count = (uint32_t)b->counts[k],
    };
    if (mill_search_keep(s, s->first + k, &episode, error) < 0)
      return -1;
  }
  return 0;
}

static int count(struct mill_search *s, struct mill_error *error)
{
  const struct mill_levels_setup *setup = s->setup;
  const struct mill_candidates candidates = {.level = s->level,
                                             .count = s->count,
                                             .first = s->first,
                                             .type = s->batch.type,
                                             .interval = s->level > 1 ? s->batch.interval : NULL,
                                             .parent = s->level > 1 ? s->batch.parent : NULL,
                                             .last = s->level == setup->max_length,
                                             .total = s->counted};
  fill_batch(s);
  return mill_counting_count(setup->counting, &candidates, s->batch.counts, error) < 0 ? -1 : take_batch(s, error);
}

static int open_host(struct mill_search *s, struct mill_error *error)
{
  (void)s, (void)error;
  return 0;
}

static void close_host(struct mill_search *s)
{
  mill_episodes_release(s->episodes, s->child, s->child_count, sizeof *s->child);
  mill_episodes_release(s->episodes, s->start, s->start_count, sizeof *s->start);
}

const struct mill_way mill_way_host = {open_host, index_children, number_candidates, allocate, count, release, close_host};
