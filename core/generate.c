/* Synthetic streams into files: parameters from text and back, names of units, and the writing of a stream with its truth. What the
   kinds differ in is in generate-KIND.c. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/spikemill.h>
#include "generate-private.h"
#include "ini-scan.h"
#include "memory.h"
#include "output.h"
#include "param.h"
#include "stream.h"
#include "text.h"

enum { LETTERS = 26, NAME_BYTES = 16, SHOWN = 60 };
enum { TEXT_MAX = 900 }; /* bytes of a value, so that its line fits into an INI file */

const struct mill_generator *const mill_generators[] = {&mill_generator_sym26, &mill_generator_poisson, &mill_generator_bursts,
                                                        &mill_generator_drift, &mill_generator_planted, NULL};
#define KINDS (sizeof mill_generators / sizeof *mill_generators - 1)

const struct mill_generator *mill_generator_find(const char *name, struct mill_error *error)
{
  const char *names[KINDS];
  char list[KINDS * 40] = "";
  size_t n = 0;
  for (size_t i = 0; i < KINDS; i++) {
    if (strcmp(mill_generators[i]->name, name) == 0)
      return mill_generators[i];
    names[i] = mill_generators[i]->name;
    n += (size_t)mill_text_format(list + n, sizeof list - n, "%s%s", i ? ", " : "", names[i]);
  }
  const char *nearest = mill_text_nearest(name, names, KINDS);
  if (nearest)
    mill_fail(error, MILL_USAGE, "no kind of stream `%s`; did you mean `%s`?", name, nearest);
  else
    mill_fail(error, MILL_USAGE, "no kind of stream `%s`; there are %s", name, list);
  return NULL;
}

/* ---- Parameters */

static int read_value(const struct mill_param_spec *spec, const char *text, void *params, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  size_t n = strlen(text);
  if (n == 0)
    return mill_fail(error, MILL_USAGE, "there is no value (%s)", spec->doc);
  if (n > TEXT_MAX)
    return mill_fail(error, MILL_USAGE, "%zu bytes; expected at most %d", n, TEXT_MAX);
  if (mill_ini_line_check(text, n, error) < 0)
    return -1;
  return mill_param_value(spec, text, &none, params, error);
}

int mill_generator_params(const struct mill_generator *g, const char *const *text, void **params, struct mill_error *error)
{
  *params = mill_allocate_or_fail("parameters", 1, g->params_size, error);
  if (!*params)
    return -1;
  for (size_t i = 0; i < g->param_count; i++) {
    const char *value = text[i] ? text[i] : g->params[i].deflt;
    size_t n = strlen(value), shown = n > SHOWN ? mill_text_cut(value, SHOWN) : n;
    if (read_value(&g->params[i], value, *params, error) < 0)
      return mill_fail_within(error, "--%s %.*s%s", g->params[i].key, (int)shown, value, shown < n ? "…" : "");
  }
  return 0;
}

void mill_generator_free(const struct mill_generator *g, void *params)
{
  if (params)
    mill_param_free(g->params, g->param_count, params);
  mill_release(params);
}

const char *mill_generator_value(const struct mill_param_spec *spec, const void *params, char *buffer)
{
  const char *at = (const char *)params + spec->offset, *text;
  int64_t whole;
  double real;
  switch (spec->type) {
  case MILL_REAL:
    memcpy(&real, at, sizeof real);
    return mill_text_double(buffer, real);
  case MILL_INT:
    memcpy(&whole, at, sizeof whole);
    mill_text_format(buffer, 32, "%" PRId64, whole);
    return buffer;
  default: /* the tables have no other types */
    memcpy(&text, at, sizeof text);
    return text;
  }
}

static void print_config(const struct mill_generator *g, const void *params, FILE *out)
{
  char number[32], quoted[TEXT_MAX + 3];
  fprintf(out, "[generate]\nkind = %s\n", g->name);
  for (size_t i = 0; i < g->param_count; i++)
    fprintf(out, "%s = %s\n", g->params[i].key, mill_ini_quote(quoted, mill_generator_value(&g->params[i], params, number)));
}

char *mill_generator_config(const struct mill_generator *g, const void *params)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return NULL;
  print_config(g, params, out);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

const char *mill_generator_unit(uint32_t units, uint32_t unit, char *buffer)
{
  if (units <= LETTERS)
    mill_text_format(buffer, NAME_BYTES, "%c", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[unit]);
  else
    mill_text_format(buffer, NAME_BYTES, "%" PRIu32, unit + 1);
  return buffer;
}

char *mill_generator_ms(char *buffer, int64_t ps)
{
  int64_t ms = ps / 1000000000, rest = ps % 1000000000;
  int n = mill_text_format(buffer, 32, "%" PRId64 ".%09" PRId64, ms, rest);
  while (buffer[n - 1] == '0')
    n--;
  buffer[buffer[n - 1] == '.' ? n - 1 : n] = 0;
  return buffer;
}

static char *with_ending(const char *path, const char *ending)
{
  char *whole;
  return asprintf(&whole, "%s%s", path, ending) < 0 ? NULL : whole;
}

char *mill_generate_truth_path(const char *path)
{
  return with_ending(path, ".truth.ini");
}

char *mill_generate_table_path(const char *path)
{
  return with_ending(path, ".truth.csv");
}

/* ---- Files */

/* A stream on its way into a file. */
struct writing {
  struct mill_writer *writer;
  struct mill_spike_hash *hash;
  struct mill_generate_report *report;
  int (*going)(const struct mill_generate_report *report, void *self);
  void *self;
};

