/* NVRTC for the emulated driver: a program's texts go into a folder and through the machine's C++ compiler, with shim.h before them. The
   image is a shared object with a header. */
#include "cuda/api.h"
#include "guarded.h"
#include "kernel-abi.h"
#include "nvrtc.h"

#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#define DECLARE_(name, symbol, parameters) int symbol parameters;
MILL_NVRTC_TABLE(DECLARE_)
#define ENTRY_(name, symbol, parameters) .name = symbol,
extern const struct mill_nvrtc emulator_nvrtc_table;
const struct mill_nvrtc emulator_nvrtc_table = {MILL_NVRTC_TABLE(ENTRY_)};
#pragma GCC visibility pop

/* A kernel is under the sanitizers when this library is, so its compiler must be of the same make. */
#ifdef __clang__
static const char *const compilers[] = {"clang++", "c++", "g++"};
#else
static const char *const compilers[] = {"g++", "c++", "clang++"};
#endif

enum { INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6, BUILTIN_FAILURE = 7 };

/* The headers that come before every program, as bytes of this library. */
#define EMBED_(symbol, file)                                                                                                       \
  __asm__(".pushsection .rodata\n" symbol ": .incbin \"" SHIM_FOLDER "/" file "\"\n.byte 0\n.popsection\n")
EMBED_("emu_text_abi", "kernel-abi.h");
EMBED_("emu_text_shim", "shim.h");
EMBED_("emu_text_intrinsics", "intrinsics.h");
#pragma GCC visibility push(hidden)
extern const char emu_text_abi[], emu_text_shim[], emu_text_intrinsics[];
#pragma GCC visibility pop
static const struct {
  const char *name, *text;
} shims[] = {
    {"kernel-abi.h", emu_text_abi},
    {"shim.h", emu_text_shim},
    {"intrinsics.h", emu_text_intrinsics},
};

struct _nvrtcProgram {
  struct emu_source source;
  struct emu_text log, image;
};

/* ---- Text ---- */

void emu_append(struct emu_text *to, const char *from, size_t bytes)
{
  if (to->room - to->bytes <= bytes) {
    to->room = 2 * to->room + bytes + 64;
    if (!(to->text = realloc(to->text, to->room)))
      abort();
  }
  memcpy(to->text + to->bytes, from, bytes);
  to->bytes += bytes;
  to->text[to->bytes] = 0;
}

void emu_print(struct emu_text *to, const char *format, ...)
{
  va_list arguments;
  char *line = NULL;
  int n;
  va_start(arguments, format);
  n = vasprintf(&line, format, arguments);
  va_end(arguments);
  if (n < 0)
    abort();
  emu_append(to, line, (size_t)n);
  free(line);
}

static void forget(struct emu_text *text)
{
  free(text->text);
  *text = (struct emu_text){NULL, 0, 0};
}

static int read_all(const char *path, struct emu_text *to)
{
  char bytes[65536];
  size_t got;
  FILE *file = fopen(path, "rb");
  if (!file)
    return -1;
  while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
    emu_append(to, bytes, got);
  fclose(file);
  return 0;
}

/* Writes folder/name, with the folders that the name has. A name that leads out of the folder is refused. */
static int write_all(const char *folder, const char *name, const char *text, size_t bytes)
{
  char path[4096];
  FILE *file;
  if (*name == '/' || strstr(name, "..") || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
    return -1;
  for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = 0;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
      return -1;
  }
  if (!(file = fopen(path, "wb")))
    return -1;
  size_t put = fwrite(text, 1, bytes, file);
  return fclose(file) == 0 && put == bytes ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
  (void)about;
  (void)kind;
  (void)where;
  return remove(path);
}

/* ---- Options ---- */

struct options {
  unsigned architecture; /* 0: none that is real, as for compute_90 */
  unsigned feature;      /* 90: of __CUDA_ARCH__ */
  int no_contraction;
  struct emu_text flags; /* for the compiler: each ends with a NUL */
};

static const char *const harmless[] = {
    "-default-device",
    "--device-as-default-execution-space",
    "--std=c++17",
    "-std=c++17",
    "--prec-div=true",
    "-prec-div=true",
    "--prec-sqrt=true",
    "-prec-sqrt=true",
    "--ftz=false",
    "-ftz=false",
    "-lineinfo",
    "--generate-line-info",
    "--restrict",
    "-restrict",
    "--extra-device-vectorization",
    "-w",
    "--disable-warnings",
};

