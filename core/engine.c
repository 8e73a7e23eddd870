/* The engine. It advances by epochs of D steps, D at most the shortest delay, so that no spike of an epoch can matter inside it. A worker
   takes one slice of neurons after another, its own first: it delivers the spikes of the last epoch to the slice and simulates it for D
   steps; then all meet at one barrier. Worker 0 records the epoch while the others go on. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "simulation.h"

#include <string.h>

#include "history.h"

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                           \
    !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("default", "avx2"), optimize("O3")))
#else
#define CLONES
#endif

/* Cells to values, and the cells to zero for their next use. */
#define CONVERT(name, cell_type, signed_type, real)                                                                                \
  CLONES static void name(void *restrict cells, void *restrict values, uint32_t count, double scale)                               \
  {                                                                                                                                \
    cell_type *restrict cell = cells;                                                                                              \
    real *restrict value = values;                                                                                                 \
    const real unit = (real)scale;                                                                                                 \
    for (uint32_t i = 0; i < count; i++) {                                                                                         \
      value[i] = (real)(signed_type)cell[i] * unit;                                                                                \
      cell[i] = 0;                                                                                                                 \
    }                                                                                                                              \
  }
CONVERT(convert_32_single, uint32_t, int32_t, float)
CONVERT(convert_64_single, uint64_t, int64_t, float)
CONVERT(convert_64_double, uint64_t, int64_t, double)

typedef void convert_function(void *restrict cells, void *restrict values, uint32_t count, double scale);
static convert_function *const convert[2][2] = {{convert_32_single, convert_64_single}, {NULL, convert_64_double}};

/* What a worker carries through one batch of neurons. */
struct batch {
  struct mill_simulation *sim;
  struct mill_worker *worker;
  uint32_t population, first, count;
  int64_t step;
};

/* Events of the stimuli, times their weight, into the ring's cells of this step. */
static void add_events(const struct batch *b)
{
  const struct mill_population_run *run = &b->sim->run[b->population];
  const struct mill_stimulus_batch at = {b->step, b->first, b->count};
  for (uint32_t s = 0; s < run->event_count; s++) {
    const struct mill_stimulus_run *stimulus = run->event[s];
    const struct mill_ring *ring = &b->sim->population[b->population].ring[stimulus->receptor];
    uint64_t offset = ((uint64_t)b->step & ring->mask) * ring->stride + b->first;
    const uint32_t *event = b->worker->event;
    if (!stimulus->ops->events(stimulus->self, &at, b->worker->event))
      continue;
    if (ring->bits == 32) {
      uint32_t *cell = (uint32_t *)ring->cell + offset, quanta = (uint32_t)stimulus->quanta;
      for (uint32_t i = 0; i < b->count; i++)
        cell[i] += event[i] * quanta;
    } else {
      uint64_t *cell = (uint64_t *)ring->cell + offset, quanta = (uint64_t)stimulus->quanta;
      for (uint32_t i = 0; i < b->count; i++)
        cell[i] += event[i] * quanta;
    }
  }
}

/* The row of currents of this step, summed in order of declaration in the model's precision. */
static const void *current_row(const struct batch *b)
{
  const struct mill_population_run *run = &b->sim->run[b->population];
  double sum = 0;
  int any = 0;
  for (uint32_t s = 0; s < run->current_count; s++) {
    double value;
    if (!run->current[s]->ops->current(run->current[s]->self, b->step, &value))
      continue;
    any = 1;
    sum = b->sim->file->precision ? sum + value : (double)((float)sum + (float)value);
  }
  if (!any)
    return b->worker->zero;
  if (b->sim->file->precision) {
    for (uint32_t i = 0; i < b->count; i++)
      ((double *)b->worker->current)[i] = sum;
  } else {
    for (uint32_t i = 0; i < b->count; i++)
      ((float *)b->worker->current)[i] = (float)sum;
  }
  return b->worker->current;
}

static void step_batch(const struct batch *b, void *const *state, uint64_t *fired)
{
  const struct mill_population *population = &b->sim->population[b->population];
  const struct mill_population_run *run = &b->sim->run[b->population];
  struct mill_neuron_batch batch = {.count = b->count,
                                    .id = population->first + b->first,
                                    .step = b->step,
                                    .key = run->key,
                                    .param = run->param,
                                    .state = state,
                                    .input = (const void *const *)b->worker->input,
                                    .fired = fired};
  if (run->event_count)
    add_events(b);
  for (uint32_t r = 0; r < population->receptor_count; r++) {
    const struct mill_ring *ring = &population->ring[r];
    uint64_t offset = ((uint64_t)b->step & ring->mask) * ring->stride + b->first;
    convert[b->sim->file->precision][ring->bits == 64]((char *)ring->cell + offset * (ring->bits / 8), b->worker->input[r],
                                                       b->count, ring->scale);
  }
  batch.current = run->current_count ? current_row(b) : b->worker->zero;
  run->code->step(&batch);
}

/* Appends the neurons of a batch that fired in the epoch; bits[s] are those of its step s. */
static uint32_t list_spikes(const uint64_t (*bits)[MILL_BATCH / 64], uint32_t steps, uint32_t count, uint32_t first,
                            struct mill_spike *list)
{
  uint32_t n = 0;
  for (uint32_t w = 0; w < (count + 63) / 64; w++) {
    uint64_t any = 0;
    for (uint32_t s = 0; s < steps; s++)
      any |= bits[s][w];
    while (any) {
      uint32_t bit = (uint32_t)__builtin_ctzll(any), mask = 0;
      any &= any - 1;
      for (uint32_t s = 0; s < steps; s++)
        mask |= (uint32_t)(bits[s][w] >> bit & 1) << s;
      list[n].neuron = first + w * 64 + bit;
      list[n].mask = mask;
      n++;
    }
  }
  return n;
}

