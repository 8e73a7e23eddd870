/* spikemill check: validate a network file, say what it needs and what would run. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include "memory.h"
#include "simulation.h"
#include "text.h"

enum { SET, THREADS, QUIET, JSON, HELP };
static const struct mill_option options[] = {
    [SET] = {"set", 0, "SECTION.KEY=VALUE", "override a value of the file; may be repeated", 1},
    [THREADS] = {"threads", 0, "N", "worker threads (default: one a processor)", 0},
    [QUIET] = {"quiet", 0, NULL, "exit status only", 0},
    [JSON] = {"json", 0, NULL, "one JSON object on standard output, nothing else", 0},
    [HELP] = {"help", 'h', NULL, "this text", 0},
};
#define COUNT (sizeof options / sizeof *options)

struct request {
  const char *path;
  struct mill_overrides overrides;
  int64_t threads;
  int quiet, json, help;
};

static int parse(struct request *r, int argc, char **argv, struct mill_error *error)
{
  struct mill_args args = {argc, argv, 1, 0, 0};
  const char *value;
  int at;
  while ((at = mill_option_next(&args, options, COUNT, &value, error)) != MILL_ARG_END) {
    int rc = 0;
    if (at == MILL_ARG_ERROR)
      return -1;
    if (at == MILL_ARG_WORD) {
      if (r->path)
        return mill_fail(error, MILL_USAGE, "one file is enough, found `%s` and `%s`", r->path, value);
      r->path = value;
    } else if (at == SET) {
      rc = mill_override_add(&r->overrides, value, error);
    } else if (at == THREADS) {
      rc = mill_option_int("threads", value, 1, 4096, &r->threads, error);
    } else {
      r->quiet |= at == QUIET;
      r->json |= at == JSON;
      r->help |= at == HELP;
    }
    if (rc < 0)
      return -1;
  }
  if (!r->path && !r->help)
    return mill_fail(error, MILL_USAGE, "no file given: spikemill check NET.ini");
  return 0;
}

static void accumulator_text(char *text, size_t size, const struct mill_accumulator *a, const char *unit)
{
  if (a->counts)
    mill_text_format(text, size, "counts of %.6g %s, at most %llu", a->scale, unit, (unsigned long long)a->bound);
  else
    mill_text_format(text, size, "quantum 2^%d %s, at most %llu quanta", -a->exponent, unit, (unsigned long long)a->bound);
}

static void print(const struct mill_simulation *sim, const struct mill_estimate *e)
{
  const struct mill_network *n = &sim->network;
  char a[32], b[32], c[32], d[32], text[160];
  uint64_t synapses = 0;
  for (uint32_t i = 0; i < n->projection_count; i++)
    synapses += n->projection[i].synapses;
  printf("%u neurons, %llu synapses; %lld steps of %.6g ms from step %lld, epochs of %u steps, longest delay %u steps\n",
         n->neurons, (unsigned long long)synapses, (long long)sim->file->duration, n->dt, (long long)sim->file->t0, n->epoch_steps,
         n->delay_max);
  printf("cpu, %u thread%s, %s precision, delivery %s, plasticity %s\n", sim->workers, sim->workers == 1 ? "" : "s",
         sim->file->precision ? "double" : "single", sim->file->delivery.plugin->name, sim->file->plasticity.plugin->name);
  printf("memory: %s held (estimate %s: synapses %s, delay rings %s), %s free before\n", mill_memory_text(a, sim->memory_bytes),
         mill_memory_text(b, e->total_bytes), mill_memory_text(c, e->synapse_bytes), mill_memory_text(d, e->ring_bytes),
         mill_memory_text(text, mill_memory_free() + sim->memory_bytes));
  for (uint32_t p = 0; p < n->population_count; p++) {
    const struct mill_neuron_ops *ops = sim->run[p].ops;
    printf("population %s: %u × %s\n", n->population[p].name, n->population[p].size, sim->file->population[p].model.plugin->name);
    for (uint32_t r = 0; r < ops->receptor_count; r++) {
      accumulator_text(text, sizeof text, &sim->run[p].accumulator[r], ops->receptor[r].unit);
      printf("  receptor %s: int%u, %s\n", ops->receptor[r].name, sim->run[p].accumulator[r].bits, text);
    }
  }
  for (uint32_t i = 0; i < n->projection_count; i++) {
    const struct mill_projection *p = &n->projection[i];
    printf("projection %s: %s to %s, %llu synapses, delays %u to %u steps, %u-bit weights\n", p->name,
           n->population[p->source].name, n->population[p->target].name, (unsigned long long)p->synapses, p->delay_min,
           p->delay_max, p->weight_bits);
  }
}

static int print_json(const struct mill_simulation *sim, const struct mill_estimate *e, struct mill_error *error)
{
  cJSON *object = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(object, "receptors");
  cJSON_AddStringToObject(object, "version", mill_version());
  mill_json_int(object, "neurons", sim->network.neurons);
  mill_json_int(object, "synapses_estimated", e->synapses);
  mill_json_int(object, "memory_bytes_estimated", e->total_bytes);
  mill_json_int(object, "memory_bytes", sim->memory_bytes);
  mill_json_int(object, "epoch_steps", sim->network.epoch_steps);
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    for (uint32_t r = 0; r < sim->run[p].ops->receptor_count; r++) {
      const struct mill_accumulator *a = &sim->run[p].accumulator[r];
      cJSON *item = cJSON_CreateObject();
      cJSON_AddStringToObject(item, "population", sim->population[p].name);
      cJSON_AddStringToObject(item, "receptor", sim->run[p].ops->receptor[r].name);
      mill_json_int(item, "bits", a->bits);
      cJSON_AddBoolToObject(item, "counts", a->counts);
      cJSON_AddNumberToObject(item, "quantum", a->scale);
      mill_json_int(item, "bound", a->bound);
      cJSON_AddItemToArray(list, item);
    }
  }
  return mill_json_print(object, error);
}

static int check(const struct request *q, struct mill_error *error)
{
  const struct mill_options how = {(const char *const *)q->overrides.text, q->overrides.count, (uint32_t)q->threads, NULL};
  struct mill_simulation *sim = NULL;
  int rc = 0;
  if (mill_simulation_open(q->path, &how, &sim, error) < 0)
    return -1;
  if (q->json)
    rc = print_json(sim, &sim->estimate, error);
  else if (!q->quiet)
    print(sim, &sim->estimate);
  mill_simulation_free(sim);
  return rc;
}

int mill_cmd_check(int argc, char **argv)
{
  struct request q = {0};
  struct mill_error error = {0};
  int status = MILL_OK;
  if (parse(&q, argc, argv, &error) < 0)
    status = mill_report_error(&error);
  else if (q.help)
    mill_usage(stdout, "check NET.ini [option]…",
               "Validates a network file; prints what would run, the memory it needs and the quantum of each receptor.", options,
               COUNT);
  else if (check(&q, &error) < 0)
    status = mill_report_error(&error);
  mill_overrides_free(&q.overrides);
  return status;
}
