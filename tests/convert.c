/* Copies of spike files from format to format, what the formats are told, which file of a folder is meant, and what is said of a stream.
   The format "trial" is tests/plugins/format-trial.c. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <sys/stat.h>

#include "german.h"
#include "memory.h"
#include "spikes.h"
#include "stream-private.h"

static const struct mill_group two[] = {{"exc", 0, 800}, {"inh", 800, 200}};
static const struct mill_stream_info network = {.tick_ps = 100000000,
                                                .start = -5,
                                                .stop = 10000000,
                                                .group_count = 2,
                                                .group = two,
                                                .seed = 7,
                                                .version = "0.1",
                                                .config = "[simulation]\ndt = 0.1\n"};

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static int left, files_then; /* calls until `soon` says stop; files that there were then */

static int soon(void)
{
  files_then = spikes_files();
  return --left < 0;
}

static int copy(const char *from, const char *to, struct mill_convert_report *report, struct mill_error *error)
{
  error->text[0] = 0;
  return mill_stream_convert(in_folder(from), NULL, in_folder(to), NULL, NULL, report, error);
}

/* Copies are refused with the status and the text, and leave no file. */
static void refused(const char *what, const char *from, const char *to, int status, const char *says)
{
  struct mill_convert_report report;
  struct mill_error error;
  int before = spikes_files();
  ok(copy(from, to, &report, &error) && error.status == status && strstr(error.text, says), "refused: %s", what);
  diag("%s", error.text);
  ok(!strstr(error.text, ".part") && spikes_files() == before, "and no file is left");
}

/* Before anything else, since the peak of memory is the process's. */
static void test_memory(void)
{
  enum { N = 600000, PIECE = 10000 };
  static struct mill_event event[PIECE];
  struct mill_convert_report report;
  struct mill_error error;
  struct mill_writer *w;
  struct mill_stream_end end = {.events = N, .complete = 1};
  if (mill_writer_open(in_folder("big.smk"), NULL, &network, &w, &error))
    bail("%s", error.text);
  for (uint64_t i = 0; i < N; i += PIECE) {
    for (uint64_t k = 0; k < PIECE; k++)
      event[k] = (struct mill_event){(int64_t)((i + k) / 10), (uint32_t)((i + k) * 7 % 1000), 0};
    if (mill_writer_push(w, event, PIECE, &error))
      bail("%s", error.text);
  }
  if (mill_writer_close(w, &end, &error))
    bail("%s", error.text);
  uint64_t held = mill_memory_held(), most = mill_memory_peak();
  setenv("SPIKEMILL_MEMORY", "8M", 1);
  ok(!copy("big.smk", "big.csv", &report, &error) && report.events == N && report.units == 1000 && report.was_sorted,
     "a file larger than memory is copied %s", error.text);
  ok(!copy("big.smk", "copy.smk", &report, &error) && report.last == (N - 1) / 10 && report.tick_ps == network.tick_ps,
     "and into its own format %s", error.text);
  diag("%.1f MiB at most before, %.1f then", (double)most / 1048576, (double)mill_memory_peak() / 1048576);
  ok(mill_memory_peak() < 8 << 20 && mill_memory_held() == held, "8 MiB are enough for what takes more");
  struct mill_stream *s;
  ok(mill_stream_read(in_folder("copy.smk"), NULL, &s, &error) && error.status == MILL_RESOURCES, "though not to read it: %s",
     error.text);
  unsetenv("SPIKEMILL_MEMORY");
  ok(!mill_stream_read(in_folder("copy.smk"), NULL, &s, &error) && s->count == N && s->end.spike_hash, "the copy has a hash");
  struct mill_stream *t;
  ok(!mill_stream_read(in_folder("big.csv"), NULL, &t, &error) && t->count == N && t->end.spike_hash == s->end.spike_hash &&
         !memcmp(s->event, t->event, N * sizeof *s->event),
     "and both copies are the same");
  mill_stream_free(s);
  mill_stream_free(t);
  spikes_empty();
}

