/* Batches of epochs on the device: one runs while the spikes of the one before are put in order and recorded on the host. A whole batch is one
   launch of a graph; what is left of a call, and epochs that the host sends events for, are launched kernel by kernel. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <string.h>

#include "memory.h"

static int start_kernel(struct mill_gpu *gpu, const struct mill_gpu_kernel *kernel, uint32_t slot, uint32_t steps,
                        struct mill_error *error)
{
  uint32_t argument = kernel->launch.argument;
  void *parameters[] = {&gpu->net, &slot, &steps, &argument};
  if (!kernel->launch.blocks)
    return 0;
  return mill_cuda_check(gpu->cuda,
                         gpu->cuda->call.launch(kernel->function, kernel->launch.blocks, 1, 1, kernel->launch.threads, 1, 1,
                                                kernel->launch.shared_bytes, gpu->stream, parameters, NULL),
                         kernel->launch.kernel, error);
}

int mill_gpu_launch(struct mill_gpu *gpu, uint32_t slot, uint32_t steps, struct mill_error *error)
{
  for (uint32_t k = 0; k < gpu->kernels; k++) {
    if (start_kernel(gpu, &gpu->kernel[k], slot, steps, error) < 0)
      return -1;
  }
  return 0;
}

/* ---- What the host evaluates ---------------------------------------------------------------------------------------------- */

/* The row of a population's currents for the steps of a batch. */
static void put_currents(const struct mill_simulation *sim, uint32_t population, int64_t first, uint64_t steps, void *row)
{
  for (uint64_t k = 0; k < steps; k++) {
    double sum;
    mill_engine_current(sim, population, first + (int64_t)k, &sum);
    if (sim->file->precision)
      ((double *)row)[k] = sum;
    else
      ((float *)row)[k] = (float)sum;
  }
}

struct events {
  struct mill_device_event *list;
  uint64_t count, capacity;
};

static int add_event(struct events *events, const struct mill_device_event *event)
{
  if (events->count == events->capacity) {
    const uint64_t capacity = events->capacity ? 2 * events->capacity : 1024;
    struct mill_device_event *bigger = mill_allocate("events", capacity, sizeof *bigger);
    if (!bigger)
      return -1;
    if (events->count)
      memcpy(bigger, events->list, events->count * sizeof *bigger);
    mill_release(events->list);
    events->list = bigger;
    events->capacity = capacity;
  }
  events->list[events->count++] = *event;
  return 0;
}

/* Events of one stimulus in one step. */
static int ask_stimulus(const struct mill_simulation *sim, uint32_t population, const struct mill_stimulus_run *stimulus,
                        int64_t step, struct events *events)
{
  const struct mill_population *p = &sim->population[population];
  uint32_t count[MILL_BATCH];
  for (uint32_t first = 0; first < p->size; first += MILL_BATCH) {
    const struct mill_stimulus_batch batch = {step, first, p->size - first < MILL_BATCH ? p->size - first : MILL_BATCH};
    if (!stimulus->ops->events(stimulus->self, &batch, count))
      continue;
    for (uint32_t i = 0; i < batch.count; i++) {
      const struct mill_device_event event = {count[i] * (uint64_t)stimulus->quanta, population, first + i, stimulus->receptor,
                                              (uint32_t)((uint64_t)step & sim->gpu->ring[population][stimulus->receptor].mask)};
      if (count[i] && add_event(events, &event) < 0)
        return -1;
    }
  }
  return 0;
}

/* The events of an epoch that the host evaluates, into the device's rings. */
static int send_events(struct mill_simulation *sim, int64_t first, uint32_t steps, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct events events = {0};
  uint32_t count;
  int rc = 0;
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    for (uint32_t s = 0; s < sim->run[p].event_count; s++) {
      const struct mill_stimulus_run *stimulus = sim->run[p].event[s];
      const int here = !mill_gpu_has_events(sim->file->stimulus[stimulus - sim->stimulus].stimulus.plugin);
      for (uint32_t k = 0; here && k < steps && rc == 0; k++)
        rc = ask_stimulus(sim, p, stimulus, first + k, &events);
    }
  }
  if (rc < 0)
    mill_fail(error, MILL_RESOURCES, "out of memory for the events of an epoch");
  count = (uint32_t)events.count;
  if (rc == 0 && events.count > gpu->event_capacity) {
    mill_cuda_release(gpu->cuda, gpu->event); /* waits for what uses it */
    gpu->event = 0;
    rc = mill_cuda_allocate(gpu->cuda, "events", events.capacity * sizeof *events.list, &gpu->event, error);
    gpu->event_capacity = rc < 0 ? 0 : events.capacity;
  }
  if (rc == 0 && count) {
    void *parameters[] = {&gpu->net, &gpu->event, &count};
    rc = mill_cuda_check(gpu->cuda, gpu->cuda->call.upload_async(gpu->event, events.list, count * sizeof *events.list, gpu->stream),
                         "sending events", error);
    if (rc == 0)
      rc = mill_cuda_check(
          gpu->cuda,
          gpu->cuda->call.launch(gpu->scatter.function, (count + 255) / 256, 1, 1, 256, 1, 1, 0, gpu->stream, parameters, NULL),
          "mill_scatter", error);
  }
  mill_release(events.list);
  return rc;
}

