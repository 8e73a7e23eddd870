/* Format "csv" (.csv .tsv .txt .times): one event a line under a line that names the columns; what else is known stands in comments,
   which begin with "# spikemill VERSION" and are described in doc/formats.md. Files of others are read by the names of their columns.
   Times are decimals that stand for whole picoseconds and never pass through floating point, so a file means the same in every locale
   and comes back exactly. Here is the writer; csv-read.h has the reader. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spikemill/format.h>

#include "csv-read.h"

enum { BUFFER_BYTES = 1 << 16, NAME_BYTES = 3900 /* of a name as it is written, so that every line fits */ };

struct writer {
  const struct mill_host *host;
  struct mill_error *error; /* of the call being served */
  char *path;
  int fd;
  char delimiter;
  int types; /* a recording: every group is a type */
  int64_t tick_ps, start, stop;
  uint64_t units, count;
  struct names groups;
  char **field;           /* the groups' names as they are written */
  struct mill_event last; /* and its time as it was written */
  char time[DECIMAL_TEXT];
  size_t time_bytes;
  size_t used;
  char buffer[BUFFER_BYTES];
};

static void writer_abandon(const struct mill_host *host, void *self)
{
  struct writer *w = self;
  if (w->fd >= 0)
    close(w->fd);
  for (uint32_t i = 0; w->field && i < w->groups.count; i++)
    free(w->field[i]);
  free(w->field);
  names_free(&w->groups);
  free(w->path);
  host->release(w);
}

