/* The arrays of a stream that a GPU makes of its events equal those that the host makes (core/counting.c): random streams and those at the limits
   of what one block, one run and one pass of the sort take, in both orders of ties, with narrow and wide times. Runs on a real GPU when there
   is one, else on the emulator. SPIKEMILL_LONG=1, or a real one: larger streams. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>

#include "gpu.h"
#include "counting.h"
#include "cuda/miner-private.h"
#include "random.h"
#include "registry.h"
#include "threads.h"

static const struct mill_plugin *plugin;
static struct mill_miner *miner;
static struct mill_team *team;

enum types { ALL, SOME, BLOCKS }; /* each event draws its type; few of the types come; runs of one type */

static const struct row {
  uint32_t events, types;
  uint32_t mean; /* ticks between events; 0: all at one time */
  int64_t first, scale;
  enum types how;
} rows[] = {
    {0, 0, 0, 0, 1, ALL},
    {0, 5, 0, 0, 1, ALL},
    {1, 1, 0, -7, 1, ALL},
    {2, 2, 0, 5, 1, ALL},
    {63, 56, 40, 1000, 1, ALL},
    {255, 256, 1, 0, 1, ALL},
    {256, 257, 1, 0, 1, ALL},
    {257, 1, 2, 0, 1, ALL},
    {1000, 26, 0, INT64_MAX, 1, ALL},
    {1000, 300, 3, INT64_MIN, 1, SOME},
    {4095, 70000, 1, 0, 1, ALL},
    {4096, 20, 1, 0, 1, BLOCKS},
    {4097, 20, 1, 0, 1, BLOCKS},
    {4097, 1, 2, 0, 1, ALL},
    {5000, 3, 2, -100, INT64_C(1) << 40, ALL},
    {9000, 256, 0, 3, 1, ALL},
    {9000, 65537, 1, -5, 1, SOME},
    {20011, 1000, 1, 0, 1, ALL},
    {40000, 1000000, 2, 0, 1, ALL},
    {40000, 4, 1, 0, INT64_C(1) << 33, BLOCKS},
    {70000, 100000, 1, 0, 1, SOME},
};
static const struct row large[] = {
    {3000000, 1, 1, 0, 1, ALL},           {3000000, 1000000, 1, 0, 1, ALL}, {30000000, 26, 1, 0, 1, ALL},
    {30000000, 20000000, 3, 0, 100, SOME}, {20000000, 256, 0, 0, 1, BLOCKS},
};

static struct mill_event *make(const struct row *row)
{
  struct mill_event *event = calloc(row->events + 1u, sizeof *event);
  int64_t at = 0;
  if (!event)
    bail("out of memory");
  for (uint32_t i = 0; i < row->events; i++) {
    at += row->mean ? draw(2 * row->mean + 1) : 0;
    const uint32_t any = draw(row->types);
    event[i].tick = row->first + at * row->scale - (row->first == INT64_MAX ? row->events : 0);
    event[i].unit = row->how == SOME ? any - any % 97 : row->how == BLOCKS ? i / 100 % row->types : any;
  }
  return event;
}

static int same(uint64_t address, const void *want, uint64_t bytes, void *got)
{
  struct mill_error error;
  if (bytes && mill_cuda_download(miner->cuda, got, address, bytes, &error))
    bail("%s", error.text);
  return memcmp(got, want, bytes) == 0;
}

/* Times as they should be there. */
static int same_times(uint64_t address, const int64_t *want, const struct mill_counter_input *in, void *got, int32_t *narrow)
{
  const uint64_t n = in->events;
  if (!miner->narrow)
    return same(address, want, n * sizeof *want, got);
  for (uint64_t i = 0; i < n; i++)
    narrow[i] = (int32_t)(want[i] - in->time[0]);
  return same(address, narrow, n * sizeof *narrow, got);
}

