/* The spike formats: round trips, conversions, and every way in which a file can be bad. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <xxhash.h>

#include "german.h"
#include "memory.h"
#include "spikes.h"

#define TICK_100US 100000000 /* ps */

static int same_stream(const struct mill_stream *s, const struct mill_stream_info *info, const struct mill_event *event, size_t n,
                       int complete)
{
  int same = s->count == n && (!n || !memcmp(s->event, event, n * sizeof *event)) && s->was_sorted;
  same &= s->info.tick_ps == info->tick_ps && s->info.start == info->start && s->info.stop == info->stop;
  same &= s->info.seed == info->seed && !strcmp(s->info.version, info->version) && !strcmp(s->info.config, info->config);
  same &= s->info.group_count == info->group_count && s->end.stop == info->stop && s->end.complete == (uint32_t)complete;
  for (uint32_t i = 0; same && i < info->group_count; i++) {
    const struct mill_group *a = &s->info.group[i], *b = &info->group[i];
    same &= a->first == b->first && a->size == b->size && !strcmp(a->name, b->name);
  }
  return same;
}

/* Through each format, and from each into the other and back, byte by byte. */
static void round_trip(const char *what, const struct mill_stream_info *info, const struct mill_event *event, size_t n,
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
  ok(!convert(in_folder("a.csv"), in_folder("b.smk"), &error) && same_file(in_folder("a.smk"), in_folder("b.smk")) &&
         !convert(in_folder("b.smk"), in_folder("b.csv"), &error) && same_file(in_folder("a.csv"), in_folder("b.csv")) &&
         !convert(in_folder("b.csv"), in_folder("b.tsv"), &error) && same_file(in_folder("a.tsv"), in_folder("b.tsv")),
     "%s: csv, binary, csv, tsv give the same bytes", what);
  spikes_empty();
}

