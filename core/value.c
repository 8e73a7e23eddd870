/* Distributions and calls of configuration values. A draw is a function of the random key and the index of what it is for, never of
   the draws before it, so that any thread and any device gives a synapse or a neuron the same value. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spikemill/device.h>
#include "text.h"
#include "value.h"

#define SIGMA_MAX 9.0                   /* more than mill_normal can give */
#define EXP_MAX 709.0                   /* exp of it is finite */

static const struct form {
  const char *name;
  int kind;
  size_t count;
  const char *arguments;
} forms[] = {
    {"uniform", MILL_DIST_UNIFORM, 2, "from, to"},
    {"normal", MILL_DIST_NORMAL, 2, "mean, standard deviation"},
    {"normal-clipped", MILL_DIST_NORMAL_CLIPPED, 4, "mean, standard deviation, least, greatest"},
    {"normal-truncated", MILL_DIST_NORMAL_TRUNCATED, 4, "mean, standard deviation, least, greatest"},
    {"lognormal", MILL_DIST_LOGNORMAL, 2, "mean and standard deviation of the logarithm"},
};
#define FORM_COUNT (sizeof forms / sizeof *forms)

static const char *const functions[] = {"sqrt", "floor", "round", "min", "max"};
#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

/* ---- calls ---- */

/* The `)` that closes the `(` at s; NULL when there is none. */
static const char *closing_find(const char *s)
{
  int depth = 0;

  for (; *s != '\0'; s++)
    if (*s == '(')
      depth++;
    else if (*s == ')' && --depth == 0)
      return s;
  return NULL;
}

static const char *blanks_skip(const char *s)
{
  return s + strspn(s, " \t");
}

int mill_call_parse(const char *text, char **name, char ***args, size_t *count, struct mill_error *error)
{
  const char *begin = blanks_skip(text), *open = strchr(begin, '('), *close;
  char *inside = NULL;
  size_t i;

  *args = NULL;
  *count = 0;
  *name = mill_text_trim(begin, open == NULL ? strlen(begin) : (size_t)(open - begin));
  if (*name == NULL)
    goto no_memory;
  if (**name == '\0') {
    mill_fail(error, MILL_USAGE, "%s",
              open == NULL ? "there is no value: expected NAME or NAME(arguments)" : "expected a name before `(`");
    goto failed;
  }
  if (!mill_text_is_key(*name, 1)) {
    mill_fail(error, MILL_USAGE, "`%s` is no name: expected NAME or NAME(arguments), in lower case", *name);
    goto failed;
  }
  close = open == NULL ? NULL : closing_find(open);
  if (open != NULL && close == NULL) {
    mill_fail(error, MILL_USAGE, "the `(` after `%s` is not closed", *name);
    goto failed;
  }
  if (close != NULL && *blanks_skip(close + 1) != '\0') {
    mill_fail(error, MILL_USAGE, "text after `%s(…)`: `%s`", *name, blanks_skip(close + 1));
    goto failed;
  }
  inside = open == NULL ? mill_text_trim("", 0) : mill_text_trim(open + 1, (size_t)(close - open - 1));
  *args = inside == NULL ? NULL : mill_text_list(inside, count);
  free(inside);
  if (*args == NULL)
    goto no_memory;
  for (i = 0; i < *count; i++)
    if ((*args)[i][0] == '\0') {
      mill_fail(error, MILL_USAGE, "argument %zu of `%s` is empty", i + 1, *name);
      goto failed;
    }
  return 0;
no_memory:
  mill_fail(error, MILL_RESOURCES, "out of memory");
failed:
  free(*name);
  free(*args);
  *name = NULL;
  *args = NULL;
  *count = 0;
  return -1;
}

/* ---- distributions: reading ---- */

static double normal_cdf(double z)
{
  return 0.5 * erfc(-z / 1.4142135623730951);
}

/* Probability of [lo, hi], computed in the tail where it lies, so that nothing cancels. */
static double normal_mass(double mean, double sd, double lo, double hi)
{
  double a, b;

  if (!(sd > 0))
    return lo <= mean && mean <= hi ? 1 : 0;
  a = (lo - mean) / sd;
  b = (hi - mean) / sd;
  return a > 0 ? normal_cdf(-a) - normal_cdf(-b) : normal_cdf(b) - normal_cdf(a);
}

