/* The host's side of candidates.cu. Kernels follow each other without a wait: how many episodes are frequent is read on the device by those that
   come after the culling, and by the host together with the episodes. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/miner-private.h"

#define THREADS 256u /* of a block, as in candidates.cu */
#define LEVELS 64u
#define FIRST_ROOM 4096u /* episodes of a level, and those that are fetched with the first wait, at least */
#define ARENA                                                                                                                      \
  (UINT64_C(16) << 20) /* bytes, of which arrays are made as long as it lasts, so that a level does not wait for memory */
#define FETCH_MOST (MILL_MINER_BACK / 2 / sizeof(struct mill_device_frequent))

/* As in candidates.cu. */
struct state {
  uint64_t candidates;
  uint32_t frequent, taken;
  uint32_t arrived, reserved;
};
struct levels {
  uint64_t level[LEVELS + 1];
};
#define FAMILY_BYTES 24u

_Static_assert(sizeof(struct state) == 24, "as in candidates.cu");

struct room {
  mill_cu_address address;
  uint64_t bytes;
  int own; /* not of the arena */
};

/* The kernels, in the order of their names below. */
enum { NUMBER, MAKE, CULL, TAKE, MOVE, KERNELS };

struct mill_sieve {
  struct mill_sieve_setup setup;
  const struct mill_device_host *device;
  const struct mill_device_kernel *kernel[KERNELS];
  uint32_t level;                  /* the one that is counted; those below are complete */
  struct room episode[LEVELS + 1]; /* struct mill_device_frequent */
  uint32_t count[LEVELS + 1];      /* of them */
  struct room arena;
  uint64_t arena_used;
  struct room state, family, sums[2]; /* sums: of blocks of parents, which stay for the level, and of candidates */
  struct room candidate, type, interval, result;
  uint32_t guess;                    /* episodes that a batch may well have */
  struct mill_device_frequent *kept; /* [kept_room] when a fetch does not take all */
  uint32_t kept_room;
};

static void drop(struct mill_sieve *s, const struct room *room)
{
  if (room->own)
    s->device->release(s->device->self, room->address);
}

/* Makes room for so many bytes; what was there is lost when it grows. */
static int make_room(struct mill_sieve *s, struct room *room, const char *name, uint64_t bytes, struct mill_error *error)
{
  const uint64_t whole = (bytes + 255) / 256 * 256;
  if (room->address && bytes <= room->bytes)
    return 0;
  drop(s, room);
  *room = (struct room){0, 0, 0};
  if (whole <= s->arena.bytes - s->arena_used) {
    *room = (struct room){s->arena.address + s->arena_used, whole, 0};
    s->arena_used += whole;
    return 0;
  }
  if (s->device->allocate(s->device->self, name, bytes, &room->address, error))
    return -1;
  *room = (struct room){room->address, bytes, 1};
  return 0;
}

static uint32_t blocks_for(uint64_t n)
{
  return (uint32_t)((n + THREADS - 1) / THREADS);
}

static int launch(struct mill_sieve *s, int kernel, uint64_t n, void **argument, struct mill_error *error)
{
  return s->device->launch(s->device->self, s->kernel[kernel], blocks_for(n), THREADS, 0, argument, error);
}

int mill_sieve_open(const struct mill_sieve_setup *setup, struct mill_sieve **out, struct mill_error *error)
{
  static const char *const name[] = {[NUMBER] = "mill_sieve_number",
                                     [MAKE] = "mill_sieve_make",
                                     [CULL] = "mill_sieve_cull",
                                     [TAKE] = "mill_sieve_take",
                                     [MOVE] = "mill_sieve_move"};
  struct mill_sieve *s = calloc(1, sizeof *s);
  *out = NULL;
  if (setup->words < 1 || setup->words > 2) {
    free(s);
    return mill_fail(error, MILL_USAGE, "counter: results of %u words on the device; expected 1 or 2", setup->words);
  }
  if (!s)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  s->setup = *setup;
  s->device = mill_miner_host(setup->miner);
  s->guess = FIRST_ROOM;
  if (mill_miner_attach(setup->miner, error) < 0) {
    mill_sieve_close(s);
    return -1;
  }
  for (int k = 0; k < KERNELS; k++)
    if (s->device->kernel(s->device->self, name[k], &s->kernel[k], error)) {
      mill_sieve_close(s);
      return -1;
    }
  if (s->device->allocate(s->device->self, "arena of candidates", ARENA, &s->arena.address, NULL) == 0)
    s->arena = (struct room){s->arena.address, ARENA, 1};
  *out = s;
  return 0;
}

