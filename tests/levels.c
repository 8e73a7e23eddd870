// The level-wise driver: which candidates it makes, that it misses no frequent episode, and where it stops. A counter of its own looks at
// every batch; brute force over all episodes says what is frequent.
#include "levels.h"
#include "memory.h"
#include "mine.h"
#include "registry.h"
#include "simulation.h"
#include "tap.h"

enum { LONGEST = 9, MOST = 4096, PARALLEL = 3 };

struct nodes {
  uint32_t type[LONGEST], interval[LONGEST];
};

// ---- A counter that knows what it should get ----

static struct fake {
  uint32_t types, intervals, max_length;
  int repeats;
  unsigned share; // of 100 candidates are frequent
  uint64_t seed, enormous;
  int fail_at; // level, 0: none
  // What is seen.
  struct nodes kept[2][MOST], candidate[20 * MOST];
  uint32_t parent[20 * MOST], number[MOST];
  uint32_t kept_count, candidate_count, level, next, keeps, batches;
  uint64_t made[LONGEST + 1], frequent[LONGEST + 1];
  char wrong[200];
} fake;

static void wrong(const char *what)
{
  if (!fake.wrong[0])
    snprintf(fake.wrong, sizeof fake.wrong, "level %u, candidate %u: %s", fake.level, fake.next, what);
}

static int is_frequent(const struct nodes *n, uint32_t level)
{
  uint64_t state = fake.seed + level;
  for (uint32_t k = 0; k < level; k++) {
    state ^= n->type[k] * 1000 + (k ? n->interval[k] : 0);
    chance(&state);
  }
  return below(&state, 100) < fake.share || level == 1;
}

static int repeats(const struct nodes *n, uint32_t level)
{
  for (uint32_t i = 0; i < level; i++)
    for (uint32_t k = 0; k < i; k++)
      if (n->type[i] == n->type[k])
        return 1;
  return 0;
}

static void add_candidate(const struct nodes *alpha, uint32_t parent, uint32_t type, uint32_t interval, uint32_t level)
{
  struct nodes n = *alpha;
  n.type[level - 1] = type;
  n.interval[level - 1] = interval;
  if (!fake.repeats && repeats(&n, level))
    return;
  fake.parent[fake.candidate_count] = parent;
  fake.candidate[fake.candidate_count++] = n;
}

// All joins of two kept episodes, by looking at all pairs.
static void expect_level(uint32_t level)
{
  const struct nodes *kept = fake.kept[(level - 1) & 1];
  static const struct nodes empty;
  fake.level = level;
  fake.next = fake.candidate_count = 0;
  if (level == 1)
    for (uint32_t t = 0; t < fake.types; t++)
      add_candidate(&empty, 0, t, 0, 1);
  for (uint32_t a = 0; level > 1 && a < fake.kept_count; a++) {
    for (uint32_t b = 0; b < fake.kept_count; b++) {
      int same = 1;
      for (uint32_t k = 1; same && k < level - 1; k++)
        same = kept[a].type[k] == kept[b].type[k - 1] && (k == 1 || kept[a].interval[k] == kept[b].interval[k - 1]);
      for (uint32_t i = 0; same && level == 2 && i < fake.intervals; i++)
        add_candidate(&kept[a], a, kept[b].type[0], i, 2);
      if (same && level > 2)
        add_candidate(&kept[a], a, kept[b].type[level - 2], kept[b].interval[level - 2], level);
    }
  }
  fake.made[level] = fake.candidate_count;
  fake.kept_count = 0;
}

static int fake_open(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **self,
                     struct mill_error *error)
{
  (void)host, (void)params, (void)error;
  if (input->workers != PARALLEL || input->threshold != 2)
    wrong("the input");
  *self = &fake;
  return 0;
}