/* A text file whose lines are out of order and have ties, more than memory holds, or less. */
static void test_unsorted(void)
{
  enum { N = 250000, TICKS = 5000 };
  struct mill_convert_report report;
  struct mill_error error;
  struct mill_stream *s;
  FILE *f = fopen(in_folder("u.csv"), "w");
  uint32_t *next = calloc(TICKS, sizeof *next);
  fputs("time_ms,neuron\n", f);
  for (size_t i = 0; i < N; i++) {
    uint32_t tick = (uint32_t)(draw() % TICKS);
    /* Neurons count down within a tick, so that their order is the file's and nothing else. */
    fprintf(f, "%u,%u\n", tick, 100000 - next[tick]++);
  }
  fclose(f);
  ok(!copy("u.csv", "u.smk", &report, &error) && !report.was_sorted && report.events == N && report.first == 0 &&
         report.last * report.tick_ps == INT64_C(4999000000000),
     "an unsorted file is copied %s", error.text);
  if (mill_stream_read(in_folder("u.smk"), NULL, &s, &error))
    bail("%s", error.text);
  int stable = s->count == N && s->was_sorted;
  for (size_t i = 1; i < s->count; i++)
    stable &= s->event[i].tick > s->event[i - 1].tick ||
              (s->event[i].tick == s->event[i - 1].tick && s->event[i].unit == s->event[i - 1].unit - 1);
  ok(stable, "in order of time, those of one time as in the file");
  uint64_t hash = s->end.spike_hash;
  mill_stream_free(s);
  if (mill_stream_read(in_folder("u.csv"), &(struct mill_stream_options){.by_unit = 1}, &s, &error))
    bail("%s", error.text);
  int order = !s->was_sorted;
  for (size_t i = 1; i < s->count; i++)
    order &= s->event[i].tick > s->event[i - 1].tick ||
             (s->event[i].tick == s->event[i - 1].tick && s->event[i].unit > s->event[i - 1].unit);
  ok(order && s->end.spike_hash == hash, "or, when asked for, by unit: the same hash");
  mill_stream_free(s);
  if (mill_stream_read(in_folder("u.smk"), &(struct mill_stream_options){.by_unit = 1}, &s, &error))
    bail("%s", error.text);
  ok(s->was_sorted && s->event[0].unit < s->event[1].unit, "a file whose ties are sorted by unit counts as sorted");
  mill_stream_free(s);
  unlink(in_folder("u.smk"));
  setenv("SPIKEMILL_MEMORY", "5M", 1);
  refused("unsorted, and no memory to hold it", "u.csv", "u.smk", MILL_RESOURCES, "sort -s");
  setenv("SPIKEMILL_MEMORY", "7M", 1);
  refused("unsorted, and no memory to sort it", "u.csv", "u.smk", MILL_RESOURCES, "sorting");
  unsetenv("SPIKEMILL_MEMORY");
  const char *from = in_folder("u.csv"), *to = in_folder("u.smk");
  left = 1000;
  ok(!mill_stream_convert(from, NULL, to, NULL, soon, &report, &error), "it is copied when nothing interrupts");
  int asked = 1000 - left;
  unlink(to);
  left = 2;
  ok(mill_stream_convert(from, NULL, to, NULL, soon, &report, &error) && error.status == MILL_INTERRUPTED && files_then == 1,
     "interrupted while it is read: %s", error.text);
  left = asked - 1;
  ok(mill_stream_convert(from, NULL, to, NULL, soon, &report, &error) && error.status == MILL_INTERRUPTED && files_then == 2,
     "interrupted while it is written: %s", error.text);
  is_int(spikes_files(), 1, "and no file is left");
  free(next);
  spikes_empty();
}

/* Shuffles the events of each tick. */
static void shuffle_ties(struct mill_event *event, size_t n)
{
  for (size_t i = 0; i < n;) {
    size_t end = i + 1;
    while (end < n && event[end].tick == event[i].tick)
      end++;
    for (; i + 1 < end; i++) {
      size_t k = i + draw() % (end - i);
      struct mill_event swap = event[i];
      event[i] = event[k];
      event[k] = swap;
    }
    i = end;
  }
}

