/* What a counter's device side is given: its program, and the device through a table of functions. Small copies go through pinned memory,
   behind what the stream has to do already, so that a batch of candidates waits for the device once. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/miner.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/miner-private.h"
#include "cuda/texts.h"
#include "registry.h"
#include "text.h"

#define STAGE (UINT64_C(4) << 20) /* bytes of pinned memory */
#define SMALL (UINT64_C(1) << 16) /* bytes: a block may be so much too large */

const struct mill_counter_device *mill_miner_device_of(const struct mill_plugin *plugin)
{
  const struct mill_counter_ops *ops = plugin->ops;
  const size_t end = offsetof(struct mill_counter_ops, device) + sizeof ops->device;
  return plugin->abi_minor >= 4 && plugin->ops_size >= end && plugin->source ? ops->device : NULL;
}

struct mill_counter_device mill_miner_calls(const struct mill_plugin *plugin)
{
  struct mill_counter_device calls = {.open = NULL};
  const size_t size = plugin->abi_minor >= 5 ? sizeof calls : offsetof(struct mill_counter_device, there);
  memcpy(&calls, mill_miner_device_of(plugin), size);
  return calls;
}

const struct mill_counter_there *mill_miner_there_of(const struct mill_plugin *plugin)
{
  return mill_miner_device_of(plugin) ? mill_miner_calls(plugin).there : NULL;
}

int mill_miner_takes_streams(const struct mill_plugin *plugin)
{
  return mill_miner_device_of(plugin) && mill_miner_calls(plugin).count_streams;
}

/* ---- The program ---------------------------------------------------------------------------------------------------------- */

int mill_miner_compile(struct mill_compiler *compiler, const struct mill_plugin *plugin, int narrow, int major, int minor,
                       struct mill_program_image *image, struct mill_error *error)
{
  const size_t length = (size_t)(plugin->source_end - plugin->source);
  const char *file = plugin->source_name ? plugin->source_name : plugin->name;
  const uint32_t headers = mill_device_text_count + 1;
  struct mill_program_text *header = calloc(headers, sizeof *header);
  char *text = calloc(length + 1, 1), main_text[512];
  int rc = -1;
  if (!header || !text) {
    mill_fail(error, MILL_RESOURCES, "out of memory for the text of a program");
    goto done;
  }
  memcpy(text, plugin->source, length);
  memcpy(header, mill_device_text, mill_device_text_count * sizeof *header);
  header[mill_device_text_count] = (struct mill_program_text){file, text};
  if (mill_text_format(main_text, sizeof main_text,
                       "#define MILL_TIME %s\n#include <spikemill/device-counter.h>\n#include \"core/cuda/kernel.cu\"\n"
                       "#include \"core/cuda/stream.cu\"\n#include \"core/cuda/log.cu\"\n%s#include \"%s\"\n",
                       narrow ? "int32_t" : "int64_t", mill_miner_there_of(plugin) ? "#include \"core/cuda/candidates.cu\"\n" : "",
                       file) >= (int)sizeof main_text) {
    mill_fail(error, MILL_USAGE, "counter `%s`: the name of its text is too long", plugin->name);
    goto done;
  }
  /* MILL_TIME is a type of <spikemill/device.h>, which the first header includes. */
  const struct mill_program_source source = {
      .main = {"counter.cu", main_text}, .header_count = headers, .header = header, .major = major, .minor = minor};
  rc = mill_program_compile(compiler, &source, image, error);
done:
  free(header);
  free(text);
  return rc;
}

void mill_miner_widen(struct mill_miner *m, int wide)
{
  m->wide = wide;
}

int mill_miner_is_narrow(int64_t first, int64_t last)
{
  return (uint64_t)last - (uint64_t)first < INT32_MAX;
}

int mill_miner_load(struct mill_miner *m, int narrow, struct mill_error *error)
{
  m->narrow = narrow = narrow != 0;
  struct mill_program_image image = m->image[narrow];
  if (m->module[narrow])
    return 0;
  if (mill_cuda_attach(m->cuda, error) < 0)
    return -1;
  if (!image.bytes) {
    if (mill_miner_compile(NULL, m->plugin, narrow, m->cuda->properties.major, m->cuda->properties.minor, &image, error) < 0)
      return -1;
    pthread_mutex_lock(&m->lock);
    m->image[narrow] = image;
    pthread_mutex_unlock(&m->lock);
  }
  return mill_cuda_check(m->cuda, m->cuda->call.module_load(&m->module[narrow], image.bytes), "loading the program", error);
}

