/* Cache-aware delivery: the columns are cut into slices so narrow that the cells of a slice stay in the processor's cache while all spikes
   of the epoch are walked through it (Bautembach et al. 2021, section 3). */
#include "rows.h"

struct values {
  int64_t slice_width;
};

static uint32_t slice_width(const void *params, uint32_t size, uint32_t threads)
{
  const struct values *values = (const struct values *)params;
  const uint32_t share = size / threads + (size % threads != 0);
  return values->slice_width < share ? (uint32_t)values->slice_width : share;
}

static const struct mill_param_spec params[] = {
    {"slice_width", "neurons", "8192", NULL, "targets of a slice; rounded up to a multiple of 64", 64, 4294967232.0,
     offsetof(struct values, slice_width), MILL_INT, 0},
};

static const struct mill_delivery_ops ops = {serves_all, slice_width, rows_prepare, rows_deliver, rows_release};
MILL_PLUGIN(MILL_DELIVERY, MILL_CPU | MILL_EXACT, "cache-aware", "all spikes through one slice of targets after another",
            sizeof(struct values), params, sizeof params / sizeof *params, ops);
