/* The public face of a simulation: <spikemill/spikemill.h>. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "simulation.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <spikemill/spikemill.h>
#include "checkpoint.h"
#include "cuda/gpu.h"
#include "memory.h"
#include "registry.h"
#include "plastic.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

double mill_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *mill_version(void)
{
  return PACKAGE_VERSION;
}

static int open_gpu(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_place place = {sim->file->ini, mill_ini_section_find(sim->file->ini, "simulation")};
  char why[256];
  struct mill_error inner = {0};
  if (!mill_gpu_serves(sim->file, why, sizeof why))
    return mill_place_fail(error, &place, "backend", "the network cannot run on a GPU: %s", why);
  if (mill_gpu_open(sim, &inner) == 0)
    return 0;
  mill_place_fail(error, &place, "backend", "%s", inner.text);
  error->status = inner.status;
  return -1;
}

/* *by_choice: the GPU was taken, and the user did not ask for it. */
static int open_once(const char *path, const struct mill_options *options, int gpu, int *by_choice,
                     struct mill_simulation **simulation, struct mill_error *error)
{
  struct mill_simulation *sim = calloc(1, sizeof *sim);
  uint64_t held = mill_memory_held(), limit;
  if (!sim)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (mill_memory_limit(&limit, error) < 0)
    goto failed;
  sim->workers = options->threads ? options->threads : mill_processors();
  if (options->folder && !(sim->folder = strdup(options->folder))) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto failed;
  }
  if (mill_netfile_read(path, options->overrides, options->override_count, gpu, &sim->file, error) < 0)
    goto failed;
  *by_choice = sim->file->on_gpu && sim->file->backend == 0;
  if (sim->file->on_gpu && open_gpu(sim, error) < 0)
    goto failed;
  sim->config = mill_ini_text(sim->file->ini);
  if (!sim->config) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto failed;
  }
  if (mill_team_create(sim->workers, &sim->team, error) < 0 || mill_build(sim, error) < 0 || mill_record_prepare(sim, error) < 0 ||
      (options->resume && mill_checkpoint_load(sim, options->resume, error) < 0))
    goto failed;
  sim->begun = sim->step;
  if (sim->begun > sim->file->t0 + sim->file->duration) {
    mill_fail(error, MILL_USAGE, "%s: the checkpoint is of step %lld, and the run ends with step %lld", options->resume,
              (long long)sim->begun, (long long)(sim->file->t0 + sim->file->duration));
    goto failed;
  }
  if ((sim->gpu && mill_gpu_build(sim, error) < 0) || mill_record_open(sim, error) < 0 ||
      (sim->gpu && mill_gpu_ready(sim, error) < 0))
    goto failed;
  sim->memory_bytes = mill_memory_held() - held;
  *simulation = sim;
  return 0;
failed:
  mill_simulation_free(sim);
  return -1;
}

static void note_cpu(const char *why)
{
  mill_note("the CPU simulates and not the GPU (backend = auto): %s", why);
}

/* With a GPU that nobody asked for and that fails, once more without it. */
int mill_simulation_open(const char *path, const struct mill_options *options, struct mill_simulation **simulation,
                         struct mill_error *error)
{
  const double start = mill_seconds();
  struct mill_error first = {0}, second = {0};
  struct mill_notes notes = {0};
  int by_choice = 0, again = 0, rc;
  mill_notes_once(&notes);
  rc = open_once(path, options, 1, &by_choice, simulation, &first);
  if (rc < 0 && by_choice) {
    rc = open_once(path, options, 0, &again, simulation, &second);
    if (rc == 0 || strcmp(first.text, second.text) != 0)
      note_cpu(first.text);
    first = second;
  } else if (rc == 0 && (*simulation)->file->cpu_reason[0]) {
    note_cpu((*simulation)->file->cpu_reason);
  }
  mill_notes_once(NULL);
  mill_notes_free(&notes);
  if (rc == 0)
    (*simulation)->setup_s = mill_seconds() - start;
  else if (error)
    *error = first;
  return rc;
}

int mill_simulation_advance(struct mill_simulation *sim, int64_t steps, struct mill_error *error)
{
  double start = mill_seconds();
  if (steps > 0 && sim->recorder.writer && steps > sim->file->t0 + sim->file->duration - sim->step)
    return mill_fail(error, MILL_USAGE, "cannot advance by %lld steps: the spike file ends with the configured duration",
                     (long long)steps);
  if (steps < 0 || sim->finished || steps > INT64_MAX / sim->file->dt_ps / 2 - sim->step)
    return mill_fail(error, MILL_USAGE, "cannot advance by %lld steps%s", (long long)steps,
                     sim->finished ? ": the run is finished" : "");
  for (const int64_t until = sim->step + steps; sim->step < until && !sim->recorder.failed; mill_record_step(sim)) {
    const int64_t next = mill_record_next(sim);
    mill_engine_run(sim, next < until ? next : until);
  }
  sim->wall_s += mill_seconds() - start;
  if (mill_plastic_check(sim, error) < 0)
    return -1;
  if (sim->recorder.failed) {
    if (error)
      *error = sim->recorder.error;
    return -1;
  }
  return 0;
}

int mill_simulation_save(struct mill_simulation *sim, const char *path, struct mill_error *error)
{
  return mill_checkpoint_save(sim, path, error);
}

int mill_simulation_finish(struct mill_simulation *sim, int complete, struct mill_error *error)
{
  if (sim->finished)
    return mill_fail(error, MILL_USAGE, "the run is finished already");
  sim->finished = 1;
  return mill_record_close(sim, complete, error);
}

