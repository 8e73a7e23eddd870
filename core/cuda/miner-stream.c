/* The stream of a counting in the device's memory. Times and types are sent, times as 32-bit offsets when they fit, or are there already
   (miner-log.c); what follows from them is made there (stream.cu). */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/miner-private.h"

#include <string.h>

#define PIECE (UINT64_C(1) << 18) /* events that are sent at a time */
#define SMALL (UINT64_C(1) << 20) /* bytes of an array */

/* As in stream.cu. */
enum { THREADS = 256, DIGIT_BITS = 8, ALONE = 4096 }; /* events that one block sorts */
struct sorting {
  uint64_t time, type, order, first, type_time, type_order, sorted, place[2], table;
  uint32_t events, types, strict, passes;
  uint32_t runs, run;
};
_Static_assert(sizeof(struct sorting) == 104, "as in stream.cu");

static int reserve(struct mill_miner *m, int array, const char *name, uint64_t bytes, struct mill_error *error)
{
  if (m->array[array] && bytes <= m->room[array])
    return 0;
  mill_cuda_release(m->cuda, m->array[array]); /* waits for what uses it */
  m->array[array] = 0;
  m->room[array] = 0;
  if (bytes < SMALL) /* the next stream may be a little longer */
    bytes *= 2;
  if (mill_miner_allocate(m, name, bytes, &m->array[array], error) < 0)
    return -1;
  m->room[array] = bytes;
  return 0;
}

