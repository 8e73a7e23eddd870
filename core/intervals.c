/* `intervals`: the gaps between the nodes of an episode. Bounds are read exactly into picoseconds and become ticks of the recording
   once; what is no whole number of either is refused, never rounded. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include <spikemill/format.h>
#include "job.h"
#include "text.h"

#define UNITS "ps, ns, us (or µs), ms or s"

/* One "(low,high]", pointing into the text. */
struct item {
  const char *low, *high, *unit;
  size_t low_length, high_length, unit_length; /* unit_length 0: none behind it */
};

static const char *skip(const char *p)
{
  return p + strspn(p, " \t");
}

/* The place where a bound ends, outside of parentheses. */
static const char *bound_end(const char *p)
{
  int depth = 0;
  for (; *p && !(depth == 0 && strchr(",])", *p)); p++)
    depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
  return p;
}

static int refuse(const char *at, const char *what, struct mill_error *error)
{
  size_t n = strlen(at), cut = n > 24 ? mill_text_cut(at, 24) : n;
  return mill_fail(error, MILL_USAGE, "%s at `%.*s%s`; intervals are written as (0,5] (5,10] ms", what, (int)cut, at,
                   cut < n ? "…" : "");
}

/* Splits the item at *text and moves on. */
static int item_read(const char **text, struct item *item, struct mill_error *error)
{
  const char *begin = *text, *p = begin;
  if (*p != '(')
    return refuse(begin, *p == '[' ? "the low bound is not part of an interval: expected (" : "expected an interval", error);
  item->low = skip(p + 1);
  p = bound_end(item->low);
  item->low_length = (size_t)(p - item->low);
  if (*p != ',')
    return refuse(begin, "expected a comma between two bounds", error);
  item->high = skip(p + 1);
  p = bound_end(item->high);
  item->high_length = (size_t)(p - item->high);
  if (*p != ']')
    return refuse(begin, *p == ')' ? "the high bound is part of an interval: expected ]" : "expected ] after two bounds", error);
  p = skip(p + 1);
  item->unit = p;
  item->unit_length = strcspn(p, "( ,\t");
  p = skip(p + item->unit_length);
  if (*p == ',') {
    p = skip(p + 1);
    if (*p != '(')
      return refuse(p, "expected an interval after the comma", error);
  }
  *text = p;
  return 0;
}

/* NULL after an error. */
static const struct mill_time_unit *unit_find(const struct item *item, struct mill_error *error)
{
  const struct mill_time_unit *unit = mill_time_unit_find(item->unit, item->unit_length);
  if (!unit)
    mill_fail(error, MILL_USAGE, "`%.*s` is no unit of time here; expected " UNITS,
              (int)(item->unit_length < 40 ? item->unit_length : mill_text_cut(item->unit, 40)), item->unit);
  return unit;
}

static int bound_read(const char *text, size_t n, const struct mill_time_unit *unit, const struct mill_defines *defines,
                      int64_t *ps, struct mill_error *error)
{
  char *copy = mill_text_trim(text, n), buffer[32];
  const char *number = NULL;
  struct mill_error inner = {0};
  int rc = -1;
  if (!copy)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (!*copy)
    mill_fail(error, MILL_USAGE, "a bound is missing; intervals are written as (0,5] (5,10] ms");
  else if (mill_job_number(copy, defines, buffer, &number, &inner) < 0)
    mill_fail(error, MILL_USAGE, "bound `%s`: %s", copy, inner.text);
  else if (mill_text_scaled(number, unit->scale, ps) < 0)
    mill_fail(error, MILL_USAGE, "bound %s %s: expected a whole number of picoseconds, at most %lld of them", copy, unit->name,
              (long long)INT64_MAX);
  else
    rc = 0;
  free(copy);
  return rc;
}

