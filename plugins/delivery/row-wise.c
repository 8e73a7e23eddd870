/* Row-wise delivery: for each spike the source's row is walked, target by target. A worker takes the part of the row that lies in its
   share of the targets. The baseline of Spice (Bautembach et al. 2021, section 3). */
#include "rows.h"

static uint32_t slice_width(const void *params, uint32_t size, uint32_t threads)
{
  (void)params;
  return size / threads + (size % threads != 0);
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

static const struct mill_delivery_ops ops = {serves_all, slice_width, prepare, deliver, release};
MILL_PLUGIN(MILL_DELIVERY, MILL_CPU | MILL_EXACT, "row-wise", "each spike walks its row of targets", 0, NULL, 0, ops);
