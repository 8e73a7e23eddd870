/* Plastic synapses on the device: the states of synapses, rows and anchors go there with the rules that work on them, and come back when somebody
   wants weights or a checkpoint. What is where is said by <spikemill/device-network.h>. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/rows.h"
#include "memory.h"

#define COPIES 3u             /* of what belongs to a source: as it is, and as it was before the last epoch of either parity */
#define STAGE (UINT64_C(4) << 20) /* values that are sent at a time */

/* Steps that a ring of traces holds, as a power of two: those of the history. */
static uint32_t trace_bits(uint32_t words)
{
  uint32_t bits = 6;
  while (words > 1u << (bits - 6))
    bits++;
  return bits;
}

uint64_t mill_gpu_plastic_bytes(const struct mill_simulation *sim, uint32_t index)
{
  const struct mill_projection_setup *setup = &sim->file->projection[index];
  const struct mill_synapse_ops *ops = setup->synapse.plugin->ops;
  const struct mill_synapse_code *code = &ops->code[sim->file->precision];
  const struct mill_cut *cut = &sim->gpu->cut[index];
  const uint64_t sources = setup->connection.sources, synapses = sim->rows[index].synapses;
  const uint32_t words = mill_plastic_words(sim, index);
  if (!mill_plastic_is(setup))
    return 0;
  return ops->syn_count * (uint64_t)(code->real_size / 4) * /* a column is as weights of 32 bits, or twice that */
             (mill_rows_device_bytes(sources, synapses, cut, 32, 0) - mill_rows_device_bytes(sources, synapses, cut, 0, 0)) +
         sources * COPIES * (code->pre_size + sizeof(struct mill_device_row)) +
         setup->connection.targets * (((uint64_t)code->post_size << trace_bits(words)) + code->post_size + 8 +
                                      mill_gpu_last_bytes(code) + words * UINT64_C(8));
}

/* ---- To the device -------------------------------------------------------------------------------------------------------- */

/* A column of a projection that was made on the device: the same value everywhere. */
static int fill_column(struct mill_simulation *sim, mill_cu_address to, uint64_t count, const void *value, uint32_t bytes,
                       struct mill_error *error)
{
  const uint64_t most = count < STAGE ? count : STAGE;
  unsigned char *stage = mill_allocate_or_fail("state of synapses for the GPU", most, bytes, error);
  int rc = stage ? 0 : -1;
  for (uint64_t i = 0; rc == 0 && i < most; i++)
    memcpy(stage + i * bytes, value, bytes);
  for (uint64_t i = 0; rc == 0 && i < count; i += most)
    rc = mill_cuda_upload(sim->gpu->cuda, to + i * bytes, stage, (count - i < most ? count - i : most) * bytes, error);
  mill_release(stage);
  return rc;
}

/* The columns of a projection that was made on the device: its weights are there, and else its synapses all begin alike. */
static int fill_columns(struct mill_simulation *sim, uint32_t index, uint64_t count, struct mill_error *error)
{
  const struct mill_plastic_run *run = sim->plastic[index];
  const uint32_t columns = run->plastic.syn_count, bytes = run->plastic.code->real_size;
  double *value = calloc(columns, sizeof *value);
  void **at = calloc(columns, sizeof *at);
  int rc = value && at ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t c = 0; rc == 0 && c < columns; c++)
    at[c] = &value[c];
  if (rc == 0)
    run->plastic.code->syn_init(run->param, 1, at);
  for (uint32_t c = 1; rc == 0 && c < columns; c++)
    rc = fill_column(sim, sim->gpu->synapse[index][c], count, at[c], bytes, error);
  free(value);
  free(at);
  return rc;
}

/* All columns that the host has. */
static int move_columns(struct mill_simulation *sim, uint32_t index, int down, struct mill_error *error)
{
  const struct mill_plastic_run *run = sim->plastic[index];
  const struct mill_laid laid = mill_gpu_laid(sim, index);
  int rc = 0;
  for (uint32_t c = 0; rc == 0 && c < run->plastic.syn_count; c++)
    rc = mill_column_move(sim->gpu->cuda, sim->team, &laid, &sim->rows[index], run->syn[c], run->plastic.code->real_size,
                          sim->gpu->synapse[index][c], down, error);
  return rc;
}

