/* The engine. It advances by epochs of D steps, D at most the shortest delay, so that no spike of an epoch can matter inside it. A worker
   delivers the spikes of the last epoch to its slices and takes their units of neurons through D steps, then helps the others; all meet at
   one barrier. Worker 0 records the epoch while the others go on. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "simulation.h"

#include <string.h>

#include "cuda/gpu.h"

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

#define LEAVE 2          /* units of a slice that its opener keeps: to fetch their state costs others more than to wait */
#define HELP_ROUNDS 1000 /* looks at slices that others deliver to, before the barrier */

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

int mill_engine_current(const struct mill_simulation *sim, uint32_t population, int64_t step, double *sum)
{
  const struct mill_population_run *run = &sim->run[population];
  int any = 0;
  *sum = 0;
  for (uint32_t s = 0; s < run->current_count; s++) {
    double value;
    if (!run->current[s]->ops->current(run->current[s]->self, step, &value))
      continue;
    any = 1;
    *sum = sim->file->precision ? *sum + value : (double)((float)*sum + (float)value);
  }
  return any;
}

/* The row of currents of this step. */
static const void *current_row(const struct batch *b)
{
  double sum;
  if (!mill_engine_current(b->sim, b->population, b->step, &sum))
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

/* Lists the neurons of a unit that fired in the epoch; bits[s] are those of its step s. */
static uint32_t list_spikes(const uint64_t (*bits)[MILL_BATCH / 64], uint32_t steps, const struct mill_unit *unit,
                            struct mill_spike *list)
{
  uint32_t n = 0;
  for (uint32_t w = 0; w < (unit->count + 63) / 64; w++) {
    uint64_t any = 0;
    for (uint32_t s = 0; s < steps; s++)
      any |= bits[s][w];
    while (any) {
      uint32_t bit = (uint32_t)__builtin_ctzll(any), mask = 0;
      any &= any - 1;
      for (uint32_t s = 0; s < steps; s++)
        mask |= (uint32_t)(bits[s][w] >> bit & 1) << s;
      list[n].neuron = unit->first + w * 64 + bit;
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

/* A unit goes through all steps of the epoch at once, so that its state stays in the nearest cache. */
static void simulate(struct mill_simulation *sim, struct mill_worker *worker, struct mill_unit *unit)
{
  const struct mill_generation *now = &sim->generation[sim->parity];
  const struct mill_population_run *run = &sim->run[unit->population];
  uint64_t bits[MILL_EPOCH_MAX][MILL_BATCH / 64];
  void *state[256];
  struct batch b = {sim, worker, unit->population, unit->first, unit->count, 0};
  for (uint32_t s = 0; s < run->ops->state_count; s++)
    state[s] = (char *)run->column[s] + unit->first * mill_state_size(run, s);
  for (uint32_t s = 0; s < now->steps; s++) {
    b.step = now->first + s;
    step_batch(&b, state, bits[s]);
    if (now->sample && (b.step + 1) % sim->file->record.every == 0)
      sample_batch(&b, now, s);
  }
  unit->spikes =
      list_spikes((const uint64_t(*)[MILL_BATCH / 64]) bits, now->steps, unit, now->spikes[unit->population] + unit->first);
  mill_plastic_unit(sim, unit, (const uint64_t(*)[MILL_BATCH / 64]) bits, now->spikes[unit->population] + unit->first,
                    unit->spikes);
}

/* Delivers the last epoch's spikes to a slice, unless somebody else has begun to. */
static void deliver(struct mill_simulation *sim, uint32_t w, uint32_t index)
{
  const struct mill_generation *last = &sim->generation[sim->parity ^ 1];
  const struct mill_epoch epoch = {last->first, last->steps, (const struct mill_spike *const *)last->spikes, last->count,
                                   last->entries};
  struct mill_slice_run *slice = &sim->slice_run[index];
  uint32_t seen = MILL_PHASE_NEW;
  if (!__atomic_compare_exchange_n(&slice->phase, &seen, MILL_PHASE_CLAIMED, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return;
  if (last->steps)
    sim->worker[w].synaptic_events += sim->delivery->deliver(sim->delivery_self, &epoch, index, w);
  slice->opener = w;
  __atomic_store_n(&slice->phase, MILL_PHASE_OPEN, __ATOMIC_RELEASE);
}

/* Simulates units of a slice until none is left but those that its opener keeps; 0 when it has to wait for the slice's delivery. */
static int finish(struct mill_simulation *sim, uint32_t w, uint32_t index)
{
  struct mill_slice_run *slice = &sim->slice_run[index];
  uint32_t leave;
  if (__atomic_load_n(&slice->phase, __ATOMIC_ACQUIRE) != MILL_PHASE_OPEN)
    return 0;
  leave = slice->opener == w ? 0 : LEAVE;
  while (__atomic_load_n(&slice->next, __ATOMIC_RELAXED) + leave < slice->units) {
    uint32_t i = __atomic_fetch_add(&slice->next, 1, __ATOMIC_RELAXED);
    if (i < slice->units)
      simulate(sim, &sim->worker[w], &sim->unit[slice->unit + i]);
  }
  return 1;
}

/* Own slices first, for the sake of the caches; then what slower workers have not begun. Who does what changes no result. */
static void do_share(struct mill_simulation *sim, uint32_t w)
{
  for (uint32_t i = 0; i < sim->slice_count; i++) {
    if (sim->slice_run[i].worker == w)
      deliver(sim, w, i);
  }
  for (uint32_t i = 0; i < sim->slice_count; i++) {
    if (sim->slice_run[i].worker == w)
      finish(sim, w, i);
  }
  for (uint32_t i = 0; i < sim->slice_count; i++)
    deliver(sim, w, i);
  for (uint32_t round = 0, waiting = 1; waiting && round < HELP_ROUNDS; round++) {
    waiting = 0;
    for (uint32_t i = 0; i < sim->slice_count; i++)
      waiting |= !finish(sim, w, i);
    if (waiting)
      mill_team_rest();
  }
}

/* The end of an epoch, when all its units are done: puts the lists of spikes together, and turns to the next epoch. */
static void turn(void *self)
{
  struct mill_simulation *sim = self;
  struct mill_generation *now = &sim->generation[sim->parity];
  int64_t left;
  memset(now->count, 0, sim->network.population_count * sizeof *now->count);
  for (uint32_t u = 0; u < sim->unit_count; u++) {
    const struct mill_unit *unit = &sim->unit[u];
    struct mill_spike *list = now->spikes[unit->population];
    if (unit->spikes)
      memmove(list + now->count[unit->population], list + unit->first, unit->spikes * sizeof *list);
    now->count[unit->population] += unit->spikes;
  }
  mill_plastic_turn(sim);
  for (uint32_t i = 0; i < sim->slice_count; i++) {
    sim->slice_run[i].phase = MILL_PHASE_NEW;
    sim->slice_run[i].next = 0;
  }
  sim->step += now->steps;
  sim->parity ^= 1;
  left = sim->until - sim->step;
  now = &sim->generation[sim->parity];
  now->first = sim->step;
  now->steps = left < (int64_t)sim->network.epoch_steps ? (uint32_t)left : sim->network.epoch_steps;
}

static void work(void *self, uint32_t w)
{
  struct mill_simulation *sim = self;
  while (sim->step < sim->until) {
    const struct mill_generation *now = &sim->generation[sim->parity];
    do_share(sim, w);
    mill_team_barrier(sim->team, turn, sim);
    if (w == 0)
      mill_record_epoch(sim, now);
  }
}

static void settle_share(void *self, uint32_t w)
{
  struct mill_simulation *sim = self;
  for (uint32_t i = 0; i < sim->slice_count; i++) {
    if (sim->slice_run[i].worker == w)
      deliver(sim, w, i);
  }
}

void mill_engine_settle(struct mill_simulation *sim)
{
  if (sim->gpu) {
    if (mill_gpu_fetch(sim, &sim->recorder.error) < 0)
      sim->recorder.failed = 1;
    return;
  }
  mill_team_run(sim->team, settle_share, sim);
  for (uint32_t i = 0; i < sim->slice_count; i++)
    sim->slice_run[i].phase = MILL_PHASE_NEW;
  sim->generation[sim->parity ^ 1].steps = 0;
}

void mill_engine_run(struct mill_simulation *sim, int64_t until)
{
  struct mill_generation *now = &sim->generation[sim->parity];
  if (until <= sim->step)
    return;
  if (sim->gpu) {
    mill_gpu_run(sim, until);
    return;
  }
  sim->until = until;
  now->first = sim->step;
  now->steps = until - sim->step < (int64_t)sim->network.epoch_steps ? (uint32_t)(until - sim->step) : sim->network.epoch_steps;
  mill_team_run(sim->team, work, sim);
}
