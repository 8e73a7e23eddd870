/* The connectivity graph. Episodes of two nodes stand behind those of one, pair by pair. The table has all that are frequent, with what the
   tests say of them; the drawing has those that count as found. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mine-graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "job.h"
#include "mine-report.h"
#include "text.h"

#define WIDEST 5.0   /* points of the link with the highest count, */
#define THINNEST 0.5 /* and of one without any */

/* A link, as the columns see it. */
struct link {
  const struct mill_mining *mining;
  const struct mill_mining_report *report;
  struct mill_mining_episode episode;
};

/* Number n among the links. */
static int get_link(struct link *link, uint64_t n)
{
  struct mill_mining_level first;
  if (mill_mining_level(link->mining, 1, &first) < 0 || mill_mining_frequent(link->mining, first.frequent + n, &link->episode) < 0)
    return -1;
  return link->episode.length == 2 ? 0 : -1;
}

/* ---- CSV ---- */

static void put_source(FILE *out, const struct link *link)
{
  mill_mine_field(out, mill_mining_type(link->mining, link->episode.type[0]));
}

static void put_target(FILE *out, const struct link *link)
{
  mill_mine_field(out, mill_mining_type(link->mining, link->episode.type[1]));
}

static void put_low(FILE *out, const struct link *link)
{
  char text[64];
  fputs(mill_text_ms(text, link->episode.low[0], link->report->tick_ps), out);
}

static void put_high(FILE *out, const struct link *link)
{
  char text[64];
  fputs(mill_text_ms(text, link->episode.high[0], link->report->tick_ps), out);
}

static void put_count(FILE *out, const struct link *link)
{
  fprintf(out, "%" PRIu64, link->episode.count);
}

static void put_rate(FILE *out, const struct link *link)
{
  char number[32];
  fputs(mill_mine_rate(number, link->episode.count, link->report->duration_s, ""), out);
}

/* Empty without tests. */
static void put_real(FILE *out, double value)
{
  char number[32];
  if (!isnan(value))
    fputs(mill_text_double(number, value), out);
}

static void put_expected(FILE *out, const struct link *link)
{
  put_real(out, link->episode.expected);
}

static void put_strength(FILE *out, const struct link *link)
{
  put_real(out, link->episode.strength);
}

static void put_p(FILE *out, const struct link *link)
{
  put_real(out, link->episode.p);
}

static void put_q(FILE *out, const struct link *link)
{
  put_real(out, link->episode.q);
}

static void put_threshold(FILE *out, const struct link *link)
{
  put_real(out, link->episode.threshold);
}

static const struct column {
  const char *name;
  void (*put)(FILE *out, const struct link *link);
} columns[] = {
    {"source", put_source},                                                        /* name of a type */
    {"target", put_target},     {"low_ms", put_low},                               /* the interval, exactly */
    {"high_ms", put_high},      {"count", put_count},       {"rate_hz", put_rate}, /* empty when the recording has no duration */
    {"expected", put_expected}, {"strength", put_strength}, {"p", put_p},          {"q", put_q}, {"threshold", put_threshold},
};
#define COLUMNS (sizeof columns / sizeof *columns)

static int write_csv(FILE *out, const struct mill_mining *m, struct mill_error *error)
{
  struct mill_mining_report r;
  struct link link = {m, &r, {0}};
  mill_mining_report(m, &r);
  mill_mine_head(out, m, &r);
  for (size_t i = 0; i < COLUMNS; i++)
    fprintf(out, "%s%s", i ? "," : "", columns[i].name);
  fputc('\n', out);
  for (uint64_t n = 0; get_link(&link, n) == 0; n++) {
    for (size_t i = 0; i < COLUMNS; i++) {
      if (i)
        fputc(',', out);
      columns[i].put(out, &link);
    }
    fputc('\n', out);
  }
  return mill_mine_done(out, error);
}

/* ---- DOT ---- */

/* In quotes. Of a backslash the language makes no more than it is, but labels do. */
static void put_name(FILE *out, const char *name)
{
  fputc('"', out);
  for (; *name; name++) {
    if (*name == '"' || *name == '\\')
      fputc('\\', out);
    fputc(*name, out);
  }
  fputc('"', out);
}

static void put_node(FILE *out, const struct mill_mining *m, uint32_t type)
{
  const char *name = mill_mining_type(m, type);
  fputs("  ", out);
  put_name(out, name);
  fputs(" [label=", out);
  put_name(out, name);
  fputs("];\n", out);
}

static void put_edge(FILE *out, const struct link *link, uint64_t most)
{
  char low[64], high[64], width[32];
  const struct mill_mining_episode *e = &link->episode;
  mill_text_format(width, sizeof width, "%.2f", THINNEST + (WIDEST - THINNEST) * (double)e->count / (double)most);
  fputs("  ", out);
  put_name(out, mill_mining_type(link->mining, e->type[0]));
  fputs(" -> ", out);
  put_name(out, mill_mining_type(link->mining, e->type[1]));
  fprintf(out, " [label=\"%" PRIu64 " (%s,%s] ms\", penwidth=%s];\n", e->count, mill_text_ms(low, e->low[0], link->report->tick_ps),
          mill_text_ms(high, e->high[0], link->report->tick_ps), width);
}

static int write_dot(FILE *out, const struct mill_mining *m, struct mill_error *error)
{
  struct mill_mining_report r;
  struct link link = {m, &r, {0}};
  unsigned char *linked;
  uint64_t most = 0;
  mill_mining_report(m, &r);
  linked = calloc(r.types + (size_t)1, 1);
  if (!linked)
    return mill_fail(error, MILL_RESOURCES, "out of memory for the graph");
  for (uint64_t n = 0; get_link(&link, n) == 0; n++) {
    if (!link.episode.reported)
      continue;
    most = link.episode.count > most ? link.episode.count : most;
    linked[link.episode.type[0]] = linked[link.episode.type[1]] = 1;
  }
  mill_mine_head(out, m, &r); /* lines that start with # are comments here, too */
  fputs("digraph links {\n", out);
  for (uint32_t type = 0; type < r.types; type++)
    if (linked[type])
      put_node(out, m, type);
  for (uint64_t n = 0; get_link(&link, n) == 0; n++)
    if (link.episode.reported)
      put_edge(out, &link, most);
  fputs("}\n", out);
  free(linked);
  return mill_mine_done(out, error);
}

int mill_mine_graph(FILE *out, const struct mill_mining *m, struct mill_error *error)
{
  static int (*const write[])(FILE *, const struct mill_mining *,
                              struct mill_error *) = {[MILL_GRAPH_CSV] = write_csv, [MILL_GRAPH_DOT] = write_dot};
  struct mill_mining_report r;
  mill_mining_report(m, &r);
  return write[mill_graph_format(r.graph)](out, m, error);
}
