/* Connection rules as text, what they ask for, and whether that can be. Everything impossible is refused here, before anything is
   allocated; the graph itself is made in connect-rows.c. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "connect.h"
#include "memory.h"
#include "text.h"
#include "value.h"

enum operand { NOTHING, PROBABILITY, NUMBER, NAME };

static const struct {
  const char *name;
  enum mill_rule rule;
  enum operand operand;
} table[] = {
    {"all-to-all", MILL_ALL_TO_ALL, NOTHING},
    {"one-to-one", MILL_ONE_TO_ONE, NOTHING},
    {"fixed-probability", MILL_FIXED_PROBABILITY, PROBABILITY},
    {"fixed-indegree", MILL_FIXED_INDEGREE, NUMBER},
    {"fixed-outdegree", MILL_FIXED_OUTDEGREE, NUMBER},
    {"fixed-total", MILL_FIXED_TOTAL, NUMBER},
    {"file", MILL_EDGES, NAME},
};
#define RULES (sizeof table / sizeof *table)

static const char *const usage[] = {"", "(p)", "(n)", "(edges.csv)"};

static int unknown_rule(const char *name, struct mill_error *error)
{
  const char *names[RULES];
  for (size_t i = 0; i < RULES; i++)
    names[i] = table[i].name;
  const char *near = mill_text_nearest(name, names, RULES);
  if (near)
    return mill_fail(error, MILL_USAGE, "unknown connection rule `%s`; did you mean `%s`?", name, near);
  return mill_fail(error, MILL_USAGE,
                   "unknown connection rule `%s`; expected all-to-all, one-to-one, fixed-probability(p), fixed-indegree(n), "
                   "fixed-outdegree(n), fixed-total(n) or file(edges.csv)",
                   name);
}

static int parse_operand(enum operand operand, const char *rule, const char *text, const struct mill_defines *defines,
                         struct mill_connection *connection, struct mill_error *error)
{
  char shown[32];
  switch (operand) {
  case PROBABILITY:
    if (mill_expr_real(text, defines, &connection->p, error))
      return mill_fail_within(error, "%s(%s)", rule, text);
    if (!(connection->p >= 0 && connection->p <= 1))
      return mill_fail(error, MILL_USAGE, "%s: the probability is %s; expected 0 to 1", rule,
                       mill_text_double(shown, connection->p));
    return 0;
  case NUMBER: {
    int64_t n;
    if (mill_expr_int(text, defines, &n, error))
      return mill_fail_within(error, "%s(%s)", rule, text);
    if (n < 0)
      return mill_fail(error, MILL_USAGE, "%s: the number is %" PRId64 "; expected 0 or more", rule, n);
    connection->n = (uint64_t)n;
    return 0;
  }
  case NAME:
    if (!*text)
      return mill_fail(error, MILL_USAGE, "%s() names no file; expected file(edges.csv)", rule);
    connection->file = strdup(text);
    return connection->file ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory for the name of a file");
  default:
    return 0;
  }
}

int mill_connection_parse(const char *text, const struct mill_defines *defines, struct mill_connection *connection,
                          struct mill_error *error)
{
  char *name = NULL, **args = NULL;
  size_t count = 0, i = 0;
  int result = -1;

  connection->p = 0;
  connection->n = 0;
  connection->file = NULL;
  if (mill_call_parse(text, &name, &args, &count, error))
    goto done;
  while (i < RULES && strcmp(table[i].name, name))
    i++;
  if (i == RULES) {
    unknown_rule(name, error);
    goto done;
  }
  if (count != (table[i].operand == NOTHING ? 0 : 1)) {
    mill_fail(error, MILL_USAGE, "`%s` has %zu operand%s; expected %s%s", text, count, count == 1 ? "" : "s", name,
              usage[table[i].operand]);
    goto done;
  }
  connection->rule = table[i].rule;
  result = parse_operand(table[i].operand, name, count ? args[0] : "", defines, connection, error);
done:
  free(name);
  free(args);
  return result;
}

/* ---- What cannot be ---------------------------------------------------------------------------------------------------- */

