/* Lines of a data file that people write: edges, initial values. Strict about what they are in, so that whoever reads them needs to
   think of the words only: a regular file that stays as it is while it is read, lines of text of bounded length. */
#ifndef MILL_LINES_H
#define MILL_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <spikemill/error.h>

#define MILL_LINE_CHARS 1000

struct mill_lines {
  const char *path;
  uint64_t number;                /* of the line in `text`, from 1 */
  char text[MILL_LINE_CHARS + 2]; /* without its end; the caller may cut it to pieces */
  /* what follows is private */
  int fd;
  uint64_t size, passed; /* bytes of the file, and how many were read */
  struct timespec modified;
  size_t have, at; /* in the buffer */
  char buffer[1 << 16];
};

/* Opens a file; never waits for one that is a pipe. `path` is kept and must stay. Returns 0 with *lines to be closed, or -1 (MILL_DATA:
   no such file, not a regular one) with *lines NULL. */
int mill_lines_open(const char *path, struct mill_lines **lines, struct mill_error *error);

/* The next line that says something, which blank ones and those that start with # do not: 1. At the end of the file: 0. -1 (MILL_DATA,
   with path and line) for a line longer than MILL_LINE_CHARS, a NUL byte, or a file that is no longer the one that was opened: it grew,
   shrank or was written to. */
int mill_lines_next(struct mill_lines *lines, struct mill_error *error);

/* Back to the start. */
int mill_lines_rewind(struct mill_lines *lines, struct mill_error *error);

/* mill_fail (MILL_DATA) with the path and the line's number before the text. Returns -1. */
int mill_lines_refuse(const struct mill_lines *lines, struct mill_error *error, const char *format, ...) MILL_PRINTF(3, 4);

/* The error of a file that is another one than it was. Returns -1. */
int mill_lines_changed(const struct mill_lines *lines, struct mill_error *error);

/* NULL is allowed. */
void mill_lines_close(struct mill_lines *lines);

#endif
