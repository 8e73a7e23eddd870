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
#include "cuda/gpu.h"
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

/* Sums and products that stay at their largest instead of wrapping: such a network is refused in any case. */
static uint64_t times(uint64_t a, uint64_t b)
{
  uint64_t c;
  return __builtin_mul_overflow(a, b, &c) ? UINT64_MAX : c;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
  uint64_t c;
  return __builtin_add_overflow(a, b, &c) ? UINT64_MAX : c;
}

/* Bytes held only while a projection is made: pairs to sort, or the index of each edge in its file. */
static uint64_t transient_bytes(const struct mill_connection *c, uint64_t synapses)
{
  const int sorted = c->rule == MILL_FIXED_INDEGREE || c->rule == MILL_FIXED_TOTAL || c->rule == MILL_EDGES;
  return sorted ? times(8, synapses) : 0;
}

static uint64_t sample_bytes(const struct mill_netfile *file)
{
  const struct mill_record_setup *r = &file->record;
  uint64_t samples = 0;
  for (uint32_t v = 0; v < r->variable_count; v++) {
    uint64_t neurons = r->range_count ? 0 : file->population[r->variable[v].population].size;
    for (uint32_t i = 0; i < r->range_count; i++)
      neurons += r->range[i].last - r->range[i].first + UINT64_C(1);
    samples = plus(samples, neurons);
  }
  return times(samples, sizeof(struct mill_sample) + 2 * MILL_EPOCH_MAX * sizeof(double));
}

/* Keeps the section that needs most. */
static void compare_section(struct mill_estimate *e, const struct mill_place *place, const char *what, uint64_t bytes)
{
  if (bytes <= e->largest.bytes)
    return;
  e->largest.place = place;
  e->largest.what = what;
  e->largest.bytes = bytes;
}

static void estimate_projections(const struct mill_netfile *file, uint64_t *slots, struct mill_estimate *e)
{
  uint64_t section = 0;
  for (uint32_t i = 0; i < file->projection_count; i++) {
    const struct mill_projection_setup *p = &file->projection[i];
    struct mill_weighing w = {.weight = p->weight, .delay = p->delay, .edges = p->edges};
    uint64_t n = mill_connection_estimate(&p->connection), each = mill_weighing_estimate(&w, 1), transient, bytes, delay;
    bytes = plus(plus(16 * ((uint64_t)p->connection.sources + 1), times(4 + each, n)),
                 mill_plastic_estimate(file, p, n, (uint32_t)likely_delay(p, file->dt)));
    transient = transient_bytes(&p->connection, n);
    if (file->on_gpu && mill_gpu_makes(p)) { /* only its degrees, and sums of weights, come to the host */
      bytes = 16 * ((uint64_t)p->connection.sources + p->connection.targets);
      transient = 0;
    }
    e->synapses = plus(e->synapses, n);
    e->synapse_bytes = plus(e->synapse_bytes, bytes);
    e->transient_bytes = transient > e->transient_bytes ? transient : e->transient_bytes;
    section = i && p[-1].place.section == p->place.section ? plus(section, bytes) : bytes;
    compare_section(e, &p->place, "synapses", plus(section, transient));
    delay = n ? round_slots(likely_delay(p, file->dt)) : 1;
    if (slots && delay > slots[p->target])
      slots[p->target] = delay;
  }
}

void mill_estimate(const struct mill_netfile *file, struct mill_estimate *e)
{
  uint64_t *slots = calloc(file->population_count + 1, sizeof *slots), samples = sample_bytes(file);
  memset(e, 0, sizeof *e);
  estimate_projections(file, slots, e);
  for (uint32_t i = 0; i < file->population_count; i++) {
    const struct mill_population_setup *p = &file->population[i];
    const struct mill_neuron_ops *ops = p->model.plugin->ops;
    uint64_t depth = slots && slots[i] ? slots[i] : 1, padded = ((uint64_t)p->size + 63) / 64 * 64, state, ring;
    state = (uint64_t)p->size * ops->state_count * 8 + 16 * padded;
    ring = times(padded * depth, ops->receptor_count * (uint64_t)(file->accumulate / 8));
    e->neurons += p->size;
    e->state_bytes = plus(e->state_bytes, state);
    e->ring_bytes = plus(e->ring_bytes, ring);
    compare_section(e, &p->place, ring > state ? "delay rings" : "neurons", plus(ring, state));
  }
  free(slots);
  compare_section(e, &file->record.place, "samples", samples);
  e->state_bytes = plus(e->state_bytes, samples);
  e->total_bytes = plus(plus(e->synapse_bytes, e->ring_bytes), plus(e->state_bytes, plus(e->transient_bytes, UINT64_C(8) << 20)));
}

