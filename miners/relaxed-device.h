/* The host's side of relaxed.cu. */
#ifndef RELAXED_DEVICE_H
#define RELAXED_DEVICE_H

#include "tiles-device.h"

/* Counts into the device's memory. */
static inline int relaxed_launch(struct tiles *t, const struct mill_device_kernel *kernel, struct tiles_batch batch,
                                 uint64_t counts, struct mill_error *error)
{
  const uint32_t each = (batch.level - 1) * 2 * t->stream.time_bytes + batch.level * (uint32_t)sizeof(uint32_t);
  const uint32_t threads = tiles_threads(t, batch.count, each);
  void *arguments[] = {&t->stream, &batch, &counts};
  return t->device->launch(t->device->self, kernel, (batch.count + threads - 1) / threads, threads,
                           threads * each + batch.rows * ROW_BYTES, arguments, error);
}

static inline int relaxed_on_device(struct tiles *t, const struct mill_device_kernel *kernel, const struct tiles_batch *sent,
                                    uint64_t *counts, struct mill_error *error)
{
  return relaxed_launch(t, kernel, *sent, t->counts.address, error) || tiles_fetch(t, NULL, sent->count, counts, error) ? -1 : 0;
}

/* A bound for a type: its events, whatever ties mean. */
static inline void relaxed_level_one(const struct mill_counter_input *in, const struct mill_candidates *c, uint64_t *counts)
{
  for (uint32_t k = 0; k < c->count; k++)
    counts[k] = length_of(in, c->type[k]);
}

#endif
