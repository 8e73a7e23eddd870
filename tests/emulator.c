// Kernels on the emulated GPU that other tests use compute what they compute on a GPU, in any order of threads and blocks.
#include "emulator.h"

enum { N = 20 * 256 };

// Vector addition and a block reduction; what came out, as one number that depends on all of it.
static long long small_programs(void)
{
  static int a[N], b[N], c[N];
  int total = 0, n = N - 5, bad = 0;
  for (int i = 0; i < N; i++) {
    a[i] = i * 7 % 1000;
    b[i] = -i;
    total += a[i];
  }
  mill_cu_address da = put(a, sizeof a), db = put(b, sizeof b), dc = put(a, sizeof a), dt = put(&bad, sizeof bad);
  if (launch("add", 20, 256, 0, NULL, (void *[]){&da, &db, &dc, &n}) || launch("sum", 20, 256, 0, NULL, (void *[]){&da, &dt}) ||
      cu.synchronize())
    bail("cuLaunchKernel");
  get(c, dc, sizeof c);
  for (int i = 0; i < N; i++)
    bad += c[i] != (i < n ? a[i] + b[i] + 1 : a[i]);
  int got;
  get(&got, dt, sizeof got);
  cu.release(da);
  cu.release(db);
  cu.release(dc);
  cu.release(dt);
  return (long long)bad << 32 | (got != total);
}

static int racy(int *wrong)
{
  static int a[256], out[256];
  for (int i = 0; i < 256; i++)
    a[i] = i + 1;
  mill_cu_address da = put(a, sizeof a), dout = put(a, sizeof a);
  int code = launch("racy", 1, 256, 0, NULL, (void *[]){&da, &dout});
  get(out, dout, sizeof out);
  *wrong = 0;
  for (int i = 0; i < 256; i++)
    *wrong += out[i] != i;
  cu.release(da);
  cu.release(dout);
  return code;
}

static void test_programs(void)
{
  int wrong;
  is_int(small_programs(), 0, "vectors are added, and blocks summed");
  racy(&wrong);
  is_int(wrong, 0, "threads run from the first to the last");
  for (int order = 1; order <= 4; order++) {
    set("EMULATOR_ORDER", order);
    is_int(small_programs(), 0, "the same in order %d", order);
    racy(&wrong);
    ok(wrong > 100, "a race shows in order %d (%d wrong)", order, wrong);
  }
  unsetenv("EMULATOR_ORDER");
}

struct place {
  int x[3];
  double factor;
  unsigned char tag;
};

static void test_where(void)
{
  struct place p = {{1, 2, 3}, 0.25, 10};
  unsigned char one = 2;
  short minus = -3;
  double out[24 * 24];
  int bad = 0;
  memset(out, 0, sizeof out);
  mill_cu_address d = put(out, sizeof out);
  is_int(cu.launch(function("where"), 4, 3, 2, 2, 3, 4, 0, NULL, (void *[]){&p, &one, &d, &minus}, NULL), 0, "three dimensions");
  get(out, d, sizeof out);
  for (int i = 0; i < 24 * 24; i++)
    bad += out[i] != i / 24 * 1000 + i % 24 + 0.75 + 20 - 3;
  is_int(bad, 0, "threads, blocks and parameters of all kinds");
  cu.release(d);
}

static void test_shared(void)
{
  static int a[40000], b[40000];
  unsigned n = 40000, stale[3];
  int value, bad = 0;
  mill_cu_function f = function("turn");
  for (unsigned i = 0; i < n; i++)
    a[i] = (int)i;
  mill_cu_address d = put(a, sizeof a);
  is_int(launch("turn", 1, 64, 4 * n, NULL, (void *[]){&d, &n}), 1, "160000 bytes of shared memory are refused");
  is_int(cu.function_set(f, MILL_CU_FUNCTION_DYNAMIC_SHARED, 232449), 1, "more than the device has can't be asked for");
  is_int(cu.function_set(f, MILL_CU_FUNCTION_DYNAMIC_SHARED, 160000), 0, "160000 bytes can be");
  ok(cu.function_get(&value, MILL_CU_FUNCTION_DYNAMIC_SHARED, f) == 0 && value == 160000, "and that is remembered");
  is_int(launch("turn", 1, 64, 4 * n, NULL, (void *[]){&d, &n}), 0, "they are given then");
  get(b, d, sizeof b);
  for (unsigned i = 0; i < n; i++)
    bad += b[i] != (int)(n - 1 - i);
  is_int(bad, 0, "a block uses them");
  cu.release(d);
  d = put(stale, sizeof stale);
  launch("stale", 2, 1, 64, NULL, (void *[]){&d});
  get(stale, d, sizeof stale);
  const char *preloaded = getenv("LD_PRELOAD");
  if (preloaded && strstr(preloaded, "vgpreload"))
    skip(1, "valgrind lets nobody look at what shared memory holds");
  else
    ok(stale[0] != 7 && stale[1] != 7 && stale[2] == 1,
       "shared memory does not hold what the block before left (0x%08x, 0x%08x)", stale[0], stale[1]);
  cu.release(d);
}