static int without_autapses(const struct mill_connection *c)
{
  return c->same && !c->autapses;
}

static uint64_t pairs(const struct mill_connection *c)
{
  return (uint64_t)c->sources * c->targets - (without_autapses(c) ? c->sources : 0);
}

static int check_degree(const struct mill_connection *c, const char *rule, uint32_t chosen_from, uint32_t choosers,
                        const char *what, struct mill_error *error)
{
  uint32_t partners = chosen_from - (without_autapses(c) && chosen_from ? 1 : 0);
  if (!choosers || !c->n)
    return 0;
  if (c->n > UINT32_MAX)
    return mill_fail(error, MILL_USAGE, "%s(%" PRIu64 "): a degree is at most %" PRIu32, rule, c->n, UINT32_MAX);
  if (c->multapses ? !partners : c->n > partners)
    return mill_fail(error, MILL_USAGE, "%s(%" PRIu64 "): each neuron has only %" PRIu32 " possible %s%s%s", rule, c->n, partners,
                     what, without_autapses(c) ? " (autapses = no)" : "",
                     c->multapses || !partners ? "" : "; expected at most that, or multapses = yes");
  return 0;
}

static int check_total(const struct mill_connection *c, struct mill_error *error)
{
  if (c->n && !c->multapses && pairs(c) > (uint64_t)1 << 63)
    return mill_fail(error, MILL_USAGE, "fixed-total without multapses: more than 2^63 pairs of neurons");
  if (!c->n || (c->multapses ? pairs(c) > 0 : c->n <= pairs(c)))
    return 0;
  return mill_fail(error, MILL_USAGE, "fixed-total(%" PRIu64 "): there are only %" PRIu64 " pairs of neurons%s%s", c->n, pairs(c),
                   without_autapses(c) ? " (autapses = no)" : "",
                   c->multapses || !pairs(c) ? "" : "; expected at most that, or multapses = yes");
}

static int check_one_to_one(const struct mill_connection *c, struct mill_error *error)
{
  if (c->sources != c->targets)
    return mill_fail(error, MILL_USAGE, "one-to-one: %" PRIu32 " sources and %" PRIu32 " targets; expected as many of each",
                     c->sources, c->targets);
  if (without_autapses(c) && c->sources)
    return mill_fail(error, MILL_USAGE,
                     "one-to-one within one population makes only autapses, and autapses = no; set autapses = yes");
  return 0;
}

/* A pair of an edge list and where it stands. */
struct pair {
  uint64_t pair, index;
};

