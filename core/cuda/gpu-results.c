/* Spikes that come back from the device: the epochs of a batch are put in order side by side, one worker each, and recorded one after the other,
   while the next batch runs. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "memory.h"

int mill_gpu_results_build(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const uint32_t populations = sim->network.population_count, neurons = sim->network.neurons;
  gpu->sorter = calloc(sim->workers, sizeof *gpu->sorter);
  gpu->epoch = calloc(MILL_DEVICE_EPOCHS, sizeof *gpu->epoch);
  if (!gpu->sorter || !gpu->epoch)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t w = 0; w < sim->workers; w++) {
    struct mill_gpu_sorter *s = &gpu->sorter[w];
    s->mask = mill_allocate_or_fail("spikes of an epoch", neurons, sizeof *s->mask, error);
    s->fired = mill_allocate_or_fail("spikes of an epoch", neurons / 64 + UINT64_C(1), sizeof *s->fired, error);
    s->list = mill_allocate_or_fail("spikes of an epoch", neurons, sizeof *s->list, error);
    s->lists = calloc(populations + 1u, sizeof *s->lists);
    s->count = calloc(populations + 1u, sizeof *s->count);
    if (!s->mask || !s->fired || !s->list)
      return -1;
    if (!s->lists || !s->count)
      return mill_fail(error, MILL_RESOURCES, "out of memory");
  }
  return 0;
}

void mill_gpu_results_free(struct mill_simulation *sim)
{
  struct mill_gpu *gpu = sim->gpu;
  for (uint32_t w = 0; gpu->sorter && w < sim->workers; w++) {
    mill_release(gpu->sorter[w].mask);
    mill_release(gpu->sorter[w].fired);
    mill_release(gpu->sorter[w].list);
    free(gpu->sorter[w].lists);
    free(gpu->sorter[w].count);
  }
  for (uint32_t e = 0; gpu->epoch && e < MILL_DEVICE_EPOCHS; e++)
    mill_release(gpu->epoch[e].event);
  free(gpu->sorter);
  free(gpu->epoch);
  mill_release(gpu->rest);
}

/* The lists of the populations, in order of their neurons, from spikes in any order. */
static void list_spikes(const struct mill_simulation *sim, struct mill_gpu_sorter *s, struct mill_gpu_epoch *epoch)
{
  const struct mill_population *population = sim->population;
  uint64_t events = 0;
  uint32_t p = 0, n = 0;
  for (uint32_t k = 0; k < epoch->count; k++) {
    const struct mill_device_spike spike = epoch->spike[k];
    s->mask[spike.neuron] = spike.mask;
    s->fired[spike.neuron / 64] |= UINT64_C(1) << (spike.neuron % 64);
    events += sim->gpu->out_degree[spike.neuron] * (uint64_t)__builtin_popcount(spike.mask);
  }
  epoch->synaptic_events = events;
  memset(s->count, 0, sim->network.population_count * sizeof *s->count);
  for (uint64_t w = 0; n < epoch->count; w++) {
    for (; s->fired[w]; s->fired[w] &= s->fired[w] - 1, n++) {
      const uint32_t neuron = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(s->fired[w]);
      while (neuron - population[p].first >= population[p].size)
        p++;
      if (s->count[p]++ == 0)
        s->lists[p] = s->list + n;
      s->list[n] = (struct mill_spike){neuron - population[p].first, s->mask[neuron]};
    }
  }
}

