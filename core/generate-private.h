/* What the generators share: points of continuous time, exponential gaps, Poisson processes, windows of events, times and lists among the
   parameters. */
#ifndef MILL_GENERATE_PRIVATE_H
#define MILL_GENERATE_PRIVATE_H

#include <spikemill/device.h>
#include "generate.h"

extern const struct mill_generator mill_generator_sym26, mill_generator_poisson, mill_generator_bursts, mill_generator_drift,
    mill_generator_planted;

/* Keys of the random numbers: mill_key(seed, MILL_PURPOSE_GENERATE, one of these), then draw (key, unit, number of the draw). */
enum {
  MILL_GENERATE_SYM26,
  MILL_GENERATE_POISSON,
  MILL_GENERATE_BURSTS, /* events, */
  MILL_GENERATE_BURSTS_NETWORK,
  MILL_GENERATE_BURSTS_OWN,
  MILL_GENERATE_BURSTS_SHARE, /* and who takes part */
  MILL_GENERATE_DRIFT,        /* events, */
  MILL_GENERATE_DRIFT_PHASE,
  MILL_GENERATE_PLANTED,        /* the background, */
  MILL_GENERATE_PLANTED_STARTS, /* when episodes start, */
  MILL_GENERATE_PLANTED_NODES   /* and what becomes of their nodes */
};

/* A point of continuous time: whole ticks and a part of one, 0 ≤ part < 1, so that no precision is lost in a long stream. An event at a
   point carries the tick in which it lies, counted by its end: `tick` + 1. Ticks stay below 2^62. */
struct mill_point {
  int64_t tick;
  double part;
};
#define MILL_NEVER (INT64_C(1) << 62)

static inline int mill_point_before(struct mill_point a, struct mill_point b)
{
  return a.tick < b.tick || (a.tick == b.tick && a.part < b.part);
}

/* `gap` ticks (≥ 0, may be infinite) later; MILL_NEVER or more when that is beyond every stream. */
static inline struct mill_point mill_point_after(struct mill_point p, double gap)
{
  double sum = p.part + gap;
  if (!(sum < 0x1p62))
    return (struct mill_point){MILL_NEVER, 0};
  int64_t whole = (int64_t)sum;
  return (struct mill_point){p.tick + whole, sum - (double)whole};
}

/* An exponentially distributed number of that mean (infinite: never): draw *draws of the unit, which is counted. */
static inline double mill_gap(uint64_t key, uint32_t unit, uint64_t *draws, double mean)
{
  return -mill_log(mill_uniform(mill_random(key, unit, (*draws)++))) * mean;
}

/* The law of a Poisson process with dead time: from an event to the next `dead` ticks and an exponentially distributed time, `mean` ticks
   together on average; infinite: there is no event. */
struct mill_law {
  uint64_t key; /* of its random numbers */
  double mean;
  int64_t dead;
};
/* Sets all but the key, from a rate in Hz, or from its text. `dead_name` is for the message when mean intervals are no longer than the
   dead time: "the refractory period (--refractory)". Messages have no key. */
int mill_law_set(struct mill_law *law, double rate, int64_t tick_ps, int64_t dead, const char *dead_name, struct mill_error *error);
int mill_law_read(struct mill_law *law, const char *text, int64_t tick_ps, int64_t dead, const char *dead_name,
                  struct mill_error *error);

/* One such process, number `unit` of its law. */
struct mill_train {
  struct mill_point next;
  uint64_t draws;
};
/* Finds the first event from time 0 on. Returns how many whole ticks the dead time of an event before 0 lasts on. */
int64_t mill_train_begin(struct mill_train *train, const struct mill_law *law, uint32_t unit);
/* Goes on to the next event. */
void mill_train_step(struct mill_train *train, const struct mill_law *law, uint32_t unit);

/* Such a process for each unit, of the laws in turn. */
struct mill_ensemble {
  const struct mill_law *law; /* [laws], the caller's */
  uint32_t laws, units;
  struct mill_train *train; /* [units] */
};
struct mill_window;
/* All of them from time 0 on. Freed with mill_ensemble_free, also after a failure. */
int mill_ensemble_begin(struct mill_ensemble *ensemble, const struct mill_law *law, uint32_t laws, uint32_t units, struct mill_error *error);
/* Adds their events from where they are to tick `end`. */
int mill_ensemble_fill(const struct mill_ensemble *ensemble, int64_t end, struct mill_window *window, struct mill_error *error);
void mill_ensemble_free(struct mill_ensemble *ensemble);

/* Events of one span of time, in any order of units; each unit's in order of time. */
struct mill_window {
  struct mill_event *event;
  uint64_t count, capacity;
};
int mill_window_add(struct mill_window *window, struct mill_point at, uint32_t unit, struct mill_error *error);

/* Makes a stream up to tick `stop` window by window. fill adds every unit's events from where it stopped (0 at first) up to tick `end`, a
   multiple of `grain` or `stop`; they are sorted and given to the sink. The ends depend on the events before, for windows of a handy
   size: what fill adds must not depend on them. */
int mill_windows_make(int64_t stop, int64_t grain,
                      int (*fill)(void *maker, int64_t end, struct mill_window *window, struct mill_error *error), void *maker,
                      mill_event_sink *sink, void *self, struct mill_error *error);

/* The longest stream and the longest of the other times, in ps: ticks of 1 ps stay below 2^62, and sums of times below 2^63. */
#define MILL_GENERATE_LONGEST INT64_C(4000000000000000000)
#define MILL_GENERATE_SECONDS(n) (INT64_C(1000000000000) * (n))

/* Hands the items of a list that the parameter `key` holds, 1 to `most` of them, to `read`; its errors get "--KEY ITEM: " in front. */
int mill_generator_each(const char *key, const char *text, uint32_t most,
                        int (*read)(const char *item, uint32_t i, void *self, struct mill_error *error), void *self,
                        uint32_t *count, struct mill_error *error);

/* The time that the text of the parameter `key` means, in ps, from `least` to `most`. */
int mill_generator_time(const char *key, const char *text, int64_t least, int64_t most, int64_t *ps, struct mill_error *error);

/* The same in ticks; it must be a whole number of them. */
int mill_generator_ticks(const char *key, const char *text, int64_t least, int64_t most, int64_t tick_ps, int64_t *ticks,
                         struct mill_error *error);

/* The parameters `tick`, in ps, and `duration`, in ticks, which every generator has. */
int mill_generator_span(const char *tick, const char *duration, int64_t *tick_ps, int64_t *stop, struct mill_error *error);

#endif
