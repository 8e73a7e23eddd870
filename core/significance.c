/* Tests of episodes: their expected counts, strengths and p, and q over all candidates. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "significance.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include "memory.h"
#include "registry.h"
#include "simulation.h"
#include "significance-model.h"
#include "text.h"

#define SLICE 64    /* episodes between two looks at interruptions, */
#define LOOK_S 0.05 /* and seconds, within an episode */

void mill_tests_free(struct mill_tests *tests)
{
  mill_release(tests->test);
  *tests = (struct mill_tests){0};
}

const struct mill_test *mill_tests_at(const struct mill_tests *tests, uint32_t level, uint32_t index)
{
  return tests->test && level > 1 ? &tests->test[tests->first[level] + index] : NULL;
}

/* ---- False discoveries -------------------------------------------------------------------------------------------------- */

static int by_share(const void *a, const void *b, void *shares)
{
  const double *share = shares, x = share[*(const uint64_t *)a], y = share[*(const uint64_t *)b];
  return (x > y) - (x < y);
}

void mill_false_discovery(const double *share, double whole, uint64_t n, uint64_t candidates, double *q, uint64_t *order)
{
  double least = 1;
  for (uint64_t i = 0; i < n; i++)
    order[i] = i;
  qsort_r(order, n, sizeof *order, by_share, (void *)(uintptr_t)share);
  for (uint64_t rank = n; rank > 0; rank--) {
    const uint64_t i = order[rank - 1];
    const double own = share[i] * (double)candidates / (whole * (double)rank);
    least = own < least ? own : least;
    q[i] = least;
  }
}

/* candidates / (n (S + 1)) ≤ q */
double mill_surrogates_needed(uint64_t n, uint64_t candidates, double q)
{
  double needed = ceil((double)candidates / ((double)n * q)) - 1;
  while ((double)candidates / ((double)n * (needed + 1)) > q) /* the quotient was rounded */
    needed++;
  return needed;
}

/* "that takes 199 (significance = surrogate=199)", into text[160]. */
static const char *needed_text(char *text, double needed)
{
  if (needed <= MILL_SURROGATES_MOST)
    mill_text_format(text, 160, "that takes %.0f (significance = surrogate=%.0f)", needed, needed);
  else
    mill_text_format(text, 160, "that would take %.0f, and %d is the most there can be", needed, MILL_SURROGATES_MOST);
  return text;
}

/* Nothing is above a q of 1. */
static int check_surrogates(const struct mill_tests_setup *setup, const struct mill_tests *tests, struct mill_error *error)
{
  const struct mill_significance_options *o = setup->options;
  char asked[32], text[160];
  const double needed = mill_surrogates_needed(tests->count, tests->candidates, o->q);
  if (o->surrogates >= needed || o->q >= 1)
    return 0;
  return mill_fail(error, MILL_USAGE,
                   "%" PRIu32 " surrogate%s cannot give a q of %s: with %" PRIu64 " frequent episode%s among %" PRIu64
                   " candidate%s %s%s",
                   o->surrogates, o->surrogates == 1 ? "" : "s", mill_text_double(asked, o->q), tests->count,
                   tests->count == 1 ? "" : "s", tests->candidates, tests->candidates == 1 ? "" : "s", needed_text(text, needed),
                   needed > MILL_SURROGATES_MOST ? ". Raise support or q"
                                                 : ", and more when not all of them are significant. Or raise support or q");
}

/* ---- The model ---------------------------------------------------------------------------------------------------------- */

struct modelling {
  const struct mill_tests_setup *setup;
  struct mill_tests *tests;
  double seconds, bin_s;
  const uint32_t *first; /* [types + 1] of the counter's input: how many events a type has */
  uint64_t bins, room;   /* room: the longest span */
  double **ring;         /* [workers], [2 × room] */
  double *share;         /* [tests]: p */
  uint64_t begin;        /* of the slice */
  atomic_int stop;
  double shown; /* when progress was called last */
};

/* A thread at work on the model. */
struct model_worker {
  struct modelling *m;
  uint32_t worker;
};

static uint32_t level_of(const struct mill_tests *tests, const struct mill_episodes *episodes, uint64_t test, uint32_t *index)
{
  uint32_t level = 2;
  while (test - tests->first[level] >= episodes->level[level].count)
    level++;
  *index = (uint32_t)(test - tests->first[level]);
  return level;
}

static double ticks_s(const struct modelling *m, double ticks)
{
  return ticks * (double)m->setup->tick_ps / 1e12;
}

/* Time in bins, rounded, and at least one. */
static uint64_t whole_bins(const struct modelling *m, double ticks)
{
  const double bins = floor(ticks_s(m, ticks) / m->bin_s + 0.5);
  return bins < 1 ? 1 : bins < 0x1p62 ? (uint64_t)bins : UINT64_C(1) << 62;
}

static double rate_of(const struct modelling *m, uint32_t type)
{
  return (m->first[type + 1] - m->first[type]) / m->seconds;
}

