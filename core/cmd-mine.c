/* spikemill mine: find the frequent episodes of a recording and say which they are. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mine-report.h"
#include "output.h"

struct request {
  struct mill_request common;
  const char *output;
};
static const struct mill_row rows[] = {
    MILL_ROW_TEXT("output", 'o', "FILE", "write all episodes to FILE.csv, FILE.json or FILE.txt", struct request, output),
    MILL_ROWS_MINING,
    MILL_ROW_KEY("counter", "NAME", "how episodes are counted (default: latest-start)", "mining.counter"),
    MILL_ROW_KEY("backend", "auto|cpu|cuda", "where to count", "mining.backend"),
    MILL_ROW_KEY("threads", "N", "worker threads (default: one a processor)", "mining.threads"),
    MILL_ROWS_COMMON("no progress, no table"),
};
#define COUNT (sizeof rows / sizeof *rows)
MILL_ROWS_FIT(rows);
#define SHOWN 20 /* episodes of a level in the table */

static int write_table(FILE *out, const struct mill_mining *m, struct mill_error *error)
{
  return mill_mine_table(out, m, UINT64_MAX, error);
}

static const struct writer {
  const char *extension;
  int (*write)(FILE *out, const struct mill_mining *m, struct mill_error *error);
} writers[] = {{".csv", mill_mine_csv}, {".json", mill_mine_json}, {".txt", write_table}};
#define WRITERS (sizeof writers / sizeof *writers)

static const struct writer *writer_of(const char *path)
{
  size_t n = strlen(path);
  for (size_t i = 0; i < WRITERS; i++) {
    size_t m = strlen(writers[i].extension);
    if (n > m && strcmp(path + n - m, writers[i].extension) == 0)
      return &writers[i];
  }
  return NULL;
}

static int write_file(const struct request *q, const struct mill_mining *m, char *part, struct mill_error *error)
{
  FILE *out = fopen(part, "w");
  int rc = -1;
  if (!out)
    mill_fail(error, MILL_RESOURCES, "%s: %s", q->output, strerror(errno));
  else if (writer_of(q->output)->write(out, m, error) < 0)
    mill_fail_within(error, "%s", q->output);
  else
    rc = 0;
  if (out && fclose(out) != 0 && rc == 0)
    rc = mill_fail(error, MILL_RESOURCES, "%s: %s", q->output, strerror(errno));
  if (rc == 0)
    return mill_output_commit(q->output, part, error);
  mill_output_forget(part);
  return -1;
}

static int on_progress(const struct mill_mining_progress *state, void *self)
{
  mill_progress_mining(self, state);
  return mill_interrupted();
}

/* Prints and writes what there is. Takes the part. */
static int tell(const struct request *q, const struct mill_mining *m, char *part, struct mill_error *error)
{
  const int written = part && write_file(q, m, part, error) == 0; /* when it is not, all of it is shown */
  int rc = part && !written ? -1 : 0;
  struct mill_error *const first = rc < 0 ? NULL : error;
  if (q->common.json) {
    if (mill_mine_json(stdout, m, first) < 0)
      return -1;
  } else if (!q->common.quiet) {
    if (mill_mine_table(stdout, m, written ? 0 : SHOWN, first) < 0)
      return -1;
    if (written)
      printf("wrote %s\n", q->output);
  }
  if (fflush(stdout) != 0)
    rc = mill_fail(first, MILL_RESOURCES, "standard output: cannot write");
  return rc;
}

static int mine(const struct request *q, struct mill_error *error)
{
  struct mill_mining *m = NULL;
  struct mill_mining_report report;
  struct mill_progress progress;
  char *part = NULL;
  int rc = -1;
  mill_interrupt_catch();
  if (mill_mining_open(q->common.path, (const char *const *)q->common.overrides.text, q->common.overrides.count, &m, error) < 0)
    return -1;
  mill_mining_report(m, &report);
  if (q->output && (mill_output_spares(q->output, report.input, error) < 0 ||
                    mill_output_spares(q->output, q->common.path, error) < 0 || mill_output_begin(q->output, &part, error) < 0))
    goto done;
  mill_progress_begin(&progress, q->common.quiet || q->common.json);
  rc = mill_mining_run(m, on_progress, &progress, error);
  mill_progress_end(&progress);
  mill_mining_report(m, &report);
  if (rc < 0 && (report.levels == 0 || (error->status != MILL_INTERRUPTED && error->status != MILL_RESOURCES)))
    goto done;
  if (tell(q, m, part, rc < 0 ? NULL : error) < 0)
    rc = -1;
  part = NULL;
done:
  mill_output_forget(part);
  mill_mining_free(m);
  return rc;
}

static int parse(struct request *q, int argc, char **argv, struct mill_error *error)
{
  static const struct mill_request_words words = {"recording or job", "mine SPIKES --support 2/s --intervals '(0,5] (5,10] ms'"};
  if (mill_request_parse(&q->common, rows, COUNT, argc, argv, &words, error) < 0)
    return -1;
  if (q->output && !writer_of(q->output))
    return mill_fail(error, MILL_USAGE, "--output %s: the name of the file ends in .csv, .json or .txt", q->output);
  return 0;
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
