/* Synapse rules: one C file that says what a spike does to one synapse, for both precisions and every strategy.

   A rule is written as lists and a few functions of one synapse:

     #define MILL_PARAMS(P) P(tau_plus, "ms", 16.8, 0.01, 1e5, "time constant of …") …
     #define MILL_DECAYS(D) D(plus, -dt / v->tau_plus) …
     #define MILL_PRE(T)    T(x, plus, 0, "trace of the source's spikes") …
     #define MILL_POST(T)   T(y, minus, 0, "trace of the target's spikes") …
     #include <spikemill/synapse.h>
     static void mill_on_post(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n) …
     static mill_real mill_on_pre(…the same…) … returns the weight that is delivered
     static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p) …
     static void mill_post_up(struct mill_post *y, const struct mill_rule *p) …
     static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered) …
     MILL_SYNAPSE_RULE("stdp", "pair-based …")

   P(name, unit, default, least, greatest, doc): a parameter; p->name, a mill_real. p->dt is the step in ms.
   D(name, log): a decay; log is an expression in v (the parameters in double) and dt (ms), the logarithm of what one step leaves.
   T(name, decay, initial, doc): a trace of the source (MILL_PRE) or the target (MILL_POST), aged by the decay.
   S(name, unit, initial, doc), in MILL_SYN: state of a synapse besides its weight s->w; it does not age.
   Optional, before the #include:
   MILL_ON_BOTH: the rule has mill_on_both(…as mill_on_pre…) for a spike of the source and one of the target that meet at the synapse; else
   it is mill_on_post, then mill_on_pre.
   MILL_OWN_AGEING: traces age step by step, by mill_age(z, p), instead of through MILL_DECAYS.
   MILL_DERIVED(D), D(type, name, doc): more members of struct mill_rule, filled once by
     static const char *mill_derive(struct mill_rule *p, const struct mill_values *v, double dt)
   which returns NULL, or "KEY: what is wrong" for a refusal.
   MILL_DECAY(p, name, n): what n steps leave by a decay, for state that the functions age themselves (short-term plasticity).

   mill_bounds says what weights the rule allows, least to most (initial weights outside are refused), and delivered, the largest size of what
   a spike can deliver, from which the receptor's quantum follows; a rule that delivers more ends the run. MILL_UNBOUNDED: there is no bound, and
   the network needs accumulate = int64; MILL_INITIAL_WEIGHT as delivered: never more than the synapse's initial weight. The functions keep
   the weight within its bounds themselves.

   All delays are dendritic: a spike of the target in step s is at the synapse in step s + delay, one of the source in step k at once, and
   what it delivers reaches the target in step k + delay. The functions see the traces as they stood before the step, aged to it; n is the
   number of steps since the source's last spike, -1 when there was none. After them, traces are raised by mill_pre_up and mill_post_up.
   Rules of arithmetic are those of <spikemill/neuron.h>.

   How: this header includes the rule's file once more for single precision, and goes on in double. On a device the rule's file itself is
   compiled, in the precision of the network and in a namespace of its own; what a visit does is the same text. */
#ifndef SPIKEMILL_SYNAPSE_H
#define SPIKEMILL_SYNAPSE_H

#include <spikemill/device.h>
#include <spikemill/synapse-ops.h>

#define MILL_R(x) ((mill_real)(x))
#define MILL_TYPE_real mill_real
#define MILL_TYPE_int int32_t
#define MILL_TYPE_long int64_t
#define MILL_TYPE_double double
#define MILL_P_PARAM_(name, unit, deflt, min, max, doc) mill_real name;
#define MILL_P_VALUE_(name, unit, deflt, min, max, doc) double name;
#define MILL_P_COPY_(name, unit, deflt, min, max, doc) p->name = (mill_real)v->name;
#define MILL_V_MEMBER_(type, name, doc) MILL_TYPE_##type name;
#define MILL_T_MEMBER_(name, decay, initial, doc) mill_real name;
#define MILL_T_INITIAL_(name, decay, initial, doc) z->name = MILL_R(initial);
#define MILL_Y_MEMBER_(name, unit, initial, doc) mill_real name;

