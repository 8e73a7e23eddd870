/* Poisson units that burst, together or on their own: a unit has the rate `inside` during a burst of the network that it takes part in and
   during one of its own, `rate` at other times. Bursts start as a Poisson process whose dead time is their length, so those of the
   network never overlap each other, nor do those of one unit.

   An exponential gap has no memory: a unit's gaps run on until its rate changes, and are drawn anew there. Each unit goes through the
   network's bursts itself, whose random numbers are the same for all; nothing of them is kept. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "generate-private.h"
#include "memory.h"
#include "text.h"

enum { UNITS_MAX = 1000000, NETWORK = 0 };

struct values {
  int64_t neurons, seed;
  double rate, inside, bursts, own, share;
  const char *length, *duration, *tick;
};
#define AT(member) offsetof(struct values, member)
static const struct mill_param_spec specs[] = {
    {"neurons", "", "26", NULL, "number of units", 1, UNITS_MAX, AT(neurons), MILL_INT, 0},
    {"rate", "Hz", "2", NULL, "rate of a unit outside of bursts", 0, 1e6, AT(rate), MILL_REAL, 0},
    {"duration", "ms", "60000", NULL, "length of the stream", 0, 0, AT(duration), MILL_TEXT, 0},
    {"bursts", "Hz", "0.2", NULL, "mean rate of bursts of the network", 0, 1e6, AT(bursts), MILL_REAL, 0},
    {"share", "", "0.5", NULL, "that a unit takes part in a burst of the network", 0, 1, AT(share), MILL_REAL, 0},
    {"own", "Hz", "0", NULL, "mean rate of bursts that a unit has alone", 0, 1e6, AT(own), MILL_REAL, 0},
    {"length", "ms", "200", NULL, "duration of a burst", 0, 0, AT(length), MILL_TEXT, 0},
    {"inside", "Hz", "50", NULL, "rate of a unit in a burst", 0, 1e6, AT(inside), MILL_REAL, 0},
    {"tick", "ms", "0.001", NULL, "resolution of the times", 0, 0, AT(tick), MILL_TEXT, 0},
    {"seed", "", "1", NULL, "seed of every random number", 0, 9.2e18, AT(seed), MILL_INT, 0},
};
#undef AT

/* The parameters in ticks. */
struct setup {
  int64_t tick_ps, stop, length;
  uint32_t units;
  struct mill_law network, own; /* of the beginnings of bursts */
  double gap[2];                /* means: outside, inside */
  uint64_t events, shares;      /* keys */
  double share;
};

static int set_law(struct mill_law *law, const char *key, double rate, int64_t tick_ps, int64_t dead, struct mill_error *error)
{
  char text[32];
  if (mill_law_set(law, rate, tick_ps, dead, "a burst (--length)", error) < 0)
    return mill_fail_within(error, "--%s %s", key, mill_text_double(text, rate));
  return 0;
}