static int put_synapses(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_plastic_run *run = sim->plastic[index];
  const uint32_t columns = run->plastic.syn_count;
  const uint64_t count = gpu->groups[index] * MILL_GROUP;
  gpu->synapse[index] = calloc(columns, sizeof **gpu->synapse);
  if (!gpu->synapse[index])
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  gpu->synapse[index][0] = gpu->real[index];
  for (uint32_t c = gpu->real[index] != 0; c < columns; c++) {
    if (mill_cuda_allocate(gpu->cuda, "state of plastic synapses", count * run->plastic.code->real_size, &gpu->synapse[index][c], error) < 0)
      return -1;
  }
  /* the host has it of rows that it made, and from a checkpoint */
  gpu->stale_synapses |= !run->syn[0];
  if ((run->syn[0] ? move_columns(sim, index, 0, error) : fill_columns(sim, index, count, error)) < 0)
    return -1;
  return mill_cuda_put(gpu->cuda, "columns of plastic synapses", gpu->synapse[index], columns * sizeof **gpu->synapse,
                       &gpu->plastic[index].column, error);
}

static int put_decays(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  struct mill_cuda *cuda = sim->gpu->cuda;
  const struct mill_plastic_run *run = sim->plastic[index];
  const uint32_t bytes = run->plastic.code->real_size;
  struct {
    mill_cu_address fine, coarse;
    uint64_t coarse_count;
  } *decay = calloc(run->decay_count + 1u, sizeof *decay);
  int rc = decay ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
  static_assert(sizeof *decay == sizeof(struct mill_decay), "addresses of a device are as long as the host's");
  for (uint32_t i = 0; rc == 0 && i < run->decay_count; i++) {
    decay[i].coarse_count = run->decay[i].coarse_count;
    rc = mill_cuda_put(cuda, "decay of traces", run->decay[i].fine, 256 * (uint64_t)bytes, &decay[i].fine, error);
    if (rc == 0)
      rc = mill_cuda_put(cuda, "decay of traces", run->decay[i].coarse, decay[i].coarse_count * bytes, &decay[i].coarse, error);
  }
  if (rc == 0)
    rc = mill_cuda_put(cuda, "decays of traces", decay, run->decay_count * sizeof *decay, &sim->gpu->plastic[index].decay, error);
  free(decay);
  return rc;
}

static int put_projection(struct mill_simulation *sim, uint32_t index, struct mill_composition *composition,
                          struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_plastic_run *run = sim->plastic[index];
  const struct mill_synapse_code *code = run->plastic.code;
  const uint64_t pre = run->sources * (uint64_t)code->pre_size, last = run->targets * mill_gpu_last_bytes(code);
  struct mill_device_plastic *p = &gpu->plastic[index];
  p->over = gpu->over + index * sizeof(int32_t);
  p->per_unit = run->plastic.per_unit;
  p->limit = run->plastic.limit;
  p->rule = mill_composition_index(composition->rule, &composition->rule_count, sim->file->projection[index].synapse.plugin);
  if (p->rule == MILL_PROGRAM_MAX)
    return mill_fail(error, MILL_RESOURCES, "more than %u synapse rules cannot be had on a GPU", MILL_PROGRAM_MAX);
  return mill_cuda_put(gpu->cuda, "parameters", run->param, code->param_size, &p->param, error) < 0 ||
                 mill_cuda_allocate(gpu->cuda, "traces of sources", COPIES * pre, &p->pre, error) < 0 ||
                 mill_cuda_fill(gpu->cuda, p->pre, 0, COPIES * pre, error) < 0 ||
                 mill_cuda_upload(gpu->cuda, p->pre, run->pre, pre, error) < 0 ||
                 mill_cuda_put(gpu->cuda, "traces of targets", run->post, run->targets * (uint64_t)code->post_size, &p->post, error) < 0 ||
                 mill_cuda_put(gpu->cuda, "traces of targets", run->post_step, run->targets * sizeof *run->post_step, &p->post_step,
                               error) < 0 ||
                 mill_cuda_allocate(gpu->cuda, "traces of targets", last, &p->last, error) < 0 ||
                 mill_cuda_fill(gpu->cuda, p->last, 0, last, error) < 0 || /* entries are read whole, with what is between members */
                 put_decays(sim, index, error) < 0 || put_synapses(sim, index, error) < 0
             ? -1
             : 0;
}

/* The rows of a source population: k_last, u and fired are the same in all its projections, for a source fires for all of them, and a checkpoint
   is of rows that are up to date. */
