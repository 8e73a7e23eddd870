/* Weights and delays of projections that were made on the device: found out about, stored in its layout, handed to accumulate.c as sums. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <math.h>
#include <string.h>

#include "memory.h"

struct mill_laid mill_gpu_laid(const struct mill_simulation *sim, uint32_t index)
{
  const struct mill_projection *p = &sim->projection[index];
  const struct mill_device_projection *made = &sim->gpu->made[index];
  return (struct mill_laid){sim->gpu->cut[index], sim->population[p->source].size, sim->gpu->groups[index], made->start,
                            made->target};
}

static void describe(const struct mill_simulation *sim, uint32_t index, const struct mill_dist *dist, uint64_t key,
                     struct mill_device_values *v)
{
  const struct mill_laid laid = mill_gpu_laid(sim, index);
  mill_maker_values(&laid, &sim->file->projection[index].connection, dist, key, v);
}

/* An array of `bits` a synapse in the layout of a projection. */
static int allocate(struct mill_simulation *sim, uint32_t index, const char *name, uint32_t bits, mill_cu_address *address,
                    struct mill_error *error)
{
  return mill_cuda_allocate(sim->gpu->cuda, name, sim->gpu->groups[index] * MILL_GROUP * bits / 8, address, error);
}

/* Values of a list, one an edge, for as long as a pass takes: NULL when they are drawn. To be released with unlist. */
static int list(struct mill_simulation *sim, uint32_t index, const void *values, struct mill_device_values *v,
                struct mill_error *error)
{
  const struct mill_edges *edges = sim->file->projection[index].edges;
  if (!values)
    return 0;
  v->edge = sim->gpu->edge[index];
  return mill_cuda_put(sim->gpu->cuda, "values of edges", values, edges->count * 8, &v->listed, error);
}

static void unlist(struct mill_simulation *sim, struct mill_device_values *v)
{
  mill_cuda_release(sim->gpu->cuda, v->listed);
}

void mill_gpu_forget_edges(struct mill_simulation *sim, uint32_t index)
{
  mill_cuda_release(sim->gpu->cuda, sim->gpu->edge[index]);
  sim->gpu->edge[index] = 0;
}

/* ---- Delays --------------------------------------------------------------------------------------------------------------- */

/* The first delay of a pair of neurons, by m, that is rounded. */
static int64_t rounded_delay(const struct mill_weighing *w, uint64_t pair, int64_t dt_ps)
{
  for (uint64_t m = 0;; m++) {
    const int64_t ps = mill_picoseconds(mill_dist_draw(&w->delay, w->delay_key, pair, m, NULL, NULL));
    if (ps % dt_ps)
      return ps;
  }
}

/* Those of a list, of which the first that is rounded is the one that comes first in the rows. */
static void foresee_listed(struct mill_weighing *w, const struct mill_edges *edges, int64_t dt_ps, int *possible)
{
  uint32_t low = UINT32_MAX, high = 0;
  uint64_t first = UINT64_MAX;
  for (uint64_t i = 0; i < edges->count; i++) {
    const uint32_t steps = mill_steps_of(edges->delay_ps[i], dt_ps);
    const uint64_t pair = (uint64_t)edges->source[i] << 32 | edges->target[i];
    *possible &= steps != 0;
    low = steps < low ? steps : low;
    high = steps > high ? steps : high;
    if (edges->delay_ps[i] % dt_ps && pair < first) {
      first = pair;
      w->delay_rounded_from_ps = edges->delay_ps[i];
    }
  }
  if (*possible)
    mill_delay_between(w, low, high);
}

int mill_gpu_foresee_delays(struct mill_simulation *sim, uint32_t index, int *possible, struct mill_error *error)
{
  struct mill_weighing *w = &sim->weighing[index];
  const int64_t dt_ps = sim->file->dt_ps;
  struct mill_device_values v = {.kind = w->delay.kind,
                                 .a = w->delay.a,
                                 .b = w->delay.b,
                                 .lo = w->delay.lo,
                                 .hi = w->delay.hi,
                                 .key = w->delay_key,
                                 .dt_ps = dt_ps};
  uint64_t found[8];
  if (w->edges && w->edges->delay_ps) {
    foresee_listed(w, w->edges, dt_ps, possible);
    return 0;
  }
  if (mill_maker_foresee(&sim->gpu->maker, &sim->file->projection[index].connection, &v, found, error) < 0)
    return -1;
  *possible = found[5] == 0;
  if (!*possible)
    return 0;
  sim->rows[index].synapses = found[7];
  w->redrawn += found[2];
  w->clipped += found[3];
  w->delay_all = w->delay_min = w->delay_max = MILL_EPOCH_MAX; /* no synapses */
  if (found[7])
    mill_delay_between(w, (uint32_t)~found[1], (uint32_t)found[0]);
  if (found[6])
    w->delay_rounded_from_ps = rounded_delay(w, ~found[6], dt_ps);
  return 0;
}