static int fake_count(void *self, const struct mill_candidates *c, uint64_t *counts, struct mill_error *error)
{
  const struct mill_host *host = &mill_host;
  (void)self;
  fake.batches++;
  if ((int)c->level == fake.fail_at)
    return host->fail(error, MILL_RESOURCES, "out of order");
  if (c->first == 0)
    expect_level(c->level);
  if (c->level != fake.level || c->first != fake.next || !c->count || c->last != (c->level == fake.max_length) ||
      c->total != fake.candidate_count)
    wrong("the batch's head");
  if ((c->level == 1) != !c->interval || (c->level == 1) != !c->parent)
    wrong("arrays at level 1");
  for (uint32_t k = 0; k < c->count && !fake.wrong[0]; k++, fake.next++) {
    const struct nodes *n = &fake.candidate[fake.next];
    if (fake.next >= fake.candidate_count) {
      wrong("too many");
      break;
    }
    if (c->level > 1 && c->parent[k] != fake.parent[fake.next])
      wrong("its parent");
    for (uint32_t i = 0; i < c->level; i++)
      if (c->type[k * c->level + i] != n->type[i] || (i && c->interval[k * (c->level - 1) + i - 1] != n->interval[i]))
        wrong("its nodes");
    counts[k] = 1;
    if (is_frequent(n, c->level)) {
      counts[k] = fake.enormous ? fake.enormous : 2 + fake.next % 7;
      fake.number[fake.kept_count] = fake.next;
      fake.kept[c->level & 1][fake.kept_count++] = *n;
    }
  }
  fake.frequent[c->level] = fake.kept_count;
  return 0;
}

static int fake_keep(void *self, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error)
{
  (void)self, (void)error;
  fake.keeps++;
  if (level != fake.level || n != fake.kept_count || fake.next != fake.candidate_count)
    wrong("keep: level or number");
  for (uint32_t i = 0; i < n && !fake.wrong[0]; i++)
    if (kept[i] != fake.number[i])
      wrong("keep: which");
  return 0;
}

static void fake_close(void *self)
{
  (void)self;
}

static void fake_tell(void *self, struct mill_counter_level *level)
{
  (void)self;
  level->culled = 10 * fake.next + fake.level;
  level->method = fake.level % 2 ? "oddly" : NULL;
}

static const struct mill_counter_ops fake_ops = {fake_open, fake_count, fake_keep, fake_close, fake_tell, NULL};
static const struct mill_plugin fake_plugin = {.name = "fake", .ops = &fake_ops, .ops_size = sizeof fake_ops};

// ---- Mining with a counter ----

struct mined {
  struct mill_episodes episodes;
  struct mill_error error;
  int result;
  uint32_t calls, stop_level; // progress says 1 in this level
};

static int on_progress(const struct mill_mining_progress *p, void *self)
{
  struct mined *m = self;
  m->calls++;
  if (p->done > p->candidates || p->frequent > p->done || p->wall_s < 0)
    wrong("progress");
  return p->level == m->stop_level && p->done > 0;
}

struct mining {
  const struct mill_plugin *plugin;
  const struct mill_event *event;
  uint32_t events, types, interval_count, max_length, threads;
  const struct mill_interval *interval;
  uint64_t threshold, max_candidates, budget;
  int ties, repeats;
};

static void mine(const struct mining *how, struct mined *m)
{
  struct mill_team *team = NULL;
  struct mill_counting *counting = NULL;
  memset(&m->episodes, 0, sizeof m->episodes);
  m->error = (struct mill_error){0};
  m->calls = 0;
  m->episodes.budget = how->budget;
  if (mill_team_create(how->threads, &team, &m->error))
    bail("%s", m->error.text);
  const struct mill_counting_setup setup = {.plugin = how->plugin,
                                            .event = how->event,
                                            .events = how->events,
                                            .types = how->types,
                                            .ties = how->ties,
                                            .interval = how->interval,
                                            .interval_count = how->interval_count,
                                            .threshold = how->threshold,
                                            .memory = 1 << 20,
                                            .team = team};
  if (mill_counting_open(&setup, &counting, &m->error))
    bail("%s", m->error.text);
  const struct mill_levels_setup levels = {.counting = counting,
                                           .types = how->types,
                                           .interval_count = how->interval_count,
                                           .threshold = how->threshold,
                                           .max_length = how->max_length,
                                           .repeats = how->repeats,
                                           .max_candidates = how->max_candidates,
                                           .memory = 2 * how->budget,
                                           .workers = how->threads,
                                           .begun = mill_seconds(),
                                           .progress = on_progress,
                                           .self = m};
  m->result = mill_levels_run(&levels, &m->episodes, &m->error);
  mill_counting_close(counting);
  mill_team_free(team);
}

