/* Streams of independent units: each a stationary Poisson process with dead time, which is the refractory period. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "generate-private.h"

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
  uint32_t units, laws;
  struct mill_law law[RATES_MAX];
  uint64_t key;
};

static int read_rate(const char *item, uint32_t i, void *self, struct mill_error *error)
{
  struct setup *s = self;
  s->law[i].key = s->key;
  return mill_law_read(&s->law[i], item, s->tick_ps, s->refractory, "the refractory period (--refractory)", error);
}

static int prepare(const struct values *v, struct setup *s, struct mill_error *error)
{
  s->units = (uint32_t)v->neurons;
  s->key = mill_key((uint64_t)v->seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_POISSON);
  if (mill_generator_span(v->tick, v->duration, &s->tick_ps, &s->stop, error) < 0 ||
      mill_generator_ticks("refractory", v->refractory, 0, MILL_GENERATE_SECONDS(100), s->tick_ps, &s->refractory, error) < 0)
    return -1;
  return mill_generator_each("rate", v->rate, RATES_MAX, read_rate, s, &s->laws, error);
}

static int describe(const void *params, struct mill_generated *made, struct mill_error *error)
{
  struct setup s;
  if (prepare(params, &s, error) < 0)
    return -1;
  *made = (struct mill_generated){s.tick_ps, s.stop, s.units, (uint64_t)((const struct values *)params)->seed};
  return 0;
}

static int fill(void *self, int64_t end, struct mill_window *window, struct mill_error *error)
{
  return mill_ensemble_fill(self, end, window, error);
}

static int make(const void *params, mill_event_sink *sink, void *self, struct mill_error *error)
{
  struct setup s;
  struct mill_ensemble ensemble;
  if (prepare(params, &s, error) < 0)
    return -1;
  int result = mill_ensemble_begin(&ensemble, s.law, s.laws, s.units, error);
  if (result == 0)
    result = mill_windows_make(s.stop, 1, fill, &ensemble, sink, self, error);
  mill_ensemble_free(&ensemble);
  return result;
}

const struct mill_generator mill_generator_poisson = {
    "poisson",
    "independent units with Poisson events",
    specs,
    sizeof specs / sizeof *specs,
    sizeof(struct values),
    describe,
    NULL,
    make,
    NULL,
};
