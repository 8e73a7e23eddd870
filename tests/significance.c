/* Significance: what surrogates keep and what they change, false discovery rates by hand, and p of mined episodes against surrogates that are
   counted one by one. The model is tests/significance-model.c. */
#include "chain.h"
#include "memory.h"
#include "mine.h"
#include "mined.h"
#include "significance.h"
#include "spikes.h"

/* ---- Surrogates --------------------------------------------------------------------------------------------------------- */

enum { EVENTS = CHAIN_MOST, TYPES = 5 };

/* A counter's input of events, by hand. */
struct laid {
  struct mill_counter_input in;
  int64_t time[EVENTS], type_time[EVENTS];
  uint32_t type[EVENTS], first[TYPES + 1];
};

static void lay(struct laid *l, const struct mill_event *event, uint32_t n)
{
  uint32_t at = 0;
  *l = (struct laid){
      .in = {.events = n, .types = TYPES, .time = l->time, .type = l->type, .first = l->first, .type_time = l->type_time}};
  for (uint32_t i = 0; i < n; i++) {
    l->time[i] = event[i].tick;
    l->type[i] = event[i].unit;
  }
  for (uint32_t e = 0; e < TYPES; e++) {
    l->first[e] = at;
    for (uint32_t i = 0; i < n; i++)
      if (event[i].unit == e)
        l->type_time[at++] = event[i].tick;
  }
  l->first[TYPES] = at;
}

static int by_time(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The times of a type, in order. */
static uint32_t train_of(const struct mill_event *event, uint32_t n, uint32_t type, int64_t *time)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    if (event[i].unit == type)
      time[count++] = event[i].tick;
  qsort(time, count, sizeof *time, by_time);
  return count;
}

static int near(const int64_t *a, const int64_t *b, uint32_t n, int64_t most)
{
  for (uint32_t i = 0; i < n; i++)
    if (a[i] - b[i] > most || b[i] - a[i] > most)
      return 0;
  return 1;
}

static int64_t least_distance(const int64_t *time, uint32_t n)
{
  int64_t least = INT64_MAX;
  for (uint32_t i = 1; i < n; i++)
    least = time[i] - time[i - 1] < least ? time[i] - time[i - 1] : least;
  return least;
}

static int same_intervals(const int64_t *a, const int64_t *b, uint32_t n)
{
  int64_t x[EVENTS], y[EVENTS];
  for (uint32_t i = 1; i < n; i++) {
    x[i] = a[i] - a[i - 1];
    y[i] = b[i] - b[i - 1];
  }
  if (n > 1) {
    qsort(x + 1, n - 1, sizeof *x, by_time);
    qsort(y + 1, n - 1, sizeof *y, by_time);
  }
  return !n || (a[0] == b[0] && (n < 2 || !memcmp(x + 1, y + 1, (n - 1) * sizeof *x)));
}

/* Whether b is a, later by one number of ticks and round in begin … begin + width - 1. */
static int is_shifted(const int64_t *a, const int64_t *b, uint32_t n, int64_t begin, int64_t width)
{
  int64_t c[EVENTS];
  for (uint32_t by = 0; by < n; by++) {
    const int64_t shift = (b[0] - a[by] + width) % width;
    for (uint32_t i = 0; i < n; i++)
      c[i] = begin + (a[i] - begin + shift) % width;
    qsort(c, n, sizeof *c, by_time);
    if (near(b, c, n, 0))
      return 1;
  }
  return n == 0;
}

static int keeps(enum mill_surrogate kind, const struct mill_surrogate_setup *s, const int64_t *a, const int64_t *b, uint32_t n)
{
  switch (kind) {
  case MILL_SURROGATE_DITHER:
    return near(a, b, n, s->dither);
  case MILL_SURROGATE_DITHER_REFRACTORY:
    return near(a, b, n, s->dither) && least_distance(b, n) >= least_distance(a, n);
  case MILL_SURROGATE_ISI_SHUFFLE:
    return same_intervals(a, b, n);
  default:
    return is_shifted(a, b, n, s->begin, s->end - s->begin + 1);
  }
}

