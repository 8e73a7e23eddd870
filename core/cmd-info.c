/* `spikemill info`: what plugins there are, what one of them takes, and what this machine has. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include <spikemill/format.h>
#include <spikemill/neuron-ops.h>
#include <spikemill/stimulus.h>
#include "cuda/miner.h"
#include "param.h"
#include "registry.h"
#include "text.h"

enum { TEMPLATE, QUIET, JSON, HELP };
static const struct mill_option options[] = {
    [TEMPLATE] = {"template", 0, NULL, "the plugin's parameters as a commented INI section", 0},
    [QUIET] = {"quiet", 0, NULL, "do not report broken plugins", 0},
    [JSON] = {"json", 0, NULL, "one JSON object on standard output, nothing else", 0},
    [HELP] = {"help", 'h', NULL, "this text", 0},
};
#define COUNT (sizeof options / sizeof *options)
static const char summary[] =
    "Lists the plugins, those of one kind, or everything about one of them: parameters with defaults, units and\n"
    "ranges, and a neuron model's states and receptors. NAME may be the path of a plugin's file. `info device` tells\n"
    "what this machine has to compute with.\n"
    "\n"
    "Kinds: neuron, synapse, plasticity, delivery, stimulus, counter, format.";

static const struct {
  uint32_t bit;
  const char *name;
} flag_names[] = {{MILL_CPU, "cpu"}, {MILL_CUDA, "cuda"}, {MILL_EXACT, "exact"}};
#define FLAGS (sizeof flag_names / sizeof *flag_names)

static const char *const param_types[] = {"", "real", "int", "bool", "choice", "text"};
static const char *const state_types[] = {"", "real", "int", "long", "double"};

struct request {
  int flag[COUNT];
  const char *word[2]; /* KIND, NAME */
  int words;
};

static void report_broken(const char *sentence, void *self)
{
  if (!*(const int *)self)
    fprintf(stderr, "spikemill: %s\n", sentence);
}

static void fill(size_t from, size_t to)
{
  while (from++ < to)
    putchar(' ');
}

/* One cell of a column that is `width` characters wide. */
static void cell(const char *text, size_t width)
{
  fputs(text, stdout);
  fill(mill_text_width(text), width + 2);
}

static size_t wider(size_t width, const char *text)
{
  size_t n = mill_text_width(text);
  return n > width ? n : width;
}

/* Where the value comes from "p->" is noise to a reader. *buffer holds 200 bytes. */
static const char *initial_text(char *buffer, const char *initial)
{
  size_t n = 0;
  if (!strcmp(initial, "mill_nan()")) /* the model finds it in the first step */
    return "-";
  while (*initial && n < 199)
    if (!strncmp(initial, "p->", 3))
      initial += 3;
    else
      buffer[n++] = *initial++;
  buffer[n] = 0;
  return buffer;
}

/* ---- One plugin */

static void print_states(const struct mill_neuron_ops *ops)
{
  static const char *const heads[] = {"state", "type", "unit", "initial"};
  char initial[200];
  size_t width[4];
  for (int c = 0; c < 4; c++)
    width[c] = strlen(heads[c]);
  for (uint32_t i = 0; i < ops->state_count; i++) {
    width[0] = wider(width[0], ops->state[i].name);
    width[1] = wider(width[1], state_types[ops->state[i].type]);
    width[2] = wider(width[2], ops->state[i].unit);
    width[3] = wider(width[3], initial_text(initial, ops->state[i].initial));
  }
  putchar('\n');
  for (int c = 0; c < 4; c++)
    cell(heads[c], width[c]);
  puts("meaning");
  for (uint32_t i = 0; i < ops->state_count; i++) {
    const struct mill_state_spec *s = &ops->state[i];
    cell(s->name, width[0]);
    cell(state_types[s->type], width[1]);
    cell(*s->unit ? s->unit : "-", width[2]);
    cell(initial_text(initial, s->initial), width[3]);
    puts(s->doc);
  }
}

static void print_receptors(const struct mill_neuron_ops *ops)
{
  size_t name = strlen("receptor"), unit = strlen("unit");
  for (uint32_t i = 0; i < ops->receptor_count; i++) {
    name = wider(name, ops->receptor[i].name);
    unit = wider(unit, ops->receptor[i].unit);
  }
  putchar('\n');
  cell("receptor", name);
  cell("unit", unit);
  puts("meaning");
  for (uint32_t i = 0; i < ops->receptor_count; i++) {
    cell(ops->receptor[i].name, name);
    cell(*ops->receptor[i].unit ? ops->receptor[i].unit : "-", unit);
    puts(ops->receptor[i].doc);
  }
}

