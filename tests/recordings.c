/* Real recordings, and the mining authors' own stream, from the folder that SPIKEMILL_DATA names: every event against an independent
   reading of the file, or a refusal that says what to do. Without the folder the tests are skipped. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "formats.h"
#include "memory.h"

static const char *folder;

static const char *in_data(const char *name)
{
  static char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* The first whole number that a command prints, or -1. */
static long printed(const char *command)
{
  long value = -1;
  FILE *f = popen(command, "r");
  if (!f || fscanf(f, "%ld", &value) != 1)
    value = -1;
  if (f)
    pclose(f);
  return value;
}

/* Each line of the file, scanned with `format` into a name and a time, against the events in the order of the file. */
static void check_lines(const struct raw *raw, const char *path, const char *format, int time_first, double ticks_in_unit)
{
  char name[64], line[200];
  double time;
  size_t i = 0, wrong = 0;
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    int got = time_first ? sscanf(line, format, &time, name) : sscanf(line, format, name, &time);
    if (got != 2) /* the header */
      continue;
    wrong += i >= raw->count || raw->event[i].tick != llround(time * ticks_in_unit) ||
             strcmp(raw->info.group[raw->event[i].unit].name, name) != 0;
    i++;
  }
  if (f)
    fclose(f);
  ok(i == raw->count && !wrong, "%zu events, each as the C library reads it", i);
}

/* What the core reads is written in another format and comes back; with `same` the other file is this one, byte by byte. */
static void check_copies(const char *path, const struct mill_stream_options *options, const char *same)
{
  static const char *const name[] = {"a.csv", "b.smk", "c.csv"};
  struct mill_convert_report report;
  struct mill_error error;
  int good = 1;
  for (int i = 0; i < 3 && good; i++)
    good = !mill_stream_convert(i ? in_folder(name[i - 1]) : path, i ? NULL : options, in_folder(name[i]), NULL, NULL, &report,
                                &error);
  if (!ok(good && same_file(in_folder("a.csv"), in_folder("c.csv")), "csv, binary and csv again are the same"))
    diag("%s", error.text);
  if (same) {
    notes_begin();
    good = !mill_stream_convert(in_folder("b.smk"), NULL, in_folder(same), NULL, NULL, &report, &error);
    ok(good && same_file(path, in_folder(same)), "written as %s it is the same file", same);
    is_int(notes, 0, "and nothing is left out");
    mill_note_set(NULL, NULL);
  }
  spikes_empty();
}

static void check(const char *name, const char *format, const struct mill_stream_options *options, uint64_t count, uint32_t types,
                  int64_t tick_ps, int sorted)
{
  struct mill_error error = {0, ""};
  struct mill_stream *s = NULL;
  if (!ok(!mill_stream_read(in_data(name), options, &s, &error), "%s is read", name)) {
    diag("%s", error.text);
    return;
  }
  is_int((intmax_t)s->count, (intmax_t)count, "events");
  is_int(s->info.group_count, types, "types");
  is_int(s->info.tick_ps, tick_ps, "tick");
  is_int(s->was_sorted, sorted, "whether it is in order");
  int ordered = 1;
  for (uint64_t i = 1; i < s->count; i++)
    ordered &= s->event[i].tick >= s->event[i - 1].tick;
  ok(ordered, "it is in order now");
  const struct mill_plugin *plugin;
  ok(!mill_format_find(in_data(name), NULL, NULL, 0, &plugin, &error) && !strcmp(plugin->name, format), "its format is %s", format);
  diag("%s", mill_stream_describe(&s->info, s->count, types, s->event[0].tick, s->event[s->count - 1].tick, error.text, 300));
  mill_stream_free(s);
}

static void test_stream_new(void)
{
  const char *const name = "stream-new-1.csv";
  struct mill_stream_options options = {.columns = "type,time_ms"};
  struct mill_error error;
  struct raw raw;
  check(name, "csv", &options, 18522, 26, INT64_C(1000000000), 1);
  if (raw_read("csv", in_data(name), options.columns, NULL, &raw, &error))
    bail("%s", error.text);
  check_lines(&raw, in_data(name), "%63[^,],%lf", 0, 1);
  int letters = 1;
  for (uint32_t i = 0; i < raw.info.group_count; i++)
    letters &= raw.info.group[i].name[0] == (char)('A' + i) && !raw.info.group[i].name[1];
  ok(letters, "its types are A to Z");
  raw_free(&raw);
  check_copies(in_data(name), &options, NULL);
  refused("without --columns", in_data(name), NULL, MILL_DATA,
          ":1: no line names the columns; say what they hold with --columns, such as --columns type,time_ms");
}