static void test_hash(void)
{
  enum { N = 100000 };
  static const char *const name[] = {"a few", "hundreds", "thousands", "all"};
  static const int64_t ties[] = {4, 300, 10000, N};
  struct mill_event *event = malloc(N * sizeof *event);
  struct mill_convert_report report;
  struct mill_tick_hash hash;
  struct mill_error error;
  struct mill_stream *s;
  for (size_t k = 0; k < 4; k++) {
    for (int64_t i = 0; i < N; i++)
      event[i] = (struct mill_event){i / ties[k] - 2, (uint32_t)(draw() % 1000), 0};
    uint64_t want = hash_of_events(&network, event, N);
    for (int round = 0; round < 2; round++) {
      shuffle_ties(event, N);
      int bad = mill_tick_hash_begin(&hash, "x", &network, &error);
      for (size_t at = 0; at < N;) {
        size_t part = round ? draw() % 3000 : N;
        part = part < N - at ? part : N - at;
        bad |= mill_tick_hash_add(&hash, event + at, part, &error);
        at += part;
      }
      ok(!bad && mill_tick_hash_end(&hash) == want, "the hash of %s at a time, in any order and pieces", name[k]);
      mill_tick_hash_free(&hash);
    }
    ok(!write_stream(in_folder("h.smk"), NULL, &network, event, N, 1, &error) && !copy("h.smk", "h.csv", &report, &error) &&
           !copy("h.csv", "h2.smk", &report, &error) && same_file(in_folder("h.smk"), in_folder("h2.smk")),
       "binary, csv, binary: the same bytes %s", error.text);
    ok(!mill_stream_read(in_folder("h2.smk"), NULL, &s, &error) && !memcmp(s->event, event, N * sizeof *event) &&
           s->end.spike_hash == want,
       "in the order of the file, with the hash of the sorted ones");
    mill_stream_free(s);
  }
  mill_tick_hash_begin(&hash, "x", &network, &error);
  setenv("SPIKEMILL_MEMORY", "100k", 1);
  ok(mill_tick_hash_add(&hash, event, N, &error) && error.status == MILL_RESOURCES, "too many of one tick: %s", error.text);
  unsetenv("SPIKEMILL_MEMORY");
  mill_tick_hash_free(&hash);
  struct mill_stream_end end = {.events = N, .spike_hash = 1, .complete = 1};
  struct mill_writer *w;
  if (mill_writer_open(in_folder("wrong.smk"), NULL, &network, &w, &error) || mill_writer_push(w, event, N, &error) ||
      mill_writer_close(w, &end, &error))
    bail("%s", error.text);
  refused("a wrong hash", "wrong.smk", "x.smk", MILL_DATA, "recorded was 0000000000000001");
  free(event);
  spikes_empty();
}