static void print_plugin(const struct mill_plugin *p)
{
  printf("%s %s %s: %s\n", mill_kind_name(p->kind), p->name, p->version, p->summary);
  printf("licence  %s\n", p->licence);
  printf("path     %s\n", mill_plugin_path(p));
  printf("ABI      %u.%u\n", p->abi_major, p->abi_minor);
  fputs("flags   ", stdout);
  for (size_t i = 0; i < FLAGS; i++)
    if (p->flags & flag_names[i].bit)
      printf(" %s", flag_names[i].name);
  putchar('\n');
  if (p->kind == MILL_COUNTER)
    printf("counts   %s\nGPU      %s\n", p->flags & MILL_EXACT ? "exact" : "upper bounds", mill_miner_device_of(p) ? "yes" : "no");
  const struct mill_neuron_ops *ops = p->kind == MILL_NEURON ? p->ops : NULL;
  if (ops)
    printf("input    %s%s\n", ops->current_unit ? "real-valued input in " : "no real-valued input",
           ops->current_unit ? ops->current_unit : "");
  putchar('\n');
  if (p->param_count)
    mill_param_print(stdout, p->params, p->param_count);
  else
    puts("no parameters");
  if (ops && ops->state_count)
    print_states(ops);
  if (ops && ops->receptor_count)
    print_receptors(ops);
}

/* The initial value as a network file would say it: a number, or the default of the parameter it names; "" when it is neither. */
static const char *initial_value(const struct mill_plugin *p, const char *initial)
{
  double value;
  if (mill_text_real(initial, &value) == 0)
    return initial;
  for (uint32_t i = 0; i < p->param_count; i++)
    if (strcmp(p->params[i].key, initial) == 0 && p->params[i].deflt)
      return p->params[i].deflt;
  return "";
}

/* What a file needs around a plugin's own parameters: the section, what it says first, the key that names the plugin, what follows. */
static const struct {
  const char *section, *before, *key, *after;
} template_of[MILL_KIND_COUNT] = {
    [MILL_NEURON] = {"population.cells", "", "model", "size = 1\n"},
    [MILL_SYNAPSE] = {"projection.pairs", "source = cells\ntarget = cells\nrule = all-to-all\nweight = 1\ndelay = 1  ; ms\n",
                      "synapse", ""},
    [MILL_PLASTICITY] = {"strategy", "", "plasticity", ""},
    [MILL_DELIVERY] = {"strategy", "", "delivery", ""},
    [MILL_STIMULUS] = {"stimulus.drive", "", "type", "target = cells\n"},
    [MILL_COUNTER] = {"mining", "spikes = spikes.csv\nsupport = 100\nintervals = (0, 5] (5, 10] ms\n", "counter", ""},
};

/* Events of a stimulus have a weight, currents have none. A format is named by the file's extension, not by a key. */
static void print_template_head(const struct mill_plugin *p)
{
  const struct mill_stimulus_ops *stimulus = p->kind == MILL_STIMULUS ? p->ops : NULL;
  if (p->kind == MILL_FORMAT) {
    const char *extensions = ((const struct mill_format_ops *)p->ops)->extensions;
    printf("[mining]\nspikes = spikes%.*s\n", (int)strcspn(extensions, " "), extensions);
    return;
  }
  printf("[%s]\n%s%s = %s\n%s", template_of[p->kind].section, template_of[p->kind].before, template_of[p->kind].key, p->name,
         template_of[p->kind].after);
  if (stimulus && stimulus->events)
    puts("weight = 1  ; unit of the receptor");
}

static void print_template(const struct mill_plugin *p)
{
  const struct mill_neuron_ops *ops = p->kind == MILL_NEURON ? p->ops : NULL;
  char initial[200];
  printf("; %s %s: %s\n", mill_kind_name(p->kind), p->name, p->summary);
  print_template_head(p);
  mill_param_template(stdout, p->params, p->param_count);
  for (uint32_t i = 0; ops && i < ops->state_count; i++) {
    const struct mill_state_spec *s = &ops->state[i];
    initial_text(initial, s->initial);
    printf("; %s: initial value, a number or a distribution (%s)\n; %s = %s%s%s\n", s->doc, initial, s->name,
           initial_value(p, initial), *s->unit ? "  ; " : "", s->unit);
  }
}

/* ---- JSON. A NULL from cJSON means no memory; adding NULL to an object is refused, so one look at the end is enough. */

static int json_text(cJSON *object, const char *key, const char *value)
{
  return cJSON_AddStringToObject(object, key, value) ? 0 : -1;
}

