/* Where plugins are looked for. The name of the file is KIND-NAME.so, so a plugin is found without opening any other. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin-check.h"
#include "registry.h"
#include "text.h"

#ifndef MILL_PLUGIN_DIR
#define MILL_PLUGIN_DIR "/usr/local/lib/spikemill"
#endif
#define TREE_FILE "spikemill-build-tree"

/* A growing list of strings. */
struct list {
  char **item;
  size_t count, capacity;
  int failed;
};

/* Takes `text` (malloc'ed, NULL for no memory). */
static void list_add(struct list *list, char *text)
{
  if (text && list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 16;
    char **item = realloc(list->item, capacity * sizeof *item);
    if (item) {
      list->item = item;
      list->capacity = capacity;
    }
  }
  if (!text || list->count == list->capacity) {
    list->failed = 1;
    free(text);
    return;
  }
  list->item[list->count++] = text;
}

/* The list as one block; the list itself is freed. */
static char **list_pack(struct list *list)
{
  size_t size = (list->count + 1) * sizeof(char *);
  for (size_t i = 0; i < list->count; i++)
    size += strlen(list->item[i]) + 1;
  char **block = list->failed ? NULL : malloc(size);
  char *text = block ? (char *)(block + list->count + 1) : NULL;
  for (size_t i = 0; i < list->count; i++) {
    if (block) {
      block[i] = text;
      text = stpcpy(text, list->item[i]) + 1;
    }
    free(list->item[i]);
  }
  if (block)
    block[list->count] = NULL;
  free(list->item);
  return block;
}

static char *join(const char *folder, const char *name)
{
  char *path;
  size_t n = strlen(folder);
  return asprintf(&path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name) < 0 ? NULL : path;
}

/* Folders named in `folder`/spikemill-build-tree, one a line, relative to it. Returns 1 when there is such a file. */
static int add_tree(struct list *list, const char *folder)
{
  char *path = join(folder, TREE_FILE), *line = NULL;
  size_t capacity = 0;
  FILE *file = path ? fopen(path, "re") : NULL;
  free(path);
  if (!file)
    return 0;
  while (getline(&line, &capacity, file) > 0) {
    line[strcspn(line, "\r\n")] = 0;
    if (*line)
      list_add(list, *line == '/' ? strdup(line) : join(folder, line));
  }
  free(line);
  fclose(file);
  return 1;
}

/* A libtool program may run from .libs below the folder it was built in. */
static void add_build_tree(struct list *list)
{
  char exe[4096];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
  if (n <= 0 || n >= (ssize_t)sizeof exe)
    return;
  exe[n] = 0;
  char *slash = strrchr(exe, '/');
  if (!slash || slash == exe)
    return;
  *slash = 0;
  if (add_tree(list, exe))
    return;
  slash = strrchr(exe, '/');
  if (slash && slash != exe && !strcmp(slash, "/.libs")) {
    *slash = 0;
    add_tree(list, exe);
  }
}

char **mill_plugin_folders(void)
{
  struct list list = {0};
  const char *path = secure_getenv("SPIKEMILL_PLUGIN_PATH");
  while (path && *path) {
    size_t n = strcspn(path, ":");
    if (n)
      list_add(&list, strndup(path, n));
    path += n + (path[n] == ':');
  }
  add_build_tree(&list);
  list_add(&list, strdup(MILL_PLUGIN_DIR));
  return list_pack(&list);
}

static int compare_texts(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

char **mill_plugin_names(char *const *folders, int kind)
{
  struct list list = {0};
  for (size_t i = 0; folders[i]; i++) {
    DIR *folder = opendir(folders[i]);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
      int found;
      const char *name;
      size_t length;
      if (!mill_plugin_file_name(entry->d_name, &found, &name, &length, NULL) && found == kind)
        list_add(&list, strndup(name, length));
    }
    if (folder)
      closedir(folder);
  }
  if (list.count)
    qsort(list.item, list.count, sizeof *list.item, compare_texts);
  size_t kept = 0;
  for (size_t i = 0; i < list.count; i++)
    if (kept && !strcmp(list.item[kept - 1], list.item[i]))
      free(list.item[i]);
    else
      list.item[kept++] = list.item[i];
  list.count = kept;
  return list_pack(&list);
}

char *mill_plugin_search(char *const *folders, int kind, const char *name, int *failed)
{
  char *file;
  *failed = asprintf(&file, "%s-%s.so", mill_kind_name(kind), name) < 0;
  if (*failed)
    return NULL;
  char *path = NULL;
  for (size_t i = 0; folders[i] && !path && !*failed; i++) {
    struct stat st;
    path = join(folders[i], file);
    *failed = !path;
    if (path && lstat(path, &st) && (errno == ENOENT || errno == ENOTDIR)) {
      free(path);
      path = NULL;
    }
  }
  free(file);
  return path;
}
