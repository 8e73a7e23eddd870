/* What was planted into a recording, and how much of it a mining has found. */
#ifndef MILL_TRUTH_H
#define MILL_TRUTH_H

#include <stdint.h>
#include <spikemill/format.h>
#include <spikemill/mining.h>

#define MILL_NO_TYPE UINT32_MAX /* of a unit that has no event */

/* The target has an event so long after one of the source. */
struct mill_link {
  uint32_t source, target; /* types, or MILL_NO_TYPE */
  int64_t delay_ps;
  int found;               /* of mill_truth_score */
};

struct mill_chain {
  uint32_t length;
  struct mill_link *link;  /* [length - 1] */
  int found;               /* of mill_truth_score */
};

struct mill_truth {
  uint32_t chains;
  struct mill_chain *chain;
  uint64_t links;          /* those of all chains that differ, in order of source, target, delay */
  struct mill_link *link;
};

/* The types of a recording, by number, and its units, of which only those with an event are types. */
struct mill_truth_types {
  uint32_t types;
  char *const *name; /* [types] */
  const struct mill_stream_info *info;
};

/* Reads a truth file: INI with a section [chain.NAME] for each chain, with `units`, its types separated by blanks, and `delay_ms`,
   one for all of its links or one for each; `probability` and `interval` and the sections [generate] and [stream], which `spikemill
   generate` adds, are not looked at. MILL_DATA with file, line and key for what is not so and for units that the recording does not
   have. */
int mill_truth_read(const char *path, const struct mill_truth_types *types, struct mill_truth **truth, struct mill_error *error);

/* The mining must be one of the types that the truth was read with. */
void mill_truth_score(struct mill_truth *truth, const struct mill_mining *mining, struct mill_mining_score *score);

void mill_truth_free(struct mill_truth *truth);

#endif