/* ---- Batches -------------------------------------------------------------------------------------------------------------- */

/* Writes a half's head: where it starts, what is due, what arrives as current; and sends it. */
static int send_head(struct mill_simulation *sim, uint32_t h, int64_t first, uint64_t steps, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct mill_gpu_half *half = &gpu->half[h];
  const uint64_t row = (uint64_t)MILL_DEVICE_EPOCHS * gpu->net.epoch_steps * (sim->file->precision ? 8 : 4),
                 currents = gpu->net.current_rows * row;
  unsigned char *to = (unsigned char *)(half->batch + 1);
  const struct mill_cuda_driver *call = &gpu->cuda->call;
  *half->batch = (struct mill_device_batch){
      .first = first,
      .last = gpu->last,
      .last_steps = gpu->last_steps,
      .ring_live = gpu->always_live || first < gpu->live_until,
      .parity = gpu->parity};
  for (uint32_t r = 0; r < gpu->net.current_rows; r++)
    put_currents(sim, gpu->current_of[r], first, steps, to + r * row);
  if (mill_cuda_check(gpu->cuda,
                      call->upload_async(gpu->net.batch + h * sizeof *half->batch, half->batch, sizeof *half->batch, gpu->stream),
                      "sending a batch", error) < 0)
    return -1;
  return currents ? mill_cuda_check(gpu->cuda, call->upload_async(gpu->net.current + h * currents, to, currents, gpu->stream),
                                    "sending currents", error)
                  : 0;
}

/* Asks for a half's results, to be copied when its epochs are done. */
static int ask_results(struct mill_gpu *gpu, uint32_t h, struct mill_error *error)
{
  struct mill_gpu_half *half = &gpu->half[h];
  const struct mill_cuda_driver *call = &gpu->cuda->call;
  const struct mill_device_network *net = &gpu->net;
  const int64_t first = half->batch->first, every = net->sample_every,
                end = first + (int64_t)((half->epochs - UINT64_C(1)) * net->epoch_steps + half->last_steps);
  const uint64_t row = net->samples * sizeof(double), samples = every ? (uint64_t)(end / every - first / every) * row : 0;
  int code = call->event_record(half->done, gpu->stream);
  if (!code)
    code = call->stream_wait(gpu->copies, half->done, 0);
  if (!code)
    code = call->download_async(half->result, net->batch + h * sizeof *half->result, sizeof *half->result, gpu->copies);
  if (!code)
    code = call->download_async(half->spike, net->spike + h * net->capacity * sizeof *half->spike,
                                half->landing * sizeof *half->spike, gpu->copies);
  if (!code && samples)
    code = call->download_async(half->sample, net->sample + h * net->sample_rows * row, samples, gpu->copies);
  if (!code)
    code = call->event_record(half->ready, gpu->copies);
  return mill_cuda_check(gpu->cuda, code, "asking for spikes", error);
}

