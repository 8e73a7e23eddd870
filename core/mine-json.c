/* A mining as JSON, written episode by episode, so that a million of them need no memory of their own. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mine-report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <spikemill/counter.h>
#include <spikemill/spikemill.h>
#include "text.h"

static void print_string(FILE *out, const char *text)
{
  fputc('"', out);
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    if (*p == '"' || *p == '\\')
      fprintf(out, "\\%c", *p);
    else if (*p < 0x20)
      fprintf(out, "\\u%04x", *p);
    else
      fputc(*p, out);
  }
  fputc('"', out);
}

static void print_member(FILE *out, const char *key, const char *raw)
{
  fprintf(out, "  \"%s\": %s,\n", key, raw);
}

static void print_text(FILE *out, const char *key, const char *text)
{
  fprintf(out, "  \"%s\": ", key);
  print_string(out, text);
  fputs(",\n", out);
}

static void print_int(FILE *out, const char *key, uint64_t value)
{
  fprintf(out, "  \"%s\": %" PRIu64 ",\n", key, value);
}

static void print_hash(FILE *out, const char *key, uint64_t value)
{
  fprintf(out, "  \"%s\": \"%016" PRIx64 "\",\n", key, value);
}

static void print_json_significance(FILE *out, const struct mill_mining_report *r)
{
  char number[32];
  print_text(out, "significance", r->significance);
  if (r->surrogates) {
    print_int(out, "surrogates", r->surrogates);
    print_text(out, "surrogate", r->surrogate);
    print_int(out, "seed", r->seed);
  }
  if (strcmp(r->significance, "none") == 0)
    return;
  print_member(out, "q", mill_text_double(number, r->q));
  if (!r->surrogates)
    print_member(out, "epsilon", mill_text_double(number, r->epsilon));
  print_member(out, "tested", r->tested ? "true" : "false");
  print_int(out, "tested_candidates", r->tested_candidates);
  print_int(out, "significant", r->significant);
}

static void print_json_head(FILE *out, const struct mill_mining *m, const struct mill_mining_report *r)
{
  char number[64];
  print_text(out, "version", mill_version());
  print_text(out, "config", mill_mining_config(m));
  if (r->window) {
    print_int(out, "window", r->window);
    print_member(out, "start_ms", mill_text_ms(number, r->window_start, r->tick_ps));
    print_member(out, "stop_ms", mill_text_ms(number, r->window_stop, r->tick_ps));
  }
  print_text(out, "input", r->input);
  print_hash(out, "spike_hash", r->spike_hash);
  print_member(out, "sorted", r->sorted ? "true" : "false");
  print_int(out, "events", r->events);
  print_int(out, "types", r->types);
  print_member(out, "tick_ms", mill_text_ms(number, 1, r->tick_ps));
  print_member(out, "first_ms", mill_text_ms(number, r->first, r->tick_ps));
  print_member(out, "last_ms", mill_text_ms(number, r->last, r->tick_ps));
  print_member(out, "duration_s", mill_text_double(number, r->duration_s));
  print_text(out, "counter", r->counter);
  print_member(out, "exact", r->exact ? "true" : "false");
  print_text(out, "backend", r->backend);
  print_int(out, "threads", r->threads);
  print_text(out, "ties", r->ties);
  print_member(out, "repeats", r->repeats ? "true" : "false");
  print_int(out, "max_length", r->max_length);
  print_int(out, "support", r->support);
  print_text(out, "support_asked", r->support_text);
  print_text(out, "reduce", r->reduce);
  print_int(out, "listed", r->listed);
  print_json_significance(out, r);
}

/* [[low, high], …] in ms. */
static void print_bounds(FILE *out, int first, int64_t low, int64_t high, int64_t tick_ps)
{
  char text[2][64];
  fprintf(out, "%s[%s, %s]", first ? "" : ", ", mill_text_ms(text[0], low, tick_ps), mill_text_ms(text[1], high, tick_ps));
}

