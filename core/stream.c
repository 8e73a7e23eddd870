/* Spike files read through the format plugins. A stream in memory owns copies of what the plugin told, so that the file is closed and
   may be replaced once it has been read. What comes from a plugin is checked here again, since everything after trusts it. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "param.h"
#include "registry.h"
#include "stream.h"
#include "stream-private.h"
#include "text.h"

static int by_name(const void *a, const void *b)
{
  return strcmp((*(const struct mill_group *const *)a)->name, (*(const struct mill_group *const *)b)->name);
}

/* Names are text of one line, and no two are the same. What is written is checked by the format, which knows its own limits. */
static int check_names(const char *path, const struct mill_stream_info *info, struct mill_error *error)
{
  const struct mill_group **sorted = calloc((size_t)info->group_count + 1, sizeof *sorted);
  int rc = sorted ? 0 : mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
  for (uint32_t i = 0; rc == 0 && i < info->group_count; i++) {
    const char *name = info->group[i].name, *p = name;
    sorted[i] = &info->group[i];
    while (((unsigned char)*p >= 0x20 && *p != 0x7f) || *p == '\t')
      p++;
    if (*p || !mill_text_is_utf8(name, strlen(name)))
      rc = mill_fail(error, MILL_DATA, "%s: the name of population %" PRIu32 " (from 0) is no line of UTF-8 text", path, i);
  }
  if (rc == 0)
    qsort(sorted, info->group_count, sizeof *sorted, by_name);
  for (uint32_t i = 1; rc == 0 && i < info->group_count; i++)
    if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
      rc = mill_fail(error, MILL_DATA, "%s: two populations have the name \"%s\"", path, sorted[i]->name);
  free(sorted);
  return rc;
}

int mill_stream_check(const char *path, const struct mill_stream_info *info, struct mill_error *error)
{
  uint64_t units = 0;
  if (info->tick_ps < 1)
    return mill_fail(error, MILL_DATA, "%s: a tick of %" PRId64 " ps; expected at least 1", path, info->tick_ps);
  if (info->start > info->stop)
    return mill_fail(error, MILL_DATA, "%s: the start, tick %" PRId64 ", lies after the stop, %" PRId64, path, info->start,
                     info->stop);
  for (uint32_t i = 0; i < info->group_count; i++) {
    const struct mill_group *g = &info->group[i];
    if (!g->name || !*g->name)
      return mill_fail(error, MILL_DATA, "%s: population %" PRIu32 " (from 0) has no name", path, i);
    if (g->first != units)
      return mill_fail(error, MILL_DATA, "%s: population \"%s\" begins at unit %" PRIu32 "; expected %" PRIu64, path, g->name,
                       g->first, units);
    units += g->size;
    if (units > UINT32_MAX)
      return mill_fail(error, MILL_DATA, "%s: more than %" PRIu32 " neurons up to population \"%s\"", path, UINT32_MAX, g->name);
  }
  return 0;
}

/* Copies info and what it points at into one block, kept as stream->own. */
static int copy_info(struct mill_stream *stream, const struct mill_stream_info *info, const char *path, struct mill_error *error)
{
  const char *version = info->version ? info->version : "", *config = info->config ? info->config : "";
  size_t table = (size_t)info->group_count * sizeof(struct mill_group), bytes = table + strlen(version) + strlen(config) + 2;
  for (uint32_t i = 0; i < info->group_count; i++)
    bytes += strlen(info->group[i].name) + 1;
  struct mill_group *group = mill_allocate("header of a spike file", bytes, 1);
  if (!group)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory for the header", path);
  char *text = (char *)group + table;
  stream->own = group;
  stream->info = *info;
  stream->info.group = group;
  stream->info.version = strcpy(text, version);
  text += strlen(version) + 1;
  stream->info.config = strcpy(text, config);
  text += strlen(config) + 1;
  for (uint32_t i = 0; i < info->group_count; i++) {
    group[i] = info->group[i];
    group[i].name = strcpy(text, info->group[i].name);
    text += strlen(text) + 1;
  }
  return 0;
}

