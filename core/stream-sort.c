/* Sorting of events by tick or by (tick, unit): a radix sort over the bytes of the key, least first, that skips the bytes in which all
   events agree. Of the twelve bytes a recording uses four to seven, and the order of equal events stays. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <string.h>

#include "memory.h"
#include "stream-private.h"

enum { UNIT_BYTES = 4, KEY_BYTES = 12 };

/* Byte k of the key: 0 to 3 of the unit, 4 to 11 of the tick, whose sign bit is turned so that unsigned order is its order. */
static inline unsigned key_byte(const struct mill_event *e, int k)
{
  uint64_t tick = (uint64_t)e->tick ^ UINT64_C(1) << 63;
  return (unsigned)(k < UNIT_BYTES ? e->unit >> 8 * k : tick >> 8 * (k - UNIT_BYTES)) & 255;
}

/* One pass: from one array into the other in order of byte k. */
static void pass(const struct mill_event *from, struct mill_event *to, uint64_t count, int k)
{
  uint64_t at[256] = {0}, sum = 0;
  for (uint64_t i = 0; i < count; i++)
    at[key_byte(&from[i], k)]++;
  for (int b = 0; b < 256; b++) {
    uint64_t n = at[b];
    at[b] = sum;
    sum += n;
  }
  for (uint64_t i = 0; i < count; i++)
    to[at[key_byte(&from[i], k)]++] = from[i];
}

int mill_events_sort(const char *path, struct mill_event *event, uint64_t count, int by_unit, struct mill_error *error)
{
  struct mill_event differ = {0}; /* bits in which not all agree */
  struct mill_event *other = mill_spikes_allocate(path, "sorting", count, sizeof *other, error), *from = event, *to = other;
  if (!other)
    return -1;
  for (uint64_t i = 1; i < count; i++) {
    differ.tick |= event[i].tick ^ event[0].tick;
    differ.unit |= event[i].unit ^ event[0].unit;
  }
  differ.tick ^= INT64_MIN; /* key_byte turns it */
  for (int k = by_unit ? 0 : UNIT_BYTES; k < KEY_BYTES; k++) {
    if (!key_byte(&differ, k))
      continue;
    pass(from, to, count, k);
    struct mill_event *swap = from;
    from = to;
    to = swap;
  }
  if (from != event)
    memcpy(event, from, count * sizeof *event);
  mill_release(other);
  return 0;
}
