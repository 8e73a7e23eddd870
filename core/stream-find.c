/* Which format a spike file has, and which file of a folder is one. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "registry.h"
#include "stream.h"
#include "stream-private.h"
#include "text.h"

#define HEAD 4096 /* bytes that a format is recognised by */

static const struct mill_format_ops *ops_of(const struct mill_plugin *plugin)
{
  return plugin->ops;
}

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Length of the longest of a plugin's extensions that the path ends in, 0 for none. */
static size_t extension_length(const struct mill_plugin *plugin, const char *path)
{
  size_t length = strlen(path), best = 0;
  for (const char *p = ops_of(plugin)->extensions; *p;) {
    size_t n = strcspn(p, " "), same = 0;
    while (n <= length && same < n && lower(path[length - n + same]) == lower(p[same]))
      same++;
    if (same == n && n > best)
      best = n;
    p += n;
    p += strspn(p, " ");
  }
  return best;
}

static void append(char *text, size_t size, const char *more)
{
  size_t n = strlen(text);
  if (n + strlen(more) < size)
    memcpy(text + n, more, strlen(more) + 1);
}

/* "binary (.smk), csv (.csv .tsv .txt)" */
static void list_formats(char *text, size_t size, const struct mill_plugin *const *plugin, size_t count)
{
  *text = 0;
  for (size_t i = 0; i < count; i++) {
    append(text, size, i ? ", " : "");
    append(text, size, plugin[i]->name);
    append(text, size, " (");
    append(text, size, ops_of(plugin[i])->extensions);
    append(text, size, ")");
  }
}

static int read_head(const char *path, unsigned char *head, size_t *got, struct mill_error *error)
{
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = -1;
  if (fd < 0 || fstat(fd, &status)) {
    mill_fail(error, MILL_DATA, "%s: cannot open the file: %s", path, strerror(errno));
  } else if (!S_ISREG(status.st_mode)) {
    mill_fail(error, MILL_DATA, "%s: not a regular file", path);
  } else {
    ssize_t n = 1;
    result = 0;
    for (*got = 0; !result && n && *got < HEAD;) {
      n = read(fd, head + *got, HEAD - *got);
      if (n >= 0)
        *got += (size_t)n;
      else if (errno != EINTR)
        result = mill_fail(error, MILL_DATA, "%s: cannot read the file: %s", path, strerror(errno));
    }
  }
  if (fd >= 0)
    close(fd);
  return result;
}

