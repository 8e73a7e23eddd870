/* The network's arrays on the device: projections and the lists of them, populations with their state, rings and stimuli, what is recorded. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/rows.h"
#include "memory.h"

/* ---- Projections ---------------------------------------------------------------------------------------------------------- */

/* Projections put together by a key below `keys`: those of key k are list[begin[k]] … list[begin[k + 1] - 1], in order. */
static int put_list(struct mill_simulation *sim, uint64_t keys,
                    uint64_t (*key_of)(const struct mill_simulation *sim, uint32_t projection), mill_cu_address *list_at,
                    mill_cu_address *begin_at, struct mill_error *error)
{
  struct mill_cuda *cuda = sim->gpu->cuda;
  const uint32_t projections = sim->network.projection_count;
  uint32_t *list = mill_allocate_or_fail("lists of projections", projections + 1u, sizeof *list, error),
           *begin = mill_allocate_or_fail("lists of projections", keys + 2, sizeof *begin, error);
  int rc = list && begin ? 0 : -1;
  for (uint32_t i = 0; rc == 0 && i < projections; i++)
    begin[key_of(sim, i) + 2] += sim->projection[i].synapses != 0;
  for (uint64_t k = 2; rc == 0 && k < keys + 2; k++)
    begin[k] += begin[k - 1];
  for (uint32_t i = 0; rc == 0 && i < projections; i++) { /* begin[k + 1] is where key k goes on, and in the end where it ends */
    if (sim->projection[i].synapses)
      list[begin[key_of(sim, i) + 1]++] = i;
  }
  if (rc == 0 && (mill_cuda_put(cuda, "lists of projections", list, (projections + 1u) * sizeof *list, list_at, error) < 0 ||
                  mill_cuda_put(cuda, "lists of projections", begin, (keys + 1) * sizeof *begin, begin_at, error) < 0))
    rc = -1;
  mill_release(list);
  mill_release(begin);
  return rc;
}

static uint64_t pair_of(const struct mill_simulation *sim, uint32_t i)
{
  return (uint64_t)sim->projection[i].target * sim->network.population_count + sim->projection[i].source;
}

static uint64_t source_of(const struct mill_simulation *sim, uint32_t i)
{
  return sim->projection[i].source;
}

static int put_lists(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_device_network *net = &sim->gpu->net;
  const uint64_t populations = sim->network.population_count;
  return put_list(sim, populations * populations, pair_of, &net->into, &net->into_begin, error) < 0 ||
                 put_list(sim, populations, source_of, &net->from, &net->from_begin, error) < 0
             ? -1
             : 0;
}

static int put_projections(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const uint32_t projections = sim->network.projection_count;
  double runs = 0, groups = 0;
  int rc = 0;
  for (uint32_t i = 0; rc == 0 && i < projections; i++) {
    const struct mill_projection *p = &sim->projection[i];
    struct mill_device_projection *made = &gpu->made[i];
    const uint32_t sources = sim->population[p->source].size, first = sim->population[p->source].first;
    if (p->synapses && !made->start) { /* what was made there stays there, when the host has its rows too */
      rc = mill_rows_to_device(gpu->cuda, sim->team, p, sources, &gpu->cut[i], made, &gpu->groups[i], error);
      for (uint32_t s = 0; s < sources; s++)
        gpu->out_degree[first + s] += (uint32_t)(p->row[s + 1] - p->row[s]);
    }
    made->source = p->source;
    made->target_population = p->target;
    made->receptor = p->receptor;
    made->slices = gpu->cut[i].slices;
    made->width = gpu->cut[i].width;
    made->weight_bits = p->weight_bits;
    made->delay_bits = p->delay_bits;
    made->weight_all = p->weight_all;
    made->delay_all = p->delay_all;
    if (p->synapses && !mill_gpu_cut_apart(sim, i)) {
      runs += (double)sources * gpu->cut[i].slices;
      groups += (double)gpu->groups[i];
    }
    gpu->always_live |= p->synapses && p->delay_max > sim->network.epoch_steps;
  }
  gpu->shape.run_groups = runs > 0 ? groups / runs : 0;
  return rc;
}

