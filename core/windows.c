/* Windows of a recording, in whole ticks. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "windows.h"

#include <inttypes.h>

#include "text.h"

static int to_ticks(const struct mill_job *job, const char *key, int64_t ps, int64_t tick_ps, int64_t *ticks,
                    struct mill_error *error)
{
  char tick[64];
  if (ps % tick_ps)
    return mill_place_fail(error, &job->place, key, "is no whole number of ticks of this recording, which are %s ms long",
                           mill_text_ms(tick, 1, tick_ps));
  *ticks = ps / tick_ps;
  return 0;
}

int mill_windows_set(struct mill_windows *w, const struct mill_job *job, int64_t tick_ps, int64_t start, int64_t stop,
                     struct mill_error *error)
{
  const uint64_t span = (uint64_t)stop - (uint64_t)start;
  char text[64];
  *w = (struct mill_windows){.start = start};
  if (!job->window)
    return 0;
  if (to_ticks(job, "window", job->window, tick_ps, &w->length, error) < 0 ||
      to_ticks(job, "step", job->step, tick_ps, &w->step, error) < 0)
    return -1;
  if (span > INT64_MAX)
    return mill_fail(error, MILL_DATA,
                     "%s: has more than %" PRId64 " ticks, from %" PRId64 " to %" PRId64 ", and cannot be mined in windows",
                     job->spikes, INT64_MAX, start, stop);
  if ((int64_t)span < w->length)
    return mill_place_fail(error, &job->place, "window", "is longer than the recording, which has %s ms",
                           mill_text_ms(text, (int64_t)span, tick_ps));
  w->count = (span - (uint64_t)w->length) / (uint64_t)w->step + 1;
  w->rest = (int64_t)span - (int64_t)(w->count - 1) * w->step - w->length;
  return 0;
}

uint64_t mill_windows_between(const struct mill_windows *w, const struct mill_event *event, uint64_t n)
{
  uint64_t between = 0;
  if (w->step <= w->length)
    return 0;
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t at = (uint64_t)event[i].tick - (uint64_t)w->start - 1, step = (uint64_t)w->step;
    between += at / step + 1 < w->count && at % step >= (uint64_t)w->length;
  }
  return between;
}