static void print_json_levels(FILE *out, const struct mill_mining *m)
{
  struct mill_mining_level level;
  char number[32];
  fputs("  \"levels\": [", out);
  for (uint32_t n = 1; mill_mining_level(m, n, &level) == 0; n++) {
    fprintf(out,
            "%s\n    {\"level\": %u, \"candidates\": %" PRIu64 ", \"culled\": %" PRIu64 ", \"frequent\": %" PRIu64
            ", \"wall_s\": %s",
            n > 1 ? "," : "", n, level.candidates, level.culled, level.frequent, mill_text_double(number, level.wall_s));
    if (level.method) {
      fputs(", \"counted_by\": ", out);
      print_string(out, level.method);
    }
    fputc('}', out);
  }
  fputs("\n  ],\n", out);
}

static void print_json_episode(FILE *out, const struct mill_mining *m, const struct mill_mining_report *r,
                               const struct mill_mining_episode *episode)
{
  double value[MILL_MINE_TESTS];
  char number[32];
  fputs("\n    {\"types\": [", out);
  for (uint32_t k = 0; k < episode->length; k++) {
    fputs(k ? ", " : "", out);
    print_string(out, mill_mining_type(m, episode->type[k]));
  }
  fputs("], \"intervals_ms\": [", out);
  for (uint32_t k = 0; k + 1 < episode->length; k++)
    print_bounds(out, k == 0, episode->low[k], episode->high[k], r->tick_ps);
  fprintf(out, "], \"count\": %" PRIu64 ", \"rate_hz\": %s", episode->count,
          mill_mine_rate(number, episode->count, r->duration_s, "null"));
  mill_mine_tests(episode, value);
  for (int i = 0; r->tested && i < mill_mine_test_count(r); i++)
    fprintf(out, ", \"%s\": %s", mill_mine_test_name[i], isnan(value[i]) ? "null" : mill_text_double(number, value[i]));
  fputc('}', out);
}

static void print_json_score(FILE *out, const struct mill_mining *m, const struct mill_mining_report *r)
{
  struct mill_mining_score s;
  char number[32];
  if (mill_mining_score(m, &s) < 0) {
    print_member(out, "score", "null");
    return;
  }
  fputs("  \"score\": {\"truth\": ", out);
  print_string(out, r->truth);
  fprintf(out, ", \"precision\": %s", s.pairs ? mill_text_double(number, s.precision) : "null");
  fprintf(out, ", \"recall\": %s", s.links ? mill_text_double(number, s.recall) : "null");
  fprintf(out,
          ", \"links\": %" PRIu64 ", \"links_found\": %" PRIu64 ", \"pairs\": %" PRIu64 ", \"pairs_false\": %" PRIu64
          ", \"chains\": %u, \"chains_found\": %u},\n",
          s.links, s.links_found, s.pairs, s.pairs_false, s.chains, s.chains_found);
}

int mill_mine_json(FILE *out, const struct mill_mining *m, struct mill_error *error)
{
  struct mill_mining_report r;
  struct mill_mining_episode episode;
  char number[32];
  mill_mining_report(m, &r);
  fputs("{\n", out);
  print_json_head(out, m, &r);
  fputs("  \"intervals_ms\": [", out);
  for (uint32_t i = 0; i < r.interval_count; i++)
    print_bounds(out, i == 0, r.interval[i].low, r.interval[i].high, r.tick_ps);
  fputs("],\n", out);
  print_json_levels(out, m);
  fputs("  \"episodes\": [", out);
  for (uint64_t i = 0; mill_mining_episode(m, i, &episode) == 0; i++) {
    fputs(i ? "," : "", out);
    print_json_episode(out, m, &r, &episode);
  }
  fputs("\n  ],\n", out);
  print_json_score(out, m, &r);
  print_hash(out, "count_hash", r.count_hash);
  print_int(out, "memory_bytes", r.memory_bytes);
  print_member(out, "wall_s", mill_text_double(number, r.wall_s));
  fprintf(out, "  \"complete\": %s\n}\n", r.complete ? "true" : "false");
  return mill_mine_done(out, error);
}
