/* Surrogates and tests on a GPU against those of the CPU: the events of each surrogate, in order and type by type; counts of drawn episodes in
   them against plain ones; p, q and expected counts of mined episodes. Runs on a real GPU when there is one, else on the emulator.
   SPIKEMILL_LONG=1, or a real one: more of all. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <math.h>

#include "chain.h"
#include "counting.h"
#include "cuda/miner-private.h"
#include "cuda/device-surrogates.h"
#include "gpu.h"
#include "memory.h"
#include "mined.h"

enum { MOST = 700, TYPES = 12, AT_ONCE = 5 };

static int longer;
static struct mill_miner *miner;
static struct mill_team *team;
static const struct mill_plugin *counter;

/* ---- Surrogates --------------------------------------------------------------------------------------------------------- */

static void download(void *to, uint64_t from, uint64_t bytes)
{
  const struct mill_device_host *device = mill_miner_host(miner);
  struct mill_error error;
  if (device->download(device->self, to, from, bytes, &error))
    bail("%s", error.text);
}

/* Whether stream s of the device is a surrogate of the CPU: what of it is not, or NULL. */
static const char *differs(const struct mill_device_stream *d, uint32_t s, const struct mill_event *event, int64_t begin)
{
  static uint32_t type[MOST], order[MOST], type_order[MOST];
  static int64_t time[MOST], type_time[MOST];
  static int32_t narrow[2][MOST];
  uint32_t first[TYPES + 1], next[TYPES];
  const uint64_t at = (uint64_t)s * d->events, each = d->time_bytes;
  download(d->time_bytes == 4 ? (void *)narrow[0] : (void *)time, d->time + at * each, d->events * each);
  download(d->time_bytes == 4 ? (void *)narrow[1] : (void *)type_time, d->type_time + at * each, d->events * each);
  download(type, d->type + at * 4, d->events * 4);
  download(order, d->order + at * 4, d->events * 4);
  download(type_order, d->type_order + at * 4, d->events * 4);
  download(first, d->first, (d->types + 1) * sizeof *first);
  memcpy(next, first, d->types * sizeof *next);
  for (uint32_t i = 0, since = 0; i < d->events; i++) {
    const int64_t want = event[i].tick - begin;
    const uint32_t e = event[i].unit;
    since = i && event[i].tick != event[i - 1].tick ? i : since;
    if ((d->time_bytes == 4 ? narrow[0][i] : time[i]) != want)
      return "times";
    if (type[i] != e)
      return "types";
    if (order[i] != (d->strict ? since : i))
      return "order";
    if ((d->time_bytes == 4 ? narrow[1][next[e]] : type_time[next[e]]) != want)
      return "times by type";
    if (type_order[next[e]++] != order[i])
      return "order by type";
  }
  for (uint32_t e = 0; e < d->types; e++)
    if (next[e] != first[e + 1])
      return "numbers of events";
  return NULL;
}

/* A recording and its surrogates: some batches of them, on the device and here. */
struct trial {
  struct mill_surrogate_setup making;
  uint32_t events, strict;
  uint64_t memory;
};

