/* The synapse interface as the host and the strategies see it: what MILL_SYNAPSE_RULE of <spikemill/synapse.h> exports. The semantics are
   those of doc/plasticity.md. */
#ifndef SPIKEMILL_SYNAPSE_OPS_H
#define SPIKEMILL_SYNAPSE_OPS_H

#include <spikemill/device.h>
#ifndef __CUDACC_RTC__
#include <spikemill/network.h>
#include <spikemill/plugin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_UNBOUNDED 1e308
#define MILL_INITIAL_WEIGHT -1.0

#define MILL_RUN 256u /* most synapses of a run */

/* What n steps leave of a trace: coarse[n >> 8] · fine[n & 255], 0 from coarse_count on. Tables of the network's precision. */
struct mill_decay {
  const void *fine;       /* [256] */
  const void *coarse;     /* [coarse_count] */
  uint64_t coarse_count;
};

#ifdef __CUDACC_RTC__
/* On a device: what a visit needs to know of the source's row and the rule, as below. */
struct mill_run {
  const void *pre;
  int64_t k_last, u;
  uint32_t fired;
  double per_unit;
  int64_t limit;
  int32_t *over;
};
#else
/* Up to MILL_RUN synapses of one source whose targets one worker has, at work. k is the step of the visit. */
struct mill_run {
  uint32_t count;
  uint32_t delay_all;
  const uint32_t *delay;    /* [count] steps; NULL: all are delay_all */
  const uint32_t *target;   /* [count] indices within the target population */
  void *const *syn;         /* [syn_count] columns of reals, at the run's first synapse */
  uint64_t at;              /* index of the first synapse in the columns */

  /* The source's row before the visit. */
  const void *pre;          /* struct mill_pre at k_last */
  int64_t k_last;           /* last spike; the first step of the run when there was none */
  int64_t u;                /* what arrived before this step has been applied */
  uint32_t fired;           /* 0: the source has not fired yet */

  /* The targets' spikes. */
  uint32_t words;
  const uint64_t *history;  /* [targets][words] newest step in bit 0 of word 0 */
  int64_t newest;           /* the step of bit 0 */
  const void *post;         /* [targets] struct mill_post after the last spike that left the history, */
  const int64_t *post_step; /* [targets] and the step of that spike; the first step of the run when there was none */

  const void *param;        /* struct mill_rule of the network's precision */
  const struct mill_decay *decay; /* [decay_count] */
  double per_unit;          /* quanta of the receptor's ring in one unit of weight, a power of two */
  int64_t limit;            /* largest |quanta| of one synapse, of what mill_bounds says */
  int64_t *quanta;          /* [count] of what a visit with a spike delivers: written */
  int32_t *over;            /* set to 1 when a rule delivers more; then the limit is delivered, and the host ends the run */
};

/* Brings a run up to step k. fires = 1: the source fires in step k; what arrives at the synapse up to k is applied, then the spike, whose
   delivered weights are written to run->quanta. fires = 0: what arrives before k is applied. Afterwards u is k + fires. */
typedef void mill_visit_function(const struct mill_run *run, int64_t k, int fires);

/* The functions of one precision. Any thread; no two calls at once for the same synapses, rows or targets. */
struct mill_synapse_code {
  uint32_t real_size, param_size;
  uint32_t pre_size, post_size; /* of struct mill_pre and mill_post; 0 when there are no such traces */
  /* Fills the parameter struct; returns NULL or "KEY: reason" (static text). */
  const char *(*derive)(const void *values, double dt, void *param);
  void (*pre_init)(const void *param, void *pre);
  void (*post_init)(const void *param, void *post);
  /* Initial values of the columns after the weight, for `count` synapses. */
  void (*syn_init)(const void *param, uint64_t count, void *const *syn);
  /* A spike n steps after the last: ages the traces and raises them. */
  void (*pre_spike)(const void *param, const struct mill_decay *decay, void *pre, int64_t n);
  void (*post_spike)(const void *param, const struct mill_decay *decay, void *post, int64_t n);
  /* The same visits, by every step's bit of the step of the visit alone, by every bit, and from set bit to set bit. */
  mill_visit_function *step, *scan, *jump;
};

/* A column of a synapse's state besides its weight. */
struct mill_syn_spec {
  const char *name, *unit, *doc;
};

struct mill_synapse_ops {
  uint32_t plastic;       /* 0: weights are constant and nothing below is read */
  uint32_t syn_count;     /* columns, the weight included; it is column 0 */
  uint32_t decay_count;
  uint32_t reserved;
  const struct mill_syn_spec *syn; /* [syn_count] */
  /* log of what one step leaves, for each decay; ≤ 0. */
  void (*decays)(const void *values, double dt, double *log_step);
  /* Bounds of the weights, and of the size of what a spike can deliver: MILL_UNBOUNDED when the rule has none, MILL_INITIAL_WEIGHT when it
     is never more than the synapse's initial weight. */
  void (*bounds)(const void *values, double *least, double *most, double *delivered);
  struct mill_synapse_code code[2]; /* single, double */
};
#endif

#ifdef __cplusplus
}
#endif
#endif
