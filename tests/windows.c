// Windows: each is what a file of its own would be, whether the recording is a file or comes piece by piece.
#include <spikemill/counter.h>
#include <spikemill/mining.h>
#include "memory.h"
#include "mine.h"
#include "spikes.h"

#define MS INT64_C(1000000000)
#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})
enum { TYPES = 6, MOST = 3000 };

static char noted[4000];

static void take_note(const char *line, void *self)
{
  (void)self;
  strncat(noted, line, sizeof noted - strlen(noted) - 1);
}

static size_t length_of(const char *const *sets)
{
  size_t n = 0;
  while (sets[n])
    n++;
  return n;
}

static struct mill_mining *opened(const char *path, const char *const *sets, struct mill_error *error)
{
  struct mill_mining *m = NULL;
  *error = (struct mill_error){0};
  noted[0] = 0;
  if (mill_mining_open(path, sets, length_of(sets), &m, error) && m)
    bail("a mining and an error");
  return m;
}

static struct mill_mining_report reported(struct mill_mining *m)
{
  struct mill_mining_report r;
  struct mill_error error;
  if (mill_mining_run(m, NULL, NULL, &error))
    bail("%s", error.text);
  mill_mining_report(m, &r);
  return r;
}

// ---- The recording: ticks of 1 ms, units in two populations, some of them silent in parts of it ----

static const struct mill_group groups[] = {{"exc", 0, 4}, {"inh", 4, 3}};
static struct mill_stream_info bounded(int64_t start, int64_t stop)
{
  return (struct mill_stream_info){
      .tick_ps = MS, .start = start, .stop = stop, .group_count = 2, .group = groups, .version = "", .config = ""};
}

static uint32_t make(uint64_t *state, struct mill_event *event, int64_t start, int64_t stop)
{
  uint32_t n = 0;
  for (int64_t tick = start + 1; tick <= stop && n < MOST - 4; tick++)
    for (uint32_t k = below(state, 4); k; k--)
      event[n++] =
          (struct mill_event){.tick = tick, .unit = below(state, 2) ? below(state, TYPES) : (uint32_t)((tick + 1000) / 50 % TYPES)};
  return n;
}

static const char *write_part(const char *name, const struct mill_stream_info *info, const struct mill_event *event, uint32_t n)
{
  struct mill_event part[MOST];
  struct mill_error error;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    if (event[i].tick > info->start && event[i].tick <= info->stop)
      part[count++] = event[i];
  if (write_stream(in_folder(name), NULL, info, part, count, 1, &error))
    bail("%s", error.text);
  return in_folder(name);
}

static int same(const struct mill_mining_report *a, const struct mill_mining_report *b)
{
  return a->count_hash == b->count_hash && a->spike_hash == b->spike_hash && a->support == b->support && a->events == b->events &&
         a->types == b->types && a->duration_s == b->duration_s && a->episodes == b->episodes && a->first == b->first &&
         a->last == b->last;
}

// The report of the window's own file.
static struct mill_mining_report alone(const struct mill_event *event, uint32_t n, int64_t start, int64_t stop, const char *support)
{
  const struct mill_stream_info info = bounded(start, stop);
  struct mill_error error;
  struct mill_mining *m = opened(write_part("part.smk", &info, event, n), SET("mining.intervals=(0,2] (2,5] ms", support), &error);
  if (!m)
    bail("%s", error.text);
  struct mill_mining_report r = reported(m);
  mill_mining_free(m);
  return r;
}

