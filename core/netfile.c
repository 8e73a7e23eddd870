/* Reading a network file: the sections that stand alone ([simulation], [strategy]) and the order in which the others are read. What
   a section means is in netfile-population.c, netfile-projection.c, netfile-record.c. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "netfile-private.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"
#include "registry.h"
#include "text.h"

struct simulation_values {
  const char *dt, *duration;
  int64_t seed, t0;
  int32_t precision, backend, accumulate, off_grid;
};
#define AT(member) offsetof(struct simulation_values, member)
static const struct mill_param_spec simulation_specs[] = {
    {"dt", "ms", "0.1", NULL, "time step", 0, 0, AT(dt), MILL_TEXT, 0},
    {"duration", "ms", "1000", NULL, "simulated time", 0, 0, AT(duration), MILL_TEXT, 0},
    {"seed", "", "1", NULL, "seed of every random number", 0, 9.2e18, AT(seed), MILL_INT, 0},
    {"precision", "", "single", "single|double", "arithmetic of the neurons", 0, 0, AT(precision), MILL_CHOICE, 0},
    {"backend", "", "auto", "auto|cpu|cuda", "where to run", 0, 0, AT(backend), MILL_CHOICE, 0},
    {"t0", "steps", "0", NULL, "first step", 0, 4e18, AT(t0), MILL_INT, MILL_EXPERT},
    {"accumulate", "", "int32", "int32|int64", "cells of the delay rings; double precision always takes int64", 0, 0,
     AT(accumulate), MILL_CHOICE, MILL_EXPERT},
    {"off_grid", "", "error", "error|allow", "spike files with times between steps", 0, 0, AT(off_grid), MILL_CHOICE, MILL_EXPERT},
};
#undef AT

struct strategy_values {
  const char *delivery, *plasticity;
  int64_t history_words;
};
#define AT(member) offsetof(struct strategy_values, member)
static const struct mill_param_spec strategy_specs[] = {
    {"delivery", "", "auto", NULL,
     "how spikes reach their targets; auto: row-wise up to 65,536 neurons in a population, then cache-aware", 0, 0, AT(delivery),
     MILL_TEXT, 0},
    {"plasticity", "", "auto", NULL, "when synapses are updated; auto: event-driven", 0, 0, AT(plasticity), MILL_TEXT, 0},
    {"history_words", "", "1", NULL, "words of 64 steps for which a row of plastic synapses may wait for its source", 1, 8,
     AT(history_words), MILL_INT, MILL_EXPERT},
};
#undef AT
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

int mill_place_fail(struct mill_error *error, const struct mill_place *place, const char *key, const char *format, ...)
{
  char text[1024];
  va_list arguments;
  struct mill_ini_entry *entry = place->section && key ? mill_ini_entry_find(place->section, key) : NULL;
  va_start(arguments, format);
  mill_text_vformat(text, sizeof text, format, arguments);
  va_end(arguments);
  if (key && !entry && place->section)
    return mill_ini_fail(error, place->ini, place->section, NULL, "%s: %s", key, text);
  return mill_ini_fail(error, place->ini, place->section, entry, "%s", text);
}

int mill_place_refuse(struct mill_error *error, const struct mill_place *place, int status, const char *reason)
{
  char key[64], text[1024];
  const char *colon = strstr(reason, ": ");
  size_t n = colon ? (size_t)(colon - reason) : 0;
  mill_text_format(text, sizeof text, "%s", reason); /* reason may be error->text */
  if (n > 0 && n < sizeof key) {
    memcpy(key, text, n);
    key[n] = 0;
    if (mill_text_is_key(key, 0)) {
      mill_place_fail(error, place, key, "%s", text + n + 2);
      error->status = status;
      return -1;
    }
  }
  mill_place_fail(error, place, NULL, "%s", text);
  error->status = status;
  return -1;
}

int mill_section_parse(struct mill_netfile *net, const struct mill_place *place, const struct mill_param_spec *specs, size_t count,
                       void *block, struct mill_error *error)
{
  static struct mill_ini_section none = {"", 0, 0, NULL};
  return mill_param_parse(specs, count, net->ini, place->section ? place->section : &none, &net->defines, block, error);
}

