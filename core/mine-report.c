/* A mining as a table and as CSV. Both are written episode by episode, so that a million of them need no memory of their own. Times and
   bounds are exact decimals of ms. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mine-report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/counter.h>
#include <spikemill/spikemill.h>
#include "memory.h"
#include "simulation.h"
#include "stream.h"
#include "text.h"

/* "(0,5]" */
static void print_interval(FILE *out, int64_t low, int64_t high, int64_t tick_ps)
{
  char text[2][64];
  fprintf(out, "(%s,%s]", mill_text_ms(text[0], low, tick_ps), mill_text_ms(text[1], high, tick_ps));
}

const char *mill_mine_rate(char *buffer, uint64_t count, double duration_s, const char *none)
{
  if (duration_s > 0)
    return mill_text_double(buffer, (double)count / duration_s);
  return none;
}

const char *const mill_mine_test_name[MILL_MINE_TESTS] = {"expected", "strength", "p", "q", "threshold"};
/* In the table, each a column of 9. A threshold is compared with a count: it is no place for an exponent. */
static const char *const test_format[MILL_MINE_TESTS] = {" %9.3g", " %9.3g", " %9.3g", " %9.3g", " %9.1f"};

int mill_mine_test_count(const struct mill_mining_report *r)
{
  return r->surrogates ? MILL_MINE_TESTS - 1 : MILL_MINE_TESTS;
}

void mill_mine_tests(const struct mill_mining_episode *e, double *value)
{
  value[0] = e->expected;
  value[1] = e->strength;
  value[2] = e->p;
  value[3] = e->q;
  value[4] = e->threshold;
}

int mill_mine_done(FILE *out, struct mill_error *error)
{
  return ferror(out) ? mill_fail(error, MILL_RESOURCES, "the result cannot be written") : 0;
}

/* ---- Table ---- */

struct rank {
  uint64_t count, index;
};

static int by_count(const void *a, const void *b)
{
  const struct rank *x = a, *y = b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (x->index > y->index) - (x->index < y->index);
}

static void print_number(FILE *out, const char *format, double value)
{
  char text[64];
  mill_text_format(text, sizeof text, format, value);
  fputs(text, out);
}

static void print_significance(FILE *out, const struct mill_mining_report *r)
{
  char q[32], epsilon[32];
  mill_text_double(q, r->q);
  if (r->surrogates)
    fprintf(out, "significance by %" PRIu64 " surrogates, %s, seed %" PRIu64 "; q %s\n", r->surrogates, r->surrogate, r->seed, q);
  else if (strcmp(r->significance, "none") != 0)
    fprintf(out, "significance by the %s; q %s; threshold at epsilon %s\n", r->significance, q,
            mill_text_double(epsilon, r->epsilon));
}

static void print_window(FILE *out, const struct mill_mining_report *r)
{
  char start[64], stop[64];
  if (r->window)
    fprintf(out, "window %" PRIu64 " of %" PRIu64 ": %s … %s ms\n", r->window, r->windows,
            mill_text_ms(start, r->window_start, r->tick_ps), mill_text_ms(stop, r->window_stop, r->tick_ps));
}

/* What there is to say of the levels beside their candidates. */
struct told {
  int culled, method;
};

static struct told told_of(const struct mill_mining *m)
{
  struct mill_mining_level level;
  struct told told = {0, 0};
  for (uint32_t n = 1; mill_mining_level(m, n, &level) == 0; n++) {
    told.culled |= level.culled > 0;
    told.method |= level.method != NULL;
  }
  return told;
}

