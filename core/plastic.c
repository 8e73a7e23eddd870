/* Plastic projections: per epoch and unit of neurons, the anchors and the rows to visit; at the end, the flush. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "plastic.h"

#include <string.h>

#include "cuda/gpu.h"
#include "history.h"
#include "memory.h"
#include "simulation.h"
#include "text.h"

/* ---- Targets: spikes that leave the history ---------------------------------------------------------------------------- */

/* Spikes of neuron `target` that leave its history, oldest first, into the anchors of every projection to it: bit b is step first - b. */
static void fold(struct mill_simulation *sim, uint32_t population, uint32_t target, uint64_t leaving, int64_t first)
{
  const struct mill_population_run *run = &sim->run[population];
  for (uint32_t i = 0; i < run->plastic_in_count; i++) {
    struct mill_plastic_run *p = run->plastic_in[i];
    const struct mill_synapse_code *code = p->plastic.code;
    for (uint64_t bits = leaving; bits;) {
      int b = 63 - __builtin_clzll(bits);
      int64_t step = first - b;
      code->post_spike(p->param, p->decay, p->post + (uint64_t)target * code->post_size, step - p->post_step[target]);
      p->post_step[target] = step;
      bits ^= UINT64_C(1) << b;
    }
  }
}

static void push(struct mill_simulation *sim, const struct mill_unit *unit, const uint64_t (*bits)[MILL_BATCH / 64],
                 const struct mill_generation *now)
{
  const struct mill_population_run *run = &sim->run[unit->population];
  if (run->plastic_in_count) {
    const int64_t oldest = now->first - 64 * (int64_t)run->history_words;
    for (uint32_t i = 0; i < unit->count; i++) {
      const uint64_t last = run->history[(uint64_t)(unit->first + i + 1) * run->history_words - 1];
      if (last >> (64 - now->steps))
        fold(sim, unit->population, unit->first + i, last >> (64 - now->steps), oldest + now->steps - 1);
    }
  }
  mill_history_push(run->history, run->history_words, unit->first, unit->count, bits, now->steps);
}

void mill_plastic_history(struct mill_simulation *sim, uint32_t population, const uint64_t *history, uint32_t words)
{
  struct mill_population_run *run = &sim->run[population];
  for (uint32_t i = 0; i < sim->population[population].size; i++) {
    const uint64_t *from = history + (uint64_t)i * words;
    for (uint32_t w = words; w-- > run->history_words;)
      fold(sim, population, i, from[w], sim->step - 1 - 64 * (int64_t)w);
    for (uint32_t w = 0; w < run->history_words; w++)
      run->history[(uint64_t)i * run->history_words + w] = w < words ? from[w] : 0;
  }
}

int mill_plastic_lengthen(struct mill_simulation *sim, uint32_t population, uint32_t words, struct mill_error *error)
{
  struct mill_population_run *run = &sim->run[population];
  const uint32_t size = sim->population[population].size, had = run->history_words;
  uint64_t *longer = mill_allocate_or_fail("spike histories", size, 8 * (size_t)words, error);
  if (!longer)
    return -1;
  for (uint32_t i = 0; had && i < size; i++)
    memcpy(longer + (uint64_t)i * words, run->history + (uint64_t)i * had, 8 * (size_t)had);
  mill_release(run->history);
  run->history = longer;
  run->history_words = words;
  for (uint32_t i = 0; i < run->plastic_in_count; i++) {
    run->plastic_in[i]->plastic.history = longer;
    run->plastic_in[i]->plastic.words = words;
  }
  return 0;
}

/* ---- Sources: the rows to visit ---------------------------------------------------------------------------------------- */

static void list_row(struct mill_plastic_run *p, const struct mill_entry_list *list, uint64_t at, uint32_t row, uint32_t mask)
{
  const uint32_t size = p->plastic.code->pre_size;
  list->entry[at] = (struct mill_entry){row, mask, p->k_last[row], p->u[row], p->fired[row], 0};
  memcpy(list->pre + at * size, p->pre + (uint64_t)row * size, size);
}

/* What the row is after the epoch: its traces after the source's last spike, and what the visit will have applied. */
static void advance_row(struct mill_plastic_run *p, uint32_t row, uint32_t spikes, const struct mill_generation *now, int every_row)
{
  const struct mill_synapse_code *code = p->plastic.code;
  for (uint32_t mask = spikes; mask; mask &= mask - 1) {
    int64_t k = now->first + __builtin_ctz(mask);
    code->pre_spike(p->param, p->decay, p->pre + (uint64_t)row * code->pre_size, k - p->k_last[row]);
    p->k_last[row] = k;
    p->fired[row] = 1;
    p->u[row] = k + 1;
  }
  if (every_row || !spikes)
    p->u[row] = now->first + now->steps;
}