int mill_section_close(const struct mill_place *place, const struct mill_param_spec *specs, size_t count,
                       const struct mill_plugin *plugin, const struct mill_param_spec *extra, size_t extra_count,
                       struct mill_error *error)
{
  const struct mill_param_table tables[] = {
      {specs, count}, {plugin ? plugin->params : NULL, plugin ? plugin->param_count : 0}, {extra, extra_count}};
  if (!place->section)
    return 0;
  return mill_param_check_unused(place->ini, place->section, tables, COUNT(tables), error);
}

char **mill_section_list(const struct mill_place *place, const char *key, const char *text, size_t *count, struct mill_error *error)
{
  char **items = mill_text_list(text, count);
  if (!items) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    return NULL;
  }
  for (size_t i = 0; i < *count; i++) {
    for (size_t k = 0; k < i; k++) {
      if (strcmp(items[i], items[k]) == 0) {
        mill_place_fail(error, place, key, "`%s` is listed twice", items[i]);
        free(items);
        return NULL;
      }
    }
    if (items[i][0] == 0) {
      mill_place_fail(error, place, key, "an item of the list is empty");
      free(items);
      return NULL;
    }
  }
  return items;
}

const char *mill_section_suffix(const struct mill_ini_section *section, const char *prefix)
{
  size_t n = strlen(prefix);
  return strncmp(section->name, prefix, n) == 0 && section->name[n] == '.' ? section->name + n + 1 : NULL;
}

int mill_population_find(const struct mill_netfile *net, const struct mill_place *place, const char *key, const char *name,
                         uint32_t *index, struct mill_error *error)
{
  const char **names;
  const char *near;
  int rc;
  for (uint32_t i = 0; i < net->population_count; i++) {
    if (strcmp(net->population[i].name, name) == 0) {
      *index = i;
      return 0;
    }
  }
  names = malloc((net->population_count + 1) * sizeof *names);
  if (!names)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t i = 0; i < net->population_count; i++)
    names[i] = net->population[i].name;
  near = mill_text_nearest(name, names, net->population_count);
  if (near)
    rc = mill_place_fail(error, place, key, "no population `%s`; did you mean `%s`?", name, near);
  else
    rc = mill_place_fail(error, place, key, "no population `%s`: there is no section [population.%s]", name, name);
  free(names);
  return rc;
}

int mill_receptor_find(const struct mill_netfile *net, const struct mill_place *place, const char *name, uint32_t target,
                       uint32_t *receptor, struct mill_error *error)
{
  const struct mill_population_setup *population = &net->population[target];
  const struct mill_neuron_ops *ops = population->model.plugin->ops;
  char known[256] = "";
  if (ops->receptor_count == 0)
    return mill_place_fail(error, place, "target", "population `%s` takes no input: model `%s` has no receptor", population->name,
                           population->model.plugin->name);
  if (!name && ops->receptor_count == 1) {
    *receptor = 0;
    return 0;
  }
  for (uint32_t i = 0; i < ops->receptor_count; i++) {
    size_t n = strlen(known);
    if (name && strcmp(ops->receptor[i].name, name) == 0) {
      *receptor = i;
      return 0;
    }
    mill_text_format(known + n, sizeof known - n, "%s%s", i ? ", " : "", ops->receptor[i].name);
  }
  if (!name)
    return mill_place_fail(error, place, NULL, "receptor is required: model `%s` of population `%s` has %s",
                           population->model.plugin->name, population->name, known);
  return mill_place_fail(error, place, "receptor", "model `%s` of population `%s` has no receptor `%s`, but %s",
                         population->model.plugin->name, population->name, name, known);
}

