/* [population.NAME]: a model, a size, the model's parameters, and initial values of its states. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "netfile-private.h"

#include <stdlib.h>
#include <string.h>

struct population_values {
  const char *model;
  int64_t size;
};
#define AT(member) offsetof(struct population_values, member)
static const struct mill_param_spec population_specs[] = {
    {"model", "", NULL, NULL, "neuron model: a name, or the path of a plugin", 0, 0, AT(model), MILL_TEXT, MILL_REQUIRED},
    {"size", "neurons", NULL, NULL, "number of neurons", 0, 4294967040.0, AT(size), MILL_INT, MILL_REQUIRED},
};
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* State names as parameter specs, so that hints and listings know them. */
static struct mill_param_spec *state_specs(const struct mill_neuron_ops *ops)
{
  struct mill_param_spec *specs = calloc(ops->state_count + 1, sizeof *specs);
  for (uint32_t s = 0; specs && s < ops->state_count; s++) {
    specs[s].key = ops->state[s].name;
    specs[s].unit = ops->state[s].unit;
    specs[s].doc = ops->state[s].doc;
    specs[s].type = MILL_TEXT;
    specs[s].flags = MILL_PER_NEURON;
  }
  return specs;
}

static int read_initial(const struct mill_netfile *net, struct mill_population_setup *population, struct mill_error *error)
{
  const struct mill_neuron_ops *ops = population->model.plugin->ops;
  population->initial = calloc(ops->state_count + 1, sizeof *population->initial);
  if (!population->initial)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t s = 0; s < ops->state_count; s++)
    population->initial[s].kind = -1;
  for (uint32_t s = 0; s < ops->state_count; s++) {
    struct mill_ini_entry *entry = mill_ini_entry_find(population->place.section, ops->state[s].name);
    struct mill_error inner = {0};
    struct mill_dist dist = {0};
    if (!entry)
      continue;
    entry->used = 1;
    if (mill_dist_parse(entry->value, &net->defines, 1, &dist, &inner) < 0)
      return mill_place_fail(error, &population->place, ops->state[s].name, "%s", inner.text);
    population->initial[s] = dist;
  }
  return 0;
}

static int read_population(struct mill_netfile *net, struct mill_ini_section *section, struct mill_error *error)
{
  struct mill_population_setup *population = &net->population[net->population_count++];
  struct population_values v = {0};
  const struct mill_given given = {&population->place, &net->defines, net->folder};
  struct mill_param_spec *states = NULL;
  int rc = -1;
  memset(population, 0, sizeof *population);
  population->place = (struct mill_place){net->ini, section};
  population->name = strdup(mill_section_suffix(section, "population"));
  if (!population->name) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto done;
  }
  if (mill_section_parse(net, &population->place, population_specs, COUNT(population_specs), &v, error) < 0 ||
      mill_choice_load(&given, "model", MILL_NEURON, v.model, &population->model, error) < 0 ||
      read_initial(net, population, error) < 0)
    goto done;
  states = state_specs(population->model.plugin->ops);
  if (!states) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto done;
  }
  population->size = (uint32_t)v.size;
  rc = mill_section_close(&population->place, population_specs, COUNT(population_specs), population->model.plugin, states,
                          ((const struct mill_neuron_ops *)population->model.plugin->ops)->state_count, error);
done:
  free(states);
  mill_param_free(population_specs, COUNT(population_specs), &v);
  return rc;
}

int mill_populations_read(struct mill_netfile *net, struct mill_error *error)
{
  uint64_t neurons = 0;
  net->population = calloc(net->ini->count + 1, sizeof *net->population);
  if (!net->population)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (size_t i = 0; i < net->ini->count; i++) {
    struct mill_ini_section *section = &net->ini->section[i];
    if (!mill_section_suffix(section, "population"))
      continue;
    if (read_population(net, section, error) < 0)
      return -1;
    neurons += net->population[net->population_count - 1].size;
    if (neurons > 4294967040u)
      return mill_place_fail(error, &net->population[net->population_count - 1].place, "size",
                             "a network holds at most 4294967040 neurons");
  }
  if (net->population_count == 0)
    return mill_ini_fail(error, net->ini, NULL, NULL, "there is no population: a network needs a section [population.NAME]");
  return 0;
}