/* Several threads may do it at once. */
static inline void mill_note_over(int32_t *over)
{
#ifdef __CUDA_ARCH__
  *over = 1;
#else
  __atomic_store_n(over, 1, __ATOMIC_RELAXED);
#endif
}

/* Nearest whole number, ties to even, for |x| < 2^51. */
static inline int64_t mill_to_even(double x)
{
  const double magic = 6755399441055744.0; /* 1.5 · 2^52 */
  return (int64_t)(x + magic - magic);
}

#endif /* SPIKEMILL_SYNAPSE_H */

#ifndef MILL_COMMON_PART /* a device's program reads what is above once, for all its rules */

/* What a rule may leave out. */
#ifndef MILL_PARAMS
#define MILL_PARAMS(P)
#endif
#ifndef MILL_DECAYS
#define MILL_DECAYS(D)
#endif
#ifndef MILL_PRE
#define MILL_PRE(T)
#endif
#ifndef MILL_POST
#define MILL_POST(T)
#endif
#ifndef MILL_SYN
#define MILL_SYN(S)
#endif
#ifndef MILL_DERIVED
#define MILL_DERIVED(D)
#define MILL_NOTHING_DERIVED_
#endif

/* ---- On the host this part is read twice ---------------------------------------------------------------------------------- */

#ifndef MILL_PASS
struct mill_values { double mill_first; MILL_PARAMS(MILL_P_VALUE_) };
#define MILL_DECAY_INDEX_(name, log) MILL_DECAY_##name,
enum { MILL_DECAYS(MILL_DECAY_INDEX_) MILL_DECAY_COUNT_ };
#define MILL_S_INDEX_(name, unit, initial, doc) MILL_SYN_##name,
enum { MILL_SYN_w, MILL_SYN(MILL_S_INDEX_) MILL_SYN_COUNT_ };
#ifndef __CUDACC_RTC__
#define MILL_PASS 1
#include __BASE_FILE__
#undef MILL_PASS
#define MILL_PASS 2
#undef mill_real
#undef MILL_PASS_
#undef MILL_PRECISE_
#undef mill_syn
#undef mill_pre
#undef mill_post
#undef mill_rule
#undef mill_derive
#undef mill_on_post
#undef mill_on_pre
#undef mill_on_both
#undef mill_pre_up
#undef mill_post_up
#undef mill_age
#undef MILL_LOCAL
#undef MILL_SYNAPSE_RULE
#undef mill_bounds
#endif
#endif

#ifdef __CUDACC_RTC__ /* the composer defines mill_real */
#define MILL_SYNAPSE_RULE(name_, summary_)
#define MILL_LOCAL(name) name
#define MILL_PASS_(name) name
#ifdef MILL_SINGLE
#define MILL_PRECISE_(name) mill_##name##f
#else
#define MILL_PRECISE_(name) mill_##name
#endif
#elif MILL_PASS == 1
#define mill_real float
#define MILL_PASS_(name) name##_single
#define MILL_PRECISE_(name) mill_##name##f
#define MILL_SYNAPSE_RULE(name_, summary_) struct mill_pass_end
#else
#define mill_real double
#define MILL_PASS_(name) name##_double
#define MILL_PRECISE_(name) mill_##name
#define MILL_SYNAPSE_RULE(name_, summary_) MILL_SYNAPSE_PLUGIN_(name_, summary_)
#endif
#ifndef __CUDACC_RTC__
#define mill_syn MILL_PASS_(mill_syn)
#define mill_pre MILL_PASS_(mill_pre)
#define mill_post MILL_PASS_(mill_post)
#define mill_rule MILL_PASS_(mill_rule)
#define mill_derive MILL_PASS_(mill_derive)
#define mill_on_post MILL_PASS_(mill_on_post)
#define mill_on_pre MILL_PASS_(mill_on_pre)
#define mill_on_both MILL_PASS_(mill_on_both)
#define mill_pre_up MILL_PASS_(mill_pre_up)
#define mill_post_up MILL_PASS_(mill_post_up)
#define mill_age MILL_PASS_(mill_age)
#define mill_bounds MILL_PASS_(mill_bounds)
#define MILL_LOCAL(name) MILL_PASS_(name)
#endif

