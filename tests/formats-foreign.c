/* Recordings as other programs write them, through the csv format: random ones against what went into them, very many types, files
   that are larger than what reading them takes, and the way from one column per unit to one event a line. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <sys/resource.h>
#include <time.h>

#include "formats.h"
#include "german.h"
#include "memory.h"

/* Random recordings written as other programs write them: any delimiter, line end, unit, order of columns, decimals, with a header or
   without one. */
static const char *const foreign_name[] = {"7", "70", "08", "A", "b c", "d,e", "\"q\"", "é", "-1", "x;y"};
static const uint32_t foreign_rank[] = {0, 1, 4, 5, 6, 7, 2, 9, 3, 8};

struct foreign {
  char text[20000], columns[100];
  const char *tick;
  struct mill_event event[60]; /* unit: an index of foreign_name */
  size_t count;
  int64_t tick_ps;
};

static void put_text(struct foreign *f, const char *text)
{
  strcat(f->text, text);
}

static void put_name(struct foreign *f, const char *name, int always)
{
  char quoted[32], *out = quoted;
  if (!always && !strpbrk(name, " ,;\"")) {
    put_text(f, name);
    return;
  }
  *out++ = '"';
  for (; *name; *out++ = *name++)
    if (*name == '"')
      *out++ = '"';
  strcpy(out, "\"");
  put_text(f, quoted);
}

static void fill(struct foreign *f)
{
  static const char *const unit[] = {"s", "ms", "us", "ns", "ps"}, *const end[] = {"\n", "\r\n", "\r"};
  static const char *const between[] = {",", ";", "\t", " ", ", ", "   "};
  const char *gap = between[draw(6)], *eol = end[draw(3)];
  int u = (int)draw(5), scale = 12 - 3 * u, decimals = (int)draw((uint32_t)(scale < 6 ? scale : 6) + 1), exponents = draw(4) == 0;
  int order = (int)draw(3), header = (int)draw(3); /* 0: no header, and columns is given; 1: a header; 2: both */
  int64_t now = 0, power = 1;
  char number[64], name[32];
  memset(f, 0, sizeof *f);
  for (int i = 0; i < decimals; i++)
    power *= 10;
  f->tick_ps = 1;
  for (int i = decimals; i < scale; i++)
    f->tick_ps *= 10;
  f->count = draw(60) + (header != 1);
  snprintf(name, sizeof name, "time_%s", unit[u]);
  if (header != 1)
    snprintf(f->columns, sizeof f->columns, "%s,%s%s", order ? "type" : name, order == 2 ? "-," : "", order ? name : "type");
  put_text(f, draw(4) ? "" : "\xef\xbb\xbf");
  put_text(f, draw(3) ? "" : "# a comment, with: \"some; signs");
  put_text(f, *f->text && f->text[strlen(f->text) - 1] == 's' ? eol : "");
  if (header) {
    put_text(f, order ? (header == 2 && draw(2) ? "cluster" : "channel") : name);
    put_text(f, gap);
    put_text(f, order == 2 && header == 2 ? "amplitude" : "");
    put_text(f, order == 2 && header == 2 ? gap : "");
    put_text(f, order ? name : "unit");
    put_text(f, eol);
  }
  order = header == 1 && order == 2 ? 1 : order;
  for (size_t i = 0; i < f->count; i++) {
    now += draw(3) ? draw(50) : draw(1000000);
    now = draw(10) ? now : -now;
    f->event[i] = (struct mill_event){now, draw(10), 0};
    uint64_t size = (uint64_t)(now < 0 ? -now : now);
    if (exponents && decimals)
      snprintf(number, sizeof number, "%s%llue-%d", now < 0 ? "-" : draw(2) ? "+" : "", (unsigned long long)size, decimals);
    else
      snprintf(number, sizeof number, decimals ? "%s%llu.%0*llu" : "%s%llu", now < 0 ? "-" : "", (unsigned long long)size / power,
               decimals, (unsigned long long)size % power);
    put_text(f, draw(20) ? "" : eol);
    if (order)
      put_name(f, foreign_name[f->event[i].unit], draw(4) == 0);
    else
      put_text(f, number);
    put_text(f, gap);
    put_text(f, order == 2 ? "17.5" : "");
    put_text(f, order == 2 ? gap : "");
    if (order)
      put_text(f, number);
    else
      put_name(f, foreign_name[f->event[i].unit], draw(4) == 0);
    put_text(f, i + 1 < f->count || draw(2) ? eol : "");
  }
  if (!f->count)
    for (int i = 0; i < decimals; i++)
      f->tick_ps *= 10;
}

