/* What the spike formats write is read as the same stream: networks, recordings, and random ones through every format and back. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "formats.h"
#include "german.h"
#include "memory.h"

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

/* Recordings: types instead of populations, in any order, with ties in the order of the file. */
static void test_recordings(void)
{
  static const struct mill_group types[] = {
      {"10", 0, 1}, {"9", 1, 1},         {"größe, \"groß\" 神経", 2, 1}, {"# a; b", 3, 1}, {" blank ", 4, 1},
      {"\"", 5, 1}, {"tab\there", 6, 1}, {"without events", 7, 1},       {"nan", 8, 1}};
  struct mill_stream_info info = {.tick_ps = 40000000, .group_count = 9, .group = types, .version = "", .config = ""};
  static const struct mill_event some[] = {{-3, 4, 0}, {-3, 0, 0}, {-3, 4, 0}, {0, 8, 0}, {0, 6, 0},
                                           {0, 5, 0},  {7, 2, 0},  {7, 3, 0},  {7, 1, 0}};
  round_trip("a recording", &info, some, 9, 1);
  round_trip("a recording without events", &info, NULL, 0, 1);
  info.start = -4;
  info.stop = 7;
  info.seed = 3;
  info.config = "[generate]\nseconds = 60\n";
  info.version = "0.1";
  round_trip("a recording with start and stop, seed and configuration", &info, some, 9, 1);
  round_trip("a part of it", &info, some, 9, 0);
  info.group_count = 1;
  info.group = &types[0];
  static const struct mill_event one[] = {{1, 0, 0}};
  round_trip("one type", &info, one, 1, 1);
}

/* A random stream: awkward names, few or many ties, any tick, bounds or none. */
struct random_stream {
  struct mill_stream_info info;
  struct mill_group group[9];
  char name[9][40];
  struct mill_event event[200];
  size_t count;
};

static void fill(struct random_stream *s, int network)
{
  static const char *const piece[] = {"a", "B", "7",  "0", " ", ",",    ";", "\t", "\"",
                                      "#", "é", "神", "-", ".", "time", "=", "\\", "%"};
  static const int64_t tick[] = {1, 7, 1000, 40000000, 100000000, 1000000000, INT64_C(1000000000000), INT64_MAX};
  int64_t now = draw(2) ? -(int64_t)draw(1000) : INT64_C(1) << draw(50);
  uint32_t unit = 0;
  s->info = (struct mill_stream_info){.tick_ps = tick[draw(8)],
                                      .group = s->group,
                                      .seed = draw(2) ? draw(1u << 31) : 0,
                                      .version = draw(2) ? "0.1" : "",
                                      .config = draw(2) ? "[a]\nb = c ; d\n\n" : ""};
  s->info.group_count = 1 + draw(9);
  for (uint32_t i = 0; i < s->info.group_count; i++) {
    int again;
    do {
      s->name[i][0] = 0;
      for (uint32_t pieces = 1 + draw(5); pieces; pieces--)
        strcat(s->name[i], piece[draw(18)]);
      again = 0;
      for (uint32_t j = 0; j < i; j++)
        again |= !strcmp(s->name[i], s->name[j]);
    } while (again);
    s->group[i] = (struct mill_group){s->name[i], unit, network ? draw(4) : 1};
    unit += s->group[i].size;
  }
  s->count = unit ? draw(200) : 0;
  uint32_t ties = draw(4);
  for (size_t i = 0; i < s->count; i++) {
    now += draw(4) < ties ? 0 : draw(2) ? 1 : draw(100000);
    s->event[i] = (struct mill_event){now, draw(unit), 0};
  }
  if (draw(2)) {
    s->info.start = s->count ? s->event[0].tick - 1 : -5;
    s->info.stop = s->count ? now + draw(2) : 0;
  }
}

static int same_raw(const struct raw *raw, const struct random_stream *s)
{
  return raw->count == s->count && same_info(&raw->info, &s->info) &&
         (!s->count || !memcmp(raw->event, s->event, s->count * sizeof *s->event)) && raw->end.stop == s->info.stop;
}

static void test_random(int rounds)
{
  static const char *const name[] = {"r.csv", "r.tsv", "r.smk"};
  static const char *const format[] = {"csv", "csv", "binary"};
  struct random_stream *s = malloc(sizeof *s);
  struct mill_error error;
  struct raw raw;
  int wrong = 0, unsorted = 0;
  for (int round = 0; round < rounds && !wrong; round++) {
    fill(s, round % 3 == 0);
    for (int i = 0; i < 3 && !wrong; i++) {
      error.text[0] = 0;
      wrong = raw_write(format[i], in_folder(name[i]), &s->info, s->event, s->count, 0, 1, &error) ||
              raw_read(format[i], in_folder(name[i]), NULL, NULL, &raw, &error) || !same_raw(&raw, s);
      unsorted += i < 2 && !wrong && !raw.info.sorted;
      if (!wrong && i == 2) /* what came out of it gives the same csv file again */
        wrong = raw_write("csv", in_folder("again.csv"), &raw.info, raw.event, raw.count, 0, 1, &error) ||
                !same_file(in_folder("r.csv"), in_folder("again.csv"));
      if (wrong)
        diag("round %d, %s: %s", round, name[i], error.text);
      raw_free(&raw);
    }
  }
  ok(!wrong, "%d random streams: csv, tsv, binary and csv again are the same", rounds);
  is_int(unsorted, 0, "and known to be sorted");
  free(s);
  spikes_empty();
}

static void test_random_convert(int rounds)
{
  struct random_stream *s = malloc(sizeof *s);
  struct mill_error error;
  int wrong = 0;
  for (int round = 0; round < rounds && !wrong; round++) {
    error.text[0] = 0;
    fill(s, round % 4 == 0);
    wrong = write_stream(in_folder("a.csv"), NULL, &s->info, s->event, s->count, 1, &error) ||
            convert(in_folder("a.csv"), in_folder("b.smk"), &error) || convert(in_folder("b.smk"), in_folder("c.csv"), &error) ||
            !same_file(in_folder("a.csv"), in_folder("c.csv"));
    if (wrong)
      diag("round %d: %s", round, error.text);
  }
  ok(!wrong, "%d random streams through the core, csv to binary to csv", rounds);
  free(s);
  spikes_empty();
}

int main(void)
{
  plan_later();
  spikes_begin();
  test_round_trips();
  test_recordings();
  test_random(getenv("SPIKEMILL_LONG") ? 20000 : 400);
  test_random_convert(6);
  if (german_set()) {
    test_recordings();
    german_end();
  } else {
    skip(1, "no German locale can be had");
  }
  is_int((intmax_t)mill_memory_held(), 0, "all memory is given back");
  spikes_end();
  return done_testing();
}
