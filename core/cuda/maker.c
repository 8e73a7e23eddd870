#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/maker-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include "cuda/program.h"
#include "cuda/texts.h"

static const char *const texts[MILL_MAKER_PROGRAMS] = {"core/cuda/connect.cu", "core/cuda/connect-pairs.cu",
                                                       "core/cuda/connect-values.cu"};

static const struct {
  const char *name;
  int program;
} kernels[MILL_MAKER_KERNELS] = {
    [MILL_MAKER_ONCE_KERNEL] = {"mill_connect_once", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_COUNT] = {"mill_connect_count", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_PLACE] = {"mill_connect_place", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_NARROW] = {"mill_connect_narrow", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_WIDE] = {"mill_connect_wide", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_FLOW] = {"mill_connect_flow", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_DEGREES_NARROW] = {"mill_connect_degrees_narrow", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_DEGREES_BROAD] = {"mill_connect_degrees_broad", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_DEGREES_WIDE] = {"mill_connect_degrees_wide", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_ADD] = {"mill_connect_add", MILL_MAKER_OF_ROWS},
    [MILL_MAKER_PAIRS_COUNT] = {"mill_pairs_count", MILL_MAKER_OF_PAIRS},
    [MILL_MAKER_PAIRS_SCATTER] = {"mill_pairs_scatter", MILL_MAKER_OF_PAIRS},
    [MILL_MAKER_PAIRS_SORT] = {"mill_pairs_sort", MILL_MAKER_OF_PAIRS},
    [MILL_MAKER_VALUES] = {"mill_values", MILL_MAKER_OF_VALUES},
};

int mill_maker_open(struct mill_maker *maker, int program, struct mill_error *error)
{
  const struct mill_program_text *text = mill_device_text;
  struct mill_program_image image = {0};
  int rc;
  if (maker->module[program])
    return 0;
  while (strcmp(text->name, texts[program]) != 0)
    text++;
  {
    const struct mill_program_source source = {.main = *text,
                                               .header_count = mill_device_text_count,
                                               .header = mill_device_text,
                                               .major = maker->cuda->properties.major,
                                               .minor = maker->cuda->properties.minor};
    rc = mill_program_compile(NULL, &source, &image, error);
  }
  if (rc == 0)
    rc = mill_cuda_check(maker->cuda, maker->cuda->call.module_load(&maker->module[program], image.bytes), "loading a program",
                         error);
  free(image.bytes);
  for (int i = 0; rc == 0 && i < MILL_MAKER_KERNELS; i++) {
    if (kernels[i].program == program)
      rc = mill_cuda_check(maker->cuda,
                           maker->cuda->call.module_function(&maker->kernel[i], maker->module[program], kernels[i].name),
                           kernels[i].name, error);
  }
  return rc;
}

void mill_maker_rest(struct mill_maker *maker)
{
  mill_cuda_release(maker->cuda, maker->scratch);
  maker->scratch = 0;
  maker->scratch_bytes = 0;
}

void mill_maker_close(struct mill_maker *maker)
{
  if (maker->scratch)
    mill_maker_rest(maker);
  for (int i = 0; i < MILL_MAKER_PROGRAMS; i++) {
    if (maker->module[i])
      maker->cuda->call.module_unload(maker->module[i]);
    maker->module[i] = NULL;
  }
}

int mill_maker_program(const struct mill_connection *connection)
{
  return connection->rule >= MILL_FIXED_INDEGREE ? MILL_MAKER_OF_PAIRS : MILL_MAKER_OF_ROWS;
}

int mill_maker_launch(struct mill_maker *k, int which, uint64_t blocks, uint32_t threads, uint32_t shared_bytes, void **parameters,
                      struct mill_error *error)
{
  if (!blocks)
    return 0;
  if (mill_maker_open(k, kernels[which].program, error) < 0)
    return -1;
  if (blocks > INT32_MAX)
    return mill_fail(error, MILL_RESOURCES, "%s: more blocks of threads than a GPU takes", kernels[which].name);
  if (shared_bytes &&
      mill_cuda_check(k->cuda, k->cuda->call.function_set(k->kernel[which], MILL_CU_FUNCTION_DYNAMIC_SHARED, (int)shared_bytes),
                      "asking for shared memory", error) < 0)
    return -1;
  return mill_cuda_check(
      k->cuda, k->cuda->call.launch(k->kernel[which], (unsigned)blocks, 1, 1, threads, 1, 1, shared_bytes, NULL, parameters, NULL),
      kernels[which].name, error);
}

int mill_maker_start(struct mill_maker *k, int which, uint64_t blocks, uint32_t threads, uint32_t shared_bytes,
                     const struct mill_device_connection *c, struct mill_error *error)
{
  void *parameters[] = {(void *)(uintptr_t)c};
  return mill_maker_launch(k, which, blocks, threads, shared_bytes, parameters, error);
}

/* What the kernels found, once they are done. */
int mill_maker_fetch(struct mill_maker *k, const struct mill_device_connection *c, uint64_t found[4], struct mill_error *error)
{
  return mill_cuda_check(k->cuda, k->cuda->call.synchronize(), "making synapses", error) < 0 ||
                 mill_cuda_download(k->cuda, found, c->found, 4 * sizeof *found, error) < 0
             ? -1
             : 0;
}

