/* What a mining job says of significance: its keys, and what they mean. */
#ifndef MILL_SIGNIFICANCE_JOB_H
#define MILL_SIGNIFICANCE_JOB_H

#include <stdint.h>
#include "param.h"
#include "surrogates.h"

struct mill_place;

enum mill_significance { MILL_SIGNIFICANCE_NONE, MILL_SIGNIFICANCE_MODEL, MILL_SIGNIFICANCE_SURROGATE };

#define MILL_SURROGATES_MOST 1000000000

struct mill_significance_options {
  enum mill_significance kind;
  uint32_t surrogates; /* 1 … MILL_SURROGATES_MOST, or 0 */
  enum mill_surrogate surrogate;
  int64_t dither, bin; /* picoseconds, > 0 */
  uint64_t seed;
  double e0;      /* in (0, 1), or 0: independence */
  double q;       /* asked for, in (0, 1] */
  double epsilon; /* level of the model's threshold, in (0, 1] */
};

struct mill_param_table mill_significance_table(void);

/* Reads the keys from the section. Besides their values it checks that each has an effect: with what `significance` and `surrogate` say. */
int mill_significance_read(const struct mill_place *place, const struct mill_defines *defines,
                           struct mill_significance_options *options, struct mill_error *error);

/* Whether a key of the table has an effect; 1 for other keys. */
int mill_significance_heeds(const struct mill_significance_options *options, const char *key);

/* "none", "model", "surrogate=1000" into buffer[32]. Returns buffer. */
char *mill_significance_text(const struct mill_significance_options *options, char *buffer);

#endif