struct mill_syn { mill_real w; MILL_SYN(MILL_Y_MEMBER_) };
struct mill_pre { mill_real mill_none; MILL_PRE(MILL_T_MEMBER_) };
struct mill_post { mill_real mill_none; MILL_POST(MILL_T_MEMBER_) };
struct mill_rule { mill_real dt; const struct mill_decay *decay; MILL_PARAMS(MILL_P_PARAM_) MILL_DERIVED(MILL_V_MEMBER_) };

#define MILL_ONE_SYNAPSE_                                                                                                        \
  struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n
#ifdef __GNUC__
#define MILL_INLINE_ __attribute__((always_inline))
#define MILL_UNUSED_ __attribute__((unused))
#else
#define MILL_INLINE_
#define MILL_UNUSED_
#endif
static inline void mill_on_post(MILL_ONE_SYNAPSE_) MILL_INLINE_;
static inline mill_real mill_on_pre(MILL_ONE_SYNAPSE_) MILL_INLINE_;
#ifdef MILL_ON_BOTH
static inline mill_real mill_on_both(MILL_ONE_SYNAPSE_) MILL_INLINE_;
#endif
static inline void mill_pre_up(struct mill_pre *x, const struct mill_rule *p) MILL_INLINE_;
static inline void mill_post_up(struct mill_post *y, const struct mill_rule *p) MILL_INLINE_;
static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered) MILL_UNUSED_;
#ifndef MILL_NOTHING_DERIVED_
static const char *mill_derive(struct mill_rule *p, const struct mill_values *v, double dt);
#endif

static inline mill_real MILL_PASS_(mill_left)(const struct mill_decay *decay, int64_t n)
{
  uint64_t at = (uint64_t)n;
  return at >> 8 < decay->coarse_count ? ((const mill_real *)decay->coarse)[at >> 8] * ((const mill_real *)decay->fine)[at & 255] : 0;
}
#undef MILL_DECAY
#define MILL_DECAY(p, name, n) MILL_PASS_(mill_left)(&(p)->decay[MILL_DECAY_##name], n)

#ifdef MILL_OWN_AGEING
static inline mill_real mill_age(mill_real z, const struct mill_rule *p);
static inline mill_real MILL_PASS_(mill_age_by)(mill_real z, const struct mill_rule *p, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    z = mill_age(z, p);
  return z;
}
#undef MILL_T_AGE_
#define MILL_T_AGE_(name, decay, initial, doc) to.name = MILL_PASS_(mill_age_by)(z->name, p, n);
#else
#undef MILL_T_AGE_
#define MILL_T_AGE_(name, decay, initial, doc) to.name = z->name * MILL_DECAY(p, decay, n);
#endif

/* Traces n steps later. */
static inline struct mill_pre MILL_PASS_(mill_pre_later)(const struct mill_pre *z, const struct mill_rule *p, int64_t n)
{
  struct mill_pre to = *z;
  (void)p, (void)n;
  MILL_PRE(MILL_T_AGE_)
  return to;
}

static inline struct mill_post MILL_PASS_(mill_post_later)(const struct mill_post *z, const struct mill_rule *p, int64_t n)
{
  struct mill_post to = *z;
  (void)p, (void)n;
  MILL_POST(MILL_T_AGE_)
  return to;
}

#ifndef __CUDACC_RTC__
static const char *MILL_PASS_(mill_plugin_derive)(const void *values, double dt, void *param)
{
  const struct mill_values *v = (const struct mill_values *)values;
  struct mill_rule *p = (struct mill_rule *)param;
  p->dt = (mill_real)dt;
  MILL_PARAMS(MILL_P_COPY_)
#ifndef MILL_NOTHING_DERIVED_
  return mill_derive(p, v, dt);
#else
  (void)v;
  return 0;
#endif
}

