/* Stimuli: prepared per target population, spike files read and put on the grid of steps. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "simulation.h"

#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include "memory.h"
#include "registry.h"
#include "text.h"

/* The value of a TEXT parameter of a plugin, or NULL. */
static const char *text_param(const struct mill_choice *choice, const char *key)
{
  for (uint32_t i = 0; i < choice->plugin->param_count; i++) {
    const struct mill_param_spec *spec = &choice->plugin->params[i];
    if (spec->type == MILL_TEXT && strcmp(spec->key, key) == 0)
      return *(const char *const *)((const char *)choice->values + spec->offset);
  }
  return NULL;
}

/* The group of a spike file that a stimulus replays: the one named, or the only one. */
static const struct mill_group *find_group(const struct mill_stimulus_setup *setup, const struct mill_stream *stream,
                                           const char *path, struct mill_error *error)
{
  const char *wanted = text_param(&setup->stimulus, "population");
  char known[256] = "";
  for (uint32_t g = 0; g < stream->info.group_count; g++) {
    size_t n = strlen(known);
    if (wanted && strcmp(stream->info.group[g].name, wanted) == 0)
      return &stream->info.group[g];
    mill_text_format(known + n, sizeof known - n, "%s%s", g ? ", " : "", stream->info.group[g].name);
  }
  if (!wanted && stream->info.group_count == 1)
    return stream->info.group;
  if (wanted)
    mill_place_fail(error, &setup->place, "population", "%s has no population `%s`, but %s", path, wanted, known);
  else
    mill_place_fail(error, &setup->place, NULL, "population is required: %s holds %s", path, known);
  return NULL;
}

static int take_event(const struct mill_simulation *sim, const struct mill_stimulus_setup *setup, const struct mill_stream *stream,
                      const struct mill_event *event, const struct mill_group *group, const char *path,
                      struct mill_stimulus_run *run, uint64_t *n, struct mill_error *error)
{
  const struct mill_netfile *file = sim->file;
  uint32_t size = file->population[setup->target].size, neuron = event->unit - group->first;
  int64_t ps, step;
  char found[32], dt[32];
  if (event->unit < group->first || neuron >= group->size)
    return 0;
  if (__builtin_mul_overflow(event->tick, stream->info.tick_ps, &ps))
    return mill_place_fail(error, &setup->place, "file", "%s: a spike time overflows 64 bits of picoseconds", path);
  mill_text_double(found, (double)ps / 1e9);
  mill_text_double(dt, file->dt);
  if (neuron >= size) {
    mill_place_fail(error, &setup->place, "file", "%s: neuron %u at %s ms, but population `%s` has %u neurons", path, neuron, found,
                    file->population[setup->target].name, size);
    error->status = MILL_DATA;
    return -1;
  }
  if (mill_grid_steps(ps, file->dt_ps, &step) < 0) {
    if (!file->off_grid) {
      mill_place_fail(error, &setup->place, "file",
                      "%s: spike at %s ms of neuron %u lies between steps of %s ms; off_grid = allow rounds it", path, found,
                      neuron, dt);
      error->status = MILL_DATA;
      return -1;
    }
    step = ps / file->dt_ps + (ps % file->dt_ps * 2 >= file->dt_ps);
  }
  if (step <= file->t0) {
    mill_place_fail(error, &setup->place, "file",
                    "%s: spike at %s ms of neuron %u is not after the start of the run: the first step ends at %s ms", path, found,
                    neuron, mill_text_double(dt, (double)(file->t0 + 1) * file->dt));
    error->status = MILL_DATA;
    return -1;
  }
  run->step[*n] = step;
  run->neuron[*n] = neuron;
  ++*n;
  return 0;
}

/* Puts the events in order of (step, neuron), which rounding to steps may have disturbed. */
struct replayed {
  int64_t step;
  uint32_t neuron;
};

static int by_step(const void *a, const void *b)
{
  const struct replayed *x = a, *y = b;
  if (x->step != y->step)
    return x->step < y->step ? -1 : 1;
  return (x->neuron > y->neuron) - (x->neuron < y->neuron);
}

static int sort_events(struct mill_stimulus_run *run, uint64_t n, struct mill_error *error)
{
  struct replayed *copy;
  uint64_t ordered = 1;
  while (ordered < n && (run->step[ordered - 1] < run->step[ordered] ||
                         (run->step[ordered - 1] == run->step[ordered] && run->neuron[ordered - 1] <= run->neuron[ordered])))
    ordered++;
  if (ordered >= n)
    return 0;
  copy = mill_allocate_or_fail("stimulus", n, sizeof *copy, error);
  if (!copy)
    return -1;
  for (uint64_t i = 0; i < n; i++)
    copy[i] = (struct replayed){run->step[i], run->neuron[i]};
  qsort(copy, n, sizeof *copy, by_step);
  for (uint64_t i = 0; i < n; i++) {
    run->step[i] = copy[i].step;
    run->neuron[i] = copy[i].neuron;
  }
  mill_release(copy);
  return 0;
}

