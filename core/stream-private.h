/* What stream.c, stream-sort.c and writer.c share. */
#ifndef MILL_STREAM_PRIVATE_H
#define MILL_STREAM_PRIVATE_H

#include "stream.h"

/* Whether a comes before b in the order of files. */
static inline int mill_event_before(const struct mill_event *a, const struct mill_event *b)
{
  return a->tick < b->tick || (a->tick == b->tick && a->unit < b->unit);
}

/* Sorts by (tick, unit), stable. Needs as much memory again; `path` is for the message when there is none. */
int mill_events_sort(const char *path, struct mill_event *event, uint64_t count, struct mill_error *error);

/* Fails when tick, bounds or groups are not as <spikemill/format.h> promises: groups named, contiguous from unit 0. */
int mill_stream_check(const char *path, const struct mill_stream_info *info, struct mill_error *error);

#endif
