/* The files of a mining. Their unfinished forms are made before anything is counted. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mine-files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mine-graph.h"
#include "mine-report.h"
#include "output.h"
#include "text.h"

static int write_table(FILE *out, const struct mill_mining *m, struct mill_error *error)
{
  return mill_mine_table(out, m, UINT64_MAX, error);
}

static const struct writer {
  const char *extension;
  int (*write)(FILE *out, const struct mill_mining *m, struct mill_error *error);
  enum mill_series_format format;
} writers[] = {{".csv", mill_mine_csv, MILL_SERIES_CSV},
               {".json", mill_mine_json, MILL_SERIES_JSON},
               {".txt", write_table, MILL_SERIES_TABLE}};
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

static int write_episodes(FILE *out, struct mill_mining *m, const char *path, struct mill_error *error)
{
  return writer_of(path)->write(out, m, error);
}

static int write_graph(FILE *out, struct mill_mining *m, const char *path, struct mill_error *error)
{
  (void)path;
  return mill_mine_graph(out, m, error);
}

static int write_occurrences(FILE *out, struct mill_mining *m, const char *path, struct mill_error *error)
{
  (void)path;
  return mill_mine_occurrences(out, m, error);
}

static const struct kind {
  const char *option;
  int (*write)(FILE *out, struct mill_mining *m, const char *path, struct mill_error *error);
} kinds[MILL_MINE_FILES] = {
    [MILL_MINE_EPISODES] = {"output", write_episodes},
    [MILL_MINE_GRAPH] = {"graph", write_graph},
    [MILL_MINE_OCCURRENCES] = {"occurrences", write_occurrences},
};

int mill_mine_files_check(const char *output, struct mill_error *error)
{
  if (!writer_of(output))
    return mill_fail(error, MILL_USAGE, "--output %s: the name of the file ends in .csv, .json or .txt", output);
  return 0;
}

enum mill_series_format mill_mine_files_format(const char *output)
{
  return writer_of(output)->format;
}

static int check_others(const struct mill_mine_files *files, enum mill_mine_kind kind, struct mill_error *error)
{
  const struct mill_mine_file *file = files->file;
  for (int other = 0; other < (int)kind; other++)
    if (file[other].path && mill_output_is(file[other].path, file[kind].path))
      return mill_fail(error, MILL_USAGE, "--%s %s: is the file of --%s as well", kinds[kind].option, file[kind].path,
                       kinds[other].option);
  return 0;
}

/* ---- Files ---- */

int mill_mine_files_begin(struct mill_mine_files *files, const char *output, const char *job,
                          const struct mill_mining_report *report, struct mill_error *error)
{
  files->file[MILL_MINE_EPISODES].path = output;
  files->file[MILL_MINE_GRAPH].path = report->graph;
  files->file[MILL_MINE_OCCURRENCES].path = report->occurrences;
  for (int kind = 0; kind < MILL_MINE_FILES; kind++) {
    struct mill_mine_file *file = &files->file[kind];
    if (file->path && (mill_output_spares(file->path, report->input, error) < 0 || mill_output_spares(file->path, job, error) < 0 ||
                       mill_output_spares(file->path, report->truth, error) < 0 ||
                       mill_output_begin(file->path, &file->part, error) < 0 || check_others(files, kind, error) < 0))
      return -1;
  }
  return 0;
}

static int write_one(struct mill_mine_file *file, const struct kind *kind, struct mill_mining *m, struct mill_error *error)
{
  FILE *out = fopen(file->part, "w");
  char *part = file->part;
  int rc = -1;
  if (!out)
    mill_fail(error, MILL_RESOURCES, "%s: %s", file->path, mill_text_errno(errno));
  else if (kind->write(out, m, file->path, error) < 0)
    mill_fail_within(error, "%s", file->path);
  else
    rc = 0;
  if (out && fclose(out) != 0 && rc == 0)
    rc = mill_fail(error, MILL_RESOURCES, "%s: %s", file->path, mill_text_errno(errno));
  if (rc < 0)
    return -1;
  file->part = NULL;
  file->written = mill_output_commit(file->path, part, error) == 0;
  return file->written ? 0 : -1;
}

int mill_mine_files_write(struct mill_mine_files *files, struct mill_mining *m, struct mill_error *error)
{
  for (int kind = 0; kind < MILL_MINE_FILES; kind++)
    if (files->file[kind].part && write_one(&files->file[kind], &kinds[kind], m, error) < 0)
      return -1;
  return 0;
}

void mill_mine_files_forget(struct mill_mine_files *files)
{
  for (int kind = 0; kind < MILL_MINE_FILES; kind++) {
    mill_output_forget(files->file[kind].part);
    files->file[kind].part = NULL;
  }
}
