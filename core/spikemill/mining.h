/* libspikemill: mine frequent episodes from a program. The command `spikemill mine` is written with these functions.

   A mining belongs to one thread at a time; different ones are independent. Functions that return int return 0, or -1 with the error
   filled. Strings and arrays returned belong to the mining. */
#ifndef SPIKEMILL_MINING_H
#define SPIKEMILL_MINING_H

#include <stddef.h>
#include <stdint.h>
#include <spikemill/error.h>
#include <spikemill/format.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mill_mining;
struct mill_interval; /* <spikemill/counter.h> */

/* Opens a job file (.ini with a section [mining]), a spike file, or the folder of a run; reads the spikes and checks everything.
   overrides are texts "mining.key=value", as of --set; the keys are those of a job (spikemill-config(5)). */
int mill_mining_open(const char *path, const char *const *overrides, size_t override_count, struct mill_mining **mining,
                     struct mill_error *error);

/* Opens a job file that names no spikes; they are given piece by piece, as those of a simulation that runs, and are called `source` in
   results. What `info` points at is kept by the caller until the mining is freed; its start and stop are stated. */
int mill_mining_open_live(const char *job, const char *const *overrides, size_t override_count, const char *source,
                          const struct mill_stream_info *info, struct mill_mining **mining, struct mill_error *error);
/* Adds events in order of tick, of units that exist and in (start, stop]. */
int mill_mining_push(struct mill_mining *mining, const struct mill_event *events, size_t n, struct mill_error *error);
/* All events up to tick `stop` are there, and there will be no more: it may be run now. Not needed by a job with windows. */
int mill_mining_seal(struct mill_mining *mining, int64_t stop, struct mill_error *error);

/* A job with the key `window` is mined in parts, window after window. Their number; 0: the job has no windows, and is run as a whole. */
uint64_t mill_mining_windows(const struct mill_mining *mining);
/* The tick at which window `index` ends. */
int64_t mill_mining_window_stop(const struct mill_mining *mining, uint64_t index);
/* Opens the mining of window `index` (0, 1, …), which is run, asked and freed as any other, before the one that it is of. Its
   settings are the job's, a support by rate or share is of its own duration and events. Of a live mining: when all events of the window
   have been given; and in order, since it forgets what lies before. */
int mill_mining_window(struct mill_mining *mining, uint64_t index, struct mill_mining **window, struct mill_error *error);

struct mill_mining_progress {
  uint32_t level;               /* 0: testing */
  uint64_t candidates, done;    /* of this level; or of what is tested */
  uint64_t frequent;            /* of this level, so far */
  double wall_s;                /* since the start */
  const char *testing;          /* "surrogate" or "episode", which is what is counted then; NULL: mining */
};

/* Mines, once; a job with windows only through these. `progress` may be NULL; it is called several times a second, and when it returns 1 the run stops with MILL_INTERRUPTED.
   When a cap (max_candidates, memory) stops it, that is MILL_RESOURCES. In both cases the levels that are complete can be asked for, and
   the report says that the result is not. A job with significance tests the episodes then; when that fails or is interrupted they
   can be asked for as well, without tests. */
int mill_mining_run(struct mill_mining *mining, int (*progress)(const struct mill_mining_progress *progress, void *self), void *self,
                    struct mill_error *error);
/* NULL is allowed. Windows are freed before their whole. */
void mill_mining_free(struct mill_mining *mining);

struct mill_mining_report {
  const char *input;            /* the spike file */
  const char *counter, *backend, *ties; /* "latest-start", "cpu", "order" */
  int exact;                    /* 0: the counter counts upper bounds, and of the episodes some may not be frequent */
  uint64_t events;
  uint32_t types;               /* with at least one event */
  uint32_t threads;
  int sorted;                   /* 0: the file was not, and was sorted */
  int64_t tick_ps, first, last; /* first and last event, ticks */
  double duration_s;            /* as the file states it, else last - first */
  uint64_t support;             /* least count of a frequent episode */
  const char *support_text;     /* as asked for: "2/s" */
  uint32_t levels;              /* complete ones; 1, 2, … levels can be asked for */
  int complete;                 /* 1: there are no more frequent episodes up to max_length */
  uint64_t episodes;            /* over all complete levels */
  uint64_t count_hash;          /* XXH64 over the episodes in order: u32 level, u32 types…, i64 low, i64 high of each interval in ticks,
                                   u64 count, little-endian; in order of level, types, intervals */
  uint64_t memory_bytes;        /* most held */
  double wall_s;                /* of mill_mining_run */
  uint64_t spike_hash;          /* of the recording, or of what is in the window, as in spike files */
  uint32_t max_length;
  int repeats;
  uint32_t interval_count;
  const struct mill_interval *interval; /* [interval_count] ticks, in order of low, high */
  const char *intervals_text;   /* as asked for: "(0,5] (5,10] ms" */
  uint64_t listed;              /* of the episodes, those that the reduction leaves */
  const char *reduce;           /* "none", "closed", "maximal" */
  const char *occurrences, *graph, *truth; /* files that the job names, seen from the working directory; NULL: none. A mining reads the
                                   last; the first two are the caller's to write */
  uint64_t windows;             /* of the job; 0: none */
  uint64_t window;              /* the number of this one, from 1; 0: this is the whole */
  int64_t window_start, window_stop; /* ticks: its events lie in (start, stop] */
  const char *significance;     /* "none", "model" or "surrogate"; all that follows is for the last two: */
  int tested;                   /* 1: the episodes have p and q */
  uint64_t surrogates;          /* 0 with the model; of a kind: */
  const char *surrogate;        /* "dither"; NULL with the model */
  uint64_t seed;
  double q;                     /* as asked for */
  uint64_t tested_candidates;   /* of levels 2 and up: what q is controlled over */
  uint64_t significant;         /* episodes with q at most that */
  double epsilon;               /* level of the thresholds, with the model */
};
void mill_mining_report(const struct mill_mining *mining, struct mill_mining_report *report);

