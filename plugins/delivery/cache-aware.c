/* Cache-aware delivery: the columns are cut into slices so narrow that the cells of a slice stay in the processor's cache while all spikes
   of the epoch are walked through it (Bautembach et al. 2021, section 3). */
#include <stdio.h>

#include "rows.h"

struct values {
  int64_t slice_width, columns;
};

static uint32_t slice_width(const void *params, uint32_t size, uint32_t threads)
{
  const struct values *values = (const struct values *)params;
  const uint32_t share = size / threads + (size % threads != 0);
  return values->slice_width < share ? (uint32_t)values->slice_width : share;
}

static const struct mill_param_spec specs[] = {
    {"slice_width", "neurons", "8192", NULL, "targets of a slice; rounded up to a multiple of 64", 64, 4294967232.0,
     offsetof(struct values, slice_width), MILL_INT, 0},
    {"columns", "synapses", "32", NULL, "on a GPU: synapses of a row that are taken together; a power of two", 4, 1024,
     offsetof(struct values, columns), MILL_INT, 0},
};

/* A thread takes four synapses. */
static uint32_t lanes_for(const void *params)
{
  return (uint32_t)((const struct values *)params)->columns / 4;
}

static void device_settle(const void *params, const struct mill_device_shape *shape, struct mill_launch *launch)
{
  rows_settle(shape, lanes_for(params), launch);
}

static uint32_t device_epoch(const void *params, const struct mill_device_shape *shape, struct mill_launch *launch, char *why,
                             size_t size)
{
  const int64_t columns = ((const struct values *)params)->columns;
  if (columns & (columns - 1)) {
    snprintf(why, size, "columns: expected a power of two, not %lld", (long long)columns);
    return 0;
  }
  return rows_epoch(shape, lanes_for(params), launch);
}

static const unsigned char text[] = {
#include "plugins/delivery/cache-aware.cu_text"
};
static const struct mill_delivery_device device = {.epoch = device_epoch, .settle = device_settle};

static const struct mill_delivery_ops ops = {serves_all, slice_width, rows_prepare, rows_deliver, rows_release, &device};
MILL_PLUGIN_WITH_TEXT(MILL_DELIVERY, MILL_CPU | MILL_CUDA | MILL_EXACT, "cache-aware",
                      "all spikes through one slice of targets after another", sizeof(struct values), specs,
                      sizeof specs / sizeof *specs, ops, text, TEXT_END, "plugins/delivery/cache-aware.cu");
