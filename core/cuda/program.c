/* Programs compiled by NVRTC: the library and its parts, the options that results depend on, errors in the words of the texts' authors. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/cache.h"
#include "cuda/library.h"
#include "cuda/program.h"
#include "registry.h"
#include "simulation.h"
#include "text.h"

/* Results depend on all but the last of these. They come last, behind a source's own options. */
static const char *const always[] = {"--std=c++17",      "--fmad=false", "--prec-div=true",
                                     "--prec-sqrt=true", "--ftz=false",  "--device-as-default-execution-space"};
#define ALWAYS (sizeof always / sizeof *always)

#define ENTRY(name, symbol, parameters) {#symbol, offsetof(struct mill_nvrtc, name)},
static const struct mill_library_entry entries[] = {MILL_NVRTC_TABLE(ENTRY)};
#define ENTRIES (sizeof entries / sizeof *entries)

static atomic_uint_fast64_t compilations;

uint64_t mill_program_compilations(void)
{
  return atomic_load(&compilations);
}

/* ---- The compiler's library */

static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
static const char *const below[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};
#define NAMES (sizeof names / sizeof *names)
#define BELOW (sizeof below / sizeof *below)

/* Opens the first of the names in a folder, or on the loader's path when it is NULL. What is there and cannot be loaded leaves its reason in
   `reason`, which has room for 512 bytes. */
static void *open_in(const char *folder, char *reason)
{
  for (size_t i = 0; i < NAMES; i++) {
    char path[4096];
    const char *words;
    if (mill_text_format(path, sizeof path, "%s%s%s", folder ? folder : "", folder ? "/" : "", names[i]) >= (int)sizeof path ||
        (folder && access(path, F_OK)))
      continue;
    void *library = mill_library_open(path, &words);
    if (library)
      return library;
    if (folder || !strstr(words, mill_text_errno(ENOENT)))
      mill_text_format(reason, 512, "; %s", words);
  }
  return NULL;
}

/* Whether one of the texts before is the same as this one. */
static int is_listed(const char *const *list, size_t at)
{
  for (size_t i = 0; i < at; i++)
    if (list[i] && strcmp(list[i], list[at]) == 0)
      return 1;
  return 0;
}

static void *open_anywhere(struct mill_error *error)
{
  const char *const top[] = {secure_getenv("CUDA_HOME"), secure_getenv("CUDA_PATH"), "/usr/local/cuda"};
  char reason[512] = "", tried[512] = "";
  void *library = open_in(NULL, reason);
  for (size_t i = 0; i < sizeof top / sizeof *top && !library; i++) {
    if (!top[i] || !*top[i] || is_listed(top, i))
      continue;
    size_t n = strlen(tried);
    mill_text_format(tried + n, sizeof tried - n, ", %s", top[i]);
    for (size_t k = 0; k < BELOW && !library; k++) {
      char folder[4096];
      if (mill_text_format(folder, sizeof folder, "%s/%s", top[i], below[k]) < (int)sizeof folder)
        library = open_in(folder, reason);
    }
  }
  if (!library)
    mill_fail(
        error, MILL_RESOURCES,
        "NVRTC, the compiler for the GPU, is not found: neither %s nor %s nor %s is on the loader's path or in lib64 or lib of a "
        "toolkit (looked at%s)%s; SPIKEMILL_NVRTC can name the file",
        names[0], names[1], names[2], tried + 1, reason);
  return library;
}

static int open_library(struct mill_compiler *compiler, struct mill_error *error)
{
  const char *given = secure_getenv("SPIKEMILL_NVRTC"), *reason;
  if (given && *given) {
    compiler->library = mill_library_open(given, &reason);
    if (!compiler->library)
      return mill_fail(error, MILL_RESOURCES, "NVRTC, the compiler for the GPU, cannot be opened (SPIKEMILL_NVRTC): %s", reason);
  } else if (!(compiler->library = open_anywhere(error)))
    return -1;
  compiler->library_path = mill_library_path(compiler->library, given && *given ? given : names[0]);
  return compiler->library_path ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
}

/* NVRTC asks the loader for its other half by name alone; one that is loaded already is found wherever it lies. Without it, compiling fails and
   says so. */
static void open_builtins(const struct mill_compiler *compiler)
{
  const char *slash = strrchr(compiler->library_path, '/'), *reason;
  char path[4096];
  const int n =
      mill_text_format(path, sizeof path, "%.*slibnvrtc-builtins.so.%d.%d", slash ? (int)(slash + 1 - compiler->library_path) : 0,
                       compiler->library_path, compiler->major, compiler->minor);
  if (n < (int)sizeof path)
    mill_library_open(path, &reason);
}

