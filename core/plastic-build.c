/* Plastic projections: their arrays, tables of decay, initial weights, and what is refused. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "plastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include <spikemill/synapse-ops.h>
#include "memory.h"
#include "simulation.h"
#include "text.h"

#define COARSE_MAX (UINT64_C(1) << 24)
#define ROWS_AT_ONCE 256u

static const struct mill_synapse_ops *ops_of(const struct mill_projection_setup *setup)
{
  return setup->synapse.plugin->ops;
}

int mill_plastic_is(const struct mill_projection_setup *setup)
{
  return ops_of(setup)->plastic != 0;
}

int mill_plastic_bounds(const struct mill_projection_setup *setup, double *least, double *most, double *delivered)
{
  const struct mill_synapse_ops *ops = ops_of(setup);
  if (!ops->plastic)
    return 0;
  ops->bounds(setup->synapse.values, least, most, delivered);
  return 1;
}

/* Words of a history that serves `usable` words of stale steps. */
static uint32_t words_for(uint32_t usable, uint32_t delay_max, uint32_t epoch)
{
  return usable + (delay_max + 2 * epoch + 63) / 64;
}

uint32_t mill_plastic_words(const struct mill_simulation *sim, uint32_t index)
{
  return words_for(sim->file->history_words, sim->projection[index].delay_max, sim->network.epoch_steps);
}

uint64_t mill_plastic_estimate(const struct mill_netfile *file, const struct mill_projection_setup *setup, uint64_t n,
                               uint32_t delay)
{
  const struct mill_synapse_ops *ops = ops_of(setup);
  const struct mill_synapse_code *code;
  uint64_t bytes, rows;
  if (!ops->plastic)
    return 0;
  code = &ops->code[file->precision];
  if (__builtin_mul_overflow(n, (uint64_t)ops->syn_count * code->real_size, &bytes))
    return UINT64_MAX;
  rows = (uint64_t)setup->connection.sources * (3 * code->pre_size + 17 + 2 * sizeof(struct mill_entry)) +
         (uint64_t)setup->connection.targets *
             (code->post_size + 8 + 8 * (uint64_t)words_for(file->history_words, delay, MILL_EPOCH_MAX));
  return bytes > UINT64_MAX - rows ? UINT64_MAX : bytes + rows;
}

/* fine[i] and coarse[j] of one decay, rounded once to the network's precision. */
static int build_decay(struct mill_decay *decay, double log_step, int precise, struct mill_error *error)
{
  double count = ceil(60 * 0.6931471805599453 / (-256 * log_step)) + 1;
  void *fine, *coarse;
  if (!(log_step < 0) || !(count <= (double)COARSE_MAX))
    return mill_fail(error, MILL_USAGE, "a trace that loses less than one part in 10^8 a step is too slow for this time step");
  decay->coarse_count = (uint64_t)count;
  fine = mill_allocate_or_fail("decay of traces", 256, sizeof(double), error);
  decay->fine = fine;
  coarse = mill_allocate_or_fail("decay of traces", decay->coarse_count, sizeof(double), error);
  decay->coarse = coarse;
  if (!fine || !coarse)
    return -1;
  for (uint64_t i = 0; i < 256 || i < decay->coarse_count; i++) {
    double f = mill_exp((double)i * log_step), c = mill_exp(256 * (double)i * log_step);
    if (i < 256 && precise)
      ((double *)fine)[i] = f;
    else if (i < 256)
      ((float *)fine)[i] = (float)f;
    if (i < decay->coarse_count && precise)
      ((double *)coarse)[i] = c;
    else if (i < decay->coarse_count)
      ((float *)coarse)[i] = (float)c;
  }
  return 0;
}

struct draw {
  const struct mill_weighing *w;
  struct mill_plastic_run *run;
  double least, most;
  uint64_t outside; /* a weight's synapse + 1 that the rule refuses: the first */
  uint64_t redrawn, clipped;
};

