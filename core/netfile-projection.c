/* [projection.NAME]: each pair of a source and a target is a projection of its own, with the whole rule. [stimulus.NAME]: each target is
   a stimulus of its own. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "netfile-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include <spikemill/synapse-ops.h>
#include "text.h"

struct projection_values {
  const char *source, *target, *rule, *receptor, *weight, *delay, *synapse;
  int32_t autapses, multapses;
};
#define AT(member) offsetof(struct projection_values, member)
static const struct mill_param_spec projection_specs[] = {
    {"source", "", NULL, NULL, "populations that send, separated by commas", 0, 0, AT(source), MILL_TEXT, MILL_REQUIRED},
    {"target", "", NULL, NULL, "populations that receive, separated by commas", 0, 0, AT(target), MILL_TEXT, MILL_REQUIRED},
    {"rule", "", NULL, NULL, "connection rule", 0, 0, AT(rule), MILL_TEXT, MILL_REQUIRED},
    {"autapses", "", "no", NULL, "whether a neuron may connect to itself", 0, 0, AT(autapses), MILL_BOOL, 0},
    {"multapses", "", "no", NULL, "whether a pair may be connected more than once", 0, 0, AT(multapses), MILL_BOOL, 0},
    {"receptor", "", NULL, NULL, "receptor of the target's model; needed when it has several", 0, 0, AT(receptor), MILL_TEXT, 0},
    {"weight", "unit of the receptor", NULL, NULL, "number or distribution", 0, 0, AT(weight), MILL_TEXT, 0},
    {"delay", "ms", NULL, NULL, "number or distribution", 0, 0, AT(delay), MILL_TEXT, 0},
    {"synapse", "", "static", NULL, "synapse rule", 0, 0, AT(synapse), MILL_TEXT, 0},
};
#undef AT

struct stimulus_values {
  const char *type, *target, *receptor, *weight;
};
#define AT(member) offsetof(struct stimulus_values, member)
static const struct mill_param_spec stimulus_specs[] = {
    {"type", "", NULL, NULL, "stimulus plugin", 0, 0, AT(type), MILL_TEXT, MILL_REQUIRED},
    {"target", "", NULL, NULL, "populations that receive, separated by commas", 0, 0, AT(target), MILL_TEXT, MILL_REQUIRED},
    {"receptor", "", NULL, NULL, "receptor of the target's model; needed when it has several", 0, 0, AT(receptor), MILL_TEXT, 0},
    {"weight", "unit of the receptor", NULL, NULL, "weight of an event", 0, 0, AT(weight), MILL_TEXT, 0},
};
#undef AT
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* A weight or delay: required unless the edges file has its column, refused when both give it. A key that nobody knows is likelier to be
   the one missed, and is said first. */
static int read_dist(struct mill_netfile *net, const struct mill_place *place, const struct mill_plugin *plugin, const char *key,
                     const char *text, int in_file, struct mill_dist *dist, struct mill_error *error)
{
  const int stimulus = plugin->kind == MILL_STIMULUS;
  struct mill_error inner = {0};
  if (in_file && text)
    return mill_place_fail(error, place, key, "the edges file has a column `%s`: give one of the two", key);
  if (in_file)
    return 0;
  if (!text && mill_section_close(place, stimulus ? stimulus_specs : projection_specs,
                                  stimulus ? COUNT(stimulus_specs) : COUNT(projection_specs), plugin, NULL, 0, error) < 0)
    return -1;
  if (!text)
    return mill_place_fail(error, place, NULL, "%s is required", key);
  if (mill_dist_parse(text, &net->defines, 0, dist, &inner) < 0)
    return mill_place_fail(error, place, key, "%s", inner.text);
  return 0;
}

/* A delay that can only round to no step is refused here, where its line is known. */
static int check_delay(const struct mill_netfile *net, const struct mill_projection_setup *p, struct mill_error *error)
{
  char dt[32], found[32];
  double ps = p->delay.a * 1e9;
  if ((p->edges && p->edges->delay_ps) || p->delay.kind != MILL_DIST_NUMBER)
    return 0;
  mill_text_double(dt, net->dt);
  mill_text_double(found, p->delay.a);
  if (ps < 0 || ps >= 65535.5 * (double)net->dt_ps)
    return mill_place_fail(error, &p->place, "delay", "%s ms is not between one step (%s ms) and 65535 steps", found, dt);
  if (mill_delay_steps((int64_t)(ps + 0.5), net->dt_ps) == 0)
    return mill_place_fail(error, &p->place, "delay", "%s ms rounds to no step of %s ms; the shortest delay is one step", found,
                           dt);
  return 0;
}

