/* The synthetic data of the mining papers: Poisson units in which chains are planted. In steps of dt a unit's rate is

     rate(n) = highest / (1 + exp(off - n w)),   highest = -ln(1 - certainty) / dt,   off = ln(highest / rate - 1),

   where n counts the events that its source had one delay ago, and w is such that after one of them the unit has an event in the step
   with the link's probability. Within a step events come at exponential gaps, none before last + refractory.
   (D. Patnaik, P. S. Sastry, K. P. Unnikrishnan, Scientific Programming 16, 2008; Y. Cao et al., arXiv 0905.2200, data set Sym26.)

   An exponential gap has no memory. So gaps run on through the steps at rest, and are drawn anew only where a rate changes and where a
   refractory period ends; the law of the events is that of drawing them anew in every step, at a cost by events instead of by steps. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "expr.h"
#include "generate-private.h"
#include "memory.h"
#include "text.h"

enum { UNITS_MAX = 1000000, CHAINS_MAX = 100, LENGTH_MAX = 100 };
#define STRONGEST 0.95 /* the highest rate of a link, as a part of the highest of all */

struct values {
  int64_t neurons, seed;
  double rate, probability, certainty;
  const char *chains, *delay, *refractory, *duration, *dt, *tick;
};
#define AT(member) offsetof(struct values, member)
static const struct mill_param_spec specs[] = {
    {"neurons", "", "26", NULL, "number of units", 1, UNITS_MAX, AT(neurons), MILL_INT, 0},
    {"rate", "Hz", "20", NULL, "rate of a unit at rest, refractoriness not counted", 0, 1e6, AT(rate), MILL_REAL, 0},
    {"duration", "ms", "60000", NULL, "length of the stream, a multiple of dt", 0, 0, AT(duration), MILL_TEXT, 0},
    {"chains", "", "4, 7", NULL, "lengths of the chains, which take the units in order; or none", 0, 0, AT(chains), MILL_TEXT, 0},
    {"probability", "", "0.8", NULL, "that a link's target follows its source, unless it is refractory", 0, 1, AT(probability),
     MILL_REAL, 0},
    {"delay", "ms", "5", NULL, "from a source's step to its target's, a multiple of dt", 0, 0, AT(delay), MILL_TEXT, 0},
    {"refractory", "ms", "1", NULL, "least time between two events of a unit", 0, 0, AT(refractory), MILL_TEXT, 0},
    {"dt", "ms", "1", NULL, "step in which rates are constant", 0, 0, AT(dt), MILL_TEXT, 0},
    {"tick", "ms", "0.001", NULL, "resolution of the times, a part of all of them", 0, 0, AT(tick), MILL_TEXT, 0},
    {"certainty", "", "0.99", NULL, "that a unit has an event in a step at the highest rate", 0.01, 0.999999999, AT(certainty),
     MILL_REAL, MILL_EXPERT},
    {"seed", "", "1", NULL, "seed of every random number", 0, 9.2e18, AT(seed), MILL_INT, 0},
};
#undef AT

/* The parameters in ticks, and the rates as events a step. */
struct setup {
  int64_t tick_ps, stop, dt, delay, refractory;
  uint32_t units, chains, linked; /* linked: units in chains, the first ones */
  uint32_t length[CHAINS_MAX];
  uint64_t key;
  double highest, off, weight;
  double gap; /* mean at rest, ticks */
};

static int read_chains(const char *text, struct setup *s, struct mill_error *error)
{
  size_t count;
  char **item = mill_text_list(text, &count);
  int64_t n;
  int result = 0;
  if (!item)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (count == 1 && strcmp(item[0], "none") == 0)
    count = 0;
  else if (count < 1 || count > CHAINS_MAX)
    result = mill_fail(error, MILL_USAGE, "--chains: %zu lengths; expected 1 to %d, or none", count, CHAINS_MAX);
  for (size_t i = 0; !result && i < count; i++) {
    if (mill_text_int(item[i], &n) < 0 || n < 2 || n > LENGTH_MAX)
      result = mill_fail(error, MILL_USAGE, "--chains %s: expected the length of a chain, 2 to %d, or none", item[i], LENGTH_MAX);
    else
      s->linked += s->length[i] = (uint32_t)n;
  }
  if (!result && s->linked > s->units)
    result = mill_fail(error, MILL_USAGE, "--chains %s: the chains need %u units, and there are %u (--neurons)", text, s->linked,
                       s->units);
  free(item);
  s->chains = (uint32_t)count;
  return result;
}