static int reserve_all(struct mill_miner *m, const struct mill_counter_input *in, struct mill_error *error)
{
  const uint64_t n = in->events, time = m->narrow ? sizeof(int32_t) : sizeof(int64_t), number = sizeof(uint32_t);
  const struct {
    int array;
    const char *name;
    uint64_t bytes;
  } row[] = {
      {MILL_MINER_TIME, "times of events", n * time},
      {MILL_MINER_TYPE_TIME, "times by type", n * time},
      {MILL_MINER_TYPE, "types of events", n * number},
      {MILL_MINER_ORDER, "order of events", n * number},
      {MILL_MINER_TYPE_ORDER, "order by type", n * number},
      {MILL_MINER_FIRST, "first events of types", (in->types + UINT64_C(1)) * number},
      {MILL_MINER_INTERVAL, "intervals", in->interval_count * 2 * time},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    if (reserve(m, row[i].array, row[i].name, row[i].bytes, error) < 0)
      return -1;
  return 0;
}

/* ---- What is sent --------------------------------------------------------------------------------------------------------- */

static void write_times(const struct mill_miner *m, const struct mill_counter_input *in, uint64_t first, uint64_t n, void *to)
{
  int32_t *narrow = to;
  if (!m->narrow)
    memcpy(to, in->time + first, n * sizeof *in->time);
  for (uint64_t i = 0; m->narrow && i < n; i++)
    narrow[i] = (int32_t)((uint64_t)in->time[first + i] - (uint64_t)in->time[0]);
}

static void write_types(const struct mill_miner *m, const struct mill_counter_input *in, uint64_t first, uint64_t n, void *to)
{
  (void)m;
  memcpy(to, in->type + first, n * sizeof *in->type);
}

static int32_t clamp(int64_t bound)
{
  return bound > INT32_MAX ? INT32_MAX : (int32_t)bound;
}

static void write_intervals(const struct mill_miner *m, const struct mill_counter_input *in, uint64_t first, uint64_t n, void *to)
{
  int32_t *narrow = to;
  if (!m->narrow)
    memcpy(to, in->interval + first, n * sizeof *in->interval);
  for (uint64_t i = 0; m->narrow && i < n; i++) {
    narrow[2 * i] = clamp(in->interval[first + i].low);
    narrow[2 * i + 1] = clamp(in->interval[first + i].high);
  }
}

/* Sends an array of `count` entries of `size` bytes, which `write` puts into pinned memory piece by piece. */
static int send(struct mill_miner *m, const struct mill_counter_input *in, int array, uint64_t count, uint64_t size,
                void (*write)(const struct mill_miner *m, const struct mill_counter_input *in, uint64_t first, uint64_t n, void *to),
                struct mill_error *error)
{
  for (uint64_t first = 0; first < count; first += PIECE) {
    const uint64_t n = count - first < PIECE ? count - first : PIECE;
    char *stage;
    if (mill_miner_stage(m, n * size, &stage, error) < 0)
      return -1;
    write(m, in, first, n, stage);
    if (mill_cuda_check(m->cuda, m->cuda->call.upload_async(m->array[array] + first * size, stage, n * size, m->stream),
                        "copying to the device", error) < 0)
      return -1;
  }
  return 0;
}

/* ---- What is made there --------------------------------------------------------------------------------------------------- */

int mill_miner_launch(struct mill_miner *m, const char *name, uint32_t blocks, uint32_t shared, void **argument,
                      struct mill_error *error)
{
  const struct mill_device_kernel *kernel;
  return m->host.kernel(m, name, &kernel, error) < 0 ? -1 : m->host.launch(m, kernel, blocks, THREADS, shared, argument, error);
}

static int launch(struct mill_miner *m, const char *name, uint32_t blocks, void **argument, struct mill_error *error)
{
  return mill_miner_launch(m, name, blocks, 0, argument, error);
}

int mill_miner_scan(struct mill_miner *m, mill_cu_address table, uint32_t entries, struct mill_error *error)
{
  struct sorting s = {.table = table};
  void *argument[] = {&s, &entries};
  return launch(m, "mill_stream_scan", 1, argument, error);
}

/* Each step by as many blocks as there are runs. */
static int sort_runs(struct mill_miner *m, struct sorting *s, struct mill_error *error)
{
  uint32_t pass = 0;
  void *argument[] = {s, &pass};
  if ((s->strict && (launch(m, "mill_stream_ties", s->runs, argument, error) < 0 ||
                     mill_miner_scan(m, s->table, s->runs, error) < 0)) ||
      launch(m, "mill_stream_order", s->runs, argument, error) < 0)
    return -1;
  for (; pass < s->passes; pass++)
    if (launch(m, "mill_stream_count", s->runs, argument, error) < 0 || mill_miner_scan(m, s->table, s->runs * THREADS, error) < 0 ||
        launch(m, "mill_stream_place", s->runs, argument, error) < 0)
      return -1;
  return launch(m, "mill_stream_first", s->runs, argument, error);
}

static int sort_alone(struct mill_miner *m, struct sorting *s, struct mill_error *error)
{
  void *argument[] = {s};
  return launch(m, "mill_stream_whole", 1, argument, error);
}

static uint32_t passes_of(uint32_t types)
{
  uint32_t passes = 1;
  while (passes < 4 && (types - UINT64_C(1)) >> DIGIT_BITS * passes)
    passes++;
  return types ? passes : 1;
}

/* The memory for it is the plugin's when it is done, for which the next one has to ask then. */
static int make(struct mill_miner *m, const struct mill_counter_input *in, struct mill_error *error)
{
  const struct mill_device_host *host = &m->host;
  const uint64_t n = in->events, most = 4 * (uint64_t)m->cuda->properties.multiprocessors;
  struct sorting s = {.time = m->array[MILL_MINER_TIME],
                      .type = m->array[MILL_MINER_TYPE],
                      .order = m->array[MILL_MINER_ORDER],
                      .first = m->array[MILL_MINER_FIRST],
                      .type_time = m->array[MILL_MINER_TYPE_TIME],
                      .type_order = m->array[MILL_MINER_TYPE_ORDER],
                      .events = in->events,
                      .types = in->types,
                      .strict = in->strict,
                      .passes = passes_of(in->types)};
  const uint64_t blocks = n / ALONE + 1 < most ? n / ALONE + 1 : most;
  int rc = -1;
  s.run = (uint32_t)((n / blocks / THREADS + 1) * THREADS); /* at most 2^32 / 4 */
  s.runs = (uint32_t)((n + s.run - 1) / s.run);
  if (host->allocate(m, "sorted types", n * sizeof(uint32_t), &s.sorted, error) == 0 &&
      (s.passes == 1 || host->allocate(m, "places of events", n * sizeof(uint32_t), &s.place[0], error) == 0) &&
      (s.passes <= 2 || host->allocate(m, "places of events", n * sizeof(uint32_t), &s.place[1], error) == 0) &&
      (n <= ALONE || host->allocate(m, "digits of types", s.runs * THREADS * sizeof(uint32_t), &s.table, error) == 0))
    rc = n <= ALONE ? sort_alone(m, &s, error) : sort_runs(m, &s, error);
  host->release(m, s.sorted);
  host->release(m, s.place[0]);
  host->release(m, s.place[1]);
  host->release(m, s.table);
  return rc;
}

static int send_events(struct mill_miner *m, const struct mill_counter_input *in, struct mill_error *error)
{
  const uint64_t time = m->narrow ? sizeof(int32_t) : sizeof(int64_t);
  return send(m, in, MILL_MINER_TIME, in->events, time, write_times, error) < 0
             ? -1
             : send(m, in, MILL_MINER_TYPE, in->events, sizeof *in->type, write_types, error);
}

int mill_miner_begin(struct mill_miner *m, const struct mill_counter_input *in, const struct mill_miner_log *log,
                     struct mill_error *error)
{
  const int here = !log || !log->log || !mill_spike_log_is_whole(log->log);
  const uint64_t n = in->events, time = sizeof(int64_t);
  if (mill_cuda_attach(m->cuda, error) < 0 ||
      mill_miner_load(m, !m->wide && (!n || mill_miner_is_narrow(in->time[0], in->time[n - 1])), error) < 0 || reserve_all(m, in, error) < 0 ||
      (here ? send_events(m, in, error) : mill_miner_take_log(m, in, log, error)) < 0 ||
      send(m, in, MILL_MINER_INTERVAL, in->interval_count, m->narrow ? time : 2 * time, write_intervals, error) < 0 ||
      make(m, in, error) < 0)
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