static int read_spike_file(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  const struct mill_stimulus_setup *setup = &sim->file->stimulus[index];
  struct mill_stimulus_run *run = &sim->stimulus[index];
  const char *name = text_param(&setup->stimulus, run->ops->file_key);
  const struct mill_group *group;
  struct mill_stream *stream = NULL;
  struct mill_error inner = {0};
  struct mill_spike_table table = {0};
  static const struct mill_group nobody = {"", 0, 0};
  size_t size = strlen(sim->file->folder) + strlen(name) + 1;
  char *path = malloc(size);
  uint64_t n = 0;
  int rc = -1;
  if (!path)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  mill_text_format(path, size, "%s%s", name[0] == '/' ? "" : sim->file->folder, name);
  if (mill_stream_read(path, &(struct mill_stream_options){.by_unit = 1}, &stream, &inner) < 0) {
    mill_place_fail(error, &setup->place, run->ops->file_key, "%s", inner.text);
    error->status = inner.status;
    free(path);
    return -1;
  }
  group = stream->count ? find_group(setup, stream, path, error) : &nobody;
  if (!group)
    goto done;
  run->step = mill_allocate_or_fail("stimulus", stream->count + 1, sizeof *run->step, error);
  run->neuron = mill_allocate_or_fail("stimulus", stream->count + 1, sizeof *run->neuron, error);
  if (!run->step || !run->neuron)
    goto done;
  for (uint64_t i = 0; i < stream->count; i++) {
    if (take_event(sim, setup, stream, &stream->event[i], group, path, run, &n, error) < 0)
      goto done;
  }
  if (sort_events(run, n, error) < 0)
    goto done;
  if (!stream->was_sorted)
    mill_note("%s: the spikes were not in order of time and were sorted", path);
  if (!stream->end.complete && stream->end.events)
    mill_note("%s: holds a part of a run that was interrupted", path);
  run->steps = n;
  table.count = n;
  table.step = run->step;
  table.neuron = run->neuron;
  run->ops->events_from(run->self, &table);
  rc = 0;
done:
  mill_stream_free(stream);
  free(path);
  return rc;
}

/* Lists of the stimuli of each population, in order of declaration. */
static int list_stimuli(struct mill_simulation *sim, struct mill_error *error)
{
  uint32_t n = sim->file->stimulus_count;
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    struct mill_population_run *run = &sim->run[p];
    run->event = calloc(n + 1u, sizeof(struct mill_stimulus_run *));
    run->current = calloc(n + 1u, sizeof(struct mill_stimulus_run *));
    if (!run->event || !run->current)
      return mill_fail(error, MILL_RESOURCES, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
      if (sim->file->stimulus[i].target != p)
        continue;
      if (sim->stimulus[i].ops->events)
        run->event[run->event_count++] = &sim->stimulus[i];
      else
        run->current[run->current_count++] = &sim->stimulus[i];
    }
  }
  return 0;
}

int mill_build_stimuli(struct mill_simulation *sim, struct mill_error *error)
{
  for (uint32_t i = 0; i < sim->file->stimulus_count; i++) {
    const struct mill_stimulus_setup *setup = &sim->file->stimulus[i];
    struct mill_stimulus_run *run = &sim->stimulus[i];
    const struct mill_stimulus_target target = {.dt = sim->file->dt,
                                                .dt_ps = sim->file->dt_ps,
                                                .t0 = sim->file->t0,
                                                .key = mill_key(sim->file->seed, MILL_PURPOSE_STIMULUS, i),
                                                .size = sim->population[setup->target].size,
                                                .population = sim->file->population[setup->target].name,
                                                .folder = sim->file->folder};
    struct mill_error inner = {0};
    run->ops = setup->stimulus.plugin->ops;
    run->receptor = setup->receptor;
    if (run->ops->prepare(&mill_host, setup->stimulus.values, &target, &run->self, &inner) < 0)
      return mill_place_refuse(error, &setup->place, inner.status, inner.text);
    if (run->ops->file_key && read_spike_file(sim, i, error) < 0)
      return -1;
    if (run->ops->events)
      sim->weighing[sim->file->projection_count + i] = (struct mill_weighing){
          .name = setup->name, .weight = setup->weight, .targets = target.size, .largest = run->ops->largest(run->self)};
  }
  return list_stimuli(sim, error);
}

void mill_build_stimuli_free(struct mill_simulation *sim)
{
  for (uint32_t i = 0; i < sim->file->stimulus_count; i++) {
    struct mill_stimulus_run *run = &sim->stimulus[i];
    if (run->ops && run->ops->release)
      run->ops->release(&mill_host, run->self);
    mill_release(run->step);
    mill_release(run->neuron);
  }
}
