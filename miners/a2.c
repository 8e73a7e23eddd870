/* A2 as a counter: upper bounds by the relaxed machine (relaxed.h), for those who want to see what they are worth; two-pass uses them. */
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

static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, NULL, NULL};
MILL_PLUGIN(MILL_COUNTER, MILL_CPU, "a2", "the relaxed counter: low bounds are dropped, one time per node", 0, NULL, 0, ops);
