/* Connections made on the device, so that rows of synapses never exist on the host: What the host must know of them comes
   back. mill_gpu_complete brings all of it when somebody asks. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <math.h>

#include "cuda/maker.h"
#include "memory.h"

int mill_gpu_makes(const struct mill_projection_setup *setup)
{
  if (mill_plastic_is(setup) && setup->edges && setup->edges->weight)
    return 0; /* its list is not kept, and the host's arrays are made from it */
  return mill_maker_makes(&setup->connection);
}

/* Whether all of a projection's weights are this number. */
static int all_are(const struct mill_projection_setup *setup, double number)
{
  return setup->weight.kind == MILL_DIST_NUMBER && !(setup->edges && setup->edges->weight) && !mill_plastic_is(setup) &&
         !(setup->weight.a < number || setup->weight.a > number);
}

/* In-degrees decide how weights become whole numbers, unless all that arrives at the receptor has the same weight; drawn ones are added up. */
static int wants_in_degree(const struct mill_simulation *sim, uint32_t index)
{
  const struct mill_netfile *file = sim->file;
  const struct mill_projection_setup *setup = &file->projection[index];
  const double number = sim->weighing[index].weight.a;
  int differs = mill_plastic_is(setup) || !(fabs(number) > 0);
  if (!mill_weight_is_number(&sim->weighing[index]))
    return mill_plastic_is(setup); /* what its rule can deliver may become one number */
  for (uint32_t i = 0; i < file->projection_count; i++) {
    const struct mill_projection_setup *other = &file->projection[i];
    if (other->target == setup->target && other->receptor == setup->receptor)
      differs |= !all_are(other, number) || sim->projection[i].row;
  }
  for (uint32_t i = 0; i < file->stimulus_count; i++) {
    const struct mill_stimulus_setup *other = &file->stimulus[i];
    if (other->target == setup->target && other->receptor == setup->receptor)
      differs |= other->weight.kind != MILL_DIST_NUMBER || other->weight.a < number || other->weight.a > number;
  }
  return differs;
}

/* ---- One projection ------------------------------------------------------------------------------------------------------- */

static int make(struct mill_maker *maker, struct mill_simulation *sim, uint32_t index, mill_cu_address out_degree,
                struct mill_error *error)
{
  const struct mill_connection *connection = &sim->file->projection[index].connection;
  struct mill_projection *p = &sim->projection[index];
  struct mill_device_projection *out = &sim->gpu->made[index];
  struct mill_weighing *w = &sim->weighing[index];
  const uint64_t bytes = wants_in_degree(sim, index) ? connection->targets * UINT64_C(4) : 0;
  struct mill_degrees degrees = {.out = out_degree + sim->population[p->source].first * UINT64_C(4)};
  const struct mill_edges *edges = connection->rule == MILL_EDGES ? connection->edges : NULL;
  struct mill_made made;
  int rc = -1;
  degrees.edges = edges && (edges->weight || edges->delay_ps);
  if (!mill_weight_is_number(w)) /* a sample of them will be asked for */
    degrees.length = sim->gpu->length[index] = mill_allocate_or_fail("numbers of targets", connection->sources, 4, error);
  if ((!mill_weight_is_number(w) && !degrees.length) ||
      (bytes && (mill_cuda_allocate(maker->cuda, "numbers of sources", bytes, &degrees.in, error) < 0 ||
                 mill_cuda_fill(maker->cuda, degrees.in, 0, bytes, error) < 0)) ||
      mill_maker_connect(maker, p->name, connection, &sim->gpu->cut[index], &degrees, &made, error) < 0)
    goto done;
  out->start = made.start;
  out->target = made.target;
  out->longest = made.longest;
  sim->gpu->edge[index] = made.edge;
  out->blocks = (uint32_t)((connection->sources + UINT64_C(255)) / MILL_ROWS);
  sim->gpu->groups[index] = made.groups;
  sim->rows[index].synapses = p->synapses = made.synapses;
  rc = w->delay_bits ? mill_gpu_make_delays(sim, index, error) : 0;
  if (rc == 0 && bytes) {
    w->in_degree = mill_allocate_or_fail("numbers of sources", connection->targets, sizeof *w->in_degree, error);
    rc = w->in_degree ? mill_cuda_download(maker->cuda, w->in_degree, degrees.in, bytes, error) : -1;
  }
done:
  mill_cuda_release(maker->cuda, degrees.in);
  return rc;
}

