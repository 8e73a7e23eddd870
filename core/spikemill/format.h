/* Spike file formats. A stream is a list of events (tick, unit) with an integer tick of stated length. Events of one tick keep the order
   in which they stand in the file: mining may depend on it. */
#ifndef SPIKEMILL_FORMAT_H
#define SPIKEMILL_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <spikemill/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Time is tick × tick_ps picoseconds. `unit` counts from 0 over all groups. */
struct mill_event {
  int64_t tick;
  uint32_t unit;
  uint32_t reserved;
};

/* A run of units: a population of a network, or one type of a recording (a channel, a label), whose name it has and whose size is 1.
   Types are in natural order: whole numbers by value, then the rest byte by byte. */
struct mill_group {
  const char *name;
  uint32_t first, size;
};

struct mill_stream_info {
  int64_t tick_ps;
  int64_t start, stop;         /* ticks: events lie in (start, stop]; start = stop = 0 when the file does not say */
  uint32_t group_count;
  const struct mill_group *group;
  uint64_t seed;
  const char *version;         /* of spikemill that wrote it; "" when unknown */
  const char *config;          /* the configuration as INI text, "" when unknown */
  uint32_t sorted;             /* of a reader: 1 when it knows that the events come in order of tick */
  uint32_t reserved;
};

/* What is known only at the end of a stream. A reader leaves events and spike_hash 0 when the file states neither; complete is
   then 1. */
struct mill_stream_end {
  uint64_t events;
  uint64_t spike_hash;         /* XXH64 over (u64 tick, u32 group, u32 index in group) of the sorted spikes */
  int64_t stop;                /* ticks; the last simulated one */
  uint32_t complete;           /* 0: the run was interrupted and this is a part */
  uint32_t reserved;
};

/* A unit of time as texts name it: 10^scale ps. */
struct mill_time_unit {
  const char *name;
  int scale;
};

/* Unit i = 0, 1, …: s, ms, us, ns, ps, then other spellings of these (µs, with either of the two letters); NULL when there are no more. */
static inline const struct mill_time_unit *mill_time_unit(size_t i)
{
  static const struct mill_time_unit units[] = {{"s", 12}, {"ms", 9},        {"us", 6},       {"ns", 3},
                                                {"ps", 0}, {"\xc2\xb5s", 6}, {"\xce\xbcs", 6}};
  return i < sizeof units / sizeof *units ? &units[i] : NULL;
}

/* The unit that n bytes of a text name, or NULL. */
static inline const struct mill_time_unit *mill_time_unit_find(const char *text, size_t n)
{
  const struct mill_time_unit *unit;
  for (size_t i = 0; (unit = mill_time_unit(i)) && (strlen(unit->name) != n || memcmp(unit->name, text, n) != 0);)
    i++;
  return unit;
}

struct mill_format_ops {
  const char *extensions;      /* ".csv .tsv": space separated, with dots */

  /* How surely the file's first n bytes (n ≤ 4096) are of this format: 0 no … 100 certain. */
  int (*probe)(const unsigned char *head, size_t n);

  /* Reading. params is the plugin's parameter block: what the user says of a file that does not say it itself. `open` fills *info and
     the start of *end where the file tells; what they point at lives until `close`. `read` gives up to `capacity` events in file order;
     *got = 0 at the end. Errors name the file and, in text files, the line. Memory does not grow with the number of events. */
  int (*open)(const struct mill_host *host, const void *params, const char *path, struct mill_stream_info *info,
              struct mill_stream_end *end, void **reader, struct mill_error *error);
  int (*read)(void *reader, struct mill_event *buffer, size_t capacity, size_t *got, struct mill_error *error);
  void (*close)(const struct mill_host *host, void *reader);

  /* Writing, to a path that the core renames when the file is whole: the final name is NAME, the path ends in
     ".NAME.NUMBERS.part". `write` may run on a thread of its own, the others run on the caller's. Events come in order of
     tick. `finish` flushes and closes, and so does a failed `write` or `finish`: `abandon` (close, no report) is only for a
     writer that is still open. */
  int (*create)(const struct mill_host *host, const char *path, const struct mill_stream_info *info, void **writer,
                struct mill_error *error);
  int (*write)(void *writer, const struct mill_event *events, size_t n, struct mill_error *error);
  int (*finish)(const struct mill_host *host, void *writer, const struct mill_stream_end *end, struct mill_error *error);
  void (*abandon)(const struct mill_host *host, void *writer);
};

#ifdef __cplusplus
}
#endif
#endif