static void test_round_trips(void)
{
  static const struct mill_group few[] = {{"exc", 0, 3}, {"none", 3, 0}, {"inh", 3, 2}, {"last", 5, 0}};
  static const struct mill_group names[] = {
      {"größe, \"groß\" 神経", 0, 1}, {"# a; b", 1, 1}, {" blank ", 2, 1}, {"\"", 3, 1}, {"1", 4, 1}};
  struct mill_stream_info info = {.tick_ps = TICK_100US,
                                  .stop = 10,
                                  .group_count = 4,
                                  .group = few,
                                  .seed = UINT64_MAX,
                                  .version = "1.2.3-rc1",
                                  .config = "[simulation]\ndt = 0.1\n\n# größe\nx = \"a\"\n"};
  static const struct mill_event some[] = {{1, 0, 0}, {1, 3, 0}, {1, 4, 0}, {3, 0, 0}, {3, 0, 0}, {10, 2, 0}};
  round_trip("nothing", &info, NULL, 0, 1);
  round_trip("one", &info, some, 1, 1);
  round_trip("some, an empty population", &info, some, 6, 1);
  round_trip("interrupted", &info, some, 6, 0);
  struct mill_stream_info bare = {.tick_ps = 1, .group_count = 1, .group = few, .version = "", .config = ""};
  static const struct mill_event ends[] = {{INT64_MIN, 1, 0}, {-1, 0, 0}, {0, 0, 0}, {INT64_MAX, 2, 0}};
  round_trip("the ends of time, no version, no configuration", &bare, ends, 4, 1);
  bare.tick_ps = INT64_MAX;
  round_trip("and with the longest tick", &bare, ends, 4, 1);
  info.stop = INT64_C(1) << 41;
  static const struct mill_event late[] = {{1, 0, 0}, {INT64_C(1) << 40, 1, 0}, {(INT64_C(1) << 40) + 1, 1, 0}};
  round_trip("2^40 ticks of 0.1 ms", &info, late, 3, 1);
  info.group = names;
  info.group_count = 5;
  static const struct mill_event five[] = {{1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {1, 3, 0}, {1, 4, 0}};
  round_trip("names with UTF-8, commas, quotes, blanks", &info, five, 5, 1);
  struct mill_group *many = calloc(5000, sizeof *many);
  char(*name)[16] = calloc(5000, sizeof *name);
  struct mill_event *event = calloc(5000, sizeof *event);
  for (uint32_t i = 0; i < 5000; i++) {
    snprintf(name[i], sizeof name[i], "p%u", (i * 1237 + 11) % 5000);
    many[i] = (struct mill_group){name[i], 3 * i, 3};
    event[i] = (struct mill_event){1 + i / 1000, 3 * i + i % 3, 0};
  }
  info.group = many;
  info.group_count = 5000;
  round_trip("5000 populations", &info, event, 5000, 1);
  free(many);
  free(name);
  free(event);
}

static void test_text(void)
{
  static const struct mill_group two[] = {{"exc", 0, 20}, {"inh b", 20, 5}};
  static const struct mill_event event[] = {{1, 17, 0}, {10, 3, 0}, {12345, 24, 0}};
  struct mill_stream_info info = {.tick_ps = TICK_100US,
                                  .stop = 20000,
                                  .group_count = 2,
                                  .group = two,
                                  .seed = 42,
                                  .version = "0.1",
                                  .config = "[a]\r\nb = 1\r\n\r\nc = 2"};
  struct mill_error error;
  char want[800];
  if (write_stream(in_folder("t.csv"), NULL, &info, event, 3, 0, &error))
    bail("%s", error.text);
  snprintf(want, sizeof want,
           "# spikemill 0.1\n# seed 42\n# tick_ps 100000000\n# start_ms 0\n# stop_ms 2000\n# population exc 20\n"
           "# population \"inh b\" 5\n# config [a]\n# config b = 1\n# config\n# config c = 2\ntime_ms,population,neuron\n"
           "0.1,exc,17\n1,exc,3\n1234.5,\"inh b\",4\n# spikes 3\n# spike_hash %016llx\n# stopped_ms 2000\n# complete no\n",
           (unsigned long long)hash_of_events(&info, event, 3));
  char *got = (char *)get_file(in_folder("t.csv"), NULL);
  is_str(got, want, "the text of a csv file");
  free(got);
  info.config = "[a]\nb = 1\n\nc = 2\n";
  struct mill_stream *s;
  ok(!mill_stream_read(in_folder("t.csv"), NULL, &s, &error) && same_stream(s, &info, event, 3, 0), "and what is read of it");
  mill_stream_free(s);
  spikes_empty();
}

/* Text files that are fine. */
static const struct good {
  const char *what, *text;
  int count, groups, units;
  int64_t first, last; /* ticks */
} good_cases[] = {
    {"two columns", "time_ms,neuron\n0.5,3\n1,0\n", 2, 1, 4, 500000000, 1000000000},
    {"seconds, semicolons", "time_s;neuron\n0.000001;3\n4e-05;0\n", 2, 1, 4, 1000000, 40000000},
    {"tabs, another order", "neuron\tpopulation\ttime_ms\n4\tb c\t1.5\n1\ta\t2\n", 2, 2, 7, 1500000000, 2000000000},
    {"CR LF", "time_ms,neuron\r\n1,3\r\n2,0\r\n", 2, 1, 4, 1000000000, 2000000000},
    {"CR alone", "time_ms,neuron\r1,3\r2,0\r", 2, 1, 4, 1000000000, 2000000000},
    {"no final newline", "time_ms,neuron\n1,3\n2,0", 2, 1, 4, 1000000000, 2000000000},
    {"CR at the very end", "time_ms,neuron\r\n1,3\r\n2,0\r", 2, 1, 4, 1000000000, 2000000000},
    {"byte-order mark", "\xef\xbb\xbftime_ms,neuron\n1,3\n", 1, 1, 4, 1000000000, 1000000000},
    {"comments, blank lines", "# mine\n\n  \ntime_ms,neuron\n\n1,3\n# so\n\n2,0\n", 2, 1, 4, 1000000000, 2000000000},
    {"quotes and blanks", "\"time_ms\", population, neuron\n \"1\" , \"a \"\"b\"\", c\" ,3\n", 1, 1, 4, 1000000000, 1000000000},
    {"negative, signs, exponents", "time_ms,neuron\n-.5,0\n-0,0\n+1.50,0\n2.E1,0\n30000000000000000e-15,0\n", 5, 1, 1, -500000000,
     30000000000},
    {"one picosecond", "time_ms,neuron\n0.000000001,0\n0.00000000200000000000,0\n", 2, 1, 1, 1, 2},
    {"largest time", "time_ms,neuron\n0,0\n9223372036.854775807,0\n", 2, 1, 1, 0, INT64_MAX},
    {"largest neuron", "time_ms,neuron\n0,4294967294\n", 1, 1, -1, 0, 0},
    {"no spikes", "time_ms,neuron\n", 0, 1, 0, 0, 0},
    {"no spikes, no populations", "time_ms,population,neuron\n", 0, 0, 0, 0, 0},
    {"ours without what may lack", "# spikemill\n# population a 4\ntime_ms,neuron\n1,3\n# spikes 1\n# complete yes\n", 1, 1, 4,
     1000000000, 1000000000},
    {"ours with a tick",
     "# spikemill x\n# tick_ps 500\n# population a 4\ntime_s,population,neuron\n1e-9,a,3\n# spikes 1\n# complete no\n", 1, 1, 4, 2,
     2},
};

/* Text files that are bad: what the message must say. */
#define OURS "# spikemill 1\n# tick_ps 1000000\n# population exc 10\n# population inh 2\n"
#define HEAD OURS "time_ms,population,neuron\n"
static const struct bad {
  const char *what, *text, *says;
} bad_cases[] = {
    {"empty", "", "without a header"},
    {"no header", "1,2\n", "x.csv:1: the header names a column \"1\""},
    {"unknown column", "time_ms,channel\n", "\"channel\""},
    {"no time", "population,neuron\n", "lacks a column"},
    {"two times", "time_ms,time_s,neuron\n", "twice"},
    {"four columns", "time_ms,neuron,population,neuron\n", "twice"},
    {"one column", "time_ms\n1\n", "lacks a column"},
    {"nan", "time_ms,neuron\n1,0\nnan,0\n", "x.csv:3: time_ms is \"nan\"; expected a decimal"},
    {"infinite", "time_ms,neuron\ninf,0\n", "\"inf\""},
    {"hexadecimal", "time_ms,neuron\n0x10,0\n", "\"0x10\""},
    {"decimal comma", "time_ms;neuron\n0,5;0\n", "\"0,5\""},
    {"no digits", "time_ms,neuron\n.,0\n", "\".\""},
    {"no exponent", "time_ms,neuron\n1e,0\n", "\"1e\""},
    {"huge exponent", "time_ms,neuron\n1e99999999999,0\n", "too large"},
    {"two points", "time_ms,neuron\n1.2.3,0\n", "\"1.2.3\""},
    {"empty time", "time_ms,neuron\n,0\n", "\"\""},
    {"half a picosecond", "time_ms,neuron\n0.0000000005,0\n", "picoseconds"},
    {"float noise", "time_s,neuron\n0.30000000000000004,0\n", "picoseconds"},
    {"too late", "time_ms,neuron\n9223372036.854775808,0\n", "too large"},
    {"much too late", "time_ms,neuron\n1e80,0\n", "too large"},
    {"too many digits", "time_ms,neuron\n1234567890123456789012345678901234567890123,0\n", "too large"},
    {"no whole tick", HEAD "0.0015,exc,0\n", "x.csv:6: time_ms is \"0.0015\", which is no whole number of ticks of 1000000 ps"},
    {"negative neuron", "time_ms,neuron\n1,-1\n", "the neuron is \"-1\""},
    {"fractional neuron", "time_ms,neuron\n1,1.0\n", "\"1.0\""},
    {"huge neuron", "time_ms,neuron\n1,4294967295\n", "4294967294"},
    {"neuron beyond 64 bits", "time_ms,neuron\n1,18446744073709551616\n", "whole number"},
    {"too few columns", "time_ms,neuron\n1\n", "x.csv:2: 1 columns; expected 2"},
    {"too many columns", "time_ms,neuron\n1,2,3\n", "3 columns; expected 2"},
    {"empty population", "time_ms,population,neuron\n1,,0\n", "empty"},
    {"open quotes", "time_ms,population,neuron\n1,\"a,0\n", "quotes"},
    {"text after quotes", "time_ms,population,neuron\n1,\"a\"b,0\n", "quotes"},
    {"bell", "time_ms,population,neuron\n1,a\ab,0\n", "byte 4 of the line is 0x07"},
    {"Latin-1", "time_ms,population,neuron\n1,gr\xf6\xdf,0\n", "0xf6"},
    {"cut UTF-8", "time_ms,population,neuron\n1,0,\xe7\xa5\n", "0xe7"},
    {"surrogate", "time_ms,population,neuron\n1,0,\xed\xa0\x80\n", "0xed"},
    {"long form", "time_ms,population,neuron\n1,0,\xc0\xaf\n", "0xc0"},
    {"too many neurons", "time_ms,population,neuron\n1,a,4294967294\n1,b,0\n1,c,1\n", "4294967295 neurons"},
    {"cut short", HEAD "1,exc,0\n", "cut short"},
    {"end without complete", HEAD "1,exc,0\n# spikes 1\n", "cut short"},
    {"count too low", HEAD "1,exc,0\n2,exc,0\n# spikes 1\n# complete yes\n", "says 1, and there are 2"},
    {"count too high", HEAD "1,exc,0\n# spikes 2\n# complete yes\n", "says 2, and there are 1"},
    {"wrong hash", HEAD "1,exc,0\n# spikes 1\n# spike_hash 0123456789abcdef\n# complete yes\n", "recorded was 0123456789abcdef"},
    {"hash too short", HEAD "# spikes 0\n# spike_hash 123\n", "16 hexadecimal"},
    {"hash in capitals", HEAD "# spikes 0\n# spike_hash 0123456789ABCDEF\n", "16 hexadecimal"},
    {"spike after the end", HEAD "# spikes 0\n1,exc,0\n# complete yes\n", "x.csv:7: a spike after"},
    {"complete maybe", HEAD "# spikes 0\n# complete maybe\n", "\"maybe\""},
    {"unknown population", HEAD "1,ecx,0\n", "\"ecx\" is unknown; expected one of exc, inh"},
    {"neuron out of range", HEAD "1,inh,2\n", "the neuron 2 does not exist; \"inh\" has 2"},
    {"unknown comment", OURS "# sead 1\n", "x.csv:5: the comment \"sead 1\" is unknown; expected seed"},
    {"comment of nothing", OURS "#\n", "unknown"},
    {"end at the start", OURS "# spikes 1\n", "before the spikes"},
    {"seed at the end", HEAD "# seed 1\n", "after the spikes"},
    {"two seeds", OURS "# seed 1\n# seed 2\n", "second \"# seed\""},
    {"bad seed", OURS "# seed -1\n", "\"-1\""},
    {"tick of 0", "# spikemill 1\n# tick_ps 0\n", "at least 1"},
    {"tick too long", "# spikemill 1\n# tick_ps 9223372036854775808\n", "tick_ps"},
    {"tick after a time", "# spikemill 1\n# start_ms 1\n# tick_ps 5\n", "before the times"},
    {"start after stop", OURS "# start_ms 2\n# stop_ms 1\ntime_ms,population,neuron\n# spikes 0\n# complete yes\n", "after stop"},
    {"at start", OURS "# start_ms 2\n# stop_ms 4\ntime_ms,population,neuron\n2,exc,0\n", "outside"},
    {"after stop", OURS "# start_ms 2\n# stop_ms 4\ntime_ms,population,neuron\n4.001,exc,0\n", "outside"},
    {"population twice", OURS "# population exc 1\n", "second population \"exc\""},
    {"population without size", OURS "# population x\n", "name and a size"},
    {"population of two words", OURS "# population x y 3\n", "name and a size"},
    {"population too large", OURS "# population x 4294967296\n", "4294967295"},
    {"populations too large", OURS "# population x 4294967290\ntime_ms,population,neuron\n# spikes 0\n# complete yes\n",
     "neurons in all"},
    {"no population column", OURS "time_ms,neuron\n", "2 populations"},
};

static void test_cases(void)
{
  struct mill_error error;
  struct mill_stream *s;
  for (size_t i = 0; i < sizeof good_cases / sizeof *good_cases; i++) {
    const struct good *c = &good_cases[i];
    put_file(in_folder("x.csv"), c->text, strlen(c->text));
    if (!ok(!mill_stream_read(in_folder("x.csv"), NULL, &s, &error), "read: %s", c->what)) {
      diag("%s", error.text);
      continue;
    }
    uint32_t units = 0;
    for (uint32_t g = 0; g < s->info.group_count; g++)
      units += s->info.group[g].size;
    ok(s->count == (uint64_t)c->count && s->info.group_count == (uint32_t)c->groups && units == (uint32_t)c->units &&
           (!c->count || (s->event[0].tick == c->first && s->event[s->count - 1].tick == c->last)),
       "and right");
    mill_stream_free(s);
  }
  for (size_t i = 0; i < sizeof bad_cases / sizeof *bad_cases; i++) {
    const struct bad *c = &bad_cases[i];
    put_file(in_folder("x.csv"), c->text, strlen(c->text));
    error = (struct mill_error){0, "nothing"};
    int failed = mill_stream_read(in_folder("x.csv"), NULL, &s, &error);
    ok(failed && error.status == MILL_DATA && strstr(error.text, c->says) && strstr(error.text, "x.csv:"), "refused: %s", c->what);
    diag("%s", error.text);
    mill_stream_free(s);
  }
  char line[4200];
  memset(line, '0', sizeof line);
  for (int n = 4096; n < 4099; n++) {
    memcpy(line, "time_ms,neuron\n", 15);
    memcpy(line + 15 + n - 2, ",1\n", 3);
    put_file(in_folder("x.csv"), line, (size_t)(15 + n + 1));
    int failed = mill_stream_read(in_folder("x.csv"), NULL, &s, &error);
    ok(n > 4096 ? failed && strstr(error.text, "x.csv:2: the line has more than 4096") : !failed, "a line of %d bytes", n);
    mill_stream_free(s);
    put_file(in_folder("x.csv"), line, (size_t)(15 + n));
    failed = mill_stream_read(in_folder("x.csv"), NULL, &s, &error);
    ok(n > 4096 ? failed && strstr(error.text, "more than 4096") : !failed, "the last, without an end");
    mill_stream_free(s);
    line[15 + n] = '0';
  }
  put_file(in_folder("x.csv"), "time_ms,neuron\n1,\0001\n", 20);
  ok(mill_stream_read(in_folder("x.csv"), NULL, &s, &error) && strstr(error.text, "0x00"), "a NUL byte: %s", error.text);
  spikes_empty();
}

static void put_at(unsigned char *p, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++)
    p[i] = (unsigned char)(value >> 8 * i);
}