int mill_estimate_check(const struct mill_estimate *e, struct mill_error *error)
{
  uint64_t available = mill_memory_free();
  char need[32], has[32], part[32];
  if (e->total_bytes <= available)
    return 0;
  mill_fail(error, MILL_RESOURCES, "the network needs %s for %llu synapses and %llu neurons, %s are free",
            mill_memory_text(need, e->total_bytes), (unsigned long long)e->synapses, (unsigned long long)e->neurons,
            mill_memory_text(has, available));
  if (!e->largest.place)
    return -1;
  mill_place_fail(error, e->largest.place, NULL, "%s; %s of it for the %s of this section", error->text,
                  mill_memory_text(part, e->largest.bytes), e->largest.what);
  error->status = MILL_RESOURCES;
  return -1;
}

/* What was rounded, clipped or drawn again is said once per section. */
static void report_drawing(const struct mill_netfile *file, const struct mill_weighing *w, uint32_t index)
{
  const struct mill_projection_setup *p = &file->projection[index];
  char where[256], from[32], to[32];
  if (w->delay_rounded_from_ps && (index == 0 || p[-1].place.section != p->place.section)) {
    uint64_t steps = mill_delay_steps(w->delay_rounded_from_ps, file->dt_ps);
    mill_ini_where(file->ini, p->place.section, mill_ini_entry_find(p->place.section, "delay"), where, sizeof where);
    mill_note("%sdelays are whole steps: %s ms became %llu steps, %s ms", where,
              mill_text_double(from, (double)w->delay_rounded_from_ps / 1e9), (unsigned long long)steps,
              mill_text_double(to, (double)((int64_t)steps * file->dt_ps) / 1e9));
  }
  if (w->redrawn || w->clipped) {
    mill_ini_where(file->ini, p->place.section, NULL, where, sizeof where);
    mill_note("%sfrom `%s` to `%s`: %llu values drawn again, %llu clipped", where, file->population[p->source].name,
              file->population[p->target].name, (unsigned long long)w->redrawn, (unsigned long long)w->clipped);
  }
}

/* A plastic synapse counts with the most that its rule can deliver. A rule that knows no bound counts with its initial weights, and needs
   the room of 64-bit cells. */
static int prepare_plastic(const struct mill_netfile *file, const struct mill_projection_setup *setup, struct mill_weighing *w,
                           struct mill_error *error)
{
  double least, most, delivered;
  if (!mill_plastic_bounds(setup, &least, &most, &delivered))
    return 0;
  w->varies = 1;
  w->typical = mill_weight_median(w, error);
  if (w->typical < 0)
    return -1;
  if (delivered >= 0 && delivered < MILL_UNBOUNDED) {
    w->typical *= most > 0 && most < MILL_UNBOUNDED ? delivered / most : 1;
    /* a little more than said: in single precision the bound itself and its product with a scale are rounded */
    w->weight = (struct mill_dist){.kind = MILL_DIST_NUMBER, .a = delivered * (1 + ldexp(1, -20))};
    w->edges = NULL;
  } else if (delivered >= 0 && file->accumulate != 64) {
    return mill_place_fail(error, &setup->place, "synapse", "`%s` knows no largest weight; set accumulate = int64 in [simulation]",
                           setup->synapse.plugin->name);
  }
  return 0;
}

