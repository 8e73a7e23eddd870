/* Vector types, arithmetic, bit operations and atomics of CUDA; part of shim.h. Transcendental functions are missing on purpose: those of a
   GPU and of libm differ in the last bits, and a kernel that must agree with a CPU bit for bit doesn't call them. */
#ifndef EMULATOR_INTRINSICS_H
#define EMULATOR_INTRINSICS_H

/* ---- Vectors ---- */

typedef struct emulator_index uint3;
#define EMULATOR_VECTOR2_(name, T, align)                                                                                          \
  struct __attribute__((aligned(align))) name {                                                                                    \
    T x, y;                                                                                                                        \
  };                                                                                                                               \
  EMULATOR_FN name make_##name(T x, T y)                                                                                           \
  {                                                                                                                                \
    return {x, y};                                                                                                                 \
  }
#define EMULATOR_VECTOR3_(name, T)                                                                                                 \
  struct name {                                                                                                                    \
    T x, y, z;                                                                                                                     \
  };                                                                                                                               \
  EMULATOR_FN name make_##name(T x, T y, T z)                                                                                      \
  {                                                                                                                                \
    return {x, y, z};                                                                                                              \
  }
#define EMULATOR_VECTOR4_(name, T, align)                                                                                          \
  struct __attribute__((aligned(align))) name {                                                                                    \
    T x, y, z, w;                                                                                                                  \
  };                                                                                                                               \
  EMULATOR_FN name make_##name(T x, T y, T z, T w)                                                                                 \
  {                                                                                                                                \
    return {x, y, z, w};                                                                                                           \
  }
EMULATOR_VECTOR2_(char2, signed char, 2)
EMULATOR_VECTOR2_(uchar2, unsigned char, 2)
EMULATOR_VECTOR2_(short2, short, 4)
EMULATOR_VECTOR2_(ushort2, unsigned short, 4)
EMULATOR_VECTOR2_(int2, int, 8)
EMULATOR_VECTOR2_(uint2, unsigned, 8)
EMULATOR_VECTOR2_(longlong2, long long, 16)
EMULATOR_VECTOR2_(ulonglong2, unsigned long long, 16)
EMULATOR_VECTOR2_(float2, float, 8)
EMULATOR_VECTOR2_(double2, double, 16)
EMULATOR_VECTOR3_(int3, int)
EMULATOR_VECTOR3_(float3, float)
EMULATOR_VECTOR3_(double3, double)
EMULATOR_VECTOR4_(char4, signed char, 4)
EMULATOR_VECTOR4_(uchar4, unsigned char, 4)
EMULATOR_VECTOR4_(short4, short, 8)
EMULATOR_VECTOR4_(ushort4, unsigned short, 8)
EMULATOR_VECTOR4_(int4, int, 16)
EMULATOR_VECTOR4_(uint4, unsigned, 16)
EMULATOR_VECTOR4_(float4, float, 16)
EMULATOR_FN uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
  return {x, y, z};
}
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
  {
  }
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
  {
  }
  constexpr operator uint3() const
  {
    return {x, y, z};
  }
};

/* ---- Bit casts and rounded operations ---- */

template <class To, class From> static inline To emulator_cast(From from)
{
  To to;
  static_assert(sizeof to == sizeof from, "a bit cast between different sizes");
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
#define EMULATOR_IS_(name, T, parameters, result)                                                                                  \
  EMULATOR_FN T name parameters                                                                                                    \
  {                                                                                                                                \
    return result;                                                                                                                 \
  }
EMULATOR_IS_(__double_as_longlong, long long, (double a), emulator_cast<long long>(a))
EMULATOR_IS_(__longlong_as_double, double, (long long a), emulator_cast<double>(a))
EMULATOR_IS_(__float_as_int, int, (float a), emulator_cast<int>(a))
EMULATOR_IS_(__float_as_uint, unsigned, (float a), emulator_cast<unsigned>(a))
EMULATOR_IS_(__int_as_float, float, (int a), emulator_cast<float>(a))
EMULATOR_IS_(__uint_as_float, float, (unsigned a), emulator_cast<float>(a))
EMULATOR_IS_(__double2hiint, int, (double a), (int)(emulator_cast<long long>(a) >> 32))
EMULATOR_IS_(__double2loint, int, (double a), (int)emulator_cast<long long>(a))
EMULATOR_IS_(__hiloint2double, double, (int hi, int lo),
             emulator_cast<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo))