static int json_add_plugin(cJSON *o, const struct mill_plugin *p)
{
  char abi[32];
  mill_text_format(abi, sizeof abi, "%u.%u", p->abi_major, p->abi_minor);
  int bad = json_text(o, "kind", mill_kind_name(p->kind)) | json_text(o, "name", p->name) | json_text(o, "version", p->version) |
            json_text(o, "summary", p->summary) | json_text(o, "licence", p->licence) | json_text(o, "path", mill_plugin_path(p)) |
            json_text(o, "abi", abi);
  cJSON *flags = cJSON_AddArrayToObject(o, "flags");
  for (size_t i = 0; i < FLAGS; i++)
    if (p->flags & flag_names[i].bit)
      bad |= !cJSON_AddItemToArray(flags, cJSON_CreateString(flag_names[i].name));
  return bad || !flags ? -1 : 0;
}

static cJSON *json_item(cJSON *array)
{
  cJSON *item = cJSON_CreateObject();
  if (!cJSON_AddItemToArray(array, item)) {
    cJSON_Delete(item);
    return NULL;
  }
  return item;
}

static int json_add_params(cJSON *o, const struct mill_plugin *p)
{
  cJSON *array = cJSON_AddArrayToObject(o, "parameters");
  int bad = !array;
  for (uint32_t i = 0; i < p->param_count && !bad; i++) {
    const struct mill_param_spec *s = &p->params[i];
    cJSON *item = json_item(array);
    bad = json_text(item, "key", s->key) | json_text(item, "type", param_types[s->type]) | json_text(item, "unit", s->unit) |
          json_text(item, "doc", s->doc);
    if (s->deflt)
      bad |= json_text(item, "default", s->deflt);
    if (s->choices)
      bad |= json_text(item, "choices", s->choices);
    if (s->type == MILL_REAL || s->type == MILL_INT)
      bad |= !cJSON_AddNumberToObject(item, "min", s->min) || !cJSON_AddNumberToObject(item, "max", s->max);
    bad |= !cJSON_AddBoolToObject(item, "required", (s->flags & MILL_REQUIRED) != 0);
  }
  return bad ? -1 : 0;
}

static int json_add_neuron(cJSON *o, const struct mill_neuron_ops *ops)
{
  char initial[200];
  cJSON *states = cJSON_AddArrayToObject(o, "states"), *receptors = cJSON_AddArrayToObject(o, "receptors");
  int bad = !states || !receptors;
  for (uint32_t i = 0; i < ops->state_count && !bad; i++) {
    const struct mill_state_spec *s = &ops->state[i];
    cJSON *item = json_item(states);
    bad = json_text(item, "name", s->name) | json_text(item, "type", state_types[s->type]) | json_text(item, "unit", s->unit) |
          json_text(item, "initial", initial_text(initial, s->initial)) | json_text(item, "doc", s->doc);
  }
  for (uint32_t i = 0; i < ops->receptor_count && !bad; i++) {
    const struct mill_receptor_spec *r = &ops->receptor[i];
    cJSON *item = json_item(receptors);
    bad = json_text(item, "name", r->name) | json_text(item, "unit", r->unit) | json_text(item, "doc", r->doc);
  }
  if (ops->current_unit)
    bad |= json_text(o, "current_unit", ops->current_unit);
  else
    bad |= !cJSON_AddNullToObject(o, "current_unit");
  return bad ? -1 : 0;
}

/* Prints and frees the object; `bad` when it could not be made. */
static int json_print(cJSON *o, int bad, struct mill_error *error)
{
  if (o && !bad)
    return mill_json_print(o, error);
  cJSON_Delete(o);
  return mill_fail(error, MILL_RESOURCES, "out of memory");
}

/* ---- What was asked for */

static int show_plugin(const struct request *r, int kind, struct mill_error *error)
{
  const struct mill_plugin *p;
  if (mill_plugin_load(kind, r->word[1], NULL, &p, error) < 0)
    return -1;
  if (r->flag[JSON]) {
    cJSON *o = cJSON_CreateObject();
    int bad = json_add_plugin(o, p) || json_add_params(o, p) || (p->kind == MILL_NEURON && json_add_neuron(o, p->ops));
    return json_print(o, bad, error);
  }
  if (r->flag[TEMPLATE])
    print_template(p);
  else
    print_plugin(p);
  return 0;
}

