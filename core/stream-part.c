/* Streams in memory that are no file: parts of another one, and spikes that come piece by piece. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "memory.h"
#include "stream-private.h"

#define ASK_FROM (UINT64_C(1) << 20) /* bytes; for less the system is not asked what is free, which takes longer than a short window */

int mill_stream_create(const char *name, const struct mill_stream_info *info, struct mill_stream **stream, struct mill_error *error)
{
  *stream = mill_allocate("spike stream", 1, sizeof **stream);
  if (!*stream)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory", name);
  (*stream)->info = *info;
  (*stream)->info.sorted = 1;
  (*stream)->was_sorted = 1;
  (*stream)->end = (struct mill_stream_end){.stop = info->stop, .complete = 1};
  return 0;
}

int mill_stream_append(struct mill_stream *stream, const char *name, uint64_t *room, const struct mill_event *event, uint64_t n,
                       struct mill_error *error)
{
  if (stream->count + n > *room) {
    const uint64_t more = 2 * (stream->count + n);
    struct mill_event *bigger = more < ASK_FROM / sizeof *bigger ? mill_allocate_or_fail(name, more, sizeof *bigger, error)
                                                                 : mill_spikes_allocate(name, "keeping", more, sizeof *bigger, error);
    if (!bigger)
      return -1;
    if (stream->count)
      memcpy(bigger, stream->event, stream->count * sizeof *bigger);
    mill_release(stream->event);
    stream->event = bigger;
    *room = more;
  }
  if (n)
    memcpy(stream->event + stream->count, event, n * sizeof *event);
  stream->count += n;
  return 0;
}

uint64_t mill_stream_after(const struct mill_stream *stream, int64_t tick)
{
  uint64_t low = 0, high = stream->count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (stream->event[middle].tick <= tick)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void mill_stream_drop(struct mill_stream *stream, int64_t tick)
{
  const uint64_t first = mill_stream_after(stream, tick);
  stream->count -= first;
  if (first)
    memmove(stream->event, stream->event + first, stream->count * sizeof *stream->event);
}

int mill_stream_seal(struct mill_stream *stream, const char *name, struct mill_error *error)
{
  struct mill_tick_hash hash;
  int result = mill_tick_hash_begin(&hash, name, &stream->info, error);
  if (!result)
    result = mill_tick_hash_add(&hash, stream->event, stream->count, error);
  if (!result)
    stream->end.spike_hash = mill_tick_hash_end(&hash);
  stream->end.events = stream->count;
  mill_tick_hash_free(&hash);
  return result;
}

int mill_stream_cut(const struct mill_stream *whole, const char *name, int64_t start, int64_t stop, struct mill_stream **part,
                    struct mill_error *error)
{
  const uint64_t first = mill_stream_after(whole, start), end = mill_stream_after(whole, stop);
  struct mill_stream_info info = whole->info;
  uint64_t room = 0;
  info.start = start;
  info.stop = stop;
  if (mill_stream_create(name, &info, part, error) < 0)
    return -1;
  (*part)->was_sorted = whole->was_sorted;
  if (mill_stream_append(*part, name, &room, whole->event + first, end - first, error) == 0 &&
      mill_stream_seal(*part, name, error) == 0)
    return 0;
  mill_stream_free(*part);
  *part = NULL;
  return -1;
}