static int prepare(const struct values *v, struct setup *s, struct mill_error *error)
{
  const uint64_t seed = (uint64_t)v->seed;
  struct mill_law rest, inside;
  *s = (struct setup){.units = (uint32_t)v->neurons,
                      .network.key = mill_key(seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_BURSTS_NETWORK),
                      .own.key = mill_key(seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_BURSTS_OWN),
                      .events = mill_key(seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_BURSTS),
                      .shares = mill_key(seed, MILL_PURPOSE_GENERATE, MILL_GENERATE_BURSTS_SHARE),
                      .share = v->share};
  if (mill_generator_span(v->tick, v->duration, &s->tick_ps, &s->stop, error) < 0 ||
      mill_generator_ticks("length", v->length, s->tick_ps, MILL_GENERATE_SECONDS(100), s->tick_ps, &s->length, error) < 0 ||
      set_law(&rest, "rate", v->rate, s->tick_ps, 0, error) < 0 ||
      set_law(&inside, "inside", v->inside, s->tick_ps, 0, error) < 0 ||
      set_law(&s->network, "bursts", v->bursts, s->tick_ps, s->length, error) < 0 ||
      set_law(&s->own, "own", v->own, s->tick_ps, s->length, error) < 0)
    return -1;
  s->gap[0] = rest.mean;
  s->gap[1] = inside.mean;
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

/* Bursts one after the other: the number of one, and the ticks in which its events may lie, start + 1 to stop. */
struct bursts {
  struct mill_train train;
  uint64_t number;
  int64_t start, stop;
};

static void take_burst(struct bursts *b, const struct mill_law *law, uint32_t unit)
{
  b->start = b->train.next.tick;
  b->stop = b->start + law->dead;
  mill_train_step(&b->train, law, unit);
}

static void begin_bursts(struct bursts *b, const struct mill_law *law, uint32_t unit)
{
  b->number = 0;
  b->start = 0;
  b->stop = mill_train_begin(&b->train, law, unit);
  if (b->stop == 0)
    take_burst(b, law, unit);
}

static void next_burst(struct bursts *b, const struct mill_law *law, uint32_t unit)
{
  b->number++;
  take_burst(b, law, unit);
}

static int takes_part(const struct setup *s, uint32_t unit, uint64_t burst)
{
  return mill_uniform(mill_random(s->shares, unit, burst)) < s->share;
}

/* A unit: its next event at the rate that it has until tick `until`. */
struct unit {
  struct mill_point next;
  uint64_t draws;
  int64_t until;
  int inside;
  struct bursts network, own;
};

struct maker {
  struct setup setup;
  struct unit *unit;
};

/* The first tick after `from` at which the burst begins or ends. */
static int64_t change(const struct bursts *b, int64_t from)
{
  return b->start > from ? b->start : b->stop;
}

/* The span from tick `until` on in which the unit's rate is the same. */
static void begin_span(const struct setup *s, struct unit *u, uint32_t i)
{
  const int64_t from = u->until;
  while (u->network.stop <= from)
    next_burst(&u->network, &s->network, NETWORK);
  while (u->own.stop <= from)
    next_burst(&u->own, &s->own, i);
  const int inside = (u->network.start <= from && takes_part(s, i, u->network.number)) || u->own.start <= from;
  const int64_t network = change(&u->network, from), own = change(&u->own, from);
  u->until = network < own ? network : own;
  if (inside != u->inside)
    u->next = mill_point_after((struct mill_point){from, 0}, mill_gap(s->events, i, &u->draws, s->gap[inside]));
  u->inside = inside;
}

static void begin_unit(const struct setup *s, struct unit *u, uint32_t i)
{
  *u = (struct unit){.inside = -1};
  begin_bursts(&u->network, &s->network, NETWORK);
  begin_bursts(&u->own, &s->own, i);
  begin_span(s, u, i);
}

static int run_unit(const struct setup *s, struct unit *u, uint32_t i, int64_t end, struct mill_window *window,
                    struct mill_error *error)
{
  for (;;) {
    const int64_t stop = u->until < end ? u->until : end;
    while (u->next.tick < stop) {
      if (mill_window_add(window, u->next, i, error) < 0)
        return -1;
      u->next = mill_point_after(u->next, mill_gap(s->events, i, &u->draws, s->gap[u->inside]));
    }
    if (stop == end)
      return 0;
    begin_span(s, u, i);
  }
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
    begin_unit(&m.setup, &m.unit[i], i);
  int result = mill_windows_make(m.setup.stop, 1, fill, &m, sink, self, error);
  mill_release(m.unit);
  return result;
}

/* ---- Truth */

static void print_span(const struct setup *s, const struct bursts *b, FILE *out)
{
  char start[32], stop[32];
  fprintf(out, "%s,%s,", mill_generator_ms(start, b->start * s->tick_ps),
          mill_generator_ms(stop, (b->stop < s->stop ? b->stop : s->stop) * s->tick_ps));
}

static void print_network(const struct setup *s, FILE *out)
{
  struct bursts b;
  char name[16];
  for (begin_bursts(&b, &s->network, NETWORK); b.start < s->stop; next_burst(&b, &s->network, NETWORK)) {
    const char *blank = "";
    print_span(s, &b, out);
    for (uint32_t i = 0; i < s->units; i++)
      if (takes_part(s, i, b.number)) {
        fprintf(out, "%s%s", blank, mill_generator_unit(s->units, i, name));
        blank = " ";
      }
    fputs(",network\n", out);
  }
}

static void print_own(const struct setup *s, uint32_t i, FILE *out)
{
  struct bursts b;
  char name[16];
  for (begin_bursts(&b, &s->own, i); b.start < s->stop; next_burst(&b, &s->own, i)) {
    print_span(s, &b, out);
    fprintf(out, "%s,own\n", mill_generator_unit(s->units, i, name));
  }
}

static void print_bursts(const void *params, FILE *out)
{
  struct setup s;
  if (prepare(params, &s, NULL) < 0)
    return;
  fputs("start_ms,stop_ms,units,kind\n", out);
  print_network(&s, out);
  for (uint32_t i = 0; i < s.units; i++)
    print_own(&s, i, out);
}

const struct mill_generator mill_generator_bursts = {
    "bursts",
    "Poisson units that burst, together or alone",
    specs,
    sizeof specs / sizeof *specs,
    sizeof(struct values),
    describe,
    NULL,
    make,
    print_bursts,
};
