/* What a counter plugin is given, and what of its calls comes through: the columns of a stream in both orders of ties, events
   that cannot be mined, errors, and the memory that the cache of a real counter may take. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "counting.h"
#include "memory.h"
#include "registry.h"
#include "tap.h"

/* A plugin that fails where it is told to and counts its calls. */
static struct {
  int fail, opened, closed, counted, kept;
} fake;
enum { FAIL_OPEN = 1, FAIL_COUNT, FAIL_KEEP };

static int fake_open(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **self,
                     struct mill_error *error)
{
  (void)params;
  fake.opened++;
  *self = (void *)(uintptr_t)input; /* what is set when it fails is not closed */
  return fake.fail == FAIL_OPEN ? host->fail(error, MILL_RESOURCES, "no room for %u", input->events) : 0;
}

static int fake_count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  const struct mill_counter_input *input = self;
  fake.counted++;
  counts[0] = candidates->type[0] + input->threshold;
  return fake.fail == FAIL_COUNT ? mill_fail(error, MILL_USAGE, "too deep") : 0;
}

static int fake_keep(void *self, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error)
{
  (void)self, (void)level, (void)n, (void)kept;
  fake.kept++;
  return fake.fail == FAIL_KEEP ? mill_fail(error, MILL_RESOURCES, "full") : 0;
}

static void fake_close(void *self)
{
  fake.closed += self != NULL;
}

static void fake_tell(void *self, struct mill_counter_level *level)
{
  level->culled = self != NULL;
  level->method = "quickly";
}

static const struct mill_counter_ops fake_ops = {fake_open, fake_count, fake_keep, fake_close, fake_tell, NULL};
static const struct mill_plugin fake_plugin = {.kind = MILL_COUNTER, .name = "fake", .ops = &fake_ops, .ops_size = sizeof fake_ops};

static struct mill_team *team;

static struct mill_counting_setup setup_of(const struct mill_event *event, uint64_t events, uint32_t types, int ties)
{
  static const struct mill_interval interval[2] = {{0, 5}, {5, 10}};
  return (struct mill_counting_setup){&fake_plugin, NULL, event, events, types, ties, interval, 2, 3, 1000, team, NULL, NULL};
}

static int same(const uint32_t *got, const uint32_t *want, size_t n)
{
  return memcmp(got, want, n * sizeof *got) == 0;
}

static void columns(void)
{
  static const struct mill_event event[] = {{-5, 2, 0}, {-5, 0, 0}, {0, 2, 0}, {7, 2, 0}, {7, 3, 0}, {7, 0, 0}};
  static const uint32_t type[] = {2, 0, 2, 2, 3, 0}, first[] = {0, 2, 2, 5, 6, 6};
  static const uint32_t order[2][6] = {{0, 1, 2, 3, 4, 5}, {0, 0, 1, 2, 2, 2}};
  static const uint32_t type_order[2][6] = {{1, 5, 0, 2, 3, 4}, {0, 2, 0, 1, 2, 2}};
  static const int64_t time[] = {-5, -5, 0, 7, 7, 7}, type_time[] = {-5, 7, -5, 0, 7, 7};
  for (int ties = MILL_TIES_ORDER; ties <= MILL_TIES_STRICT; ties++) {
    struct mill_counting_setup setup = setup_of(event, 6, 5, ties);
    struct mill_counting *counting;
    struct mill_error error;
    const char *name = ties == MILL_TIES_STRICT ? "strict" : "order";
    if (!ok(!mill_counting_open(&setup, &counting, &error), "ties = %s", name))
      return;
    const struct mill_counter_input *in = mill_counting_input(counting);
    ok(in->events == 6 && in->types == 5 && in->interval_count == 2 && in->interval == setup.interval && in->threshold == 3 &&
           in->memory == 1000 && in->workers == 2 && in->team == team && in->strict == (ties == MILL_TIES_STRICT),
       "the setup comes through");
    ok(!memcmp(in->time, time, sizeof time) && same(in->type, type, 6) && same(in->order, order[ties], 6),
       "columns in stream order");
    ok(same(in->first, first, 6) && !memcmp(in->type_time, type_time, sizeof type_time) &&
           same(in->type_order, type_order[ties], 6),
       "columns by type");
    mill_counting_close(counting);
  }
  struct mill_counting_setup setup = setup_of(NULL, 0, 0, MILL_TIES_ORDER);
  struct mill_counting *counting;
  ok(!mill_counting_open(&setup, &counting, NULL) && mill_counting_input(counting)->first[0] == 0, "no event and no type");
  mill_counting_close(counting);
  mill_counting_close(NULL);
}

