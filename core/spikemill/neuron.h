/* Neuron models: one C file that serves every device and both precisions.

   A model is written as lists and one function:

     #define MILL_PARAMS(P)    P(tau_m, "ms", 20, 0.1, 1e4, "membrane time constant") …
     #define MILL_STATE(S)     S(real, v, "mV", p->e_l, "membrane potential") …
     #define MILL_RECEPTORS(R) R(exc, "nS", "excitatory conductance") …
     #include <spikemill/neuron.h>
     static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in) { … return fired; }
     MILL_NEURON_MODEL("lif", "leaky integrate-and-fire")

   P(name, unit, default, least, greatest, doc): a parameter; p->name, a mill_real. p->dt is the step in ms.
   S(type, name, unit, initial value, doc): state of a neuron; s->name. Types: real, int (32 bits), long (64 bits), double
   (in either precision). The initial value
   is an expression in p and constants; a network file may give another.
   R(name, unit, doc): a receptor; in->name is the sum of what arrived for this step. In the unit MILL_SPIKES it counts spikes: every
   weight into it must be 1.
   Optional, before the #include:
   MILL_CHOICES(C), C(name, "a|b|c", default, doc): a parameter that is one of these words, the default too in quotes; p->name and v->name
   are its place in the list, from 0 (32 bits).
   MILL_DERIVED(D), D(type, name, doc): more members of struct mill_param, filled once by
     static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt)
   from the parameters in double (v->name) and dt in ms; it returns NULL, or "KEY: what is wrong" for a refusal.
   Functions of the model's own: `#define my_helper MILL_LOCAL(my_helper)` before defining them, since the file is read twice.
   MILL_CURRENT "pA": the model takes a real-valued input, in->current, in this unit.

   mill_step advances one neuron over (k·dt, (k+1)·dt], k = in->step, and returns 1 when it fires, else 0; the spike is stamped
   (k+1)·dt. in->id is the neuron's global id and in->key a random key. Rules: only + - * / comparisons, MILL_SQRT and the functions of
   <spikemill/device.h>; constants as MILL_R(0.5); no libc. The file must also be valid C++. Compile it with the flags of
   `pkg-config --cflags spikemill-plugin`; contraction of a*b+c must be off.

   How: this header includes the model's file once more for single precision, and goes on in double. */
#ifndef SPIKEMILL_NEURON_H
#define SPIKEMILL_NEURON_H

#include <spikemill/device.h>

#ifndef __CUDACC_RTC__
#include <spikemill/neuron-ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Packs flags, one byte a neuron, into bits; flags[] is readable and zero up to the next multiple of 64. */
static inline void mill_pack(const unsigned char *flags, uint32_t count, uint64_t *bits)
{
  for (uint32_t w = 0; w < (count + 63) / 64; w++) {
    uint64_t word = 0;
    for (uint32_t b = 0; b < 8; b++) {
      uint64_t bytes = 0;
      for (uint32_t i = 0; i < 8; i++)
        bytes |= (uint64_t)flags[w * 64 + b * 8 + i] << (8 * i);
      word |= (bytes * UINT64_C(0x0102040810204080) >> 56) << (8 * b);
    }
    bits[w] = word;
  }
}

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__) && defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) &&                           \
  !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define MILL_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define MILL_CLONES
#endif
/* The columns of a batch never overlap. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that cannot be vectorised is still right */
#define MILL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define MILL_INDEPENDENT _Pragma("GCC ivdep")
#else
#define MILL_INDEPENDENT
#endif
#endif /* __CUDACC_RTC__ */

/* Steps in a duration: 1 and *steps when ms lies within a hundredth of a step of a whole number of steps, else 0. For mill_derive. */
static inline int mill_whole_steps(double ms, double dt, int32_t *steps)
{
  double exact = ms / dt, whole = (double)(int64_t)(exact + 0.5);
  if (!(exact >= 0 && exact < 2147483647.0) || exact - whole > 0.01 || whole - exact > 0.01)
    return 0;
  *steps = (int32_t)whole;
  return 1;
}