// ---- Candidates ----

static struct mill_event fake_event[2 * 64];
static const struct mill_interval fake_interval[4] = {{0, 1}, {0, 2}, {1, 2}, {2, 3}};

static struct mining fake_mining(uint32_t types, uint32_t intervals, uint32_t max_length, int repeat, unsigned share, uint64_t seed)
{
  for (uint32_t i = 0; i < 2 * types; i++)
    fake_event[i] = (struct mill_event){.tick = i, .unit = i % types};
  memset(&fake, 0, sizeof fake);
  fake.types = types;
  fake.intervals = intervals;
  fake.max_length = max_length;
  fake.repeats = repeat;
  fake.share = share;
  fake.seed = seed;
  return (struct mining){.plugin = &fake_plugin,
                         .event = fake_event,
                         .events = 2 * types,
                         .types = types,
                         .interval_count = intervals,
                         .max_length = max_length,
                         .threads = PARALLEL,
                         .interval = fake_interval,
                         .threshold = 2,
                         .max_candidates = UINT64_MAX,
                         .budget = UINT64_C(1) << 28,
                         .repeats = repeat};
}

static const struct {
  uint32_t types, intervals, max_length;
  int repeats;
  unsigned share;
  uint64_t seed;
} fakes[] = {
    {1, 1, 6, 1, 100, 1},  {1, 1, 6, 0, 100, 1},  {2, 1, 8, 1, 100, 1}, {2, 3, 4, 1, 100, 2}, {3, 1, 8, 0, 100, 3},
    {3, 2, 8, 0, 100, 4},  {5, 3, 8, 1, 30, 5},   {5, 3, 8, 0, 40, 6},  {8, 2, 8, 1, 25, 7},  {8, 2, 8, 0, 30, 8},
    {20, 1, 8, 1, 20, 9},  {20, 2, 8, 0, 12, 10}, {20, 4, 8, 1, 6, 11}, {7, 4, 3, 0, 50, 12}, {9, 1, 1, 0, 100, 13},
    {9, 1, 2, 0, 100, 14}, {6, 2, 8, 0, 0, 15},   {60, 1, 8, 0, 5, 16},
};

static void test_candidates(void)
{
  for (size_t i = 0; i < sizeof fakes / sizeof *fakes; i++) {
    struct mined m = {0};
    struct mining how =
        fake_mining(fakes[i].types, fakes[i].intervals, fakes[i].max_length, fakes[i].repeats, fakes[i].share, fakes[i].seed);
    mine(&how, &m);
    uint32_t levels = m.episodes.levels;
    int same = !m.result;
    for (uint32_t n = 1; n <= levels; n++) {
      const struct mill_episode_level *level = &m.episodes.level[n];
      same &= level->candidates == fake.made[n] && level->count == fake.frequent[n];
      same &= level->culled == 10 * level->candidates + n && !level->method == !(n % 2);
    }
    ok(!fake.wrong[0] && same, "candidates of %u types, %u intervals, repeats %d: %u levels, %u batches %s", fakes[i].types,
       fakes[i].intervals, fakes[i].repeats, levels, fake.batches, fake.wrong);
    // It went on as long as there was something: the level that would follow has no candidates.
    fake.kept_count = (uint32_t)m.episodes.level[levels].count;
    expect_level(levels + 1);
    ok(levels == fakes[i].max_length || fake.candidate_count == 0, "and there are no more");
    ok(m.calls >= levels && fake.keeps == levels - 1, "progress in each level, keep between two");
    mill_episodes_free(&m.episodes);
    ok(m.episodes.held == 0, "all is given back");
  }
}