static void test_culture(const char *name, uint64_t count, uint32_t types)
{
  struct mill_error error;
  struct raw raw;
  check(name, "spk", NULL, count, types, 40000000, 1);
  if (raw_read("spk", in_data(name), NULL, NULL, &raw, &error))
    bail("%s", error.text);
  check_lines(&raw, in_data(name), "%lf %63s", 1, 25000);
  raw_free(&raw);
  check_copies(in_data(name), NULL, "d.spk.txt");
  if (raw_read("csv", in_data(name), "time_s,channel", "40 us", &raw, &error))
    bail("%s", error.text);
  check_lines(&raw, in_data(name), "%lf %63s", 1, 25000);
  raw_free(&raw);
}

static void test_demas(void)
{
  const char *const name = "meaRtools_demas.times";
  struct mill_stream_options options = {.columns = "type,time_s"};
  char command[900];
  struct mill_error error;
  struct raw raw;
  snprintf(command, sizeof command, "awk 'NR > 1 && NF { n++ } END { print n }' '%s'", in_data(name));
  long events = printed(command);
  snprintf(command, sizeof command, "awk -F, 'NR > 1 && NF && !($1 in seen) { seen[$1] = 1; n++ } END { print n }' '%s'",
           in_data(name));
  long types = printed(command);
  ok(events > 5000 && types > 50, "awk counts %ld events of %ld types", events, types);
  check(name, "csv", &options, (uint64_t)events, (uint32_t)types, 10000000, 0);
  if (raw_read("csv", in_data(name), options.columns, NULL, &raw, &error))
    bail("%s", error.text);
  check_lines(&raw, in_data(name), "%63[^,],%lf", 0, 1e5);
  raw_free(&raw);
  check_copies(in_data(name), &options, NULL);
  refused("without --columns", in_data(name), NULL, MILL_DATA,
          ":1: the column \"Time\" names no unit; say it with --columns type,time_s (or time_ms,");
}

static void test_one_column_per_unit(void)
{
  const char *const name = "sjemea_P9_CTRL_MY1_1A.txt";
  char command[2600], *tr;
  struct mill_error error;
  struct mill_stream *s;
  refused("one column per unit", in_data(name), NULL, MILL_DATA, ":1: 26 names, \"ch_12a\", \"ch_14a\" and so on");
  mill_stream_read(in_data(name), NULL, &s, &error);
  tr = strstr(error.text, "tr ");
  snprintf(command, sizeof command, "cd '%s' && cp '%s' FILE && %s", spikes_folder, in_data(name), tr ? tr : "false");
  ok(!system(command), "what the message says is done: %s", tr ? tr : "nothing");
  snprintf(command, sizeof command, "tr '\\r\\t' '\\n\\n' <'%s' | grep -c '^[0-9]'", in_data(name));
  long events = printed(command);
  if (!ok(!mill_stream_read(in_folder("NEW.csv"), NULL, &s, &error), "and it is read"))
    bail("%s", error.text);
  ok((long)s->count == events && events > 10000 && s->info.group_count == 26 && s->info.tick_ps == 1000000,
     "%ld events of 26 units, tick 1 us", events);
  mill_stream_free(s);
  spikes_empty();
}

int main(void)
{
  plan_later();
  folder = getenv("SPIKEMILL_DATA");
  if (!folder || !*folder) {
    const char *required = getenv("SPIKEMILL_REQUIRE_DATA");
    if (required && !strcmp(required, "1"))
      ok(false, "SPIKEMILL_DATA names no folder, and SPIKEMILL_REQUIRE_DATA asks for it");
    else
      skip(1, "SPIKEMILL_DATA names no folder of recordings");
    return done_testing();
  }
  spikes_begin();
  test_stream_new();
  test_culture("wagenaar_2-1-20.spk.txt", 172267, 56);
  test_culture("wagenaar_small_7-2-35.spk.txt", 18903, 58);
  test_demas();
  test_one_column_per_unit();
  is_int((intmax_t)mill_memory_held(), 0, "all memory is given back");
  spikes_end();
  return done_testing();
}