static void sort_epoch(void *self, uint64_t index, uint32_t worker)
{
  const struct mill_simulation *sim = self;
  struct mill_gpu_sorter *s = &sim->gpu->sorter[worker];
  struct mill_gpu_epoch *epoch = &sim->gpu->epoch[index];
  const struct mill_spike *const *lists = (const struct mill_spike *const *)s->lists;
  const uint32_t populations = sim->network.population_count;
  const int64_t first = sim->step + (int64_t)index * sim->network.epoch_steps;
  uint64_t begin[MILL_EPOCH_MAX + 1];
  list_spikes(sim, s, epoch);
  epoch->events = mill_spikes_count(lists, s->count, populations, begin);
  if (epoch->events > epoch->capacity) {
    mill_release(epoch->event);
    epoch->capacity = 2 * epoch->events;
    epoch->event = mill_allocate("spikes of an epoch", epoch->capacity, sizeof *epoch->event);
    epoch->failed = !epoch->event;
  }
  if (epoch->failed)
    epoch->events = epoch->capacity = 0;
  else
    mill_spikes_sort(sim->population, lists, s->count, populations, first, begin, epoch->event);
}

/* Keeps the histories of those populations that the user asked for. */
static void keep_histories(struct mill_simulation *sim, const struct mill_gpu_epoch *epoch, int64_t first, uint32_t steps)
{
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    const struct mill_population_run *run = &sim->run[p];
    if (run->history && !run->plastic_in_count) /* else the device keeps it */
      mill_history_mark(run->history, run->history_words, sim->population[p].first, sim->population[p].size, epoch->event,
                        epoch->events, first, steps);
  }
}

/* Spikes of a batch beyond those that were copied at once; all spikes then lie in `rest`, if there are such. */
static int fetch_rest(struct mill_gpu *gpu, uint32_t h, uint64_t total, struct mill_error *error)
{
  const uint64_t size = sizeof *gpu->rest;
  if (total > gpu->rest_capacity) {
    mill_release(gpu->rest);
    gpu->rest_capacity = 0;
    gpu->rest = mill_allocate_or_fail("spikes of a batch", 2 * total, size, error);
    if (!gpu->rest)
      return -1;
    gpu->rest_capacity = 2 * total;
  }
  return mill_cuda_download(gpu->cuda, gpu->rest, gpu->net.spike + h * gpu->net.capacity * size, total * size, error);
}

int mill_gpu_take(struct mill_simulation *sim, uint32_t h, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct mill_gpu_half *half = &gpu->half[h];
  struct mill_generation *g = &sim->generation[0];
  const uint64_t samples = (uint64_t)gpu->net.epoch_steps * gpu->net.samples;
  const struct mill_device_spike *spike = half->spike;
  const uint32_t epochs = half->epochs;
  uint64_t total = 0;
  half->epochs = 0;
  if (mill_cuda_check(gpu->cuda, gpu->cuda->call.event_synchronize(half->ready), "simulating on the GPU", error) < 0)
    return -1;
  for (uint32_t e = 0; e < epochs; e++)
    total += half->result->count[e];
  if (total > gpu->landing) {
    if (fetch_rest(gpu, h, total, error) < 0)
      return -1;
    spike = gpu->rest;
  }
  for (uint32_t e = 0; e < epochs; e++) {
    gpu->epoch[e].spike = spike;
    gpu->epoch[e].count = half->result->count[e];
    spike += gpu->epoch[e].count;
  }
  mill_team_each(sim->team, epochs, sort_epoch, sim);
  for (uint32_t e = 0; e < epochs; e++) {
    const struct mill_gpu_epoch *epoch = &gpu->epoch[e];
    if (epoch->failed)
      return mill_fail(error, MILL_RESOURCES, "out of memory for the spikes of an epoch");
    g->first = sim->step;
    g->steps = e + 1 < epochs ? gpu->net.epoch_steps : half->last_steps;
    if (samples)
      memcpy(g->sample, half->sample + e * samples, g->steps * (uint64_t)gpu->net.samples * sizeof(double));
    keep_histories(sim, epoch, g->first, g->steps);
    mill_record_events(sim, g, epoch->event, epoch->events);
    gpu->synaptic_events += gpu->due_events; /* a spike's events take place in the next epoch */
    gpu->due_events = epoch->synaptic_events;
    sim->step += g->steps;
  }
  g->steps = 0;
  return 0;
}
