// The GPU's driver: what is said when it cannot be opened, and the memory of a device. A driver without a GPU stands in, which fails when it is
// told to (tests/fakes/cuda-driver.c) and whose memory is the host's, so that valgrind and the sanitizers see all of it.
#include <dlfcn.h>
#include "tap.h"
#include "cuda/device.h"
#include "registry.h"

static char folder[4096], path[4200];

// Names the driver's library: a file of tests/fakes, or any path; NULL: the system's.
static void use(const char *name)
{
  if (!name)
    unsetenv("SPIKEMILL_CUDA_DRIVER");
  else {
    snprintf(path, sizeof path, "%s%s", strchr(name, '/') ? "" : folder, name);
    setenv("SPIKEMILL_CUDA_DRIVER", path, 1);
  }
}

static const char *const variables[] = {"FAKE_CUDA_FAIL",   "FAKE_CUDA_DEVICES",    "FAKE_CUDA_LATE",
                                        "FAKE_CUDA_MEMORY", "FAKE_CUDA_COMPUTE",    "CUDA_VISIBLE_DEVICES",
                                        "SPIKEMILL_CUDA_MEMORY"};

static void reset(void)
{
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    unsetenv(variables[i]);
}

// One variable with its value, "NAME=VALUE"; NULL is none.
static void set(const char *assignment)
{
  char name[64];
  if (!assignment)
    return;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(assignment, "="), assignment);
  setenv(name, strchr(assignment, '=') + 1, 1);
}

static const struct {
  const char *library, *variable, *another;
  int status;
  const char *text; // in the message; %s is the library's path
} refusals[] = {
  {"/nowhere/libcuda.so.1", NULL, NULL, MILL_RESOURCES,
   "the GPU's driver cannot be opened (SPIKEMILL_CUDA_DRIVER): /nowhere/libcuda.so.1: "},
  {"stamp", NULL, NULL, MILL_RESOURCES, "the GPU's driver cannot be opened (SPIKEMILL_CUDA_DRIVER): %s: "},
  {"nothing.so", NULL, NULL, MILL_RESOURCES, "%s: has no function cuInit: not a driver of CUDA, or too old a one"},
  {"driver-old.so", NULL, NULL, MILL_RESOURCES, "%s: has no function cuGraphLaunch: this driver, for CUDA 12.4, is too old"},
  {"driver-unversioned.so", NULL, NULL, MILL_RESOURCES, "%s: has no function cuDriverGetVersion: not a driver of CUDA, or too old a one"},
  {"driver.so", "FAKE_CUDA_DEVICES=0", NULL, MILL_RESOURCES,
   "GPU: starting the driver (cuInit): CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)"},
  {"driver.so", "FAKE_CUDA_FAIL=cuInit=100", "CUDA_VISIBLE_DEVICES=-1", MILL_RESOURCES,
   "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected); CUDA_VISIBLE_DEVICES is \"-1\""},
  {"driver.so", "FAKE_CUDA_DEVICES=0", "FAKE_CUDA_LATE=1", MILL_RESOURCES, "GPU: the driver %s has no device"},
  {"driver.so", "FAKE_CUDA_FAIL=cuInit=999", NULL, MILL_RESOURCES,
   "GPU: starting the driver (cuInit): error 999 of the driver, which has no name for it"},
  {"driver.so", "FAKE_CUDA_COMPUTE=6.0", NULL, MILL_RESOURCES,
   "GPU: Fake GPU 0 has compute capability 6.0, and 7.5 is the least that is supported"},
  {"driver.so", "FAKE_CUDA_COMPUTE=7.4", NULL, MILL_RESOURCES, "compute capability 7.4"},
  {"driver.so", "FAKE_CUDA_FAIL=cuDeviceGetCount=3", NULL, MILL_RESOURCES, "counting devices: CUDA_ERROR_NOT_INITIALIZED (initialization error)"},
  {"driver.so", "FAKE_CUDA_FAIL=cuDeviceGet=1", NULL, MILL_RESOURCES, "taking the first device: CUDA_ERROR_INVALID_VALUE"},
  {"driver.so", "FAKE_CUDA_FAIL=cuDriverGetVersion=1", NULL, MILL_RESOURCES, "the driver's version: CUDA_ERROR_INVALID_VALUE"},
  {"driver.so", "FAKE_CUDA_FAIL=cuDeviceGetName=1", NULL, MILL_RESOURCES, "the device's name: CUDA_ERROR_INVALID_VALUE"},
  {"driver.so", "FAKE_CUDA_FAIL=cuDeviceTotalMem_v2=1", NULL, MILL_RESOURCES, "the device's memory: CUDA_ERROR_INVALID_VALUE"},
  {"driver.so", "FAKE_CUDA_FAIL=cuDeviceGetAttribute:7=1", NULL, MILL_RESOURCES, "the device's properties: CUDA_ERROR_INVALID_VALUE"},
  {"driver.so", "FAKE_CUDA_FAIL=cuDevicePrimaryCtxRetain=2", NULL, MILL_RESOURCES,
   "making the device's context: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"},
  {"driver.so", "FAKE_CUDA_FAIL=cuCtxSetCurrent=201", NULL, MILL_RESOURCES, "making the device current: CUDA_ERROR_INVALID_CONTEXT"},
  {"driver.so", "SPIKEMILL_CUDA_MEMORY=2X", NULL, MILL_USAGE,
   "SPIKEMILL_CUDA_MEMORY = 2X: expected a number of bytes, with K, M, G or T for powers of 1024"},
  {"driver.so", "SPIKEMILL_CUDA_MEMORY=", NULL, MILL_USAGE, "SPIKEMILL_CUDA_MEMORY = : expected a number of bytes"},
};