static const char *try_surrogates(const struct trial *t, const struct mill_event *event, const uint32_t *number)
{
  static const struct mill_interval gap = {0, 5};
  const struct mill_counting_setup setup = {.plugin = counter,
                                            .event = event,
                                            .events = t->events,
                                            .types = TYPES,
                                            .ties = t->strict ? MILL_TIES_STRICT : MILL_TIES_ORDER,
                                            .interval = &gap,
                                            .interval_count = 1,
                                            .threshold = 1,
                                            .team = team,
                                            .miner = miner};
  struct mill_counting *counting = NULL;
  struct mill_device_surrogates *made = NULL;
  struct mill_error error;
  uint32_t least = 1;
  const char *wrong = NULL;
  if (mill_counting_open(&setup, &counting, &error))
    bail("%s", error.text);
  struct mill_trains *trains = mill_trains_create(&t->making, mill_counting_input(counting), number, &error);
  struct mill_surrogate_room *room = trains ? mill_surrogate_room_create(trains, &error) : NULL;
  if (!room)
    bail("%s", error.text);
  const struct mill_device_surrogates_setup making = {miner, trains, t->strict, t->memory, AT_ONCE, 1, &least};
  if (mill_device_surrogates_can(trains)) {
    if (mill_device_surrogates_open(&making, &made, &error))
      bail("%s", error.text);
    const uint32_t at_once = mill_device_surrogates_room(made);
    if (at_once != (t->memory ? AT_ONCE : 1))
      wrong = "how many are made at a time";
    for (uint64_t batch = 0; batch < 2 && !wrong; batch++) {
      struct mill_device_stream streams;
      const uint32_t count = batch ? at_once : 1 + (at_once - 1) / 2;
      const uint64_t first = batch ? UINT64_C(1) << 40 : 0;
      if (mill_device_surrogates_make(made, first, count, &streams, &error))
        bail("%s", error.text);
      for (uint32_t s = 0; s < count && !wrong; s++)
        wrong = differs(&streams, s, mill_surrogate_make(trains, first + s, room), t->making.begin);
    }
    mill_device_surrogates_close(made);
  }
  mill_surrogate_room_free(room);
  mill_trains_free(trains);
  mill_counting_close(counting);
  return wrong;
}

/* Events of up to TYPES types, of which some have none and some have one; sorted by type within each time, or not. */
static uint32_t make_recording(uint64_t *state, struct mill_event *event, int64_t scale)
{
  const uint32_t n = 1 + below(state, below(state, 3) ? 60 : MOST), types = 1 + below(state, TYPES - 2),
                 longest = below(state, 4) ? below(state, 30) : 1;
  make_events(state, event, n, types, longest);
  if (n > 2)
    event[below(state, n)].unit = TYPES - 1; /* alone */
  for (uint32_t i = 0; i < n; i++)
    event[i].tick *= scale;
  if (below(state, 2))
    for (uint32_t i = 1; i < n; i++)
      for (uint32_t k = i; k && event[k].tick == event[k - 1].tick && event[k].unit < event[k - 1].unit; k--) {
        const struct mill_event other = event[k];
        event[k] = event[k - 1];
        event[k - 1] = other;
      }
  return n;
}

static void test_surrogates(int kind)
{
  static struct mill_event event[MOST];
  static const int64_t scales[] = {1, 1, 1000, INT64_C(1) << 40};
  uint64_t state = 71 + (uint64_t)kind;
  const uint32_t trials = longer ? 1500 : 60;
  const char *wrong = NULL;
  uint32_t wide = 0, n = 0;
  for (uint32_t run = 0; run < trials && !wrong; run++) {
    uint32_t number[TYPES], next = 0;
    const int64_t scale = scales[below(&state, 4)];
    n = make_recording(&state, event, scale);
    for (uint32_t e = 0; e < TYPES; e++)
      number[e] = below(&state, 5) ? next++ : UINT32_MAX;
    const int64_t before = below(&state, 3), after = below(&state, 3),
                  dither = below(&state, 3) ? below(&state, 40)
                           : run % 2        ? 0
                                            : 5000;
    const struct trial t = {.making = {.kind = (enum mill_surrogate)kind,
                                       .dither = dither * scale,
                                       .seed = chance(&state),
                                       .begin = event[0].tick - before * scale,
                                       .end = event[n - 1].tick + after * scale},
                            .events = n,
                            .strict = below(&state, 2),
                            .memory = below(&state, 3) ? 1 << 24 : 0};
    wide += scale > INT32_MAX;
    if (next && (wrong = try_surrogates(&t, event, number)))
      diag("run %u: %u events, dither %" PRId64 ", %s: %s differ", run, n, t.making.dither, t.strict ? "strict" : "order", wrong);
  }
  ok(!wrong && wide > 3, "%s: surrogates of %u recordings, those of the CPU", mill_surrogate_names[kind], trials);
}

