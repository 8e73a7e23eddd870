/* Loading plugins: find the file, look into it, load it, check its descriptor. What was loaded is kept in one list for the life of the
   process, because code and data of a plugin may be referred to from anywhere. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin-check.h"
#include "registry.h"
#include "text.h"

/* The floating-point control of this thread: rounding, flush to zero, traps. */
struct control {
  unsigned vector, scalar;
};

struct loaded {
  struct loaded *next;
  void *handle;
  const struct mill_plugin *plugin; /* NULL until it was found sound */
  struct control before, after;     /* of its loading */
  char path[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct loaded *all_loaded;

#if defined(__x86_64__) || (defined(__i386__) && defined(__SSE__))
#define STICKY 0x3fu /* exception flags: not control */
static struct control get_control(void)
{
  unsigned short word;
  __asm__ __volatile__("fnstcw %0" : "=m"(word));
  return (struct control){__builtin_ia32_stmxcsr() & ~STICKY, word};
}
static void set_control(struct control c)
{
  unsigned short word = (unsigned short)c.scalar;
  __asm__ __volatile__("fldcw %0" : : "m"(word));
  __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & STICKY) | c.vector);
}
#elif defined(__aarch64__)
static struct control get_control(void)
{
  unsigned long word;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(word));
  return (struct control){(unsigned)word, 0};
}
static void set_control(struct control c)
{
  __asm__ __volatile__("msr fpcr, %0" : : "r"((unsigned long)c.vector));
}
#else
static struct control get_control(void)
{
  return (struct control){0, 0};
}
static void set_control(struct control c)
{
  (void)c;
}
#endif

static int same_control(struct control a, struct control b)
{
  return a.vector == b.vector && a.scalar == b.scalar;
}

/* Loads the file; the control registers are as before, whatever it did to them. */
static struct loaded *load_file(const char *path, struct mill_error *error)
{
  size_t n = strlen(path);
  const char *prefix = strchr(path, '/') ? "" : "./";
  struct loaded *entry = malloc(sizeof *entry + n + 3);
  if (!entry) {
    mill_fail(error, MILL_RESOURCES, "%s: no memory to load the plugin", path);
    return NULL;
  }
  stpcpy(stpcpy(entry->path, prefix), path);
  entry->plugin = NULL;
  entry->before = get_control();
  entry->handle = dlopen(entry->path, RTLD_NOW | RTLD_LOCAL);
  entry->after = get_control();
  set_control(entry->before);
  if (!entry->handle) {
    const char *reason = dlerror();
    if (!reason)
      reason = "no reason given";
    else if (!strncmp(reason, entry->path, strlen(entry->path)) && reason[strlen(entry->path)] == ':')
      reason += strlen(entry->path) + 1 + (reason[strlen(entry->path) + 1] == ' ');
    mill_fail(error, MILL_USAGE, "%s: cannot be loaded: %s", path, reason);
    free(entry);
    return NULL;
  }
  for (struct loaded *other = all_loaded; other; other = other->next)
    if (other->handle == entry->handle) {
      free(entry);
      return other;
    }
  entry->next = all_loaded;
  all_loaded = entry;
  return entry;
}

/* The descriptor's symbol in this very file, not in a library that it needs; *size is 0 when not known. */
static const struct mill_plugin *find_symbol(const char *path, void *handle, size_t *size, struct mill_error *error)
{
  Dl_info info;
  const ElfW(Sym) *symbol = NULL;
  struct link_map *own = NULL, *holder = NULL;
  void *address = dlsym(handle, "spikemill_plugin");
  *size = 0;
  if (address && !dlinfo(handle, RTLD_DI_LINKMAP, &own) && dladdr1(address, &info, (void **)&holder, RTLD_DL_LINKMAP) &&
      holder != own)
    address = NULL;
  if (!address) {
    mill_fail(error, MILL_USAGE, "%s: not a plugin: it has no symbol `spikemill_plugin`", path);
    return NULL;
  }
  if (dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol && info.dli_saddr == address) {
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC) {
      mill_fail(error, MILL_USAGE, "%s: not a plugin: its symbol `spikemill_plugin` is a function, not data", path);
      return NULL;
    }
    *size = symbol->st_size;
  }
  return address;
}

static int open_locked(const char *path, int kind, const struct mill_plugin **plugin, struct mill_error *error)
{
  int file_kind;
  const char *name;
  size_t length, size;
  if (mill_plugin_check_file(path, error) || mill_plugin_file_name(path, &file_kind, &name, &length, error))
    return -1;
  struct loaded *entry = load_file(path, error);
  if (!entry)
    return -1;
  if (!same_control(entry->before, entry->after))
    return mill_fail(error, MILL_USAGE,
                     "%s: loading it changed the floating-point control (0x%04x 0x%04x to 0x%04x 0x%04x), which would change every "
                     "result; build it without -ffast-math and -Ofast",
                     path, entry->before.vector, entry->before.scalar, entry->after.vector, entry->after.scalar);
  const struct mill_plugin *found = find_symbol(path, entry->handle, &size, error);
  if (!found || mill_plugin_check(path, found, size, error))
    return -1;
  if (kind && kind != found->kind)
    return mill_fail(error, MILL_USAGE, "%s: is a %s plugin (kind %u), where a %s plugin (kind %d) is needed", path,
                     mill_kind_name(found->kind), found->kind, mill_kind_name(kind), kind);
  entry->plugin = found;
  *plugin = found;
  return 0;
}