static void refuses(void)
{
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    struct mill_cuda *cuda = (struct mill_cuda *)(void *)folder;
    struct mill_error error = {0};
    char want[5000];
    reset();
    use(refusals[i].library);
    set(refusals[i].variable);
    set(refusals[i].another);
    const int result = mill_cuda_open(&cuda, &error);
    const char *at = strstr(refusals[i].text, "%s");
    if (at)
      snprintf(want, sizeof want, "%.*s%s%s", (int)(at - refusals[i].text), refusals[i].text, path, at + 2);
    else
      snprintf(want, sizeof want, "%s", refusals[i].text);
    if (!ok(result < 0 && !cuda && error.status == refusals[i].status && strstr(error.text, want), "%s, %s: refused",
            refusals[i].library, refusals[i].variable ? refusals[i].variable : "as it is"))
      diag("%d, status %d: %s; want %s", result, error.status, error.text, want);
    if (!result)
      mill_cuda_close(cuda);
    ok(mill_cuda_open(&cuda, NULL) < 0 && !cuda, "without an error to fill, too");
  }
  reset();
}

// What the system has. Nothing can be said of a machine with a GPU but that it opens or gives a reason.
static void system_driver(void)
{
  struct mill_cuda *cuda;
  struct mill_error error = {0};
  use(NULL);
  const int result = mill_cuda_open(&cuda, &error);
  ok(result ? error.status == MILL_RESOURCES && *error.text && !cuda : cuda && cuda->properties.major >= 7,
     "the system's driver opens, or there is a reason");
  diag("%s", result ? error.text : cuda->properties.name);
  mill_cuda_close(cuda);
  mill_cuda_close(NULL);
}

static struct mill_cuda *open_fake(void)
{
  struct mill_cuda *cuda;
  struct mill_error error = {0};
  use("driver.so");
  if (mill_cuda_open(&cuda, &error))
    bail("%s", error.text);
  return cuda;
}

static void properties(void)
{
  setenv("FAKE_CUDA_COMPUTE", "7.5", 1);
  struct mill_cuda *cuda = open_fake();
  const struct mill_cuda_properties *p = &cuda->properties;
  is_str(p->name, "Fake GPU 0", "name");
  is_str(cuda->library_path, path, "the library's path");
  ok(p->major == 7 && p->minor == 5, "the least compute capability is enough");
  ok(p->driver == 12040 && p->multiprocessors == 4 && p->shared_block == 232448 && p->shared_multiprocessor == 233472 &&
       p->threads_multiprocessor == 2048 && p->l2 == 4 << 20 && p->memory == (uint64_t)1 << 30,
     "the other properties");
  mill_cuda_close(cuda);
  reset();
}

// Closes it, and looks at what the driver still has of it.
static void close_fake(struct mill_cuda *cuda, const char *after)
{
  int left[3] = {-1, -1, -1}; // blocks, contexts retained, context current
  void *function = dlsym(cuda->library, "fake_cuda_left");
  void (*ask)(int *);
  memcpy(&ask, &function, sizeof ask);
  mill_cuda_close(cuda);
  ask(left);
  ok(left[0] == 0 && left[1] == 0 && left[2] == 0, "nothing is left after %s", after);
}