static int form_check(const struct form *form, const struct mill_dist *d, struct mill_error *error)
{
  char a[32], b[32];

  if (form->kind == MILL_DIST_UNIFORM) {
    if (d->a > d->b)
      return mill_fail(error, MILL_USAGE, "uniform needs its bounds in ascending order, found %s and %s", mill_text_double(a, d->a),
                       mill_text_double(b, d->b));
    if (!isfinite(d->b - d->a))
      return mill_fail(error, MILL_USAGE, "uniform: the bounds are too far apart");
    return 0;
  }
  if (d->b < 0)
    return mill_fail(error, MILL_USAGE, "%s: the standard deviation %s is negative", form->name, mill_text_double(b, d->b));
  if (form->count == 4 && !(d->lo < d->hi))
    return mill_fail(error, MILL_USAGE, "%s: the least value %s must be below the greatest, %s", form->name,
                     mill_text_double(a, d->lo), mill_text_double(b, d->hi));
  if (form->kind == MILL_DIST_NORMAL_TRUNCATED && normal_mass(d->a, d->b, d->lo, d->hi) < 1e-3)
    return mill_fail(error, MILL_USAGE,
                     "normal-truncated: %s … %s holds less than 0.001 of the probability, drawing would take too long",
                     mill_text_double(a, d->lo), mill_text_double(b, d->hi));
  if (form->kind == MILL_DIST_LOGNORMAL && d->a + SIGMA_MAX * d->b > EXP_MAX)
    return mill_fail(error, MILL_USAGE, "lognormal: draws could overflow (mean and standard deviation are those of the logarithm)");
  if (!isfinite(d->a + SIGMA_MAX * d->b) || !isfinite(d->a - SIGMA_MAX * d->b))
    return mill_fail(error, MILL_USAGE, "%s: draws could overflow", form->name);
  return 0;
}

static int form_parse(const struct form *form, const char *text, const struct mill_defines *defines, struct mill_dist *dist,
                      struct mill_error *error)
{
  double *places[] = {&dist->a, &dist->b, &dist->lo, &dist->hi};
  char *name, **args;
  size_t i, count;
  int status = -1;

  if (mill_call_parse(text, &name, &args, &count, error) < 0)
    return -1;
  if (count != form->count) {
    mill_fail(error, MILL_USAGE, "%s takes %zu arguments (%s), found %zu", form->name, form->count, form->arguments, count);
    goto done;
  }
  for (i = 0; i < count; i++)
    if (mill_expr_real(args[i], defines, places[i], error) < 0) {
      mill_fail_within(error, "argument %zu of %s", i + 1, form->name);
      goto done;
    }
  dist->kind = form->kind;
  status = form_check(form, dist, error);
done:
  free(name);
  free(args);
  return status;
}

/* A name before `(` that is neither a distribution nor a function. */
static int form_unknown(const char *name, struct mill_error *error)
{
  const char *names[FORM_COUNT + FUNCTION_COUNT], *nearest;
  size_t i;

  for (i = 0; i < FORM_COUNT; i++)
    names[i] = forms[i].name;
  for (i = 0; i < FUNCTION_COUNT; i++)
    names[FORM_COUNT + i] = functions[i];
  nearest = mill_text_nearest(name, names, FORM_COUNT + FUNCTION_COUNT);
  if (nearest != NULL)
    return mill_fail(error, MILL_USAGE, "unknown distribution `%s`; did you mean `%s`?", name, nearest);
  return mill_fail(error, MILL_USAGE,
                   "unknown distribution `%s`: expected a number, an expression, or uniform, normal, normal-clipped, "
                   "normal-truncated or lognormal with arguments",
                   name);
}

static int ends_in_csv(const char *text)
{
  size_t n = strlen(text);

  return n > 4 && strcmp(text + n - 4, ".csv") == 0;
}

