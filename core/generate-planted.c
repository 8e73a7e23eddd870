/* A Poisson background in which episodes are planted: A -5-> B -3-> C is an event of A, one of B about 5 ms later, one of C about 3 ms after
   that. Occurrences of an episode start as a Poisson process whose dead time is the longest that one can last, so that each starts
   after the one before has ended, and as many can be counted as were planted, when no node is left out. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "expr.h"
#include "generate-private.h"
#include "text.h"

enum { UNITS_MAX = 1000000, NODES_MAX = 256, EPISODES_MAX = 64 };
enum { LENGTH_MAX = 24 }; /* nodes, so that the truth's lines fit into an INI file */

struct values {
  int64_t neurons, seed;
  double background, miss;
  const char *episodes, *rate, *jitter, *duration, *tick;
};
#define AT(member) offsetof(struct values, member)
static const struct mill_param_spec specs[] = {
    {"neurons", "", "26", NULL, "number of units", 1, UNITS_MAX, AT(neurons), MILL_INT, 0},
    {"background", "Hz", "10", NULL, "rate of a unit, beside what is planted", 0, 1e6, AT(background), MILL_REAL, 0},
    {"duration", "ms", "60000", NULL, "length of the stream", 0, 0, AT(duration), MILL_TEXT, 0},
    {"episodes", "", "A -5-> B -5-> C -5-> D", NULL, "units with the lag in ms from each to the next; several with commas between",
     0, 0, AT(episodes), MILL_TEXT, 0},
    {"rate", "Hz", "2", NULL, "mean rate of occurrences of an episode, or a list that they take in turn", 0, 0, AT(rate), MILL_TEXT,
     0},
    {"jitter", "ms", "1", NULL, "how much shorter or longer a lag may be, uniformly", 0, 0, AT(jitter), MILL_TEXT, 0},
    {"miss", "", "0", NULL, "that a node of an occurrence is left out", 0, 1, AT(miss), MILL_REAL, 0},
    {"tick", "ms", "0.001", NULL, "resolution of the times", 0, 0, AT(tick), MILL_TEXT, 0},
    {"seed", "", "1", NULL, "seed of every random number", 0, 9.2e18, AT(seed), MILL_INT, 0},
};
#undef AT

struct node {
  uint32_t unit;
  int64_t lag; /* from the node before, ticks */
};
struct episode {
  uint32_t first, length; /* nodes */
  int64_t span;           /* the longest from the first node to the last */
  struct mill_law law;    /* of its beginnings */
};

/* The parameters in ticks. */
struct setup {
  int64_t tick_ps, stop, jitter;
  uint32_t units, nodes, episodes, rates;
  struct node node[NODES_MAX];
  struct episode episode[EPISODES_MAX];
  struct mill_law background;
  double rate[EPISODES_MAX]; /* Hz */
  uint64_t starts, fates;    /* keys */
  double miss;
};

/* ---- Parameters */

static int read_unit(const struct setup *s, const char *name, size_t n, uint32_t *unit, struct mill_error *error)
{
  char text[16], last[16];
  int64_t number = -1;
  mill_text_format(text, sizeof text, "%.*s", n < 15 ? (int)n : 15, name);
  if (s->units <= 26)
    number = n == 1 ? *name - 'A' : -1;
  else if (n < 15 && mill_text_int(text, &number) == 0)
    number--;
  if (number < 0 || number >= s->units)
    return mill_fail(error, MILL_USAGE, "`%.*s` is no unit: there are %s to %s (--neurons)", n < 60 ? (int)n : 60, name,
                     mill_generator_unit(s->units, 0, text), mill_generator_unit(s->units, s->units - 1, last));
  *unit = (uint32_t)number;
  return 0;
}

