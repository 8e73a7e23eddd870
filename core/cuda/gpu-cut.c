/* Whether a network can run on a GPU, and how its populations are cut there. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/rows.h"
#include "memory.h"
#include "text.h"

/* ---- Whether it can be --------------------------------------------------------------------------------------------------- */

const struct mill_delivery_device *mill_gpu_delivery(const struct mill_plugin *plugin)
{
  const struct mill_delivery_ops *ops = plugin->ops;
  return plugin->ops_size > offsetof(struct mill_delivery_ops, device) && plugin->source ? ops->device : NULL;
}

int mill_gpu_has_events(const struct mill_plugin *plugin)
{
  const struct mill_stimulus_ops *ops = plugin->ops;
  return plugin->ops_size > offsetof(struct mill_stimulus_ops, device) && plugin->source && ops->events && ops->device;
}

int mill_gpu_serves(const struct mill_netfile *file, char *why, size_t size)
{
  int plastic = 0;
  for (uint32_t i = 0; i < file->population_count; i++) {
    const struct mill_plugin *model = file->population[i].model.plugin;
    if (!model->source || !(model->flags & MILL_CUDA)) {
      mill_text_format(why, size, "model `%s` has no text for a GPU", model->name);
      return 0;
    }
  }
  for (uint32_t i = 0; i < file->projection_count; i++) {
    const struct mill_plugin *rule = file->projection[i].synapse.plugin;
    plastic |= mill_plastic_is(&file->projection[i]);
    if (mill_plastic_is(&file->projection[i]) && (!rule->source || !(rule->flags & MILL_CUDA))) {
      mill_text_format(why, size, "synapse rule `%s` of projection `%s` has no text for a GPU", rule->name,
                       file->projection[i].name);
      return 0;
    }
  }
  if (plastic && file->plasticity.plugin && !(file->plasticity.plugin->source && file->plasticity.plugin->flags & MILL_CUDA)) {
    mill_text_format(why, size, "plasticity `%s` has no text for a GPU", file->plasticity.plugin->name);
    return 0;
  }
  if (file->delivery.plugin && !mill_gpu_delivery(file->delivery.plugin)) {
    mill_text_format(why, size, "delivery `%s` has no text for a GPU", file->delivery.plugin->name);
    return 0;
  }
  return 1;
}

int mill_gpu_present(char *why, size_t size)
{
  struct mill_compiler *compiler = NULL;
  struct mill_error error = {0};
  int present;
  *why = 0;
  if (!mill_cuda_present())
    return 0;
  present = mill_compiler_open(&compiler, &error) == 0;
  if (!present)
    mill_text_format(why, size, "%s", error.text);
  mill_compiler_close(compiler);
  return present;
}

int mill_gpu_open(struct mill_simulation *sim, struct mill_error *error)
{
  sim->gpu = calloc(1, sizeof *sim->gpu);
  if (!sim->gpu)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  sim->gpu->last = MILL_NO_TARGET;
  if (mill_cuda_open(&sim->gpu->cuda, error) < 0)
    return -1;
  sim->gpu->maker.cuda = sim->gpu->cuda;
  return 0;
}

/* ---- Slices -------------------------------------------------------------------------------------------------------------- */

static void describe(const struct mill_simulation *sim, struct mill_device_shape *shape)
{
  const struct mill_cuda_properties *p = &sim->gpu->cuda->properties;
  *shape = (struct mill_device_shape){.multiprocessors = p->multiprocessors,
                                      .shared_block = p->shared_block,
                                      .epoch_steps = sim->network.epoch_steps,
                                      .cell_bytes = (uint32_t)sim->file->accumulate / 8};
  for (uint32_t i = 0; i < sim->network.projection_count; i++)
    shape->plastic |= mill_plastic_is(&sim->file->projection[i]);
  for (uint32_t i = 0; i < sim->network.population_count; i++) {
    if (sim->population[i].receptor_count > shape->receptors)
      shape->receptors = sim->population[i].receptor_count;
  }
}