/* One train with all events. */
static void test_shapes(void)
{
  static struct mill_event event[MOST];
  uint64_t state = 5;
  uint32_t number[TYPES] = {0};
  make_events(&state, event, MOST, 1, 3);
  for (uint32_t e = 1; e < TYPES; e++)
    number[e] = UINT32_MAX;
  for (int kind = 0; kind < MILL_SURROGATE_COUNT; kind++) {
    const struct trial t = {{(enum mill_surrogate)kind, 50, 3, event[0].tick, event[MOST - 1].tick}, MOST, 0, 1 << 24};
    const char *wrong = try_surrogates(&t, event, number);
    ok(!wrong, "%s: a train of %d events%s%s", mill_surrogate_names[kind], MOST, wrong ? ": " : "", wrong ? wrong : "");
  }
}

/* ---- Counts ------------------------------------------------------------------------------------------------------------- */

enum { NODES = 4, EPISODES = 400, FEW = 100, FEW_TYPES = 4 };

/* Episodes to count: drawn, level by level, those with one parent together. */
struct drawn {
  uint32_t first[NODES + 2], type[EPISODES], interval[EPISODES], parent[EPISODES], count;
};

static void draw_tree(uint64_t *state, struct drawn *d)
{
  const uint32_t levels = 2 + below(state, NODES - 1);
  *d = (struct drawn){0};
  for (uint32_t level = 2; level <= levels; level++) {
    const uint32_t from = level > 2 ? d->first[level - 1] : 0, to = level > 2 ? d->count : FEW_TYPES;
    d->first[level] = d->count;
    for (uint32_t parent = from; parent < to; parent++)
      for (uint32_t k = level > 2 ? below(state, 4) : 5; k && d->count < EPISODES; k--) {
        d->type[d->count] = below(state, FEW_TYPES);
        d->interval[d->count] = below(state, 2);
        d->parent[d->count++] = parent;
      }
    d->first[level + 1] = d->count;
  }
}

/* Its nodes; returns its level. */
static uint32_t nodes_of(const struct drawn *d, uint32_t episode, uint32_t *type, const struct mill_interval *interval,
                         struct mill_interval *gap)
{
  uint32_t level = 2;
  while (episode >= d->first[level + 1])
    level++;
  for (uint32_t n = level; n > 1; n--) {
    type[n - 1] = d->type[episode];
    gap[n - 2] = interval[d->interval[episode]];
    episode = d->parent[episode];
  }
  type[0] = episode;
  return level;
}

/* Counts them on the device and, plainly, here. Returns how many are wrong. */
static uint32_t count_drawn(struct mill_counting *counting, const struct mill_trains *trains, struct mill_surrogate_room *room,
                            const struct drawn *d, const struct mill_interval *interval, uint32_t strict)
{
  static uint32_t least[EPISODES], reached[EPISODES], want[EPISODES];
  static uint64_t sum[EPISODES], want_sum[EPISODES];
  struct mill_episode_tree all = {
      .levels = 2, .count = d->count, .first = d->first, .type = d->type, .interval = d->interval, .parent = d->parent};
  struct mill_device_surrogates *made;
  struct mill_error error;
  const uint32_t parts[] = {AT_ONCE, AT_ONCE, 3};
  uint32_t done = 0, wrong = 0;
  while (all.levels < NODES && d->first[all.levels + 2])
    all.levels++;
  for (uint32_t i = 0; i < d->count; i++) {
    least[i] = 1 + i % 7;
    want[i] = 0;
    want_sum[i] = 0;
  }
  const struct mill_device_surrogates_setup making = {miner, trains, strict, 1 << 20, AT_ONCE, d->count, least};
  if (mill_device_surrogates_open(&making, &made, &error))
    bail("%s", error.text);
  for (size_t p = 0; p < sizeof parts / sizeof *parts; done += parts[p++]) {
    struct mill_device_stream streams;
    if (mill_device_surrogates_make(made, done, parts[p], &streams, &error) ||
        mill_counting_streams(counting, &streams, parts[p], &all, mill_device_surrogates_counts(made), &error) ||
        mill_device_surrogates_tally(made, parts[p], &error))
      bail("%s", error.text);
  }
  if (mill_device_surrogates_results(made, reached, sum, &error))
    bail("%s", error.text);
  for (uint32_t s = 0; s < done; s++) {
    const struct mill_event *event = mill_surrogate_make(trains, s, room);
    for (uint32_t i = 0; i < d->count; i++) {
      struct mill_interval gap[NODES];
      uint32_t type[NODES];
      const uint32_t level = nodes_of(d, i, type, interval, gap);
      const uint64_t count = count_plainly(event, (uint32_t)mill_trains_events(trains), level, type, gap, (int)strict);
      want[i] += count >= least[i];
      want_sum[i] += count;
    }
  }
  for (uint32_t i = 0; i < d->count; i++)
    wrong += reached[i] != want[i] || sum[i] != want_sum[i];
  mill_device_surrogates_close(made);
  return wrong;
}

