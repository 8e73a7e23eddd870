/* Errors as values. Texts are made in a buffer of their own, so that an error's text may be an argument of the next one, and a text
   that is too long is cut between UTF-8 characters. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdarg.h>
#include <string.h>
#include <spikemill/error.h>
#include "text.h"

static const char ellipsis[] = "…";

/* vsnprintf with the ellipsis where it does not fit. */
static void fill(char *buffer, size_t size, const char *format, va_list arguments)
{
  int n = mill_text_vformat(buffer, size, format, arguments);
  size_t cut;

  if (n < 0) {
    mill_text_format(buffer, size, "%s", format);
  } else if ((size_t)n >= size) {
    cut = mill_text_cut(buffer, size - sizeof ellipsis);
    memcpy(buffer + cut, ellipsis, sizeof ellipsis);
  }
}

static void fill_format(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void fill_format(char *buffer, size_t size, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  fill(buffer, size, format, arguments);
  va_end(arguments);
}

int mill_fail(struct mill_error *e, int status, const char *format, ...)
{
  char text[sizeof e->text];
  va_list arguments;

  if (e == NULL)
    return -1;
  va_start(arguments, format);
  fill(text, sizeof text, format, arguments);
  va_end(arguments);
  e->status = status;
  memcpy(e->text, text, sizeof text);
  return -1;
}

int mill_fail_within(struct mill_error *e, const char *format, ...)
{
  char prefix[sizeof e->text], text[sizeof e->text];
  va_list arguments;

  if (e == NULL)
    return -1;
  va_start(arguments, format);
  fill(prefix, sizeof prefix, format, arguments);
  va_end(arguments);
  fill_format(text, sizeof text, "%s: %s", prefix, e->text);
  memcpy(e->text, text, sizeof text);
  return -1;
}
