/* Files that a mining job names. A path starts at the folder of the job's file; a result has an ending that says what it is. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "text.h"

static const struct ending {
  const char *text;
  enum mill_graph_format format;
} graphs[] = {{".csv", MILL_GRAPH_CSV}, {".dot", MILL_GRAPH_DOT}, {".gv", MILL_GRAPH_DOT}};
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static int has_ending(const char *path, const char *ending)
{
  size_t n = strlen(path), m = strlen(ending);
  return n > m && path[n - m - 1] != '/' && strcmp(path + n - m, ending) == 0;
}

enum mill_graph_format mill_graph_format(const char *path)
{
  for (size_t i = 0; i < COUNT(graphs); i++)
    if (has_ending(path, graphs[i].text))
      return graphs[i].format;
  return MILL_GRAPH_NONE;
}

char *mill_job_path(const struct mill_job *job, const char *path)
{
  size_t n = strlen(job->folder) + strlen(path) + 1;
  char *whole = malloc(n);
  if (whole)
    mill_text_format(whole, n, "%s%s", path[0] == '/' ? "" : job->folder, path);
  return whole;
}

int mill_job_files(struct mill_job *job, const struct mill_job_names *names, struct mill_error *error)
{
  const struct {
    const char *name;
    char **path;
  } row[] = {{names->occurrences, &job->occurrences}, {names->graph, &job->graph}, {names->truth, &job->truth}};
  if (names->occurrences && !has_ending(names->occurrences, ".csv"))
    return mill_place_fail(error, &job->place, "occurrences", "the name of the file ends in .csv");
  if (names->graph && mill_graph_format(names->graph) == MILL_GRAPH_NONE)
    return mill_place_fail(error, &job->place, "graph", "the name of the file ends in .csv, or in .dot or .gv");
  for (size_t i = 0; i < COUNT(row); i++)
    if (row[i].name && !(*row[i].path = mill_job_path(job, row[i].name)))
      return mill_fail(error, MILL_RESOURCES, "out of memory");
  return 0;
}