static int by_pair(const void *a, const void *b)
{
  const struct pair *x = a, *y = b;
  if (x->pair != y->pair)
    return x->pair < y->pair ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

static uint64_t pair_of(const struct mill_edges *e, uint64_t i)
{
  return (uint64_t)e->source[i] << 32 | e->target[i];
}

static int check_repeats(const struct mill_edges *e, struct mill_error *error)
{
  uint64_t i = 1;
  while (i < e->count && pair_of(e, i - 1) < pair_of(e, i))
    i++;
  if (i >= e->count)
    return 0; /* ascending, so all differ */

  uint64_t need = 2 * e->count * sizeof(struct pair), available = mill_memory_free(); /* qsort makes a copy */
  char needed[32], has[32];
  if (need > available)
    return mill_fail(
        error, MILL_RESOURCES,
        "%s: to see whether edges repeat takes %s, and %s are free; sort them by source and target, or set multapses = yes",
        e->path, mill_memory_text(needed, need), mill_memory_text(has, available));
  struct pair *sorted = mill_allocate_or_fail("sorted edges", e->count, sizeof *sorted, error), *first = NULL;
  if (!sorted)
    return -1;
  for (i = 0; i < e->count; i++)
    sorted[i] = (struct pair){pair_of(e, i), i};
  qsort(sorted, e->count, sizeof *sorted, by_pair);
  for (i = 1; i < e->count; i++) /* of all repeats, report the one that comes first in the file */
    if (sorted[i].pair == sorted[i - 1].pair && (!first || sorted[i].index < first->index))
      first = &sorted[i];
  if (first)
    mill_fail(error, MILL_DATA,
              "%s:%" PRIu64 ": the edge %" PRIu32 " to %" PRIu32 " stands already on line %" PRIu64 ", and multapses = no", e->path,
              e->line[first->index], e->source[first->index], e->target[first->index], e->line[first[-1].index]);
  int result = first ? -1 : 0;
  mill_release(sorted);
  return result;
}

static int check_edges(const struct mill_connection *c, struct mill_error *error)
{
  const struct mill_edges *e = c->edges;
  if (!e)
    return mill_fail(error, MILL_USAGE, "file(%s) was not read", c->file ? c->file : "");
  for (uint64_t i = 0; i < e->count; i++) {
    int side = e->source[i] >= c->sources ? 0 : e->target[i] >= c->targets ? 1 : -1;
    if (side >= 0) {
      uint32_t size = side ? c->targets : c->sources;
      if (!size)
        return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": the %s population is empty", e->path, e->line[i],
                         side ? "target" : "source");
      return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": %s %" PRIu32 " does not exist; expected 0 to %" PRIu32, e->path,
                       e->line[i], side ? "target" : "source", side ? e->target[i] : e->source[i], size - 1);
    }
    if (without_autapses(c) && e->source[i] == e->target[i])
      return mill_fail(error, MILL_DATA, "%s:%" PRIu64 ": neuron %" PRIu32 " connects to itself, and autapses = no", e->path,
                       e->line[i], e->source[i]);
  }
  return c->multapses ? 0 : check_repeats(e, error);
}

int mill_connection_check(const struct mill_connection *c, struct mill_error *error)
{
  if (c->same && c->sources != c->targets)
    return mill_fail(error, MILL_USAGE, "one population has %" PRIu32 " sources and %" PRIu32 " targets", c->sources, c->targets);
  if (c->multapses && (c->rule == MILL_ALL_TO_ALL || c->rule == MILL_ONE_TO_ONE || c->rule == MILL_FIXED_PROBABILITY))
    return mill_fail(error, MILL_USAGE, "%s never makes multapses; expected multapses = no", table[c->rule].name);
  switch (c->rule) {
  case MILL_ALL_TO_ALL:
    return 0;
  case MILL_ONE_TO_ONE:
    return check_one_to_one(c, error);
  case MILL_FIXED_PROBABILITY:
    if (c->p >= 0 && c->p <= 1)
      return 0;
    return mill_fail(error, MILL_USAGE, "fixed-probability: expected a probability from 0 to 1");
  case MILL_FIXED_INDEGREE:
    return check_degree(c, "fixed-indegree", c->sources, c->targets, "sources", error);
  case MILL_FIXED_OUTDEGREE:
    return check_degree(c, "fixed-outdegree", c->targets, c->sources, "targets", error);
  case MILL_FIXED_TOTAL:
    return check_total(c, error);
  case MILL_EDGES:
    return check_edges(c, error);
  }
  return mill_fail(error, MILL_USAGE, "unknown connection rule %d", (int)c->rule);
}

/* ---- How many there will be -------------------------------------------------------------------------------------------- */

static uint64_t product(uint64_t a, uint64_t b)
{
  return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t mill_connection_estimate(const struct mill_connection *c)
{
  switch (c->rule) {
  case MILL_ALL_TO_ALL:
    return pairs(c);
  case MILL_ONE_TO_ONE:
    return without_autapses(c) ? 0 : c->sources;
  case MILL_FIXED_PROBABILITY: {
    double all = (double)pairs(c), mean = all * c->p, most = ceil(mean + 6 * sqrt(mean * (1 - c->p)));
    return most < all ? (uint64_t)most : pairs(c);
  }
  case MILL_FIXED_INDEGREE:
    return product(c->n, c->targets);
  case MILL_FIXED_OUTDEGREE:
    return product(c->n, c->sources);
  case MILL_FIXED_TOTAL:
    return c->n;
  case MILL_EDGES:
    return c->edges ? c->edges->count : 0;
  }
  return 0;
}
