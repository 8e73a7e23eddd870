/* Checks of a parameter table itself, which a plugin brings: nothing in it is believed before it was looked at. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>
#include "param.h"
#include "text.h"
#include "value.h"

#define CHOICE_MAX 64
#define LINE_MAX_BYTES 400
#define FLAGS_ALL ((unsigned)(MILL_REQUIRED | MILL_PER_NEURON | MILL_EXPERT | MILL_DEPRECATED))

static size_t type_size(unsigned type)
{
  switch (type) {
  case MILL_REAL:
    return sizeof(double);
  case MILL_INT:
    return sizeof(int64_t);
  case MILL_BOOL:
  case MILL_CHOICE:
    return sizeof(int32_t);
  case MILL_TEXT:
    return sizeof(char *);
  default:
    return 0;
  }
}

/* One short line of UTF-8 that a comment of an INI file can hold. */
static int is_line(const char *s)
{
  const char *p;

  for (p = s; *p != '\0'; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7f)
      return 0;
  return strlen(s) <= LINE_MAX_BYTES && mill_text_is_utf8(s, strlen(s)) && (p == s || p[-1] != '\\');
}

static int choices_check(const char *choices, struct mill_error *error)
{
  char *copy, *rest, *name, *other;
  size_t n;
  int status = -1;

  if (choices == NULL || *choices == '\0')
    return mill_fail(error, MILL_USAGE, "has no choices");
  copy = rest = strdup(choices);
  if (copy == NULL)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (n = 0; (name = strsep(&rest, "|")) != NULL; n++) {
    if (!mill_text_is_key(name, 1)) {
      mill_fail(error, MILL_USAGE, "the choice `%s` is no name ([a-z][a-z0-9_-]*)", name);
      goto done;
    }
    for (other = copy; other < name; other += strlen(other) + 1)
      if (strcmp(other, name) == 0) {
        mill_fail(error, MILL_USAGE, "the choice `%s` occurs twice", name);
        goto done;
      }
  }
  if (n > CHOICE_MAX || strlen(choices) > LINE_MAX_BYTES)
    mill_fail(error, MILL_USAGE, "%zu choices in %zu characters: more than %d or %d", n, strlen(choices), CHOICE_MAX,
              LINE_MAX_BYTES);
  else
    status = 0;
done:
  free(copy);
  return status;
}

static int words_check(const struct mill_param_spec *spec, struct mill_error *error)
{
  int is_choice = spec->type == MILL_CHOICE, is_number = spec->type == MILL_REAL || spec->type == MILL_INT;

  if (type_size(spec->type) == 0)
    return mill_fail(error, MILL_USAGE, "the type %u is unknown", (unsigned)spec->type);
  if ((spec->flags & ~FLAGS_ALL) != 0)
    return mill_fail(error, MILL_USAGE, "the flags 0x%x are unknown", (unsigned)spec->flags & ~FLAGS_ALL);
  if (spec->unit == NULL)
    return mill_fail(error, MILL_USAGE, "the unit is missing (\"\" for none)");
  if (spec->doc == NULL || *spec->doc == '\0')
    return mill_fail(error, MILL_USAGE, "the doc is missing");
  if (!is_line(spec->unit) || !is_line(spec->doc) || (spec->deflt != NULL && !is_line(spec->deflt)))
    return mill_fail(error, MILL_USAGE, "unit, doc and default must be lines of UTF-8 of at most %d bytes", LINE_MAX_BYTES);
  if (is_choice ? choices_check(spec->choices, error) < 0 : spec->choices != NULL)
    return is_choice ? -1 : mill_fail(error, MILL_USAGE, "has choices, but is not of type CHOICE");
  if (is_number && !(spec->min <= spec->max))
    return mill_fail(error, MILL_USAGE, "the range is empty");
  if ((spec->flags & MILL_PER_NEURON) != 0 && spec->type != MILL_REAL)
    return mill_fail(error, MILL_USAGE, "a value per neuron must be REAL");
  if ((spec->flags & MILL_REQUIRED) != 0 && (spec->deflt != NULL || (spec->flags & MILL_DEPRECATED) != 0))
    return mill_fail(error, MILL_USAGE, "is required, and has a default or is deprecated");
  if ((spec->flags & MILL_REQUIRED) == 0 && spec->deflt == NULL && spec->type != MILL_TEXT)
    return mill_fail(error, MILL_USAGE, "has no default and is not required");
  return 0;
}

/* The default goes the way of a user's value, into a block of its own. */
static int default_check(const struct mill_param_spec *spec, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  struct mill_param_spec alone = *spec;
  struct mill_dist dist;
  uint64_t block[2] = {0, 0};
  char range[128];
  int status;

  if (spec->deflt == NULL)
    return 0;
  if ((spec->flags & MILL_PER_NEURON) != 0) {
    status = mill_dist_parse(spec->deflt, &none, 0, &dist, error);
    if (status == 0 && dist.kind == MILL_DIST_NUMBER && !(dist.a >= spec->min && dist.a <= spec->max))
      status = mill_fail(error, MILL_USAGE, "must lie in %s", mill_param_range(spec, range, sizeof range));
    mill_dist_free(&dist);
  } else {
    alone.offset = 0;
    status = mill_param_value(&alone, spec->deflt, &none, block, error);
    mill_param_free(&alone, 1, block);
  }
  return status < 0 ? mill_fail_within(error, "the default `%s`", spec->deflt) : 0;
}

static int offset_check(const struct mill_param_spec *specs, size_t i, size_t block_size, struct mill_error *error)
{
  size_t begin = specs[i].offset, size = type_size(specs[i].type), other, j;

  if (begin % size != 0)
    return mill_fail(error, MILL_USAGE, "the offset %zu is not a multiple of %zu", begin, size);
  if (size > block_size || begin > block_size - size)
    return mill_fail(error, MILL_USAGE, "lies at %zu … %zu, outside the block of %zu bytes", begin, begin + size, block_size);
  for (j = 0; j < i; j++) {
    other = specs[j].offset;
    if ((specs[j].flags & MILL_PER_NEURON) == 0 && begin < other + type_size(specs[j].type) && other < begin + size)
      return mill_fail(error, MILL_USAGE, "overlaps `%s`, at %zu", specs[j].key, other);
  }
  return 0;
}

static int spec_check(const struct mill_param_spec *specs, size_t i, size_t block_size, struct mill_error *error)
{
  size_t j;

  for (j = 0; j < i; j++)
    if (strcmp(specs[j].key, specs[i].key) == 0)
      return mill_fail(error, MILL_USAGE, "the key occurs twice");
  if (words_check(&specs[i], error) < 0)
    return -1;
  if ((specs[i].flags & MILL_PER_NEURON) == 0 && offset_check(specs, i, block_size, error) < 0)
    return -1;
  return default_check(&specs[i], error);
}

int mill_param_check_table(const struct mill_param_spec *specs, size_t count, size_t block_size, struct mill_error *error)
{
  size_t i;

  for (i = 0; i < count; i++) {
    if (specs[i].key == NULL || !mill_text_is_key(specs[i].key, 0))
      return mill_fail(error, MILL_USAGE, "parameter %zu: the key `%s` is not of the form [a-z][a-z0-9_]*", i,
                       specs[i].key == NULL ? "" : specs[i].key);
    if (spec_check(specs, i, block_size, error) < 0)
      return mill_fail_within(error, "parameter `%s`", specs[i].key);
  }
  return 0;
}
