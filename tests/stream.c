/* Streams: the hash, finding a format, reading whole files with sorting, the background writer. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#include "memory.h"
#include "spikes.h"
#include "stream-private.h"

static const struct mill_group two[] = {{"exc", 0, 800}, {"inh", 800, 200}};
static const struct mill_stream_info network = {
    .tick_ps = 100000000, .group_count = 2, .group = two, .seed = 7, .version = "0.1", .config = "[simulation]\ndt = 0.1\n"};

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static void test_hash(void)
{
  unsigned char record[1000 * 16];
  struct mill_spike_hash *hash = mill_spike_hash_create();
  ok(mill_spike_hash_value(hash) == UINT64_C(0xef46db3751d8e999), "the hash of nothing is XXH64's");
  int same = 1;
  for (size_t i = 0; i < 1000; i++) {
    uint64_t field[2] = {draw(), draw()};
    for (size_t b = 0; b < 8; b++) {
      record[16 * i + b] = (unsigned char)(field[0] >> 8 * b);
      record[16 * i + 8 + b] = (unsigned char)(field[1] >> 8 * b);
    }
    mill_spike_hash_add(hash, (int64_t)field[0], (uint32_t)field[1], (uint32_t)(field[1] >> 32));
    if (i % 37 == 0 || i > 990)
      same &= mill_spike_hash_value(hash) == XXH64(record, 16 * (i + 1), 0);
  }
  ok(same, "it is XXH64 over little-endian records, asked at any time");
  mill_spike_hash_free(hash);
  mill_spike_hash_free(NULL);
}

static const char *found(const char *name, int writing, struct mill_error *error)
{
  const struct mill_plugin *plugin;
  return mill_format_find(in_folder(name), NULL, NULL, writing, &plugin, error) ? NULL : plugin->name;
}

static void test_find(void)
{
  struct mill_error error;
  const struct mill_plugin *plugin;
  is_str(found("a.smk", 1, &error), "binary", ".smk is written as binary");
  is_str(found("a.CSV", 1, &error), "csv", "the case of an extension does not matter");
  is_str(found("a.b.tsv", 1, &error), "csv", ".tsv is csv");
  ok(!found("a.h5", 1, &error) && error.status == MILL_USAGE && strstr(error.text, "binary (.smk), csv (.csv .tsv .txt"),
     "an unknown extension lists the formats: %s", error.text);
  ok(!found("smk", 1, &error), "a name that lacks the dot has no extension");
  ok(!mill_format_find("a.h5", "csv", NULL, 1, &plugin, &error) && !strcmp(plugin->name, "csv"), "a format can be named");
  ok(mill_format_find("a.h5", "binari", NULL, 1, &plugin, &error) && strstr(error.text, "binary"), "with a hint: %s", error.text);
  ok(!found("none.csv", 0, &error) && error.status == MILL_DATA && strstr(error.text, "none.csv"), "no file: %s", error.text);
  mkdir(in_folder("folder.csv"), 0777);
  ok(!found("folder.csv", 0, &error) && error.status == MILL_DATA && strstr(error.text, "regular"), "a folder: %s", error.text);
  rmdir(in_folder("folder.csv"));
  put_file(in_folder("a.dat"), "time_ms,neuron\n1,2\n", 19);
  is_str(found("a.dat", 0, &error), "csv", "an unknown extension is settled by content");
  put_file(in_folder("b.dat"), "# mine\n\ntime_s;neuron\n", 22);
  is_str(found("b.dat", 0, &error), "csv", "so with a comment, a blank line and a semicolon");
  put_file(in_folder("c.dat"), "what is this\n", 13);
  ok(!found("c.dat", 0, &error) && error.status == MILL_DATA && strstr(error.text, "binary (.smk)"), "neither: %s", error.text);
  put_file(in_folder("c.csv"), "what is this\n", 13);
  is_str(found("c.csv", 0, &error), "csv", "a bad file goes to the format of its extension");
  ok(!write_stream(in_folder("d.smk"), NULL, &network, NULL, 0, 1, &error), "an empty stream is written");
  rename(in_folder("d.smk"), in_folder("d.csv"));
  is_str(found("d.csv", 0, &error), "binary", "content corrects a wrong extension");
  spikes_empty();
}

/* In order of tick or (tick, unit), then of where they were, which `reserved` holds. */
static int by_tick(const void *a, const void *b)
{
  const struct mill_event *x = a, *y = b;
  if (x->tick != y->tick)
    return x->tick < y->tick ? -1 : 1;
  return (x->reserved > y->reserved) - (x->reserved < y->reserved);
}

static int by_unit(const void *a, const void *b)
{
  const struct mill_event *x = a, *y = b;
  if (x->tick != y->tick || x->unit == y->unit)
    return by_tick(a, b);
  return x->unit < y->unit ? -1 : 1;
}