static int take(const struct mill_event *events, size_t n, int64_t done, void *self, struct mill_error *error)
{
  struct writing *w = self;
  for (size_t i = 0; i < n; i++)
    mill_spike_hash_add(w->hash, events[i].tick, events[i].unit, 0);
  w->report->events += n;
  w->report->done = done;
  if (mill_writer_push(w->writer, events, n, error))
    return -1;
  if (w->going && !w->going(w->report, w->self))
    return mill_fail(error, MILL_INTERRUPTED, "interrupted; no file was written");
  return 0;
}

/* A group for each unit, with the names behind the table; freed by mill_release. */
static struct mill_group *make_groups(uint32_t units, struct mill_error *error)
{
  struct mill_group *group = mill_allocate_or_fail("names of the units", units, sizeof *group + NAME_BYTES, error);
  char *name = (char *)(group + (group ? units : 0));
  for (uint32_t i = 0; group && i < units; i++, name += NAME_BYTES)
    group[i] = (struct mill_group){mill_generator_unit(units, i, name), i, 1};
  return group;
}

static int write_truth(const struct mill_generator *g, const void *params, const char *part, struct mill_generate_report *report,
                       struct mill_error *error)
{
  const struct mill_generated *made = &report->made;
  char tick[32], stop[32], *chains = NULL;
  size_t size;
  FILE *memory = open_memstream(&chains, &size), *out = NULL;
  if (!memory)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  report->chains = g->plant ? g->plant(params, memory) : 0;
  int bad = fclose(memory) != 0 || !(out = fopen(part, "we"));
  if (!bad) {
    print_config(g, params, out);
    fprintf(out, "[stream]\nversion = %s\nunits = %" PRIu32 "\nevents = %" PRIu64 "\ntick_ms = %s\nstop_ms = %s\n", mill_version(),
            made->units, report->events, mill_generator_ms(tick, made->tick_ps),
            mill_generator_ms(stop, made->stop * made->tick_ps));
    fprintf(out, "spike_hash = %016" PRIx64 "\nchains = %" PRIu32 "\n%s", report->spike_hash, report->chains, chains);
    bad = ferror(out);
  }
  if (out)
    bad |= fclose(out) != 0;
  free(chains);
  return bad ? mill_fail(error, MILL_RESOURCES, "the truth cannot be written to %s", part) : 0;
}

static int write_table(const struct mill_generator *g, const void *params, const char *part,
                       const struct mill_generate_report *report, struct mill_error *error)
{
  FILE *out = fopen(part, "we");
  int bad = !out;
  if (out) {
    fprintf(out, "# spikemill %s\n# spike_hash %016" PRIx64 "\n", mill_version(), report->spike_hash);
    g->table(params, out);
    bad = ferror(out);
    bad |= fclose(out) != 0;
  }
  return bad ? mill_fail(error, MILL_RESOURCES, "the truth cannot be written to %s", part) : 0;
}

/* A file of the truth until it is in its place. */
struct truth {
  char *path, *part;
};

static int commit_truth(struct truth *t, struct mill_error *error)
{
  char *part = t->part;
  t->part = NULL;
  return part ? mill_output_commit(t->path, part, error) : 0;
}

/* The stream whole behind its writer, and all files put in place, the stream first. */
static int make_files(const struct mill_generator *g, const void *params, struct writing *w, struct truth *truth,
                      struct truth *table, struct mill_error *error)
{
  struct mill_generate_report *r = w->report;
  if (g->make(params, take, w, error))
    return -1;
  r->spike_hash = mill_spike_hash_value(w->hash);
  if (write_truth(g, params, truth->part, r, error) || (g->table && write_table(g, params, table->part, r, error)))
    return -1;
  const struct mill_stream_end end = {.events = r->events, .spike_hash = r->spike_hash, .stop = r->made.stop, .complete = 1};
  struct mill_writer *writer = w->writer;
  w->writer = NULL;
  if (mill_writer_close(writer, &end, error) || commit_truth(truth, error))
    return -1;
  return commit_truth(table, error);
}

int mill_generate(const struct mill_generator *g, const void *params, const char *path, const char *format,
                  int (*going)(const struct mill_generate_report *report, void *self), void *self,
                  struct mill_generate_report *report, struct mill_error *error)
{
  struct writing w = {.report = report, .going = going, .self = self};
  struct truth truth = {mill_generate_truth_path(path), NULL}, table = {mill_generate_table_path(path), NULL};
  struct mill_group *group = NULL;
  char *config = mill_generator_config(g, params);
  int result = -1;
  *report = (struct mill_generate_report){0};
  if (g->describe(params, &report->made, error))
    goto done;
  w.hash = mill_spike_hash_create();
  if (!config || !truth.path || !table.path || !w.hash) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto done;
  }
  group = make_groups(report->made.units, error);
  if (!group)
    goto done;
  const struct mill_stream_info info = {.tick_ps = report->made.tick_ps,
                                        .stop = report->made.stop,
                                        .group_count = report->made.units,
                                        .group = group,
                                        .seed = report->made.seed,
                                        .version = mill_version(),
                                        .config = config};
  if (!mill_writer_open(path, format, &info, &w.writer, error) && !mill_output_begin(truth.path, &truth.part, error) &&
      (!g->table || !mill_output_begin(table.path, &table.part, error)))
    result = make_files(g, params, &w, &truth, &table, error);
done:
  mill_output_forget(truth.part);
  mill_output_forget(table.part);
  mill_writer_abandon(w.writer);
  mill_spike_hash_free(w.hash);
  mill_release(group);
  free(truth.path);
  free(table.path);
  free(config);
  return result;
}