/* Starts the next batch: up to `until` at most. */
static int start_batch(struct mill_simulation *sim, int64_t first, int64_t until, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const uint32_t h = gpu->turn, steps = gpu->net.epoch_steps;
  struct mill_gpu_half *half = &gpu->half[h];
  const uint64_t left = (uint64_t)(until - first), all = left / steps + (left % steps != 0);
  const uint32_t epochs = all < gpu->epochs ? (uint32_t)all : gpu->epochs;
  const uint32_t last_steps = epochs * (uint64_t)steps <= left ? steps : (uint32_t)(left - (epochs - UINT64_C(1)) * steps);
  if (send_head(sim, h, first, (epochs - UINT64_C(1)) * steps + last_steps, error) < 0)
    return -1;
  if (half->graph && epochs == gpu->epochs && last_steps == steps) {
    if (mill_cuda_check(gpu->cuda, gpu->cuda->call.graph_launch(half->graph, gpu->stream), "launching a batch", error) < 0)
      return -1;
  } else {
    for (uint32_t e = 0; e < epochs; e++) {
      const uint32_t n = e + 1 < epochs ? steps : last_steps;
      if ((gpu->host_events && send_events(sim, first + (int64_t)e * steps, n, error) < 0) ||
          mill_gpu_launch(gpu, h * MILL_DEVICE_EPOCHS + e, n, error) < 0)
        return -1;
    }
  }
  half->epochs = epochs;
  half->last_steps = last_steps;
  gpu->last = h * MILL_DEVICE_EPOCHS + epochs - 1;
  gpu->last_steps = last_steps;
  if (last_steps < steps) /* what is due after a short epoch waits in the rings */
    gpu->live_until = first + (int64_t)((epochs - UINT64_C(1)) * steps + last_steps) + sim->network.delay_max;
  gpu->turn ^= 1;
  gpu->parity = (gpu->parity + epochs) & 1;
  gpu->stale = gpu->stale_synapses = 1;
  return ask_results(gpu, h, error);
}

void mill_gpu_run(struct mill_simulation *sim, int64_t until)
{
  struct mill_gpu *gpu = sim->gpu;
  struct mill_error *error = &sim->recorder.error;
  int64_t first = sim->step;
  if (mill_cuda_attach(gpu->cuda, error) < 0)
    sim->recorder.failed = 1;
  while (sim->step < until && !sim->recorder.failed) {
    const uint32_t h = gpu->turn;
    int rc = 0;
    if (first < until) {
      rc = start_batch(sim, first, until, error);
      first += rc < 0 ? 0 : (int64_t)(gpu->half[h].epochs - UINT64_C(1)) * gpu->net.epoch_steps + gpu->half[h].last_steps;
    }
    if (rc == 0 && gpu->half[h ^ 1].epochs) /* the batch before, while this one runs */
      rc = mill_gpu_take(sim, h ^ 1, error);
    if (rc == 0 && first >= until && gpu->half[h].epochs)
      rc = mill_gpu_take(sim, h, error);
    if (rc < 0)
      sim->recorder.failed = 1;
  }
  if (!sim->recorder.failed && mill_gpu_check_rules(sim, error) < 0)
    sim->recorder.failed = 1;
}

/* ---- Back to the host ----------------------------------------------------------------------------------------------------- */

/* The spikes of the last epoch into the rings. */
static int settle(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const uint32_t h = gpu->turn;
  if (gpu->last == MILL_NO_TARGET)
    return 0;
  if (send_head(sim, h, sim->step, 0, error) < 0 || start_kernel(gpu, &gpu->settle, h * MILL_DEVICE_EPOCHS, 0, error) < 0 ||
      mill_cuda_check(gpu->cuda, gpu->cuda->call.stream_synchronize(gpu->stream), "delivering spikes on the GPU", error) < 0)
    return -1;
  gpu->last = MILL_NO_TARGET;
  gpu->live_until = sim->step + sim->network.delay_max;
  gpu->synaptic_events += gpu->due_events;
  gpu->due_events = 0;
  return 0;
}

static int fetch_population(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_population *p = &sim->population[index];
  const struct mill_population_run *run = &sim->run[index];
  for (uint32_t s = 0; s < run->ops->state_count; s++) {
    if (mill_cuda_download(gpu->cuda, run->column[s], gpu->column[index][s], p->size * (uint64_t)mill_state_size(run, s), error) <
        0)
      return -1;
  }
  for (uint32_t r = 0; r < p->receptor_count; r++) {
    const struct mill_ring *host = &p->ring[r];
    const struct mill_device_ring *ring = &gpu->ring[index][r];
    const uint64_t bytes = host->stride * host->bits / 8;
    for (uint64_t step = (uint64_t)sim->step; step <= (uint64_t)sim->step + host->mask; step++) {
      if (mill_cuda_download(gpu->cuda, (char *)host->cell + (step & host->mask) * bytes, ring->cell + (step & ring->mask) * bytes,
                             bytes, error) < 0)
        return -1;
    }
  }
  return 0;
}

int mill_gpu_fetch(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  if (!gpu->stale)
    return 0;
  if (mill_cuda_attach(gpu->cuda, error) < 0 || settle(sim, error) < 0)
    return -1;
  for (uint32_t i = 0; i < sim->network.population_count; i++) {
    if (fetch_population(sim, i, error) < 0)
      return -1;
  }
  if (mill_gpu_fetch_plastic(sim, error) < 0)
    return -1;
  gpu->stale = 0;
  return 0;
}
