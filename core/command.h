/* What the commands share: options, messages, JSON, progress. */
#ifndef MILL_COMMAND_H
#define MILL_COMMAND_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <spikemill/error.h>
#include <spikemill/mining.h>
#include <spikemill/spikemill.h>

struct cJSON;

/* A command: its exit status is what it returns. argv[0] is its own name. */
int mill_cmd_run(int argc, char **argv);
int mill_cmd_check(int argc, char **argv);
int mill_cmd_compare(int argc, char **argv);
int mill_cmd_convert(int argc, char **argv);
int mill_cmd_mine(int argc, char **argv);
int mill_cmd_generate(int argc, char **argv);
int mill_cmd_info(int argc, char **argv);
int mill_cmd_new(int argc, char **argv);

/* An option as users type it. `value` names what it takes, NULL for a flag. */
struct mill_option {
  const char *name;  /* "threads" */
  char letter;       /* 'o' or 0 */
  const char *value; /* "N" */
  const char *doc;
  int many;          /* 1: may be repeated */
};

struct mill_args {
  int argc;
  char **argv;
  int at; /* start with 1 */
  int only_words; /* after "--" */
  uint64_t seen;  /* options given so far */
};

enum { MILL_ARG_END = -1, MILL_ARG_ERROR = -2, MILL_ARG_WORD = -3 };
/* The next option's index in the table with *value (NULL for a flag), or MILL_ARG_WORD with the word, MILL_ARG_END, MILL_ARG_ERROR. Takes
   "--name value", "--name=value", "-o value", "-ovalue", "--". No abbreviations, and no option with a value twice unless it may be
   repeated. */
int mill_option_next(struct mill_args *args, const struct mill_option *options, size_t count, const char **value, struct mill_error *error);

/* Usage of a command on `out`. */
void mill_usage(FILE *out, const char *synopsis, const char *summary, const struct mill_option *options, size_t count);

/* "spikemill: TEXT" on stderr; returns the status. */
int mill_report_error(const struct mill_error *error);

/* Texts "section.key=value" of --set, and "--option section.key=value" of other options. */
struct mill_overrides {
  char **text;
  size_t count, capacity;
};
int mill_override_add(struct mill_overrides *overrides, const char *text, struct mill_error *error);
int mill_override_set(struct mill_overrides *overrides, const char *option, const char *key, const char *value, struct mill_error *error);
void mill_overrides_free(struct mill_overrides *overrides);

/* A whole number option in [least, most]. */
int mill_option_int(const char *name, const char *text, int64_t least, int64_t most, int64_t *value, struct mill_error *error);

/* ---- Commands that work on one file: run, check, mine, compare. A table of rows is all that such a command says of its options:

     struct request {
       struct mill_request common;   (its first member)
       const char *folder;
     };
     static const struct mill_row rows[] = {
         MILL_ROW_TEXT("output", 'o', "DIR", "output folder", struct request, folder),
         MILL_ROW_KEY("seed", "N", "seed of every random number", "simulation.seed"),
         MILL_ROWS_COMMON("no progress, no summary"),
     };
     MILL_ROWS_FIT(rows);

     if (mill_request_parse(&r.common, rows, COUNT, argc, argv, &words, &error) < 0) … */

/* How a command was asked. */
struct mill_request {
  const char *path;                /* the one word that is no option */
  struct mill_overrides overrides; /* of rows with a key and of --set, in the order given */
  uint64_t given;                  /* bit i: row i was given */
  int quiet, json, help;
};

/* What becomes of an option's value. */
enum mill_use {
  MILL_USE_KEY,  /* "KEY=VALUE" goes to the overrides */
  MILL_USE_PATH, /* the same with a path, which starts at the working directory where one of the file starts at the file's folder */
  MILL_USE_SET,  /* the value goes there itself */
  MILL_USE_TEXT, /* goes into a const char * */
  MILL_USE_INT,  /* a whole number from least to most goes into an int64_t */
  MILL_USE_FLAG  /* 1 goes into an int */
};