// A failure of the n-th allocation, for a message that names what there was no room for.
static void allocates(void)
{
  struct mill_cuda *cuda = open_fake();
  struct mill_error error = {0};
  mill_cu_address a, b, c;
  ok(!mill_cuda_allocate(cuda, "weights", 1000, &a, &error) && a && a % 256 == 0, "a block, aligned");
  ok(!mill_cuda_allocate(cuda, "nothing", 0, &b, &error) && b && b != a, "no bytes are a block too");
  is_int((intmax_t)cuda->held, 1000, "bytes held");
  mill_cuda_release(cuda, a);
  mill_cuda_release(cuda, 0);
  is_int((intmax_t)cuda->held, 0, "and held no more");
  mill_cuda_release(cuda, b);
  ok(!cuda->block, "no blocks are left");

  setenv("FAKE_CUDA_FAIL", "cuMemAlloc_v2:3=2", 1);
  c = 1;
  ok(mill_cuda_allocate(cuda, "the third", 3 << 20, &c, &error) < 0 && !c, "the third allocation fails");
  is_int(error.status, MILL_RESOURCES, "status of no room");
  is_str(error.text, "the third: no room on the GPU for 3.0 MiB: 1.0 GiB of its 1.0 GiB are free", "message of no room");
  setenv("FAKE_CUDA_FAIL", "cuMemAlloc_v2=700", 1);
  ok(mill_cuda_allocate(cuda, "weights", 1, &c, &error) < 0 && !c && error.status == MILL_RESOURCES, "another failure");
  is_str(error.text, "GPU: allocating memory for weights: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)",
         "is told as the driver tells it");
  unsetenv("FAKE_CUDA_FAIL");
  ok(mill_cuda_allocate(cuda, "too much", ((uint64_t)1 << 30) + 1, &c, &error) < 0 && error.status == MILL_RESOURCES,
     "more than the device has");
  ok(mill_cuda_allocate(cuda, "too much", UINT64_MAX, &c, &error) < 0 && error.status == MILL_RESOURCES, "more than anything has");
  is_int((intmax_t)cuda->held, 0, "nothing is held after failures");
  for (int i = 0; i < 10; i++)
    if (mill_cuda_allocate(cuda, "left", (uint64_t)i * 100, &a, &error))
      bail("%s", error.text);
  close_fake(cuda, "a close with ten blocks");
}

static char noted[300];
static void note(const char *line, void *self)
{
  (void)self;
  snprintf(noted, sizeof noted, "%s", line);
}

static void releases_unknown(void)
{
  struct mill_cuda *cuda = open_fake();
  mill_note_set(note, NULL);
  mill_cuda_release(cuda, 0x1234);
  mill_note_set(NULL, NULL);
  ok(strstr(noted, "0x1234") != NULL, "a release of what is not held is told");
  mill_cuda_close(cuda);
}

static void limits(void)
{
  struct mill_error error = {0};
  mill_cu_address a, b;
  struct mill_cuda *cuda = open_fake();
  is_int((intmax_t)mill_cuda_free_bytes(cuda), (intmax_t)768 << 20, "free bytes, less the reserve");
  setenv("FAKE_CUDA_MEMORY", "1000", 1);
  is_int((intmax_t)mill_cuda_free_bytes(cuda), 0, "none when the reserve is more");
  unsetenv("FAKE_CUDA_MEMORY");
  setenv("FAKE_CUDA_FAIL", "cuMemGetInfo_v2=700", 1);
  is_int((intmax_t)mill_cuda_free_bytes(cuda), 0, "none when the driver fails");
  mill_cuda_close(cuda);
  reset();

  setenv("SPIKEMILL_CUDA_MEMORY", "10M", 1);
  cuda = open_fake();
  unsetenv("SPIKEMILL_CUDA_MEMORY");
  is_int((intmax_t)mill_cuda_free_bytes(cuda), 10 << 20, "SPIKEMILL_CUDA_MEMORY lowers what is free");
  ok(!mill_cuda_allocate(cuda, "first", 4 << 20, &a, &error), "some of it is taken");
  is_int((intmax_t)mill_cuda_free_bytes(cuda), 6 << 20, "the rest is free");
  ok(mill_cuda_allocate(cuda, "second", (6 << 20) + 1, &b, &error) < 0 && !b && error.status == MILL_RESOURCES, "one byte too many");
  is_str(error.text,
         "second: no room on the GPU for 6.0 MiB: SPIKEMILL_CUDA_MEMORY allows 10.0 MiB, of which 6.0 MiB are left", "its message");
  ok(!mill_cuda_allocate(cuda, "second", 6 << 20, &b, &error), "all of it");
  is_int((intmax_t)mill_cuda_free_bytes(cuda), 0, "nothing is free then");
  mill_cuda_release(cuda, a);
  is_int((intmax_t)mill_cuda_free_bytes(cuda), 4 << 20, "a release frees it");
  mill_cuda_close(cuda);
}

