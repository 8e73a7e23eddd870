/* What the generators share: points of continuous time, exponential gaps, windows of events, times among the parameters. */
#ifndef MILL_GENERATE_PRIVATE_H
#define MILL_GENERATE_PRIVATE_H

#include <spikemill/device.h>
#include "generate.h"

extern const struct mill_generator mill_generator_sym26, mill_generator_poisson;

/* Keys of the random numbers: mill_key(seed, MILL_PURPOSE_GENERATE, one of these), then draw (key, unit, number of the draw). */
enum { MILL_GENERATE_SYM26, MILL_GENERATE_POISSON };

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

/* The time that the text of the parameter `key` means, in ps, from `least` to `most`. */
int mill_generator_time(const char *key, const char *text, int64_t least, int64_t most, int64_t *ps, struct mill_error *error);

/* The same in ticks; it must be a whole number of them. */
int mill_generator_ticks(const char *key, const char *text, int64_t least, int64_t most, int64_t tick_ps, int64_t *ticks,
                         struct mill_error *error);

#endif