static void check_windows(uint64_t seed, int64_t start, int64_t stop, int64_t length, int64_t step, const char *support)
{
  static struct mill_event event[MOST];
  const struct mill_stream_info info = bounded(start, stop);
  char window[40], steps[40];
  struct mill_mining *m, *live, *w;
  struct mill_error error;
  const uint32_t n = make(&seed, event, start, stop);
  uint32_t pushed = 0;
  int good = 1, live_good = 1;
  snprintf(window, sizeof window, "mining.window=%lld.%03lld", (long long)length / 1000, (long long)length % 1000);
  snprintf(steps, sizeof steps, "mining.step=%lld.%03lld", (long long)step / 1000, (long long)step % 1000);
  const char *const sets[] = {"mining.intervals=(0,2] (2,5] ms", support, window, steps, NULL};
  m = opened(write_part("whole.smk", &info, event, n), sets, &error);
  put_file(in_folder("live.ini"), "[mining]\n", 9);
  if (!m || mill_mining_open_live(in_folder("live.ini"), sets, 4, "live", &info, &live, &error))
    bail("%s", error.text);
  is_int((intmax_t)mill_mining_windows(m), (stop - start - length) / step + 1, "%lld ms in (%lld, %lld], every %lld: windows",
         (long long)length, (long long)start, (long long)stop, (long long)step);
  for (uint64_t k = 0; k < mill_mining_windows(m); k++) {
    const int64_t from = start + (int64_t)k * step;
    const struct mill_mining_report wanted = alone(event, n, from, from + length, support);
    if (mill_mining_window(m, k, &w, &error))
      bail("%s", error.text);
    struct mill_mining_report got = reported(w);
    good &= same(&got, &wanted) && got.window == k + 1 && got.windows == mill_mining_windows(m) && got.window_start == from &&
            got.window_stop == from + length && mill_mining_window_stop(m, k) == from + length;
    mill_mining_free(w);
    for (; pushed < n && event[pushed].tick <= from + length; pushed++)
      if (mill_mining_push(live, &event[pushed], 1, &error))
        bail("%s", error.text);
    if (mill_mining_window(live, k, &w, &error))
      bail("%s", error.text);
    got = reported(w);
    live_good &= same(&got, &wanted) && !strcmp(got.input, "live");
    mill_mining_free(w);
  }
  ok(good, "each is what its own file is");
  ok(live_good, "and the same while the spikes come");
  ok(mill_mining_run(m, NULL, NULL, &error) && error.status == MILL_USAGE && strstr(error.text, "one by one"),
     "the whole is not run: %s", error.text);
  ok(mill_mining_window(m, mill_mining_windows(m), &w, &error) && !w && strstr(error.text, "there is no window"),
     "no window more: %s", error.text);
  mill_mining_free(m);
  mill_mining_free(live);
}

static void test_windows(void)
{
  check_windows(1, 0, 900, 100, 100, "mining.support=20/s");
  check_windows(2, 0, 950, 100, 100, "mining.support=2%");
  check_windows(3, 17, 800, 200, 50, "mining.support=4");
  check_windows(4, -500, 300, 30, 77, "mining.support=15/s");
  check_windows(5, 0, 700, 700, 700, "mining.support=20/s");
  check_windows(6, 0, 60, 1, 1, "mining.support=1");
}

// Without windows: the same as of a file.
static void test_live(void)
{
  static struct mill_event event[MOST];
  uint64_t state = 9;
  const struct mill_stream_info info = bounded(0, 600);
  const uint32_t n = make(&state, event, 0, 600);
  const char *const sets[] = {"mining.intervals=(0,2] (2,5] ms", "mining.support=10/s", NULL};
  struct mill_error error;
  struct mill_mining *m;
  struct mill_mining_report wanted = alone(event, n, 0, 600, "mining.support=10/s"), got;
  if (mill_mining_open_live(in_folder("live.ini"), sets, 2, "net.ini", &info, &m, &error))
    bail("%s", error.text);
  is_int((intmax_t)mill_mining_windows(m), 0, "a live mining without windows");
  for (uint32_t i = 0; i < n; i += 7)
    if (mill_mining_push(m, event + i, n - i < 7 ? n - i : 7, &error))
      bail("%s", error.text);
  ok(mill_mining_run(m, NULL, NULL, &error) && strstr(error.text, "more spikes may come"), "is not run before the end: %s",
     error.text);
  ok(!mill_mining_seal(m, 600, &error), "all spikes are there");
  ok(mill_mining_push(m, event, 1, &error) && strstr(error.text, "no more spikes"), "no more may come: %s", error.text);
  got = reported(m);
  ok(same(&got, &wanted), "it gives what a file gives");
  is_str(mill_mining_type(m, 0), "exc:0", "with its names");
  mill_mining_free(m);
  if (mill_mining_open_live(in_folder("live.ini"), sets, 2, "net.ini", &info, &m, &error) ||
      mill_mining_push(m, event, n / 2, &error) || mill_mining_seal(m, event[n / 2 - 1].tick, &error))
    bail("%s", error.text);
  got = reported(m);
  is_real(got.duration_s, (double)event[n / 2 - 1].tick / 1000, 1e-12, "stopped early: as far as it came");
  mill_mining_free(m);
  static const char text[] = "[mining]\nspikes = a.smk\nsupport = 3\nintervals = (0,5] ms\n";
  put_file(in_folder("named.ini"), text, strlen(text));
  ok(mill_mining_open_live(in_folder("named.ini"), NULL, 0, "net.ini", &info, &m, &error) && error.status == MILL_USAGE &&
         strstr(error.text, "named.ini:2: [mining] spikes = a.smk: is of a spike file, and the spikes are those of net.ini"),
     "a job that names spikes: %s", error.text);
  ok(mill_mining_open_live(in_folder("live.ini"), SET("mining.intervals=(0,0.5] ms", "mining.support=3"), 2, "net.ini", &info, &m,
                           &error) &&
         strstr(error.text, "no whole number of ticks"),
     "intervals off the grid: %s", error.text);
  ok(mill_mining_open_live(in_folder("whole.smk"), sets, 2, "net.ini", &info, &m, &error) && strstr(error.text, "ends in .ini"),
     "no job file: %s", error.text);
}