static void test_counts(void)
{
  static const struct mill_interval interval[] = {{0, 6}, {3, 9}};
  static const uint64_t memories[] = {0, 6000, 1 << 24};
  static struct mill_event event[FEW];
  uint64_t state = 29;
  const uint32_t runs = longer ? 300 : 12;
  uint32_t wrong = 0, counted = 0, number[FEW_TYPES];
  for (uint32_t run = 0; run < runs; run++) {
    struct drawn d;
    struct mill_error error;
    struct mill_counting *counting;
    struct mill_counting_setup setup = {.plugin = counter,
                                        .event = event,
                                        .events = FEW,
                                        .types = FEW_TYPES,
                                        .ties = run / 2 % 2 ? MILL_TIES_STRICT : MILL_TIES_ORDER,
                                        .interval = interval,
                                        .interval_count = 2,
                                        .threshold = 1,
                                        .memory = memories[run % 3],
                                        .team = team};
    make_events(&state, event, FEW, FEW_TYPES, 1 + below(&state, 3));
    const struct mill_surrogate_setup making = {(enum mill_surrogate)(run % MILL_SURROGATE_COUNT), 10, chance(&state),
                                                event[0].tick, event[FEW - 1].tick};
    for (uint32_t e = 0; e < FEW_TYPES; e++)
      number[e] = e;
    if (mill_counting_open(&setup, &counting, &error))
      bail("%s", error.text);
    struct mill_trains *trains = mill_trains_create(&making, mill_counting_input(counting), number, &error);
    struct mill_surrogate_room *room = trains ? mill_surrogate_room_create(trains, &error) : NULL;
    mill_counting_close(counting);
    if (!room)
      bail("%s", error.text);
    setup.event = mill_surrogate_make(trains, 0, room);
    setup.miner = miner;
    if (mill_counting_open(&setup, &counting, &error))
      bail("%s", error.text);
    draw_tree(&state, &d);
    counted += d.count;
    wrong += count_drawn(counting, trains, room, &d, interval, run / 2 % 2);
    mill_counting_close(counting);
    mill_surrogate_room_free(room);
    mill_trains_free(trains);
  }
  ok(!wrong && counted > 20 * runs, "%u of %u drawn episodes are counted otherwise than plainly", wrong, counted);
}

/* ---- Tests of episodes -------------------------------------------------------------------------------------------------- */

/* Whether two minings say the same of every episode, to the bit; *tested: how many have tests. */
static int same_tests(const struct mill_mining *a, const struct mill_mining *b, uint64_t *tested)
{
  struct mill_mining_episode x, y;
  *tested = 0;
  for (uint64_t i = 0;; i++) {
    const int more = !mill_mining_episode(a, i, &x);
    if (more != !mill_mining_episode(b, i, &y))
      return 0;
    if (!more)
      return 1;
    if (x.length != y.length || x.count != y.count || isnan(x.p) != isnan(y.p) ||
        (!isnan(x.p) && (x.p != y.p || x.q != y.q || x.expected != y.expected || x.strength != y.strength)))
      return 0;
    *tested += !isnan(x.p);
  }
}

struct job {
  const char *path, *kind, *intervals, *counter;
  uint32_t support, surrogates, length, seed, strict;
  const char *memory;
};

