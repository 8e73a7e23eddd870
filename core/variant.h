/* Variants for `spikemill compare`: the cross product of lists of values, each a set of overrides and a number of threads, run on one
   subject. What is compared, a network or a mining job, is a table of functions: everything else is the same for both. */
#ifndef MILL_VARIANT_H
#define MILL_VARIANT_H

#include <stdint.h>
#include <spikemill/error.h>
#include "command.h"
#include "job.h"

/* What can vary. */
enum mill_axis {
  MILL_AXIS_DELIVERY,
  MILL_AXIS_PLASTICITY,
  MILL_AXIS_COUNTER,
  MILL_AXIS_BACKEND,
  MILL_AXIS_PRECISION,
  MILL_AXIS_THREADS,
  MILL_AXIS_COUNT
};
/* Its option: "delivery". */
const char *mill_axis_name(enum mill_axis axis);

/* What one run gave. */
struct mill_result {
  double seconds;
  uint64_t memory_bytes;
  char hash[40];    /* as it is shown */
  int group;        /* results of one group must be equal */
  int bound;        /* 1: it is no result but a bound for those of its group */
  char counter[64]; /* of mining: bounds of one counter must be equal */
  int tested;       /* 1: what is found was tested, too, */
  uint64_t tests;   /* and the tests have this hash, which must be equal where `hash` must */
  /* Of mining: */
  char backend[16]; /* that it ran on: "cpu", */
  uint32_t threads; /* with so many */
  uint32_t levels;  /* 0 for other subjects */
  struct mill_result_level {
    uint64_t candidates;
    double seconds;
  } level[MILL_LENGTH_MAX]; /* of levels 1, 2, … */
};

struct mill_variant {
  char *name;                         /* of what varies: "row-wise, 2 threads" */
  struct mill_overrides overrides;    /* the user's and the variant's own */
  uint32_t threads;                   /* 0: not varied */
  const char *value[MILL_AXIS_COUNT]; /* of each axis, an item of its list; NULL: not varied */
  /* Filled by runs. */
  double *seconds; /* [runs] */
  uint32_t runs;
  double median, least, most;
  struct mill_result result;
  double *level_seconds; /* [result.levels][rounds], of timed rounds: compare-levels.h */
  double level_median[MILL_LENGTH_MAX];
  int differs;  /* from the first variant of its group, or from the first bounds of its counter */
  int violated; /* of bounds: they are none */
};

struct mill_subject {
  const char *what;                 /* "networks": what its options are for */
  const char *section;              /* keys of it, "SECTION.…", are its own */
  const char *hash;                 /* "hash of spikes:weights" */
  const char *equal;                /* the sentence for results that are all the same, */
  const char *equal_tested;         /* with tests, */
  const char *equal_bounds;         /* and for bounds that are */
  const char *alone;                /* and when no group has two variants */
  const char *key[MILL_AXIS_COUNT]; /* that a value of the axis sets; NULL: it does not vary; "": threads alone say it */

  /* One run over the whole; a failure after an interruption has the status MILL_INTERRUPTED. */
  int (*run)(const struct mill_variant *variant, const char *path, struct mill_result *result, struct mill_error *error);
  /* The first difference between the results of two variants as a sentence, malloc'ed. Runs both again. */
  int (*difference)(const struct mill_variant *a, const struct mill_variant *b, const char *path, char **sentence,
                    struct mill_error *error);
  /* Where the bounds of a variant are none for the results of the exact one, as a sentence, malloc'ed; NULL: nowhere. Runs both again.
     NULL for a subject without bounds. */
  int (*violation)(const struct mill_variant *exact, const struct mill_variant *bound, const char *path, char **sentence,
                   struct mill_error *error);
  /* The configuration of a variant as INI text, and the file that it reads besides `path`, or NULL; both malloc'ed. */
  int (*config)(const struct mill_variant *variant, const char *path, char **text, char **input, struct mill_error *error);
};

/* variant-network.c, variant-mining.c */
extern const struct mill_subject mill_subject_network, mill_subject_mining;

/* Whether a path is a mining job: an INI file, by its name, that has a section [mining]. Fails when it is an INI file that cannot be
   read. */
int mill_is_job(const char *path, int *job, struct mill_error *error);

/* The subject that a path means, by what is there: a mining job; another INI file is a network; everything else, a folder too, are
   spikes to be mined. *found is what messages call it: "a spike file". */
int mill_subject_find(const char *path, const struct mill_subject **subject, const char **found, struct mill_error *error);

struct mill_variants {
  char **list[MILL_AXIS_COUNT]; /* values of each axis, NULL: not varied */
  size_t length[MILL_AXIS_COUNT];
  int all[MILL_AXIS_COUNT]; /* every plugin was asked for */
  struct mill_variant *variant;
  uint32_t count;
};

/* Sets an axis from "a,b" or "all": every plugin of the kind, of counters those first that are exact, since others are measured by
   the first. */
int mill_variants_axis(struct mill_variants *variants, enum mill_axis axis, const char *text, struct mill_error *error);
/* Makes the cross product, in the order of the axes, the last varying fastest, with room for `runs` times of each. Of all counters those without a
   text for a GPU are left out there, with a note. */
int mill_variants_cross(struct mill_variants *variants, const struct mill_subject *subject, const struct mill_overrides *overrides,
                        uint32_t runs, struct mill_error *error);
void mill_variants_free(struct mill_variants *variants);

/* The median of runs, one or more, which are put in order. */
double mill_variant_median(double *seconds, uint32_t runs);

/* A text in the C locale, malloc'ed; NULL when out of memory. */
char *mill_sentence(const char *format, ...) MILL_PRINTF(1, 2);

#endif