static void draw_rows(void *self, uint64_t block, uint32_t worker)
{
  struct draw *d = self;
  const struct mill_rows *rows = d->w->rows;
  uint64_t redrawn = 0, clipped = 0,
           end = (block + 1) * ROWS_AT_ONCE < d->run->sources ? (block + 1) * ROWS_AT_ONCE : d->run->sources;
  (void)worker;
  for (uint64_t s = block * ROWS_AT_ONCE; s < end; s++) {
    uint32_t m = 0;
    for (uint64_t i = rows->row[s]; i < rows->row[s + 1]; i++) {
      m = i > rows->row[s] && rows->column[i] == rows->column[i - 1] ? m + 1 : 0;
      double weight = mill_weight_at(d->w, (uint32_t)s, i, m, &redrawn, &clipped);
      uint64_t first = __atomic_load_n(&d->outside, __ATOMIC_RELAXED);
      if (d->run->plastic.code->real_size == 4)
        ((float *)d->run->syn[0])[i] = (float)weight;
      else
        ((double *)d->run->syn[0])[i] = weight;
      while (!(weight >= d->least && weight <= d->most) && (!first || i + 1 < first) &&
             !__atomic_compare_exchange_n(&d->outside, &first, i + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    }
  }
  __atomic_fetch_add(&d->redrawn, redrawn, __ATOMIC_RELAXED);
  __atomic_fetch_add(&d->clipped, clipped, __ATOMIC_RELAXED);
}

int mill_plastic_refuse(const struct mill_projection_setup *setup, double weight, uint32_t source, uint32_t target,
                        struct mill_error *error)
{
  double least, most, delivered;
  char text[3][32];
  mill_plastic_bounds(setup, &least, &most, &delivered);
  return mill_place_fail(error, &setup->place, "weight", "%s, of the synapse from neuron %u to %u, lies outside what `%s` allows, %s … %s",
                         mill_text_double(text[0], weight), source, target, setup->synapse.plugin->name,
                         mill_text_double(text[1], least), mill_text_double(text[2], most));
}

static int draw_weights(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  const struct mill_projection_setup *setup = &sim->file->projection[index];
  struct mill_weighing w = sim->weighing[index];
  struct draw d = {.w = &w, .run = sim->plastic[index]};
  double delivered;
  mill_plastic_bounds(setup, &d.least, &d.most, &delivered);
  w.weight = setup->weight;
  w.edges = setup->edges;
  mill_team_each(sim->team, ((uint64_t)d.run->sources + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, draw_rows, &d);
  if (mill_weight_is_number(&sim->weighing[index])) { /* else they were counted when they were weighed */
    sim->weighing[index].redrawn += d.redrawn;
    sim->weighing[index].clipped += d.clipped;
  }
  if (d.outside) {
    uint32_t source, m;
    uint64_t none = 0;
    mill_synapse_find(w.rows, d.run->sources, d.outside - 1, &source, &m);
    return mill_plastic_refuse(setup, mill_weight_at(&w, source, d.outside - 1, m, &none, &none), source, w.rows->column[d.outside - 1],
                               error);
  }
  return 0;
}

static int build_decays(struct mill_plastic_run *run, const struct mill_projection_setup *setup, const struct mill_netfile *file,
                        struct mill_error *error)
{
  const struct mill_synapse_ops *ops = ops_of(setup);
  double *log_step = calloc(ops->decay_count + 1u, sizeof *log_step);
  struct mill_error inner = {0};
  int rc = log_step ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
  run->decay_count = ops->decay_count;
  run->decay = calloc(ops->decay_count + 1u, sizeof *run->decay);
  if (!run->decay)
    rc = mill_fail(error, MILL_RESOURCES, "out of memory");
  if (rc == 0)
    ops->decays(setup->synapse.values, file->dt, log_step);
  for (uint32_t i = 0; rc == 0 && i < ops->decay_count; i++) {
    if (build_decay(&run->decay[i], log_step[i], file->precision, &inner) < 0)
      rc = mill_place_refuse(error, &setup->place, inner.status, inner.text);
  }
  free(log_step);
  return rc;
}

int mill_plastic_columns(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  struct mill_plastic_run *run = sim->plastic[index];
  const uint64_t synapses = sim->projection[index].synapses;
  for (uint32_t c = 0; c < run->plastic.syn_count; c++) {
    run->syn[c] = mill_allocate_or_fail("state of plastic synapses", synapses, run->plastic.code->real_size, error);
    if (!run->syn[c])
      return -1;
  }
  run->plastic.code->syn_init(run->param, synapses, run->syn);
  return draw_weights(sim, index, error);
}

static int allocate(struct mill_simulation *sim, struct mill_plastic_run *run, struct mill_error *error)
{
  const struct mill_synapse_code *code = run->plastic.code;
  const struct {
    void **to;
    uint64_t count;
    size_t size;
  } arrays[] = {
      {(void **)&run->pre, run->sources, code->pre_size},
      {(void **)&run->k_last, run->sources, sizeof *run->k_last},
      {(void **)&run->u, run->sources, sizeof *run->u},
      {(void **)&run->fired, run->sources, 1},
      {(void **)&run->post, run->targets, code->post_size},
      {(void **)&run->post_step, run->targets, sizeof *run->post_step},
      {(void **)&run->list[0].entry, run->sources, sizeof(struct mill_entry)},
      {(void **)&run->list[1].entry, run->sources, sizeof(struct mill_entry)},
      {(void **)&run->list[0].pre, run->sources, code->pre_size},
      {(void **)&run->list[1].pre, run->sources, code->pre_size},
  };
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    *arrays[i].to = mill_allocate_or_fail("rows of plastic synapses", arrays[i].count, arrays[i].size, error);
    if (!*arrays[i].to)
      return -1;
  }
  run->syn = calloc(run->plastic.syn_count, sizeof *run->syn);
  if (!run->syn)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t s = 0; s < run->sources; s++) {
    code->pre_init(run->param, run->pre + (uint64_t)s * code->pre_size);
    run->k_last[s] = run->u[s] = sim->file->t0;
  }
  for (uint32_t t = 0; t < run->targets; t++) {
    code->post_init(run->param, run->post + (uint64_t)t * code->post_size);
    run->post_step[t] = sim->file->t0;
  }
  return 0;
}

static int build_projection(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  const struct mill_projection_setup *setup = &sim->file->projection[index];
  const struct mill_synapse_ops *ops = ops_of(setup);
  const struct mill_synapse_code *code = &ops->code[sim->file->precision];
  struct mill_projection *p = &sim->projection[index];
  const struct mill_accumulator *a = &sim->run[p->target].accumulator[p->receptor];
  struct mill_plastic_run *run = sim->plastic[index] = calloc(1, sizeof *run);
  const char *fault;
  double least, most, delivered;
  if (!run)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  mill_plastic_bounds(setup, &least, &most, &delivered);
  run->index = index;
  run->source = p->source;
  run->target = p->target;
  run->sources = sim->population[p->source].size;
  run->targets = sim->population[p->target].size;
  run->plastic.code = code;
  run->plastic.syn_count = ops->syn_count;
  run->param = calloc(1, code->param_size + 1u);
  if (!run->param)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (code->pre_size > MILL_PRE_BYTES)
    return mill_place_fail(error, &setup->place, "synapse", "`%s` has traces of %u bytes a source; at most %u are possible",
                           setup->synapse.plugin->name, code->pre_size, MILL_PRE_BYTES);
  if ((fault = code->derive(setup->synapse.values, sim->file->dt, run->param)))
    return mill_place_refuse(error, &setup->place, MILL_USAGE, fault);
  if (build_decays(run, setup, sim->file, error) < 0 || allocate(sim, run, error) < 0 ||
      (p->row && mill_plastic_columns(sim, index, error) < 0)) /* else a device has them */
    return -1;
  run->plastic.visit = sim->plasticity->visit;
  run->plastic.param = run->param;
  run->plastic.decay = run->decay;
  run->plastic.syn = run->syn;
  run->plastic.post = run->post;
  run->plastic.post_step = run->post_step;
  run->plastic.per_unit = a->scale > 0 ? 1 / a->scale : 0;
  run->plastic.limit = delivered < MILL_UNBOUNDED ? sim->weighing[index].most : INT64_C(1) << 50;
  run->plastic.over = &run->over;
  for (int g = 0; g < 2; g++) {
    sim->generation[g].entries[index].entry = run->list[g].entry;
    sim->generation[g].entries[index].pre = run->list[g].pre;
  }
  p->plastic = &run->plastic;
  return 0;
}

static int add(struct mill_plastic_run ***list, uint32_t *count, struct mill_plastic_run *run)
{
  struct mill_plastic_run **bigger = realloc(*list, (*count + 1u) * sizeof **list);
  if (!bigger)
    return -1;
  bigger[*count] = run;
  *list = bigger;
  ++*count;
  return 0;
}

/* The populations' lists of their plastic projections, and histories as long as the most demanding one asks. */
static int build_populations(struct mill_simulation *sim, struct mill_error *error)
{
  const uint32_t epoch = sim->network.epoch_steps;
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    struct mill_plastic_run *run = sim->plastic[i];
    if (!run)
      continue;
    struct mill_population_run *source = &sim->run[run->source], *target = &sim->run[run->target];
    if (add(&source->plastic_out, &source->plastic_out_count, run) < 0 ||
        add(&target->plastic_in, &target->plastic_in_count, run) < 0)
      return mill_fail(error, MILL_RESOURCES, "out of memory");
  }
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    struct mill_population_run *run = &sim->run[p];
    uint32_t words = 0;
    for (uint32_t i = 0; i < run->plastic_in_count; i++) {
      uint32_t wanted = mill_plastic_words(sim, run->plastic_in[i]->index);
      words = wanted > words ? wanted : words;
    }
    if (words && mill_plastic_lengthen(sim, p, words, error) < 0)
      return -1;
    for (uint32_t i = 0; i < run->plastic_in_count; i++)
      run->plastic_in[i]->patience = 64 * (int64_t)words - sim->projection[run->plastic_in[i]->index].delay_max - epoch;
  }
  return 0;
}

