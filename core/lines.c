/* Lines of a data file. How much is read is bounded by the size that the file had when it was opened, so that one that somebody keeps
   writing to ends too; that it is still the same file is asked at its end. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lines.h"
#include "text.h"

int mill_lines_open(const char *path, struct mill_lines **lines, struct mill_error *error)
{
  struct stat about;
  struct mill_lines *l = calloc(1, sizeof *l);
  *lines = NULL;
  if (!l)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
  l->path = path;
  l->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (l->fd < 0 || fstat(l->fd, &about)) {
    mill_fail(error, MILL_DATA, "%s: %s", path, mill_text_errno(errno));
  } else if (!S_ISREG(about.st_mode)) {
    mill_fail(error, MILL_DATA, "%s: not a regular file", path);
  } else {
    l->size = (uint64_t)about.st_size;
    l->modified = about.st_mtim;
    *lines = l;
    return 0;
  }
  mill_lines_close(l);
  return -1;
}

void mill_lines_close(struct mill_lines *lines)
{
  if (lines && lines->fd >= 0)
    close(lines->fd);
  free(lines);
}

int mill_lines_changed(const struct mill_lines *lines, struct mill_error *error)
{
  return mill_fail(error, MILL_DATA, "%s: changed while it was read", lines->path);
}

int mill_lines_refuse(const struct mill_lines *lines, struct mill_error *error, const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  mill_text_vformat(text, sizeof text, format, arguments);
  va_end(arguments);
  return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": %s", lines->path, lines->number, text);
}

int mill_lines_rewind(struct mill_lines *lines, struct mill_error *error)
{
  if (lseek(lines->fd, 0, SEEK_SET) < 0)
    return mill_fail(error, MILL_DATA, "%s: cannot be read again: %s", lines->path, mill_text_errno(errno));
  lines->number = lines->passed = 0;
  lines->have = lines->at = 0;
  return 0;
}

static int check_unchanged(const struct mill_lines *lines, struct mill_error *error)
{
  struct stat about;
  if (fstat(lines->fd, &about))
    return mill_fail(error, MILL_DATA, "%s: %s", lines->path, mill_text_errno(errno));
  if ((uint64_t)about.st_size != lines->size || about.st_mtim.tv_sec != lines->modified.tv_sec ||
      about.st_mtim.tv_nsec != lines->modified.tv_nsec)
    return mill_lines_changed(lines, error);
  return 0;
}

/* More bytes: 1, or 0 at the end. */
static int refill(struct mill_lines *lines, struct mill_error *error)
{
  ssize_t got;
  do
    got = read(lines->fd, lines->buffer, sizeof lines->buffer);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    return mill_fail(error, MILL_DATA, "%s: cannot be read: %s", lines->path, mill_text_errno(errno));
  lines->at = 0;
  lines->have = (size_t)got;
  lines->passed += (uint64_t)got;
  if (lines->passed > lines->size)
    return mill_lines_changed(lines, error);
  return got > 0;
}

static int too_long(const struct mill_lines *lines, struct mill_error *error)
{
  return mill_lines_refuse(lines, error, "the line is longer than %d characters", MILL_LINE_CHARS);
}

/* The next line, whatever it says: 1, 0 at the end, -1. */
static int next_line(struct mill_lines *lines, struct mill_error *error)
{
  size_t n = 0;
  lines->number++;
  for (;;) {
    if (lines->at == lines->have) {
      int more = refill(lines, error);
      if (more < 0)
        return -1;
      if (!more) {
        if (!n)
          return check_unchanged(lines, error);
        break; /* the last line may have no end */
      }
    }
    const char *from = lines->buffer + lines->at, *end = memchr(from, '\n', lines->have - lines->at);
    size_t part = end ? (size_t)(end - from) : lines->have - lines->at;
    if (n + part >= sizeof lines->text)
      return too_long(lines, error);
    memcpy(lines->text + n, from, part);
    n += part;
    lines->at += part + (end != NULL);
    if (end)
      break;
  }
  if (n && lines->text[n - 1] == '\r')
    n--;
  if (n > MILL_LINE_CHARS)
    return too_long(lines, error);
  lines->text[n] = 0;
  if (strlen(lines->text) != n)
    return mill_lines_refuse(lines, error, "holds a NUL byte; expected text");
  return 1;
}

int mill_lines_next(struct mill_lines *lines, struct mill_error *error)
{
  int more;
  while ((more = next_line(lines, error)) > 0) {
    char first = lines->text[strspn(lines->text, " \t")];
    if (first && first != '#')
      break;
  }
  return more;
}
