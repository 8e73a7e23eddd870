/* Feeds bytes to the configuration reader: file, --set, [define], a parameter table, distributions. What is read must survive being
   written and read again; two readings may never disagree.

   Built with clang -DFUZZER -fsanitize=fuzzer,address,undefined it is a fuzzer, else a program that runs the files on its command
   line. Lines that start with "--set " are overrides, up to eight of them. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "param.h"
#include "text.h"
#include "value.h"

#define OVERRIDES 8

struct block {
  double real;
  int64_t whole;
  int32_t yes, choice;
  const char *text;
};

static const struct mill_param_spec specs[] = {
    {"real", "ms", "20", NULL, "a number", 0.1, 10000, offsetof(struct block, real), MILL_REAL, 0},
    {"whole", "", "3", NULL, "a whole number", -10, 1e18, offsetof(struct block, whole), MILL_INT, 0},
    {"yes", "", "no", NULL, "yes or no", 0, 0, offsetof(struct block, yes), MILL_BOOL, 0},
    {"choice", "", "single", "single|double", "one of two", 0, 0, offsetof(struct block, choice), MILL_CHOICE, 0},
    {"text", "", NULL, NULL, "a text", 0, 0, offsetof(struct block, text), MILL_TEXT, 0},
};
#define COUNT (sizeof specs / sizeof *specs)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition, const char *what, const struct mill_error *error)
{
  if (!condition) {
    fprintf(stderr, "fuzz-ini: %s: %s\n", what, error->text);
    abort();
  }
}

static void message_check(const struct mill_error *error)
{
  must(error->text[0] != '\0' && strlen(error->text) < sizeof error->text, "an error without a text", error);
  must(mill_text_is_utf8(error->text, strlen(error->text)), "a message that is not UTF-8", error);
}

static void values_read(const char *text, const struct mill_defines *defines)
{
  struct mill_error error = {0, ""};
  struct mill_dist dist;
  char **list, *name;
  size_t count;
  int64_t ps;

  if (mill_dist_parse(text, defines, 1, &dist, &error) < 0)
    message_check(&error);
  else if (dist.kind != MILL_DIST_FILE)
    must(mill_dist_draw(&dist, 1, 2, 3, NULL, NULL) <= mill_dist_bound(&dist), "a draw beyond the bound", &error);
  mill_dist_free(&dist);
  if (mill_expr_ps(text, defines, &ps, &error) < 0)
    message_check(&error);
  if (mill_call_parse(text, &name, &list, &count, &error) < 0)
    message_check(&error);
  free(name);
  free(list);
}

static void ini_use(struct mill_ini *ini)
{
  const struct mill_param_table table = {specs, COUNT};
  struct mill_error error = {0, ""};
  struct mill_defines defines;
  struct block block;
  size_t i, j;

  if (mill_defines_read(ini, &defines, &error) < 0)
    message_check(&error);
  for (i = 0; i < ini->count; i++) {
    memset(&block, 0, sizeof block);
    if (mill_param_parse(specs, COUNT, ini, &ini->section[i], &defines, &block, &error) < 0 ||
        mill_param_check_unused(ini, &ini->section[i], &table, 1, &error) < 0)
      message_check(&error);
    mill_param_free(specs, COUNT, &block);
    for (j = 0; j < ini->section[i].count; j++)
      values_read(ini->section[i].entry[j].value, &defines);
  }
  mill_defines_free(&defines);
}

/* Written and read again, the configuration is the same. */
static void ini_again(const struct mill_ini *ini)
{
  struct mill_error error = {0, ""};
  struct mill_ini *again;
  char *text = mill_ini_text(ini), *text2;

  must(mill_ini_parse("again", text, strlen(text), NULL, 0, &again, &error) == 0, "the canonical text is refused", &error);
  text2 = mill_ini_text(again);
  must(strcmp(text, text2) == 0, "the canonical text changes", &error);
  mill_ini_free(again);
  free(text2);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct mill_error error = {0, ""};
  const char *overrides[OVERRIDES], *p, *end;
  char *text = malloc(size + 1), *to = text, *lines[OVERRIDES];
  size_t count = 0, i, n;
  struct mill_ini *ini;

  for (p = (const char *)data, end = p + size; p < end; p += n) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));

    n = newline == NULL ? (size_t)(end - p) : (size_t)(newline - p) + 1;
    if (n > 6 && memcmp(p, "--set ", 6) == 0 && count < OVERRIDES) {
      overrides[count] = lines[count] = strndup(p + 6, n - 6 - (newline != NULL));
      count++;
    } else {
      memcpy(to, p, n);
      to += n;
    }
  }
  if (mill_ini_parse("fuzz.ini", text, (size_t)(to - text), overrides, count, &ini, &error) < 0) {
    int line, whole = 0;

    message_check(&error);
    must(sscanf(error.text, "fuzz.ini:%d: two readings%n", &line, &whole) != 1 || whole == 0, "two readings disagree", &error);
  } else {
    ini_use(ini);
    ini_again(ini);
    mill_ini_free(ini);
  }
  for (i = 0; i < count; i++)
    free(lines[i]);
  free(text);
  return 0;
}

#ifndef FUZZER
int main(int argc, char **argv)
{
  uint8_t *data;
  size_t n, size;
  FILE *f;
  int i;

  for (i = 1; i < argc; i++) {
    f = fopen(argv[i], "rb");
    if (f == NULL) {
      perror(argv[i]);
      return 1;
    }
    data = malloc(1 << 20);
    for (size = 0; data != NULL && size < 1 << 20 && (n = fread(data + size, 1, (1 << 20) - size, f)) > 0; size += n)
      ;
    fclose(f);
    if (data != NULL)
      LLVMFuzzerTestOneInput(data, size);
    free(data);
  }
  return 0;
}
#endif
