/* A spike format for tests of what reads and writes through formats. A file begins with "trial SORTED TYPES", and has a line
   "TICK UNIT" for each event. What the parameters were is told as the configuration. The reader believes SORTED, and checks nothing;
   the writer takes only types that are numbers, even ticks, and other numbers of events than 13. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/format.h>

struct values {
  const char *columns, *tick;
  int64_t factor;
};

struct file {
  const struct mill_host *host;
  char *path;
  FILE *stream;
  struct mill_group *group;
  char (*name)[12];
  char *config;
  uint64_t count;
};

static void close_file(const struct mill_host *host, void *self)
{
  struct file *f = self;
  if (f->stream)
    fclose(f->stream);
  free(f->group);
  free(f->name);
  free(f->config);
  free(f->path);
  host->release(f);
}

static struct file *open_file(const struct mill_host *host, const char *path, const char *mode, struct mill_error *error)
{
  struct file *f = host->allocate("trial", 1, sizeof *f);
  f->host = host;
  f->path = strdup(path);
  f->stream = fopen(path, mode);
  if (f->stream)
    return f;
  host->fail(error, MILL_DATA, "%s: cannot be opened", path);
  close_file(host, f);
  return NULL;
}

static int probe(const unsigned char *head, size_t n)
{
  return n > 6 && !memcmp(head, "trial ", 6) ? 80 : 0;
}

static int reader_open(const struct mill_host *host, const void *params, const char *path, struct mill_stream_info *info,
                       struct mill_stream_end *end, void **reader, struct mill_error *error)
{
  const struct values *v = params;
  struct file *f = open_file(host, path, "r", error);
  uint32_t sorted, types;
  if (!f)
    return -1;
  if (fscanf(f->stream, "trial %" SCNu32 " %" SCNu32, &sorted, &types) != 2) {
    close_file(host, f);
    return host->fail(error, MILL_DATA, "%s:1: no trial", path);
  }
  f->group = calloc(types + 1u, sizeof *f->group);
  f->name = calloc(types + 1u, sizeof *f->name);
  for (uint32_t i = 0; i < types; i++) {
    snprintf(f->name[i], sizeof f->name[i], "%" PRIu32, i * 10);
    f->group[i] = (struct mill_group){f->name[i], i, 1};
  }
  if (asprintf(&f->config, "columns %s, tick %s, factor %" PRId64 "\n", v->columns ? v->columns : "none", v->tick, v->factor) < 0)
    f->config = NULL;
  *info = (struct mill_stream_info){
      .tick_ps = 1000000000, .group_count = types, .group = f->group, .config = f->config, .sorted = sorted};
  *end = (struct mill_stream_end){.complete = 1};
  *reader = f;
  return 0;
}

static int reader_read(void *self, struct mill_event *buffer, size_t capacity, size_t *got, struct mill_error *error)
{
  struct file *f = self;
  (void)error;
  for (*got = 0; *got < capacity; ++*got) {
    struct mill_event e = {0};
    if (fscanf(f->stream, "%" SCNd64 " %" SCNu32, &e.tick, &e.unit) != 2)
      break;
    buffer[*got] = e;
  }
  return 0;
}

static int writer_create(const struct mill_host *host, const char *path, const struct mill_stream_info *info, void **writer,
                         struct mill_error *error)
{
  struct file *f;
  for (uint32_t i = 0; i < info->group_count; i++)
    if (strspn(info->group[i].name, "0123456789") != strlen(info->group[i].name))
      return host->fail(error, MILL_DATA, "%s: the type \"%s\" is no number", path, info->group[i].name);
  f = open_file(host, path, "w", error);
  if (!f)
    return -1;
  fprintf(f->stream, "trial 1 %" PRIu32 "\n", info->group_count);
  *writer = f;
  return 0;
}

static int writer_write(void *self, const struct mill_event *events, size_t n, struct mill_error *error)
{
  struct file *f = self;
  for (size_t i = 0; i < n; i++, f->count++) {
    if (events[i].tick % 2) {
      f->host->fail(error, MILL_DATA, "%s: tick %" PRId64 " lies off the grid", f->path, events[i].tick);
      close_file(f->host, f);
      return -1;
    }
    fprintf(f->stream, "%" PRId64 " %" PRIu32 "\n", events[i].tick, events[i].unit);
  }
  return 0;
}

static int writer_finish(const struct mill_host *host, void *self, const struct mill_stream_end *end, struct mill_error *error)
{
  struct file *f = self;
  int result = end->events == 13 ? host->fail(error, MILL_DATA, "cannot write %s: 13 events", f->path) : 0;
  close_file(host, f);
  return result;
}

static const struct mill_param_spec params[] = {
    {"columns", "", NULL, NULL, "what the columns hold", 0, 0, offsetof(struct values, columns), MILL_TEXT, 0},
    {"tick", "", "1 ms", NULL, "length of a tick", 0, 0, offsetof(struct values, tick), MILL_TEXT, 0},
    {"factor", "", "3", NULL, "a parameter with a default", 1, 9, offsetof(struct values, factor), MILL_INT, 0},
};

static const struct mill_format_ops ops = {
    .extensions = ".trial",
    .probe = probe,
    .open = reader_open,
    .read = reader_read,
    .close = close_file,
    .create = writer_create,
    .write = writer_write,
    .finish = writer_finish,
    .abandon = close_file,
};

MILL_PLUGIN(MILL_FORMAT, MILL_CPU, "trial", "a format of the tests", sizeof(struct values), params, sizeof params / sizeof *params,
            ops);
