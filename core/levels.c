/* The level-wise driver. Candidates of a level are numbered without being made: those of a parent are its suffix' extensions, which are
   neighbours, so that any of them can be written down from its number, by any thread, and how many there are is known before. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <string.h>

#include "levels.h"
#include "memory.h"
#include "simulation.h"
#include "text.h"

#define FIRST_BATCH 64 /* candidates, before anything is known of the counter's speed */
#define BATCH_BYTES (32 << 20)
#define BATCH_SHARE 4 /* of the budget, at most */
#define SHORT_S 0.04  /* a batch that takes less is followed by a larger one, */
#define LONG_S 0.15   /* one that takes more by a smaller one */
#define SLICE 512     /* candidates that a thread writes down at a time, */
#define PARENTS 1024  /* parents whose candidates it counts */

/* A batch: `count` candidates from number `first` on, in arrays with room for `room`. */
struct batch {
  uint64_t first;
  uint32_t room, count;
  uint32_t *type, *interval, *parent, *suffix;
  uint64_t *counts;
};

/* The extensions of a parent's suffix are the episodes first … end - 1 of the level before. Those of skip … skip_end - 1 would repeat
   the parent's first type and are left out. */
struct extensions {
  uint32_t first, end, skip, skip_end;
};

struct search {
  const struct mill_levels_setup *setup;
  struct mill_episodes *episodes;
  uint32_t level;      /* the one that is counted */
  uint64_t candidates; /* of the level */
  uint64_t counted;    /* those that the counter gets: at level 1 the types with enough events */
  uint32_t *child;     /* [child_count]: the episodes of the level before whose prefix is i are child[i] … child[i + 1] - 1 */
  uint64_t child_count;
  uint64_t *start; /* [start_count]: the candidates of parent i are numbers start[i] … start[i + 1] - 1; NULL at level 1 */
  uint64_t start_count;
  uint64_t *kept; /* [kept_room] numbers of the frequent candidates */
  uint64_t kept_room;
  int stopped;     /* progress has said so */
  uint64_t wanted; /* candidates of the next batch, as far as there is room */
  struct batch batch;
  uint32_t next_type; /* the first one that is in no batch yet, at level 1 */
};

static struct mill_team *team_of(const struct search *s)
{
  return mill_counting_input(s->setup->counting)->team;
}

static struct mill_episode_level *level_of(const struct search *s, uint32_t level)
{
  return &s->episodes->level[level];
}

/* ---- Stops ---- */

static const char *complete_text(const struct search *s, char *text, size_t size)
{
  uint32_t n = s->episodes->levels;
  if (n == 0)
    return "no level is complete";
  mill_text_format(text, size, n == 1 ? "level 1 is complete" : "levels 1 to %u are complete", n);
  return text;
}

static int too_many_candidates(const struct search *s, struct mill_error *error)
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

static int too_many_episodes(const struct search *s, struct mill_error *error)
{
  char text[64], budget[32], memory[32];
  return mill_fail(
      error, MILL_RESOURCES,
      "the frequent episodes up to level %u (%u of it so far) need more than %s, the half of memory (%s) that is theirs; %s. "
      "Raise support (%" PRIu64 " now) or memory",
      s->level, level_of(s, s->level)->count, mill_memory_text(budget, s->episodes->budget),
      mill_memory_text(memory, s->setup->memory), complete_text(s, text, sizeof text), s->setup->threshold);
}

/* ---- Candidates ---- */

/* Whether a type has as many events as a frequent episode has occurrences. */
static int has_enough(const struct search *s, uint32_t type)
{
  const uint32_t *first = mill_counting_input(s->setup->counting)->first;
  return first[type + 1] - first[type] >= s->setup->threshold;
}