int mill_plastic_build(struct mill_simulation *sim, struct mill_error *error)
{
  sim->plasticity = sim->file->plasticity.plugin->ops;
  sim->plastic = calloc(sim->network.projection_count + 1u, sizeof *sim->plastic);
  for (int g = 0; g < 2; g++)
    sim->generation[g].entries = calloc(sim->network.projection_count + 1u, sizeof *sim->generation[g].entries);
  if (!sim->plastic || !sim->generation[0].entries || !sim->generation[1].entries)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    if (ops_of(&sim->file->projection[i])->plastic && sim->projection[i].synapses && build_projection(sim, i, error) < 0)
      return -1;
  }
  return build_populations(sim, error);
}

static void free_run(struct mill_plastic_run *run)
{
  if (!run)
    return;
  for (uint32_t i = 0; run->decay && i < run->decay_count; i++) {
    mill_release((void *)(uintptr_t)run->decay[i].fine);
    mill_release((void *)(uintptr_t)run->decay[i].coarse);
  }
  for (uint32_t c = 0; run->syn && c < run->plastic.syn_count; c++)
    mill_release(run->syn[c]);
  mill_release(run->pre);
  mill_release(run->k_last);
  mill_release(run->u);
  mill_release(run->fired);
  mill_release(run->post);
  mill_release(run->post_step);
  for (int g = 0; g < 2; g++) {
    mill_release(run->list[g].entry);
    mill_release(run->list[g].pre);
  }
  free(run->decay);
  free(run->syn);
  free(run->param);
  free(run);
}

void mill_plastic_free(struct mill_simulation *sim)
{
  for (uint32_t i = 0; sim->plastic && i < sim->network.projection_count; i++)
    free_run(sim->plastic[i]);
  free(sim->plastic);
  free(sim->generation[0].entries);
  free(sim->generation[1].entries);
  for (uint32_t p = 0; sim->run && p < sim->network.population_count; p++) {
    free(sim->run[p].plastic_in);
    free(sim->run[p].plastic_out);
  }
}