static struct mill_mining *mine(const struct job *j, const char *backend)
{
  char sets[9][64];
  snprintf(sets[0], sizeof *sets, "mining.surrogate=%s", j->kind);
  snprintf(sets[1], sizeof *sets, "mining.support=%u", j->support);
  snprintf(sets[2], sizeof *sets, "mining.significance=surrogate=%u", j->surrogates);
  snprintf(sets[3], sizeof *sets, "mining.max_length=%u", j->length);
  snprintf(sets[4], sizeof *sets, "mining.seed=%u", j->seed);
  snprintf(sets[5], sizeof *sets, "mining.ties=%s", j->strict ? "strict" : "order");
  snprintf(sets[6], sizeof *sets, "mining.memory=%s", strcmp(backend, "cpu") ? j->memory : "1G");
  snprintf(sets[7], sizeof *sets, "mining.backend=%s", backend);
  snprintf(sets[8], sizeof *sets, "mining.counter=%s", j->counter);
  return mined(j->path,
               SET(j->intervals, "mining.q=1", sets[0], sets[1], sets[2], sets[3], sets[4], sets[5], sets[6], sets[7], sets[8]));
}

static uint64_t compare(const struct job *j, const char *what)
{
  struct mill_mining *cpu = mine(j, "cpu"), *gpu = mine(j, "cuda");
  uint64_t tested;
  const int same = same_tests(cpu, gpu, &tested);
  struct mill_mining_report r;
  mill_mining_report(gpu, &r);
  ok(same && tested && r.tested && !strcmp(r.backend, "cuda"),
     "%s: %s, %s, %u surrogates, ties %s, memory %s: the tests of %" PRIu64 " episodes of up to %u nodes", what, j->counter,
     j->kind, j->surrogates, j->strict ? "strict" : "order", j->memory, tested, r.levels);
  mill_mining_free(cpu);
  mill_mining_free(gpu);
  return tested;
}

/* Counters that do not take streams themselves. */
static const char *const others[] = {"ptpe", "mapconcatenate", "hybrid", "two-pass"};
#define OTHERS (sizeof others / sizeof *others)

static void test_chain(void)
{
  struct mill_event event[CHAIN_MOST];
  const uint32_t n = make_chain(event);
  write_chain("chain.smk", event, n);
  for (uint32_t k = 0; k < MILL_SURROGATE_COUNT; k++) {
    struct job j = {.path = in_folder("chain.smk"),
                    .kind = mill_surrogate_names[k],
                    .intervals = "mining.intervals=(0,5] (5,10] ms",
                    .counter = "latest-start",
                    .support = 12,
                    .surrogates = longer ? 999 : 150,
                    .length = 4,
                    .seed = 7 + k,
                    .strict = k % 2,
                    .memory = "1G"};
    compare(&j, "chains");
    j.counter = others[k % OTHERS];
    compare(&j, "chains");
    j.counter = "latest-start";
    j.memory = "900K";
    j.strict ^= 1;
    compare(&j, "chains, little memory");
    setenv("SPIKEMILL_CUDA_MEMORY", k % 2 ? "1000K" : "1100K", 1);
    compare(&j, "chains, a small device");
    unsetenv("SPIKEMILL_CUDA_MEMORY");
  }
}

static void write_table(const char *path, const struct mill_event *event, uint32_t n)
{
  FILE *f = fopen(path, "w");
  if (!f)
    bail("cannot write %s", path);
  fputs("type,time_ms\n", f);
  for (uint32_t i = 0; i < n; i++)
    fprintf(f, "%c,%" PRId64 "\n", (char)('A' + event[i].unit), event[i].tick);
  if (fclose(f))
    bail("cannot write %s", path);
}