static void print_head(FILE *out, const struct mill_mining *m, const struct mill_mining_report *r)
{
  const struct mill_stream_info info = {.tick_ps = r->tick_ps};
  struct mill_mining_level level;
  const struct told told = told_of(m);
  char text[512], asked[96] = "", number[32];
  print_window(out, r);
  fprintf(out, "%s: %s\n", r->input, mill_stream_describe(&info, r->events, r->types, r->first, r->last, text, sizeof text));
  mill_text_format(number, sizeof number, "%" PRIu64, r->support);
  if (strcmp(number, r->support_text) != 0)
    mill_text_format(asked, sizeof asked, " (%.80s)", r->support_text);
  fprintf(out, "counter %s%s, %s, %u thread%s; ties %s, repeats %s; support %s%s; intervals", r->counter,
          r->exact ? "" : " (upper bounds)", r->backend, r->threads, r->threads == 1 ? "" : "s", r->ties, r->repeats ? "yes" : "no",
          number, asked);
  for (uint32_t i = 0; i < r->interval_count; i++) {
    fputc(' ', out);
    print_interval(out, r->interval[i].low, r->interval[i].high, r->tick_ps);
  }
  fputs(" ms\n", out);
  print_significance(out, r);
  fprintf(out, "%5s %14s %12s%s %9s%s\n", "level", "candidates", "frequent", told.culled ? "       culled" : "", "seconds",
          told.method ? "  counted by" : "");
  for (uint32_t n = 1; mill_mining_level(m, n, &level) == 0; n++) {
    fprintf(out, "%5u %14" PRIu64 " %12" PRIu64, n, level.candidates, level.frequent);
    if (told.culled)
      fprintf(out, " %12" PRIu64, level.culled);
    print_number(out, " %9.3f", level.wall_s);
    fprintf(out, "%s%s\n", level.method ? "  " : "", level.method ? level.method : "");
  }
}

static void print_tests(FILE *out, const struct mill_mining_report *r, const struct mill_mining_episode *episode)
{
  double value[MILL_MINE_TESTS];
  mill_mine_tests(episode, value);
  for (int i = 0; i < mill_mine_test_count(r); i++) {
    if (isnan(value[i]))
      fprintf(out, " %9s", "-");
    else
      print_number(out, test_format[i], value[i]);
  }
}

static void print_episode(FILE *out, const struct mill_mining *m, const struct mill_mining_report *r, uint64_t index)
{
  struct mill_mining_episode episode;
  mill_mining_episode(m, index, &episode);
  fprintf(out, "%9" PRIu64, episode.count);
  if (r->duration_s > 0)
    print_number(out, " %10.4g", (double)episode.count / r->duration_s);
  else
    fprintf(out, " %10s", "-");
  if (r->tested)
    print_tests(out, r, &episode);
  fputs("  ", out);
  for (uint32_t k = 0; k < episode.length; k++) {
    if (k) {
      fputs(" -", out);
      print_interval(out, episode.low[k - 1], episode.high[k - 1], r->tick_ps);
      fputs("→ ", out);
    }
    fputs(mill_mining_type(m, episode.type[k]), out);
  }
  fputc('\n', out);
}

/* The most frequent of the listed ones of a level, which are first … first + listed - 1. */
static int print_level(FILE *out, const struct mill_mining *m, const struct mill_mining_report *r, uint32_t n, uint64_t first,
                       const struct mill_mining_level *level, uint64_t most, struct mill_error *error)
{
  const uint64_t listed = level->listed;
  struct rank *rank = mill_allocate_or_fail("ranks of episodes", listed, sizeof *rank, error);
  struct mill_mining_episode episode;
  if (!rank)
    return -1;
  for (uint64_t i = 0; i < listed; i++) {
    mill_mining_episode(m, first + i, &episode);
    rank[i] = (struct rank){episode.count, first + i};
  }
  qsort(rank, listed, sizeof *rank, by_count);
  fprintf(out, "\n%9s %10s", r->exact ? "count" : "at most", "Hz");
  for (int i = 0; r->tested && i < mill_mine_test_count(r); i++)
    fprintf(out, " %9s", mill_mine_test_name[i]);
  fprintf(out, "  level %u: ", n);
  if (most < listed)
    fprintf(out, "the %" PRIu64 " most frequent of %" PRIu64, most, listed);
  else
    fprintf(out, "%" PRIu64 " frequent episode%s", listed, listed == 1 ? "" : "s");
  if (listed < level->frequent)
    fprintf(out, " (%s; %" PRIu64 " in all)", r->reduce, level->frequent);
  fputs(n > 1 ? ", gaps in ms\n" : "\n", out);
  for (uint64_t i = 0; i < listed && i < most; i++)
    print_episode(out, m, r, rank[i].index);
  mill_release(rank);
  return 0;
}

static void print_share(FILE *out, const char *what, double share, uint64_t part, uint64_t all, const char *of)
{
  fprintf(out, "%s ", what);
  if (all)
    print_number(out, "%.4g", share);
  else
    fputc('-', out);
  fprintf(out, " (%" PRIu64 " of %" PRIu64 " %s)", part, all, of);
}

