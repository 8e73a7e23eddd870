/* Format "binary" (.smk): spikes as a computer likes them, 12 bytes each, in order of tick, read through a memory map and covered by
   one checksum. The header is complete when the file is created, and what is known only at the end stands in a trailer,
   so that a file is written front to back without seeking. Integers are little-endian, texts end in a NUL byte; zeros fill the
   header up to a multiple of 16 bytes.

   header        0  u8[8] magic 89 53 4d 4b 0d 0a 1a 0a   (a transfer that mends line ends breaks it)
                 8  u32   layout version, 1
                12  u32   groups, G
                16  u64   bytes of the header with all that belongs to it, H: the first spike stands there
                24  u32   bytes of a spike, 12
                28  u32   bytes of the trailer, 48
                32  i64   tick_ps, picoseconds in a tick
                40  i64   start, ticks    both 0: unknown;
                48  i64   stop, ticks     else every spike lies in (start, stop]
                56  u64   seed
                64  u64   where the group table stands, from the start of the file
                72  u64   where the version of spikemill stands
                80  u64   where the configuration stands
                88  u64   0
   group table        G entries of 16 bytes: u32 first unit, u32 size, u64 where the name stands; groups follow without gaps
   spikes        H    N entries of 12 bytes: i64 tick, u32 unit; ticks never decrease, those of one tick stand in any order
   trailer       0  u8[8] "SMK END\n"
                 8  u64   spikes, N
                16  u64   spike hash: XXH64, seed 0, over (u64 tick, u32 group, u32 index in the group) of the spikes, sorted so
                24  i64   last simulated tick
                32  u32   1: complete, 0: the run was interrupted
                36  u32   0
                40  u64   XXH64, seed 0, of every byte before this one */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <spikemill/format.h>

enum { LAYOUT = 1, HEADER_BYTES = 96, GROUP_BYTES = 16, SPIKE_BYTES = 12, TRAILER_BYTES = 48, BUFFER_BYTES = 1 << 18 };

static const unsigned char magic[8] = {0x89, 'S', 'M', 'K', '\r', '\n', 0x1a, '\n'};
static const unsigned char end_magic[8] = {'S', 'M', 'K', ' ', 'E', 'N', 'D', '\n'};

#define REFUSE(self, error, format, ...) (self)->host->fail(error, MILL_DATA, "%s: " format, (self)->path, __VA_ARGS__)

static uint32_t get32(const unsigned char *p)
{
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const unsigned char *p)
{
  return (uint64_t)get32(p) | (uint64_t)get32(p + 4) << 32;
}

/* Compilers merge bytes into one load, but not into one store. */
static void put32(unsigned char *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap32(v);
#endif
  memcpy(p, &v, sizeof v);
}

static void put64(unsigned char *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap64(v);
#endif
  memcpy(p, &v, sizeof v);
}

/* What holds for every spike of a file. */
struct rules {
  int64_t start, stop; /* ticks */
  uint64_t units;      /* in all groups together */
  uint64_t count;      /* spikes so far */
  int64_t last;        /* tick of the last one */
};

/* What is wrong with the next spike, or NULL. */
static inline const char *fault_of(const struct rules *r, const struct mill_event *e)
{
  if (e->unit >= r->units)
    return "the unit does not exist";
  if ((r->start || r->stop) && (e->tick <= r->start || e->tick > r->stop))
    return "the tick lies outside (start, stop]";
  if (r->count && e->tick < r->last)
    return "it is out of order";
  return NULL;
}

static int out_of_memory(const struct mill_host *host, const char *path, struct mill_error *error)
{
  return host->fail(error, MILL_RESOURCES, "%s: out of memory", path);
}

/* Reading. What the header says is checked even though the checksum is right: the bytes may be as bad a writer left them. */

struct reader {
  const struct mill_host *host;
  char *path;
  unsigned char *map;
  size_t bytes;
  struct mill_group *group;
  struct rules rules;
  uint64_t first; /* where the spikes begin */
  uint64_t count;
};

