/* A simulation on a GPU is put together: the program with its kernels, the buffers of batches, the graphs. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "text.h"

#define LANDING (UINT64_C(1) << 15) /* spikes */

/* ---- The program ---------------------------------------------------------------------------------------------------------- */

static int check_layout(const struct mill_simulation *sim, const struct mill_composition *c, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  mill_cu_address address;
  size_t bytes, n = 0;
  uint32_t got[8 + 10 * MILL_PROGRAM_MAX], want[8 + 10 * MILL_PROGRAM_MAX];
  const uint32_t head[] = {sizeof(struct mill_device_network),    sizeof(struct mill_device_population),
                           sizeof(struct mill_device_projection), sizeof(struct mill_device_batch),
                           sizeof(struct mill_device_plastic),
                           sim->file->precision ? 8 : 4,          gpu->shape.cell_bytes};
  memcpy(want, head, sizeof head);
  n = sizeof head / sizeof *head;
  for (uint32_t i = 0; i < c->model_count; i++) {
    const struct mill_neuron_ops *ops = c->model[i]->ops;
    want[n++] = ops->code[sim->file->precision].param_size;
    want[n++] = ops->state_count;
    want[n++] = ops->receptor_count;
  }
  for (uint32_t i = 0; i < c->stimulus_count; i++)
    want[n++] = c->stimulus_bytes[i];
  for (uint32_t i = 0; i < c->rule_count; i++) {
    const struct mill_synapse_ops *ops = c->rule[i]->ops;
    const struct mill_synapse_code *code = &ops->code[sim->file->precision];
    want[n++] = code->param_size;
    want[n++] = code->pre_size;
    want[n++] = code->post_size;
    want[n++] = (uint32_t)mill_gpu_last_bytes(code);
    want[n++] = ops->syn_count;
    want[n++] = ops->decay_count;
  }
  if (mill_cuda_check(gpu->cuda, gpu->cuda->call.module_global(&address, &bytes, gpu->module, "mill_program_layout"),
                      "looking up the program's layout", error) < 0)
    return -1;
  if (bytes < n * sizeof *got || bytes > sizeof got || mill_cuda_download(gpu->cuda, got, address, bytes, error) < 0)
    return mill_fail(error, MILL_RESOURCES, "the program for the GPU does not describe itself as expected (%zu bytes)", bytes);
  for (size_t i = 0; i < n; i++) {
    if (got[i] != want[i])
      return mill_fail(error, MILL_RESOURCES,
                       "the program for the GPU lays out its data otherwise than the host: entry %zu is %u, not %u", i, got[i],
                       want[i]);
  }
  return 0;
}

static int find_kernel(struct mill_simulation *sim, struct mill_gpu_kernel *kernel, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_cuda_driver *call = &gpu->cuda->call;
  char doing[128];
  if (!kernel->launch.kernel) {
    uint64_t units = 0;
    for (uint32_t i = 0; i < sim->network.population_count; i++)
      units += (sim->population[i].size + MILL_UNIT - UINT64_C(1)) / MILL_UNIT;
    kernel->launch = (struct mill_launch){"mill_update", (uint32_t)units, MILL_UNIT, 0, 0};
  }
  mill_text_format(doing, sizeof doing, "looking up kernel %s of delivery `%s`", kernel->launch.kernel,
                   sim->file->delivery.plugin->name);
  if (mill_cuda_check(gpu->cuda, call->module_function(&kernel->function, gpu->module, kernel->launch.kernel), doing, error) < 0)
    return -1;
  if (kernel->launch.shared_bytes && /* what is allowed unasked is less by what the kernel declares itself */
      mill_cuda_check(gpu->cuda,
                      call->function_set(kernel->function, MILL_CU_FUNCTION_DYNAMIC_SHARED, (int)kernel->launch.shared_bytes),
                      "asking for shared memory", error) < 0)
    return -1;
  return 0;
}

static int load_program(struct mill_simulation *sim, struct mill_composition *composition,
                        const struct mill_delivery_device *device, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct mill_launch launch[MILL_LAUNCHES];
  struct mill_program_image image = {0};
  char why[512] = "";
  int rc = mill_compose(NULL, composition, gpu->cuda->properties.major, gpu->cuda->properties.minor, &image, error);
  if (rc == 0)
    rc = mill_cuda_check(gpu->cuda, gpu->cuda->call.module_load(&gpu->module, image.bytes), "loading the program", error);
  free(image.bytes);
  if (rc < 0 || check_layout(sim, composition, error) < 0)
    return -1;
  gpu->kernels = device->epoch(sim->file->delivery.values, &gpu->shape, launch, why, sizeof why);
  if (!gpu->kernels)
    return mill_gpu_refuse(sim, why, error);
  for (uint32_t k = 0; k < gpu->kernels; k++) {
    gpu->kernel[k].launch = launch[k];
    if (find_kernel(sim, &gpu->kernel[k], error) < 0)
      return -1;
  }
  device->settle(sim->file->delivery.values, &gpu->shape, &gpu->settle.launch);
  gpu->scatter.launch.kernel = "mill_scatter";
  gpu->recall.launch = (struct mill_launch){"mill_recall", (sim->network.neurons + 127) / 128, 128, 0, 0};
  if (composition->rule_count && find_kernel(sim, &gpu->recall, error) < 0)
    return -1;
  return find_kernel(sim, &gpu->settle, error) < 0 || find_kernel(sim, &gpu->scatter, error) < 0 ? -1 : 0;
}

