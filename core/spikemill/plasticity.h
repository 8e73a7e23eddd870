/* Plasticity strategies: when synapse updates run (Spice 2021, section 4). The rule says what an update does; a strategy chooses which of
   the rule's visits it makes, and for which steps. All of them give the same bits (doc/plasticity.md). */
#ifndef SPIKEMILL_PLASTICITY_H
#define SPIKEMILL_PLASTICITY_H

#include <spikemill/network.h>
#include <spikemill/plugin.h>
#include <spikemill/synapse-ops.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mill_visit;

/* A plastic projection at work. Everything belongs to the core. */
struct mill_plastic {
  const struct mill_synapse_code *code;
  void (*visit)(struct mill_visit *visit); /* of the strategy */
  const void *param;
  const struct mill_decay *decay; /* [decay_count] */
  void *const *syn;               /* [syn_count][synapses] columns of reals */
  uint32_t syn_count;
  uint32_t words;                 /* of the target population's history */
  const uint64_t *history;        /* [targets][words] */
  const void *post;               /* [targets] anchors: struct mill_post */
  const int64_t *post_step;       /* [targets] and their steps */
  double per_unit;                /* quanta in one unit of weight */
  int64_t limit;                  /* largest |quanta| that a synapse may deliver, */
  int32_t *over;                  /* and where it is noted that one delivered more */
};

#define MILL_PRE_BYTES 256u /* most that the traces of a source may take */

/* Up to MILL_RUN synapses of one row, to be brought from step run.u on through the epoch. */
struct mill_visit {
  struct mill_run run;
  const struct mill_plastic *plastic;
  const struct mill_ring *ring;
  int64_t first;                  /* step of the epoch */
  uint32_t steps;
  uint32_t mask;                  /* the source's spikes: bit b is step first + b. 0: a row that is visited because it is due */
  uint32_t delay[MILL_RUN];
  int64_t quanta[MILL_RUN];
  double pre[MILL_PRE_BYTES / sizeof(double)]; /* the source's traces, on their way */
};

struct mill_plasticity_ops {
  /* 1 when the strategy can serve the network; else 0 and a reason in why[size]. A network whose rules are all static has nothing
     to update and is served by every strategy. `plastic` is the number of projections with a plastic rule. */
  int (*applicable)(const struct mill_network *network, uint32_t plastic, char *why, size_t size);
  /* 1: every row is visited in every epoch, to its end. 0: rows are visited when their source fires, up to its last spike, and when
     they have not been for so long that the targets' histories end. */
  uint32_t every_row;
  uint32_t reserved;
  /* Makes the visits of visit->run, in order of step. Any thread; runs of one call belong to one worker. */
  void (*visit)(struct mill_visit *visit);
};

/* What a visit with a spike has delivered, into the ring. */
static inline void mill_deposit(const struct mill_visit *v, int64_t k)
{
  const struct mill_run *run = &v->run;
  for (uint32_t i = 0; i < run->count; i++) {
    uint64_t slot = ((uint64_t)k + (run->delay ? run->delay[i] : run->delay_all)) & v->ring->mask;
    uint64_t cell = slot * v->ring->stride + run->target[i];
    if (v->ring->bits == 32)
      ((uint32_t *)v->ring->cell)[cell] += (uint32_t)run->quanta[i];
    else
      ((uint64_t *)v->ring->cell)[cell] += (uint64_t)run->quanta[i];
  }
}

/* The source's spike in step k, by one of the rule's visits. */
static inline void mill_visit_spike(struct mill_visit *v, mill_visit_function *visit, int64_t k)
{
  visit(&v->run, k, 1);
  mill_deposit(v, k);
  v->plastic->code->pre_spike(v->plastic->param, v->plastic->decay, v->pre, k - v->run.k_last);
  v->run.k_last = k;
  v->run.fired = 1;
  v->run.u = k + 1;
}

/* Everything that arrives before step k, by one of the rule's visits. */
static inline void mill_visit_past(struct mill_visit *v, mill_visit_function *visit, int64_t k)
{
  visit(&v->run, k, 0);
  v->run.u = k;
}

/* The visits of lazy and event-driven plasticity: one for each spike, or one to the end of the epoch when there is none. */
static inline void mill_visit_row(struct mill_visit *v, mill_visit_function *visit)
{
  for (uint32_t mask = v->mask; mask; mask &= mask - 1)
    mill_visit_spike(v, visit, v->first + __builtin_ctz(mask));
  if (!v->mask)
    mill_visit_past(v, visit, v->first + v->steps);
}

/* Brings synapses begin … end-1 of an entry's row through an epoch, MILL_RUN at a time. pre holds the source's traces. */
static inline void mill_visit(const struct mill_projection *p, const struct mill_ring *ring, const struct mill_entry *entry,
                              const void *pre, int64_t first, uint32_t steps, uint64_t begin, uint64_t end)
{
  const struct mill_plastic *plastic = p->plastic;
  struct mill_visit v;
  v.plastic = plastic;
  v.ring = ring;
  v.first = first;
  v.steps = steps;
  v.mask = entry->mask;
  for (uint64_t at = begin; at < end; at += v.run.count) {
    const uint32_t count = end - at < MILL_RUN ? (uint32_t)(end - at) : MILL_RUN;
    for (uint32_t i = 0; p->delay_bits && i < count; i++)
      v.delay[i] = p->delay_bits == 8 ? ((const uint8_t *)p->delay)[at + i] : ((const uint16_t *)p->delay)[at + i];
    memcpy(v.pre, pre, plastic->code->pre_size);
    v.run.count = count;
    v.run.delay_all = p->delay_all;
    v.run.delay = p->delay_bits ? v.delay : 0;
    v.run.target = p->column + at;
    v.run.syn = plastic->syn;
    v.run.at = at;
    v.run.pre = v.pre;
    v.run.k_last = entry->k_last;
    v.run.u = entry->u;
    v.run.fired = entry->fired;
    v.run.words = plastic->words;
    v.run.history = plastic->history;
    v.run.newest = first + steps - 1;
    v.run.post = plastic->post;
    v.run.post_step = plastic->post_step;
    v.run.param = plastic->param;
    v.run.decay = plastic->decay;
    v.run.per_unit = plastic->per_unit;
    v.run.limit = plastic->limit;
    v.run.over = plastic->over;
    v.run.quanta = v.quanta;
    plastic->visit(&v);
  }
}

#ifdef __cplusplus
}
#endif
#endif
