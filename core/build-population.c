/* Populations: parameters derived, state columns allocated and given their initial values; slices and the workers' scratch. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include "lines.h"
#include "memory.h"
#include "text.h"

#define UNIT 512u /* neurons of a unit: small enough for an even end of the epoch, large enough for the loops inside */

/* Stores one initial value; NULL, or what is wrong with it. */
static const char *put_value(void *column, const struct mill_neuron_ops *ops, const struct mill_neuron_code *code, uint32_t state,
                             uint32_t i, double value)
{
  switch (ops->state[state].type) {
  case MILL_STATE_INT:
    if (value != floor(value) || fabs(value) > 2147483647.0)
      return "is not a whole number of 32 bits";
    ((int32_t *)column)[i] = (int32_t)value;
    return NULL;
  case MILL_STATE_LONG:
    if (value != floor(value) || fabs(value) > 9007199254740992.0)
      return "is not a whole number below 2^53";
    ((int64_t *)column)[i] = (int64_t)value;
    return NULL;
  case MILL_STATE_DOUBLE:
    ((double *)column)[i] = value;
    return isfinite(value) ? NULL : "is not finite";
  default:
    if (code->real_size == 4) {
      ((float *)column)[i] = (float)value;
      return isfinite(((float *)column)[i]) ? NULL : "is beyond single precision";
    }
    ((double *)column)[i] = value;
    return isfinite(value) ? NULL : "is not finite";
  }
}

/* One number a line; # starts a comment. Calls for exactly `count` of them. */
static int parse_values(struct mill_lines *lines, uint32_t count, double *values, struct mill_error *error)
{
  uint32_t n = 0;
  int more;
  while ((more = mill_lines_next(lines, error)) > 0) {
    lines->text[strcspn(lines->text, "#")] = 0;
    if (n == count)
      return mill_lines_refuse(lines, error, "more values than the population's %u neurons", count);
    if (mill_text_real(lines->text, &values[n++]) < 0)
      return mill_lines_refuse(lines, error, "expected a number, found `%.60s`", lines->text);
  }
  if (more == 0 && n < count)
    return mill_fail(error, MILL_DATA, "%s: holds %u values, the population has %u neurons", lines->path, n, count);
  return more;
}

static int read_values(const char *folder, const char *file, uint32_t count, double *values, struct mill_error *error)
{
  size_t size = strlen(folder) + strlen(file) + 1;
  char *path = malloc(size);
  struct mill_lines *lines = NULL;
  int rc = -1;
  if (!path)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  mill_text_format(path, size, "%s%s", file[0] == '/' ? "" : folder, file);
  if (mill_lines_open(path, &lines, error) == 0)
    rc = parse_values(lines, count, values, error);
  mill_lines_close(lines);
  free(path);
  return rc;
}

static int set_initial(struct mill_simulation *sim, uint32_t index, uint32_t state, struct mill_error *error)
{
  const struct mill_population_setup *setup = &sim->file->population[index];
  struct mill_population_run *run = &sim->run[index];
  const struct mill_dist *dist = &setup->initial[state];
  const char *name = run->ops->state[state].name, *wrong = NULL;
  uint64_t key = mill_key(sim->file->seed, MILL_PURPOSE_STATE, index << 8 | (state & 255));
  double *values = NULL, value = 0;
  struct mill_error inner = {0};
  char found[32];
  if (dist->kind == MILL_DIST_FILE) {
    values = mill_allocate_or_fail("initial values", setup->size + UINT64_C(1), sizeof *values, error);
    if (!values)
      return -1;
    if (read_values(sim->file->folder, dist->file, setup->size, values, &inner) < 0) {
      mill_release(values);
      mill_place_fail(error, &setup->place, name, "%s", inner.text);
      error->status = inner.status;
      return -1;
    }
  }
  for (uint32_t i = 0; i < setup->size && !wrong; i++) {
    value = values ? values[i] : mill_dist_draw(dist, key, i, 0, NULL, NULL);
    wrong = put_value(run->column[state], run->ops, run->code, state, i, value);
  }
  mill_release(values);
  if (wrong)
    return mill_place_fail(error, &setup->place, name, "%s %s", mill_text_double(found, value), wrong);
  return 0;
}

/* Points a batch at neurons first … of a population. */
static void *const *columns_at(const struct mill_population_run *run, uint32_t first, void **columns)
{
  for (uint32_t s = 0; s < run->ops->state_count; s++)
    columns[s] = (char *)run->column[s] + first * mill_state_size(run, s);
  return columns;
}