/* ---- What the plugin calls ------------------------------------------------------------------------------------------------ */

static uint64_t free_bytes(void *self)
{
  const struct mill_miner *m = self;
  return mill_cuda_free_bytes(m->cuda) + m->spare_bytes;
}

static void release_spare(struct mill_miner *m)
{
  if (m->spare)
    (void)m->cuda->call.stream_synchronize(m->stream);
  for (struct mill_miner_block *block = m->spare, *next; block; block = next) {
    next = block->next;
    mill_cuda_release(m->cuda, block->address);
    free(block);
  }
  m->spare = NULL;
  m->spare_bytes = 0;
}

/* The smallest of the spare blocks that is large enough, and not much too large; NULL: none. */
static struct mill_miner_block *take_spare(struct mill_miner *m, uint64_t bytes)
{
  struct mill_miner_block **best = NULL, *block;
  for (struct mill_miner_block **link = &m->spare; *link; link = &(*link)->next)
    if ((*link)->bytes >= bytes && (*link)->bytes / 2 <= bytes + SMALL && (!best || (*link)->bytes < (*best)->bytes))
      best = link;
  if (!best)
    return NULL;
  block = *best;
  *best = block->next;
  m->spare_bytes -= block->bytes;
  return block;
}

int mill_miner_allocate(struct mill_miner *m, const char *name, uint64_t bytes, mill_cu_address *address, struct mill_error *error)
{
  if (mill_cuda_allocate(m->cuda, name, bytes, address, m->spare ? NULL : error) == 0)
    return 0;
  if (!m->spare)
    return -1;
  release_spare(m);
  return mill_cuda_allocate(m->cuda, name, bytes, address, error);
}

static struct mill_miner_block *new_block(struct mill_miner *m, const char *name, uint64_t bytes, struct mill_error *error)
{
  struct mill_miner_block *block = malloc(sizeof *block);
  if (!block) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    return NULL;
  }
  block->bytes = bytes;
  if (mill_miner_allocate(m, name, bytes, &block->address, error) == 0)
    return block;
  free(block);
  return NULL;
}

static int allocate(void *self, const char *name, uint64_t bytes, uint64_t *address, struct mill_error *error)
{
  struct mill_miner *m = self;
  struct mill_miner_block *block = take_spare(m, bytes);
  *address = 0;
  if (!block && !(block = new_block(m, name, bytes, error)))
    return -1;
  block->next = m->block;
  m->block = block;
  *address = block->address;
  return 0;
}

/* Kernels under way may use it: so may those of the next owner, after them. */
static void release(void *self, uint64_t address)
{
  struct mill_miner *m = self;
  struct mill_miner_block **link = &m->block, *block;
  if (!address)
    return;
  while (*link && (*link)->address != address)
    link = &(*link)->next;
  block = *link;
  if (!block) {
    mill_note("counter `%s`: releases memory of the device that is not its own", m->plugin->name);
    return;
  }
  *link = block->next;
  block->next = m->spare;
  m->spare = block;
  m->spare_bytes += block->bytes;
}

static int wait_for(struct mill_miner *m, struct mill_error *error)
{
  m->staged = 0;
  return mill_cuda_check(m->cuda, m->cuda->call.stream_synchronize(m->stream), "counting on the GPU", error);
}

int mill_miner_stage(struct mill_miner *m, uint64_t bytes, char **stage, struct mill_error *error)
{
  const uint64_t need = (bytes + 63) / 64 * 64;
  *stage = NULL;
  if (need > STAGE - m->staged && wait_for(m, error) < 0)
    return -1;
  if (need > STAGE)
    return 0;
  *stage = m->stage + m->staged;
  m->staged += need;
  return 0;
}

static int upload(void *self, uint64_t to, const void *from, uint64_t bytes, struct mill_error *error)
{
  struct mill_miner *m = self;
  char *stage;
  if (!bytes)
    return 0;
  if (mill_miner_stage(m, bytes, &stage, error) < 0)
    return -1;
  if (!stage)
    return mill_cuda_upload(m->cuda, to, from, bytes, error);
  memcpy(stage, from, bytes);
  return mill_cuda_check(m->cuda, m->cuda->call.upload_async(to, stage, bytes, m->stream), "copying to the device", error);
}

