/* Arithmetic in configuration values: numbers, $names of [define], + - * / ( ), sqrt floor round min max. */
#ifndef MILL_EXPR_H
#define MILL_EXPR_H

#include <stddef.h>
#include <stdint.h>
#include <spikemill/error.h>
#include "ini.h"

/* Named numbers. */
struct mill_defines {
  size_t count;
  struct mill_define { char *name; double value; } *define;
};

/* Evaluates [define] in file order (a definition may use those before it). No such section: an empty table. Marks entries used. */
int mill_defines_read(const struct mill_ini *ini, struct mill_defines *defines, struct mill_error *error);
void mill_defines_free(struct mill_defines *defines);

/* Evaluates text. Fails (status 2, text without location: the caller adds it) on syntax, unknown names (with the nearest), division
   by zero, non-finite results, nesting deeper than 64. */
int mill_expr_real(const char *text, const struct mill_defines *defines, double *value, struct mill_error *error);

/* The same, and the result must be whole: "4000.5 is not a whole number (round it: round(…))". */
int mill_expr_int(const char *text, const struct mill_defines *defines, int64_t *value, struct mill_error *error);

/* A time in ms as integer picoseconds: a plain decimal is read exactly; an expression is computed in double and rounded to the
   nearest picosecond. */
int mill_expr_ps(const char *text, const struct mill_defines *defines, int64_t *ps, struct mill_error *error);

#endif