// ---- Stops ----

static int same_levels(const struct mill_episodes *a, const struct mill_episodes *b)
{
  if (a->level[a->levels + 1].count || a->level[a->levels + 1].blocks)
    return 0; // a level that is not complete is dropped
  for (uint32_t n = 1; n <= a->levels; n++) {
    if (a->level[n].count != b->level[n].count || a->level[n].candidates != b->level[n].candidates)
      return 0;
    for (uint32_t i = 0; i < a->level[n].count; i++)
      if (memcmp(mill_episode_at(a, n, i), mill_episode_at(b, n, i), sizeof(struct mill_episode)))
        return 0;
  }
  return 1;
}

static void test_stops(void)
{
  struct mined whole = {0}, m = {0};
  struct mining how = fake_mining(8, 2, 8, 1, 25, 7);
  char want[100];
  mine(&how, &whole);
  uint32_t levels = whole.episodes.levels;
  ok(!whole.result && levels >= 5, "a mining of %u levels", levels);
  for (uint32_t n = 1; n <= levels; n++) {
    uint64_t c = whole.episodes.level[n].candidates;
    uint32_t stop = 1;
    how = fake_mining(8, 2, 8, 1, 25, 7);
    how.max_candidates = c - 1;
    while (whole.episodes.level[stop].candidates < c)
      stop++;
    mine(&how, &m);
    snprintf(want, sizeof want, "level %u has %ju candidates, and max_candidates is %ju", stop,
             (uintmax_t)whole.episodes.level[stop].candidates, (uintmax_t)c - 1);
    ok(m.result && m.error.status == MILL_RESOURCES && strstr(m.error.text, want), "too many candidates: %s", m.error.text);
    ok(m.episodes.levels == stop - 1 && same_levels(&m.episodes, &whole.episodes), "the levels before are complete");
    mill_episodes_free(&m.episodes);
    how = fake_mining(8, 2, 8, 1, 25, 7);
    m.stop_level = n;
    mine(&how, &m);
    m.stop_level = 0;
    /* What is said after the last batch of a level stops the next one. */
    ok(m.result ? m.error.status == MILL_INTERRUPTED : n == levels, "interrupted: %s", m.result ? m.error.text : "at the end");
    ok((m.episodes.levels == n || (m.result && m.episodes.levels == n - 1)) && same_levels(&m.episodes, &whole.episodes),
       "what is counted is complete");
    mill_episodes_free(&m.episodes);
    how = fake_mining(8, 2, 8, 1, 25, 7);
    fake.fail_at = (int)n;
    mine(&how, &m);
    is_str(m.error.text, "counter `fake`: out of order", "a counter that fails");
    ok(m.result && m.episodes.levels == n - 1 && same_levels(&m.episodes, &whole.episodes), "the levels before are complete");
    mill_episodes_free(&m.episodes);
  }
  how = fake_mining(8, 2, 8, 1, 25, 7);
  how.max_candidates = 0;
  for (uint32_t n = 1; n <= levels; n++)
    if (whole.episodes.level[n].candidates > how.max_candidates)
      how.max_candidates = whole.episodes.level[n].candidates;
  mine(&how, &m);
  ok(!m.result && m.episodes.levels == levels, "as many candidates as there are may be made");
  mill_episodes_free(&m.episodes);
  how = fake_mining(8, 2, 8, 1, 25, 7);
  fake.enormous = UINT64_C(1) << 32;
  mine(&how, &m);
  ok(m.result && strstr(m.error.text, "more than there are events"), "a counter that raves: %s", m.error.text);
  mill_episodes_free(&m.episodes);
  mill_episodes_free(&whole.episodes);
}