static void print_score(FILE *out, const struct mill_mining *m, const struct mill_mining_report *r)
{
  struct mill_mining_score s;
  if (mill_mining_score(m, &s) < 0)
    return;
  fprintf(out, "against %s: ", r->truth);
  print_share(out, "precision", s.precision, s.pairs - s.pairs_false, s.pairs, "pairs found");
  print_share(out, ", recall", s.recall, s.links_found, s.links, "links planted");
  fprintf(out, "; %u of %u chains found whole\n", s.chains_found, s.chains);
}

static void print_verdict(FILE *out, const struct mill_mining_report *r)
{
  char q[32];
  if (r->tested)
    fprintf(out, "%" PRIu64 " significant at q <= %s, of %" PRIu64 " candidates of two and more nodes\n", r->significant,
            mill_text_double(q, r->q), r->tested_candidates);
  else if (strcmp(r->significance, "none") != 0)
    fputs("NOT tested\n", out);
}

int mill_mine_table(FILE *out, const struct mill_mining *m, uint64_t most, struct mill_error *error)
{
  struct mill_mining_report r;
  struct mill_mining_level level;
  char memory[32], text[64];
  uint64_t end;
  mill_mining_report(m, &r);
  print_head(out, m, &r);
  end = r.listed;
  for (uint32_t n = r.levels; most && n; n--) {
    mill_mining_level(m, n, &level);
    end -= level.listed;
    if (level.listed && print_level(out, m, &r, n, end, &level, most, error) < 0)
      return -1;
  }
  mill_text_format(text, sizeof text, "%.3g", r.wall_s);
  fprintf(out, "%s%" PRIu64 " frequent episode%s in %u level%s, ", most ? "\n" : "", r.episodes, r.episodes == 1 ? "" : "s",
          r.levels, r.levels == 1 ? "" : "s");
  if (strcmp(r.reduce, "none") != 0)
    fprintf(out, "%" PRIu64 " of them %s, ", r.listed, r.reduce);
  fprintf(out, "%s s, %s; count hash %016" PRIx64 "\n", text, mill_memory_text(memory, r.memory_bytes), r.count_hash);
  print_score(out, m, &r);
  if (!r.complete)
    fputs("NOT complete: there may be longer episodes\n", out);
  print_verdict(out, &r);
  return mill_mine_done(out, error);
}

/* ---- CSV ---- */

/* A name in a list that blanks separate. */
static void put_name(char **p, const char *name)
{
  int quotes = *name == 0 || strpbrk(name, " \"") != NULL;
  if (quotes)
    *(*p)++ = '"';
  for (; *name; name++) {
    if (*name == '"')
      *(*p)++ = '"';
    *(*p)++ = *name;
  }
  if (quotes)
    *(*p)++ = '"';
}

/* The levels' culled candidates and methods, when there are any, as lists in order of level. */
static void print_csv_levels(FILE *out, const struct mill_mining *m)
{
  const struct told told = told_of(m);
  struct mill_mining_level level;
  for (uint32_t n = 1; told.culled && mill_mining_level(m, n, &level) == 0; n++)
    fprintf(out, "%s%" PRIu64, n == 1 ? "# culled " : " ", level.culled);
  fputs(told.culled ? "\n" : "", out);
  for (uint32_t n = 1; told.method && mill_mining_level(m, n, &level) == 0; n++)
    fprintf(out, "%s%s", n == 1 ? "# counted_by " : " ", level.method ? level.method : "-");
  fputs(told.method ? "\n" : "", out);
}