static int put_rows(struct mill_simulation *sim, uint32_t population, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct mill_device_population *made = &gpu->population[population];
  const struct mill_population_run *run = &sim->run[population];
  const uint32_t size = sim->population[population].size;
  const uint64_t bytes = size * sizeof(struct mill_device_row);
  struct mill_device_row *row = mill_allocate_or_fail("rows of plastic synapses", size, sizeof *row, error);
  int rc = row ? 0 : -1;
  made->patience = INT64_MAX;
  for (uint32_t i = 0; i < run->plastic_out_count; i++)
    made->patience = run->plastic_out[i]->patience < made->patience ? run->plastic_out[i]->patience : made->patience;
  for (uint32_t s = 0; rc == 0 && s < size; s++)
    row[s] = (struct mill_device_row){run->plastic_out[0]->k_last[s], run->plastic_out[0]->u[s], run->plastic_out[0]->fired[s], 0};
  if (rc == 0 && (mill_cuda_allocate(gpu->cuda, "rows of plastic synapses", COPIES * bytes, &made->row, error) < 0 ||
                  mill_cuda_fill(gpu->cuda, made->row, 0, COPIES * bytes, error) < 0 ||
                  mill_cuda_upload(gpu->cuda, made->row, row, bytes, error) < 0))
    rc = -1;
  mill_release(row);
  return rc;
}

/* The history of a population, and room for the traces of the projections that lead to it; mill_recall fills it. */
static int put_history(struct mill_simulation *sim, uint32_t population, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct mill_device_population *made = &gpu->population[population];
  const struct mill_population_run *run = &sim->run[population];
  const uint64_t size = sim->population[population].size;
  if (!run->plastic_in_count)
    return 0;
  mill_cuda_release(gpu->cuda, made->history);
  made->history = 0;
  made->words = run->history_words;
  for (uint32_t i = 0; i < run->plastic_in_count; i++) {
    struct mill_device_plastic *p = &gpu->plastic[run->plastic_in[i]->index];
    mill_cuda_release(gpu->cuda, p->trace);
    p->trace = 0;
    p->trace_bits = trace_bits(made->words);
    if (mill_cuda_allocate(gpu->cuda, "traces of targets", (size * run->plastic_in[i]->plastic.code->post_size) << p->trace_bits, &p->trace,
                           error) < 0)
      return -1;
  }
  return mill_cuda_put(gpu->cuda, "spike histories", run->history, size * 8 * made->words, &made->history, error);
}

int mill_gpu_recall(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  int64_t first = sim->step;
  void *parameters[] = {&gpu->net, &first};
  return mill_cuda_check(gpu->cuda,
                         gpu->cuda->call.launch(gpu->recall.function, gpu->recall.launch.blocks, 1, 1, gpu->recall.launch.threads, 1, 1,
                                                0, gpu->stream, parameters, NULL),
                         gpu->recall.launch.kernel, error) < 0 ||
                 mill_cuda_check(gpu->cuda, gpu->cuda->call.stream_synchronize(gpu->stream), "recalling spikes on the GPU", error) < 0
             ? -1
             : 0;
}

int mill_gpu_lengthen(struct mill_simulation *sim, uint32_t population, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const struct mill_population_run *run = &sim->run[population];
  if (!run->plastic_in_count)
    return 0;
  if (mill_cuda_attach(gpu->cuda, error) < 0 || put_history(sim, population, error) < 0 ||
      mill_cuda_upload(gpu->cuda, gpu->net.population, gpu->population, gpu->net.populations * sizeof *gpu->population, error) < 0 ||
      mill_cuda_upload(gpu->cuda, gpu->made[run->plastic_in[0]->index].plastic - run->plastic_in[0]->index * sizeof *gpu->plastic,
                       gpu->plastic, gpu->net.projections * sizeof *gpu->plastic, error) < 0)
    return -1;
  return mill_gpu_recall(sim, error);
}