/* Fields of a binary file set to bad values under a checksum that is right. `at` < 0 counts from the end. */
static const struct field {
  const char *what;
  int at, bytes;
  uint64_t value;
  const char *says;
} fields[] = {
    {"magic", 0, 1, 'x', "not a binary spike file"},
    {"layout", 8, 4, 2, "version 2; this plugin reads version 1"},
    {"groups", 12, 4, UINT32_MAX, "4294967295 groups"},
    {"header beyond the end", 16, 8, 100000, "claims 100000 bytes"},
    {"header of 2^64 - 1", 16, 8, UINT64_MAX, "claims"},
    {"header too small", 16, 8, 95, "claims 95"},
    {"spike size", 24, 4, 16, "16 bytes a spike"},
    {"trailer size", 28, 4, 40, "40 a trailer"},
    {"tick 0", 32, 8, 0, "tick of 0"},
    {"tick negative", 32, 8, UINT64_MAX, "tick of -1"},
    {"start after stop", 40, 8, 101, "start 101 after stop 100"},
    {"group table before the header's end", 64, 8, 8, "do not fit"},
    {"group table outside", 64, 8, UINT64_MAX - 15, "do not fit"},
    {"version outside", 72, 8, UINT64_MAX, "version lies outside"},
    {"configuration outside", 80, 8, 3, "configuration lies outside"},
    {"reserved", 88, 8, 1, "must be 0"},
    {"first unit", 96, 4, 1, "begins at unit 1; expected 0"},
    {"size", 100, 4, UINT32_MAX, "begins at unit 3; expected 4294967295"},
    {"second size", 116, 4, UINT32_MAX, "more than 4294967295 units"},
    {"name outside", 104, 8, 1000000, "name of group 0"},
    {"trailer's mark", -48, 1, 'x', "cut short"},
    {"count one more", -40, 8, 5, "5 spikes of 12 bytes announced, 48 bytes found"},
    {"count that overflows", -40, 8, UINT64_C(0x5555555555555559), "announced"},
    {"hash", -32, 8, 1, "recorded was 0000000000000001"},
    {"complete", -16, 4, 2, "0 or 1"},
    {"reserved at the end", -12, 4, 1, "must be 0"},
    {"unit", -48 - 40, 4, 5, "spike 0 (from 0), tick 1, unit 5: the unit does not exist"},
    {"another unit", -48 - 28, 4, 0, "the hash of the spikes"},
    {"order of ticks", -48 - 24, 8, 0, "outside (start, stop]"},
    {"order of ticks, inside", -48 - 12, 8, 1, "spike 3 (from 0), tick 1, unit 0: it is out of order"},
    {"after stop", -48 - 12, 8, 101, "outside (start, stop]"},
};

