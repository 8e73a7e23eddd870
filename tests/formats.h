/* For tests of spike formats: streams compared, written and read through a plugin without the core, which would sort and check them. */
#ifndef FORMATS_H
#define FORMATS_H

#include "spikes.h"

enum { TICK_100US = 100000000 /* ps */ };

static inline int same_groups(const struct mill_stream_info *a, const struct mill_stream_info *b)
{
  int same = a->group_count == b->group_count;
  for (uint32_t i = 0; same && i < a->group_count; i++)
    same = a->group[i].first == b->group[i].first && a->group[i].size == b->group[i].size &&
           !strcmp(a->group[i].name, b->group[i].name);
  return same;
}

static inline int same_info(const struct mill_stream_info *a, const struct mill_stream_info *b)
{
  return a->tick_ps == b->tick_ps && a->start == b->start && a->stop == b->stop && a->seed == b->seed &&
         !strcmp(a->version, b->version) && !strcmp(a->config, b->config) && same_groups(a, b);
}

/* Whether a stream that was read is the one that was written by write_stream. */
static inline int same_stream(const struct mill_stream *s, const struct mill_stream_info *info, const struct mill_event *event,
                              size_t n, int complete)
{
  return s->count == n && (!n || !memcmp(s->event, event, n * sizeof *event)) && s->was_sorted && same_info(&s->info, info) &&
         s->end.stop == info->stop && s->end.complete == (uint32_t)complete;
}

static inline const struct mill_format_ops *format_ops(const char *name)
{
  const struct mill_plugin *plugin;
  struct mill_error error;
  if (mill_plugin_load(MILL_FORMAT, name, NULL, &plugin, &error))
    bail("%s", error.text);
  return plugin->ops;
}

/* What a plugin reads of a file, in its order. The parameters are those of csv and spk together, each at its place. */
struct raw {
  const struct mill_format_ops *ops;
  struct mill_stream_info info;
  struct mill_stream_end end;
  void *reader;
  struct mill_event *event;
  size_t count;
};

static inline void raw_free(struct raw *raw)
{
  if (raw->reader)
    raw->ops->close(&mill_host, raw->reader);
  free(raw->event);
  *raw = (struct raw){0};
}

/* 0, or -1 with the reason. raw_free in both cases; info lives until then. */
static inline int raw_read(const char *format, const char *path, const char *columns, const char *tick, struct raw *raw,
                           struct mill_error *error)
{
  const char *values[2] = {columns, tick};
  size_t got, room = 0;
  *raw = (struct raw){.ops = format_ops(format)};
  if (raw->ops->open(&mill_host, strcmp(format, "spk") ? values : values + 1, path, &raw->info, &raw->end, &raw->reader, error)) {
    raw->reader = NULL;
    return -1;
  }
  do {
    if (room - raw->count < 100)
      raw->event = realloc(raw->event, (room = 2 * room + 100) * sizeof *raw->event);
    if (raw->ops->read(raw->reader, raw->event + raw->count, 1 + (room - raw->count) / 2, &got, error))
      return -1;
    raw->count += got;
  } while (got);
  return 0;
}

static inline int raw_write(const char *format, const char *path, const struct mill_stream_info *info, const struct mill_event *event,
                            size_t n, uint64_t hash, int complete, struct mill_error *error)
{
  const struct mill_format_ops *ops = format_ops(format);
  struct mill_stream_end end = {.events = n, .spike_hash = hash, .stop = info->stop, .complete = (uint32_t)complete};
  void *writer;
  return ops->create(&mill_host, path, info, &writer, error) || ops->write(writer, event, n, error) ||
                 ops->finish(&mill_host, writer, &end, error)
             ? -1
             : 0;
}

static inline int raw_convert(const char *from_format, const char *from, const char *format, const char *to, struct mill_error *error)
{
  struct raw raw;
  int result = raw_read(from_format, from, NULL, NULL, &raw, error);
  if (!result)
    result = raw_write(format, to, &raw.info, raw.event, raw.count, raw.end.spike_hash, (int)raw.end.complete, error);
  raw_free(&raw);
  return result;
}

/* Through the core and each of the formats that hold everything, and from each into the other and back, byte by byte. */
static inline void round_trip(const char *what, const struct mill_stream_info *info, const struct mill_event *event, size_t n,
                              int complete)
{
  static const char *const name[] = {"a.smk", "a.csv", "a.tsv"};
  struct mill_error error;
  struct mill_stream *s;
  for (size_t i = 0; i < 3; i++) {
    error.text[0] = 0;
    int good = !write_stream(in_folder(name[i]), NULL, info, event, n, complete, &error) &&
               !mill_stream_read(in_folder(name[i]), NULL, &s, &error);
    ok(good && same_stream(s, info, event, n, complete), "%s: %s and back", what, name[i]);
    if (good)
      mill_stream_free(s);
    else
      diag("%s", error.text);
  }
  ok(!raw_convert("csv", in_folder("a.csv"), "binary", in_folder("b.smk"), &error) &&
         same_file(in_folder("a.smk"), in_folder("b.smk")) &&
         !raw_convert("binary", in_folder("b.smk"), "csv", in_folder("b.csv"), &error) &&
         same_file(in_folder("a.csv"), in_folder("b.csv")) &&
         !raw_convert("csv", in_folder("b.csv"), "csv", in_folder("b.tsv"), &error) &&
         same_file(in_folder("a.tsv"), in_folder("b.tsv")),
     "%s: csv, binary, csv, tsv give the same bytes", what);
  spikes_empty();
}

/* Refuses a file through the core; what the message says is also shown. */
static inline void refused(const char *what, const char *path, const struct mill_stream_options *options, int status,
                           const char *says)
{
  struct mill_error error = {0, "nothing"};
  struct mill_stream *s;
  const char *name = strrchr(path, '/');
  int failed = mill_stream_read(path, options, &s, &error);
  ok(failed && error.status == status && strstr(error.text, says) && strstr(error.text, name ? name + 1 : path), "refused: %s", what);
  diag("%s", error.text);
  mill_stream_free(s);
}

/* Notes, counted and kept: the last one. */
static int notes;
static char last_note[1536];

static inline void take_note(const char *line, void *self)
{
  (void)self;
  notes++;
  snprintf(last_note, sizeof last_note, "%s", line);
}

static inline void notes_begin(void)
{
  notes = 0;
  last_note[0] = 0;
  mill_note_set(take_note, NULL);
}

static uint64_t random_state = 88172645463325252u;

/* A number below `below`. */
static inline uint32_t draw(uint32_t below)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)((random_state >> 32) * below >> 32);
}

#endif
