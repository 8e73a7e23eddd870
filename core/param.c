/* From INI entries to a parameter block, by a table: one loop over the specs, one reader per type. Defaults go the way of a user's
   value, so a table cannot hold a default that a user could not write. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>
#include "param.h"
#include "registry.h"
#include "text.h"

#define CHOICE_MAX 64 /* as mill_param_check_table allows */

/* What a value is read with. */
struct context {
  const struct mill_param_spec *spec;
  const struct mill_defines *defines;
  void *block;
  struct mill_error *error; /* text without location */
};

static void *place(const struct context *c)
{
  return (char *)c->block + c->spec->offset;
}

/* ---- one value ---- */

/* "-3" stands in the location already, of "$a * 2" the result is told. */
static int range_fail(const struct context *c, const char *text, const char *shown)
{
  const struct mill_param_spec *spec = c->spec;
  char range[128];
  double literal;
  int is_literal = mill_text_real(text, &literal) == 0;

  mill_param_range(spec, range, sizeof range);
  return mill_fail(c->error, MILL_USAGE, "%s%s%s%s %s%s%s", is_literal ? "" : "gives ", is_literal ? "" : shown,
                   is_literal ? "" : ", ", strstr(range, "…") != NULL ? "must lie in" : "must be", range,
                   *spec->unit != '\0' ? " " : "", spec->unit);
}

/* After a failed number: was it written with its unit? */
static int unit_hint(const struct context *c, const char *text)
{
  size_t n = strlen(text), m = strlen(c->spec->unit);

  if (m > 0 && n > m && strcmp(text + n - m, c->spec->unit) == 0 && strchr("0123456789. \t)", text[n - m - 1]) != NULL)
    return mill_fail(c->error, MILL_USAGE, "write the number without its unit (it is in %s)", c->spec->unit);
  return -1;
}

static int real_read(const struct context *c, const char *text)
{
  char shown[32];
  double x;

  if (mill_expr_real(text, c->defines, &x, c->error) < 0)
    return unit_hint(c, text);
  if (!(x >= c->spec->min && x <= c->spec->max))
    return range_fail(c, text, mill_text_double(shown, x));
  memcpy(place(c), &x, sizeof x);
  return 0;
}

static int int_read(const struct context *c, const char *text)
{
  char shown[32];
  int64_t n;

  if (mill_expr_int(text, c->defines, &n, c->error) < 0)
    return unit_hint(c, text);
  if ((c->spec->min > -MILL_INT_FREE && (double)n < c->spec->min) || (c->spec->max < MILL_INT_FREE && (double)n > c->spec->max)) {
    mill_text_format(shown, sizeof shown, "%lld", (long long)n);
    return range_fail(c, text, shown);
  }
  memcpy(place(c), &n, sizeof n);
  return 0;
}

static int bool_read(const struct context *c, const char *text)
{
  int32_t n;
  int yes;

  if (mill_text_bool(text, &yes) < 0)
    return mill_fail(c->error, MILL_USAGE, "must be yes or no");
  n = yes;
  memcpy(place(c), &n, sizeof n);
  return 0;
}

/* Copies the choices, splits the copy into names; NULL when out of memory. */
static char *choices_split(const char *choices, const char **names, size_t *count)
{
  char *copy = strdup(choices), *rest = copy;

  for (*count = 0; copy != NULL && *count < CHOICE_MAX && rest != NULL; ++*count)
    names[*count] = strsep(&rest, "|");
  return copy;
}

static int choice_read(const struct context *c, const char *text)
{
  const char *names[CHOICE_MAX], *nearest;
  char range[1024], *copy;
  size_t i, count;
  int32_t n = -1;

  copy = choices_split(c->spec->choices, names, &count);
  if (copy == NULL)
    return mill_fail(c->error, MILL_RESOURCES, "out of memory");
  for (i = 0; i < count; i++)
    if (strcmp(names[i], text) == 0)
      n = (int32_t)i;
  if (n >= 0) {
    memcpy(place(c), &n, sizeof n);
  } else {
    nearest = mill_text_nearest(text, names, count);
    mill_fail(c->error, MILL_USAGE, "must be one of %s%s%s%s", mill_param_range(c->spec, range, sizeof range),
              nearest != NULL ? "; did you mean `" : "", nearest != NULL ? nearest : "", nearest != NULL ? "`?" : "");
  }
  free(copy);
  return n < 0 ? -1 : 0;
}

static int text_read(const struct context *c, const char *text)
{
  char *copy = strdup(text);

  if (copy == NULL)
    return mill_fail(c->error, MILL_RESOURCES, "out of memory");
  memcpy(place(c), &copy, sizeof copy);
  return 0;
}

int mill_param_value(const struct mill_param_spec *spec, const char *text, const struct mill_defines *defines, void *block,
                     struct mill_error *error)
{
  struct context c = {.spec = spec, .defines = defines, .block = block, .error = error};

  switch (spec->type) {
  case MILL_REAL:
    return real_read(&c, text);
  case MILL_INT:
    return int_read(&c, text);
  case MILL_BOOL:
    return bool_read(&c, text);
  case MILL_CHOICE:
    return choice_read(&c, text);
  case MILL_TEXT:
    return text_read(&c, text);
  default:
    return mill_fail(error, MILL_USAGE, "the parameter's type %u is unknown", (unsigned)spec->type);
  }
}

/* ---- a section ---- */

/* A table and the section it is applied to. */
struct reading {
  const struct mill_param_spec *specs;
  size_t count;
  const struct mill_ini *ini;
  const struct mill_ini_section *section;
  const struct mill_defines *defines;
  void *block;
  struct mill_error *error;
};

