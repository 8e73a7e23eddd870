/* PTPE as a counter: every candidate by Algorithm 1 over the whole stream (ptpe.h). Nothing is kept between levels. */
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

static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, NULL, NULL};
MILL_PLUGIN(MILL_COUNTER, MILL_CPU | MILL_EXACT, "ptpe", "Algorithm 1, one worker per episode over the whole stream", 0, NULL, 0,
            ops);
