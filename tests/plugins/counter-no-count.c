/* The ops table lacks a member. */
#include <spikemill/counter.h>
#define NAME "no-count"
#define KIND MILL_COUNTER
static int open_nothing(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **self,
                        struct mill_error *error)
{
  (void)host, (void)params, (void)input, (void)self, (void)error;
  return 0;
}
#define OPS_TABLE static const struct mill_counter_ops ops = {.open = open_nothing}
#include "broken.h"
