/* The spike hash of events that come in order of tick. It is defined over (tick, group, index), so that the units of one tick are
   gathered, and put in order when they are not. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "stream-private.h"

enum { ROOM = 1024, FEW = 32 };

int mill_tick_hash_begin(struct mill_tick_hash *h, const char *path, const struct mill_stream_info *info, struct mill_error *error)
{
  *h = (struct mill_tick_hash){.path = path, .info = info, .room = ROOM};
  h->hash = mill_spike_hash_create();
  h->unit = mill_allocate("spikes of a tick", h->room, sizeof *h->unit);
  return h->hash && h->unit ? 0 : mill_fail(error, MILL_RESOURCES, "%s: out of memory for the hash", path);
}

static int more_room(struct mill_tick_hash *h, struct mill_error *error)
{
  uint64_t room = 2 * h->room;
  uint32_t *unit = mill_spikes_allocate(h->path, "hashing", room, sizeof *unit, error);
  if (!unit)
    return -1;
  memcpy(unit, h->unit, h->count * sizeof *unit);
  mill_release(h->unit);
  h->unit = unit;
  h->room = room;
  return 0;
}

static int by_number(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void sort_units(uint32_t *unit, uint64_t n)
{
  if (n > FEW) {
    qsort(unit, n, sizeof *unit, by_number);
    return;
  }
  for (uint64_t i = 1; i < n; i++) {
    uint32_t u = unit[i];
    uint64_t at = i;
    for (; at && unit[at - 1] > u; at--)
      unit[at] = unit[at - 1];
    unit[at] = u;
  }
}

static void hash_tick(struct mill_tick_hash *h)
{
  const struct mill_group *group = h->info->group;
  uint32_t at = h->group;
  if (h->disordered)
    sort_units(h->unit, h->count);
  for (uint64_t i = 0; i < h->count; i++) {
    at = mill_group_of(h->info, h->unit[i], at);
    mill_spike_hash_add(h->hash, h->tick, at, h->unit[i] - group[at].first);
  }
  h->group = at;
  h->count = 0;
  h->disordered = 0;
}

int mill_tick_hash_add(struct mill_tick_hash *h, const struct mill_event *event, uint64_t n, struct mill_error *error)
{
  for (uint64_t i = 0; i < n; i++) {
    if (event[i].tick != h->tick) {
      hash_tick(h);
      h->tick = event[i].tick;
    }
    if (h->count == h->room && more_room(h, error))
      return -1;
    h->disordered |= h->count && event[i].unit < h->unit[h->count - 1];
    h->unit[h->count++] = event[i].unit;
  }
  return 0;
}

uint64_t mill_tick_hash_end(struct mill_tick_hash *h)
{
  hash_tick(h);
  return mill_spike_hash_value(h->hash);
}

void mill_tick_hash_free(struct mill_tick_hash *h)
{
  mill_spike_hash_free(h->hash);
  mill_release(h->unit);
}
