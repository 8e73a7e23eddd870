/* A2 + A1 (Cao et al. 2009, section V): the relaxed counter first, and Algorithm 1 for what it does not rule out. The relaxed count is an
   upper bound, so that a candidate whose bound is below the threshold is not frequent; the bound stands for its count then. */
#include "algorithm-1-there.h"
#include "ptpe.h"
#include "relaxed-device.h"
#include "relaxed.h"

struct counter {
  const struct mill_host *host;
  struct ptpe ptpe;
  uint64_t culled; /* of the level that is counted */
};

static void close_counter(void *self)
{
  struct counter *counter = (struct counter *)self;
  const struct mill_host *host = counter->host;
  ptpe_close(&counter->ptpe, host);
  host->release(counter);
}

static int open_counter(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **self,
                        struct mill_error *error)
{
  struct counter *counter = (struct counter *)host->allocate("two-pass counter", 1, sizeof *counter);
  (void)params;
  if (!counter)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  counter->host = host;
  if (ptpe_open(&counter->ptpe, host, input, error)) {
    close_counter(counter);
    return -1;
  }
  *self = counter;
  return 0;
}

static int count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  struct counter *counter = (struct counter *)self;
  const struct mill_host *host = counter->host;
  uint32_t *left = (uint32_t *)host->allocate("candidates of the second pass", candidates->count, sizeof *left), n = 0;
  if (!left)
    return host->fail(error, MILL_RESOURCES, "no memory for a batch of %u candidates", candidates->count);
  int failed = relaxed_count(&counter->ptpe.blocks, candidates, counts, error);
  for (uint32_t k = 0; k < candidates->count && !failed; k++)
    if (counts[k] >= counter->ptpe.blocks.in->threshold)
      left[n++] = k;
  if (!failed)
    failed = ptpe_count(&counter->ptpe, candidates, left, n, counts, error);
  host->release(left);
  if (candidates->first == 0)
    counter->culled = 0;
  counter->culled += candidates->count - n;
  return failed;
}

static void tell(void *self, struct mill_counter_level *level)
{
  level->culled = ((struct counter *)self)->culled;
}

/* ---- On a device ---- */

struct on_device {
  const struct mill_host *host;
  struct a1 a1;
  const struct mill_device_kernel *relaxed;
  uint64_t culled;
};

static void device_close(void *self)
{
  struct on_device *counter = (struct on_device *)self;
  a1_close(&counter->a1);
  counter->host->release(counter);
}

static int device_open(const struct mill_host *host, const struct mill_device_host *device, const void *params,
                       const struct mill_counter_input *input, const struct mill_device_stream *stream, void **self,
                       struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)host->allocate("two-pass counter", 1, sizeof *counter);
  (void)params;
  if (!counter)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  counter->host = host;
  if (a1_open(&counter->a1, host, device, input, stream, 0, error) ||
      device->kernel(device->self, "relaxed_count", &counter->relaxed, error)) {
    device_close(counter);
    return -1;
  }
  *self = counter;
  return 0;
}

/* Bounds, then the counts of those whose bound reaches the threshold, which left[0 … n - 1] tells. */
static int device_passes(struct on_device *counter, const struct mill_candidates *c, uint32_t *left, uint32_t *n, uint64_t *counts,
                         struct mill_error *error)
{
  struct a1 *a1 = &counter->a1;
  struct tiles_batch batch;
  const int first = c->level == 1;
  if (first)
    relaxed_level_one(a1->tiles.in, c, counts);
  else if (tiles_send(&a1->tiles, c, &batch, error) || relaxed_on_device(&a1->tiles, counter->relaxed, &batch, counts, error))
    return -1;
  for (uint32_t k = 0; k < c->count; k++)
    if (counts[k] >= a1->tiles.in->threshold)
      left[(*n)++] = k;
  if (!first)
    return ptpe_on_device(a1, c, &batch, left, *n, counts, error);
  for (uint32_t i = 0; i < *n; i++)
    counts[left[i]] = events_of(a1->tiles.in, c->type[left[i]]);
  return 0;
}

static int device_count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)self;
  uint32_t *left = (uint32_t *)counter->host->allocate("candidates of the second pass", candidates->count, sizeof *left), n = 0;
  if (!left)
    return counter->host->fail(error, MILL_RESOURCES, "no memory for a batch of %u candidates", candidates->count);
  const int failed = device_passes(counter, candidates, left, &n, counts, error);
  counter->host->release(left);
  if (candidates->first == 0)
    counter->culled = 0;
  counter->culled += candidates->count - n;
  return failed;
}

static void device_tell(void *self, struct mill_counter_level *level)
{
  level->culled = ((struct on_device *)self)->culled;
}

static int count_there(void *self, const struct mill_device_candidates *candidates, struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)self;
  struct a1 *a1 = &counter->a1;
  const uint64_t threshold = a1->tiles.in->threshold;
  struct tiles_batch batch = tiles_there(&a1->tiles, candidates), left;
  uint32_t n, longest;
  if (relaxed_launch(&a1->tiles, counter->relaxed, batch, candidates->result, error) ||
      there_select(a1, candidates->result, batch.count, threshold < NO_COUNT ? (uint32_t)threshold : NO_COUNT, &a1->left, &n,
                   error))
    return -1;
  if (candidates->first == 0)
    counter->culled = 0;
  counter->culled += candidates->count - n;
  left = batch;
  left.which = a1->left.address;
  left.count = n;
  if (!n)
    return 0;
  return there_longest(a1, &left, &longest, error) || ptpe_there(a1, &batch, left.which, n, longest, candidates->result, error) ? -1
                                                                                                                                : 0;
}

static const struct mill_counter_there there = {sizeof there, 1, count_there, NULL};

static const unsigned char text[] = {
#include "miners/tiles.cu_text"
#include "miners/relaxed.cu_text"
#include "miners/algorithm-1.cu_text"
};
static const struct mill_counter_device on_device = {device_open,  device_count, mill_keep_nothing,
                                                     device_close, device_tell,  &there, NULL};
static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, tell, &on_device};
MILL_PLUGIN_WITH_TEXT(MILL_COUNTER, MILL_CPU | MILL_CUDA | MILL_EXACT, "two-pass",
                      "the relaxed counter rules candidates out, Algorithm 1 counts the others", 0, NULL, 0, ops, text,
                      text + sizeof text, "miners/tiles.cu");