static void refusals(void)
{
  static const struct mill_event sound[] = {{1, 0, 0}, {2, 1, 0}}, unsorted[] = {{2, 0, 0}, {1, 1, 0}},
                                 wide[] = {{-1, 0, 0}, {INT64_MAX, 1, 0}}, widest[] = {{0, 0, 0}, {INT64_MAX, 1, 0}};
  static const struct mill_interval negative = {-1, 5}, empty = {5, 5};
  static const struct {
    const char *what;
    const struct mill_event *event;
    uint64_t events;
    uint32_t types, threshold;
    const struct mill_interval *interval;
    int status;
    const char *text;
  } row[] = {
      {"2^32 events", sound, UINT64_C(1) << 32, 2, 1, NULL, MILL_DATA, "4294967296 events; at most 4294967295"},
      {"an unknown type", sound, 2, 1, 1, NULL, MILL_DATA, "event 1 (from 0) is of type 1, and there are 1"},
      {"unsorted events", unsorted, 2, 2, 1, NULL, MILL_DATA, "event 1 (from 0) is at tick 1, the one before it at 2"},
      {"times too far apart", wide, 2, 2, 1, NULL, MILL_DATA, "ticks -1 to 9223372036854775807"},
      {"times that just fit", widest, 2, 2, 1, NULL, MILL_OK, ""},
      {"a negative low bound", sound, 2, 2, 1, &negative, MILL_USAGE, "interval (-1,5]"},
      {"an empty interval", sound, 2, 2, 1, &empty, MILL_USAGE, "interval (5,5]"},
      {"support 0", sound, 2, 2, 0, NULL, MILL_USAGE, "support of 0"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    struct mill_counting_setup setup = setup_of(row[i].event, row[i].events, row[i].types, MILL_TIES_ORDER);
    struct mill_counting *counting = (struct mill_counting *)&setup;
    struct mill_error error = {.text = ""};
    setup.threshold = row[i].threshold;
    if (row[i].interval) {
      setup.interval = row[i].interval;
      setup.interval_count = 1;
    }
    const int result = mill_counting_open(&setup, &counting, &error);
    ok(result == (row[i].status ? -1 : 0) && error.status == row[i].status && strstr(error.text, row[i].text) &&
           !counting == !!result,
       "%s: %s", row[i].what, result ? error.text : "accepted");
    mill_counting_close(counting);
  }
}

static void memory_limit(void)
{
  const uint32_t n = 100000;
  struct mill_event *event = calloc(n, sizeof *event);
  struct mill_counting_setup setup = setup_of(event, n, 1, MILL_TIES_ORDER);
  struct mill_counting *counting;
  struct mill_error error;
  char limit[32];
  const uint64_t held = mill_memory_held();
  if (!event)
    bail("out of memory");
  snprintf(limit, sizeof limit, "%u", (unsigned)(held + 28 * n));
  setenv("SPIKEMILL_MEMORY", limit, 1);
  ok(mill_counting_open(&setup, &counting, &error) && error.status == MILL_RESOURCES && !counting, "28 bytes an event and more: %s",
     error.text);
  snprintf(limit, sizeof limit, "%u", (unsigned)(held + 29 * n));
  setenv("SPIKEMILL_MEMORY", limit, 1);
  ok(!mill_counting_open(&setup, &counting, &error), "no more than 29");
  mill_counting_close(counting);
  unsetenv("SPIKEMILL_MEMORY");
  is_int((intmax_t)mill_memory_held(), (intmax_t)held, "everything is given back");
  free(event);
}

static void calls(void)
{
  static const struct mill_event event[] = {{1, 0, 0}};
  static const uint32_t type[] = {4};
  const struct mill_candidates candidates = {1, 1, 0, type, NULL, NULL, 0, 1};
  struct mill_counting_setup setup = setup_of(event, 1, 5, MILL_TIES_ORDER);
  struct mill_counting *counting;
  struct mill_error error;
  uint64_t counts = 0, kept = 0;
  memset(&fake, 0, sizeof fake);
  fake.fail = FAIL_OPEN;
  ok(mill_counting_open(&setup, &counting, &error) && !counting && error.status == MILL_RESOURCES, "a plugin that does not open");
  is_str(error.text, "counter `fake`: no room for 1", "says so with its name");
  ok(fake.opened == 1 && fake.closed == 0, "and is not closed");
  fake.fail = 0;
  if (mill_counting_open(&setup, &counting, &error))
    bail("%s", error.text);
  ok(!mill_counting_count(counting, &candidates, &counts, &error) && counts == 7 && fake.counted == 1, "counts come through");
  ok(!mill_counting_keep(counting, 1, 1, &kept, &error) && fake.kept == 1, "and what is kept");
  fake.fail = FAIL_COUNT;
  ok(mill_counting_count(counting, &candidates, &counts, &error) == -1 && error.status == MILL_USAGE, "counting fails");
  is_str(error.text, "counter `fake`: too deep", "with the plugin's reason");
  fake.fail = FAIL_KEEP;
  ok(mill_counting_keep(counting, 1, 1, &kept, &error) == -1 && error.status == MILL_RESOURCES, "keeping fails");
  is_str(error.text, "counter `fake`: full", "with the plugin's reason");
  struct mill_counter_level level = {7, "before"};
  mill_counting_tell(counting, &level);
  ok(level.culled == 1 && !strcmp(level.method, "quickly"), "what it tells of the level comes through");
  mill_counting_close(counting);
  ok(fake.closed == 1, "closed once");
}

/* Tables that end before `tell`, or have none. */
static void silent(void)
{
  static const struct mill_event event[] = {{1, 0, 0}};
  static const struct mill_counter_ops none = {fake_open, fake_count, fake_keep, fake_close, NULL, NULL};
  struct mill_plugin plugin[2] = {fake_plugin, fake_plugin};
  fake.fail = 0;
  plugin[0].ops_size = offsetof(struct mill_counter_ops, tell);
  plugin[1].ops = &none;
  for (int i = 0; i < 2; i++) {
    struct mill_counting_setup setup = setup_of(event, 1, 5, MILL_TIES_ORDER);
    struct mill_counter_level level = {7, "before"};
    struct mill_counting *counting;
    struct mill_error error;
    setup.plugin = &plugin[i];
    if (mill_counting_open(&setup, &counting, &error))
      bail("%s", error.text);
    mill_counting_tell(counting, &level);
    ok(level.culled == 0 && !level.method, "a counter %s tells nothing", i ? "without `tell`" : "of ABI 0.1");
    mill_counting_close(counting);
  }
}

/* Two types that take turns: every candidate of every level has many ends. */
static void cache_size(uint64_t memory, const char *what)
{
  enum { EVENTS = 2000, LEVELS = 6 };
  static struct mill_event event[EVENTS];
  struct mill_counting *counting;
  struct mill_error error;
  struct mill_counting_setup setup = setup_of(event, EVENTS, 2, MILL_TIES_ORDER);
  uint64_t most = 0;
  int right = 1;
  for (uint32_t i = 0; i < EVENTS; i++)
    event[i] = (struct mill_event){.tick = 4 * (int64_t)i, .unit = i & 1};
  setup.memory = memory;
  if (mill_plugin_load(MILL_COUNTER, "latest-start", NULL, &setup.plugin, &error) || mill_counting_open(&setup, &counting, &error))
    bail("%s", error.text);
  const uint64_t before = mill_memory_held();
  for (uint32_t n = 1, count = 2; n <= LEVELS; n++, count *= 2) { /* A-B and B-A of gaps (0,5], A-A and B-B of (5,10] */
    uint32_t type[64 * LEVELS], interval[64 * LEVELS], parent[64];
    uint64_t counts[64], kept[64];
    for (uint32_t k = 0; k < count; k++) {
      parent[k] = k / 2;
      kept[k] = k;
      type[k * n] = k >> (n - 1);
      for (uint32_t i = 1; i < n; i++) {
        interval[k * (n - 1) + i - 1] = k >> (n - 1 - i) & 1;
        type[k * n + i] = type[k * n + i - 1] ^ !interval[k * (n - 1) + i - 1];
      }
    }
    struct mill_candidates candidates = {n, count, 0, type, interval, parent, n == LEVELS, count};
    if (mill_counting_count(counting, &candidates, counts, &error) ||
        (n < LEVELS && mill_counting_keep(counting, n, count, kept, &error)))
      bail("%s", error.text);
    for (uint32_t k = 0; k < count; k++)
      right &= counts[k] > EVENTS / 2 / n / 2;
    if (mill_memory_held() - before > most)
      most = mill_memory_held() - before;
  }
  mill_counting_close(counting);
  ok(right && most <= memory && most >= memory / 2, "%s: the cache takes %llu bytes", what, (unsigned long long)most);
}

int main(void)
{
  struct mill_error error;
  plan_later();
  if (mill_team_create(2, &team, &error))
    bail("%s", error.text);
  columns();
  refusals();
  memory_limit();
  calls();
  silent();
  cache_size(0, "nothing");
  cache_size(20000, "20000 bytes");
  cache_size(100000, "100000 bytes");
  mill_team_free(team);
  return done_testing();
}