static void MILL_PASS_(mill_plugin_pre_init)(const void *param, void *pre)
{
  struct mill_pre *z = (struct mill_pre *)pre;
  const struct mill_rule *p = (const struct mill_rule *)param;
  (void)p;
  z->mill_none = 0;
  MILL_PRE(MILL_T_INITIAL_)
}

static void MILL_PASS_(mill_plugin_post_init)(const void *param, void *post)
{
  struct mill_post *z = (struct mill_post *)post;
  const struct mill_rule *p = (const struct mill_rule *)param;
  (void)p;
  z->mill_none = 0;
  MILL_POST(MILL_T_INITIAL_)
}

static void MILL_PASS_(mill_plugin_syn_init)(const void *param, uint64_t count, void *const *syn)
{
  const struct mill_rule *p = (const struct mill_rule *)param;
  (void)p, (void)syn;
  for (uint64_t i = 0; i < count; i++) {
#undef MILL_S_INIT_
#define MILL_S_INIT_(name, unit, initial, doc) ((mill_real *)syn[MILL_SYN_##name])[i] = MILL_R(initial);
    MILL_SYN(MILL_S_INIT_)
  }
}

static void MILL_PASS_(mill_plugin_pre_spike)(const void *param, const struct mill_decay *decay, void *pre, int64_t n)
{
  struct mill_rule p = *(const struct mill_rule *)param;
  struct mill_pre *x = (struct mill_pre *)pre;
  p.decay = decay;
  *x = MILL_PASS_(mill_pre_later)(x, &p, n);
  mill_pre_up(x, &p);
}

static void MILL_PASS_(mill_plugin_post_spike)(const void *param, const struct mill_decay *decay, void *post, int64_t n)
{
  struct mill_rule p = *(const struct mill_rule *)param;
  struct mill_post *y = (struct mill_post *)post;
  p.decay = decay;
  *y = MILL_PASS_(mill_post_later)(y, &p, n);
  mill_post_up(y, &p);
}

#endif

/* A synapse on its way through a visit. */
struct MILL_PASS_(mill_walk) {
  struct mill_syn s;
  struct mill_post y;
  int64_t y_step;  /* of the spike that y stands after */
  int met;         /* a spike of the target arrives in the step in which the source fires */
};

/* A spike of the target in step `at`, the next in order, when its trace was y. */
static inline MILL_INLINE_ void MILL_PASS_(mill_meet)(struct MILL_PASS_(mill_walk) * walk, const struct mill_run *run,
                                                      const struct mill_rule *p, struct mill_post y, int64_t at, uint32_t delay,
                                                      int64_t k, int fires)
{
  const int64_t arrives = at + delay;
#ifdef MILL_ON_BOTH
  if (fires && arrives == k) {
    walk->met = 1;
    return;
  }
#endif
  if (arrives >= run->u) {
    struct mill_pre x = MILL_PASS_(mill_pre_later)((const struct mill_pre *)run->pre, p, arrives - run->k_last);
    mill_on_post(&walk->s, &x, &y, p, run->fired ? arrives - run->k_last : -1);
  }
  if (fires && arrives == k)
    return;
  mill_post_up(&y, p);
  walk->y = y;
  walk->y_step = at;
}

static inline MILL_INLINE_ void MILL_PASS_(mill_arrive)(struct MILL_PASS_(mill_walk) * walk, const struct mill_run *run,
                                                        const struct mill_rule *p, int64_t at, uint32_t delay, int64_t k, int fires)
{
  MILL_PASS_(mill_meet)(walk, run, p, MILL_PASS_(mill_post_later)(&walk->y, p, at - walk->y_step), at, delay, k, fires);
}

