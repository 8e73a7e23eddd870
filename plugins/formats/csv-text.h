/* The pieces of the csv format that know no file: exact decimals, whole numbers, quoted fields, UTF-8, groups found by name.
   Numbers are integers throughout, so nothing depends on the locale. A header, so that the plugin stays one object. */
#ifndef CSV_TEXT_H
#define CSV_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/format.h>

__extension__ typedef unsigned __int128 csv_wide; /* ticks × picoseconds in a tick need more than 64 bits */

enum { CSV_SHOWN = 64, CSV_NAMES = 320, CSV_TIME = 64 };
enum csv_fault { CSV_FINE, CSV_NO_DECIMAL, CSV_NO_PICOSECONDS, CSV_NO_TICKS, CSV_TOO_LARGE };

/* Bytes at the start of s that are UTF-8 (RFC 3629) without control characters; tabs are fine. */
static inline size_t csv_text_good(const char *s, size_t n)
{
  size_t i = 0;
  while (i < n) {
    unsigned char c = (unsigned char)s[i];
    if ((c >= 0x20 && c < 0x7f) || c == '\t') {
      i++;
      continue;
    }
    size_t more = c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 0;
    if (!more || n - i <= more)
      return i;
    unsigned char next = (unsigned char)s[i + 1];
    if ((c == 0xe0 && next < 0xa0) || (c == 0xed && next > 0x9f) || (c == 0xf0 && next < 0x90) || (c == 0xf4 && next > 0x8f))
      return i;
    for (size_t k = 1; k <= more; k++)
      if (((unsigned char)s[i + k] & 0xc0) != 0x80)
        return i;
    i += more + 1;
  }
  return n;
}

/* Good text for a message: what is long ends in "…". */
static inline const char *csv_show(char out[CSV_SHOWN], const char *s)
{
  size_t n = strlen(s);
  if (n >= CSV_SHOWN - 4) {
    n = CSV_SHOWN - 5;
    while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
      n--;
    memcpy(out + n, "\xe2\x80\xa6", 4);
  } else {
    out[n] = 0;
  }
  memcpy(out, s, n);
  return out;
}

/* Digits only, at most `most`. Returns 0 or -1. */
static inline int csv_unsigned(const char *s, uint64_t most, uint64_t *value)
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

/* A decimal × 10^scale picoseconds, in ticks of tick_ps picoseconds: exactly, or a reason why not. */
static inline enum csv_fault csv_time(const char *s, int scale, int64_t tick_ps, int64_t *tick)
{
  const csv_wide limit = (~(csv_wide)0 - 9) / 10;
  int negative = *s == '-', point = 0, digits = 0;
  csv_wide value = 0;
  s += *s == '-' || *s == '+';
  for (;; s++) {
    if (*s >= '0' && *s <= '9') {
      if (value > limit)
        return CSV_TOO_LARGE;
      value = 10 * value + (unsigned)(*s - '0');
      digits = 1;
      scale -= point;
    } else if (*s == '.' && !point) {
      point = 1;
    } else {
      break;
    }
  }
  if (digits && (*s == 'e' || *s == 'E')) {
    int down = s[1] == '-', exponent = 0;
    s += 1 + (s[1] == '-' || s[1] == '+');
    digits = 0;
    for (; *s >= '0' && *s <= '9'; s++, digits = 1)
      exponent = exponent < 1000 ? 10 * exponent + (*s - '0') : exponent;
    scale += down ? -exponent : exponent;
  }
  if (!digits || *s)
    return CSV_NO_DECIMAL;
  for (; value && scale < 0; scale++) {
    if (value % 10)
      return CSV_NO_PICOSECONDS;
    value /= 10;
  }
  for (; value && scale > 0; scale--) {
    if (value > limit)
      return CSV_TOO_LARGE;
    value *= 10;
  }
  if (value % (uint64_t)tick_ps)
    return CSV_NO_TICKS;
  value /= (uint64_t)tick_ps;
  if (value > (csv_wide)INT64_MAX + (unsigned)negative)
    return CSV_TOO_LARGE;
  *tick = (int64_t)(negative ? 0 - (uint64_t)value : (uint64_t)value);
  return CSV_FINE;
}

static inline char *csv_put_unsigned(char *out, uint64_t value)
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

