/* MapConcatenate as a counter: every candidate in segments of the stream at once (mapconcatenate.h). Nothing is kept between levels. */
#include "mapconcatenate.h"

struct parameters {
  int64_t segments;
};
static const struct mill_param_spec params[] = {
    {"segments", "", "0", NULL, "segments of the stream, a power of two; 0: as many as threads, rounded up to one", 0, SEGMENTS,
     offsetof(struct parameters, segments), MILL_INT, 0},
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

static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, NULL, NULL};
MILL_PLUGIN(MILL_COUNTER, MILL_CPU | MILL_EXACT, "mapconcatenate", "Algorithm 1, one worker per segment of the stream and episode",
            sizeof(struct parameters), params, sizeof params / sizeof *params, ops);
