/* The spk format: what it reads, refuses, writes and leaves out, and what it takes for its own. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "formats.h"
#include "german.h"
#include "memory.h"

enum { TICK_40US = 40000000, TICK_1MS = 1000000000 };

/* Files that are fine: channels in order, between bars; the first and the last event in order of the file. */
static const struct good {
  const char *what, *tick, *text;
  int count;
  const char *channels;
  int64_t tick_ps, first, last;
  int sorted;
} good_cases[] = {
    {"a recording", 0, "0.06012 56\n0.06160 49\n0.15328 12\n0.17652 1\n", 4, "1|12|49|56", TICK_40US, 1503, 4413, 1},
    {"CR LF", 0, "0.06012 56\r\n0.06160 49\r\n", 2, "49|56", TICK_40US, 1503, 1540, 1},
    {"CR alone, none at the end", 0, "0.06012 56\r0.06160 49", 2, "49|56", TICK_40US, 1503, 1540, 1},
    {"a byte-order mark, comments, blank lines", 0, "\xef\xbb\xbf# culture 2-1\n\n \t\n0.06012 56\n# so\n", 1, "56", TICK_40US,
     1503, 1503, 1},
    {"blanks and tabs", 0, "  0.06012\t 56\t\n0.06160 \t049 \n", 2, "49|56", TICK_40US, 1503, 1540, 1},
    {"one channel by two spellings", 0, "0 7\n0 007\n", 2, "7", TICK_40US, 0, 0, 1},
    {"not in order", 0, "0.06160 9\n0.06012 10\n0.06012 9\n", 3, "9|10", TICK_40US, 1540, 1503, 0},
    {"other decimals on the grid", 0, "0 1\n1 1\n1.5 1\n4e-5 2\n0.000120000 1\n-0.0 1\n", 6, "1|2", TICK_40US, 0, 0, 0},
    {"the largest channel", 0, "0 4294967295\n0 0\n", 2, "0|4294967295", TICK_40US, 0, 0, 1},
    {"the largest time", 0, "368934881474191.03228 1\n", 1, "1", TICK_40US, INT64_MAX, INT64_MAX, 1},
    {"a finer tick", "20 us", "0.06012 56\n0.06014 56\n", 2, "56", TICK_40US / 2, 3006, 3007, 1},
    {"a tick of 1 us, and noise", "1 us", "0.060120000000000004 56\n0.061999999999999999 1\n", 2, "1|56", 1000000, 60120, 62000, 1},
};

static const struct bad {
  const char *what, *tick, *text, *says;
} bad_cases[] = {
    {"empty", 0, "", "the file is empty"},
    {"no event", 0, "# none\n\n", "the file holds no event"},
    {"between the samples", 0, "0.06012 56\n0.06013 56\n",
     "x.spk:2: the time 0.06013 s does not lie on the grid of 40 us of such recordings; --tick names another"},
    {"half of a sample", 0, "0.00002 1\n", "does not lie on the grid of 40 us"},
    {"beside the tick that is asked for", "1 ms", "0.06012 56\n",
     "x.spk:1: the time 0.06012 s lies more than a hundredth of a tick beside the grid of 1 ms"},
    {"noise", 0, "0.060120000000000004 56\n", "does not lie on the grid of 40 us"},
    {"negative", 0, "0 1\n-0.00004 1\n", "x.spk:2: the time is -0.00004 s; a recording begins at 0"},
    {"a little before 0", "1 us", "-0.000000001 1\n", "a recording begins at 0"},
    {"a little less before 0", "1 us", "-0.0000000000001 1\n", "a recording begins at 0"},
    {"too late", 0, "368934881474191.03232 1\n", "is too large in ticks of 40 us"},
    {"much too late", 0, "1e99 1\n", "is too large"},
    {"nan", 0, "0 1\nnan 1\n", "x.spk:2: the time is \"nan\"; expected seconds"},
    {"infinite", 0, "inf 1\n", "\"inf\""},
    {"a header", 0, "seconds channel\n0 1\n", "x.spk:1: the time is \"seconds\""},
    {"junk after a number", 0, "0.06012s 1\n", "\"0.06012s\""},
    {"decimal comma", 0, "0,06012 56\n", "the time is \"0,06012\"; expected seconds as a decimal number with a point"},
    {"one column", 0, "0.06012\n", "x.spk:1: 1 columns; expected two between blanks"},
    {"three columns", 0, "0.06012 56 1\n", "x.spk:1: 3 columns"},
    {"commas", 0, "0.06012,56\n", "1 columns; expected two between blanks"},
    {"quotes that do not match", 0, "\"0.06012 56\n", "columns; expected two"},
    {"a negative channel", 0, "0 -1\n", "the channel is \"-1\"; expected a whole number from 0 to 4294967295"},
    {"a channel with a point", 0, "0 1.0\n", "the channel is \"1.0\""},
    {"a channel that is a text", 0, "0 A1\n", "the channel is \"A1\""},
    {"a channel beyond 32 bits", 0, "0 4294967296\n", "the channel is \"4294967296\""},
    {"Latin-1", 0, "0 1\xb5\n", "x.spk:1: byte 4 of the line is 0xb5"},
    {"a bell", 0, "0 1\n\a0 1\n", "x.spk:2: byte 1 of the line is 0x07"},
};

