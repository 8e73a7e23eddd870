/* spikemill check: validate a network file or a mining job, say what it needs and what would run. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include <spikemill/mining.h>
#include "memory.h"
#include "mining-private.h"
#include "plastic.h"
#include "simulation.h"
#include "stream.h"
#include "text.h"
#include "threads.h"
#include "variant.h"

struct request {
  struct mill_request common;
  int64_t threads;
};
static const struct mill_row rows[] = {
    MILL_ROWS_NETWORK,
    MILL_ROW_INT("threads", "N", "worker threads (default: one a processor)", struct request, threads, 1, 4096),
    MILL_ROWS_COMMON("exit status only"),
};
#define COUNT (sizeof rows / sizeof *rows)
MILL_ROWS_FIT(rows);

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
  struct mill_simulation_report report;
  char a[32], b[32], c[32], d[32], text[160];
  uint64_t synapses = 0;
  mill_simulation_report(sim, &report);
  for (uint32_t i = 0; i < n->projection_count; i++)
    synapses += n->projection[i].synapses;
  printf("%u neurons, %llu synapses; %lld steps of %.6g ms from step %lld, epochs of %u steps, longest delay %u steps\n",
         n->neurons, (unsigned long long)synapses, (long long)sim->file->duration, n->dt, (long long)sim->file->t0, n->epoch_steps,
         n->delay_max);
  printf("%s%s%s%s, %u thread%s, %s precision, delivery %s, plasticity %s\n", report.backend, report.device ? " (" : "",
         report.device ? report.device : "", report.device ? ")" : "", sim->workers, sim->workers == 1 ? "" : "s",
         report.precision ? "double" : "single", report.delivery, report.plasticity);
  printf("memory: %s held (estimate %s: synapses %s, delay rings %s), %s free before\n", mill_memory_text(a, sim->memory_bytes),
         mill_memory_text(b, e->total_bytes), mill_memory_text(c, e->synapse_bytes), mill_memory_text(d, e->ring_bytes),
         mill_memory_text(text, mill_memory_free() + sim->memory_bytes));
  if (report.device)
    printf("memory of the GPU: %s held\n", mill_memory_text(a, report.memory_bytes - sim->memory_bytes));
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
    if (p->plastic)
      mill_text_format(text, sizeof text, "weights of %s", sim->file->projection[i].synapse.plugin->name);
    else if (p->weight_bits)
      mill_text_format(text, sizeof text, "%u-bit weights", p->weight_bits);
    else
      mill_text_format(text, sizeof text, "one weight");
    printf("projection %s: %s to %s, %llu synapses, delays %u to %u steps, %s\n", p->name, n->population[p->source].name,
           n->population[p->target].name, (unsigned long long)p->synapses, p->delay_min, p->delay_max, text);
  }
}

static void json_receptors(cJSON *list, const struct mill_simulation *sim)
{
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
}

static void json_projections(cJSON *list, const struct mill_simulation *sim)
{
  const struct mill_network *n = &sim->network;
  for (uint32_t i = 0; i < n->projection_count; i++) {
    const struct mill_projection *p = &n->projection[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", p->name);
    cJSON_AddStringToObject(item, "source", n->population[p->source].name);
    cJSON_AddStringToObject(item, "target", n->population[p->target].name);
    mill_json_int(item, "synapses", p->synapses);
    mill_json_int(item, "delay_min_steps", p->delay_min);
    mill_json_int(item, "delay_max_steps", p->delay_max);
    cJSON_AddStringToObject(item, "synapse", sim->file->projection[i].synapse.plugin->name);
    mill_json_int(item, "weight_bits", p->plastic ? 8 * p->plastic->code->real_size : p->weight_bits);
    cJSON_AddItemToArray(list, item);
  }
}

static int print_json(const struct request *q, const struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_estimate *e = &sim->estimate;
  struct mill_simulation_report r;
  cJSON *object = cJSON_CreateObject();
  char device[96];
  mill_simulation_report(sim, &r);
  cJSON_AddStringToObject(object, "version", mill_version());
  cJSON_AddStringToObject(object, "config", q->common.path);
  mill_json_int(object, "seed", r.seed);
  cJSON_AddStringToObject(object, "backend", r.backend);
  cJSON_AddStringToObject(object, "device", r.device ? r.device : mill_processor_name(device, sizeof device));
  cJSON_AddStringToObject(object, "delivery", r.delivery);
  cJSON_AddStringToObject(object, "plasticity", r.plasticity);
  mill_json_int(object, "threads", r.threads);
  cJSON_AddStringToObject(object, "precision", r.precision ? "double" : "single");
  cJSON_AddNumberToObject(object, "biological_s", (double)r.duration * r.dt / 1000);
  mill_json_int(object, "neurons", r.neurons);
  mill_json_int(object, "synapses", r.synapses);
  mill_json_int(object, "synapses_estimated", e->synapses);
  mill_json_int(object, "memory_bytes_estimated", e->total_bytes);
  mill_json_int(object, "memory_bytes", sim->memory_bytes);
  mill_json_int(object, "epoch_steps", sim->network.epoch_steps);
  json_receptors(cJSON_AddArrayToObject(object, "receptors"), sim);
  json_projections(cJSON_AddArrayToObject(object, "projections"), sim);
  return mill_json_print(object, error);
}

static int check_network(const struct request *q, struct mill_error *error)
{
  const struct mill_options how = {(const char *const *)q->common.overrides.text, q->common.overrides.count, (uint32_t)q->threads,
                                   NULL, NULL};
  struct mill_simulation *sim = NULL;
  int rc = 0;
  if (mill_simulation_open(q->common.path, &how, &sim, error) < 0)
    return -1;
  if (q->common.json)
    rc = print_json(q, sim, error);
  else if (!q->common.quiet)
    print(sim, &sim->estimate);
  mill_simulation_free(sim);
  return rc;
}

static int print_job_json(const struct request *q, const struct mill_mining_report *r, struct mill_error *error)
{
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "version", mill_version());
  cJSON_AddStringToObject(object, "config", q->common.path);
  cJSON_AddStringToObject(object, "input", r->input);
  mill_json_int(object, "events", r->events);
  mill_json_int(object, "types", r->types);
  cJSON_AddNumberToObject(object, "duration_s", r->duration_s);
  cJSON_AddStringToObject(object, "counter", r->counter);
  cJSON_AddStringToObject(object, "backend", r->backend);
  mill_json_int(object, "threads", r->threads);
  cJSON_AddStringToObject(object, "ties", r->ties);
  if (r->windows)
    cJSON_AddNullToObject(object, "support"); /* each window has its own */
  else
    mill_json_int(object, "support", r->support);
  mill_json_int(object, "windows", r->windows);
  mill_json_int(object, "memory_bytes", r->memory_bytes);
  return mill_json_print(object, error);
}