static void test_warps(void)
{
  unsigned s[64 * 8], v[40 * 12], bad[12] = {0};
  int b[96 * 4];
  memset(s, 0, sizeof s);
  memset(v, 0, sizeof v);
  memset(b, 0, sizeof b);
  mill_cu_address ds = put(s, sizeof s), dv = put(v, sizeof v), db = put(b, sizeof b);
  launch("shuffles", 1, 64, 0, NULL, (void *[]){&ds});
  launch("votes", 1, 40, 0, NULL, (void *[]){&dv});
  launch("barriers", 1, 96, 0, NULL, (void *[]){&db});
  is_int(cu.synchronize(), 0, "collectives");
  get(s, ds, sizeof s);
  get(v, dv, sizeof v);
  get(b, db, sizeof b);
  for (unsigned i = 0; i < 64; i++) {
    unsigned lane = i % 32, w = i - lane + 100, me = w + lane, *o = s + i * 8;
    bad[0] += o[0] != w + 5;
    bad[1] += o[1] != w + (lane & 24) + (lane + 1) % 8;
    bad[2] += o[2] != (lane < 3 ? me : me - 3);
    bad[3] += o[3] != (lane > 28 ? me : me + 3);
    bad[4] += o[4] != (lane % 8 > 4 ? me : me + 3);
    bad[5] += o[5] != w + (lane ^ 17);
    bad[6] += o[6] != (lane % 4 ? me - 1 : me);
    bad[7] += o[7] != w + 31 + w / 2 + (w + 1) * 2;
  }
  for (unsigned k = 0; k < 8; k++)
    is_int(bad[k], 0, "shuffle %u, at the edges too", k);
  memset(bad, 0, sizeof bad);
  for (unsigned i = 0; i < 40; i++) {
    unsigned lane = i % 32, lanes = i < 32 ? 32 : 8, full = i < 32 ? 0xffffffffu : 0xffu, *o = v + i * 12, odd = lane % 2;
    unsigned third = 0, group = 0, parity = odd ? 0xaaaaaaaau & full : 0x55555555u & full, add = 0, most = 0, either = 0;
    for (unsigned l = 0; l < lanes; l++) {
      third |= (unsigned)(l % 3 == 0) << l;
      group |= (unsigned)(l / 5 == lane / 5) << l;
      add += l % 2 ? l : 0;
      most = l % 2 ? most : l;
      either |= 1u << (l / 2);
    }
    bad[0] += o[0] != third;
    bad[1] += o[1] != 3;
    bad[2] += o[2] != 0;
    bad[3] += o[3] != group;
    bad[4] += o[4] != parity;
    bad[5] += o[5] != (parity & (odd ? ~0u << 5 : ~0u << 7));
    bad[6] += o[6] != (odd ? add : most);
    bad[7] += o[7] != (unsigned)-4;
    bad[8] += o[8] != either;
    bad[9] += o[9] != 64; /* lanes 0…31 and 0…7 come to 0 by exclusive or */
    bad[10] += o[10] != 1;
    bad[11] += o[11] != (i < 32 ? 0xffffffffu : i < 39 ? 0x7fu : 0);
  }
  for (unsigned k = 0; k < 12; k++)
    is_int(bad[k], 0, "vote, match or reduction %u, of a whole warp and of one with 8 threads", k);
  memset(bad, 0, sizeof bad);
  for (unsigned i = 0; i < 96; i++)
    bad[0] += b[4 * i] != 20 || b[4 * i + 1] != 1 || b[4 * i + 2] != 0 || b[4 * i + 3] != 2;
  is_int(bad[0], 0, "barriers that count");
  cu.release(ds);
  cu.release(dv);
  cu.release(db);
}