/* What a file says of itself is said by its copies. */
static void test_header(void)
{
  static const struct mill_event some[] = {{-4, 900, 0}, {-4, 17, 0}, {10, 3, 0}, {10000000, 999, 0}};
  struct mill_convert_report report;
  struct mill_error error;
  struct mill_stream *s;
  for (int complete = 0; complete < 2; complete++) {
    if (write_stream(in_folder("a.smk"), NULL, &network, some, 4, complete, &error))
      bail("%s", error.text);
    ok(!copy("a.smk", "a.csv", &report, &error) && !copy("a.csv", "a.tsv", &report, &error) &&
           !copy("a.tsv", "b.smk", &report, &error) && same_file(in_folder("a.smk"), in_folder("b.smk")),
       "binary, csv, tsv and back: every byte %s", error.text);
    ok(report.events == 4 && report.units == 4 && report.first == -4 && report.last == 10000000 && report.tick_ps == 100000000,
       "and what is reported");
    ok(!mill_stream_read(in_folder("a.tsv"), NULL, &s, &error) && s->info.start == -5 && s->info.stop == 10000000 &&
           s->info.seed == 7 && !strcmp(s->info.version, "0.1") && !strcmp(s->info.config, network.config) &&
           s->end.complete == (uint32_t)complete && s->end.stop == network.stop && s->info.sorted,
       "bounds, seed, version, configuration, whether it is complete");
    mill_stream_free(s);
  }
  ok(!mill_stream_convert(in_folder("a.csv"), &(struct mill_stream_options){.format = "csv"}, in_folder("a.dat"), "binary", NULL,
                          &report, &error) &&
         same_file(in_folder("a.smk"), in_folder("a.dat")),
     "formats can be named");
  if (write_stream(in_folder("none.smk"), NULL, &network, NULL, 0, 1, &error))
    bail("%s", error.text);
  ok(!copy("none.smk", "none.csv", &report, &error) && !report.events && !report.units && report.was_sorted &&
         !copy("none.csv", "none2.smk", &report, &error) && same_file(in_folder("none.smk"), in_folder("none2.smk")),
     "a file without events");
  spikes_empty();
}

static void test_refusals(void)
{
  static const char sound[] = "trial 1 3\n2 2\n2 0\n2 1\n4 0\n", liar[] = "trial 1 3\n2 2\n8 0\n6 1\n", many[] = "trial 1 3\n2 3\n",
                    odd[] = "trial 0 3\n2 2\n3 0\n",
                    unlucky[] = "trial 1 1\n0 0\n0 0\n0 0\n0 0\n0 0\n0 0\n0 0\n0 0\n0 0\n0 0\n0 0\n0 0\n0 0\n",
                    named[] = "time_ms,population,neuron\n2,a,0\n";
  struct mill_convert_report report;
  struct mill_error error;
  struct mill_stream *s;
  put_file(in_folder("sound.trial"), sound, sizeof sound - 1);
  put_file(in_folder("liar.trial"), liar, sizeof liar - 1);
  put_file(in_folder("many.trial"), many, sizeof many - 1);
  put_file(in_folder("odd.trial"), odd, sizeof odd - 1);
  put_file(in_folder("unlucky.trial"), unlucky, sizeof unlucky - 1);
  put_file(in_folder("named.csv"), named, sizeof named - 1);
  ok(!copy("sound.trial", "x.trial", &report, &error) && same_file(in_folder("sound.trial"), in_folder("x.trial")),
     "ties stay as they are %s", error.text);
  refused("a reader that is wrong about the order", "liar.trial", "x.smk", MILL_DATA, "has changed while it was read");
  ok(mill_stream_read(in_folder("liar.trial"), NULL, &s, &error) && error.status == MILL_DATA && strstr(error.text, "changed"),
     "so when it is read whole");
  refused("a unit that does not exist", "many.trial", "x.smk", MILL_DATA, "of unit 3, and there are 3");
  refused("names that the format cannot hold", "named.csv", "y.trial", MILL_DATA, "y.trial: the type \"a\" is no number");
  refused("a time that the format cannot hold", "odd.trial", "y.trial", MILL_DATA, "y.trial: tick 3 lies off the grid");
  refused("an error at the very end", "unlucky.trial", "y.trial", MILL_DATA, "y.trial: 13 events");
  refused("an extension of no format", "sound.trial", "y.doc", MILL_USAGE, "trial (.trial)");
  refused("no such file", "nothing.smk", "y.smk", MILL_DATA, "nothing.smk");
  refused("a folder that is not there", "sound.trial", "a/b/c.smk", MILL_RESOURCES, "a/b");
  mkdir(in_folder("dir.smk"), 0777);
  refused("a folder of that name", "sound.trial", "dir.smk", MILL_USAGE, "is a folder");
  rmdir(in_folder("dir.smk"));
  ok(mill_stream_convert(in_folder("sound.trial"), &(struct mill_stream_options){.format = "trail"}, in_folder("y.smk"), NULL, NULL,
                         &report, &error) &&
         strstr(error.text, "trial"),
     "an unknown format, to read: %s", error.text);
  ok(mill_stream_convert(in_folder("sound.trial"), NULL, in_folder("y.smk"), "bin", NULL, &report, &error) &&
         error.status == MILL_USAGE,
     "and to write: %s", error.text);
  left = 1;
  ok(mill_stream_convert(in_folder("sound.trial"), NULL, in_folder("y.smk"), NULL, soon, &report, &error) &&
         error.status == MILL_INTERRUPTED && access(in_folder("y.smk"), F_OK),
     "interrupted: %s", error.text);

  put_file(in_folder("old.smk"), "old", 3);
  refused("a failure", "liar.trial", "old.smk", MILL_DATA, "changed");
  unsigned char *old = get_file(in_folder("old.smk"), NULL);
  is_str((char *)old, "old", "leaves the file that there was");
  free(old);
  ok(!copy("sound.trial", "old.smk", &report, &error) && !mill_stream_read(in_folder("old.smk"), NULL, &s, &error) && s->count == 4,
     "success replaces it");
  mill_stream_free(s);

  if (symlink("sound.trial", in_folder("soft.trial")) || link(in_folder("sound.trial"), in_folder("hard.trial")))
    bail("no links can be made");
  refused("the same file", "sound.trial", "sound.trial", MILL_USAGE, "the same file");
  refused("the same file by another path", "sound.trial", "./sound.trial", MILL_USAGE, "the same file");
  refused("a link to it", "sound.trial", "soft.trial", MILL_USAGE, "the same file");
  refused("a link to it as the source", "soft.trial", "sound.trial", MILL_USAGE, "the same file");
  refused("a hard link to it", "sound.trial", "hard.trial", MILL_USAGE, "the same file");
  unsigned char *kept = get_file(in_folder("sound.trial"), NULL);
  is_str((char *)kept, sound, "which is as it was");
  free(kept);
  spikes_empty();
}