struct mill_row {
  struct mill_option option;
  enum mill_use use;
  const char *key;     /* "simulation.seed" */
  size_t offset;       /* into the command's request */
  int64_t least, most;
};

#define MILL_ROW_KEY(name, value, doc, key) {{name, 0, value, doc, 0}, MILL_USE_KEY, key, 0, 0, 0}
#define MILL_ROW_PATH(name, value, doc, key) {{name, 0, value, doc, 0}, MILL_USE_PATH, key, 0, 0, 0}
#define MILL_ROW_TEXT(name, letter, value, doc, type, member)                                                                    \
  {{name, letter, value, doc, 0}, MILL_USE_TEXT, NULL, offsetof(type, member), 0, 0}
#define MILL_ROW_INT(name, value, doc, type, member, least, most)                                                                \
  {{name, 0, value, doc, 0}, MILL_USE_INT, NULL, offsetof(type, member), least, most}
#define MILL_ROW_FLAG(name, letter, doc, type, member)                                                                           \
  {{name, letter, NULL, doc, 0}, MILL_USE_FLAG, NULL, offsetof(type, member), 0, 0}

/* What every such command takes; `silent` says what --quiet leaves out. */
#define MILL_ROWS_COMMON(silent)                                                                                                 \
  {{"set", 0, "SECTION.KEY=VALUE", "override a value of the file; may be repeated", 1}, MILL_USE_SET, NULL, 0, 0, 0},            \
      MILL_ROW_FLAG("quiet", 0, silent, struct mill_request, quiet),                                                             \
      MILL_ROW_FLAG("json", 0, "one JSON object on standard output, nothing else", struct mill_request, json),                   \
      MILL_ROW_FLAG("help", 'h', "this text", struct mill_request, help)

/* Of one network: run, check. */
#define MILL_ROWS_NETWORK                                                                                                        \
  MILL_ROW_KEY("backend", "auto|cpu|cuda", "where to run", "simulation.backend"),                                                \
      MILL_ROW_KEY("delivery", "NAME", "delivery strategy", "strategy.delivery"),                                                \
      MILL_ROW_KEY("plasticity", "NAME", "plasticity strategy", "strategy.plasticity"),                                          \
      MILL_ROW_KEY("precision", "single|double", "arithmetic of the neurons", "simulation.precision"), MILL_ROWS_RUN

/* Of networks, whatever varies: run, check, compare. */
#define MILL_ROWS_RUN                                                                                                            \
  MILL_ROW_KEY("duration", "MS", "simulated time", "simulation.duration"),                                                       \
      MILL_ROW_KEY("seed", "N", "seed of every random number", "simulation.seed")

/* Of mining, whatever varies: mine, compare. */
#define MILL_ROWS_MINING                                                                                                         \
  MILL_ROW_PATH("spikes", "FILE|DIR", "other spikes than the job file's", "mining.spikes"),                                      \
      MILL_ROW_KEY("columns", "type,time_ms", "columns of a text file without a header", "mining.columns"),                      \
      MILL_ROW_KEY("tick", "'0.1 ms'", "grid of the times of a text file", "mining.tick"),                                       \
      MILL_ROW_KEY("support", "N|R/s|F%", "least count of a frequent episode", "mining.support"),                                \
      MILL_ROW_KEY("intervals", "'(0,5] … ms'", "gaps between the nodes of an episode", "mining.intervals"),                     \
      MILL_ROW_KEY("max-length", "N", "longest episode (default, and at most: 64)", "mining.max_length"),                        \
      MILL_ROW_KEY("ties", "order|strict", "whether events of one time follow each other", "mining.ties"),                       \
      MILL_ROW_KEY("repeats", "yes|no", "whether a type may come twice in an episode", "mining.repeats"),                        \
      MILL_ROW_KEY("max-candidates", "N", "most candidates of a level (default: 1e8)", "mining.max_candidates"),                 \
      MILL_ROW_KEY("memory", "BYTES", "memory for episodes and counter, with K, M, G, T (default: 1G)", "mining.memory")

