/* Command lines: one table per command, nothing abbreviated, nothing guessed. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ini-scan.h"
#include "text.h"

static int unknown(const char *name, const struct mill_option *options, size_t count, struct mill_error *error)
{
  const char *names[64];
  const char *near;
  size_t n = count < 64 ? count : 64;
  for (size_t i = 0; i < n; i++)
    names[i] = options[i].name;
  near = mill_text_nearest(name, names, n);
  if (near)
    mill_fail(error, MILL_USAGE, "unknown option --%s; did you mean --%s?", name, near);
  else
    mill_fail(error, MILL_USAGE, "unknown option --%s; --help lists those there are", name);
  return MILL_ARG_ERROR;
}

static int take(struct mill_args *args, const struct mill_option *option, size_t index, const char *inlined, const char **value,
                struct mill_error *error)
{
  *value = NULL;
  if (!option->value) {
    if (!inlined)
      return (int)index;
    mill_fail(error, MILL_USAGE, "option --%s takes no value, found `%s`", option->name, inlined);
    return MILL_ARG_ERROR;
  }
  if (args->seen >> index & 1 && !option->many) {
    mill_fail(error, MILL_USAGE, "option --%s is given twice", option->name);
    return MILL_ARG_ERROR;
  }
  args->seen |= UINT64_C(1) << index;
  *value = inlined ? inlined : args->at < args->argc ? args->argv[args->at++] : NULL;
  if (*value)
    return (int)index;
  mill_fail(error, MILL_USAGE, "option --%s needs a value: --%s %s", option->name, option->name, option->value);
  return MILL_ARG_ERROR;
}

int mill_option_next(struct mill_args *args, const struct mill_option *options, size_t count, const char **value,
                     struct mill_error *error)
{
  const char *word;
  if (args->at >= args->argc)
    return MILL_ARG_END;
  word = args->argv[args->at++];
  if (!args->only_words && strcmp(word, "--") == 0) {
    args->only_words = 1;
    return mill_option_next(args, options, count, value, error);
  }
  if (args->only_words || word[0] != '-' || word[1] == 0) {
    *value = word;
    return MILL_ARG_WORD;
  }
  if (word[1] == '-') {
    const char *equals = strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    char name[64];
    for (size_t i = 0; i < count; i++) {
      if (strlen(options[i].name) == n && strncmp(options[i].name, word + 2, n) == 0)
        return take(args, &options[i], i, equals ? equals + 1 : NULL, value, error);
    }
    mill_text_format(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), word + 2);
    return unknown(name, options, count, error);
  }
  for (size_t i = 0; i < count; i++) {
    if (options[i].letter && options[i].letter == word[1])
      return take(args, &options[i], i, word[2] ? word + 2 : NULL, value, error);
  }
  mill_fail(error, MILL_USAGE, "unknown option %s; --help lists those there are", word);
  return MILL_ARG_ERROR;
}

void mill_usage(FILE *out, const char *synopsis, const char *summary, const struct mill_option *options, size_t count)
{
  fprintf(out, "usage: spikemill %s\n\n%s\n", synopsis, summary);
  if (count)
    fputs("\noptions:\n", out);
  for (size_t i = 0; i < count; i++) {
    char left[64];
    mill_text_format(left, sizeof left, "%s%c%s--%s%s%s", options[i].letter ? "-" : " ",
                     options[i].letter ? options[i].letter : ' ', options[i].letter ? ", " : "  ", options[i].name,
                     options[i].value ? " " : "", options[i].value ? options[i].value : "");
    fprintf(out, "  %s%*s %s\n", left, mill_text_width(left) < 30 ? 30 - (int)mill_text_width(left) : 0, "", options[i].doc);
  }
}

int mill_report_error(const struct mill_error *error)
{
  fflush(stdout);
  fprintf(stderr, "spikemill: %s\n", error->text);
  return error->status ? error->status : MILL_USAGE;
}

int mill_override_add(struct mill_overrides *o, const char *text, struct mill_error *error)
{
  if (o->count == o->capacity) {
    size_t capacity = o->capacity ? 2 * o->capacity : 16;
    char **bigger = realloc(o->text, capacity * sizeof *bigger);
    if (!bigger)
      return mill_fail(error, MILL_RESOURCES, "out of memory");
    o->text = bigger;
    o->capacity = capacity;
  }
  o->text[o->count] = strdup(text);
  if (!o->text[o->count])
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  o->count++;
  return 0;
}

int mill_override_set(struct mill_overrides *o, const char *option, const char *key, const char *value, struct mill_error *error)
{
  size_t n = strlen(option) + strlen(key) + strlen(value) + 5;
  char *text = malloc(n);
  int rc;
  if (!text)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  mill_text_format(text, n, "--%s %s=%s", option, key, value);
  rc = mill_override_add(o, text, error);
  free(text);
  return rc;
}

void mill_overrides_free(struct mill_overrides *o)
{
  for (size_t i = 0; i < o->count; i++)
    free(o->text[i]);
  free(o->text);
}

int mill_option_int(const char *name, const char *text, int64_t least, int64_t most, int64_t *value, struct mill_error *error)
{
  if (mill_text_int(text, value) < 0 || *value < least || *value > most)
    return mill_fail(error, MILL_USAGE, "--%s: expected a whole number from %lld to %lld, found `%s`", name, (long long)least,
                     (long long)most, text);
  return 0;
}

/* The part of the rows that users type, in out[MILL_ROWS_MOST]. */
static void typed(struct mill_option *out, const struct mill_row *rows, size_t count)
{
  for (size_t i = 0; i < count; i++)
    out[i] = rows[i].option;
}

