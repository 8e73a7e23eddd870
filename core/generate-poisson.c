/* Streams of independent units: each a stationary Poisson process with dead time. The intervals of a unit are the refractory period plus
   an exponentially distributed time whose mean makes the mean rate the one asked for, and time 0 falls anywhere in an interval, as in
   a recording: the unit may just be refractory (D. R. Cox, Renewal Theory, 1962, chapter 2). */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "expr.h"
#include "generate-private.h"
#include "memory.h"
#include "text.h"

enum { UNITS_MAX = 1000000, RATES_MAX = 400 };

struct values {
  int64_t neurons, seed;
  const char *rate, *duration, *refractory, *tick;
};
#define AT(member) offsetof(struct values, member)
static const struct mill_param_spec specs[] = {
    {"neurons", "", "26", NULL, "number of units", 1, UNITS_MAX, AT(neurons), MILL_INT, 0},
    {"rate", "Hz", "20", NULL, "mean rate of a unit, or a list that the units take in turn: \"5, 20\"", 0, 0, AT(rate), MILL_TEXT,
     0},
    {"duration", "ms", "60000", NULL, "length of the stream", 0, 0, AT(duration), MILL_TEXT, 0},
    {"refractory", "ms", "0", NULL, "least time between two events of a unit", 0, 0, AT(refractory), MILL_TEXT, 0},
    {"tick", "ms", "0.001", NULL, "resolution of the times", 0, 0, AT(tick), MILL_TEXT, 0},
    {"seed", "", "1", NULL, "seed of every random number", 0, 9.2e18, AT(seed), MILL_INT, 0},
};
#undef AT

/* The parameters in ticks. */
struct setup {
  int64_t tick_ps, stop, refractory;
  uint32_t units, rates;
  uint64_t key;
  double interval[RATES_MAX], gap[RATES_MAX]; /* means: of an interval, and of what follows the refractory period */
};

static int read_rate(const char *text, struct setup *s, uint32_t i, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  char tick[32];
  double rate;
  if (mill_expr_real(text, &none, &rate, error) < 0)
    return -1;
  s->interval[i] = 1e12 / (double)s->tick_ps / rate;
  s->gap[i] = s->interval[i] - (double)s->refractory;
  if (!(rate >= 0))
    return mill_fail(error, MILL_USAGE, "expected 0 Hz or more");
  if (s->interval[i] < 1)
    return mill_fail(error, MILL_USAGE, "expected at most one event a tick of %s ms on average (--tick)",
                     mill_generator_ms(tick, s->tick_ps));
  if (s->gap[i] <= 0)
    return mill_fail(error, MILL_USAGE, "intervals of %s ms on average must be longer than the refractory period (--refractory)",
                     mill_text_double(tick, 1000 / rate));
  return 0;
}

static int read_rates(const char *text, struct setup *s, struct mill_error *error)
{
  size_t count;
  char **item = mill_text_list(text, &count);
  int result = 0;
  if (!item)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (count < 1 || count > RATES_MAX)
    result = mill_fail(error, MILL_USAGE, "--rate: %zu rates; expected 1 to %d", count, RATES_MAX);
  for (size_t i = 0; !result && i < count; i++)
    if (read_rate(item[i], s, (uint32_t)i, error) < 0)
      result = mill_fail_within(error, "--rate %s", item[i]);
  free(item);
  s->rates = (uint32_t)count;
  return result;
}

static int prepare(const struct values *v, struct setup *s, struct mill_error *error)
{
  s->units = (uint32_t)v->neurons;
  s->key = mill_key((uint64_t)v->seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_POISSON);
  if (mill_generator_time("tick", v->tick, 1, MILL_GENERATE_SECONDS(1), &s->tick_ps, error) < 0 ||
      mill_generator_ticks("duration", v->duration, 0, MILL_GENERATE_LONGEST, s->tick_ps, &s->stop, error) < 0 ||
      mill_generator_ticks("refractory", v->refractory, 0, MILL_GENERATE_SECONDS(100), s->tick_ps, &s->refractory, error) < 0)
    return -1;
  return read_rates(v->rate, s, error);
}

static int describe(const void *params, struct mill_generated *made, struct mill_error *error)
{
  struct setup s;
  if (prepare(params, &s, error) < 0)
    return -1;
  *made = (struct mill_generated){s.tick_ps, s.stop, s.units, (uint64_t)((const struct values *)params)->seed};
  return 0;
}

/* A unit: its next event, and how many numbers it has drawn. */
struct unit {
  struct mill_point next;
  uint64_t draws;
};

struct maker {
  struct setup setup;
  struct unit *unit;
};

/* The first event: time 0 lies at a uniform place of an interval that counts by its length, so with probability refractory / interval
   in the refractory period, at a uniform place of it. */
static void begin_unit(struct maker *m, uint32_t i)
{
  const struct setup *s = &m->setup;
  struct unit *u = &m->unit[i];
  double mean = s->interval[i % s->rates], place = mill_uniform(mill_random(s->key, i, u->draws++)) * mean;
  struct mill_point free_from = {0, 0};
  if (place < (double)s->refractory)
    free_from = mill_point_after(free_from, place);
  u->next = mill_point_after(free_from, mill_gap(s->key, i, &u->draws, s->gap[i % s->rates]));
}

static int fill(void *self, int64_t end, struct mill_window *window, struct mill_error *error)
{
  struct maker *m = self;
  const struct setup *s = &m->setup;
  for (uint32_t i = 0; i < s->units; i++) {
    struct unit *u = &m->unit[i];
    while (u->next.tick < end) {
      if (mill_window_add(window, u->next, i, error) < 0)
        return -1;
      u->next.tick += s->refractory;
      u->next = mill_point_after(u->next, mill_gap(s->key, i, &u->draws, s->gap[i % s->rates]));
    }
  }
  return 0;
}

static int make(const void *params, mill_event_sink *sink, void *self, struct mill_error *error)
{
  struct maker m;
  if (prepare(params, &m.setup, error) < 0)
    return -1;
  m.unit = mill_allocate_or_fail("units", m.setup.units, sizeof *m.unit, error);
  if (!m.unit)
    return -1;
  for (uint32_t i = 0; i < m.setup.units; i++)
    begin_unit(&m, i);
  int result = mill_windows_make(m.setup.stop, 1, fill, &m, sink, self, error);
  mill_release(m.unit);
  return result;
}

const struct mill_generator mill_generator_poisson = {
    "poisson", "independent units with Poisson events", specs, sizeof specs / sizeof *specs, sizeof(struct values), describe, NULL,
    make,
};
