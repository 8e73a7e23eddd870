/* Spike files through the format plugins. A stream in memory owns copies of what the plugin told, so that the file is closed and
   may be replaced once it has been read. What comes from a plugin is checked here again, since everything after trusts it. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "registry.h"
#include "stream.h"
#include "stream-private.h"

#define CHUNK 65536 /* spikes asked for at a time */
#define HEAD 4096   /* bytes that a format is recognised by */

static const struct mill_format_ops *ops_of(const struct mill_plugin *plugin)
{
  return plugin->ops;
}

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Length of the longest of a plugin's extensions that the path ends in, 0 for none. */
static size_t extension_length(const struct mill_plugin *plugin, const char *path)
{
  size_t length = strlen(path), best = 0;
  for (const char *p = ops_of(plugin)->extensions; *p;) {
    size_t n = strcspn(p, " "), same = 0;
    while (n <= length && same < n && lower(path[length - n + same]) == lower(p[same]))
      same++;
    if (same == n && n > best)
      best = n;
    p += n;
    p += strspn(p, " ");
  }
  return best;
}

static void append(char *text, size_t size, const char *more)
{
  size_t n = strlen(text);
  if (n + strlen(more) < size)
    memcpy(text + n, more, strlen(more) + 1);
}

/* "binary (.smk), csv (.csv .tsv .txt)" */
static void list_formats(char *text, size_t size, const struct mill_plugin *const *plugin, size_t count)
{
  *text = 0;
  for (size_t i = 0; i < count; i++) {
    append(text, size, i ? ", " : "");
    append(text, size, plugin[i]->name);
    append(text, size, " (");
    append(text, size, ops_of(plugin[i])->extensions);
    append(text, size, ")");
  }
}

static int read_head(const char *path, unsigned char *head, size_t *got, struct mill_error *error)
{
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = -1;
  if (fd < 0 || fstat(fd, &status)) {
    mill_fail(error, MILL_DATA, "%s: cannot open the file: %s", path, strerror(errno));
  } else if (!S_ISREG(status.st_mode)) {
    mill_fail(error, MILL_DATA, "%s: not a regular file", path);
  } else {
    ssize_t n = 1;
    result = 0;
    for (*got = 0; !result && n && *got < HEAD;) {
      n = read(fd, head + *got, HEAD - *got);
      if (n >= 0)
        *got += (size_t)n;
      else if (errno != EINTR)
        result = mill_fail(error, MILL_DATA, "%s: cannot read the file: %s", path, strerror(errno));
    }
  }
  if (fd >= 0)
    close(fd);
  return result;
}

/* The plugin that is surest of the file, among those whose extension matches with `length` characters (0: all). NULL when all
   say no. */
static const struct mill_plugin *surest(const struct mill_plugin *const *plugin, size_t count, const char *path, size_t length,
                                        const unsigned char *head, size_t n)
{
  const struct mill_plugin *best = NULL;
  int best_score = 0;
  for (size_t i = 0; i < count; i++) {
    if (length && extension_length(plugin[i], path) != length)
      continue;
    int score = ops_of(plugin[i])->probe(head, n);
    if (score > best_score) {
      best_score = score;
      best = plugin[i];
    }
  }
  return best;
}

static void note_broken(const char *sentence, void *self)
{
  (void)self;
  mill_note("%s", sentence);
}

static int choose(const char *path, int writing, const struct mill_plugin *const *plugin, size_t count,
                  const struct mill_plugin **chosen, struct mill_error *error)
{
  unsigned char head[HEAD];
  char known[800];
  size_t n, length = 0, same = 0;
  const struct mill_plugin *by_extension = NULL;
  for (size_t i = 0; i < count; i++) {
    size_t l = extension_length(plugin[i], path);
    if (l > length) {
      length = l;
      same = 0;
      by_extension = plugin[i];
    }
    same += l && l == length;
  }
  list_formats(known, sizeof known, plugin, count);
  *chosen = by_extension;
  if (writing) {
    if (!by_extension)
      return mill_fail(error, MILL_USAGE, "%s: the extension names no spike format; expected one of %s", path, known);
    if (same > 1)
      return mill_fail(error, MILL_USAGE, "%s: the extension is that of %zu spike formats; name one of %s", path, same, known);
    return 0;
  }
  if (read_head(path, head, &n, error))
    return -1;
  *chosen = by_extension ? surest(plugin, count, path, length, head, n) : NULL;
  if (!*chosen)
    *chosen = surest(plugin, count, path, 0, head, n);
  if (!*chosen)
    *chosen = by_extension; /* its refusal says more than ours could */
  if (!*chosen)
    return mill_fail(error, MILL_DATA, "%s: neither the extension nor the content is that of a spike format; expected one of %s",
                     path, known);
  return 0;
}