/* The length of the word before a `(` that text starts with; 0 when it starts otherwise. */
static size_t word_length(const char *text)
{
  size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

  return n > 0 && n < 64 && !(text[0] >= '0' && text[0] <= '9') && text[0] != '-' && *blanks_skip(text + n) == '(' ? n : 0;
}

int mill_dist_parse(const char *text, const struct mill_defines *defines, int allow_file, struct mill_dist *dist,
                    struct mill_error *error)
{
  char *trimmed = mill_text_trim(text, strlen(text)), name[64];
  size_t i, n;
  int status = -1;

  *dist = (struct mill_dist){0};
  if (trimmed == NULL)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (ends_in_csv(trimmed)) {
    if (allow_file) {
      dist->kind = MILL_DIST_FILE;
      dist->file = trimmed;
      return 0;
    }
    mill_fail(error, MILL_USAGE, "values from a file are not possible here");
    goto done;
  }
  n = word_length(trimmed);
  mill_text_format(name, sizeof name, "%.*s", (int)n, trimmed);
  for (i = 0; i < FORM_COUNT && strcmp(forms[i].name, name) != 0; i++)
    ;
  if (i < FORM_COUNT) {
    status = form_parse(&forms[i], trimmed, defines, dist, error);
    goto done;
  }
  for (i = 0; i < FUNCTION_COUNT && strcmp(functions[i], name) != 0; i++)
    ;
  /* A word with a dash may be a difference: only a name without one, or near a distribution's, is taken for a distribution. */
  if (n > 0 && i == FUNCTION_COUNT && strchr(name, '-') == NULL) {
    form_unknown(name, error);
    goto done;
  }
  status = mill_expr_real(trimmed, defines, &dist->a, error);
  if (status < 0 && n > 0 && i == FUNCTION_COUNT)
    form_unknown(name, error);
done:
  free(trimmed);
  if (status < 0)
    *dist = (struct mill_dist){0};
  return status;
}

void mill_dist_free(struct mill_dist *dist)
{
  free((char *)(uintptr_t)dist->file);
  *dist = (struct mill_dist){0};
}

/* ---- distributions: drawing ---- */

double mill_dist_draw(const struct mill_dist *dist, uint64_t key, uint64_t a, uint64_t b, uint64_t *redraws, uint64_t *clips)
{
  const struct mill_distribution d = {dist->kind, 0, dist->a, dist->b, dist->lo, dist->hi};
  uint64_t none = 0;
  return mill_distribution_draw(&d, key, a, b, redraws != NULL ? redraws : &none, clips != NULL ? clips : &none);
}

double mill_dist_bound(const struct mill_dist *dist)
{
  switch (dist->kind) {
  case MILL_DIST_NUMBER:
    return fabs(dist->a);
  case MILL_DIST_UNIFORM:
    return fmax(fabs(dist->a), fabs(dist->b));
  case MILL_DIST_NORMAL:
    return dist->b > 0 ? HUGE_VAL : fabs(dist->a);
  case MILL_DIST_NORMAL_CLIPPED:
  case MILL_DIST_NORMAL_TRUNCATED:
    return fmax(fabs(dist->lo), fabs(dist->hi));
  default:
    return HUGE_VAL;
  }
}

/* ---- time on the grid ---- */

uint64_t mill_delay_steps(int64_t ps, int64_t dt_ps)
{
  uint64_t steps, rest;

  if (ps <= 0 || dt_ps <= 0)
    return 0;
  steps = (uint64_t)ps / (uint64_t)dt_ps;
  rest = (uint64_t)ps % (uint64_t)dt_ps;
  return steps + (rest >= (uint64_t)dt_ps - rest);
}

int mill_grid_steps(int64_t ps, int64_t dt_ps, int64_t *steps)
{
  int64_t whole, rest, near;

  if (dt_ps <= 0)
    return -1;
  whole = ps / dt_ps;
  rest = ps % dt_ps;
  near = dt_ps / 100;
  if (rest < 0) {
    rest += dt_ps;
    whole--;
  }
  if (rest > near && dt_ps - rest > near)
    return -1;
  *steps = whole + (rest > near);
  return 0;
}
