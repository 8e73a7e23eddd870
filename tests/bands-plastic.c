/* Rate and mean weight of brunel-plus after 1 s with the rule of Bautembach et al. (2021), against the bands of the design. */
#include "bands.h"
#include "plastic.h"
#include "simulation.h"

/* Over the plastic synapses, in V. */
static double mean_weight(struct mill_simulation *sim)
{
  double sum = 0;
  uint64_t synapses = 0;
  mill_plastic_flush(sim);
  for (uint32_t k = 0; k < sim->network.projection_count; k++) {
    const struct mill_projection *p = &sim->projection[k];
    if (!p->plastic)
      continue;
    synapses += p->synapses;
    for (uint64_t i = 0; i < p->synapses; i++)
      sum += mill_plastic_weight(p->plastic, i);
  }
  return sum / (double)synapses;
}

static void brunel_plus(const char *synapses, int seeds, double rate_low, double rate_high, double low, double high)
{
  const char *const set[] = {synapses, NULL};
  double rate = 0, weight = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    struct mill_simulation *sim = bands_open("brunel-plus", set, seed);
    rate += bands_run(sim) / seeds;
    weight += mean_weight(sim) / seeds;
    mill_simulation_free(sim);
  }
  ok(rate >= rate_low && rate <= rate_high, "brunel-plus%s, %d seeds: %.2f Hz in %g to %g", bands_settings(set), seeds, rate,
     rate_low, rate_high);
  ok(weight >= low && weight <= high, "brunel-plus%s, %d seeds: mean weight %.4g V in %g to %g", bands_settings(set), seeds, weight,
     low, high);
}

int main(void)
{
  plan_later();
  brunel_plus("define.synapses=0.2e6", 16, 45.5, 52.5, 1.33e-4, 1.38e-4);
  brunel_plus("define.synapses=1.25e6", 8, 39, 46, 1.19e-4, 1.26e-4);
  return done_testing();
}