/* Rows and delays, from the host; or delays alone, when a GPU is to make the rows once their epoch is known. */
static int connect_one(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  const struct mill_projection_setup *setup = &sim->file->projection[index];
  struct mill_weighing *w = &sim->weighing[index];
  int elsewhere = sim->gpu && mill_gpu_makes(setup);
  if (elsewhere) {
    if (mill_connection_check(&setup->connection, error) < 0)
      return -1;
    sim->rows[index].synapses = mill_connection_estimate(&setup->connection);
    if (!mill_delay_is_number(w) && mill_gpu_foresee_delays(sim, index, &elsewhere, error) < 0)
      return -1;
  }
  if (elsewhere)
    w->elsewhere = &sim->elsewhere;
  else if (mill_connect(sim->team, &setup->connection, &sim->rows[index], error) < 0)
    return -1;
  return elsewhere && !mill_delay_is_number(w) ? 0 : mill_delay(sim->team, w, sim->file->dt_ps, error);
}

static int connect_all(struct mill_simulation *sim, struct mill_error *error)
{
  sim->elsewhere = (struct mill_weights_elsewhere){sim, mill_gpu_weights_pass, mill_gpu_weights_sample};
  for (uint32_t i = 0; i < sim->file->projection_count; i++) {
    struct mill_projection_setup *setup = &sim->file->projection[i];
    struct mill_projection *p = &sim->projection[i];
    struct mill_weighing *w = &sim->weighing[i];
    struct mill_error inner = {0};
    *w = (struct mill_weighing){.name = setup->name,
                                .rows = &sim->rows[i],
                                .sources = setup->connection.sources,
                                .targets = setup->connection.targets,
                                .weight = setup->weight,
                                .delay = setup->delay,
                                .edges = setup->edges,
                                .weight_key = mill_key(sim->file->seed, MILL_PURPOSE_WEIGHT, i),
                                .delay_key = mill_key(sim->file->seed, MILL_PURPOSE_DELAY, i)};
    if (connect_one(sim, i, &inner) < 0)
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

/* Once all synapses are there. */
static int prepare_all_plastic(struct mill_simulation *sim, struct mill_error *error)
{
  for (uint32_t i = 0; i < sim->file->projection_count; i++) {
    if (prepare_plastic(sim->file, &sim->file->projection[i], &sim->weighing[i], error) < 0)
      return -1;
  }
  return 0;
}

/* The section whose weights an error of mill_weigh is about, which names it; NULL when it is about all of them. */
static const struct mill_place *place_of_fault(const struct mill_simulation *sim, struct mill_weighing *const *list, uint32_t n,
                                               const char *text)
{
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = (uint32_t)(list[i] - sim->weighing);
    char name[160];
    mill_text_format(name, sizeof name, "`%s`", list[i]->name);
    if (strstr(text, name))
      return at < sim->file->projection_count ? &sim->file->projection[at].place
                                              : &sim->file->stimulus[at - sim->file->projection_count].place;
  }
  return NULL;
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
  if (mill_weigh(sim->team, list, n, name, a, &inner) < 0) {
    const struct mill_place *fault = place_of_fault(sim, list, n, inner.text);
    mill_place_fail(error, fault ? fault : place, fault ? "weight" : NULL, "%s", inner.text);
    error->status = inner.status;
    return -1;
  }
  if (!file->precision && a->scale != 0 && (float)a->scale == 0)
    return mill_place_fail(error, place, "weight", "%s: is zero in single precision; set precision = double", name);
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
    if (sim->weighing[i].varies) { /* the rule keeps the weights */
      mill_release(sim->weighing[i].weight_store);
      sim->weighing[i].weight_store = NULL;
      sim->weighing[i].weight_bits = 0;
    }
    sim->projection[i].weight_bits = sim->weighing[i].weight_bits;
    sim->projection[i].weight_all = sim->weighing[i].weight_all;
    sim->projection[i].weight = sim->weighing[i].weight_store;
  }
  for (uint32_t i = 0; i < file->stimulus_count; i++)
    sim->stimulus[i].quanta = sim->weighing[file->projection_count + i].weight_all;
  return 0;
}