/* What of the option follows one of two spellings, or NULL. */
static const char *value_of(const char *option, const char *one, const char *other)
{
  if (strncmp(option, one, strlen(one)) == 0)
    return option + strlen(one);
  return strncmp(option, other, strlen(other)) == 0 ? option + strlen(other) : NULL;
}

static int read_option(struct options *o, const char *option)
{
  const char *value;
  char *end;
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
    if (strcmp(option, harmless[i]) == 0)
      return 0;
  if ((value = value_of(option, "--gpu-architecture=", "-arch="))) {
    const char *number = value_of(value, "sm_", "compute_");
    if (!number || (o->feature = (unsigned)strtoul(number, &end, 10)) < 50 || (*end && strcmp(end, "a") != 0))
      return -1;
    o->architecture = *value == 's' ? o->feature : 0;
    return 0;
  }
  if ((value = value_of(option, "--fmad=", "-fmad="))) {
    o->no_contraction = strcmp(value, "false") == 0;
    return o->no_contraction || strcmp(value, "true") == 0 ? 0 : -1;
  }
  if ((value = value_of(option, "--maxrregcount=", "-maxrregcount=")))
    return strspn(value, "0123456789") == strlen(value) && *value ? 0 : -1;
  if ((value = value_of(option, "--define-macro=", "-D")) && *value) {
    emu_append(&o->flags, "-D", 2);
    emu_append(&o->flags, value, strlen(value) + 1);
    return 0;
  }
  return -1;
}

/* ---- The compiler ---- */

static void split(struct emu_text *to, unsigned *count, const char *text)
{
  while (*(text += strspn(text, " "))) {
    size_t n = strcspn(text, " ");
    emu_append(to, text, n);
    emu_append(to, "", 1);
    ++*count;
    text += n;
  }
}

/* Runs a command in a folder, its output into `output`, its temporary files into another folder. Returns its status, or -1 when there is no such program. */
static int run(const char *const *command, const char *folder, const char *output, const char *temporary)
{
  extern char **environ;
  posix_spawn_file_actions_t actions;
  unsigned n = 0, kept = 0;
  char **environment, language[] = "LC_ALL=C", place[4096];
  pid_t child;
  int status, failed;
  while (environ && environ[n])
    n++;
  if (!(environment = calloc(n + 3, sizeof *environment)) || posix_spawn_file_actions_init(&actions))
    abort();
  for (unsigned i = 0; i < n; i++)
    if (strncmp(environ[i], "LC_ALL=", 7) != 0 && strncmp(environ[i], "LD_PRELOAD=", 11) != 0 &&
        strncmp(environ[i], "TMPDIR=", 7) != 0)
      environment[kept++] = environ[i];
  environment[kept++] = language;
  snprintf(place, sizeof place, "TMPDIR=%s", temporary);
  environment[kept] = place;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  failed = posix_spawnp(&child, command[0], &actions, NULL, (char *const *)(uintptr_t)command, environment);
  posix_spawn_file_actions_destroy(&actions);
  free(environment);
  if (failed)
    return -1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return 1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -1 : status != 0;
}

/* The compiler with `fixed`, then the flags of options and of the environment, then `last`. */
static int compile(const struct options *o, const char *folder, const char *const *fixed, const char *const *last)
{
  static const char *const always[] = {"-std=c++17",
                                       "-O1",
                                       "-fPIC",
                                       "-w",
                                       "-ffp-contract=off",
                                       "-fno-math-errno",
                                       "-fno-trapping-math",
                                       "-fno-strict-aliasing",
                                       "-fno-exceptions",
                                       "-fno-rtti",
                                       "-fno-threadsafe-statics",
                                       "-fvisibility=hidden",
                                       "-fsigned-char",
                                       NULL};
  static const char *const guards[] = {"-g",
                                       "-fsanitize=address,undefined",
                                       "-fno-sanitize-recover=all",
                                       "-fno-omit-frame-pointer",
#ifndef __clang__
                                       "-fsanitize-sections=emulator.shared.*",
#endif
                                       NULL};
  const char *chosen = getenv("CXX_FOR_EMULATOR"), *more = getenv("EMULATOR_CXXFLAGS"), *const * lists[3], **command;
  unsigned choices = chosen && *chosen ? 1 : sizeof compilers / sizeof *compilers, count;
  char output[4096], text_folder[4096];
  int status = -1;
  snprintf(output, sizeof output, "%s/output", folder);
  snprintf(text_folder, sizeof text_folder, "%s/text", folder);
  lists[0] = always;
  lists[1] = EMU_GUARDED ? guards : NULL;
  lists[2] = fixed;
  for (unsigned i = 0; i < choices && status < 0; i++) {
    struct emu_text words = {NULL, 0, 0};
    size_t at = 0;
    count = 0;
    split(&words, &count, choices == 1 ? chosen : compilers[i]);
    for (unsigned k = 0; k < 3; k++)
      for (const char *const *word = lists[k]; word && *word; word++, count++)
        emu_append(&words, *word, strlen(*word) + 1);
    for (size_t k = 0; k < o->flags.bytes; k += strlen(o->flags.text + k) + 1, count++)
      emu_append(&words, o->flags.text + k, strlen(o->flags.text + k) + 1);
    split(&words, &count, more ? more : "");
    for (const char *const *word = last; *word; word++, count++)
      emu_append(&words, *word, strlen(*word) + 1);
    if (!(command = calloc(count + 1, sizeof *command)))
      abort();
    for (unsigned k = 0; k < count; k++, at += strlen(words.text + at) + 1)
      command[k] = words.text + at;
    status = run(command, text_folder, output, folder);
    free(command);
    free(words.text);
  }
  return status;
}

