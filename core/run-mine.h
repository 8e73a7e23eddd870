/* run --mine: the spikes of a simulation are mined as they come, window by window, or all of them at the end. Results go to mining.csv in the
   folder of the run, and to standard output. */
#ifndef MILL_RUN_MINE_H
#define MILL_RUN_MINE_H

#include "command.h"
#include "mine-series.h"

enum { MILL_LIVE_SHOWN, MILL_LIVE_FILED, MILL_LIVE_PLACES };

struct mill_live {
  struct mill_mining *mining; /* NULL: nothing is mined */
  struct mill_group *group;   /* names of its units */
  struct mill_series series[MILL_LIVE_PLACES];
  uint64_t window; /* the next one */
  int json, quiet;
  int stopped; /* by a limit: error holds which. The simulation goes on */
  struct mill_error error;
  char *path, *part; /* mining.csv */
  int written;       /* it is in its place */
  char *text;        /* of the JSON object, NULL: none */
  size_t size;
};

/* Reads and checks the job before anything is simulated; `how` has the folder of its file. On failure, too, it is to be freed. */
int mill_live_open(struct mill_live *live, const char *job, const struct mill_options *how, const char *source,
                   struct mill_simulation *simulation, struct mill_error *error);

/* The step at which the next window can be mined; INT64_MAX when there is none. */
int64_t mill_live_next(const struct mill_live *live);

/* Mines the windows that end at `step` or before; the simulation's progress makes way for what is printed. What stops the mining is kept
   for mill_live_finish. */
void mill_live_mine(struct mill_live *live, int64_t step, struct mill_progress *progress);

/* After the simulation, which has come to `step`: mines all when there are no windows, and puts the file in its place. */
int mill_live_finish(struct mill_live *live, int64_t step, struct mill_error *error);

/* The file, when it is in its place; else NULL. */
const char *mill_live_file(const struct mill_live *live);

void mill_live_free(struct mill_live *live);

#endif