static void test_params(void)
{
  static const struct mill_stream_options both = {.columns = "type,time_ms", .tick = "0.1 ms"}, columns = {.columns = "a"},
                                          tick = {.tick = "1 us"};
  struct mill_error error;
  struct mill_stream *s;
  put_file(in_folder("p.trial"), "trial 1 1\n0 0\n", 14);
  ok(!mill_stream_read(in_folder("p.trial"), NULL, &s, &error), "a format with parameters is read");
  is_str(s->info.config, "columns none, tick 1 ms, factor 3\n", "they have their defaults");
  mill_stream_free(s);
  ok(!mill_stream_read(in_folder("p.trial"), &both, &s, &error), "or what is said");
  is_str(s->info.config, "columns type,time_ms, tick 0.1 ms, factor 3\n", "which reaches the plugin");
  mill_stream_free(s);
  if (write_stream(in_folder("p.smk"), NULL, &network, NULL, 0, 1, &error))
    bail("%s", error.text);
  ok(mill_stream_read(in_folder("p.smk"), &columns, &s, &error) && error.status == MILL_USAGE &&
         strstr(error.text, "p.smk: the binary format names its own columns"),
     "refused: %s", error.text);
  ok(mill_stream_read(in_folder("p.smk"), &tick, &s, &error) && error.status == MILL_USAGE &&
         strstr(error.text, "the binary format states its own tick"),
     "refused: %s", error.text);
  spikes_empty();
}

static void found(const char *folder, const char *want, const char *what)
{
  struct mill_error error = {0};
  char *file;
  int failed = mill_stream_find(in_folder(folder), &file, &error);
  ok(!failed && !strcmp(file, in_folder(want)), "%s: %s", what, failed ? error.text : file);
  free(file);
}

static void not_found(const char *says, const char *says_too, const char *what)
{
  struct mill_error error = {0};
  char *file;
  ok(mill_stream_find(in_folder("run"), &file, &error) && !file && error.status == MILL_DATA && strstr(error.text, says) &&
         strstr(error.text, says_too),
     "%s: %s", what, error.text);
  free(file);
}

