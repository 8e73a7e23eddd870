/* spikemill generate: a synthetic stream, and beside it what was planted. The options are made from the parameter table of the kind, so
   the kind comes first. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include "generate.h"
#include "memory.h"
#include "param.h"
#include "simulation.h"
#include "text.h"

enum { OUTPUT, TO, QUIET, JSON, HELP, FIXED };
static const struct mill_option fixed[FIXED] = {
    [OUTPUT] = {"output", 'o', "FILE", "the stream; its truth goes to FILE.truth.ini and FILE.truth.csv", 0},
    [TO] = {"to", 0, "FORMAT", "format of the stream (default: by the extension)", 0},
    [QUIET] = {"quiet", 0, NULL, "no progress, no summary", 0},
    [JSON] = {"json", 0, NULL, "one JSON object on standard output, nothing else", 0},
    [HELP] = {"help", 'h', NULL, "this text", 0},
};
#define OPTIONS_MAX 64 /* as struct mill_args can tell apart */
#define DOC_MAX 300
static const char summary[] =
    "Makes a stream of events with known truth: FILE and, beside it, FILE.truth.ini and, of some kinds, FILE.truth.csv.";

struct request {
  const struct mill_generator *generator;
  const char *path, *format, *text[OPTIONS_MAX]; /* text: what the user gave for each parameter */
  int quiet, json, help;
};

/* The options of a kind: its parameters, then those that all have. */
struct table {
  struct mill_option option[OPTIONS_MAX];
  char name[OPTIONS_MAX][32], value[OPTIONS_MAX][16], doc[OPTIONS_MAX][DOC_MAX];
  size_t count;
};

static void add_parameter(struct table *t, const struct mill_param_spec *spec)
{
  size_t at = t->count++;
  char range[128];
  const char *type = spec->type == MILL_TEXT ? "TEXT" : spec->type == MILL_INT ? "N" : "X";
  mill_text_format(t->value[at], sizeof *t->value, "%s", *spec->unit ? spec->unit : type);
  mill_param_range(spec, range, sizeof range);
  mill_text_format(t->doc[at], DOC_MAX, "%s (default %s%s%s%s%s)", spec->doc, spec->deflt, *spec->unit ? " " : "", spec->unit,
                   spec->type == MILL_TEXT ? "" : "; ", spec->type == MILL_TEXT ? "" : range);
  t->option[at] = (struct mill_option){spec->key, 0, t->value[at], t->doc[at], 0};
}

static void make_table(struct table *t, const struct mill_generator *g)
{
  t->count = 0;
  for (size_t i = 0; i < g->param_count; i++)
    add_parameter(t, &g->params[i]);
  for (size_t i = 0; i < FIXED; i++)
    t->option[t->count++] = fixed[i];
}

static void show_help(const struct mill_generator *g, const struct table *t)
{
  char synopsis[80];
  if (g) {
    mill_text_format(synopsis, sizeof synopsis, "generate %s -o FILE [option]…", g->name);
    mill_usage(stdout, synopsis, summary, t->option, t->count);
    return;
  }
  mill_usage(stdout, "generate KIND -o FILE [option]…", summary, fixed, FIXED);
  puts("\nkinds, whose parameters `spikemill generate KIND --help` tells:");
  for (size_t i = 0; mill_generators[i]; i++)
    printf("  %-10s %s\n", mill_generators[i]->name, mill_generators[i]->summary);
}

static int parse(struct request *r, struct table *t, int argc, char **argv, struct mill_error *error)
{
  struct mill_args args = {argc, argv, 2, 0, 0};
  const char *value;
  int at;
  if (argc < 2)
    return mill_fail(error, MILL_USAGE, "no kind of stream given: spikemill generate KIND -o FILE; --help lists the kinds");
  r->help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
  if (r->help)
    return 0;
  if (argv[1][0] == '-')
    return mill_fail(error, MILL_USAGE, "the kind of stream comes before the options: spikemill generate KIND -o FILE, found `%s`",
                     argv[1]);
  r->generator = mill_generator_find(argv[1], error);
  if (!r->generator)
    return -1;
  make_table(t, r->generator);
  const size_t params = r->generator->param_count;
  while ((at = mill_option_next(&args, t->option, t->count, &value, error)) != MILL_ARG_END) {
    if (at == MILL_ARG_ERROR)
      return -1;
    if (at == MILL_ARG_WORD)
      return mill_fail(error, MILL_USAGE, "one kind of stream is enough, found `%s` and `%s`; the file is named by -o", argv[1],
                       value);
    if ((size_t)at < params)
      r->text[at] = value;
    else if ((size_t)at == params + OUTPUT)
      r->path = value;
    else if ((size_t)at == params + TO)
      r->format = value;
    r->quiet |= (size_t)at == params + QUIET;
    r->json |= (size_t)at == params + JSON;
    r->help |= (size_t)at == params + HELP;
  }
  if (!r->path && !r->help)
    return mill_fail(error, MILL_USAGE, "no file given: spikemill generate %s -o FILE", argv[1]);
  return 0;
}