/* Samples of state variables after step `at`, for the neurons of a batch. */
static void sample_batch(const struct batch *b, const struct mill_generation *g, uint32_t at)
{
  const struct mill_sample_plan *plan = &b->sim->recorder.plan;
  const struct mill_record_setup *record = &b->sim->file->record;
  for (uint32_t v = 0; v < record->variable_count; v++) {
    const struct mill_population_run *run = &b->sim->run[b->population];
    uint32_t low = plan->of_variable[v], high = plan->of_variable[v + 1], state = record->variable[v].state;
    if (record->variable[v].population != b->population)
      continue;
    while (low < high) { /* first sample at or after the batch */
      uint32_t middle = low + (high - low) / 2;
      if (plan->sample[middle].neuron < b->first)
        low = middle + 1;
      else
        high = middle;
    }
    for (; low < plan->of_variable[v + 1] && plan->sample[low].neuron < b->first + b->count; low++) {
      g->sample[(uint64_t)at * plan->count + low] = mill_state_value(run, state, plan->sample[low].neuron);
    }
  }
}

/* Batch by batch through all steps of the epoch, so that a batch's state stays in the nearest cache. */
static void simulate_slice(struct mill_simulation *sim, struct mill_worker *worker, uint32_t index, const struct mill_generation *g)
{
  const struct mill_slice *slice = &sim->slice[index];
  const struct mill_population_run *run = &sim->run[slice->population];
  uint64_t bits[MILL_EPOCH_MAX][MILL_BATCH / 64];
  void *state[256];
  struct batch b = {.sim = sim, .worker = worker, .population = slice->population};
  uint32_t n = 0;
  for (uint32_t done = 0; done < slice->count; done += MILL_BATCH) {
    b.first = slice->first + done;
    b.count = slice->count - done < MILL_BATCH ? slice->count - done : MILL_BATCH;
    for (uint32_t s = 0; s < run->ops->state_count; s++)
      state[s] = (char *)run->column[s] + b.first * mill_state_size(run, s);
    for (uint32_t s = 0; s < g->steps; s++) {
      b.step = g->first + s;
      step_batch(&b, state, bits[s]);
      if (g->sample && (b.step + 1) % sim->file->record.every == 0)
        sample_batch(&b, g, s);
    }
    if (run->history)
      mill_history_push(run->history, run->history_words, b.first, b.count, (const uint64_t(*)[MILL_BATCH / 64]) bits, g->steps);
    n += list_spikes((const uint64_t(*)[MILL_BATCH / 64]) bits, g->steps, b.count, b.first, g->spikes[index] + n);
  }
  g->count[index] = n;
}

static void deliver(struct mill_simulation *sim, struct mill_worker *worker, uint32_t index, const struct mill_generation *g)
{
  const struct mill_epoch epoch = {g->first, g->steps, (const struct mill_spike *const *)g->spikes, g->count};
  worker->synaptic_events += sim->delivery->deliver(sim->delivery_self, &epoch, index);
}

/* Takes a slice for this epoch, unless somebody has. */
static int claim(struct mill_simulation *sim, uint32_t slice, uint64_t epoch)
{
  uint64_t seen = __atomic_load_n(&sim->claimed[slice], __ATOMIC_RELAXED);
  return seen != epoch && __atomic_compare_exchange_n(&sim->claimed[slice], &seen, epoch, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Own slices first, for the sake of the caches; then those that slower workers have not begun. Which worker does a slice changes no
   result. */
static void work(void *self, uint32_t w)
{
  struct mill_simulation *sim = self;
  struct mill_worker *worker = &sim->worker[w];
  uint32_t parity = sim->parity;
  uint64_t epoch = sim->epoch;
  for (int64_t step = sim->step; step < sim->until;) {
    struct mill_generation *now = &sim->generation[parity], *last = &sim->generation[parity ^ 1];
    int64_t left = sim->until - step;
    uint32_t steps = left < (int64_t)sim->network.epoch_steps ? (uint32_t)left : sim->network.epoch_steps;
    const struct mill_generation mine = {.first = step, .steps = steps, .spikes = now->spikes, .count = now->count, .sample = now->sample};
    epoch++;
    if (w == 0) {
      now->first = step;
      now->steps = steps;
    }
    for (int own = 1; own >= 0; own--) {
      for (uint32_t i = 0; i < sim->slice_count; i++) {
        if ((sim->slice_worker[i] == w) != own || !claim(sim, i, epoch))
          continue;
        if (last->steps)
          deliver(sim, worker, i, last);
        simulate_slice(sim, worker, i, &mine);
      }
    }
    mill_team_barrier(sim->team, w);
    if (w == 0)
      mill_record_epoch(sim, now);
    step += steps;
    parity ^= 1;
  }
}

void mill_engine_run(struct mill_simulation *sim, int64_t until)
{
  int64_t epochs;
  if (until <= sim->step)
    return;
  sim->until = until;
  epochs = (until - sim->step + sim->network.epoch_steps - 1) / sim->network.epoch_steps;
  mill_team_run(sim->team, work, sim);
  sim->parity ^= (uint32_t)(epochs & 1);
  sim->epoch += (uint64_t)epochs;
  sim->step = until;
}
