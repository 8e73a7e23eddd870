/* Windows one after the other: blocks of a table, lines of one CSV file, or an array in one JSON object. A whole is what it is alone. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mine-series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "command.h"
#include "mine-report.h"
#include "output.h"
#include "text.h"

static int add_table(struct mill_series *s, const struct mill_mining *mining, struct mill_error *error)
{
  if (s->count)
    fputc('\n', s->out);
  return mill_mine_table(s->out, mining, s->most, error);
}

static int add_csv(struct mill_series *s, const struct mill_mining *mining, struct mill_error *error)
{
  return mill_mine_csv(s->out, mining, error);
}

static int add_json(struct mill_series *s, const struct mill_mining *mining, struct mill_error *error)
{
  struct mill_mining_report r;
  mill_mining_report(mining, &r);
  if (r.window && s->count)
    fputs(",\n", s->out);
  else if (r.window)
    fprintf(s->out, "{\n  \"version\": \"%s\",\n  \"windows\": [\n", mill_version());
  return mill_mine_json(s->out, mining, error);
}

static void end_table(const struct mill_series *s, uint64_t windows, int complete)
{
  if (!complete)
    fprintf(s->out, "\nNOT complete: %" PRIu64 " of %" PRIu64 " windows\n", s->count - (uint64_t)s->partial, windows);
}

static void end_csv(const struct mill_series *s, uint64_t windows, int complete)
{
  fprintf(s->out, "# windows %" PRIu64 " of %" PRIu64 "\n# all_complete %s\n", s->count - (uint64_t)s->partial, windows,
          complete ? "yes" : "no");
}

static void end_json(const struct mill_series *s, uint64_t windows, int complete)
{
  fprintf(s->out, "  ],\n  \"windows_asked\": %" PRIu64 ",\n  \"complete\": %s\n}\n", windows, complete ? "true" : "false");
}

static const struct format {
  int (*add)(struct mill_series *s, const struct mill_mining *mining, struct mill_error *error);
  void (*end)(const struct mill_series *s, uint64_t windows, int complete);
} formats[] = {
    [MILL_SERIES_TABLE] = {add_table, end_table},
    [MILL_SERIES_CSV] = {add_csv, end_csv},
    [MILL_SERIES_JSON] = {add_json, end_json},
};

int mill_mine_has_result(const struct mill_mining *mining, const struct mill_error *error)
{
  struct mill_mining_report r;
  mill_mining_report(mining, &r);
  return r.levels > 0 && (r.complete || error->status == MILL_INTERRUPTED || error->status == MILL_RESOURCES);
}

static int on_progress(const struct mill_mining_progress *state, void *self)
{
  mill_progress_mining(self, state);
  return mill_interrupted();
}

int mill_mine_run(struct mill_mining *mining, int quiet, struct mill_error *error)
{
  struct mill_progress progress;
  mill_progress_begin(&progress, quiet);
  const int rc = mill_mining_run(mining, on_progress, &progress, error);
  mill_progress_end(&progress);
  return rc;
}

int mill_series_form(const struct mill_series *series, size_t n, const struct mill_mining *mining, uint64_t before, int rc,
                     struct mill_series_text *text, struct mill_error *error)
{
  for (size_t i = 0; i < n; i++) {
    struct mill_series s = series[i];
    if (!s.out)
      continue;
    s.count = before;
    s.out = open_memstream(&text[i].bytes, &text[i].size);
    if (!s.out || formats[s.format].add(&s, mining, rc < 0 ? NULL : error) < 0)
      rc = s.out ? -1 : mill_fail(rc < 0 ? NULL : error, MILL_RESOURCES, "out of memory for a result");
    if (s.out && fclose(s.out) != 0)
      rc = mill_fail(rc < 0 ? NULL : error, MILL_RESOURCES, "out of memory for a result");
  }
  return rc;
}

static int refused(const struct mill_series *s, struct mill_error *error)
{
  return mill_output_refused(s->out == stdout ? NULL : "the result", error);
}

/* What a result has added is written; rc is what has become of it. */
static int finish(struct mill_series *s, int rc, struct mill_error *error)
{
  if (fflush(s->out) != 0 && rc == 0)
    rc = refused(s, error);
  s->count++;
  s->partial = rc < 0;
  return rc;
}

int mill_series_put(struct mill_series *series, size_t n, const struct mill_series_text *text, int rc, struct mill_error *error)
{
  for (size_t i = 0; i < n; i++) {
    if (!series[i].out)
      continue;
    if (fwrite(text[i].bytes, 1, text[i].size, series[i].out) < text[i].size && rc == 0)
      rc = refused(&series[i], error);
    rc = finish(&series[i], rc, error);
  }
  return rc;
}

void mill_series_forget(struct mill_series_text *text, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    free(text[i].bytes);
    text[i] = (struct mill_series_text){0};
  }
}

int mill_series_add(struct mill_series *series, size_t n, const struct mill_mining *mining, int rc, struct mill_error *error)
{
  for (size_t i = 0; i < n; i++) {
    if (!series[i].out)
      continue;
    if (formats[series[i].format].add(&series[i], mining, rc < 0 ? NULL : error) < 0)
      rc = -1;
    rc = finish(&series[i], rc, error);
  }
  return rc;
}

int mill_series_run(struct mill_series *series, size_t n, struct mill_mining *mining, int quiet, struct mill_error *error)
{
  const int rc = mill_mine_run(mining, quiet, error);
  return rc < 0 && !mill_mine_has_result(mining, error) ? -1 : mill_series_add(series, n, mining, rc, error);
}

int mill_series_mine(struct mill_series *series, size_t n, struct mill_mining *whole, uint64_t index, int quiet,
                     struct mill_error *error)
{
  struct mill_mining *window = NULL;
  int rc = mill_mining_window(whole, index, &window, error);
  if (rc == 0)
    rc = mill_series_run(series, n, window, quiet, error);
  if (rc < 0)
    mill_fail_within(error, "window %" PRIu64, index + 1);
  mill_mining_free(window);
  return rc;
}

int mill_series_end(struct mill_series *s, const struct mill_mining *whole, int complete, struct mill_error *error)
{
  const uint64_t windows = mill_mining_windows(whole);
  if (!s->out || !s->count)
    return 0;
  if (windows)
    formats[s->format].end(s, windows, complete);
  return ferror(s->out) ? mill_fail(error, MILL_RESOURCES, "the result cannot be written") : 0;
}

int mill_series_commit(struct mill_series *s, const char *path, char *part, int rc, struct mill_error *error)
{
  struct mill_error *const first = rc < 0 ? NULL : error;
  const int bad = ferror(s->out), closed = fclose(s->out) == 0;
  s->out = NULL;
  if (!bad && closed && s->count) {
    s->written = mill_output_commit(path, part, first) == 0;
    return s->written ? rc : -1;
  }
  if (bad || !closed)
    rc = mill_fail(first, MILL_RESOURCES, "%s: %s", path, closed ? "cannot be written" : mill_text_errno(errno));
  mill_output_forget(part);
  return rc;
}