int mill_compiler_open(struct mill_compiler **out, struct mill_error *error)
{
  *out = NULL;
  struct mill_compiler *compiler = calloc(1, sizeof *compiler);
  if (!compiler)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (open_library(compiler, error))
    goto bad;
  const char *missing = mill_library_fill(compiler->library, &compiler->call, entries, ENTRIES);
  int known = compiler->call.version && !compiler->call.version(&compiler->major, &compiler->minor);
  if (missing && known)
    mill_fail(error, MILL_RESOURCES, "%s: has no function %s: NVRTC %d.%d is too old", compiler->library_path, missing,
              compiler->major, compiler->minor);
  else if (missing)
    mill_fail(error, MILL_RESOURCES, "%s: has no function %s: not NVRTC", compiler->library_path, missing);
  else if (!known)
    mill_fail(error, MILL_RESOURCES, "%s: does not tell its version", compiler->library_path);
  else {
    open_builtins(compiler);
    *out = compiler;
    return 0;
  }
bad:
  mill_compiler_close(compiler);
  return -1;
}

void mill_compiler_close(struct mill_compiler *compiler)
{
  if (!compiler)
    return;
  free(compiler->library_path);
  free(compiler);
}

/* ---- What the compiler says */

enum { LINES_SHOWN = 5, LINE_SHOWN = 220 };

static const char *code_name(int code)
{
  static const char *const name[] = {
      [MILL_NVRTC_OUT_OF_MEMORY] = "out of memory",
      [MILL_NVRTC_CREATION] = "the program could not be created",
      [MILL_NVRTC_INPUT] = "invalid input",
      [MILL_NVRTC_OPTION] = "an option is not known",
      [MILL_NVRTC_COMPILATION] = "errors in the texts",
      [MILL_NVRTC_BUILTINS] = "libnvrtc-builtins could not be used",
      [MILL_NVRTC_INTERNAL] = "an internal error",
  };
  return code > 0 && code < (int)(sizeof name / sizeof *name) && name[code] ? name[code] : "an error without a name";
}

/* Lines of errors are "FILE(LINE): error: …", "… error #NUMBER: …", "… catastrophic error: …", "ptxas error   : …"; what explains one
   follows it, indented. */
static int is_error(const char *line, size_t n)
{
  const char *end = line + n, *warning = memmem(line, n, "warning", 7);
  if (!n || *line == ' ')
    return 0;
  for (const char *p = line; (p = memmem(p, (size_t)(end - p), "error", 5)) && (!warning || p < warning);) {
    p += 5;
    p += strspn(p, " ");
    if (p < end && (*p == ':' || *p == '#'))
      return 1;
  }
  return 0;
}

/* The first lines of errors into text[size], each on a line of its own, and how many more there are. A log without such lines is shown from
   its start. */
static void digest(const char *log, char *text, size_t size)
{
  uint64_t errors = 0, shown = 0;
  for (const char *line = log, *next; *line; line = next) {
    size_t n = strcspn(line, "\n");
    next = line + n + (line[n] == '\n');
    errors += (uint64_t)is_error(line, n);
  }
  const uint64_t wanted = errors ? errors : 1;
  size_t at = 0;
  for (const char *line = log, *next; *line && shown < wanted && shown < LINES_SHOWN; line = next) {
    size_t n = strcspn(line, "\n");
    next = line + n + (line[n] == '\n');
    if (errors ? !is_error(line, n) : !n)
      continue;
    size_t cut = n > LINE_SHOWN ? mill_text_cut(line, LINE_SHOWN) : n;
    at += (size_t)mill_text_format(text + at, size - at, "\n  %.*s%s", (int)cut, line, cut < n ? "…" : "");
    shown++;
  }
  if (errors > shown)
    mill_text_format(text + at, size - at, "\n  and %llu more error%s", (unsigned long long)(errors - shown),
                     errors - shown == 1 ? "" : "s");
  else if (!shown)
    mill_text_format(text, size, " nothing more is known");
}

static char *read_log(const struct mill_compiler *compiler, mill_nvrtc_program program)
{
  size_t size;
  char *log = NULL;
  if (compiler->call.log_size(program, &size) || !(log = calloc(1, size + 1)))
    return NULL;
  if (compiler->call.log(program, log))
    *log = 0;
  return log;
}

static int compiler_failed(const struct mill_compiler *compiler, const struct mill_program_source *source, const char *log,
                           int code, struct mill_error *error)
{
  char text[LINES_SHOWN * (LINE_SHOWN + 8) + 64] = "";
  digest(log ? log : "", text, sizeof text);
  return mill_fail(error, code == MILL_NVRTC_COMPILATION ? MILL_USAGE : MILL_RESOURCES,
                   "the program for the GPU cannot be compiled by NVRTC %d.%d for sm_%d%d: %s:%s", compiler->major, compiler->minor,
                   source->major, source->minor, code_name(code), text);
}

