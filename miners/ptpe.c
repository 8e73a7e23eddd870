/* PTPE as a counter: every candidate by Algorithm 1 over the whole stream (ptpe.h). Nothing is kept between levels. */
#include "algorithm-1-there.h"
#include "ptpe.h"

struct counter {
  const struct mill_host *host;
  struct ptpe ptpe;
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
  struct counter *counter = (struct counter *)host->allocate("ptpe counter", 1, sizeof *counter);
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
  return ptpe_count(&counter->ptpe, candidates, NULL, candidates->count, counts, error);
}

/* ---- On a device ---- */

struct on_device {
  const struct mill_host *host;
  struct a1 a1;
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
  struct on_device *counter = (struct on_device *)host->allocate("ptpe counter", 1, sizeof *counter);
  (void)params;
  if (!counter)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  counter->host = host;
  if (a1_open(&counter->a1, host, device, input, stream, 0, error)) {
    device_close(counter);
    return -1;
  }
  *self = counter;
  return 0;
}

static int device_count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  struct a1 *a1 = &((struct on_device *)self)->a1;
  struct tiles_batch batch = {0};
  if (candidates->level == 1) {
    count_level_one(a1->tiles.in, candidates, counts);
    return 0;
  }
  if (tiles_send(&a1->tiles, candidates, &batch, error))
    return -1;
  return ptpe_on_device(a1, candidates, &batch, NULL, candidates->count, counts, error);
}

static int count_there(void *self, const struct mill_device_candidates *candidates, struct mill_error *error)
{
  struct a1 *a1 = &((struct on_device *)self)->a1;
  const struct tiles_batch batch = tiles_there(&a1->tiles, candidates);
  uint32_t longest;
  if (there_longest(a1, &batch, &longest, error))
    return -1;
  return ptpe_there(a1, &batch, 0, batch.count, longest, candidates->result, error);
}

static const struct mill_counter_there there = {sizeof there, 1, count_there, NULL};

static const unsigned char text[] = {
#include "miners/tiles.cu_text"
#include "miners/algorithm-1.cu_text"
};
static const struct mill_counter_device on_device = {device_open, device_count, mill_keep_nothing, device_close, NULL, &there, NULL};
static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, NULL, &on_device};
MILL_PLUGIN_WITH_TEXT(MILL_COUNTER, MILL_CPU | MILL_CUDA | MILL_EXACT, "ptpe",
                      "Algorithm 1, one worker per episode over the whole stream", 0, NULL, 0, ops, text, text + sizeof text,
                      "miners/tiles.cu");