static void test_sort(void)
{
  enum { N = 20000 };
  struct mill_event *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b), *c = calloc(N, sizeof *c);
  struct mill_error error;
  for (int kind = 0; kind < 4; kind++) {
    static const char *const name[] = {"any ticks and units", "few, with equal ones", "negative and positive small ticks",
                                       "ticks that differ in their sign"};
    for (size_t i = 0; i < N; i++) {
      const int64_t tick[] = {(int64_t)draw(), (int64_t)(draw() % 50), (int64_t)(draw() % 2000) - 1000, draw() % 2 ? INT64_MIN : 0};
      a[i].tick = tick[kind];
      a[i].unit = kind == 0 ? (uint32_t)draw() : (uint32_t)(draw() % 7);
      a[i].reserved = (uint32_t)i;
    }
    for (int units = 0; units < 2; units++) {
      memcpy(b, a, N * sizeof *a);
      memcpy(c, a, N * sizeof *a);
      qsort(b, N, sizeof *b, units ? by_unit : by_tick);
      ok(!mill_events_sort("x", c, N, units, &error) && !memcmp(b, c, N * sizeof *b), "sorted by %s, stably: %s",
         units ? "tick and unit" : "tick", name[kind]);
    }
  }
  ok(!mill_events_sort("x", a, 0, 0, &error), "none at all");
  free(a);
  free(b);
  free(c);
}

static void test_read(void)
{
  static const char text[] = "time_ms,population,neuron\n2.5,a,3\n1.5,b,1\n1.5,a,2\n-1,b,0\n";
  struct mill_stream *s;
  struct mill_error error;
  put_file(in_folder("u.csv"), text, sizeof text - 1);
  if (!ok(!mill_stream_read(in_folder("u.csv"), NULL, &s, &error), "an unsorted file is read"))
    bail("%s", error.text);
  ok(!s->was_sorted, "and said to have been so");
  const int64_t half = 500000000 / s->info.tick_ps;
  ok(s->count == 4 && s->event[0].tick == -2 * half && s->event[1].unit == 5 && s->event[1].tick == 3 * half &&
         s->event[2].unit == 2 && s->event[2].tick == 3 * half && s->event[3].tick == 5 * half,
     "in order of time, those of one time as in the file");
  ok(s->info.group_count == 2 && !strcmp(s->info.group[0].name, "a") && s->info.group[0].size == 4 && s->info.group[1].first == 4 &&
         s->info.group[1].size == 2 && half * s->info.tick_ps == 500000000,
     "groups as large as needed, a tick that divides the times");
  ok(s->end.events == 4 && s->end.complete && s->end.spike_hash == hash_of_events(&s->info, s->event, 4), "its end is filled in");
  mill_stream_free(s);
  put_file(in_folder("s.csv"), "time_ms,neuron\n1,0\n1,0\n2,4\n", 27);
  ok(!mill_stream_read(in_folder("s.csv"), &(struct mill_stream_options){.format = "csv"}, &s, &error) && s->was_sorted &&
         s->count == 3,
     "equal spikes count as sorted");
  mill_stream_free(s);
  mill_stream_free(NULL);
  spikes_empty();
}