/* The spike of the source; returns what it delivers, in quanta. */
static inline MILL_INLINE_ int64_t MILL_PASS_(mill_fire)(struct MILL_PASS_(mill_walk) * walk, const struct mill_run *run,
                                                         const struct mill_rule *p, uint32_t delay, int64_t k)
{
  const int64_t since = k - delay - walk->y_step, n = run->fired ? k - run->k_last : -1;
  struct mill_pre x = MILL_PASS_(mill_pre_later)((const struct mill_pre *)run->pre, p, k - run->k_last);
  struct mill_post y = MILL_PASS_(mill_post_later)(&walk->y, p, since < 0 ? 0 : since);
  mill_real q;
  double quanta, most = (double)run->limit + 0.5;
#ifdef MILL_ON_BOTH
  q = walk->met ? mill_on_both(&walk->s, &x, &y, p, n) : mill_on_pre(&walk->s, &x, &y, p, n);
#else
  q = mill_on_pre(&walk->s, &x, &y, p, n);
#endif
  quanta = (double)q * run->per_unit;
  if (quanta > -most && quanta < most)
    return mill_to_even(quanta);
  mill_note_over(run->over);
  return quanta < 0 ? -run->limit : run->limit;
}

#ifndef __CUDACC_RTC__
#undef MILL_S_LOAD_
#undef MILL_S_STORE_
#define MILL_S_LOAD_(name, unit, initial, doc) walk.s.name = ((mill_real *)run->syn[MILL_SYN_##name])[run->at + i];
#define MILL_S_STORE_(name, unit, initial, doc) ((mill_real *)run->syn[MILL_SYN_##name])[run->at + i] = walk.s.name;

/* A visit; PAST walks the target's spikes that are at the synapse by step `upto`, oldest first. */
#undef MILL_VISIT_
#define MILL_VISIT_(name_, PAST)                                                                                                 \
  static void name_(const struct mill_run *run, int64_t k, int fires)                                                            \
  {                                                                                                                              \
    struct mill_rule p = *(const struct mill_rule *)run->param;                                                                  \
    p.decay = run->decay;                                                                                                        \
    for (uint32_t i = 0; i < run->count; i++) {                                                                                  \
      const uint32_t delay = run->delay ? run->delay[i] : run->delay_all, target = run->target[i];                               \
      const uint64_t *history = run->history + (uint64_t)target * run->words;                                                    \
      const int64_t upto = fires ? k : k - 1;                                                                                    \
      struct MILL_PASS_(mill_walk) walk;                                                                                         \
      walk.s.w = ((mill_real *)run->syn[MILL_SYN_w])[run->at + i];                                                               \
      MILL_SYN(MILL_S_LOAD_)                                                                                                     \
      walk.y = ((const struct mill_post *)run->post)[target];                                                                    \
      walk.y_step = run->post_step[target];                                                                                      \
      walk.met = 0;                                                                                                              \
      PAST                                                                                                                       \
      if (fires)                                                                                                                 \
        run->quanta[i] = MILL_PASS_(mill_fire)(&walk, run, &p, delay, k);                                                        \
      ((mill_real *)run->syn[MILL_SYN_w])[run->at + i] = walk.s.w;                                                               \
      MILL_SYN(MILL_S_STORE_)                                                                                                    \
    }                                                                                                                            \
  }

/* Bit b of a history is step newest - b; what is at the synapse by `upto` has b ≥ newest - upto + delay. */
#undef MILL_SCAN_
#define MILL_SCAN_                                                                                                               \
  for (int64_t b = 64 * (int64_t)run->words - 1, least = run->newest - upto + delay; b >= least; b--) {                          \
    if (history[b / 64] >> (b % 64) & 1)                                                                                         \
      MILL_PASS_(mill_arrive)(&walk, run, &p, run->newest - b, delay, k, fires);                                                 \
  }
#undef MILL_JUMP_
#define MILL_JUMP_                                                                                                               \
  for (int64_t least = run->newest - upto + delay, w = (int64_t)run->words - 1; w >= least / 64; w--) {                          \
    uint64_t bits = history[w] & (w > least / 64 ? ~UINT64_C(0) : ~UINT64_C(0) << (least % 64));                                 \
    while (bits) {                                                                                                               \
      int b = 63 - __builtin_clzll(bits);                                                                                        \
      bits ^= UINT64_C(1) << b;                                                                                                  \
      MILL_PASS_(mill_arrive)(&walk, run, &p, run->newest - (w * 64 + b), delay, k, fires);                                      \
    }                                                                                                                            \
  }
