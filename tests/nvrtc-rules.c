/* Every synapse rule, a rule whose traces age in a loop and one from outside of the tree compile for a GPU: each pair of plasticity and delivery
   with one rule or another, for sm_90. SPIKEMILL_LONG=1: all combinations, precisions and widths of cells, for sm_75 too. */
#include <stdio.h>

#include <spikemill/synapse-ops.h>
#include "nvrtc.h"

/* A rule that nobody built: only its text. */
static const struct mill_plugin *outside(const char *name, const char *path)
{
  static struct mill_plugin plugin;
  static char text[65536], file[4096];
  const char *top = getenv("top_srcdir");
  FILE *in;
  snprintf(file, sizeof file, "%s/%s", top ? top : ".", path);
  in = fopen(file, "r");
  if (!in)
    bail("cannot read %s", file);
  plugin =
      (struct mill_plugin){.abi_minor = MILL_ABI_MINOR, .kind = MILL_SYNAPSE, .name = name, .source = text, .source_name = file};
  plugin.source_end = text + fread(text, 1, sizeof text, in);
  fclose(in);
  return &plugin;
}

static const struct mill_plugin *own(const char *name)
{
  char path[4096];
  const char *top = getenv("top_builddir");
  const struct mill_plugin *plugin;
  struct mill_error error;
  snprintf(path, sizeof path, "%s/tests/plugins/.libs/synapse-%s.so", top ? top : ".", name);
  if (mill_plugin_load(MILL_SYNAPSE, path, NULL, &plugin, &error) < 0)
    bail("%s", error.text);
  return plugin;
}

int main(void)
{
  const struct mill_plugin *model[MOST], *rule[MOST + 2], *delivery[MOST], *plasticity[MOST];
  const int longer = getenv("SPIKEMILL_LONG") != NULL;
  struct mill_compiler *compiler;
  struct mill_error error;
  uint32_t models, rules, deliveries, plasticities;
  plan_later();
  setenv("SPIKEMILL_CACHE", "", 0);
  models = with_text(MILL_NEURON, model);
  rules = with_text(MILL_SYNAPSE, rule);
  deliveries = with_text(MILL_DELIVERY, delivery);
  plasticities = with_text(MILL_PLASTICITY, plasticity);
  ok(models && rules >= 5 && deliveries >= 3 && plasticities >= 3, "%u rules, %u plasticities and %u deliveries have a text", rules,
     plasticities, deliveries);
  if (mill_compiler_open(&compiler, &error) < 0) {
    skip(1, "%s", error.text);
    return done_testing();
  }
  rule[rules++] = own("no-closed-form");
  rule[rules++] = outside("additive", "examples/plugin/synapse-additive.c");
  for (uint32_t r = 0; r < rules; r++) {
    for (uint32_t p = 0; p < plasticities; p++) {
      for (uint32_t d = 0; d < deliveries; d++) {
        for (uint32_t kind = 0; kind < 3; kind++) { /* single with 32 and 64 bits, double with 64 */
          struct mill_composition c = {.precision = kind == 2,
                                       .cell_bits = kind ? 64 : 32,
                                       .delivery = delivery[d],
                                       .plasticity = plasticity[p],
                                       .model_count = 1,
                                       .model = {model[r % models]},
                                       .rule_count = 1,
                                       .rule = {rule[r]}};
          char what[128];
          if (!longer && (kind != (r + p) % 3 || (p * deliveries + d) % rules != r))
            continue;
          snprintf(what, sizeof what, "%s, %s", plasticity[p]->name, delivery[d]->name);
          compile(compiler, &c, 9, 0, what);
          if (longer)
            compile(compiler, &c, 7, 5, what);
        }
      }
    }
  }
  if (longer) {
    struct mill_composition c = {.cell_bits = 32,
                                 .delivery = delivery[deliveries - 1],
                                 .plasticity = plasticity[0],
                                 .model_count = models,
                                 .rule_count = rules};
    memcpy(c.model, model, models * sizeof *model);
    memcpy(c.rule, rule, rules * sizeof *rule);
    compile(compiler, &c, 9, 0, "all models and rules in one program");
  }
  mill_compiler_close(compiler);
  return done_testing();
}
