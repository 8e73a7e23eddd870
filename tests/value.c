/* Distributions, calls and the two rules for times on the grid: what is read, what is refused, and that draws have the moments, the
   bounds and the counts that they should. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <spikemill/device.h>
#include "german.h"
#include "tap.h"
#include "value.h"

#define DRAWS 200000

static struct mill_define names[] = {{(char *)(uintptr_t) "w", 0.5}, {(char *)(uintptr_t) "sd", 2}};
static const struct mill_defines defines = {2, names};
static const char *locale_name;

static void parse_test(void)
{
  static const struct {
    const char *text;
    int kind;
    double a, b, lo, hi;
  } cases[] = {
      {"0.4", MILL_DIST_NUMBER, 0.4, 0, 0, 0},
      {"$w * 2", MILL_DIST_NUMBER, 1, 0, 0, 0},
      {"-60", MILL_DIST_NUMBER, -60, 0, 0, 0},
      {"(1 + 2) * 3", MILL_DIST_NUMBER, 9, 0, 0, 0},
      {"sqrt(4) - 1", MILL_DIST_NUMBER, 1, 0, 0, 0},
      {"min(1, 2)", MILL_DIST_NUMBER, 1, 0, 0, 0},
      {" uniform(-60, -50) ", MILL_DIST_UNIFORM, -60, -50, 0, 0},
      {"uniform (1,1)", MILL_DIST_UNIFORM, 1, 1, 0, 0},
      {"normal($w, max($sd, 1) / 4)", MILL_DIST_NORMAL, 0.5, 0.5, 0, 0},
      {"normal(1, 0)", MILL_DIST_NORMAL, 1, 0, 0, 0},
      {"normal-clipped(1, 2, 0, 3)", MILL_DIST_NORMAL_CLIPPED, 1, 2, 0, 3},
      {"normal-truncated(0, 1, 3, 1e9)", MILL_DIST_NORMAL_TRUNCATED, 0, 1, 3, 1e9},
      {"normal-truncated(1, 0, 0, 2)", MILL_DIST_NORMAL_TRUNCATED, 1, 0, 0, 2},
      {"lognormal(0, 1)", MILL_DIST_LOGNORMAL, 0, 1, 0, 0},
  };
  struct mill_error e;
  struct mill_dist d;
  size_t i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    e = (struct mill_error){0, ""};
    is_int(mill_dist_parse(cases[i].text, &defines, 0, &d, &e), 0, "%s: `%s` is read (%s)", locale_name, cases[i].text, e.text);
    ok(d.kind == cases[i].kind && d.file == NULL, "%s: `%s`: kind", locale_name, cases[i].text);
    is_real(d.a, cases[i].a, 0, "%s: first number", locale_name);
    is_real(d.b, cases[i].b, 0, "%s: second number", locale_name);
    is_real(d.lo, cases[i].lo, 0, "%s: third number", locale_name);
    is_real(d.hi, cases[i].hi, 0, "%s: fourth number", locale_name);
    mill_dist_free(&d);
  }
  is_int(mill_dist_parse(" dir/Init (1).csv ", &defines, 1, &d, &e), 0, "%s: a file", locale_name);
  ok(d.kind == MILL_DIST_FILE, "%s: is one", locale_name);
  is_str(d.file, "dir/Init (1).csv", "%s: its name", locale_name);
  mill_dist_free(&d);
  ok(d.file == NULL, "%s: freed", locale_name);
  mill_dist_free(&d);
}

static void refused_test(void)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "there is no value: expected a number or an expression"},
      {"many", "`many` is no number, no `$name` and none of sqrt, floor, round, min, max"},
      {"init.csv", "values from a file are not possible here"},
      {".csv", "expected a number, `$name`, a function or `(`, found `.csv` at character 1"},
      {"uniform(1)", "uniform takes 2 arguments (from, to), found 1"},
      {"uniform", "`uniform` is no number, no `$name` and none of sqrt, floor, round, min, max"},
      {"normal(1, 2, 3)", "normal takes 2 arguments (mean, standard deviation), found 3"},
      {"normal()", "normal takes 2 arguments (mean, standard deviation), found 0"},
      {"normal-clipped(1, 2)", "normal-clipped takes 4 arguments (mean, standard deviation, least, greatest), found 2"},
      {"normal(1, -2)", "normal: the standard deviation -2 is negative"},
      {"normal(1, x)", "argument 2 of normal: `x` is no number, no `$name` and none of sqrt, floor, round, min, max"},
      {"normal(1, )", "argument 2 of `normal` is empty"},
      {"normal(1, $v)", "argument 2 of normal: unknown name `$v`; known here: `$w`, `$sd`"},
      {"normal(1, 1e308)", "normal: draws could overflow"},
      {"uniform(2, 1)", "uniform needs its bounds in ascending order, found 2 and 1"},
      {"uniform(-1e308, 1e308)", "uniform: the bounds are too far apart"},
      {"normal-clipped(1, 2, 3, 3)", "normal-clipped: the least value 3 must be below the greatest, 3"},
      {"normal-truncated(0, 1, 4, 5)",
       "normal-truncated: 4 … 5 holds less than 0.001 of the probability, drawing would take too long"},
      {"normal-truncated(0, 1, -5, -4)",
       "normal-truncated: -5 … -4 holds less than 0.001 of the probability, drawing would take too long"},
      {"normal-truncated(0, 0, 1, 2)",
       "normal-truncated: 1 … 2 holds less than 0.001 of the probability, drawing would take too long"},
      {"lognormal(700, 2)", "lognormal: draws could overflow (mean and standard deviation are those of the logarithm)"},
      {"unifrom(1, 2)", "unknown distribution `unifrom`; did you mean `uniform`?"},
      {"Uniform(1, 2)", "unknown distribution `Uniform`; did you mean `uniform`?"},
      {"normal-cliped(1, 2, 0, 3)", "unknown distribution `normal-cliped`; did you mean `normal-clipped`?"},
      {"normal_clipped(1, 2, 0, 3)", "unknown distribution `normal_clipped`; did you mean `normal-clipped`?"},
      {"exponential(1)",
       "unknown distribution `exponential`: expected a number, an expression, or uniform, normal, normal-clipped, "
       "normal-truncated or lognormal with arguments"},
      {"normal(1, 2) * 3", "text after `normal(…)`: `* 3`"},
      {"normal(1, 2", "the `(` after `normal` is not closed"},
      {"2 * normal(1, 2)", "`normal` is no number, no `$name` and none of sqrt, floor, round, min, max"},
  };
  struct mill_error e;
  struct mill_dist d;
  size_t i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    e = (struct mill_error){0, ""};
    is_int(mill_dist_parse(cases[i].text, &defines, 0, &d, &e), -1, "%s: `%s` is refused", locale_name, cases[i].text);
    is_str(e.text, cases[i].message, "%s: message", locale_name);
    is_int(e.status, MILL_USAGE, "%s: class", locale_name);
    mill_dist_free(&d);
  }
}

static struct mill_dist dist(const char *text)
{
  struct mill_error e = {0, ""};
  struct mill_dist d;

  if (mill_dist_parse(text, NULL, 0, &d, &e) != 0)
    bail("%s: %s", text, e.text);
  return d;
}

/* Moments of many draws against the theory, within 5 standard errors; bounds inclusive. */
static void moments_test(const char *text, double mean, double sd, double lo, double hi)
{
  struct mill_dist d = dist(text);
  double sum = 0, squares = 0, x, least = HUGE_VAL, most = -HUGE_VAL;
  uint64_t i;

  for (i = 0; i < DRAWS; i++) {
    x = mill_dist_draw(&d, 42, i, 7, NULL, NULL);
    sum += x;
    squares += (x - mean) * (x - mean);
    least = x < least ? x : least;
    most = x > most ? x : most;
  }
  is_real(sum / DRAWS, mean, 5 * sd / sqrt(DRAWS), "%s: mean", text);
  is_real(sqrt(squares / DRAWS), sd, 0.02 * sd, "%s: standard deviation", text);
  ok(least >= lo && most <= hi, "%s: draws lie in %g … %g (%g … %g)", text, lo, hi, least, most);
}