/* ---- Compiling */

static int compile(const struct mill_compiler *compiler, const struct mill_program_source *source, struct mill_program_image *image,
                   struct mill_error *error)
{
  const struct mill_nvrtc *call = &compiler->call;
  const uint32_t headers = source->header_count;
  const size_t options = 1 + ALWAYS + source->option_count;
  const char **list = calloc(2 * (size_t)headers + options, sizeof *list);
  mill_nvrtc_program program = NULL;
  char architecture[48], *log = NULL;
  size_t size = 0;
  int code, result = -1;
  if (!list)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t i = 0; i < headers; i++) {
    list[i] = source->header[i].text;
    list[headers + i] = source->header[i].name;
  }
  const char **option = list + 2 * (size_t)headers;
  mill_text_format(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", source->major, source->minor);
  option[0] = architecture;
  for (uint32_t i = 0; i < source->option_count; i++)
    option[1 + i] = source->option[i];
  memcpy(option + options - ALWAYS, always, sizeof always);
  atomic_fetch_add(&compilations, 1);
  code = call->create(&program, source->main.text, source->main.name, (int)headers, list, list + headers);
  if (!code) {
    code = call->compile(program, (int)options, option);
    if (code)
      log = read_log(compiler, program);
  }
  if (!code && !(code = call->cubin_size(program, &size)) && size) {
    image->bytes = malloc(size);
    image->size = size;
    if (!image->bytes) {
      mill_fail(error, MILL_RESOURCES, "out of memory");
      goto done;
    }
    code = call->cubin(program, image->bytes);
  }
  if (code || !size)
    compiler_failed(compiler, source, log, code ? code : MILL_NVRTC_INTERNAL, error);
  else
    result = 0;
done:
  if (program)
    (void)call->destroy(&program);
  if (result) {
    free(image->bytes);
    image->bytes = NULL;
  }
  free(list);
  free(log);
  return result;
}

static int make_key(const struct mill_compiler *compiler, const struct mill_program_source *source, struct mill_cache_key *key)
{
  const uint64_t number[] = {(uint64_t)compiler->major,
                             (uint64_t)compiler->minor,
                             (uint64_t)source->major,
                             (uint64_t)source->minor,
                             source->header_count,
                             source->option_count,
                             ALWAYS};
  int bad = 0;
  for (size_t i = 0; i < sizeof number / sizeof *number; i++)
    bad |= mill_cache_key_number(key, number[i]);
  bad |= mill_cache_key_text(key, source->main.name) | mill_cache_key_text(key, source->main.text);
  for (uint32_t i = 0; i < source->header_count; i++)
    bad |= mill_cache_key_text(key, source->header[i].name) | mill_cache_key_text(key, source->header[i].text);
  for (uint32_t i = 0; i < source->option_count; i++)
    bad |= mill_cache_key_text(key, source->option[i]);
  for (size_t i = 0; i < ALWAYS; i++)
    bad |= mill_cache_key_text(key, always[i]);
  return bad ? -1 : 0;
}

/* Once in a process: every program would say the same. */
static void note_uncached(const char *folder, const char *reason)
{
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&said))
    mill_note("programs for the GPU are compiled anew in every run: %s%s%s", folder ? folder : "", folder ? ": " : "", reason);
}

static int compile_cached(const struct mill_compiler *compiler, const struct mill_program_source *source,
                          struct mill_program_image *image, struct mill_error *error)
{
  struct mill_cache_key key = {0};
  const char *reason;
  int wanted, result = -1;
  char *folder = mill_cache_folder(&wanted, &reason);
  if (!folder) {
    if (wanted)
      note_uncached(NULL, reason);
    return compile(compiler, source, image, error);
  }
  if (make_key(compiler, source, &key)) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto done;
  }
  image->bytes = mill_cache_read(folder, &key, &image->size);
  image->cached = image->bytes != NULL;
  result = image->cached ? 0 : compile(compiler, source, image, error);
  if (!result && !image->cached) {
    int number = mill_cache_write(folder, &key, image->bytes, image->size);
    if (number)
      note_uncached(folder, mill_text_errno(number));
  }
done:
  mill_cache_key_free(&key);
  free(folder);
  return result;
}

int mill_program_compile(struct mill_compiler *compiler, const struct mill_program_source *source, struct mill_program_image *image,
                         struct mill_error *error)
{
  const double begun = mill_seconds();
  struct mill_compiler *opened = NULL;
  *image = (struct mill_program_image){0};
  if (!compiler && mill_compiler_open(&opened, error))
    return -1;
  int result = compile_cached(compiler ? compiler : opened, source, image, error);
  mill_compiler_close(opened);
  image->seconds = mill_seconds() - begun;
  return result;
}
