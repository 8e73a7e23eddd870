/* Surrogates. A train is the events of a type, as ticks since the beginning of the recording. Each kind of surrogate moves one train;
   then all are put in order of time by a radix sort, which leaves events of one time in the order in which they were laid out. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "surrogates-private.h"

#include <string.h>
#include <spikemill/device.h>

#include "memory.h"

#define DIGIT 11 /* bits of a pass of the sort */

const char *const mill_surrogate_names[] = {"dither", "dither-refractory", "isi-shuffle", "shift"};

struct mill_surrogate_room {
  uint64_t *time;              /* [events] */
  struct mill_event *event[2]; /* [events] each: sorted from one to the other and back */
};

/* ---- Trains ------------------------------------------------------------------------------------------------------------- */

static int ties_by_type(const struct mill_counter_input *in)
{
  for (uint32_t i = 1; i < in->events; i++)
    if (in->time[i] == in->time[i - 1] && in->type[i] < in->type[i - 1])
      return 0;
  return 1;
}

/* The events that matter before each of the stream's, by type. */
static void number_places(struct mill_trains *t, const struct mill_counter_input *in, const uint32_t *number, uint32_t *next)
{
  uint32_t place = 0;
  memcpy(next, t->first, t->types * sizeof *next);
  for (uint32_t i = 0; i < in->events; i++)
    if (number[in->type[i]] != UINT32_MAX)
      t->place[next[number[in->type[i]]]++] = place++;
}

static void copy_times(struct mill_trains *t, const struct mill_counter_input *in, const uint32_t *number)
{
  uint32_t at = 0;
  for (uint32_t e = 0; e < in->types; e++) {
    if (number[e] == UINT32_MAX)
      continue;
    t->type[number[e]] = e;
    t->first[number[e]] = at;
    for (uint32_t i = in->first[e]; i < in->first[e + 1]; i++, at++) {
      t->time[at] = (uint64_t)in->type_time[i] - (uint64_t)t->setup.begin;
      t->place[at] = at;
    }
  }
  t->first[t->types] = at;
}

struct mill_trains *mill_trains_create(const struct mill_surrogate_setup *setup, const struct mill_counter_input *in,
                                       const uint32_t *number, struct mill_error *error)
{
  struct mill_trains *t = mill_allocate_or_fail("trains", 1, sizeof *t, error);
  uint32_t *next = NULL;
  if (!t)
    return NULL;
  t->setup = *setup;
  t->width = (uint64_t)setup->end - (uint64_t)setup->begin + 1;
  for (uint32_t e = 0; e < in->types; e++) {
    t->types += number[e] != UINT32_MAX;
    t->events += number[e] != UINT32_MAX ? in->first[e + 1] - in->first[e] : 0;
  }
  if (!(t->first = mill_allocate_or_fail("first events of trains", t->types + UINT64_C(1), sizeof *t->first, error)) ||
      !(t->time = mill_allocate_or_fail("times of trains", t->events, sizeof *t->time, error)) ||
      !(t->place = mill_allocate_or_fail("places of trains", t->events, sizeof *t->place, error)) ||
      !(t->type = mill_allocate_or_fail("types of trains", t->types, sizeof *t->type, error)) ||
      !(next = mill_allocate_or_fail("places of trains", t->types, sizeof *next, error))) {
    mill_trains_free(t);
    return NULL;
  }
  copy_times(t, in, number);
  if (!ties_by_type(in))
    number_places(t, in, number, next);
  mill_release(next);
  return t;
}

void mill_trains_free(struct mill_trains *t)
{
  if (!t)
    return;
  mill_release(t->first);
  mill_release(t->time);
  mill_release(t->place);
  mill_release(t->type);
  mill_release(t);
}

uint64_t mill_trains_events(const struct mill_trains *t)
{
  return t->events;
}

uint32_t mill_trains_types(const struct mill_trains *t)
{
  return t->types;
}

/* ---- One train ---------------------------------------------------------------------------------------------------------- */

/* Draws 0, 1, … of a train of a surrogate, each block of 128 bits being two of them. */
struct draws {
  uint64_t key, type, next;
  struct mill_u64x2 pair;
};

static inline uint64_t draw(struct draws *d, uint64_t n)
{
  if (!(d->next & 1))
    d->pair = mill_random_pair(d->key, d->type, d->next >> 1);
  return mill_below(d->pair.x[d->next++ & 1], n);
}

static inline uint64_t between(struct draws *d, uint64_t low, uint64_t high)
{
  return low + draw(d, high - low + 1);
}

static void dither(const struct mill_trains *t, struct draws *d, uint64_t *time, uint32_t n)
{
  const uint64_t reach = (uint64_t)t->setup.dither, last = t->width - 1;
  for (uint32_t i = 0; i < n; i++)
    time[i] = between(d, time[i] > reach ? time[i] - reach : 0, last - time[i] > reach ? time[i] + reach : last);
}

uint64_t mill_train_least_interval(const uint64_t *time, uint32_t n)
{
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 1; i < n; i++)
    least = time[i] - time[i - 1] < least ? time[i] - time[i - 1] : least;
  return least;
}