static void check(const struct row *row, int ties)
{
  static const struct mill_interval gap[] = {{0, 5}, {5, INT64_C(1) << 50}};
  struct mill_event *event = make(row);
  const struct mill_counting_setup setup = {.plugin = plugin,
                                            .event = event,
                                            .events = row->events,
                                            .types = row->types,
                                            .ties = ties,
                                            .interval = gap,
                                            .interval_count = 2,
                                            .threshold = 1,
                                            .team = team};
  struct mill_counting *host;
  struct mill_error error;
  void *got = calloc(row->events + row->types + 2u, sizeof(int64_t));
  int32_t *narrow = calloc(row->events + 1u, sizeof *narrow);
  if (!got || !narrow || mill_counting_open(&setup, &host, &error))
    bail("no stream to compare with");
  const struct mill_counter_input *in = mill_counting_input(host);
  const uint64_t n = in->events;
  if (mill_miner_begin(miner, in, NULL, &error) ||
      mill_cuda_check(miner->cuda, miner->cuda->call.stream_synchronize(miner->stream), "sorting", &error))
    bail("%s", error.text);
  const struct mill_device_stream *s = mill_miner_stream(miner);
  const int32_t bounds[] = {0, 5, 5, INT32_MAX};
  int good = s->events == n && s->types == in->types && s->strict == in->strict && s->intervals == 2 &&
             s->time_bytes == (miner->narrow ? 4 : 8) && miner->narrow == (row->scale == 1);
  good = good && same_times(s->time, in->time, in, got, narrow);
  good = good && same_times(s->type_time, in->type_time, in, got, narrow);
  good = good && same(s->type, in->type, n * 4, got) && same(s->order, in->order, n * 4, got);
  good = good && same(s->type_order, in->type_order, n * 4, got) && same(s->first, in->first, (in->types + UINT64_C(1)) * 4, got);
  good = good && (miner->narrow ? same(s->interval, bounds, sizeof bounds, got) : same(s->interval, gap, sizeof gap, got));
  ok(good, "%u events of %u types, times of %d bits from %" PRId64 ", ties = %s", row->events, row->types, miner->narrow ? 32 : 64,
     row->first, ties == MILL_TIES_STRICT ? "strict" : "order");
  mill_miner_end(miner);
  mill_counting_close(host);
  free(event);
  free(got);
  free(narrow);
}

static void check_all(const struct row *row, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    check(&row[i], MILL_TIES_ORDER);
    check(&row[i], MILL_TIES_STRICT);
  }
}

static void random_streams(uint32_t count)
{
  for (uint32_t k = 0; k < count; k++) {
    const struct row row = {draw(k % 4 ? 700 : 9000), 1 + draw(k % 3 ? 60 : 3000), draw(4), (int64_t)draw(1000) - 500, 1, draw(3)};
    check(&row, k % 2 ? MILL_TIES_STRICT : MILL_TIES_ORDER);
  }
}

/* ---- Spikes that are on the device already ---- */

enum { STEPS = 24, BATCHES = 12, EPOCHS = 5 };

static int by_unit(const void *a, const void *b)
{
  const struct mill_device_spike *x = a, *y = b;
  return (x->neuron > y->neuron) - (x->neuron < y->neuron);
}

/* The spikes of an epoch, each unit once and in any order; those of a bursting epoch are many. */
static uint32_t draw_epoch(struct mill_device_spike *spike, uint32_t units, uint32_t most)
{
  const uint32_t stride = 1 + draw(units - 1), n = draw(4) ? draw(most) : 0, first = draw(units);
  uint32_t unit = first, count = 0;
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t mask = draw(1 << 12) << draw(13);
    if (mask)
      spike[count++] = (struct mill_device_spike){unit, mask};
    unit = (uint32_t)((unit + (uint64_t)stride) % units);
    if (unit == first)
      break;
  }
  return count;
}

/* Events of a list in (start, stop], of an epoch that begins with step `first`. */
static uint32_t put_in_order(struct mill_device_spike *spike, uint32_t count, int64_t first, int64_t start, int64_t stop,
                             struct mill_event *event)
{
  uint32_t n = 0;
  qsort(spike, count, sizeof *spike, by_unit);
  for (uint32_t step = 0; step < STEPS; step++)
    for (uint32_t k = 0; k < count; k++)
      if (spike[k].mask >> step & 1 && first + step + 1 > start && first + step + 1 <= stop)
        event[n++] = (struct mill_event){.tick = first + step + 1, .unit = spike[k].neuron};
  return n;
}

/* Types are units with events, in their order. */
static uint32_t number(struct mill_event *event, uint32_t events, uint32_t units)
{
  uint32_t *type = calloc(units, sizeof *type), types = 0;
  if (!type)
    bail("out of memory");
  for (uint32_t i = 0; i < events; i++)
    type[event[i].unit] = 1;
  for (uint32_t u = 0; u < units; u++) {
    const uint32_t is = type[u];
    type[u] = types;
    types += is;
  }
  for (uint32_t i = 0; i < events; i++)
    event[i].unit = type[event[i].unit];
  free(type);
  return types;
}