static void reader_close(const struct mill_host *host, void *self)
{
  struct reader *r = self;
  if (!r)
    return;
  if (r->map)
    munmap(r->map, r->bytes);
  host->release(r->group);
  free(r->path);
  host->release(r);
}

static int map_file(struct reader *r, struct mill_error *error)
{
  struct stat status;
  int fd = open(r->path, O_RDONLY | O_CLOEXEC), result = -1;
  if (fd < 0 || fstat(fd, &status)) {
    REFUSE(r, error, "cannot open the file: %s", strerror(errno));
  } else if (!S_ISREG(status.st_mode)) {
    REFUSE(r, error, "%s", "not a regular file");
  } else if (status.st_size < HEADER_BYTES + TRAILER_BYTES) {
    REFUSE(r, error, "cut short or no spike file: %jd bytes; expected at least %d", (intmax_t)status.st_size,
           HEADER_BYTES + TRAILER_BYTES);
  } else {
    r->bytes = (size_t)status.st_size;
    void *map = mmap(NULL, r->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
      r->host->fail(error, MILL_RESOURCES, "%s: cannot map the file: %s", r->path, strerror(errno));
    } else {
      r->map = map;
      posix_madvise(map, r->bytes, POSIX_MADV_SEQUENTIAL);
      result = 0;
    }
  }
  if (fd >= 0)
    close(fd);
  return result;
}

/* Whether these are the bytes that were written. */
static int check_whole(const struct reader *r, struct mill_error *error)
{
  const unsigned char *trailer = r->map + r->bytes - TRAILER_BYTES;
  if (memcmp(r->map, magic, sizeof magic))
    return REFUSE(r, error, "%s", "not a binary spike file: it does not begin with the mark of one");
  if (get32(r->map + 8) != LAYOUT)
    return REFUSE(r, error, "binary layout version %" PRIu32 "; this plugin reads version %d", get32(r->map + 8), LAYOUT);
  if (memcmp(trailer, end_magic, sizeof end_magic))
    return REFUSE(r, error, "cut short or damaged: the last %d bytes are no trailer", TRAILER_BYTES);
  uint64_t stated = get64(trailer + 40), found = XXH64(r->map, r->bytes - 8, 0);
  if (stated != found)
    return REFUSE(r, error, "damaged: the checksum is %016" PRIx64 ", recorded was %016" PRIx64, found, stated);
  return 0;
}

/* A text of the header; NULL when it isn't wholly inside. */
static const char *text_at(const struct reader *r, uint64_t offset)
{
  if (offset < HEADER_BYTES || offset >= r->first || !memchr(r->map + offset, 0, r->first - offset))
    return NULL;
  return (const char *)r->map + offset;
}

static int read_groups(struct reader *r, uint32_t groups, struct mill_error *error)
{
  uint64_t table = get64(r->map + 64);
  if (table < HEADER_BYTES || table > r->first || groups > (r->first - table) / GROUP_BYTES)
    return REFUSE(r, error, "damaged header: %" PRIu32 " groups at byte %" PRIu64 " do not fit into %" PRIu64 " bytes", groups,
                  table, r->first);
  r->group = r->host->allocate("groups of a spike file", (uint64_t)groups + 1, sizeof *r->group);
  if (!r->group)
    return out_of_memory(r->host, r->path, error);
  for (uint32_t i = 0; i < groups; i++) {
    const unsigned char *entry = r->map + table + (uint64_t)i * GROUP_BYTES;
    struct mill_group *g = &r->group[i];
    *g = (struct mill_group){text_at(r, get64(entry + 8)), get32(entry), get32(entry + 4)};
    if (!g->name)
      return REFUSE(r, error, "damaged header: the name of group %" PRIu32 " lies outside", i);
    if (g->first != r->rules.units)
      return REFUSE(r, error, "damaged header: group %" PRIu32 " begins at unit %" PRIu32 "; expected %" PRIu64, i, g->first,
                    r->rules.units);
    r->rules.units += g->size;
    if (r->rules.units > UINT32_MAX)
      return REFUSE(r, error, "damaged header: more than %" PRIu32 " units", UINT32_MAX);
  }
  return 0;
}