static int make_all(struct mill_maker *maker, struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  const uint64_t bytes = sim->network.neurons * UINT64_C(4);
  mill_cu_address out_degree = 0;
  int rc = mill_cuda_allocate(gpu->cuda, "numbers of targets", bytes, &out_degree, error) < 0 ||
                   mill_cuda_fill(gpu->cuda, out_degree, 0, bytes, error) < 0
               ? -1
               : 0;
  for (uint32_t i = 0; rc == 0 && i < sim->network.projection_count; i++) {
    if (!sim->projection[i].row)
      rc = make(maker, sim, i, out_degree, error);
  }
  if (rc == 0)
    rc = mill_cuda_download(gpu->cuda, gpu->out_degree, out_degree, bytes, error);
  mill_cuda_release(gpu->cuda, out_degree);
  return rc;
}

int mill_gpu_connect(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  uint32_t wanted = 0;
  double begun;
  int rc = 0;
  for (uint32_t i = 0; rc == 0 && i < sim->network.projection_count; i++) {
    if (sim->projection[i].row)
      continue;
    wanted++;
    rc = mill_maker_open(&gpu->maker, MILL_MAKER_OF_ROWS, error) < 0 ||
                 mill_maker_open(&gpu->maker, mill_maker_program(&sim->file->projection[i].connection), error) < 0 ||
                 (sim->weighing[i].delay_bits && mill_maker_open(&gpu->maker, MILL_MAKER_OF_VALUES, error) < 0)
             ? -1
             : 0;
  }
  begun = mill_seconds();
  if (rc == 0 && wanted)
    rc = make_all(&gpu->maker, sim, error);
  mill_maker_rest(&gpu->maker);
  gpu->connect_s = mill_seconds() - begun;
  return rc;
}

/* ---- The host's arrays ------------------------------------------------------------------------------------------------------ */

/* An array of `bits` a synapse; NULL stays NULL when there is none. */
static int fetch_array(struct mill_simulation *sim, uint32_t index, const char *name, mill_cu_address from, uint32_t bits,
                       void **to, struct mill_error *error)
{
  const struct mill_laid laid = mill_gpu_laid(sim, index);
  if (!bits)
    return 0;
  *to = mill_allocate_or_fail(name, sim->rows[index].synapses, bits / 8, error);
  return *to ? mill_column_move(sim->gpu->cuda, sim->team, &laid, &sim->rows[index], *to, bits / 8, from, 1, error) : -1;
}

int mill_gpu_complete(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  struct mill_projection *p = &sim->projection[index];
  const struct mill_device_projection *made = &sim->gpu->made[index];
  const struct mill_laid laid = mill_gpu_laid(sim, index);
  struct mill_weighing *w = &sim->weighing[index];
  if (p->row)
    return 0;
  if (mill_rows_from_device(sim->gpu->cuda, sim->team, &laid, &sim->rows[index], error) < 0 ||
      fetch_array(sim, index, "weights", made->weight, p->weight_bits, &w->weight_store, error) < 0 ||
      fetch_array(sim, index, "delays", made->delay, p->delay_bits, &w->delay_store, error) < 0)
    return -1;
  p->weight = w->weight_store;
  p->delay = w->delay_store;
  p->row = sim->rows[index].row;
  p->column = sim->rows[index].column;
  return sim->plastic[index] ? mill_plastic_columns(sim, index, error) : 0;
}
