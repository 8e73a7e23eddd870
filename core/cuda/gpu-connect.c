/* Connections made on the device, so that rows of synapses never exist on the host: fixed-probability with one weight and one delay. What the
   host must know of them, the degrees, comes back. mill_gpu_complete makes the same rows on the host when somebody asks for them. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include "cuda/rows.h"
#include "cuda/texts.h"
#include "memory.h"
#include "text.h"

int mill_gpu_makes(const struct mill_projection_setup *setup)
{
  const struct mill_connection *c = &setup->connection;
  double least, most, delivered;
  if (mill_plastic_bounds(setup, &least, &most, &delivered) && !(setup->weight.a >= least && setup->weight.a <= most))
    return 0; /* to be refused where its first synapse is known */
  return c->rule == MILL_FIXED_PROBABILITY && c->p > 0 && c->p < 1 && c->sources && c->targets &&
         setup->weight.kind == MILL_DIST_NUMBER && setup->delay.kind == MILL_DIST_NUMBER;
}

/* In-degrees decide how weights become whole numbers, unless all that arrives at the receptor has the same weight. */
static int wants_in_degree(const struct mill_netfile *file, uint32_t index)
{
  const struct mill_projection_setup *setup = &file->projection[index];
  int differs = !(fabs(setup->weight.a) > 0) || mill_plastic_is(setup);
  for (uint32_t i = 0; i < file->projection_count; i++) {
    const struct mill_projection_setup *other = &file->projection[i];
    if (other->target == setup->target && other->receptor == setup->receptor)
      differs |= other->weight.kind != MILL_DIST_NUMBER || other->weight.a < setup->weight.a || other->weight.a > setup->weight.a ||
                 !mill_gpu_makes(other) || mill_plastic_is(other);
  }
  for (uint32_t i = 0; i < file->stimulus_count; i++) {
    const struct mill_stimulus_setup *other = &file->stimulus[i];
    if (other->target == setup->target && other->receptor == setup->receptor)
      differs |= other->weight.kind != MILL_DIST_NUMBER || other->weight.a < setup->weight.a || other->weight.a > setup->weight.a;
  }
  return differs;
}

/* ---- The kernels ---------------------------------------------------------------------------------------------------------- */

enum { COUNT, PLACE, NARROW, WIDE, DEGREES_NARROW, DEGREES_WIDE, KERNELS };
static const char *const kernel_names[KERNELS] = {"mill_connect_count", "mill_connect_place",          "mill_connect_narrow",
                                                  "mill_connect_wide",  "mill_connect_degrees_narrow", "mill_connect_degrees_wide"};

struct connecting {
  struct mill_cuda *cuda;
  mill_cu_module module;
  mill_cu_function kernel[KERNELS];
};

static int load_kernels(struct connecting *k, struct mill_error *error)
{
  const struct mill_program_text *text = mill_device_text;
  struct mill_program_image image = {0};
  int rc;
  while (strcmp(text->name, "core/cuda/connect.cu") != 0)
    text++;
  {
    const struct mill_program_source source = {.main = *text,
                                               .header_count = mill_device_text_count,
                                               .header = mill_device_text,
                                               .major = k->cuda->properties.major,
                                               .minor = k->cuda->properties.minor};
    rc = mill_program_compile(NULL, &source, &image, error);
  }
  if (rc == 0)
    rc = mill_cuda_check(k->cuda, k->cuda->call.module_load(&k->module, image.bytes), "loading a program", error);
  free(image.bytes);
  for (int i = 0; rc == 0 && i < KERNELS; i++)
    rc = mill_cuda_check(k->cuda, k->cuda->call.module_function(&k->kernel[i], k->module, kernel_names[i]), kernel_names[i], error);
  return rc;
}

static int start(struct connecting *k, int which, uint64_t blocks, uint32_t threads, uint32_t shared_bytes,
                 const struct mill_device_connection *c, struct mill_error *error)
{
  void *parameters[] = {(void *)(uintptr_t)c};
  if (shared_bytes &&
      mill_cuda_check(k->cuda, k->cuda->call.function_set(k->kernel[which], MILL_CU_FUNCTION_DYNAMIC_SHARED, (int)shared_bytes),
                      "asking for shared memory", error) < 0)
    return -1;
  return mill_cuda_check(
      k->cuda, k->cuda->call.launch(k->kernel[which], (unsigned)blocks, 1, 1, threads, 1, 1, shared_bytes, NULL, parameters, NULL),
      kernel_names[which], error);
}

/* ---- One projection ------------------------------------------------------------------------------------------------------- */

static int count_synapses(struct connecting *k, const char *name, struct mill_device_connection *c,
                          struct mill_device_projection *out, uint64_t *groups, struct mill_error *error)
{
  uint64_t found[2];
  if (start(k, COUNT, c->blocks, MILL_ROWS, 0, c, error) < 0 ||
      start(k, PLACE, c->blocks * (uint64_t)c->slices, MILL_ROWS, 0, c, error) < 0 ||
      mill_cuda_check(k->cuda, k->cuda->call.synchronize(), "counting synapses", error) < 0 ||
      mill_cuda_download(k->cuda, found, c->groups, sizeof found, error) < 0)
    return -1;
  if (found[0] > MILL_GROUPS_MAX)
    return mill_fail(error, MILL_RESOURCES, "projection `%s` has more synapses than the %llu that one can have on a GPU", name,
                     (unsigned long long)MILL_GROUPS_MAX * MILL_GROUP);
  *groups = c->room = found[0];
  out->longest = (uint32_t)found[1];
  return 0;
}