static int flush(struct writer *w)
{
  for (size_t at = 0; at < w->used;) {
    ssize_t n = write(w->fd, w->buffer + at, w->used - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return w->host->fail(w->error, MILL_RESOURCES, "cannot write %s: %s", w->path, strerror(errno));
    at += (size_t)n;
  }
  w->used = 0;
  return 0;
}

/* A line of spikemill's own comments or, with key "", any line. */
static int put_line(struct writer *w, const char *key, const char *text, size_t n)
{
  size_t length = *key ? strlen(key) + 2 + (n != 0) + n : n;
  if (length > LINES_MOST)
    return w->host->fail(w->error, MILL_DATA, "%s: a line of %zu bytes does not fit; the csv format has at most %d", w->path,
                         length, LINES_MOST);
  if (lines_good(text, n) < n)
    return w->host->fail(w->error, MILL_DATA, "%s: the text of \"%s\" is no UTF-8 or has control characters", w->path, key);
  if (w->used + length + 1 > BUFFER_BYTES && flush(w))
    return -1;
  char *out = w->buffer + w->used;
  if (*key)
    out += sprintf(out, n ? "# %s " : "# %s", key);
  memcpy(out, text, n);
  out[n] = '\n';
  w->used += length + 1;
  return 0;
}

static int put_number(struct writer *w, const char *key, uint64_t value)
{
  char text[DECIMAL_TEXT];
  return put_line(w, key, text, (size_t)(decimal_put_unsigned(text, value) - text));
}

static int put_time(struct writer *w, const char *key, int64_t tick)
{
  char text[DECIMAL_TEXT];
  return put_line(w, key, text, (size_t)(decimal_put_ms(text, tick, w->tick_ps) - text));
}

static int put_group(struct writer *w, const struct mill_group *group)
{
  const char *what = w->types ? "type" : "population";
  char line[NAME_BYTES + 32], *field;
  size_t n = strlen(group->name);
  uint32_t at;
  if (names_find(&w->groups, group->name, &at))
    return w->host->fail(w->error, MILL_DATA, "%s: two %ss are called \"%s\"", w->path, what, group->name);
  if (lines_good(group->name, n) < n || !n)
    return w->host->fail(w->error, MILL_DATA, "%s: a %s's name is empty, no UTF-8 or has control characters", w->path, what);
  if (names_add(&w->groups, group->name, group->first, group->size) || !(field = malloc(2 * n + 3)))
    return w->host->fail(w->error, MILL_RESOURCES, "%s: out of memory", w->path);
  lines_quote(field, group->name);
  w->field[w->groups.count - 1] = field;
  w->units += group->size;
  n = strlen(field);
  if (n > NAME_BYTES)
    return w->host->fail(w->error, MILL_DATA, "%s: a %s's name has %zu bytes; the csv format allows %d", w->path, what, n,
                         NAME_BYTES);
  if (w->types)
    return put_line(w, keys[TYPE_NAME], field, n);
  memcpy(line, field, n);
  line[n] = ' ';
  return put_line(w, keys[POPULATION], line, (size_t)(decimal_put_unsigned(line + n + 1, group->size) - line));
}

/* The configuration, a comment for each line of it. */
static int put_config(struct writer *w, const char *text)
{
  while (*text) {
    size_t n = strcspn(text, "\r\n");
    if (put_line(w, keys[CONFIG], text, n))
      return -1;
    text += n;
    text += text[0] == '\r' && text[1] == '\n' ? 2 : *text != 0;
  }
  return 0;
}

static int put_header(struct writer *w, const struct mill_stream_info *info)
{
  const char *version = info->version ? info->version : "";
  char line[64];
  if (put_line(w, &MARK[2], version, strlen(version)) || put_number(w, keys[SEED], info->seed) ||
      put_number(w, keys[TICK], (uint64_t)info->tick_ps))
    return -1;
  if ((info->start || info->stop) && (put_time(w, keys[START], info->start) || put_time(w, keys[STOP], info->stop)))
    return -1;
  for (uint32_t i = 0; i < info->group_count; i++)
    if (put_group(w, &info->group[i]))
      return -1;
  if (info->config && put_config(w, info->config))
    return -1;
  int n = w->types ? sprintf(line, "time_ms%ctype", w->delimiter)
                   : sprintf(line, "time_ms%cpopulation%cneuron", w->delimiter, w->delimiter);
  return put_line(w, "", line, (size_t)n);
}

/* Whether every group is a type. A network whose populations have one neuron each comes back the same as types. */
static int is_recording(const struct mill_stream_info *info)
{
  for (uint32_t i = 0; i < info->group_count; i++)
    if (info->group[i].size != 1)
      return 0;
  return info->group_count > 0;
}

/* Tabs for .tsv. The name is that of a part file, ".NAME.NUMBERS.part". */
static char delimiter_of(const char *path)
{
  const char *name = strrchr(path, '/'), *p = name ? name : path;
  while ((p = strstr(p, ".tsv")))
    if (!*(p += 4) || *p == '.')
      return '\t';
  return ',';
}

static int writer_create(const struct mill_host *host, const char *path, const struct mill_stream_info *info, void **writer,
                         struct mill_error *error)
{
  struct writer *w = host->allocate("csv writer", 1, sizeof *w);
  if (!w)
    return host->fail(error, MILL_RESOURCES, "%s: out of memory", path);
  w->host = host;
  w->error = error;
  w->delimiter = delimiter_of(path);
  w->types = is_recording(info);
  w->tick_ps = info->tick_ps;
  w->start = info->start;
  w->stop = info->stop;
  w->path = strdup(path);
  w->field = calloc((size_t)info->group_count + 1, sizeof *w->field);
  w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (!w->path || !w->field) {
    host->fail(error, MILL_RESOURCES, "%s: out of memory", path);
  } else if (w->fd < 0) {
    host->fail(error, MILL_RESOURCES, "cannot write %s: %s", path, strerror(errno));
  } else if (!put_header(w, info)) {
    *writer = w;
    return 0;
  }
  writer_abandon(host, w);
  return -1;
}

/* The group of a unit that exists: the last one that begins at or before it. */
static uint32_t group_of(const struct names *g, uint32_t unit)
{
  uint32_t low = 0, high = g->count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (g->list[middle].first <= unit)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static int put_event(struct writer *w, const struct mill_event *e)
{
  int ahead = e->tick >= w->last.tick, bounded = w->start || w->stop;
  if (e->unit >= w->units || (bounded && (e->tick <= w->start || e->tick > w->stop)) || (w->count && !ahead))
    return w->host->fail(w->error, MILL_DATA, "%s: spike %" PRIu64 " (from 0), tick %" PRId64 ", unit %" PRIu32 ": %s", w->path,
                         w->count, e->tick, e->unit,
                         e->unit >= w->units  ? "the unit does not exist"
                         : w->count && !ahead ? "it is out of order"
                                              : "the tick lies outside (start, stop]");
  if (w->used + LINES_MOST > BUFFER_BYTES && flush(w))
    return -1;
  if (!w->count || e->tick != w->last.tick)
    w->time_bytes = (size_t)(decimal_put_ms(w->time, e->tick, w->tick_ps) - w->time);
  uint32_t group = w->types ? e->unit : group_of(&w->groups, e->unit);
  char *out = w->buffer + w->used;
  memcpy(out, w->time, w->time_bytes);
  out += w->time_bytes;
  *out++ = w->delimiter;
  size_t n = strlen(w->field[group]);
  memcpy(out, w->field[group], n);
  out += n;
  if (!w->types) {
    *out++ = w->delimiter;
    out = decimal_put_unsigned(out, e->unit - w->groups.list[group].first);
  }
  *out++ = '\n';
  w->used = (size_t)(out - w->buffer);
  w->last = *e;
  w->count++;
  return 0;
}

static int writer_write(void *self, const struct mill_event *events, size_t n, struct mill_error *error)
{
  struct writer *w = self;
  w->error = error;
  for (size_t i = 0; i < n; i++)
    if (put_event(w, &events[i])) {
      writer_abandon(w->host, w);
      return -1;
    }
  return 0;
}

static int writer_finish(const struct mill_host *host, void *self, const struct mill_stream_end *end, struct mill_error *error)
{
  struct writer *w = self;
  char hash[24];
  int result = -1;
  w->error = error;
  sprintf(hash, "%016" PRIx64, end->spike_hash);
  if (end->events != w->count)
    host->fail(error, MILL_DATA, "%s: %" PRIu64 " spikes written, %" PRIu64 " announced", w->path, w->count, end->events);
  else if (!put_number(w, keys[SPIKES], end->events) && !put_line(w, keys[HASH], hash, 16) &&
           !put_time(w, keys[STOPPED], end->stop) &&
           !put_line(w, keys[COMPLETE], end->complete ? "yes" : "no", end->complete ? 3 : 2) && !flush(w))
    result = 0;
  int fd = w->fd;
  w->fd = -1;
  if (close(fd) && !result)
    result = host->fail(error, MILL_RESOURCES, "cannot write %s: %s", w->path, strerror(errno));
  writer_abandon(host, w);
  return result;
}

static const struct mill_format_ops ops = {
    .extensions = ".csv .tsv .txt .times",
    .probe = probe,
    .open = reader_open,
    .read = reader_read,
    .close = reader_close,
    .create = writer_create,
    .write = writer_write,
    .finish = writer_finish,
    .abandon = writer_abandon,
};

MILL_PLUGIN(MILL_FORMAT, MILL_CPU, "csv", "one event a line, times as exact decimals, the rest in comments (.csv .tsv .txt .times)",
            sizeof(struct values), params, sizeof params / sizeof *params, ops);
