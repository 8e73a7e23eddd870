/* Every model, stimulus and delivery strategy compiles for a GPU, which takes NVRTC and no GPU: a pairwise cover of model, strategy, precision and
   width of cells for sm_90. SPIKEMILL_LONG=1: all combinations, for sm_75 too. And every counter that has a text, for both architectures and
   widths of times; and the making of surrogates. */
#include <spikemill/delivery.h>
#include <spikemill/neuron-ops.h>
#include <spikemill/stimulus.h>
#include "cuda/miner.h"
#include "cuda/device-surrogates.h"
#include "nvrtc.h"

static void compile_counters(struct mill_compiler *compiler, int longer)
{
  static const struct {
    int major, minor;
  } architecture[] = {{9, 0}, {7, 5}};
  const struct mill_plugin *counter[MOST];
  const uint32_t counters = with_text(MILL_COUNTER, counter);
  is_int(counters, 6, "counters with a text");
  for (uint32_t c = 0; c < counters; c++)
    for (size_t a = 0; a < sizeof architecture / sizeof *architecture; a++)
      for (int narrow = 0; narrow < 2; narrow++) {
        struct mill_program_image image = {0};
        struct mill_error failure = {0};
        if (!longer && narrow != (a == 0))
          continue;
        int rc = mill_miner_compile(compiler, counter[c], narrow, architecture[a].major, architecture[a].minor, &image, &failure);
        ok(rc == 0 && image.size > 1000, "counter %s, times of %d bits, sm_%d%d%s%s", counter[c]->name, narrow ? 32 : 64,
           architecture[a].major, architecture[a].minor, rc ? ": " : "", failure.text);
        free(image.bytes);
      }
}

static void compile_surrogates(struct mill_compiler *compiler)
{
  for (int k = 0; k < 4; k++) {
    const int narrow = k % 2, major = k < 2 ? 9 : 7, minor = k < 2 ? 0 : 5;
    struct mill_program_image image = {0};
    struct mill_error failure = {0};
    const int rc = mill_device_surrogates_compile(compiler, narrow, major, minor, &image, &failure);
    ok(rc == 0 && image.size > 1000, "surrogates, times of %d bits, sm_%d%d%s%s", narrow ? 32 : 64, major, minor, rc ? ": " : "",
       failure.text);
    free(image.bytes);
  }
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
  compile_counters(compiler, longer);
  compile_surrogates(compiler);
  mill_compiler_close(compiler);
  return done_testing();
}