static int read_header(struct reader *r, struct mill_stream_info *info, struct mill_stream_end *end, struct mill_error *error)
{
  const unsigned char *h = r->map, *trailer = r->map + r->bytes - TRAILER_BYTES;
  if (get32(h + 24) != SPIKE_BYTES || get32(h + 28) != TRAILER_BYTES)
    return REFUSE(r, error, "damaged header: %" PRIu32 " bytes a spike, %" PRIu32 " a trailer; expected %d and %d", get32(h + 24),
                  get32(h + 28), SPIKE_BYTES, TRAILER_BYTES);
  r->first = get64(h + 16);
  if (r->first < HEADER_BYTES || r->first > r->bytes - TRAILER_BYTES)
    return REFUSE(r, error, "damaged header: it claims %" PRIu64 " bytes in a file of %zu", r->first, r->bytes);
  uint64_t room = r->bytes - TRAILER_BYTES - r->first;
  r->count = get64(trailer + 8);
  if (room % SPIKE_BYTES || room / SPIKE_BYTES != r->count)
    return REFUSE(r, error, "damaged: %" PRIu64 " spikes of %d bytes announced, %" PRIu64 " bytes found", r->count, SPIKE_BYTES,
                  room);
  *info = (struct mill_stream_info){.tick_ps = (int64_t)get64(h + 32),
                                    .start = (int64_t)get64(h + 40),
                                    .stop = (int64_t)get64(h + 48),
                                    .group_count = get32(h + 12),
                                    .seed = get64(h + 56),
                                    .version = text_at(r, get64(h + 72)),
                                    .config = text_at(r, get64(h + 80)),
                                    .sorted = 1};
  *end = (struct mill_stream_end){r->count, get64(trailer + 16), (int64_t)get64(trailer + 24), get32(trailer + 32), 0};
  if (info->tick_ps < 1)
    return REFUSE(r, error, "damaged header: a tick of %" PRId64 " ps; expected at least 1", info->tick_ps);
  if (info->start > info->stop)
    return REFUSE(r, error, "damaged header: start %" PRId64 " after stop %" PRId64, info->start, info->stop);
  if (!info->version || !info->config)
    return REFUSE(r, error, "damaged header: the %s lies outside", info->version ? "configuration" : "version");
  if (end->complete > 1 || get32(trailer + 36) || get64(h + 88))
    return REFUSE(r, error, "damaged: a field that must be 0%s is not", end->complete > 1 ? " or 1" : "");
  r->rules.start = info->start;
  r->rules.stop = info->stop;
  if (read_groups(r, info->group_count, error))
    return -1;
  info->group = r->group;
  return 0;
}

static int reader_open(const struct mill_host *host, const void *params, const char *path, struct mill_stream_info *info,
                       struct mill_stream_end *end, void **reader, struct mill_error *error)
{
  (void)params;
  struct reader *r = host->allocate("spike file reader", 1, sizeof *r);
  if (!r)
    return out_of_memory(host, path, error);
  r->host = host;
  r->path = strdup(path);
  if (!r->path) {
    out_of_memory(host, path, error);
  } else if (!map_file(r, error) && !check_whole(r, error) && !read_header(r, info, end, error)) {
    *reader = r;
    return 0;
  }
  reader_close(host, r);
  return -1;
}