static int download(void *self, void *to, uint64_t from, uint64_t bytes, struct mill_error *error)
{
  struct mill_miner *m = self;
  char *stage;
  if (mill_miner_stage(m, bytes, &stage, error) < 0)
    return -1;
  if (!stage)
    return mill_cuda_download(m->cuda, to, from, bytes, error);
  if (bytes &&
      mill_cuda_check(m->cuda, m->cuda->call.download_async(stage, from, bytes, m->stream), "copying from the device", error) < 0)
    return -1;
  if (wait_for(m, error) < 0)
    return -1;
  if (bytes) /* else there may be no place */
    memcpy(to, stage, bytes);
  return 0;
}

int mill_miner_fetch(struct mill_miner *m, struct mill_miner_piece *piece, uint32_t pieces, struct mill_error *error)
{
  const struct mill_cuda_driver *call = &m->cuda->call;
  uint64_t at = 0;
  for (uint32_t i = 0; i < pieces; i++) {
    piece[i].here = m->back + at;
    if (piece[i].bytes && mill_cuda_check(m->cuda, call->download_async(m->back + at, piece[i].from, piece[i].bytes, m->stream),
                                          "copying from the device", error) < 0)
      return -1;
    at += (piece[i].bytes + 63) / 64 * 64;
  }
  return wait_for(m, error);
}

static int fill(void *self, uint64_t to, unsigned char value, uint64_t bytes, struct mill_error *error)
{
  struct mill_miner *m = self;
  return bytes
             ? mill_cuda_check(m->cuda, m->cuda->call.fill_async(to, value, bytes, m->stream), "filling the device's memory", error)
             : 0;
}

static int find_kernel(void *self, const char *name, const struct mill_device_kernel **kernel, struct mill_error *error)
{
  struct mill_miner *m = self;
  struct mill_device_kernel *k = m->kernel;
  char doing[192];
  while (k && (strcmp(k->name, name) != 0 || k->narrow != m->narrow))
    k = k->next;
  *kernel = k;
  if (k)
    return 0;
  k = calloc(1, sizeof *k);
  if (!k)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  k->name = name;
  k->narrow = m->narrow;
  mill_text_format(doing, sizeof doing, "looking up kernel %.64s of counter `%.64s`", name, m->plugin->name);
  if (mill_cuda_check(m->cuda, m->cuda->call.module_function(&k->function, m->module[m->narrow], name), doing, error) < 0) {
    free(k);
    return -1;
  }
  k->next = m->kernel;
  m->kernel = k;
  *kernel = k;
  return 0;
}

/* What is allowed unasked is less by what the kernel declares itself. */
static int allow_shared(struct mill_miner *m, struct mill_device_kernel *k, uint32_t bytes, struct mill_error *error)
{
  if (bytes <= k->shared)
    return 0;
  if (mill_cuda_check(m->cuda, m->cuda->call.function_set(k->function, MILL_CU_FUNCTION_DYNAMIC_SHARED, (int)bytes),
                      "asking for shared memory", error) < 0)
    return -1;
  k->shared = bytes;
  return 0;
}

static int occupancy(void *self, const struct mill_device_kernel *kernel, uint32_t threads, uint32_t shared_bytes, uint32_t *blocks,
                     struct mill_error *error)
{
  struct mill_miner *m = self;
  int n = 0;
  *blocks = 0;
  if (allow_shared(m, (struct mill_device_kernel *)kernel, shared_bytes, error) < 0 ||
      mill_cuda_check(m->cuda, m->cuda->call.occupancy(&n, kernel->function, (int)threads, shared_bytes),
                      "asking how many blocks a multiprocessor has", error) < 0)
    return -1;
  *blocks = (uint32_t)n;
  return 0;
}

static int launch(void *self, const struct mill_device_kernel *kernel, uint32_t blocks, uint32_t threads, uint32_t shared_bytes,
                  void **argument, struct mill_error *error)
{
  struct mill_miner *m = self;
  if (!blocks)
    return 0;
  if (allow_shared(m, (struct mill_device_kernel *)kernel, shared_bytes, error) < 0)
    return -1;
  return mill_cuda_check(
      m->cuda, m->cuda->call.launch(kernel->function, blocks, 1, 1, threads, 1, 1, shared_bytes, m->stream, argument, NULL),
      kernel->name, error);
}

/* ---- Open and close ------------------------------------------------------------------------------------------------------- */

