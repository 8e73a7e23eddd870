/* Blocks of the device's memory, filled one after the other, and emptied in the same order. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/spike-log.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "registry.h"

#define BLOCK_BYTES (UINT64_C(32) << 20)

struct block {
  struct block *next;
  mill_cu_address address;
  uint64_t bytes, used;
  int64_t last; /* tick of the last step of its epochs */
};

struct mill_spike_log {
  struct mill_cuda *cuda;
  mill_cu_stream stream;
  uint32_t units;
  int lost;
  struct block *first, *end; /* in order; the last one is being filled */
  struct mill_log_epoch *epoch; /* [epochs] */
  uint64_t epochs, room;
};

struct mill_spike_log *mill_spike_log_create(struct mill_cuda *cuda, mill_cu_stream stream, uint32_t units)
{
  struct mill_spike_log *log = calloc(1, sizeof *log);
  if (log) {
    log->cuda = cuda;
    log->stream = stream;
    log->units = units;
  }
  return log;
}

/* Releasing waits for what uses the memory. */
static void release_first(struct mill_spike_log *log)
{
  struct block *block = log->first;
  log->first = block->next;
  if (!log->first)
    log->end = NULL;
  mill_cuda_release(log->cuda, block->address);
  free(block);
}

static void lose(struct mill_spike_log *log)
{
  while (log->first)
    release_first(log);
  free(log->epoch);
  log->epoch = NULL;
  log->epochs = log->room = 0;
  log->lost = 1;
}

void mill_spike_log_free(struct mill_spike_log *log)
{
  if (log)
    lose(log);
  free(log);
}

/* A block more. The counting needs memory too: as much as the block is left free for it. */
static int add_block(struct mill_spike_log *log, uint64_t bytes, struct mill_error *error)
{
  const uint64_t most = mill_cuda_free_bytes(log->cuda) / 2;
  struct block *block = calloc(1, sizeof *block);
  char need[32], have[32];
  if (!block)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  block->bytes = bytes > BLOCK_BYTES || BLOCK_BYTES > most ? bytes : BLOCK_BYTES;
  if (bytes > most) {
    free(block);
    return mill_fail(error, MILL_RESOURCES, "no room on the GPU for %s beside what is left for counting: %s are free",
                     mill_memory_text(need, bytes), mill_memory_text(have, 2 * most));
  }
  if (mill_cuda_allocate(log->cuda, "spikes for the miner", block->bytes, &block->address, error) < 0) {
    free(block);
    return -1;
  }
  if (log->end)
    log->end->next = block;
  else
    log->first = block;
  log->end = block;
  return 0;
}

static int add_epochs(struct mill_spike_log *log, uint64_t more, struct mill_error *error)
{
  const uint64_t room = 2 * (log->epochs + more);
  struct mill_log_epoch *bigger;
  if (log->epochs + more <= log->room)
    return 0;
  bigger = realloc(log->epoch, room * sizeof *bigger);
  if (!bigger)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  log->epoch = bigger;
  log->room = room;
  return 0;
}

static int add(struct mill_spike_log *log, mill_cu_address spike, const uint32_t *count, uint32_t epochs, int64_t first, uint32_t steps,
               struct mill_error *error)
{
  uint64_t bytes = 0;
  for (uint32_t e = 0; e < epochs; e++)
    bytes += count[e] * (uint64_t)sizeof(struct mill_device_spike);
  if (!bytes)
    return 0;
  if (add_epochs(log, epochs, error) < 0 ||
      ((!log->end || bytes > log->end->bytes - log->end->used) && add_block(log, bytes, error) < 0))
    return -1;
  struct block *block = log->end;
  mill_cu_address at = block->address + block->used;
  if (mill_cuda_check(log->cuda, log->cuda->call.copy_async(at, spike, bytes, log->stream), "keeping spikes", error) < 0)
    return -1;
  for (uint32_t e = 0; e < epochs; e++) {
    if (count[e])
      log->epoch[log->epochs++] = (struct mill_log_epoch){
          at, first + (int64_t)e * steps + 1, count[e], steps < 32 ? (UINT32_C(1) << steps) - 1 : UINT32_MAX};
    at += count[e] * (uint64_t)sizeof(struct mill_device_spike);
  }
  block->used += bytes;
  block->last = first + (int64_t)epochs * steps;
  return 0;
}

void mill_spike_log_add(struct mill_spike_log *log, mill_cu_address spike, const uint32_t *count, uint32_t epochs, int64_t first,
                        uint32_t steps)
{
  struct mill_error error;
  if (log->lost || add(log, spike, count, epochs, first, steps, &error) == 0)
    return;
  lose(log);
  mill_note("the spikes go to the miner through the host: %s", error.text);
}

void mill_spike_log_drop(struct mill_spike_log *log, int64_t tick)
{
  uint64_t past = 0;
  while (past < log->epochs && log->epoch[past].tick + 31 <= tick)
    past++;
  log->epochs -= past;
  if (past)
    memmove(log->epoch, log->epoch + past, log->epochs * sizeof *log->epoch);
  while (log->first != log->end && log->first->last <= tick)
    release_first(log);
  if (log->end && log->end->last <= tick)
    log->end->used = 0;
}

int mill_spike_log_epochs(const struct mill_spike_log *log, int64_t start, int64_t stop, struct mill_log_epoch **out, uint32_t *epochs,
                          struct mill_error *error)
{
  struct mill_log_epoch *epoch;
  uint32_t n = 0;
  *out = NULL;
  *epochs = 0;
  if (log->lost || !log->epochs)
    return 0;
  epoch = malloc(log->epochs * sizeof *epoch);
  if (!epoch)
    return mill_fail(error, MILL_RESOURCES, "out of memory for the epochs of a run");
  for (uint64_t e = 0; e < log->epochs; e++) {
    struct mill_log_epoch *to = &epoch[n];
    *to = log->epoch[e];
    for (uint32_t b = 0; b < 32; b++)
      if (to->tick + b <= start || to->tick + b > stop)
        to->steps &= ~(UINT32_C(1) << b);
    n += to->steps != 0;
  }
  if (mill_cuda_check(log->cuda, log->cuda->call.stream_synchronize(log->stream), "keeping spikes", error) < 0) {
    free(epoch);
    return -1;
  }
  *out = epoch;
  *epochs = n;
  return 0;
}

uint32_t mill_spike_log_units(const struct mill_spike_log *log)
{
  return log->units;
}

int mill_spike_log_is_whole(const struct mill_spike_log *log)
{
  return !log->lost;
}