static int read_lag(const struct setup *s, const char *text, int64_t *lag, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  char tick[32], jitter[32];
  int64_t ps;
  if (mill_expr_ps(text, &none, &ps, error) < 0)
    return mill_fail_within(error, "the lag `%s`", text);
  if (ps <= 0 || ps > MILL_GENERATE_SECONDS(100) || ps % s->tick_ps)
    return mill_fail(error, MILL_USAGE,
                     "the lag `%s`: expected ms above 0, a whole number of ticks of %s ms (--tick), at most 100000", text,
                     mill_generator_ms(tick, s->tick_ps));
  if (ps / s->tick_ps < s->jitter)
    return mill_fail(error, MILL_USAGE, "the lag `%s` is shorter than the jitter, %s ms (--jitter)", text,
                     mill_generator_ms(jitter, s->jitter * s->tick_ps));
  *lag = ps / s->tick_ps;
  return 0;
}

static const char *skip(const char *p)
{
  return p + strspn(p, " \t");
}

/* "-5->" or "-5→" at *text; moves on to what follows. */
static int read_link(const struct setup *s, const char **text, int64_t *lag, struct mill_error *error)
{
  const char *ascii = strstr(*text, "->"), *sign = strstr(*text, "→");
  const char *arrow = ascii && (!sign || ascii < sign) ? ascii : sign;
  if (**text != '-' || !arrow)
    return mill_fail(error, MILL_USAGE, "expected -LAG-> at `%.*s`", (int)mill_text_cut(*text, strnlen(*text, 24)), *text);
  char *number = mill_text_trim(*text + 1, arrow > *text ? (size_t)(arrow - *text - 1) : 0);
  if (!number)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  const int result = read_lag(s, number, lag, error);
  free(number);
  *text = skip(arrow + strlen(arrow == ascii ? "->" : "→"));
  return result;
}

/* "A -5-> B -3-> C" */
static int read_episode(const char *item, uint32_t i, void *self, struct mill_error *error)
{
  struct setup *s = self;
  struct episode *e = &s->episode[i];
  int64_t lag = 0;
  *e = (struct episode){.first = s->nodes};
  for (const char *p = item;;) {
    const size_t n = strcspn(p, " \t-");
    struct node *node = &s->node[s->nodes];
    if (e->length == LENGTH_MAX || s->nodes == NODES_MAX)
      return mill_fail(error, MILL_USAGE, "an episode has at most %d nodes, and all of them %d", LENGTH_MAX, NODES_MAX);
    if (read_unit(s, p, n, &node->unit, error) < 0)
      return -1;
    node->lag = lag;
    e->span += e->length++ ? lag + s->jitter : 0;
    s->nodes++;
    p = skip(p + n);
    if (!*p)
      break;
    if (read_link(s, &p, &lag, error) < 0)
      return -1;
  }
  return e->length > 1 ? 0 : mill_fail(error, MILL_USAGE, "an episode has two nodes or more, as A -5-> B");
}

static int read_rate(const char *item, uint32_t i, void *self, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  struct setup *s = self;
  return mill_expr_real(item, &none, &s->rate[i], error);
}

/* Of each episode, whose span is known now. */
static int set_laws(struct setup *s, struct mill_error *error)
{
  char rate[32];
  for (uint32_t k = 0; k < s->episodes; k++) {
    struct episode *e = &s->episode[k];
    e->law.key = s->starts;
    if (mill_law_set(&e->law, s->rate[k % s->rates], s->tick_ps, e->span + 1, "an occurrence can last", error) < 0)
      return mill_fail_within(error, "--rate %s", mill_text_double(rate, s->rate[k % s->rates]));
  }
  return 0;
}

