/* Variants for `spikemill compare`: the cross product of lists, each a set of overrides and a number of threads. */
#ifndef MILL_VARIANT_H
#define MILL_VARIANT_H

#include <stdint.h>
#include <spikemill/error.h>
#include <spikemill/format.h>
#include "command.h"

/* What can vary. */
enum mill_axis { MILL_AXIS_DELIVERY, MILL_AXIS_PLASTICITY, MILL_AXIS_BACKEND, MILL_AXIS_PRECISION, MILL_AXIS_THREADS, MILL_AXIS_COUNT };

struct mill_variant {
  char *name;                            /* of what varies: "row-wise, 2 threads" */
  const char *value[MILL_AXIS_COUNT];    /* NULL: as the file says */
  uint32_t threads;
  /* Filled by runs. */
  uint32_t runs;
  double *seconds;                       /* [repeat], of the step loop */
  double median, least, most;
  uint64_t spike_hash, weight_hash, memory_bytes;
  int precision;
  int differs;                           /* from the first variant of its precision */
};

struct mill_variants {
  char **list[MILL_AXIS_COUNT];          /* values of each axis, NULL: not varied */
  size_t length[MILL_AXIS_COUNT];
  struct mill_variant *variant;
  uint32_t count;
};

/* Sets an axis from "a,b" or "all" (every plugin of the kind). */
int mill_variants_axis(struct mill_variants *variants, enum mill_axis axis, const char *text, struct mill_error *error);
/* Makes the cross product, in the order of the axes, the last varying fastest. */
int mill_variants_cross(struct mill_variants *variants, uint32_t repeat, struct mill_error *error);
void mill_variants_free(struct mill_variants *variants);

/* One run of a variant over the configured duration; `sink` may be NULL. Adds to seconds, sets the hashes. Stops early when interrupted. */
int mill_variant_run(struct mill_variant *variant, const char *path, const struct mill_overrides *overrides,
                     void (*sink)(const struct mill_event *events, size_t n, void *self), void *self, struct mill_error *error);

/* The first spike in which two variants differ, as a sentence in text[size]. Runs both again. */
int mill_variant_difference(const struct mill_variant *a, const struct mill_variant *b, const char *path, const struct mill_overrides *overrides,
                            char *text, size_t size, struct mill_error *error);

#endif