static int reader_read(void *self, struct mill_event *buffer, size_t capacity, size_t *got, struct mill_error *error)
{
  struct reader *r = self;
  struct rules rules = r->rules;
  size_t n = r->count - rules.count < capacity ? (size_t)(r->count - rules.count) : capacity;
  const unsigned char *p = r->map + r->first + rules.count * SPIKE_BYTES;
  for (size_t i = 0; i < n; i++, p += SPIKE_BYTES, rules.count++) {
    struct mill_event e = {(int64_t)get64(p), get32(p + 8), 0};
    const char *fault = fault_of(&rules, &e);
    if (fault)
      return REFUSE(r, error, "spike %" PRIu64 " (from 0), tick %" PRId64 ", unit %" PRIu32 ": %s", rules.count, e.tick, e.unit,
                    fault);
    buffer[i] = e;
    rules.last = e.tick;
  }
  r->rules = rules;
  *got = n;
  return 0;
}

/* Writing */

struct writer {
  const struct mill_host *host;
  char *path;
  int fd;
  struct rules rules;
  XXH64_state_t checksum;
  size_t used;
  unsigned char buffer[BUFFER_BYTES];
};

static void writer_abandon(const struct mill_host *host, void *self)
{
  struct writer *w = self;
  if (!w)
    return;
  if (w->fd >= 0)
    close(w->fd);
  free(w->path);
  host->release(w);
}

static int cannot_write(struct writer *w, struct mill_error *error)
{
  return w->host->fail(error, MILL_RESOURCES, "cannot write %s: %s", w->path, strerror(errno));
}

static int put_bytes(struct writer *w, const unsigned char *bytes, size_t n, struct mill_error *error)
{
  while (n) {
    ssize_t done = write(w->fd, bytes, n);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return cannot_write(w, error);
    bytes += done;
    n -= (size_t)done;
  }
  return 0;
}

static int flush(struct writer *w, struct mill_error *error)
{
  size_t n = w->used;
  XXH64_update(&w->checksum, w->buffer, n);
  w->used = 0;
  return put_bytes(w, w->buffer, n, error);
}

static int append(struct writer *w, const void *bytes, size_t n, struct mill_error *error)
{
  for (const unsigned char *p = bytes; n;) {
    if (w->used == BUFFER_BYTES && flush(w, error))
      return -1;
    size_t part = n < BUFFER_BYTES - w->used ? n : BUFFER_BYTES - w->used;
    memcpy(w->buffer + w->used, p, part);
    w->used += part;
    p += part;
    n -= part;
  }
  return 0;
}

/* Groups, version, configuration, names: in this order behind the fixed part. */
static int write_header(struct writer *w, const struct mill_stream_info *info, struct mill_error *error)
{
  const char *version = info->version ? info->version : "", *config = info->config ? info->config : "";
  unsigned char h[HEADER_BYTES] = {0};
  uint64_t version_at = HEADER_BYTES + (uint64_t)GROUP_BYTES * info->group_count, config_at = version_at + strlen(version) + 1;
  uint64_t names_at = config_at + strlen(config) + 1, bytes = names_at;
  for (uint32_t i = 0; i < info->group_count; i++)
    bytes += strlen(info->group[i].name) + 1;
  uint64_t padding = -bytes % 16;
  memcpy(h, magic, sizeof magic);
  put32(h + 8, LAYOUT);
  put32(h + 12, info->group_count);
  put64(h + 16, bytes + padding);
  put32(h + 24, SPIKE_BYTES);
  put32(h + 28, TRAILER_BYTES);
  put64(h + 32, (uint64_t)info->tick_ps);
  put64(h + 40, (uint64_t)info->start);
  put64(h + 48, (uint64_t)info->stop);
  put64(h + 56, info->seed);
  put64(h + 64, HEADER_BYTES);
  put64(h + 72, version_at);
  put64(h + 80, config_at);
  if (append(w, h, sizeof h, error))
    return -1;
  for (uint32_t i = 0; i < info->group_count; i++) {
    unsigned char entry[GROUP_BYTES];
    put32(entry, info->group[i].first);
    put32(entry + 4, info->group[i].size);
    put64(entry + 8, names_at);
    names_at += strlen(info->group[i].name) + 1;
    if (append(w, entry, sizeof entry, error))
      return -1;
  }
  if (append(w, version, strlen(version) + 1, error) || append(w, config, strlen(config) + 1, error))
    return -1;
  for (uint32_t i = 0; i < info->group_count; i++)
    if (append(w, info->group[i].name, strlen(info->group[i].name) + 1, error))
      return -1;
  return append(w, (unsigned char[16]){0}, padding, error);
}

