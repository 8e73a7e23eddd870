/* Synapses on a device: from the host's rows into the layout of <spikemill/device-network.h>. */
#ifndef MILL_CUDA_ROWS_H
#define MILL_CUDA_ROWS_H

#include <spikemill/device-network.h>
#include <spikemill/network.h>
#include "connect.h"
#include "cuda/device.h"
#include "threads.h"

/* Groups of four synapses that a projection can have: a block of threads may count on by as many as it has. */
#define MILL_GROUPS_MAX (UINT32_MAX - 4096u)

/* How a projection's targets are cut: `slices` slices of `width` neurons with 16-bit targets, or (narrow 0) one slice with 32-bit ones. */
struct mill_cut {
  uint32_t narrow, width, slices;
};

/* Fills *out, whose arrays belong to `cuda`. *groups is the number of groups of four synapses, padding included. */
int mill_rows_to_device(struct mill_cuda *cuda, struct mill_team *team, const struct mill_projection *p, uint32_t sources,
                        const struct mill_cut *cut, struct mill_device_projection *out, uint64_t *groups, struct mill_error *error);

/* Synapses as they lie on a device. */
struct mill_laid {
  struct mill_cut cut;
  uint32_t sources;
  uint64_t groups;
  mill_cu_address start, target;
};

/* The way back: *rows (without `edge`), to be freed with mill_rows_free. Holds what it fetches on the host for as long as it takes. */
int mill_rows_from_device(struct mill_cuda *cuda, struct mill_team *team, const struct mill_laid *laid, struct mill_rows *rows,
                          struct mill_error *error);

/* Of columns.c. Moves an array of one entry a synapse, `bytes` each: from the host's [synapses], in the order of these rows, to the device's
   [groups][4], whose padding becomes 0, or (down 1) back. */
int mill_column_move(struct mill_cuda *cuda, struct mill_team *team, const struct mill_laid *laid, const struct mill_rows *rows,
                     void *column, uint32_t bytes, mill_cu_address there, int down, struct mill_error *error);

/* Bytes on the device of a projection with n synapses and so many rows, at most. */
uint64_t mill_rows_device_bytes(uint64_t sources, uint64_t n, const struct mill_cut *cut, uint32_t weight_bits, uint32_t delay_bits);

#endif