static int put_path(struct mill_request *request, const struct mill_row *row, const char *path, struct mill_error *error)
{
  char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0), *whole = NULL, *quoted = NULL;
  size_t n = here ? strlen(here) + strlen(path) + 4 : 0;
  int rc = -1;
  if (!*path)
    mill_fail(error, MILL_USAGE, "--%s: an empty name", row->option.name);
  if (here && *path) {
    whole = malloc(n);
    quoted = malloc(n);
  }
  if (whole && quoted) {
    mill_text_format(whole, n, "%s%s%s", here, *here ? "/" : "", path);
    rc = mill_override_set(&request->overrides, row->option.name, row->key, mill_ini_quote(quoted, whole), error);
  } else if (*path) {
    mill_fail(error, MILL_RESOURCES, "the working directory: %s", mill_text_errno(errno));
  }
  free(here);
  free(whole);
  free(quoted);
  return rc;
}

static int put(struct mill_request *request, const struct mill_row *row, const char *value, struct mill_error *error)
{
  void *place = (char *)request + row->offset;
  switch (row->use) {
  case MILL_USE_KEY:
    return mill_override_set(&request->overrides, row->option.name, row->key, value, error);
  case MILL_USE_PATH:
    return put_path(request, row, value, error);
  case MILL_USE_SET:
    if (value[0] == '-')
      return mill_fail(error, MILL_USAGE, "--set %s: expected SECTION.KEY=VALUE", value);
    return mill_override_add(&request->overrides, value, error);
  case MILL_USE_INT:
    return mill_option_int(row->option.name, value, row->least, row->most, place, error);
  case MILL_USE_TEXT:
    memcpy(place, &value, sizeof value);
    break;
  case MILL_USE_FLAG:
    *(int *)place = 1;
  }
  return 0;
}

int mill_request_parse(struct mill_request *request, const struct mill_row *rows, size_t count, int argc, char **argv,
                       const struct mill_request_words *words, struct mill_error *error)
{
  struct mill_option options[MILL_ROWS_MOST];
  struct mill_args args = {argc, argv, 1, 0, 0};
  const char *value;
  int at;
  typed(options, rows, count);
  while ((at = mill_option_next(&args, options, count, &value, error)) != MILL_ARG_END) {
    if (at == MILL_ARG_ERROR)
      return -1;
    if (at == MILL_ARG_WORD) {
      if (request->path)
        return mill_fail(error, MILL_USAGE, "one %s is enough, found `%s` and `%s`", words->file, request->path, value);
      request->path = value;
      continue;
    }
    request->given |= UINT64_C(1) << at;
    if (put(request, &rows[at], value, error) < 0)
      return -1;
  }
  if (!request->path && !request->help)
    return mill_fail(error, MILL_USAGE, "no %s given: spikemill %s", words->file, words->example);
  return 0;
}

void mill_request_usage(FILE *out, const char *synopsis, const char *summary, const struct mill_row *rows, size_t count)
{
  struct mill_option options[MILL_ROWS_MOST];
  typed(options, rows, count);
  mill_usage(out, synopsis, summary, options, count);
}
