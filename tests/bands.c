/* Firing rates of the networks of Bautembach et al. (2021) against the bands of the design, and the irregularity of the Vogels network. */
#include "bands.h"

/* Mean over neurons of the coefficient of variation of their intervals, at least 10 of them. */
static void irregularity(void)
{
  double sum = 0;
  for (int seed = 1; seed <= 8; seed++) {
    struct mill_simulation *sim = bands_open("vogels", SET("define.synapses=0.32e6"), seed);
    int64_t previous[4000] = {0};
    static double add[4000], square[4000];
    uint32_t intervals[4000] = {0}, neurons = 0;
    struct bands_window w = {.from = 1000, .previous = previous, .sum = add, .square = square, .intervals = intervals};
    double cv = 0;
    memset(add, 0, sizeof add);
    memset(square, 0, sizeof square);
    bands_choose(sim, &w);
    mill_simulation_listen(sim, bands_count, &w);
    net_advance(sim, 50000);
    for (int i = 0; i < 4000; i++) {
      double mean, variance;
      if (intervals[i] < 10)
        continue;
      mean = add[i] / intervals[i];
      variance = square[i] / intervals[i] - mean * mean;
      cv += sqrt(variance > 0 ? variance : 0) / mean;
      neurons++;
    }
    sum += cv / neurons;
    mill_simulation_free(sim);
  }
  ok(sum / 8 >= 1.55 && sum / 8 <= 1.75, "vogels, 5 s: coefficient of variation of the intervals %.3f in 1.55 to 1.75", sum / 8);
}

int main(void)
{
  plan_later();
  bands_rate("vogels", SET("define.synapses=0.32e6"), 8, 15.7, 18.3);
  irregularity();
  bands_rate("vogels", SET("define.synapses=2e6"), 4, 5.7, 6.3);
  bands_rate("vogels", SET("define.synapses=8e6"), 2, 5.0, 5.4);
  bands_rate("brunel", SET("define.synapses=0.2e6"), 16, 43, 49.5);
  bands_rate("brunel", SET("define.synapses=5e6"), 8, 34.3, 38.3);
  bands_rate("brunel", SET("define.synapses=20e6"), 1, 33.0, 35.9);
  if (getenv("SPIKEMILL_LONG")) {
    bands_rate("vogels", SET("define.synapses=32e6"), 1, 6.7, 7.5);
    bands_rate("vogels", SET("define.synapses=200e6"), 1, 13.2, 14.6);
    bands_rate("vogels", SET("define.synapses=500e6"), 1, 19.4, 21.4);
    bands_rate("vogels", SET("define.synapses=1e9"), 1, 24.9, 27.5);
  }
  return done_testing();
}