/* Tests of what was mined. */
#define MILL_ROWS_SIGNIFICANCE                                                                                                   \
  MILL_ROW_KEY("significance", "none|model|surrogate=N", "test episodes by a model or by N surrogates (default: none)",          \
               "mining.significance"),                                                                                           \
      MILL_ROW_KEY("surrogate", "KIND", "dither (default), dither-refractory, isi-shuffle or shift", "mining.surrogate"),        \
      MILL_ROW_KEY("dither", "MS", "how far an event of a surrogate may move (default: 20)", "mining.dither"),                   \
      MILL_ROW_KEY("e0", "independence|E", "weak link of the model, a probability (default: independence)", "mining.e0"),        \
      MILL_ROW_KEY("bin", "MS", "time bin of the model (default: 1)", "mining.bin"),                                             \
      MILL_ROW_KEY("q", "Q", "false discovery rate of significant episodes (default: 0.05)", "mining.q"),           \
      MILL_ROW_KEY("epsilon", "E", "level of the model's threshold (default: 0.05)", "mining.epsilon")

/* mill_args.seen and mill_request.given have a bit for each row. */
#define MILL_ROWS_MOST 64
#define MILL_ROWS_FIT(rows) _Static_assert(sizeof(rows) / sizeof *(rows) <= MILL_ROWS_MOST, "a bit for each option")

/* How messages speak of the file: "one network file is enough", "no network file given: spikemill run NET.ini". */
struct mill_request_words {
  const char *file, *example;
};

/* Reads a command line into *request, which is zeroed (but for defaults) and the first member of what the rows' offsets count in. One
   file must be given unless help is asked for. On failure, too, the overrides are the caller's to free. Returns 0 or -1. */
int mill_request_parse(struct mill_request *request, const struct mill_row *rows, size_t count, int argc, char **argv,
                       const struct mill_request_words *words, struct mill_error *error);
/* mill_usage of the rows. */
void mill_request_usage(FILE *out, const char *synopsis, const char *summary, const struct mill_row *rows, size_t count);

/* Interruption: the first SIGINT, SIGTERM or SIGHUP that is not ignored sets the flag, the second removes unfinished files and ends the
   process. */
void mill_interrupt_catch(void);
int mill_interrupted(void);

/* Progress on stderr: a bar on a terminal, a line every few seconds elsewhere, nothing when quiet. */
struct mill_progress {
  int quiet, terminal;
  double begun, shown;
  uint32_t level;     /* of a mining, and when it was begun */
  double level_begun;
};
void mill_progress_begin(struct mill_progress *progress, int quiet);
void mill_progress_show(struct mill_progress *progress, const struct mill_simulation_report *report);
void mill_progress_mining(struct mill_progress *progress, const struct mill_mining_progress *state);
void mill_progress_end(struct mill_progress *progress);

/* Advances a simulation to a step, at most to the end of its configured duration, in slices of about a tenth of a second, so that progress
   and interruption work. progress may be NULL. Returns 0, or -1; stops early when interrupted. */
int mill_advance_to(struct mill_simulation *simulation, int64_t step, struct mill_progress *progress, struct mill_error *error);

/* JSON: 64-bit integers exactly, hashes as 16 hexadecimal digits; prints and frees. */
void mill_json_int(struct cJSON *object, const char *key, uint64_t value);
void mill_json_hash(struct cJSON *object, const char *key, uint64_t value);
/* Prints one object and a newline on stdout; frees it. Returns 0 or -1. */
int mill_json_print(struct cJSON *object, struct mill_error *error);

/* `info device`, as text or JSON on stdout. What this machine does not have is told with its reason; that is no failure. */
int mill_info_device(int json, struct mill_error *error);

/* Name of the processor, from the system; "cpu" when unknown. buffer ≥ 64. */
const char *mill_processor_name(char *buffer, size_t size);

#endif
