/* Algorithm 1 for candidates that are in the device's memory, and whose counts stay there. The host learns how long lists may have to be, and how
   many candidates are to be counted again. */
#ifndef ALGORITHM_1_THERE_H
#define ALGORITHM_1_THERE_H

#include "algorithm-1-device.h"

#define PASS_THREADS 256u

static inline uint32_t pass_blocks(const struct a1 *a, uint64_t count)
{
  const uint64_t blocks = (count + PASS_THREADS - 1) / PASS_THREADS, most = 8 * (uint64_t)a->tiles.device->multiprocessors;
  return (uint32_t)(blocks < most ? blocks : most);
}

/* Launches a pass over `count` things that leaves a number in a->word, and fetches that. */
static inline int pass_word(struct a1 *a, const struct mill_device_kernel *kernel, uint64_t count, void **arguments, uint32_t *word,
                            struct mill_error *error)
{
  const struct mill_device_host *device = a->tiles.device;
  return device->fill(device->self, a->word.address, 0, sizeof *word, error) ||
                 device->launch(device->self, kernel, pass_blocks(a, count), PASS_THREADS, 0, arguments, error) ||
                 device->download(device->self, word, a->word.address, sizeof *word, error)
             ? -1
             : 0;
}

/* The bounds of all types and intervals on the device. */
static inline int there_bounds(struct a1 *a, struct mill_error *error)
{
  const struct mill_counter_input *in = a->bounds.in;
  if (a->most.address)
    return 0;
  for (uint32_t type = 0; type < in->types; type++)
    for (uint32_t j = 0; j < in->interval_count; j++)
      bounds_find(&a->bounds, type, j);
  return room_make(a->tiles.device, &a->word, "number of candidates", sizeof(uint32_t), error) ||
                 room_put(a->tiles.device, &a->most, "bounds of lists", a->bounds.most, bounds_bytes(in), error)
             ? -1
             : 0;
}

/* As a1_longest, of those that batch->which tells. */
static inline int there_longest(struct a1 *a, const struct tiles_batch *sent, uint32_t *longest, struct mill_error *error)
{
  struct tiles_batch batch = *sent;
  uint32_t intervals = a->bounds.in->interval_count, most, power = 1;
  if (there_bounds(a, error))
    return -1;
  void *arguments[] = {&batch, &a->most.address, &intervals, &a->word.address};
  if (pass_word(a, a->longest_of, (uint64_t)batch.count * (batch.level - 1), arguments, &most, error))
    return -1;
  while (power < most && power < LIST_MOST)
    power *= 2;
  *longest = power;
  return 0;
}

/* Which of the first `count` counts are at least `least`: *n of them, into the room. */
static inline int there_select(struct a1 *a, uint64_t counts, uint32_t count, uint32_t least, struct room *which, uint32_t *n,
                               struct mill_error *error)
{
  if (room_make(a->tiles.device, &a->word, "number of candidates", sizeof(uint32_t), error) ||
      room_make(a->tiles.device, which, "candidates to be counted", count * sizeof(uint32_t), error))
    return -1;
  void *arguments[] = {&counts, &count, &least, &which->address, &a->word.address};
  return pass_word(a, a->select, count, arguments, n, error);
}

/* Puts the first `count` counts of tiles.counts to where which[] says. */
static inline int there_scatter(struct a1 *a, uint64_t which, uint32_t count, uint64_t counts, struct mill_error *error)
{
  const struct mill_device_host *device = a->tiles.device;
  void *arguments[] = {&a->tiles.counts.address, &which, &count, &counts};
  return device->launch(device->self, a->scatter, pass_blocks(a, count), PASS_THREADS, 0, arguments, error);
}

