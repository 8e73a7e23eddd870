/* What the commands share: options, messages, JSON, progress. */
#ifndef MILL_COMMAND_H
#define MILL_COMMAND_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <spikemill/error.h>
#include <spikemill/spikemill.h>

struct cJSON;

/* A command: its exit status is what it returns. argv[0] is its own name. */
int mill_cmd_run(int argc, char **argv);
int mill_cmd_check(int argc, char **argv);
int mill_cmd_compare(int argc, char **argv);
int mill_cmd_convert(int argc, char **argv);
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

/* Texts "section.key=value" made from options. */
struct mill_overrides {
  char **text;
  size_t count, capacity;
};
int mill_override_add(struct mill_overrides *overrides, const char *text, struct mill_error *error);
int mill_override_set(struct mill_overrides *overrides, const char *key, const char *value, struct mill_error *error);
void mill_overrides_free(struct mill_overrides *overrides);

/* A whole number option in [least, most]. */
int mill_option_int(const char *name, const char *text, int64_t least, int64_t most, int64_t *value, struct mill_error *error);

/* Interruption: the first SIGINT, SIGTERM or SIGHUP that is not ignored sets the flag, the second removes unfinished files and ends the
   process. */
void mill_interrupt_catch(void);
int mill_interrupted(void);

/* Progress on stderr: a bar on a terminal, a line every few seconds elsewhere, nothing when quiet. */
struct mill_progress {
  int quiet, terminal;
  double begun, shown;
};
void mill_progress_begin(struct mill_progress *progress, int quiet);
void mill_progress_show(struct mill_progress *progress, const struct mill_simulation_report *report);
void mill_progress_end(struct mill_progress *progress);

/* Advances a simulation to its configured duration in slices of about a tenth of a second, so that progress and interruption work.
   progress may be NULL. Returns 0, or -1; stops early when interrupted. */
int mill_advance_all(struct mill_simulation *simulation, struct mill_progress *progress, struct mill_error *error);

/* JSON: 64-bit integers exactly, hashes as 16 hexadecimal digits; prints and frees. */
void mill_json_int(struct cJSON *object, const char *key, uint64_t value);
void mill_json_hash(struct cJSON *object, const char *key, uint64_t value);
/* Prints one object and a newline on stdout; frees it. Returns 0 or -1. */
int mill_json_print(struct cJSON *object, struct mill_error *error);

/* Name of the processor, from the system; "cpu" when unknown. buffer ≥ 64. */
const char *mill_processor_name(char *buffer, size_t size);

#endif