/* off and weight of the head of the file, and the mean gap at rest. */
static int find_rates(const struct values *v, struct setup *s, struct mill_error *error)
{
  char shown[32], most[32], dt[32];
  double steps = 1e12 / (double)s->tick_ps / (double)s->dt; /* a second */
  double rest = v->rate / steps, following = -mill_log1p(-v->probability);
  s->highest = -mill_log1p(-v->certainty);
  mill_generator_ms(dt, s->dt * s->tick_ps);
  if (rest >= s->highest)
    return mill_fail(error, MILL_USAGE,
                     "--rate %s: expected less than the highest rate, %s Hz with steps of %s ms (--dt, --certainty)",
                     mill_text_double(shown, v->rate), mill_text_double(most, s->highest * steps), dt);
  if (!(following <= STRONGEST * s->highest))
    return mill_fail(error, MILL_USAGE, "--probability %s: expected at most %s, which --certainty raises",
                     mill_text_double(shown, v->probability), mill_text_double(most, -mill_expm1(-STRONGEST * s->highest)));
  s->gap = (double)s->dt / rest;
  s->off = mill_log(s->highest / rest - 1);
  s->weight = mill_log(following / (s->highest - following)) + s->off;
  return 0;
}

static int prepare(const struct values *v, struct setup *s, struct mill_error *error)
{
  char dt[32];
  *s =
      (struct setup){.units = (uint32_t)v->neurons, .key = mill_key((uint64_t)v->seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_SYM26)};
  if (mill_generator_span(v->tick, v->duration, &s->tick_ps, &s->stop, error) < 0 ||
      mill_generator_ticks("dt", v->dt, s->tick_ps, MILL_GENERATE_SECONDS(1), s->tick_ps, &s->dt, error) < 0 ||
      mill_generator_ticks("refractory", v->refractory, 0, MILL_GENERATE_SECONDS(100), s->tick_ps, &s->refractory, error) < 0 ||
      mill_generator_ticks("delay", v->delay, s->dt * s->tick_ps, MILL_GENERATE_SECONDS(100), s->tick_ps, &s->delay, error) < 0)
    return -1;
  mill_generator_ms(dt, s->dt * s->tick_ps);
  if (s->delay % s->dt)
    return mill_fail(error, MILL_USAGE, "--delay %s: expected a whole number of steps of %s ms (--dt)", v->delay, dt);
  if (s->stop % s->dt)
    return mill_fail(error, MILL_USAGE, "--duration %s: expected a whole number of steps of %s ms (--dt)", v->duration, dt);
  return read_chains(v->chains, s, error) < 0 || find_rates(v, s, error) < 0 ? -1 : 0;
}

static int describe(const void *params, struct mill_generated *made, struct mill_error *error)
{
  struct setup s;
  if (prepare(params, &s, error) < 0)
    return -1;
  *made = (struct mill_generated){s.tick_ps, s.stop, s.units, (uint64_t)((const struct values *)params)->seed};
  return 0;
}

static uint32_t plant(const void *params, FILE *out)
{
  const struct values *v = params;
  char delay[32], low[32], high[32], text[32];
  struct setup s;
  uint32_t unit = 0;
  if (prepare(v, &s, NULL) < 0)
    return 0;
  mill_generator_ms(delay, s.delay * s.tick_ps);
  mill_generator_ms(low, (s.delay - s.dt) * s.tick_ps);
  mill_generator_ms(high, (s.delay + s.dt) * s.tick_ps);
  for (uint32_t c = 0; c < s.chains; c++) {
    fprintf(out, "[chain.%u]\nunits =", c + 1);
    for (uint32_t i = 0; i < s.length[c]; i++)
      fprintf(out, " %s", mill_generator_unit(s.units, unit++, text));
    fprintf(out, "\ndelay_ms = %s\nprobability = %s\ninterval = (%s,%s] ms\n", delay, mill_text_double(text, v->probability), low,
            high);
  }
  return s.chains;
}

/* The beginnings of the steps in which a unit has input, one for each event of its source: those to come. */
struct link {
  int64_t *step;
  size_t count, capacity;
};

/* A unit: its next event if it stays at rest, the end of its refractory period, how many numbers it has drawn. */
struct unit {
  struct mill_point next, ready;
  uint64_t draws;
};

struct maker {
  struct setup setup;
  struct unit *unit;
  struct link *link; /* of the linked units; that of a chain's first one stays empty */
  struct mill_window *window;
};