/* The target's spike of one step, if there is one; only then, or when the source fires, its trace is needed. */
#undef MILL_STEP_
#define MILL_STEP_                                                                                                               \
  const int64_t here = run->newest - upto + delay;                                                                               \
  if (fires || history[here / 64] >> (here % 64) & 1)                                                                            \
    MILL_JUMP_

MILL_VISIT_(MILL_PASS_(mill_plugin_step), MILL_STEP_)
MILL_VISIT_(MILL_PASS_(mill_plugin_scan), MILL_SCAN_)
MILL_VISIT_(MILL_PASS_(mill_plugin_jump), MILL_JUMP_)

/* Everything below belongs to the last pass. */
#ifndef MILL_FLAGS
#define MILL_FLAGS (MILL_CPU | MILL_CUDA | MILL_EXACT)
#endif
#define MILL_TEXT_(x) #x
#define MILL_P_SPEC_(name, unit, deflt, min, max, doc)                                                                           \
  {#name, unit, MILL_TEXT_(deflt), 0, doc, min, max, (uint32_t)offsetof(struct mill_values, name), MILL_REAL, 0},
#define MILL_S_SPEC_(name, unit, initial, doc) {#name, unit, doc},
#define MILL_D_LOG_(name, log) log_step[MILL_DECAY_##name] = log;
#define MILL_CODE_(suffix, real)                                                                                                 \
  {(uint32_t)sizeof(real), (uint32_t)sizeof(struct mill_rule_##suffix), (uint32_t)sizeof(struct mill_pre_##suffix),              \
   (uint32_t)sizeof(struct mill_post_##suffix), mill_plugin_derive_##suffix, mill_plugin_pre_init_##suffix,                      \
   mill_plugin_post_init_##suffix, mill_plugin_syn_init_##suffix, mill_plugin_pre_spike_##suffix,                                \
   mill_plugin_post_spike_##suffix, mill_plugin_step_##suffix, mill_plugin_scan_##suffix, mill_plugin_jump_##suffix}

#define MILL_SYNAPSE_PLUGIN_(name_, summary_)                                                                                    \
  static void mill_decays_(const void *values, double dt, double *log_step)                                                      \
  {                                                                                                                              \
    const struct mill_values *v = (const struct mill_values *)values;                                                            \
    (void)v, (void)dt, (void)log_step;                                                                                           \
    MILL_DECAYS(MILL_D_LOG_)                                                                                                     \
  }                                                                                                                              \
  static void mill_bounds_(const void *values, double *least, double *most, double *delivered)                                   \
  {                                                                                                                              \
    mill_bounds_double((const struct mill_values *)values, least, most, delivered);                                              \
  }                                                                                                                              \
  static const struct mill_param_spec mill_params_[] = {MILL_PARAMS(MILL_P_SPEC_){0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};                \
  static const struct mill_syn_spec mill_syn_[] = {{"w", "", "weight"}, MILL_SYN(MILL_S_SPEC_)};                                 \
  static const struct mill_synapse_ops mill_ops_ = {                                                                             \
    1, MILL_SYN_COUNT_, MILL_DECAY_COUNT_, 0, mill_syn_, mill_decays_, mill_bounds_, {MILL_CODE_(single, float), MILL_CODE_(double, double)}}; \
  MILL_OWN_TEXT_                                                                                                                 \
  MILL_PLUGIN_WITH_TEXT(MILL_SYNAPSE, MILL_FLAGS, name_, summary_, sizeof(struct mill_values), mill_params_,                     \
                        (sizeof mill_params_ / sizeof *mill_params_) - 1, mill_ops_, mill_source_begin, mill_source_end,         \
                        MILL_SOURCE_FILE)
#endif

/* Functions of device.h in the precision at hand. */
#undef MILL_SQRT
#undef MILL_EXP
#undef MILL_LOG
#undef MILL_POW
#define MILL_SQRT(x) MILL_PRECISE_(sqrt)(x)
#define MILL_EXP(x) MILL_PRECISE_(exp)(x)
#define MILL_LOG(x) MILL_PRECISE_(log)(x)
#define MILL_POW(x, y) MILL_PRECISE_(pow)(x, y)

#endif /* MILL_COMMON_PART */