#define MILL_TYPE_real mill_real
#define MILL_TYPE_int int32_t
#define MILL_TYPE_long int64_t
#define MILL_TYPE_double double
#define MILL_R(x) ((mill_real)(x))
#define MILL_MEMBER_(type, name) MILL_TYPE_##type name;
#define MILL_P_PARAM_(name, unit, deflt, min, max, doc) mill_real name;
#define MILL_P_VALUE_(name, unit, deflt, min, max, doc) double name;
#define MILL_P_COPY_(name, unit, deflt, min, max, doc) p->name = (mill_real)v->name;
#define MILL_C_MEMBER_(name, choices, deflt, doc) int32_t name;
#define MILL_C_COPY_(name, choices, deflt, doc) p->name = v->name;
#define MILL_D_MEMBER_(type, name, doc) MILL_MEMBER_(type, name)
#define MILL_S_MEMBER_(type, name, unit, init, doc) MILL_MEMBER_(type, name)
#define MILL_R_MEMBER_(name, unit, doc) mill_real name;

/* The structs of one precision. */
#define MILL_STRUCTS_                                                                                                            \
  struct mill_state { MILL_STATE(MILL_S_MEMBER_) };                                                                              \
  struct mill_input { MILL_RECEPTORS(MILL_R_MEMBER_) mill_real current; int64_t step; uint64_t key; uint32_t id; }

#endif /* SPIKEMILL_NEURON_H */

#ifndef MILL_COMMON_PART /* a device's program reads what is above once, for all its models */

/* What a model may leave out. */
#ifndef MILL_PARAMS
#define MILL_PARAMS(P)
#endif
#ifndef MILL_CHOICES
#define MILL_CHOICES(C)
#endif
#ifndef MILL_RECEPTORS
#define MILL_RECEPTORS(R)
#endif

#ifdef __CUDACC_RTC__ /* ---- device: the composer defines mill_real and wraps the text in a namespace ---------------------- */

struct mill_values { double mill_first; MILL_PARAMS(MILL_P_VALUE_) MILL_CHOICES(MILL_C_MEMBER_) };
#ifdef MILL_DERIVED
struct mill_param { mill_real dt; MILL_PARAMS(MILL_P_PARAM_) MILL_CHOICES(MILL_C_MEMBER_) MILL_DERIVED(MILL_D_MEMBER_) };
#else
struct mill_param { mill_real dt; MILL_PARAMS(MILL_P_PARAM_) MILL_CHOICES(MILL_C_MEMBER_) };
#endif
MILL_STRUCTS_;
#define MILL_NEURON_MODEL(name_, summary_)
#define MILL_LOCAL(name) name
#ifdef MILL_SINGLE
#define MILL_PRECISE_(name) mill_##name##f
#else
#define MILL_PRECISE_(name) mill_##name
#endif

#else /* ---- host: this part is read twice ---------------------------------------------------------------------------------- */

#ifndef MILL_PASS
#define MILL_PASS 1
struct mill_values { double mill_first; MILL_PARAMS(MILL_P_VALUE_) MILL_CHOICES(MILL_C_MEMBER_) };
#define MILL_S_INDEX_(type, name, unit, init, doc) MILL_STATE_INDEX_##name,
enum { MILL_STATE(MILL_S_INDEX_) MILL_STATE_COUNT_ };
#define MILL_R_INDEX_(name, unit, doc) MILL_RECEPTOR_INDEX_##name,
enum { MILL_RECEPTORS(MILL_R_INDEX_) MILL_RECEPTOR_COUNT_ };
#include __BASE_FILE__
#undef MILL_PASS
#define MILL_PASS 2
#undef mill_real
#undef MILL_PASS_
#undef MILL_PRECISE_
#undef mill_state
#undef mill_param
#undef mill_input
#undef mill_derive
#undef mill_step
#undef MILL_LOCAL
#undef MILL_NEURON_MODEL
#endif