/* Recordings that are drawn: times of 32 and of 64 bits, by the length of a tick; a stated duration that needs 64 where the events do not. */
static void test_random(void)
{
  static struct mill_event event[400];
  uint64_t state = 17, all = 0;
  for (uint32_t run = 0; run < (longer ? 60u : 8u); run++) {
    const int64_t scale = run % 4 == 1 ? INT64_C(1) << 24 : run % 4 == 2 ? 8000 : 1;
    const uint32_t n = 150 + below(&state, 250);
    const char *name = run % 4 == 3 ? "drawn.csv" : "drawn.smk";
    struct mill_error error;
    make_events(&state, event, n, 5, 1 + below(&state, 4));
    for (uint32_t i = 0; i < n; i++)
      event[i].tick = (event[i].tick + 60) * scale;
    const int64_t stop = run % 4 == 2 ? INT64_C(4000000000) : event[n - 1].tick + 5 * scale;
    struct mill_stream_info own = info;
    own.tick_ps = run % 4 == 1 ? 125 : run % 4 == 2 ? MS / 8000 : MS;
    own.start = 0;
    own.stop = stop;
    unlink(in_folder(name));
    if (run % 4 == 3)
      write_table(in_folder(name), event, n); /* no duration is stated */
    else if (write_stream(in_folder(name), NULL, &own, event, n, 1, &error))
      bail("%s", error.text);
    const struct job j = {.path = in_folder(name),
                          .kind = mill_surrogate_names[(run + run / 4) % MILL_SURROGATE_COUNT],
                          .intervals = run % 4 == 1 ? "mining.intervals=(0,20] (10,20] ms" : "mining.intervals=(0,4] (2,7] ms",
                          .counter = run % 2 ? others[run / 2 % OTHERS] : "latest-start",
                          .support = 6 + n / 40,
                          .surrogates = 1 + below(&state, 30),
                          .length = 5,
                          .seed = run,
                          .strict = run / 4 % 2,
                          .memory = run % 3 ? "1G" : "900K"};
    all += compare(&j, "a drawn recording");
  }
  ok(all > 300, "%" PRIu64 " episodes in all", all);
}

static int stop_testing(const struct mill_mining_progress *p, void *self)
{
  uint64_t *most = self;
  if (p->testing && !strcmp(p->testing, "surrogate") && p->done)
    *most = p->candidates;
  return *most != 0;
}

static void test_stops(void)
{
  struct mill_mining_report r;
  struct mill_error error;
  uint64_t most = 0;
  struct mill_mining *m = opened(in_folder("chain.smk"),
                                 SET("mining.intervals=(0,5] (5,10] ms", "mining.support=15",
                                     "mining.significance=surrogate=100000", "mining.memory=900K", "mining.backend=cuda"),
                                 &error);
  ok(m && mill_mining_run(m, stop_testing, &most, &error) && error.status == MILL_INTERRUPTED &&
         strstr(error.text, "of 100000 surrogates") && most == 100000,
     "interrupted: %s", error.text);
  mill_mining_report(m, &r);
  ok(r.complete && !r.tested && r.episodes, "the episodes are there, without tests");
  mill_mining_free(m);
}

/* Which counters count in many streams: for others another one counts in surrogates. */
static void test_counters(void)
{
  static const struct {
    const char *name;
    int takes;
  } row[] = {{"latest-start", 1}, {"ptpe", 0}, {"a2", 0}, {"two-pass", 0}};
  struct mill_error error;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    struct mill_counting_setup setup = {.miner = miner};
    if (mill_plugin_load(MILL_COUNTER, row[i].name, NULL, &setup.plugin, &error))
      bail("%s", error.text);
    is_int(mill_counting_takes_streams(&setup), row[i].takes, "%s counts in many streams: %d", row[i].name, row[i].takes);
    struct mill_plugin older = *setup.plugin;
    older.abi_minor = 4;
    setup.plugin = &older;
    is_int(mill_counting_takes_streams(&setup), 0, "%s of ABI 0.4 does not", row[i].name);
  }
}

int main(void)
{
  struct mill_error error;
  plan_later();
  const enum gpu gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  longer = gpu == GPU_REAL || getenv("SPIKEMILL_LONG");
  spikes_begin();
  if (mill_plugin_load(MILL_COUNTER, "latest-start", NULL, &counter, &error) || mill_miner_open(counter, &miner, &error) ||
      mill_team_create(1, &team, &error))
    bail("%s", error.text);
  for (int kind = 0; kind < MILL_SURROGATE_COUNT; kind++)
    test_surrogates(kind);
  test_shapes();
  test_counts();
  test_counters();
  mill_miner_close(miner);
  mill_team_free(team);
  test_chain();
  test_random();
  test_stops();
  spikes_end();
  is_int((intmax_t)mill_memory_held(), 0, "no memory is left behind");
  return done_testing();
}