/* Writes the texts, preprocesses, adds entries, compiles. The code, and the messages in `messages`. */
static int build(const struct emu_source *p, const struct options *o, const char *folder, struct emu_text *messages,
                 struct emu_text *object)
{
  char path[4096], define[64];
  struct emu_text before = {NULL, 0, 0}, after = {NULL, 0, 0};
  const char *const preprocess[] = {"-nostdinc", "-nostdinc++", "-I.", define, "-include", "../shim/shim.h", NULL};
  const char *const preprocess_last[] = {"-x", "c++", "-E", p->name, "-o", "../before.ii", NULL};
  const char *const make[] = {"-shared", EMU_GUARDED ? "-Wl,-Bsymbolic" : "-Wl,-Bsymbolic,-z,defs", NULL};
  const char *const make_last[] = {"-x", "c++-cpp-output", "../after.ii", "-o", "../object.so", "-lm", NULL};
  int status, code = BUILTIN_FAILURE;
  snprintf(define, sizeof define, "-D__CUDA_ARCH__=%u", o->feature * 10);
  for (size_t i = 0; i < sizeof shims / sizeof *shims; i++) {
    snprintf(path, sizeof path, "shim/%s", shims[i].name);
    if (write_all(folder, path, shims[i].text, strlen(shims[i].text)))
      goto done;
  }
  snprintf(path, sizeof path, "%s/text", folder);
  if (mkdir(path, 0700) != 0 || write_all(path, p->name, p->text, strlen(p->text)))
    goto done;
  for (int i = 0; i < p->headers; i++)
    if (write_all(path, p->header_name[i], p->header_text[i], strlen(p->header_text[i])))
      goto done;
  if ((status = compile(o, folder, preprocess, preprocess_last)) == 0) {
    snprintf(path, sizeof path, "%s/before.ii", folder);
    if (read_all(path, &before))
      goto done;
    emu_add_entries(before.text ? before.text : "", &after);
    if (write_all(folder, "after.ii", after.text, after.bytes))
      goto done;
    status = compile(o, folder, make, make_last);
  }
  if (status < 0) {
    emu_print(messages, "emulator: there is no C++ compiler here (CXX_FOR_EMULATOR, g++, c++, clang++)\n");
    goto done;
  }
  snprintf(path, sizeof path, "%s/output", folder);
  read_all(path, messages);
  snprintf(path, sizeof path, "%s/object.so", folder);
  code = status || read_all(path, object) ? COMPILATION : 0;
done:
  if (code == BUILTIN_FAILURE && !messages->bytes)
    emu_print(messages, "emulator: cannot write in %s: %s\n", folder, strerror(errno));
  free(before.text);
  free(after.text);
  return code;
}

/* ---- Entries ---- */

int nvrtcVersion(int *major, int *minor)
{
  if (!major || !minor)
    return INVALID_INPUT;
  if (!emu_real_version(major, minor)) {
    *major = 13;
    *minor = EMU_GUARDED ? 991 : 990; /* a cache must not take our images for others */
  }
  return 0;
}

static char *copy_of(const char *text)
{
  char *copy = strdup(text);
  if (!copy)
    abort();
  return copy;
}