/* Whether what was read is what was written: types that appear, in natural order. */
static int same_foreign(const struct raw *raw, const struct foreign *f)
{
  uint32_t unit[10], used = 0, ranks = 0;
  int sorted = 1;
  for (size_t i = 0; i < f->count; i++) {
    used |= 1u << f->event[i].unit;
    sorted &= !i || f->event[i].tick >= f->event[i - 1].tick;
  }
  for (uint32_t rank = 0; rank < 10; rank++)
    for (uint32_t n = 0; n < 10; n++)
      if (foreign_rank[n] == rank && used & 1u << n) {
        if (ranks >= raw->info.group_count || strcmp(raw->info.group[ranks].name, foreign_name[n]))
          return 0;
        unit[n] = ranks++;
      }
  if (raw->count != f->count || raw->info.group_count != ranks || raw->info.tick_ps != f->tick_ps ||
      raw->info.sorted != (uint32_t)sorted)
    return 0;
  for (size_t i = 0; i < f->count; i++)
    if (raw->event[i].tick != f->event[i].tick || raw->event[i].unit != unit[f->event[i].unit])
      return 0;
  return 1;
}

static void test_foreign(int rounds)
{
  struct foreign *f = malloc(sizeof *f);
  struct mill_error error;
  struct raw raw;
  int wrong = 0;
  for (int round = 0; round < rounds && !wrong; round++) {
    error.text[0] = 0;
    fill(f);
    put_file(in_folder("f.txt"), f->text, strlen(f->text));
    wrong = raw_read("csv", in_folder("f.txt"), *f->columns ? f->columns : NULL, NULL, &raw, &error) || !same_foreign(&raw, f);
    if (wrong)
      diag("round %d, --columns %s: %s, %zu of %zu events, tick %jd of %jd\n%s", round, f->columns, error.text, raw.count, f->count,
           (intmax_t)raw.info.tick_ps, (intmax_t)f->tick_ps, f->text);
    raw_free(&raw);
  }
  ok(!wrong, "%d recordings as others write them: each event, type and tick, and the order", rounds);
  free(f);
  spikes_empty();
}

static double processor_seconds(void)
{
  return (double)clock() / CLOCKS_PER_SEC;
}

/* n different types: the time must not grow with the square of it. */
static void test_many_types(uint32_t n)
{
  struct mill_error error;
  struct raw raw;
  FILE *f = fopen(in_folder("m.csv"), "w");
  if (!f)
    bail("cannot write");
  fputs("type,time_ms\n", f);
  for (uint32_t i = 0; i < n; i++)
    fprintf(f, i % 2 ? "u%u,%u\n" : "%u,%u\n", (uint32_t)((uint64_t)i * 7919 % n), i / 3);
  fclose(f);
  double begin = processor_seconds();
  int failed = raw_read("csv", in_folder("m.csv"), NULL, NULL, &raw, &error);
  double reading = processor_seconds() - begin;
  ok(!failed && raw.count == n && raw.info.group_count == n, "%u types", n);
  int ordered = 1;
  for (uint32_t i = 1; i < n && ordered; i++) {
    const char *a = raw.info.group[i - 1].name, *b = raw.info.group[i].name;
    ordered = *a == 'u' ? *b == 'u' && strcmp(a, b) < 0 : *b == 'u' || strtoul(a, NULL, 10) < strtoul(b, NULL, 10);
  }
  ok(ordered, "in natural order");
  int right = 1;
  for (uint32_t i = 0; i < n && right; i++) {
    char name[16];
    snprintf(name, sizeof name, i % 2 ? "u%u" : "%u", (uint32_t)((uint64_t)i * 7919 % n));
    right = !strcmp(raw.info.group[raw.event[i].unit].name, name);
  }
  ok(right, "each event of its type");
  begin = processor_seconds();
  ok(!raw_write("csv", in_folder("m2.csv"), &raw.info, raw.event, raw.count, 0, 1, &error), "they are written");
  double writing = processor_seconds() - begin;
  raw_free(&raw);
  begin = processor_seconds();
  ok(!raw_read("csv", in_folder("m2.csv"), NULL, NULL, &raw, &error) && raw.info.group_count == n, "and read");
  double again = processor_seconds() - begin;
  raw_free(&raw);
  diag("%u types: read in %.2f s, written in %.2f s, read again in %.2f s", n, reading, writing, again);
  ok(reading < 1e-4 * n && writing < 1e-4 * n && again < 1e-4 * n, "less than 0.1 ms a type");
  spikes_empty();
}

/* A file much larger than what reading it takes. */
static void test_memory(size_t n)
{
  static const char *const name[] = {"l.csv", "l.spk"}, *const format[] = {"csv", "spk"};
  static struct mill_event buffer[4096];
  for (int i = 0; i < 2; i++) {
    FILE *f = fopen(in_folder(name[i]), "w");
    if (!f)
      bail("cannot write");
    fputs(i ? "" : "time_s,type\n", f);
    for (size_t k = 0; k < n; k++)
      fprintf(f, i ? "%zu.%05zu %zu\n" : "%zu.%05zu,%zu\n", k / 25000, k % 25000 * 4, k % 60);
    fclose(f);
    const struct mill_format_ops *ops = format_ops(format[i]);
    const char *const values[2] = {NULL, NULL};
    struct mill_stream_info info;
    struct mill_stream_end end;
    struct mill_error error;
    struct rusage before, after;
    void *reader;
    size_t got, count = 0;
    getrusage(RUSAGE_SELF, &before);
    if (ops->open(&mill_host, values, in_folder(name[i]), &info, &end, &reader, &error))
      bail("%s", error.text);
    int64_t sum = 0;
    while (!ops->read(reader, buffer, 4096, &got, &error) && got) {
      for (size_t k = 0; k < got; k++)
        sum += buffer[k].tick;
      count += got;
    }
    getrusage(RUSAGE_SELF, &after);
    is_int((intmax_t)count, (intmax_t)n, "%s: %zu events, piece by piece", format[i], n);
    ok(info.sorted && info.group_count == 60 &&
           sum == (int64_t)(n * (n - 1) / 2) * (i                          ? 1
                                                : info.tick_ps == 10000000 ? 4
                                                                           : 0),
       "known to be sorted, and right");
    ok(after.ru_maxrss - before.ru_maxrss < 2048, "with %ld KiB more memory", after.ru_maxrss - before.ru_maxrss);
    ops->close(&mill_host, reader);
  }
  spikes_empty();
}

