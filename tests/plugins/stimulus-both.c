/* A stimulus that claims to give both events and a current. */
#include <spikemill/stimulus.h>

static int prepare(const struct mill_host *host, const void *params, const struct mill_stimulus_target *target, void **self,
                   struct mill_error *error)
{
  (void)host, (void)params, (void)target, (void)self, (void)error;
  return 0;
}
static uint32_t largest(const void *self)
{
  (void)self;
  return 1;
}
static int events(const void *self, const struct mill_stimulus_batch *batch, uint32_t *counts)
{
  (void)self, (void)batch, (void)counts;
  return 0;
}
static int current(const void *self, int64_t step, double *value)
{
  (void)self, (void)step, (void)value;
  return 0;
}
static void release(const struct mill_host *host, void *self)
{
  (void)host, (void)self;
}
#define NAME "both"
#define KIND MILL_STIMULUS
#define OPS_TABLE \
  static const struct mill_stimulus_ops ops = {.prepare = prepare, .largest = largest, .events = events, .current = current, \
                                               .release = release}
#include "broken.h"