static void test_binary_damage(void)
{
  static const struct mill_group two[] = {{"exc", 0, 3}, {"inh", 3, 2}};
  static const struct mill_event event[] = {{1, 2, 0}, {1, 4, 0}, {50, 1, 0}, {100, 0, 0}};
  struct mill_stream_info info = {
      .tick_ps = TICK_100US, .stop = 100, .group_count = 2, .group = two, .seed = 1, .version = "v", .config = "[a]\n"};
  struct mill_error error;
  struct mill_stream *s;
  size_t n;
  if (write_stream(in_folder("x.smk"), NULL, &info, event, 4, 1, &error))
    bail("%s", error.text);
  unsigned char *whole = get_file(in_folder("x.smk"), &n), *bytes = malloc(n + 1);
  is_int((intmax_t)n, 96 + 2 * 16 + 2 + 5 + 8 + 1 + 4 * 12 + 48, "the size of a binary file");
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const struct field *f = &fields[i];
    memcpy(bytes, whole, n);
    put_at(f->at < 0 ? bytes + n + f->at : bytes + f->at, f->value, f->bytes);
    put_at(bytes + n - 8, XXH64(bytes, n - 8, 0), 8);
    put_file(in_folder("x.smk"), bytes, n);
    error = (struct mill_error){0, "nothing"};
    int failed = mill_stream_read(in_folder("x.smk"), &(struct mill_stream_options){.format = "binary"}, &s, &error);
    ok(failed && error.status == MILL_DATA && strstr(error.text, f->says) && strstr(error.text, "x.smk: "), "refused: %s", f->what);
    diag("%s", error.text);
    mill_stream_free(s);
  }
  int accepted = 0;
  for (size_t i = 0; i < n; i++)
    for (int bit = 0; bit < 8; bit += 7) {
      memcpy(bytes, whole, n);
      bytes[i] ^= (unsigned char)(1u << bit);
      put_file(in_folder("x.smk"), bytes, n);
      accepted += !mill_stream_read(in_folder("x.smk"), &(struct mill_stream_options){.format = "binary"}, &s, &error) || error.status != MILL_DATA;
      mill_stream_free(s);
    }
  is_int(accepted, 0, "no file with one wrong bit is accepted");
  accepted = 0;
  for (size_t cut = 0; cut < n; cut++) {
    put_file(in_folder("x.smk"), whole, cut);
    accepted += !mill_stream_read(in_folder("x.smk"), &(struct mill_stream_options){.format = "binary"}, &s, &error) || error.status != MILL_DATA;
    mill_stream_free(s);
  }
  memcpy(bytes, whole, n);
  bytes[n] = 0;
  put_file(in_folder("x.smk"), bytes, n + 1);
  accepted += !mill_stream_read(in_folder("x.smk"), &(struct mill_stream_options){.format = "binary"}, &s, &error);
  is_int(accepted, 0, "nor one cut short anywhere, nor one too long");
  diag("%s", error.text);
  put_file(in_folder("x.smk"), whole, n);
  ok(!mill_stream_read(in_folder("x.smk"), NULL, &s, &error) && same_stream(s, &info, event, 4, 1), "the whole one is");
  mill_stream_free(s);
  free(whole);
  free(bytes);
  spikes_empty();
}