/* Refuses what cannot fit before anything large is allocated. */
static int check_room(const struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_gpu *gpu = sim->gpu;
  const char *kept;
  const uint64_t available = mill_cuda_free_and_kept(gpu->cuda, &kept);
  const struct mill_place *place = NULL;
  uint64_t bytes = 0, synapses = 0, most = 0, lists;
  char need[32], has[32];
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    const struct mill_projection *p = &sim->projection[i];
    const struct mill_weighing *w = &sim->weighing[i];
    const uint64_t n = sim->rows[i].synapses;
    uint64_t one = n ? mill_rows_device_bytes(sim->population[p->source].size, n, &gpu->cut[p->target],
                                              mill_weight_is_number(w) || mill_plastic_is(&sim->file->projection[i]) ? 0 : 16,
                                              w->delay_bits)
                     : 0;
    synapses += n;
    one += n ? mill_gpu_plastic_bytes(sim, i) : 0;
    bytes += one;
    if (one > most) {
      most = one;
      place = &sim->file->projection[i].place;
    }
  }
  for (uint32_t i = 0; i < sim->network.population_count; i++) {
    const uint64_t size = sim->population[i].size, receptors = sim->population[i].receptor_count;
    bytes += size * (sim->run[i].ops->state_count * UINT64_C(8) + receptors * gpu->shape.cell_bytes * sim->network.delay_max);
  }
  lists = 2 * (uint64_t)MILL_DEVICE_EPOCHS * sim->network.neurons * sizeof(struct mill_device_spike);
  bytes += lists < gpu->cuda->properties.memory / 16 ? lists : gpu->cuda->properties.memory / 16;
  if (bytes <= available)
    return 0;
  mill_fail(error, MILL_RESOURCES, "the network needs %s on the GPU for %llu synapses and %u neurons, %s are free there%s",
            mill_memory_text(need, bytes), (unsigned long long)synapses, sim->network.neurons, mill_memory_text(has, available), kept);
  if (place) {
    mill_place_fail(error, place, NULL, "%s; %s of it for synapses of this section", error->text, mill_memory_text(need, most));
    error->status = MILL_RESOURCES;
  }
  return -1;
}

int mill_gpu_refuse(const struct mill_simulation *sim, const char *why, struct mill_error *error)
{
  const struct mill_place place = {sim->file->ini, mill_ini_section_find(sim->file->ini, "strategy")};
  return mill_place_fail(error, &place, "delivery", "`%s` cannot serve this network on this GPU: %s",
                         sim->file->delivery.plugin->name, why);
}

/* Widths of the populations' slices, as the strategy wants them. */
static int choose_widths(const struct mill_simulation *sim, const struct mill_delivery_device *device, uint32_t *width,
                         struct mill_error *error)
{
  const uint32_t populations = sim->network.population_count;
  uint32_t *size = calloc(populations + 1u, sizeof *size);
  unsigned char *receives = calloc(populations + 1u, 1);
  char why[512] = "";
  int rc = size && receives ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t p = 0; rc == 0 && p < populations; p++)
    width[p] = size[p] = sim->population[p].size;
  for (uint32_t i = 0; rc == 0 && i < sim->network.projection_count; i++)
    receives[sim->projection[i].target] |= sim->projection[i].synapses != 0;
  if (rc == 0 && device->narrow &&
      !device->slice_widths(sim->file->delivery.values, &sim->gpu->shape, populations, size, receives, width, why, sizeof why))
    rc = mill_gpu_refuse(sim, why, error);
  free(size);
  free(receives);
  return rc;
}

int mill_gpu_cut(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_delivery_device *device = mill_gpu_delivery(sim->file->delivery.plugin);
  const uint32_t populations = sim->network.population_count, projections = sim->network.projection_count;
  struct mill_device_slice *slice;
  uint32_t *width = calloc(populations + 1u, sizeof *width), n = 0;
  int rc;
  gpu->cut = calloc(populations + 1u, sizeof *gpu->cut);
  gpu->made = calloc(projections + 1u, sizeof *gpu->made);
  gpu->groups = calloc(projections + 1u, sizeof *gpu->groups);
  gpu->real = calloc(projections + 1u, sizeof *gpu->real);
  gpu->edge = calloc(projections + 1u, sizeof *gpu->edge);
  gpu->length = calloc(projections + 1u, sizeof *gpu->length);
  gpu->out_degree = mill_allocate("numbers of targets", sim->network.neurons, sizeof *gpu->out_degree);
  gpu->net.epoch_steps = sim->network.epoch_steps;
  describe(sim, &gpu->shape);
  rc = width && gpu->cut && gpu->made && gpu->groups && gpu->real && gpu->edge && gpu->length && gpu->out_degree
           ? choose_widths(sim, device, width, error)
           : mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t p = 0; rc == 0 && p < populations; p++) {
    const uint32_t size = sim->population[p].size;
    gpu->cut[p] = (struct mill_cut){device->narrow, width[p], size ? (size - 1) / width[p] + 1 : 0};
    n += gpu->cut[p].slices;
  }
  free(width);
  if (rc < 0)
    return -1;
  slice = calloc(n + 1u, sizeof *slice);
  if (!slice)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  n = 0;
  for (uint32_t p = 0; p < populations; p++) {
    for (uint32_t s = 0; s < gpu->cut[p].slices; s++, n++) {
      const uint32_t first = s * gpu->cut[p].width, left = sim->population[p].size - first;
      slice[n] = (struct mill_device_slice){p, first, left < gpu->cut[p].width ? left : gpu->cut[p].width, s};
      gpu->shape.width = slice[n].count > gpu->shape.width ? slice[n].count : gpu->shape.width;
    }
  }
  gpu->net.slices = gpu->shape.slices = n;
  rc = check_room(sim, error);
  if (rc == 0)
    rc = mill_cuda_put(gpu->cuda, "slices", slice, n * sizeof *slice, &gpu->net.slice, error);
  free(slice);
  return rc;
}