/* Of the episodes that are done, or of the surrogates, of which none is. */
static int show(struct modelling *m, uint64_t done)
{
  const struct mill_tests_setup *setup = m->setup;
  const int surrogates = setup->options->kind == MILL_SIGNIFICANCE_SURROGATE;
  m->shown = mill_seconds();
  return setup->progress &&
         setup->progress(surrogates ? 0 : done, surrogates ? setup->options->surrogates : m->tests->count, setup->self);
}

/* Whether the user wants to stop; progress asks on the caller's thread, which is worker 0. */
static int asks_to_stop(void *self)
{
  const struct model_worker *w = self;
  struct modelling *m = w->m;
  if (mill_host.interrupted() || (w->worker == 0 && mill_seconds() - m->shown > LOOK_S && show(m, m->begin)))
    atomic_store(&m->stop, 1);
  return atomic_load(&m->stop);
}

static struct mill_model model_of(const struct modelling *m, uint32_t level, const uint32_t *type, const uint32_t *interval)
{
  double span = 0;
  for (uint32_t k = 0; k + 1 < level; k++) {
    const struct mill_interval *gap = &m->setup->counting.interval[interval[k]];
    span += ((double)gap->low + (double)gap->high) / 2;
  }
  return (struct mill_model){m->bins,   whole_bins(m, span), mill_model_chance(rate_of(m, type[0]), m->bin_s),
                             level - 1, asks_to_stop,        NULL};
}

/* The null's probability that an occurrence begins in a bin. */
static double null_of(const struct modelling *m, const struct mill_model *model, const uint32_t *type, const uint32_t *interval)
{
  double p = model->start;
  for (uint32_t k = 0; k < model->links; k++) {
    const struct mill_interval *gap = &m->setup->counting.interval[interval[k]];
    const double e0 = m->setup->options->e0;
    p *= e0 > 0 ? e0 : mill_model_chance(rate_of(m, type[k + 1]), ticks_s(m, (double)(gap->high - gap->low)));
  }
  return p;
}

static void model_episode(void *self, uint64_t i, uint32_t worker)
{
  struct modelling *m = self;
  struct model_worker asks = {m, worker};
  const struct mill_episodes *episodes = m->setup->episodes;
  struct mill_test *test = &m->tests->test[m->begin + i];
  uint32_t type[MILL_LENGTH_MAX], interval[MILL_LENGTH_MAX], index;
  const uint32_t level = level_of(m->tests, episodes, m->begin + i, &index);
  mill_episode_nodes(episodes, level, index, type, interval);
  struct mill_model model = model_of(m, level, type, interval);
  model.self = &asks;
  if (atomic_load(&m->stop))
    return;
  const uint64_t count = mill_episode_at(episodes, level, index)->count;
  test->strength = mill_model_strength(&model, count, m->ring[worker]);
  test->threshold = mill_nan();
  if (m->setup->options->kind != MILL_SIGNIFICANCE_MODEL)
    return;
  const struct mill_moments null = mill_model_moments(&model, null_of(m, &model, type, interval), m->ring[worker]);
  test->expected = null.mean;
  if (null.variance > 0)
    test->threshold = mill_model_threshold(null, m->setup->options->epsilon);
  m->share[m->begin + i] = mill_model_p(null, count);
}

/* The longest span that fits into the recording. */
static uint64_t longest_span(const struct modelling *m)
{
  uint64_t most = 1;
  for (uint32_t i = 0; i < m->setup->counting.interval_count; i++) {
    const struct mill_interval *gap = &m->setup->counting.interval[i];
    const uint64_t span = whole_bins(m, ((double)gap->low + (double)gap->high) / 2 * (m->setup->episodes->levels - 1));
    most = span > most ? span : most;
  }
  return most < m->bins ? most : m->bins;
}

static int interrupted(const struct modelling *m, uint64_t done, struct mill_error *error)
{
  const struct mill_significance_options *o = m->setup->options;
  const int surrogates = o->kind == MILL_SIGNIFICANCE_SURROGATE;
  return mill_fail(error, MILL_INTERRUPTED,
                   "interrupted after %" PRIu64 " of %" PRIu64 " %s; every level is complete, nothing is tested",
                   surrogates ? 0 : done, surrogates ? o->surrogates : m->tests->count, surrogates ? "surrogates" : "episodes");
}