/* The first of the episodes first … end-1 of the level before, which are in order of type, whose type is at least `type`. */
static uint32_t lower_bound(const struct search *s, uint32_t first, uint32_t end, uint64_t type)
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
static struct extensions extensions(const struct search *s, uint32_t parent, uint32_t first_type)
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
static uint32_t each_extension(const struct search *s)
{
  return s->level == 2 ? s->setup->interval_count : 1;
}

/* Sets start[i + 1] of a part of the parents to how many candidates i has. */
static void count_part(void *self, uint64_t part, uint32_t worker)
{
  struct search *s = self;
  uint32_t type[MILL_LENGTH_MAX], interval[MILL_LENGTH_MAX];
  (void)worker;
  for (uint64_t i = part * PARENTS; i < (part + 1) * PARENTS && i + 1 < s->start_count; i++) {
    mill_episode_nodes(s->episodes, s->level - 1, (uint32_t)i, type, interval);
    const struct extensions e = extensions(s, (uint32_t)i, type[0]);
    s->start[i + 1] = (uint64_t)((e.end - e.first) - (e.skip_end - e.skip)) * each_extension(s);
  }
}

/* Numbers the candidates of s->level and sets how many there are, at most UINT64_MAX. */
static int number_candidates(struct search *s, struct mill_error *error)
{
  const uint64_t parents = level_of(s, s->level - 1)->count;
  mill_episodes_release(s->episodes, s->start, s->start_count, sizeof *s->start);
  s->start_count = parents + 1;
  s->start = mill_episodes_allocate(s->episodes, "numbers of candidates", s->start_count, sizeof *s->start);
  if (!s->start)
    return too_many_episodes(s, error);
  mill_team_each(team_of(s), (parents + PARENTS - 1) / PARENTS, count_part, s);
  s->start[0] = 0;
  for (uint64_t i = 0; i < parents; i++)
    if (__builtin_add_overflow(s->start[i + 1], s->start[i], &s->start[i + 1]))
      s->start[i + 1] = UINT64_MAX;
  s->candidates = s->counted = s->start[parents];
  return 0;
}

/* The parent of a candidate. */
static uint32_t parent_of(const struct search *s, uint64_t number)
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
static void write_family(struct search *s, uint32_t parent, uint64_t k, uint64_t end)
{
  const uint32_t n = s->level, each = each_extension(s);
  uint32_t *type = s->batch.type + k * n, *interval = s->batch.interval + k * (n - 1);
  uint32_t parent_type[MILL_LENGTH_MAX], parent_interval[MILL_LENGTH_MAX];
  mill_episode_nodes(s->episodes, n - 1, parent, parent_type, parent_interval);
  const struct extensions e = extensions(s, parent, parent_type[0]);
  uint64_t number = s->batch.first + k - s->start[parent];
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
  struct search *s = self;
  const uint64_t end = (slice + 1) * SLICE < s->batch.count ? (slice + 1) * SLICE : s->batch.count;
  uint64_t k = slice * SLICE;
  (void)worker;
  for (uint32_t parent = parent_of(s, s->batch.first + k); k < end; parent++) {
    const uint64_t left = s->start[parent + 1] - s->batch.first;
    const uint64_t stop = left < end ? left : end;
    if (k < stop)
      write_family(s, parent, k, stop);
    k = stop;
  }
}

/* Writes down the candidates of the batch. */
static void fill_batch(struct search *s)
{
  if (s->level > 1)
    mill_team_each(team_of(s), (s->batch.count + UINT64_C(1) * SLICE - 1) / SLICE, write_slice, s);
  else
    for (uint32_t k = 0; k < s->batch.count; s->next_type++)
      if (has_enough(s, s->next_type))
        s->batch.type[k++] = s->next_type;
}

/* ---- A level ---- */

static void release_batch(struct search *s)
{
  struct batch *b = &s->batch;
  mill_episodes_release(s->episodes, b->type, (uint64_t)b->room * s->level, sizeof *b->type);
  mill_episodes_release(s->episodes, b->interval, (uint64_t)b->room * s->level, sizeof *b->interval);
  mill_episodes_release(s->episodes, b->parent, b->room, sizeof *b->parent);
  mill_episodes_release(s->episodes, b->suffix, b->room, sizeof *b->suffix);
  mill_episodes_release(s->episodes, b->counts, b->room, sizeof *b->counts);
  *b = (struct batch){0};
}

