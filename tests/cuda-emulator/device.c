/* The emulated device: its properties, its one context, what goes wrong, and what is left alive. */
#include "emulator.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No entry of the table may be missing: the linker refuses undefined symbols. */
#pragma GCC visibility push(default)
#define DECLARE_(name, symbol, parameters) int symbol parameters;
MILL_CUDA_DRIVER_TABLE(DECLARE_)
#define ENTRY_(name, symbol, parameters) .name = symbol,
extern const struct mill_cuda_driver emulator_table;
const struct mill_cuda_driver emulator_table = {MILL_CUDA_DRIVER_TABLE(ENTRY_)};
#pragma GCC visibility pop

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialized, broken;
static unsigned retained;
static struct CUctx_st {
  int unused;
} context;
static _Thread_local mill_cu_context current;

void emu_say(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs("emulator: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

uint64_t emu_setting(const char *name, uint64_t otherwise)
{
  const char *text = getenv(name);
  char *end;
  uint64_t value;
  if (!text || !*text)
    return otherwise;
  value = strtoull(text, &end, 10);
  if (end != text && *end && strchr("KMG", *end)) {
    value <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
    end++;
  }
  if (end == text || *end) {
    emu_say("%s=%s is no number", name, text);
    abort();
  }
  return value;
}

int emu_enter(int needs_context)
{
  pthread_mutex_lock(&lock);
  if (!initialized)
    return EMU_NOT_INITIALIZED;
  if (needs_context && (!retained || current != &context))
    return EMU_INVALID_CONTEXT;
  return broken;
}

int emu_leave(int code)
{
  pthread_mutex_unlock(&lock);
  return code;
}

void emu_break(int code)
{
  if (!broken)
    broken = code;
}

int emu_broken(void)
{
  return broken;
}

/* ---- Errors ---- */

static const struct {
  int code;
  const char *name, *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "shared object initialization failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
};

static int error_of(int code, const char **text, int long_one)
{
  if (!text)
    return EMU_INVALID_VALUE;
  *text = NULL;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code)
      *text = long_one ? errors[i].text : errors[i].name;
  return *text ? 0 : EMU_INVALID_VALUE;
}

int cuGetErrorName(int code, const char **text)
{
  return error_of(code, text, 0);
}

int cuGetErrorString(int code, const char **text)
{
  return error_of(code, text, 1);
}

/* ---- Properties ---- */

int cuInit(unsigned flags)
{
  pthread_mutex_lock(&lock);
  if (flags == 0)
    initialized = 1;
  return emu_leave(flags == 0 ? 0 : EMU_INVALID_VALUE);
}

int cuDriverGetVersion(int *version)
{
  if (!version)
    return EMU_INVALID_VALUE;
  *version = 13000;
  return 0;
}

unsigned emu_architecture(void)
{
  return (unsigned)emu_setting("EMULATOR_ARCHITECTURE", 90);
}

static int device_count(void)
{
  return (int)emu_setting("EMULATOR_DEVICES", 1);
}

int cuDeviceGetCount(int *count)
{
  int code = emu_enter(0);
  if (!code && !count)
    code = EMU_INVALID_VALUE;
  if (!code)
    *count = device_count();
  return emu_leave(code);
}

int cuDeviceGet(int *device, int ordinal)
{
  int code = emu_enter(0);
  if (!code && !device)
    code = EMU_INVALID_VALUE;
  if (!code && (ordinal < 0 || ordinal >= device_count()))
    code = EMU_INVALID_DEVICE;
  if (!code)
    *device = ordinal;
  return emu_leave(code);
}

int cuDeviceGetName(char *name, int size, int device)
{
  int code = emu_enter(0);
  if (!code && (!name || size <= 0))
    code = EMU_INVALID_VALUE;
  if (!code && device != 0)
    code = EMU_INVALID_DEVICE;
  if (!code)
    snprintf(name, (size_t)size, "emulated");
  return emu_leave(code);
}

static const struct {
  int attribute, value;
} attributes[] = {
    {MILL_CU_THREADS_PER_BLOCK, EMU_THREADS},
    {2, 1024}, /* block x, y, z */
    {3, 1024},
    {4, 64},
    {5, 2147483647}, /* grid x, y, z */
    {6, 65535},
    {7, 65535},
    {8, EMU_SHARED_PLAIN},
    {9, 65536},  /* constant memory */
    {10, 32},    /* threads of a warp */
    {12, 65536}, /* registers of a block */
    {MILL_CU_CLOCK_RATE, 1000000},
    {MILL_CU_L2_BYTES, 64 << 20},
    {MILL_CU_THREADS_PER_MULTIPROCESSOR, 2048},
    {MILL_CU_SHARED_PER_MULTIPROCESSOR, EMU_SHARED_MOST + 1024},
    {MILL_CU_SHARED_PER_BLOCK_OPTIN, EMU_SHARED_MOST},
};

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
  int code = emu_enter(0);
  if (!code && device != 0)
    code = EMU_INVALID_DEVICE;
  if (!code) {
    code = EMU_INVALID_VALUE;
    for (size_t i = 0; value && i < sizeof attributes / sizeof *attributes; i++)
      if (attributes[i].attribute == attribute) {
        *value = attributes[i].value;
        code = 0;
      }
    if (value && attribute == MILL_CU_MULTIPROCESSORS) {
      *value = (int)emu_setting("EMULATOR_MULTIPROCESSORS", 4);
      code = 0;
    }
    if (value && (attribute == MILL_CU_MAJOR || attribute == MILL_CU_MINOR)) {
      *value = (int)(attribute == MILL_CU_MAJOR ? emu_architecture() / 10 : emu_architecture() % 10);
      code = 0;
    }
  }
  return emu_leave(code);
}

