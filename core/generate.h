/* Synthetic streams with known truth. A kind of stream is a table of parameters, a check of what they ask for together, and a function
   that makes the events in order of time; generate.c puts them into files. Everything here is a function of the parameters: the same
   ones, the seed among them, give the same events on every machine. */
#ifndef MILL_GENERATE_H
#define MILL_GENERATE_H

#include <stdint.h>
#include <stdio.h>
#include <spikemill/format.h>
#include <spikemill/plugin.h>

/* What a stream's parameters come to. Times are ticks of tick_ps picoseconds; events lie in (0, stop]. */
struct mill_generated {
  int64_t tick_ps, stop;
  uint32_t units;
  uint64_t seed;
};

/* Takes events in order of (tick, unit). After the call every event up to tick `done` was given; n may be 0. Returns 0, or -1 with the
   error filled, which ends the making. */
typedef int mill_event_sink(const struct mill_event *events, size_t n, int64_t done, void *self, struct mill_error *error);

/* A kind of stream. Its parameters are a table as everywhere; the block that they fill is handed to each function. */
struct mill_generator {
  const char *name, *summary;
  const struct mill_param_spec *params;
  size_t param_count, params_size;
  /* Checks the parameters with each other and fills *made. MILL_USAGE with the option, what was found and what was expected. */
  int (*describe)(const void *params, struct mill_generated *made, struct mill_error *error);
  /* Prints the sections [chain.1], [chain.2], … of what is planted, and returns their number; NULL when nothing ever is. */
  uint32_t (*plant)(const void *params, FILE *out);
  /* Makes the whole stream into the sink. Memory grows with the number of units, not with the number of events. */
  int (*make)(const void *params, mill_event_sink *sink, void *self, struct mill_error *error);
  /* Prints what there is of the truth row by row, as CSV under a line of column names; NULL when there is nothing such. */
  void (*table)(const void *params, FILE *out);
};

extern const struct mill_generator *const mill_generators[]; /* ends in NULL */

/* The kind of that name; NULL with the error filled, which has the nearest name or lists them. */
const struct mill_generator *mill_generator_find(const char *name, struct mill_error *error);

/* A parameter block from one text for each entry of the table, NULL for its default. Errors begin "--KEY TEXT: ". *params is to be
   freed by mill_generator_free, after a failure too. */
int mill_generator_params(const struct mill_generator *generator, const char *const *text, void **params, struct mill_error *error);
void mill_generator_free(const struct mill_generator *generator, void *params);

/* The parameters as INI text: a section [generate] with `kind` and every key of the table. malloc'ed; NULL when out of memory. */
char *mill_generator_config(const struct mill_generator *generator, const void *params);

/* A parameter's value as text, exactly; buffer ≥ 32 bytes. Returns the buffer or, for a text, the text itself. */
const char *mill_generator_value(const struct mill_param_spec *spec, const void *params, char *buffer);

/* A unit's name: "A" … "Z" when there are at most 26, else "1" … "N". buffer ≥ 16 bytes. Returns it. */
const char *mill_generator_unit(uint32_t units, uint32_t unit, char *buffer);

/* A time as a decimal number of ms, exactly; buffer ≥ 32 bytes. Returns it. */
char *mill_generator_ms(char *buffer, int64_t ps);

/* "PATH.truth.ini", malloc'ed: the name of the truth that belongs to a stream. NULL when out of memory. */
char *mill_generate_truth_path(const char *path);
/* "PATH.truth.csv", of the kinds with a table. */
char *mill_generate_table_path(const char *path);

/* What was made, or has been so far. */
struct mill_generate_report {
  struct mill_generated made;
  int64_t done; /* ticks */
  uint64_t events, spike_hash;
  uint32_t chains;
};

/* Makes a stream into the file `path`, in `format` (NULL: by its extension), and its truth beside it:

     [generate]  kind and every parameter
     [stream]    version, units, events, tick_ms, stop_ms, spike_hash (of the stream, as 16 hexadecimal digits), chains
     [chain.K]   K = 1 … chains: units (names, source first, with blanks between), delay_ms, probability, interval (that holds every lag
                 of a link, as "(4,6] ms"); delay_ms and interval list one for each link when these differ

   and, of the kinds that have one, the table. All files appear whole or not at all. `going` (may be NULL) is called now and then; when it returns 0 the making ends with
   MILL_INTERRUPTED and no file. */
int mill_generate(const struct mill_generator *generator, const void *params, const char *path, const char *format,
                  int (*going)(const struct mill_generate_report *report, void *self), void *self,
                  struct mill_generate_report *report, struct mill_error *error);

#endif