/* The recording, then the job with every value that would be used. */
static void print_job(const struct mill_mining *mining, const struct mill_mining_report *r)
{
  const struct mill_stream_info info = {.tick_ps = r->tick_ps};
  char text[256];
  printf("%s: %s\n", r->input, mill_stream_describe(&info, r->events, r->types, r->first, r->last, text, sizeof text));
  printf("%s on %s, %u thread%s; ", r->counter, r->backend, r->threads, r->threads == 1 ? "" : "s");
  if (r->windows)
    printf("%llu windows, each mined by itself\n", (unsigned long long)r->windows);
  else
    printf("an episode is frequent from %llu occurrences on\n", (unsigned long long)r->support);
  fputs(mill_mining_config(mining), stdout);
}

/* Whether a job says anything of a spike file. */
static int names_spikes(const struct request *q, int *named, struct mill_error *error)
{
  static const char *const keys[] = {"spikes", "columns", "tick"};
  const struct mill_ini_section *section;
  struct mill_ini *ini;
  *named = 0;
  if (mill_ini_read(q->common.path, (const char *const *)q->common.overrides.text, q->common.overrides.count, &ini, error) < 0)
    return -1;
  section = mill_ini_section_find(ini, "mining");
  for (size_t i = 0; section && i < sizeof keys / sizeof *keys; i++)
    *named |= mill_ini_entry_find(section, keys[i]) != NULL;
  mill_ini_free(ini);
  return 0;
}