static double density(double z)
{
  return exp(-0.5 * z * z) / 2.5066282746310002;
}

static double cdf(double z)
{
  return 0.5 * erfc(-z / sqrt(2));
}

static void draws_test(void)
{
  double mass = cdf(2) - cdf(-1), mean = (density(-1) - density(2)) / mass;
  double variance = 1 + (-1 * density(-1) - 2 * density(2)) / mass - mean * mean, want;
  struct mill_dist d = dist("normal(3, 2)"), t = dist("normal-truncated(3, 2, 4, 6)"), c = dist("normal-clipped(3, 2, 4, 6)");
  struct mill_dist narrow = {.kind = MILL_DIST_UNIFORM, .a = 1, .b = nextafter(1, 2)};
  uint64_t i, r, redraws = 0, clips = 0, before, wrong = 0, outside = 0, seen = 0, key;
  double x, y;

  moments_test("uniform(-60, -50)", -55, 10 / sqrt(12), -60, -50);
  moments_test("normal(3, 2)", 3, 2, -20, 20);
  moments_test("normal-truncated(0, 1, -1, 2)", mean, sqrt(variance), -1, 2);
  moments_test("lognormal(0.5, 0.25)", exp(0.5 + 0.03125), exp(0.5 + 0.03125) * sqrt(exp(0.0625) - 1), 0, 20);
  moments_test("normal-clipped(0, 1, 0, 1e6)", density(0), sqrt(0.5 - density(0) * density(0)), 0, 1e6);
  is_real(mill_dist_draw(&(struct mill_dist){.kind = MILL_DIST_NUMBER, .a = 4}, 1, 2, 3, NULL, NULL), 4, 0, "a number is itself");

  for (i = 0; i < DRAWS; i++) {
    key = 1000 + i % 3;
    x = mill_dist_draw(&d, key, i, 1, NULL, NULL);
    wrong += x != mill_dist_draw(&d, key, i, 1, NULL, NULL);
    seen += x == mill_dist_draw(&d, key, i, 2, NULL, NULL) || x == mill_dist_draw(&d, key + 1, i, 1, NULL, NULL);
    before = clips;
    y = mill_dist_draw(&c, key, i, 1, NULL, &clips);
    wrong += y != fmin(fmax(x, 4), 6) || clips - before != (x < 4 || x > 6);
    for (r = 0; x < 4 || x > 6; r++)
      x = mill_dist_draw(&d, key + (r + 1) * 0x9e3779b97f4a7c15u, i, 1, NULL, NULL);
    before = redraws;
    wrong += mill_dist_draw(&t, key, i, 1, &redraws, NULL) != x || redraws - before != r;
    x = mill_dist_draw(&narrow, key, i, 1, NULL, NULL);
    outside += !(x >= 1 && x < narrow.b);
  }
  is_int((intmax_t)wrong, 0, "draws are a function of key and index; clips and redraws are counted");
  is_int((intmax_t)seen, 0, "other keys and indices give other draws");
  is_int((intmax_t)outside, 0, "uniform stays below its end, also where rounding would reach it");
  want = 1 / (cdf(1.5) - cdf(0.5)) - 1;
  is_real((double)redraws / DRAWS, want, 0.03 * want, "redraws are as many as the probability asks for");
  want = 1 - (cdf(1.5) - cdf(0.5));
  is_real((double)clips / DRAWS, want, 0.02 * want, "clips are as many as the probability asks for");
}

