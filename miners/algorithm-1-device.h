/* The host's side of algorithm-1.cu: PTPE with lists in shared memory, and with long ones in the device's memory for those that need them;
   MapConcatenate, and PTPE for what it can't do. */
#ifndef ALGORITHM_1_DEVICE_H
#define ALGORITHM_1_DEVICE_H

#include "machine.h"
#include "tiles-device.h"

#define NO_COUNT UINT32_MAX
#define LIST 16u             /* times of a list in shared memory, at most, */
#define LIST_LONG 1024u      /* when too few were not enough, */
#define LIST_MOST (1u << 31) /* and of any list */
#define MAP_MACHINES 16u     /* of a segment, as in algorithm-1.cu */
#define MAP_LEAST 64u        /* events of a segment, when their number is ours to choose */
#define MAP_MOST (1u << 10)  /* segments, likewise */
#define MAP_EACH 256u        /* candidates times segments for each multiprocessor, likewise */
#define TUPLE_BYTES 8u

struct a1 {
  struct tiles tiles;
  struct bounds bounds;
  const struct mill_device_kernel *ptpe, *map, *join;
  struct room lists, cuts, tuples, lost;
  uint32_t *cut;     /* [segments + 1] those that are on the device */
  uint32_t segments; /* 0: none are */
  const struct mill_device_kernel *longest_of, *select, *scatter;
  struct room most, word, left, again_there; /* of algorithm-1-there.h */
  uint32_t *again;                           /* [again_room] candidates to be counted once more */
  uint32_t again_room;
};

static inline void a1_close(struct a1 *a)
{
  const struct mill_host *host = a->tiles.host;
  tiles_close(&a->tiles);
  host->release(a->bounds.most);
  host->release(a->cut);
  host->release(a->again);
}

/* What is open is to be closed whatever it returns. `maps`: the program has MapConcatenate's kernels, which are wanted. */
static inline int a1_open(struct a1 *a, const struct mill_host *host, const struct mill_device_host *device,
                          const struct mill_counter_input *in, const struct mill_device_stream *stream, int maps,
                          struct mill_error *error)
{
  *a = (struct a1){.ptpe = NULL};
  tiles_open(&a->tiles, host, device, in, stream);
  if (bounds_open(&a->bounds, host, in, error) || device->kernel(device->self, "ptpe_count", &a->ptpe, error) ||
      device->kernel(device->self, "algorithm_1_longest", &a->longest_of, error) ||
      device->kernel(device->self, "tiles_select", &a->select, error) ||
      device->kernel(device->self, "tiles_scatter", &a->scatter, error))
    return -1;
  return maps && (device->kernel(device->self, "map_segments", &a->map, error) ||
                  device->kernel(device->self, "map_join", &a->join, error))
             ? -1
             : 0;
}

static inline int a1_room(struct a1 *a, uint32_t count, struct mill_error *error)
{
  const struct mill_host *host = a->tiles.host;
  if (count <= a->again_room)
    return 0;
  host->release(a->again);
  a->again = (uint32_t *)host->allocate("candidates to be counted again", count, sizeof *a->again);
  a->again_room = a->again ? count : 0;
  return a->again ? 0 : host->fail(error, MILL_RESOURCES, "no memory for a batch of %u candidates", count);
}

/* A power of two that no list of these candidates can exceed, or LIST_MOST: the most events of a type within the high bound of an interval. */
static inline uint32_t a1_longest(const struct a1 *a, const struct mill_candidates *c, const uint32_t *which, uint32_t count)
{
  uint32_t most = 1, power = 1;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t k = which ? which[i] : i;
    const uint32_t *type = c->type + k * c->level, *interval = c->interval + k * (c->level - 1);
    for (uint32_t node = 0; node + 1 < c->level; node++) {
      bounds_find(&a->bounds, type[node], interval[node]);
      const uint32_t bound = a->bounds.most[(uint64_t)type[node] * a->bounds.in->interval_count + interval[node]];
      most = bound > most ? bound : most;
    }
  }
  while (power < most && power < LIST_MOST)
    power *= 2;
  return power;
}