// ---- Recordings without bounds, errors, notes ----

static void put_text(const char *name, const char *text)
{
  put_file(in_folder(name), text, strlen(text));
}

static void test_unbounded(void)
{
  struct mill_error error;
  struct mill_mining *w, *m;
  struct mill_mining_report r;
  put_text("free.csv", "type,time_ms\nA,5\nB,6\nA,7\nB,8\nA,9\nB,10\nA,11\n");
  m = opened(in_folder("free.csv"), SET("mining.intervals=(0,1] ms", "mining.support=1", "mining.window=0.002"), &error);
  if (!m)
    bail("%s", error.text);
  is_int((intmax_t)mill_mining_windows(m), 3, "from the first event on: 5 to 11 ms hold three windows of 2 ms");
  ok(strstr(noted, "the last 1 ms are in no window"), "and the rest is noted: %s", noted);
  for (uint64_t k = 0; k < 3; k++) {
    if (mill_mining_window(m, k, &w, &error))
      bail("%s", error.text);
    r = reported(w);
    ok(r.events == 2 && r.first == r.window_start + 1 && r.episodes == 3, "window %d has A, B and A → B", (int)k + 1);
    mill_mining_free(w);
  }
  mill_mining_free(m);
  m = opened(in_folder("free.csv"), SET("mining.intervals=(0,1] ms", "mining.support=1", "mining.window=0.007"), &error);
  ok(m && mill_mining_windows(m) == 1 && !*noted, "a window of all of it leaves no rest");
  mill_mining_free(m);
}

// Windows that leave events out, of a file and while spikes come: how many is said once.
static void test_between(void)
{
  static struct mill_event event[MOST];
  uint64_t state = 11;
  const struct mill_stream_info info = bounded(-100, 850);
  const uint32_t n = make(&state, event, -100, 850);
  const char *const sets[] = {"mining.intervals=(0,2] ms", "mining.support=1", "mining.window=0.1", "mining.step=0.15", NULL};
  char wanted[200];
  struct mill_error error;
  struct mill_mining *m, *w;
  uint32_t between = 0, pushed = 0;
  for (uint32_t i = 0; i < n; i++) /* six windows, the last one from 650 to 750 */
    between += event[i].tick <= 650 && (event[i].tick + 99) % 150 >= 100;
  m = opened(write_part("between.smk", &info, event, n), sets, &error);
  if (!m)
    bail("%s", error.text);
  snprintf(wanted, sizeof wanted, "between.smk: %u events lie between windows, and are in none: step is longer than window",
           between);
  ok(between > 100 && strstr(noted, wanted), "a file, noted: %s", noted);
  for (uint64_t k = 0; k < mill_mining_windows(m); k++) {
    if (mill_mining_window(m, k, &w, &error))
      bail("%s", error.text);
    mill_mining_free(w);
  }
  const char *first = strstr(noted, "between windows");
  ok(first && !strstr(first + 1, "between windows"), "once");
  mill_mining_free(m);
  noted[0] = 0;
  if (mill_mining_open_live(in_folder("live.ini"), sets, 4, "live", &info, &m, &error))
    bail("%s", error.text);
  for (uint64_t k = 0; k < mill_mining_windows(m); k++) {
    for (; pushed < n && event[pushed].tick <= mill_mining_window_stop(m, k) + 20; pushed++)
      if (mill_mining_push(m, &event[pushed], 1, &error))
        bail("%s", error.text);
    if (mill_mining_window(m, k, &w, &error))
      bail("%s", error.text);
    mill_mining_free(w);
  }
  snprintf(wanted, sizeof wanted, "live: %u events lie between windows, and are in none", between);
  first = strstr(noted, wanted);
  ok(first && !strstr(first + strlen(wanted), "between windows"), "the same while the spikes come: %s", noted);
  mill_mining_free(m);
  put_text("one.csv", "type,time_ms\nA,1\nA,3\nA,8\n");
  m = opened(in_folder("one.csv"), SET("mining.intervals=(0,1] ms", "mining.support=1", "mining.window=0.003", "mining.step=0.005"),
             &error);
  ok(m && !strstr(noted, "between"), "no event between: %s", noted);
  mill_mining_free(m);
}

