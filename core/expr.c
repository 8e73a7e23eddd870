/* Arithmetic in configuration values: one recursive descent over the text, computing as it goes. Every operation is checked, so
   that a result is a finite number or an error that says where. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "expr.h"
#include "text.h"

#define DEPTH_MAX 64
#define WHOLE_MAX 9007199254740992.0 /* 2^53: beyond it doubles skip whole numbers */
#define SHOWN_MAX 24                 /* bytes of the text in a message */
#define LISTED_MAX 12                /* names that a message lists */

struct parser {
  const char *text, *at;
  const struct mill_defines *defines;
  int depth;
  struct mill_error *error;
};

static double smaller(double x, double y)
{
  return y < x ? y : x;
}

static double larger(double x, double y)
{
  return y > x ? y : x;
}

/* One of `one` (a single argument) and `two` (two or more, from the left) is set. */
static const struct function {
  const char *name;
  double (*one)(double);
  double (*two)(double, double);
} functions[] = {
    {"sqrt", sqrt, NULL}, {"floor", floor, NULL}, {"round", round, NULL}, {"min", NULL, smaller}, {"max", NULL, larger},
};
#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

static int sum_parse(struct parser *p, double *value);

static int is_name_char(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void blanks_skip(struct parser *p)
{
  while (*p->at == ' ' || *p->at == '\t')
    p->at++;
}

/* ---- messages ---- */

/* "`rest of the text` at character 7" or "the end", into shown[64]. */
static const char *here(const struct parser *p, const char *at, char *shown)
{
  size_t n = strlen(at), cut = n <= SHOWN_MAX ? n : mill_text_cut(at, SHOWN_MAX), before, width = 1;

  for (before = 0; before < (size_t)(at - p->text); before++)
    width += ((unsigned char)p->text[before] & 0xc0) != 0x80;
  if (n == 0)
    mill_text_format(shown, 64, "the end");
  else
    mill_text_format(shown, 64, "`%.*s%s` at character %zu", (int)cut, at, cut < n ? "…" : "", width);
  return shown;
}

static int fail_expected(struct parser *p, const char *what)
{
  char shown[64];

  return mill_fail(p->error, MILL_USAGE, "expected %s, found %s", what, here(p, p->at, shown));
}

static int finite_check(struct parser *p, const char *at, double value)
{
  char shown[64];

  if (isfinite(value))
    return 0;
  return mill_fail(p->error, MILL_USAGE, "the result is too large at %s", here(p, at, shown));
}

static int name_fail(struct parser *p, const char *name)
{
  const char **names = NULL, *nearest;
  size_t i, count = p->defines == NULL ? 0 : p->defines->count, used;
  char list[LISTED_MAX * 24 + 16] = "";

  if (count == 0)
    return mill_fail(p->error, MILL_USAGE, "unknown name `$%s`: [define] has no names", name);
  names = malloc(count * sizeof *names);
  if (names == NULL)
    return mill_fail(p->error, MILL_RESOURCES, "out of memory");
  for (i = 0; i < count; i++)
    names[i] = p->defines->define[i].name;
  nearest = mill_text_nearest(name, names, count);
  if (nearest != NULL) {
    mill_fail(p->error, MILL_USAGE, "unknown name `$%s`; did you mean `$%s`?", name, nearest);
  } else {
    for (i = used = 0; i < count && i < LISTED_MAX && used + strlen(names[i]) + 16 < sizeof list; i++)
      used += (size_t)mill_text_format(list + used, sizeof list - used, "%s`$%s`", i > 0 ? ", " : "", names[i]);
    mill_fail(p->error, MILL_USAGE, "unknown name `$%s`; known here: %s%s", name, list, i < count ? ", …" : "");
  }
  free(names);
  return -1;
}

/* A word without `$` that is no function. */
static int word_fail(struct parser *p, const char *word)
{
  const char *names[FUNCTION_COUNT], *nearest;
  size_t i;

  for (i = 0; p->defines != NULL && i < p->defines->count; i++)
    if (strcmp(p->defines->define[i].name, word) == 0)
      return mill_fail(p->error, MILL_USAGE, "`%s` is a name of [define]: write `$%s`", word, word);
  for (i = 0; i < FUNCTION_COUNT; i++)
    names[i] = functions[i].name;
  blanks_skip(p);
  nearest = *p->at == '(' ? mill_text_nearest(word, names, FUNCTION_COUNT) : NULL;
  if (nearest != NULL)
    return mill_fail(p->error, MILL_USAGE, "unknown function `%s`; did you mean `%s`?", word, nearest);
  return mill_fail(p->error, MILL_USAGE, "`%s` is no number, no `$name` and none of sqrt, floor, round, min, max", word);
}

/* ---- grammar ---- */

/* Copies the name at p->at and steps over it. One that is cut is longer than [define] admits, so it stays unknown. */
static void name_read(struct parser *p, char *name, size_t size)
{
  const char *begin = p->at;

  while (is_name_char(*p->at))
    p->at++;
  mill_text_format(name, size, "%.*s", (int)(p->at - begin), begin);
}

static int number_parse(struct parser *p, double *value)
{
  const char *begin = p->at, *end = begin + mill_text_number(begin);
  char shown[64], *copy;
  int status;

  if (is_name_char(*end) || *end == '.')
    return mill_fail(p->error, MILL_USAGE, "%s is not a number that can be read whole", here(p, begin, shown));
  copy = mill_text_trim(begin, (size_t)(end - begin));
  if (copy == NULL)
    return mill_fail(p->error, MILL_RESOURCES, "out of memory");
  status = mill_text_real(copy, value);
  free(copy);
  if (status < 0)
    return mill_fail(p->error, MILL_USAGE, "%s is too large or too small for a number", here(p, begin, shown));
  p->at = end;
  return 0;
}

static int name_parse(struct parser *p, double *value)
{
  char name[64];
  size_t i;

  p->at++;
  if (!is_name_char(*p->at))
    return fail_expected(p, "a name after `$`");
  name_read(p, name, sizeof name);
  for (i = 0; p->defines != NULL && i < p->defines->count; i++)
    if (strcmp(p->defines->define[i].name, name) == 0) {
      *value = p->defines->define[i].value;
      return 0;
    }
  return name_fail(p, name);
}

static int call_parse(struct parser *p, double *value)
{
  const struct function *f = NULL;
  const char *begin = p->at;
  char word[64], shown[64];
  size_t i, count = 1;
  double next;

  name_read(p, word, sizeof word);
  for (i = 0; i < FUNCTION_COUNT; i++)
    if (strcmp(functions[i].name, word) == 0)
      f = &functions[i];
  if (f == NULL)
    return word_fail(p, word);
  blanks_skip(p);
  if (*p->at != '(')
    return fail_expected(p, "`(` after a function's name");
  p->at++;
  if (sum_parse(p, value) < 0)
    return -1;
  for (; *p->at == ',' && f->two != NULL; count++) {
    p->at++;
    if (sum_parse(p, &next) < 0)
      return -1;
    *value = f->two(*value, next);
  }
  if (*p->at == ',')
    return mill_fail(p->error, MILL_USAGE, "`%s` takes one argument: %s", word, here(p, p->at, shown));
  if (*p->at != ')')
    return fail_expected(p, f->two != NULL ? "`,` or `)`" : "`)`");
  if (f->two != NULL && count < 2)
    return mill_fail(p->error, MILL_USAGE, "`%s` takes two arguments or more: %s", word, here(p, begin, shown));
  p->at++;
  if (f->one == sqrt && *value < 0)
    return mill_fail(p->error, MILL_USAGE, "square root of a negative number: %s", here(p, begin, shown));
  if (f->one != NULL)
    *value = f->one(*value);
  return 0;
}

static int factor_parse(struct parser *p, double *value)
{
  blanks_skip(p);
  if (*p->at == '+' || *p->at == '-') {
    int negative = *p->at++ == '-';

    blanks_skip(p);
    if (p->depth >= DEPTH_MAX)
      return mill_fail(p->error, MILL_USAGE, "nested deeper than %d", DEPTH_MAX);
    p->depth++;
    if (factor_parse(p, value) < 0)
      return -1;
    p->depth--;
    if (negative)
      *value = -*value;
    return 0;
  }
  if (*p->at == '(') {
    p->at++;
    if (sum_parse(p, value) < 0)
      return -1;
    if (*p->at != ')')
      return fail_expected(p, "an operator or `)`");
    p->at++;
  } else if (*p->at == '$') {
    if (name_parse(p, value) < 0)
      return -1;
  } else if (mill_text_number(p->at) > 0) {
    if (number_parse(p, value) < 0)
      return -1;
  } else if (is_name_char(*p->at)) {
    if (call_parse(p, value) < 0)
      return -1;
  } else {
    return fail_expected(p, "a number, `$name`, a function or `(`");
  }
  blanks_skip(p);
  return 0;
}

static int product_parse(struct parser *p, double *value)
{
  const char *operator;
  char shown[64];
  double next;

  if (factor_parse(p, value) < 0)
    return -1;
  while (*p->at == '*' || *p->at == '/') {
    operator= p->at++;
    if (factor_parse(p, &next) < 0)
      return -1;
    if (*operator== '*')
      *value *= next;
    else if (fpclassify(next) == FP_ZERO)
      return mill_fail(p->error, MILL_USAGE, "division by zero: %s", here(p, operator, shown));
    else
      *value /= next;
    if (finite_check(p, operator, * value) < 0)
      return -1;
  }
  return 0;
}

static int sum_parse(struct parser *p, double *value)
{
  const char *operator;
  double next;

  if (p->depth >= DEPTH_MAX)
    return mill_fail(p->error, MILL_USAGE, "nested deeper than %d", DEPTH_MAX);
  p->depth++;
  if (product_parse(p, value) < 0)
    return -1;
  while (*p->at == '+' || *p->at == '-') {
    operator= p->at++;
    if (product_parse(p, &next) < 0)
      return -1;
    *value = *operator== '+' ? *value + next : * value - next;
    if (finite_check(p, operator, * value) < 0)
      return -1;
  }
  p->depth--;
  return 0;
}

/* ---- results ---- */

int mill_expr_real(const char *text, const struct mill_defines *defines, double *value, struct mill_error *error)
{
  struct parser p = {.text = text, .at = text, .defines = defines, .error = error};
  double result = 0;

  blanks_skip(&p);
  if (*p.at == '\0')
    return mill_fail(error, MILL_USAGE, "there is no value: expected a number or an expression");
  if (sum_parse(&p, &result) < 0)
    return -1;
  if (*p.at == '^')
    return fail_expected(&p, "one of the operators + - * / (a power is a product)");
  if (*p.at != '\0')
    return fail_expected(&p, "an operator or the end");
  *value = result;
  return 0;
}

int mill_expr_int(const char *text, const struct mill_defines *defines, int64_t *value, struct mill_error *error)
{
  char shown[32];
  double x;

  if (mill_text_int(text, value) == 0)
    return 0;
  if (mill_expr_real(text, defines, &x, error) < 0)
    return -1;
  mill_text_double(shown, x);
  if (floor(x) < x)
    return mill_fail(error, MILL_USAGE, "%s is not a whole number (round it: round(…))", shown);
  if (x >= 9223372036854775808.0 || x < -9223372036854775808.0)
    return mill_fail(error, MILL_USAGE, "%s does not fit into 64 bits", shown);
  if (fabs(x) > WHOLE_MAX)
    return mill_fail(error, MILL_USAGE, "%s is beyond 2^53, where expressions are no longer exact: write the number itself", shown);
  *value = (int64_t)x;
  return 0;
}

int mill_expr_ps(const char *text, const struct mill_defines *defines, int64_t *ps, struct mill_error *error)
{
  char shown[32];
  double ms, whole, literal;
  int64_t sum;

  if (mill_text_ps(text, ps) == 0)
    return 0;
  if (mill_expr_real(text, defines, &ms, error) < 0)
    return -1;
  whole = trunc(ms);
  if (fabs(whole) > 9.2e9)
    return mill_fail(error, MILL_USAGE, "%s ms is longer than 64 bits of picoseconds", mill_text_double(shown, ms));
  if (mill_text_real(text, &literal) == 0)
    return mill_fail(error, MILL_USAGE, "a time in ms has at most nine decimals (picoseconds)");
  sum = (int64_t)whole * 1000000000;
  *ps = sum + (int64_t)llround((ms - whole) * 1e9);
  return 0;
}

/* ---- [define] ---- */

/* Whether a value of the file, or another override, has `$name`. */
static int is_used(const struct mill_ini *ini, const char *wanted)
{
  const char *dollar;
  char name[64];
  size_t s, i;

  for (s = 0; s < ini->count; s++)
    for (i = 0; i < ini->section[s].count; i++)
      for (dollar = strchr(ini->section[s].entry[i].value, '$'); dollar != NULL; dollar = strchr(dollar + 1, '$')) {
        struct parser p = {.at = dollar + 1};

        name_read(&p, name, sizeof name);
        if (strcmp(name, wanted) == 0)
          return 1;
      }
  return 0;
}

/* A name that only --set knows, and nothing uses: probably one that is misspelt. */
static int unused_fail(const struct mill_ini *ini, const struct mill_ini_section *section, const struct mill_ini_entry *entry,
                       struct mill_error *error)
{
  const char **names = calloc(section->count, sizeof *names), *nearest;
  size_t i, count = 0;

  if (names == NULL)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory", ini->path);
  for (i = 0; i < section->count; i++)
    if (!section->entry[i].added)
      names[count++] = section->entry[i].key;
  nearest = mill_text_nearest(entry->key, names, count);
  mill_ini_fail(error, ini, section, entry, "nothing in %s uses `$%s`%s%s%s", ini->path, entry->key,
                nearest == NULL ? "" : "; did you mean `", nearest == NULL ? "" : nearest, nearest == NULL ? "" : "`?");
  free(names);
  return -1;
}

int mill_defines_read(const struct mill_ini *ini, struct mill_defines *defines, struct mill_error *error)
{
  struct mill_ini_section *section = mill_ini_section_find(ini, "define");
  struct mill_ini_entry *entry, *later;
  struct mill_define *define;
  struct mill_error why;
  const char *dollar;
  char name[64];
  size_t i;

  *defines = (struct mill_defines){0};
  if (section == NULL || section->count == 0)
    return 0;
  defines->define = calloc(section->count, sizeof *defines->define);
  if (defines->define == NULL)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory", ini->path);
  for (i = 0; i < section->count; i++) {
    entry = &section->entry[i];
    define = &defines->define[i];
    entry->used = 1;
    if (entry->added && !is_used(ini, entry->key)) {
      unused_fail(ini, section, entry, error);
      goto failed;
    }
    if (strlen(entry->key) > sizeof name - 2) {
      mill_ini_fail(error, ini, section, entry, "a name of [define] has at most %zu characters", sizeof name - 2);
      goto failed;
    }
    if (mill_expr_real(entry->value, defines, &define->value, &why) < 0) {
      for (dollar = strchr(entry->value, '$'); dollar != NULL; dollar = strchr(dollar + 1, '$')) {
        struct parser p = {.at = dollar + 1};

        name_read(&p, name, sizeof name);
        later = mill_ini_entry_find(section, name);
        if (later != NULL && later >= entry) {
          mill_ini_fail(error, ini, section, entry, later == entry ? "`$%s` cannot use itself" : "`$%s` is defined only after this",
                        name);
          goto failed;
        }
      }
      mill_ini_fail(error, ini, section, entry, "%s", why.text);
      if (error != NULL)
        error->status = why.status;
      goto failed;
    }
    define->name = strdup(entry->key);
    if (define->name == NULL) {
      mill_fail(error, MILL_RESOURCES, "%s: out of memory", ini->path);
      goto failed;
    }
    defines->count = i + 1;
  }
  return 0;
failed:
  mill_defines_free(defines);
  return -1;
}

void mill_defines_free(struct mill_defines *defines)
{
  size_t i;

  for (i = 0; i < defines->count; i++)
    free(defines->define[i].name);
  free(defines->define);
  *defines = (struct mill_defines){0};
}