void *mill_spikes_allocate(const char *path, const char *what, uint64_t count, size_t size, struct mill_error *error)
{
  char need[32], have[32];
  uint64_t bytes = count > UINT64_MAX / size ? UINT64_MAX : count * size, free_bytes = mill_memory_free();
  void *memory = bytes <= free_bytes ? mill_allocate("spikes of a file", count, size) : NULL;
  if (!memory)
    mill_fail(error, MILL_RESOURCES, "%s: %s %" PRIu64 " spikes needs %s of memory, and %s is free", path, what, count,
              mill_memory_text(need, bytes), mill_memory_text(have, free_bytes));
  return memory;
}

/* What the user said of the file goes into the plugin's parameters of these names. */
static int fill_params(struct mill_source *source, const struct mill_stream_options *options, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  const struct mill_plugin *plugin = source->plugin;
  const struct {
    const char *key, *text, *why;
  } said[] = {{"columns", options ? options->columns : NULL, "names its own columns"},
              {"tick", options ? options->tick : NULL, "states its own tick"}};
  int taken[] = {0, 0};
  for (uint32_t i = 0; i < plugin->param_count; i++) {
    const struct mill_param_spec *spec = &plugin->params[i];
    const char *text = spec->deflt;
    for (size_t k = 0; k < 2; k++)
      if (said[k].text && !strcmp(spec->key, said[k].key)) {
        text = said[k].text;
        taken[k] = 1;
      }
    if (!text && spec->flags & MILL_REQUIRED)
      return mill_fail(error, MILL_USAGE, "%s: the %s format needs to be told `%s` (%s)", source->path, plugin->name, spec->key,
                       spec->doc);
    if (text && mill_param_value(spec, text, &none, source->params, error))
      return mill_fail_within(error, "%s: %s", source->path, spec->key);
  }
  for (size_t k = 0; k < 2; k++)
    if (said[k].text && !taken[k])
      return mill_fail(error, MILL_USAGE, "%s: the %s format %s; `%s` cannot be given for it", source->path, plugin->name,
                       said[k].why, said[k].key);
  return 0;
}

int mill_source_open(const char *path, const struct mill_stream_options *options, struct mill_source *source,
                     struct mill_error *error)
{
  *source = (struct mill_source){.path = path};
  if (mill_format_find(path, options ? options->format : NULL, options && options->columns ? "columns" : NULL, 0, &source->plugin, error))
    return -1;
  source->ops = source->plugin->ops;
  source->params = mill_allocate("parameters of a format", source->plugin->params_size, 1);
  if (!source->params)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
  if (fill_params(source, options, error))
    goto failed;
  if (source->ops->open(&mill_host, source->params, path, &source->info, &source->end, &source->reader, error)) {
    source->reader = NULL;
    goto failed;
  }
  if (mill_stream_check(path, &source->info, error) || check_names(path, &source->info, error))
    goto failed;
  source->units = mill_stream_units(&source->info);
  return 0;
failed:
  mill_source_close(source);
  return -1;
}

void mill_source_close(struct mill_source *source)
{
  if (source->reader)
    source->ops->close(&mill_host, source->reader);
  mill_param_free(source->plugin->params, source->plugin->param_count, source->params);
  mill_release(source->params);
}

int mill_source_read(struct mill_source *source, struct mill_event *event, size_t capacity, size_t *got, struct mill_error *error)
{
  *got = 0;
  if (source->interrupted && source->interrupted())
    return mill_fail(error, MILL_INTERRUPTED, "%s: interrupted after %" PRIu64 " events", source->path, source->count);
  if (source->ops->read(source->reader, event, capacity, got, error))
    return -1;
  int64_t last = source->count ? source->last : INT64_MIN;
  for (size_t i = 0; i < *got; i++) {
    if (event[i].unit >= source->units)
      return mill_fail(error, MILL_DATA, "%s: spike %" PRIu64 " (from 0) is of unit %" PRIu32 ", and there are %" PRIu64,
                       source->path, source->count + i, event[i].unit, source->units);
    if (event[i].tick < last && source->info.sorted)
      return mill_fail(error, MILL_DATA,
                       "%s: spike %" PRIu64 " (from 0), tick %" PRId64 ", follows one of tick %" PRId64
                       ": the file was in order and has changed while it was read",
                       source->path, source->count + i, event[i].tick, last);
    last = event[i].tick;
  }
  source->count += *got;
  source->last = last;
  return 0;
}

