/* The results of minings, written as they come: those of windows one after the other, or the one of a whole. */
#ifndef MILL_MINE_SERIES_H
#define MILL_MINE_SERIES_H

#include <stdint.h>
#include <stdio.h>
#include <spikemill/mining.h>

enum mill_series_format { MILL_SERIES_TABLE, MILL_SERIES_CSV, MILL_SERIES_JSON };

/* One of the places that they are written to. Nothing is, before the first result. */
struct mill_series {
  FILE *out; /* NULL: none */
  enum mill_series_format format;
  uint64_t most;  /* episodes of a level in a table */
  uint64_t count; /* results so far, */
  int partial;    /* 1: of which the last is not complete */
  int written;    /* a file: it is in its place */
};

/* Runs a mining with progress on standard error unless `quiet`, until the user interrupts it. */
int mill_mine_run(struct mill_mining *mining, int quiet, struct mill_error *error);
/* Whether a mining that ended with `error` has something to tell: complete levels, when a limit or the user stopped it, or tests of what is
   complete failed. */
int mill_mine_has_result(const struct mill_mining *mining, const struct mill_error *error);

/* What a result adds to one of the series. Zeroed before. */
struct mill_series_text {
  char *bytes;
  size_t size;
};
/* Forms text[n] of a mining that was run, which ended with rc and has a result (mill_mine_has_result), `before` others being before it: of those
   that are written to. Returns rc, or -1. Any thread. */
int mill_series_form(const struct mill_series *series, size_t n, const struct mill_mining *mining, uint64_t before, int rc,
                     struct mill_series_text *text, struct mill_error *error);
/* Adds it to them; mill_series_add does both, without the text in memory. Return rc, or -1. */
int mill_series_add(struct mill_series *series, size_t n, const struct mill_mining *mining, int rc, struct mill_error *error);
int mill_series_put(struct mill_series *series, size_t n, const struct mill_series_text *text, int rc, struct mill_error *error);
void mill_series_forget(struct mill_series_text *text, size_t n);

/* Runs a mining, a window or a whole, with progress on standard error unless `quiet`, and adds its result to each of the series. What a
   limit or the user stops is added as far as it came, and the error is returned; what is written later is not the error. */
int mill_series_run(struct mill_series *series, size_t n, struct mill_mining *mining, int quiet, struct mill_error *error);
/* The same for window `index` of a whole. */
int mill_series_mine(struct mill_series *series, size_t n, struct mill_mining *whole, uint64_t index, int quiet,
                     struct mill_error *error);

/* Ends one, if anything was written to it: all windows are there and complete, or not. */
int mill_series_end(struct mill_series *series, const struct mill_mining *whole, int complete, struct mill_error *error);

/* Closes one that goes into a file and puts that in its place, if it holds something and could be written. Takes `part`, the file before
   it is there. rc is what has become of the minings: its error is told before one of this. Returns rc, or -1. */
int mill_series_commit(struct mill_series *series, const char *path, char *part, int rc, struct mill_error *error);

/* Mines every window: a table or JSON on standard output, unless `quiet`, and a file when output is not NULL. Takes `part`, which is that
   file before it is in its place. */
struct mill_series_places {
  const char *output;
  enum mill_series_format format; /* of the file */
  uint64_t most;                  /* episodes of a level in the table when there is no file */
  int json, quiet;
};
int mill_series_all(struct mill_mining *whole, const struct mill_series_places *places, char *part, struct mill_error *error);

#endif
