/* Spikes that come back from the device: the epochs of a batch are put in order side by side, and recorded one after the other by the calling
   thread as they become ready, while the next batch runs. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "memory.h"

#define ALONE 8192 /* spikes of a batch that one thread has put in order before others are awake */
#define LOOKS 1000 /* for an epoch that another thread puts in order, before the processor is offered to others */

int mill_gpu_results_build(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  gpu->scratch = calloc(sim->workers, sizeof *gpu->scratch);
  gpu->epoch = calloc(MILL_DEVICE_EPOCHS, sizeof *gpu->epoch);
  if (!gpu->scratch || !gpu->epoch)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t w = 0; w < sim->workers; w++) {
    if (mill_order_scratch_build(&sim->network, &gpu->scratch[w], error) < 0)
      return -1;
  }
  return 0;
}

void mill_gpu_results_free(struct mill_simulation *sim)
{
  struct mill_gpu *gpu = sim->gpu;
  for (uint32_t w = 0; gpu->scratch && w < sim->workers; w++)
    mill_order_scratch_free(&gpu->scratch[w]);
  for (uint32_t e = 0; gpu->epoch && e < MILL_DEVICE_EPOCHS; e++)
    mill_order_free(&gpu->epoch[e].ordered);
  free(gpu->scratch);
  free(gpu->epoch);
}

/* ---- Memory where spikes land --------------------------------------------------------------------------------------------- */

int mill_gpu_landing(struct mill_gpu *gpu, uint32_t h, uint64_t spikes, struct mill_error *error)
{
  struct mill_gpu_half *half = &gpu->half[h];
  void *memory = NULL;
  if (spikes > gpu->net.capacity)
    spikes = gpu->net.capacity;
  if (half->spike &&
      mill_cuda_check(gpu->cuda, gpu->cuda->call.host_release(half->spike), "releasing pinned memory of the host", error) < 0)
    return -1;
  half->spike = NULL;
  half->landing = 0;
  if (mill_cuda_check(gpu->cuda, gpu->cuda->call.host_allocate(&memory, spikes * sizeof *half->spike + 8, 0),
                      "allocating pinned memory of the host", error) < 0)
    return -1;
  half->spike = memory;
  half->landing = spikes;
  return 0;
}

/* All spikes of a batch that has more than there is room for: room for it and half as much again, so that the batches to come fit. */
static int land(struct mill_gpu *gpu, uint32_t h, uint64_t total, struct mill_error *error)
{
  struct mill_gpu_half *half = &gpu->half[h];
  if (total > gpu->net.capacity)
    return mill_fail(error, MILL_RESOURCES, "the GPU reports %llu spikes in a batch that has room for %llu",
                     (unsigned long long)total, (unsigned long long)gpu->net.capacity);
  return mill_gpu_landing(gpu, h, total + total / 2, error) < 0
             ? -1
             : mill_cuda_download(gpu->cuda, half->spike, gpu->net.spike + h * gpu->net.capacity * sizeof *half->spike,
                                  total * sizeof *half->spike, error);
}

/* ---- A batch -------------------------------------------------------------------------------------------------------------- */

struct batch {
  struct mill_simulation *sim;
  const struct mill_gpu_half *half;
  uint32_t epochs, recorded;
  uint64_t samples; /* taken from the half's */
  uint32_t next;    /* atomic: epochs that somebody has begun with */
};

/* Whether the user asked for a population's history, and the device has none. */
static int keeps_history(const struct mill_population_run *run)
{
  return run->history && !run->plastic_in_count;
}

static void keep_histories(struct mill_simulation *sim, const struct mill_ordered *epoch)
{
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    const struct mill_population_run *run = &sim->run[p];
    if (keeps_history(run))
      mill_history_mark(run->history, run->history_words, sim->population[p].first, sim->population[p].size, epoch->event,
                        epoch->spikes, epoch->first, epoch->steps);
  }
}

static int want_events(const struct mill_simulation *sim)
{
  int wanted = sim->recorder.writer || sim->recorder.sink;
  for (uint32_t p = 0; p < sim->network.population_count; p++)
    wanted |= keeps_history(&sim->run[p]);
  return wanted;
}

/* The samples of an epoch's recorded steps, each to its step. */
static void take_samples(struct batch *batch, const struct mill_generation *g)
{
  const struct mill_device_network *net = &batch->sim->gpu->net;
  for (uint32_t s = 0; s < g->steps && net->samples; s++) {
    if ((g->first + s + 1) % net->sample_every != 0)
      continue;
    memcpy(g->sample + (uint64_t)s * net->samples, batch->half->sample + batch->samples, net->samples * sizeof(double));
    batch->samples += net->samples;
  }
}

