/* A driver without a GPU, for tests: memory is the host's, copies are memcpy, kernels do nothing. Variables of the environment make it fail
   in chosen ways; they are looked at in every call.

     FAKE_CUDA_FAIL=SYMBOL=CODE        this function fails with that code
     FAKE_CUDA_FAIL=SYMBOL:N=CODE      its N-th call does, counted from the last cuInit
     FAKE_CUDA_DEVICES=N               number of devices (1); with 0 cuInit fails, unless FAKE_CUDA_LATE is there
     FAKE_CUDA_COMPUTE=MAJOR.MINOR     compute capability (9.0)
     FAKE_CUDA_MEMORY=BYTES            memory (1 GiB)

   fake_cuda_left() tells what its user has not given back. Compiled with -DSYMBOL=other it lacks a function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/api.h"

#define PUBLIC __attribute__((visibility("default")))
enum { INVALID = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100, NO_CONTEXT = 201, NOT_FOUND = 500, ALIGNMENT = 256 };

#define NAME(name, symbol, parameters) #symbol,
static const char *const symbols[] = {MILL_CUDA_DRIVER_TABLE(NAME)};
#define NUMBER(name, symbol, parameters) AT_##name,
enum { MILL_CUDA_DRIVER_TABLE(NUMBER) COUNT };

struct block {
  struct block *next;
  void *memory;
  size_t bytes;
};
static struct block *blocks;
static size_t held;
static int calls[COUNT], started, retained, current;

static size_t setting(const char *name, size_t usual)
{
  const char *text = getenv(name);
  return text ? (size_t)strtoull(text, NULL, 10) : usual;
}

/* The code that this call shall fail with, 0 for none. */
static int told(int at)
{
  const char *text = getenv("FAKE_CUDA_FAIL");
  const size_t n = strlen(symbols[at]);
  const int call = ++calls[at];
  char *end;
  if (!text || strncmp(text, symbols[at], n) != 0)
    return 0;
  text += n;
  if (*text == ':' && strtol(text + 1, &end, 10) == call)
    text = end;
  return *text == '=' ? atoi(text + 1) : 0;
}

#define BEGIN(name)                                                                                                                \
  do {                                                                                                                             \
    int told_code = told(AT_##name);                                                                                               \
    if (told_code)                                                                                                                 \
      return told_code;                                                                                                            \
  } while (0)
#define BEGIN_IN_CONTEXT(name)                                                                                                     \
  BEGIN(name);                                                                                                                     \
  if (!current)                                                                                                                    \
  return NO_CONTEXT

#define DECLARE(name, symbol, parameters) PUBLIC int symbol parameters;
MILL_CUDA_DRIVER_TABLE(DECLARE)

/* ---- The driver and its device */

int cuInit(unsigned flags)
{
  memset(calls, 0, sizeof calls);
  BEGIN(init);
  started = 1;
  return flags ? INVALID : setting("FAKE_CUDA_DEVICES", 1) || getenv("FAKE_CUDA_LATE") ? 0 : NO_DEVICE;
}

int cuDriverGetVersion(int *version)
{
  BEGIN(version);
  *version = 12040;
  return 0;
}

static const struct {
  int code;
  const char *name, *text;
} errors[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
};

static int describe(int code, const char **text, int want_name)
{
  *text = NULL;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code)
      *text = want_name ? errors[i].name : errors[i].text;
  return *text ? 0 : INVALID;
}

int cuGetErrorName(int code, const char **text)
{
  BEGIN(error_name);
  return describe(code, text, 1);
}

int cuGetErrorString(int code, const char **text)
{
  BEGIN(error_text);
  return describe(code, text, 0);
}

int cuDeviceGetCount(int *count)
{
  BEGIN(device_count);
  *count = (int)setting("FAKE_CUDA_DEVICES", 1);
  return started ? 0 : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal)
{
  BEGIN(device_get);
  *device = ordinal;
  return ordinal < (int)setting("FAKE_CUDA_DEVICES", 1) ? 0 : INVALID;
}