/* jump: steps without spikes after each batch. */
static void check_log(uint32_t units, uint32_t most, int64_t first, int64_t jump, int64_t start, int64_t stop, int ties)
{
  static const struct mill_interval gap[] = {{0, 5}};
  const uint64_t room = (uint64_t)EPOCHS * most;
  struct mill_device_spike *spike = calloc(room + 1, sizeof *spike);
  struct mill_event *event = calloc(BATCHES * room * STEPS + 1, sizeof *event);
  struct mill_spike_log *log = mill_spike_log_create(miner->cuda, miner->stream, units);
  struct mill_counting *host;
  struct mill_error error;
  mill_cu_address list;
  uint32_t n = 0;
  int64_t at = first;
  if (!spike || !event || !log || mill_cuda_attach(miner->cuda, &error) ||
      mill_cuda_allocate(miner->cuda, "spikes", room * sizeof *spike, &list, &error))
    bail("no room for spikes");
  for (uint32_t b = 0; b < BATCHES; b++, at += jump) {
    uint32_t count[EPOCHS], all = 0;
    for (uint32_t e = 0; e < EPOCHS; e++)
      all += count[e] = draw_epoch(spike + all, units, most);
    if (mill_cuda_check(miner->cuda, miner->cuda->call.stream_synchronize(miner->stream), "keeping", &error) ||
        mill_cuda_upload(miner->cuda, list, spike, all * sizeof *spike, &error))
      bail("%s", error.text);
    mill_spike_log_add(log, list, count, EPOCHS, at, STEPS);
    all = 0;
    for (uint32_t e = 0; e < EPOCHS; all += count[e++], at += STEPS)
      n += put_in_order(spike + all, count[e], at, start, stop, event + n);
  }
  mill_spike_log_drop(log, start);
  const struct mill_counting_setup setup = {.plugin = plugin,
                                            .event = event,
                                            .events = n,
                                            .types = number(event, n, units),
                                            .ties = ties,
                                            .interval = gap,
                                            .interval_count = 1,
                                            .threshold = 1,
                                            .team = team};
  const struct mill_miner_log from = {log, start, stop};
  void *got = calloc(n + units + 2u, sizeof(int64_t));
  int32_t *narrow = calloc(n + 1u, sizeof *narrow);
  if (!got || !narrow || mill_counting_open(&setup, &host, &error))
    bail("no stream to compare with");
  const struct mill_counter_input *in = mill_counting_input(host);
  int good = mill_spike_log_is_whole(log) && mill_miner_begin(miner, in, &from, &error) == 0 &&
             mill_cuda_check(miner->cuda, miner->cuda->call.stream_synchronize(miner->stream), "sorting", &error) == 0;
  const struct mill_device_stream *s = mill_miner_stream(miner);
  good = good && same_times(s->time, in->time, in, got, narrow) && same_times(s->type_time, in->type_time, in, got, narrow) &&
         same(s->type, in->type, n * UINT64_C(4), got) && same(s->order, in->order, n * UINT64_C(4), got) &&
         same(s->type_order, in->type_order, n * UINT64_C(4), got) && same(s->first, in->first, (in->types + UINT64_C(1)) * 4, got);
  ok(good, "%u spikes of %u among %u units, from step %" PRId64 ", in (%" PRId64 ", %" PRId64 "]", n, in->types, units, first, start, stop);
  mill_miner_end(miner);
  mill_counting_close(host);
  mill_spike_log_free(log);
  mill_cuda_release(miner->cuda, list);
  free(spike);
  free(event);
  free(got);
  free(narrow);
}

static void logs(int longer)
{
  check_log(2, 2, 0, 0, 0, INT64_MAX, MILL_TIES_ORDER);
  check_log(100, 60, -500, 0, INT64_MIN, INT64_MAX, MILL_TIES_STRICT);
  check_log(8192, 300, 7, 0, 7, 7 + BATCHES * EPOCHS * STEPS, MILL_TIES_ORDER);
  check_log(8193, 300, 7, 0, 100, 1001, MILL_TIES_STRICT);
  check_log(40000, 200, 0, 0, 300, 300 + 3 * STEPS, MILL_TIES_ORDER);
  check_log(500, 100, 1000, 0, 1100, 1101, MILL_TIES_ORDER);
  check_log(500, 100, INT64_C(1) << 40, 0, (INT64_C(1) << 40) + 600, INT64_MAX, MILL_TIES_ORDER);
  check_log(500, 100, -77, INT64_C(1) << 33, 0, INT64_MAX, MILL_TIES_STRICT);
  check_log(4000000, longer ? 100 : 2, 0, 0, 0, INT64_MAX, MILL_TIES_ORDER); /* more than a block has bits for */
  if (longer)
    check_log(1000000, 5000, 0, 0, 500, 1000, MILL_TIES_STRICT);
}

int main(void)
{
  struct mill_error error;
  plan_later();
  const enum gpu gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  const int longer = gpu == GPU_REAL || getenv("SPIKEMILL_LONG");
  if (mill_plugin_load(MILL_COUNTER, "latest-start", NULL, &plugin, &error) || mill_team_create(1, &team, &error) || mill_miner_open(plugin, &miner, &error))
    bail("%s", error.text);
  random_seed(8);
  check_all(rows, sizeof rows / sizeof *rows);
  random_streams(longer ? 500 : 40);
  logs(gpu == GPU_REAL);
  if (gpu == GPU_REAL)
    check_all(large, sizeof large / sizeof *large);
  mill_miner_close(miner);
  mill_team_free(team);
  return done_testing();
}
