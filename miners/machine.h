/* The machine of Algorithm 1 (Cao et al. 2009, arXiv 0905.2200, section IV), for the counters that run many of them: a ring of times
   in front of each node, those at which an occurrence of the nodes before it has ended since the machine was cleared.

   Only the oldest time that is not yet out of reach is looked at: of those within the gap's high bound it is the furthest back, so that
   it is above the low bound when any is. And a ring is as large as it can ever have to be: an event asks for times no further back than
   the high bound, all of events of one type, of which there are at most `most` in any window of that length, its ends included.

   Whether an event reaches back to one cannot be guessed, and a processor that guesses wrong loses more time than all of this takes. So an
   event's time is always written behind the ring, and becomes a part of it by adding 0 or 1 to its end; what stands behind a ring is the
   last time of the stream, to which nothing reaches back, so that an empty ring is no special case. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

#include <spikemill/counter.h>

#include "nodes.h"

/* What an event has to reach back to in order to be this node. */
struct node {
  int64_t low, high; /* the gap */
  int64_t *time;     /* [mask + 1] at number & mask: times first … end - 1, and behind them the last of the stream */
  uint32_t mask, first, end;
};

/* Nodes count from the last one, 1, to the first one, `length`. */
struct machine {
  int64_t last; /* time of the stream */
  uint32_t length;
  struct node
      node[]; /* [length + 1]: the first one always has a time to reach back to, and number 0 takes the times of completions */
};

/* ---- The proven size of rings ---- */

struct bounds {
  const struct mill_counter_input *in;
  uint32_t *most; /* [types][intervals]: the most events of a type within the high bound of an interval; 0: not known yet */
};

static inline uint64_t bounds_bytes(const struct mill_counter_input *in)
{
  return (uint64_t)in->types * in->interval_count * sizeof(uint32_t);
}

static inline int bounds_open(struct bounds *b, const struct mill_host *host, const struct mill_counter_input *in,
                              struct mill_error *error)
{
  b->in = in;
  b->most = (uint32_t *)host->allocate("bounds of rings", (uint64_t)in->types * in->interval_count, sizeof *b->most);
  return b->most ? 0 : host->fail(error, MILL_RESOURCES, "no memory for %u types and %u intervals", in->types, in->interval_count);
}

/* Makes sure that the bound of a type and an interval is known. Not from worker threads. */
static inline void bounds_find(const struct bounds *b, uint32_t type, uint32_t interval)
{
  const struct mill_counter_input *in = b->in;
  uint32_t *most = &b->most[(uint64_t)type * in->interval_count + interval];
  if (*most)
    return;
  *most = 1;
  for (uint32_t oldest = in->first[type], q = oldest; q < in->first[type + 1]; q++) {
    while (in->type_time[q] - in->type_time[oldest] > in->interval[interval].high)
      oldest++;
    *most = q - oldest + 1 > *most ? q - oldest + 1 : *most;
  }
}

static inline uint32_t ring_mask(const struct bounds *b, uint32_t type, uint32_t interval)
{
  return UINT32_MAX >> __builtin_clz(b->most[(uint64_t)type * b->in->interval_count + interval]);
}

/* Bytes of a machine of a candidate whose bounds are known. */
static inline uint64_t machine_bytes(const struct bounds *b, uint32_t length, const uint32_t *type, const uint32_t *interval)
{
  uint64_t times = 2;
  for (uint32_t i = 0; i + 1 < length; i++)
    times += ring_mask(b, type[i], interval[i]) + UINT64_C(1);
  return sizeof(struct machine) + (length + UINT64_C(1)) * sizeof(struct node) + times * sizeof(int64_t);
}

/* The most bytes of a machine of the candidates; finds their bounds. */
static inline uint64_t machine_bytes_most(const struct bounds *b, const struct mill_candidates *c)
{
  uint64_t most = 0;
  for (uint64_t k = 0; k < c->count; k++) {
    const uint32_t *type = c->type + k * c->level, *interval = c->level > 1 ? c->interval + k * (c->level - 1) : NULL;
    for (uint32_t i = 0; i + 1 < c->level; i++)
      bounds_find(b, type[i], interval[i]);
    const uint64_t bytes = machine_bytes(b, c->level, type, interval);
    most = bytes > most ? bytes : most;
  }
  return most;
}

/* ---- At work ---- */

static inline void machine_clear(struct machine *m)
{
  for (uint32_t i = 1; i < m->length; i++)
    m->node[i].first = m->node[i].end;
}

/* Makes an empty machine of `memory`, which has its bytes and is aligned for 64-bit numbers. The stream has events. */
static inline struct machine *machine_make(void *memory, const struct bounds *b, uint32_t length, const uint32_t *type,
                                           const uint32_t *interval)
{
  const struct mill_counter_input *in = b->in;
  struct machine *m = (struct machine *)memory;
  int64_t *time = (int64_t *)&m->node[length + UINT64_C(1)];
  m->length = length;
  m->last = in->time[in->events - 1];
  m->node[length] = (struct node){-1, INT64_MAX, time, 0, 0, 0};
  m->node[0] = (struct node){0, 0, time + 1, 0, 0, 0};
  time[0] = in->time[0];
  time += 2;
  for (uint32_t i = 0; i + 1 < length; i++) {
    const struct mill_interval *gap = &in->interval[interval[i]];
    m->node[length - 1 - i] = (struct node){gap->low, gap->high, time, ring_mask(b, type[i], interval[i]), 0, 0};
    time[0] = m->last;
    time += m->node[length - 1 - i].mask + UINT64_C(1);
  }
  return m;
}

static inline int64_t oldest(const struct node *node)
{
  return node->time[node->first & node->mask];
}

/* Takes an event that can be the nodes of a set, which is not empty. Returns whether an occurrence ends with it: the caller then clears
   the machine, unless it is after all ends. From the last node to the first, so that an event does not serve two. */
static inline int machine_take(struct machine *m, uint64_t nodes, int64_t time)
{
  uint32_t ends = 0;
  do {
    const uint32_t i = (uint32_t)__builtin_ctzll(nodes);
    struct node *next = &m->node[i], *node = next + 1;
    node->first += time - oldest(node) > node->high; /* too old for this and all later events: one at most times, */
    while (time - oldest(node) > node->high)         /* so that this is easy to guess */
      node->first++;
    const uint32_t reaches = time - oldest(node) > node->low;
    next->time[next->end & next->mask] = time;
    next->end += reaches;
    next->time[next->end & next->mask] = m->last;
    next->first += next->end - next->first > next->mask; /* what is full loses a time that is out of reach */
    ends |= reaches & (i == 0);
    nodes &= nodes - 1;
  } while (nodes);
  return (int)ends;
}

#endif
