/* Lines of a text file and their fields: LF, CR LF and CR, a byte-order mark, UTF-8 without control characters, delimiters, quotes. Every
   refusal names the file and the line. A header, so that each plugin stays one object. */
#ifndef LINES_H
#define LINES_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spikemill/format.h>

enum { LINES_BUFFER = 1 << 16, LINES_MOST = 4096, LINES_SHOWN = 64 };

struct lines {
  const struct mill_host *host;
  struct mill_error *error; /* of the call being served */
  char *path;
  int fd, end_of_file;
  char end_of_line;
  uint64_t number; /* of the last line read, from 1 */
  size_t from, to; /* what is unread of the buffer */
  char *over_long; /* after a line of too many bytes: as many as a line may have, not checked to be text; else NULL */
  char buffer[LINES_BUFFER + 1];
};

/* Fails with file and line before the text; `format` takes at least one argument. */
#define LINES_REFUSE(in, format, ...)                                                                                              \
  (in)->host->fail((in)->error, MILL_DATA, "%s:%" PRIu64 ": " format, (in)->path, (in)->number, __VA_ARGS__)

static inline int lines_no_memory(struct lines *in)
{
  return in->host->fail(in->error, MILL_RESOURCES, "%s: out of memory", in->path);
}

static inline int lines_fill(struct lines *in)
{
  memmove(in->buffer, in->buffer + in->from, in->to - in->from);
  in->to -= in->from;
  in->from = 0;
  ssize_t n;
  do
    n = read(in->fd, in->buffer + in->to, LINES_BUFFER - in->to);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return in->host->fail(in->error, MILL_DATA, "%s: cannot read the file: %s", in->path, strerror(errno));
  if (n && in->host->interrupted())
    return in->host->fail(in->error, MILL_INTERRUPTED, "%s: interrupted while it was read, behind line %" PRIu64, in->path, in->number);
  in->end_of_file = !n;
  in->to += (size_t)n;
  return 0;
}

/* Goes to the start: skips a byte-order mark and finds out how lines end. */
static inline int lines_rewind(struct lines *in)
{
  in->from = in->to = 0;
  in->number = 0;
  if (lseek(in->fd, 0, SEEK_SET))
    return in->host->fail(in->error, MILL_DATA, "%s: cannot read the file: %s", in->path, strerror(errno));
  do
    if (lines_fill(in))
      return -1;
  while (!in->end_of_file && in->to < LINES_BUFFER);
  if (in->to >= 3 && !memcmp(in->buffer, "\xef\xbb\xbf", 3))
    in->from = 3;
  in->buffer[in->to] = 0;
  const char *end = in->buffer + strcspn(in->buffer, "\r\n");
  in->end_of_line = *end == '\r' && end[1] != '\n' ? '\r' : '\n';
  return 0;
}

/* Opens a file that is not empty; host and error are set. Returns 0 or -1; lines_close in both cases. */
static inline int lines_open(struct lines *in, const char *path)
{
  struct stat status;
  in->path = strdup(path);
  in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!in->path)
    return in->host->fail(in->error, MILL_RESOURCES, "%s: out of memory", path);
  if (in->fd < 0 || fstat(in->fd, &status))
    return in->host->fail(in->error, MILL_DATA, "%s: cannot open the file: %s", path, strerror(errno));
  if (!S_ISREG(status.st_mode))
    return in->host->fail(in->error, MILL_DATA, "%s: not a regular file", path);
  if (!status.st_size)
    return in->host->fail(in->error, MILL_DATA, "%s: the file is empty", path);
  return lines_rewind(in);
}

static inline void lines_close(struct lines *in)
{
  if (in->fd >= 0)
    close(in->fd);
  free(in->path);
}

/* Bytes at the start of s that are UTF-8 (RFC 3629) without control characters; tabs are fine. */
static inline size_t lines_good(const char *s, size_t n)
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