static int read_simulation(struct mill_netfile *net, struct mill_error *error)
{
  struct simulation_values v = {0};
  struct mill_place place = {net->ini, mill_ini_section_find(net->ini, "simulation")};
  struct mill_error inner = {0};
  int64_t duration_ps;
  char shortest[32];
  int rc = -1;
  if (mill_section_parse(net, &place, simulation_specs, COUNT(simulation_specs), &v, error) < 0 ||
      mill_section_close(&place, simulation_specs, COUNT(simulation_specs), NULL, NULL, 0, error) < 0)
    goto done;
  if (mill_expr_ps(v.dt, &net->defines, &net->dt_ps, &inner) < 0) {
    mill_place_fail(error, &place, "dt", "%s", inner.text);
    goto done;
  }
  if (net->dt_ps <= 0 || net->dt_ps > INT64_C(1000000000000)) {
    mill_place_fail(error, &place, "dt", "must be above 0 and at most 1000 ms");
    goto done;
  }
  net->dt = (double)net->dt_ps / 1e9;
  if (mill_expr_ps(v.duration, &net->defines, &duration_ps, &inner) < 0) {
    mill_place_fail(error, &place, "duration", "%s", inner.text);
    goto done;
  }
  if (duration_ps < 0) {
    mill_place_fail(error, &place, "duration", "must be 0 or more");
    goto done;
  }
  if (mill_grid_steps(duration_ps, net->dt_ps, &net->duration) < 0) {
    mill_place_fail(error, &place, "duration", "is not a whole number of steps of %s ms", mill_text_double(shortest, net->dt));
    goto done;
  }
  if (v.t0 > INT64_MAX / net->dt_ps / 4 || net->duration > INT64_MAX / net->dt_ps / 4) {
    mill_place_fail(error, &place, v.t0 > INT64_MAX / net->dt_ps / 4 ? "t0" : "duration",
                    "the end of the run lies beyond what 64 bits of picoseconds hold");
    goto done;
  }
  net->seed = (uint64_t)v.seed;
  net->t0 = v.t0;
  net->precision = v.precision;
  net->backend = v.backend;
  net->accumulate = v.accumulate == 1 || v.precision == 1 ? 64 : 32;
  net->off_grid = v.off_grid;
  rc = 0;
done:
  mill_param_free(simulation_specs, COUNT(simulation_specs), &v);
  return rc;
}

static uint32_t largest_population(const struct mill_netfile *net)
{
  uint32_t most = 0;
  for (uint32_t i = 0; i < net->population_count; i++)
    most = net->population[i].size > most ? net->population[i].size : most;
  return most;
}

/* Whether the GPU is taken. An auto that takes the CPU although there is a GPU keeps the reason. */
static int takes_gpu(struct mill_netfile *net)
{
  char why[512];
  if (net->backend != 0)
    return net->backend == 2;
  if (!mill_gpu_present(why, sizeof why) || !mill_gpu_serves(net, why, sizeof why)) {
    mill_text_format(net->cpu_reason, sizeof net->cpu_reason, "%s", why);
    return 0;
  }
  return 1;
}

static int read_strategy(struct mill_netfile *net, int gpu, struct mill_error *error)
{
  struct strategy_values v = {0};
  struct mill_place place = {net->ini, mill_ini_section_find(net->ini, "strategy")};
  const struct mill_given given = {&place, &net->defines, net->folder};
  struct mill_param_table tables[3] = {{strategy_specs, COUNT(strategy_specs)}, {0}, {0}};
  const char *delivery, *plasticity;
  int rc = -1;
  if (mill_section_parse(net, &place, strategy_specs, COUNT(strategy_specs), &v, error) < 0)
    goto done;
  net->on_gpu = gpu && takes_gpu(net);
  delivery = strcmp(v.delivery, "auto") != 0    ? v.delivery
             : net->on_gpu                      ? "shared-memory"
             : largest_population(net) <= 65536 ? "row-wise"
                                                : "cache-aware";
  plasticity = strcmp(v.plasticity, "auto") != 0 ? v.plasticity : "event-driven";
  if (mill_choice_load(&given, "delivery", MILL_DELIVERY, delivery, &net->delivery, error) < 0 ||
      mill_choice_load(&given, "plasticity", MILL_PLASTICITY, plasticity, &net->plasticity, error) < 0)
    goto done;
  net->on_gpu = net->on_gpu && takes_gpu(net); /* now that the strategies are known */
  net->history_words = (uint32_t)v.history_words;
  tables[1].specs = net->delivery.plugin->params;
  tables[1].count = net->delivery.plugin->param_count;
  tables[2].specs = net->plasticity.plugin->params;
  tables[2].count = net->plasticity.plugin->param_count;
  if (place.section && (mill_choice_others(&given, MILL_DELIVERY, &net->delivery, error) < 0 ||
                        mill_choice_others(&given, MILL_PLASTICITY, &net->plasticity, error) < 0))
    goto done;
  if (place.section && mill_param_check_unused(net->ini, place.section, tables, COUNT(tables), error) < 0)
    goto done;
  rc = 0;
done:
  mill_param_free(strategy_specs, COUNT(strategy_specs), &v);
  return rc;
}