int mill_maker_check(const char *name, uint64_t groups, struct mill_error *error)
{
  if (groups <= MILL_GROUPS_MAX)
    return 0;
  return mill_fail(error, MILL_RESOURCES, "projection `%s` has more synapses than the %llu that one can have on a GPU", name,
                   (unsigned long long)MILL_GROUPS_MAX * MILL_GROUP);
}

int mill_maker_room(struct mill_maker *k, const struct mill_cut *cut, struct mill_device_connection *c, struct mill_error *error)
{
  return mill_cuda_allocate(k->cuda, "synapses", c->room * MILL_GROUP * (cut->narrow ? 2 : 4), &c->target, error);
}

/* ---- All of it -------------------------------------------------------------------------------------------------------------- */

static int count_sources(struct mill_maker *k, const struct mill_cut *cut, const struct mill_device_connection *c,
                         struct mill_error *error)
{
  const uint32_t side = c->blocks < 16 ? c->blocks : 16;
  if (cut->narrow && c->width > k->cuda->properties.shared_block / 4)
    return mill_maker_start(k, MILL_MAKER_DEGREES_BROAD, side * (uint64_t)c->slices, 512, 0, c, error);
  return cut->narrow ? mill_maker_start(k, MILL_MAKER_DEGREES_NARROW, side * (uint64_t)c->slices, 512, c->width * 4, c, error)
                     : mill_maker_start(k, MILL_MAKER_DEGREES_WIDE, k->cuda->properties.multiprocessors * 4, 512, 0, c, error);
}

