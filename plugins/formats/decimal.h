/* Decimal numbers of the text formats. A time is taken from its digits to whole picoseconds, exactly, with what lies below one and with
   the place of its last digit, from which a file's tick is found; it never passes through floating point, so a file means the same in
   every locale. A header, so that each plugin stays one object. */
#ifndef DECIMAL_H
#define DECIMAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <spikemill/format.h>

__extension__ typedef unsigned __int128 decimal_wide; /* ticks × picoseconds in a tick need more than 64 bits */
__extension__ typedef __int128 decimal_signed;

enum { DECIMAL_TEXT = 64 }; /* bytes that hold any time or number written here */

enum decimal_fault {
  DECIMAL_FINE,
  DECIMAL_MOVED, /* fine, but beside the grid by up to a hundredth of a tick */
  DECIMAL_NONE,  /* no decimal number */
  DECIMAL_LARGE, /* beyond 127 bits of picoseconds or 64 of ticks */
  DECIMAL_OFF    /* on no tick */
};

/* A magnitude of ps + (hundredths + something in (0, 1) if `more`) / 100 picoseconds. */
struct decimal {
  decimal_wide ps;
  int negative, hundredths, more;
  int place; /* its last digit stands for 10^place ps */
};

/* The power of ten that makes a unit picoseconds; -1 when n bytes of s are no unit. */
static inline int decimal_scale(const char *s, size_t n)
{
  const struct mill_time_unit *unit = mill_time_unit_find(s, n);
  return unit ? unit->scale : -1;
}

/* s × 10^scale ps: DECIMAL_FINE, DECIMAL_NONE or DECIMAL_LARGE. */
static inline enum decimal_fault decimal_read(const char *s, int scale, struct decimal *d)
{
  const decimal_wide limit = (((decimal_wide)1 << 127) - 10) / 10;
  int point = 0, decimals = 0, digits = 0, exponent = 0;
  *d = (struct decimal){.negative = *s == '-'};
  s += *s == '-' || *s == '+';
  const char *end = s;
  for (; (*end >= '0' && *end <= '9') || (*end == '.' && !point); end++) {
    point |= *end == '.';
    digits += *end != '.';
    decimals += point && *end != '.';
  }
  const char *rest = end;
  if (digits && (*end == 'e' || *end == 'E')) {
    int down = end[1] == '-', first = 1 + (end[1] == '-' || end[1] == '+');
    for (rest += first; *rest >= '0' && *rest <= '9'; rest++)
      exponent = exponent < 100000 ? 10 * exponent + (*rest - '0') : exponent;
    if (rest == end + first)
      return DECIMAL_NONE;
    exponent = down ? -exponent : exponent;
  }
  if (!digits || *rest)
    return DECIMAL_NONE;
  d->place = scale - decimals + exponent;
  for (int at = d->place + digits - 1; s < end; s++) {
    int digit = *s - '0';
    if (*s == '.')
      continue;
    if (at >= 0 && d->ps > limit)
      return DECIMAL_LARGE;
    if (at >= 0)
      d->ps = 10 * d->ps + (unsigned)digit;
    else if (at >= -2)
      d->hundredths += at == -1 ? 10 * digit : digit;
    else
      d->more |= digit != 0;
    at--;
  }
  for (int at = d->place; at > 0 && d->ps; at--) {
    if (d->ps > limit)
      return DECIMAL_LARGE;
    d->ps *= 10;
  }
  return DECIMAL_FINE;
}

/* Puts a number on a grid of tick_ps picoseconds; off the grid, it may lie a hundredth of a tick beside it when `near`. DECIMAL_FINE,
   DECIMAL_MOVED, DECIMAL_OFF or DECIMAL_LARGE. */
