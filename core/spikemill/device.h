/* Arithmetic that gives the same bits everywhere: one text for C11, C++17 and CUDA device code (NVRTC).

   Only + - * / and square root, comparisons, integer operations and bit casts are used, so two IEEE 754 machines that round to
   nearest and do not contract a*b+c into one operation (-ffp-contract=off, NVRTC --fmad=false) agree bit for bit. Where a result is
   a NaN, only that is promised, not its bits. Compile with -fno-math-errno, or link libm: else a square root may be a call. C++
   must be C++17 or later (hexadecimal constants). */
#ifndef SPIKEMILL_DEVICE_H
#define SPIKEMILL_DEVICE_H

#ifdef __CUDACC_RTC__
#ifndef SPIKEMILL_FIXED_WIDTH
#define SPIKEMILL_FIXED_WIDTH
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#endif
#else
#include <stdint.h>
#include <string.h>
#endif

#if defined(__FAST_MATH__)
#error "spikemill: -ffast-math changes results; compile without it"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "spikemill: float and double must be evaluated in their own precision (x87 is not)"
#endif

#ifdef __CUDACC_RTC__
#define MILL_FN static __device__ inline
#elif defined(__CUDACC__)
#define MILL_FN static __host__ __device__ inline
#else
#define MILL_FN static inline
#endif

/* ---- Bit casts -------------------------------------------------------------------------------------------------------- */

MILL_FN uint64_t mill_bits(double x)
{
#ifdef __CUDA_ARCH__
  return (uint64_t)__double_as_longlong(x);
#else
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
#endif
}

MILL_FN double mill_from_bits(uint64_t bits)
{
#ifdef __CUDA_ARCH__
  return __longlong_as_double((long long)bits);
#else
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

MILL_FN uint32_t mill_bitsf(float x)
{
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
#endif
}

MILL_FN float mill_from_bitsf(uint32_t bits)
{
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

MILL_FN double mill_infinity(void)
{
  return mill_from_bits((uint64_t)0x7ff << 52);
}

MILL_FN double mill_nan(void)
{
  return mill_from_bits((uint64_t)0x7ff8 << 48);
}

/* ---- Small things ----------------------------------------------------------------------------------------------------- */

/* x limited to lo…hi; a NaN stays one. */
MILL_FN double mill_clamp(double x, double lo, double hi)
{
  x = x < lo ? lo : x;
  return x > hi ? hi : x;
}

MILL_FN float mill_clampf(float x, float lo, float hi)
{
  x = x < lo ? lo : x;
  return x > hi ? hi : x;
}

/* Square roots, correctly rounded. */
MILL_FN double mill_sqrt(double x)
{
#ifdef __CUDA_ARCH__
  return __dsqrt_rn(x);
#else
  return __builtin_sqrt(x);
#endif
}

MILL_FN float mill_sqrtf(float x)
{
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(x);
#else
  return __builtin_sqrtf(x);
#endif
}

/* The nearest integer, ties to even, limited to the range of the type; 0 for a NaN. Adding 1.5·2^52 leaves the rounded integer in
   the low bits of the sum. */
MILL_FN int32_t mill_round_int(double x)
{
  x = x != x ? 0 : mill_clamp(x, -2147483648.0, 2147483647.0);
  return (int32_t)(uint32_t)mill_bits(x + 6755399441055744.0);
}

MILL_FN int64_t mill_round_int64(double x)
{
  const double whole = 4503599627370496.0; /* 2^52: from here on every double is an integer */
  if (x != x)
    return 0;
  if (x >= 9223372036854775808.0)
    return 9223372036854775807;
  if (x <= -9223372036854775808.0)
    return -9223372036854775807 - 1;
  if (x >= 0 && x < whole)
    x = (x + whole) - whole;
  else if (x < 0 && x > -whole)
    x = (x - whole) + whole;
  return (int64_t)x;
}

/* The high half of the 128-bit product. */
MILL_FN uint64_t mill_multiply_high(uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), mid2 = a0 * b1 + (uint32_t)mid;
  return a1 * b1 + (mid >> 32) + (mid2 >> 32);
#endif
}

#include <spikemill/device-math.h>
#include <spikemill/device-random.h>

#endif