#if MILL_PASS == 1
#define mill_real float
#define MILL_PASS_(name) name##_single
#define MILL_PRECISE_(name) mill_##name##f
#define MILL_NEURON_MODEL(name_, summary_) struct mill_pass_end
#else
#define mill_real double
#define MILL_PASS_(name) name##_double
#define MILL_PRECISE_(name) mill_##name
#define MILL_NEURON_MODEL(name_, summary_) MILL_NEURON_PLUGIN_(name_, summary_)
#endif
#define mill_state MILL_PASS_(mill_state)
#define mill_param MILL_PASS_(mill_param)
#define mill_input MILL_PASS_(mill_input)
#define mill_derive MILL_PASS_(mill_derive)
#define mill_step MILL_PASS_(mill_step)
#define MILL_LOCAL(name) MILL_PASS_(name)

#ifdef MILL_DERIVED
struct mill_param { mill_real dt; MILL_PARAMS(MILL_P_PARAM_) MILL_CHOICES(MILL_C_MEMBER_) MILL_DERIVED(MILL_D_MEMBER_) };
static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt);
#else
struct mill_param { mill_real dt; MILL_PARAMS(MILL_P_PARAM_) MILL_CHOICES(MILL_C_MEMBER_) };
#endif
MILL_STRUCTS_;
static inline int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
#ifdef __GNUC__
  __attribute__((always_inline))
#endif
  ;

static const char *MILL_PASS_(mill_plugin_derive)(const void *values, double dt, void *param)
{
  const struct mill_values *v = (const struct mill_values *)values;
  struct mill_param *p = (struct mill_param *)param;
  p->dt = (mill_real)dt;
  MILL_PARAMS(MILL_P_COPY_)
  MILL_CHOICES(MILL_C_COPY_)
#ifdef MILL_DERIVED
  return mill_derive(p, v, dt);
#else
  (void)v;
  return 0;
#endif
}

