/* A mining job: the section [mining] of a file, or of nothing but options, read and checked; and what its two keys with a notation of
   their own mean, `support` and `intervals`. */
#ifndef MILL_JOB_H
#define MILL_JOB_H

#include <stdint.h>
#include <spikemill/counter.h>
#include "expr.h"
#include "netfile.h"
#include "param.h"
#include "significance-job.h"

#define MILL_LENGTH_MAX 64 /* nodes of the longest episode */

/* The least count of a frequent episode, as asked for. */
struct mill_support {
  enum mill_support_kind {
    MILL_SUPPORT_COUNT,  /* value */
    MILL_SUPPORT_RATE,   /* value × 1e-9 a second of recording */
    MILL_SUPPORT_PERCENT /* value × 1e-9 percent of the events */
  } kind;
  int64_t value; /* > 0 */
};

/* Reads "100", "2.5/s" or "0.5%". Decimals, of at most nine places, are taken exactly; an expression with $names is computed in double
   first. Text without location. */
int mill_support_parse(const char *text, const struct mill_defines *defines, struct mill_support *support, struct mill_error *error);

/* The least whole number that is not below what is asked of a recording of `duration` ticks with so many events, and not below 1. */
int mill_support_count(const struct mill_support *support, uint64_t duration, int64_t tick_ps, uint64_t events, uint64_t *count,
                       struct mill_error *error);

/* Reads "(0,5] (5,10] ms": one unit (of mill_time_unit in <spikemill/format.h>) at the end for all of them or one after each. *interval, to be freed with free,
   is in picoseconds and in order of (low, high). Text without location. */
int mill_intervals_parse(const char *text, const struct mill_defines *defines, struct mill_interval **interval, uint32_t *count,
                         struct mill_error *error);

/* From picoseconds to ticks; fails when a bound is no whole number of them. */
int mill_intervals_to_ticks(struct mill_interval *interval, uint32_t count, int64_t tick_ps, struct mill_error *error);

struct mill_job {
  struct mill_ini *ini;
  struct mill_defines defines;
  struct mill_place place;         /* [mining] */
  char *folder;                    /* of the file: "" or ends in '/' */
  char *spikes;                    /* the path of the spike file */
  char *columns, *tick;            /* NULL: not said */
  struct mill_choice counter;
  char *support_text, *intervals_text;
  struct mill_support support;
  struct mill_interval *interval;  /* [interval_count] picoseconds */
  uint32_t interval_count;
  uint32_t max_length;             /* 1 … MILL_LENGTH_MAX */
  int ties;                        /* enum mill_ties */
  int repeats;
  int backend;                     /* 0 auto, 1 cpu, 2 cuda */
  int64_t window, step;            /* picoseconds; 0: the recording is mined as a whole */
  uint64_t max_candidates, memory; /* memory in bytes */
  uint32_t threads;                /* 0: as many as there are processors */
  int reduce;                      /* enum mill_reduce */
  char *occurrences, *graph, *truth; /* paths, seen from the working directory; NULL: not asked for */
  struct mill_significance_options significance;
  char *config;                    /* INI text: the job with the defaults of what it does not say */
};

/* The keys of [mining] but for those of significance (significance-job.h) and of the counter. */
struct mill_param_table mill_job_table(void);

/* Reads a job from a file whose name ends in ".ini", or makes one of overrides for a spike file or a folder. overrides as for
   mill_ini_read. Returns 0 with *job to be freed, or -1. */
int mill_job_read(const char *path, const char *const *overrides, size_t override_count, struct mill_job **job,
                  struct mill_error *error);
/* The same for spikes that come from elsewhere and are called `source` in results: from a file only, which names none. */
int mill_job_read_live(const char *path, const char *const *overrides, size_t override_count, const char *source,
                       struct mill_job **job, struct mill_error *error);
void mill_job_free(struct mill_job *job);

/* Where a path that the job names lies, seen from the working directory; malloc'ed, NULL when out of memory. */
char *mill_job_path(const struct mill_job *job, const char *path);

/* Files as the job names them, NULL: not said. Sets their paths in the job; MILL_USAGE for a result with an ending that none has. */
struct mill_job_names {
  const char *occurrences, *graph, *truth;
};
int mill_job_files(struct mill_job *job, const struct mill_job_names *names, struct mill_error *error);

/* By the ending: .csv; .dot or .gv. */
enum mill_graph_format { MILL_GRAPH_NONE, MILL_GRAPH_CSV, MILL_GRAPH_DOT };
enum mill_graph_format mill_graph_format(const char *path);

/* Decimal text for a number of a job: itself when it is one, else the value of the expression. buffer ≥ 32 bytes; *number is `text` or
   buffer. */
int mill_job_number(const char *text, const struct mill_defines *defines, char *buffer, const char **number, struct mill_error *error);

#endif
