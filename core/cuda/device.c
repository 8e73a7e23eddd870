/* One GPU through the driver's own interface. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/device.h"
#include "cuda/library.h"
#include "memory.h"
#include "registry.h"
#include "text.h"

#define NO_LIMIT UINT64_MAX
#define RESERVE_MIB 256 /* for modules, local memory of kernels and rounding to pages */
#define RESERVE ((uint64_t)RESERVE_MIB << 20)
#define TEXT_OF(macro) TEXT_OF_(macro)
#define TEXT_OF_(text) #text
enum { LEAST_MAJOR = 7, LEAST_MINOR = 5 };

/* Something allocated. */
struct mill_cuda_block {
  struct mill_cuda_block *next;
  mill_cu_address address;
  uint64_t bytes;
};

#define ENTRY(name, symbol, parameters) {#symbol, offsetof(struct mill_cuda_driver, name)},
static const struct mill_library_entry entries[] = {MILL_CUDA_DRIVER_TABLE(ENTRY)};
#define ENTRIES (sizeof entries / sizeof *entries)

static uint64_t less(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

int mill_cuda_check(const struct mill_cuda *cuda, int code, const char *doing, struct mill_error *error)
{
  const char *name = NULL, *text = NULL;
  if (code == MILL_CU_SUCCESS)
    return 0;
  if (cuda->call.error_name(code, &name) || !name || cuda->call.error_text(code, &text) || !text)
    return mill_fail(error, MILL_RESOURCES, "GPU: %s: error %d of the driver, which has no name for it", doing, code);
  return mill_fail(error, MILL_RESOURCES, "GPU: %s: %s (%s)", doing, name, text);
}

/* ---- Opening */

static int bad_limit(const char *text, struct mill_error *error)
{
  return mill_fail(error, MILL_USAGE,
                   "SPIKEMILL_CUDA_MEMORY = %s: expected a number of bytes, with K, M, G or T for powers of 1024", text);
}

static int symbol_missing(const struct mill_cuda *cuda, const char *symbol, struct mill_error *error)
{
  void *function = dlsym(cuda->library, "cuDriverGetVersion");
  int version, (*get)(int *) = NULL;
  *(void **)&get = function;
  if (!get || get(&version))
    return mill_fail(error, MILL_RESOURCES, "%s: has no function %s: not a driver of CUDA, or too old a one", cuda->library_path,
                     symbol);
  return mill_fail(error, MILL_RESOURCES, "%s: has no function %s: this driver, for CUDA %d.%d, is too old", cuda->library_path,
                   symbol, version / 1000, version % 1000 / 10);
}

static int open_library(struct mill_cuda *cuda, struct mill_error *error)
{
  const char *given = secure_getenv("SPIKEMILL_CUDA_DRIVER"), *reason, *missing;
  const char *name = given && *given ? given : "libcuda.so.1";
  cuda->library = mill_library_open(name, &reason);
  if (!cuda->library)
    return mill_fail(error, MILL_RESOURCES, "the GPU's driver cannot be opened%s: %s",
                     name == given ? " (SPIKEMILL_CUDA_DRIVER)" : "", reason);
  cuda->library_path = mill_library_path(cuda->library, name);
  if (!cuda->library_path)
    mill_fail(error, MILL_RESOURCES, "out of memory");
  else if ((missing = mill_library_fill(cuda->library, &cuda->call, entries, ENTRIES)))
    symbol_missing(cuda, missing, error);
  else
    return 0;
  return -1;
}

/* Without a device most drivers fail in cuInit, as they do when the user hides all of them. */
static int find_device(struct mill_cuda *cuda, struct mill_error *error)
{
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  int count = 0;
  if (mill_cuda_check(cuda, cuda->call.init(0), "starting the driver (cuInit)", error))
    goto hint;
  if (mill_cuda_check(cuda, cuda->call.device_count(&count), "counting devices", error))
    return -1;
  if (count > 0)
    return mill_cuda_check(cuda, cuda->call.device_get(&cuda->device, 0), "taking the first device", error);
  mill_fail(error, MILL_RESOURCES, "GPU: the driver %s has no device", cuda->library_path);
hint:
  if (visible) {
    struct mill_error cause = error ? *error : (struct mill_error){0};
    mill_fail(error, MILL_RESOURCES, "%s; CUDA_VISIBLE_DEVICES is \"%s\"", cause.text, visible);
  }
  return -1;
}

static int read_properties(struct mill_cuda *cuda, struct mill_error *error)
{
  struct mill_cuda_properties *p = &cuda->properties;
  int value[8];
  static const int wanted[] = {MILL_CU_MAJOR,
                               MILL_CU_MINOR,
                               MILL_CU_MULTIPROCESSORS,
                               MILL_CU_SHARED_PER_BLOCK_OPTIN,
                               MILL_CU_SHARED_PER_MULTIPROCESSOR,
                               MILL_CU_THREADS_PER_MULTIPROCESSOR,
                               MILL_CU_L2_BYTES};
  size_t memory;
  if (mill_cuda_check(cuda, cuda->call.version(&p->driver), "asking for the driver's version", error) ||
      mill_cuda_check(cuda, cuda->call.device_name(p->name, sizeof p->name, cuda->device), "asking for the device's name", error) ||
      mill_cuda_check(cuda, cuda->call.device_memory(&memory, cuda->device), "asking for the device's memory", error))
    return -1;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (mill_cuda_check(cuda, cuda->call.device_attribute(&value[i], wanted[i], cuda->device), "asking for the device's properties",
                        error))
      return -1;
  p->name[sizeof p->name - 1] = 0;
  p->major = value[0];
  p->minor = value[1];
  p->multiprocessors = (uint32_t)value[2];
  p->shared_block = (uint32_t)value[3];
  p->shared_multiprocessor = (uint32_t)value[4];
  p->threads_multiprocessor = (uint32_t)value[5];
  p->l2 = (uint64_t)value[6];
  p->memory = memory;
  if (p->major < LEAST_MAJOR || (p->major == LEAST_MAJOR && p->minor < LEAST_MINOR))
    return mill_fail(error, MILL_RESOURCES, "GPU: %s has compute capability %d.%d, and %d.%d is the least that is supported",
                     p->name, p->major, p->minor, LEAST_MAJOR, LEAST_MINOR);
  return 0;
}

static int take_context(struct mill_cuda *cuda, struct mill_error *error)
{
  mill_cu_context context;
  if (mill_cuda_check(cuda, cuda->call.context_retain(&context, cuda->device), "making the device's context", error))
    return -1;
  cuda->context = context;
  return mill_cuda_attach(cuda, error);
}

int mill_cuda_present(void)
{
  struct mill_cuda *cuda = calloc(1, sizeof *cuda);
  const int present = cuda && open_library(cuda, NULL) == 0 && find_device(cuda, NULL) == 0 && read_properties(cuda, NULL) == 0;
  mill_cuda_close(cuda);
  return present;
}

int mill_cuda_open(struct mill_cuda **out, struct mill_error *error)
{
  const char *limit = getenv("SPIKEMILL_CUDA_MEMORY");
  *out = NULL;
  struct mill_cuda *cuda = calloc(1, sizeof *cuda);
  if (!cuda)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  cuda->limit = NO_LIMIT;
  if (limit && mill_memory_bytes(limit, &cuda->limit)) {
    bad_limit(limit, error);
    goto bad;
  }
  if (open_library(cuda, error) || find_device(cuda, error) || read_properties(cuda, error) || take_context(cuda, error))
    goto bad;
  *out = cuda;
  return 0;
bad:
  mill_cuda_close(cuda);
  return -1;
}

void mill_cuda_close(struct mill_cuda *cuda)
{
  if (!cuda)
    return;
  if (cuda->context) {
    (void)cuda->call.context_set(cuda->context);
    while (cuda->block)
      mill_cuda_release(cuda, cuda->block->address);
    (void)cuda->call.context_set(NULL);
    (void)cuda->call.context_release(cuda->device);
  }
  free(cuda->library_path);
  free(cuda);
}

int mill_cuda_attach(const struct mill_cuda *cuda, struct mill_error *error)
{
  return mill_cuda_check(cuda, cuda->call.context_set(cuda->context), "making the device current", error);
}

/* ---- Memory */

static int memory_now(const struct mill_cuda *cuda, uint64_t *bytes)
{
  size_t available, total;
  if (cuda->call.memory_info(&available, &total))
    return -1;
  *bytes = available;
  return 0;
}

uint64_t mill_cuda_free_bytes(const struct mill_cuda *cuda)
{
  const char *kept;
  return mill_cuda_free_and_kept(cuda, &kept);
}

uint64_t mill_cuda_free_and_kept(const struct mill_cuda *cuda, const char **kept)
{
  uint64_t bytes;
  *kept = "";
  if (memory_now(cuda, &bytes))
    return 0;
  bytes = less(bytes, RESERVE);
  if (cuda->limit != NO_LIMIT && bytes > less(cuda->limit, cuda->held))
    return less(cuda->limit, cuda->held);
  *kept = " (" TEXT_OF(RESERVE_MIB) " MiB are kept for the driver)";
  return bytes;
}

static int no_room(const struct mill_cuda *cuda, const char *name, uint64_t bytes, struct mill_error *error)
{
  char need[32], have[32], all[32];
  uint64_t now;
  mill_memory_text(need, bytes);
  if (cuda->limit != NO_LIMIT && bytes > less(cuda->limit, cuda->held))
    return mill_fail(error, MILL_RESOURCES, "%s: no room on the GPU for %s: SPIKEMILL_CUDA_MEMORY allows %s, of which %s are left",
                     name, need, mill_memory_text(all, cuda->limit), mill_memory_text(have, less(cuda->limit, cuda->held)));
  if (memory_now(cuda, &now))
    now = 0;
  return mill_fail(error, MILL_RESOURCES, "%s: no room on the GPU for %s: %s of its %s are free", name, need,
                   mill_memory_text(have, now), mill_memory_text(all, cuda->properties.memory));
}

int mill_cuda_allocate(struct mill_cuda *cuda, const char *name, uint64_t bytes, mill_cu_address *address, struct mill_error *error)
{
  char doing[160];
  *address = 0;
  if (bytes > SIZE_MAX || (cuda->limit != NO_LIMIT && bytes > less(cuda->limit, cuda->held)))
    return no_room(cuda, name, bytes, error);
  struct mill_cuda_block *block = malloc(sizeof *block);
  if (!block)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory", name);
  int code = cuda->call.allocate(&block->address, bytes ? (size_t)bytes : 1);
  if (code != MILL_CU_SUCCESS) {
    free(block);
    if (code == MILL_CU_OUT_OF_MEMORY)
      return no_room(cuda, name, bytes, error);
    mill_text_format(doing, sizeof doing, "allocating memory for %s", name);
    return mill_cuda_check(cuda, code, doing, error);
  }
  block->bytes = bytes;
  block->next = cuda->block;
  cuda->block = block;
  cuda->held += bytes;
  *address = block->address;
  return 0;
}

void mill_cuda_release(struct mill_cuda *cuda, mill_cu_address address)
{
  struct mill_cuda_block **link = &cuda->block, *block;
  if (!address)
    return;
  while (*link && (*link)->address != address)
    link = &(*link)->next;
  block = *link;
  if (!block) {
    mill_note("GPU: memory at %#llx was to be released, and nothing is there", (unsigned long long)address);
    return;
  }
  (void)cuda->call.release(address); /* fails after a kernel has, and then the context's end releases it */
  cuda->held -= block->bytes;
  *link = block->next;
  free(block);
}

/* A copy from memory that is not pinned may return when the bytes have been read and are still on their way, and streams of the
   non-blocking kind don't wait for the default one: so this does. */
static int finish(struct mill_cuda *cuda, int code, const char *doing, struct mill_error *error)
{
  if (code == MILL_CU_SUCCESS)
    code = cuda->call.stream_synchronize(NULL);
  return mill_cuda_check(cuda, code, doing, error);
}

int mill_cuda_upload(struct mill_cuda *cuda, mill_cu_address to, const void *from, uint64_t bytes, struct mill_error *error)
{
  return bytes ? finish(cuda, cuda->call.upload(to, from, bytes), "copying to the device", error) : 0;
}

int mill_cuda_download(struct mill_cuda *cuda, void *to, mill_cu_address from, uint64_t bytes, struct mill_error *error)
{
  return bytes ? finish(cuda, cuda->call.download(to, from, bytes), "copying from the device", error) : 0;
}

int mill_cuda_fill(struct mill_cuda *cuda, mill_cu_address to, unsigned char value, uint64_t bytes, struct mill_error *error)
{
  return bytes ? finish(cuda, cuda->call.fill_async(to, value, bytes, NULL), "filling the device's memory", error) : 0;
}

int mill_cuda_put(struct mill_cuda *cuda, const char *name, const void *from, uint64_t bytes, mill_cu_address *address,
                  struct mill_error *error)
{
  if (mill_cuda_allocate(cuda, name, bytes, address, error))
    return -1;
  if (!mill_cuda_upload(cuda, *address, from, bytes, error))
    return 0;
  mill_cuda_release(cuda, *address);
  *address = 0;
  return mill_fail_within(error, "%s", name);
}
