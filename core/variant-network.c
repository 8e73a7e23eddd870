/* Variants of a network: the time is that of the step loop, the result are its spikes and its weights at the end. Precisions give
   different results, so variants are compared within one. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "variant.h"

#include <stdlib.h>
#include <string.h>

#include <spikemill/format.h>
#include "ini.h"
#include "memory.h"
#include "plastic.h"
#include "simulation.h"
#include "text.h"

/* `sink` may be NULL. *sim is the caller's to free, also after a failure. */
static int simulate(const struct mill_variant *variant, const char *path,
                    void (*sink)(const struct mill_event *events, size_t n, void *self), void *self, struct mill_simulation **sim,
                    struct mill_error *error)
{
  const struct mill_options how = {(const char *const *)variant->overrides.text, variant->overrides.count, variant->threads, NULL,
                                   NULL};
  *sim = NULL;
  if (mill_simulation_open(path, &how, sim, error) < 0)
    return -1;
  mill_simulation_listen(*sim, sink, self);
  if (mill_advance_to(*sim, INT64_MAX, NULL, error) < 0)
    return -1;
  return mill_interrupted() ? mill_fail(error, MILL_INTERRUPTED, "interrupted") : 0;
}

static int run(const struct mill_variant *variant, const char *path, struct mill_result *result, struct mill_error *error)
{
  struct mill_simulation *sim;
  struct mill_simulation_report report;
  int rc = simulate(variant, path, NULL, NULL, &sim, error);
  if (rc == 0) {
    mill_simulation_report(sim, &report);
    result->seconds = report.wall_s;
    result->memory_bytes = report.memory_bytes;
    result->group = report.precision;
    mill_text_format(result->hash, sizeof result->hash, "%016llx:%016llx", (unsigned long long)report.spike_hash,
                     (unsigned long long)mill_simulation_weight_hash(sim));
  }
  mill_simulation_free(sim);
  return rc;
}

/* What one variant gave. */
struct tape {
  struct mill_event *event;
  size_t count, capacity;
  int full;
  double *weight; /* of every plastic synapse at the end, projection by projection; NULL when there are none or no memory */
  uint64_t weights;
};

static void record(const struct mill_event *events, size_t n, void *self)
{
  struct tape *tape = self;
  if (tape->count + n > tape->capacity) {
    size_t capacity = 2 * (tape->count + n);
    struct mill_event *bigger = tape->full ? NULL : realloc(tape->event, capacity * sizeof *bigger);
    if (!bigger) {
      tape->full = 1;
      return;
    }
    tape->event = bigger;
    tape->capacity = capacity;
  }
  memcpy(tape->event + tape->count, events, n * sizeof *events);
  tape->count += n;
}

static void keep_weights(struct mill_simulation *sim, struct tape *tape)
{
  const struct mill_network *n = &sim->network;
  uint64_t at = 0;
  for (uint32_t i = 0; i < n->projection_count; i++)
    tape->weights += n->projection[i].plastic ? n->projection[i].synapses : 0;
  tape->weight = tape->weights ? mill_allocate("weights", tape->weights, sizeof *tape->weight) : NULL;
  if (!tape->weight)
    return;
  mill_plastic_flush(sim);
  for (uint32_t i = 0; i < n->projection_count; i++)
    for (uint64_t k = 0; n->projection[i].plastic && k < n->projection[i].synapses; k++)
      tape->weight[at++] = mill_plastic_weight(n->projection[i].plastic, k);
}

/* "projection ee, exc:3 to exc:17: 0.25", malloc'ed; NULL when out of memory. */
static char *first_weight(const struct mill_simulation *sim, const struct tape tapes[2], const char *const name[2])
{
  const struct mill_network *n = &sim->network;
  char weight[2][32];
  uint64_t at = 0, k;
  while (tapes[0].weight && tapes[1].weight && at < tapes[0].weights &&
         memcmp(&tapes[0].weight[at], &tapes[1].weight[at], sizeof(double)) == 0)
    at++;
  if (!tapes[0].weight || !tapes[1].weight || at == tapes[0].weights)
    return mill_sentence("`%s` and `%s`: the same spikes, other weights", name[0], name[1]);
  k = at;
  for (uint32_t i = 0; i < n->projection_count; i++) {
    const struct mill_projection *p = &n->projection[i];
    uint32_t source = 0;
    if (!p->plastic)
      continue;
    if (k >= p->synapses) {
      k -= p->synapses;
      continue;
    }
    while (p->row[source + 1] <= k)
      source++;
    return mill_sentence("the same spikes; first difference in the weights, `%s` from %s:%u to %s:%u: in `%s` %s, in `%s` %s",
                         p->name, n->population[p->source].name, source, n->population[p->target].name, p->column[k], name[0],
                         mill_text_double(weight[0], tapes[0].weight[at]), name[1],
                         mill_text_double(weight[1], tapes[1].weight[at]));
  }
  return NULL;
}

