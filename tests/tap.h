// The Test Anything Protocol for C tests: one header, so that a test is one file. A test calls plan_later(), then any number of
// checks, and ends with `return done_testing();`. Each line is flushed, so that a crash leaves the checks before it in the log.
#ifndef TAP_H
#define TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define TAP_TEXT(start, format)                                                                                                    \
  do {                                                                                                                             \
    va_list arguments;                                                                                                             \
    va_start(arguments, format);                                                                                                   \
    tap_line(start, format, arguments);                                                                                            \
    va_end(arguments);                                                                                                             \
  } while (0)

static int tap_run, tap_failed;

// A newline or '#' in the text would change the meaning of the line and becomes a blank.
static inline void tap_line(const char *start, const char *format, va_list arguments)
{
  char text[1000];
  vsnprintf(text, sizeof text, format, arguments);
  for (char *c = text; (c = strpbrk(c, "\n\r#"));)
    *c = ' ';
  printf("%s%s\n", start, text);
  fflush(stdout);
}

// Counts a check; returns what its line starts with.
static inline const char *tap_count(bool good)
{
  static char start[32];
  tap_failed += !good;
  snprintf(start, sizeof start, "%s %d - ", good ? "ok" : "not ok", ++tap_run);
  return start;
}

#define plan_later() ((void)0)
TAP_PRINTF(1, 2) static inline void diag(const char *format, ...) { TAP_TEXT("# ", format); }
TAP_PRINTF(1, 2) _Noreturn static inline void bail(const char *format, ...)
{
  TAP_TEXT("Bail out! ", format);
  exit(255);
}

TAP_PRINTF(2, 3) static inline bool ok(bool good, const char *format, ...)
{
  TAP_TEXT(tap_count(good), format);
  return good;
}

TAP_PRINTF(3, 4) static inline bool is_int(intmax_t got, intmax_t want, const char *format, ...)
{
  TAP_TEXT(tap_count(got == want), format);
  if (got != want)
    diag("got %jd, want %jd", got, want);
  return got == want;
}

TAP_PRINTF(3, 4) static inline bool is_str(const char *got, const char *want, const char *format, ...)
{
  bool good = got && want ? strcmp(got, want) == 0 : got == want;
  TAP_TEXT(tap_count(good), format);
  if (!good)
    diag("got \"%s\", want \"%s\"", got ? got : "(null)", want ? want : "(null)");
  return good;
}

// Equal values pass whatever the tolerance, infinities included, and so do two NaNs; any other NaN fails.
TAP_PRINTF(4, 5) static inline bool is_real(double got, double want, double tolerance, const char *format, ...)
{
  bool good = got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= tolerance;
  TAP_TEXT(tap_count(good), format);
  if (!good)
    diag("got %.17g, want %.17g within %g", got, want, tolerance);
  return good;
}

// `count` checks that could not be made here, each reported as skipped with the reason.
TAP_PRINTF(2, 3) static inline void skip(int count, const char *format, ...)
{
  for (int i = 0; i < count; i++) {
    printf("ok %d # SKIP ", ++tap_run);
    TAP_TEXT("", format);
  }
}

// The plan and the exit status. No check at all is a failure, since such a test can't fail.
static inline int done_testing(void)
{
  printf("1..%d\n", tap_run);
  fflush(stdout);
  return tap_failed || tap_run == 0;
}

#endif
