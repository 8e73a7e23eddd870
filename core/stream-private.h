/* What stream.c, stream-sort.c and writer.c share. */
#ifndef MILL_STREAM_PRIVATE_H
#define MILL_STREAM_PRIVATE_H

#include "stream.h"

/* Whether a comes before b in the order of files. */
static inline int mill_event_before(const struct mill_event *a, const struct mill_event *b)
{
  return a->tick < b->tick || (a->tick == b->tick && a->unit < b->unit);
}

/* The group of a unit that exists; `hint` is a likely one. Where units are types their numbers are those of their groups. */
static inline uint32_t mill_group_of(const struct mill_stream_info *info, uint32_t unit, uint32_t hint)
{
  const struct mill_group *group = info->group;
  if (unit - group[hint].first < group[hint].size)
    return hint;
  if (unit < info->group_count && group[unit].first == unit && group[unit].size)
    return unit;
  uint32_t low = 0, high = info->group_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (group[middle].first <= unit)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Sorts by (tick, unit), stable. Needs as much memory again; `path` is for the message when there is none. */
int mill_events_sort(const char *path, struct mill_event *event, uint64_t count, struct mill_error *error);

/* Fails when tick, bounds or groups are not as <spikemill/format.h> promises: groups named, contiguous from unit 0. */
int mill_stream_check(const char *path, const struct mill_stream_info *info, struct mill_error *error);

#endif
