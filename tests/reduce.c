// Closed and maximal episodes, against what the words mean: every two episodes are looked at, by their nodes.
#include <spikemill/counter.h>
#include <spikemill/mining.h>
#include "memory.h"
#include "mine.h"
#include "spikes.h"

enum { MOST = 4000, RECORDINGS = 300 };

static struct mill_mining_episode all[MOST], listed[MOST];

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct mill_mining *mined(const char *path, const char *const *sets)
{
  struct mill_mining *m;
  struct mill_error error;
  size_t n = 0;
  while (sets[n])
    n++;
  if (mill_mining_open(path, sets, n, &m, &error) || mill_mining_run(m, NULL, NULL, &error))
    bail("%s: %s", path, error.text);
  return m;
}

// A recording of up to three types and 40 events.
static const char *write_recording(uint64_t *state)
{
  struct mill_event event[40];
  char text[2000] = "type,time_ms\n";
  const uint32_t n = below(state, 40);
  make_events(state, event, n, 1 + below(state, 3), 2 + below(state, 3));
  for (uint32_t i = 0; i < n; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%c,%jd\n", (char)('A' + event[i].unit), (intmax_t)event[i].tick);
  put_file(in_folder("r.csv"), text, strlen(text));
  return in_folder("r.csv");
}

// Whether a part of an episode, from node `from` on, is the whole of a shorter one.
static int has(const struct mill_mining_episode *e, uint32_t from, const struct mill_mining_episode *part)
{
  const size_t gaps = part->length - 1;
  return !memcmp(e->type + from, part->type, part->length * sizeof *e->type) &&
         !memcmp(e->low + from, part->low, gaps * sizeof *e->low) && !memcmp(e->high + from, part->high, gaps * sizeof *e->high);
}

static int is_end_of(const struct mill_mining_episode *part, const struct mill_mining_episode *e)
{
  return has(e, 0, part) || has(e, e->length - part->length, part);
}

static int is_closed(const struct mill_mining_episode *e, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    if (all[i].length == e->length + 1 && all[i].count == e->count && is_end_of(e, &all[i]))
      return 0;
  return 1;
}

static int is_maximal(const struct mill_mining_episode *e, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    if (all[i].length > e->length && is_end_of(e, &all[i]))
      return 0;
  return 1;
}

static int same(const struct mill_mining_episode *a, const struct mill_mining_episode *b)
{
  return a->length == b->length && a->count == b->count && has(a, 0, b);
}

typedef int get_episode(const struct mill_mining *mining, uint64_t index, struct mill_mining_episode *out);

static uint32_t read_list(const struct mill_mining *m, get_episode *get, struct mill_mining_episode *to)
{
  uint32_t n = 0;
  while (n < MOST && !get(m, n, &to[n]))
    n++;
  if (n == MOST)
    bail("too many episodes");
  return n;
}

// Whether the list is what is left of `all`, in the same order; and whether the sums agree.
static int is_list(const struct mill_mining *m, uint32_t count, int (*belongs)(const struct mill_mining_episode *e, uint32_t count))
{
  struct mill_mining_report r;
  struct mill_mining_level level;
  uint32_t n = read_list(m, mill_mining_episode, listed), at = 0, of_levels = 0;
  for (uint32_t i = 0; i < count; i++)
    if (belongs(&all[i], count) && (at == n || !same(&all[i], &listed[at++])))
      return 0;
  mill_mining_report(m, &r);
  for (uint32_t k = 1; !mill_mining_level(m, k, &level); k++)
    of_levels += (uint32_t)level.listed;
  return at == n && r.listed == n && of_levels == n && r.episodes == count;
}

static int everything(const struct mill_mining_episode *e, uint32_t count)
{
  (void)e, (void)count;
  return 1;
}

static void test_random(void)
{
  static const struct {
    const char *set;
    int (*belongs)(const struct mill_mining_episode *e, uint32_t count);
  } kinds[] = {{"mining.reduce=none", everything}, {"mining.reduce=closed", is_closed}, {"mining.reduce=maximal", is_maximal}};
  uint64_t state = 3, episodes = 0, kept[3] = {0};
  uint32_t right[3] = {0}, unchanged = 0;
  for (int run = 0; run < RECORDINGS; run++) {
    const char *path = write_recording(&state);
    const char *support = below(&state, 2) ? "mining.support=2" : "mining.support=3";
    const char *repeats = below(&state, 2) ? "mining.repeats=yes" : "mining.repeats=no";
    const char *longest = below(&state, 3) ? "mining.max_length=6" : "mining.max_length=3";
    uint64_t hash = 0;
    uint32_t count = 0;
    for (int k = 0; k < 3; k++) {
      struct mill_mining_report r;
      struct mill_mining *m = mined(path, SET("mining.intervals=(0,1] (1,3] ms", "mining.tick=1 ms", "mining.threads=1", support,
                                              repeats, longest, kinds[k].set));
      mill_mining_report(m, &r);
      if (k == 0) {
        count = read_list(m, mill_mining_frequent, all);
        hash = r.count_hash;
        episodes += count;
      }
      right[k] += (uint32_t)is_list(m, count, kinds[k].belongs);
      kept[k] += r.listed;
      unchanged += r.count_hash == hash && !strcmp(r.reduce, strchr(kinds[k].set, '=') + 1);
      mill_mining_free(m);
    }
  }
  for (int k = 0; k < 3; k++)
    is_int(right[k], RECORDINGS, "%s: the right ones of %d recordings, %ju of %ju episodes", kinds[k].set, RECORDINGS,
           (uintmax_t)kept[k], (uintmax_t)episodes);
  is_int(unchanged, 3 * RECORDINGS, "the hash is that of all of them");
  ok(kept[2] < kept[1] && kept[1] < kept[0], "each leaves fewer");
}

// The levels that are complete are reduced among themselves.
static int stop_at(const struct mill_mining_progress *p, void *self)
{
  return p->level == *(const uint32_t *)self;
}

static void test_stop(void)
{
  static const char text[] = "type,time_ms\nA,1\nB,2\nC,3\nA,11\nB,12\nC,13\n";
  const char *const sets[] = {"mining.intervals=(0,2] ms", "mining.support=2", "mining.reduce=maximal"};
  struct mill_mining *m;
  struct mill_mining_report r;
  struct mill_mining_episode e;
  struct mill_error error;
  uint32_t level = 3;
  put_file(in_folder("s.csv"), text, strlen(text));
  if (mill_mining_open(in_folder("s.csv"), sets, 3, &m, &error))
    bail("%s", error.text);
  ok(mill_mining_run(m, stop_at, &level, &error) && error.status == MILL_INTERRUPTED, "interrupted at level 3: %s", error.text);
  mill_mining_report(m, &r);
  ok(r.levels == 2 && r.episodes == 6 && r.listed == 3 && !r.complete, "two levels: %ju of %ju episodes are listed",
     (uintmax_t)r.listed, (uintmax_t)r.episodes);
  ok(!mill_mining_episode(m, 0, &e) && e.length == 2 && mill_mining_episode(m, 3, &e), "those of two nodes");
  mill_mining_free(m);
}

// ---- Occurrences of what is listed ----

static int count_one(const int64_t *ticks, void *self)
{
  int64_t *sum = self;
  sum[0]++;
  sum[1] += ticks[0];
  return 0;
}

static int stop_now(const int64_t *ticks, void *self)
{
  (void)ticks, (void)self;
  return 1;
}

static void test_occurrences(void)
{
  const char *path = in_folder("s.csv");
  struct mill_mining_episode e;
  struct mill_error error;
  int64_t sum[2] = {0};
  struct mill_mining *m = mined(
      path, SET("mining.intervals=(0,2] ms", "mining.support=2", "mining.reduce=maximal", "mining.occurrences=never-written.csv"));
  ok(!mill_mining_episode(m, 1, &e) && e.length == 3 && e.count == 2, "A C is listed, then A B C");
  ok(!mill_mining_occurrences(m, 1, count_one, sum, &error) && sum[0] == 2 && sum[1] == 12, "with two occurrences, at 1 and 11");
  ok(mill_mining_occurrences(m, 1000, count_one, sum, &error) && error.status == MILL_USAGE, "no such episode: %s", error.text);
  ok(mill_mining_occurrences(m, 0, stop_now, NULL, &error) && error.status == MILL_INTERRUPTED, "it can be stopped: %s",
     error.text);
  mill_mining_free(m);
  m = mined(path, SET("mining.intervals=(0,2] ms", "mining.support=2"));
  ok(mill_mining_occurrences(m, 0, count_one, sum, &error) && error.status == MILL_USAGE, "only when asked for: %s", error.text);
  mill_mining_free(m);
}

int main(void)
{
  plan_later();
  spikes_begin();
  test_random();
  test_stop();
  test_occurrences();
  spikes_end();
  is_int((intmax_t)mill_memory_held(), 0, "no memory is left behind");
  return done_testing();
}