/* The length of an epoch. */
static void measure_delays(struct mill_simulation *sim)
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
}

static int allocate_rings(struct mill_simulation *sim, struct mill_error *error)
{
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

/* Whether both strategies serve the network, then the slices that the delivery wants, then its own tables. */
static int prepare_strategies(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_plasticity_ops *plasticity = sim->file->plasticity.plugin->ops;
  const struct mill_delivery_ops *delivery = sim->file->delivery.plugin->ops;
  const struct mill_place place = {sim->file->ini, mill_ini_section_find(sim->file->ini, "strategy")};
  struct mill_error inner = {0};
  char why[512] = "";
  uint32_t plastic = 0;
  for (uint32_t i = 0; i < sim->file->projection_count; i++)
    plastic += sim->plastic[i] != NULL;
  if (sim->gpu)
    return 0;
  if (!plasticity->applicable(&sim->network, plastic, why, sizeof why))
    return mill_place_fail(error, &place, "plasticity", "`%s` cannot serve this network: %s", sim->file->plasticity.plugin->name,
                           why);
  if (!delivery->applicable(&sim->network, why, sizeof why))
    return mill_place_fail(error, &place, "delivery", "`%s` cannot serve this network: %s", sim->file->delivery.plugin->name, why);
  if (mill_build_slices(sim, delivery, error) < 0)
    return -1;
  if (delivery->prepare(&mill_host, sim->file->delivery.values, &sim->network, &sim->delivery_self, &inner) < 0)
    return mill_place_refuse(error, &place, inner.status, inner.text);
  sim->delivery = delivery;
  return 0;
}

/* When rows, weights and delays are made: says what was rounded or drawn again, and drops the edge lists. */
static void end_drawing(struct mill_simulation *sim)
{
  struct mill_netfile *file = sim->file;
  for (uint32_t i = 0; i < file->projection_count; i++) {
    report_drawing(file, &sim->weighing[i], i);
    mill_release(sim->rows[i].edge);
    sim->rows[i].edge = NULL;
    if (sim->gpu)
      mill_gpu_forget_edges(sim, i);
    if (file->projection[i].owns_edges)
      mill_edges_free(file->projection[i].edges);
    file->projection[i].edges = NULL;
    file->projection[i].connection.edges = NULL;
  }
}

int mill_build(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_netfile *file = sim->file;
  mill_estimate(file, &sim->estimate);
  if (mill_estimate_check(&sim->estimate, error) < 0)
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
                                       .neurons = (uint32_t)sim->estimate.neurons,
                                       .population_count = file->population_count,
                                       .projection_count = file->projection_count,
                                       .population = sim->population,
                                       .projection = sim->projection,
                                       .workers = sim->workers};
  sim->step = file->t0;
  if (mill_build_populations(sim, error) < 0 || mill_build_stimuli(sim, error) < 0 || connect_all(sim, error) < 0)
    return -1;
  measure_delays(sim);
  if (sim->gpu && (mill_gpu_cut(sim, error) < 0 || mill_gpu_connect(sim, error) < 0))
    return -1;
  if (prepare_all_plastic(sim, error) < 0 || weigh_all(sim, error) < 0 || allocate_rings(sim, error) < 0 || mill_plastic_build(sim, error) < 0 ||
      (sim->gpu && mill_gpu_make_all_reals(sim, error) < 0))
    return -1;
  end_drawing(sim);
  return prepare_strategies(sim, error);
}

int mill_build_rows(struct mill_simulation *sim, struct mill_error *error)
{
  for (uint32_t i = 0; sim->gpu && i < sim->network.projection_count; i++) {
    if (mill_gpu_complete(sim, i, error) < 0)
      return -1;
  }
  return 0;
}

void mill_build_free(struct mill_simulation *sim)
{
  if (sim->delivery && sim->delivery->release)
    sim->delivery->release(&mill_host, sim->delivery_self);
  mill_build_slices_free(sim);
  mill_plastic_free(sim);
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
