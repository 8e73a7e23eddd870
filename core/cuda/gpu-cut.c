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
    uint64_t one =
        n ? mill_rows_device_bytes(sim->population[p->source].size, n, &gpu->cut[i],
                                   mill_weight_is_number(w) || mill_plastic_is(&sim->file->projection[i]) ? 0 : 16, w->delay_bits)
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
            mill_memory_text(need, bytes), (unsigned long long)synapses, sim->network.neurons, mill_memory_text(has, available),
            kept);
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

static int check_width(const struct mill_simulation *sim, uint32_t target, uint32_t width, struct mill_error *error)
{
  char why[512];
  if (width >= 1 && width <= MILL_NO_NARROW_TARGET)
    return 0;
  mill_text_format(why, sizeof why, "it wants slices of %u neurons of `%s`; expected 1 to %u", width,
                   sim->file->population[target].name, MILL_NO_NARROW_TARGET);
  return mill_gpu_refuse(sim, why, error);
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
  for (uint32_t p = 0; rc == 0 && device->narrow && p < populations; p++)
    rc = size[p] ? check_width(sim, p, width[p], error) : 0;
  free(size);
  free(receives);
  return rc;
}

static struct mill_cut cut_into(uint32_t narrow, uint32_t width, uint32_t size)
{
  return (struct mill_cut){narrow, width, size ? (size - 1) / width + 1 : 0};
}

int mill_gpu_cut_apart(const struct mill_simulation *sim, uint32_t projection)
{
  const struct mill_plugin *plugin = sim->file->delivery.plugin;
  const struct mill_delivery_device *device = mill_gpu_delivery(plugin);
  return device->narrow && plugin->abi_minor >= 6 && device->plastic_width && mill_plastic_is(&sim->file->projection[projection]);
}

static int cut_projections(const struct mill_simulation *sim, const struct mill_delivery_device *device,
                           const uint32_t *of_population, struct mill_error *error)
{
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    const uint32_t target = sim->projection[i].target, size = sim->population[target].size;
    uint32_t width = of_population[target];
    if (size && mill_gpu_cut_apart(sim, i)) {
      width = device->plastic_width(sim->file->delivery.values, size);
      if (check_width(sim, target, width, error) < 0)
        return -1;
    }
    sim->gpu->cut[i] = cut_into(device->narrow, width, size);
  }
  return 0;
}

/* The slices of the populations, one after the other. */
static int put_slices(struct mill_simulation *sim, const uint32_t *width, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct mill_device_slice *slice;
  uint32_t n = 0;
  int rc;
  for (uint32_t p = 0; p < sim->network.population_count; p++)
    n += cut_into(1, width[p], sim->population[p].size).slices;
  slice = calloc(n + 1u, sizeof *slice);
  if (!slice)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  n = 0;
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    const uint32_t size = sim->population[p].size, slices = cut_into(1, width[p], size).slices;
    for (uint32_t s = 0; s < slices; s++, n++) {
      const uint32_t first = s * width[p], left = size - first;
      slice[n] = (struct mill_device_slice){p, first, left < width[p] ? left : width[p], s};
      gpu->shape.width = slice[n].count > gpu->shape.width ? slice[n].count : gpu->shape.width;
    }
  }
  gpu->net.slices = gpu->shape.slices = n;
  rc = mill_cuda_put(gpu->cuda, "slices", slice, n * sizeof *slice, &gpu->net.slice, error);
  free(slice);
  return rc;
}

int mill_gpu_cut(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_delivery_device *device = mill_gpu_delivery(sim->file->delivery.plugin);
  const uint32_t projections = sim->network.projection_count;
  uint32_t *width = calloc(sim->network.population_count + 1u, sizeof *width);
  int rc;
  gpu->cut = calloc(projections + 1u, sizeof *gpu->cut);
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
  if (rc == 0)
    rc = cut_projections(sim, device, width, error) < 0 || check_room(sim, error) < 0 || put_slices(sim, width, error) < 0 ? -1 : 0;
  free(width);
  return rc;
}
