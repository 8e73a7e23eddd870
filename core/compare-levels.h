/* What `spikemill compare` says of the levels of mining jobs: how long each variant counted them, and where the counter that has a choice
   should change from one way to the other. Subjects without levels have nothing to say. */
#ifndef MILL_COMPARE_LEVELS_H
#define MILL_COMPARE_LEVELS_H

#include <stdint.h>
#include <spikemill/error.h>
#include "variant.h"

struct cJSON;

/* After the run that warms up, whose result the variant holds: makes room for the times of `rounds` more, which have as many levels. */
int mill_compare_levels_begin(struct mill_variant *variant, uint32_t rounds, struct mill_error *error);
/* After a timed run, the one with the number variant->runs, whose result the variant holds. */
void mill_compare_levels_take(struct mill_variant *variant, uint32_t rounds);
/* After all of them: sets the medians. */
void mill_compare_levels_summarise(struct mill_variant *variant, uint32_t rounds);

/* Prints a row a level from 2 on, with the candidates of the variant `base`; nothing when there is no such level. What has counted other
   candidates is not compared. Then, for each two variants that differ in the counter alone, count by ptpe and by mapconcatenate and
   have run on one backend, the parameter of hybrid that takes the faster of them on every level. */
void mill_compare_levels_print(const struct mill_variants *variants, const struct mill_variant *base);

/* Adds "levels" of a variant, from 1 on, to the object that tells of it. */
void mill_compare_levels_json(const struct mill_variant *variant, struct cJSON *object);

#endif