static int check_sections(const struct mill_netfile *net, struct mill_error *error)
{
  static const char *const whole[] = {"define", "simulation", "strategy", "record"};
  static const char *const named[] = {"population", "projection", "stimulus"};
  static const char *const all[] = {"define", "simulation", "strategy", "record", "population", "projection", "stimulus"};
  for (size_t i = 0; i < net->ini->count; i++) {
    const struct mill_ini_section *section = &net->ini->section[i];
    const struct mill_place place = {net->ini, &net->ini->section[i]};
    char head[64];
    const char *dot = strchr(section->name, '.'), *near;
    size_t n = dot ? (size_t)(dot - section->name) : strlen(section->name);
    int known = 0;
    for (size_t k = 0; k < COUNT(whole); k++)
      known |= strcmp(section->name, whole[k]) == 0;
    for (size_t k = 0; k < COUNT(named); k++) {
      const char *suffix = mill_section_suffix(section, named[k]);
      if (suffix && !mill_text_is_key(suffix, 1))
        return mill_place_fail(error, &place, NULL, "a name is a letter and then letters, digits, _ or -, found `%s`", suffix);
      known |= suffix != NULL;
    }
    if (known)
      continue;
    n = n < sizeof head ? n : sizeof head - 1;
    memcpy(head, section->name, n);
    head[n] = 0;
    for (size_t k = 0; k < COUNT(named); k++) {
      if (strcmp(section->name, named[k]) == 0)
        return mill_place_fail(error, &place, NULL, "needs a name: [%s.NAME]", named[k]);
    }
    near = mill_text_nearest(head, all, COUNT(all));
    if (near)
      return mill_place_fail(error, &place, NULL, "unknown section; did you mean `%s`?", near);
    return mill_place_fail(
        error, &place, NULL,
        "unknown section; known are define, simulation, strategy, population.NAME, projection.NAME, stimulus.NAME, record");
  }
  return 0;
}

int mill_netfile_read(const char *path, const char *const *overrides, size_t override_count, int gpu, struct mill_netfile **netfile,
                      struct mill_error *error)
{
  struct mill_netfile *net = calloc(1, sizeof *net);
  const char *slash = strrchr(path, '/');
  if (!net)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  net->folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("");
  if (!net->folder) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto failed;
  }
  if (mill_ini_read(path, overrides, override_count, &net->ini, error) < 0 || check_sections(net, error) < 0 ||
      mill_defines_read(net->ini, &net->defines, error) < 0 || read_simulation(net, error) < 0 ||
      mill_populations_read(net, error) < 0 || mill_projections_read(net, error) < 0 || mill_stimuli_read(net, error) < 0 ||
      read_strategy(net, gpu, error) < 0 || mill_record_read(net, error) < 0)
    goto failed;
  *netfile = net;
  return 0;
failed:
  mill_netfile_free(net);
  return -1;
}

void mill_netfile_free(struct mill_netfile *net)
{
  if (!net)
    return;
  for (uint32_t i = 0; i < net->population_count; i++) {
    struct mill_population_setup *p = &net->population[i];
    const struct mill_neuron_ops *ops = p->model.plugin ? p->model.plugin->ops : NULL;
    for (uint32_t s = 0; ops && p->initial && s < ops->state_count; s++)
      mill_dist_free(&p->initial[s]);
    free(p->initial);
    free(p->name);
    mill_choice_free(&p->model);
  }
  for (uint32_t i = 0; i < net->projection_count; i++) {
    struct mill_projection_setup *p = &net->projection[i];
    if (p->owns_edges)
      mill_edges_free(p->edges);
    free(p->connection.file);
    free(p->name);
    mill_dist_free(&p->weight);
    mill_dist_free(&p->delay);
    mill_choice_free(&p->synapse);
  }
  for (uint32_t i = 0; i < net->stimulus_count; i++) {
    free(net->stimulus[i].name);
    mill_dist_free(&net->stimulus[i].weight);
    mill_choice_free(&net->stimulus[i].stimulus);
  }
  free(net->population);
  free(net->projection);
  free(net->stimulus);
  mill_record_free(&net->record);
  mill_choice_free(&net->delivery);
  mill_choice_free(&net->plasticity);
  mill_defines_free(&net->defines);
  mill_ini_free(net->ini);
  free(net->folder);
  free(net);
}