/* ---- Batches -------------------------------------------------------------------------------------------------------------- */

static int pin(struct mill_gpu *gpu, void **memory, uint64_t bytes, struct mill_error *error)
{
  return mill_cuda_check(gpu->cuda, gpu->cuda->call.host_allocate(memory, bytes + 8, 0), "allocating pinned memory of the host",
                         error);
}

static int build_batches(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_cuda_driver *call = &gpu->cuda->call;
  struct mill_device_network *net = &gpu->net;
  const uint64_t row = (uint64_t)MILL_DEVICE_EPOCHS * net->epoch_steps * (sim->file->precision ? 8 : 4);
  gpu->epochs = MILL_DEVICE_EPOCHS;
  while (gpu->epochs > 1 &&
         2 * gpu->epochs * (uint64_t)net->neurons * sizeof(struct mill_device_spike) > gpu->cuda->properties.memory / 16)
    gpu->epochs /= 2;
  net->capacity = gpu->epochs * (uint64_t)net->neurons;
  if (mill_cuda_check(gpu->cuda, call->stream_create(&gpu->stream, MILL_CU_STREAM_NON_BLOCKING), "creating a stream", error) < 0 ||
      mill_cuda_check(gpu->cuda, call->stream_create(&gpu->copies, MILL_CU_STREAM_NON_BLOCKING), "creating a stream", error) < 0 ||
      mill_cuda_allocate(gpu->cuda, "batches", 2 * sizeof(struct mill_device_batch), &net->batch, error) < 0 ||
      mill_cuda_allocate(gpu->cuda, "currents", 2 * net->current_rows * row, &net->current, error) < 0 ||
      mill_cuda_allocate(gpu->cuda, "starts of spike lists", 2 * MILL_DEVICE_EPOCHS * sizeof(uint64_t), &net->base, error) < 0 ||
      mill_cuda_allocate(gpu->cuda, "spike lists", 2 * net->capacity * sizeof(struct mill_device_spike), &net->spike, error) < 0 ||
      /* more of a list than was written is copied to the host, unread */
      mill_cuda_fill(gpu->cuda, net->spike, 0, 2 * net->capacity * sizeof(struct mill_device_spike), error) < 0)
    return -1;
  for (int h = 0; h < 2; h++) {
    struct mill_gpu_half *half = &gpu->half[h];
    void *batch = NULL, *result = NULL;
    if (pin(gpu, &batch, sizeof *half->batch + net->current_rows * row, error) < 0)
      return -1;
    half->batch = batch;
    if (pin(gpu, &result, sizeof *half->result, error) < 0)
      return -1;
    half->result = result;
    if (mill_gpu_landing(gpu, (uint32_t)h, LANDING, error) < 0)
      return -1;
    if (mill_cuda_check(gpu->cuda, call->event_create(&half->done, MILL_CU_EVENT_DISABLE_TIMING), "creating an event", error) < 0 ||
        mill_cuda_check(gpu->cuda, call->event_create(&half->ready, MILL_CU_EVENT_DISABLE_TIMING), "creating an event", error) < 0)
      return -1;
  }
  return 0;
}

int mill_gpu_build(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_delivery_device *device = mill_gpu_delivery(sim->file->delivery.plugin);
  const uint32_t populations = sim->network.population_count;
  struct mill_composition *composition = calloc(1, sizeof *composition);
  int rc = -1;
  gpu->population = calloc(populations + 1u, sizeof *gpu->population);
  gpu->column = calloc(populations + 1u, sizeof *gpu->column);
  gpu->ring = calloc(populations + 1u, sizeof *gpu->ring);
  gpu->current_of = calloc(populations + 1u, sizeof *gpu->current_of);
  if (!composition || !gpu->population || !gpu->column || !gpu->ring || !gpu->current_of) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto done;
  }
  composition->precision = sim->file->precision;
  composition->cell_bits = (uint32_t)sim->file->accumulate;
  composition->delivery = sim->file->delivery.plugin;
  composition->plasticity = sim->file->plasticity.plugin;
  gpu->net.neurons = sim->network.neurons;
  gpu->net.populations = populations;
  gpu->net.projections = sim->network.projection_count;
  gpu->live_until = sim->step == sim->file->t0 ? sim->step : sim->step + sim->network.delay_max;
  if (mill_gpu_put_network(sim, composition, error) < 0)
    goto done;
  gpu->always_live |= gpu->host_events != 0 || gpu->over;
  rc = load_program(sim, composition, device, error) < 0 || build_batches(sim, error) < 0 || mill_gpu_results_build(sim, error) < 0
           ? -1
           : 0;
