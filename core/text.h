/* Strict text: numbers that are read whole or not at all, written the same in every locale, and names with their nearest match. */
#ifndef MILL_TEXT_H
#define MILL_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal number, the whole of s (blanks around it allowed), finite; no hex, no "nan", no "inf". Returns 0, or -1 when it is none
   (or overflows to infinity, or is not 0 and would be read as 0). Locale independent. */
int mill_text_real(const char *s, double *value);

/* Decimal whole number that fits; "1e9" and "4000.0" are whole numbers too. Returns 0 or -1. */
int mill_text_int(const char *s, int64_t *value);

/* yes|no|true|false|on|off|1|0. */
int mill_text_bool(const char *s, int *value);

/* A decimal time in ms, exactly, as picoseconds (at most nine decimals of a ms). Returns 0, or -1 when it is none, is no whole
   number of picoseconds, or overflows. */
int mill_text_ps(const char *s, int64_t *ps);

/* A decimal number times 10^shift, exactly. Returns 0, or -1 when it is none, is not whole then, or overflows. */
int mill_text_scaled(const char *s, int shift, int64_t *value);

/* ticks × tick_ps picoseconds in ms, exactly and with as few digits as that takes. buffer ≥ 64 bytes. Returns buffer. */
char *mill_text_ms(char *buffer, int64_t ticks, int64_t tick_ps);

/* Length of the decimal number without a sign that s starts with; 0 when it starts with none. */
size_t mill_text_number(const char *s);

/* vsnprintf in the C locale, whatever the process's locale. */
int mill_text_vformat(char *buffer, size_t size, const char *format, va_list arguments);
int mill_text_format(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Decimal text with the fewest digits that reads back as the same double (or float). buffer ≥ 32 bytes. Returns buffer. */
char *mill_text_double(char *buffer, double value);
char *mill_text_float(char *buffer, float value);

/* The system's words for an errno value, in English whatever the locale. */
const char *mill_text_errno(int number);

/* 1 when the n bytes are well-formed UTF-8. */
int mill_text_is_utf8(const char *s, size_t n);

/* The largest length ≤ n at which s (at least n bytes) can be cut without cutting a UTF-8 character. */
size_t mill_text_cut(const char *s, size_t n);

/* Number of characters of a UTF-8 text: its width in a table. */
size_t mill_text_width(const char *s);

/* The candidate with the least edit distance to `name` (a swap of neighbours counts 1, case 0), or NULL when none is near (distance
   > 2 and > a third of its length, or > half of the longer of both). NULL candidates are skipped; the first of several wins. */
const char *mill_text_nearest(const char *name, const char *const *candidates, size_t count);

/* [a-z][a-z0-9_]*, or with dashes when `dashes`. */
int mill_text_is_key(const char *s, int dashes);

/* Copies a string with malloc; NULL when out of memory. strndup-like; trims blanks at both ends. */
char *mill_text_trim(const char *begin, size_t n);

/* Splits "a, b, c" at commas outside parentheses; blanks trimmed. Returns a NULL-terminated array (one block: free it once) and its
   length; NULL when out of memory. An empty item is kept as ""; a text that is blank altogether has no items. */
char **mill_text_list(const char *s, size_t *count);

#endif
