/* Spike files for tests: a temporary folder, streams written through the background writer, files as bytes. */
#ifndef SPIKES_H
#define SPIKES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "registry.h"
#include "stream.h"
#include "tap.h"

static char spikes_folder[] = "/tmp/mill-spikes-XXXXXX";

/* Path of a file in the folder. Eight results live at a time. */
static inline const char *in_folder(const char *name)
{
  static char path[8][600];
  static unsigned next;
  char *p = path[next++ % 8];
  snprintf(p, sizeof path[0], "%s/%s", spikes_folder, name);
  return p;
}

static inline void spikes_begin(void)
{
  if (!mkdtemp(spikes_folder))
    bail("no temporary folder");
}

/* Files in the folder. */
static inline int spikes_files(void)
{
  int n = 0;
  DIR *d = opendir(spikes_folder);
  for (struct dirent *e; d && (e = readdir(d));)
    n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
  if (d)
    closedir(d);
  return n;
}

static inline void spikes_empty(void)
{
  DIR *d = opendir(spikes_folder);
  for (struct dirent *e; d && (e = readdir(d));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
      unlink(in_folder(e->d_name));
  if (d)
    closedir(d);
}

static inline void spikes_end(void)
{
  spikes_empty();
  rmdir(spikes_folder);
}

static inline void put_file(const char *path, const void *bytes, size_t n)
{
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
    bail("cannot write %s", path);
}

/* A file's bytes and a NUL behind them; free them. */
static inline unsigned char *get_file(const char *path, size_t *n)
{
  FILE *f = fopen(path, "rb");
  size_t size = 0, room = 4096;
  unsigned char *bytes = malloc(room);
  if (!f)
    bail("cannot read %s", path);
  for (size_t got; bytes && (got = fread(bytes + size, 1, room - size - 1, f)) > 0;) {
    size += got;
    if (room - size < 4096)
      bytes = realloc(bytes, room *= 2);
  }
  fclose(f);
  if (!bytes)
    bail("out of memory");
  bytes[size] = 0;
  if (n)
    *n = size;
  return bytes;
}

static inline int in_hash_order(const void *a, const void *b)
{
  const struct mill_event *x = a, *y = b;
  if (x->tick != y->tick)
    return x->tick < y->tick ? -1 : 1;
  return (x->unit > y->unit) - (x->unit < y->unit);
}

/* In order of (tick, group, index), whatever the order of the events. */
static inline uint64_t hash_of_events(const struct mill_stream_info *info, const struct mill_event *event, size_t n)
{
  struct mill_spike_hash *hash = mill_spike_hash_create();
  struct mill_event *sorted = malloc((n + 1) * sizeof *sorted);
  if (!hash || !sorted)
    bail("out of memory");
  if (n)
    memcpy(sorted, event, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, in_hash_order);
  for (size_t i = 0; i < n; i++) {
    uint32_t g = 0;
    while (sorted[i].unit - info->group[g].first >= info->group[g].size || sorted[i].unit < info->group[g].first)
      g++;
    mill_spike_hash_add(hash, sorted[i].tick, g, sorted[i].unit - info->group[g].first);
  }
  uint64_t value = mill_spike_hash_value(hash);
  mill_spike_hash_free(hash);
  free(sorted);
  return value;
}

/* Writes a whole stream. Returns what the first failing call returned. */
static inline int write_stream(const char *path, const char *format, const struct mill_stream_info *info,
                               const struct mill_event *event, size_t n, int complete, struct mill_error *error)
{
  struct mill_writer *writer;
  struct mill_stream_end end = {
      .events = n, .spike_hash = hash_of_events(info, event, n), .stop = info->stop, .complete = (uint32_t)complete};
  if (mill_writer_open(path, format, info, &writer, error))
    return -1;
  if (mill_writer_push(writer, event, n, error)) {
    mill_writer_abandon(writer);
    return -1;
  }
  return mill_writer_close(writer, &end, error);
}

/* Reads a file and writes it anew under another name. */
static inline int convert(const char *from, const char *to, struct mill_error *error)
{
  struct mill_stream *s;
  struct mill_writer *writer;
  if (mill_stream_read(from, NULL, &s, error))
    return -1;
  int result = mill_writer_open(to, NULL, &s->info, &writer, error);
  if (!result) {
    result = mill_writer_push(writer, s->event, s->count, error);
    if (result)
      mill_writer_abandon(writer);
    else
      result = mill_writer_close(writer, &s->end, error);
  }
  mill_stream_free(s);
  return result;
}

static inline int same_file(const char *a, const char *b)
{
  size_t n, m;
  unsigned char *x = get_file(a, &n), *y = get_file(b, &m);
  int same = n == m && !memcmp(x, y, n);
  free(x);
  free(y);
  return same;
}

#endif