static void bounds_test(void)
{
  static const struct {
    const char *text;
    double bound;
  } cases[] = {
      {"-3", 3},
      {"uniform(-5, 3)", 5},
      {"uniform(-1, 3)", 3},
      {"normal(1, 2)", HUGE_VAL},
      {"normal(-1, 0)", 1},
      {"normal-clipped(0, 1, -7, 2)", 7},
      {"normal-truncated(0, 1, -1, 2)", 2},
      {"lognormal(0, 1)", HUGE_VAL},
  };
  struct mill_dist d;
  size_t i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    d = dist(cases[i].text);
    is_real(mill_dist_bound(&d), cases[i].bound, 0, "bound of %s", cases[i].text);
  }
}

static void call_is(const char *text, const char *want_name, size_t want_count, const char *first, const char *message)
{
  struct mill_error e = {0, ""};
  char *name = NULL, **args = NULL;
  size_t count = 99;
  int status = mill_call_parse(text, &name, &args, &count, &e);

  if (message == NULL) {
    is_int(status, 0, "`%s` is a call", text);
    is_str(name, want_name, "its name");
    is_int((intmax_t)count, (intmax_t)want_count, "its arguments");
    is_str(args == NULL ? NULL : args[0], first, "the first");
  } else {
    is_int(status, -1, "`%s` is no call", text);
    is_str(e.text, message, "message");
    ok(name == NULL && args == NULL && count == 0, "nothing is left");
  }
  free(name);
  free(args);
}