static const struct bad wrong_ticks[] = {
    {"a tick without a unit", "40", "0 1\n", "--tick 40: expected a time with its unit, such as \"40 us\""},
    {"a tick of 0", "0 us", "0 1\n", "--tick 0 us: expected"},
};

static void test_cases(void)
{
  struct mill_error error;
  struct raw raw;
  notes_begin();
  for (size_t i = 0; i < sizeof good_cases / sizeof *good_cases; i++) {
    const struct good *c = &good_cases[i];
    char channels[200] = "";
    put_file(in_folder("x.spk"), c->text, strlen(c->text));
    error.text[0] = 0;
    int failed = raw_read("spk", in_folder("x.spk"), NULL, c->tick, &raw, &error);
    for (uint32_t g = 0; !failed && g < raw.info.group_count; g++)
      snprintf(channels + strlen(channels), sizeof channels - strlen(channels), "%s%s", g ? "|" : "", raw.info.group[g].name);
    if (!ok(!failed && raw.count == (size_t)c->count && raw.info.tick_ps == c->tick_ps && raw.event[0].tick == c->first &&
                raw.event[raw.count - 1].tick == c->last && raw.info.sorted == (uint32_t)c->sorted && raw.end.complete == 1 &&
                !raw.info.start && !raw.info.stop,
            "read: %s", c->what))
      diag("%s %zu events, tick %jd", error.text, raw.count, (intmax_t)raw.info.tick_ps);
    is_str(channels, c->channels, "and its channels");
    raw_free(&raw);
  }
  ok(notes == 1 && strstr(last_note, "2 of 2 times lay beside the grid of 1 us"), "noise is told of: %s", last_note);
  mill_note_set(NULL, NULL);
  for (size_t i = 0; i < sizeof bad_cases / sizeof *bad_cases; i++) {
    const struct bad *c = &bad_cases[i];
    put_file(in_folder("x.spk"), c->text, strlen(c->text));
    refused(c->what, in_folder("x.spk"), &(struct mill_stream_options){.format = "spk", .tick = c->tick}, MILL_DATA, c->says);
  }
  for (size_t i = 0; i < sizeof wrong_ticks / sizeof *wrong_ticks; i++) {
    const struct bad *c = &wrong_ticks[i];
    put_file(in_folder("x.spk"), c->text, strlen(c->text));
    refused(c->what, in_folder("x.spk"), &(struct mill_stream_options){.format = "spk", .tick = c->tick}, MILL_USAGE, c->says);
  }
  put_file(in_folder("x.spk"), "0 1\0\n", 5);
  refused("a NUL byte", in_folder("x.spk"), &(struct mill_stream_options){.format = "spk"}, MILL_DATA,
          "x.spk:1: byte 4 of the line is 0x00");
  char line[4200];
  memset(line, ' ', sizeof line);
  memcpy(line, "0 1", 3);
  line[4097] = '\n';
  put_file(in_folder("x.spk"), line, 4098);
  refused("an over-long line", in_folder("x.spk"), &(struct mill_stream_options){.format = "spk"}, MILL_DATA,
          "x.spk:1: the line has more than 4096 bytes");
  spikes_empty();
}