static void MILL_PASS_(mill_plugin_init)(const struct mill_neuron_batch *b)
{
  const struct mill_param *p = (const struct mill_param *)b->param;
  (void)p;
  for (uint32_t i = 0; i < b->count; i++) {
#define MILL_S_INIT_(type, name, unit, init, doc)                                                                                \
  ((MILL_TYPE_##type *)b->state[MILL_STATE_INDEX_##name])[i] = (MILL_TYPE_##type)(init);
    MILL_STATE(MILL_S_INIT_)
  }
}

#define MILL_RESTRICT_ __restrict
MILL_CLONES static void MILL_PASS_(mill_plugin_step)(const struct mill_neuron_batch *b)
{
  const struct mill_param param = *(const struct mill_param *)b->param;
  const uint32_t count = b->count < MILL_BATCH ? b->count : MILL_BATCH, id = b->id;
  const int64_t step = b->step;
  const uint64_t key = b->key;
  const mill_real *MILL_RESTRICT_ current = (const mill_real *)b->current;
  unsigned char flags[MILL_BATCH + 64];
  unsigned char any = 0;
#define MILL_S_COLUMN_(type, name, unit, init, doc)                                                                              \
  MILL_TYPE_##type *MILL_RESTRICT_ column_##name = (MILL_TYPE_##type *)b->state[MILL_STATE_INDEX_##name];
#define MILL_R_COLUMN_(name, unit, doc)                                                                                          \
  const mill_real *MILL_RESTRICT_ input_##name = (const mill_real *)b->input[MILL_RECEPTOR_INDEX_##name];
  MILL_STATE(MILL_S_COLUMN_)
  MILL_RECEPTORS(MILL_R_COLUMN_)
  MILL_INDEPENDENT
  for (uint32_t i = 0; i < count; i++) {
    struct mill_state s;
    struct mill_input in;
#define MILL_S_LOAD_(type, name, unit, init, doc) s.name = column_##name[i];
#define MILL_S_STORE_(type, name, unit, init, doc) column_##name[i] = s.name;
#define MILL_R_LOAD_(name, unit, doc) in.name = input_##name[i];
    MILL_STATE(MILL_S_LOAD_)
    MILL_RECEPTORS(MILL_R_LOAD_)
    in.current = current[i];
    in.step = step;
    in.key = key;
    in.id = id + i;
    flags[i] = (unsigned char)mill_step(&s, &param, &in);
    any |= flags[i];
    MILL_STATE(MILL_S_STORE_)
  }
  if (any) {
    for (uint32_t i = count; i % 64 != 0; i++)
      flags[i] = 0;
    mill_pack(flags, count, b->fired);
  } else {
    for (uint32_t w = 0; w < (count + 63) / 64; w++)
      b->fired[w] = 0;
  }
}

/* Everything below belongs to the last pass. */
#ifndef MILL_FLAGS
#define MILL_FLAGS (MILL_CPU | MILL_CUDA | MILL_EXACT)
#endif
#ifdef MILL_CURRENT
#define MILL_CURRENT_ MILL_CURRENT
#else
#define MILL_CURRENT_ 0
#endif
#define MILL_TEXT_(x) #x
#define MILL_P_SPEC_(name, unit, deflt, min, max, doc)                                                                           \
  {#name, unit, MILL_TEXT_(deflt), 0, doc, min, max, (uint32_t)offsetof(struct mill_values, name), MILL_REAL, 0},
#define MILL_C_SPEC_(name, choices, deflt, doc)                                                                                  \
  {#name, "", deflt, choices, doc, 0, 0, (uint32_t)offsetof(struct mill_values, name), MILL_CHOICE, 0},
#define MILL_S_TYPE_real MILL_STATE_REAL
#define MILL_S_TYPE_int MILL_STATE_INT
#define MILL_S_TYPE_long MILL_STATE_LONG
#define MILL_S_TYPE_double MILL_STATE_DOUBLE
#define MILL_S_SPEC_(type, name, unit, init, doc) {#name, unit, #init, doc, MILL_S_TYPE_##type, 0},
#define MILL_R_SPEC_(name, unit, doc) {#name, unit, doc},
#define MILL_CODE_(suffix, real)                                                                                                 \
  {(uint32_t)sizeof(real), (uint32_t)sizeof(struct mill_param_##suffix), mill_plugin_derive_##suffix, mill_plugin_init_##suffix, \
   mill_plugin_step_##suffix}
#define MILL_NEURON_PLUGIN_(name_, summary_)                                                                                     \
  static const struct mill_param_spec mill_params_[] = {                                                                         \
    MILL_PARAMS(MILL_P_SPEC_) MILL_CHOICES(MILL_C_SPEC_){0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};                                         \
  static const struct mill_state_spec mill_states_[] = {MILL_STATE(MILL_S_SPEC_)};                                               \
  static const struct mill_receptor_spec mill_receptors_[] = {MILL_RECEPTORS(MILL_R_SPEC_){0, 0, 0}};                            \
  static const struct mill_neuron_ops mill_ops_ = {MILL_STATE_COUNT_,                                                            \
                                                   MILL_RECEPTOR_COUNT_,                                                         \
                                                   mill_states_,                                                                 \
                                                   mill_receptors_,                                                              \
                                                   MILL_CURRENT_,                                                                \
                                                   {MILL_CODE_(single, float), MILL_CODE_(double, double)}};                     \
  MILL_OWN_TEXT_                                                                                                                 \
  MILL_PLUGIN_WITH_TEXT(MILL_NEURON, MILL_FLAGS, name_, summary_, sizeof(struct mill_values), mill_params_,                      \
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
