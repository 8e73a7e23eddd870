/* Programs compiled by the real NVRTC, which takes no GPU: what plugins there are, and one program of them. */
#ifndef NVRTC_H
#define NVRTC_H

#include <stdlib.h>
#include <string.h>

#include "cuda/compose.h"
#include "registry.h"
#include "tap.h"

enum { MOST = 64 };

/* The plugins of a kind that have a text; returns their number. */
static inline uint32_t with_text(int kind, const struct mill_plugin **list)
{
  char **names = mill_plugin_list(kind, NULL, NULL);
  uint32_t n = 0;
  for (size_t i = 0; names && names[i] && n < MOST; i++) {
    struct mill_error error;
    const struct mill_plugin *plugin;
    if (mill_plugin_load(kind, names[i], NULL, &plugin, &error) == 0 && plugin->source)
      list[n++] = plugin;
  }
  free(names);
  return n;
}

static inline void compile(struct mill_compiler *compiler, const struct mill_composition *c, int major, int minor, const char *what)
{
  struct mill_program_image image = {0};
  struct mill_error error = {0};
  int rc = mill_compose(compiler, c, major, minor, &image, &error);
  ok(rc == 0 && image.size > 1000, "%s, %s, %u-bit cells, %s, sm_%d%d%s%s", c->rule_count ? c->rule[0]->name : c->model[0]->name,
     c->precision ? "double" : "single", c->cell_bits, what, major, minor, rc ? ": " : "", rc ? error.text : "");
  free(image.bytes);
}

#endif