static int writer_create(const struct mill_host *host, const char *path, const struct mill_stream_info *info, void **writer,
                         struct mill_error *error)
{
  struct writer *w = host->allocate("spike file writer", 1, sizeof *w);
  if (!w)
    return out_of_memory(host, path, error);
  w->host = host;
  w->fd = -1;
  w->rules.start = info->start;
  w->rules.stop = info->stop;
  for (uint32_t i = 0; i < info->group_count; i++)
    w->rules.units += info->group[i].size;
  XXH64_reset(&w->checksum, 0);
  w->path = strdup(path);
  if (!w->path) {
    out_of_memory(host, path, error);
  } else if ((w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0) {
    cannot_write(w, error);
  } else if (!write_header(w, info, error)) {
    *writer = w;
    return 0;
  }
  writer_abandon(host, w);
  return -1;
}

static int writer_write(void *self, const struct mill_event *events, size_t n, struct mill_error *error)
{
  struct writer *w = self;
  struct rules rules = w->rules;
  for (size_t i = 0; i < n; i++, rules.count++) {
    struct mill_event e = events[i];
    const char *fault = fault_of(&rules, &e);
    if (fault) {
      REFUSE(w, error, "spike %" PRIu64 " (from 0), tick %" PRId64 ", unit %" PRIu32 ": %s", rules.count, e.tick, e.unit, fault);
      goto failed;
    }
    if (BUFFER_BYTES - w->used < SPIKE_BYTES && flush(w, error))
      goto failed;
    put64(w->buffer + w->used, (uint64_t)e.tick);
    put32(w->buffer + w->used + 8, e.unit);
    w->used += SPIKE_BYTES;
    rules.last = e.tick;
  }
  w->rules = rules;
  return 0;
failed:
  writer_abandon(w->host, w);
  return -1;
}

static int writer_finish(const struct mill_host *host, void *self, const struct mill_stream_end *end, struct mill_error *error)
{
  struct writer *w = self;
  unsigned char t[TRAILER_BYTES] = {0};
  int result = -1, fd = w->fd;
  if (end->events != w->rules.count) {
    REFUSE(w, error, "%" PRIu64 " spikes written, %" PRIu64 " announced", w->rules.count, end->events);
    goto done;
  }
  memcpy(t, end_magic, sizeof end_magic);
  put64(t + 8, end->events);
  put64(t + 16, end->spike_hash);
  put64(t + 24, (uint64_t)end->stop);
  put32(t + 32, end->complete != 0);
  if (flush(w, error))
    goto done;
  XXH64_update(&w->checksum, t, TRAILER_BYTES - 8);
  put64(t + 40, XXH64_digest(&w->checksum));
  if (put_bytes(w, t, sizeof t, error))
    goto done;
  w->fd = -1;
  if (close(fd)) {
    cannot_write(w, error);
    goto done;
  }
  result = 0;
done:
  writer_abandon(host, w);
  return result;
}

/* Descriptor */

static int probe(const unsigned char *head, size_t n)
{
  return n >= sizeof magic && !memcmp(head, magic, sizeof magic) ? 100 : 0;
}

static const struct mill_format_ops ops = {
    .extensions = ".smk",
    .probe = probe,
    .open = reader_open,
    .read = reader_read,
    .close = reader_close,
    .create = writer_create,
    .write = writer_write,
    .finish = writer_finish,
    .abandon = writer_abandon,
};

MILL_PLUGIN(MILL_FORMAT, MILL_CPU, "binary", "spikes mapped, sorted and checksummed, 12 bytes each (.smk)", 0, NULL, 0, ops);
