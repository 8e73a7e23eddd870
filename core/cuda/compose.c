#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/texts.h"
#include "text.h"

uint32_t mill_composition_index(const struct mill_plugin **list, uint32_t *count, const struct mill_plugin *plugin)
{
  uint32_t i = 0;
  while (i < *count && list[i] != plugin)
    i++;
  if (i == *count && i < MILL_PROGRAM_MAX)
    list[(*count)++] = plugin;
  return i;
}

static const char *file_of(const struct mill_plugin *plugin)
{
  return plugin->abi_minor >= 3 && plugin->source_name ? plugin->source_name : plugin->name;
}

/* A plugin's text as a header that messages call by its own file's name. */
static int add_text(struct mill_program_text *header, char *name, size_t size, const char *kind, uint32_t index,
                    const struct mill_plugin *plugin)
{
  const size_t length = (size_t)(plugin->source_end - plugin->source), head = strlen(file_of(plugin)) + 16;
  char *text = malloc(length + head + 2);
  int n;
  if (!text)
    return -1;
  n = mill_text_format(text, head, "#line 1 \"%s\"\n", file_of(plugin));
  memcpy(text + n, plugin->source, length);
  memcpy(text + n + length, "\n", 2);
  mill_text_format(name, size, "%s-%u", kind, index);
  *header = (struct mill_program_text){name, text};
  return 0;
}

static void write_list(FILE *out, const char *name, uint32_t count)
{
  fprintf(out, "#define %s(X)", name);
  for (uint32_t i = 0; i < count; i++)
    fprintf(out, " X(%u)", i);
  fputc('\n', out);
}

/* The texts of a kind, each in its own namespace with the core's text for them behind it. */
static void write_namespaces(FILE *out, const char *kind, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    fprintf(out,
            "namespace mill_%s_%u {\n#include \"%s-%u\"\n#include \"core/cuda/%s.cu\"\n}\n#include \"core/cuda/forget.cu\"\n", kind, i,
            kind, i, kind);
}

static void write_includes(FILE *out, const struct mill_composition *c)
{
  static const char *const real[] = {"float", "double"};
  fprintf(out, "#define mill_real %s\n%s", real[c->precision], c->precision ? "" : "#define MILL_SINGLE\n");
  fprintf(out, "#define MILL_CELL uint%u_t\n#define MILL_SIGNED int%u_t\n#define MILL_ATOMIC unsigned %s\n", c->cell_bits,
          c->cell_bits, c->cell_bits == 32 ? "int" : "long long");
  fprintf(out, "#define MILL_PLASTIC %d\n#include \"core/cuda/prelude.cu\"\n", c->rule_count != 0);
  for (uint32_t i = 0; i < c->stimulus_count; i++)
    fprintf(out, "namespace mill_stimulus_%u {\n#include \"stimulus-%u\"\n}\n", i, i);
  write_list(out, "MILL_STIMULI", c->stimulus_count);
  fputs("#include \"core/cuda/stimuli.cu\"\n", out);
  write_namespaces(out, "rule", c->rule_count);
  write_list(out, "MILL_RULES", c->rule_count);
  fprintf(out, "%s#include \"core/cuda/plastic.cu\"\n", c->rule_count ? "#include \"plasticity-0\"\n" : "");
  write_namespaces(out, "model", c->model_count);
  write_list(out, "MILL_MODELS", c->model_count);
  fputs("#include \"core/cuda/update.cu\"\n#include \"delivery-0\"\n", out);
}

int mill_compose(struct mill_compiler *compiler, const struct mill_composition *c, int major, int minor,
                 struct mill_program_image *image, struct mill_error *error)
{
  const uint32_t own = c->model_count + c->stimulus_count + c->rule_count + (c->rule_count != 0) + 1, all = mill_device_text_count + own;
  struct mill_program_text *header = calloc(all, sizeof *header);
  char(*name)[32] = calloc(own, sizeof *name), *main_text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&main_text, &size);
  uint32_t n = mill_device_text_count, k = 0;
  int rc = -1, bad = !header || !name || !out;
  if (!bad) {
    memcpy(header, mill_device_text, mill_device_text_count * sizeof *header);
    for (uint32_t i = 0; i < c->model_count; i++, n++, k++)
      bad |= add_text(&header[n], name[k], sizeof *name, "model", i, c->model[i]);
    for (uint32_t i = 0; i < c->stimulus_count; i++, n++, k++)
      bad |= add_text(&header[n], name[k], sizeof *name, "stimulus", i, c->stimulus[i]);
    for (uint32_t i = 0; i < c->rule_count; i++, n++, k++)
      bad |= add_text(&header[n], name[k], sizeof *name, "rule", i, c->rule[i]);
    if (c->rule_count)
      bad |= add_text(&header[n++], name[k++], sizeof *name, "plasticity", 0, c->plasticity);
    bad |= add_text(&header[n++], name[k], sizeof *name, "delivery", 0, c->delivery);
    write_includes(out, c);
  }
  if (out)
    bad |= fclose(out) != 0;
  if (bad) {
    mill_fail(error, MILL_RESOURCES, "out of memory for the text of a program");
  } else {
    const struct mill_program_source source = {
        .main = {"program.cu", main_text}, .header_count = n, .header = header, .major = major, .minor = minor};
    rc = mill_program_compile(compiler, &source, image, error);
  }
  for (uint32_t i = mill_device_text_count; header && i < all; i++)
    free((char *)(uintptr_t)header[i].text);
  free(header);
  free(name);
  free(main_text);
  return rc;
}
