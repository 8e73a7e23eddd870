/* `support`: how often an episode must occur to be frequent. Rates and percentages are whole numbers of 1e-9, and the least count is
   computed in whole numbers of 128 bits: a threshold that is met exactly is met. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "text.h"

__extension__ typedef unsigned __int128 wide;

#define PLACES 9
#define PERCENT_MAX INT64_C(100000000000) /* 100 % */
static const char expected[] = "expected a count as 100, a rate as 2/s (a second of recording), or a share as 0.5% (of all events)";

int mill_job_number(const char *text, const struct mill_defines *defines, char *buffer, const char **number,
                    struct mill_error *error)
{
  double value;
  if (mill_text_real(text, &value) == 0) {
    *number = text;
    return 0;
  }
  if (mill_expr_real(text, defines, &value, error) < 0)
    return -1;
  *number = mill_text_double(buffer, value);
  return 0;
}

/* The number before the suffix, scaled. */
static int amount(const char *text, size_t n, int places, const struct mill_defines *defines, int64_t *value,
                  struct mill_error *error)
{
  char *copy = mill_text_trim(text, n), buffer[32];
  const char *number = NULL;
  struct mill_error inner = {0};
  double size;
  int rc = -1;
  if (!copy)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (!*copy)
    mill_fail(error, MILL_USAGE, "there is no number; %s", expected);
  else if (mill_job_number(copy, defines, buffer, &number, &inner) < 0)
    mill_fail(error, MILL_USAGE, "%s; %s", inner.text, expected);
  else if (mill_text_real(number, &size) == 0 && !(size > 0))
    mill_fail(error, MILL_USAGE, "must be above 0");
  else if (mill_text_scaled(number, places, value) == 0)
    rc = 0;
  else if (places == 0)
    mill_fail(error, MILL_USAGE, "a count is a whole number below 2^63");
  else
    mill_fail(error, MILL_USAGE, "a rate or a share has at most %d decimals and is below 9e9", places);
  free(copy);
  return rc;
}

int mill_support_parse(const char *text, const struct mill_defines *defines, struct mill_support *support, struct mill_error *error)
{
  size_t n = strlen(text);
  if (n && text[n - 1] == '%') {
    support->kind = MILL_SUPPORT_PERCENT;
    n--;
  } else if (n > 1 && text[n - 1] == 's' && text[n - 2] == '/') {
    support->kind = MILL_SUPPORT_RATE;
    n -= 2;
  } else {
    support->kind = MILL_SUPPORT_COUNT;
  }
  if (amount(text, n, support->kind == MILL_SUPPORT_COUNT ? 0 : PLACES, defines, &support->value, error) < 0)
    return -1;
  if (support->kind == MILL_SUPPORT_PERCENT && support->value > PERCENT_MAX)
    return mill_fail(error, MILL_USAGE, "at most 100%% of the events can be asked for");
  return 0;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* a ≥ 1 in units of 1/b: divides both by what they share. */
static void reduce(uint64_t *a, uint64_t *b)
{
  uint64_t shared = common_divisor(*a, *b);
  *a /= shared;
  *b /= shared;
}

int mill_support_count(const struct mill_support *support, uint64_t duration, int64_t tick_ps, uint64_t events, uint64_t *count,
                       struct mill_error *error)
{
  /* value × share × length / (below × rest), rounded up */
  uint64_t value = (uint64_t)support->value, length = 1, share = 1, below = 1000000000, rest = 1;
  wide product, divisor, least;
  if (support->kind == MILL_SUPPORT_COUNT) {
    *count = value;
    return 0;
  }
  if (support->kind == MILL_SUPPORT_RATE) {
    length = (uint64_t)tick_ps;
    share = duration;
    rest = 1000000000000;
  } else {
    share = events;
    rest = 100;
  }
  reduce(&length, &rest);
  reduce(&length, &below);
  reduce(&value, &rest);
  reduce(&value, &below);
  product = (wide)value * share;
  divisor = (wide)below * rest;
  if (__builtin_mul_overflow(product, (wide)length, &product))
    goto too_many;
  least = product / divisor + (product % divisor != 0);
  if (least > UINT64_MAX)
    goto too_many;
  *count = least ? (uint64_t)least : 1;
  return 0;
too_many:
  return mill_fail(error, MILL_USAGE, "asks for more events than 64 bits can count in this recording");
}