/* Strengths and, where they are asked for, the model's expected counts and p. */
static int model_all(struct modelling *m, struct mill_error *error)
{
  const struct mill_tests_setup *setup = m->setup;
  const uint32_t workers = mill_team_size(setup->counting.team);
  const uint64_t count = m->tests->count;
  int rc = 0;
  m->room = longest_span(m);
  m->ring = mill_allocate_or_fail("rooms of a model", workers, sizeof *m->ring, error);
  for (uint32_t w = 0; m->ring && w < workers; w++)
    if (!(m->ring[w] = mill_allocate_or_fail("bins of a model", 2 * m->room, sizeof **m->ring, error)))
      rc = -1;
  rc = m->ring ? rc : -1;
  for (uint64_t more; rc == 0 && m->begin < count; m->begin += more) {
    more = count - m->begin < (uint64_t)SLICE * workers ? count - m->begin : (uint64_t)SLICE * workers;
    mill_team_each(setup->counting.team, more, model_episode, m);
    if (atomic_load(&m->stop))
      rc = interrupted(m, m->begin, error);
    else if (show(m, m->begin + more))
      rc = interrupted(m, m->begin + more, error);
  }
  for (uint32_t w = 0; m->ring && w < workers; w++)
    mill_release(m->ring[w]);
  mill_release(m->ring);
  return rc;
}

/* ---- All of it ---------------------------------------------------------------------------------------------------------- */

static void number_tests(const struct mill_episodes *episodes, struct mill_tests *tests)
{
  for (uint32_t n = 2; n <= episodes->levels; n++) {
    tests->first[n] = tests->count;
    tests->count += episodes->level[n].count;
    tests->candidates += episodes->level[n].candidates;
  }
}

static int test_surrogates(const struct mill_tests_setup *setup, struct mill_counting **counting, struct mill_tests *tests,
                           double *share, struct mill_error *error)
{
  uint32_t *reached = mill_allocate_or_fail("surrogates that reach a count", tests->count, sizeof *reached, error);
  uint64_t *sum = reached ? mill_allocate_or_fail("counts in surrogates", tests->count, sizeof *sum, error) : NULL;
  int rc = sum ? mill_tests_by_surrogates(setup, counting, tests, reached, sum, error) : -1;
  for (uint64_t i = 0; rc == 0 && i < tests->count; i++) {
    share[i] = 1.0 + reached[i];
    tests->test[i].expected = (double)sum[i] / setup->options->surrogates;
  }
  mill_release(reached);
  mill_release(sum);
  return rc;
}

/* Says when episodes that no surrogate reached are not significant for want of surrogates. */
static void tell_floor(const struct mill_significance_options *o, const struct mill_tests *tests, const double *share)
{
  uint64_t floor = 0, short_of = 0;
  char asked[32], text[160];
  for (uint64_t i = 0; i < tests->count; i++) {
    floor += share[i] <= 1;
    short_of += share[i] <= 1 && tests->test[i].q > o->q;
  }
  if (!short_of)
    return;
  const double needed = mill_surrogates_needed(floor, tests->candidates, o->q);
  mill_note("%" PRIu64 " episodes are more frequent than in all of the %" PRIu32
            " surrogates, and not significant at q <= %s for want of surrogates: %s",
            short_of, o->surrogates, mill_text_double(asked, o->q), needed_text(text, needed));
}

/* p and q of shares of a whole. */
static int conclude(struct mill_tests *tests, const double *share, double whole, double asked, struct mill_error *error)
{
  double *q = mill_allocate_or_fail("q of episodes", tests->count, sizeof *q, error);
  uint64_t *order = q ? mill_allocate_or_fail("order of p", tests->count, sizeof *order, error) : NULL;
  if (order)
    mill_false_discovery(share, whole, tests->count, tests->candidates, q, order);
  for (uint64_t i = 0; order && i < tests->count; i++) {
    tests->test[i].p = share[i] / whole;
    tests->test[i].q = q[i];
    tests->significant += q[i] <= asked;
  }
  mill_release(q);
  mill_release(order);
  return order ? 0 : -1;
}

int mill_tests_run(const struct mill_tests_setup *setup, struct mill_counting **counting, struct mill_tests *tests,
                   struct mill_error *error)
{
  const struct mill_significance_options *o = setup->options;
  const int by_surrogates = o->kind == MILL_SIGNIFICANCE_SURROGATE;
  struct modelling m = {.setup = setup, .tests = tests, .bin_s = (double)o->bin / 1e12};
  int rc = -1;
  *tests = (struct mill_tests){0};
  number_tests(setup->episodes, tests);
  if (!tests->count)
    return 0;
  if (by_surrogates && check_surrogates(setup, tests, error) < 0)
    goto done;
  m.seconds = ticks_s(&m, (double)setup->duration);
  m.bins = whole_bins(&m, (double)setup->duration);
  m.first = mill_counting_input(*counting)->first;
  tests->test = mill_allocate_or_fail("tests of episodes", tests->count, sizeof *tests->test, error);
  m.share = tests->test ? mill_allocate_or_fail("p of episodes", tests->count, sizeof *m.share, error) : NULL;
  if (m.share && model_all(&m, error) == 0 && (!by_surrogates || test_surrogates(setup, counting, tests, m.share, error) == 0))
    rc = conclude(tests, m.share, by_surrogates ? 1.0 + o->surrogates : 1.0, o->q, error);
  if (rc == 0 && by_surrogates)
    tell_floor(o, tests, m.share);
done:
  mill_release(m.share);
  if (rc < 0)
    mill_tests_free(tests);
  return rc;
}
