/* Values richer than a number: distributions and calls. */
#ifndef MILL_VALUE_H
#define MILL_VALUE_H

#include <stdint.h>
#include <spikemill/error.h>
#include "distribution.h"
#include "expr.h"

struct mill_dist {
  int kind;
  double a, b, lo, hi;
  const char *file; /* MILL_DIST_FILE: as written; owned by the parsed text's owner (malloc'ed, freed by mill_dist_free) */
};

/* Parses "0.4", "$w * 2", "normal(m, s)", …; arguments are expressions. `allow_file` admits NAME.csv. Checks: finite, sd ≥ 0,
   a ≤ b, lo < hi, and for truncated that [lo, hi] holds at least 1e-3 of the probability. Text without location. */
int mill_dist_parse(const char *text, const struct mill_defines *defines, int allow_file, struct mill_dist *dist,
                    struct mill_error *error);
void mill_dist_free(struct mill_dist *dist);

/* Draw number `index` of the stream `key`: pure function of (dist, key, index); index = (a, b) 128 bits. Every redraw of a
   truncated normal adds 1 to *redraws and every clip of a clipped one 1 to *clips (either may be NULL). Not for MILL_DIST_FILE. */
double mill_dist_draw(const struct mill_dist *dist, uint64_t key, uint64_t a, uint64_t b, uint64_t *redraws, uint64_t *clips);

/* Largest |x| that the distribution can give; infinity for unbounded ones. */
double mill_dist_bound(const struct mill_dist *dist);

/* "name(arg, arg)" or "name": *name and *args malloc'ed (args a NULL-terminated list in one block, as mill_text_list). */
int mill_call_parse(const char *text, char **name, char ***args, size_t *count, struct mill_error *error);

/* Delay rule: ms, given as picoseconds, to steps rounded half up. Returns 0 steps as it is; the caller refuses it. */
uint64_t mill_delay_steps(int64_t ps, int64_t dt_ps);

/* Grid rule: steps when ps lies within a hundredth of a step of a whole number of steps. Returns 0 or -1. */
int mill_grid_steps(int64_t ps, int64_t dt_ps, int64_t *steps);

#endif