/* ---- While it is made, and after */

struct watch {
  struct mill_progress progress;
  double begun;
};

static double to_ms(const struct mill_generate_report *r, int64_t ticks)
{
  return (double)ticks * (double)r->made.tick_ps / 1e9;
}

static double rate_hz(const struct mill_generate_report *r)
{
  return r->done ? (double)r->events / r->made.units / to_ms(r, r->done) * 1000 : 0;
}

static int going(const struct mill_generate_report *r, void *self)
{
  struct watch *watch = self;
  const struct mill_simulation_report shown = {.dt = (double)r->made.tick_ps / 1e9,
                                               .step = r->done,
                                               .duration = r->made.stop,
                                               .neurons = r->made.units,
                                               .spikes = r->events,
                                               .wall_s = mill_seconds() - watch->begun};
  mill_progress_show(&watch->progress, &shown);
  return !mill_interrupted();
}

static int print_json(const struct request *q, const void *params, const struct mill_generate_report *r, const char *const *file,
                      double wall_s, struct mill_error *error)
{
  const struct mill_generator *g = q->generator;
  cJSON *object = cJSON_CreateObject(), *list;
  char number[32];
  cJSON_AddStringToObject(object, "version", mill_version());
  cJSON_AddStringToObject(object, "kind", g->name);
  mill_json_int(object, "seed", r->made.seed);
  list = cJSON_AddObjectToObject(object, "config");
  for (size_t i = 0; i < g->param_count; i++) {
    const char *value = mill_generator_value(&g->params[i], params, number);
    if (g->params[i].type == MILL_TEXT)
      cJSON_AddStringToObject(list, g->params[i].key, value);
    else
      cJSON_AddRawToObject(list, g->params[i].key, value);
  }
  mill_json_int(object, "units", r->made.units);
  mill_json_int(object, "events", r->events);
  mill_json_int(object, "chains", r->chains);
  cJSON_AddRawToObject(object, "duration_ms", mill_generator_ms(number, r->made.stop * r->made.tick_ps));
  cJSON_AddRawToObject(object, "tick_ms", mill_generator_ms(number, r->made.tick_ps));
  cJSON_AddNumberToObject(object, "rate_hz", rate_hz(r));
  mill_json_hash(object, "spike_hash", r->spike_hash);
  cJSON_AddNumberToObject(object, "wall_s", wall_s);
  list = cJSON_AddArrayToObject(object, "files");
  for (; *file; file++)
    cJSON_AddItemToArray(list, cJSON_CreateString(*file));
  return mill_json_print(object, error);
}

static void print_summary(const struct mill_generate_report *r, const char *const *file, double wall_s)
{
  char ms[32], tick[32];
  printf("%llu events of %u unit%s in %s ms, made in %.3g s\n", (unsigned long long)r->events, r->made.units,
         r->made.units == 1 ? "" : "s", mill_generator_ms(ms, r->made.stop * r->made.tick_ps), wall_s);
  printf("%.4f Hz a unit, ticks of %s ms, %u chain%s planted, spike hash %016llx\n", rate_hz(r),
         mill_generator_ms(tick, r->made.tick_ps), r->chains, r->chains == 1 ? "" : "s", (unsigned long long)r->spike_hash);
  for (; *file; file++)
    printf("wrote %s\n", *file);
}

static int generate(const struct request *q, struct mill_error *error)
{
  struct mill_generate_report report;
  struct watch watch;
  void *params = NULL;
  char *truth = mill_generate_truth_path(q->path), *table = mill_generate_table_path(q->path);
  const char *const file[] = {q->path, truth, q->generator->table ? table : NULL, NULL};
  uint64_t limit;
  int rc = -1;
  if (!truth || !table) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto done;
  }
  if (mill_memory_limit(&limit, error) < 0 || mill_generator_params(q->generator, q->text, &params, error) < 0)
    goto done;
  mill_interrupt_catch();
  watch.begun = mill_seconds();
  mill_progress_begin(&watch.progress, q->quiet || q->json);
  rc = mill_generate(q->generator, params, q->path, q->format, going, &watch, &report, error);
  mill_progress_end(&watch.progress);
  watch.begun = mill_seconds() - watch.begun;
  if (rc == 0 && q->json)
    rc = print_json(q, params, &report, file, watch.begun, error);
  else if (rc == 0 && !q->quiet)
    print_summary(&report, file, watch.begun);
done:
  mill_generator_free(q->generator, params);
  free(truth);
  free(table);
  return rc;
}

int mill_cmd_generate(int argc, char **argv)
{
  struct request q = {0};
  struct table table;
  struct mill_error error = {0};
  if (parse(&q, &table, argc, argv, &error) < 0)
    return mill_report_error(&error);
  if (q.help) {
    show_help(q.generator, &table);
    return MILL_OK;
  }
  return generate(&q, &error) < 0 ? mill_report_error(&error) : MILL_OK;
}
