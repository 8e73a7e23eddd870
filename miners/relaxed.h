/* A2, the relaxed counter (Cao et al. 2009, section V): low bounds are dropped and a node has one time, the latest. It finds exactly the
   largest number of occurrences without overlap whose gaps are 0 … high, in the order of the stream. Each occurrence of the episode is
   one of these, so that this is a bound for its count, whatever ties mean. */
#ifndef RELAXED_H
#define RELAXED_H

#include "blocks.h"

/* What an event has to reach back to in order to be this node. */
struct relaxed_node {
  int64_t high; /* of the gap */
  int64_t time; /* the latest at which the nodes before it have ended */
};
struct relaxed_machine {
  uint64_t ended; /* the set of the nodes that have a time to reach back to */
  uint32_t length;
  struct relaxed_node node[]; /* [length + 1], from the last one, 1, to the first, which always has a time */
};

static inline void relaxed_clear(struct relaxed_machine *m)
{
  m->ended = node_at(m->length, 0);
}

static inline void relaxed_make(const void *self, struct episode *e, uint32_t length, const uint32_t *type,
                                const uint32_t *interval)
{
  const struct mill_counter_input *in = (const struct mill_counter_input *)self;
  struct relaxed_machine *m = (struct relaxed_machine *)e->machine;
  (void)type;
  m->length = length;
  relaxed_clear(m);
  m->node[length] = (struct relaxed_node){INT64_MAX, in->events ? in->time[0] : 0};
  for (uint32_t i = 0; i + 1 < length; i++)
    m->node[length - 1 - i] = (struct relaxed_node){in->interval[interval[i]].high, 0};
}

/* From the last node to the first, so that an event does not serve two. Without a jump that the processor would have to guess, as in
   machine.h. */
static inline void relaxed_event(const void *self, struct episode *e, uint64_t nodes, int64_t time)
{
  struct relaxed_machine *m = (struct relaxed_machine *)e->machine;
  uint64_t ended = m->ended, ends = 0;
  (void)self;
  do {
    const uint32_t i = (uint32_t)__builtin_ctzll(nodes);
    struct relaxed_node *next = &m->node[i], *node = next + 1;
    const uint64_t reaches = (ended >> i & 1) & (time - node->time <= node->high);
    next->time = reaches ? time : next->time;
    ended |= reaches << i >> 1;
    ends |= reaches & (i == 0);
    nodes &= nodes - 1;
  } while (nodes);
  m->ended = ended;
  if (ends) {
    e->count++;
    relaxed_clear(m);
  }
}

static inline void relaxed_take(const void *self, struct episode *e, const struct tile *tile)
{
  each_event(e, tile, relaxed_event, self);
}

/* Bounds for all candidates of a batch. */
static inline int relaxed_count(struct blocks *blocks, const struct mill_candidates *candidates, uint64_t *counts,
                                struct mill_error *error)
{
  static const struct method method = {relaxed_make, relaxed_take};
  const uint64_t bytes = sizeof(struct relaxed_machine) + (candidates->level + UINT64_C(1)) * sizeof(struct relaxed_node);
  return blocks_count(blocks, &method, blocks->in, bytes, candidates, NULL, candidates->count, counts, error);
}

#endif
