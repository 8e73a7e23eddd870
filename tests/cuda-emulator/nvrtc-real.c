/* The real NVRTC beside the emulated one, where EMULATOR_NVRTC names it: what it does not take is an error here too, and what it makes comes first
   in an image, as a cubin's length is known from its headers. */
#include "cuda/api.h"
#include "nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  int is_there, major, minor;
  struct mill_nvrtc call;
} real;

static void *open_or_die(const char *path)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "emulator: EMULATOR_NVRTC: %s\n", dlerror());
    abort();
  }
  return library;
}

static void open_real(void)
{
  const char *path = getenv("EMULATOR_NVRTC"), *slash;
  char builtins[4096];
  if (!path || !*path)
    return;
  void *library = open_or_die(path);
#define FIND_(name, symbol, parameters) *(void **)&real.call.name = dlsym(library, #symbol);
  MILL_NVRTC_TABLE(FIND_)
  if (!real.call.cubin || !real.call.version || real.call.version(&real.major, &real.minor)) {
    fprintf(stderr, "emulator: EMULATOR_NVRTC: %s is no NVRTC\n", path);
    abort();
  }
  if ((slash = strrchr(path, '/'))) { /* its other half, which it asks for by name alone */
    snprintf(builtins, sizeof builtins, "%.*s/libnvrtc-builtins.so.%d.%d", (int)(slash - path), path, real.major, real.minor);
    open_or_die(builtins);
  }
  real.is_there = 1;
}

static int is_there(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_real);
  return real.is_there;
}

int emu_real_version(int *major, int *minor)
{
  if (is_there()) {
    *major = real.major;
    *minor = real.minor;
  }
  return real.is_there;
}

int emu_real_compile(const struct emu_source *source, int count, const char *const *option, struct emu_text *log,
                     struct emu_text *image)
{
  mill_nvrtc_program program = NULL;
  char *bytes = NULL;
  size_t size = 0;
  int code;
  if (!is_there())
    return 0;
  code = real.call.create(&program, source->text, source->name, source->headers, (const char *const *)source->header_text,
                          (const char *const *)source->header_name);
  if (!code && (code = real.call.compile(program, count, option)) && !real.call.log_size(program, &size) &&
      (bytes = calloc(1, size + 1)) && !real.call.log(program, bytes))
    emu_append(log, bytes, strlen(bytes));
  if (!code && !(code = real.call.cubin_size(program, &size)) && (bytes = malloc(size + 1)) &&
      !(code = real.call.cubin(program, bytes)))
    emu_append(image, bytes, size);
  free(bytes);
  if (program)
    real.call.destroy(&program);
  return code;
}
