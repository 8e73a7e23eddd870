/* Strict text. Numbers are checked against a grammar of our own first and converted second, so that nothing depends on the locale
   or on what else strtod accepts; whole numbers and picoseconds are computed from the digits, never through a double. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "text.h"

#define NAME_MAX_NEAR 64 /* longest name that gets a hint */

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void c_locale_make(void)
{
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t c_locale_get(void)
{
  pthread_once(&c_locale_once, c_locale_make);
  return c_locale;
}

static int is_blank(char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static int is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static const char *blanks_skip(const char *s)
{
  while (is_blank(*s))
    s++;
  return s;
}

/* ---- numbers in ---- */

size_t mill_text_number(const char *s)
{
  const char *p = s, *e;
  int digits = 0;

  for (; is_digit(*p); p++)
    digits = 1;
  if (*p == '.')
    for (p++; is_digit(*p); p++)
      digits = 1;
  if (!digits)
    return 0;
  if (*p == 'e' || *p == 'E') {
    e = p + 1;
    if (*e == '+' || *e == '-')
      e++;
    if (is_digit(*e)) {
      while (is_digit(*e))
        e++;
      p = e;
    }
  }
  return (size_t)(p - s);
}

/* Start (at its sign) and end of the number that is the whole of s. */
static int number_find(const char *s, const char **begin, const char **end)
{
  const char *p = blanks_skip(s);
  size_t n;

  *begin = p;
  if (*p == '+' || *p == '-')
    p++;
  n = mill_text_number(p);
  *end = p + n;
  return n > 0 && *blanks_skip(*end) == '\0' ? 0 : -1;
}

int mill_text_real(const char *s, double *value)
{
  const char *begin, *end, *p;
  char *stop;
  double x;

  if (number_find(s, &begin, &end) < 0)
    return -1;
  x = strtod_l(begin, &stop, c_locale_get());
  if (stop != end || !isfinite(x))
    return -1;
  if (fpclassify(x) == FP_ZERO)
    for (p = begin; p < end && *p != 'e' && *p != 'E'; p++)
      if (*p >= '1' && *p <= '9')
        return -1;
  *value = x;
  return 0;
}

/* m ← 10 m + digit. */
static int digit_add(uint64_t *m, unsigned digit)
{
  return __builtin_mul_overflow(*m, (uint64_t)10, m) || __builtin_add_overflow(*m, (uint64_t)digit, m) ? -1 : 0;
}

int mill_text_scaled(const char *s, int shift, int64_t *value)
{
  const char *p, *end;
  int negative, exponent_negative = 0, fraction = 0;
  int64_t exponent = 0, place = shift, zeros = 0;
  uint64_t m = 0;

  if (number_find(s, &p, &end) < 0)
    return -1;
  negative = *p == '-';
  if (*p == '+' || *p == '-')
    p++;
  for (; p < end && *p != 'e' && *p != 'E'; p++) {
    if (*p == '.') {
      fraction = 1;
      continue;
    }
    place -= fraction;
    if (*p == '0') {
      zeros += m != 0;
      continue;
    }
    for (; zeros > 0; zeros--)
      if (digit_add(&m, 0) < 0)
        return -1;
    if (digit_add(&m, (unsigned)(*p - '0')) < 0)
      return -1;
  }
  if (p < end) {
    p++;
    exponent_negative = *p == '-';
    if (*p == '+' || *p == '-')
      p++;
    for (; p < end; p++)
      if (exponent < INT64_MAX / 20)
        exponent = 10 * exponent + (*p - '0');
  }
  if (m != 0) {
    place += zeros + (exponent_negative ? -exponent : exponent);
    if (place < 0)
      return -1;
    for (; place > 0; place--)
      if (digit_add(&m, 0) < 0)
        return -1;
  }
  if (m > (uint64_t)INT64_MAX + (negative ? 1u : 0u))
    return -1;
  *value = negative ? (m > INT64_MAX ? INT64_MIN : -(int64_t)m) : (int64_t)m;
  return 0;
}

int mill_text_int(const char *s, int64_t *value)
{
  return mill_text_scaled(s, 0, value);
}

int mill_text_ps(const char *s, int64_t *ps)
{
  return mill_text_scaled(s, 9, ps);
}

int mill_text_bool(const char *s, int *value)
{
  static const struct {
    const char *word;
    int value;
  } words[] = {
      {"yes", 1}, {"no", 0}, {"true", 1}, {"false", 0}, {"on", 1}, {"off", 0}, {"1", 1}, {"0", 0},
  };
  size_t i, n;

  s = blanks_skip(s);
  n = strlen(s);
  while (n > 0 && is_blank(s[n - 1]))
    n--;
  for (i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].word) == n && memcmp(words[i].word, s, n) == 0) {
      *value = words[i].value;
      return 0;
    }
  return -1;
}

