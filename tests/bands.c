/* Firing rates of the example networks against the bands of the design: means over seeds 1 … n of 1 s with the first 100 ms dropped,
   and the irregularity of the Vogels network. A mean out of its band is a finding about the model, never a reason to widen the band. */
#include <math.h>

#include "net.h"

struct window {
  uint32_t first, last;   /* units counted */
  int64_t from;           /* stamps above this */
  uint64_t spikes;
  int64_t *previous;      /* of each unit, for intervals; NULL: rates only */
  double *sum, *square;
  uint32_t *intervals;
};

static void count(const struct mill_event *events, size_t n, void *self)
{
  struct window *w = self;
  for (size_t i = 0; i < n; i++) {
    uint32_t unit = events[i].unit;
    if (unit < w->first || unit > w->last || events[i].tick <= w->from)
      continue;
    w->spikes++;
    if (!w->previous)
      continue;
    if (w->previous[unit]) {
      double interval = (double)(events[i].tick - w->previous[unit]);
      w->sum[unit] += interval;
      w->square[unit] += interval * interval;
      w->intervals[unit]++;
    }
    w->previous[unit] = events[i].tick;
  }
}

static struct mill_simulation *open_example(const char *name, const char *synapses, int seed)
{
  const char *top = getenv("top_srcdir");
  char path[512], size[64], seeded[64];
  const char *overrides[] = {size, seeded};
  struct mill_options how = {overrides, 2, 0, NULL};
  struct mill_simulation *sim = NULL;
  struct mill_error error;
  snprintf(path, sizeof path, "%s/examples/%s.ini", top ? top : ".", name);
  snprintf(size, sizeof size, "define.synapses=%s", synapses);
  snprintf(seeded, sizeof seeded, "simulation.seed=%d", seed);
  if (mill_simulation_open(path, &how, &sim, &error) < 0)
    bail("%s", error.text);
  return sim;
}

/* Units of every population but Poisson sources, which the examples declare first. */
static void choose(const struct mill_simulation *sim, struct window *w)
{
  struct mill_simulation_report report;
  struct mill_population_report population;
  mill_simulation_report(sim, &report);
  w->first = 0;
  w->last = report.neurons - 1;
  if (mill_simulation_population(sim, 0, &population) == 0 && strcmp(population.model, "poisson") == 0)
    w->first = population.size;
}

static void rate(const char *name, const char *synapses, int seeds, double low, double high)
{
  double sum = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    struct mill_simulation *sim = open_example(name, synapses, seed);
    struct window w = {.from = 1000};
    choose(sim, &w);
    mill_simulation_listen(sim, count, &w);
    net_advance(sim, 10000);
    sum += (double)w.spikes / (w.last - w.first + 1) / 0.9;
    mill_simulation_free(sim);
  }
  ok(sum / seeds >= low && sum / seeds <= high, "%s with %s synapses, %d seeds: %.2f Hz in %g to %g", name, synapses, seeds, sum / seeds, low, high);
}

/* Mean over neurons of the coefficient of variation of their intervals, at least 10 of them. */
static void irregularity(void)
{
  double sum = 0;
  for (int seed = 1; seed <= 8; seed++) {
    struct mill_simulation *sim = open_example("vogels", "0.32e6", seed);
    int64_t previous[4000] = {0};
    static double add[4000], square[4000];
    uint32_t intervals[4000] = {0}, neurons = 0;
    struct window w = {.from = 1000, .previous = previous, .sum = add, .square = square, .intervals = intervals};
    double cv = 0;
    memset(add, 0, sizeof add);
    memset(square, 0, sizeof square);
    choose(sim, &w);
    mill_simulation_listen(sim, count, &w);
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
  rate("vogels", "0.32e6", 8, 15.7, 18.3);
  irregularity();
  rate("vogels", "2e6", 4, 5.7, 6.3);
  rate("vogels", "8e6", 2, 5.0, 5.4);
  rate("brunel", "0.2e6", 16, 43, 49.5);
  rate("brunel", "5e6", 8, 34.3, 38.3);
  rate("brunel", "20e6", 1, 33.0, 35.9);
  if (getenv("SPIKEMILL_LONG")) {
    rate("vogels", "32e6", 1, 6.7, 7.5);
    rate("vogels", "200e6", 1, 13.2, 14.6);
    rate("vogels", "500e6", 1, 19.4, 21.4);
    rate("vogels", "1e9", 1, 24.9, 27.5);
  }
  return done_testing();
}
