/* What the files of streams share: an open spike file, its checks, sorting, and the hash of events in order of tick. */
#ifndef MILL_STREAM_PRIVATE_H
#define MILL_STREAM_PRIVATE_H

#include "stream.h"

#define MILL_CHUNK 65536 /* spikes asked for at a time */

/* Fails when tick, bounds or groups are not as <spikemill/format.h> promises: groups named, contiguous from unit 0. */
int mill_stream_check(const char *path, const struct mill_stream_info *info, struct mill_error *error);

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

/* Zeroed memory for `count` elements, as far as mill_memory_free allows; the message says what it was for: "reading". Freed by
   mill_release. */
void *mill_spikes_allocate(const char *path, const char *what, uint64_t count, size_t size, struct mill_error *error);

/* Sorts by tick or by (tick, unit), stable. Needs as much memory again. */
int mill_events_sort(const char *path, struct mill_event *event, uint64_t count, int by_unit, struct mill_error *error);

/* An empty stream with bounds as `info` says, whose names stay the caller's to keep; `name` is for messages. */
int mill_stream_create(const char *name, const struct mill_stream_info *info, struct mill_stream **stream, struct mill_error *error);
/* The index of the first event after a tick, of a stream in order of tick. */
uint64_t mill_stream_after(const struct mill_stream *stream, int64_t tick);
/* Adds events in order of tick; *room, 0 at first, is how many there is memory for. */
int mill_stream_append(struct mill_stream *stream, const char *name, uint64_t *room, const struct mill_event *event, uint64_t n,
                       struct mill_error *error);
/* Forgets the events up to and with a tick. */
void mill_stream_drop(struct mill_stream *stream, int64_t tick);
/* Fills in what is known at the end: number and hash. */
int mill_stream_seal(struct mill_stream *stream, const char *name, struct mill_error *error);
/* The events in (start, stop] as a stream of its own, whose names are those of `whole`. */
int mill_stream_cut(const struct mill_stream *whole, const char *name, int64_t start, int64_t stop, struct mill_stream **part,
                    struct mill_error *error);

/* A spike file that is being read, through the plugin that knows it. */
struct mill_source {
  const char *path; /* the caller's, to be kept until the source is closed */
  const struct mill_plugin *plugin;
  const struct mill_format_ops *ops;
  void *params, *reader;
  struct mill_stream_info info;
  struct mill_stream_end end; /* as the file states it */
  uint64_t units, count;      /* count: events read so far */
  int64_t last;               /* tick of the last one */
  int (*interrupted)(void);   /* may be NULL; asked at each read */
};
/* Fills the source, which is to be closed only when 0 is returned. options may be NULL. */
int mill_source_open(const char *path, const struct mill_stream_options *options, struct mill_source *source,
                     struct mill_error *error);
/* Up to `capacity` events in the order of the file, whose units exist and, when the file says that it is sorted, whose ticks do not
   decrease. *got = 0 at the end. */
int mill_source_read(struct mill_source *source, struct mill_event *event, size_t capacity, size_t *got, struct mill_error *error);
/* Compares what was read with what the file states, and fills it into source->end. */
int mill_source_check(struct mill_source *source, uint64_t spike_hash, struct mill_error *error);
void mill_source_close(struct mill_source *source);
/* The whole of it, sorted. Nothing may have been read. */
int mill_source_load(struct mill_source *source, int by_unit, struct mill_stream **stream, struct mill_error *error);

/* The spike hash of events that come in order of tick, whatever the order of those of one tick. Memory grows with the events of one
   tick only. */
struct mill_tick_hash {
  const char *path; /* for messages */
  const struct mill_stream_info *info;
  struct mill_spike_hash *hash;
  int64_t tick;
  uint32_t *unit; /* the events of this tick */
  uint64_t count, room;
  uint32_t group; /* of the event before */
  int disordered;
};
/* path and info are kept until the hash is freed, which is to be done even when this fails. */
int mill_tick_hash_begin(struct mill_tick_hash *hash, const char *path, const struct mill_stream_info *info,
                         struct mill_error *error);
int mill_tick_hash_add(struct mill_tick_hash *hash, const struct mill_event *event, uint64_t n, struct mill_error *error);
uint64_t mill_tick_hash_end(struct mill_tick_hash *hash);
void mill_tick_hash_free(struct mill_tick_hash *hash);

#endif