static int build_population(struct mill_simulation *sim, uint32_t index, uint32_t first, struct mill_error *error)
{
  const struct mill_population_setup *setup = &sim->file->population[index];
  struct mill_population *population = &sim->population[index];
  struct mill_population_run *run = &sim->run[index];
  void *columns[256];
  const char *refusal;
  run->ops = setup->model.plugin->ops;
  run->code = &run->ops->code[sim->file->precision];
  run->key = mill_key(sim->file->seed, MILL_PURPOSE_NEURON, index);
  if (run->ops->state_count > 256)
    return mill_place_fail(error, &setup->place, "model", "has more than 256 states");
  *population = (struct mill_population){
      .name = setup->name, .index = index, .first = first, .size = setup->size, .receptor_count = run->ops->receptor_count};
  run->param = calloc(1, run->code->param_size + 8u);
  run->column = calloc(run->ops->state_count + 1u, sizeof *run->column);
  run->accumulator = calloc(run->ops->receptor_count + 1u, sizeof *run->accumulator);
  population->ring = calloc(run->ops->receptor_count + 1u, sizeof *population->ring);
  if (!run->param || !run->column || !run->accumulator || !population->ring)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  refusal = run->code->derive(setup->model.values, sim->file->dt, run->param);
  if (refusal)
    return mill_place_refuse(error, &setup->place, MILL_USAGE, refusal);
  for (uint32_t s = 0; s < run->ops->state_count; s++) {
    run->column[s] = mill_allocate_or_fail(run->ops->state[s].name, setup->size + UINT64_C(64), mill_state_size(run, s), error);
    if (!run->column[s])
      return -1;
  }
  for (uint32_t i = 0; i < setup->size; i += MILL_BATCH) {
    struct mill_neuron_batch batch = {.count = setup->size - i < MILL_BATCH ? setup->size - i : MILL_BATCH,
                                      .id = first + i,
                                      .step = sim->file->t0,
                                      .param = run->param,
                                      .state = columns_at(run, i, columns)};
    run->code->init(&batch);
  }
  for (uint32_t s = 0; s < run->ops->state_count; s++) {
    if (setup->initial[s].kind != -1 && set_initial(sim, index, s, error) < 0)
      return -1;
  }
  return 0;
}

int mill_build_populations(struct mill_simulation *sim, struct mill_error *error)
{
  uint32_t first = 0;
  for (uint32_t i = 0; i < sim->file->population_count; i++) {
    if (build_population(sim, i, first, error) < 0)
      return -1;
    first += sim->file->population[i].size;
  }
  return 0;
}

void mill_build_populations_free(struct mill_simulation *sim)
{
  for (uint32_t i = 0; i < sim->network.population_count; i++) {
    struct mill_population_run *run = &sim->run[i];
    for (uint32_t s = 0; run->column && s < run->ops->state_count; s++)
      mill_release(run->column[s]);
    mill_release(run->history);
    free(run->column);
    free(run->param);
    free(run->accumulator);
    free(run->event);
    free(run->current);
    free(sim->population[i].ring);
  }
}

static int build_worker(struct mill_worker *worker, uint32_t receptors, struct mill_error *error)
{
  worker->input = calloc(receptors + 1u, sizeof *worker->input);
  worker->current = mill_allocate_or_fail("current row", MILL_BATCH, sizeof(double), error);
  worker->zero = mill_allocate_or_fail("current row", MILL_BATCH, sizeof(double), error);
  worker->event = mill_allocate_or_fail("event row", MILL_BATCH, sizeof(uint32_t), error);
  if (!worker->input || !worker->current || !worker->zero || !worker->event)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t r = 0; r < receptors; r++) {
    worker->input[r] = mill_allocate_or_fail("input row", MILL_BATCH, sizeof(double), error);
    if (!worker->input[r])
      return -1;
  }
  return 0;
}

static uint32_t slice_width(const struct mill_simulation *sim, const struct mill_delivery_ops *delivery, uint32_t size)
{
  uint64_t width = delivery->slice_width(sim->file->delivery.values, size, sim->workers);
  width = (width + 63) / 64 * 64;
  return width == 0 ? 64 : width > 4294967232u ? 4294967232u : (uint32_t)width;
}