int mill_miner_open(const struct mill_plugin *plugin, struct mill_miner **out, struct mill_error *error)
{
  struct mill_miner *m = calloc(1, sizeof *m);
  void *stage = NULL, *back = NULL;
  *out = NULL;
  if (!m)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  m->plugin = plugin;
  pthread_mutex_init(&m->lock, NULL);
  if (mill_cuda_open(&m->cuda, error) < 0 ||
      mill_cuda_check(m->cuda, m->cuda->call.stream_create(&m->stream, MILL_CU_STREAM_NON_BLOCKING), "creating a stream", error) <
          0 ||
      mill_cuda_check(m->cuda, m->cuda->call.host_allocate(&stage, STAGE, 0), "allocating pinned memory of the host", error) < 0 ||
      (mill_miner_there_of(plugin) && mill_cuda_check(m->cuda, m->cuda->call.host_allocate(&back, MILL_MINER_BACK, 0),
                                                      "allocating pinned memory of the host", error) < 0)) {
    m->stage = stage;
    mill_miner_close(m);
    return -1;
  }
  m->stage = stage;
  m->back = back;
  const struct mill_cuda_properties *p = &m->cuda->properties;
  m->host = (struct mill_device_host){.size = sizeof m->host,
                                      .multiprocessors = p->multiprocessors,
                                      .shared_block = p->shared_block,
                                      .shared_multiprocessor = p->shared_multiprocessor,
                                      .threads_multiprocessor = p->threads_multiprocessor,
                                      .self = m,
                                      .free_bytes = free_bytes,
                                      .allocate = allocate,
                                      .release = release,
                                      .upload = upload,
                                      .download = download,
                                      .fill = fill,
                                      .kernel = find_kernel,
                                      .occupancy = occupancy,
                                      .launch = launch};
  *out = m;
  return 0;
}

static int copy_images(struct mill_miner *to, struct mill_miner *from)
{
  int rc = 0;
  pthread_mutex_lock(&from->lock);
  for (int narrow = 0; narrow < 2 && rc == 0; narrow++) {
    struct mill_program_image *image = &to->image[narrow];
    if (!from->image[narrow].bytes)
      continue;
    *image = from->image[narrow];
    image->bytes = malloc(image->size);
    if (image->bytes)
      memcpy(image->bytes, from->image[narrow].bytes, image->size);
    rc = image->bytes ? 0 : -1;
  }
  pthread_mutex_unlock(&from->lock);
  return rc;
}

int mill_miner_open_like(struct mill_miner *like, struct mill_miner **out, struct mill_error *error)
{
  if (mill_miner_open(like->plugin, out, error) < 0)
    return -1;
  if (copy_images(*out, like) == 0)
    return 0;
  mill_miner_close(*out);
  *out = NULL;
  return mill_fail(error, MILL_RESOURCES, "out of memory for a program");
}

int mill_miner_is_limited(const struct mill_miner *m)
{
  return m->cuda->limit != UINT64_MAX;
}

int mill_miner_attach(const struct mill_miner *m, struct mill_error *error)
{
  return mill_cuda_attach(m->cuda, error);
}

void mill_miner_end(struct mill_miner *m)
{
  (void)mill_cuda_attach(m->cuda, NULL);
  (void)m->cuda->call.stream_synchronize(m->stream); /* the next stream takes the place of this one */
  while (m->block)
    release(m, m->block->address);
}

void mill_miner_shed(struct mill_miner *m)
{
  mill_miner_end(m);
  release_spare(m);
  for (int i = 0; i < MILL_MINER_ARRAYS; i++) {
    mill_cuda_release(m->cuda, m->array[i]);
    m->array[i] = 0;
    m->room[i] = 0;
  }
}

void mill_miner_close(struct mill_miner *m)
{
  if (!m)
    return;
  if (m->cuda) {
    const struct mill_cuda_driver *call = &m->cuda->call;
    mill_miner_shed(m);
    for (int narrow = 0; narrow < 2; narrow++) {
      if (m->module[narrow])
        (void)call->module_unload(m->module[narrow]);
      if (m->surrogates[narrow])
        (void)call->module_unload(m->surrogates[narrow]);
    }
    if (m->stage)
      (void)call->host_release(m->stage);
    if (m->back)
      (void)call->host_release(m->back);
    if (m->stream)
      (void)call->stream_destroy(m->stream);
  }
  for (struct mill_device_kernel *k = m->kernel, *next; k; k = next) {
    next = k->next;
    free(k);
  }
  mill_cuda_close(m->cuda);
  pthread_mutex_destroy(&m->lock);
  free(m->image[0].bytes);
  free(m->image[1].bytes);
  free(m);
}

const struct mill_device_host *mill_miner_host(const struct mill_miner *m)
{
  return &m->host;
}

const struct mill_device_stream *mill_miner_stream(const struct mill_miner *m)
{
  return &m->device;
}

const char *mill_miner_name(const struct mill_miner *m)
{
  return m->cuda->properties.name;
}
