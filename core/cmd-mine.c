/* spikemill mine: find the frequent episodes of a recording and say which they are. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include "mine-files.h"
#include "mine-report.h"
#include "mine-series.h"
#include "output.h"

struct request {
  struct mill_request common;
  const char *output;
};
static const struct mill_row rows[] = {
    MILL_ROW_TEXT("output", 'o', "FILE", "write the listed episodes to FILE.csv, FILE.json or FILE.txt", struct request, output),
    MILL_ROWS_MINING,
    MILL_ROWS_SIGNIFICANCE,
    MILL_ROW_KEY("seed", "N", "seed of the surrogates (default: 1)", "mining.seed"),
    MILL_ROW_KEY("window", "S", "mine windows of so many seconds, each by itself", "mining.window"),
    MILL_ROW_KEY("step", "S", "from the start of a window to that of the next (default: window)", "mining.step"),
    MILL_ROW_KEY("counter", "NAME", "how episodes are counted (default: latest-start)", "mining.counter"),
    MILL_ROW_KEY("backend", "auto|cpu|cuda", "where to count", "mining.backend"),
    MILL_ROW_KEY("threads", "N", "worker threads (default: one a processor)", "mining.threads"),
    MILL_ROW_KEY("reduce", "none|closed|maximal", "which frequent episodes are listed (default: none, all of them)",
                 "mining.reduce"),
    MILL_ROW_PATH("occurrences", "FILE", "write the times of the occurrences of the listed episodes to FILE.csv",
                  "mining.occurrences"),
    MILL_ROW_PATH("graph", "FILE", "write the links between types to FILE.csv, FILE.dot or FILE.gv", "mining.graph"),
    MILL_ROW_PATH("truth", "FILE", "tell how much of what was planted is found: FILE.truth.ini of spikemill generate",
                  "mining.truth"),
    MILL_ROWS_COMMON("no progress, no table"),
};
#define COUNT (sizeof rows / sizeof *rows)
MILL_ROWS_FIT(rows);

/* The episodes are shown when they are in no file. */
static int print(const struct request *q, const struct mill_mining *m, const struct mill_mine_files *files,
                 struct mill_error *error)
{
  if (q->common.json) {
    if (mill_mine_json(stdout, m, error) < 0)
      return -1;
  } else if (!q->common.quiet) {
    if (mill_mine_table(stdout, m, files->file[MILL_MINE_EPISODES].written ? 0 : MILL_MINE_SHOWN, error) < 0)
      return -1;
    for (int i = 0; i < MILL_MINE_FILES; i++)
      if (files->file[i].written)
        printf("wrote %s\n", files->file[i].path);
  }
  return fflush(stdout) == 0 ? 0 : mill_output_refused(NULL, error);
}

/* Writes and prints what there is. The first error is told. */
static int tell(const struct request *q, struct mill_mining *m, struct mill_mine_files *files, struct mill_error *error)
{
  int rc = mill_mine_files_write(files, m, error);
  return print(q, m, files, rc < 0 ? NULL : error) < 0 ? -1 : rc;
}

/* A job with windows has no other file than that of episodes. */
static int mine_windows(const struct request *q, struct mill_mining *m, struct mill_mine_files *files, struct mill_error *error)
{
  const struct mill_series_places places = {.output = q->output,
                                            .format = q->output ? mill_mine_files_format(q->output) : MILL_SERIES_TABLE,
                                            .most = MILL_MINE_SHOWN,
                                            .json = q->common.json,
                                            .quiet = q->common.quiet};
  char *part = files->file[MILL_MINE_EPISODES].part;
  files->file[MILL_MINE_EPISODES].part = NULL;
  return mill_series_all(m, &places, part, error);
}

static int mine(const struct request *q, struct mill_error *error)
{
  struct mill_mining *m = NULL;
  struct mill_mining_report report;
  struct mill_mine_files files = {0};
  int rc = -1;
  mill_interrupt_catch();
  if (mill_mining_open(q->common.path, (const char *const *)q->common.overrides.text, q->common.overrides.count, &m, error) < 0)
    return -1;
  mill_mining_report(m, &report);
  if (mill_mine_files_begin(&files, q->output, q->common.path, &report, error) < 0)
    goto done;
  if (mill_mining_windows(m)) {
    rc = mine_windows(q, m, &files, error);
    goto done;
  }
  rc = mill_mine_run(m, q->common.quiet || q->common.json, error);
  if (rc < 0 && !mill_mine_has_result(m, error))
    goto done;
  if (tell(q, m, &files, rc < 0 ? NULL : error) < 0)
    rc = -1;
done:
  mill_mine_files_forget(&files);
  mill_mining_free(m);
  return rc;
}

static int parse(struct request *q, int argc, char **argv, struct mill_error *error)
{
  static const struct mill_request_words words = {"recording or job", "mine SPIKES --support 2/s --intervals '(0,5] (5,10] ms'"};
  if (mill_request_parse(&q->common, rows, COUNT, argc, argv, &words, error) < 0)
    return -1;
  return q->output ? mill_mine_files_check(q->output, error) : 0;
}

int mill_cmd_mine(int argc, char **argv)
{
  struct request q = {0};
  struct mill_error error = {0};
  int status = MILL_OK;
  if (parse(&q, argc, argv, &error) < 0)
    status = mill_report_error(&error);
  else if (q.common.help)
    mill_request_usage(stdout, "mine SPIKES|JOB.ini|DIR [option]…",
                       "Finds the frequent serial episodes of a recording, of what a job file names, or of the folder of a run.\n"
                       "Needs a support and intervals, as --support 2/s --intervals '(0,5] (5,10] ms'.",
                       rows, COUNT);
  else if (mine(&q, &error) < 0)
    status = mill_report_error(&error);
  mill_overrides_free(&q.common.overrides);
  return status;
}