static const struct mill_group channels[] = {{"1", 0, 1}, {"12", 1, 1}, {"49", 2, 1}, {"4294967295", 3, 1}};
static const struct mill_stream_info culture = {
    .tick_ps = TICK_40US, .group_count = 4, .group = channels, .version = "", .config = ""};

static void test_writing(void)
{
  static const struct mill_event event[] = {{0, 1, 0}, {1503, 3, 0}, {1503, 0, 0}, {25000, 2, 0}, {INT64_MAX, 2, 0}};
  struct mill_error error;
  struct mill_stream *s;
  notes_begin();
  ok(!write_stream(in_folder("a.spk"), NULL, &culture, event, 5, 1, &error), "a culture is written: %s", notes ? last_note : "");
  is_int(notes, 0, "and nothing is left out");
  char *text = (char *)get_file(in_folder("a.spk"), NULL);
  is_str(text, "0.00000 12\n0.06012 4294967295\n0.06012 1\n1.00000 49\n368934881474191.03228 49\n", "its text");
  free(text);
  ok(!mill_stream_read(in_folder("a.spk"), NULL, &s, &error) && same_stream(s, &culture, event, 5, 1), "it is read as the same");
  mill_stream_free(s);

  struct mill_stream_info ms = culture;
  static const struct mill_event two[] = {{1, 1, 0}, {2, 1, 0}};
  ms.tick_ps = TICK_1MS;
  ok(!write_stream(in_folder("b.spk"), NULL, &ms, two, 2, 1, &error) && notes == 1 &&
         strstr(last_note,
                "b.spk: the spk format holds times and channels only; left out: the tick of 1 ms, 3 channels without events") &&
         !strstr(last_note, ".part") && !strstr(last_note, "start"),
     "one note of what is left out: %s", last_note);
  static const struct mill_group disordered[] = {{"9", 0, 1}, {"8", 1, 1}};
  struct mill_stream_info much = {.tick_ps = TICK_40US,
                                  .start = -1,
                                  .stop = 25000,
                                  .group_count = 2,
                                  .group = disordered,
                                  .seed = 1,
                                  .version = "",
                                  .config = "[a]\n"};
  ok(!write_stream(in_folder("c.spk"), NULL, &much, two, 2, 0, &error) && notes == 2 &&
         strstr(last_note,
                "left out: start and stop, the seed, the configuration, the order of the channels, 1 channel without events, that "
                "the run was interrupted"),
     "and all of it: %s", last_note);
  mill_note_set(NULL, NULL);
  spikes_empty();
}

