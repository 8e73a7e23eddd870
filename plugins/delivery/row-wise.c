/* Row-wise delivery: for each spike the source's row is walked, target by target. A worker takes the part of the row that lies in its
   share of the targets. The baseline of Spice (Bautembach et al. 2021, section 3). */
#include "rows.h"

static uint32_t slice_width(const void *params, uint32_t size, uint32_t threads)
{
  (void)params;
  return size / threads + (size % threads != 0);
}

static const struct mill_delivery_ops ops = {serves_all, slice_width, rows_prepare, rows_deliver, rows_release};
MILL_PLUGIN(MILL_DELIVERY, MILL_CPU | MILL_EXACT, "row-wise", "each spike walks its row of targets", 0, NULL, 0, ops);