static int write_synapses(struct connecting *k, struct mill_device_connection *c, int narrow, struct mill_error *error)
{
  const uint32_t side = c->blocks < 16 ? c->blocks : 16;
  if (mill_cuda_allocate(k->cuda, "synapses", c->room * MILL_GROUP * (narrow ? 2 : 4), &c->target, error) < 0 ||
      start(k, narrow ? NARROW : WIDE, c->blocks, MILL_ROWS, 0, c, error) < 0)
    return -1;
  if (c->in_degree && (narrow ? start(k, DEGREES_NARROW, side * (uint64_t)c->slices, 512, c->width * 4, c, error)
                              : start(k, DEGREES_WIDE, k->cuda->properties.multiprocessors * 4, 512, 0, c, error)) < 0)
    return -1;
  return mill_cuda_check(k->cuda, k->cuda->call.synchronize(), "making synapses", error);
}

/* What the host needs to know of it. */
static int fetch_degrees(struct connecting *k, struct mill_simulation *sim, uint32_t index, const struct mill_device_connection *c,
                         struct mill_error *error)
{
  const uint32_t first = sim->population[sim->projection[index].source].first;
  struct mill_weighing *w = &sim->weighing[index];
  uint32_t *length = mill_allocate_or_fail("numbers of targets", c->sources, sizeof *length, error);
  uint64_t synapses = 0;
  int rc = length ? mill_cuda_download(k->cuda, length, c->out_degree, c->sources * sizeof *length, error) : -1;
  for (uint32_t s = 0; rc == 0 && s < c->sources; s++) {
    synapses += length[s];
    sim->gpu->out_degree[first + s] += length[s];
  }
  mill_release(length);
  sim->rows[index].synapses = sim->projection[index].synapses = synapses;
  if (rc < 0 || !c->in_degree)
    return rc;
  w->in_degree = mill_allocate_or_fail("numbers of sources", c->targets, sizeof *w->in_degree, error);
  return w->in_degree ? mill_cuda_download(k->cuda, w->in_degree, c->in_degree, c->targets * sizeof *w->in_degree, error) : -1;
}

static int make(struct connecting *k, struct mill_simulation *sim, uint32_t index, struct mill_device_projection *out,
                struct mill_error *error)
{
  const struct mill_connection *connection = &sim->file->projection[index].connection;
  const struct mill_cut *cut = &sim->gpu->cut[sim->projection[index].target];
  struct mill_device_connection c = {.inverse = 1 / mill_log1p(-connection->p),
                                     .key = connection->key,
                                     .sources = connection->sources,
                                     .targets = connection->targets,
                                     .width = cut->width,
                                     .slices = cut->slices,
                                     .blocks = (uint32_t)((connection->sources + UINT64_C(255)) / MILL_ROWS),
                                     .no_autapses = connection->same && !connection->autapses};
  const uint64_t entries = (uint64_t)cut->slices * c.blocks * (MILL_ROWS + 1),
                 degrees = wants_in_degree(sim->file, index) ? c.targets * UINT64_C(4) : 0;
  int rc = -1;
  if (mill_cuda_allocate(k->cuda, "starts of runs", entries * 4, &c.start, error) == 0 &&
      mill_cuda_allocate(k->cuda, "numbers of targets", c.sources * UINT64_C(4), &c.out_degree, error) == 0 &&
      mill_cuda_allocate(k->cuda, "counts", 16, &c.groups, error) == 0 && mill_cuda_fill(k->cuda, c.groups, 0, 16, error) == 0 &&
      (!degrees || (mill_cuda_allocate(k->cuda, "numbers of sources", degrees, &c.in_degree, error) == 0 &&
                    mill_cuda_fill(k->cuda, c.in_degree, 0, degrees, error) == 0)) &&
      count_synapses(k, sim->projection[index].name, &c, out, &sim->gpu->groups[index], error) == 0 &&
      write_synapses(k, &c, (int)cut->narrow, error) == 0 && fetch_degrees(k, sim, index, &c, error) == 0)
    rc = 0;
  out->start = c.start;
  out->target = c.target;
  out->blocks = c.blocks;
  mill_cuda_release(k->cuda, c.groups);
  mill_cuda_release(k->cuda, c.in_degree);
  mill_cuda_release(k->cuda, c.out_degree);
  return rc;
}

int mill_gpu_connect(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_gpu *gpu = sim->gpu;
  struct connecting k = {.cuda = gpu->cuda};
  int rc = 0;
  for (uint32_t i = 0; rc == 0 && i < sim->network.projection_count; i++) {
    struct mill_projection *p = &sim->projection[i];
    if (p->row)
      continue;
    if (!k.module)
      rc = load_kernels(&k, error);
    double begun = mill_seconds();
    if (rc == 0)
      rc = make(&k, sim, i, &gpu->made[i], error);
    gpu->connect_s += mill_seconds() - begun;
  }
  if (k.module)
    k.cuda->call.module_unload(k.module);
  return rc;
}

int mill_gpu_complete(struct mill_simulation *sim, uint32_t index, struct mill_error *error)
{
  struct mill_projection *p = &sim->projection[index];
  if (p->row)
    return 0;
  if (mill_connect(sim->team, &sim->file->projection[index].connection, &sim->rows[index], error) < 0)
    return -1;
  p->row = sim->rows[index].row;
  p->column = sim->rows[index].column;
  p->synapses = sim->rows[index].synapses;
  return sim->plastic[index] ? mill_plastic_columns(sim, index, error) : 0;
}