int mill_plugin_open(const char *path, int kind, const struct mill_plugin **plugin, struct mill_error *error)
{
  *plugin = NULL;
  pthread_mutex_lock(&lock);
  int result = open_locked(path, kind, plugin, error);
  pthread_mutex_unlock(&lock);
  return result;
}

/* Appends to a text of limited size; what does not fit ends in "…". */
static void append(char *text, size_t size, const char *more)
{
  size_t used = strlen(text), n = strlen(more);
  if (used + n < size)
    memcpy(text + used, more, n + 1);
  else if (used + 4 < size)
    memcpy(text + used, "…", sizeof "…");
}

static int fail_unknown(char **folders, int kind, const char *name, struct mill_error *error)
{
  char hint[300] = "", where[900] = "";
  struct stat st;
  size_t count = 0;
  char **names = mill_plugin_names(folders, kind);
  if (!names)
    return mill_fail(error, MILL_RESOURCES, "no memory to look for the %s plugin `%s`", mill_kind_name(kind), name);
  while (names[count])
    count++;
  const char *nearest = mill_text_nearest(name, (const char *const *)names, count);
  if (nearest)
    mill_text_format(hint, sizeof hint, "did you mean `%s`?", nearest);
  else {
    append(hint, sizeof hint, count ? "there are " : "there is none");
    for (size_t i = 0; i < count; i++) {
      append(hint, sizeof hint, i ? ", " : "");
      append(hint, sizeof hint, names[i]);
    }
    append(hint, sizeof hint, ".");
  }
  for (size_t i = 0; folders[i]; i++) {
    append(where, sizeof where, i ? ", " : "");
    append(where, sizeof where, folders[i]);
    if (stat(folders[i], &st))
      append(where, sizeof where, " (does not exist)");
  }
  free(names);
  return mill_fail(error, MILL_USAGE, "no %s plugin `%.100s`; %s Searched: %s", mill_kind_name(kind), name, hint, where);
}

int mill_plugin_load(int kind, const char *name, const char *folder, const struct mill_plugin **plugin, struct mill_error *error)
{
  int result, failed = 0;
  char *path = NULL;
  *plugin = NULL;
  if (kind < 1 || kind >= MILL_KIND_COUNT)
    return mill_fail(error, MILL_USAGE, "kind %d of plugins, of which there are 1 to %d", kind, MILL_KIND_COUNT - 1);
  if (strchr(name, '/')) {
    size_t n = folder && *name != '/' ? strlen(folder) : 0;
    if (asprintf(&path, "%.*s%s%s", (int)n, folder ? folder : "", n && folder[n - 1] != '/' ? "/" : "", name) < 0)
      return mill_fail(error, MILL_RESOURCES, "%s: no memory to load the plugin", name);
    result = mill_plugin_open(path, kind, plugin, error);
    free(path);
    return result;
  }
  if (!mill_text_is_key(name, 1))
    return mill_fail(error, MILL_USAGE,
                     "`%s` is no name of a %s plugin: expected [a-z][a-z0-9-]*, or the path of a file, with a '/'", name,
                     mill_kind_name(kind));
  char **folders = mill_plugin_folders();
  if (folders)
    path = mill_plugin_search(folders, kind, name, &failed);
  if (path)
    result = mill_plugin_open(path, kind, plugin, error);
  else if (!folders || failed)
    result = mill_fail(error, MILL_RESOURCES, "no memory to look for the %s plugin `%s`", mill_kind_name(kind), name);
  else
    result = fail_unknown(folders, kind, name, error);
  free(path);
  free(folders);
  return result;
}

char **mill_plugin_list(int kind, void (*note)(const char *sentence, void *self), void *self)
{
  char **folders = mill_plugin_folders();
  char **names = folders ? mill_plugin_names(folders, kind) : NULL;
  size_t kept = 0;
  for (size_t i = 0; names && names[i]; i++) {
    const struct mill_plugin *plugin;
    struct mill_error error;
    int failed;
    char *path = mill_plugin_search(folders, kind, names[i], &failed);
    if (path && !mill_plugin_open(path, kind, &plugin, &error))
      names[kept++] = names[i];
    else if (path && note)
      note(error.text, self);
    free(path);
  }
  if (names)
    names[kept] = NULL;
  free(folders);
  return names;
}

const char *mill_plugin_path(const struct mill_plugin *plugin)
{
  const char *path = NULL;
  pthread_mutex_lock(&lock);
  for (const struct loaded *entry = all_loaded; entry && !path; entry = entry->next)
    if (entry->plugin == plugin)
      path = entry->path;
  pthread_mutex_unlock(&lock);
  return path ? path : "";
}
