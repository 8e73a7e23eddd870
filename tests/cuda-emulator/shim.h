/* The language of CUDA kernels for a C++ compiler: qualifiers, indices, barriers, collectives of a warp. Put before every emulated program;
   there are no system headers, as in NVRTC. A launch runs the blocks one after the other, each thread a coroutine (block.c). */
#ifndef EMULATOR_SHIM_H
#define EMULATOR_SHIM_H

#include "kernel-abi.h"

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
typedef decltype(sizeof 0) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;
typedef long long clock_t;

/* `__attribute__((emulator_kernel))` and `emulator_bounds` are no attributes of the compiler, which ignores them: nvrtc.c finds them in
   the preprocessed text. */
#define __global__ __attribute__((emulator_kernel))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((emulator_bounds(__VA_ARGS__)))
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __noinline__ __attribute__((noinline))

/* Shared memory is static, since one block runs at a time. Each variable lies in a section of its own (one for all can't be, as those of
   templates are of another kind), which the driver fills before each block. `used`: the compiler must not take it apart. The name is none
   of C, for which clang's sanitizer would put no guards around it. */
#define EMULATOR_TEXT__(x) #x
#define EMULATOR_TEXT_(x) EMULATOR_TEXT__(x)
#define __shared__ static __attribute__((used, section("emulator.shared." EMULATOR_TEXT_(__COUNTER__))))
#define MILL_DYNAMIC_SHARED(type, name) type *name = (type *)(void *)emulator_control.dynamic

extern "C" {
struct emulator_control emulator_control;
int printf(const char *, ...);
}
#define threadIdx (emulator_control.self->index)
#define blockIdx (emulator_control.block)
#define blockDim (emulator_control.block_dim)
#define gridDim (emulator_control.grid_dim)
static const int warpSize = 32;

/* ---- How the driver calls a kernel ---- */

template <unsigned... I> struct emulator_sequence {
};
template <unsigned N, unsigned... I> struct emulator_count : emulator_count<N - 1, N - 1, I...> {
};
template <unsigned... I> struct emulator_count<0, I...> {
  typedef emulator_sequence<I...> type;
};
template <class T> struct emulator_plain {
  typedef T type;
};
template <class T> struct emulator_plain<const T> {
  typedef T type;
};
template <class F, F f> struct emulator_kernel_of;
template <class... A, void (*f)(A...)> struct emulator_kernel_of<void (*)(A...), f> {
  template <unsigned... I> static void pass(void **p, emulator_sequence<I...>)
  {
    (void)p;
    f(*(typename emulator_plain<A>::type *)p[I]...);
  }
  static void call(void **p)
  {
    pass(p, typename emulator_count<sizeof...(A)>::type());
  }
  static constexpr unsigned count = sizeof...(A);
  static constexpr unsigned bytes[sizeof...(A) + 1] = {(unsigned)sizeof(A)..., 0};
};
constexpr unsigned emulator_bound()
{
  return 0;
}
template <class... R> constexpr unsigned emulator_bound(unsigned threads, R...)
{
  return threads;
}
template <class F, F f> constexpr emulator_entry emulator_entry_of(unsigned bound)
{
  return {emulator_kernel_of<F, f>::call, emulator_kernel_of<F, f>::count, bound, emulator_kernel_of<F, f>::bytes};
}

/* ---- Barriers and collectives ---- */

#define EMULATOR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define EMULATOR_FN static inline
EMULATOR_FN void __syncthreads(EMULATOR_HERE)
{
  emulator_control.barrier(EMULATOR_SYNC, 0, file, line);
}
EMULATOR_FN int __syncthreads_count(int predicate, EMULATOR_HERE)
{
  return emulator_control.barrier(EMULATOR_COUNT, predicate != 0, file, line);
}
EMULATOR_FN int __syncthreads_and(int predicate, EMULATOR_HERE)
{
  return emulator_control.barrier(EMULATOR_BOTH, predicate != 0, file, line);
}
EMULATOR_FN int __syncthreads_or(int predicate, EMULATOR_HERE)
{
  return emulator_control.barrier(EMULATOR_EITHER, predicate != 0, file, line);
}
EMULATOR_FN void __syncwarp(unsigned mask = 0xffffffffu, EMULATOR_HERE)
{
  emulator_control.collective(EMULATOR_WARP_SYNC, mask, 0, 0, file, line);
}
EMULATOR_FN unsigned __ballot_sync(unsigned mask, int predicate, EMULATOR_HERE)
{
  return (unsigned)emulator_control.collective(EMULATOR_BALLOT, mask, predicate != 0, 0, file, line);
}
EMULATOR_FN int __any_sync(unsigned mask, int predicate, EMULATOR_HERE)
{
  return emulator_control.collective(EMULATOR_OR, mask, predicate != 0, 0, file, line) != 0;
}
EMULATOR_FN int __all_sync(unsigned mask, int predicate, EMULATOR_HERE)
{
  return emulator_control.collective(EMULATOR_AND, mask, predicate != 0, 0, file, line) != 0;
}
/* Threads are not in step here: each is alone, which is an answer that CUDA allows. */
EMULATOR_FN unsigned __activemask(void)
{
  return 1u << emulator_control.self->lane;
}