/* Those that have no count, of `all`, with lists in the device's memory. */
static inline int there_again(struct a1 *a, const struct tiles_batch *sent, uint32_t all, uint32_t longest, uint64_t counts,
                              struct mill_error *error)
{
  struct tiles *t = &a->tiles;
  struct tiles_batch batch = *sent;
  uint32_t n;
  if (there_select(a, counts, all, NO_COUNT, &a->again_there, &n, error))
    return -1;
  if (!n)
    return 0;
  batch.list = longest;
  const uint64_t each = (uint64_t)(batch.level - 1) * batch.list * t->stream.time_bytes, fit = t->in->memory / each;
  const uint32_t at_once = fit < 1 ? 1 : fit < n ? (uint32_t)fit : n;
  if (room_make(t->device, &a->lists, "lists of episodes", at_once * each, error) ||
      room_make(t->device, &t->counts, "counts of candidates", at_once * sizeof(uint32_t), error))
    return -1;
  batch.lists = a->lists.address;
  for (uint32_t done = 0; done < n; done += at_once) {
    batch.which = a->again_there.address + done * sizeof(uint32_t);
    batch.count = n - done < at_once ? n - done : at_once;
    if (ptpe_launch(a, batch, a1_bytes(a, batch.level, 0), t->counts.address, error) ||
        there_scatter(a, batch.which, batch.count, counts, error))
      return -1;
  }
  if (longest < LIST_MOST)
    return 0; /* no list was too short */
  if (there_select(a, counts, all, NO_COUNT, &a->again_there, &n, error))
    return -1;
  return n ? t->host->fail(error, MILL_RESOURCES, "more than %u events of a type within reach of one event", LIST_MOST) : 0;
}

/* Counts a batch's candidates, or which[0 … n - 1] of them, by PTPE into counts[]; `longest` as of there_longest. */
static inline int ptpe_there(struct a1 *a, const struct tiles_batch *sent, uint64_t which, uint32_t n, uint32_t longest,
                             uint64_t counts, struct mill_error *error)
{
  struct tiles *t = &a->tiles;
  struct tiles_batch batch = *sent;
  if (!n)
    return 0;
  batch.list = a1_list(a, batch.level, longest);
  batch.which = which;
  batch.count = n;
  if (which && room_make(t->device, &t->counts, "counts of candidates", n * sizeof(uint32_t), error))
    return -1;
  if (ptpe_launch(a, batch, a1_bytes(a, batch.level, batch.list), which ? t->counts.address : counts, error) ||
      (which && there_scatter(a, which, n, counts, error)))
    return -1;
  return batch.list < longest ? there_again(a, sent, sent->count, longest, counts, error) : 0;
}

/* Counts which[0 … n - 1] by MapConcatenate with longer lists into counts[]. */
static inline int map_there_again(struct a1 *a, const struct tiles_batch *sent, uint32_t segments, uint32_t list, uint32_t n,
                                  uint64_t counts, struct mill_error *error)
{
  struct tiles *t = &a->tiles;
  struct tiles_batch batch = *sent;
  batch.list = list;
  batch.which = a->left.address;
  batch.count = n;
  return room_make(t->device, &t->counts, "counts of candidates", n * sizeof(uint32_t), error) ||
                 map_all(a, &batch, segments, t->counts.address, error) || there_scatter(a, batch.which, n, counts, error)
             ? -1
             : 0;
}

/* The same by MapConcatenate; segments: 0, or how many. */
static inline int map_there(struct a1 *a, const struct tiles_batch *sent, uint32_t segments, uint32_t longest, uint64_t counts,
                            struct mill_error *error)
{
  const uint32_t at_first = map_wanted(a, segments, sent->count), longer = map_longer(a, sent->level, longest);
  struct tiles_batch batch = *sent;
  uint32_t n, again;
  if (at_first == 1)
    return ptpe_there(a, sent, 0, sent->count, longest, counts, error);
  batch.list = a1_list(a, batch.level, longest);
  if (map_all(a, &batch, at_first, counts, error) || there_select(a, counts, sent->count, NO_COUNT, &a->left, &n, error))
    return -1;
  again = n && longer ? map_wanted(a, segments, n) : 1;
  if (again > 1 && (map_there_again(a, sent, again, longer, n, counts, error) ||
                    there_select(a, counts, sent->count, NO_COUNT, &a->left, &n, error)))
    return -1;
  return ptpe_there(a, sent, a->left.address, n, longest, counts, error);
}

#endif