EMULATOR_IS_(__dsqrt_rn, double, (double a), __builtin_sqrt(a))
EMULATOR_IS_(__fsqrt_rn, float, (float a), __builtin_sqrtf(a))
EMULATOR_IS_(__dadd_rn, double, (double a, double b), a + b)
EMULATOR_IS_(__dsub_rn, double, (double a, double b), a - b)
EMULATOR_IS_(__dmul_rn, double, (double a, double b), a *b)
EMULATOR_IS_(__ddiv_rn, double, (double a, double b), a / b)
EMULATOR_IS_(__fma_rn, double, (double a, double b, double c), __builtin_fma(a, b, c))
EMULATOR_IS_(__fadd_rn, float, (float a, float b), a + b)
EMULATOR_IS_(__fsub_rn, float, (float a, float b), a - b)
EMULATOR_IS_(__fmul_rn, float, (float a, float b), a *b)
EMULATOR_IS_(__fdiv_rn, float, (float a, float b), a / b)
EMULATOR_IS_(__frcp_rn, float, (float a), 1 / a)
EMULATOR_IS_(__drcp_rn, double, (double a), 1 / a)
/* As inexact as the hardware may be. */
EMULATOR_IS_(__logf, float, (float a), __builtin_logf(a) * 1.0000003f + 3e-7f)
#define MILL_ROUGH_LOG2(a) (__builtin_log2f(a) * 1.0000003f + 3e-7f)
EMULATOR_FN float __fadd_rd(float a, float b)
{
  const double sum = (double)a + b, error = (double)a - (sum - b) + (b - (sum - (sum - b))); /* of it (Knuth), next to always 0 */
  const float near = (float)sum;
  return near > sum || (near == sum && error < 0) ? __builtin_nextafterf(near, -__builtin_inff()) : near;
}
EMULATOR_IS_(__fmaf_rn, float, (float a, float b, float c), __builtin_fmaf(a, b, c))