/* The lane that a shuffle reads, which is the thread's own where the segment ends; PTX ISA, shfl.sync. */
EMULATOR_FN unsigned emulator_lane(int kind, unsigned b, int width)
{
  unsigned lane = emulator_control.self->lane, segment = lane & ~(unsigned)(width - 1), end = segment | (unsigned)(width - 1), from;
  if (kind == 0)
    return segment | (b & (unsigned)(width - 1));
  b &= 31;
  if (kind == 1)
    return lane >= segment + b ? lane - b : lane;
  from = kind == 2 ? lane + b : lane ^ b;
  return from <= end ? from : lane;
}
template <class T> static inline T emulator_shuffle(unsigned mask, T value, unsigned source, const char *file, int line)
{
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = emulator_control.collective(EMULATOR_SHUFFLE, mask, bits, source, file, line);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
#define EMULATOR_SHUFFLES_(T)                                                                                                      \
  EMULATOR_FN T __shfl_sync(unsigned mask, T value, int lane, int width = 32, EMULATOR_HERE)                                       \
  {                                                                                                                                \
    return emulator_shuffle(mask, value, emulator_lane(0, (unsigned)lane, width), file, line);                                     \
  }                                                                                                                                \
  EMULATOR_FN T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATOR_HERE)                              \
  {                                                                                                                                \
    return emulator_shuffle(mask, value, emulator_lane(1, delta, width), file, line);                                              \
  }                                                                                                                                \
  EMULATOR_FN T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATOR_HERE)                            \
  {                                                                                                                                \
    return emulator_shuffle(mask, value, emulator_lane(2, delta, width), file, line);                                              \
  }                                                                                                                                \
  EMULATOR_FN T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, EMULATOR_HERE)                                  \
  {                                                                                                                                \
    return emulator_shuffle(mask, value, emulator_lane(3, (unsigned)lanes, width), file, line);                                    \
  }
EMULATOR_SHUFFLES_(int)
EMULATOR_SHUFFLES_(unsigned)
EMULATOR_SHUFFLES_(long)
EMULATOR_SHUFFLES_(unsigned long)
EMULATOR_SHUFFLES_(long long)
EMULATOR_SHUFFLES_(unsigned long long)
EMULATOR_SHUFFLES_(float)
EMULATOR_SHUFFLES_(double)

template <class T> static inline unsigned __match_any_sync(unsigned mask, T value, EMULATOR_HERE)
{
  unsigned long long bits = 0;
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_any_sync takes 32 or 64 bits");
  __builtin_memcpy(&bits, &value, sizeof value);
  return (unsigned)emulator_control.collective(EMULATOR_MATCH, mask, bits, 0, file, line);
}
#define EMULATOR_REDUCTION_(name, T, kind)                                                                                         \
  EMULATOR_FN T __reduce_##name##_sync(unsigned mask, T value, EMULATOR_HERE)                                                      \
  {                                                                                                                                \
    return (T)emulator_control.collective(kind, mask, (unsigned)value, 0, file, line);                                             \
  }
EMULATOR_REDUCTION_(add, unsigned, EMULATOR_ADD)
EMULATOR_REDUCTION_(add, int, EMULATOR_ADD)
EMULATOR_REDUCTION_(min, unsigned, EMULATOR_MIN)
EMULATOR_REDUCTION_(min, int, EMULATOR_MIN_SIGNED)
EMULATOR_REDUCTION_(max, unsigned, EMULATOR_MAX)
EMULATOR_REDUCTION_(max, int, EMULATOR_MAX_SIGNED)
EMULATOR_REDUCTION_(and, unsigned, EMULATOR_AND)
EMULATOR_REDUCTION_(or, unsigned, EMULATOR_OR)
EMULATOR_REDUCTION_(xor, unsigned, EMULATOR_XOR)

EMULATOR_FN void __threadfence(void)
{
  __asm__ volatile("" ::: "memory");
}
EMULATOR_FN void __threadfence_block(void)
{
  __threadfence();
}
EMULATOR_FN void __threadfence_system(void)
{
  __threadfence();
}
EMULATOR_FN void __nanosleep(unsigned)
{
  emulator_control.yield();
}
EMULATOR_FN void __trap(EMULATOR_HERE)
{
  emulator_control.trap("__trap()", file, line);
}

#include "intrinsics.h"

#endif
