/* Bursts, drifting rates and planted episodes: the streams follow the law that they are made by, and the truth says what is in them. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "made.h"

#define Z 4.5   /* standard deviations: about seven chances in a million */
#define MS 1000 /* ticks */

static double z_of(double hit, double of, double p)
{
  return (hit - of * p) / sqrt(of * p * (1 - p));
}

/* Kolmogorov and Smirnov: √n times the largest distance of n values from the uniform distribution in [0, 1]. */
static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double distance(double *value, size_t n)
{
  double largest = 0;
  qsort(value, n, sizeof *value, ascending);
  for (size_t i = 0; i < n; i++)
    largest = fmax(largest, fmax(fabs(value[i] - (double)i / (double)n), fabs(value[i] - (double)(i + 1) / (double)n)));
  return largest * sqrt((double)n);
}

/* The table of the truth, its lines cut off; to be freed. *line is at the one behind the column names. */
static char *table_of(const char *kind, const char *options, char **line)
{
  const struct mill_generator *g;
  struct mill_error error;
  char *text = NULL;
  size_t size;
  void *params;
  FILE *out = open_memstream(&text, &size);
  if (!out || read_params(kind, options, &g, &params, &error))
    bail("%s", error.text);
  g->table(params, out);
  fclose(out);
  mill_generator_free(g, params);
  *line = strchr(text, '\n') + 1;
  return text;
}

static char *next_line(char **rest)
{
  char *line = strsep(rest, "\n");
  return line && *line ? line : NULL;
}

/* ---- Repetition */

static void check_same(const char *kind, const char *few, const char *many, uint64_t hash)
{
  char options[200];
  struct made *a = make(kind, ""), *b = make(kind, "seed=2"), *c, *d;
  int same = 0;
  ok(a->hash == hash, "%s: the same events everywhere, %016" PRIx64, kind, a->hash);
  for (uint32_t u = 0; u < 26; u++)
    same += same_train(a, b, u);
  is_int(same, 0, "another seed changes every unit");
  is_int(a->bad + b->bad, 0, "events are in order, inside the stream, of units that exist");
  made_free(a);
  made_free(b);
  snprintf(options, sizeof options, "neurons=30 duration=20000 %s", few);
  c = make(kind, options);
  snprintf(options, sizeof options, "neurons=5000 duration=20000 %s", many);
  d = make(kind, options);
  same = 0;
  for (uint32_t u = 0; u < 30; u++)
    same += same_train(c, d, u);
  is_int(same, 30, "more units, so shorter windows: the events of the first ones stay");
  made_free(c);
  made_free(d);
  c = make(kind, "duration=120000");
  d = make(kind, "duration=60000");
  ok(!memcmp(c->event, d->event, (d->count - 20) * sizeof *d->event), "a shorter stream is the beginning of a longer one");
  made_free(c);
  made_free(d);
}

/* ---- Bursts */

enum { UNITS = 26, BURSTS = 4000 };
struct burst {
  int64_t start, stop;
  int takes_part[UNITS];
};

static size_t read_bursts(const char *options, const char *kind, struct burst *burst)
{
  char *line, *rest, *text = table_of("bursts", options, &rest), *field[4];
  size_t n = 0;
  while ((line = next_line(&rest))) {
    for (int i = 0; i < 4; i++)
      field[i] = strsep(&line, ",");
    if (strcmp(field[3], kind))
      continue;
    if (n == BURSTS)
      bail("too many bursts");
    burst[n] = (struct burst){.start = llround(atof(field[0]) * MS), .stop = llround(atof(field[1]) * MS)};
    for (const char *p = field[2]; *p; p++)
      if (*p != ' ')
        burst[n].takes_part[*p - 'A'] = 1;
    n++;
  }
  free(text);
  return n;
}

