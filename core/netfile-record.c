/* [record]: what a run writes. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "netfile-private.h"

#include <stdlib.h>
#include <string.h>

#include "stream.h"
#include "text.h"

struct record_values {
  const char *spikes, *state, *every, *neurons, *weights, *weights_every, *state_file, *weight_file;
};
#define AT(member) offsetof(struct record_values, member)
static const struct mill_param_spec record_specs[] = {
    {"spikes", "", "spikes.smk", NULL, "spike file, its format by extension; `none` for no file", 0, 0, AT(spikes), MILL_TEXT, 0},
    {"state", "", NULL, NULL, "state variables to sample: population.variable, separated by commas", 0, 0, AT(state), MILL_TEXT, 0},
    {"every", "ms", "1", NULL, "time between samples", 0, 0, AT(every), MILL_TEXT, 0},
    {"neurons", "", "all", NULL, "neurons to sample: all, or ranges as 0-9, 12", 0, 0, AT(neurons), MILL_TEXT, 0},
    {"weights", "", NULL, NULL, "projections whose weights are written", 0, 0, AT(weights), MILL_TEXT, 0},
    {"weights_every", "ms", NULL, NULL, "time between weights, from the start on; without it they are written at the end", 0, 0,
     AT(weights_every), MILL_TEXT, 0},
    {"state_file", "", "state.csv", NULL, "file of the sampled variables", 0, 0, AT(state_file), MILL_TEXT, MILL_EXPERT},
    {"weight_file", "", "weights.csv", NULL, "file of the weights", 0, 0, AT(weight_file), MILL_TEXT, MILL_EXPERT},
};
#undef AT
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static int read_variable(struct mill_netfile *net, const char *item, struct mill_error *error)
{
  struct mill_record_setup *r = &net->record;
  const char *dot = strrchr(item, '.'), *near;
  const struct mill_neuron_ops *ops;
  const char *names[256];
  char *population;
  uint32_t index;
  size_t n;
  int rc;
  if (!dot)
    return mill_place_fail(error, &r->place, "state", "expected population.variable, found `%s`", item);
  population = mill_text_trim(item, (size_t)(dot - item));
  if (!population)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  rc = mill_population_find(net, &r->place, "state", population, &index, error);
  free(population);
  if (rc < 0)
    return -1;
  ops = net->population[index].model.plugin->ops;
  for (uint32_t s = 0; s < ops->state_count; s++) {
    if (strcmp(ops->state[s].name, dot + 1) == 0) {
      r->variable[r->variable_count++] = (struct mill_variable){index, s};
      return 0;
    }
  }
  n = ops->state_count < COUNT(names) ? ops->state_count : COUNT(names);
  for (size_t s = 0; s < n; s++)
    names[s] = ops->state[s].name;
  near = mill_text_nearest(dot + 1, names, n);
  return mill_place_fail(error, &r->place, "state", "model `%s` has no state `%s`%s%s%s", net->population[index].model.plugin->name,
                         dot + 1, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static int read_variables(struct mill_netfile *net, const char *text, struct mill_error *error)
{
  size_t count;
  char **items = mill_section_list(&net->record.place, "state", text, &count, error);
  int rc = 0;
  if (!items)
    return -1;
  net->record.variable = calloc(count + 1, sizeof *net->record.variable);
  if (!net->record.variable)
    rc = mill_fail(error, MILL_RESOURCES, "out of memory");
  for (size_t i = 0; rc == 0 && i < count; i++)
    rc = read_variable(net, items[i], error);
  free(items);
  return rc;
}

static int read_range(const char *item, struct mill_range *range)
{
  const char *dash = strchr(item, '-');
  int64_t first, last;
  char *text;
  int bad;
  if (!dash) {
    if (mill_text_int(item, &first) < 0 || first < 0 || first > UINT32_MAX)
      return -1;
    *range = (struct mill_range){(uint32_t)first, (uint32_t)first};
    return 0;
  }
  text = mill_text_trim(item, (size_t)(dash - item));
  bad = !text || mill_text_int(text, &first) < 0 || mill_text_int(dash + 1, &last) < 0 || first < 0 || last < first ||
        last > UINT32_MAX;
  free(text);
  if (bad)
    return -1;
  *range = (struct mill_range){(uint32_t)first, (uint32_t)last};
  return 0;
}

/* Ranges must ascend, and must lie within every population that is sampled. */
static int read_ranges(struct mill_netfile *net, const char *text, struct mill_error *error)
{
  struct mill_record_setup *r = &net->record;
  size_t count;
  char **items;
  int rc = 0;
  if (strcmp(text, "all") == 0)
    return 0;
  items = mill_text_list(text, &count);
  if (items)
    r->range = calloc(count + 1, sizeof *r->range);
  if (!items || !r->range)
    rc = mill_fail(error, MILL_RESOURCES, "out of memory");
  for (size_t i = 0; rc == 0 && i < count; i++) {
    struct mill_range *range = &r->range[r->range_count++];
    if (read_range(items[i], range) < 0)
      rc = mill_place_fail(error, &r->place, "neurons", "expected a number or a range as 0-9, found `%s`", items[i]);
    else if (i > 0 && range->first <= range[-1].last)
      rc = mill_place_fail(error, &r->place, "neurons", "ranges must ascend and not overlap: `%s`", items[i]);
    for (uint32_t v = 0; rc == 0 && v < r->variable_count; v++) {
      const struct mill_population_setup *p = &net->population[r->variable[v].population];
      if (range->last >= p->size)
        rc = mill_place_fail(error, &r->place, "neurons", "`%s` is outside population `%s`, which has %u neurons", items[i],
                             p->name, p->size);
    }
  }
  free(items);
  return rc;
}

