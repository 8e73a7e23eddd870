/* Built for ABI 0.1, whose counters end before `tell`: works, and what stands there is not called. */
#include <spikemill/counter.h>
#define NAME "older"
#define KIND MILL_COUNTER
#define MINOR 1
#define SIZE offsetof(struct mill_plugin, source_name)
#define OPS_SIZE offsetof(struct mill_counter_ops, tell)

static int open_nothing(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **self,
                        struct mill_error *error)
{
  (void)host, (void)params, (void)error;
  *self = (void *)(uintptr_t)input;
  return 0;
}

static int count_zero(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  (void)self, (void)error;
  for (uint32_t k = 0; k < candidates->count; k++)
    counts[k] = 0;
  return 0;
}

static int keep_nothing(void *self, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error)
{
  (void)self, (void)level, (void)n, (void)kept, (void)error;
  return 0;
}

static void close_nothing(void *self)
{
  (void)self;
}

#define OPS_TABLE                                                                                                                  \
  static const struct mill_counter_ops ops = {open_nothing, count_zero, keep_nothing, close_nothing,                               \
                                              (void (*)(void *, struct mill_counter_level *))1, NULL}
#include "broken.h"
