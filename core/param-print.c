/* Parameter tables as text: columns for people, and an INI template. Widths count characters, not bytes. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>
#include "ini-scan.h"
#include "param.h"
#include "text.h"

enum { KEY, DEFAULT, UNIT, RANGE, DOC, COLUMNS };
#define CELL_MAX 1400 /* more than the lines that mill_param_check_table admits need */

static const char *const heads[COLUMNS] = {"key", "default", "unit", "range", "meaning"};

char *mill_param_range(const struct mill_param_spec *spec, char *buffer, size_t size)
{
  char min[32], max[32];
  int has_min, has_max;
  const char *p;
  size_t n = 0;

  switch (spec->type) {
  case MILL_BOOL:
    mill_text_format(buffer, size, "yes | no");
    break;
  case MILL_CHOICE:
    for (buffer[0] = '\0', p = spec->choices; *p != '\0' && n + 4 < size; p++)
      n += (size_t)mill_text_format(buffer + n, size - n, *p == '|' ? " | " : "%c", *p);
    break;
  case MILL_TEXT:
    mill_text_format(buffer, size, "text");
    break;
  default:
    /* The bounds of the type are no bounds worth telling. */
    has_min = spec->min > (spec->type == MILL_INT ? -MILL_INT_FREE : -1.7e308);
    has_max = spec->max < (spec->type == MILL_INT ? MILL_INT_FREE : 1.7e308);
    mill_text_double(min, spec->min);
    mill_text_double(max, spec->max);
    if (has_min && has_max)
      mill_text_format(buffer, size, "%s … %s", min, max);
    else if (has_min || has_max)
      mill_text_format(buffer, size, "%s %s", has_min ? "≥" : "≤", has_min ? min : max);
    else
      mill_text_format(buffer, size, "%s", "");
  }
  return buffer;
}

static const char *remark(const struct mill_param_spec *spec)
{
  return (spec->flags & MILL_DEPRECATED) != 0   ? " (deprecated)"
         : (spec->flags & MILL_EXPERT) != 0     ? " (expert)"
         : (spec->flags & MILL_PER_NEURON) != 0 ? " (initial value: number or distribution)"
                                                : "";
}

static void cell_make(char *cell, const struct mill_param_spec *spec, int column)
{
  switch (column) {
  case KEY:
    mill_text_format(cell, CELL_MAX, "%s", spec->key);
    break;
  case DEFAULT:
    mill_text_format(cell, CELL_MAX, "%s",
                     spec->deflt != NULL && *spec->deflt != '\0' ? spec->deflt
                     : (spec->flags & MILL_REQUIRED) != 0        ? "required"
                                                                 : "none");
    break;
  case UNIT:
    mill_text_format(cell, CELL_MAX, "%s", *spec->unit != '\0' ? spec->unit : "-");
    break;
  case RANGE:
    mill_param_range(spec, cell, CELL_MAX);
    if (*cell == '\0')
      mill_text_format(cell, CELL_MAX, "%s", spec->type == MILL_INT ? "any whole number" : "any");
    break;
  default:
    mill_text_format(cell, CELL_MAX, "%s%s", spec->doc, remark(spec));
  }
}

/* Texts only, so that no locale has a say. */
static void cell_put(FILE *out, const char *cell, int column, const size_t *width)
{
  size_t n;

  fputs(cell, out);
  if (column == DOC) {
    fputc('\n', out);
    return;
  }
  for (n = mill_text_width(cell); n < width[column] + 2; n++)
    fputc(' ', out);
}

void mill_param_print(FILE *out, const struct mill_param_spec *specs, size_t count)
{
  size_t width[COLUMNS] = {0}, i, n;
  char cell[CELL_MAX];
  int column;

  for (column = 0; column < COLUMNS; column++) {
    width[column] = strlen(heads[column]);
    for (i = 0; i < count; i++) {
      cell_make(cell, &specs[i], column);
      n = mill_text_width(cell);
      width[column] = n > width[column] ? n : width[column];
    }
  }
  for (column = 0; column < COLUMNS; column++)
    cell_put(out, heads[column], column, width);
  for (i = 0; i < count; i++)
    for (column = 0; column < COLUMNS; column++) {
      cell_make(cell, &specs[i], column);
      cell_put(out, cell, column, width);
    }
}

/* "doc (0.1 … 10000)". */
static void template_doc(FILE *out, const struct mill_param_spec *spec)
{
  char range[CELL_MAX];

  mill_param_range(spec, range, sizeof range);
  fprintf(out, "; %s", spec->doc);
  if (*range != '\0' && spec->type != MILL_TEXT)
    fprintf(out, " (%s)", range);
  fputs("\n", out);
}

void mill_param_template(FILE *out, const struct mill_param_spec *specs, size_t count)
{
  char *value;
  size_t i;

  for (i = 0; i < count; i++) {
    if ((specs[i].flags & MILL_DEPRECATED) != 0)
      continue;
    template_doc(out, &specs[i]);
    fprintf(out, "%s%s =", (specs[i].flags & MILL_REQUIRED) != 0 ? "" : "; ", specs[i].key);
    value = specs[i].deflt == NULL ? NULL : malloc(strlen(specs[i].deflt) + 3);
    if (value != NULL && *specs[i].deflt != '\0')
      fprintf(out, " %s", mill_ini_quote(value, specs[i].deflt));
    free(value);
    if (*specs[i].unit != '\0')
      fprintf(out, "  ; %s", specs[i].unit);
    fputs("\n", out);
  }
}
