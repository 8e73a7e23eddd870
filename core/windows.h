/* The windows of a recording that is mined in parts. */
#ifndef MILL_WINDOWS_H
#define MILL_WINDOWS_H

#include <spikemill/format.h>
#include "job.h"

/* Window k = 0 … count-1 holds the events in (start + k step, start + k step + length], as the whole holds those in (start, stop]. */
struct mill_windows {
  int64_t start, length, step; /* ticks */
  uint64_t count;              /* 0: the job has no windows */
  int64_t rest;                /* ticks behind the last one, which are in none */
};

/* The windows that the job asks for of a recording that lies in (start, stop]. MILL_USAGE when a time is no whole number of ticks, or when
   there is not even one window; MILL_DATA when the recording has more than INT64_MAX ticks. */
int mill_windows_set(struct mill_windows *windows, const struct mill_job *job, int64_t tick_ps, int64_t start, int64_t stop,
                     struct mill_error *error);

/* How many of the events, which are in (start, stop], are behind one window and before the next. */
uint64_t mill_windows_between(const struct mill_windows *windows, const struct mill_event *event, uint64_t n);

static inline int64_t mill_window_start(const struct mill_windows *windows, uint64_t k)
{
  return (int64_t)((uint64_t)windows->start + k * (uint64_t)windows->step);
}

#endif