static int prepare(const struct values *v, struct setup *s, struct mill_error *error)
{
  const uint64_t seed = (uint64_t)v->seed;
  char text[32];
  *s = (struct setup){.units = (uint32_t)v->neurons,
                      .starts = mill_key(seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_PLANTED_STARTS),
                      .fates = mill_key(seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_PLANTED_NODES),
                      .miss = v->miss};
  if (mill_generator_span(v->tick, v->duration, &s->tick_ps, &s->stop, error) < 0 ||
      mill_generator_ticks("jitter", v->jitter, 0, MILL_GENERATE_SECONDS(100), s->tick_ps, &s->jitter, error) < 0 ||
      mill_generator_each("episodes", v->episodes, EPISODES_MAX, read_episode, s, &s->episodes, error) < 0 ||
      mill_generator_each("rate", v->rate, EPISODES_MAX, read_rate, s, &s->rates, error) < 0 || set_laws(s, error) < 0)
    return -1;
  if (mill_law_set(&s->background, v->background, s->tick_ps, 0, "", error) < 0)
    return mill_fail_within(error, "--background %s", mill_text_double(text, v->background));
  s->background.key = mill_key(seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_PLANTED);
  return 0;
}

static int describe(const void *params, struct mill_generated *made, struct mill_error *error)
{
  struct setup s;
  if (prepare(params, &s, error) < 0)
    return -1;
  *made = (struct mill_generated){s.tick_ps, s.stop, s.units, (uint64_t)((const struct values *)params)->seed};
  return 0;
}

/* ---- Occurrences */

/* The nodes of an episode's occurrences one after the other. */
struct planting {
  struct mill_train train; /* the beginning of the next occurrence */
  uint64_t number;         /* of this one */
  uint32_t node;
  struct mill_point at; /* where the node is; MILL_NEVER when there are no more */
};

enum { LAG, MISS }; /* the random numbers of a node */

static uint64_t fate(const struct setup *s, uint32_t k, const struct planting *p, uint32_t node, int what)
{
  return mill_random(s->fates, k, (p->number * NODES_MAX + node) * 2 + (uint64_t)what);
}

/* From the node before to this one: a whole number of ticks in (lag - jitter, lag + jitter]. */
static int64_t lag_of(const struct setup *s, uint32_t k, const struct planting *p, uint32_t node)
{
  const int64_t lag = s->node[s->episode[k].first + node].lag;
  if (!s->jitter)
    return lag;
  return lag - s->jitter + 1 + (int64_t)mill_below(fate(s, k, p, node, LAG), 2 * (uint64_t)s->jitter);
}

static int is_missed(const struct setup *s, uint32_t k, const struct planting *p)
{
  return mill_uniform(fate(s, k, p, p->node, MISS)) < s->miss;
}

/* The occurrence at the beginning that the train has reached, when the stream holds the whole of it. */
static void begin_occurrence(const struct setup *s, uint32_t k, struct planting *p)
{
  int64_t last = p->train.next.tick;
  p->at = p->train.next;
  p->node = 0;
  for (uint32_t node = 1; node < s->episode[k].length; node++)
    last += lag_of(s, k, p, node);
  if (last >= s->stop)
    p->at.tick = MILL_NEVER;
  else
    mill_train_step(&p->train, &s->episode[k].law, k);
}

static void begin_planting(const struct setup *s, uint32_t k, struct planting *p)
{
  *p = (struct planting){.number = 0};
  mill_train_begin(&p->train, &s->episode[k].law, k);
  begin_occurrence(s, k, p);
}

static void next_node(const struct setup *s, uint32_t k, struct planting *p)
{
  if (++p->node < s->episode[k].length) {
    p->at.tick += lag_of(s, k, p, p->node);
  } else {
    p->number++;
    begin_occurrence(s, k, p);
  }
}

/* ---- The stream */

struct maker {
  struct setup setup;
  struct mill_ensemble background;
  struct planting planting[EPISODES_MAX];
};

static int fill(void *self, int64_t end, struct mill_window *window, struct mill_error *error)
{
  struct maker *m = self;
  const struct setup *s = &m->setup;
  if (mill_ensemble_fill(&m->background, end, window, error) < 0)
    return -1;
  for (uint32_t k = 0; k < s->episodes; k++)
    for (struct planting *p = &m->planting[k]; p->at.tick < end; next_node(s, k, p))
      if (!is_missed(s, k, p) && mill_window_add(window, p->at, s->node[s->episode[k].first + p->node].unit, error) < 0)
        return -1;
  return 0;
}