/* What the format can't hold at all. */
static void test_unwritable(void)
{
  static const struct mill_group network[] = {{"1", 0, 2}}, named[] = {{"1", 0, 1}, {"A1", 1, 1}}, zero[] = {{"01", 0, 1}},
                                 large[] = {{"4294967296", 0, 1}}, twice[] = {{"1", 0, 1}, {"1", 1, 1}};
  static const struct {
    const char *what;
    const struct mill_group *group;
    uint32_t groups;
    int64_t tick_ps, start, stop;
    struct mill_event event[2];
    size_t count;
    const char *says;
  } bad[] = {
      {"a population", network, 1, TICK_40US, 0, 0, {{0}}, 1, "\"1\" has 2 neurons; csv and binary can hold it"},
      {"a name", named, 2, TICK_40US, 0, 0, {{0}}, 1, "whole numbers from 0 to 4294967295, and \"A1\" is none; csv and binary"},
      {"a leading zero", zero, 1, TICK_40US, 0, 0, {{0}}, 1, "\"01\" is none"},
      {"a channel beyond 32 bits", large, 1, TICK_40US, 0, 0, {{0}}, 1, "\"4294967296\" is none"},
      {"a channel twice", twice, 2, TICK_40US, 0, 0, {{0}}, 1, "two channels are called \"1\""},
      {"no events", channels, 4, TICK_40US, 0, 0, {{0}}, 0, "no events; the spk format can't tell"},
      {"a time off the grid",
       channels,
       4,
       TICK_100US,
       0,
       0,
       {{0}, {1, 0, 0}},
       2,
       "spike 1 (from 0), tick 1, unit 0: the time lies between the samples"},
      {"a negative time", channels, 4, TICK_40US, 0, 0, {{-1, 0, 0}}, 1, "the time is negative"},
      {"a decreasing time", channels, 4, TICK_40US, 0, 0, {{1, 0, 0}, {0, 0, 0}}, 2, "out of order"},
      {"a time outside", channels, 4, TICK_40US, 0, 1, {{0}}, 1, "outside (start, stop]"},
      {"no such unit", channels, 4, TICK_40US, 0, 0, {{0, 4, 0}}, 1, "the unit does not exist"},
      {"a time too large", channels, 4, TICK_1MS, 0, 0, {{INT64_MAX / 25 + 1, 0, 0}}, 1, "too large"},
  };
  struct mill_error error;
  struct mill_writer *w;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct mill_stream_info info = {bad[i].tick_ps, bad[i].start, bad[i].stop, bad[i].groups, bad[i].group, 0, "", "", 0, 0};
    struct mill_stream_end end = {.events = bad[i].count, .complete = 1};
    error = (struct mill_error){0, "nothing"};
    int failed = mill_writer_open(in_folder("x.spk"), NULL, &info, &w, &error);
    if (!failed)
      failed = mill_writer_push(w, bad[i].event, bad[i].count, &error) | mill_writer_close(w, &end, &error);
    ok(failed && error.status == MILL_DATA && strstr(error.text, bad[i].says), "not written: %s", bad[i].what);
    diag("%s", error.text);
  }
  mill_writer_open(in_folder("x.spk"), NULL, &culture, &w, &error);
  ok(mill_writer_close(w, &(struct mill_stream_end){.events = 3}, &error) && strstr(error.text, "3 announced"), "%s", error.text);
  is_int(spikes_files(), 0, "nothing is left");
}

/* Random recordings, written and read. */
static void test_random(int rounds)
{
  struct mill_error error;
  struct mill_event event[300];
  struct mill_group group[20];
  char name[20][12];
  int wrong = 0;
  for (int round = 0; round < rounds && !wrong; round++) {
    struct mill_stream_info info = {.tick_ps = TICK_40US, .group = group, .version = "", .config = ""};
    uint32_t number = 0;
    struct raw raw;
    info.group_count = 1 + draw(20);
    for (uint32_t i = 0; i < info.group_count; i++) {
      number += 1 + draw(draw(3) ? 5 : 100000000);
      snprintf(name[i], sizeof name[i], "%u", number);
      group[i] = (struct mill_group){name[i], i, 1};
    }
    int64_t now = draw(2) ? 0 : draw(1u << 31);
    size_t n = info.group_count + draw(280);
    for (size_t i = 0; i < n; i++) {
      now += draw(2) ? 0 : draw(draw(2) ? 3 : 1000000);
      event[i] = (struct mill_event){now, i < info.group_count ? (uint32_t)i : draw(info.group_count), 0};
    }
    error.text[0] = 0;
    wrong = raw_write("spk", in_folder("r.spk"), &info, event, n, 0, 1, &error) ||
            raw_read("spk", in_folder("r.spk"), NULL, NULL, &raw, &error) || raw.count != n || !raw.info.sorted ||
            !same_info(&raw.info, &info) || memcmp(raw.event, event, n * sizeof *event);
    if (wrong)
      diag("round %d: %s", round, error.text);
    raw_free(&raw);
  }
  ok(!wrong, "%d random recordings and back", rounds);
  spikes_empty();
}