/* The next line without its end, checked to be text, until the next call. Returns 1, 0 at the end of the file, or -1. */
static inline int lines_next(struct lines *in, char **line)
{
  for (;;) {
    char *begin = in->buffer + in->from;
    size_t have = in->to - in->from;
    char *end = memchr(begin, in->end_of_line, have < LINES_MOST + 2 ? have : LINES_MOST + 2);
    if (!end && have < LINES_MOST + 2 && !in->end_of_file) {
      if (lines_fill(in))
        return -1;
      continue;
    }
    if (!have)
      return 0;
    in->number++;
    size_t length = end ? (size_t)(end - begin) : have;
    in->from += length + (end != NULL);
    if (length && in->end_of_line == '\n' && begin[length - 1] == '\r')
      length--;
    in->over_long = length > LINES_MOST ? begin : NULL;
    begin[length < LINES_MOST ? length : LINES_MOST] = 0;
    if (length > LINES_MOST)
      return LINES_REFUSE(in, "the line has more than %d bytes", LINES_MOST);
    size_t good = lines_good(begin, length);
    if (good < length)
      return LINES_REFUSE(in, "byte %zu of the line is 0x%02x; expected UTF-8 text without control characters", good + 1,
                          (unsigned char)begin[good]);
    *line = begin;
    return 1;
  }
}

/* The next line with something on it that is no comment. Returns 1, 0 at the end of the file, or -1. */
static inline int lines_next_content(struct lines *in, char **line)
{
  int got;
  do
    got = lines_next(in, line);
  while (got > 0 && (**line == '#' || !(*line)[strspn(*line, " \t")]));
  return got;
}

/* For probes, from a file's head as a text: its next whole line with something on it that is no comment, cut off in place; NULL when
   there is none. What the head ends with is a whole line only when the file ends there too. */
static inline char *lines_of_head(char **head, int whole_file)
{
  for (;;) {
    char *line = *head;
    size_t n = strcspn(line, "\r\n");
    if (!line[n] && (!n || !whole_file))
      return NULL;
    *head += n + (line[n] != 0);
    line[n] = 0;
    if (*line != '#' && line[strspn(line, " \t")])
      return line;
  }
}

/* For a message: what is long ends in "…", and so does what is no good text. */
static inline const char *lines_show(char out[LINES_SHOWN], const char *s)
{
  size_t length = strlen(s), n = lines_good(s, length);
  if (n < length || n >= LINES_SHOWN - 4) {
    n = n < LINES_SHOWN - 5 ? n : LINES_SHOWN - 5;
    while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
      n--;
    memcpy(out + n, "\xe2\x80\xa6", 4);
  } else {
    out[n] = 0;
  }
  memcpy(out, s, n);
  return out;
}

/* The delimiter of a line: a tab, semicolon or comma when there is one outside of quotes (the first of them in this order), else ' ',
   which stands for runs of blanks. */
static inline char lines_delimiter(const char *s)
{
  int quoted = 0, semicolon = 0, comma = 0;
  for (; *s; s++) {
    quoted ^= *s == '"';
    if (*s == '\t' && !quoted)
      return '\t';
    semicolon |= *s == ';' && !quoted;
    comma |= *s == ',' && !quoted;
  }
  return semicolon ? ';' : comma ? ',' : ' ';
}

/* Splits a line in place at a delimiter as above; a field may stand in quotes, with "" for a quote inside; blanks around it go. Returns
   the number of fields, of which at most `room` are stored, or -1 when quotes do not match. */
static inline int lines_split(char *s, char delimiter, char **field, int room)
{
  int runs = delimiter == ' ';
  const char *blank = delimiter == '\t' ? " " : " \t";
  for (int n = 0;; n++) {
    s += strspn(s, blank);
    if (runs && !*s)
      return n;
    char *begin = s, *end = s;
    if (*s == '"') {
      for (s++; *s != '"' || s[1] == '"'; *end++ = *s++) {
        if (!*s)
          return -1;
        s += *s == '"';
      }
      s++;
      size_t gap = strspn(s, blank);
      s += gap;
      if (*s && (runs ? !gap : *s != delimiter))
        return -1;
    } else if (runs) {
      s += strcspn(s, blank);
      end = s;
    } else {
      while (*s && *s != delimiter)
        s++;
      for (end = s; end > begin && strchr(blank, end[-1]);)
        end--;
    }
    if (n < room)
      field[n] = begin;
    int last = !*s;
    if (!last && !(runs && *s != ' ' && *s != '\t'))
      s++;
    *end = 0;
    if (last)
      return n + 1;
  }
}

/* A name as a field: in quotes when it needs them. `out` has room for 2 × its length + 3 bytes. */
static inline void lines_quote(char *out, const char *name)
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

#endif