/* Units of at most UNIT neurons, slice by slice. */
static int build_units(struct mill_simulation *sim, struct mill_error *error)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < sim->slice_count; i++) {
    sim->slice_run[i].unit = n;
    sim->slice_run[i].units = (uint32_t)(((uint64_t)sim->slice[i].count + UNIT - 1) / UNIT);
    n += sim->slice_run[i].units;
  }
  sim->unit_count = n;
  sim->unit = calloc(n + 1u, sizeof *sim->unit);
  if (!sim->unit)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t i = 0; i < sim->slice_count; i++) {
    const struct mill_slice *slice = &sim->slice[i];
    for (uint32_t u = 0; u < sim->slice_run[i].units; u++) {
      uint32_t first = u * UNIT;
      struct mill_unit *unit = &sim->unit[sim->slice_run[i].unit + u];
      *unit = (struct mill_unit){slice->population, slice->first + first, slice->count - first < UNIT ? slice->count - first : UNIT, 0,
                                 calloc(sim->run[slice->population].plastic_out_count + 1u, sizeof *unit->rows)};
      if (!unit->rows)
        return mill_fail(error, MILL_RESOURCES, "out of memory");
    }
  }
  return 0;
}

static int build_generation(struct mill_simulation *sim, struct mill_generation *g, struct mill_error *error)
{
  uint32_t populations = sim->network.population_count;
  g->spikes = calloc(populations + 1u, sizeof *g->spikes);
  g->count = calloc(populations + 1u, sizeof *g->count);
  if (!g->spikes || !g->count)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t p = 0; p < populations; p++) {
    g->spikes[p] = mill_allocate_or_fail("spike list", sim->population[p].size, sizeof(struct mill_spike), error);
    if (!g->spikes[p])
      return -1;
  }
  return 0;
}

int mill_build_slices(struct mill_simulation *sim, const struct mill_delivery_ops *delivery, struct mill_error *error)
{
  uint32_t populations = sim->network.population_count, receptors = 0, n = 0;
  sim->slice_of = calloc(populations + 1u, sizeof *sim->slice_of);
  if (!sim->slice_of)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t p = 0; p < populations; p++) {
    uint32_t size = sim->population[p].size, width = slice_width(sim, delivery, size);
    sim->slice_of[p] = n;
    n += (uint32_t)(((uint64_t)size + width - 1) / width);
    receptors = sim->population[p].receptor_count > receptors ? sim->population[p].receptor_count : receptors;
  }
  sim->slice_of[populations] = sim->slice_count = n;
  sim->slice = calloc(n + 1u, sizeof *sim->slice);
  sim->slice_run = calloc(n + 1u, sizeof *sim->slice_run);
  sim->worker = calloc(sim->workers, sizeof *sim->worker);
  if (!sim->slice || !sim->slice_run || !sim->worker)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t p = 0; p < populations; p++) {
    uint32_t size = sim->population[p].size, width = slice_width(sim, delivery, size),
             count = sim->slice_of[p + 1] - sim->slice_of[p];
    for (uint32_t i = 0; i < count; i++) {
      uint32_t at = sim->slice_of[p] + i, begin = i * width;
      sim->slice[at] = (struct mill_slice){p, begin, size - begin < width ? size - begin : width};
      sim->slice_run[at].worker = (uint32_t)((uint64_t)i * sim->workers / count);
    }
  }
  sim->network.slice_count = n;
  sim->network.slice = sim->slice;
  sim->network.slice_of = sim->slice_of;
  if (build_units(sim, error) < 0 || build_generation(sim, &sim->generation[0], error) < 0 ||
      build_generation(sim, &sim->generation[1], error) < 0)
    return -1;
  for (uint32_t w = 0; w < sim->workers; w++) {
    if (build_worker(&sim->worker[w], receptors, error) < 0)
      return -1;
  }
  return 0;
}

void mill_build_slices_free(struct mill_simulation *sim)
{
  for (int g = 0; g < 2; g++) {
    for (uint32_t p = 0; sim->generation[g].spikes && p < sim->network.population_count; p++)
      mill_release(sim->generation[g].spikes[p]);
    free(sim->generation[g].spikes);
    free(sim->generation[g].count);
    mill_release(sim->generation[g].sample);
  }
  for (uint32_t w = 0; sim->worker && w < sim->workers; w++) {
    struct mill_worker *worker = &sim->worker[w];
    for (uint32_t r = 0; worker->input && worker->input[r]; r++)
      mill_release(worker->input[r]);
    free(worker->input);
    mill_release(worker->current);
    mill_release(worker->zero);
    mill_release(worker->event);
  }
  free(sim->worker);
  free(sim->slice);
  free(sim->slice_of);
  free(sim->slice_run);
  for (uint32_t i = 0; sim->unit && i < sim->unit_count; i++)
    free(sim->unit[i].rows);
  free(sim->unit);
}