static int allocate_batch(struct search *s, struct mill_error *error)
{
  struct mill_episodes *e = s->episodes;
  struct batch *b = &s->batch;
  uint64_t each = s->level * (sizeof *b->type + sizeof *b->interval) + sizeof *b->parent + sizeof *b->suffix + sizeof *b->counts;
  uint64_t bytes = e->budget / BATCH_SHARE < BATCH_BYTES ? e->budget / BATCH_SHARE : BATCH_BYTES, room = bytes / each;
  room = room < s->counted ? room : s->counted;
  b->room = room ? (uint32_t)room : 1;
  b->type = mill_episodes_allocate(e, "types of candidates", (uint64_t)b->room * s->level, sizeof *b->type);
  b->interval = mill_episodes_allocate(e, "intervals of candidates", (uint64_t)b->room * s->level, sizeof *b->interval);
  b->parent = mill_episodes_allocate(e, "parents of candidates", b->room, sizeof *b->parent);
  b->suffix = mill_episodes_allocate(e, "suffixes of candidates", b->room, sizeof *b->suffix);
  b->counts = mill_episodes_allocate(e, "counts of candidates", b->room, sizeof *b->counts);
  return b->type && b->interval && b->parent && b->suffix && b->counts ? 0 : too_many_episodes(s, error);
}