static int make(const void *params, mill_event_sink *sink, void *self, struct mill_error *error)
{
  struct maker m;
  if (prepare(params, &m.setup, error) < 0)
    return -1;
  for (uint32_t k = 0; k < m.setup.episodes; k++)
    begin_planting(&m.setup, k, &m.planting[k]);
  int result = mill_ensemble_begin(&m.background, &m.setup.background, 1, m.setup.units, error);
  if (result == 0)
    result = mill_windows_make(m.setup.stop, 1, fill, &m, sink, self, error);
  mill_ensemble_free(&m.background);
  return result;
}

/* ---- Truth */

/* One value for all links when they agree, else one for each. */
static int lags_agree(const struct setup *s, const struct episode *e)
{
  for (uint32_t node = 2; node < e->length; node++)
    if (s->node[e->first + node].lag != s->node[e->first + 1].lag)
      return 0;
  return 1;
}

static void print_links(const struct setup *s, const struct episode *e, FILE *out)
{
  const uint32_t end = lags_agree(s, e) ? 2 : e->length;
  const int64_t below = s->jitter ? s->jitter : 1; /* in front of the first tick of a lag */
  char low[32], high[32];
  fputs("delay_ms =", out);
  for (uint32_t node = 1; node < end; node++)
    fprintf(out, " %s", mill_generator_ms(low, s->node[e->first + node].lag * s->tick_ps));
  fputs("\ninterval =", out);
  for (uint32_t node = 1; node < end; node++) {
    const int64_t lag = s->node[e->first + node].lag;
    fprintf(out, " (%s,%s]", mill_generator_ms(low, (lag - below) * s->tick_ps),
            mill_generator_ms(high, (lag + s->jitter) * s->tick_ps));
  }
  fputs(" ms\n", out);
}

static uint64_t count_occurrences(const struct setup *s, uint32_t k)
{
  struct planting p;
  for (begin_planting(s, k, &p); p.at.tick < s->stop; next_node(s, k, &p))
    continue;
  return p.number;
}

static uint32_t plant(const void *params, FILE *out)
{
  const struct values *v = params;
  struct setup s;
  char text[32];
  if (prepare(v, &s, NULL) < 0)
    return 0;
  for (uint32_t k = 0; k < s.episodes; k++) {
    const struct episode *e = &s.episode[k];
    fprintf(out, "[chain.%u]\nunits =", k + 1);
    for (uint32_t node = 0; node < e->length; node++)
      fprintf(out, " %s", mill_generator_unit(s.units, s.node[e->first + node].unit, text));
    fputc('\n', out);
    print_links(&s, e, out);
    fprintf(out, "probability = %s\noccurrences = %" PRIu64 "\n", mill_text_double(text, 1 - v->miss), count_occurrences(&s, k));
  }
  return s.episodes;
}

static void print_occurrences(const void *params, FILE *out)
{
  struct setup s;
  struct planting p;
  char unit[16], time[32];
  if (prepare(params, &s, NULL) < 0)
    return;
  fputs("chain,occurrence,node,unit,time_ms\n", out);
  for (uint32_t k = 0; k < s.episodes; k++)
    for (begin_planting(&s, k, &p); p.at.tick < s.stop; next_node(&s, k, &p))
      if (!is_missed(&s, k, &p))
        fprintf(out, "%u,%" PRIu64 ",%u,%s,%s\n", k + 1, p.number + 1, p.node + 1,
                mill_generator_unit(s.units, s.node[s.episode[k].first + p.node].unit, unit),
                mill_generator_ms(time, (p.at.tick + 1) * s.tick_ps));
}

const struct mill_generator mill_generator_planted = {
    "planted",
    "a Poisson background with planted episodes",
    specs,
    sizeof specs / sizeof *specs,
    sizeof(struct values),
    describe,
    plant,
    make,
    print_occurrences,
};
