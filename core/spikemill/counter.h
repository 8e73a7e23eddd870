/* Episode counters: how often each of many serial episodes occurs in a stream.

   A serial episode E(1) -(l,h]→ E(2) … -(l,h]→ E(N) occurs at events i_1 < … < i_N of these types when every gap between neighbours is
   above l and at most h. Its count is the largest number of occurrences of which each starts after the one before has ended (Cao et al.
   2009, section II; spikemill-config(5) says which ties count as "after"). Counters differ in how they find it, never in what they find;
   one without MILL_EXACT among its flags finds upper bounds, counts that are not below the right ones, and is marked so wherever its
   results are shown.

   The driver (core/levels.c) mines level by level: it opens a counter on a stream, has it count batches of candidates of level 1, 2, …,
   tells it after each level which of them it keeps, and closes it. A candidate of level N + 1 is a kept episode of level N and one more
   node, so a counter may keep what it knows about each kept episode and go on from there; what it keeps is a cache. */
#ifndef SPIKEMILL_COUNTER_H
#define SPIKEMILL_COUNTER_H

#include <stdint.h>
#include <spikemill/device-counter.h>
#include <spikemill/device-host.h>
#include <spikemill/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A gap g fits when low < g ≤ high; 0 ≤ low < high. Ticks. */
struct mill_interval {
  int64_t low, high;
};

/* What a counter works on. Everything belongs to the host and stays until `close`. */
struct mill_counter_input {
  /* The stream, in order. */
  uint32_t events, types;
  const int64_t *time;          /* [events] ticks, not decreasing; no two differ by more than INT64_MAX */
  const uint32_t *type;         /* [events] 0 … types-1 */
  const uint32_t *order;        /* [events] not decreasing: event b lies after event a when order[b] > order[a]. The event's index or, when
                                   ties are strict, the rank of its time, so that events of one time do not lie after each other */

  /* The same events type by type: those of type e are first[e] … first[e + 1] - 1 of these, in order. */
  const uint32_t *first;        /* [types + 1] */
  const int64_t *type_time;     /* [events] */
  const uint32_t *type_order;   /* [events] */

  uint32_t interval_count;
  const struct mill_interval *interval; /* [interval_count] */
  uint32_t strict;              /* 1: ties = strict */

  uint64_t threshold;           /* an episode is kept when its count is at least this; ≥ 1 */
  uint64_t memory;              /* bytes that may be held between calls as a cache, where a miss is recomputed, or for work whose size can be
                                   chosen */

  struct mill_team *team;       /* for host->each */
  uint32_t workers;             /* of the team */
};

/* A batch of candidates of one level. They come in ascending order, those with the same parent together. */
struct mill_candidates {
  uint32_t level;               /* nodes of each: 1 … 64 */
  uint32_t count;
  uint64_t first;               /* number of the batch's first candidate within its level */
  const uint32_t *type;         /* [count][level] */
  const uint32_t *interval;     /* [count][level - 1] indices into the input's intervals; NULL at level 1 */
  const uint32_t *parent;       /* [count] which of the episodes kept at the level before the candidate extends by its last node; NULL at
                                   level 1 */
  uint32_t last;                /* 1: none of them becomes a parent, so nothing of them needs to be kept */
  uint64_t total;               /* ABI 0.2. Candidates of the level, over all its batches, or a little more */
};

/* What a counter tells of the level that it counts. */
struct mill_counter_level {
  uint64_t culled;              /* candidates, so far, that a cheaper bound ruled out: their counts are that bound, below the threshold */
  const char *method;           /* how it counts them, where it has a choice: "ptpe"; NULL: there is nothing to say. A constant of the
                                   plugin, without blanks */
};

/* ABI 0.5. A batch of candidates of one level, 2 or more, in the device's memory, made and culled there. Ascending, those with the same parent
   together. Valid until the next batch is counted. */
struct mill_device_candidates {
  uint32_t level, count;        /* as in struct mill_candidates, */
  uint64_t first, total;
  uint32_t last, reserved;
  uint64_t candidate;           /* addresses: struct mill_device_candidate [count] */
  uint64_t type, interval;      /* uint32_t [count][level] and [count][level - 1], of all nodes */
  uint64_t result;              /* uint32_t [count][words]: where the counts are to be put */
};

