/* A2 + A1 (Cao et al. 2009, section V): the relaxed counter first, and Algorithm 1 for what it does not rule out. The relaxed count is an
   upper bound, so that a candidate whose bound is below the threshold is not frequent; the bound stands for its count then. */
#include "ptpe.h"
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

static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, tell, NULL};
MILL_PLUGIN(MILL_COUNTER, MILL_CPU | MILL_EXACT, "two-pass",
            "the relaxed counter rules candidates out, Algorithm 1 counts the others", 0, NULL, 0, ops);