/* Which files are taken for recordings of cultures, by their name and by what is in them. */
static void test_finding(void)
{
  static const struct {
    const char *name, *text, *format;
  } file[] = {
      {"a.spk", "0.06012 56\n", "spk"},
      {"a.SPK.txt", "0.06012 56\n", "spk"},
      {"a.spk.txt", "# so\n\n0.06012 56\r\n0.06016 1\r\n", "spk"},
      {"a.spk.txt", "what is this\n", "spk"},
      {"a.spk.txt", "type,time_ms\nA,1\n", "csv"},
      {"a.txt", "0.06012 56\n0.06160 49\n0.15328 12\n", "spk"},
      {"a.dat", "\xef\xbb\xbf 0.06012 56", NULL},
      {"a.dat", "0.06012 56\n0.06160\t49\n0.15328   12 \n", "spk"},
      {"a.dat", "0.06012 56", "spk"},
      {"a.dat", "time_s channel\n0.06012 56\n", "csv"},
      {"a.dat", "0.06012 56\n0.06013 49\n", NULL},
      {"a.dat", "0.06012 56\n0.0616 49\n", NULL},
      {"a.dat", "0.06012 56\n0.06014 49\n", NULL},
      {"a.dat", "0.06012 56\n0.0616  49\n", NULL},
      {"a.dat", "0.5 56\n1.25 49\n", NULL},
      {"a.dat", "60 56\n61 49\n", NULL},
      {"a.dat", "0.06012,56\n", NULL},
      {"a.dat", "0.06012 56 1\n", NULL},
      {"a.dat", "0.06012 A\n", NULL},
      {"a.dat", "-0.06012 1\n", NULL},
      {"a.dat", "56 0.06012\n", NULL},
      {"a.dat", "# nothing\n", NULL},
  };
  struct mill_error error;
  for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
    const struct mill_plugin *plugin = NULL;
    put_file(in_folder(file[i].name), file[i].text, strlen(file[i].text));
    int failed = mill_format_find(in_folder(file[i].name), NULL, NULL, 0, &plugin, &error);
    is_str(failed ? NULL : plugin->name, file[i].format, "%s with \"%s\"", file[i].name, file[i].text);
    spikes_empty();
  }
  char many[4500];
  size_t n = 0;
  while (n < 4200)
    n += (size_t)sprintf(many + n, "0.06012 5678\n");
  ok(format_ops("spk")->probe((const unsigned char *)many, 4096) > 50, "a head that cuts a line");
  const struct mill_plugin *plugin;
  ok(!mill_format_find(in_folder("new.spk.txt"), NULL, NULL, 1, &plugin, &error) && !strcmp(plugin->name, "spk"),
     ".spk.txt is written as spk");
  ok(!mill_format_find(in_folder("new.txt"), NULL, NULL, 1, &plugin, &error) && !strcmp(plugin->name, "csv"), ".txt as csv");
  ok(!mill_format_find(in_folder("new.times"), NULL, NULL, 1, &plugin, &error) && !strcmp(plugin->name, "csv"), ".times as csv");
}

int main(void)
{
  plan_later();
  spikes_begin();
  test_cases();
  test_writing();
  test_unwritable();
  test_random(getenv("SPIKEMILL_LONG") ? 10000 : 500);
  test_finding();
  if (german_set()) {
    test_cases();
    test_writing();
    german_end();
  } else {
    skip(1, "no German locale can be had");
  }
  is_int((intmax_t)mill_memory_held(), 0, "all memory is given back");
  spikes_end();
  return done_testing();
}