static struct mill_trains *trains_of(const struct mill_surrogate_setup *s, const struct laid *l, const uint32_t *number)
{
  struct mill_error error;
  struct mill_trains *t = mill_trains_create(s, &l->in, number, &error);
  if (!t)
    bail("%s", error.text);
  return t;
}

static struct mill_surrogate_room *room_of(const struct mill_trains *t)
{
  struct mill_error error;
  struct mill_surrogate_room *room = mill_surrogate_room_create(t, &error);
  if (!room)
    bail("%s", error.text);
  return room;
}

static const uint32_t all_types[TYPES] = {0, 1, 2, 3, 4}, some_types[TYPES] = {UINT32_MAX, 0, UINT32_MAX, 1, UINT32_MAX};

/* What is wrong with one surrogate: out of order or bounds, other counts, not of its kind, other times when fewer types matter. */
static void check_surrogate(enum mill_surrogate kind, const struct mill_surrogate_setup *s, const struct mill_event *event,
                            uint32_t n, uint64_t index, int *wrong)
{
  static struct laid l;
  int64_t before[EVENTS], after[EVENTS], fewer[EVENTS];
  lay(&l, event, n);
  struct mill_trains *all = trains_of(s, &l, all_types), *some = trains_of(s, &l, some_types);
  struct mill_surrogate_room *rooms[2] = {room_of(all), room_of(some)};
  const struct mill_event *made = mill_surrogate_make(all, index, rooms[0]), *part = mill_surrogate_make(some, index, rooms[1]);
  wrong[0] += mill_trains_events(all) != n || mill_trains_types(all) != TYPES || mill_trains_types(some) != 2;
  for (uint32_t i = 0; i < n; i++)
    wrong[0] += made[i].tick < s->begin || made[i].tick > s->end || (i && made[i].tick < made[i - 1].tick);
  for (uint32_t e = 0; e < TYPES; e++) {
    const uint32_t count = train_of(event, n, e, before);
    if (train_of(made, n, e, after) != count)
      wrong[1]++;
    else if (!keeps(kind, s, before, after, count))
      wrong[2]++;
    if (some_types[e] != UINT32_MAX)
      wrong[3] +=
          train_of(part, (uint32_t)mill_trains_events(some), some_types[e], fewer) != count || !near(after, fewer, count, 0);
  }
  mill_surrogate_room_free(rooms[0]);
  mill_surrogate_room_free(rooms[1]);
  mill_trains_free(all);
  mill_trains_free(some);
}

static void test_kinds(void)
{
  struct mill_event event[EVENTS];
  uint64_t state = 11;
  for (int kind = 0; kind < MILL_SURROGATE_COUNT; kind++) {
    int wrong[4] = {0, 0, 0, 0};
    for (int run = 0; run < 2000; run++) {
      const uint32_t n = below(&state, run % 3 ? 20 : EVENTS + 1), longest = run % 4 ? 30 : 2;
      make_events(&state, event, n, TYPES, longest);
      const int64_t first = n ? event[0].tick : 0, last = n ? event[n - 1].tick : 0;
      const struct mill_surrogate_setup s = {.kind = (enum mill_surrogate)kind,
                                             .dither = below(&state, 50),
                                             .seed = chance(&state),
                                             .begin = first - below(&state, 3),
                                             .end = last + below(&state, 3)};
      check_surrogate((enum mill_surrogate)kind, &s, event, n, chance(&state), wrong);
    }
    const char *name = mill_surrogate_names[kind];
    is_int(wrong[0], 0, "%s: in order and within the recording", name);
    is_int(wrong[1], 0, "%s: as many events of each type", name);
    is_int(wrong[2], 0, "%s: what it promises", name);
    is_int(wrong[3], 0, "%s: other types make no difference", name);
  }
}

