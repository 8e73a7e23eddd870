/* A2 as a counter: upper bounds by the relaxed machine (relaxed.h), for those who want to see what they are worth; two-pass uses them. */
#include "relaxed-device.h"
#include "relaxed.h"

struct counter {
  const struct mill_host *host;
  struct blocks blocks;
};

static void close_counter(void *self)
{
  struct counter *counter = (struct counter *)self;
  const struct mill_host *host = counter->host;
  blocks_close(&counter->blocks);
  host->release(counter);
}

static int open_counter(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **self,
                        struct mill_error *error)
{
  struct counter *counter = (struct counter *)host->allocate("a2 counter", 1, sizeof *counter);
  (void)params;
  if (!counter)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  counter->host = host;
  if (blocks_open(&counter->blocks, host, input, error)) {
    close_counter(counter);
    return -1;
  }
  *self = counter;
  return 0;
}

static int count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  return relaxed_count(&((struct counter *)self)->blocks, candidates, counts, error);
}

/* ---- On a device ---- */

struct on_device {
  const struct mill_host *host;
  struct tiles tiles;
  const struct mill_device_kernel *kernel;
};

static void device_close(void *self)
{
  struct on_device *counter = (struct on_device *)self;
  tiles_close(&counter->tiles);
  counter->host->release(counter);
}

static int device_open(const struct mill_host *host, const struct mill_device_host *device, const void *params,
                       const struct mill_counter_input *input, const struct mill_device_stream *stream, void **self,
                       struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)host->allocate("a2 counter", 1, sizeof *counter);
  (void)params;
  if (!counter)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  counter->host = host;
  tiles_open(&counter->tiles, host, device, input, stream);
  if (device->kernel(device->self, "relaxed_count", &counter->kernel, error)) {
    device_close(counter);
    return -1;
  }
  *self = counter;
  return 0;
}

static int device_count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)self;
  struct tiles_batch batch;
  if (candidates->level == 1) {
    relaxed_level_one(counter->tiles.in, candidates, counts);
    return 0;
  }
  if (tiles_send(&counter->tiles, candidates, &batch, error))
    return -1;
  return relaxed_on_device(&counter->tiles, counter->kernel, &batch, counts, error);
}

static int count_there(void *self, const struct mill_device_candidates *candidates, struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)self;
  return relaxed_launch(&counter->tiles, counter->kernel, tiles_there(&counter->tiles, candidates), candidates->result, error);
}

static const struct mill_counter_there there = {sizeof there, 1, count_there, NULL};

static const unsigned char text[] = {
#include "miners/tiles.cu_text"
#include "miners/relaxed.cu_text"
};
static const struct mill_counter_device on_device = {device_open, device_count, mill_keep_nothing, device_close, NULL, &there, NULL};
static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, NULL, &on_device};
MILL_PLUGIN_WITH_TEXT(MILL_COUNTER, MILL_CPU | MILL_CUDA, "a2", "the relaxed counter: low bounds are dropped, one time per node", 0,
                      NULL, 0, ops, text, text + sizeof text, "miners/tiles.cu");