static int keep_number(struct search *s, uint64_t number)
{
  uint32_t n = level_of(s, s->level)->count;
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

/* Keeps the frequent ones of a batch. */
static int take_batch(struct search *s, struct mill_error *error)
{
  const struct batch *b = &s->batch;
  const uint32_t n = s->level;
  for (uint32_t k = 0; k < b->count; k++) {
    if (b->counts[k] < s->setup->threshold)
      continue;
    if (b->counts[k] > UINT32_MAX)
      return mill_fail(error, MILL_RESOURCES,
                       "the counter gives candidate %" PRIu64 " of level %u a count of %" PRIu64 ", more than there are events",
                       b->first + k, n, b->counts[k]);
    const struct mill_episode episode = {
        .prefix = n > 1 ? b->parent[k] : 0,
        .suffix = n > 1 ? b->suffix[k] : 0,
        .type = b->type[(uint64_t)k * n + n - 1],
        .interval = n > 1 ? b->interval[(uint64_t)k * (n - 1) + n - 2] : 0,
        .count = (uint32_t)b->counts[k],
    };
    if (keep_number(s, b->first + k) < 0 || mill_episodes_add(s->episodes, n, &episode) < 0)
      return too_many_episodes(s, error);
  }
  return 0;
}

/* The size of the next batch, from the time of this one. */
static void adapt(struct search *s, double seconds)
{
  const uint32_t count = s->batch.count;
  if (seconds > LONG_S)
    s->wanted = (uint64_t)count * 2 / 3;
  else if (seconds < SHORT_S && count >= s->wanted)
    s->wanted = (uint64_t)count * (seconds < SHORT_S / 8 ? 8 : 2);
  if (s->wanted < s->setup->workers)
    s->wanted = s->setup->workers;
}

static int show(struct search *s, uint64_t done, struct mill_error *error)
{
  const struct mill_levels_setup *setup = s->setup;
  const struct mill_mining_progress progress = {.level = s->level,
                                                .candidates = s->counted,
                                                .done = done,
                                                .frequent = level_of(s, s->level)->count,
                                                .wall_s = mill_seconds() - setup->begun};
  char text[64];
  if (!s->stopped && (!setup->progress || !setup->progress(&progress, setup->self)))
    return 0;
  s->stopped = 1;
  return mill_fail(error, MILL_INTERRUPTED, "interrupted at level %u after %" PRIu64 " of %" PRIu64 " candidates; %s", s->level,
                   done, s->candidates, complete_text(s, text, sizeof text));
}

static int count_level(struct search *s, struct mill_error *error)
{
  const struct mill_levels_setup *setup = s->setup;
  if (show(s, 0, error) < 0 || allocate_batch(s, error) < 0)
    return -1;
  for (uint64_t first = 0; first < s->counted; first += s->batch.count) {
    const uint64_t left = s->counted - first, most = s->wanted < s->batch.room ? s->wanted : s->batch.room;
    const double before = mill_seconds();
    s->batch.first = first;
    s->batch.count = (uint32_t)(left < most ? left : most);
    const struct mill_candidates candidates = {.level = s->level,
                                               .count = s->batch.count,
                                               .first = first,
                                               .type = s->batch.type,
                                               .interval = s->level > 1 ? s->batch.interval : NULL,
                                               .parent = s->level > 1 ? s->batch.parent : NULL,
                                               .last = s->level == setup->max_length,
                                               .total = s->counted};
    fill_batch(s);
    if (mill_counting_count(setup->counting, &candidates, s->batch.counts, error) < 0 || take_batch(s, error) < 0)
      return -1;
    adapt(s, mill_seconds() - before);
    if (show(s, first + s->batch.count, error) < 0 && first + s->batch.count < s->counted) /* else the level is complete */
      return -1;
  }
  return 0;
}

/* Where the extensions of each episode of the level before stand in the one that is complete now. */
static int index_children(struct search *s, struct mill_error *error)
{
  const uint32_t n = s->level, count = level_of(s, n)->count;
  uint64_t parents = n > 1 ? level_of(s, n - 1)->count : 1;
  uint32_t at = 0;
  mill_episodes_release(s->episodes, s->child, s->child_count, sizeof *s->child);
  s->child_count = parents + 1;
  s->child = mill_episodes_allocate(s->episodes, "extensions of episodes", s->child_count, sizeof *s->child);
  if (!s->child)
    return too_many_episodes(s, error);
  for (uint64_t parent = 0; parent < parents; parent++) {
    s->child[parent] = at;
    while (at < count && mill_episode_at(s->episodes, n, at)->prefix == parent)
      at++;
  }
  s->child[parents] = at;
  return 0;
}

/* One level, its frequent episodes and what the next one needs of them. */
static int mine_level(struct search *s, struct mill_error *error)
{
  struct mill_episode_level *level = level_of(s, s->level);
  struct mill_counter_level told;
  double begun = mill_seconds();
  int rc = count_level(s, error);
  release_batch(s);
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
static int next_level(struct search *s, struct mill_error *error)
{
  struct mill_episode_level *level = level_of(s, s->level);
  double begun = mill_seconds();
  int rc = 0;
  if (!level->count || s->level == s->setup->max_length)
    return 0;
  if (index_children(s, error) < 0)
    return -1;
  s->level++;
  if (number_candidates(s, error) < 0)
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
  struct search s = {.setup = setup, .episodes = episodes, .level = 1, .candidates = setup->types, .wanted = setup->batch ? setup->batch : FIRST_BATCH};
  int rc = 1;
  for (uint32_t type = 0; type < setup->types; type++)
    s.counted += (uint64_t)has_enough(&s, type);
  if (s.candidates > setup->max_candidates)
    rc = too_many_candidates(&s, error);
  while (rc > 0 && s.candidates) {
    rc = mine_level(&s, error);
    if (rc == 0)
      rc = next_level(&s, error);
  }
  mill_episodes_release(episodes, s.child, s.child_count, sizeof *s.child);
  mill_episodes_release(episodes, s.start, s.start_count, sizeof *s.start);
  mill_episodes_release(episodes, s.kept, s.kept_room, sizeof *s.kept);
  return rc < 0 ? -1 : 0;
}