int cuDeviceGetName(char *name, int size, int device)
{
  BEGIN(device_name);
  snprintf(name, (size_t)size, "Fake GPU %d", device);
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
  const char *compute = getenv("FAKE_CUDA_COMPUTE");
  int major = 9, minor = 0;
  (void)device;
  BEGIN(device_attribute);
  if (compute)
    sscanf(compute, "%d.%d", &major, &minor);
  switch (attribute) {
  case MILL_CU_THREADS_PER_BLOCK: *value = 1024; return 0;
  case MILL_CU_CLOCK_RATE: *value = 1000000; return 0;
  case MILL_CU_MULTIPROCESSORS: *value = 4; return 0;
  case MILL_CU_L2_BYTES: *value = 1 << 22; return 0;
  case MILL_CU_THREADS_PER_MULTIPROCESSOR: *value = 2048; return 0;
  case MILL_CU_MAJOR: *value = major; return 0;
  case MILL_CU_MINOR: *value = minor; return 0;
  case MILL_CU_SHARED_PER_MULTIPROCESSOR: *value = 233472; return 0;
  case MILL_CU_SHARED_PER_BLOCK_OPTIN: *value = 232448; return 0;
  }
  return INVALID;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
  (void)device;
  BEGIN(device_memory);
  *bytes = setting("FAKE_CUDA_MEMORY", (size_t)1 << 30);
  return 0;
}

int cuDevicePrimaryCtxRetain(mill_cu_context *context, int device)
{
  (void)device;
  BEGIN(context_retain);
  retained++;
  *context = (mill_cu_context)&retained;
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
  (void)device;
  BEGIN(context_release);
  if (!retained)
    return NO_CONTEXT;
  retained--;
  return 0;
}

int cuCtxSetCurrent(mill_cu_context context)
{
  BEGIN(context_set);
  current = context != NULL;
  return 0;
}

int cuCtxSynchronize(void)
{
  BEGIN_IN_CONTEXT(synchronize);
  return 0;
}

/* Blocks, contexts retained, and whether one is current. */
PUBLIC void fake_cuda_left(int left[3]);
void fake_cuda_left(int left[3])
{
  left[0] = 0;
  for (const struct block *b = blocks; b; b = b->next)
    left[0]++;
  left[1] = retained;
  left[2] = current;
}

/* ---- Memory */

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
  BEGIN_IN_CONTEXT(memory_info);
  *total = setting("FAKE_CUDA_MEMORY", (size_t)1 << 30);
  *available = *total - held;
  return 0;
}

int cuMemAlloc_v2(mill_cu_address *address, size_t bytes)
{
  BEGIN_IN_CONTEXT(allocate);
  if (!bytes)
    return INVALID;
  if (bytes > setting("FAKE_CUDA_MEMORY", (size_t)1 << 30) - held)
    return MILL_CU_OUT_OF_MEMORY;
  struct block *block = malloc(sizeof *block);
  if (!block || posix_memalign(&block->memory, ALIGNMENT, bytes) != 0)
    abort();
  block->bytes = bytes;
  block->next = blocks;
  blocks = block;
  held += bytes;
  *address = (mill_cu_address)(uintptr_t)block->memory;
  return 0;
}

int cuMemFree_v2(mill_cu_address address)
{
  BEGIN_IN_CONTEXT(release);
  for (struct block **link = &blocks; *link; link = &(*link)->next)
    if ((mill_cu_address)(uintptr_t)(*link)->memory == address) {
      struct block *block = *link;
      *link = block->next;
      held -= block->bytes;
      free(block->memory);
      free(block);
      return 0;
    }
  return INVALID;
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
  (void)flags;
  BEGIN_IN_CONTEXT(host_allocate);
  *memory = malloc(bytes);
  return *memory ? 0 : MILL_CU_OUT_OF_MEMORY;
}

int cuMemFreeHost(void *memory)
{
  BEGIN_IN_CONTEXT(host_release);
  free(memory);
  return 0;
}

static void *at(mill_cu_address address)
{
  return (void *)(uintptr_t)address;
}

int cuMemcpyHtoD_v2(mill_cu_address to, const void *from, size_t bytes)
{
  BEGIN_IN_CONTEXT(upload);
  memcpy(at(to), from, bytes);
  return 0;
}

int cuMemcpyDtoH_v2(void *to, mill_cu_address from, size_t bytes)
{
  BEGIN_IN_CONTEXT(download);
  memcpy(to, at(from), bytes);
  return 0;
}