int mill_format_find(const char *path, const char *format, int writing, const struct mill_plugin **plugin, struct mill_error *error)
{
  *plugin = NULL;
  if (format)
    return mill_plugin_load(MILL_FORMAT, format, NULL, plugin, error);
  char **name = mill_plugin_list(MILL_FORMAT, NULL, NULL);
  size_t names = 0, count = 0;
  while (name && name[names])
    names++;
  const struct mill_plugin **all = calloc(names + 1, sizeof *all);
  int result = -1;
  if (!name || !all) {
    mill_fail(error, MILL_RESOURCES, "%s: out of memory for the list of formats", path);
    goto done;
  }
  for (size_t i = 0; i < names; i++)
    count += !mill_plugin_load(MILL_FORMAT, name[i], NULL, &all[count], NULL);
  if (count)
    result = choose(path, writing, all, count, plugin, error);
  else
    mill_fail(error, MILL_USAGE, "%s: no format plugin is there to %s spikes; SPIKEMILL_PLUGIN_PATH names the folders to look in",
              path, writing ? "write" : "read");
  if (result && !*plugin) /* the one that was meant may be broken */
    free(mill_plugin_list(MILL_FORMAT, note_broken, NULL));
done:
  free(all);
  free(name);
  return result;
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

/* Room for `capacity` spikes, keeping those that are there. */
static int reserve(struct mill_stream *stream, uint64_t *capacity, uint64_t wanted, const char *path, struct mill_error *error)
{
  char need[32], have[32];
  uint64_t bytes = wanted > UINT64_MAX / sizeof(struct mill_event) ? UINT64_MAX : wanted * sizeof(struct mill_event);
  uint64_t free_bytes = mill_memory_free();
  struct mill_event *event = bytes <= free_bytes ? mill_allocate("spikes of a file", wanted, sizeof *event) : NULL;
  if (!event)
    return mill_fail(error, MILL_RESOURCES, "%s: %" PRIu64 " spikes need %s of memory, and %s is free", path, wanted,
                     mill_memory_text(need, bytes), mill_memory_text(have, free_bytes));
  if (stream->count)
    memcpy(event, stream->event, stream->count * sizeof *event);
  mill_release(stream->event);
  stream->event = event;
  *capacity = wanted;
  return 0;
}

static int read_events(struct mill_stream *stream, const struct mill_format_ops *ops, void *reader, const char *path,
                       struct mill_error *error)
{
  const struct mill_stream_info *info = &stream->info;
  uint64_t units = 0, capacity = 0;
  if (info->group_count)
    units = (uint64_t)info->group[info->group_count - 1].first + info->group[info->group_count - 1].size;
  /* One more than announced shows that the file ends there. */
  if (reserve(stream, &capacity, stream->end.events < UINT64_MAX ? stream->end.events + 1 : UINT64_MAX, path, error))
    return -1;
  stream->was_sorted = 1;
  for (;;) {
    if (stream->count == capacity && reserve(stream, &capacity, capacity < CHUNK ? CHUNK : 2 * capacity, path, error))
      return -1;
    struct mill_event *event = stream->event + stream->count;
    size_t got = 0, room = capacity - stream->count < CHUNK ? (size_t)(capacity - stream->count) : CHUNK;
    if (ops->read(reader, event, room, &got, error))
      return -1;
    if (!got)
      return 0;
    for (size_t i = 0; i < got; i++) {
      if (event[i].unit >= units)
        return mill_fail(error, MILL_DATA, "%s: spike %" PRIu64 " (from 0) is of unit %" PRIu32 ", and there are %" PRIu64, path,
                         stream->count + i, event[i].unit, units);
      if (stream->count + i && mill_event_before(&event[i], &event[i - 1]))
        stream->was_sorted = 0;
    }
    stream->count += got;
  }
}

static uint64_t hash_of(const struct mill_stream *stream, struct mill_spike_hash *hash)
{
  const struct mill_group *group = stream->info.group;
  uint32_t at = 0;
  for (uint64_t i = 0; i < stream->count; i++) {
    uint32_t unit = stream->event[i].unit, high = stream->info.group_count;
    if (unit < group[at].first || unit - group[at].first >= group[at].size) {
      for (at = 0; high - at > 1;) {
        uint32_t middle = at + (high - at) / 2;
        if (group[middle].first <= unit)
          at = middle;
        else
          high = middle;
      }
    }
    mill_spike_hash_add(hash, stream->event[i].tick, at, unit - group[at].first);
  }
  return mill_spike_hash_value(hash);
}

/* Compares count and hash with what the file says, or fills them in. */
static int check_end(struct mill_stream *stream, const char *path, struct mill_error *error)
{
  struct mill_spike_hash *hash = mill_spike_hash_create();
  if (!hash)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory for the hash", path);
  uint64_t value = hash_of(stream, hash);
  mill_spike_hash_free(hash);
  if ((stream->end.events || stream->end.spike_hash) && stream->end.events != stream->count)
    return mill_fail(error, MILL_DATA, "%s: damaged: %" PRIu64 " spikes announced, %" PRIu64 " found", path, stream->end.events,
                     stream->count);
  if (stream->end.spike_hash && stream->end.spike_hash != value)
    return mill_fail(error, MILL_DATA, "%s: damaged: the hash of the spikes is %016" PRIx64 ", recorded was %016" PRIx64, path,
                     value, stream->end.spike_hash);
  stream->end.events = stream->count;
  stream->end.spike_hash = value;
  return 0;
}

int mill_stream_read(const char *path, const struct mill_stream_options *options, struct mill_stream **stream, struct mill_error *error)
{
  const char *format = options ? options->format : NULL;
  const struct mill_plugin *plugin;
  struct mill_stream_info info = {0};
  struct mill_stream *s = NULL;
  void *reader = NULL;
  int result = -1;
  *stream = NULL;
  if (mill_format_find(path, format, 0, &plugin, error))
    return -1;
  const struct mill_format_ops *ops = ops_of(plugin);
  s = mill_allocate("spike stream", 1, sizeof *s);
  if (!s)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
  if (ops->open(&mill_host, NULL, path, &info, &s->end, &reader, error))
    goto done;
  if (mill_stream_check(path, &info, error) || copy_info(s, &info, path, error) || read_events(s, ops, reader, path, error))
    goto done;
  if (!s->was_sorted && mill_events_sort(path, s->event, s->count, error))
    goto done;
  if (check_end(s, path, error))
    goto done;
  *stream = s;
  result = 0;
done:
  if (reader)
    ops->close(&mill_host, reader);
  if (result)
    mill_stream_free(s);
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