/* "exc:17 fires at 12.3 ms", malloc'ed; NULL when out of memory. */
static char *describe(const struct mill_simulation *sim, const struct tape *tape, size_t at)
{
  struct mill_simulation_report report;
  struct mill_population_report population = {.name = ""};
  char time[32];
  uint32_t neuron;
  if (at == tape->count)
    return mill_sentence("there is no further spike");
  mill_simulation_report(sim, &report);
  neuron = tape->event[at].unit;
  for (uint32_t i = 0; mill_simulation_population(sim, i, &population) == 0 && neuron >= population.size; i++)
    neuron -= population.size;
  mill_text_format(time, sizeof time, "%.10g", (double)tape->event[at].tick * report.dt);
  return mill_sentence("%s:%u fires at %s ms", population.name, neuron, time);
}

static char *first_difference(const struct mill_simulation *sim, const struct tape tapes[2], const char *const name[2])
{
  char *left, *right, *sentence = NULL;
  size_t at = 0;
  while (at < tapes[0].count && at < tapes[1].count && tapes[0].event[at].tick == tapes[1].event[at].tick &&
         tapes[0].event[at].unit == tapes[1].event[at].unit)
    at++;
  if (at == tapes[0].count && at == tapes[1].count)
    return first_weight(sim, tapes, name);
  left = describe(sim, &tapes[0], at);
  right = describe(sim, &tapes[1], at);
  if (left && right)
    sentence = mill_sentence("first difference, spike %zu: in `%s` %s, in `%s` %s", at + 1, name[0], left, name[1], right);
  free(left);
  free(right);
  return sentence;
}

static int difference(const struct mill_variant *a, const struct mill_variant *b, const char *path, char **sentence,
                      struct mill_error *error)
{
  const char *const name[2] = {a->name, b->name};
  struct tape tapes[2] = {{0}, {0}};
  struct mill_simulation *sim = NULL;
  int rc = simulate(a, path, record, &tapes[0], &sim, error);
  if (rc == 0) {
    keep_weights(sim, &tapes[0]);
    mill_simulation_free(sim); /* one at a time: networks may be large */
    rc = simulate(b, path, record, &tapes[1], &sim, error);
  }
  if (rc == 0)
    keep_weights(sim, &tapes[1]);
  if (rc == 0 && (tapes[0].full || tapes[1].full))
    rc = mill_fail(error, MILL_RESOURCES, "out of memory for the spikes of both variants");
  if (rc == 0) {
    *sentence = first_difference(sim, tapes, name);
    if (!*sentence)
      rc = mill_fail(error, MILL_RESOURCES, "out of memory");
  }
  mill_simulation_free(sim);
  for (int i = 0; i < 2; i++) {
    free(tapes[i].event);
    mill_release(tapes[i].weight);
  }
  return rc;
}

static int config(const struct mill_variant *variant, const char *path, char **text, char **input, struct mill_error *error)
{
  struct mill_ini *ini;
  *input = NULL;
  if (mill_ini_read(path, (const char *const *)variant->overrides.text, variant->overrides.count, &ini, error) < 0)
    return -1;
  *text = mill_ini_text(ini);
  mill_ini_free(ini);
  return *text ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
}

const struct mill_subject mill_subject_network = {
    .what = "networks",
    .section = "simulation",
    .hash = "hash of spikes:weights",
    .equal = "all variants of one precision gave the same spikes and weights",
    .alone = "one variant of each precision",
    .key =
        {
            [MILL_AXIS_DELIVERY] = "strategy.delivery",
            [MILL_AXIS_PLASTICITY] = "strategy.plasticity",
            [MILL_AXIS_BACKEND] = "simulation.backend",
            [MILL_AXIS_PRECISION] = "simulation.precision",
            [MILL_AXIS_THREADS] = "",
        },
    .run = run,
    .difference = difference,
    .config = config,
};