static inline enum decimal_fault decimal_tick(const struct decimal *d, int64_t tick_ps, int near, int64_t *tick)
{
  uint64_t t = (uint64_t)tick_ps;
  int small = !(d->ps >> 64), moved;
  decimal_wide k = small ? (uint64_t)d->ps / t : d->ps / t, beside = d->ps - k * t;
  moved = beside || d->hundredths || d->more;
  if (moved) {
    beside = 100 * beside + (unsigned)d->hundredths;
    if (!near || (beside + (unsigned)d->more > t && beside < (decimal_wide)99 * t))
      return DECIMAL_OFF;
    k += beside >= (decimal_wide)99 * t;
  }
  if (k > (decimal_wide)INT64_MAX + (unsigned)d->negative)
    return DECIMAL_LARGE;
  *tick = (int64_t)(d->negative ? 0 - (uint64_t)k : (uint64_t)k);
  return moved ? DECIMAL_MOVED : DECIMAL_FINE;
}

/* Digits only, at most `most`. Returns 0 or -1. */
static inline int decimal_unsigned(const char *s, uint64_t most, uint64_t *value)
{
  uint64_t v = 0;
  if (!*s)
    return -1;
  for (; *s; s++) {
    if (*s < '0' || *s > '9')
      return -1;
    unsigned digit = (unsigned)(*s - '0');
    if (v > (most - digit) / 10 || digit > most)
      return -1;
    v = 10 * v + digit;
  }
  *value = v;
  return 0;
}

/* A length of time with its unit, "0.1 ms" or "40us", in picoseconds. Returns 0, or -1 when it is none, no whole number of them, or not
   in 1 … INT64_MAX. */
static inline int decimal_length(const char *s, int64_t *ps)
{
  char number[DECIMAL_TEXT];
  struct decimal d;
  s += strspn(s, " ");
  size_t n = strspn(s, "0123456789.eE+-");
  if (n >= sizeof number)
    return -1;
  memcpy(number, s, n);
  number[n] = 0;
  s += n;
  s += strspn(s, " ");
  int scale = decimal_scale(s, strcspn(s, " "));
  s += strcspn(s, " ");
  if (scale < 0 || s[strspn(s, " ")] || decimal_read(number, scale, &d) || d.negative || !d.ps)
    return -1;
  return decimal_tick(&d, 1, 0, ps) ? -1 : 0;
}

/* The functions below write without a NUL and return the end. */

static inline char *decimal_put_unsigned(char *out, uint64_t value)
{
  char digits[20];
  size_t n = 0;
  do
    digits[n++] = (char)('0' + value % 10);
  while (value /= 10);
  while (n)
    *out++ = digits[--n];
  return out;
}

/* Ticks as decimal ms without trailing zeros, less than DECIMAL_TEXT bytes. */
static inline char *decimal_put_ms(char *out, int64_t tick, int64_t tick_ps)
{
  char digits[DECIMAL_TEXT];
  size_t n = 0, low = 0;
  decimal_wide value = (decimal_wide)(tick < 0 ? 0 - (uint64_t)tick : (uint64_t)tick) * (uint64_t)tick_ps;
  for (; value >> 64; value /= 10)
    digits[n++] = (char)('0' + (int)(value % 10));
  for (uint64_t rest = (uint64_t)value; rest || n < 10; rest /= 10)
    digits[n++] = (char)('0' + rest % 10);
  while (low < 9 && digits[low] == '0')
    low++;
  if (tick < 0)
    *out++ = '-';
  while (n > 9)
    *out++ = digits[--n];
  if (low < 9)
    *out++ = '.';
  while (n > low)
    *out++ = digits[--n];
  return out;
}

/* A tick in the largest unit of which it is a whole number, with a NUL: "40 us". Returns out. */
static inline const char *decimal_put_length(char out[DECIMAL_TEXT], int64_t ps)
{
  static const int64_t power[] = {1000000000000, 1000000000, 1000000, 1000, 1}; /* of the first units */
  size_t i = 0;
  while (ps % power[i])
    i++;
  char *end = decimal_put_unsigned(out, (uint64_t)(ps / power[i]));
  *end++ = ' ';
  strcpy(end, mill_time_unit(i)->name);
  return out;
}

#endif