/* ---- numbers out ---- */

int mill_text_vformat(char *buffer, size_t size, const char *format, va_list arguments)
{
  locale_t old = uselocale(c_locale_get());
  int n = vsnprintf(buffer, size, format, arguments);

  uselocale(old);
  return n;
}

int mill_text_format(char *buffer, size_t size, const char *format, ...)
{
  va_list arguments;
  int n;

  va_start(arguments, format);
  n = mill_text_vformat(buffer, size, format, arguments);
  va_end(arguments);
  return n;
}

/* "1e+09" → "1e9". */
static char *exponent_tidy(char *buffer)
{
  char *e = strchr(buffer, 'e'), *from, *to;

  if (e != NULL) {
    from = to = e + 1;
    if (*from == '-')
      to++;
    from++;
    while (*from == '0')
      from++;
    memmove(to, from, strlen(from) + 1);
  }
  return buffer;
}

/* A decimal of 15 (float: 6) digits survives the way through a normal double, so that the search may start there. */
char *mill_text_double(char *buffer, double value)
{
  int digits;

  if (isnan(value))
    return memcpy(buffer, "nan", 4);
  if (isinf(value))
    return strcpy(buffer, value < 0 ? "-inf" : "inf");
  for (digits = isnormal(value) ? 15 : 1; digits <= 17; digits++) {
    mill_text_format(buffer, 32, "%.*g", digits, value);
    if (digits == 17 || !(strtod_l(buffer, NULL, c_locale_get()) < value || strtod_l(buffer, NULL, c_locale_get()) > value))
      break;
  }
  return exponent_tidy(buffer);
}

char *mill_text_ms(char *buffer, int64_t ticks, int64_t tick_ps)
{
  __extension__ typedef unsigned __int128 wide;
  const uint64_t whole_ps = 1000000000, part = 10000000000000000;
  uint64_t magnitude = ticks < 0 ? -(uint64_t)ticks : (uint64_t)ticks;
  wide ps = (wide)magnitude * (uint64_t)tick_ps, ms = ps / whole_ps;
  uint64_t rest = (uint64_t)(ps % whole_ps);
  char fraction[16] = "";
  int n = 0;

  if (rest > 0)
    for (n = mill_text_format(fraction, sizeof fraction, ".%09llu", (unsigned long long)rest); fraction[n - 1] == '0'; n--)
      ;
  fraction[n] = '\0';
  if (ms >= part)
    mill_text_format(buffer, 64, "%s%llu%016llu%s", ticks < 0 ? "-" : "", (unsigned long long)(ms / part),
                     (unsigned long long)(ms % part), fraction);
  else
    mill_text_format(buffer, 64, "%s%llu%s", ticks < 0 ? "-" : "", (unsigned long long)ms, fraction);
  return buffer;
}

char *mill_text_float(char *buffer, float value)
{
  int digits;
  float back;

  if (!isfinite(value))
    return mill_text_double(buffer, (double)value);
  for (digits = isnormal(value) ? 6 : 1; digits <= 9; digits++) {
    mill_text_format(buffer, 32, "%.*g", digits, (double)value);
    back = strtof_l(buffer, NULL, c_locale_get());
    if (!(back < value || back > value))
      break;
  }
  return exponent_tidy(buffer);
}

const char *mill_text_errno(int number)
{
  return strerror_l(number, c_locale_get());
}

/* ---- UTF-8 ---- */

int mill_text_is_utf8(const char *s, size_t n)
{
  const unsigned char *p = (const unsigned char *)s, *end = p + n;
  unsigned code, i, more;

  while (p < end) {
    if (*p < 0x80) {
      p++;
      continue;
    }
    more = *p >= 0xc2 && *p <= 0xdf ? 1 : *p >= 0xe0 && *p <= 0xef ? 2 : *p >= 0xf0 && *p <= 0xf4 ? 3 : 0;
    if (more == 0 || (size_t)(end - p) <= more)
      return 0;
    code = *p & (0x3fu >> more);
    for (i = 1; i <= more; i++) {
      if ((p[i] & 0xc0) != 0x80)
        return 0;
      code = code << 6 | (p[i] & 0x3fu);
    }
    if ((more == 2 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff))) || (more == 3 && (code < 0x10000 || code > 0x10ffff)))
      return 0;
    p += more + 1;
  }
  return 1;
}