static void copies(void)
{
  struct mill_cuda *cuda = open_fake();
  struct mill_error error = {0};
  unsigned char from[1000], to[1000];
  mill_cu_address a;
  for (int i = 0; i < 1000; i++)
    from[i] = (unsigned char)(i * 7);
  ok(!mill_cuda_put(cuda, "array", from, sizeof from, &a, &error), "put");
  memset(to, 0, sizeof to);
  ok(!mill_cuda_download(cuda, to, a, sizeof to, &error) && memcmp(from, to, sizeof to) == 0, "and got back");
  ok(!mill_cuda_fill(cuda, a + 10, 5, 100, &error) && !mill_cuda_upload(cuda, a + 500, from, 20, &error) &&
       !mill_cuda_download(cuda, to, a, sizeof to, &error),
     "filled and overwritten in part");
  memcpy(from + 500, from, 20);
  memset(from + 10, 5, 100);
  ok(memcmp(from, to, sizeof to) == 0, "just that part");
  setenv("FAKE_CUDA_FAIL", "cuMemcpyHtoD_v2=700", 1);
  ok(!mill_cuda_upload(cuda, a, NULL, 0, &error) && !mill_cuda_download(cuda, NULL, a, 0, &error) && !mill_cuda_fill(cuda, a, 0, 0, &error),
     "no bytes need no driver");
  ok(mill_cuda_upload(cuda, a, from, 1, &error) < 0, "a failing upload");
  is_str(error.text, "GPU: copying to the device: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)", "its message");
  mill_cu_address b = 1;
  const uint64_t before = cuda->held;
  ok(mill_cuda_put(cuda, "array", from, 100, &b, &error) < 0 && !b && cuda->held == before, "a failing put keeps nothing");
  ok(strncmp(error.text, "array: GPU: copying to the device: ", 35) == 0 && error.status == MILL_RESOURCES, "and names the array");
  // The last step of each waits, and its failure is theirs.
  setenv("FAKE_CUDA_FAIL", "cuStreamSynchronize=700", 1);
  ok(mill_cuda_upload(cuda, a, from, 1, &error) < 0 && mill_cuda_download(cuda, to, a, 1, &error) < 0 &&
       mill_cuda_fill(cuda, a, 0, 1, &error) < 0,
     "copies wait until they are done");
  setenv("FAKE_CUDA_FAIL", "cuMemcpyDtoH_v2=700", 1);
  ok(mill_cuda_download(cuda, to, a, 1, &error) < 0 && strstr(error.text, "copying from the device"), "a failing download");
  setenv("FAKE_CUDA_FAIL", "cuMemsetD8Async=700", 1);
  ok(mill_cuda_fill(cuda, a, 0, 1, &error) < 0 && strstr(error.text, "filling"), "a failing fill");
  reset();
  close_fake(cuda, "failed copies");
}

static void opens_again(void)
{
  struct mill_cuda *cuda = open_fake();
  mill_cu_address a;
  mill_cuda_close(cuda);
  cuda = open_fake();
  struct mill_error error = {0};
  ok(!mill_cuda_allocate(cuda, "again", 10, &a, &error), "a device can be opened again");
  ok(!mill_cuda_attach(cuda, &error), "attach");
  setenv("FAKE_CUDA_FAIL", "cuCtxSetCurrent=201", 1);
  ok(mill_cuda_attach(cuda, &error) < 0 && error.status == MILL_RESOURCES, "a failing attach");
  reset();
  close_fake(cuda, "the second one");
}

int main(void)
{
  const char *top = getenv("top_builddir");
  snprintf(folder, sizeof folder, "%s/tests/fakes/.libs/", top ? top : ".");
  reset();
  plan_later();
  refuses();
  system_driver();
  properties();
  allocates();
  releases_unknown();
  limits();
  copies();
  opens_again();
  return done_testing();
}