int mill_gpu_make_delays(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  const struct mill_weighing *w = &sim->weighing[index];
  struct mill_device_projection *made = &sim->gpu->made[index];
  struct mill_device_values v;
  uint64_t found[8];
  int rc = -1;
  describe(sim, index, &w->delay, w->delay_key, &v);
  v.dt_ps = sim->file->dt_ps;
  v.bits = w->delay_bits;
  if (allocate(sim, index, "delays", v.bits, &made->delay, error) < 0)
    return -1;
  v.store = made->delay;
  made->delay_bits = w->delay_bits;
  if (list(sim, index, w->edges ? w->edges->delay_ps : NULL, &v, error) == 0)
    rc = mill_maker_visit(&sim->gpu->maker, MILL_VALUES_STEPS, &v, found, error);
  unlist(sim, &v);
  return rc;
}

/* ---- Weights -------------------------------------------------------------------------------------------------------------- */

/* Adds the device's sums to the host's. */
static int fetch_sums(struct mill_cuda *cuda, mill_cu_address from, uint32_t targets, uint64_t *sum, struct mill_error *error)
{
  uint64_t *part = mill_allocate_or_fail("sums of weights", targets, sizeof *part, error);
  int rc = part ? mill_cuda_download(cuda, part, from, targets * sizeof *part, error) : -1;
  for (uint32_t t = 0; rc == 0 && t < targets; t++)
    sum[t] += part[t];
  mill_release(part);
  return rc;
}

/* Where the quanta go. */
static int prepare_store(struct mill_simulation *sim, uint32_t index, uint32_t bits, struct mill_error *error)
{
  struct mill_device_projection *made = &sim->gpu->made[index];
  if (made->weight && made->weight_bits == bits)
    return 0;
  mill_cuda_release(sim->gpu->cuda, made->weight);
  made->weight = 0;
  made->weight_bits = bits;
  return allocate(sim, index, "weights", bits, &made->weight, error);
}

int mill_gpu_weights_pass(void *self, struct mill_weighing *w, enum mill_weights_aim aim, int exponent, uint64_t *sum,
                          struct mill_weights_found *out, struct mill_error *error)
{
  static const uint32_t aims[] = {[MILL_WEIGHTS_MOST] = MILL_VALUES_MOST,
                                  [MILL_WEIGHTS_SUM] = MILL_VALUES_SUM,
                                  [MILL_WEIGHTS_STORE] = MILL_VALUES_QUANTA,
                                  [MILL_WEIGHTS_BOUND] = MILL_VALUES_BOUND};
  struct mill_simulation *sim = self;
  struct mill_cuda *cuda = sim->gpu->cuda;
  const uint32_t index = (uint32_t)(w - sim->weighing);
  const uint64_t bytes = w->targets * sizeof *sum;
  struct mill_device_values v;
  uint64_t found[8];
  int rc = -1;
  describe(sim, index, &w->weight, w->weight_key, &v);
  v.exponent = exponent;
  v.bits = w->weight_bits;
  if (aim == MILL_WEIGHTS_STORE && prepare_store(sim, index, w->weight_bits, error) < 0)
    return -1;
  v.store = sim->gpu->made[index].weight;
  if (sum &&
      (mill_cuda_allocate(cuda, "sums of weights", bytes, &v.sum, error) < 0 || mill_cuda_fill(cuda, v.sum, 0, bytes, error) < 0))
    goto done;
  if (list(sim, index, w->edges ? w->edges->weight : NULL, &v, error) < 0 ||
      mill_maker_visit(&sim->gpu->maker, aims[aim], &v, found, error) < 0 ||
      (sum && fetch_sums(cuda, v.sum, w->targets, sum, error) < 0))
    goto done;
  memcpy(&out->most, &found[0], sizeof out->most);
  out->redrawn = found[2];
  out->clipped = found[3];
  out->zeroed = found[4];
  rc = 0;
done:
  unlist(sim, &v);
  mill_cuda_release(cuda, v.sum);
  return rc;
}

/* Row and place in it of each synapse; those ascend. */
static void find_rows(const uint32_t *length, uint32_t count, const uint64_t *synapse, uint32_t *pick)
{
  uint64_t begin = 0;
  uint32_t row = 0;
  for (uint32_t i = 0; i < count; i++) {
    while (synapse[i] - begin >= length[row])
      begin += length[row++];
    pick[2 * i] = row;
    pick[2 * i + 1] = (uint32_t)(synapse[i] - begin);
  }
}

