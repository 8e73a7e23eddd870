/* From a network file to arrays: connect, weigh, and check that memory holds it before any of it is taken. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include <spikemill/plasticity.h>
#include <spikemill/synapse.h>
#include "memory.h"
#include "registry.h"
#include "text.h"

static uint64_t round_slots(uint64_t delay)
{
  uint64_t slots = 1;
  while (slots < delay)
    slots *= 2;
  return slots;
}

/* Largest delay in steps that a distribution is likely to give: for the estimate only. */
static uint64_t likely_delay(const struct mill_projection_setup *p, double dt)
{
  double ms = mill_dist_bound(&p->delay);
  if (p->edges && p->edges->delay_ps) {
    int64_t most = 0;
    for (uint64_t i = 0; i < p->edges->count; i++)
      most = p->edges->delay_ps[i] > most ? p->edges->delay_ps[i] : most;
    ms = (double)most / 1e9;
  }
  if (!isfinite(ms))
    ms = p->delay.kind == MILL_DIST_LOGNORMAL ? mill_exp(p->delay.a + 6 * p->delay.b) : p->delay.a + 6 * p->delay.b;
  ms = ms / dt + 1;
  return ms < 1 ? 1 : ms > 65535 ? 65535 : (uint64_t)ms;
}

void mill_estimate(const struct mill_netfile *file, struct mill_estimate *e)
{
  uint64_t largest = 0;
  uint64_t *slots = calloc(file->population_count + 1, sizeof *slots);
  memset(e, 0, sizeof *e);
  for (uint32_t i = 0; i < file->projection_count; i++) {
    const struct mill_projection_setup *p = &file->projection[i];
    struct mill_weighing w = {.weight = p->weight, .delay = p->delay, .edges = p->edges};
    uint64_t n = mill_connection_estimate(&p->connection), bytes, transient, delay;
    bytes = 8 * ((uint64_t)p->connection.sources + 1) + 4 * n + mill_weighing_estimate(&w, n);
    transient = p->weight.kind == MILL_DIST_NUMBER && p->connection.rule <= MILL_FIXED_PROBABILITY ? 0 : 8 * n;
    e->synapses += n;
    e->synapse_bytes += bytes;
    e->transient_bytes = transient > e->transient_bytes ? transient : e->transient_bytes;
    if (bytes + transient > largest) {
      largest = bytes + transient;
      e->largest_projection = i;
    }
    delay = round_slots(likely_delay(p, file->dt));
    if (slots && delay > slots[p->target])
      slots[p->target] = delay;
  }
  for (uint32_t i = 0; i < file->population_count; i++) {
    const struct mill_population_setup *p = &file->population[i];
    const struct mill_neuron_ops *ops = p->model.plugin->ops;
    uint64_t depth = slots && slots[i] ? slots[i] : 1, padded = ((uint64_t)p->size + 63) / 64 * 64;
    e->neurons += p->size;
    e->state_bytes += (uint64_t)p->size * ops->state_count * 8 + 16 * padded;
    e->ring_bytes += padded * depth * ops->receptor_count * (uint64_t)(file->accumulate / 8);
  }
  free(slots);
  e->total_bytes = e->synapse_bytes + e->ring_bytes + e->state_bytes + e->transient_bytes + (UINT64_C(8) << 20);
}

int mill_estimate_check(const struct mill_netfile *file, const struct mill_estimate *e, struct mill_error *error)
{
  uint64_t available = mill_memory_free();
  char need[32], has[32], of[256] = "";
  if (e->total_bytes <= available)
    return 0;
  if (file->projection_count)
    mill_text_format(of, sizeof of, "; most of it is projection `%s`", file->projection[e->largest_projection].name);
  mill_fail(error, MILL_RESOURCES, "the network needs %s for %llu synapses and %llu neurons, %s are free%s", mill_memory_text(need, e->total_bytes),
            (unsigned long long)e->synapses, (unsigned long long)e->neurons, mill_memory_text(has, available), of);
  if (file->projection_count && e->synapse_bytes > e->ring_bytes)
    mill_place_refuse(error, &file->projection[e->largest_projection].place, MILL_RESOURCES, error->text);
  return -1;
}

