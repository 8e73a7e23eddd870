/* Fuzzing of a spike format's reader: any bytes are read to the end or refused, and what is read comes back the same when it is
   written and read again. The plugin's source is part of this file: csv, or binary with -DFUZZ_BINARY. With libFuzzer:
     clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Icore tests/fuzz-formats.c
   With -DFUZZ_FILES the program goes through the files on its command line instead. */
#ifdef FUZZ_BINARY
#include "../plugins/formats/binary.c"
#else
#include "../plugins/formats/csv.c"
#endif

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int memfd_create(const char *name, unsigned flags);

static int fail(struct mill_error *e, int status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  e->status = status;
  vsnprintf(e->text, sizeof e->text, format, arguments);
  va_end(arguments);
  return -1;
}

static void *allocate(const char *name, uint64_t count, size_t size)
{
  (void)name;
  return calloc((size_t)count, size);
}

static void note(const char *format, ...)
{
  (void)format;
}

static const struct mill_host host = {.size = sizeof host, .fail = fail, .allocate = allocate, .release = free, .note = note};

struct content {
  struct mill_stream_info info;
  struct mill_stream_end end;
  void *reader;
  struct mill_event *event;
  size_t count;
};

static void check(int good, const char *what)
{
  if (good)
    return;
  fprintf(stderr, "failed: %s\n", what);
  abort();
}

static int put_bytes_in(int fd, const uint8_t *data, size_t size)
{
  return ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size ? -1 : 0;
}

/* Reads all; the reader stays open, because info points into it. */
static int read_all(int fd, struct content *c)
{
  char path[32];
  struct mill_error error;
  size_t got, room = 0;
  *c = (struct content){0};
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (ops.open(&host, path, &c->info, &c->end, &c->reader, &error)) {
    check(error.status == MILL_DATA && error.text[0], "a refusal is about data and says why");
    return -1;
  }
  do {
    if (room - c->count < 7)
      c->event = realloc(c->event, (room = 2 * room + 7) * sizeof *c->event);
    if (ops.read(c->reader, c->event + c->count, room - c->count, &got, &error))
      return -1;
    c->count += got;
  } while (got);
  return 0;
}

static void forget(struct content *c)
{
  if (c->reader)
    ops.close(&host, c->reader);
  free(c->event);
}

static int sorted(const struct content *c)
{
  for (size_t i = 1; i < c->count; i++)
    if (c->event[i].tick < c->event[i - 1].tick ||
        (c->event[i].tick == c->event[i - 1].tick && c->event[i].unit < c->event[i - 1].unit))
      return 0;
  return 1;
}

/* A writer may refuse what it cannot express, but must not write anything else. */
static int write_all(int fd, const struct content *c)
{
  char path[32];
  struct mill_error error;
  struct mill_stream_end end = c->end;
  void *writer;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  end.events = c->count;
  return ops.create(&host, path, &c->info, &writer, &error) || ops.write(writer, c->event, c->count, &error) ||
         ops.finish(&host, writer, &end, &error);
}

static void try_one(const uint8_t *data, size_t size)
{
  struct content a, b;
  int in = memfd_create("in", 0), out = memfd_create("out", 0);
  check(in >= 0 && out >= 0 && !put_bytes_in(in, data, size), "setting up");
  ops.probe(data, size < 4096 ? size : 4096);
  if (!read_all(in, &a)) {
    uint64_t units = 0;
    for (uint32_t i = 0; i < a.info.group_count; i++) {
      check(a.info.group[i].first == units, "groups are contiguous");
      units += a.info.group[i].size;
    }
    for (size_t i = 0; i < a.count; i++)
      check(a.event[i].unit < units, "units exist");
    if (sorted(&a) && !write_all(out, &a)) {
      check(!read_all(out, &b), "what was written is read");
      check(a.count == b.count && (!a.count || !memcmp(a.event, b.event, a.count * sizeof *a.event)), "the same spikes");
      check(a.info.tick_ps == b.info.tick_ps && a.info.start == b.info.start && a.info.stop == b.info.stop &&
                a.info.seed == b.info.seed && a.info.group_count == b.info.group_count && !strcmp(a.info.version, b.info.version) &&
                !strcmp(a.info.config, b.info.config) && a.end.stop == b.end.stop && a.end.complete == b.end.complete &&
                a.end.spike_hash == b.end.spike_hash,
            "the same header");
      for (uint32_t i = 0; i < a.info.group_count; i++)
        check(!strcmp(a.info.group[i].name, b.info.group[i].name) && a.info.group[i].size == b.info.group[i].size,
              "the same groups");
      forget(&b);
    }
  }
  forget(&a);
  close(in);
  close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  try_one(data, size);
#ifdef FUZZ_BINARY
  /* Under a right checksum, which no fuzzer guesses. */
  if (size >= 8) {
    uint8_t *copy = malloc(size);
    check(copy != NULL, "memory");
    memcpy(copy, data, size);
    put64(copy + size - 8, XXH64(copy, size - 8, 0));
    try_one(copy, size);
    free(copy);
  }
#endif
  return 0;
}

#ifdef FUZZ_FILES
int main(int count, char **file)
{
  for (int i = 1; i < count; i++) {
    FILE *f = fopen(file[i], "rb");
    uint8_t *data = NULL;
    size_t size = 0, got = 0;
    do {
      data = realloc(data, size + 65536);
      check(f && data, file[i]);
      got = fread(data + size, 1, 65536, f);
      size += got;
    } while (got);
    fclose(f);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
  }
  return 0;
}
#endif