/* ---- Populations ---------------------------------------------------------------------------------------------------------- */

static uint32_t depth_of(const struct mill_simulation *sim, const struct mill_population *p)
{
  uint32_t depth = p->receptor_count ? p->ring[0].mask + 1 : 1;
  while (depth < sim->network.epoch_steps)
    depth *= 2;
  return depth;
}

static int put_rings(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_population *p = &sim->population[index];
  gpu->ring[index] = calloc(p->receptor_count + 1u, sizeof **gpu->ring);
  if (!gpu->ring[index])
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t r = 0; r < p->receptor_count; r++) {
    struct mill_device_ring *ring = &gpu->ring[index][r];
    const struct mill_ring *host = &p->ring[r];
    const uint64_t bytes = host->stride * host->bits / 8;
    *ring = (struct mill_device_ring){.stride = host->stride, .scale = host->scale, .mask = depth_of(sim, p) - 1};
    if (mill_cuda_allocate(gpu->cuda, "delay ring", bytes * (ring->mask + UINT64_C(1)), &ring->cell, error) < 0 ||
        mill_cuda_fill(gpu->cuda, ring->cell, 0, bytes * (ring->mask + UINT64_C(1)), error) < 0)
      return -1;
    for (uint64_t k = 0; sim->step != sim->file->t0 && k <= host->mask; k++) { /* a resumed run: steps step … step + mask */
      const uint64_t step = (uint64_t)sim->step + k;
      if (mill_cuda_upload(gpu->cuda, ring->cell + (step & ring->mask) * bytes,
                           (const char *)host->cell + (step & host->mask) * bytes, bytes, error) < 0)
        return -1;
    }
  }
  return mill_cuda_put(gpu->cuda, "delay rings", gpu->ring[index], p->receptor_count * sizeof **gpu->ring,
                       &gpu->population[index].ring, error);
}

static int put_columns(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_population_run *run = &sim->run[index];
  const uint32_t states = run->ops->state_count;
  gpu->column[index] = calloc(states + 1u, sizeof **gpu->column);
  if (!gpu->column[index])
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t s = 0; s < states; s++) {
    if (mill_cuda_put(gpu->cuda, run->ops->state[s].name, run->column[s],
                      sim->population[index].size * (uint64_t)mill_state_size(run, s), &gpu->column[index][s], error) < 0)
      return -1;
  }
  return mill_cuda_put(gpu->cuda, "state columns", gpu->column[index], states * sizeof **gpu->column,
                       &gpu->population[index].column, error);
}

/* Stimuli that the device evaluates; the host sends the events of the others. */
static int put_stimuli(struct mill_simulation *sim, uint32_t index, struct mill_composition *composition, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_population_run *run = &sim->run[index];
  struct mill_device_stimulus *list = calloc(run->event_count + 1u, sizeof *list);
  uint32_t n = 0;
  int rc = list ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t i = 0; rc == 0 && i < run->event_count; i++) {
    const struct mill_stimulus_run *stimulus = run->event[i];
    const struct mill_plugin *plugin = sim->file->stimulus[stimulus - sim->stimulus].stimulus.plugin;
    const void *data;
    size_t bytes;
    if (!mill_gpu_has_events(plugin)) {
      gpu->host_events++;
      continue;
    }
    data = stimulus->ops->device(stimulus->self, &bytes);
    list[n] = (struct mill_device_stimulus){.quanta = (uint64_t)stimulus->quanta, .receptor = stimulus->receptor};
    list[n].kind = mill_composition_index(composition->stimulus, &composition->stimulus_count, plugin);
    if (list[n].kind < MILL_PROGRAM_MAX)
      composition->stimulus_bytes[list[n].kind] = (uint32_t)bytes;
    rc = list[n].kind == MILL_PROGRAM_MAX
             ? mill_fail(error, MILL_RESOURCES, "more than %u kinds of stimuli cannot be had on a GPU", MILL_PROGRAM_MAX)
             : mill_cuda_put(gpu->cuda, "stimulus", data, bytes, &list[n].data, error);
    n++;
  }
  gpu->population[index].stimuli = n;
  if (rc == 0)
    rc = mill_cuda_put(gpu->cuda, "stimuli", list, n * sizeof *list, &gpu->population[index].stimulus, error);
  free(list);
  return rc;
}