static void test_find(void)
{
  static const char states[] = "# spikemill 0.1\n# seed 1\n# config [a]\ntime_ms,population,neuron,variable,value\n1,exc,0,v,-60\n"
                               "# spike_hash 0123456789abcdef\n# complete yes\n",
                    weights[] = "# spikemill 0.1\nprojection,source_population,source,target_population,target,weight,delay_ms\n"
                                "# spike_hash 0123456789abcdef\n# complete yes\n";
  struct mill_error error;
  char *file;
  mkdir(in_folder("run"), 0777);
  not_found("no spike file", "binary (.smk)", "an empty folder");
  put_file(in_folder("run/notes.txt"), "hello\n", 6);
  put_file(in_folder("run/.spikes.smk.1-1.part"), "", 0);
  put_file(in_folder("run/empty.csv"), "", 0);
  mkdir(in_folder("run/folder.smk"), 0777);
  not_found("no spike file", "binary (.smk)", "a folder of other files");
  put_file(in_folder("run/state.csv"), states, sizeof states - 1);
  put_file(in_folder("run/weights.csv"), weights, sizeof weights - 1);
  not_found("no spike file", "state.csv", "a run that wrote no spikes");
  if (write_stream(in_folder("run/spikes.smk"), NULL, &network, NULL, 0, 1, &error))
    bail("%s", error.text);
  found("run", "run/spikes.smk", "the folder of a run");
  ok(!mill_stream_find(in_folder("run/"), &file, &error) && !strcmp(file, in_folder("run/spikes.smk")), "with a slash too");
  free(file);
  if (write_stream(in_folder("run/.hidden.smk"), NULL, &network, NULL, 0, 1, &error))
    bail("%s", error.text);
  found("run", "run/spikes.smk", "a hidden file does not count");
  rename(in_folder("run/spikes.smk"), in_folder("run/spikes"));
  not_found("no spike file", "", "nor one without an extension");
  rename(in_folder("run/spikes"), in_folder("run/else.SMK"));
  found("run", "run/else.SMK", "any name");
  if (write_stream(in_folder("run/more.csv"), NULL, &network, NULL, 0, 1, &error))
    bail("%s", error.text);
  not_found("2 spike files", "more.csv", "two files");
  not_found("else.SMK", "name one", "both of which are told");
  unlink(in_folder("run/else.SMK"));
  found("run", "run/more.csv", "a text file beside those of states and weights");
  unlink(in_folder("run/state.csv"));
  unlink(in_folder("run/weights.csv"));
  found("run", "run/more.csv", "and alone");
  found("run/more.csv", "run/more.csv", "a file is itself");
  found("none/at.all", "none/at.all", "so is one that is not there");
  static const char *const all[] = {"notes.txt", ".spikes.smk.1-1.part", "empty.csv", ".hidden.smk", "more.csv"};
  rmdir(in_folder("run/folder.smk"));
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char path[64];
    snprintf(path, sizeof path, "run/%s", all[i]);
    unlink(in_folder(path));
  }
  is_int(rmdir(in_folder("run")), 0, "nothing else is there");
}