static void test_memory(void)
{
  enum { N = 200000 };
  struct mill_event *event = calloc(N, sizeof *event);
  struct mill_error error;
  struct mill_stream *s;
  for (size_t i = 0; i < N; i++)
    event[i].tick = (int64_t)i;
  ok(!write_stream(in_folder("m.smk"), NULL, &network, event, N, 1, &error), "200,000 spikes are written");
  uint64_t held = mill_memory_held();
  setenv("SPIKEMILL_MEMORY", "3M", 1);
  ok(mill_stream_read(in_folder("m.smk"), NULL, &s, &error) && error.status == MILL_RESOURCES && !s,
     "and not read with less memory than they need: %s", error.text);
  setenv("SPIKEMILL_MEMORY", "5M", 1);
  ok(!mill_stream_read(in_folder("m.smk"), NULL, &s, &error) && s->count == N, "but with enough");
  mill_stream_free(s);
  unsetenv("SPIKEMILL_MEMORY");
  ok(mill_memory_held() == held, "nothing is kept");
  free(event);
  spikes_empty();
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_writer(const char *name, size_t n)
{
  struct mill_event *event = malloc(n * sizeof *event);
  struct mill_error error;
  struct mill_writer *w;
  struct mill_stream *s;
  for (size_t i = 0; i < n; i++)
    event[i] = (struct mill_event){(int64_t)(i / 100), (uint32_t)(i % 100 * 10), 0};
  struct mill_stream_end end = {n, hash_of_events(&network, event, n), 12, 0, 0};
  double begin = seconds();
  if (mill_writer_open(in_folder(name), NULL, &network, &w, &error))
    bail("%s", error.text);
  ok(access(in_folder(name), F_OK) != 0, "%s is not there before it is whole", name);
  int bad = 0;
  for (size_t at = 0; at < n;) {
    size_t part = draw() % 5000 < 4990 ? draw() % 2000 : draw() % 300000;
    part = part < n - at ? part : n - at;
    bad |= mill_writer_push(w, event + at, part, &error);
    at += part;
  }
  ok(!bad && !mill_writer_close(w, &end, &error), "%zu spikes are written in pieces of any size", n);
  diag("%.1f million spikes a second", 1e-6 * (double)n / (seconds() - begin));
  if (!ok(!mill_stream_read(in_folder(name), NULL, &s, &error), "and read"))
    bail("%s", error.text);
  ok(s->count == n && !memcmp(s->event, event, n * sizeof *event), "all of them, the same");
  ok(s->was_sorted && !s->end.complete && s->end.stop == 12 && s->end.spike_hash == end.spike_hash, "and the end");
  ok(s->info.seed == 7 && s->info.tick_ps == 100000000 && !strcmp(s->info.version, "0.1") &&
         !strcmp(s->info.config, network.config) && !strcmp(s->info.group[1].name, "inh"),
     "and the header");
  mill_stream_free(s);
  is_int(spikes_files(), 1, "no other file is left");
  free(event);
  spikes_empty();
}

static void test_failures(const char *name)
{
  enum { N = 1000000 };
  struct mill_event *event = calloc(N, sizeof *event);
  struct mill_error error;
  struct mill_writer *w;
  struct mill_stream_end end = {.events = N};
  for (size_t i = 0; i < N; i++)
    event[i] = (struct mill_event){(int64_t)i, 3, 0};
  put_file(in_folder(name), "old", 3);
  mill_writer_open(in_folder(name), NULL, &network, &w, &error);
  mill_writer_push(w, event, N, &error);
  mill_writer_abandon(w);
  ok(spikes_files() == 1, "%s: an abandoned file leaves nothing, and the old one", name);

  struct rlimit limit, small;
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = 1 << 20;
  setrlimit(RLIMIT_FSIZE, &small);
  mill_writer_open(in_folder(name), NULL, &network, &w, &error);
  int bad = 0;
  for (size_t i = 0; i < 20 && !bad; i++)
    bad = mill_writer_push(w, event, N, &error);
  ok(bad && error.status == MILL_RESOURCES && strstr(error.text, name), "a full disk fails a push: %s", error.text);
  ok(mill_writer_push(w, event, 1, &error) && mill_writer_push(w, event, N, &error), "and every later one");
  error.status = 0;
  ok(mill_writer_close(w, &end, &error) && error.status == MILL_RESOURCES, "and closing: %s", error.text);
  ok(spikes_files() == 1, "the old file stays");
  small.rlim_cur = 20;
  setrlimit(RLIMIT_FSIZE, &small);
  error.status = 0;
  int opened = mill_writer_open(in_folder(name), NULL, &network, &w, &error);
  end.events = 0;
  int failed = opened || mill_writer_close(w, &end, &error);
  setrlimit(RLIMIT_FSIZE, &limit); /* standard output may be a file, too */
  ok(failed && error.status == MILL_RESOURCES, "a disk full from the start: %s", error.text);

  const struct wrong {
    struct mill_event last;
    const char *says;
  } wrong[] = {{{4, 2, 0}, "order"}, {{4, 3, 0}, "order"}, {{6, 1000, 0}, "unit"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct mill_event pair[] = {{5, 3, 0}, wrong[i].last};
    mill_writer_open(in_folder(name), NULL, &network, &w, &error);
    mill_writer_push(w, pair, 2, &error);
    end.events = 2;
    ok(mill_writer_close(w, &end, &error) && strstr(error.text, wrong[i].says), "refused: %s", error.text);
  }
  mill_writer_open(in_folder(name), NULL, &network, &w, &error);
  end.events = 5;
  ok(mill_writer_close(w, &end, &error) && strstr(error.text, "5 announced"), "a wrong count: %s", error.text);
  is_int(spikes_files(), 1, "no part file is left");

  struct mill_group gap[] = {{"a", 0, 2}, {"b", 3, 1}};
  struct mill_stream_info info = network;
  info.group = gap;
  ok(mill_writer_open(in_folder(name), NULL, &info, &w, &error) && !w && strstr(error.text, "\"b\""), "groups with a gap: %s",
     error.text);
  info = network;
  info.tick_ps = 0;
  ok(mill_writer_open(in_folder(name), NULL, &info, &w, &error) && !w, "no tick: %s", error.text);
  info = network;
  info.start = 5;
  ok(mill_writer_open(in_folder(name), NULL, &info, &w, &error) && !w, "start after stop: %s", error.text);
  ok(mill_writer_open("/proc/none/x.smk", NULL, &network, &w, &error) && error.status == MILL_RESOURCES, "no folder: %s",
     error.text);
  mill_writer_abandon(NULL);
  free(event);
  spikes_empty();
}

int main(void)
{
  plan_later();
  signal(SIGXFSZ, SIG_IGN);
  spikes_begin();
  test_hash();
  test_find();
  test_sort();
  test_read();
  test_memory();
  test_writer("w.smk", 3000000);
  test_writer("w.csv", 1000000);
  test_failures("f.smk");
  test_failures("f.csv");
  is_int((intmax_t)mill_memory_held(), 0, "all memory is given back");
  spikes_end();
  return done_testing();
}