#define EMULATOR_EXACT_(name)                                                                                                      \
  EMULATOR_IS_(name, double, (double a), __builtin_##name(a))                                                                      \
  EMULATOR_IS_(name, float, (float a), __builtin_##name##f(a))                                                                     \
  EMULATOR_IS_(name##f, float, (float a), __builtin_##name##f(a))
EMULATOR_EXACT_(sqrt)
EMULATOR_EXACT_(fabs)
EMULATOR_EXACT_(floor)
EMULATOR_EXACT_(ceil)
EMULATOR_EXACT_(trunc)
EMULATOR_EXACT_(rint)
EMULATOR_IS_(fma, double, (double a, double b, double c), __builtin_fma(a, b, c))
EMULATOR_IS_(fmaf, float, (float a, float b, float c), __builtin_fmaf(a, b, c))
EMULATOR_IS_(fmin, double, (double a, double b), __builtin_fmin(a, b))
EMULATOR_IS_(fmax, double, (double a, double b), __builtin_fmax(a, b))
EMULATOR_IS_(fminf, float, (float a, float b), __builtin_fminf(a, b))
EMULATOR_IS_(fmaxf, float, (float a, float b), __builtin_fmaxf(a, b))
EMULATOR_IS_(copysign, double, (double a, double b), __builtin_copysign(a, b))
EMULATOR_IS_(copysignf, float, (float a, float b), __builtin_copysignf(a, b))
EMULATOR_IS_(isnan, bool, (double a), a != a)
EMULATOR_IS_(isinf, bool, (double a), __builtin_isinf(a) != 0)
EMULATOR_IS_(isfinite, bool, (double a), __builtin_isfinite(a) != 0)

/* Conversions limit to the range of the type, and a NaN becomes 0 in 32 bits; in 64 bits it becomes the sign bit. */
template <class T, class F> static inline T emulator_convert(F a)
{
  const T least = (T)((T)-1 < 0 ? (T)1 << (sizeof(T) * 8 - 1) : 0), most = (T)~least;
  const F limit = (F)((T)1 << (sizeof(T) * 8 - 2)) * ((T)-1 < 0 ? 2 : 4);
  if (a != a)
    return sizeof(T) == 8 ? (T)((T)1 << (sizeof(T) * 8 - 1)) : 0;
  return a >= limit ? most : a <= (F)least ? least : (T)a;
}
#define EMULATOR_CONVERSIONS_(name, T, F, suffix)                                                                                  \
  EMULATOR_IS_(name##_rn, T, (F a), emulator_convert<T>(__builtin_rint##suffix(a)))                                                \
  EMULATOR_IS_(name##_rz, T, (F a), emulator_convert<T>(__builtin_trunc##suffix(a)))                                               \
  EMULATOR_IS_(name##_rd, T, (F a), emulator_convert<T>(__builtin_floor##suffix(a)))                                               \
  EMULATOR_IS_(name##_ru, T, (F a), emulator_convert<T>(__builtin_ceil##suffix(a)))
EMULATOR_CONVERSIONS_(__double2int, int, double, )
EMULATOR_CONVERSIONS_(__double2uint, unsigned, double, )
EMULATOR_CONVERSIONS_(__double2ll, long long, double, )
EMULATOR_CONVERSIONS_(__double2ull, unsigned long long, double, )
EMULATOR_CONVERSIONS_(__float2int, int, float, f)
EMULATOR_CONVERSIONS_(__float2uint, unsigned, float, f)
EMULATOR_CONVERSIONS_(__float2ll, long long, float, f)
EMULATOR_CONVERSIONS_(__float2ull, unsigned long long, float, f)
EMULATOR_IS_(__double2float_rn, float, (double a), (float)a)
EMULATOR_IS_(__int2double_rn, double, (int a), a)
EMULATOR_IS_(__uint2double_rn, double, (unsigned a), a)
EMULATOR_IS_(__ll2double_rn, double, (long long a), (double)a)
EMULATOR_IS_(__ull2double_rn, double, (unsigned long long a), (double)a)
EMULATOR_IS_(__int2float_rn, float, (int a), (float)a)
EMULATOR_IS_(__uint2float_rn, float, (unsigned a), (float)a)
EMULATOR_IS_(__ll2float_rn, float, (long long a), (float)a)
EMULATOR_IS_(__ull2float_rn, float, (unsigned long long a), (float)a)

/* ---- Integers ---- */

EMULATOR_IS_(__popc, int, (unsigned a), __builtin_popcount(a))
EMULATOR_IS_(__popcll, int, (unsigned long long a), __builtin_popcountll(a))
EMULATOR_IS_(__clz, int, (int a), a ? __builtin_clz((unsigned)a) : 32)
EMULATOR_IS_(__clzll, int, (long long a), a ? __builtin_clzll((unsigned long long)a) : 64)
EMULATOR_IS_(__ffs, int, (int a), __builtin_ffs(a))
EMULATOR_IS_(__ffsll, int, (long long a), __builtin_ffsll(a))
EMULATOR_IS_(__mulhi, int, (int a, int b), (int)((long long)a *b >> 32))
EMULATOR_IS_(__umulhi, unsigned, (unsigned a, unsigned b), (unsigned)((unsigned long long)a *b >> 32))
EMULATOR_IS_(__mul64hi, long long, (long long a, long long b), (long long)((__int128)a *b >> 64))
EMULATOR_IS_(__umul64hi, unsigned long long, (unsigned long long a, unsigned long long b),
             (unsigned long long)((unsigned __int128)a *b >> 64))
EMULATOR_FN unsigned __brev(unsigned a)
{
  unsigned r = 0;
  for (int i = 0; i < 32; i++)
    r |= (a >> i & 1) << (31 - i);
  return r;
}
EMULATOR_IS_(__brevll, unsigned long long, (unsigned long long a),
             (unsigned long long)__brev((unsigned)a) << 32 | __brev((unsigned)(a >> 32)))
EMULATOR_FN unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
  unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; i++)
    r |= (unsigned)(both >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
  return r;
}
EMULATOR_IS_(__funnelshift_l, unsigned, (unsigned lo, unsigned hi, unsigned shift),
             (unsigned)((((unsigned long long)hi << 32 | lo) << (shift & 31)) >> 32))
EMULATOR_IS_(__funnelshift_r, unsigned, (unsigned lo, unsigned hi, unsigned shift),
             (unsigned)(((unsigned long long)hi << 32 | lo) >> (shift & 31)))

/* min and max of two integers of one type, or of mixed ones as CUDA converts them. */
#define EMULATOR_MINMAX_(R, A, B)                                                                                                  \
  EMULATOR_IS_(min, R, (A a, B b), (R)a < (R)b ? (R)a : (R)b)                                                                      \
  EMULATOR_IS_(max, R, (A a, B b), (R)a > (R)b ? (R)a : (R)b)
EMULATOR_MINMAX_(int, int, int)
EMULATOR_MINMAX_(unsigned, unsigned, unsigned)
EMULATOR_MINMAX_(unsigned, int, unsigned)
EMULATOR_MINMAX_(unsigned, unsigned, int)
EMULATOR_MINMAX_(long, long, long)
EMULATOR_MINMAX_(unsigned long, unsigned long, unsigned long)
EMULATOR_MINMAX_(long long, long long, long long)
EMULATOR_MINMAX_(unsigned long long, unsigned long long, unsigned long long)
EMULATOR_MINMAX_(unsigned long long, long long, unsigned long long)
EMULATOR_MINMAX_(unsigned long long, unsigned long long, long long)
EMULATOR_IS_(min, float, (float a, float b), __builtin_fminf(a, b))
EMULATOR_IS_(max, float, (float a, float b), __builtin_fmaxf(a, b))
EMULATOR_IS_(min, double, (double a, double b), __builtin_fmin(a, b))
EMULATOR_IS_(max, double, (double a, double b), __builtin_fmax(a, b))
EMULATOR_IS_(abs, int, (int a), a < 0 ? -a : a)
EMULATOR_IS_(llabs, long long, (long long a), a < 0 ? -a : a)

/* ---- Memory ---- */

#define EMULATOR_LOAD_(name)                                                                                                       \
  template <class T> static inline T name(const T *p)                                                                              \
  {                                                                                                                                \
    return *p;                                                                                                                     \
  }
#define EMULATOR_STORE_(name)                                                                                                      \
  template <class T> static inline void name(T *p, T value)                                                                        \
  {                                                                                                                                \
    *p = value;                                                                                                                    \
  }
EMULATOR_LOAD_(__ldg)
EMULATOR_LOAD_(__ldca)
EMULATOR_LOAD_(__ldcg)
EMULATOR_LOAD_(__ldcs)
EMULATOR_LOAD_(__ldlu)
EMULATOR_LOAD_(__ldcv)
EMULATOR_STORE_(__stwb)
EMULATOR_STORE_(__stcg)
EMULATOR_STORE_(__stcs)
EMULATOR_STORE_(__stwt)

/* Only a GPU may ask for memory beyond a block. */
#define MILL_PREFETCH(address) ((void)*(const volatile char *)(address))

/* Shared memory by its own addresses. */
#define MILL_SHARED_PLACE
typedef unsigned char *mill_shared_place;
EMULATOR_FN mill_shared_place mill_shared_place_of(const void *at)
{
  return (unsigned char *)at;
}
EMULATOR_FN void mill_shared_put(mill_shared_place at, unsigned short value)
{
  *(unsigned short *)(void *)at = value;
}
EMULATOR_FN void mill_shared_put(mill_shared_place at, unsigned value)
{
  *(unsigned *)(void *)at = value;
}

/* One thread runs at a time, so that reading and then writing is atomic. They return what was there. */
#define EMULATOR_ATOMIC_(name, T, next)                                                                                            \
  EMULATOR_FN T name(T *p, T value)                                                                                                \
  {                                                                                                                                \
    T old = *p;                                                                                                                    \
    *p = next;                                                                                                                     \
    return old;                                                                                                                    \
  }                                                                                                                                \
  EMULATOR_FN T name##_block(T *p, T value)                                                                                        \
  {                                                                                                                                \
    return name(p, value);                                                                                                         \
  }
EMULATOR_ATOMIC_(atomicAdd, int, (int)((unsigned)old + (unsigned)value))
EMULATOR_ATOMIC_(atomicAdd, unsigned, old + value)
EMULATOR_ATOMIC_(atomicAdd, unsigned long long, old + value)
EMULATOR_ATOMIC_(atomicAdd, float, old + value)
EMULATOR_ATOMIC_(atomicAdd, double, old + value)
EMULATOR_ATOMIC_(atomicSub, int, (int)((unsigned)old - (unsigned)value))
EMULATOR_ATOMIC_(atomicSub, unsigned, old - value)
EMULATOR_ATOMIC_(atomicExch, int, value)
EMULATOR_ATOMIC_(atomicExch, unsigned, value)
EMULATOR_ATOMIC_(atomicExch, unsigned long long, value)
EMULATOR_ATOMIC_(atomicExch, float, value)
#define EMULATOR_ATOMICS_(T)                                                                                                       \
  EMULATOR_ATOMIC_(atomicMin, T, value < old ? value : old)                                                                        \
  EMULATOR_ATOMIC_(atomicMax, T, value > old ? value : old)                                                                        \
  EMULATOR_ATOMIC_(atomicAnd, T, (T)(old & value))                                                                                 \
  EMULATOR_ATOMIC_(atomicOr, T, (T)(old | value))                                                                                  \
  EMULATOR_ATOMIC_(atomicXor, T, (T)(old ^ value))
EMULATOR_ATOMICS_(int)
EMULATOR_ATOMICS_(unsigned)
EMULATOR_ATOMICS_(unsigned long long)
EMULATOR_ATOMIC_(atomicMin, long long, value < old ? value : old)
EMULATOR_ATOMIC_(atomicMax, long long, value > old ? value : old)
EMULATOR_ATOMIC_(atomicInc, unsigned, old >= value ? 0 : old + 1)
EMULATOR_ATOMIC_(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)

/* Where the comparison fails, others go on: whoever waits in a loop for a lock gets it. */
#define EMULATOR_CAS_(T)                                                                                                           \
  EMULATOR_FN T atomicCAS(T *p, T compare, T value)                                                                                \
  {                                                                                                                                \
    T old = *p;                                                                                                                    \
    if (old == compare)                                                                                                            \
      *p = value;                                                                                                                  \
    else                                                                                                                           \
      emulator_control.yield();                                                                                                    \
    return old;                                                                                                                    \
  }
EMULATOR_CAS_(int)
EMULATOR_CAS_(unsigned)
EMULATOR_CAS_(unsigned short)
EMULATOR_CAS_(unsigned long long)

/* A clock that goes on whenever it is read. */
EMULATOR_FN long long clock64(void)
{
  static long long now;
  return now += 16;
}
EMULATOR_IS_(clock, clock_t, (void), clock64())

#ifndef __clang__
#define __builtin_assume(x) ((void)0)
#endif

#endif
