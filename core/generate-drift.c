/* Poisson units whose rates drift: at time t a unit has the rate

     rate (1 + depth sin(2 pi (phase + t / period))),

   with a phase of its own, drawn at random. Events are made by thinning: candidates come at the highest rate, and one is kept with the
   probability that the rate at its time is of the highest (P. A. W. Lewis, G. S. Shedler, Naval Research Logistics 26, 1979). */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "expr.h"
#include "generate-private.h"
#include "memory.h"
#include "text.h"

enum { UNITS_MAX = 1000000, LIST_MAX = 400 };

struct values {
  int64_t neurons, seed;
  const char *rate, *depth, *period, *duration, *tick;
};
#define AT(member) offsetof(struct values, member)
static const struct mill_param_spec specs[] = {
    {"neurons", "", "26", NULL, "number of units", 1, UNITS_MAX, AT(neurons), MILL_INT, 0},
    {"rate", "Hz", "20", NULL, "mean rate of a unit, or a list that the units take in turn", 0, 0, AT(rate), MILL_TEXT, 0},
    {"depth", "", "0.5", NULL, "how far the rate goes up and down, as a part of it, 0 to 1, or a list", 0, 0, AT(depth), MILL_TEXT,
     0},
    {"period", "ms", "10000", NULL, "from one peak of the rate to the next, or a list", 0, 0, AT(period), MILL_TEXT, 0},
    {"duration", "ms", "60000", NULL, "length of the stream", 0, 0, AT(duration), MILL_TEXT, 0},
    {"tick", "ms", "0.001", NULL, "resolution of the times", 0, 0, AT(tick), MILL_TEXT, 0},
    {"seed", "", "1", NULL, "seed of every random number", 0, 9.2e18, AT(seed), MILL_INT, 0},
};
#undef AT

/* The parameters in ticks, each list with its length. */
struct setup {
  int64_t tick_ps, stop;
  uint32_t units, rates, depths, periods;
  double rate[LIST_MAX], depth[LIST_MAX]; /* Hz */
  int64_t period[LIST_MAX];
  uint64_t events, phases; /* keys */
};

static int read_number(const char *item, double least, double most, const char *expected, double *value, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  if (mill_expr_real(item, &none, value, error) < 0)
    return -1;
  return *value >= least && *value <= most ? 0 : mill_fail(error, MILL_USAGE, "expected %s", expected);
}

static int read_rate(const char *item, uint32_t i, void *self, struct mill_error *error)
{
  struct setup *s = self;
  return read_number(item, 0, 1e6, "0 to 1000000 Hz", &s->rate[i], error);
}

static int read_depth(const char *item, uint32_t i, void *self, struct mill_error *error)
{
  struct setup *s = self;
  return read_number(item, 0, 1, "0 to 1", &s->depth[i], error);
}

static int read_period(const char *item, uint32_t i, void *self, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  struct setup *s = self;
  char tick[32];
  int64_t ps;
  if (mill_expr_ps(item, &none, &ps, error) < 0)
    return -1;
  if (ps <= 0 || ps > MILL_GENERATE_LONGEST || ps % s->tick_ps)
    return mill_fail(error, MILL_USAGE, "expected ms above 0, a whole number of ticks of %s ms (--tick), at most 4000000000",
                     mill_generator_ms(tick, s->tick_ps));
  s->period[i] = ps / s->tick_ps;
  return 0;
}

/* How a unit drifts. */
struct drift {
  double rate, depth, phase;
  double gap; /* mean of the candidates, ticks */
  int64_t period;
};

static struct drift drift_of(const struct setup *s, uint32_t i)
{
  struct drift d = {.rate = s->rate[i % s->rates],
                    .depth = s->depth[i % s->depths],
                    .phase = mill_uniform(mill_random(s->phases, i, 0)),
                    .period = s->period[i % s->periods]};
  d.gap = 1e12 / (double)s->tick_ps / (d.rate * (1 + d.depth));
  return d;
}

static int check_peaks(const struct setup *s, struct mill_error *error)
{
  char rate[32], depth[32], tick[32];
  for (uint32_t i = 0; i < s->units && i < s->rates * s->depths; i++) {
    const struct drift d = drift_of(s, i);
    if (d.gap < 1)
      return mill_fail(error, MILL_USAGE,
                       "--rate %s with --depth %s: expected at most one event a tick of %s ms on average, at the peak too (--tick)",
                       mill_text_double(rate, d.rate), mill_text_double(depth, d.depth), mill_generator_ms(tick, s->tick_ps));
  }
  return 0;
}

