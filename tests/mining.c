// Mining through the public functions: what a report says, recordings that are hardly any, and stops.
#include <xxhash.h>

#include <spikemill/counter.h>
#include <spikemill/mining.h>
#include "memory.h"
#include "spikes.h"

#define MS INT64_C(1000000000)

static char noted[4000];

static void take_note(const char *line, void *self)
{
  (void)self;
  strncat(noted, line, sizeof noted - strlen(noted) - 1);
}

// Opens with settings, a NULL ends them.
static struct mill_mining *opened(const char *path, const char *const *sets, struct mill_error *error)
{
  struct mill_mining *m = NULL;
  size_t n = 0;
  while (sets[n])
    n++;
  *error = (struct mill_error){0};
  noted[0] = 0;
  if (mill_mining_open(path, sets, n, &m, error) && m)
    bail("a mining and an error");
  return m;
}

static struct mill_mining *mined(const char *path, const char *const *sets)
{
  struct mill_error error;
  struct mill_mining *m = opened(path, sets, &error);
  if (!m || mill_mining_run(m, NULL, NULL, &error))
    bail("%s: %s", path, error.text);
  return m;
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

// ---- Reports ----

static const struct mill_group groups[] = {{"exc", 0, 8}, {"inh", 8, 4}};
static const struct mill_stream_info info = {
    .tick_ps = MS / 10, .start = 0, .stop = 100000, .group_count = 2, .group = groups, .version = "", .config = ""};

// exc:2 and inh:1 fire in turn, 4 ms apart, every 20 ms; exc:5 once.
static const char *write_pairs(int complete, const struct mill_stream_info *head)
{
  static struct mill_event event[401];
  struct mill_error error;
  uint32_t n = 0;
  for (int64_t i = 0; i < 200; i++) {
    event[n++] = (struct mill_event){.tick = 200 * i + 50, .unit = 2};
    event[n++] = (struct mill_event){.tick = 200 * i + 90, .unit = 9};
    if (i == 100)
      event[n++] = (struct mill_event){.tick = 200 * i + 100, .unit = 5};
  }
  if (write_stream(in_folder("pairs.smk"), NULL, head, event, n, complete, &error))
    bail("%s", error.text);
  return in_folder("pairs.smk");
}

static unsigned char *put(unsigned char *p, uint64_t value, int bytes)
{
  for (; bytes--; value >>= 8)
    *p++ = (unsigned char)value;
  return p;
}

static unsigned char *put_episode(unsigned char *p, uint32_t a, uint32_t b, int64_t low, int64_t high, uint64_t count)
{
  p = put(put(put(p, 2, 4), a, 4), b, 4);
  return put(put(put(p, (uint64_t)low, 8), (uint64_t)high, 8), count, 8);
}

static void test_report(void)
{
  struct mill_mining_report r;
  struct mill_mining_level level;
  struct mill_mining_episode e;
  struct mill_error error;
  unsigned char record[400], *p = record;
  const char *path = write_pairs(1, &info);
  struct mill_mining *m = mined(path, SET("mining.intervals=(10,20] (0,5] ms", "mining.support=10/s", "mining.threads=1"));
  mill_mining_report(m, &r);
  is_str(r.input, path, "report: input");
  is_str(r.counter, "latest-start", "counter");
  is_str(r.backend, "cpu", "backend");
  is_str(r.ties, "order", "ties");
  is_str(r.support_text, "10/s", "the support asked for");
  is_str(r.intervals_text, "(10,20] (0,5] ms", "the intervals asked for");
  is_int((intmax_t)r.support, 100, "the support: 10/s of 10 s, which the file states");
  is_int((intmax_t)r.events, 401, "events");
  is_int(r.types, 3, "types with an event");
  is_int(r.threads, 1, "threads");
  ok(r.first == 50 && r.last == 200 * 199 + 90 && r.tick_ps == MS / 10 && r.sorted == 1, "times");
  is_real(r.duration_s, 10, 0, "duration");
  ok(r.complete && r.levels == 2 && r.episodes == 4, "complete, 2 levels");
  ok(r.memory_bytes > 401 * 16 && r.memory_bytes < 100000000, "memory: %ju", (uintmax_t)r.memory_bytes);
  ok(r.interval_count == 2 && r.interval[0].low == 0 && r.interval[0].high == 50 && r.interval[1].low == 100,
     "intervals in ticks, in order");
  ok(r.repeats == 0 && r.max_length == 64 && r.wall_s > 0 && r.spike_hash, "the rest");
  ok(!mill_mining_level(m, 1, &level) && level.candidates == 3 && level.frequent == 2 && level.culled == 0, "level 1");
  ok(!mill_mining_level(m, 2, &level) && level.candidates == 4 && level.frequent == 2, "level 2");
  ok(mill_mining_level(m, 0, &level) && mill_mining_level(m, 3, &level), "there is no level 0 and no 3");
  is_str(mill_mining_type(m, 0), "exc:2", "type 0");
  is_str(mill_mining_type(m, 1), "exc:5", "type 1");
  is_str(mill_mining_type(m, 2), "inh:1", "type 2");
  ok(!mill_mining_type(m, 3), "there is no type 3");
  ok(!mill_mining_episode(m, 0, &e) && e.length == 1 && e.type[0] == 0 && e.count == 200, "episode 0");
  ok(!mill_mining_episode(m, 1, &e) && e.length == 1 && e.type[0] == 2 && e.count == 200, "episode 1");
  ok(!mill_mining_episode(m, 2, &e) && e.length == 2 && e.type[0] == 0 && e.type[1] == 2 && e.low[0] == 0 && e.high[0] == 50 &&
         e.count == 200,
     "episode 2");
  ok(!mill_mining_episode(m, 3, &e) && e.length == 2 && e.type[0] == 2 && e.type[1] == 0 && e.low[0] == 100 && e.high[0] == 200 &&
         e.count == 199,
     "episode 3");
  ok(mill_mining_episode(m, 4, &e) && mill_mining_episode(m, UINT64_MAX, &e), "there is no fourth");
  p = put(put(put(p, 1, 4), 0, 4), 200, 8);
  p = put(put(put(p, 1, 4), 2, 4), 200, 8);
  p = put_episode(p, 0, 2, 0, 50, 200);
  p = put_episode(p, 2, 0, 100, 200, 199);
  ok(r.count_hash == XXH64(record, (size_t)(p - record), 0), "the hash is what the header says");
  ok(strstr(mill_mining_config(m), "support = 10/s\n") && strstr(mill_mining_config(m), "ties = order\n"), "the job as text");
  ok(mill_mining_run(m, NULL, NULL, &error) && error.status == MILL_USAGE, "it runs once");
  uint64_t hash = r.count_hash;
  mill_mining_free(m);
  m = mined(path, SET("mining.intervals=(0,5] (10,20] ms", "mining.support=100", "mining.threads=3", "mining.counter=serial"));
  mill_mining_report(m, &r);
  ok(r.count_hash == hash, "the order of the intervals, the threads and the counter change nothing");
  mill_mining_free(m);
}

static void test_durations(void)
{
  struct mill_mining_report r;
  struct mill_stream_info head = info;
  struct mill_mining *m;
  head.start = head.stop = 0;
  m = mined(write_pairs(1, &head), SET("mining.intervals=(0,5] ms", "mining.support=1/s", "mining.max_length=1"));
  mill_mining_report(m, &r);
  is_real(r.duration_s, 3.984, 1e-12, "no duration stated: from the first event to the last");
  is_int((intmax_t)r.support, 4, "the support of it");
  ok(!*noted, "nothing to note");
  mill_mining_free(m);
  struct mill_mining *part = NULL;
  struct mill_error error;
  struct mill_mining_report q;
  // Of a run over 10 s that ended after 4 s.
  struct mill_writer *writer;
  struct mill_event one[] = {{.tick = 10, .unit = 0}, {.tick = 30000, .unit = 1}};
  struct mill_stream_end end = {.events = 2, .spike_hash = hash_of_events(&info, one, 2), .stop = 40000, .complete = 0};
  if (mill_writer_open(in_folder("part.smk"), NULL, &info, &writer, &error) || mill_writer_push(writer, one, 2, &error) ||
      mill_writer_close(writer, &end, &error))
    bail("%s", error.text);
  part = mined(in_folder("part.smk"), SET("mining.intervals=(0,5] ms", "mining.support=50%"));
  mill_mining_report(part, &q);
  is_real(q.duration_s, 4, 0, "a part of a run: as far as it came");
  is_int((intmax_t)q.support, 1, "half of the events");
  ok(strstr(noted, "part.smk") && strstr(noted, "interrupted"), "which is noted: %s", noted);
  mill_mining_free(part);
}

// ---- Hardly a recording ----

static const char *put_text(const char *name, const char *text)
{
  put_file(in_folder(name), text, strlen(text));
  return in_folder(name);
}

static void test_small(void)
{
  struct mill_mining_report r;
  struct mill_mining_episode e;
  struct mill_mining_level level;
  struct mill_error error;
  struct mill_mining *m = mined(put_text("empty.csv", "type,time_ms\n"), SET("mining.intervals=(0,5] ms", "mining.support=1/s"));
  mill_mining_report(m, &r);
  ok(r.events == 0 && r.types == 0 && r.levels == 0 && r.complete && r.episodes == 0 && mill_mining_episode(m, 0, &e), "no event");
  mill_mining_free(m);
  m = mined(put_text("one.csv", "type,time_ms\nA,5\n"), SET("mining.intervals=(0,5] ms", "mining.support=1/s"));
  mill_mining_report(m, &r);
  ok(r.events == 1 && r.levels == 1 && r.complete && r.episodes == 1 && r.support == 1, "one event: nothing can follow it");
  ok(strstr(noted, "one time"), "a rate without a duration is noted: %s", noted);
  mill_mining_free(m);
  m = mined(in_folder("one.csv"), SET("mining.intervals=(0,5] ms", "mining.support=2"));
  mill_mining_report(m, &r);
  ok(r.levels == 1 && r.episodes == 0 && r.complete && !mill_mining_level(m, 1, &level) && level.frequent == 0,
     "and it is not frequent");
  mill_mining_free(m);
  m = mined(put_text("type.csv", "type,time_ms\nA,1\nA,2\nA,3\nA,4\nA,5\n"),
            SET("mining.intervals=(0,1] ms", "mining.support=1", "mining.repeats=yes"));
  mill_mining_report(m, &r);
  ok(r.levels == 6 && r.episodes == 5 && r.complete && !mill_mining_episode(m, 4, &e) && e.length == 5 && e.count == 1,
     "one type, with repeats: up to five in a row");
  mill_mining_free(m);
  m = mined(in_folder("type.csv"), SET("mining.intervals=(0,1] ms", "mining.support=1"));
  mill_mining_report(m, &r);
  ok(r.levels == 1 && r.complete, "and without");
  mill_mining_free(m);
  m = mined(put_text("back.csv", "type,time_ms\nB,4\nA,1\n"), SET("mining.intervals=(0,5] ms", "mining.support=1"));
  mill_mining_report(m, &r);
  ok(r.sorted == 0 && r.episodes == 3 && strstr(noted, "sorted"), "not in order of time: sorted, and noted: %s", noted);
  mill_mining_free(m);
  // 64 events of a type in a row: the longest episode there is.
  char text[2000] = "type,time_ms\n";
  for (int i = 1; i <= 66; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "A,%d\n", i);
  m = mined(put_text("long.csv", text), SET("mining.intervals=(0,1] ms", "mining.support=1", "mining.repeats=yes"));
  mill_mining_report(m, &r);
  ok(r.levels == 64 && r.complete && !mill_mining_episode(m, 63, &e) && e.length == 64 && e.count == 1 &&
         e.high[62] == 1 * (MS / r.tick_ps),
     "64 nodes");
  mill_mining_free(m);
  m = opened(in_folder("none.csv"), SET("mining.intervals=(0,5] ms", "mining.support=1"), &error);
  ok(!m && error.status == MILL_DATA && strstr(error.text, "none.csv"), "no such file: %s", error.text);
  m = opened(write_pairs(1, &info), SET("mining.intervals=(0,5.05] ms", "mining.support=1"), &error);
  ok(!m && error.status == MILL_USAGE && strstr(error.text, "--set mining.intervals=(0,5.05] ms: the bound 5.05 ms") &&
         strstr(error.text, "0.1 ms"),
     "a bound off the ticks: %s", error.text);
}

// ---- Stops ----

static int stop_at(const struct mill_mining_progress *p, void *self)
{
  return p->level == *(const uint32_t *)self;
}

static void test_stops(void)
{
  struct mill_mining_report r;
  struct mill_mining_episode e;
  struct mill_error error;
  uint32_t level = 2;
  const char *path = put_text("chain.csv", "type,time_ms\nA,1\nB,2\nC,3\nD,4\nE,5\nF,6\nG,7\n");
  struct mill_mining *m = opened(path, SET("mining.intervals=(0,2] ms", "mining.support=1"), &error);
  ok(mill_mining_run(m, stop_at, &level, &error) && error.status == MILL_INTERRUPTED && strstr(error.text, "level 1 is complete"),
     "interrupted: %s", error.text);
  mill_mining_report(m, &r);
  ok(!r.complete && r.levels == 1 && r.episodes == 7 && !mill_mining_episode(m, 6, &e) && mill_mining_episode(m, 7, &e),
     "level 1 is there");
  mill_mining_free(m);
  m = opened(path, SET("mining.intervals=(0,2] ms", "mining.support=1", "mining.max_candidates=41"), &error);
  ok(mill_mining_run(m, NULL, NULL, &error) && error.status == MILL_RESOURCES && strstr(error.text, "level 2 has 42 candidates"),
     "max_candidates: %s", error.text);
  mill_mining_report(m, &r);
  ok(!r.complete && r.levels == 1 && r.episodes == 7, "level 1 is there");
  mill_mining_free(m);
  static const char *const tiny[] = {"mining.memory=0", "mining.memory=1", "mining.memory=100K", "mining.memory=300K"};
  for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
    m = opened(path, SET("mining.intervals=(0,2] ms", "mining.support=1", tiny[i]), &error);
    int bad = mill_mining_run(m, NULL, NULL, &error);
    mill_mining_report(m, &r);
    ok(bad && error.status == MILL_RESOURCES && strstr(error.text, "memory") && !r.complete && r.levels <= 2, "%s: %u levels",
       tiny[i], r.levels);
    mill_mining_free(m);
  }
  ok(setenv("SPIKEMILL_MEMORY", "1X", 1) == 0 && !opened(path, SET("mining.intervals=(0,2] ms", "mining.support=1"), &error) &&
         error.status == MILL_USAGE,
     "SPIKEMILL_MEMORY is checked: %s", error.text);
  unsetenv("SPIKEMILL_MEMORY");
}

int main(void)
{
  plan_later();
  setenv("SPIKEMILL_CUDA_DRIVER", "/nonexistent", 1); /* on the CPU: a GPU has tests of its own */
  spikes_begin();
  mill_note_set(take_note, NULL);
  test_report();
  test_durations();
  test_small();
  test_stops();
  spikes_end();
  is_int((intmax_t)mill_memory_held(), 0, "no memory is left behind");
  return done_testing();
}