void mill_simulation_free(struct mill_simulation *sim)
{
  if (!sim)
    return;
  mill_record_abandon(sim);
  mill_gpu_free(sim);
  mill_build_free(sim);
  mill_record_free_recorder(sim);
  mill_team_free(sim->team);
  mill_netfile_free(sim->file);
  free(sim->folder);
  free(sim->config);
  free(sim);
}

void mill_simulation_listen(struct mill_simulation *sim, void (*sink)(const struct mill_event *events, size_t n, void *self),
                            void *self)
{
  sim->recorder.sink = sink;
  sim->recorder.sink_self = self;
}

void mill_simulation_report(const struct mill_simulation *sim, struct mill_simulation_report *report)
{
  int absent = 0;
  uint64_t synapses = 0, events = sim->gpu ? sim->gpu->synaptic_events : 0;
  for (uint32_t i = 0; i < sim->network.projection_count; i++)
    synapses += sim->projection[i].synapses, absent |= !sim->projection[i].row;
  for (uint32_t w = 0; sim->worker && w < sim->workers; w++)
    events += sim->worker[w].synaptic_events;
  *report = (struct mill_simulation_report){.dt = sim->file->dt,
                                            .first = sim->file->t0,
                                            .begun = sim->begun,
                                            .step = sim->step,
                                            .duration = sim->file->duration,
                                            .seed = sim->file->seed,
                                            .threads = sim->workers,
                                            .populations = sim->network.population_count,
                                            .projections = sim->network.projection_count,
                                            .neurons = sim->network.neurons,
                                            .precision = sim->file->precision,
                                            .backend = sim->gpu ? "cuda" : "cpu",
                                            .connect_s = sim->gpu ? sim->gpu->connect_s : 0,
                                            .rows_on_device = absent,
                                            .device = sim->gpu ? sim->gpu->cuda->properties.name : NULL,
                                            .delivery = sim->file->delivery.plugin->name,
                                            .plasticity = sim->file->plasticity.plugin->name,
                                            .synapses = synapses,
                                            .spikes = sim->recorder.spikes,
                                            .synaptic_events = events,
                                            .spike_hash = mill_spike_hash_value(sim->recorder.hash),
                                            .memory_bytes = sim->memory_bytes + (sim->gpu ? sim->gpu->cuda->held : 0),
                                            .setup_s = sim->setup_s,
                                            .wall_s = sim->wall_s};
}

uint64_t mill_simulation_weight_hash(struct mill_simulation *sim)
{
  struct mill_error error;
  mill_plastic_flush(sim);
  if (!sim->recorder.failed && mill_build_rows(sim, &error) == 0)
    return mill_weight_hash(&sim->network);
  mill_note("the hash of the weights is not known: %s", sim->recorder.failed ? sim->recorder.error.text : error.text);
  return 0;
}

int mill_simulation_population(const struct mill_simulation *sim, uint32_t index, struct mill_population_report *report)
{
  if (index >= sim->network.population_count)
    return -1;
  *report = (struct mill_population_report){.name = sim->population[index].name,
                                            .model = sim->file->population[index].model.plugin->name,
                                            .size = sim->population[index].size,
                                            .spikes = sim->recorder.population_spikes[index]};
  return 0;
}

static struct mill_population *find(const struct mill_simulation *sim, const char *name)
{
  for (uint32_t i = 0; i < sim->network.population_count; i++) {
    if (strcmp(sim->population[i].name, name) == 0)
      return &sim->population[i];
  }
  return NULL;
}

int mill_simulation_state(struct mill_simulation *sim, const char *population, const char *variable, double *values)
{
  const struct mill_population *p = find(sim, population);
  const struct mill_population_run *run = p ? &sim->run[p->index] : NULL;
  if (sim->gpu && mill_gpu_fetch(sim, NULL) < 0)
    return -1;
  for (uint32_t s = 0; run && s < run->ops->state_count; s++) {
    if (strcmp(run->ops->state[s].name, variable) != 0)
      continue;
    for (uint32_t i = 0; i < p->size; i++)
      values[i] = mill_state_value(run, s, i);
    return 0;
  }
  return -1;
}

int mill_simulation_keep_history(struct mill_simulation *sim, const char *population, uint32_t words, struct mill_error *error)
{
  const struct mill_population *p = find(sim, population);
  struct mill_population_run *run = p ? &sim->run[p->index] : NULL;
  if (!run)
    return mill_fail(error, MILL_USAGE, "no population `%s`", population);
  if (words < 1 || words > 64 || run->history_kept)
    return mill_fail(error, MILL_USAGE,
                     run->history_kept ? "population `%s` keeps a history already" : "a history of `%s` has 1 to 64 words",
                     population);
  if (words > run->history_words && ((sim->gpu && mill_gpu_fetch(sim, error) < 0) || mill_plastic_lengthen(sim, p->index, words, error) < 0 ||
                                     (sim->gpu && mill_gpu_lengthen(sim, p->index, error) < 0)))
    return -1;
  run->history_kept = 1;
  return 0;
}

const uint64_t *mill_simulation_history(struct mill_simulation *sim, const char *population, uint32_t neuron)
{
  const struct mill_population *p = find(sim, population);
  const struct mill_population_run *run = p ? &sim->run[p->index] : NULL;
  if (run && run->plastic_in_count && sim->gpu && mill_gpu_fetch(sim, NULL) < 0)
    return NULL;
  return run && run->history && neuron < p->size ? run->history + (uint64_t)neuron * run->history_words : NULL;
}

const char *mill_simulation_file(const struct mill_simulation *sim, uint32_t index)
{
  return index < sim->recorder.file_count ? sim->recorder.file[index] : NULL;
}
