/* The files that a mining leaves: episodes, graph, occurrences. Each appears whole or not at all. */
#ifndef MILL_MINE_FILES_H
#define MILL_MINE_FILES_H

#include <stdio.h>
#include <spikemill/mining.h>
#include "mine-series.h"

enum mill_mine_kind { MILL_MINE_EPISODES, MILL_MINE_GRAPH, MILL_MINE_OCCURRENCES, MILL_MINE_FILES };

/* Zeroed before the first call. */
struct mill_mine_files {
  struct mill_mine_file {
    const char *path;  /* NULL: not asked for; the mining's or the caller's, who keeps it */
    char *part;
    int written;       /* 1: it is there */
  } file[MILL_MINE_FILES];
};

/* Whether a file of episodes can have this name; MILL_USAGE when not. */
int mill_mine_files_check(const char *output, struct mill_error *error);

/* What the name of a file of episodes, which has been checked, says of its format. */
enum mill_series_format mill_mine_files_format(const char *output);

/* Before anything is counted: makes the unfinished files, so that a place that cannot be written is known then. `output` (the file
   of episodes) may be NULL, the others are those of the report; `job` is what the user named as input. MILL_USAGE when a file would
   replace another one or something that is read. */
int mill_mine_files_begin(struct mill_mine_files *files, const char *output, const char *job, const struct mill_mining_report *report,
                          struct mill_error *error);

/* Afterwards: writes them one by one, and puts each in its place. What follows one that fails is not written. */
int mill_mine_files_write(struct mill_mine_files *files, struct mill_mining *mining, struct mill_error *error);

/* Removes what is not finished. */
void mill_mine_files_forget(struct mill_mine_files *files);

/* The occurrences of each listed episode of two nodes or more: a head of comments and one line for each,
   "episode,occurrence,types,times_ms", the first two counted from 0, an episode's among all listed ones. Ends with MILL_INTERRUPTED
   after an interruption. */
int mill_mine_occurrences(FILE *out, struct mill_mining *mining, struct mill_error *error);

#endif
