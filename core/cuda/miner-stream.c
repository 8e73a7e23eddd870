/* The stream of a counting in the device's memory. Times are sent as 32-bit offsets when they fit. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/miner-private.h"

#include <string.h>

#include "memory.h"

static int put(struct mill_miner *m, int array, const char *name, const void *from, uint64_t bytes, struct mill_error *error)
{
  if (!m->array[array] || bytes > m->room[array]) {
    mill_cuda_release(m->cuda, m->array[array]);
    m->room[array] = 0;
    if (mill_miner_allocate(m, name, bytes, &m->array[array], error) < 0)
      return -1;
    m->room[array] = bytes;
  }
  return mill_cuda_upload(m->cuda, m->array[array], from, bytes, error);
}

/* Times, all of them less the first one when they are to be of 32 bits. */
static int put_times(struct mill_miner *m, int array, const char *name, const struct mill_counter_input *in, const int64_t *time,
                     struct mill_error *error)
{
  int32_t *narrow;
  int rc;
  if (!m->narrow)
    return put(m, array, name, time, in->events * (uint64_t)sizeof *time, error);
  narrow = mill_allocate_or_fail(name, in->events, sizeof *narrow, error);
  if (!narrow)
    return -1;
  for (uint32_t i = 0; i < in->events; i++)
    narrow[i] = (int32_t)((uint64_t)time[i] - (uint64_t)in->time[0]);
  rc = put(m, array, name, narrow, in->events * (uint64_t)sizeof *narrow, error);
  mill_release(narrow);
  return rc;
}

static int32_t clamp(int64_t bound)
{
  return bound > INT32_MAX ? INT32_MAX : (int32_t)bound;
}

static int put_intervals(struct mill_miner *m, const struct mill_counter_input *in, struct mill_error *error)
{
  const uint64_t count = in->interval_count;
  int32_t *narrow;
  int rc;
  if (!m->narrow)
    return put(m, MILL_MINER_INTERVAL, "intervals", in->interval, count * sizeof *in->interval, error);
  narrow = mill_allocate_or_fail("intervals", 2 * count, sizeof *narrow, error);
  if (!narrow)
    return -1;
  for (uint64_t j = 0; j < count; j++) {
    narrow[2 * j] = clamp(in->interval[j].low);
    narrow[2 * j + 1] = clamp(in->interval[j].high);
  }
  rc = put(m, MILL_MINER_INTERVAL, "intervals", narrow, 2 * count * sizeof *narrow, error);
  mill_release(narrow);
  return rc;
}

int mill_miner_begin(struct mill_miner *m, const struct mill_counter_input *in, struct mill_error *error)
{
  const uint64_t n = in->events;
  if (mill_cuda_attach(m->cuda, error) < 0 ||
      mill_miner_load(m, !m->wide && (!n || mill_miner_is_narrow(in->time[0], in->time[n - 1])), error) < 0 ||
      put_times(m, MILL_MINER_TIME, "times of events", in, in->time, error) < 0 ||
      put_times(m, MILL_MINER_TYPE_TIME, "times by type", in, in->type_time, error) < 0 ||
      put(m, MILL_MINER_TYPE, "types of events", in->type, n * sizeof *in->type, error) < 0 ||
      put(m, MILL_MINER_ORDER, "order of events", in->order, n * sizeof *in->order, error) < 0 ||
      put(m, MILL_MINER_TYPE_ORDER, "order by type", in->type_order, n * sizeof *in->type_order, error) < 0 ||
      put(m, MILL_MINER_FIRST, "first events of types", in->first, (in->types + UINT64_C(1)) * sizeof *in->first, error) < 0 ||
      put_intervals(m, in, error) < 0)
    return -1;
  m->device = (struct mill_device_stream){.time = m->array[MILL_MINER_TIME],
                                          .type = m->array[MILL_MINER_TYPE],
                                          .order = m->array[MILL_MINER_ORDER],
                                          .first = m->array[MILL_MINER_FIRST],
                                          .type_time = m->array[MILL_MINER_TYPE_TIME],
                                          .type_order = m->array[MILL_MINER_TYPE_ORDER],
                                          .interval = m->array[MILL_MINER_INTERVAL],
                                          .events = in->events,
                                          .types = in->types,
                                          .intervals = in->interval_count,
                                          .strict = in->strict,
                                          .time_bytes = m->narrow ? 4 : 8};
  return 0;
}