static void describe(const struct mill_connection *connection, const struct mill_cut *cut, struct mill_device_connection *c)
{
  uint32_t key[2] = {(uint32_t)connection->key, (uint32_t)(connection->key >> 32)};
  const int drawn = connection->rule == MILL_FIXED_PROBABILITY && connection->p < 1;
  *c = (struct mill_device_connection){.key = connection->key,
                                       .sources = connection->sources,
                                       .targets = connection->targets,
                                       .width = cut->width,
                                       .slices = cut->slices,
                                       .blocks = (uint32_t)((connection->sources + UINT64_C(255)) / MILL_ROWS),
                                       .rows = drawn                                 ? MILL_ROWS_DRAWN
                                               : connection->rule == MILL_ONE_TO_ONE ? MILL_ROWS_OF_ONE
                                                                                     : MILL_ROWS_OF_ALL,
                                       .no_autapses = connection->same && !connection->autapses};
  for (int i = 0; i < 20; i += 2) {
    c->round_key[i] = key[0];
    c->round_key[i + 1] = key[1];
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  if (!drawn)
    return;
  c->inverse = 1 / mill_log1p(-connection->p);
  c->rough = (float)(c->inverse * 0.6931471805599453);
  c->open = (float)(0.5 + ldexp(c->inverse, -20)); /* inverse is negative */
}

static int is_pairs(const struct mill_connection *c)
{
  return mill_maker_program(c) == MILL_MAKER_OF_PAIRS;
}

int mill_maker_makes(const struct mill_connection *c)
{
  if (c->rule == MILL_FIXED_PROBABILITY && !(c->p > 0))
    return 0;
  return c->sources && c->targets && (!is_pairs(c) || (mill_connection_estimate(c) && mill_connection_estimate(c) <= UINT32_MAX));
}

/* Where a connection finds its numbers: `found`, then out-degrees. */
#define FOUND_BYTES 256u

static int clear_scratch(struct mill_maker *k, struct mill_device_connection *c, struct mill_error *error)
{
  const uint64_t bytes = FOUND_BYTES + c->sources * UINT64_C(4);
  if (bytes > k->scratch_bytes) {
    mill_maker_rest(k);
    if (mill_cuda_allocate(k->cuda, "numbers of targets", bytes, &k->scratch, error) < 0)
      return -1;
    k->scratch_bytes = bytes;
  }
  c->found = k->scratch;
  c->out_degree = k->scratch + FOUND_BYTES;
  return mill_cuda_fill(k->cuda, k->scratch, 0, bytes, error);
}

int mill_maker_connect(struct mill_maker *k, const char *name, const struct mill_connection *connection, const struct mill_cut *cut,
                       const struct mill_degrees *degrees, struct mill_made *made, struct mill_error *error)
{
  struct mill_device_connection c;
  uint64_t found[4] = {0};
  int rc = -1;
  *made = (struct mill_made){0};
  describe(connection, cut, &c);
  c.in_degree = degrees->in;
  if (mill_cuda_allocate(k->cuda, "starts of runs", (uint64_t)cut->slices * c.blocks * (MILL_ROWS + 1) * 4, &c.start, error) < 0 ||
      clear_scratch(k, &c, error) < 0)
    goto done;
  if (is_pairs(connection))
    rc = mill_maker_pairs(k, name, connection, cut, &c, found, degrees->edges ? &made->edge : NULL, error);
  else
    rc = mill_maker_rows(k, name, connection, cut, &c, found, &made->once, error);
  if (rc < 0 || (c.in_degree && count_sources(k, cut, &c, error) < 0)) {
    rc = -1;
    goto done;
  }
  c.in_degree = degrees->out;
  rc = (degrees->out && mill_maker_start(k, MILL_MAKER_ADD, (c.sources + UINT64_C(255)) / 256, 256, 0, &c, error) < 0) ||
               mill_cuda_check(k->cuda, k->cuda->call.synchronize(), "making synapses", error) < 0 ||
               (degrees->length && mill_cuda_download(k->cuda, degrees->length, c.out_degree, c.sources * UINT64_C(4), error) < 0)
           ? -1
           : 0;
done:
  if (rc < 0) {
    mill_cuda_release(k->cuda, c.start);
    mill_cuda_release(k->cuda, c.target);
    mill_cuda_release(k->cuda, made->edge);
    *made = (struct mill_made){0};
    return -1;
  }
  made->start = c.start;
  made->target = c.target;
  made->groups = found[0];
  made->longest = (uint32_t)found[1];
  made->synapses = found[2];
  return 0;
}

/* ---- Weights and delays ----------------------------------------------------------------------------------------------------- */

void mill_maker_values(const struct mill_laid *laid, const struct mill_connection *connection, const struct mill_dist *dist,
                       uint64_t key, struct mill_device_values *v)
{
  *v = (struct mill_device_values){.kind = dist->kind,
                                   .a = dist->a,
                                   .b = dist->b,
                                   .lo = dist->lo,
                                   .hi = dist->hi,
                                   .key = key,
                                   .start = laid->start,
                                   .target = laid->target,
                                   .blocks = (uint32_t)((laid->sources + UINT64_C(255)) / MILL_ROWS),
                                   .slices = laid->cut.slices,
                                   .width = laid->cut.width,
                                   .narrow = laid->cut.narrow,
                                   .multapses = (uint32_t)connection->multapses};
}

/* Launches the kernel, and waits for it. */
static int find(struct mill_maker *k, uint64_t blocks, const struct mill_device_connection *c, struct mill_device_values *v,
                uint64_t found[8], struct mill_error *error)
{
  void *parameters[] = {(void *)(uintptr_t)c, v};
  int rc = mill_cuda_allocate(k->cuda, "counts", 8 * sizeof *found, &v->found, error) < 0 ||
                   mill_cuda_fill(k->cuda, v->found, 0, 8 * sizeof *found, error) < 0 ||
                   mill_maker_launch(k, MILL_MAKER_VALUES, blocks, MILL_ROWS, 0, parameters, error) < 0 ||
                   mill_cuda_check(k->cuda, k->cuda->call.synchronize(), "going through weights or delays", error) < 0 ||
                   mill_cuda_download(k->cuda, found, v->found, 8 * sizeof *found, error) < 0
               ? -1
               : 0;
  mill_cuda_release(k->cuda, v->found);
  v->found = 0;
  return rc;
}

int mill_maker_visit(struct mill_maker *k, uint32_t aim, struct mill_device_values *v, uint64_t found[8], struct mill_error *error)
{
  const struct mill_device_connection none = {0};
  v->aim = aim;
  return find(k, aim == MILL_VALUES_PICK ? (v->picks + MILL_ROWS - 1) / MILL_ROWS : v->blocks * (uint64_t)v->slices, &none, v,
              found, error);
}

/* Pairs have to be sorted to tell the delays of equal ones apart: they are made, in one slice, and given up. */
static int foresee_pairs(struct mill_maker *k, const struct mill_connection *connection, struct mill_device_values *v,
                         uint64_t found[8], struct mill_error *error)
{
  const struct mill_cut cut = {0, connection->targets, 1};
  const struct mill_dist dist = {.kind = v->kind, .a = v->a, .b = v->b, .lo = v->lo, .hi = v->hi};
  const int64_t dt_ps = v->dt_ps;
  struct mill_made made;
  int rc = mill_maker_connect(k, "in the making", connection, &cut, &(struct mill_degrees){0}, &made, error);
  if (rc < 0)
    return -1;
  mill_maker_values(&(struct mill_laid){cut, connection->sources, made.groups, made.start, made.target}, connection, &dist, v->key,
                    v);
  v->dt_ps = dt_ps;
  rc = mill_maker_visit(k, MILL_VALUES_DELAYS, v, found, error);
  mill_cuda_release(k->cuda, made.start);
  mill_cuda_release(k->cuda, made.target);
  return rc;
}

int mill_maker_foresee(struct mill_maker *k, const struct mill_connection *connection, struct mill_device_values *v,
                       uint64_t found[8], struct mill_error *error)
{
  const struct mill_cut cut = {0, connection->targets, 1};
  struct mill_device_connection c;
  if (is_pairs(connection))
    return foresee_pairs(k, connection, v, found, error);
  describe(connection, &cut, &c);
  v->aim = MILL_VALUES_FORESEEN;
  return find(k, c.blocks, &c, v, found, error);
}