/* Ticks as decimal ms without trailing zeros. Returns the end; the text has less than CSV_TIME bytes and no NUL. */
static inline char *csv_put_time(char *out, int64_t tick, int64_t tick_ps)
{
  char digits[CSV_TIME];
  size_t n = 0, low = 0;
  csv_wide value = (csv_wide)(tick < 0 ? 0 - (uint64_t)tick : (uint64_t)tick) * (uint64_t)tick_ps;
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

/* Splits a line in place at `delimiter`; a field may stand in quotes, with "" for a quote inside; blanks around it go. Returns the
   number of fields, of which at most `room` are stored, or -1 when quotes do not match. */
static inline int csv_split(char *s, char delimiter, char **field, int room)
{
  for (int n = 0;; n++) {
    char *begin, *end;
    while (*s == ' ' && delimiter != ' ')
      s++;
    begin = end = s;
    if (*s == '"') {
      for (s++; *s != '"' || s[1] == '"'; *end++ = *s++) {
        if (!*s)
          return -1;
        s += *s == '"';
      }
      s++;
      while (*s == ' ' && delimiter != ' ')
        s++;
      if (*s && *s != delimiter)
        return -1;
    } else {
      while (*s && *s != delimiter)
        s++;
      for (end = s; end > begin && end[-1] == ' ';)
        end--;
    }
    int last = !*s++;
    *end = 0;
    if (n < room)
      field[n] = begin;
    if (last)
      return n + 1;
  }
}

/* A name as a field: in quotes when it needs them. `out` has room for 2 × its length + 3 bytes. */
static inline void csv_quote(char *out, const char *name)
{
  if (*name && !strpbrk(name, " ,;\t\"")) {
    strcpy(out, name);
    return;
  }
  *out++ = '"';
  for (; *name; *out++ = *name++)
    if (*name == '"')
      *out++ = '"';
  *out++ = '"';
  *out = 0;
}

/* Groups in order, and their numbers sorted by name. */
struct csv_groups {
  struct mill_group *list;
  uint32_t *sorted;
  uint32_t count, room;
};

/* Where `name` is among the sorted ones, or belongs. Returns 1 when it is there. */
static inline int csv_groups_find(const struct csv_groups *g, const char *name, uint32_t *at)
{
  uint32_t low = 0, high = g->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int order = strcmp(g->list[g->sorted[middle]].name, name);
    if (!order) {
      *at = middle;
      return 1;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *at = low;
  return 0;
}

/* Adds a group that is not there yet; -1 when out of memory. */
static inline int csv_groups_add(struct csv_groups *g, uint32_t at, const char *name, uint32_t first, uint32_t size)
{
  if (g->count == g->room) {
    uint32_t room = g->room ? 2 * g->room : 16;
    struct mill_group *list = realloc(g->list, room * sizeof *list);
    if (list)
      g->list = list;
    uint32_t *sorted = realloc(g->sorted, room * sizeof *sorted);
    if (sorted)
      g->sorted = sorted;
    if (!list || !sorted)
      return -1;
    g->room = room;
  }
  char *copy = strdup(name);
  if (!copy)
    return -1;
  memmove(g->sorted + at + 1, g->sorted + at, (g->count - at) * sizeof *g->sorted);
  g->sorted[at] = g->count;
  g->list[g->count++] = (struct mill_group){copy, first, size};
  return 0;
}

/* The names for a message, as many as fit. */
static inline const char *csv_groups_names(char out[CSV_NAMES], const struct csv_groups *g)
{
  size_t n = 0;
  for (uint32_t i = 0; i < g->count && n + CSV_SHOWN + 8 < CSV_NAMES; i++) {
    if (i) {
      memcpy(out + n, ", ", 2);
      n += 2;
    }
    n += strlen(csv_show(out + n, g->list[i].name));
    if (i + 1 < g->count && n + CSV_SHOWN + 8 >= CSV_NAMES) {
      memcpy(out + n, ", \xe2\x80\xa6", 5);
      n += 5;
    }
  }
  out[n] = 0;
  return out;
}

static inline void csv_groups_free(struct csv_groups *g)
{
  for (uint32_t i = 0; i < g->count; i++)
    free((void *)(uintptr_t)g->list[i].name);
  free(g->list);
  free(g->sorted);
}

#endif