int mill_source_check(struct mill_source *source, uint64_t spike_hash, struct mill_error *error)
{
  struct mill_stream_end *end = &source->end;
  if ((end->events || end->spike_hash) && end->events != source->count)
    return mill_fail(error, MILL_DATA, "%s: damaged: %" PRIu64 " spikes announced, %" PRIu64 " found", source->path, end->events,
                     source->count);
  if (end->spike_hash && end->spike_hash != spike_hash)
    return mill_fail(error, MILL_DATA, "%s: damaged: the hash of the spikes is %016" PRIx64 ", recorded was %016" PRIx64,
                     source->path, spike_hash, end->spike_hash);
  end->events = source->count;
  end->spike_hash = spike_hash;
  return 0;
}

/* Room for so many spikes, keeping those that are there. */
static int reserve(struct mill_stream *stream, uint64_t *capacity, uint64_t wanted, const char *path, struct mill_error *error)
{
  struct mill_event *event = mill_spikes_allocate(path, "reading", wanted, sizeof *event, error);
  if (!event)
    return -1;
  if (stream->count)
    memcpy(event, stream->event, stream->count * sizeof *event);
  mill_release(stream->event);
  stream->event = event;
  *capacity = wanted;
  return 0;
}

/* *order: 1 when the events are in the order that is asked for. */
static int read_events(struct mill_source *source, struct mill_stream *stream, int by_unit, int *order, struct mill_error *error)
{
  uint64_t capacity = 0, announced = source->end.events;
  /* One more than announced shows that the file ends there. */
  if (reserve(stream, &capacity, announced < UINT64_MAX ? announced + 1 : UINT64_MAX, source->path, error))
    return -1;
  *order = stream->was_sorted = 1;
  for (;;) {
    if (stream->count == capacity &&
        reserve(stream, &capacity, capacity < MILL_CHUNK ? MILL_CHUNK : 2 * capacity, source->path, error))
      return -1;
    struct mill_event *event = stream->event + stream->count;
    uint64_t room = capacity - stream->count;
    size_t got;
    if (mill_source_read(source, event, room < MILL_CHUNK ? (size_t)room : MILL_CHUNK, &got, error))
      return -1;
    if (!got)
      return 0;
    for (size_t i = stream->count == 0; i < got; i++) {
      stream->was_sorted &= event[i].tick >= event[i - 1].tick;
      *order &= event[i].tick > event[i - 1].tick ||
                (event[i].tick == event[i - 1].tick && (!by_unit || event[i].unit >= event[i - 1].unit));
    }
    stream->count += got;
  }
}

/* Count and hash against what the file says. */
static int check_events(struct mill_source *source, const struct mill_stream *stream, struct mill_error *error)
{
  struct mill_tick_hash hash;
  int result = mill_tick_hash_begin(&hash, source->path, &stream->info, error);
  if (!result)
    result = mill_tick_hash_add(&hash, stream->event, stream->count, error);
  if (!result)
    result = mill_source_check(source, mill_tick_hash_end(&hash), error);
  mill_tick_hash_free(&hash);
  return result;
}

int mill_source_load(struct mill_source *source, int by_unit, struct mill_stream **stream, struct mill_error *error)
{
  struct mill_stream *s = mill_allocate("spike stream", 1, sizeof *s);
  int order;
  *stream = NULL;
  if (!s)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory", source->path);
  if (copy_info(s, &source->info, source->path, error) || read_events(source, s, by_unit, &order, error) ||
      (!order && mill_events_sort(source->path, s->event, s->count, by_unit, error)) || check_events(source, s, error)) {
    mill_stream_free(s);
    return -1;
  }
  s->info.sorted = 1;
  s->end = source->end;
  *stream = s;
  return 0;
}

int mill_stream_read(const char *path, const struct mill_stream_options *options, struct mill_stream **stream,
                     struct mill_error *error)
{
  struct mill_source source;
  *stream = NULL;
  if (mill_source_open(path, options, &source, error))
    return -1;
  source.interrupted = mill_host.interrupted;
  int result = mill_source_load(&source, options && options->by_unit, stream, error);
  mill_source_close(&source);
  return result;
}

void mill_stream_free(struct mill_stream *stream)
{
  if (!stream)
    return;
  mill_release(stream->event);
  mill_release(stream->own);
  mill_release(stream);
}
