/* MapConcatenate as a counter: every candidate in segments of the stream at once (mapconcatenate.h). Nothing is kept between levels. */
#include "algorithm-1-there.h"
#include "mapconcatenate.h"

struct parameters {
  int64_t segments;
};
static const struct mill_param_spec params[] = {
    {"segments", "", "0", NULL,
     "segments of the stream, a power of two; 0: as many as threads, rounded up to one; on a GPU as many as keep it busy", 0,
     SEGMENTS, offsetof(struct parameters, segments), MILL_INT, 0},
};

struct counter {
  const struct mill_host *host;
  struct bounds bounds;
  struct mapconcatenate map;
};

static void close_counter(void *self)
{
  struct counter *counter = (struct counter *)self;
  const struct mill_host *host = counter->host;
  mapconcatenate_close(&counter->map);
  host->release(counter->bounds.most);
  host->release(counter);
}

static int open_counter(const struct mill_host *host, const void *parameters, const struct mill_counter_input *input, void **self,
                        struct mill_error *error)
{
  const int64_t segments = ((const struct parameters *)parameters)->segments;
  struct counter *counter = (struct counter *)host->allocate("mapconcatenate counter", 1, sizeof *counter);
  if (!counter)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  counter->host = host;
  if (mapconcatenate_open(&counter->map, host, input, &counter->bounds, segments, error) ||
      bounds_open(&counter->bounds, host, input, error)) {
    close_counter(counter);
    return -1;
  }
  *self = counter;
  return 0;
}

static int count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  return mapconcatenate_count(&((struct counter *)self)->map, candidates, counts, error);
}

/* ---- On a device ---- */

struct on_device {
  const struct mill_host *host;
  struct a1 a1;
  uint32_t segments; /* 0: as many as give the device enough to do */
};

static void device_close(void *self)
{
  struct on_device *counter = (struct on_device *)self;
  a1_close(&counter->a1);
  counter->host->release(counter);
}

static int device_open(const struct mill_host *host, const struct mill_device_host *device, const void *parameters,
                       const struct mill_counter_input *input, const struct mill_device_stream *stream, void **self,
                       struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)host->allocate("mapconcatenate counter", 1, sizeof *counter);
  if (!counter)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  counter->host = host;
  counter->segments = (uint32_t)((const struct parameters *)parameters)->segments;
  if (a1_open(&counter->a1, host, device, input, stream, 1, error) || map_is_power(host, counter->segments, error)) {
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
    count_level_one(counter->a1.tiles.in, candidates, counts);
    return 0;
  }
  if (tiles_send(&counter->a1.tiles, candidates, &batch, error))
    return -1;
  return map_on_device(&counter->a1, candidates, &batch, counter->segments, counts, error);
}

static int count_there(void *self, const struct mill_device_candidates *candidates, struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)self;
  const struct tiles_batch batch = tiles_there(&counter->a1.tiles, candidates);
  uint32_t longest;
  if (there_longest(&counter->a1, &batch, &longest, error))
    return -1;
  return map_there(&counter->a1, &batch, counter->segments, longest, candidates->result, error);
}

static const struct mill_counter_there there = {sizeof there, 1, count_there, NULL};

static const unsigned char text[] = {
#include "miners/tiles.cu_text"
#include "miners/algorithm-1.cu_text"
};
static const struct mill_counter_device on_device = {device_open, device_count, mill_keep_nothing, device_close, NULL, &there, NULL};
static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, NULL, &on_device};
MILL_PLUGIN_WITH_TEXT(MILL_COUNTER, MILL_CPU | MILL_CUDA | MILL_EXACT, "mapconcatenate",
                      "Algorithm 1, one worker per segment of the stream and episode", sizeof(struct parameters), params,
                      sizeof params / sizeof *params, ops, text, text + sizeof text, "miners/tiles.cu");
