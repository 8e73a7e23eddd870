/* Synthetic streams with known truth. A generator gives events in order of time; the truth is a list of planted chains. */
#ifndef MILL_GENERATE_H
#define MILL_GENERATE_H

#include <stdint.h>
#include <spikemill/format.h>
#include <spikemill/plugin.h>
#include "ini.h"

/* One kind of stream: "sym26", "poisson". Its parameters are a table as everywhere. */
struct mill_generator {
  const char *name, *summary;
  const struct mill_param_spec *params;
  size_t param_count, params_size;
  /* Makes the whole stream into sink, in order of tick, and the truth as INI text (malloc'ed, NULL when nothing is planted). `info`'s
     groups are valid until the call returns. */
  int (*make)(const void *params, const struct mill_stream_info *info, int (*sink)(const struct mill_event *events, size_t n, void *self, struct mill_error *error),
              void *self, char **truth, struct mill_error *error);
  /* Fills info (tick, start, stop, groups with names; what it points at is malloc'ed into *own, to be freed). */
  int (*describe)(const void *params, struct mill_stream_info *info, void **own, struct mill_error *error);
};
extern const struct mill_generator *const mill_generators[]; /* NULL-terminated */

#endif