/* Bytes of shared memory of a thread whose lists of `list` times lie there; 0: elsewhere. */
static inline uint32_t a1_bytes(const struct a1 *a, uint32_t level, uint32_t list)
{
  const uint32_t time = a->tiles.stream.time_bytes;
  return (level - 1) * ((list + 2) * time + 2 * (uint32_t)sizeof(uint32_t)) + level * (uint32_t)sizeof(uint32_t);
}

/* So many times of a list, or half as many and so on, until a warp has room for them in shared memory. */
static inline uint32_t a1_fit(const struct a1 *a, uint32_t level, uint32_t list)
{
  while (list > 2 && 32 * a1_bytes(a, level, list) + tiles_rows(&a->tiles) * ROW_BYTES > tiles_budget(&a->tiles))
    list /= 2;
  return list;
}

/* Times of a list in shared memory: as many as can be needed, but no more than leave room for several blocks, or at least for a warp. */
static inline uint32_t a1_list(const struct a1 *a, uint32_t level, uint32_t longest)
{
  uint32_t list = longest < LIST ? longest : LIST;
  while (list > 4 && THREADS_MOST * a1_bytes(a, level, list) > a->tiles.device->shared_multiprocessor / 4)
    list /= 2;
  return a1_fit(a, level, list);
}

/* A launch of PTPE, with `bytes` of shared memory a thread. */
static inline int ptpe_launch(struct a1 *a, struct tiles_batch batch, uint32_t bytes, uint64_t counts, struct mill_error *error)
{
  struct tiles *t = &a->tiles;
  const uint32_t threads = tiles_threads(t, batch.count, bytes);
  void *arguments[] = {&t->stream, &batch, &counts};
  return t->device->launch(t->device->self, a->ptpe, (batch.count + threads - 1) / threads, threads,
                           threads * bytes + batch.rows * ROW_BYTES, arguments, error);
}

/* Counts those of which[0 … count - 1], on the device at which_address, with lists in the device's memory. */
static inline int ptpe_with_long_lists(struct a1 *a, const struct mill_candidates *c, const struct tiles_batch *sent,
                                       const uint32_t *which, uint32_t count, uint64_t *counts, struct mill_error *error)
{
  struct tiles *t = &a->tiles;
  const struct mill_device_host *device = t->device;
  struct tiles_batch batch = *sent;
  batch.list = a1_longest(a, c, which, count);
  const uint64_t each = (uint64_t)(c->level - 1) * batch.list * t->stream.time_bytes, fit = t->in->memory / each;
  const uint32_t at_once = fit < 1 ? 1 : fit < count ? (uint32_t)fit : count, bytes = a1_bytes(a, c->level, 0);
  if (room_put(device, &t->which, "candidates", which, count * sizeof *which, error) ||
      room_make(device, &a->lists, "lists of episodes", at_once * each, error))
    return -1;
  batch.lists = a->lists.address;
  for (uint32_t done = 0; done < count; done += at_once) {
    batch.which = t->which.address + done * sizeof *which;
    batch.count = count - done < at_once ? count - done : at_once;
    if (ptpe_launch(a, batch, bytes, t->counts.address, error) || tiles_fetch(t, which + done, batch.count, counts, error))
      return -1;
    for (uint32_t i = 0; i < batch.count; i++)
      if (counts[which[done + i]] == NO_COUNT)
        return t->host->fail(error, MILL_RESOURCES, "more than %u events of a type within reach of one event", LIST_MOST);
  }
  return 0;
}

/* Counts which[0 … count - 1] of the candidates that were sent, or the first `count`, by PTPE. */
static inline int ptpe_on_device(struct a1 *a, const struct mill_candidates *c, const struct tiles_batch *sent,
                                 const uint32_t *which, uint32_t count, uint64_t *counts, struct mill_error *error)
{
  struct tiles *t = &a->tiles;
  const struct mill_device_host *device = t->device;
  struct tiles_batch batch = *sent;
  uint32_t left = 0;
  if (!count)
    return 0;
  batch.list = a1_list(a, c->level, a1_longest(a, c, which, count));
  batch.count = count;
  if (a1_room(a, count, error) || (which && room_put(device, &t->which, "candidates", which, count * sizeof *which, error)))
    return -1;
  batch.which = which ? t->which.address : 0;
  if (ptpe_launch(a, batch, a1_bytes(a, c->level, batch.list), t->counts.address, error) ||
      tiles_fetch(t, which, count, counts, error))
    return -1;
  for (uint32_t i = 0; i < count; i++)
    if (counts[which ? which[i] : i] == NO_COUNT)
      a->again[left++] = which ? which[i] : i;
  return left ? ptpe_with_long_lists(a, c, sent, a->again, left, counts, error) : 0;
}

