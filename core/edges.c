/* Edge lists. Read in two passes, one that counts edges and one that parses them, so that the arrays are allocated once, in full size,
   and only when memory holds them. Strict: whatever is not exactly a header and numbers is refused with its line. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "connect.h"
#include "lines.h"
#include "memory.h"
#include "text.h"

enum { SOURCE, TARGET, WEIGHT, DELAY, COLUMNS };
static const char *const column_names[COLUMNS] = {"source", "target", "weight", "delay"};
static const char header_help[] = "expected a header line with the columns source,target[,weight][,delay]";

struct reader {
  struct mill_lines *lines;
  int column[COLUMNS]; /* place of each column, -1 when absent */
  int columns;
  struct mill_edges *edges;
  uint64_t capacity;
};

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

static int header(struct reader *r, struct mill_error *error)
{
  if (!strncmp(r->lines->text, "\xef\xbb\xbf", 3))
    return mill_lines_refuse(r->lines, error, "begins with a byte-order mark; save it without");
  for (char *rest = r->lines->text; rest;) {
    char *name = field(&rest);
    int c = 0;
    while (c < COLUMNS && strcmp(name, column_names[c]))
      c++;
    if (c == COLUMNS) {
      const char *near = mill_text_nearest(name, column_names, COLUMNS);
      return mill_lines_refuse(r->lines, error, "unknown column `%.40s`%s%s%s; %s", name, near ? "; did you mean `" : "",
                               near ? near : "", near ? "`?" : "", header_help);
    }
    if (r->column[c] >= 0)
      return mill_lines_refuse(r->lines, error, "the column `%s` stands twice", name);
    r->column[c] = r->columns++;
  }
  for (int c = SOURCE; c <= TARGET; c++)
    if (r->column[c] < 0)
      return mill_lines_refuse(r->lines, error, "no column `%s`; %s", column_names[c], header_help);
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
  return mill_lines_refuse(r->lines, error, "%s `%.60s`; expected %s", column_names[column], text, expected);
}

static int edge(struct reader *r, struct mill_error *error)
{
  struct mill_edges *e = r->edges;
  char *text[COLUMNS], *rest = r->lines->text;
  int n = 0;
  for (; rest && n < r->columns; n++)
    text[n] = field(&rest);
  if (rest || n < r->columns) {
    for (; rest; n++)
      field(&rest);
    return mill_lines_refuse(r->lines, error, "%d field%s; the header has %d", n, n == 1 ? "" : "s", r->columns);
  }
  uint64_t i = e->count;
  if (i == r->capacity)
    return mill_lines_changed(r->lines, error);

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
  e->line[i] = r->lines->number;
  e->count++;
  return 0;
}

/* The arrays, in the order in which they are given memory, and what an edge takes in each. */
static const struct {
  const char *name;
  int column; /* that it needs, or -1 */
  size_t offset, size;
} arrays[] = {
    {"edge sources", SOURCE, offsetof(struct mill_edges, source), sizeof(uint32_t)},
    {"edge targets", TARGET, offsetof(struct mill_edges, target), sizeof(uint32_t)},
    {"edge weights", WEIGHT, offsetof(struct mill_edges, weight), sizeof(double)},
    {"edge delays", DELAY, offsetof(struct mill_edges, delay_ps), sizeof(int64_t)},
    {"edge lines", -1, offsetof(struct mill_edges, line), sizeof(uint64_t)},
};
#define ARRAYS (sizeof arrays / sizeof *arrays)

static int is_needed(const struct reader *r, size_t array)
{
  return arrays[array].column < 0 || r->column[arrays[array].column] >= 0;
}

/* Counts the edges, up to what memory holds: more need not be counted to be refused. */
static int count(struct reader *r, struct mill_error *error)
{
  uint64_t available = mill_memory_free(), each = 0;
  char has[32];
  int more;
  for (size_t i = 0; i < ARRAYS; i++)
    each += is_needed(r, i) ? arrays[i].size : 0;
  while ((more = mill_lines_next(r->lines, error)) > 0)
    if (++r->capacity > available / each)
      return mill_fail(error, MILL_RESOURCES, "%s: holds more than %" PRIu64 " edges of %" PRIu64 " bytes, and %s are free",
                       r->lines->path, r->capacity - 1, each, mill_memory_text(has, available));
  return more;
}

static int allocate(struct reader *r, struct mill_error *error)
{
  for (size_t i = 0; i < ARRAYS; i++) {
    void *array = NULL;
    if (is_needed(r, i) && !(array = mill_allocate_or_fail(arrays[i].name, r->capacity, arrays[i].size, error)))
      return -1;
    memcpy((char *)r->edges + arrays[i].offset, &array, sizeof array);
  }
  return 0;
}

static int read_all(struct reader *r, struct mill_error *error)
{
  int more = mill_lines_next(r->lines, error);
  if (more < 0)
    return -1;
  if (!more)
    return mill_fail(error, MILL_DATA, "%s: is empty; %s", r->lines->path, header_help);
  if (header(r, error) || count(r, error) || allocate(r, error) || mill_lines_rewind(r->lines, error))
    return -1;
  if ((more = mill_lines_next(r->lines, error)) > 0) /* the header again */
    while ((more = mill_lines_next(r->lines, error)) > 0)
      if (edge(r, error))
        return -1;
  if (more < 0)
    return -1;
  return r->edges->count == r->capacity ? 0 : mill_lines_changed(r->lines, error);
}

int mill_edges_read(const char *path, struct mill_edges **edges, struct mill_error *error)
{
  struct reader r = {.column = {-1, -1, -1, -1}};
  int result = -1;
  *edges = NULL;
  if (mill_lines_open(path, &r.lines, error))
    return -1;
  if (!(r.edges = calloc(1, sizeof *r.edges)) || !(r.edges->path = strdup(path)))
    mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
  else
    result = read_all(&r, error);
  mill_lines_close(r.lines);
  if (result)
    mill_edges_free(r.edges);
  else
    *edges = r.edges;
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
