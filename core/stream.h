/* Spike files through the format plugins: reading whole, writing in the background, and the hash of a stream. */
#ifndef MILL_STREAM_H
#define MILL_STREAM_H

#include <spikemill/format.h>
#include <spikemill/plugin.h>

/* The format plugin for a path: by name when `format` is not NULL, by extension for writing (MILL_USAGE when it is unknown), by
   extension then content for reading: an extension several formats share, a file whose format doesn't know its content, and an
   unknown extension are settled by the content (MILL_DATA when no format knows it); `key`, when not NULL, names a parameter that the
   format of a text file is to have, since it is given. Messages list the known formats. */
int mill_format_find(const char *path, const char *format, const char *key, int writing, const struct mill_plugin **plugin,
                     struct mill_error *error);

/* What a user may say about a file that is read. */
struct mill_stream_options {
  const char *format;  /* name of a format plugin; NULL: found out */
  const char *columns; /* "type,time_ms": the format's parameter `columns`; NULL: not said */
  const char *tick;    /* "0.1 ms": the format's parameter `tick`; NULL: not said */
  int by_unit;         /* 1: events of one tick in order of unit; 0: as they stand in the file */
};

/* A whole file in memory, sorted by tick. `info` and what it points at belong to the stream. Count and hash of the
   spikes are compared with those that the file states (MILL_DATA when they differ), and filled into `end` when it states none.
   Memory is asked for only as far as mill_memory_free allows. options may be NULL. */
struct mill_stream {
  struct mill_stream_info info;
  struct mill_stream_end end;
  uint64_t count;
  struct mill_event *event;
  int was_sorted; /* 0: the file was not in order of tick, and the caller should tell the user */
  void *own;      /* private */
};
int mill_stream_read(const char *path, const struct mill_stream_options *options, struct mill_stream **stream,
                     struct mill_error *error);

/* Copies a file into another (`writing` names the new one's format, NULL by its extension), in order of tick, without holding
   it in memory when the reader knows that it is sorted; else it is sorted in memory. The caller is told what was copied in
   *report. interrupted may be NULL; it is asked now and then, and 1 ends the copy with
   MILL_INTERRUPTED and no file. */
struct mill_convert_report {
  uint64_t events, units;
  int was_sorted;
  int64_t tick_ps, first, last; /* ticks of the first and the last event */
};
int mill_stream_convert(const char *from, const struct mill_stream_options *options, const char *to, const char *writing,
                        int (*interrupted)(void), struct mill_convert_report *report, struct mill_error *error);

/* The name of a unit: that of its type, "POPULATION:INDEX", or "INDEX" when there is one group only, into buffer. Returns buffer;
   what does not fit ends in "…". */
const char *mill_stream_unit(const struct mill_stream_info *info, uint32_t unit, char *buffer, size_t size);

/* Whether there is a unit of that name. */
int mill_stream_has_unit(const struct mill_stream_info *info, const char *name);

/* Units over all groups. */
uint64_t mill_stream_units(const struct mill_stream_info *info);

/* One sentence that shows when a file was read in a wrong unit of time: "18522 events of 26 units, 0.002 … 20.000 s (span 20.0 s),
   35.6 Hz a unit, tick 1 ms". Of info only the tick is read; first and last are ticks, of the first and the last event; the rate is
   events / units / span. buffer ≥ 256 bytes. Returns buffer. */
char *mill_stream_describe(const struct mill_stream_info *info, uint64_t events, uint64_t units_with_events, int64_t first,
                           int64_t last, char *buffer, size_t size);

/* The spike file that is meant by `path`: itself or, for the folder that a run has written, the one spike file in it. *file is
   malloc'ed. MILL_DATA when the folder holds none or several (they are listed). */
int mill_stream_find(const char *path, char **file, struct mill_error *error);

void mill_stream_free(struct mill_stream *stream);

/* Hash of spikes in order (tick, group, index), whatever the order of those of one tick in the file: XXH64, seed 0, over records of u64 tick, u32 group, u32 index, little-endian. */
struct mill_spike_hash;
struct mill_spike_hash *mill_spike_hash_create(void);
void mill_spike_hash_add(struct mill_spike_hash *hash, int64_t tick, uint32_t group, uint32_t index);
/* The same for n spikes whose records are made already. */
struct mill_hash_record {
  uint64_t tick, place; /* as bytes, in little-endian order; place = index << 32 | group */
};
static inline struct mill_hash_record mill_hash_record(int64_t tick, uint32_t group, uint32_t index)
{
  const uint64_t place = (uint64_t)index << 32 | group;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return (struct mill_hash_record){__builtin_bswap64((uint64_t)tick), __builtin_bswap64(place)};
#else
  return (struct mill_hash_record){(uint64_t)tick, place};
#endif
}
void mill_spike_hash_records(struct mill_spike_hash *hash, const struct mill_hash_record *record, size_t n);
uint64_t mill_spike_hash_value(const struct mill_spike_hash *hash);
/* The inner state, to be kept and put back as bytes; of the same build of xxhash only. */
void *mill_spike_hash_state(struct mill_spike_hash *hash, size_t *bytes);
void mill_spike_hash_free(struct mill_spike_hash *hash);

/* A writer with a thread of its own. `push` copies events into a bounded queue and waits when it is full: nothing is dropped.
   Errors of the thread surface at the next push or at close; a writer whose push failed is still to be closed (which fails with
   the same error) or abandoned. `close` finishes the file, renames it into place, and frees the writer whatever it returns. The
   last bytes are written on the caller's thread: a program that runs under a file size limit ignores SIGXFSZ. */
struct mill_writer;
int mill_writer_open(const char *path, const char *format, const struct mill_stream_info *info, struct mill_writer **writer,
                     struct mill_error *error);
int mill_writer_push(struct mill_writer *writer, const struct mill_event *events, size_t n, struct mill_error *error);
int mill_writer_close(struct mill_writer *writer, const struct mill_stream_end *end, struct mill_error *error);
/* Drops the file and frees the writer, which may be NULL; no error, for the failure path. */
void mill_writer_abandon(struct mill_writer *writer);

#endif