int mill_gpu_put_plastic(struct mill_simulation *sim, struct mill_composition *composition, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const uint32_t projections = sim->network.projection_count;
  const uint64_t due = 2 * sim->network.neurons * sizeof(struct mill_device_spike);
  mill_cu_address address;
  int any = 0;
  for (uint32_t i = 0; i < projections; i++)
    any |= sim->plastic[i] != NULL;
  if (!any)
    return 0;
  gpu->plastic = calloc(projections, sizeof *gpu->plastic);
  gpu->synapse = calloc(projections, sizeof *gpu->synapse);
  if (!gpu->plastic || !gpu->synapse)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  gpu->net.every_row = sim->plasticity->every_row;
  if (mill_cuda_allocate(gpu->cuda, "notes of rules", projections * sizeof(int32_t), &gpu->over, error) < 0 ||
      mill_cuda_fill(gpu->cuda, gpu->over, 0, projections * sizeof(int32_t), error) < 0 ||
      mill_cuda_allocate(gpu->cuda, "rows to visit", due, &gpu->net.due, error) < 0)
    return -1;
  for (uint32_t i = 0; i < projections; i++) {
    if (sim->plastic[i] && put_projection(sim, i, composition, error) < 0)
      return -1;
  }
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    if ((sim->run[p].plastic_out_count && put_rows(sim, p, error) < 0) || put_history(sim, p, error) < 0)
      return -1;
  }
  if (mill_cuda_put(gpu->cuda, "plastic projections", gpu->plastic, projections * sizeof *gpu->plastic, &address, error) < 0)
    return -1;
  for (uint32_t i = 0; i < projections; i++)
    gpu->made[i].plastic = sim->plastic[i] ? address + i * sizeof *gpu->plastic : 0;
  return 0;
}

void mill_gpu_plastic_free(struct mill_simulation *sim)
{
  struct mill_gpu *gpu = sim->gpu;
  for (uint32_t i = 0; gpu->synapse && i < sim->network.projection_count; i++)
    free(gpu->synapse[i]);
  free(gpu->synapse);
  free(gpu->plastic);
}

/* ---- Back to the host ----------------------------------------------------------------------------------------------------- */

static int fetch_rows(struct mill_simulation *sim, uint32_t population, struct mill_error *error)
{
  const struct mill_population_run *run = &sim->run[population];
  const uint32_t size = sim->population[population].size;
  struct mill_device_row *row = mill_allocate_or_fail("rows of plastic synapses", size, sizeof *row, error);
  int rc = row ? mill_cuda_download(sim->gpu->cuda, row, sim->gpu->population[population].row, size * sizeof *row, error) : -1;
  for (uint32_t i = 0; rc == 0 && i < run->plastic_out_count; i++) {
    for (uint32_t s = 0; s < size; s++) {
      run->plastic_out[i]->k_last[s] = row[s].k_last;
      run->plastic_out[i]->u[s] = row[s].u;
      run->plastic_out[i]->fired[s] = (unsigned char)row[s].fired;
    }
  }
  mill_release(row);
  return rc;
}

int mill_gpu_fetch_plastic(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    const struct mill_plastic_run *run = sim->plastic[i];
    const struct mill_device_plastic *p = &gpu->plastic[i];
    if (run &&
        (mill_cuda_download(gpu->cuda, run->pre, p->pre, run->sources * (uint64_t)run->plastic.code->pre_size, error) < 0 ||
         mill_cuda_download(gpu->cuda, run->post, p->post, run->targets * (uint64_t)run->plastic.code->post_size, error) < 0 ||
         mill_cuda_download(gpu->cuda, run->post_step, p->post_step, run->targets * sizeof *run->post_step, error) < 0))
      return -1;
  }
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    const struct mill_population_run *run = &sim->run[p];
    if ((run->plastic_out_count && fetch_rows(sim, p, error) < 0) ||
        (run->plastic_in_count && mill_cuda_download(gpu->cuda, run->history, gpu->population[p].history,
                                                     sim->population[p].size * UINT64_C(8) * run->history_words, error) < 0))
      return -1;
  }
  return 0;
}

int mill_gpu_fetch_synapses(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  if (!gpu->stale_synapses)
    return 0;
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    if (sim->plastic[i] && (mill_gpu_complete(sim, i, error) < 0 || move_columns(sim, i, 1, error) < 0))
      return -1;
  }
  gpu->stale_synapses = 0;
  return 0;
}

int mill_gpu_check_rules(struct mill_simulation *sim, struct mill_error *error)
{
  const uint32_t projections = sim->network.projection_count;
  int32_t *over;
  int rc;
  if (!sim->gpu->over)
    return 0;
  over = calloc(projections, sizeof *over);
  if (!over)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  rc = mill_cuda_download(sim->gpu->cuda, over, sim->gpu->over, projections * sizeof *over, error);
  for (uint32_t i = 0; rc == 0 && i < projections; i++) {
    if (sim->plastic[i])
      sim->plastic[i]->over |= over[i];
  }
  free(over);
  return rc;
}