void mill_sieve_close(struct mill_sieve *s)
{
  if (!s)
    return;
  const struct room *room[] = {&s->state, &s->family,   &s->sums[0], &s->sums[1], &s->candidate,
                               &s->type,  &s->interval, &s->result,  &s->arena};
  for (size_t i = 0; i < sizeof room / sizeof *room; i++)
    drop(s, room[i]);
  for (uint32_t n = 0; n <= LEVELS; n++)
    drop(s, &s->episode[n]);
  free(s->kept);
  free(s);
}

/* ---- Levels --------------------------------------------------------------------------------------------------------------- */

/* Room for so many episodes of a level, those that are there included. */
static int grow(struct mill_sieve *s, uint32_t level, uint64_t count, struct mill_error *error)
{
  const uint64_t each = sizeof(struct mill_device_frequent);
  struct room old = s->episode[level], *now = &s->episode[level];
  if (old.address && count * each <= old.bytes)
    return 0;
  const uint64_t twice = 2 * old.bytes / each, wanted = count > twice ? count : twice;
  uint64_t room = wanted > FIRST_ROOM ? wanted : FIRST_ROOM;
  void *move[] = {&now->address, &room, &old.address, &s->count[level]};
  *now = (struct room){0, 0, 0};
  if (make_room(s, now, "frequent episodes", room * each, error)) {
    *now = old;
    return -1;
  }
  const int failed = launch(s, MOVE, room, move, error);
  drop(s, &old);
  return failed ? -1 : 0;
}

/* Numbers the candidates of the level after this one, which has at most `most` episodes. */
static int number(struct mill_sieve *s, uint32_t level, uint64_t most, struct mill_error *error)
{
  const uint32_t repeats = s->setup.repeats != 0, each = level == 1 ? s->setup.intervals : 1;
  if (make_room(s, &s->family, "families of candidates", (most ? most : 1) * FAMILY_BYTES, error) ||
      make_room(s, &s->sums[0], "numbers of candidates", (blocks_for(most) + UINT64_C(1)) * sizeof(uint64_t), error))
    return -1;
  void *argument[] = {&s->episode[level].address, (void *)&repeats,   (void *)&each,
                      &s->state.address,          &s->family.address, &s->sums[0].address};
  return launch(s, NUMBER, most, argument, error);
}

/* Every type is an extension of every other, so that how many candidates there are is known without a wait. */
static uint64_t pairs(const struct mill_sieve *s, uint64_t types)
{
  uint64_t candidates;
  if (!types || __builtin_mul_overflow(types * (types - !s->setup.repeats), (uint64_t)s->setup.intervals, &candidates))
    return types ? UINT64_MAX : 0;
  return candidates;
}

int mill_sieve_begin(struct mill_sieve *s, const uint32_t *type, uint32_t count, uint64_t *candidates, struct mill_error *error)
{
  const struct state state = {.frequent = count};
  const uint64_t bytes = count * (uint64_t)sizeof(struct mill_device_frequent);
  struct mill_device_frequent *episode = calloc(count ? count : 1, sizeof *episode);
  int rc = -1;
  if (!episode)
    return mill_fail(error, MILL_RESOURCES, "no memory for %u types", count);
  for (uint32_t i = 0; i < count; i++)
    episode[i].type = episode[i].first = type[i];
  s->level = 2;
  s->count[1] = count;
  *candidates = pairs(s, count);
  if (mill_miner_attach(s->setup.miner, error) == 0 && make_room(s, &s->state, "state of a level", sizeof state, error) == 0 &&
      make_room(s, &s->episode[1], "frequent types", bytes ? bytes : 1, error) == 0 &&
      s->device->upload(s->device->self, s->episode[1].address, episode, bytes, error) == 0 &&
      s->device->upload(s->device->self, s->state.address, &state, sizeof state, error) == 0)
    rc = number(s, 1, count, error);
  free(episode);
  return rc;
}

/* ---- Batches -------------------------------------------------------------------------------------------------------------- */