/* Events of the unit in (start, stop]; *at goes on from call to call with start. */
static uint64_t events_between(const struct made *m, uint32_t u, int64_t start, int64_t stop, uint64_t *at)
{
  uint64_t n = 0;
  while (*at < m->length[u] && m->train[u][*at] <= start)
    ++*at;
  for (uint64_t i = *at; i < m->length[u] && m->train[u][i] <= stop; i++)
    n++;
  return n;
}

static void test_bursts(void)
{
  static struct burst burst[BURSTS];
  const char *options = "duration=3000000 rate=3 bursts=0.5 share=0.3 length=100 inside=60 seed=4";
  struct made *m = make("bursts", options);
  const size_t n = read_bursts(options, "network", burst);
  double part = 0, in = 0, in_s = 0, out = 0, apart = 1e9;
  /* Intervals of 0.1 s and an exponential time of 1.9 s: the variance of the number is 0.95 squared of Poisson's. */
  ok(fabs((double)n - 1500) < Z * 0.95 * sqrt(1500), "bursts of the network: %zu in 3000 s, 1500 expected", n);
  for (size_t k = 0; k < n; k++) {
    if (k + 1 < n && k > 0 && burst[k].stop - burst[k].start != 100 * MS)
      bail("a burst of another length");
    apart = k ? fmin(apart, (double)(burst[k].start - burst[k - 1].stop)) : apart;
    for (int u = 0; u < UNITS; u++)
      part += burst[k].takes_part[u];
  }
  ok(apart >= 0, "they do not overlap");
  ok(fabs(z_of(part, (double)n * UNITS, 0.3)) < Z, "units take part with probability 0.3: %.4f", part / (double)n / UNITS);
  for (uint32_t u = 0; u < UNITS; u++) {
    uint64_t at = 0;
    out += (double)m->length[u];
    for (size_t k = 0; k < n; k++)
      if (burst[k].takes_part[u]) {
        in += (double)events_between(m, u, burst[k].start, burst[k].stop, &at);
        in_s += (double)(burst[k].stop - burst[k].start) / MS / 1000;
      }
  }
  out -= in;
  ok(fabs(in - 60 * in_s) < Z * sqrt(60 * in_s), "inside, a unit that takes part has 60 Hz: %.3f", in / in_s);
  ok(fabs(out - 3 * (3000 * UNITS - in_s)) < Z * sqrt(3 * 3000 * UNITS), "outside, and when it does not, 3 Hz: %.4f",
     out / (3000 * UNITS - in_s));
  made_free(m);

  options = "neurons=26 duration=600000 rate=0 bursts=0 own=0.2 length=500 inside=40 seed=9";
  m = make("bursts", options);
  const size_t own = read_bursts(options, "own", burst);
  is_int((intmax_t)read_bursts(options, "network", burst), 0, "bursts of the units alone");
  ok(fabs((double)own - 120 * UNITS) < Z * 0.9 * sqrt(120 * UNITS), "each has its own: %zu, %d expected", own, 120 * UNITS);
  in = in_s = 0;
  read_bursts(options, "own", burst);
  for (uint32_t u = 0; u < UNITS; u++) {
    uint64_t at = 0;
    for (size_t k = 0; k < own; k++)
      if (burst[k].takes_part[u]) {
        in += (double)events_between(m, u, burst[k].start, burst[k].stop, &at);
        in_s += (double)(burst[k].stop - burst[k].start) / MS / 1000;
      }
  }
  ok(in == (double)m->count && fabs(in - 40 * in_s) < Z * sqrt(40 * in_s), "all events lie in them, at 40 Hz: %.3f", in / in_s);
  made_free(m);

  /* From the start: of many streams the first ms lies in a burst with probability length × rate. */
  double hit = 0;
  for (int seed = 0; seed < 400; seed++) {
    char one[200];
    snprintf(one, sizeof one, "duration=1000 bursts=2 length=250 rate=0 inside=1 seed=%d", seed);
    hit += read_bursts(one, "network", burst) > 0 && burst[0].start == 0;
  }
  ok(fabs(z_of(hit, 400, 0.5)) < Z, "a stream begins in a burst as often as it should: %.0f of 400, 200 expected", hit);
}

