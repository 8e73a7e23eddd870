/* What the generators share: windows, and times among the parameters. A window is as long as some ten thousand events take, so memory
   does not depend on how long the stream is. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "expr.h"
#include "generate-private.h"
#include "memory.h"
#include "stream-private.h"

enum { FEW = 32768, MANY = 131072 }; /* events of a window, above which the next is shorter, below which it is longer */

int mill_window_add(struct mill_window *window, struct mill_point at, uint32_t unit, struct mill_error *error)
{
  if (window->count == window->capacity) {
    uint64_t capacity = window->capacity ? 2 * window->capacity : 4096;
    struct mill_event *event = mill_allocate_or_fail("events of a window", capacity, sizeof *event, error);
    if (!event)
      return -1;
    if (window->count)
      memcpy(event, window->event, window->count * sizeof *event);
    mill_release(window->event);
    window->event = event;
    window->capacity = capacity;
  }
  window->event[window->count++] = (struct mill_event){at.tick + 1, unit, 0};
  return 0;
}

int mill_windows_make(int64_t stop, int64_t grain,
                      int (*fill)(void *maker, int64_t end, struct mill_window *window, struct mill_error *error), void *maker,
                      mill_event_sink *sink, void *self, struct mill_error *error)
{
  struct mill_window window = {0};
  int64_t length = grain;
  int result = 0;
  for (int64_t end = 0; !result && end < stop;) {
    end = stop - end > length ? end + length : stop;
    window.count = 0;
    result = fill(maker, end, &window, error);
    if (!result)
      result = mill_events_sort("the stream", window.event, window.count, 1, error);
    if (!result)
      result = sink(window.event, window.count, end, self, error);
    if (window.count < FEW && length < MILL_NEVER / 2)
      length *= 2;
    else if (window.count > MANY && length > grain)
      length /= 2;
  }
  mill_release(window.event);
  return result;
}

int mill_generator_time(const char *key, const char *text, int64_t least, int64_t most, int64_t *ps, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  char low[32], high[32];
  struct mill_error why = {0};
  int bad = mill_expr_ps(text, &none, ps, &why) < 0;
  if (!bad && *ps >= least && *ps <= most)
    return 0;
  return mill_fail(error, MILL_USAGE, "--%s %s: %s%sexpected ms, from %s to %s", key, text, bad ? why.text : "", bad ? "; " : "",
                   mill_generator_ms(low, least), mill_generator_ms(high, most));
}

int mill_generator_ticks(const char *key, const char *text, int64_t least, int64_t most, int64_t tick_ps, int64_t *ticks,
                         struct mill_error *error)
{
  char tick[32];
  int64_t ps;
  if (mill_generator_time(key, text, least, most, &ps, error) < 0)
    return -1;
  if (ps % tick_ps)
    return mill_fail(error, MILL_USAGE, "--%s %s: expected a whole number of ticks, which are %s ms long (--tick)", key, text,
                     mill_generator_ms(tick, tick_ps));
  *ticks = ps / tick_ps;
  return 0;
}

int mill_generator_span(const char *tick, const char *duration, int64_t *tick_ps, int64_t *stop, struct mill_error *error)
{
  if (mill_generator_time("tick", tick, 1, MILL_GENERATE_SECONDS(1), tick_ps, error) < 0)
    return -1;
  return mill_generator_ticks("duration", duration, 0, MILL_GENERATE_LONGEST, *tick_ps, stop, error);
}