static int prepare(const struct values *v, struct setup *s, struct mill_error *error)
{
  s->units = (uint32_t)v->neurons;
  s->events = mill_key((uint64_t)v->seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_DRIFT);
  s->phases = mill_key((uint64_t)v->seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_DRIFT_PHASE);
  if (mill_generator_span(v->tick, v->duration, &s->tick_ps, &s->stop, error) < 0 ||
      mill_generator_each("rate", v->rate, LIST_MAX, read_rate, s, &s->rates, error) < 0 ||
      mill_generator_each("depth", v->depth, LIST_MAX, read_depth, s, &s->depths, error) < 0 ||
      mill_generator_each("period", v->period, LIST_MAX, read_period, s, &s->periods, error) < 0)
    return -1;
  return check_peaks(s, error);
}

static int describe(const void *params, struct mill_generated *made, struct mill_error *error)
{
  struct setup s;
  if (prepare(params, &s, error) < 0)
    return -1;
  *made = (struct mill_generated){s.tick_ps, s.stop, s.units, (uint64_t)((const struct values *)params)->seed};
  return 0;
}

/* sin(2 pi x) for 0 <= x < 2, by the series about the nearest zero, which is exactly x minus a multiple of 1/2. */
static double sine(double x)
{
  const double half = (double)(int)(2 * x + 0.5), y = 0x1.921fb54442d18p+2 * (x - half / 2);
  double sum = 1;
  for (int k = 24; k > 0; k -= 2)
    sum = 1 - y * y / (k * (k + 1)) * sum;
  return (int)half % 2 ? -y * sum : y * sum;
}

/* A unit: its next candidate, and how many numbers it has drawn. */
struct unit {
  struct mill_point next;
  uint64_t draws;
};

struct maker {
  struct setup setup;
  struct unit *unit;
};

/* Whether the candidate is an event. */
static int keep(const struct setup *s, struct unit *u, uint32_t i, const struct drift *d)
{
  const double place = d->phase + ((double)(u->next.tick % d->period) + u->next.part) / (double)d->period;
  return mill_uniform(mill_random(s->events, i, u->draws++)) * (1 + d->depth) < 1 + d->depth * sine(place);
}

static int run_unit(const struct setup *s, struct unit *u, uint32_t i, int64_t end, struct mill_window *window,
                    struct mill_error *error)
{
  const struct drift d = drift_of(s, i);
  while (u->next.tick < end) {
    if (keep(s, u, i, &d) && mill_window_add(window, u->next, i, error) < 0)
      return -1;
    u->next = mill_point_after(u->next, mill_gap(s->events, i, &u->draws, d.gap));
  }
  return 0;
}

static int fill(void *self, int64_t end, struct mill_window *window, struct mill_error *error)
{
  struct maker *m = self;
  for (uint32_t i = 0; i < m->setup.units; i++)
    if (run_unit(&m->setup, &m->unit[i], i, end, window, error) < 0)
      return -1;
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
    m.unit[i].next =
        mill_point_after((struct mill_point){0, 0}, mill_gap(m.setup.events, i, &m.unit[i].draws, drift_of(&m.setup, i).gap));
  int result = mill_windows_make(m.setup.stop, 1, fill, &m, sink, self, error);
  mill_release(m.unit);
  return result;
}

static void print_drifts(const void *params, FILE *out)
{
  struct setup s;
  char name[16], rate[32], depth[32], period[32], phase[32];
  if (prepare(params, &s, NULL) < 0)
    return;
  fputs("unit,rate_hz,depth,period_ms,phase\n", out);
  for (uint32_t i = 0; i < s.units; i++) {
    const struct drift d = drift_of(&s, i);
    fprintf(out, "%s,%s,%s,%s,%s\n", mill_generator_unit(s.units, i, name), mill_text_double(rate, d.rate),
            mill_text_double(depth, d.depth), mill_generator_ms(period, d.period * s.tick_ps), mill_text_double(phase, d.phase));
  }
}

const struct mill_generator mill_generator_drift = {
    "drift",
    "Poisson units whose rates drift",
    specs,
    sizeof specs / sizeof *specs,
    sizeof(struct values),
    describe,
    NULL,
    make,
    print_drifts,
};