static int by_bounds(const void *a, const void *b)
{
  const struct mill_interval *x = a, *y = b;
  return x->low != y->low ? (x->low > y->low) - (x->low < y->low) : (x->high > y->high) - (x->high < y->high);
}

/* The unit of each item: its own, or the last one's when no other has one. */
static int units_check(const struct item *item, uint32_t count, struct mill_error *error)
{
  uint32_t own = 0;
  for (uint32_t i = 0; i < count; i++)
    own += item[i].unit_length > 0;
  if (own == 0)
    return mill_fail(error, MILL_USAGE, "there is no unit of time; expected " UNITS " at the end");
  if (own < count && (own > 1 || !item[count - 1].unit_length))
    return mill_fail(error, MILL_USAGE, "%u of %u intervals have a unit; expected one at the end, or one after each", own, count);
  return 0;
}

static int interval_make(const struct item *item, const struct item *last, const struct mill_defines *defines,
                         struct mill_interval *interval, struct mill_error *error)
{
  const struct mill_time_unit *unit = unit_find(item->unit_length ? item : last, error);
  int n = (int)(item->high + item->high_length + 1 - item->low);
  if (!unit || bound_read(item->low, item->low_length, unit, defines, &interval->low, error) < 0 ||
      bound_read(item->high, item->high_length, unit, defines, &interval->high, error) < 0)
    return -1;
  if (interval->low < 0)
    return mill_fail(error, MILL_USAGE, "(%.*s: the low bound must be 0 or more", n, item->low);
  if (interval->low >= interval->high)
    return mill_fail(error, MILL_USAGE, "(%.*s: the low bound must be below the high one", n, item->low);
  return 0;
}

int mill_intervals_parse(const char *text, const struct mill_defines *defines, struct mill_interval **interval, uint32_t *count,
                         struct mill_error *error)
{
  size_t most = 1;
  struct item *item = NULL;
  char low[64], high[64];
  int rc = -1;
  *interval = NULL;
  *count = 0;
  for (const char *p = text; *p; p++)
    most += *p == '(';
  item = calloc(most, sizeof *item);
  *interval = calloc(most, sizeof **interval);
  if (!item || !*interval) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto done;
  }
  for (const char *p = skip(text); *p || !*count; ++*count)
    if (item_read(&p, &item[*count], error) < 0)
      goto done;
  if (units_check(item, *count, error) < 0)
    goto done;
  for (uint32_t i = 0; i < *count; i++)
    if (interval_make(&item[i], &item[*count - 1], defines, &(*interval)[i], error) < 0)
      goto done;
  qsort(*interval, *count, sizeof **interval, by_bounds);
  for (uint32_t i = 1; i < *count; i++) {
    if (by_bounds(&(*interval)[i - 1], &(*interval)[i]) == 0) {
      mill_fail(error, MILL_USAGE, "the interval (%s,%s] ms is listed twice", mill_text_ms(low, (*interval)[i].low, 1),
                mill_text_ms(high, (*interval)[i].high, 1));
      goto done;
    }
  }
  rc = 0;
done:
  free(item);
  if (rc < 0) {
    free(*interval);
    *interval = NULL;
    *count = 0;
  }
  return rc;
}

int mill_intervals_to_ticks(struct mill_interval *interval, uint32_t count, int64_t tick_ps, struct mill_error *error)
{
  char bound[64], tick[64];
  for (uint32_t i = 0; i < count; i++) {
    int64_t *const ends[] = {&interval[i].low, &interval[i].high};
    for (int k = 0; k < 2; k++) {
      if (*ends[k] % tick_ps)
        return mill_fail(error, MILL_USAGE,
                         "the bound %s ms is no whole number of ticks of this recording, which are %s ms long: take a multiple of "
                         "that, or, for a text recording whose times are finer, a shorter `tick`",
                         mill_text_ms(bound, *ends[k], 1), mill_text_ms(tick, 1, tick_ps));
      *ends[k] /= tick_ps;
    }
  }
  return 0;
}