static void test_atomics(void)
{
  enum { THREADS = 3 * 96 };
  int i[4] = {0, 0, 5, -5};
  unsigned u[9] = {1, 0, 0xffffffffu, 0, 2000, 0, 0, 0, 0}, parity = 0;
  uint64_t w[4] = {0, 1, 0, 0};
  float f = 1;
  mill_cu_address di = put(i, sizeof i), du = put(u, sizeof u), dw = put(w, sizeof w), df = put(&f, sizeof f);
  set("EMULATOR_ORDER", 3);
  is_int(launch("atomics", 3, 96, 0, NULL, (void *[]){&di, &du, &dw, &df}), 0, "atomics");
  unsetenv("EMULATOR_ORDER");
  get(i, di, sizeof i);
  get(u, du, sizeof u);
  get(w, dw, sizeof w);
  get(&f, df, sizeof f);
  for (unsigned n = 0; n < THREADS; n++)
    parity ^= n;
  ok(i[0] == -THREADS && i[1] == -THREADS * (THREADS - 1) / 2 && i[2] == -(THREADS - 1) && i[3] == THREADS - 1, "integers");
  ok(u[0] == 1 + 3 * THREADS && u[1] == 0xffffffffu && u[2] == 0xffff0000u && u[3] == THREADS - 1 && u[4] == 1000 - (THREADS - 1) &&
         u[5] == parity && u[6] == THREADS % 7,
     "unsigned integers");
  ok(u[7] == 0 && u[8] == THREADS, "a lock that every thread takes");
  ok(w[0] == (uint64_t)THREADS << 33 && w[1] == (uint64_t)(THREADS - 1) << 34 && w[2] == UINT64_MAX && w[3] == 5, "64 bits");
  is_real((double)f, 1 + THREADS * 0.5, 0, "single precision");
  cu.release(di);
  cu.release(du);
  cu.release(dw);
  cu.release(df);
}

static void test_intrinsics(void)
{
  static const uint64_t want[] = {8,
                                  8,
                                  32,
                                  31,
                                  0,
                                  64,
                                  55,
                                  0,
                                  32,
                                  41,
                                  0x60000000u,
                                  0x6000000000000000u,
                                  0xfffffffdu,
                                  (uint64_t)-2,
                                  0xfffffffffffffffdu,
                                  (uint64_t)-2,
                                  0x77115533u,
                                  0x23456788u,
                                  0x88000000u,
                                  (uint64_t)-3,
                                  4,
                                  (uint64_t)1 << 40,
                                  0xc000000000000000u,
                                  0x3f800000u,
                                  2,
                                  (uint64_t)-2,
                                  2147483647,
                                  2147483647,
                                  0,
                                  (uint64_t)1 << 63,
                                  8,
                                  31};
  static const double want_real[] = {
      2,  1, 0x1.6a09e667f3bcdp0, 0x1.6a09e6p0, 0x1.555556p-2, 0x1.5555555555555p-2, 0x1p-29 + 0x1p-60, 0x1p-29, -5.5, 3, 0x1p64,
      41, 1};
  enum { INTEGERS = sizeof want / sizeof *want, REALS = sizeof want_real / sizeof *want_real };
  uint64_t got[INTEGERS] = {0};
  double got_real[REALS] = {0};
  unsigned zero = 0;
  mill_cu_address d = put(got, sizeof got), dr = put(got_real, sizeof got_real);
  is_int(launch("intrinsics", 1, 1, 0, NULL, (void *[]){&d, &dr, &zero}), 0, "intrinsics");
  get(got, d, sizeof got);
  get(got_real, dr, sizeof got_real);
  for (int k = 0; k < INTEGERS; k++)
    is_int((intmax_t)got[k], (intmax_t)want[k], "integer intrinsic %d", k);
  for (int k = 0; k < REALS; k++)
    is_real(got_real[k], want_real[k], 0, "real intrinsic %d", k);
  cu.release(d);
  cu.release(dr);
}

static void test_globals(void)
{
  mill_cu_address bias, state, gone;
  size_t bytes;
  int two[4] = {0, 1, 40, 0};
  double out[1] = {0};
  ok(cu.module_global(&bias, &bytes, module, "bias") == 0 && bytes == sizeof two, "a constant's address and size");
  is_int(cu.upload(bias + 4, two, sizeof two), 1, "it can't be written beyond its end");
  is_int(cu.upload(bias, two, sizeof two), 0, "it can be written");
  ok(cu.module_global(&state, &bytes, module, "state") == 0 && bytes == 8, "a variable's");
  mill_cu_address d = put(out, sizeof out), second;
  cu.allocate(&second, 16);
  launch("constants", 1, 1, 0, NULL, (void *[]){&second});
  get(out, state, sizeof out);
  is_real(out[0], 320, 0, "a kernel reads and writes them");
  get(out, second + 8, sizeof out);
  is_real(out[0], 2.5, 0, "the variable's first value was the program's");
  cu.release(second);
  cu.release(d);
  is_int(cu.module_global(&gone, &bytes, module, "emulator_control"), 500, "what is ours is not found");
  is_int(cu.module_global(&gone, &bytes, module, "biased"), 500, "nor what does not exist");
}

int main(void)
{
  plan_later();
  unsetenv("EMULATOR_STRICT");
  emulator_open();
  if (!emulator_kernels())
    return done_testing();
  load();
  test_programs();
  test_where();
  test_shared();
  test_warps();
  test_atomics();
  test_intrinsics();
  test_globals();
  set("EMULATOR_STRICT", 1);
  unload();
  free(image);
  return done_testing();
}
