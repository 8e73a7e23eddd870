/* Edge lists. Read in two passes, one that counts lines and one that parses, so that the arrays are allocated once and in full
   size. Strict: whatever is not exactly a header and numbers is refused with its line. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "connect.h"
#include "memory.h"
#include "text.h"

#define LINE_MAX_CHARS 1000
#define BUFFER (1u << 16)

enum { SOURCE, TARGET, WEIGHT, DELAY, COLUMNS };
static const char *const column_names[COLUMNS] = {"source", "target", "weight", "delay"};
static const char header_help[] = "expected a header line with the columns source,target[,weight][,delay]";

struct reader {
  const char *path;
  FILE *file;
  size_t have, at;
  uint64_t line;
  int column[COLUMNS]; /* place of each column, -1 when absent */
  int columns;
  struct mill_edges *edges;
  uint64_t capacity;
  char text[LINE_MAX_CHARS + 2]; /* and a carriage return */
  char buffer[BUFFER];
};

static int refill(struct reader *r)
{
  r->at = 0;
  r->have = fread(r->buffer, 1, sizeof r->buffer, r->file);
  return r->have > 0;
}

static int too_long(const struct reader *r, uint64_t line, struct mill_error *error)
{
  return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": the line is longer than %d characters", r->path, line, LINE_MAX_CHARS);
}

/* The next line without its end in r->text: 1; at the end of the file: 0; -1 on error. */
static int next_line(struct reader *r, struct mill_error *error)
{
  size_t n = 0;
  for (;;) {
    if (r->at == r->have && !refill(r)) {
      if (ferror(r->file))
        return mill_fail(error, MILL_DATA, "%s: cannot be read: %s", r->path, strerror(errno));
      if (!n)
        return 0;
      r->line++;
      break;
    }
    const char *from = r->buffer + r->at, *end = memchr(from, '\n', r->have - r->at);
    size_t part = end ? (size_t)(end - from) : r->have - r->at;
    if (n + part >= sizeof r->text)
      return too_long(r, r->line + 1, error);
    memcpy(r->text + n, from, part);
    n += part;
    r->at += part + (end != NULL);
    if (end) {
      r->line++;
      break;
    }
  }
  if (n && r->text[n - 1] == '\r')
    n--;
  if (n > LINE_MAX_CHARS)
    return too_long(r, r->line, error);
  r->text[n] = 0;
  if (strlen(r->text) != n)
    return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": holds a NUL byte; expected text", r->path, r->line);
  return 1;
}

static int blank(char c)
{
  return c == ' ' || c == '\t';
}

/* The field at *s as trimmed text, cut out of the line; *s becomes what follows its comma, or NULL. */
static char *field(char **s)
{
  char *begin = *s, *end = strchr(begin, ',');
  *s = end ? end + 1 : NULL;
  if (!end)
    end = begin + strlen(begin);
  while (blank(*begin))
    begin++;
  while (end > begin && blank(end[-1]))
    end--;
  *end = 0;
  return begin;
}

/* Blank lines and comments say nothing. */
static int says_something(const struct reader *r)
{
  const char *s = r->text;
  while (blank(*s))
    s++;
  return *s && *s != '#';
}

static int header(struct reader *r, struct mill_error *error)
{
  if (!strncmp(r->text, "\xef\xbb\xbf", 3))
    return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": begins with a byte-order mark; save it without", r->path, r->line);
  for (char *rest = r->text; rest;) {
    char *name = field(&rest);
    int c = 0;
    while (c < COLUMNS && strcmp(name, column_names[c]))
      c++;
    if (c == COLUMNS) {
      const char *near = mill_text_nearest(name, column_names, COLUMNS);
      return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": unknown column `%.40s`%s%s%s; %s", r->path, r->line, name,
                       near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "", header_help);
    }
    if (r->column[c] >= 0)
      return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": the column `%s` stands twice", r->path, r->line, name);
    r->column[c] = r->columns++;
  }
  for (int c = SOURCE; c <= TARGET; c++)
    if (r->column[c] < 0)
      return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": no column `%s`; %s", r->path, r->line, column_names[c], header_help);
  return 0;
}

static int index_of(const char *s, uint32_t *value)
{
  uint64_t v = 0;
  if (!*s)
    return -1;
  for (; *s; s++) {
    if (*s < '0' || *s > '9')
      return -1;
    v = v * 10 + (uint64_t)(*s - '0');
    if (v > UINT32_MAX)
      return -1;
  }
  *value = (uint32_t)v;
  return 0;
}

static int bad_field(const struct reader *r, int column, const char *text, const char *expected, struct mill_error *error)
{
  return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": %s `%.60s`; expected %s", r->path, r->line, column_names[column], text,
                   expected);
}