static int is_continuation(char c)
{
  return ((unsigned char)c & 0xc0) == 0x80;
}

size_t mill_text_cut(const char *s, size_t n)
{
  size_t start = n, length;
  unsigned char lead;

  if (n == 0)
    return 0;
  for (start = n - 1; start > 0 && n - start < 4 && is_continuation(s[start]); start--)
    ;
  lead = (unsigned char)s[start];
  length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return lead >= 0xc0 && start + length > n ? start : n;
}

size_t mill_text_width(const char *s)
{
  size_t n = 0;

  for (; *s != '\0'; s++)
    n += !is_continuation(*s);
  return n;
}

/* ---- names ---- */

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Optimal string alignment: Levenshtein's distance with swaps of neighbours. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
  unsigned rows[3][NAME_MAX_NEAR + 1], *before = rows[0], *last = rows[1], *now = rows[2], *spare, best;
  size_t i, j;

  for (j = 0; j <= nb; j++)
    last[j] = (unsigned)j;
  for (i = 1; i <= na; i++) {
    now[0] = (unsigned)i;
    for (j = 1; j <= nb; j++) {
      best = last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
      if (last[j] + 1 < best)
        best = last[j] + 1;
      if (now[j - 1] + 1 < best)
        best = now[j - 1] + 1;
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      now[j] = best;
    }
    spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[nb];
}

const char *mill_text_nearest(const char *name, const char *const *candidates, size_t count)
{
  const char *nearest = NULL;
  size_t i, n = strlen(name), m;
  unsigned d, least = UINT_MAX;

  if (n == 0 || n > NAME_MAX_NEAR)
    return NULL;
  for (i = 0; i < count; i++) {
    m = candidates[i] == NULL ? 0 : strlen(candidates[i]);
    if (m == 0 || m > NAME_MAX_NEAR)
      continue;
    d = distance(name, n, candidates[i], m);
    if (d < least && (d <= 2 || 3 * d <= n) && 2 * d <= (m > n ? m : n)) {
      least = d;
      nearest = candidates[i];
    }
  }
  return nearest;
}

int mill_text_is_key(const char *s, int dashes)
{
  if (!(*s >= 'a' && *s <= 'z'))
    return 0;
  for (s++; *s != '\0'; s++)
    if (!((*s >= 'a' && *s <= 'z') || is_digit(*s) || *s == '_' || (dashes && *s == '-')))
      return 0;
  return 1;
}

/* ---- pieces ---- */

char *mill_text_trim(const char *begin, size_t n)
{
  char *copy;

  n = strnlen(begin, n);
  while (n > 0 && is_blank(*begin)) {
    begin++;
    n--;
  }
  while (n > 0 && is_blank(begin[n - 1]))
    n--;
  copy = malloc(n + 1);
  if (copy != NULL) {
    memcpy(copy, begin, n);
    copy[n] = '\0';
  }
  return copy;
}

/* The end of the item at s: a comma outside parentheses, or the end. */
static const char *item_end(const char *s)
{
  int depth = 0;

  for (; *s != '\0' && !(*s == ',' && depth == 0); s++)
    if (*s == '(')
      depth++;
    else if (*s == ')' && depth > 0)
      depth--;
  return s;
}

char **mill_text_list(const char *s, size_t *count)
{
  const char *p, *end;
  char **list, *text;
  size_t n = 0, i, length;

  if (*blanks_skip(s) != '\0')
    for (n = 1, p = item_end(s); *p != '\0'; p = item_end(p + 1))
      n++;
  list = malloc((n + 1) * sizeof *list + strlen(s) + 1);
  if (list == NULL)
    return NULL;
  text = (char *)(list + n + 1);
  for (i = 0, p = s; i < n; i++, p = end + 1) {
    end = item_end(p);
    while (p < end && is_blank(*p))
      p++;
    for (length = (size_t)(end - p); length > 0 && is_blank(p[length - 1]); length--)
      ;
    memcpy(text, p, length);
    text[length] = '\0';
    list[i] = text;
    text += length + 1;
  }
  list[n] = NULL;
  *count = n;
  return list;
}