static void test_text(void)
{
  static const struct mill_group types[] = {{"-1", 0, 1}, {"7", 1, 1}, {"größe", 2, 1}}, one[] = {{"neurons", 0, 30}},
                                 alone[] = {{"A", 0, 1}},
                                 mixed[] = {{"none", 0, 0}, {"a", 0, 3}, {"b", 3, 0}, {"c", 3, 1}, {"d", 4, 2}};
  struct mill_stream_info info = network;
  char buffer[256];
#define UNIT(u, want) is_str(mill_stream_unit(&info, u, buffer, sizeof buffer), want, "unit %d is %s", u, want)
  UNIT(0, "exc:0");
  UNIT(799, "exc:799");
  UNIT(800, "inh:0");
  UNIT(999, "inh:199");
  is_int((intmax_t)mill_stream_units(&info), 1000, "units over all groups");
  is_str(mill_stream_unit(&info, 123, buffer, 8), "exc:123", "a name that just fits");
  is_str(mill_stream_unit(&info, 123, buffer, 7), "exc…", "one that does not");
  info.group = types;
  info.group_count = 3;
  UNIT(0, "-1");
  UNIT(1, "7");
  UNIT(2, "größe");
  is_str(mill_stream_unit(&info, 2, buffer, 7), "gr…", "it is cut between characters");
  info.group = one;
  info.group_count = 1;
  UNIT(29, "29");
  info.group = alone;
  UNIT(0, "A");
  info.group = mixed;
  info.group_count = 5;
  UNIT(0, "a:0");
  UNIT(2, "a:2");
  UNIT(3, "c");
  UNIT(5, "d:1");
  info.group_count = 0;
  is_int((intmax_t)mill_stream_units(&info), 0, "no units");
#undef UNIT
  static const struct {
    int64_t tick_ps;
    uint64_t events, units;
    int64_t first, last;
    const char *want;
  } sentence[] = {
      {1000000000, 18522, 26, 0, 20000, "18522 events of 26 units, 0 … 20.000 s (span 20.0 s), 35.6 Hz a unit, tick 1 ms"},
      {1000000, 18522, 26, 2, 20000, "18522 events of 26 units, 0.002 … 20.000 ms (span 20.0 ms), 35623 Hz a unit, tick 1 µs"},
      {INT64_C(1000000000000), 18522, 26, 0, 20000,
       "18522 events of 26 units, 0 … 20000.000 s (span 20000.0 s), 0.0356 Hz a unit, tick 1 s"},
      {40000000, 2, 2, -25000, 25000, "2 events of 2 units, -1.000 … 1.000 s (span 2.0 s), 0.5 Hz a unit, tick 40 µs"},
      {100000000, 1, 1, 5, 5, "1 event of 1 unit, at 500.000 µs, tick 100 µs"},
      {1500000000, 3, 2, -2, -2, "3 events of 2 units, all at -3.000 ms, tick 1.5 ms"},
      {1, 2, 1, 0, 7, "2 events of 1 unit, 0 … 7 ps (span 7.0 ps), 285714285714 Hz a unit, tick 1 ps"},
      {1, 3, 1, 0, 0, "3 events of 1 unit, all at 0 ps, tick 1 ps"},
      {1000000000, 0, 0, 0, 0, "no events, tick 1 ms"},
      {INT64_C(1000000000000), 2, 1, INT64_MIN, INT64_MAX,
       "2 events of 1 unit, -9223372036854775808.000 … 9223372036854775808.000 s (span 18446744073709551616.0 s), 1.08e-19 Hz a "
       "unit, "
       "tick 1 s"},
  };
  for (size_t i = 0; i < sizeof sentence / sizeof *sentence; i++) {
    info = (struct mill_stream_info){.tick_ps = sentence[i].tick_ps};
    is_str(mill_stream_describe(&info, sentence[i].events, sentence[i].units, sentence[i].first, sentence[i].last, buffer,
                                sizeof buffer),
           sentence[i].want, "%s", sentence[i].want);
  }
}

int main(void)
{
  const char *path = getenv("SPIKEMILL_PLUGIN_PATH"), *build = getenv("top_builddir");
  char folders[9000];
  plan_later();
  snprintf(folders, sizeof folders, "%s:%s/tests/plugins/.libs", path ? path : "plugins/.libs", build ? build : ".");
  setenv("SPIKEMILL_PLUGIN_PATH", folders, 1);
  spikes_begin();
  test_memory();
  test_unsorted();
  test_hash();
  test_header();
  test_refusals();
  test_params();
  test_find();
  test_text();
  if (german_set()) {
    test_header();
    test_refusals();
    test_text();
    german_end();
  } else {
    skip(1, "no German locale can be had");
  }
  is_int((intmax_t)mill_memory_held(), 0, "all memory is given back");
  spikes_end();
  return done_testing();
}