// Every budget ends in a complete result or in a clean stop.
static void test_budgets(void)
{
  struct mined whole = {0}, m = {0};
  struct mining how = fake_mining(8, 2, 8, 1, 25, 7);
  uint32_t stops = 0, complete = 0, wrongs = 0, last = UINT32_MAX;
  mine(&how, &whole);
  for (uint64_t budget = 0; budget < 4000000; budget += budget / 16 + 500) {
    how = fake_mining(8, 2, 8, 1, 25, 7);
    how.budget = budget;
    mine(&how, &m);
    wrongs += !same_levels(&m.episodes, &whole.episodes) || m.episodes.held > budget || fake.wrong[0];
    if (!m.result) {
      complete++;
      wrongs += m.episodes.levels != whole.episodes.levels;
    } else {
      stops += m.episodes.levels != last;
      last = m.episodes.levels;
      wrongs += m.error.status != MILL_RESOURCES || !strstr(m.error.text, "half of memory") || complete;
    }
    mill_episodes_free(&m.episodes);
    wrongs += m.episodes.held != 0;
  }
  ok(!wrongs && complete && stops >= 3, "budgets from 0 up: %u levels to stop at, %u complete, %u wrong", stops, complete, wrongs);
  mill_episodes_free(&whole.episodes);
}

// ---- Brute force ----

struct expected {
  uint32_t length;
  struct nodes nodes;
  uint64_t count;
};

// All frequent episodes up to a length, by length, types, intervals.
static uint32_t expect_all(const struct mining *how, uint32_t length, struct expected *out)
{
  uint32_t count = 0;
  for (uint32_t n = 1; n <= length; n++) {
    uint32_t type_sets = 1, gap_sets = 1;
    for (uint32_t k = 0; k < n; k++)
      type_sets *= how->types;
    for (uint32_t k = 1; k < n; k++)
      gap_sets *= how->interval_count;
    for (uint32_t t = 0; t < type_sets; t++) {
      for (uint32_t g = 0; g < gap_sets; g++) {
        struct expected e = {.length = n};
        struct mill_interval gap[LONGEST];
        for (uint32_t k = n, rest = t; k--; rest /= how->types)
          e.nodes.type[k] = rest % how->types;
        for (uint32_t k = n, rest = g; --k; rest /= how->interval_count) {
          e.nodes.interval[k] = rest % how->interval_count;
          gap[k - 1] = how->interval[e.nodes.interval[k]];
        }
        if (!how->repeats && repeats(&e.nodes, n))
          continue;
        e.count = count_plainly(how->event, how->events, n, e.nodes.type, gap, how->ties);
        if (e.count >= how->threshold)
          out[count++] = e;
      }
    }
  }
  return count;
}

static int same_episodes(struct mined *m, const struct mill_interval *interval, const struct expected *want, uint32_t count)
{
  uint32_t type[MILL_LENGTH_MAX], gap[MILL_LENGTH_MAX], at = 0;
  uint64_t hash;
  if (mill_episodes_sort(&m->episodes, interval, &hash, &m->error))
    return 0;
  for (uint32_t n = 1; n <= m->episodes.levels; n++) {
    for (uint32_t i = 0; i < m->episodes.level[n].count; i++, at++) {
      uint32_t index = m->episodes.level[n].order[i];
      if (at >= count || want[at].length != n || want[at].count != mill_episode_at(&m->episodes, n, index)->count)
        return 0;
      mill_episode_nodes(&m->episodes, n, index, type, gap);
      for (uint32_t k = 0; k < n; k++)
        if (type[k] != want[at].nodes.type[k] || (k && gap[k - 1] != want[at].nodes.interval[k]))
          return 0;
    }
  }
  return at == count;
}

