/* Times and types of a counting made from the spikes that a simulation on the same device has kept (log.cu). */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/miner-private.h"

#include <stdlib.h>

enum { THREADS = 256, ROOM_BYTES = 10 << 10 }; /* static shared memory of mill_log_write, at most */

struct work {
  struct mill_log_epoch *epoch;
  uint32_t epochs;
  uint64_t table, before, mark; /* on the device: the epochs; [epochs + 1]; [units] */
};

static uint32_t blocks_for(const struct mill_miner *m, uint64_t most)
{
  const uint64_t at_once = 8 * (uint64_t)m->cuda->properties.multiprocessors;
  return (uint32_t)(most < at_once ? most : at_once);
}

/* Words of bits that a block has: as many as the units need, or as it can have. */
static uint32_t words_for(const struct mill_miner *m, uint32_t units)
{
  const uint32_t most = (m->cuda->properties.shared_block - ROOM_BYTES) / 4 / THREADS * THREADS;
  const uint64_t wanted = (units / (32 * (uint64_t)THREADS) + 1) * THREADS;
  return wanted < most ? (uint32_t)wanted : most;
}

/* How many events the epochs have before each, and whether they are all. */
static int count_events(struct mill_miner *m, struct work *w, uint32_t events, struct mill_error *error)
{
  const uint64_t all = w->before + w->epochs * (uint64_t)sizeof(uint32_t);
  void *argument[] = {&w->table, &w->epochs, &w->before};
  uint32_t found;
  if (m->host.fill(m, all, 0, sizeof found, error) < 0 ||
      mill_miner_launch(m, "mill_log_count", blocks_for(m, w->epochs), 0, argument, error) < 0 ||
      mill_miner_scan(m, w->before, w->epochs + 1, error) < 0 || m->host.download(m, &found, all, sizeof found, error) < 0)
    return -1;
  return found == events ? 0 : mill_fail(error, MILL_RESOURCES, "the GPU has kept %u spikes, and %u were recorded", found, events);
}

static int write_events(struct mill_miner *m, struct work *w, uint32_t events, uint32_t units, struct mill_error *error)
{
  uint32_t words = words_for(m, units);
  void *argument[] = {&w->table,
                      &w->epochs,
                      &w->before,
                      &units,
                      &words,
                      &m->array[MILL_MINER_TIME],
                      &m->array[MILL_MINER_TYPE],
                      &w->mark},
       *types[] = {&m->array[MILL_MINER_TYPE], &events, &w->mark};
  if (m->host.fill(m, w->mark, 0, units * (uint64_t)sizeof(uint32_t), error) < 0 ||
      mill_miner_launch(m, "mill_log_write", blocks_for(m, w->epochs), words * 4, argument, error) < 0 ||
      mill_miner_scan(m, w->mark, units, error) < 0)
    return -1;
  return mill_miner_launch(m, "mill_log_types", blocks_for(m, events / THREADS + 1), 0, types, error);
}

int mill_miner_take_log(struct mill_miner *m, const struct mill_counter_input *in, const struct mill_miner_log *log,
                        struct mill_error *error)
{
  const struct mill_device_host *host = &m->host;
  const uint32_t units = mill_spike_log_units(log->log);
  struct work w = {0};
  int rc = -1;
  if (mill_spike_log_epochs(log->log, log->start, log->stop, &w.epoch, &w.epochs, error) < 0)
    return -1;
  const uint64_t bytes = w.epochs * (uint64_t)sizeof *w.epoch;
  for (uint32_t e = 0; m->narrow && e < w.epochs; e++)
    w.epoch[e].tick = (int64_t)((uint64_t)w.epoch[e].tick - (uint64_t)in->time[0]);
  if (host->allocate(m, "epochs", bytes, &w.table, error) == 0 &&
      host->allocate(m, "spikes before epochs", (w.epochs + UINT64_C(1)) * sizeof(uint32_t), &w.before, error) == 0 &&
      host->allocate(m, "units with spikes", units * (uint64_t)sizeof(uint32_t), &w.mark, error) == 0 &&
      host->upload(m, w.table, w.epoch, bytes, error) == 0 && count_events(m, &w, in->events, error) == 0)
    rc = write_events(m, &w, in->events, units, error);
  host->release(m, w.table);
  host->release(m, w.before);
  host->release(m, w.mark);
  free(w.epoch);
  return rc;
}
