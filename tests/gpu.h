/* A GPU for C tests: the machine's own, with the environment as it is; else the emulator of tests/cuda-emulator, which runs kernels on the CPU.
   Compiled programs are kept for the length of the test; with GPU_CACHE=FOLDER there, for other tests too. */
#ifndef GPU_H
#define GPU_H

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda/device.h"
#include "cuda/program.h"
#include "tap.h"

enum gpu { GPU_NONE, GPU_EMULATED, GPU_REAL };

static char gpu_cache[] = "/tmp/mill-cache-XXXXXX";

static inline void gpu_cache_remove(void)
{
  DIR *folder = opendir(gpu_cache);
  for (struct dirent *entry; folder && (entry = readdir(folder));)
    if (entry->d_name[0] != '.')
      unlinkat(dirfd(folder), entry->d_name, 0);
  if (folder)
    closedir(folder);
  rmdir(gpu_cache);
}

/* Whether driver and compiler open and a kernel compiles; the device's name, or why not. */
static inline int gpu_try(char *text, size_t size)
{
  const struct mill_program_source source = {.main = {"trial.cu", "extern \"C\" __global__ void trial() {}"}, .major = 9};
  struct mill_program_image image = {0};
  struct mill_cuda *cuda = NULL;
  struct mill_compiler *compiler = NULL;
  struct mill_error error = {0};
  int good = mill_cuda_open(&cuda, &error) == 0 && mill_compiler_open(&compiler, &error) == 0 &&
             mill_program_compile(compiler, &source, &image, &error) == 0;
  snprintf(text, size, "%.400s", good ? cuda->properties.name : error.text);
  free(image.bytes);
  mill_compiler_close(compiler);
  mill_cuda_close(cuda);
  return good;
}

static inline void gpu_point(const char *variable, const char *library)
{
  char path[PATH_MAX];
  const char *top = getenv("top_builddir");
  snprintf(path, sizeof path, "%s/tests/cuda-emulator/.libs/%s", top ? top : ".", library);
  setenv(variable, path, 1);
}

/* A real GPU stays open, since making its context takes longer than most runs. */
static struct mill_cuda *gpu_held;

static inline void gpu_let_go(void)
{
  mill_cuda_close(gpu_held);
}

static inline void gpu_hold(void)
{
  struct mill_error error;
  if (mill_cuda_open(&gpu_held, &error) < 0)
    bail("%s", error.text);
  atexit(gpu_let_go);
}

/* Finds one. GPU_NONE: the test is over, its one check reported: skipped with the reason, or failed when SPIKEMILL_REQUIRE_GPU=1 and there
   is no real one. */
static inline enum gpu gpu_find(void)
{
  const char *required = getenv("SPIKEMILL_REQUIRE_GPU"), *kept = getenv("GPU_CACHE");
  char own[512], emulated[512];
  int good;
  if (!kept) {
    if (!mkdtemp(gpu_cache))
      bail("cannot write to /tmp");
    atexit(gpu_cache_remove);
  }
  setenv("SPIKEMILL_CACHE", kept ? kept : gpu_cache, 1);
  good = gpu_try(own, sizeof own);
  if (good && strcmp(own, "emulated") != 0) {
    diag("on %s", own);
    gpu_hold();
    return GPU_REAL;
  }
  if (required && strcmp(required, "1") == 0) {
    ok(false, "there is a GPU: %s", own);
    return GPU_NONE;
  }
  gpu_point("SPIKEMILL_CUDA_DRIVER", "driver.so");
  gpu_point("SPIKEMILL_NVRTC", "nvrtc.so");
  setenv("EMULATOR_STRICT", "1", 1);
  if (!gpu_try(emulated, sizeof emulated)) {
    skip(1, "no GPU (%.200s), and no emulated one: %.400s", own, emulated);
    return GPU_NONE;
  }
  diag("emulated: %s", good ? "the environment says so" : own);
  return GPU_EMULATED;
}

#endif