static void test_brute_force(void)
{
  static struct expected want[20000];
  static struct mill_event event[60];
  const struct mill_plugin *plugin[2];
  struct mill_error error;
  uint64_t state = 20260101;
  uint32_t runs = getenv("SPIKEMILL_LONG") ? 20000 : 600, wrongs = 0, longest = 0, first_wrong = 0;
  if (mill_plugin_load(MILL_COUNTER, "serial", NULL, &plugin[0], &error) ||
      mill_plugin_load(MILL_COUNTER, "latest-start", NULL, &plugin[1], &error))
    bail("%s", error.text);
  for (uint32_t run = 0; run < runs; run++) {
    struct mill_interval interval[3];
    struct mined m = {0};
    struct mining how = {.plugin = plugin[run % 2],
                         .event = event,
                         .events = 1 + below(&state, 50),
                         .types = 1 + below(&state, 4),
                         .interval_count = 1 + below(&state, 3),
                         .max_length = 1 + below(&state, 4),
                         .threads = 1 + run % 3,
                         .interval = interval,
                         .threshold = 1 + below(&state, 5),
                         .max_candidates = UINT64_MAX,
                         .budget = 1 << 24,
                         .ties = run / 2 % 2,
                         .repeats = run / 4 % 2};
    for (uint32_t i = 0; i < how.interval_count; i++) {
      interval[i].low = below(&state, 4);
      interval[i].high = interval[i].low + 1 + below(&state, 6);
    }
    make_events(&state, event, how.events, how.types, 1 + below(&state, 3));
    uint32_t count = expect_all(&how, how.max_length, want);
    mine(&how, &m);
    if (m.result || !same_episodes(&m, interval, want, count)) {
      first_wrong = wrongs++ ? first_wrong : run;
    }
    longest = m.episodes.levels > longest ? m.episodes.levels : longest;
    mill_episodes_free(&m.episodes);
  }
  ok(!wrongs && longest == 4, "%u random streams: every frequent episode is found, and no other (%u wrong, the first %u)", runs,
     wrongs, first_wrong);
}

// ---- Sizes ----

static void test_many_types(void)
{
  const uint32_t types = 1000000;
  struct mill_event *event = calloc(types, sizeof *event);
  static const struct mill_interval interval = {0, 5};
  const struct mill_plugin *plugin;
  struct mined m = {0};
  if (!event)
    bail("out of memory");
  for (uint32_t i = 0; i < types; i++)
    event[i] = (struct mill_event){.tick = i, .unit = i};
  for (int k = 0; k < 2; k++) {
    if (mill_plugin_load(MILL_COUNTER, k ? "latest-start" : "serial", NULL, &plugin, &m.error))
      bail("%s", m.error.text);
    struct mining how = {.plugin = plugin,
                         .event = event,
                         .events = types,
                         .types = types,
                         .interval_count = 1,
                         .max_length = 64,
                         .threads = 2,
                         .interval = &interval,
                         .threshold = 2,
                         .max_candidates = 100000000,
                         .budget = 1 << 28};
    mine(&how, &m);
    ok(!m.result && m.episodes.levels == 1 && m.episodes.level[1].candidates == types && m.episodes.level[1].count == 0,
       "a million types with one event each, %s: none is frequent", plugin->name);
    mill_episodes_free(&m.episodes);
    if (!k)
      continue;
    how.threshold = 1;
    mine(&how, &m);
    ok(m.result && m.error.status == MILL_RESOURCES && m.episodes.levels == 1 && m.episodes.level[1].count == types &&
           strstr(m.error.text, "level 2 has 999999000000 candidates"),
       "all of them frequent: %s", m.error.text);
    mill_episodes_free(&m.episodes);
  }
  free(event);
}

int main(void)
{
  plan_later();
  test_candidates();
  test_stops();
  test_budgets();
  test_brute_force();
  test_many_types();
  is_int((intmax_t)mill_memory_held(), 0, "no memory is left behind");
  return done_testing();
}