/* The sound plugins of a kind, printed or, when there is one, added to the JSON array `kinds`. */
static int show_kind(const struct request *r, int kind, cJSON *kinds, struct mill_error *error)
{
  int quiet = r->flag[QUIET], bad = 0;
  char **names = mill_plugin_list(kind, report_broken, &quiet);
  if (!names)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  cJSON *item = kinds ? json_item(kinds) : NULL;
  cJSON *array = item ? cJSON_AddArrayToObject(item, "plugins") : NULL;
  if (kinds)
    bad = !array || json_text(item, "kind", mill_kind_name(kind));
  else
    printf("%s%s\n", mill_kind_name(kind), names[0] ? "" : "\n  (none found)");
  size_t width = 0;
  for (size_t i = 0; names[i]; i++)
    width = wider(width, names[i]);
  for (size_t i = 0; names[i] && !bad; i++) {
    const struct mill_plugin *p;
    if (mill_plugin_load(kind, names[i], NULL, &p, NULL) < 0)
      continue;
    if (kinds)
      bad = json_add_plugin(json_item(array), p) != 0;
    else {
      fputs("  ", stdout);
      cell(names[i], width);
      printf("%s%s\n", p->summary, kind == MILL_COUNTER && !(p->flags & MILL_EXACT) ? " (counts are upper bounds)" : "");
    }
  }
  free(names);
  return bad ? mill_fail(error, MILL_RESOURCES, "out of memory") : 0;
}

/* All kinds, or only one. */
static int show_kinds(const struct request *r, int only, struct mill_error *error)
{
  char abi[32];
  int rc = 0;
  cJSON *o = NULL, *kinds = NULL;
  mill_text_format(abi, sizeof abi, "%d.%d", MILL_ABI_MAJOR, MILL_ABI_MINOR);
  if (r->flag[JSON]) {
    o = cJSON_CreateObject();
    if (json_text(o, "version", mill_version()) || json_text(o, "abi", abi) || !(kinds = cJSON_AddArrayToObject(o, "kinds")))
      return json_print(o, 1, error);
  } else if (!only)
    printf("spikemill %s, plugin ABI %s\n", mill_version(), abi);
  for (int kind = 1; kind < MILL_KIND_COUNT && rc == 0; kind++)
    if (!only || kind == only)
      rc = show_kind(r, kind, kinds, error);
  if (o && rc == 0)
    return json_print(o, 0, error);
  cJSON_Delete(o);
  return rc;
}

/* ---- Command line */

static int unknown_kind(const char *word, struct mill_error *error)
{
  const char *names[MILL_KIND_COUNT];
  size_t count = 0;
  for (int kind = 1; kind < MILL_KIND_COUNT; kind++)
    names[count++] = mill_kind_name(kind);
  names[count++] = "device";
  const char *nearest = mill_text_nearest(word, names, count);
  if (nearest)
    return mill_fail(error, MILL_USAGE, "no kind of plugin `%s`; did you mean `%s`?", word, nearest);
  return mill_fail(error, MILL_USAGE,
                   "no kind of plugin `%s`; there are neuron, synapse, plasticity, delivery, stimulus, counter, format", word);
}

static int parse(struct request *r, int argc, char **argv, struct mill_error *error)
{
  struct mill_args args = {argc, argv, 1, 0, 0};
  const char *value;
  int at;
  while ((at = mill_option_next(&args, options, COUNT, &value, error)) != MILL_ARG_END) {
    if (at == MILL_ARG_ERROR)
      return -1;
    if (at != MILL_ARG_WORD)
      r->flag[at] = 1;
    else if (r->words == 2)
      return mill_fail(error, MILL_USAGE, "KIND and NAME are enough, found `%s` too", value);
    else
      r->word[r->words++] = value;
  }
  if (r->flag[TEMPLATE] && r->words < 2 && !r->flag[HELP])
    return mill_fail(error, MILL_USAGE, "--template needs a plugin: spikemill info KIND NAME --template");
  if (r->flag[TEMPLATE] && r->flag[JSON])
    return mill_fail(error, MILL_USAGE, "--template and --json exclude each other");
  return 0;
}

static int show(const struct request *r, struct mill_error *error)
{
  if (r->words == 0)
    return show_kinds(r, 0, error);
  if (strcmp(r->word[0], "device") == 0) {
    if (r->words > 1)
      return mill_fail(error, MILL_USAGE, "`info device` takes no name, found `%s`", r->word[1]);
    return mill_info_device(r->flag[JSON], error);
  }
  int kind = mill_kind_find(r->word[0]);
  if (kind == 0)
    return unknown_kind(r->word[0], error);
  return r->words > 1 ? show_plugin(r, kind, error) : show_kinds(r, kind, error);
}

int mill_cmd_info(int argc, char **argv)
{
  struct request r = {0};
  struct mill_error error = {0};
  if (parse(&r, argc, argv, &error) < 0)
    return mill_report_error(&error);
  if (r.flag[HELP]) {
    mill_usage(stdout, "info [KIND [NAME]] | info device", summary, options, COUNT);
    return MILL_OK;
  }
  return show(&r, &error) < 0 ? mill_report_error(&error) : MILL_OK;
}