static int is_known(const struct reading *r, const char *key)
{
  size_t i;

  for (i = 0; i < r->count; i++)
    if (strcmp(r->specs[i].key, key) == 0)
      return 1;
  return 0;
}

/* A required key is missing; one that is spelled nearly so may be the reason. */
static int missing_fail(const struct reading *r, const struct mill_param_spec *spec)
{
  const char *nearest = NULL, *one;
  size_t i;

  for (i = 0; i < r->section->count && nearest == NULL; i++) {
    one = r->section->entry[i].key;
    if (!r->section->entry[i].used && !is_known(r, one))
      nearest = mill_text_nearest(spec->key, &one, 1);
  }
  return mill_ini_fail(r->error, r->ini, r->section, NULL, "`%s` is missing (%s)%s%s%s", spec->key, spec->doc,
                       nearest != NULL ? "; is it the `" : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "` given here?" : "");
}

static int spec_read(const struct reading *r, const struct mill_param_spec *spec)
{
  static const struct mill_defines none = {0, NULL};
  struct mill_ini_entry *entry = mill_ini_entry_find(r->section, spec->key);
  struct mill_error why = {0, ""};
  char where[sizeof why.text];

  if (entry == NULL && spec->deflt == NULL)
    return (spec->flags & MILL_REQUIRED) != 0 ? missing_fail(r, spec) : 0;
  if (entry == NULL) {
    if (mill_param_value(spec, spec->deflt, &none, r->block, &why) == 0)
      return 0;
    return mill_ini_fail(r->error, r->ini, r->section, NULL, "the default of `%s`, %s: %s", spec->key, spec->deflt, why.text);
  }
  entry->used = 1;
  if (*entry->value == '\0')
    return mill_ini_fail(r->error, r->ini, r->section, entry, "there is no value (%s)", spec->doc);
  if (mill_param_value(spec, entry->value, r->defines, r->block, &why) < 0) {
    mill_ini_fail(r->error, r->ini, r->section, entry, "%s", why.text);
    if (r->error != NULL)
      r->error->status = why.status;
    return -1;
  }
  if ((spec->flags & MILL_DEPRECATED) != 0) {
    mill_ini_where(r->ini, r->section, entry, where, sizeof where);
    mill_note("%s`%s` is deprecated (%s)", where, spec->key, spec->doc);
  }
  return 0;
}

int mill_param_parse(const struct mill_param_spec *specs, size_t count, const struct mill_ini *ini,
                     struct mill_ini_section *section, const struct mill_defines *defines, void *block, struct mill_error *error)
{
  const struct reading r = {specs, count, ini, section, defines, block, error};
  size_t i;

  for (i = 0; i < count; i++)
    if ((specs[i].flags & MILL_PER_NEURON) == 0 && spec_read(&r, &specs[i]) < 0)
      return -1;
  return 0;
}

void mill_param_free(const struct mill_param_spec *specs, size_t count, void *block)
{
  char *text, *at;
  size_t i;

  for (i = 0; i < count; i++)
    if (specs[i].type == MILL_TEXT && (specs[i].flags & MILL_PER_NEURON) == 0) {
      at = (char *)block + specs[i].offset;
      memcpy(&text, at, sizeof text);
      free(text);
      text = NULL;
      memcpy(at, &text, sizeof text);
    }
}

/* ---- what is left ---- */

/* "`a`, `b`, `c`" of all current keys; malloc'ed. */
static char *keys_list(const char *const *keys, size_t count)
{
  size_t i, size = 1;
  char *list, *p;

  for (i = 0; i < count; i++)
    size += strlen(keys[i]) + sizeof "``, ";
  p = list = malloc(size);
  if (list == NULL)
    return NULL;
  *p = '\0';
  for (i = 0; i < count; i++)
    p = stpcpy(stpcpy(stpcpy(p, i > 0 ? ", `" : "`"), keys[i]), "`");
  return list;
}

static int unknown_fail(const struct mill_ini *ini, const struct mill_ini_section *section, const struct mill_ini_entry *entry,
                        const struct mill_param_table *tables, size_t table_count, struct mill_error *error)
{
  const char **keys, *nearest;
  char *list = NULL;
  size_t i, j, count = 0;

  for (i = 0; i < table_count; i++)
    count += tables[i].count;
  keys = calloc(count + 1, sizeof *keys);
  if (keys == NULL)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (i = count = 0; i < table_count; i++)
    for (j = 0; j < tables[i].count; j++)
      if ((tables[i].specs[j].flags & MILL_DEPRECATED) == 0)
        keys[count++] = tables[i].specs[j].key;
  nearest = mill_text_nearest(entry->key, keys, count);
  if (nearest != NULL)
    mill_ini_fail(error, ini, section, entry, "unknown key `%s`; did you mean `%s`?", entry->key, nearest);
  else if (count == 0)
    mill_ini_fail(error, ini, section, entry, "unknown key `%s`; there are no keys here", entry->key);
  else if ((list = keys_list(keys, count)) == NULL)
    mill_fail(error, MILL_RESOURCES, "out of memory");
  else
    mill_ini_fail(error, ini, section, entry, "unknown key `%s`; known here: %s", entry->key, list);
  free(list);
  free(keys);
  return -1;
}

int mill_param_check_unused(const struct mill_ini *ini, const struct mill_ini_section *section,
                            const struct mill_param_table *tables, size_t table_count, struct mill_error *error)
{
  size_t i;

  for (i = 0; i < section->count; i++)
    if (!section->entry[i].used)
      return unknown_fail(ini, section, &section->entry[i], tables, table_count, error);
  return 0;
}