static int edge(struct reader *r, struct mill_error *error)
{
  struct mill_edges *e = r->edges;
  char *text[COLUMNS], *rest = r->text;
  int n = 0;
  for (; rest && n < r->columns; n++)
    text[n] = field(&rest);
  if (rest || n < r->columns) {
    for (; rest; n++)
      field(&rest);
    return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": %d field%s; the header has %d", r->path, r->line, n, n == 1 ? "" : "s",
                     r->columns);
  }
  uint64_t i = e->count;
  if (i == r->capacity)
    return mill_fail(error, MILL_DATA, "%s: changed while it was read", r->path);

  uint32_t *ends[2] = {&e->source[i], &e->target[i]};
  for (int c = SOURCE; c <= TARGET; c++)
    if (index_of(text[r->column[c]], ends[c]))
      return bad_field(r, c, text[r->column[c]], "a neuron's index, 0 to 4294967295", error);
  if (e->weight && mill_text_real(text[r->column[WEIGHT]], &e->weight[i]))
    return bad_field(r, WEIGHT, text[r->column[WEIGHT]], "a finite number", error);
  if (e->delay_ps) {
    const char *s = text[r->column[DELAY]];
    if (mill_text_ps(s, &e->delay_ps[i]))
      return bad_field(r, DELAY, s, "a time in ms with at most nine decimals", error);
    if (e->delay_ps[i] < 0)
      return bad_field(r, DELAY, s, "a time in ms that is not negative", error);
  }
  e->line[i] = r->line;
  e->count++;
  return 0;
}

static int count_lines(struct reader *r, struct mill_error *error)
{
  uint64_t lines = 1; /* the last one may have no newline */
  while (refill(r))
    for (const char *s = r->buffer, *end = s + r->have; (s = memchr(s, '\n', (size_t)(end - s))); s++)
      lines++;
  if (ferror(r->file) || fseek(r->file, 0, SEEK_SET))
    return mill_fail(error, MILL_DATA, "%s: cannot be read: %s", r->path, strerror(errno));
  r->have = r->at = 0;
  r->capacity = lines;
  return 0;
}

static int allocate(struct reader *r, struct mill_error *error)
{
  struct mill_edges *e = r->edges;
  if (!(e->source = mill_allocate_or_fail("edge sources", r->capacity, sizeof *e->source, error)))
    return -1;
  if (!(e->target = mill_allocate_or_fail("edge targets", r->capacity, sizeof *e->target, error)))
    return -1;
  if (!(e->line = mill_allocate_or_fail("edge lines", r->capacity, sizeof *e->line, error)))
    return -1;
  if (r->column[WEIGHT] >= 0 && !(e->weight = mill_allocate_or_fail("edge weights", r->capacity, sizeof *e->weight, error)))
    return -1;
  if (r->column[DELAY] >= 0 && !(e->delay_ps = mill_allocate_or_fail("edge delays", r->capacity, sizeof *e->delay_ps, error)))
    return -1;
  return 0;
}

static int read_all(struct reader *r, struct mill_error *error)
{
  int more, have_header = 0;
  if (count_lines(r, error))
    return -1;
  while ((more = next_line(r, error)) > 0) {
    if (!says_something(r))
      continue;
    if (!have_header) {
      if (header(r, error) || allocate(r, error))
        return -1;
      have_header = 1;
    } else if (edge(r, error)) {
      return -1;
    }
  }
  if (more < 0)
    return -1;
  if (!have_header)
    return mill_fail(error, MILL_DATA, "%s: is empty; %s", r->path, header_help);
  return 0;
}

int mill_edges_read(const char *path, struct mill_edges **edges, struct mill_error *error)
{
  struct stat about;
  int result = -1;
  struct reader *r = calloc(1, sizeof *r);
  *edges = NULL;
  if (!r || !(r->edges = calloc(1, sizeof *r->edges)) || !(r->edges->path = strdup(path))) {
    mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
    goto done;
  }
  r->path = path;
  for (int c = 0; c < COLUMNS; c++)
    r->column[c] = -1;
  if (stat(path, &about)) {
    mill_fail(error, MILL_DATA, "%s: %s", path, strerror(errno));
    goto done;
  }
  if (!S_ISREG(about.st_mode)) {
    mill_fail(error, MILL_DATA, "%s: not a regular file", path);
    goto done;
  }
  if (!(r->file = fopen(path, "rbe"))) {
    mill_fail(error, MILL_DATA, "%s: %s", path, strerror(errno));
    goto done;
  }
  result = read_all(r, error);
done:
  if (r) {
    if (r->file)
      fclose(r->file);
    if (!result)
      *edges = r->edges;
    else
      mill_edges_free(r->edges);
  }
  free(r);
  return result;
}

void mill_edges_free(struct mill_edges *edges)
{
  if (!edges)
    return;
  free(edges->path);
  mill_release(edges->source);
  mill_release(edges->target);
  mill_release(edges->weight);
  mill_release(edges->delay_ps);
  mill_release(edges->line);
  free(edges);
}