/* A job for `run --mine`. */
static int check_live(const struct request *q, struct mill_error *error)
{
  static const char *const ties[] = {[MILL_TIES_ORDER] = "order", [MILL_TIES_STRICT] = "strict"};
  struct mill_job *job;
  cJSON *object;
  int rc = 0;
  if (mill_mining_check_live(q->common.path, (const char *const *)q->common.overrides.text, q->common.overrides.count, &job,
                             error) < 0)
    return -1;
  const uint32_t threads = job->threads ? job->threads : mill_processors();
  if (q->common.json) {
    object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "version", mill_version());
    cJSON_AddStringToObject(object, "config", q->common.path);
    cJSON_AddNullToObject(object, "input"); /* of the run */
    cJSON_AddStringToObject(object, "counter", job->counter.plugin->name);
    cJSON_AddStringToObject(object, "backend", "cpu");
    mill_json_int(object, "threads", threads);
    cJSON_AddStringToObject(object, "ties", ties[job->ties]);
    rc = mill_json_print(object, error);
  } else if (!q->common.quiet) {
    printf("the job names no spikes: those of a run are mined as they come, by spikemill run NET.ini --mine %s\n", q->common.path);
    printf("%s on cpu, %u thread%s\n", job->counter.plugin->name, threads, threads == 1 ? "" : "s");
    fputs(job->config, stdout);
  }
  mill_job_free(job);
  return rc;
}

static int check_job(struct request *q, struct mill_error *error)
{
  struct mill_mining *mining = NULL;
  struct mill_mining_report report;
  char threads[24];
  int rc = 0, named;
  for (size_t i = 0; i < COUNT; i++) {
    if (rows[i].key && q->common.given >> i & 1)
      return mill_fail(error, MILL_USAGE, "--%s is for networks, and %s is a mining job; --set gives its keys", rows[i].option.name,
                       q->common.path);
  }
  mill_text_format(threads, sizeof threads, "%lld", (long long)q->threads);
  if (q->threads && mill_override_set(&q->common.overrides, "threads", "mining.threads", threads, error) < 0)
    return -1;
  if (names_spikes(q, &named, error) < 0)
    return -1;
  if (!named)
    return check_live(q, error);
  if (mill_mining_open(q->common.path, (const char *const *)q->common.overrides.text, q->common.overrides.count, &mining, error) <
      0)
    return -1;
  mill_mining_report(mining, &report);
  if (q->common.json)
    rc = print_job_json(q, &report, error);
  else if (!q->common.quiet)
    print_job(mining, &report);
  mill_mining_free(mining);
  return rc;
}

static int check(struct request *q, struct mill_error *error)
{
  int job;
  if (mill_is_job(q->common.path, &job, error) < 0)
    return -1;
  return job ? check_job(q, error) : check_network(q, error);
}

int mill_cmd_check(int argc, char **argv)
{
  static const struct mill_request_words words = {"file", "check NET.ini|JOB.ini"};
  struct request q = {0};
  struct mill_error error = {0};
  int rc = mill_request_parse(&q.common, rows, COUNT, argc, argv, &words, &error);
  if (rc == 0 && q.common.help)
    mill_request_usage(
        stdout, "check NET.ini|JOB.ini [option]…",
        "Validates a network file and prints what would run, the memory it needs and the quantum of each receptor; or a\n"
        "mining job and prints its recording, or that it is for `run --mine`, and every value that would be used.",
        rows, COUNT);
  else if (rc == 0)
    rc = check(&q, &error);
  mill_overrides_free(&q.common.overrides);
  return rc < 0 ? mill_report_error(&error) : MILL_OK;
}