/* ABI 0.5. How a counter works on them. */
struct mill_counter_there {
  uint32_t size;                /* of this struct */
  uint32_t words;               /* of a result: 1, its count; or 2, with one more, which `keep` gets back */
  /* Sets the results of the batch's candidates, in the order of the device's work: it need not wait for them. */
  int (*count)(void *self, const struct mill_device_candidates *candidates, struct mill_error *error);
  /* After each batch unless candidates->last: which of its candidates reached the threshold, ascending, in the host's memory, valid during
     the call. All of them become parents, which `keep` of struct mill_counter_device says again when the level is complete. NULL: nothing
     is kept. */
  int (*keep)(void *self, const struct mill_device_candidates *candidates, const struct mill_device_frequent *kept, uint32_t n,
              struct mill_error *error);
};

/* ABI 0.5. Episodes that are counted in many streams. They stand level by level from level 2 on, those with one parent together, and within a
   level in the order of their parents. Numbers of episodes go through all levels. */
struct mill_episode_tree {
  uint32_t levels;              /* the last one, 2 … 64 */
  uint32_t count;
  const uint32_t *first;        /* [levels + 2]: those of level n are first[n] … first[n + 1] - 1; of level 0 and 1: 0 */
  const uint32_t *type, *interval; /* [count] of the last node, and of the gap before it */
  const uint32_t *parent;       /* [count] the number of the episode without its last node; at level 2 the type of the first node */
};

/* The same on a device. Functions are called as those of mill_counter_ops are and say the same counts; only `open` differs: it is given the
   stream in the device's memory as well, which the host owns until `close`. input->memory is of the device's memory then. The program is the
   descriptor's text (<spikemill/device-counter.h>), compiled before. */
struct mill_counter_device {
  int (*open)(const struct mill_host *host, const struct mill_device_host *device, const void *params,
              const struct mill_counter_input *input, const struct mill_device_stream *stream, void **self, struct mill_error *error);
  int (*count)(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error);
  int (*keep)(void *self, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error);
  void (*close)(void *self);
  void (*tell)(void *self, struct mill_counter_level *level); /* NULL: there is never anything to tell */
  /* ABI 0.5. NULL: all candidates come from the host. Else a search has only those of level 1 from there; tests with surrogates call `count`
     for every level. A level comes one way or the other. */
  const struct mill_counter_there *there;

  /* ABI 0.5. Counts episodes in `count` other streams of the device, each with as many events of each type as the one of `open`, which is one
     of their kind; from then on nothing else is called but this and `close`. *streams is the first of them: `first` and `interval` are of
     all, and the other arrays of each stream follow those of the one before: time[count][events] and so on. Times are of as many bits as
     those of `open` and at least 0; when ties are strict `order` is that of the first event of its time. counts: an address on the
     device, uint32_t [count][episodes->count], all of which are written. An exact counter that has it serves, with default parameters,
     other exact ones that have not. NULL: another one does so, or surrogates are counted on the CPU. */
  int (*count_streams)(void *self, const struct mill_device_stream *streams, uint32_t count, const struct mill_episode_tree *episodes,
                       uint64_t counts, struct mill_error *error);
};

struct mill_counter_ops {
  /* params is the plugin's parameter block. *self is set on success. */
  int (*open)(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **self,
              struct mill_error *error);
  /* Sets counts[k] for each of the batch's candidates. */
  int (*count)(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error);
  /* After the last batch of a level that is followed by another: the candidates whose numbers within the level are kept[0 … n-1],
     ascending, are the parents 0 … n-1 of the next level. All of them reached the threshold. */
  int (*keep)(void *self, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error);
  void (*close)(void *self);

  /* ABI 0.2. Fills *level, which is zeroed; asked for after the last batch of a level, before `keep`. NULL: there is never anything to
     tell. */
  void (*tell)(void *self, struct mill_counter_level *level);

  /* ABI 0.4. NULL: episodes are counted on the CPU alone. */
  const struct mill_counter_device *device;
};

/* The `keep` of a counter that keeps nothing between levels. */
static inline int mill_keep_nothing(void *self, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error)
{
  (void)self, (void)level, (void)n, (void)kept, (void)error;
  return 0;
}

#ifdef __cplusplus
}
#endif
#endif