/* The order of the visits is a keyed permutation; its key is a draw that no train has an event for. */
static void dither_refractory(const struct mill_trains *t, struct draws *d, uint64_t *time, uint32_t n)
{
  const uint64_t reach = (uint64_t)t->setup.dither, last = t->width - 1, apart = mill_train_least_interval(time, n);
  const uint64_t visits = mill_random(d->key, d->type, UINT64_MAX);
  for (uint32_t k = 0; k < n; k++) {
    const uint64_t i = mill_feistel(visits, n, k), now = time[i];
    const uint64_t back = i ? now - time[i - 1] - apart : now; /* how far it may go */
    const uint64_t on = i + 1 < n ? time[i + 1] - now - apart : last - now;
    time[i] = between(d, now - (back < reach ? back : reach), now + (on < reach ? on : reach));
  }
}

/* Fisher and Yates, on the intervals. */
static void shuffle_intervals(const struct mill_trains *t, struct draws *d, uint64_t *time, uint32_t n)
{
  (void)t;
  for (uint32_t i = n; i-- > 1;)
    time[i] -= time[i - 1];
  for (uint32_t i = n; i-- > 2;) {
    const uint64_t k = between(d, 1, i), interval = time[i];
    time[i] = time[k];
    time[k] = interval;
  }
  for (uint32_t i = 1; i < n; i++)
    time[i] += time[i - 1];
}

static void shift(const struct mill_trains *t, struct draws *d, uint64_t *time, uint32_t n)
{
  const uint64_t by = draw(d, t->width);
  for (uint32_t i = 0; i < n; i++)
    time[i] = t->width - time[i] > by ? time[i] + by : by - (t->width - time[i]);
}

static void (*const moves[])(const struct mill_trains *t, struct draws *d, uint64_t *time, uint32_t n) = {
    [MILL_SURROGATE_DITHER] = dither,
    [MILL_SURROGATE_DITHER_REFRACTORY] = dither_refractory,
    [MILL_SURROGATE_ISI_SHUFFLE] = shuffle_intervals,
    [MILL_SURROGATE_SHIFT] = shift,
};

/* ---- All of them -------------------------------------------------------------------------------------------------------- */

struct mill_surrogate_room *mill_surrogate_room_create(const struct mill_trains *t, struct mill_error *error)
{
  struct mill_surrogate_room *room = mill_allocate_or_fail("surrogate", 1, sizeof *room, error);
  if (!room)
    return NULL;
  if ((room->time = mill_allocate_or_fail("times of a surrogate", t->events, sizeof *room->time, error)) &&
      (room->event[0] = mill_allocate_or_fail("events of a surrogate", t->events, sizeof **room->event, error)) &&
      (room->event[1] = mill_allocate_or_fail("events of a surrogate", t->events, sizeof **room->event, error)))
    return room;
  mill_surrogate_room_free(room);
  return NULL;
}

void mill_surrogate_room_free(struct mill_surrogate_room *room)
{
  if (!room)
    return;
  mill_release(room->time);
  mill_release(room->event[0]);
  mill_release(room->event[1]);
  mill_release(room);
}

/* One pass of the sort: from and to, by the digit that begins at bit `low`. */
static void sort_by_digit(const struct mill_event *from, struct mill_event *to, uint32_t n, unsigned low)
{
  uint32_t start[1 << DIGIT] = {0}, before = 0;
  const uint64_t mask = (UINT64_C(1) << DIGIT) - 1;
  for (uint32_t i = 0; i < n; i++)
    start[(uint64_t)from[i].tick >> low & mask]++;
  for (uint32_t digit = 0; digit <= mask; digit++) {
    const uint32_t count = start[digit];
    start[digit] = before;
    before += count;
  }
  for (uint32_t i = 0; i < n; i++)
    to[start[(uint64_t)from[i].tick >> low & mask]++] = from[i];
}

/* Leaves the sorted events in room->event[0]. */
static void sort(const struct mill_trains *t, struct mill_surrogate_room *room)
{
  for (unsigned low = 0; low < 64 && (t->width - 1) >> low; low += DIGIT) {
    struct mill_event *from = room->event[0];
    sort_by_digit(from, room->event[1], t->events, low);
    room->event[0] = room->event[1];
    room->event[1] = from;
  }
}

const struct mill_event *mill_surrogate_make(const struct mill_trains *t, uint64_t index, struct mill_surrogate_room *room)
{
  const uint64_t key = mill_mix(mill_key(t->setup.seed, MILL_PURPOSE_SURROGATE, (uint32_t)t->setup.kind) + index);
  memcpy(room->time, t->time, t->events * sizeof *room->time);
  for (uint32_t e = 0; e < t->types; e++) {
    struct draws draws = {.key = key, .type = t->type[e]};
    moves[t->setup.kind](t, &draws, room->time + t->first[e], t->first[e + 1] - t->first[e]);
    for (uint32_t i = t->first[e]; i < t->first[e + 1]; i++)
      room->event[0][t->place[i]] = (struct mill_event){.tick = (int64_t)room->time[i], .unit = e};
  }
  sort(t, room);
  for (uint32_t i = 0; i < t->events; i++)
    room->event[0][i].tick = (int64_t)((uint64_t)room->event[0][i].tick + (uint64_t)t->setup.begin);
  return room->event[0];
}