static int connect_all(struct mill_simulation *sim, struct mill_error *error)
{
  for (uint32_t i = 0; i < sim->file->projection_count; i++) {
    struct mill_projection_setup *setup = &sim->file->projection[i];
    struct mill_projection *p = &sim->projection[i];
    struct mill_weighing *w = &sim->weighing[i];
    struct mill_error inner = {0};
    if (mill_connect(sim->team, &setup->connection, &sim->rows[i], &inner) < 0)
      return mill_place_refuse(error, &setup->place, inner.status, inner.text);
    *w = (struct mill_weighing){.name = setup->name,
                                .rows = &sim->rows[i],
                                .sources = setup->connection.sources,
                                .targets = setup->connection.targets,
                                .weight = setup->weight,
                                .delay = setup->delay,
                                .edges = setup->edges,
                                .weight_key = mill_key(sim->file->seed, MILL_PURPOSE_WEIGHT, i),
                                .delay_key = mill_key(sim->file->seed, MILL_PURPOSE_DELAY, i)};
    if (mill_delay(sim->team, w, sim->file->dt_ps, &inner) < 0)
      return mill_place_refuse(error, &setup->place, inner.status, inner.text);
    *p = (struct mill_projection){.name = setup->name,
                                  .index = i,
                                  .source = setup->source,
                                  .target = setup->target,
                                  .receptor = setup->receptor,
                                  .synapses = sim->rows[i].synapses,
                                  .row = sim->rows[i].row,
                                  .column = sim->rows[i].column,
                                  .delay_bits = w->delay_bits,
                                  .delay_all = w->delay_all,
                                  .delay = w->delay_store,
                                  .delay_min = w->delay_min,
                                  .delay_max = w->delay_max};
  }
  return 0;
}

/* All that arrives at one receptor is weighed together. */
static int weigh_receptor(struct mill_simulation *sim, uint32_t population, uint32_t receptor, struct mill_weighing **list,
                          struct mill_error *error)
{
  const struct mill_netfile *file = sim->file;
  struct mill_population_run *run = &sim->run[population];
  struct mill_accumulator *a = &run->accumulator[receptor];
  char name[256];
  uint32_t n = 0;
  const struct mill_place *place = NULL;
  struct mill_error inner = {0};
  for (uint32_t i = 0; i < file->projection_count; i++) {
    if (file->projection[i].target == population && file->projection[i].receptor == receptor) {
      list[n++] = &sim->weighing[i];
      place = place ? place : &file->projection[i].place;
    }
  }
  for (uint32_t i = 0; i < file->stimulus_count; i++) {
    const struct mill_stimulus_setup *s = &file->stimulus[i];
    if (s->target == population && s->receptor == receptor && sim->stimulus[i].ops->events) {
      list[n++] = &sim->weighing[file->projection_count + i];
      place = place ? place : &s->place;
    }
  }
  a->bits = (uint32_t)file->accumulate;
  mill_text_format(name, sizeof name, "%s.%s", file->population[population].name, run->ops->receptor[receptor].name);
  if (mill_weigh(sim->team, list, n, name, a, &inner) < 0)
    return place ? mill_place_refuse(error, place, inner.status, inner.text) : mill_fail(error, inner.status, "%s", inner.text);
  sim->population[population].ring[receptor].bits = a->bits;
  sim->population[population].ring[receptor].scale = a->scale;
  return 0;
}

static int weigh_all(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_netfile *file = sim->file;
  struct mill_weighing **list = calloc(file->projection_count + file->stimulus_count + 1, sizeof *list);
  int rc = list ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t p = 0; rc == 0 && p < file->population_count; p++) {
    for (uint32_t r = 0; rc == 0 && r < sim->run[p].ops->receptor_count; r++)
      rc = weigh_receptor(sim, p, r, list, error);
  }
  free(list);
  if (rc < 0)
    return -1;
  for (uint32_t i = 0; i < file->projection_count; i++) {
    sim->projection[i].weight_bits = sim->weighing[i].weight_bits;
    sim->projection[i].weight_all = sim->weighing[i].weight_all;
    sim->projection[i].weight = sim->weighing[i].weight_store;
  }
  for (uint32_t i = 0; i < file->stimulus_count; i++)
    sim->stimulus[i].quanta = sim->weighing[file->projection_count + i].weight_all;
  return 0;
}