static int read_weights(struct mill_netfile *net, const char *text, struct mill_error *error)
{
  struct mill_record_setup *r = &net->record;
  size_t count;
  char **items = mill_section_list(&r->place, "weights", text, &count, error);
  int rc = 0;
  if (!items)
    return -1;
  r->weight = calloc(net->projection_count * count + 1, sizeof *r->weight);
  if (!r->weight)
    rc = mill_fail(error, MILL_RESOURCES, "out of memory");
  for (size_t i = 0; rc == 0 && i < count; i++) {
    uint32_t before = r->weight_count;
    for (uint32_t p = 0; p < net->projection_count; p++) {
      if (strcmp(net->projection[p].name, items[i]) == 0)
        r->weight[r->weight_count++] = p;
    }
    if (r->weight_count == before)
      rc = mill_place_fail(error, &r->place, "weights", "no projection `%s`: there is no section [projection.%s]", items[i],
                           items[i]);
  }
  free(items);
  return rc;
}

/* A file of the output folder: a bare name. */
static int take_file(const struct mill_record_setup *r, const char *key, const char *text, char **file, struct mill_error *error)
{
  if (strchr(text, '/') || text[0] == '.' || text[0] == 0)
    return mill_place_fail(error, &r->place, key, "expected a file name inside the output folder, found `%s`", text);
  *file = strdup(text);
  return *file ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
}

/* Keys that say nothing without another one, and two outputs under one name. */
static int check_together(const struct mill_record_setup *r, struct mill_error *error)
{
  static const struct {
    const char *key, *needs;
  } rule[] = {
      {"every", "state"}, {"neurons", "state"}, {"state_file", "state"}, {"weights_every", "weights"}, {"weight_file", "weights"}};
  const struct {
    const char *key, *name;
  } file[] = {{"spikes", r->spikes}, {"state_file", r->state_file}, {"weight_file", r->weight_file}};
  for (size_t i = 0; r->place.section && i < COUNT(rule); i++) {
    if (mill_ini_entry_find(r->place.section, rule[i].key) && !mill_ini_entry_find(r->place.section, rule[i].needs))
      return mill_place_fail(error, &r->place, rule[i].key, "has no effect without `%s`", rule[i].needs);
  }
  for (size_t i = 0; i < COUNT(file); i++) {
    for (size_t k = 0; k < i; k++) {
      if (file[i].name && file[k].name && strcmp(file[i].name, file[k].name) == 0)
        return mill_place_fail(error, &r->place, file[i].key, "`%s` is the name of the file of `%s` already", file[i].name,
                               file[k].key);
    }
  }
  return 0;
}

static int read_every(struct mill_netfile *net, const char *key, const char *text, int64_t *steps, struct mill_error *error)
{
  const struct mill_record_setup *r = &net->record;
  struct mill_error inner = {0};
  char dt[32];
  int64_t ps;
  if (mill_expr_ps(text, &net->defines, &ps, &inner) < 0)
    return mill_place_fail(error, &r->place, key, "%s", inner.text);
  if (ps <= 0)
    return mill_place_fail(error, &r->place, key, "must be above 0 ms");
  if (mill_grid_steps(ps, net->dt_ps, steps) < 0 || *steps < 1)
    return mill_place_fail(error, &r->place, key, "%s ms is not a whole number of steps of %s ms", text,
                           mill_text_double(dt, net->dt));
  return 0;
}

int mill_record_read(struct mill_netfile *net, struct mill_error *error)
{
  struct mill_record_setup *r = &net->record;
  struct record_values v = {0};
  struct mill_error inner = {0};
  int rc = -1;
  r->place = (struct mill_place){net->ini, mill_ini_section_find(net->ini, "record")};
  if (mill_section_parse(net, &r->place, record_specs, COUNT(record_specs), &v, error) < 0 ||
      mill_section_close(&r->place, record_specs, COUNT(record_specs), NULL, NULL, 0, error) < 0)
    goto done;
  r->every = 1;
  if ((v.state && read_every(net, "every", v.every, &r->every, error) < 0) ||
      (v.weights_every && read_every(net, "weights_every", v.weights_every, &r->weights_every, error) < 0))
    goto done;
  if (strcmp(v.spikes, "none") != 0) {
    const struct mill_plugin *format;
    if (take_file(r, "spikes", v.spikes, &r->spikes, error) < 0)
      goto done;
    if (mill_format_find(v.spikes, NULL, NULL, 1, &format, &inner) < 0) {
      mill_place_fail(error, &r->place, "spikes", "%s", inner.text);
      goto done;
    }
  }
  if (v.state && (read_variables(net, v.state, error) < 0 || take_file(r, "state_file", v.state_file, &r->state_file, error) < 0))
    goto done;
  if (read_ranges(net, v.neurons, error) < 0)
    goto done;
  if (v.weights &&
      (read_weights(net, v.weights, error) < 0 || take_file(r, "weight_file", v.weight_file, &r->weight_file, error) < 0))
    goto done;
  rc = check_together(r, error);
done:
  mill_param_free(record_specs, COUNT(record_specs), &v);
  return rc;
}

void mill_record_free(struct mill_record_setup *record)
{
  free(record->spikes);
  free(record->state_file);
  free(record->weight_file);
  free(record->variable);
  free(record->range);
  free(record->weight);
}