/* Records the next epoch, which is in order. */
static void record(struct batch *batch)
{
  struct mill_simulation *sim = batch->sim;
  struct mill_gpu *gpu = sim->gpu;
  struct mill_generation *g = &sim->generation[0];
  const struct mill_gpu_epoch *epoch = &gpu->epoch[batch->recorded];
  if (epoch->phase == MILL_GPU_FAILED && !sim->recorder.failed) {
    sim->recorder.error = epoch->error;
    sim->recorder.failed = 1;
  }
  if (!sim->recorder.failed) {
    g->first = epoch->ordered.first;
    g->steps = epoch->ordered.steps;
    take_samples(batch, g);
    keep_histories(sim, &epoch->ordered);
    mill_record_ordered(sim, g, &epoch->ordered);
    gpu->synaptic_events += gpu->due_events; /* a spike's events take place in the next epoch */
    gpu->due_events = epoch->ordered.synaptic_events;
    sim->step += g->steps;
  }
  batch->recorded++;
}

static void put_in_order(const struct batch *batch, uint32_t e, uint32_t worker)
{
  const struct mill_simulation *sim = batch->sim;
  struct mill_gpu_epoch *epoch = &sim->gpu->epoch[e];
  const int rc = mill_order(&sim->network, sim->gpu->out_degree, &sim->gpu->scratch[worker], &epoch->ordered, &epoch->error);
  __atomic_store_n(&epoch->phase, rc < 0 ? MILL_GPU_FAILED : MILL_GPU_ORDERED, __ATOMIC_RELEASE);
}

/* Worker 0 records whatever is in order, and puts in order when nothing is; the others do that alone. */
static void work(void *self, uint32_t worker)
{
  struct batch *batch = self;
  uint32_t looks = 0;
  while (worker || batch->recorded < batch->epochs) {
    if (worker == 0 && __atomic_load_n(&batch->sim->gpu->epoch[batch->recorded].phase, __ATOMIC_ACQUIRE) != MILL_GPU_LANDED) {
      record(batch);
      looks = 0;
      continue;
    }
    if (__atomic_load_n(&batch->next, __ATOMIC_RELAXED) < batch->epochs) {
      const uint32_t e = __atomic_fetch_add(&batch->next, 1, __ATOMIC_RELAXED);
      if (e < batch->epochs)
        put_in_order(batch, e, worker);
      continue;
    }
    if (worker)
      return;
    if (++looks < LOOKS)
      mill_team_rest();
    else
      sched_yield();
  }
}

struct mill_spike_log *mill_gpu_keep_spikes(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  gpu->log = mill_spike_log_create(gpu->cuda, gpu->stream, sim->network.neurons);
  if (!gpu->log)
    mill_fail(error, MILL_RESOURCES, "out of memory");
  return gpu->log;
}

/* The lists stay there until the stream comes to the half's next batch, which is behind this copy. */
static void log_batch(struct mill_simulation *sim, uint32_t h, uint32_t epochs)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_gpu_half *half = &gpu->half[h];
  mill_spike_log_add(gpu->log, gpu->net.spike + h * gpu->net.capacity * sizeof *half->spike, half->result->count, epochs, sim->step,
                     gpu->net.epoch_steps);
}

int mill_gpu_take(struct mill_simulation *sim, uint32_t h, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct mill_gpu_half *half = &gpu->half[h];
  struct batch batch = {.sim = sim, .half = half, .epochs = half->epochs};
  const int with_events = want_events(sim);
  const struct mill_device_spike *spike;
  uint64_t total = 0;
  half->epochs = 0;
  if (mill_cuda_check(gpu->cuda, gpu->cuda->call.event_synchronize(half->ready), "simulating on the GPU", error) < 0)
    return -1;
  for (uint32_t e = 0; e < batch.epochs; e++)
    total += half->result->count[e];
  if (gpu->log)
    log_batch(sim, h, batch.epochs);
  if (total > half->landing && land(gpu, h, total, error) < 0)
    return -1;
  spike = half->spike;
  for (uint32_t e = 0; e < batch.epochs; e++) {
    struct mill_ordered *ordered = &gpu->epoch[e].ordered;
    ordered->spike = spike;
    ordered->count = half->result->count[e];
    ordered->first = sim->step + (int64_t)e * gpu->net.epoch_steps;
    ordered->steps = e + 1 < batch.epochs ? gpu->net.epoch_steps : half->last_steps;
    ordered->with_events = with_events;
    gpu->epoch[e].phase = MILL_GPU_LANDED;
    spike += ordered->count;
  }
  if (total < ALONE || sim->workers == 1)
    work(&batch, 0);
  else
    mill_team_run(sim->team, work, &batch);
  for (uint32_t w = 0; w < sim->workers; w++)
    mill_record_counts(sim, gpu->scratch[w].population_spikes);
  sim->generation[0].steps = 0;
  return 0;
}