/* A receptor that counts spikes gets weights of 1 and nothing else, or its sums would be no counts. `p` is NULL for a stimulus. */
static int check_counting(const struct mill_netfile *net, const struct mill_place *place, uint32_t target, uint32_t receptor,
                          const struct mill_dist *weight, const struct mill_projection_setup *p, struct mill_error *error)
{
  const struct mill_population_setup *population = &net->population[target];
  const struct mill_receptor_spec *counter = &((const struct mill_neuron_ops *)population->model.plugin->ops)->receptor[receptor];
  const struct mill_edges *edges = p && p->edges && p->edges->weight ? p->edges : NULL;
  char found[32];
  if (strcmp(counter->unit, MILL_SPIKES) != 0)
    return 0;
  if (p && ((const struct mill_synapse_ops *)p->synapse.plugin->ops)->plastic)
    return mill_place_fail(error, place, "synapse", "receptor `%s` of population `%s` counts spikes: expected `static`, not `%s`",
                           counter->name, population->name, p->synapse.plugin->name);
  for (uint64_t i = 0; edges && i < edges->count; i++) {
    if (edges->weight[i] != 1)
      return mill_place_fail(error, place, "rule",
                             "%s:%llu: receptor `%s` of population `%s` counts spikes: expected a weight of 1, not %s", edges->path,
                             (unsigned long long)edges->line[i], counter->name, population->name,
                             mill_text_double(found, edges->weight[i]));
  }
  if (!edges && !(weight->kind == MILL_DIST_NUMBER && weight->a == 1))
    return mill_place_fail(error, place, "weight", "receptor `%s` of population `%s` counts spikes: expected a weight of 1",
                           counter->name, population->name);
  return 0;
}

static char *edges_path(const struct mill_netfile *net, const char *file)
{
  size_t n = strlen(net->folder) + strlen(file) + 1;
  char *path = malloc(n);
  if (path)
    mill_text_format(path, n, "%s%s", file[0] == '/' ? "" : net->folder, file);
  return path;
}

static int read_edges(const struct mill_netfile *net, struct mill_projection_setup *p, const struct mill_projection_setup *first,
                      struct mill_error *error)
{
  struct mill_error inner = {0};
  char *path;
  int failed;
  if (p->connection.rule != MILL_EDGES)
    return 0;
  if (p == first) {
    path = edges_path(net, p->connection.file);
    if (!path)
      return mill_fail(error, MILL_RESOURCES, "out of memory");
    p->owns_edges = 1;
    failed = mill_edges_read(path, &p->edges, &inner) < 0;
    free(path);
    if (failed) {
      mill_place_fail(error, &p->place, "rule", "%s", inner.text);
      error->status = inner.status;
      return -1;
    }
  } else {
    p->edges = first->edges;
  }
  p->connection.edges = p->edges;
  return 0;
}

static int read_pair(struct mill_netfile *net, const struct mill_place *place, const struct projection_values *v,
                     const char *source, const char *target, uint32_t first, struct mill_error *error)
{
  struct mill_projection_setup *p = &net->projection[net->projection_count];
  struct mill_error inner = {0};
  uint32_t index = net->projection_count++;
  memset(p, 0, sizeof *p);
  p->place = *place;
  p->name = strdup(mill_section_suffix(place->section, "projection"));
  if (!p->name)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (mill_population_find(net, place, "source", source, &p->source, error) < 0 ||
      mill_population_find(net, place, "target", target, &p->target, error) < 0 ||
      mill_receptor_find(net, place, v->receptor, p->target, &p->receptor, error) < 0)
    return -1;
  if (mill_connection_parse(v->rule, &net->defines, &p->connection, &inner) < 0)
    return mill_place_fail(error, place, "rule", "%s", inner.text);
  p->connection.autapses = v->autapses;
  p->connection.multapses = v->multapses;
  p->connection.sources = net->population[p->source].size;
  p->connection.targets = net->population[p->target].size;
  p->connection.same = p->source == p->target;
  p->connection.key = mill_key(net->seed, MILL_PURPOSE_CONNECT, index);
  if (read_edges(net, p, &net->projection[first], error) < 0)
    return -1;
  if (mill_connection_check(&p->connection, &inner) < 0) {
    mill_place_fail(error, place, "rule", "from `%s` to `%s`: %s", source, target, inner.text);
    error->status = inner.status;
    return -1;
  }
  if (mill_choice_load(&(struct mill_given){place, &net->defines, net->folder}, "synapse", MILL_SYNAPSE, v->synapse, &p->synapse,
                       error) < 0 ||
      read_dist(net, place, p->synapse.plugin, "weight", v->weight, p->edges && p->edges->weight, &p->weight, error) < 0 ||
      read_dist(net, place, p->synapse.plugin, "delay", v->delay, p->edges && p->edges->delay_ps, &p->delay, error) < 0 ||
      check_counting(net, place, p->target, p->receptor, &p->weight, p, error) < 0)
    return -1;
  return check_delay(net, p, error);
}

static int grow(void **array, uint32_t count, size_t more, size_t size, struct mill_error *error)
{
  void *bigger = realloc(*array, (count + more + 1) * size);
  if (!bigger)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  *array = bigger;
  return 0;
}