/* Chi square of equal frequencies, in standard deviations above its mean. */
static double excess(const int *count, int n, int draws)
{
  double chi = 0, each = (double)draws / n;
  for (int i = 0; i < n; i++)
    chi += (count[i] - each) * (count[i] - each) / each;
  return (chi - (n - 1)) / sqrt(2.0 * (n - 1));
}

/* Where one event goes, or which order three intervals get. */
static void test_chances(void)
{
  enum { DRAWS = 20000 };
  static struct laid l;
  static const struct mill_event lone[] = {{50, 0, 0}}, edge[] = {{2, 0, 0}}, four[] = {{0, 0, 0}, {1, 0, 0}, {3, 0, 0}, {7, 0, 0}};
  static const uint32_t one[TYPES] = {0, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  static const struct {
    const char *what;
    enum mill_surrogate kind;
    const struct mill_event *event;
    uint32_t n;
    int64_t low, high; /* where it may go */
  } row[] = {
      {"dither", MILL_SURROGATE_DITHER, lone, 1, 40, 60},
      {"dither at the beginning", MILL_SURROGATE_DITHER, edge, 1, 0, 12},
      {"dither-refractory", MILL_SURROGATE_DITHER_REFRACTORY, lone, 1, 40, 60},
      {"shift", MILL_SURROGATE_SHIFT, lone, 1, 0, 99},
      {"isi-shuffle", MILL_SURROGATE_ISI_SHUFFLE, four, 4, 0, 5},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const struct mill_surrogate_setup s = {row[i].kind, 10, 3, 0, 99};
    int count[100] = {0}, outside = 0, places = (int)(row[i].high - row[i].low + 1);
    lay(&l, row[i].event, row[i].n);
    struct mill_trains *t = trains_of(&s, &l, one);
    struct mill_surrogate_room *room = room_of(t);
    for (uint64_t k = 0; k < DRAWS; k++) {
      const struct mill_event *made = mill_surrogate_make(t, k, room);
      /* The first two intervals tell the six orders of 1, 2 and 4 apart. */
      int64_t place = row[i].n == 1 ? made->tick - row[i].low : 0;
      if (row[i].n == 4)
        place = (made[1].tick == 1 ? 0 : made[1].tick == 2 ? 2 : 4) + (made[2].tick - made[1].tick > made[3].tick - made[2].tick);
      if (place < 0 || place >= places)
        outside++;
      else
        count[place]++;
    }
    is_int(outside, 0, "%s: no place but those it may have", row[i].what);
    ok(fabs(excess(count, places, DRAWS)) < 4, "%s: each equally often", row[i].what);
    mill_surrogate_room_free(room);
    mill_trains_free(t);
  }
}

static void test_ties(void)
{
  static struct laid l;
  static const struct mill_event sorted[] = {{0, 0, 0}, {0, 1, 0}, {1, 3, 0}, {1, 4, 0}},
                                 unsorted[] = {{0, 1, 0}, {0, 0, 0}, {1, 3, 0}, {1, 4, 0}};
  int64_t order[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    const struct mill_surrogate_setup s = {MILL_SURROGATE_DITHER, 2, 3, 0, 1};
    lay(&l, i ? unsorted : sorted, 4);
    struct mill_trains *t = trains_of(&s, &l, all_types);
    struct mill_surrogate_room *room = room_of(t);
    for (uint64_t k = 0; k < 200; k++) {
      const struct mill_event *made = mill_surrogate_make(t, k, room);
      for (int j = 1; j < 4; j++)
        if (made[j].tick == made[j - 1].tick)
          order[i] += made[j].unit < made[j - 1].unit && !(i && made[j - 1].unit == 1 && made[j].unit == 0);
      for (int j = 1; i && j < 4; j++)
        order[i] += made[j].tick == made[j - 1].tick && made[j - 1].unit == 0 && made[j].unit == 1;
    }
    mill_surrogate_room_free(room);
    mill_trains_free(t);
  }
  is_int(order[0], 0, "ties that are in order of type stay so");
  is_int(order[1], 0, "others are in the order of the recording");
}

/* ---- False discoveries -------------------------------------------------------------------------------------------------- */

static void test_discoveries(void)
{
  static const double share[] = {0.03, 0.5, 0.01, 0.04}, four[] = {0.16 / 3, 0.5, 0.04, 0.16 / 3},
                      ten[] = {0.4 / 3, 1, 0.1, 0.4 / 3};
  static const double counts[] = {1, 1, 2, 1};
  double q[4];
  uint64_t order[4];
  mill_false_discovery(share, 1, 4, 4, q, order);
  for (int i = 0; i < 4; i++)
    is_real(q[i], four[i], 1e-15, "q of p = %g among 4", share[i]);
  mill_false_discovery(share, 1, 4, 10, q, order);
  for (int i = 0; i < 4; i++)
    is_real(q[i], ten[i], 1e-15, "q of p = %g among 10", share[i]);
  mill_false_discovery(counts, 100, 4, 6, q, order);
  is_real(q[0], 0.02, 1e-17, "q of three p = 1/100 among 6");
  is_real(q[2], 0.03, 1e-17, "q of a fourth, 2/100");
  mill_false_discovery(share, 1, 0, 4, q, order);
  is_real(mill_surrogates_needed(650, 650, 0.01), 99, 0, "surrogates needed when every candidate may have the smallest p");
  is_real(mill_surrogates_needed(9, 650, 0.01), 7222, 0, "when 9 of 650 may");
  is_real(mill_surrogates_needed(1, 1000000, 0.05), 19999999, 0, "when one of a million may");
}

/* ---- Mined episodes ----------------------------------------------------------------------------------------------------- */

/* Counts the episode in every surrogate, plainly. */
static void check_episode(const struct mill_mining_episode *e, const struct mill_trains *trains, uint32_t surrogates, int *wrong)
{
  struct mill_surrogate_room *room = room_of(trains);
  struct mill_interval gap[4];
  uint64_t reached = 0, sum = 0;
  for (uint32_t i = 0; i + 1 < e->length; i++)
    gap[i] = (struct mill_interval){e->low[i], e->high[i]};
  for (uint64_t k = 0; k < surrogates; k++) {
    const uint64_t count =
        count_plainly(mill_surrogate_make(trains, k, room), (uint32_t)mill_trains_events(trains), e->length, e->type, gap, 0);
    reached += count >= e->count;
    sum += count;
  }
  *wrong += e->p != (1.0 + (double)reached) / (1.0 + surrogates) || e->expected != (double)sum / surrogates;
  mill_surrogate_room_free(room);
}

static void test_against_plain(const char *path, const struct mill_event *event, uint32_t n)
{
  static const uint32_t number[TYPES] = {0, 1, 2, 3, UINT32_MAX}; /* E is in no pair */
  static struct laid l;
  struct mill_mining_episode e;
  struct mill_mining_report r;
  lay(&l, event, n);
  for (int kind = 0; kind < MILL_SURROGATE_COUNT; kind++) {
    const struct mill_surrogate_setup s = {(enum mill_surrogate)kind, 20, 7, 0, 1000};
    struct mill_trains *trains = trains_of(&s, &l, number);
    char set[64];
    int wrong = 0, tested = 0;
    uint64_t significant = 0, candidates = 0;
    snprintf(set, sizeof set, "mining.surrogate=%s", mill_surrogate_names[kind]);
    struct mill_mining *m = mined(path, SET("mining.intervals=(0,5] (5,10] ms", "mining.support=15", "mining.threads=2",
                                            "mining.significance=surrogate=99", "mining.seed=7", "mining.q=0.1", set));
    for (uint64_t i = 0; !mill_mining_episode(m, i, &e); i++) {
      significant += e.q <= 0.1;
      if (e.length == 1)
        wrong +=
            !isnan(e.p) || !isnan(e.q) || !isnan(e.expected) || !isnan(e.strength) || fabs(e.rate * 1.001 - (double)e.count) > 1e-9;
      else
        check_episode(&e, trains, 99, &wrong);
      wrong += !isnan(e.threshold);
      tested += e.length > 1;
    }
    mill_mining_report(m, &r);
    for (uint32_t level = 2; level <= r.levels; level++) {
      struct mill_mining_level about;
      mill_mining_level(m, level, &about);
      candidates += about.candidates;
    }
    ok(!wrong && tested > 10, "%s: p and expected counts of %d episodes are those of surrogates counted one by one",
       mill_surrogate_names[kind], tested);
    ok(r.tested && r.surrogates == 99 && r.seed == 7 && !strcmp(r.surrogate, mill_surrogate_names[kind]) &&
           r.significant == significant && significant && r.tested_candidates == candidates,
       "%s: the report: %ju significant of %ju", mill_surrogate_names[kind], (uintmax_t)r.significant, (uintmax_t)candidates);
    mill_mining_free(m);
    mill_trains_free(trains);
  }
}

/* Whether two minings say the same of every episode, but for q of zero and one. */
static int same_tests(const struct mill_mining *a, const struct mill_mining *b)
{
  struct mill_mining_episode x, y;
  for (uint64_t i = 0;; i++) {
    const int more = !mill_mining_episode(a, i, &x);
    if (more != !mill_mining_episode(b, i, &y))
      return 0;
    if (!more)
      return i > 0;
    if (x.length > 1 && (x.p != y.p || x.q != y.q || x.expected != y.expected || x.strength != y.strength ||
                         (!isnan(x.threshold) && x.threshold != y.threshold)))
      return 0;
  }
}

static void test_same(const char *path)
{
#define BASE "mining.intervals=(0,5] (5,10] ms", "mining.support=15", "mining.q=0.1"
  static const char *const kinds[] = {"mining.significance=surrogate=99", "mining.significance=model"};
  static const char *const threads[] = {"mining.threads=1", "mining.threads=2", "mining.threads=3"};
  struct mill_mining_report r, none;
  struct mill_mining *plain = mined(path, SET("mining.intervals=(0,5] (5,10] ms", "mining.support=15"));
  mill_mining_report(plain, &none);
  ok(!strcmp(none.significance, "none") && !none.tested, "no tests unless asked for");
  for (size_t k = 0; k < 2; k++) {
    struct mill_mining *first = mined(path, SET(BASE, kinds[k], threads[0]));
    for (size_t t = 1; t < 3; t++) {
      struct mill_mining *other = mined(path, SET(BASE, kinds[k], threads[t]));
      ok(same_tests(first, other), "%s: the same with %s", kinds[k], threads[t]);
      mill_mining_free(other);
    }
    struct mill_mining *serial = mined(path, SET(BASE, kinds[k], "mining.counter=serial", "mining.memory=1M"));
    ok(same_tests(first, serial), "%s: the same with serial and little memory", kinds[k]);
    mill_mining_report(first, &r);
    ok(r.count_hash == none.count_hash && r.episodes == none.episodes && r.complete, "%s: episodes and counts are as without",
       kinds[k]);
    mill_mining_free(first);
    mill_mining_free(serial);
  }
  struct mill_mining *a = mined(path, SET(BASE, kinds[0])), *b = mined(path, SET(BASE, kinds[0], "mining.seed=2"));
  ok(!same_tests(a, b), "another seed, other surrogates");
  mill_mining_free(a);
  mill_mining_free(b);
  mill_mining_free(plain);
}

static int stop_testing(const struct mill_mining_progress *p, void *self)
{
  (void)self;
  return p->testing != NULL;
}

static void test_stops(const char *path)
{
  struct mill_mining_report r;
  struct mill_mining_episode e;
  struct mill_error error;
  struct mill_mining *m = opened(
      path, SET("mining.intervals=(0,5] (5,10] ms", "mining.support=15", "mining.significance=surrogate=98", "mining.q=0.001"),
      &error);
  ok(mill_mining_run(m, NULL, NULL, &error) && error.status == MILL_USAGE &&
         strstr(error.text, "98 surrogates cannot give a q of 0.001") && strstr(error.text, "(significance = surrogate="),
     "too few surrogates: %s", error.text);
  const char *needed = strstr(error.text, "(significance = surrogate=");
  const long least = needed ? strtol(needed + strlen("(significance = surrogate="), NULL, 10) : 0;
  mill_mining_free(m);
  for (long surrogates = least - 1; surrogates <= least; surrogates++) {
    char set[64];
    snprintf(set, sizeof set, "mining.significance=surrogate=%ld", surrogates);
    m = opened(path, SET("mining.intervals=(0,5] (5,10] ms", "mining.support=15", "mining.q=0.001", set), &error);
    is_int(mill_mining_run(m, NULL, NULL, &error) != 0, surrogates < least, "%ld surrogates, %ld needed", surrogates, least);
    mill_mining_free(m);
  }
  static const char *const kinds[] = {"mining.significance=surrogate=1000000", "mining.significance=model"};
  for (size_t k = 0; k < 2; k++) {
    m = opened(path, SET("mining.intervals=(0,5] (5,10] ms", "mining.support=15", "mining.threads=2", kinds[k]), &error);
    ok(mill_mining_run(m, stop_testing, NULL, &error) && error.status == MILL_INTERRUPTED &&
           strstr(error.text, "interrupted after"),
       "interrupted: %s", error.text);
    mill_mining_report(m, &r);
    ok(r.complete && !r.tested && r.episodes && !r.significant && !mill_mining_episode(m, r.episodes - 1, &e) && isnan(e.p) &&
           isnan(e.q),
       "the episodes are there, without tests");
    mill_mining_free(m);
  }
  put_file(in_folder("one.csv"), "type,time_ms\nA,5\nB,5\n", 21);
  m = opened(in_folder("one.csv"), SET("mining.intervals=(0,5] ms", "mining.support=1", "mining.significance=model"), &error);
  ok(!m && error.status == MILL_DATA && strstr(error.text, "all events have one time"), "no duration: %s", error.text);
  m = opened(path, SET("mining.intervals=(0,5] ms", "mining.support=1", "mining.significance=surrogate=9", "mining.dither=2.5"),
             &error);
  ok(!m && error.status == MILL_USAGE && strstr(error.text, "2.5 ms is no whole number of ticks, which are 1 ms long"),
     "dither off the ticks: %s", error.text);
  put_file(in_folder("empty.csv"), "type,time_ms\n", 13);
  m = mined(in_folder("empty.csv"), SET("mining.intervals=(0,5] ms", "mining.support=1", "mining.significance=surrogate=9"));
  mill_mining_report(m, &r);
  ok(r.complete && r.tested && !r.significant && !r.tested_candidates, "no event, nothing to test");
  mill_mining_free(m);
}

int main(void)
{
  struct mill_event event[EVENTS];
  plan_later();
  spikes_begin();
  test_kinds();
  test_chances();
  test_ties();
  test_discoveries();
  const uint32_t n = make_chain(event);
  write_chain("chain.smk", event, n);
  test_against_plain(in_folder("chain.smk"), event, n);
  test_same(in_folder("chain.smk"));
  test_stops(in_folder("chain.smk"));
  spikes_end();
  is_int((intmax_t)mill_memory_held(), 0, "no memory is left behind");
  return done_testing();
}