struct mill_mining_level {
  uint64_t candidates, frequent;
  uint64_t culled;              /* candidates that a cheaper bound ruled out; 0 for counters without one */
  const char *method;           /* how a counter that has a choice counted them: "ptpe"; NULL for others */
  double wall_s;
  uint64_t listed;              /* of the frequent ones, those that the reduction leaves */
};
/* level 1 … report.levels. 0, or -1 when there is no such level. */
int mill_mining_level(const struct mill_mining *mining, uint32_t level, struct mill_mining_level *out);

struct mill_mining_episode {
  uint32_t length;
  uint64_t count;
  uint32_t type[64];            /* [length] */
  int64_t low[64], high[64];    /* [length - 1] ticks */
  int reported;                 /* 1: counts as found */
  double rate;                  /* Hz; NaN when the recording has no duration */
  /* Of the tests; NaN without them and for episodes of one node. */
  double expected;              /* count under the null: the model's mean, or the mean over the surrogates */
  double strength;              /* the conditional probability that, the same for each link, would make the count the mean of the model of
                                   Sastry and Unnikrishnan (arXiv 0808.3511); 1 when not even sure links would */
  double p, q;                  /* q: the least false discovery rate at which it is significant, over all candidates (Benjamini, Hochberg) */
  double threshold;             /* with the model: the count whose p is report.epsilon; a count above it is significant at that level,
                                   before it is one among many. NaN with surrogates, and when the model's counts do not vary: p is 1 then */
};
/* Of the listed ones (the job's key `reduce`), index 0 … report.listed-1: by length, then by types and intervals. 0, or -1 when there is
   none. */
int mill_mining_episode(const struct mill_mining *mining, uint64_t index, struct mill_mining_episode *out);
/* Of all frequent ones, listed or not, index 0 … report.episodes-1, in the same order. */
int mill_mining_frequent(const struct mill_mining *mining, uint64_t index, struct mill_mining_episode *out);

/* Calls `take` for as many occurrences of a listed episode as its count says, in order, none of which overlap, with the ticks of their
   nodes [length], ascending: the one that ends first, then the one that ends first of those that start after it, and so on; of those
   that end at one event the one that starts last. Their memory is that of one of them. When `take` returns 1 that is MILL_INTERRUPTED.
   Only for a job that asks for it (its key `occurrences`): the recording is not kept otherwise, which is MILL_USAGE. */
int mill_mining_occurrences(struct mill_mining *mining, uint64_t index, int (*take)(const int64_t *ticks, void *self), void *self,
                            struct mill_error *error);

/* What was found against what the job's key `truth` says was planted. A planted link A → B is found when the pair A, B is frequent, and
   reported, with an interval that holds the link's delay. Every other pair that is found is a false one. */
struct mill_mining_score {
  uint64_t links, links_found;  /* planted ones: different types or delays */
  uint64_t pairs, pairs_false;  /* ordered pairs of types that are found with any interval, and those that are no planted link */
  double precision, recall;     /* (pairs - pairs_false) / pairs and links_found / links; NaN when there are none */
  uint32_t chains, chains_found; /* found: the whole chain is one frequent, reported episode with intervals that hold its delays */
};
/* 0, or -1 when the job names no truth, or asks for tests of significance that were not made. */
int mill_mining_score(const struct mill_mining *mining, struct mill_mining_score *score);

/* The name of a type: "A", "exc:12". Types are the units with at least one event, numbered from 0 in order of units. NULL when there is no
   such type. */
const char *mill_mining_type(const struct mill_mining *mining, uint32_t type);

/* The job as INI text with every value that was used, for output files. */
const char *mill_mining_config(const struct mill_mining *mining);

#ifdef __cplusplus
}
#endif
#endif
