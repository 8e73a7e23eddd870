/* Row-wise delivery: for each spike the source's row is walked, target by target. A worker takes the part of the row that lies in its
   share of the targets. The baseline of Spice (Bautembach et al. 2021, section 3). */
#include "rows.h"

static uint32_t slice_width(const void *params, uint32_t size, uint32_t threads)
{
  (void)params;
  return size / threads + (size % threads != 0);
}

/* As many threads for a row as have one group of synapses each, up to a block. */
static uint32_t lanes_for(const struct mill_device_shape *shape)
{
  uint32_t lanes = 4;
  while (lanes < DEVICE_THREADS && 2 * lanes <= shape->run_groups)
    lanes *= 2;
  return lanes;
}

static void device_settle(const void *params, const struct mill_device_shape *shape, struct mill_launch *launch)
{
  (void)params;
  rows_settle(shape, lanes_for(shape), launch);
}

static uint32_t device_epoch(const void *params, const struct mill_device_shape *shape, struct mill_launch *launch, char *why,
                             size_t size)
{
  (void)params, (void)why, (void)size;
  return rows_epoch(shape, lanes_for(shape), launch);
}

static const unsigned char text[] = {
#include "plugins/delivery/row-wise.cu_text"
};
static const struct mill_delivery_device device = {.epoch = device_epoch, .settle = device_settle};
static const struct mill_delivery_ops ops = {serves_all, slice_width, rows_prepare, rows_deliver, rows_release, &device};
MILL_PLUGIN_WITH_TEXT(MILL_DELIVERY, MILL_CPU | MILL_CUDA | MILL_EXACT, "row-wise", "each spike walks its row of targets", 0, NULL,
                      0, ops, text, TEXT_END, "plugins/delivery/row-wise.cu");