/* ---- Drift */

struct drift {
  double rate, depth, period, phase; /* Hz, ms */
};

static void read_drifts(const char *options, struct drift *drift, uint32_t units)
{
  char *line, *rest, *text = table_of("drift", options, &rest), name[16];
  for (uint32_t u = 0; u < units; u++) {
    line = next_line(&rest);
    if (!line ||
        sscanf(line, "%15[^,],%lf,%lf,%lf,%lf", name, &drift[u].rate, &drift[u].depth, &drift[u].period, &drift[u].phase) != 5)
      bail("a line of the truth: %s", line ? line : "none");
  }
  free(text);
}

/* The integral of the rate up to `ms`, by libm. */
static double expected_by(const struct drift *d, double ms)
{
  const double turn = 6.283185307179586;
  return d->rate / 1000 * (ms - d->depth * d->period / turn * (cos(turn * (d->phase + ms / d->period)) - cos(turn * d->phase)));
}

/* Time-rescaling (E. N. Brown et al., Neural Computation 14, 2002): the integral of the rate from one event to the next is exponential. */
static void test_drift(void)
{
  const char *options = "neurons=20 rate=10,40 depth=0.9,0.2,1,0 period=3000,777.5,60000 duration=600000 seed=3";
  struct made *m = make("drift", options);
  struct drift drift[20];
  double *value = malloc(m->count * sizeof *value), worst = 0, flat, z;
  size_t n = 0;
  read_drifts(options, drift, 20);
  is_int(drift[0].rate == 10 && drift[1].rate == 40 && drift[2].depth == 1 && drift[4].period == 777.5, 1,
         "lists are taken in turn");
  for (uint32_t u = 0; u < 20; u++) {
    double before = 0, all = expected_by(&drift[u], 600000);
    z = ((double)m->length[u] - all) / sqrt(all);
    worst = fmax(worst, fabs(z));
    for (uint64_t i = 0; i < m->length[u]; i++) {
      double by = expected_by(&drift[u], (double)m->train[u][i] / MS);
      value[n++] = 1 - exp(before - by);
      before = by;
    }
  }
  ok(worst < Z, "each unit has as many events as its rate says: worst z %.2f", worst);
  z = distance(value, n);
  ok(z < 1.95, "and they follow it: √n D = %.3f of %zu", z, n);
  n = 0;
  for (uint32_t u = 0; u < 20; u++)
    for (uint64_t i = 1; i < m->length[u]; i++)
      value[n++] = 1 - exp(-(double)(m->train[u][i] - m->train[u][i - 1]) / MS / 1000 * drift[u].rate);
  flat = distance(value, n);
  ok(flat > 5, "which a constant rate does not: √n D = %.3f", flat);
  made_free(m);
  double phases[26 * 4];
  for (int seed = 0; seed < 4; seed++) {
    struct drift some[26];
    char one[32];
    snprintf(one, sizeof one, "seed=%d", seed);
    read_drifts(one, some, 26);
    for (int u = 0; u < 26; u++)
      phases[26 * seed + u] = some[u].phase;
  }
  z = distance(phases, 104);
  ok(z < 1.95, "phases are uniform: √n D = %.3f", z);
  free(value);
}

/* ---- Planted episodes */

struct planted {
  unsigned chain, occurrence, node;
  char unit;
  int64_t tick;
};

static size_t read_planted(const char *options, struct planted *row, size_t most)
{
  char *line, *rest, *text = table_of("planted", options, &rest);
  size_t n = 0;
  double ms;
  for (; (line = next_line(&rest)); n++) {
    if (n == most || sscanf(line, "%u,%u,%u,%c,%lf", &row[n].chain, &row[n].occurrence, &row[n].node, &row[n].unit, &ms) != 5)
      bail("a line of the truth: %s", line);
    row[n].tick = llround(ms * MS);
  }
  free(text);
  return n;
}

