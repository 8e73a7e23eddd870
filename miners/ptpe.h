/* PTPE: Algorithm 1 for every episode over the whole stream, in blocks. */
#ifndef PTPE_H
#define PTPE_H

#include "blocks.h"
#include "machine.h"

struct ptpe {
  struct blocks blocks;
  struct bounds bounds;
};

static inline void ptpe_close(struct ptpe *ptpe, const struct mill_host *host)
{
  blocks_close(&ptpe->blocks);
  host->release(ptpe->bounds.most);
}

/* Zeroed before; closed also after a failure. */
static inline int ptpe_open(struct ptpe *ptpe, const struct mill_host *host, const struct mill_counter_input *input,
                            struct mill_error *error)
{
  const int failed = blocks_open(&ptpe->blocks, host, input, error) || bounds_open(&ptpe->bounds, host, input, error);
  ptpe->blocks.beside = bounds_bytes(input);
  return failed ? -1 : 0;
}

/* In the memory of an episode; the machine of its nodes follows. */
struct ptpe_machine {
  int64_t completed; /* the time of the last completion, when there is one */
};

static inline void ptpe_make(const void *self, struct episode *e, uint32_t length, const uint32_t *type, const uint32_t *interval)
{
  machine_make((struct ptpe_machine *)e->machine + 1, (const struct bounds *)self, length, type, interval);
}

static inline void ptpe_event(const void *self, struct episode *e, uint64_t nodes, int64_t time)
{
  struct ptpe_machine *p = (struct ptpe_machine *)e->machine;
  struct machine *m = (struct machine *)(p + 1);
  (void)self;
  if (machine_take(m, nodes, time)) {
    e->count++;
    p->completed = time;
    machine_clear(m);
  }
}

static inline void ptpe_event_strict(const void *self, struct episode *e, uint64_t nodes, int64_t time)
{
  const struct ptpe_machine *p = (const struct ptpe_machine *)e->machine;
  if (!e->count || time != p->completed)
    ptpe_event(self, e, nodes, time);
}

static inline void ptpe_take(const void *self, struct episode *e, const struct tile *tile)
{
  each_event(e, tile, ptpe_event, self);
}

static inline void ptpe_take_strict(const void *self, struct episode *e, const struct tile *tile)
{
  each_event(e, tile, ptpe_event_strict, self);
}

/* Counts the candidates which[0 … count - 1] of a batch, or the first `count` when `which` is NULL. */
static inline int ptpe_count(struct ptpe *ptpe, const struct mill_candidates *candidates, const uint32_t *which, uint32_t count,
                             uint64_t *counts, struct mill_error *error)
{
  static const struct method method[2] = {{ptpe_make, ptpe_take}, {ptpe_make, ptpe_take_strict}};
  const uint64_t bytes = machine_bytes_most(&ptpe->bounds, candidates) + sizeof(struct ptpe_machine);
  return blocks_count(&ptpe->blocks, &method[ptpe->bounds.in->strict], &ptpe->bounds, bytes, candidates, which, count, counts,
                      error);
}

#endif
