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

static int prepare(const struct mill_host *host, const void *params, const struct mill_network *network, void **self,
                   struct mill_error *error)
{
  (void)params;
  *self = cuts_make(host, network, error);
  return *self ? 0 : -1;
}

static uint64_t deliver(void *self, const struct mill_epoch *epoch, uint32_t slice, uint32_t worker)
{
  (void)worker;
  return deliver_slice((const struct cuts *)self, epoch, slice);
}

static void release(const struct mill_host *host, void *self)
{
  cuts_free(host, (struct cuts *)self);
}

static const struct mill_param_spec params[] = {
    {"slice_width", "neurons", "8192", NULL, "targets of a slice; rounded up to a multiple of 64", 64, 4294967232.0,
     offsetof(struct values, slice_width), MILL_INT, 0},
};

static const struct mill_delivery_ops ops = {serves_all, slice_width, prepare, deliver, release};
MILL_PLUGIN(MILL_DELIVERY, MILL_CPU | MILL_EXACT, "cache-aware", "all spikes through one slice of targets after another",
            sizeof(struct values), params, sizeof params / sizeof *params, ops);
