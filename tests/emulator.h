// For tests that use the emulated GPU (tests/cuda-emulator/README.md) below spikemill's own loader: the two libraries, a program compiled
// and loaded, and what a piece of code writes to stderr.
#ifndef EMULATOR_TEST_H
#define EMULATOR_TEST_H

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda/api.h"
#include "tap.h"

static struct mill_cuda_driver cu;
static struct mill_nvrtc rtc;

static inline void *emulator_library(const char *name)
{
  const char *top = getenv("top_builddir");
  char path[4096];
  void *library;
  snprintf(path, sizeof path, "%s/tests/cuda-emulator/.libs/%s", top ? top : ".", name);
  if (!(library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
    bail("%s", dlerror());
  return library;
}

static inline void emulator_symbol(void *library, const char *symbol, void *slot)
{
  void *function = dlsym(library, symbol);
  if (!function)
    bail("no %s", symbol);
  memcpy(slot, &function, sizeof function);
}

static inline void emulator_open(void)
{
  void *driver = emulator_library("driver.so"), *nvrtc = emulator_library("nvrtc.so");
#define DRIVER_(name, symbol, parameters) emulator_symbol(driver, #symbol, &cu.name);
  MILL_CUDA_DRIVER_TABLE(DRIVER_)
#define NVRTC_(name, symbol, parameters) emulator_symbol(nvrtc, #symbol, &rtc.name);
  MILL_NVRTC_TABLE(NVRTC_)
}

// A program's image, to be freed, or NULL; *code is NVRTC's, and `log` gets what it says.
static inline char *emulator_compile(const char *text, int headers, const char *const *texts, const char *const *names, int count,
                                     const char *const *options, int *code, char *log, size_t room)
{
  mill_nvrtc_program program;
  size_t bytes;
  char *image = NULL, *all;
  if (rtc.create(&program, text, "program.cu", headers, texts, names))
    bail("nvrtcCreateProgram");
  *code = rtc.compile(program, count, options);
  if (rtc.log_size(program, &bytes) || !(all = malloc(bytes)) || rtc.log(program, all))
    bail("the log");
  snprintf(log, room, "%s", all);
  free(all);
  if (*code == 0 && (rtc.cubin_size(program, &bytes) || !(image = malloc(bytes + 1)) || rtc.cubin(program, image)))
    bail("the image");
  if (rtc.destroy(&program))
    bail("nvrtcDestroyProgram");
  return image;
}

// Makes the device current, from nothing.
static inline void emulator_context(void)
{
  mill_cu_context context;
  if (cu.init(0) || cu.context_retain(&context, 0) || cu.context_set(context))
    bail("no context");
}

// The kernels of tests/cuda-emulator/kernels.cu, loaded and not.
static mill_cu_module module;
static char *image;

// Sets a variable, without the copy that setenv keeps for ever.
static inline void set(const char *name, int value)
{
  static char text[8][40];
  unsigned i = 0;
  size_t n = strlen(name);
  while (*text[i] && (strncmp(text[i], name, n) != 0 || text[i][n] != '='))
    i++;
  snprintf(text[i], sizeof text[i], "%s=%d", name, value);
  putenv(text[i]);
}

static inline void load(void)
{
  emulator_context();
  if (cu.module_load(&module, image))
    bail("cuModuleLoadData");
}

static inline void unload(void)
{
  cu.module_unload(module);
  if (cu.context_release(0))
    bail("cuDevicePrimaryCtxRelease");
}

static inline mill_cu_function function(const char *name)
{
  mill_cu_function f = NULL;
  if (cu.module_function(&f, module, name))
    bail("no kernel %s", name);
  return f;
}

static inline int launch(const char *name, unsigned blocks, unsigned threads, unsigned shared, mill_cu_stream stream,
                         void **parameters)
{
  return cu.launch(function(name), blocks, 1, 1, threads, 1, 1, shared, stream, parameters, NULL);
}

static inline mill_cu_address put(const void *from, size_t bytes)
{
  mill_cu_address address = 0;
  if (cu.allocate(&address, bytes) || cu.upload(address, from, bytes))
    bail("no device memory");
  return address;
}

static inline void get(void *to, mill_cu_address from, size_t bytes)
{
  if (cu.download(to, from, bytes))
    bail("cuMemcpyDtoH");
}

// Compiles the kernels; bails out when they don't compile. 0: there is no compiler here, which is said.
static inline int emulator_kernels(void)
{
  static const char *const options[] = {"--gpu-architecture=sm_90", "--fmad=false", "-default-device", "--std=c++17"};
  const char *top = getenv("top_srcdir");
  char path[4096], log[4000], *text = calloc(1, 100000);
  int code;
  FILE *file;
  snprintf(path, sizeof path, "%s/tests/cuda-emulator/kernels.cu", top ? top : ".");
  if (!(file = fopen(path, "rb")) || !text || fread(text, 1, 99999, file) == 0)
    bail("cannot read %s", path);
  fclose(file);
  image = emulator_compile(text, 0, NULL, NULL, 4, options, &code, log, sizeof log);
  free(text);
  if (code == 7) {
    skip(1, "%s", log);
    return 0;
  }
  ok(code == 0 && !*log, "%s compiles", path);
  if (code)
    bail("%s", log);
  return 1;
}

// What `work` writes to stderr goes into `text`.
static inline void emulator_listen(void (*work)(void), char *text, size_t room)
{
  FILE *file = tmpfile();
  int kept = dup(2);
  if (!file || kept < 0)
    bail("no file");
  fflush(stderr);
  dup2(fileno(file), 2);
  work();
  fflush(stderr);
  dup2(kept, 2);
  close(kept);
  rewind(file);
  text[fread(text, 1, room - 1, file)] = 0;
  fclose(file);
}

static void (*emulator_work)(void);
static int emulator_status;
static inline void emulator_fork(void)
{
  pid_t child = fork();
  if (child == 0) {
    emulator_work();
    exit(0);
  }
  if (child < 0 || waitpid(child, &emulator_status, 0) != child)
    bail("no child");
}

// 1 when `work`, in a process of its own, ends well; what it writes to stderr goes into `text`.
static inline int emulator_survives(void (*work)(void), char *text, size_t room)
{
  emulator_work = work;
  fflush(stdout);
  emulator_listen(emulator_fork, text, room);
  return WIFEXITED(emulator_status) && WEXITSTATUS(emulator_status) == 0;
}

#endif