static void test_unwritable(void)
{
  static char long_name[2000];
  static const struct mill_event one[] = {{1, 0, 0}};
  struct mill_group g[] = {{"a", 0, 1}, {"b", 1, 1}};
  struct mill_stream_info info = {.tick_ps = 1, .group_count = 2, .group = g, .version = "", .config = ""};
  struct mill_error error;
  g[1].name = "a";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "two populations"), "%s", error.text);
  g[1].name = "a\nb";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "control"), "%s", error.text);
  g[1].name = "gr\xf6";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "UTF-8"), "%s", error.text);
  memset(long_name, '"', sizeof long_name - 1);
  g[1].name = long_name;
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "bytes"), "%s", error.text);
  long_name[1940] = 0;
  round_trip("the longest name", &info, one, 1, 1);
  g[1].name = "b";
  info.config = "a\x01z\n";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "control"), "%s", error.text);
  char config[5000];
  memset(config, 'x', sizeof config);
  config[4999] = 0;
  info.config = config;
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "does not fit"), "%s", error.text);
  strcpy(config + 4096 - 9, "\n");
  round_trip("the longest line of a configuration", &info, one, 1, 1);
  is_int(spikes_files(), 0, "nothing is left");
}

int main(void)
{
  plan_later();
  spikes_begin();
  test_round_trips();
  test_text();
  test_cases();
  test_binary_damage();
  test_unwritable();
  if (german_set()) {
    test_text();
    test_cases();
    test_round_trips();
    german_end();
  } else {
    skip(1, "no German locale can be had");
  }
  is_int((intmax_t)mill_memory_held(), 0, "all memory is given back");
  spikes_end();
  return done_testing();
}