static uint32_t list_rows(struct mill_simulation *sim, struct mill_plastic_run *p, const struct mill_unit *unit,
                          const struct mill_spike *spikes, uint32_t count)
{
  const struct mill_generation *now = &sim->generation[sim->parity];
  const int64_t due = sim->plasticity->every_row ? INT64_MAX : now->first + now->steps - p->patience;
  uint32_t n = 0, k = 0;
  for (uint32_t row = unit->first; row < unit->first + unit->count; row++) {
    const uint32_t mask = k < count && spikes[k].neuron == row ? spikes[k++].mask : 0;
    if (!mask && p->u[row] >= due)
      continue;
    list_row(p, &p->list[sim->parity], unit->first + n, row, mask);
    n++;
    advance_row(p, row, mask, now, sim->plasticity->every_row);
  }
  return n;
}

void mill_plastic_unit(struct mill_simulation *sim, struct mill_unit *unit, const uint64_t (*bits)[MILL_BATCH / 64],
                       const struct mill_spike *spikes, uint32_t count)
{
  const struct mill_population_run *run = &sim->run[unit->population];
  if (run->history)
    push(sim, unit, bits, &sim->generation[sim->parity]);
  for (uint32_t i = 0; i < run->plastic_out_count; i++)
    unit->rows[i] = list_rows(sim, run->plastic_out[i], unit, spikes, count);
}

void mill_plastic_turn(struct mill_simulation *sim)
{
  struct mill_entries *entries = sim->generation[sim->parity].entries;
  for (uint32_t i = 0; i < sim->network.projection_count; i++)
    entries[i].count = 0;
  for (uint32_t u = 0; u < sim->unit_count; u++) {
    const struct mill_unit *unit = &sim->unit[u];
    const struct mill_population_run *run = &sim->run[unit->population];
    for (uint32_t i = 0; i < run->plastic_out_count; i++) {
      const struct mill_entry_list *list = &run->plastic_out[i]->list[sim->parity];
      const uint32_t size = run->plastic_out[i]->plastic.code->pre_size;
      struct mill_entries *to = &entries[run->plastic_out[i]->index];
      memmove(list->entry + to->count, list->entry + unit->first, unit->rows[i] * sizeof *list->entry);
      memmove(list->pre + (uint64_t)to->count * size, list->pre + (uint64_t)unit->first * size, (uint64_t)unit->rows[i] * size);
      to->count += unit->rows[i];
    }
  }
}

/* ---- Flush ------------------------------------------------------------------------------------------------------------- */

struct flush {
  struct mill_simulation *sim;
  uint32_t projection;
};

static void flush_row(void *self, uint64_t row, uint32_t worker)
{
  const struct flush *f = self;
  const struct mill_projection *p = &f->sim->projection[f->projection];
  struct mill_plastic_run *run = f->sim->plastic[f->projection];
  const int64_t k = f->sim->step;
  (void)worker;
  if (run->u[row] >= k)
    return;
  const struct mill_entry entry = {(uint32_t)row, 0, run->k_last[row], run->u[row], run->fired[row], 0};
  mill_visit(p, NULL, &entry, run->pre + row * run->plastic.code->pre_size, k, 0, p->row[row], p->row[row + 1]);
  run->u[row] = k;
}

void mill_plastic_flush(struct mill_simulation *sim)
{
  mill_engine_settle(sim);
  if (sim->gpu && mill_gpu_fetch_synapses(sim, &sim->recorder.error) < 0) {
    sim->recorder.failed = 1;
    return;
  }
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    struct flush f = {sim, i};
    if (sim->plastic[i])
      mill_team_each(sim->team, sim->plastic[i]->sources, flush_row, &f);
  }
}

int mill_plastic_check(const struct mill_simulation *sim, struct mill_error *error)
{
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    const struct mill_projection_setup *setup = &sim->file->projection[i];
    double least, most, delivered;
    char number[32];
    if (!sim->plastic[i] || !sim->plastic[i]->over)
      continue;
    mill_plastic_bounds(setup, &least, &most, &delivered);
    return mill_place_fail(error, &setup->place, "synapse", "`%s` delivered more than the %s that it declares as its most",
                           setup->synapse.plugin->name, mill_text_double(number, delivered));
  }
  return 0;
}

double mill_plastic_weight(const struct mill_plastic *plastic, uint64_t synapse)
{
  return plastic->code->real_size == 4 ? (double)((const float *)plastic->syn[0])[synapse]
                                       : ((const double *)plastic->syn[0])[synapse];
}