/* The window's last n events, a source's, to its target's link. */
static int feed(const struct setup *s, struct link *link, const struct mill_window *window, size_t n, struct mill_error *error)
{
  if (link->count + n > link->capacity) {
    size_t capacity = 2 * (link->count + n);
    int64_t *more = realloc(link->step, capacity * sizeof *more);
    if (!more)
      return mill_fail(error, MILL_RESOURCES, "out of memory for the events of a delay");
    link->step = more;
    link->capacity = capacity;
  }
  for (size_t i = 0; i < n; i++)
    link->step[link->count++] = (window->event[window->count - n + i].tick - 1) / s->dt * s->dt + s->delay;
  return 0;
}

static struct mill_point later(struct mill_point a, struct mill_point b)
{
  return mill_point_before(a, b) ? b : a;
}

/* Events at one rate, from a first one that was drawn already, before tick `end`. */
static int run_at(struct maker *m, uint32_t i, struct mill_point at, double gap, int64_t end, struct mill_error *error)
{
  struct unit *u = &m->unit[i];
  while (at.tick < end) {
    if (mill_window_add(m->window, at, i, error) < 0)
      return -1;
    u->ready = (struct mill_point){at.tick + m->setup.refractory, at.part};
    at = mill_point_after(u->ready, mill_gap(m->setup.key, i, &u->draws, gap));
  }
  u->next = at;
  return 0;
}

/* A first event from tick `from` on. */
static struct mill_point first_at(struct maker *m, uint32_t i, int64_t from, double gap)
{
  struct unit *u = &m->unit[i];
  return mill_point_after(later((struct mill_point){from, 0}, u->ready), mill_gap(m->setup.key, i, &u->draws, gap));
}

static int run_unit(struct maker *m, uint32_t i, struct link *link, int64_t end, struct mill_error *error)
{
  const struct setup *s = &m->setup;
  size_t done = 0;
  while (link && done < link->count && link->step[done] < end) {
    int64_t begin = link->step[done];
    size_t n = 1;
    while (done + n < link->count && link->step[done + n] == begin)
      n++;
    double gap = (double)s->dt * (1 + mill_exp(s->off - (double)n * s->weight)) / s->highest;
    if (run_at(m, i, m->unit[i].next, s->gap, begin, error) < 0 ||
        run_at(m, i, first_at(m, i, begin, gap), gap, begin + s->dt, error) < 0)
      return -1;
    m->unit[i].next = first_at(m, i, begin + s->dt, s->gap);
    done += n;
  }
  if (done) {
    link->count -= done;
    memmove(link->step, link->step + done, link->count * sizeof *link->step);
  }
  return run_at(m, i, m->unit[i].next, s->gap, end, error);
}

/* Chain after chain and source before target, so that a source's events of this window are known when its target runs. */
static int fill(void *self, int64_t end, struct mill_window *window, struct mill_error *error)
{
  struct maker *m = self;
  const struct setup *s = &m->setup;
  uint32_t i = 0;
  m->window = window;
  for (uint32_t c = 0; c < s->chains; c++)
    for (uint32_t k = 0; k < s->length[c]; k++, i++) {
      uint64_t begin = window->count;
      if (run_unit(m, i, &m->link[i], end, error) < 0)
        return -1;
      if (k + 1 < s->length[c] && feed(s, &m->link[i + 1], window, window->count - begin, error) < 0)
        return -1;
    }
  for (; i < s->units; i++)
    if (run_unit(m, i, NULL, end, error) < 0)
      return -1;
  return 0;
}

static int make(const void *params, mill_event_sink *sink, void *self, struct mill_error *error)
{
  struct maker m = {0};
  int result = -1;
  if (prepare(params, &m.setup, error) < 0)
    return -1;
  m.unit = mill_allocate_or_fail("units", m.setup.units, sizeof *m.unit, error);
  m.link = mill_allocate_or_fail("links", m.setup.linked, sizeof *m.link, error);
  if (!m.unit || !m.link)
    goto done;
  for (uint32_t i = 0; i < m.setup.units; i++)
    m.unit[i].next = first_at(&m, i, 0, m.setup.gap);
  result = mill_windows_make(m.setup.stop, m.setup.dt, fill, &m, sink, self, error);
done:
  for (uint32_t i = 0; m.link && i < m.setup.linked; i++)
    free(m.link[i].step);
  mill_release(m.link);
  mill_release(m.unit);
  return result;
}

const struct mill_generator mill_generator_sym26 = {
    "sym26", "Poisson units with planted chains", specs, sizeof specs / sizeof *specs, sizeof(struct values), describe, plant, make,
    NULL,
};