static int read_projection(struct mill_netfile *net, struct mill_ini_section *section, struct mill_error *error)
{
  struct mill_place place = {net->ini, section};
  struct projection_values v = {0};
  char **sources = NULL, **targets = NULL;
  size_t source_count, target_count;
  uint32_t first = net->projection_count;
  int rc = -1;
  if (mill_section_parse(net, &place, projection_specs, COUNT(projection_specs), &v, error) < 0)
    goto done;
  sources = mill_section_list(&place, "source", v.source, &source_count, error);
  targets = sources ? mill_section_list(&place, "target", v.target, &target_count, error) : NULL;
  if (!targets)
    goto done;
  if (grow((void **)&net->projection, net->projection_count, source_count * target_count, sizeof *net->projection, error) < 0)
    goto done;
  for (size_t s = 0; s < source_count; s++) {
    for (size_t t = 0; t < target_count; t++) {
      if (read_pair(net, &place, &v, sources[s], targets[t], first, error) < 0)
        goto done;
    }
  }
  rc = mill_section_close(&place, projection_specs, COUNT(projection_specs), net->projection[first].synapse.plugin, NULL, 0, error);
done:
  free(sources);
  free(targets);
  mill_param_free(projection_specs, COUNT(projection_specs), &v);
  return rc;
}

int mill_projections_read(struct mill_netfile *net, struct mill_error *error)
{
  for (size_t i = 0; i < net->ini->count; i++) {
    if (mill_section_suffix(&net->ini->section[i], "projection") && read_projection(net, &net->ini->section[i], error) < 0)
      return -1;
  }
  return 0;
}

static int read_stimulus_target(struct mill_netfile *net, const struct mill_place *place, const struct stimulus_values *v,
                                const char *target, struct mill_error *error)
{
  struct mill_stimulus_setup *s = &net->stimulus[net->stimulus_count++];
  const struct mill_stimulus_ops *ops;
  const struct mill_neuron_ops *model;
  memset(s, 0, sizeof *s);
  s->place = *place;
  s->name = strdup(mill_section_suffix(place->section, "stimulus"));
  if (!s->name)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (mill_choice_load(&(struct mill_given){place, &net->defines, net->folder}, "type", MILL_STIMULUS, v->type, &s->stimulus,
                       error) < 0 ||
      mill_population_find(net, place, "target", target, &s->target, error) < 0)
    return -1;
  ops = s->stimulus.plugin->ops;
  model = net->population[s->target].model.plugin->ops;
  if (ops->current) {
    if (v->weight || v->receptor)
      return mill_place_fail(error, place, v->weight ? "weight" : "receptor",
                             "stimulus `%s` gives a current: it has no weight and no receptor", s->stimulus.plugin->name);
    if (!model->current_unit)
      return mill_place_fail(error, place, "target", "model `%s` of population `%s` takes no current",
                             net->population[s->target].model.plugin->name, target);
    return 0;
  }
  if (mill_receptor_find(net, place, v->receptor, s->target, &s->receptor, error) < 0 ||
      read_dist(net, place, s->stimulus.plugin, "weight", v->weight, 0, &s->weight, error) < 0)
    return -1;
  if (s->weight.kind != MILL_DIST_NUMBER)
    return mill_place_fail(error, place, "weight", "must be a number: the events of a stimulus have one weight");
  return check_counting(net, place, s->target, s->receptor, &s->weight, NULL, error);
}

static int read_stimulus(struct mill_netfile *net, struct mill_ini_section *section, struct mill_error *error)
{
  struct mill_place place = {net->ini, section};
  struct stimulus_values v = {0};
  char **targets = NULL;
  size_t count;
  uint32_t first = net->stimulus_count;
  int rc = -1;
  if (mill_section_parse(net, &place, stimulus_specs, COUNT(stimulus_specs), &v, error) < 0)
    goto done;
  targets = mill_section_list(&place, "target", v.target, &count, error);
  if (!targets)
    goto done;
  if (grow((void **)&net->stimulus, net->stimulus_count, count, sizeof *net->stimulus, error) < 0)
    goto done;
  for (size_t t = 0; t < count; t++) {
    if (read_stimulus_target(net, &place, &v, targets[t], error) < 0)
      goto done;
  }
  rc = mill_section_close(&place, stimulus_specs, COUNT(stimulus_specs), net->stimulus[first].stimulus.plugin, NULL, 0, error);
done:
  free(targets);
  mill_param_free(stimulus_specs, COUNT(stimulus_specs), &v);
  return rc;
}

int mill_stimuli_read(struct mill_netfile *net, struct mill_error *error)
{
  for (size_t i = 0; i < net->ini->count; i++) {
    if (mill_section_suffix(&net->ini->section[i], "stimulus") && read_stimulus(net, &net->ini->section[i], error) < 0)
      return -1;
  }
  return 0;
}