/* What the command in the refusal of "FILE" makes of it. */
static int rewrite(const char *text, const char *says, struct mill_stream **s, char command[1700])
{
  struct mill_error error = {0, ""};
  put_file(in_folder("FILE"), text, strlen(text));
  mill_stream_read(in_folder("FILE"), &(struct mill_stream_options){.format = "csv"}, s, &error);
  const char *tr = strstr(error.text, says) ? strstr(error.text, "tr ") : NULL;
  snprintf(command, 1700, "cd %s && %s", spikes_folder, tr ? tr : error.text);
  return tr && !system(command) && !mill_stream_read(in_folder("NEW.csv"), NULL, s, &error);
}

/* A file with one column per unit is refused with a command that makes one event a line of it. */
static void test_one_column_per_unit(void)
{
  static const char *const end[] = {"\n", "\r\n", "\r", NULL}, *const between[] = {"\t", ",", ";", "  "};
  char text[40000], command[1700];
  struct mill_stream *s;
  if (system("awk 'BEGIN { exit 0 }' >/dev/null 2>&1")) {
    skip(18, "no awk");
    return;
  }
  for (int e = 0; e < 4; e++)
    for (int b = 0; b < 4; b++) {
      const char *g = between[b], *eol = end[e] ? end[e] : g, *none = b < 3 ? "" : "0.5";
      snprintf(text, sizeof text, "ch_1%sch_2%sch_3%s1.5%s2.25%s3%s2.5%s2.75%s%s%s", g, g, eol, g, g, eol, g, g, none, eol);
      int done = rewrite(text, end[e] ? "per unit; " : "line ends are lost", &s, command);
      if (ok(done && s->count == (b < 3 ? 5 : 6) && s->info.group_count == 3 && s->info.tick_ps == INT64_C(10000000000) &&
                 s->event[0].tick == (b < 3 ? 150 : 50) && s->event[s->count - 1].tick == 300 && s->event[s->count - 1].unit == 2,
             "rewritten and read: %s", command))
        mill_stream_free(s);
    }
  for (int lost = 0; lost < 2; lost++) {
    size_t n = 0;
    for (int unit = 0; unit < (lost ? 60 : 1000); unit++)
      n += (size_t)sprintf(text + n, "channel_%d%s", unit, lost || unit < 999 ? "\t" : "\r");
    for (int time = 0; time < 2000; time++)
      n += (size_t)sprintf(text + n, "%d.5%s", time, lost || (time + 1) % 1000 ? "\t" : "\r");
    int done = rewrite(text, lost ? "60 names, \"channel_0\"" : "names, \"channel_0\"", &s, command);
    if (ok(done && s->count == 2000 && s->info.group_count == (lost ? 60 : 1000) && s->event[1999].tick == 19995,
           "a first line that is too long: %s", command))
      mill_stream_free(s);
  }
  static const struct {
    const char *what, *text;
  } other[] = {{"a known name", "channel\tch_2\tch_3\tch_4\t"},
               {"a number at the start", "1\tch_2\tch_3\tch_4\t"},
               {"a comment", "# a\tb\tc\td\te\t"},
               {"no UTF-8", "a\xff\tb\tc\td\te\t"},
               {"no names", "abc"}};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    memset(text, '7', 5000);
    memcpy(text, other[i].text, strlen(other[i].text));
    text[5000] = 0;
    put_file(in_folder("x.csv"), text, 5000);
    refused(other[i].what, in_folder("x.csv"), &(struct mill_stream_options){.format = "csv"}, MILL_DATA,
            "x.csv:1: the line has more than 4096 bytes");
  }
  spikes_empty();
}

int main(void)
{
  int longer = getenv("SPIKEMILL_LONG") != NULL;
  plan_later();
  spikes_begin();
  test_foreign(longer ? 10000 : 800);
  test_many_types(longer ? 1000000 : 200000);
  test_memory(longer ? 20000000 : 1000000);
  test_one_column_per_unit();
  if (german_set()) {
    test_foreign(200);
    german_end();
  } else {
    skip(1, "no German locale can be had");
  }
  is_int((intmax_t)mill_memory_held(), 0, "all memory is given back");
  spikes_end();
  return done_testing();
}