/* ---- The context ---- */

int cuDevicePrimaryCtxRetain(mill_cu_context *made, int device)
{
  int code = emu_enter(0);
  if (!code && !made)
    code = EMU_INVALID_VALUE;
  if (!code && device != 0)
    code = EMU_INVALID_DEVICE;
  if (!code) {
    retained++;
    *made = &context;
  }
  return emu_leave(code);
}

/* Says what was never given back. */
static int alive(const char *when)
{
  uint64_t bytes;
  const struct {
    unsigned count;
    const char *what;
  } things[] = {
      {emu_memory_alive(&bytes), "blocks of device memory"},
      {emu_host_alive(), "blocks of host memory"},
      {emu_modules_alive(), "modules"},
      {emu_streams_alive(), "streams"},
      {emu_events_alive(), "events"},
      {emu_graphs_alive(), "graphs"},
  };
  int any = 0;
  for (size_t i = 0; i < sizeof things / sizeof *things; i++)
    if (things[i].count) {
      emu_say("%s, %u %s are still alive%s", when, things[i].count, things[i].what, i == 0 ? ", the first of them with" : "");
      if (i == 0)
        emu_say("  %llu bytes", (unsigned long long)bytes);
      any = 1;
    }
  return any;
}

int emu_strict(void)
{
  const char *strict = getenv("EMULATOR_STRICT");
  return strict && *strict;
}

static void check_alive(const char *when)
{
  if (emu_strict() && alive(when))
    abort();
}

static void drop(void)
{
  emu_streams_drop();
  emu_modules_drop();
  emu_memory_drop();
  emu_block_drop();
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
  int code = emu_enter(0);
  if (code == broken)
    code = 0;
  if (!code && device != 0)
    code = EMU_INVALID_DEVICE;
  if (!code && !retained)
    code = EMU_INVALID_CONTEXT;
  if (!code && --retained == 0) {
    check_alive("when the context is released");
    drop();
    broken = 0;
  }
  return emu_leave(code);
}

int cuCtxSetCurrent(mill_cu_context made)
{
  int code = emu_enter(0);
  if (!code && made && (made != &context || !retained))
    code = EMU_INVALID_CONTEXT;
  if (!code)
    current = made;
  return emu_leave(code);
}

int cuCtxSynchronize(void)
{
  int code = emu_enter(1);
  if (!code && emu_captures())
    code = emu_disturb();
  if (!code) {
    emu_streams_wait();
    code = broken;
  }
  return emu_leave(code);
}

__attribute__((destructor)) static void at_exit(void)
{
  if (emu_setting("EMULATOR_SENT", 0))
    emu_say("%llu bytes were sent", (unsigned long long)emu_sent_all());
  check_alive("at exit");
  if (emu_strict() && retained) {
    emu_say("at exit, the context is still retained");
    abort();
  }
  drop();
}
