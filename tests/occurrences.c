// The occurrences of an episode: as many as brute force counts, each one valid, none over another, and the ones that are promised.
#include "brute.h"
#include "counting.h"
#include "memory.h"
#include "mine.h"
#include "occurrences.h"
#include "registry.h"
#include "threads.h"

enum { TYPES = 26 };

static const struct mill_plugin *plugin;
static struct mill_team *team;

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
  return chance(&seed) % below;
}

// ---- What is found ----

struct found {
  uint32_t length, count, room;
  uint32_t stop_at; // 0: never
  int64_t *ticks;   // [count][length]
};

static int take(const int64_t *ticks, void *self)
{
  struct found *f = self;
  if (f->count == f->room) {
    f->room = 2 * f->room + 16;
    f->ticks = realloc(f->ticks, (size_t)f->room * f->length * sizeof *f->ticks);
    if (!f->ticks)
      bail("out of memory");
  }
  memcpy(f->ticks + (size_t)f->count++ * f->length, ticks, f->length * sizeof *ticks);
  return f->count == f->stop_at;
}

// The occurrences in a stream; their ticks are to be freed.
static int find(const struct mill_event *event, uint32_t n, const struct brute_episode *e, int strict, struct found *found)
{
  struct mill_counting *counting;
  struct mill_occurrences *occurrences;
  struct mill_error error;
  const struct mill_counting_setup setup = {.plugin = plugin,
                                            .event = event,
                                            .events = n,
                                            .types = TYPES,
                                            .ties = strict ? MILL_TIES_STRICT : MILL_TIES_ORDER,
                                            .interval = e->gap,
                                            .interval_count = e->length - 1,
                                            .threshold = 1,
                                            .team = team};
  *found = (struct found){.length = e->length, .stop_at = found->stop_at};
  if (mill_counting_open(&setup, &counting, &error) || mill_occurrences_open(mill_counting_input(counting), &occurrences, &error))
    bail("%s", error.text);
  mill_counting_close(counting); // nothing of it is needed any more
  int rc = mill_occurrences_find(occurrences, e->length, e->type, e->gap, take, found, &error);
  mill_occurrences_free(occurrences);
  return rc;
}

// ---- Judgement ----

// Events that no occurrence before has used have these ticks and types: where the first one lies, so that the nodes can be told apart by
// more than their times. Returns n when there is none.
static uint32_t event_at(const struct mill_event *event, uint32_t n, uint32_t from, uint32_t type, int64_t tick)
{
  while (from < n && (event[from].unit != type || event[from].tick != tick))
    from++;
  return from;
}

// Whether all are valid and each begins after the one before has ended.
static const char *judge(const struct mill_event *event, uint32_t n, const struct brute_episode *e, int strict,
                         const struct found *f)
{
  uint32_t after = 0; // events before this one are used up
  for (uint32_t i = 0; i < f->count; i++) {
    const int64_t *t = f->ticks + (size_t)i * f->length;
    for (uint32_t k = 0; k + 1 < f->length; k++)
      if (t[k + 1] - t[k] <= e->gap[k].low || t[k + 1] - t[k] > e->gap[k].high)
        return "a gap outside of its interval";
    if (strict && i && t[0] <= t[-1])
      return "an overlap in time";
    for (uint32_t k = 0; k < f->length; k++) {
      after = event_at(event, n, after, e->type[k], t[k]);
      if (after++ == n)
        return "no such events, or an overlap";
    }
  }
  return NULL;
}

static void draw_stream(struct mill_event *event, uint32_t *n, uint32_t types)
{
  const uint64_t step = 1 + draw(4);
  int64_t tick = draw(4) ? 0 : draw(2) ? INT64_MIN : INT64_MAX - 14 * 5;
  *n = (uint32_t)draw(15);
  for (uint32_t i = 0; i < *n; i++) {
    event[i] = (struct mill_event){.tick = tick, .unit = (uint32_t)draw(types)};
    tick += (int64_t)draw(step + 1);
  }
}

static void draw_episode(struct brute_episode *e, uint32_t types)
{
  *e = (struct brute_episode){.length = 1 + (uint32_t)draw(4)};
  for (uint32_t k = 0; k < e->length; k++) {
    const int64_t low = (int64_t)(draw(2) * draw(4));
    e->type[k] = (uint32_t)draw(types);
    e->gap[k] = (struct mill_interval){low, draw(8) ? low + 1 + (int64_t)draw(6) : INT64_MAX};
  }
}

static void random_streams(void)
{
  const uint64_t streams = getenv("SPIKEMILL_LONG") ? 1000000 : 100000;
  uint64_t right = 0, found = 0;
  for (uint64_t i = 0; i < streams && right == i; i++) {
    struct mill_event event[16];
    struct brute_episode e;
    struct found f = {0};
    uint32_t n;
    seed = i;
    const uint32_t types = 1 + (uint32_t)draw(3);
    const int strict = (int)draw(2);
    draw_stream(event, &n, types);
    draw_episode(&e, types);
    find(event, n, &e, strict, &f);
    const uint32_t want = brute_count(event, n, &e, strict);
    const char *wrong = f.count != want ? "not as many as there are" : judge(event, n, &e, strict, &f);
    right += !wrong;
    found += f.count;
    if (wrong) {
      brute_show(event, n, &e);
      diag("ties %s: %u found of %u: %s", strict ? "strict" : "order", f.count, want, wrong);
    }
    free(f.ticks);
  }
  is_int((intmax_t)right, (intmax_t)streams, "%ju random streams: as many as brute force counts, valid, and apart",
         (uintmax_t)streams);
  ok(found > streams / 2, "%ju occurrences were judged", (uintmax_t)found);
}