int cuMemcpyHtoDAsync_v2(mill_cu_address to, const void *from, size_t bytes, mill_cu_stream stream)
{
  (void)stream;
  BEGIN_IN_CONTEXT(upload_async);
  memcpy(at(to), from, bytes);
  return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, mill_cu_address from, size_t bytes, mill_cu_stream stream)
{
  (void)stream;
  BEGIN_IN_CONTEXT(download_async);
  memcpy(to, at(from), bytes);
  return 0;
}

int cuMemcpyDtoDAsync_v2(mill_cu_address to, mill_cu_address from, size_t bytes, mill_cu_stream stream)
{
  (void)stream;
  BEGIN_IN_CONTEXT(copy_async);
  memcpy(at(to), at(from), bytes);
  return 0;
}

int cuMemsetD8Async(mill_cu_address to, unsigned char value, size_t bytes, mill_cu_stream stream)
{
  (void)stream;
  BEGIN_IN_CONTEXT(fill_async);
  memset(at(to), value, bytes);
  return 0;
}

/* ---- Streams, events, modules, graphs: handles that stand for nothing */

static int handle;
#define MAKE(name, symbol, parameters, out)                                                                                        \
  int symbol parameters                                                                                                            \
  {                                                                                                                                \
    BEGIN_IN_CONTEXT(name);                                                                                                        \
    *out = (void *)&handle;                                                                                                        \
    return 0;                                                                                                                      \
  }
#define ACCEPT(name, symbol, parameters)                                                                                           \
  int symbol parameters                                                                                                            \
  {                                                                                                                                \
    BEGIN_IN_CONTEXT(name);                                                                                                        \
    return 0;                                                                                                                      \
  }
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
MAKE(stream_create, cuStreamCreate, (mill_cu_stream * out, unsigned flags), out)
ACCEPT(stream_destroy, cuStreamDestroy_v2, (mill_cu_stream stream))
ACCEPT(stream_synchronize, cuStreamSynchronize, (mill_cu_stream stream))
ACCEPT(stream_wait, cuStreamWaitEvent, (mill_cu_stream stream, mill_cu_event event, unsigned flags))
MAKE(event_create, cuEventCreate, (mill_cu_event * out, unsigned flags), out)
ACCEPT(event_destroy, cuEventDestroy_v2, (mill_cu_event event))
ACCEPT(event_record, cuEventRecord, (mill_cu_event event, mill_cu_stream stream))
ACCEPT(event_synchronize, cuEventSynchronize, (mill_cu_event event))
MAKE(module_load, cuModuleLoadData, (mill_cu_module * out, const void *image), out)
ACCEPT(module_unload, cuModuleUnload, (mill_cu_module module))
MAKE(module_function, cuModuleGetFunction, (mill_cu_function * out, mill_cu_module module, const char *name), out)
ACCEPT(function_set, cuFuncSetAttribute, (mill_cu_function function, int attribute, int value))
ACCEPT(launch, cuLaunchKernel,
       (mill_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
        unsigned block_z, unsigned shared_bytes, mill_cu_stream stream, void **parameters, void **extra))
ACCEPT(capture_begin, cuStreamBeginCapture_v2, (mill_cu_stream stream, int mode))
MAKE(capture_end, cuStreamEndCapture, (mill_cu_stream stream, mill_cu_graph *out), out)
MAKE(graph_instantiate, cuGraphInstantiateWithFlags, (mill_cu_graph_exec * out, mill_cu_graph graph, unsigned long long flags), out)
ACCEPT(graph_launch, cuGraphLaunch, (mill_cu_graph_exec exec, mill_cu_stream stream))
ACCEPT(graph_destroy, cuGraphDestroy, (mill_cu_graph graph))
ACCEPT(graph_exec_destroy, cuGraphExecDestroy, (mill_cu_graph_exec exec))

int cuModuleGetGlobal_v2(mill_cu_address *address, size_t *bytes, mill_cu_module module, const char *name)
{
  BEGIN_IN_CONTEXT(module_global);
  *address = 0;
  *bytes = 0;
  return NOT_FOUND;
}

int cuFuncGetAttribute(int *value, int attribute, mill_cu_function function)
{
  BEGIN_IN_CONTEXT(function_get);
  *value = 0;
  return 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks_out, mill_cu_function function, int threads, size_t shared_bytes)
{
  BEGIN_IN_CONTEXT(occupancy);
  *blocks_out = 1;
  return 0;
}