static int allocate_rings(struct mill_simulation *sim, struct mill_error *error)
{
  uint32_t shortest = MILL_EPOCH_MAX, longest = 0;
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    const struct mill_projection *p = &sim->projection[i];
    if (p->synapses == 0)
      continue;
    shortest = p->delay_min < shortest ? p->delay_min : shortest;
    longest = p->delay_max > longest ? p->delay_max : longest;
  }
  sim->network.epoch_steps = shortest;
  sim->network.delay_max = longest;
  for (uint32_t i = 0; i < sim->network.population_count; i++) {
    struct mill_population *population = &sim->population[i];
    uint32_t deepest = 1;
    for (uint32_t k = 0; k < sim->network.projection_count; k++) {
      const struct mill_projection *p = &sim->projection[k];
      if (p->target == i && p->synapses && p->delay_max > deepest)
        deepest = p->delay_max;
    }
    for (uint32_t r = 0; r < population->receptor_count; r++) {
      struct mill_ring *ring = &population->ring[r];
      ring->stride = ((uint64_t)population->size + 63) / 64 * 64;
      ring->mask = (uint32_t)round_slots(deepest) - 1;
      ring->cell = mill_allocate_or_fail("delay ring", ring->stride * (ring->mask + UINT64_C(1)), ring->bits / 8, error);
      if (!ring->cell)
        return -1;
    }
  }
  return 0;
}

static int prepare_strategies(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_plasticity_ops *plasticity = sim->file->plasticity.plugin->ops;
  const struct mill_place place = {sim->file->ini, mill_ini_section_find(sim->file->ini, "strategy")};
  struct mill_error inner = {0};
  char why[512] = "";
  uint32_t plastic = 0;
  for (uint32_t i = 0; i < sim->file->projection_count; i++)
    plastic += ((const struct mill_synapse_ops *)sim->file->projection[i].synapse.plugin->ops)->plastic != 0;
  if (!plasticity->applicable(&sim->network, plastic, why, sizeof why))
    return mill_place_fail(error, &place, "plasticity", "`%s` cannot serve this network: %s", sim->file->plasticity.plugin->name, why);
  sim->delivery = sim->file->delivery.plugin->ops;
  if (!sim->delivery->applicable(&sim->network, why, sizeof why))
    return mill_place_fail(error, &place, "delivery", "`%s` cannot serve this network: %s", sim->file->delivery.plugin->name, why);
  if (sim->delivery->prepare(&mill_host, sim->file->delivery.values, &sim->network, &sim->delivery_self, &inner) < 0)
    return mill_place_refuse(error, &place, inner.status, inner.text);
  return 0;
}

int mill_build(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_netfile *file = sim->file;
  struct mill_estimate estimate;
  mill_estimate(file, &estimate);
  if (mill_estimate_check(file, &estimate, error) < 0)
    return -1;
  sim->population = calloc(file->population_count + 1u, sizeof *sim->population);
  sim->projection = calloc(file->projection_count + 1u, sizeof *sim->projection);
  sim->rows = calloc(file->projection_count + 1u, sizeof *sim->rows);
  sim->weighing = calloc(file->projection_count + file->stimulus_count + 1u, sizeof *sim->weighing);
  sim->run = calloc(file->population_count + 1u, sizeof *sim->run);
  sim->stimulus = calloc(file->stimulus_count + 1u, sizeof *sim->stimulus);
  if (!sim->population || !sim->projection || !sim->rows || !sim->weighing || !sim->run || !sim->stimulus)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  sim->network = (struct mill_network){.dt = file->dt,
                                       .neurons = (uint32_t)estimate.neurons,
                                       .population_count = file->population_count,
                                       .projection_count = file->projection_count,
                                       .population = sim->population,
                                       .projection = sim->projection};
  sim->step = file->t0;
  if (mill_build_populations(sim, error) < 0 || mill_build_stimuli(sim, error) < 0 || connect_all(sim, error) < 0 ||
      weigh_all(sim, error) < 0 || allocate_rings(sim, error) < 0 || prepare_strategies(sim, error) < 0 ||
      mill_build_slices(sim, error) < 0)
    return -1;
  return 0;
}

void mill_build_free(struct mill_simulation *sim)
{
  if (sim->delivery && sim->delivery->release)
    sim->delivery->release(&mill_host, sim->delivery_self);
  mill_build_slices_free(sim);
  for (uint32_t i = 0; sim->population && i < sim->network.population_count; i++) {
    for (uint32_t r = 0; sim->population[i].ring && r < sim->population[i].receptor_count; r++)
      mill_release(sim->population[i].ring[r].cell);
  }
  for (uint32_t i = 0; sim->rows && sim->weighing && i < sim->network.projection_count; i++) {
    mill_weighing_free(&sim->weighing[i]);
    mill_rows_free(&sim->rows[i]);
  }
  if (sim->stimulus)
    mill_build_stimuli_free(sim);
  if (sim->run)
    mill_build_populations_free(sim);
  free(sim->population);
  free(sim->projection);
  free(sim->rows);
  free(sim->weighing);
  free(sim->run);
  free(sim->stimulus);
}