done:
  free(composition);
  return rc;
}

/* ---- The graphs ----------------------------------------------------------------------------------------------------------- */

static int record_graph(struct mill_gpu *gpu, uint32_t h, struct mill_error *error)
{
  const struct mill_cuda_driver *call = &gpu->cuda->call;
  mill_cu_graph graph = NULL;
  int rc = mill_cuda_check(gpu->cuda, call->capture_begin(gpu->stream, MILL_CU_CAPTURE_THREAD_LOCAL), "recording a graph", error);
  if (rc < 0)
    return -1;
  for (uint32_t e = 0; e < gpu->epochs && rc == 0; e++)
    rc = mill_gpu_launch(gpu, h * MILL_DEVICE_EPOCHS + e, gpu->net.epoch_steps, error);
  if (mill_cuda_check(gpu->cuda, call->capture_end(gpu->stream, &graph), "recording a graph", rc < 0 ? NULL : error) < 0)
    rc = -1;
  if (rc == 0)
    rc = mill_cuda_check(gpu->cuda, call->graph_instantiate(&gpu->half[h].graph, graph, 0), "building a graph", error);
  if (graph)
    call->graph_destroy(graph);
  return rc;
}

int mill_gpu_ready(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct mill_device_network *net = &gpu->net;
  const uint64_t samples = sim->recorder.plan.count, steps = (uint64_t)gpu->epochs * net->epoch_steps,
                 every = samples ? (uint64_t)sim->file->record.every : steps, rows = steps / every + (steps % every != 0),
                 bytes = rows * samples * sizeof(double);
  net->samples = (uint32_t)samples;
  net->sample_rows = (uint32_t)rows;
  net->sample_every = samples ? sim->file->record.every : 0;
  if (mill_gpu_put_recorded(sim, error) < 0 || mill_cuda_allocate(gpu->cuda, "samples", 2 * bytes, &net->sample, error) < 0)
    return -1;
  if (gpu->over && mill_gpu_recall(sim, error) < 0)
    return -1;
  for (uint32_t h = 0; h < 2; h++) {
    void *sample = NULL;
    if (pin(gpu, &sample, bytes, error) < 0)
      return -1;
    gpu->half[h].sample = sample;
    if (gpu->host_events == 0 && record_graph(gpu, h, error) < 0)
      return -1;
  }
  return 0;
}

void mill_gpu_free(struct mill_simulation *sim)
{
  struct mill_gpu *gpu = sim->gpu;
  if (!gpu)
    return;
  if (gpu->cuda) {
    const struct mill_cuda_driver *call = &gpu->cuda->call;
    (void)mill_cuda_attach(gpu->cuda, NULL);
    if (gpu->stream)
      call->stream_synchronize(gpu->stream);
    if (gpu->copies)
      call->stream_synchronize(gpu->copies);
    for (int h = 0; h < 2; h++) {
      struct mill_gpu_half *half = &gpu->half[h];
      void *const pinned[] = {half->batch, half->result, half->spike, half->sample};
      for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        if (pinned[i])
          call->host_release(pinned[i]);
      }
      if (half->graph)
        call->graph_exec_destroy(half->graph);
      if (half->done)
        call->event_destroy(half->done);
      if (half->ready)
        call->event_destroy(half->ready);
    }
    if (gpu->stream)
      call->stream_destroy(gpu->stream);
    if (gpu->copies)
      call->stream_destroy(gpu->copies);
    if (gpu->module)
      call->module_unload(gpu->module);
    mill_maker_close(&gpu->maker);
    mill_spike_log_free(gpu->log);
    mill_cuda_close(gpu->cuda);
  }
  for (uint32_t i = 0; gpu->length && i < sim->network.projection_count; i++)
    mill_release(gpu->length[i]);
  free(gpu->length);
  free(gpu->edge);
  free(gpu->real);
  for (uint32_t i = 0; i < sim->network.population_count; i++) {
    if (gpu->column)
      free(gpu->column[i]);
    if (gpu->ring)
      free(gpu->ring[i]);
  }
  mill_gpu_plastic_free(sim);
  free(gpu->cut);
  free(gpu->made);
  free(gpu->groups);
  free(gpu->population);
  free(gpu->column);
  free(gpu->ring);
  free(gpu->current_of);
  mill_release(gpu->out_degree);
  mill_gpu_results_free(sim);
  free(gpu);
  sim->gpu = NULL;
}