static int has_event(const struct made *m, uint32_t u, int64_t tick)
{
  uint64_t low = 0, high = m->length[u];
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (m->train[u][middle] < tick)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m->length[u] && m->train[u][low] == tick;
}

enum { ROWS = 200000 };

static void test_planted(void)
{
  static struct planted row[ROWS];
  const char *options = "background=0 episodes=A_-5->_B_-3->C,D-10→E rate=4,1 jitter=1 duration=2000000 seed=6";
  struct made *m = make("planted", options);
  size_t n = read_planted(options, row, ROWS);
  double *lag = malloc(ROWS * sizeof *lag), occurrences[2] = {0, 0}, missed, z;
  int found = 0, apart = 1, order = 1;
  size_t lags = 0;
  for (size_t i = 0; i < n; i++) {
    found += has_event(m, (uint32_t)(row[i].unit - 'A'), row[i].tick);
    occurrences[row[i].chain - 1] += row[i].node == 1;
    order &= row[i].unit == (row[i].chain == 1 ? 'A' : 'D') + (char)row[i].node - 1;
    if (row[i].node > 1)
      lag[lags++] = ((double)(row[i].tick - row[i - 1].tick) / MS - (row[i].chain == 2 ? 9 : row[i].node == 2 ? 4 : 2)) / 2;
    else if (i && row[i].chain == row[i - 1].chain)
      apart &= row[i].tick > row[i - 1].tick;
  }
  is_int(m->bad, 0, "planted: events in order and inside");
  ok(found == (int)n && n == m->count, "every planted event is in the stream, and without a background nothing else");
  ok(order, "nodes have their units");
  ok(fabs(occurrences[0] - 8000) < Z * sqrt(8000) && fabs(occurrences[1] - 2000) < Z * sqrt(2000),
     "occurrences: %.0f at 4 Hz, %.0f at 1 Hz in 2000 s", occurrences[0], occurrences[1]);
  ok(apart, "each starts after the one before has ended");
  z = distance(lag, lags);
  ok(lag[0] > 0 && lag[lags - 1] <= 1 && z < 1.95, "lags are uniform in (lag - jitter, lag + jitter]: √n D = %.3f", z);
  made_free(m);

  options = "background=0 miss=0.2 jitter=0 rate=5 duration=1000000";
  m = make("planted", options);
  n = read_planted(options, row, ROWS);
  int exact = 1;
  for (size_t i = 1; i < n; i++)
    exact &=
        row[i].occurrence != row[i - 1].occurrence || row[i].tick - row[i - 1].tick == 5 * MS * (row[i].node - row[i - 1].node);
  missed = 1 - (double)n / 4 / row[n - 1].occurrence;
  ok(fabs(z_of((double)n, 4.0 * row[n - 1].occurrence, 0.8)) < Z, "a fifth of the nodes is left out: %.4f", missed);
  ok(exact && n == m->count, "the others stay where they were, with no jitter exactly");
  made_free(m);

  options = "background=7 neurons=10 duration=1000000 episodes=A-5->A rate=1 seed=2";
  m = make("planted", options);
  n = read_planted(options, row, ROWS);
  z = ((double)(m->count - n) - 70000) / sqrt(70000);
  ok(fabs(z) < Z, "a background of 7 Hz beside: z %.2f", z);
  ok(n > 1800 && n < 2200, "a unit may come again");
  made_free(m);
  free(lag);
}

int main(void)
{
  plan_later();
  check_same("bursts", "own=0.1", "own=0.1", UINT64_C(0x5a51853630be8b3b));
  check_same("drift", "", "", UINT64_C(0x004abd9f14d152fe));
  check_same("planted", "episodes=1-5->2", "episodes=1-5->2", UINT64_C(0x099ed26a919cc9e8));
  test_bursts();
  test_drift();
  test_planted();
  return done_testing();
}
