/* Sorting of events by (tick, unit): a radix sort over the bytes of the key, least first, that skips the bytes in which all events
   agree. Of the twelve bytes a recording uses six or seven, and the order of equal events stays. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <string.h>

#include "memory.h"
#include "stream-private.h"

enum { KEY_BYTES = 12 };

/* Byte k of the key: 0 to 3 of the unit, 4 to 11 of the tick, whose sign bit is turned so that unsigned order is its order. */
static inline unsigned key_byte(const struct mill_event *e, int k)
{
  uint64_t tick = (uint64_t)e->tick ^ UINT64_C(1) << 63;
  return (unsigned)(k < 4 ? e->unit >> 8 * k : tick >> 8 * (k - 4)) & 255;
}

int mill_events_sort(const char *path, struct mill_event *event, uint64_t count, struct mill_error *error)
{
  char need[32], have[32];
  uint64_t at[256], bytes = count * sizeof *event, free_bytes = mill_memory_free();
  struct mill_event *other = bytes <= free_bytes ? mill_allocate("sorting of spikes", count, sizeof *other) : NULL;
  if (!other)
    return mill_fail(error, MILL_RESOURCES, "%s: sorting %" PRIu64 " spikes needs %s of memory, and %s is free", path, count,
                     mill_memory_text(need, bytes), mill_memory_text(have, free_bytes));
  struct mill_event *from = event, *to = other;
  for (int k = 0; k < KEY_BYTES && count; k++) {
    memset(at, 0, sizeof at);
    for (uint64_t i = 0; i < count; i++)
      at[key_byte(&from[i], k)]++;
    if (at[key_byte(&from[0], k)] == count)
      continue;
    uint64_t sum = 0;
    for (int b = 0; b < 256; b++) {
      uint64_t n = at[b];
      at[b] = sum;
      sum += n;
    }
    for (uint64_t i = 0; i < count; i++)
      to[at[key_byte(&from[i], k)]++] = from[i];
    struct mill_event *swap = from;
    from = to;
    to = swap;
  }
  if (from != event)
    memcpy(event, from, bytes);
  mill_release(other);
  return 0;
}