static int put_population(struct mill_simulation *sim, uint32_t index, struct mill_composition *composition,
                          struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_population *p = &sim->population[index];
  struct mill_device_population *made = &gpu->population[index];
  *made = (struct mill_device_population){
      .key = sim->run[index].key,
      .first = p->first,
      .size = p->size,
      .receptors = p->receptor_count,
      .current = MILL_NO_TARGET,
      .model = mill_composition_index(composition->model, &composition->model_count, sim->file->population[index].model.plugin)};
  if (made->model == MILL_PROGRAM_MAX)
    return mill_fail(error, MILL_RESOURCES, "more than %u models cannot be had on a GPU", MILL_PROGRAM_MAX);
  if (sim->run[index].current_count) {
    gpu->current_of[gpu->net.current_rows] = index;
    made->current = gpu->net.current_rows++;
  }
  return mill_cuda_put(gpu->cuda, "parameters", sim->run[index].param, sim->run[index].code->param_size, &made->param, error) < 0 ||
                 put_rings(sim, index, error) < 0 || put_columns(sim, index, error) < 0 ||
                 put_stimuli(sim, index, composition, error) < 0
             ? -1
             : 0;
}

int mill_gpu_put_network(struct mill_simulation *sim, struct mill_composition *composition, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  if (put_projections(sim, error) < 0 || put_lists(sim, error) < 0)
    return -1;
  for (uint32_t i = 0; i < sim->network.population_count; i++) {
    if (put_population(sim, i, composition, error) < 0)
      return -1;
  }
  if (mill_gpu_put_plastic(sim, composition, error) < 0)
    return -1;
  return mill_cuda_put(gpu->cuda, "projections", gpu->made, gpu->net.projections * sizeof *gpu->made, &gpu->net.projection, error);
}

/* ---- What is recorded ----------------------------------------------------------------------------------------------------- */

static int put_variables(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_sample_plan *plan = &sim->recorder.plan;
  const struct mill_record_setup *record = &sim->file->record;
  const uint32_t size = sim->population[index].size;
  struct mill_device_variable *list = calloc(record->variable_count + 1u, sizeof *list);
  uint32_t *place = mill_allocate("places of samples", size, sizeof *place), n = 0;
  int rc = list && place ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t v = 0; rc == 0 && plan->of_variable && v < record->variable_count; v++) {
    if (record->variable[v].population != index)
      continue;
    for (uint32_t i = 0; i < size; i++)
      place[i] = MILL_NO_TARGET;
    for (uint32_t k = plan->of_variable[v]; k < plan->of_variable[v + 1]; k++)
      place[plan->sample[k].neuron] = k;
    list[n].state = record->variable[v].state;
    rc = mill_cuda_put(gpu->cuda, "places of samples", place, size * sizeof *place, &list[n].place, error);
    n++;
  }
  gpu->population[index].variables = n;
  if (rc == 0)
    rc = mill_cuda_put(gpu->cuda, "recorded variables", list, n * sizeof *list, &gpu->population[index].variable, error);
  free(list);
  mill_release(place);
  return rc;
}

int mill_gpu_put_recorded(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  for (uint32_t i = 0; i < gpu->net.populations; i++) {
    if (put_variables(sim, i, error) < 0)
      return -1;
  }
  return mill_cuda_put(gpu->cuda, "populations", gpu->population, gpu->net.populations * sizeof *gpu->population,
                       &gpu->net.population, error);
}