/* Candidates that the device has at work at once by PTPE, with lists of no more than `longest`: T_B · MP · B_MP of Cao et al. 2009. 0 after a
   failure. */
static inline uint64_t ptpe_at_once(struct a1 *a, uint32_t level, uint32_t longest, struct mill_error *error)
{
  const struct tiles *t = &a->tiles;
  const uint32_t list = a1_list(a, level, longest), bytes = a1_bytes(a, level, list);
  const uint32_t threads = tiles_threads(t, UINT64_MAX, bytes);
  uint32_t blocks;
  if (t->device->occupancy(t->device->self, a->ptpe, threads, threads * bytes + tiles_rows(t) * ROW_BYTES, &blocks, error))
    return 0;
  return (uint64_t)threads * t->device->multiprocessors * (blocks ? blocks : 1);
}

/* ---- MapConcatenate ---- */

/* Segments for so many candidates, a power of two: those that are given, or, when that is 0, as many as give the device enough to do. */
static inline uint32_t map_wanted(const struct a1 *a, uint32_t given, uint32_t count)
{
  const uint64_t all = (uint64_t)MAP_EACH * a->tiles.device->multiprocessors;
  uint32_t segments = 1;
  if (given)
    return given;
  while (segments < MAP_MOST && (uint64_t)segments * count < all && (uint64_t)2 * segments * MAP_LEAST <= a->tiles.in->events)
    segments *= 2;
  return segments;
}

/* Cuts the stream, between distinct times when ties are strict. */
static inline int map_cut(struct a1 *a, uint32_t segments, struct mill_error *error)
{
  const struct mill_host *host = a->tiles.host;
  const struct mill_counter_input *in = a->tiles.in;
  if (segments == a->segments)
    return 0;
  host->release(a->cut);
  a->segments = 0;
  a->cut = (uint32_t *)host->allocate("cuts", segments + UINT64_C(1), sizeof *a->cut);
  if (!a->cut)
    return host->fail(error, MILL_RESOURCES, "no memory for %u segments", segments);
  for (uint64_t s = 0; s <= segments; s++) {
    uint32_t cut = (uint32_t)(s * in->events / segments);
    while (cut && cut < in->events && in->order[cut] == in->order[cut - 1])
      cut++;
    a->cut[s] = cut;
  }
  if (room_put(a->tiles.device, &a->cuts, "cuts", a->cut, (segments + UINT64_C(1)) * sizeof *a->cut, error))
    return -1;
  a->segments = segments;
  return 0;
}

/* The lists of those that MapConcatenate counts once more: longer ones, or 0 when there are none. */
static inline uint32_t map_longer(const struct a1 *a, uint32_t level, uint32_t longest)
{
  const uint32_t list = a1_fit(a, level, longest < LIST_LONG ? longest : LIST_LONG);
  return list > a1_list(a, level, longest) ? list : 0;
}

/* Candidates first … first + count - 1; to: where the first one's count is to be put. */
static inline int map_some(struct a1 *a, const struct tiles_batch *sent, uint32_t first, uint32_t count, uint64_t to,
                           struct mill_error *error)
{
  struct tiles *t = &a->tiles;
  const struct mill_device_host *device = t->device;
  struct tiles_batch batch = *sent;
  if (batch.which)
    batch.which += first * sizeof(uint32_t);
  else {
    batch.type += (uint64_t)first * batch.level * sizeof(uint32_t);
    batch.interval += (uint64_t)first * (batch.level - 1) * sizeof(uint32_t);
  }
  batch.count = count;
  const uint64_t machines = (uint64_t)count * MAP_MACHINES, all = machines * a->segments;
  const uint32_t bytes = a1_bytes(a, batch.level, batch.list), threads = tiles_threads(t, machines / 4, bytes);
  uint32_t blocks = (uint32_t)((machines + threads - 1) / threads);
  if (room_make(device, &a->tuples, "tuples", all * TUPLE_BYTES, error) ||
      room_make(device, &a->lost, "lost candidates", count * sizeof(uint32_t), error) ||
      device->fill(device->self, a->lost.address, 0, count * sizeof(uint32_t), error))
    return -1;
  void *map[] = {&t->stream, &batch, &a->cuts.address, &a->segments, &blocks, &a->tuples.address, &a->lost.address};
  void *join[] = {&a->tuples.address, &a->segments, &a->lost.address, &to};
  if (device->launch(device->self, a->map, blocks * a->segments, threads, threads * bytes + batch.rows * ROW_BYTES, map, error))
    return -1;
  return device->launch(device->self, a->join, count, THREADS_MOST, 0, join, error);
}