// Ticks as far from 0 as there are.
static void test_extremes(void)
{
  static const struct mill_stream_info info = {.tick_ps = 1, .group_count = 1, .group = groups, .version = "", .config = ""};
  static const int64_t first[] = {INT64_MAX, INT64_MAX - 2, INT64_MIN + 1, INT64_MIN};
  struct mill_error error;
  struct mill_mining *m, *w;
  for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
    struct mill_event event[3];
    const uint32_t n = first[i] == INT64_MAX ? 1 : 3;
    for (uint32_t k = 0; k < n; k++)
      event[k] = (struct mill_event){.tick = first[i] + (int64_t)k, .unit = k};
    if (write_stream(in_folder("far.smk"), NULL, &info, event, n, 1, &error))
      bail("%s", error.text);
    m = opened(in_folder("far.smk"), SET("mining.intervals=(0,1] ps", "mining.support=1", "mining.window=1e-12"), &error);
    if (first[i] == INT64_MIN) {
      ok(!m && error.status == MILL_DATA && strstr(error.text, "the first event is at tick -9223372036854775808"),
         "no tick is before the first event: %s", error.text);
      continue;
    }
    if (!m)
      bail("%s", error.text);
    is_int((intmax_t)mill_mining_windows(m), n, "from tick %lld on: windows", (long long)first[i]);
    int good = 1;
    for (uint32_t k = 0; k < n; k++) {
      if (mill_mining_window(m, k, &w, &error))
        bail("%s", error.text);
      const struct mill_mining_report r = reported(w);
      good &=
          r.events == 1 && r.first == first[i] + (int64_t)k && r.window_stop == r.first && mill_mining_window_stop(m, k) == r.first;
      mill_mining_free(w);
    }
    ok(good, "each has its event");
    mill_mining_free(m);
  }
  static const struct mill_event ends[] = {{.tick = INT64_MIN + 1, .unit = 0}, {.tick = INT64_MAX, .unit = 1}};
  if (write_stream(in_folder("far.smk"), NULL, &info, ends, 2, 1, &error))
    bail("%s", error.text);
  ok(!opened(in_folder("far.smk"), SET("mining.intervals=(0,1] ps", "mining.support=1", "mining.window=1"), &error) &&
         error.status == MILL_DATA && strstr(error.text, "more than 9223372036854775807 ticks"),
     "more ticks than can be counted: %s", error.text);
}

static void test_errors(void)
{
  static const struct {
    const char *window, *step, *says;
  } bad[] = {
      {"mining.window=0", NULL, "mining.window=0: expected seconds, above 0"},
      {"mining.window=-1", NULL, "expected seconds, above 0"},
      {"mining.window=x", NULL, "mining.window=x: "},
      {"mining.window=1e-13", NULL, "a whole number of picoseconds"},
      {"mining.window=0.0005", NULL, "is no whole number of ticks of this recording, which are 1 ms long"},
      {"mining.window=0.008", NULL, "is longer than the recording, which has 7 ms"},
      {"mining.window=0.002", "mining.step=0", "mining.step=0: expected seconds, above 0"},
      {"mining.window=0.002", "mining.step=-1", "mining.step=-1: expected seconds, above 0"},
      {"mining.window=0.002", "mining.step=0.0015", "mining.step=0.0015: is no whole number of ticks"},
      {"mining.step=0.002", NULL, "there is no `window`"},
  };
  struct mill_error error;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct mill_mining *m =
        opened(in_folder("free.csv"), SET("mining.intervals=(0,1] ms", "mining.support=1", bad[i].window, bad[i].step), &error);
    ok(!m && error.status == MILL_USAGE && strstr(error.text, bad[i].says), "%s", error.text);
    mill_mining_free(m);
  }
  put_text("none.csv", "type,time_ms\n");
  ok(!opened(in_folder("none.csv"), SET("mining.intervals=(0,1] ms", "mining.support=1", "mining.window=1"), &error) &&
         strstr(error.text, "is longer than the recording"),
     "an empty recording: %s", error.text);
}

int main(void)
{
  plan_later();
  spikes_begin();
  mill_note_set(take_note, NULL);
  test_windows();
  test_live();
  test_unbounded();
  test_between();
  test_extremes();
  test_errors();
  spikes_end();
  is_int((intmax_t)mill_memory_held(), 0, "no memory is left behind");
  return done_testing();
}