// ---- Which ones ----

static const struct {
  const char *stream, *episode, *order, *strict; // the ticks of the occurrences
} cases[] = {
    {"", "A (0,5] B", "", ""},
    {"A@1 A@2 A@2", "A", "1/2/2/", "1/2/"},
    {"A@1 A@2 B@3", "A (0,5] B", "2 3/", "2 3/"}, // of two starts the later one
    {"A@0 A@1 B@5 B@6", "A (4,6] B", "0 5/", "0 5/"},
    {"A@0 A@1 B@4 B@5 B@6", "A (3,6] B", "0 4/", "0 4/"}, // the one that ends first
    {"A@0 B@1 A@1 B@2", "A (0,1] B", "0 1/1 2/", "0 1/"},
    {"A@0 B@2 B@3 C@5", "A (0,5] B (0,5] C", "0 3 5/", "0 3 5/"}, // of two nodes in between the later one
    {"A@0 B@2 B@4 C@5", "A (0,4] B (2,3] C", "0 2 5/", "0 2 5/"}, // but for the one that does not fit
    {"A@0 A@2 B@3 B@4 C@6", "A (0,2] B (2,3] C", "2 3 6/", "2 3 6/"},
    {"A@1 A@2 B@3 A@4 B@5", "A (0,3] A (0,3] B", "1 2 3/", "1 2 3/"},
    {"A@0 A@1 A@2 A@3 A@4 A@5", "A (0,2] A (0,2] A", "0 1 2/3 4 5/", "0 1 2/3 4 5/"},
    {"A@0 B@5 B@5 C@9 C@9", "A (0,5] B (0,5] C", "0 5 9/", "0 5 9/"},
    {"A@0 B@3 A@4 B@5 C@6", "A (2,3] B (0,3] C", "0 3 6/", "0 3 6/"},
};

static void known_cases(void)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mill_event event[BRUTE_EVENTS];
    struct brute_episode e;
    const uint32_t n = brute_read_stream(cases[i].stream, event);
    brute_read_episode(cases[i].episode, &e);
    for (int strict = 0; strict < 2; strict++) {
      char text[200] = "";
      struct found f = {0};
      find(event, n, &e, strict, &f);
      for (uint32_t k = 0; k < f.count * f.length; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%jd%s", (intmax_t)f.ticks[k], (k + 1) % f.length ? " " : "/");
      is_str(text, strict ? cases[i].strict : cases[i].order, "%s: %s, ties = %s", cases[i].stream, cases[i].episode,
             strict ? "strict" : "order");
      free(f.ticks);
    }
  }
}

// ---- More than brute force can judge ----

// A hundred thousand events with ties; the counter says how many there are.
static void long_stream(void)
{
  enum { EVENTS = 100000 };
  struct mill_event *event = malloc(EVENTS * sizeof *event);
  struct mill_error error;
  int64_t tick = 0;
  if (!event)
    bail("out of memory");
  seed = 5;
  for (uint32_t i = 0; i < EVENTS; i++) {
    tick += (int64_t)draw(3);
    event[i] = (struct mill_event){.tick = tick, .unit = (uint32_t)draw(4)};
  }
  static const char *const episodes[] = {"A (0,9] B (0,9] C (0,9] D", "A (3,9] A (3,9] A", "D (5,90] C (40,400] B", "A"};
  for (size_t i = 0; i < sizeof episodes / sizeof *episodes; i++)
    for (int strict = 0; strict < 2; strict++) {
      struct brute_episode e;
      struct found f = {0};
      struct mill_counting *counting;
      uint32_t interval[BRUTE_NODES] = {0, 1, 2}, parent = 0;
      uint64_t count = 0;
      brute_read_episode(episodes[i], &e);
      const struct mill_counting_setup setup = {
          plugin, NULL, event, EVENTS, TYPES, strict ? MILL_TIES_STRICT : MILL_TIES_ORDER, e.gap, e.length - 1, 1, 0, team, NULL, NULL};
      const struct mill_candidates candidates = {
          e.length, 1, 0, e.type, e.length > 1 ? interval : NULL, e.length > 1 ? &parent : NULL, 1, 1};
      if (mill_counting_open(&setup, &counting, &error) || mill_counting_count(counting, &candidates, &count, &error))
        bail("%s", error.text);
      mill_counting_close(counting);
      find(event, EVENTS, &e, strict, &f);
      is_int(f.count, (intmax_t)count, "100,000 events, %s, ties = %s: as many as `%s` counts", episodes[i],
             strict ? "strict" : "order", plugin->name);
      const char *wrong = judge(event, EVENTS, &e, strict, &f);
      ok(!wrong, "all good %s", wrong ? wrong : "");
      free(f.ticks);
    }
  free(event);
}

static void test_stop(void)
{
  struct mill_event event[BRUTE_EVENTS];
  struct brute_episode e;
  struct found f = {.stop_at = 2};
  const uint32_t n = brute_read_stream("A@1 B@2 A@3 B@4 A@5 B@6", event);
  brute_read_episode("A (0,5] B", &e);
  ok(find(event, n, &e, 0, &f) == 1 && f.count == 2, "it stops when it is told to");
  free(f.ticks);
}

int main(void)
{
  struct mill_error error;
  plan_later();
  if (mill_plugin_load(MILL_COUNTER, "serial", NULL, &plugin, &error) || mill_team_create(1, &team, &error))
    bail("%s", error.text);
  known_cases();
  random_streams();
  long_stream();
  test_stop();
  mill_team_free(team);
  is_int((intmax_t)mill_memory_held(), 0, "no memory is left behind");
  return done_testing();
}