static void calls_test(void)
{
  call_is("all-to-all", "all-to-all", 0, NULL, NULL);
  call_is(" fixed-probability( 0.02 ) ", "fixed-probability", 1, "0.02", NULL);
  call_is("file(Edges (1).csv)", "file", 1, "Edges (1).csv", NULL);
  call_is("f(g(a, b), c)", "f", 2, "g(a, b)", NULL);
  call_is("f()", "f", 0, NULL, NULL);
  call_is("", NULL, 0, NULL, "there is no value: expected NAME or NAME(arguments)");
  call_is("(1)", NULL, 0, NULL, "expected a name before `(`");
  call_is("Fixed(1)", NULL, 0, NULL, "`Fixed` is no name: expected NAME or NAME(arguments), in lower case");
  call_is("all to all", NULL, 0, NULL, "`all to all` is no name: expected NAME or NAME(arguments), in lower case");
  call_is("f(1", NULL, 0, NULL, "the `(` after `f` is not closed");
  call_is("f((1)", NULL, 0, NULL, "the `(` after `f` is not closed");
  call_is("f(1))", NULL, 0, NULL, "text after `f(…)`: `)`");
  call_is("f(1) g", NULL, 0, NULL, "text after `f(…)`: `g`");
  call_is("f(1,,2)", NULL, 0, NULL, "argument 2 of `f` is empty");
  call_is("f(1,)", NULL, 0, NULL, "argument 2 of `f` is empty");
}

static void grid_is(int64_t ps, int64_t dt_ps, int64_t want)
{
  int64_t steps = 777;
  int status = mill_grid_steps(ps, dt_ps, &steps);

  is_int(status, want == 777 ? -1 : 0, "%jd ps on a grid of %jd", (intmax_t)ps, (intmax_t)dt_ps);
  is_int(steps, want, "its step");
}

static void times_test(void)
{
  const int64_t dt = 100000000;

  is_int((intmax_t)mill_delay_steps(810000000, dt), 8, ".81 ms at 0.1");
  is_int((intmax_t)mill_delay_steps(820000000, dt), 8, ".82");
  is_int((intmax_t)mill_delay_steps(849900000, dt), 8, ".8499");
  is_int((intmax_t)mill_delay_steps(850000000, dt), 9, ".85");
  is_int((intmax_t)mill_delay_steps(860000000, dt), 9, ".86");
  is_int((intmax_t)mill_delay_steps(899900000, dt), 9, ".8999");
  is_int((intmax_t)mill_delay_steps(40000000, dt), 0, ".04");
  is_int((intmax_t)mill_delay_steps(60000000, dt), 1, ".06");
  is_int((intmax_t)mill_delay_steps(0, dt), 0, "0");
  is_int((intmax_t)mill_delay_steps(-850000000, dt), 0, "negative");
  is_int((intmax_t)mill_delay_steps(1, 3), 0, "1 of 3");
  is_int((intmax_t)mill_delay_steps(2, 3), 1, "2 of 3");
  is_int((intmax_t)mill_delay_steps(INT64_MAX, 1), INT64_MAX, "the largest");
  is_int((intmax_t)mill_delay_steps(INT64_MAX, INT64_MAX), 1, "the largest step");
  grid_is(2999900000, dt, 30);
  grid_is(4300100000, dt, 43);
  grid_is(1050000000, dt, 777);
  grid_is(1001000000, dt, 10);
  grid_is(1001000001, dt, 777);
  grid_is(999000000, dt, 10);
  grid_is(998999999, dt, 777);
  grid_is(0, dt, 0);
  grid_is(-200000000, dt, -2);
  grid_is(-200100000, dt, -2);
  grid_is(-199900000, dt, -2);
  grid_is(-150000000, dt, 777);
  grid_is(INT64_MAX, INT64_MAX, 1);
  grid_is(INT64_MIN, 1, INT64_MIN);
  grid_is(7, 7, 1);
  grid_is(8, 7, 777);
  grid_is(8, 0, 777);
}

static void all_test(void)
{
  locale_name = setlocale(LC_NUMERIC, NULL);
  parse_test();
  refused_test();
}

int main(void)
{
  plan_later();
  all_test();
  draws_test();
  bounds_test();
  calls_test();
  times_test();
  if (german_set())
    all_test();
  else
    skip(1, "no locale with a decimal comma");
  german_end();
  return done_testing();
}
