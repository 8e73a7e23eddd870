/* `spikemill info device`: the processor, the GPU, the compiler for it and where programs are kept; for what is missing, why. Something
   missing is an answer, not a failure. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include "cuda/cache.h"
#include "cuda/device.h"
#include "cuda/program.h"
#include "memory.h"
#include "text.h"
#include "threads.h"

struct found {
  char processor[300];
  uint64_t memory_free;
  struct mill_cuda *cuda; /* NULL: see its error */
  struct mill_compiler *compiler;
  struct mill_error no_cuda, no_compiler;
  char *cache;
  const char *no_cache;
};

static void look(struct found *f)
{
  int wanted;
  mill_processor_name(f->processor, sizeof f->processor);
  f->memory_free = mill_memory_free();
  (void)mill_cuda_open(&f->cuda, &f->no_cuda);
  (void)mill_compiler_open(&f->compiler, &f->no_compiler);
  f->cache = mill_cache_folder(&wanted, &f->no_cache);
}

static void forget(struct found *f)
{
  mill_cuda_close(f->cuda);
  mill_compiler_close(f->compiler);
  free(f->cache);
}

static void print(const struct found *f)
{
  char memory[32], available[32];
  printf("cpu: %u processors, %s, %s of memory free\n", mill_processors(), f->processor, mill_memory_text(memory, f->memory_free));
  if (f->cuda) {
    const struct mill_cuda_properties *p = &f->cuda->properties;
    printf("cuda: %s, compute capability %d.%d, %u multiprocessors, %s of memory, %s free, driver for CUDA %d.%d\n", p->name,
           p->major, p->minor, p->multiprocessors, mill_memory_text(memory, p->memory),
           mill_memory_text(available, mill_cuda_free_bytes(f->cuda)), p->driver / 1000, p->driver % 1000 / 10);
  } else
    printf("cuda: none: %s\n", f->no_cuda.text);
  if (f->compiler)
    printf("nvrtc: %d.%d, %s\n", f->compiler->major, f->compiler->minor, f->compiler->library_path);
  else
    printf("nvrtc: none: %s\n", f->no_compiler.text);
  if (f->cache)
    printf("cache: %s\n", f->cache);
  else
    printf("cache: none: %s\n", f->no_cache);
}

/* ---- JSON. A NULL from cJSON means no memory; adding to a NULL object is refused, so that the results need one look only. */

static int add_text(cJSON *object, const char *key, const char *value)
{
  return cJSON_AddStringToObject(object, key, value) ? 0 : -1;
}

static int add_version(cJSON *object, const char *key, int major, int minor)
{
  char text[32];
  mill_text_format(text, sizeof text, "%d.%d", major, minor);
  return add_text(object, key, text);
}

static int add_cuda(cJSON *o, const struct found *f)
{
  cJSON *cuda = cJSON_AddObjectToObject(o, "cuda"), *devices = cJSON_AddArrayToObject(cuda, "devices"), *item;
  if (!devices)
    return -1;
  if (!f->cuda)
    return add_text(cuda, "reason", f->no_cuda.text);
  const struct mill_cuda_properties *p = &f->cuda->properties;
  item = cJSON_CreateObject();
  if (!cJSON_AddItemToArray(devices, item)) {
    cJSON_Delete(item);
    return -1;
  }
  int bad = add_text(item, "name", p->name) || add_version(item, "compute", p->major, p->minor) ||
            !cJSON_AddNumberToObject(item, "multiprocessors", p->multiprocessors) ||
            add_version(cuda, "driver", p->driver / 1000, p->driver % 1000 / 10);
  if (bad)
    return -1;
  mill_json_int(item, "memory_bytes", p->memory);
  mill_json_int(item, "memory_free_bytes", mill_cuda_free_bytes(f->cuda));
  return 0;
}

static int add_compiler(cJSON *cuda, const struct found *f)
{
  cJSON *nvrtc = cJSON_AddObjectToObject(cuda, "nvrtc");
  if (!f->compiler)
    return add_text(nvrtc, "reason", f->no_compiler.text);
  return add_version(nvrtc, "version", f->compiler->major, f->compiler->minor) || add_text(nvrtc, "path", f->compiler->library_path)
             ? -1
             : 0;
}

static int print_json(const struct found *f, struct mill_error *error)
{
  cJSON *o = cJSON_CreateObject(), *cpu = cJSON_AddObjectToObject(o, "cpu");
  int bad = add_text(cpu, "name", f->processor) || !cJSON_AddNumberToObject(cpu, "processors", mill_processors());
  if (!bad)
    mill_json_int(cpu, "memory_free_bytes", f->memory_free);
  bad = bad || add_cuda(o, f);
  cJSON *cuda = cJSON_GetObjectItem(o, "cuda");
  bad = bad || add_compiler(cuda, f);
  cJSON *cache = cJSON_AddObjectToObject(cuda, "cache");
  bad = bad || (f->cache ? add_text(cache, "path", f->cache) : add_text(cache, "reason", f->no_cache));
  if (!bad)
    return mill_json_print(o, error);
  cJSON_Delete(o);
  return mill_fail(error, MILL_RESOURCES, "out of memory");
}

int mill_info_device(int json, struct mill_error *error)
{
  struct found f = {0};
  int result = 0;
  look(&f);
  if (json)
    result = print_json(&f, error);
  else
    print(&f);
  forget(&f);
  return result;
}