int nvrtcCreateProgram(mill_nvrtc_program *program, const char *text, const char *name, int headers,
                       const char *const *header_texts, const char *const *header_names)
{
  struct _nvrtcProgram *p;
  if (!program || !text || headers < 0 || (headers > 0 && (!header_texts || !header_names)))
    return INVALID_INPUT;
  if (!(p = calloc(1, sizeof *p)))
    abort();
  p->source = (struct emu_source){copy_of(name && *name ? name : "default_program"), copy_of(text), headers,
                                  calloc((size_t)headers + 1, sizeof(char *)), calloc((size_t)headers + 1, sizeof(char *))};
  if (!p->source.header_name || !p->source.header_text)
    abort();
  for (int i = 0; i < headers; i++) {
    p->source.header_name[i] = copy_of(header_names[i]);
    p->source.header_text[i] = copy_of(header_texts[i]);
  }
  *program = p;
  return 0;
}

int nvrtcDestroyProgram(mill_nvrtc_program *program)
{
  struct _nvrtcProgram *p;
  if (!program || !*program)
    return INVALID_PROGRAM;
  p = *program;
  for (int i = 0; i < p->source.headers; i++) {
    free(p->source.header_name[i]);
    free(p->source.header_text[i]);
  }
  free(p->source.header_name);
  free(p->source.header_text);
  free(p->source.text);
  free(p->source.name);
  forget(&p->log);
  forget(&p->image);
  free(p);
  *program = NULL;
  return 0;
}

int nvrtcCompileProgram(mill_nvrtc_program p, int count, const char *const *option)
{
  struct options o = {.architecture = 0, .feature = 75};
  struct emu_text messages = {NULL, 0, 0}, object = {NULL, 0, 0};
  struct emulator_image head = {EMULATOR_MAGIC, 0, 0, 0};
  const char *temporary = getenv("TMPDIR"), *keep = getenv("EMULATOR_KEEP");
  char folder[2048];
  int code = 0;
  if (!p || count < 0)
    return p ? INVALID_INPUT : INVALID_PROGRAM;
  forget(&p->log);
  forget(&p->image);
  for (int i = 0; i < count && !code; i++)
    if (read_option(&o, option[i])) {
      emu_print(&p->log, "nvrtc: error: invalid value for option '%s', or no such option\n", option[i]);
      code = INVALID_OPTION;
    }
  if (!code && !o.no_contraction) {
    emu_print(&p->log, "emulator: without --fmad=false results differ from a CPU's\n");
    code = COMPILATION;
  }
  snprintf(folder, sizeof folder, "%s/emulated-XXXXXX", temporary && *temporary ? temporary : "/tmp");
  if (!code && !mkdtemp(folder)) {
    emu_print(&p->log, "emulator: cannot make a folder in %s: %s\n", folder, strerror(errno));
    code = BUILTIN_FAILURE;
  } else if (!code) {
    code = build(&p->source, &o, folder, &messages, &object);
    emu_rewrite_log(messages.text ? messages.text : "", folder, p->source.name, &p->log);
    if (keep && *keep)
      fprintf(stderr, "emulator: the program is left in %s\n", folder);
    else
      nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  }
  if (!code)
    code = emu_real_compile(&p->source, count, option, &p->log, &p->image);
  if (!code && o.architecture) {
    while (p->image.bytes % sizeof head.bytes)
      emu_append(&p->image, "", 1);
    memcpy(head.magic, EMULATOR_MAGIC, sizeof head.magic);
    head.bytes = object.bytes;
    head.architecture = o.architecture;
    emu_append(&p->image, (const char *)&head, sizeof head);
    emu_append(&p->image, object.text, object.bytes);
  }
  free(messages.text);
  free(object.text);
  free(o.flags.text);
  return code;
}

int nvrtcGetProgramLogSize(mill_nvrtc_program p, size_t *bytes)
{
  if (!p || !bytes)
    return p ? INVALID_INPUT : INVALID_PROGRAM;
  *bytes = p->log.bytes + 1;
  return 0;
}

int nvrtcGetProgramLog(mill_nvrtc_program p, char *log)
{
  if (!p || !log)
    return p ? INVALID_INPUT : INVALID_PROGRAM;
  memcpy(log, p->log.text ? p->log.text : "", p->log.bytes + 1);
  return 0;
}

int nvrtcGetCUBINSize(mill_nvrtc_program p, size_t *bytes)
{
  if (!p || !bytes)
    return p ? INVALID_INPUT : INVALID_PROGRAM;
  *bytes = p->image.bytes;
  return 0;
}

int nvrtcGetCUBIN(mill_nvrtc_program p, char *cubin)
{
  if (!p || !cubin)
    return p ? INVALID_INPUT : INVALID_PROGRAM;
  if (p->image.bytes)
    memcpy(cubin, p->image.text, p->image.bytes);
  return 0;
}
