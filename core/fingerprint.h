/* What a network is, part by part, whatever its file says and how: two networks whose parts have the same hashes go on in the same way from
   the same state. Strategies, threads, outputs, the duration and initial states have no say. */
#ifndef MILL_FINGERPRINT_H
#define MILL_FINGERPRINT_H

#include <stdint.h>
#include <spikemill/error.h>

struct mill_simulation;

#define MILL_PART_NAME 64

struct mill_part {
  char name[MILL_PART_NAME]; /* of the section: "population.exc"; cut when it is longer. Those of a section follow each other */
  uint64_t hash;
};

/* The parts of a network that is built, malloc'ed: seed and steps, populations, projections, stimuli with the spikes of their files. */
int mill_fingerprint(const struct mill_simulation *simulation, struct mill_part **parts, uint32_t *count, struct mill_error *error);

#endif
