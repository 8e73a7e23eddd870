/* What the measuring programs share. */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn static inline void stop(const char *text)
{
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
  exit(2);
}

static inline int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts them. */
static inline double median(double *value, int count)
{
  qsort(value, (size_t)count, sizeof *value, by_value);
  return value[count / 2];
}

#endif
