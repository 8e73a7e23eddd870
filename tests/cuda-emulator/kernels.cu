/* Kernels for the test of the emulator (tests/emulator.c). They are CUDA as any other: NVRTC compiles them too. */
#ifndef MILL_DYNAMIC_SHARED
#define MILL_DYNAMIC_SHARED(type, name)                                                                                           \
  extern __shared__ __align__(16) unsigned char name##_[];                                                                       \
  type *name = (type *)name##_
#endif
typedef unsigned int u32;
typedef unsigned long long u64;
#define ALL 0xffffffffu

__constant__ int bias[4] = {0, 1, 2, 3};
__device__ double state = 2.5;

extern "C" __global__ void add(const int *a, const int *b, int *c, int n);
namespace inner {
extern "C" __global__ void __launch_bounds__(256) add(const int *a, const int *b, int *c, int n)
{
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    c[i] = a[i] + b[i] + bias[1];
}
}

/* The sum of a block's numbers, in shared memory. */
extern "C" __global__ void sum(const int *a, int *total)
{
  __shared__ int part[256];
  part[threadIdx.x] = a[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (u32 s = 128; s; s /= 2) {
    if (threadIdx.x < s)
      part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(total, part[0]);
}

/* Each reads what the one before it wrote, with no barrier between: right only when threads run from the first to the last. */
extern "C" __global__ void racy(const int *a, int *out)
{
  __shared__ int part[256];
  part[threadIdx.x] = -1;
  __syncthreads();
  part[threadIdx.x] = a[threadIdx.x];
  out[threadIdx.x] = threadIdx.x ? part[threadIdx.x - 1] : 0;
}

/* What static and dynamic shared memory hold before anything is written. */
extern "C" __global__ void stale(u32 *out)
{
  __shared__ u32 part[4];
  MILL_DYNAMIC_SHARED(u32, more);
  out[0] = part[3];
  out[1] = more[0];
  out[2] = ((u64)(size_t)more & 15) == 0;
  part[3] = more[0] = 7;
}

/* Numbers turned round through as much dynamic shared memory as asked for. */
extern "C" __global__ void turn(int *a, u32 n)
{
  MILL_DYNAMIC_SHARED(int, all);
  for (u32 i = threadIdx.x; i < n; i += blockDim.x)
    all[n - 1 - i] = a[i];
  __syncthreads();
  for (u32 i = threadIdx.x; i < n; i += blockDim.x)
    a[i] = all[i];
}

struct place {
  int x[3];
  double factor;
  unsigned char tag;
};

/* Each thread says who it is: blocks of (2, 3, 4) in three dimensions. */
extern "C" __global__ void where(struct place p, unsigned char one, double *out, const short minus)
{
  u32 thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  u32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread + p.x[2] * p.factor + p.tag * one + minus;
}

/* One block of 64 threads; 8 numbers each. */
extern "C" __global__ void shuffles(u32 *out)
{
  u32 lane = threadIdx.x % 32, value = threadIdx.x + 100, *o = out + threadIdx.x * 8;
  o[0] = __shfl_sync(ALL, value, 5);
  o[1] = __shfl_sync(ALL, value, (int)lane + 1, 8);
  o[2] = __shfl_up_sync(ALL, value, 3);
  o[3] = __shfl_down_sync(ALL, value, 3);
  o[4] = __shfl_down_sync(ALL, value, 3, 8);
  o[5] = __shfl_xor_sync(ALL, value, 17);
  o[6] = __shfl_up_sync(ALL, value, 1, 4);
  o[7] = (u32)(__shfl_sync(ALL, (u64)value << 32, 31) >> 32) + (u32)__shfl_sync(ALL, value * 0.5, 0) + (u32)__shfl_sync(ALL, value * 2.0f, 1);
}

/* One warp and 8 threads; 12 numbers each. */
extern "C" __global__ void votes(u32 *out)
{
  u32 lane = threadIdx.x % 32, *o = out + threadIdx.x * 12;
  u32 half = lane % 2 ? 0xaaaaaaaau : 0x55555555u;
  o[0] = __ballot_sync(ALL, lane % 3 == 0);
  o[1] = (u32)__any_sync(ALL, lane == 40) * 4 + (u32)__any_sync(ALL, lane == 7) * 2 + (u32)__all_sync(ALL, lane < 32);
  o[2] = (u32)__all_sync(ALL, lane != 7);
  o[3] = __match_any_sync(ALL, lane / 5);
  o[4] = __match_any_sync(ALL, (u64)(lane % 2) << 40);
  if (lane % 2) { /* two masks at a time */
    o[5] = __ballot_sync(half, lane > 4);
    o[6] = __reduce_add_sync(half, lane);
  } else {
    o[5] = __ballot_sync(half, lane > 6);
    o[6] = __reduce_max_sync(half, lane);
  }
  __syncwarp();
  o[7] = (u32)__reduce_min_sync(ALL, (int)lane - 4);
  o[8] = __reduce_or_sync(ALL, 1u << (lane / 2));
  o[9] = __reduce_xor_sync(ALL, lane) + __reduce_and_sync(ALL, lane | 64);
  o[10] = (__activemask() >> lane) & 1;
  o[11] = threadIdx.x == 39 ? 0 : 1;
  if (threadIdx.x == 39)
    return; /* the masks of others still name it */
  o[11] = __ballot_sync(ALL, 1);
}

/* 96 threads; 4 numbers each. */
extern "C" __global__ void barriers(int *out)
{
  int *o = out + threadIdx.x * 4;
  o[0] = __syncthreads_count(threadIdx.x % 5 == 0);
  o[1] = __syncthreads_and(threadIdx.x < 96) != 0;
  o[2] = __syncthreads_and(threadIdx.x != 50) != 0;
  o[3] = (__syncthreads_or(threadIdx.x == 50) != 0) * 2 + (__syncthreads_or(threadIdx.x > 95) != 0);
}

extern "C" __global__ void atomics(int *i, u32 *u, u64 *w, float *f)
{
  u32 n = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i[0], -1);
  atomicSub(&i[1], (int)n);
  atomicMin(&i[2], -(int)n);
  atomicMax(&i[3], (int)n);
  atomicAdd(&u[0], 3u);
  atomicOr(&u[1], 1u << (n % 32));
  atomicAnd(&u[2], ~(1u << (n % 16)));
  atomicMax(&u[3], n);
  atomicMin(&u[4], 1000u - n);
  atomicXor(&u[5], n);
  atomicInc(&u[6], 6u);
  atomicAdd(&w[0], 1ull << 33);
  atomicMax(&w[1], (u64)n << 34);
  atomicOr(&w[2], 1ull << (n % 64));
  atomicExch(&w[3], 5ull);
  atomicAdd(&f[0], 0.5f);
  /* a lock, taken and given back by every thread */
  for (int taken = 0; !taken;)
    if (atomicCAS(&u[7], 0u, 1u) == 0u) {
      __threadfence();
      u32 before = *(volatile u32 *)&u[8];
      __nanosleep(10); /* the others try meanwhile */
      *(volatile u32 *)&u[8] = before + 1;
      __threadfence();
      atomicExch(&u[7], 0u);
      taken = 1;
    }
}

/* One thread; results in the order in which the test has them. `zero` keeps the compiler from knowing. */
extern "C" __global__ void intrinsics(u64 *o, double *d, u32 zero)
{
  u64 z = zero;
  int n = 0;
  o[n++] = (u64)__popc(0xf00fu | zero);
  o[n++] = (u64)__popcll(0xf00000000000000full | z);
  o[n++] = (u64)__clz((int)zero);
  o[n++] = (u64)__clz((int)(zero | 1));
  o[n++] = (u64)__clz(-1 - (int)zero);
  o[n++] = (u64)__clzll((long long)z);
  o[n++] = (u64)__clzll((long long)(z | 256));
  o[n++] = (u64)__ffs((int)zero);
  o[n++] = (u64)__ffs((int)(zero | 0x80000000u));
  o[n++] = (u64)__ffsll((long long)(z | 1ull << 40));
  o[n++] = __brev(zero | 6);
  o[n++] = __brevll(z | 6);
  o[n++] = __umulhi(0xffffffffu - zero, 0xfffffffeu);
  o[n++] = (u64)(long long)__mulhi(-5 - (int)zero, 1 << 30);
  o[n++] = __umul64hi(0xffffffffffffffffull - z, 0xfffffffffffffffeull);
  o[n++] = (u64)__mul64hi(-5 - (long long)z, 1ll << 62);
  o[n++] = __byte_perm(0x33221100u | zero, 0x77665544u, 0x7153u);
  o[n++] = __funnelshift_l(0x80000001u | zero, 0x12345678u, 4);
  o[n++] = __funnelshift_r(0x80000001u | zero, 0x12345678u, 4);
  o[n++] = (u64)(long long)min(-3 - (int)zero, 4);
  o[n++] = max(zero + 3u, 4u);
  o[n++] = max(z + (1ull << 40), 4ull);
  o[n++] = (u64)__double_as_longlong(-2.0 + zero);
  o[n++] = __float_as_uint(1.0f + (float)zero);
  o[n++] = (u64)(long long)__double2int_rn(2.5 + zero);
  o[n++] = (u64)(long long)__double2int_rz(-2.9 + zero);
  o[n++] = (u64)(long long)__double2int_rn(1e30 + zero);
  o[n++] = (u64)(long long)__double2int_rn(2147483648.0 + zero);
  o[n++] = (u64)__float2uint_rn(-7.0f + (float)zero);
  o[n++] = (u64)__double2ll_rn(-1e30 + zero);
  o[n++] = (u64)__ldg((const u64 *)o);
  o[n++] = (u64)n;
  n = 0;
  d[n++] = __longlong_as_double((long long)(z | 0x4000000000000000ull));
  d[n++] = (double)__uint_as_float(zero | 0x3f800000u);
  d[n++] = __dsqrt_rn(2.0 + zero);
  d[n++] = (double)__fsqrt_rn(2.0f + (float)zero);
  d[n++] = (double)__fdiv_rn(1.0f, 3.0f + (float)zero);
  d[n++] = __ddiv_rn(1.0, 3.0 + zero);
  d[n++] = __fma_rn(1.0 + 0x1p-30 + zero, 1.0 + 0x1p-30, -1.0);
  d[n++] = (1.0 + 0x1p-30 + zero) * (1.0 + 0x1p-30) - 1.0; /* two roundings: no contraction */
  d[n++] = floor(-1.5 + zero) + ceil(0.25 + zero) + rint(3.5 + zero) + trunc(-9.75 + zero) + fabs(-0.5 - zero);
  d[n++] = max(1.0 + zero, 2.0) + (double)min(1.0f + (float)zero, 2.0f);
  d[n++] = __ull2double_rn(z + 0xffffffffffffffffull);
  d[n++] = (double)make_float4(1, 2, 3, 4 + (float)zero).w + make_int2(5, 6).y + make_uint4(1, 2, 3, 4).z + sizeof(ulonglong2) + sizeof(uint3);
  d[n++] = __double2float_rn(0.1 + zero) == 0.1f;
}

extern "C" __global__ void step(int *a, const int *b, int factor)
{
  int i = (int)threadIdx.x;
  a[i] = a[i] * factor + b[i];
}

extern "C" __global__ void constants(double *out)
{
  out[0] = bias[2];
  out[1] = state;
  state = out[0] * 8;
}

/* ---- What must fail ---- */

extern "C" __global__ void ends_early(int *a)
{
  if (threadIdx.x == 3)
    return;
  __syncthreads();
  a[threadIdx.x] = 1;
}

extern "C" __global__ void two_barriers(int *a)
{
  if (threadIdx.x < 32)
    __syncthreads();
  else
    a[0] = __syncthreads_count(1);
}

extern "C" __global__ void two_kinds(int *a)
{
  a[0] = threadIdx.x < 32 ? __syncthreads_or(1) : __syncthreads_count(1);
}

extern "C" __global__ void other_masks(int *a)
{
  if (threadIdx.x < 16)
    a[0] = (int)__ballot_sync(ALL, 1);
  else
    a[1] = (int)__ballot_sync(0xfffffffdu, 1);
  __syncthreads();
}

extern "C" __global__ void not_in_mask(int *a)
{
  a[0] = (int)__ballot_sync(0x0000ffffu, 1);
}

extern "C" __global__ void trap(int *a)
{
  if (threadIdx.x == 33 && blockIdx.x == 1)
    __trap();
  a[0] = 1;
}

extern "C" __global__ void beyond(int *a, u32 i)
{
  a[i] = 1;
}

extern "C" __global__ void beyond_shared(int *a, u32 i)
{
  __shared__ int part[8];
  part[i] = a[0];
  __syncthreads();
  a[0] = part[0];
}

__global__ void no_c_linkage(int *a)
{
  a[0] = 1;
}
