/* `spikemill new`: a folder with a working plugin outside of this tree: one source file, a Makefile, a network that uses it, and a
   test. The texts are in new-text.h. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cJSON.h>
#include "new-text.h"
#include "output.h"
#include "registry.h"
#include "text.h"

#define NAME_MAX_LENGTH 64

enum { OUTPUT, QUIET, JSON, HELP };
static const struct mill_option options[] = {
    [OUTPUT] = {"output", 'o', "DIR", "the folder to make (default: ./NAME)", 0},
    [QUIET] = {"quiet", 0, NULL, "print nothing", 0},
    [JSON] = {"json", 0, NULL, "one JSON object on standard output, nothing else", 0},
    [HELP] = {"help", 'h', NULL, "this text", 0},
};
#define COUNT (sizeof options / sizeof *options)
static const char summary[] =
    "Writes a working plugin into a new folder: the commented source of a neuron model, a Makefile, a small network\n"
    "that uses it, and a test. `make check` in the folder builds and tries it. NAME: [a-z][a-z0-9-]*.";

static const struct file {
  const char *name;
  const char *const *line;
  size_t count;
} files[] = {
    {"neuron-@NAME@.c", model_text, sizeof model_text / sizeof *model_text},
    {"Makefile", makefile_text, sizeof makefile_text / sizeof *makefile_text},
    {"@NAME@.ini", network_text, sizeof network_text / sizeof *network_text},
    {"check.sh", check_text, sizeof check_text / sizeof *check_text},
};
#define FILES (sizeof files / sizeof *files)

struct request {
  const char *kind, *name, *folder;
  int flag[COUNT];
};

/* Writes the lines with the name put in, each followed by `end`, at *out and moves it. NULL: only counts. Returns the bytes. */
static size_t expand(char *out, const char *const *line, size_t count, const char *name, const char *end)
{
  static const char mark[] = "@NAME@";
  size_t bytes = 0;
  for (size_t i = 0; i < count; i++) {
    const char *p = line[i], *at;
    while (*p) {
      at = strstr(p, mark);
      size_t n = at ? (size_t)(at - p) : strlen(p);
      const char *put = at == p ? name : p;
      n = at == p ? strlen(name) : n;
      if (out)
        memcpy(out + bytes, put, n);
      bytes += n;
      p += at == p ? sizeof mark - 1 : n;
    }
    if (out)
      strcpy(out + bytes, end);
    bytes += strlen(end);
  }
  if (out)
    out[bytes] = 0;
  return bytes;
}

/* malloc'ed; NULL when out of memory. */
static char *expanded(const char *const *line, size_t count, const char *name, const char *end)
{
  char *text = malloc(expand(NULL, line, count, name, end) + 1);
  if (text)
    expand(text, line, count, name, end);
  return text;
}

/* Paths of the files, NULL-terminated. */
static int make_paths(const struct request *r, char *path[FILES + 1], struct mill_error *error)
{
  for (size_t i = 0; i < FILES; i++) {
    char *name = expanded(&files[i].name, 1, r->name, "");
    if (!name || asprintf(&path[i], "%s/%s", r->folder, name) < 0)
      path[i] = NULL;
    free(name);
    if (!path[i])
      return mill_fail(error, MILL_RESOURCES, "out of memory");
  }
  return 0;
}

/* Everything or nothing: what was made before a failure is removed again. */
static int write_files(const struct request *r, char *const path[FILES + 1], struct mill_error *error)
{
  struct stat st;
  size_t done = 0;
  if (lstat(r->folder, &st) == 0)
    return mill_fail(error, MILL_USAGE, "%s: already exists; nothing was written", r->folder);
  if (mill_output_folder(r->folder, error) < 0)
    return -1;
  for (; done < FILES; done++) {
    char *text = expanded(files[done].line, files[done].count, r->name, "\n");
    int rc = text ? mill_output_text(path[done], text, error) : mill_fail(error, MILL_RESOURCES, "out of memory");
    free(text);
    if (rc < 0)
      goto failed;
  }
  return 0;
failed:
  while (done-- > 0)
    (void)unlink(path[done]);
  (void)rmdir(r->folder);
  return -1;
}

static int report(const struct request *r, char *const path[FILES + 1], struct mill_error *error)
{
  if (r->flag[JSON]) {
    cJSON *o = cJSON_CreateObject();
    int bad = !cJSON_AddStringToObject(o, "folder", r->folder);
    cJSON *array = cJSON_AddArrayToObject(o, "files");
    for (size_t i = 0; i < FILES; i++)
      bad |= !cJSON_AddItemToArray(array, cJSON_CreateString(path[i]));
    if (!bad)
      return mill_json_print(o, error);
    cJSON_Delete(o);
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  }
  if (r->flag[QUIET])
    return 0;
  for (size_t i = 0; i < FILES; i++)
    printf("%s\n", path[i]);
  printf("Build and try it: make -C %s check\n", r->folder);
  return 0;
}

/* ---- Command line */

static int parse(struct request *r, int argc, char **argv, struct mill_error *error)
{
  struct mill_args args = {argc, argv, 1, 0, 0};
  const char *value;
  int at;
  while ((at = mill_option_next(&args, options, COUNT, &value, error)) != MILL_ARG_END) {
    if (at == MILL_ARG_ERROR)
      return -1;
    if (at == OUTPUT)
      r->folder = value;
    else if (at != MILL_ARG_WORD)
      r->flag[at] = 1;
    else if (!r->kind)
      r->kind = value;
    else if (!r->name)
      r->name = value;
    else
      return mill_fail(error, MILL_USAGE, "KIND and NAME are enough, found `%s` too", value);
  }
  if (r->flag[HELP])
    return 0;
  if (!r->name)
    return mill_fail(error, MILL_USAGE, "%s: spikemill new neuron NAME", r->kind ? "no NAME given" : "no KIND and NAME given");
  return 0;
}

static int check(struct request *r, struct mill_error *error)
{
  size_t n = strlen(r->name);
  if (mill_kind_find(r->kind) != MILL_NEURON)
    return mill_fail(error, MILL_USAGE, "%s `%s`: this version has a skeleton for `neuron` only",
                     mill_kind_find(r->kind) ? "kind" : "unknown kind", r->kind);
  if (!mill_text_is_key(r->name, 1) || strchr(r->name, '_'))
    return mill_fail(error, MILL_USAGE,
                     "`%s` is no name of a plugin: expected a lower-case letter, then letters, digits and dashes", r->name);
  if (n > NAME_MAX_LENGTH)
    return mill_fail(error, MILL_USAGE, "the name has %zu characters, and at most %d can be", n, NAME_MAX_LENGTH);
  if (!r->folder)
    r->folder = r->name;
  if (!*r->folder)
    return mill_fail(error, MILL_USAGE, "--output: an empty folder name");
  return 0;
}

int mill_cmd_new(int argc, char **argv)
{
  struct request r = {0};
  struct mill_error error = {0};
  char *path[FILES + 1] = {NULL};
  if (parse(&r, argc, argv, &error) < 0)
    return mill_report_error(&error);
  if (r.flag[HELP]) {
    mill_usage(stdout, "new neuron NAME [-o DIR]", summary, options, COUNT);
    return MILL_OK;
  }
  int rc = check(&r, &error);
  if (rc == 0)
    rc = make_paths(&r, path, &error);
  if (rc == 0)
    rc = write_files(&r, path, &error);
  if (rc == 0)
    rc = report(&r, path, &error);
  for (size_t i = 0; i < FILES; i++)
    free(path[i]);
  return rc < 0 ? mill_report_error(&error) : MILL_OK;
}
