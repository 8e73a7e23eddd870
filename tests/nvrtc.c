/* Every model, stimulus and delivery strategy compiles for a GPU, which takes NVRTC and no GPU: a pairwise cover of model, strategy, precision and
   width of cells for sm_90. SPIKEMILL_LONG=1: all combinations, for sm_75 too. */
#include <stdlib.h>
#include <string.h>

#include <spikemill/delivery.h>
#include <spikemill/neuron-ops.h>
#include <spikemill/stimulus.h>
#include "cuda/compose.h"
#include "registry.h"
#include "tap.h"

enum { MOST = 64 };

/* The plugins of a kind that have a text; returns their number. */
static uint32_t with_text(int kind, const struct mill_plugin **list)
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

static void compile(struct mill_compiler *compiler, const struct mill_composition *c, int major, int minor, const char *what)
{
  struct mill_program_image image = {0};
  struct mill_error error = {0};
  int rc = mill_compose(compiler, c, major, minor, &image, &error);
  ok(rc == 0 && image.size > 1000, "%s, %s, %u-bit cells, %s, sm_%d%d%s%s", c->model[0]->name, c->precision ? "double" : "single", c->cell_bits,
     what, major, minor, rc ? ": " : "", rc ? error.text : "");
  free(image.bytes);
}

int main(void)
{
  const struct mill_plugin *model[MOST], *stimulus[MOST], *delivery[MOST];
  const int longer = getenv("SPIKEMILL_LONG") != NULL;
  struct mill_compiler *compiler;
  struct mill_error error;
  uint32_t models, stimuli, deliveries, k = 0;
  plan_later();
  setenv("SPIKEMILL_CACHE", "", 0);
  models = with_text(MILL_NEURON, model);
  stimuli = with_text(MILL_STIMULUS, stimulus);
  deliveries = with_text(MILL_DELIVERY, delivery);
  ok(models >= 9 && stimuli >= 1 && deliveries >= 3, "%u models, %u stimuli and %u strategies have a text", models, stimuli, deliveries);
  if (mill_compiler_open(&compiler, &error) < 0) {
    skip(1, "%s", error.text);
    return done_testing();
  }
  for (uint32_t m = 0; m < models; m++) {
    for (uint32_t d = 0; d < deliveries; d++) {
      for (uint32_t kind = 0; kind < 3; kind++) { /* single with 32 and 64 bits, double with 64 */
        struct mill_composition c = {
            .precision = kind == 2, .cell_bits = kind ? 64 : 32, .delivery = delivery[d], .model_count = 1, .model = {model[m]}};
        if (!longer && kind != (m + d) % 3)
          continue;
        c.stimulus_count = k++ % 2;
        c.stimulus[0] = stimulus[k / 2 % stimuli];
        compile(compiler, &c, 9, 0, delivery[d]->name);
        if (longer)
          compile(compiler, &c, 7, 5, delivery[d]->name);
      }
    }
  }
  {
    struct mill_composition c = {.cell_bits = 32, .delivery = delivery[0], .model_count = models, .stimulus_count = stimuli};
    memcpy(c.model, model, models * sizeof *model);
    memcpy(c.stimulus, stimulus, stimuli * sizeof *stimulus);
    compile(compiler, &c, 9, 0, "all models and stimuli in one program");
  }
  mill_compiler_close(compiler);
  return done_testing();
}