/* Counts a batch's candidates in so many segments, as many at a time as there is memory for. */
static inline int map_all(struct a1 *a, const struct tiles_batch *sent, uint32_t segments, uint64_t to, struct mill_error *error)
{
  const uint64_t each = (uint64_t)segments * MAP_MACHINES * TUPLE_BYTES, fit = a->tiles.in->memory / each;
  const uint64_t most = UINT32_MAX / ((uint64_t)segments * MAP_MACHINES); /* blocks of a launch */
  const uint32_t some = (uint32_t)(fit < most ? fit : most), at_once = some < 1 ? 1 : some < sent->count ? some : sent->count;
  if (map_cut(a, segments, error))
    return -1;
  for (uint32_t done = 0; done < sent->count; done += at_once)
    if (map_some(a, sent, done, sent->count - done < at_once ? sent->count - done : at_once, to + done * sizeof(uint32_t), error))
      return -1;
  return 0;
}

/* Leaves those of which[0 … count - 1] that have no count. */
static inline uint32_t map_left(uint32_t *which, uint32_t count, const uint64_t *counts)
{
  uint32_t left = 0;
  for (uint32_t i = 0; i < count; i++)
    if (counts[which[i]] == NO_COUNT)
      which[left++] = which[i];
  return left;
}

/* Counts which[0 … *left - 1] by MapConcatenate with longer lists, and leaves those that want still longer ones. */
static inline int map_again(struct a1 *a, const struct tiles_batch *sent, uint32_t segments, uint32_t list, uint32_t *which,
                            uint32_t *left, uint64_t *counts, struct mill_error *error)
{
  struct tiles *t = &a->tiles;
  struct tiles_batch batch = *sent;
  segments = map_wanted(a, segments, *left);
  if (segments == 1)
    return 0;
  batch.list = list;
  batch.count = *left;
  if (room_put(t->device, &t->which, "candidates", which, *left * sizeof *which, error))
    return -1;
  batch.which = t->which.address;
  if (map_all(a, &batch, segments, t->counts.address, error) || tiles_fetch(t, which, *left, counts, error))
    return -1;
  *left = map_left(which, *left, counts);
  return 0;
}

/* Counts the candidates that were sent, in so many segments; 0: as many as give the device enough to do. */
static inline int map_on_device(struct a1 *a, const struct mill_candidates *c, const struct tiles_batch *sent, uint32_t segments,
                                uint64_t *counts, struct mill_error *error)
{
  const uint32_t at_first = map_wanted(a, segments, c->count);
  if (at_first == 1)
    return ptpe_on_device(a, c, sent, NULL, c->count, counts, error);
  const uint32_t longest = a1_longest(a, c, NULL, c->count), longer = map_longer(a, c->level, longest);
  struct tiles_batch batch = *sent;
  batch.list = a1_list(a, c->level, longest);
  if (map_all(a, &batch, at_first, a->tiles.counts.address, error) || tiles_fetch(&a->tiles, NULL, c->count, counts, error))
    return -1;
  uint32_t left = c->count, *which = (uint32_t *)a->tiles.host->allocate("candidates to be counted again", left, sizeof *which);
  if (!which)
    return a->tiles.host->fail(error, MILL_RESOURCES, "no memory for a batch of %u candidates", left);
  for (uint32_t k = 0; k < left; k++)
    which[k] = k;
  left = map_left(which, left, counts);
  const int failed = (left && longer && map_again(a, sent, segments, longer, which, &left, counts, error)) ||
                     ptpe_on_device(a, c, sent, which, left, counts, error);
  a->tiles.host->release(which);
  return failed ? -1 : 0;
}

#endif
