/* Episodes counted in surrogates on a GPU: surrogates are made there, a batch at a time, all episodes are counted in all of them, and what the
   counts add up to is all that comes back. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "significance.h"

#include <inttypes.h>

#include "cuda/device.h"
#include "cuda/miner-private.h"
#include "cuda/device-surrogates.h"
#include "memory.h"

#define WORK                                                                                                                       \
  (UINT64_C(1) << 31) /* episodes times events of a type, in all surrogates of a batch: some tenths of a second at most */

struct tree {
  uint32_t first[MILL_LENGTH_MAX + 2];
  uint32_t *type, *interval, *parent, *least; /* [tests] */
};

static int tree_make(const struct mill_tests_setup *setup, const struct mill_tests *tests, const uint32_t *number, uint32_t levels,
                     struct tree *t, struct mill_error *error)
{
  const struct mill_episodes *episodes = setup->episodes;
  if (!(t->type = mill_allocate_or_fail("types of episodes", tests->count, sizeof *t->type, error)) ||
      !(t->interval = mill_allocate_or_fail("intervals of episodes", tests->count, sizeof *t->interval, error)) ||
      !(t->parent = mill_allocate_or_fail("parents of episodes", tests->count, sizeof *t->parent, error)) ||
      !(t->least = mill_allocate_or_fail("counts of episodes", tests->count, sizeof *t->least, error)))
    return -1;
  for (uint32_t level = 2; level <= levels; level++) {
    const uint32_t first = (uint32_t)tests->first[level], count = episodes->level[level].count;
    t->first[level] = first;
    t->first[level + 1] = first + count;
    for (uint32_t i = 0; i < count; i++) {
      const struct mill_episode *episode = mill_episode_at(episodes, level, i);
      t->type[first + i] = number[episode->type];
      t->interval[first + i] = episode->interval;
      t->parent[first + i] = level > 2 ? (uint32_t)tests->first[level - 1] + episode->prefix
                                       : number[mill_episode_at(episodes, 1, episode->prefix)->type];
      t->least[first + i] = episode->count;
    }
  }
  return 0;
}

static void tree_release(struct tree *t)
{
  mill_release(t->type);
  mill_release(t->interval);
  mill_release(t->parent);
  mill_release(t->least);
}

/* Surrogates of a batch, at most. */
static uint32_t batch_of(const struct mill_tests_setup *setup, const struct mill_tests *tests, const struct mill_trains *trains)
{
  const uint64_t each = mill_trains_events(trains) / mill_trains_types(trains) * tests->count + mill_trains_events(trains);
  const uint64_t batch = WORK / each, all = setup->options->surrogates;
  return batch < 1 ? 1 : batch < all ? (uint32_t)batch : (uint32_t)all;
}

/* Opens the counter on the first surrogate, of which all others have the events. */
static int open_counting(struct mill_counting_setup counter, const struct mill_trains *trains, uint64_t memory,
                         struct mill_counting **counting, struct mill_error *error)
{
  struct mill_surrogate_room *room = mill_surrogate_room_create(trains, error);
  int rc;
  if (!room)
    return -1;
  counter.event = mill_surrogate_make(trains, 0, room);
  counter.events = mill_trains_events(trains);
  counter.types = mill_trains_types(trains);
  counter.threshold = 1;
  counter.memory = memory;
  mill_miner_widen(counter.miner, !mill_device_surrogates_are_narrow(trains));
  rc = mill_counting_open(&counter, counting, error);
  mill_surrogate_room_free(room);
  return rc;
}

static int count_batches(const struct mill_tests_setup *setup, struct mill_counting *counting,
                         struct mill_device_surrogates *surrogates, const struct mill_episode_tree *tree, struct mill_error *error)
{
  const uint32_t all = setup->options->surrogates, room = mill_device_surrogates_room(surrogates);
  for (uint32_t done = 0; done < all;) {
    const uint32_t count = all - done < room ? all - done : room;
    struct mill_device_stream streams;
    if (mill_device_surrogates_make(surrogates, done, count, &streams, error) < 0 ||
        mill_counting_streams(counting, &streams, count, tree, mill_device_surrogates_counts(surrogates), error) < 0 ||
        mill_device_surrogates_tally(surrogates, count, error) < 0)
      return mill_fail_within(error, "in surrogates");
    done += count;
    if (setup->progress && setup->progress(done, all, setup->self) && done < all)
      return mill_fail(error, MILL_INTERRUPTED,
                       "interrupted after %" PRIu32 " of %" PRIu32 " surrogates; every level is complete, nothing is tested", done,
                       all);
  }
  return 0;
}

int mill_tests_on_device(const struct mill_tests_setup *setup, const struct mill_counting_setup *counter,
                         const struct mill_tests *tests, const struct mill_trains *trains, const uint32_t *number, uint32_t levels,
                         uint32_t *reached, uint64_t *sum, struct mill_error *error)
{
  struct mill_miner *const miner = counter->miner;
  const uint64_t free_bytes = mill_cuda_free_bytes(miner->cuda) + miner->spare_bytes, most = free_bytes / 8 * 7,
                 asked = counter->memory;
  const uint64_t memory = (most && most < asked ? most : asked) / 2; /* for surrogates; and as much for the counter */
  struct mill_counting *counting = NULL;
  struct mill_device_surrogates *surrogates = NULL;
  struct tree t = {{0}, NULL, NULL, NULL, NULL};
  int rc = -1;
  if (tree_make(setup, tests, number, levels, &t, error) < 0 || open_counting(*counter, trains, memory, &counting, error) < 0)
    goto done;
  const struct mill_device_surrogates_setup making = {.miner = miner,
                                                      .trains = trains,
                                                      .strict = counter->ties == MILL_TIES_STRICT,
                                                      .memory = memory,
                                                      .most = batch_of(setup, tests, trains),
                                                      .episodes = (uint32_t)tests->count,
                                                      .least = t.least};
  const struct mill_episode_tree tree = {.levels = levels,
                                         .count = (uint32_t)tests->count,
                                         .first = t.first,
                                         .type = t.type,
                                         .interval = t.interval,
                                         .parent = t.parent};
  if (mill_device_surrogates_open(&making, &surrogates, error) == 0 &&
      count_batches(setup, counting, surrogates, &tree, error) == 0 &&
      mill_device_surrogates_results(surrogates, reached, sum, error) == 0)
    rc = 0;
done:
  mill_device_surrogates_close(surrogates);
  mill_counting_close(counting);
  mill_miner_widen(miner, 0);
  tree_release(&t);
  return rc;
}