int mill_sieve_make(struct mill_sieve *s, uint32_t level, uint64_t first, uint32_t count, struct mill_device_candidates *batch,
                    struct mill_error *error)
{
  const uint64_t n = count, word = sizeof(uint32_t);
  const uint32_t each = level == 2 ? s->setup.intervals : 1;
  struct levels levels = {{0}};
  s->level = level;
  if (mill_miner_attach(s->setup.miner, error) < 0 ||
      make_room(s, &s->candidate, "candidates", n * sizeof(struct mill_device_candidate), error) ||
      make_room(s, &s->type, "types of candidates", n * level * word, error) ||
      make_room(s, &s->interval, "intervals of candidates", n * (level - 1) * word, error) ||
      make_room(s, &s->result, "counts of candidates", n * s->setup.words * word, error))
    return -1;
  for (uint32_t i = 1; i < level; i++)
    levels.level[i] = s->episode[i].address;
  void *argument[] = {&levels, &level,        &s->count[level - 1],  &s->family.address, &s->sums[0].address, &first,
                      &count,  (void *)&each, &s->candidate.address, &s->type.address,   &s->interval.address};
  *batch = (struct mill_device_candidates){.level = level,
                                           .count = count,
                                           .first = first,
                                           .candidate = s->candidate.address,
                                           .type = s->type.address,
                                           .interval = s->interval.address,
                                           .result = s->result.address};
  return launch(s, MAKE, count, argument, error);
}

/* Fetches the state and the batch's episodes; those that are more than was guessed, or than a fetch takes, afterwards. */
static int fetch(struct mill_sieve *s, uint32_t most, struct state *state, const struct mill_device_frequent **episode,
                 struct mill_error *error)
{
  const uint64_t each = sizeof(struct mill_device_frequent);
  uint32_t some = s->guess < most ? s->guess : most;
  some = some < FETCH_MOST ? some : FETCH_MOST;
  struct mill_miner_piece piece[] = {{s->state.address, sizeof *state, NULL},
                                     {s->episode[s->level].address + s->count[s->level] * each, some * each, NULL}};
  if (mill_miner_fetch(s->setup.miner, piece, 2, error))
    return -1;
  memcpy(state, piece[0].here, sizeof *state);
  *episode = piece[1].here;
  s->guess = state->taken < FETCH_MOST / 2 ? 2 * state->taken : FETCH_MOST;
  s->guess = s->guess < FIRST_ROOM ? FIRST_ROOM : s->guess;
  if (state->taken <= some)
    return 0;
  if (state->taken > s->kept_room) {
    free(s->kept);
    s->kept = malloc(state->taken * each);
    s->kept_room = s->kept ? state->taken : 0;
    if (!s->kept)
      return mill_fail(error, MILL_RESOURCES, "no memory for %u episodes", state->taken);
  }
  for (uint32_t done = 0; done < state->taken; done += some, piece[1].from += some * each) {
    if (done) {
      some = state->taken - done < FETCH_MOST ? state->taken - done : FETCH_MOST;
      piece[1].bytes = some * each;
      if (mill_miner_fetch(s->setup.miner, &piece[1], 1, error))
        return -1;
    }
    memcpy(s->kept + done, piece[1].here, some * each);
  }
  *episode = s->kept;
  return 0;
}

int mill_sieve_cull(struct mill_sieve *s, const struct mill_device_candidates *batch, int ends, struct mill_sieve_kept *kept,
                    struct mill_error *error)
{
  const uint32_t level = batch->level;
  const uint64_t most = (uint64_t)s->count[level] + batch->count;
  struct mill_sieve_setup *setup = &s->setup;
  uint32_t base = s->count[level], count = batch->count;
  struct state state;
  const int numbers = ends && !batch->last;
  if (grow(s, level, most, error) ||
      make_room(s, &s->sums[1], "frequent candidates of blocks", (blocks_for(count) + UINT64_C(1)) * sizeof(uint64_t), error))
    return -1;
  uint64_t to = s->episode[level].address + base * sizeof(struct mill_device_frequent), candidate = batch->candidate;
  uint64_t result = batch->result;
  void *cull[] = {&result, &setup->words, &count, &setup->threshold, &base, &s->state.address, &s->sums[1].address};
  void *take[] = {
      &result, &setup->words, &count, &setup->threshold, &candidate, &s->episode[level - 1].address, &s->sums[1].address, &to};
  if (launch(s, CULL, count, cull, error) || launch(s, TAKE, count, take, error) || (numbers && number(s, level, most, error)) ||
      fetch(s, count, &state, &kept->episode, error))
    return -1;
  kept->count = state.taken;
  kept->candidates = numbers ? state.candidates : 0;
  s->count[level] += state.taken;
  return 0;
}