int mill_gpu_weights_sample(void *self, const struct mill_weighing *w, uint32_t count, const uint64_t *synapse, double *weight,
                            struct mill_error *error)
{
  struct mill_simulation *sim = self;
  struct mill_cuda *cuda = sim->gpu->cuda;
  const uint32_t index = (uint32_t)(w - sim->weighing);
  uint32_t *pick = mill_allocate_or_fail("sample of weights", count, 2 * sizeof *pick, error);
  struct mill_device_values v;
  mill_cu_address picks = 0;
  uint64_t found[8];
  int rc = -1;
  describe(sim, index, &w->weight, w->weight_key, &v);
  v.picks = count;
  v.bits = 64;
  if (!pick)
    return -1;
  find_rows(sim->gpu->length[index], count, synapse, pick);
  if (mill_cuda_put(cuda, "sample of weights", pick, count * 2 * sizeof *pick, &picks, error) == 0 &&
      mill_cuda_allocate(cuda, "sample of weights", count * sizeof *weight, &v.store, error) == 0) {
    v.pick = picks;
    if (list(sim, index, w->edges ? w->edges->weight : NULL, &v, error) == 0)
      rc = mill_maker_visit(&sim->gpu->maker, MILL_VALUES_PICK, &v, found, error);
    unlist(sim, &v);
  }
  if (rc == 0)
    rc = mill_cuda_download(cuda, weight, v.store, count * sizeof *weight, error);
  mill_cuda_release(cuda, v.store);
  mill_cuda_release(cuda, picks);
  mill_release(pick);
  return rc;
}

/* ---- Plastic synapses ------------------------------------------------------------------------------------------------------- */

/* The first weight of a pair of neurons, by m, that a rule does not allow. */
static double outside(const struct mill_simulation *sim, uint32_t index, uint64_t pair, double least, double most)
{
  const struct mill_projection_setup *setup = &sim->file->projection[index];
  const struct mill_edges *edges = setup->edges && setup->edges->weight ? setup->edges : NULL;
  for (uint64_t i = 0;; i++) {
    const double weight =
        edges ? edges->weight[i] : mill_dist_draw(&setup->weight, sim->weighing[index].weight_key, pair, i, NULL, NULL);
    if (!(weight >= least && weight <= most) && (!edges || ((uint64_t)edges->source[i] << 32 | edges->target[i]) == pair))
      return weight;
  }
}

static int refuse(const struct mill_simulation *sim, uint32_t index, uint64_t pair, double least, double most,
                  struct mill_error *error)
{
  return mill_plastic_refuse(&sim->file->projection[index], outside(sim, index, pair, least, most), (uint32_t)(pair >> 32),
                             (uint32_t)pair, error);
}

int mill_gpu_make_reals(struct mill_simulation *sim, uint32_t index, mill_cu_address *column, struct mill_error *error)
{
  const struct mill_projection_setup *setup = &sim->file->projection[index];
  struct mill_weighing *w = &sim->weighing[index];
  struct mill_device_projection *made = &sim->gpu->made[index];
  struct mill_device_values v;
  double delivered;
  uint64_t found[8];
  int rc = -1;
  *column = 0;
  mill_cuda_release(sim->gpu->cuda, made->weight); /* an unbounded rule's initial weights were weighed */
  made->weight = 0;
  made->weight_bits = 0;
  describe(sim, index, &setup->weight, w->weight_key, &v);
  if (!mill_plastic_bounds(setup, &v.least, &v.most, &delivered))
    return mill_fail(error, MILL_USAGE, "projection `%s` is not plastic", setup->name);
  v.bits = sim->file->precision ? 64 : 32;
  if (allocate(sim, index, "state of plastic synapses", v.bits, &v.store, error) < 0)
    return -1;
  if (list(sim, index, setup->edges ? setup->edges->weight : NULL, &v, error) == 0)
    rc = mill_maker_visit(&sim->gpu->maker, MILL_VALUES_REALS, &v, found, error);
  unlist(sim, &v);
  if (rc < 0 || (found[5] && refuse(sim, index, ~found[5], v.least, v.most, error) < 0)) {
    mill_cuda_release(sim->gpu->cuda, v.store);
    return -1;
  }
  if (mill_weight_is_number(w)) { /* else they were counted when they were weighed */
    w->redrawn += found[2];
    w->clipped += found[3];
  }
  *column = v.store;
  return 0;
}

int mill_gpu_make_all_reals(struct mill_simulation *sim, struct mill_error *error)
{
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    if (sim->plastic[i] && !sim->projection[i].row && mill_gpu_make_reals(sim, i, &sim->gpu->real[i], error) < 0)
      return -1;
  }
  return 0;
}