void mill_mine_field(FILE *out, const char *text)
{
  if (!strpbrk(text, ",;\"#'\t")) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

char *mill_mine_types(const struct mill_mining *m, const struct mill_mining_episode *episode)
{
  size_t size = 1;
  char *text, *p;
  for (uint32_t k = 0; k < episode->length; k++)
    size += 2 * strlen(mill_mining_type(m, episode->type[k])) + 3;
  p = text = malloc(size);
  if (!text)
    return NULL;
  for (uint32_t k = 0; k < episode->length; k++) {
    if (k)
      *p++ = ' ';
    put_name(&p, mill_mining_type(m, episode->type[k]));
  }
  *p = 0;
  return text;
}

static void print_csv_tests(FILE *out, const struct mill_mining_report *r, const struct mill_mining_episode *episode)
{
  double value[MILL_MINE_TESTS];
  char number[32];
  mill_mine_tests(episode, value);
  for (int i = 0; i < mill_mine_test_count(r); i++)
    fprintf(out, ",%s", isnan(value[i]) ? "" : mill_text_double(number, value[i]));
}

/* Whether lines go on with the tests. Those of windows have the same columns, also when the user stopped a test. */
static int has_tests(const struct mill_mining_report *r)
{
  return r->window ? strcmp(r->significance, "none") != 0 : r->tested;
}

/* Of a window: number, start and stop, in front of its lines. */
static void print_csv_window(FILE *out, const struct mill_mining_report *r)
{
  char start[64], stop[64];
  if (r->window)
    fprintf(out, "%" PRIu64 ",%s,%s,", r->window, mill_text_ms(start, r->window_start, r->tick_ps),
            mill_text_ms(stop, r->window_stop, r->tick_ps));
}

static int print_csv_episode(FILE *out, const struct mill_mining *m, const struct mill_mining_report *r,
                             const struct mill_mining_episode *episode, struct mill_error *error)
{
  char number[32], *types = mill_mine_types(m, episode);
  if (!types)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  print_csv_window(out, r);
  fprintf(out, "%u,%" PRIu64 ",%s,", episode->length, episode->count, mill_mine_rate(number, episode->count, r->duration_s, ""));
  mill_mine_field(out, types);
  free(types);
  fputc(',', out);
  for (uint32_t k = 0; k + 1 < episode->length; k++) {
    fputs(k ? " " : "\"", out);
    print_interval(out, episode->low[k], episode->high[k], r->tick_ps);
  }
  fputs(episode->length > 1 ? "\"" : "", out);
  if (has_tests(r))
    print_csv_tests(out, r, episode);
  fputc('\n', out);
  return 0;
}

void mill_mine_head(FILE *out, const struct mill_mining *m, const struct mill_mining_report *r)
{
  char number[32];
  if (r->window <= 1) {
    fprintf(out, "# spikemill %s\n", mill_version());
    mill_write_config(out, mill_mining_config(m));
  }
  if (r->window)
    fprintf(out, "# window %" PRIu64 " of %" PRIu64 "\n", r->window, r->windows);
  fprintf(out,
          "# input %s\n# spike_hash %016" PRIx64 "\n# events %" PRIu64 "\n# types %u\n# duration_s %s\n# support %" PRIu64 "\n",
          r->input, r->spike_hash, r->events, r->types, mill_text_double(number, r->duration_s), r->support);
  fprintf(out, "# levels %u\n# episodes %" PRIu64 "\n# listed %" PRIu64 "\n# count_hash %016" PRIx64 "\n# complete %s\n", r->levels,
          r->episodes, r->listed, r->count_hash, r->complete ? "yes" : "no");
  fputs(r->exact ? "# exact yes\n" : "# exact no: counts are upper bounds\n", out);
  print_csv_levels(out, m);
  if (strcmp(r->significance, "none") != 0)
    fprintf(out, "# tested %s\n", r->tested ? "yes" : "no");
  if (r->tested)
    fprintf(out, "# tested_candidates %" PRIu64 "\n# significant %" PRIu64 "\n", r->tested_candidates, r->significant);
}

int mill_mine_csv(FILE *out, const struct mill_mining *m, struct mill_error *error)
{
  struct mill_mining_report r;
  struct mill_mining_episode episode;
  mill_mining_report(m, &r);
  mill_mine_head(out, m, &r);
  if (r.window <= 1) {
    fprintf(out, "%slength,count,rate_hz,types,intervals_ms", r.window ? "window,start_ms,stop_ms," : "");
    for (int i = 0; has_tests(&r) && i < mill_mine_test_count(&r); i++)
      fprintf(out, ",%s", mill_mine_test_name[i]);
    fputc('\n', out);
  }
  for (uint64_t i = 0; mill_mining_episode(m, i, &episode) == 0; i++)
    if (print_csv_episode(out, m, &r, &episode, error) < 0)
      return -1;
  return mill_mine_done(out, error);
}