/* The program that packed a file which begins so; NULL: none. */
static const char *packer(const unsigned char *head, size_t n)
{
  static const struct {
    const char *magic, *name;
  } row[] = {{"\x1f\x8b", "gzip"}, {"BZh", "bzip2"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"\xfd" "7zXZ", "xz"}, {"PK\3\4", "zip"}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    if (n >= strlen(row[i].magic) && memcmp(head, row[i].magic, strlen(row[i].magic)) == 0)
      return row[i].name;
  return NULL;
}

/* The plugin that is surest of the file, among those whose extension matches with `length` characters (0: all). NULL when all
   say no. */
static const struct mill_plugin *surest(const struct mill_plugin *const *plugin, size_t count, const char *path, size_t length,
                                        const unsigned char *head, size_t n)
{
  const struct mill_plugin *best = NULL;
  int best_score = 0;
  for (size_t i = 0; i < count; i++) {
    if (length && extension_length(plugin[i], path) != length)
      continue;
    int score = ops_of(plugin[i])->probe(head, n);
    if (score > best_score) {
      best_score = score;
      best = plugin[i];
    }
  }
  return best;
}

static void note_broken(const char *sentence, void *self)
{
  (void)self;
  mill_note("%s", sentence);
}

static int has_key(const struct mill_plugin *plugin, const char *key)
{
  for (size_t i = 0; i < plugin->param_count; i++)
    if (strcmp(plugin->params[i].key, key) == 0)
      return 1;
  return 0;
}

/* The first format with a parameter, for a file of text; else `chosen`. */
static const struct mill_plugin *that_takes(const char *key, const struct mill_plugin *chosen, const struct mill_plugin *const *plugin,
                                            size_t count, const unsigned char *head, size_t n)
{
  if (!key || (chosen && has_key(chosen, key)) || memchr(head, 0, n))
    return chosen;
  for (size_t i = 0; i < count; i++)
    if (has_key(plugin[i], key))
      return plugin[i];
  return chosen;
}

/* `key`: of a parameter that the reader is to have, NULL for none. */
static int choose(const char *path, int writing, const char *key, const struct mill_plugin *const *plugin, size_t count,
                  const struct mill_plugin **chosen, struct mill_error *error)
{
  unsigned char head[HEAD];
  char known[800];
  size_t n, length = 0, same = 0;
  const struct mill_plugin *by_extension = NULL;
  for (size_t i = 0; i < count; i++) {
    size_t l = extension_length(plugin[i], path);
    if (l > length) {
      length = l;
      same = 0;
      by_extension = plugin[i];
    }
    same += l && l == length;
  }
  list_formats(known, sizeof known, plugin, count);
  *chosen = by_extension;
  if (writing) {
    if (!by_extension)
      return mill_fail(error, MILL_USAGE, "%s: the extension names no spike format; expected one of %s", path, known);
    if (same > 1)
      return mill_fail(error, MILL_USAGE, "%s: the extension is that of %zu spike formats; name one of %s", path, same, known);
    return 0;
  }
  if (read_head(path, head, &n, error))
    return -1;
  if (packer(head, n))
    return mill_fail(error, MILL_DATA, "%s: is packed by %s; unpack it first", path, packer(head, n));
  *chosen = by_extension ? surest(plugin, count, path, length, head, n) : NULL;
  if (!*chosen)
    *chosen = surest(plugin, count, path, 0, head, n);
  *chosen = that_takes(key, *chosen, plugin, count, head, n);
  if (!*chosen)
    *chosen = by_extension; /* its refusal says more than ours could */
  if (!*chosen)
    return mill_fail(error, MILL_DATA, "%s: neither the extension nor the content is that of a spike format; expected one of %s",
                     path, known);
  return 0;
}

/* The format plugins that load. Freed with free(*plugin). */
static int load_formats(const char *path, const char *purpose, const struct mill_plugin ***plugin, size_t *count,
                        struct mill_error *error)
{
  char **name = mill_plugin_list(MILL_FORMAT, NULL, NULL);
  size_t names = 0;
  while (name && name[names])
    names++;
  const struct mill_plugin **all = calloc(names + 1, sizeof *all);
  int result = -1;
  *plugin = NULL;
  *count = 0;
  if (!name || !all) {
    mill_fail(error, MILL_RESOURCES, "%s: out of memory for the list of formats", path);
    goto done;
  }
  for (size_t i = 0; i < names; i++)
    *count += !mill_plugin_load(MILL_FORMAT, name[i], NULL, &all[*count], NULL);
  if (!*count) {
    mill_fail(error, MILL_USAGE, "%s: no format plugin is there to %s spikes; SPIKEMILL_PLUGIN_PATH names the folders to look in",
              path, purpose);
    goto done;
  }
  *plugin = all;
  all = NULL;
  result = 0;
done:
  free(all);
  free(name);
  return result;
}

int mill_format_find(const char *path, const char *format, const char *key, int writing, const struct mill_plugin **plugin,
                     struct mill_error *error)
{
  const struct mill_plugin **all;
  size_t count;
  *plugin = NULL;
  if (format)
    return mill_plugin_load(MILL_FORMAT, format, NULL, plugin, error);
  int result = load_formats(path, writing ? "write" : "read", &all, &count, error);
  if (!result)
    result = choose(path, writing, key, all, count, plugin, error);
  if (result && !*plugin) /* the one that was meant may be broken */
    free(mill_plugin_list(MILL_FORMAT, note_broken, NULL));
  free(all);
  return result;
}

/* The files of a folder that may be spike files, in order of name. */
struct candidates {
  char **path;
  size_t count, room;
};

static void free_candidates(struct candidates *c)
{
  for (size_t i = 0; i < c->count; i++)
    free(c->path[i]);
  free(c->path);
}

static int add_candidate(struct candidates *c, const char *path)
{
  if (c->count == c->room) {
    size_t room = c->room ? 2 * c->room : 16;
    char **bigger = realloc(c->path, room * sizeof *bigger);
    if (!bigger)
      return -1;
    c->path = bigger;
    c->room = room;
  }
  c->path[c->count] = strdup(path);
  if (!c->path[c->count])
    return -1;
  c->count++;
  return 0;
}

/* Whether a file has the extension of a format, and the content of one that has it. */
static int looks_like_spikes(const char *path, const struct mill_plugin *const *plugin, size_t count)
{
  unsigned char head[HEAD];
  size_t n, length = 0;
  for (size_t i = 0; i < count; i++) {
    size_t l = extension_length(plugin[i], path);
    length = l > length ? l : length;
  }
  return length && !read_head(path, head, &n, NULL) && surest(plugin, count, path, length, head, n);
}

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_candidates(const char *folder, const struct mill_plugin *const *plugin, size_t count, struct candidates *c,
                           struct mill_error *error)
{
  size_t n = strlen(folder), room = n + 258;
  char *path = malloc(room);
  DIR *d = opendir(folder);
  int result = -1;
  if (!d) {
    mill_fail(error, MILL_DATA, "%s: cannot read the folder: %s", folder, mill_text_errno(errno));
    goto done;
  }
  for (const struct dirent *entry; path && (entry = readdir(d));) {
    if (entry->d_name[0] == '.')
      continue;
    mill_text_format(path, room, "%s%s%s", folder, folder[n - 1] == '/' ? "" : "/", entry->d_name);
    if (looks_like_spikes(path, plugin, count) && add_candidate(c, path))
      goto out_of_memory;
  }
  if (!path)
    goto out_of_memory;
  if (c->count)
    qsort(c->path, c->count, sizeof *c->path, by_name);
  result = 0;
  goto done;
out_of_memory:
  mill_fail(error, MILL_RESOURCES, "%s: out of memory for the list of files", folder);
done:
  if (d)
    closedir(d);
  free(path);
  return result;
}

/* Of several, those that are read as spikes. *why: what the first other one is refused for. */
static int keep_readable(struct candidates *c, struct mill_error *why, struct mill_error *error)
{
  size_t kept = 0;
  why->text[0] = 0;
  for (size_t i = 0; i < c->count; i++) {
    struct mill_source source;
    struct mill_error here;
    if (!mill_source_open(c->path[i], NULL, &source, &here)) {
      char *swap = c->path[kept];
      mill_source_close(&source);
      c->path[kept++] = c->path[i];
      c->path[i] = swap;
    } else if (here.status != MILL_DATA) {
      return mill_fail(error, here.status, "%s", here.text);
    } else if (!why->text[0]) {
      *why = here;
    }
  }
  for (size_t i = kept; i < c->count; i++)
    free(c->path[i]);
  c->count = kept;
  return 0;
}

static int fail_many(const char *folder, const struct candidates *c, struct mill_error *error)
{
  char names[800] = "";
  for (size_t i = 0; i < c->count; i++) {
    append(names, sizeof names, i ? ", " : "");
    append(names, sizeof names, c->path[i]);
  }
  return mill_fail(error, MILL_DATA, "%s: the folder holds %zu spike files; name one of them: %s", folder, c->count, names);
}

int mill_stream_find(const char *path, char **file, struct mill_error *error)
{
  const struct mill_plugin **plugin = NULL;
  struct candidates c = {0};
  struct mill_error why = {0};
  struct stat status;
  size_t count;
  char known[800];
  int result = -1;
  *file = NULL;
  if (stat(path, &status) || !S_ISDIR(status.st_mode)) {
    *file = strdup(path);
    return *file ? 0 : mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
  }
  if (load_formats(path, "read", &plugin, &count, error) || list_candidates(path, plugin, count, &c, error))
    goto done;
  if (c.count > 1 && keep_readable(&c, &why, error))
    goto done;
  if (c.count > 1) {
    fail_many(path, &c, error);
  } else if (!c.count) {
    list_formats(known, sizeof known, plugin, count);
    mill_fail(error, MILL_DATA, "%s: the folder holds no spike file; expected one of %s%s%s", path, known, why.text[0] ? "; " : "",
              why.text);
  } else {
    *file = c.path[0];
    c.count = 0;
    result = 0;
  }
done:
  free_candidates(&c);
  free(plugin);
  return result;
}
