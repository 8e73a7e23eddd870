/* Windows of a recording, in whole ticks. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "windows.h"

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
  if (span > INT64_MAX || (int64_t)span < w->length)
    return mill_place_fail(error, &job->place, "window", "is longer than the recording, which has %s ms",
                           mill_text_ms(text, span > INT64_MAX ? INT64_MAX : (int64_t)span, tick_ps));
  w->count = (span - (uint64_t)w->length) / (uint64_t)w->step + 1;
  w->rest = (int64_t)span - (int64_t)(w->count - 1) * w->step - w->length;
  return 0;
}
