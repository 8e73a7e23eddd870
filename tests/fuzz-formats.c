/* Fuzzing of a spike format's reader: any bytes are read to the end or refused, and what is read comes back the same when it is
   written and read again. The plugin's source is part of this file: csv, or spk or binary with -DFUZZ_SPK or -DFUZZ_BINARY. A first line
   "!COLUMNS|TICK" is not part of the file, but the parameters, each of which may be empty. With libFuzzer:
     clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Icore tests/fuzz-formats.c -o fuzz
     ./fuzz -dict=tests/data/fuzz/formats.dict NEW-FOLDER tests/data/fuzz/csv
   With -DFUZZ_FILES the program goes through the files on its command line instead. */
#if defined FUZZ_BINARY
#include "../plugins/formats/binary.c"
#elif defined FUZZ_SPK
#include "../plugins/formats/spk.c"
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

static int interrupted(void)
{
  return 0;
}

static const struct mill_host host = {
    .size = sizeof host, .fail = fail, .allocate = allocate, .release = free, .note = note, .interrupted = interrupted};

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

struct said {
  const char *columns, *tick;
};

/* The parameter block, in which a format has what it knows of. */
static const void *block_of(const struct said *said)
{
#if defined FUZZ_SPK
  return &said->tick;
#else
  return said;
#endif
}

/* Reads all; the reader stays open, because info points into it. */
static int read_all(int fd, const struct said *said, struct content *c)
{
  char path[32];
  struct mill_error error;
  size_t got, room = 0;
  *c = (struct content){0};
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (ops.open(&host, block_of(said), path, &c->info, &c->end, &c->reader, &error)) {
    check(error.status == MILL_DATA || (error.status == MILL_USAGE && (said->columns || said->tick)), "a refusal is about data");
    check(error.text[0], "a refusal says why");
#ifndef FUZZ_BINARY
    size_t n = strlen(error.text);
    check(lines_good(error.text, n) == n || n == sizeof error.text - 1, "in good text");
#endif
    c->reader = NULL;
    return -1;
  }
  do {
    if (room - c->count < 7)
      c->event = realloc(c->event, (room = 2 * room + 7) * sizeof *c->event);
    if (ops.read(c->reader, c->event + c->count, room - c->count, &got, &error)) {
#ifndef FUZZ_BINARY
      check(0, "the second pass finds what the first one found");
#endif
      return -1;
    }
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
    if (c->event[i].tick < c->event[i - 1].tick)
      return 0;
  return 1;
}

/* A writer may refuse what it cannot express, but must not write anything else. */
static int write_all(int fd, const struct content *c)
{
  char path[32];
  struct mill_error error;
  struct mill_stream_end end = c->end;
  void *writer = NULL;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  end.events = c->count;
  return ops.create(&host, path, &c->info, &writer, &error) || ops.write(writer, c->event, c->count, &error) ||
         ops.finish(&host, writer, &end, &error);
}

/* What has to be so in whatever was read. */
static void check_content(const struct content *c)
{
  uint64_t units = 0;
  for (uint32_t i = 0; i < c->info.group_count; i++) {
    check(c->info.group[i].first == units && c->info.group[i].name[0], "groups are contiguous and have names");
    units += c->info.group[i].size;
  }
  for (size_t i = 0; i < c->count; i++)
    check(c->event[i].unit < units && !c->event[i].reserved, "units exist");
  check(c->info.tick_ps > 0, "a tick");
#ifdef FUZZ_BINARY
  check(sorted(c), "in order of time");
#else
  check(c->info.sorted == (uint32_t)sorted(c), "whether it is sorted");
#ifdef FUZZ_SPK
  int natural = 1;
#else
  int natural = !((struct reader *)c->reader)->comments.ours && ((struct reader *)c->reader)->layout.place[TYPE] >= 0;
#endif
  for (uint32_t i = 0; natural && i < c->info.group_count; i++)
    check(c->info.group[i].size == 1 && (!i || names_order(c->info.group[i - 1].name, c->info.group[i].name) < 0),
          "types are in natural order");
#endif
}

static void check_same(const struct content *a, const struct content *b)
{
  check(a->count == b->count && a->info.group_count == b->info.group_count, "as many spikes and groups");
  for (uint32_t i = 0; i < a->info.group_count; i++)
    check(!strcmp(a->info.group[i].name, b->info.group[i].name) && a->info.group[i].size == b->info.group[i].size,
          "the same groups");
#ifdef FUZZ_SPK
  for (size_t i = 0; i < a->count; i++)
    check((decimal_signed)a->event[i].tick * a->info.tick_ps == (decimal_signed)b->event[i].tick * b->info.tick_ps &&
              a->event[i].unit == b->event[i].unit,
          "the same spikes");
#else
  check(!a->count || !memcmp(a->event, b->event, a->count * sizeof *a->event), "the same spikes");
  check(a->info.tick_ps == b->info.tick_ps && a->info.start == b->info.start && a->info.stop == b->info.stop &&
            a->info.seed == b->info.seed && !strcmp(a->info.version, b->info.version) && !strcmp(a->info.config, b->info.config) &&
            a->end.stop == b->end.stop && a->end.complete == b->end.complete && a->end.spike_hash == b->end.spike_hash,
        "the same header");
#endif
}

static void try_one(const struct said *said, const uint8_t *data, size_t size)
{
  struct content a, b;
  int in = memfd_create("in", 0), out = memfd_create("out", 0);
  check(in >= 0 && out >= 0 && !put_bytes_in(in, data, size), "setting up");
  int score = ops.probe(data, size < 4096 ? size : 4096);
  check(score >= 0 && score <= 100, "a score of the probe");
  if (!read_all(in, said, &a)) {
    check_content(&a);
    if (sorted(&a) && !write_all(out, &a)) {
      check(!read_all(out, &(struct said){NULL, NULL}, &b), "what was written is read");
      check_content(&b);
      check_same(&a, &b);
      forget(&b);
    }
  }
  forget(&a);
  close(in);
  close(out);
}

#ifndef FUZZ_BINARY
/* Takes the parameters off, and gives the probe a buffer of its own size. */
static void try_with_parameters(const uint8_t *data, size_t size)
{
  const uint8_t *end = size && *data == '!' ? memchr(data, '\n', size) : NULL;
  struct said said = {NULL, NULL};
  char *text = NULL;
  if (end) {
    size_t n = (size_t)(end - data) - 1;
    text = malloc(n + 1);
    check(text != NULL, "memory");
    memcpy(text, data + 1, n);
    text[n] = 0;
    char *bar = strchr(text, '|');
    if (bar)
      *bar = 0;
    said.columns = *text ? text : NULL;
    said.tick = bar && bar[1] ? bar + 1 : NULL;
    size -= n + 2;
    data = end + 1;
  }
  uint8_t *copy = malloc(size + !size);
  check(copy != NULL, "memory");
  if (size)
    memcpy(copy, data, size);
  try_one(&said, copy, size);
  free(copy);
  free(text);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifndef FUZZ_BINARY
  try_with_parameters(data, size);
#else
  try_one(&(struct said){NULL, NULL}, data, size);
  /* Under a right checksum, which no fuzzer guesses. */
  if (size >= 8) {
    uint8_t *copy = malloc(size);
    check(copy != NULL, "memory");
    memcpy(copy, data, size);
    put64(copy + size - 8, XXH64(copy, size - 8, 0));
    try_one(&(struct said){NULL, NULL}, copy, size);
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
