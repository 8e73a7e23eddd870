/* Rates of the example networks: means over seeds 1 … n of 1 s with the first 100 ms dropped. A mean out of its band is a finding about
   the model, never a reason to widen the band. */
#ifndef BANDS_H
#define BANDS_H

#include <math.h>

#include "net.h"

struct bands_window {
  uint32_t first, last;   /* units counted */
  int64_t from;           /* stamps above this */
  uint64_t spikes;
  int64_t *previous;      /* of each unit, for intervals; NULL: rates only */
  double *sum, *square;
  uint32_t *intervals;
};

static inline void bands_count(const struct mill_event *events, size_t n, void *self)
{
  struct bands_window *w = self;
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

#define SETTINGS 4
#define SET(...) (const char *const[SETTINGS + 1]){__VA_ARGS__}

static inline struct mill_simulation *bands_open(const char *name, const char *const *set, int seed)
{
  const char *top = getenv("top_srcdir");
  char path[512], seeded[64];
  const char *overrides[SETTINGS + 1] = {seeded};
  struct mill_options how = {overrides, 1, 0, NULL, NULL};
  struct mill_simulation *sim = NULL;
  struct mill_error error;
  snprintf(path, sizeof path, "%s/examples/%s.ini", top ? top : ".", name);
  snprintf(seeded, sizeof seeded, "simulation.seed=%d", seed);
  for (; *set; set++)
    overrides[how.override_count++] = *set;
  if (mill_simulation_open(path, &how, &sim, &error) < 0)
    bail("%s", error.text);
  return sim;
}

/* Units of every population but Poisson sources, which the examples declare first. */
static inline void bands_choose(const struct mill_simulation *sim, struct bands_window *w)
{
  struct mill_simulation_report report;
  struct mill_population_report population;
  mill_simulation_report(sim, &report);
  w->first = 0;
  w->last = report.neurons - 1;
  if (mill_simulation_population(sim, 0, &population) == 0 && strcmp(population.model, "poisson") == 0)
    w->first = population.size;
}

/* What was set, for the text of a check. */
static inline const char *bands_settings(const char *const *set)
{
  static char text[256];
  text[0] = 0;
  for (; *set; set++) {
    const char *key = strchr(*set, '=');
    while (key > *set && key[-1] != '.')
      key--;
    snprintf(text + strlen(text), sizeof text - strlen(text), ", %s", key);
  }
  return text;
}

/* Runs 1 s. Returns the mean rate. */
static inline double bands_run(struct mill_simulation *sim)
{
  struct mill_simulation_report report;
  struct bands_window w = {0};
  int64_t steps_per_ms;
  mill_simulation_report(sim, &report);
  steps_per_ms = (int64_t)(1 / report.dt + 0.5);
  w.from = 100 * steps_per_ms;
  bands_choose(sim, &w);
  mill_simulation_listen(sim, bands_count, &w);
  net_advance(sim, 1000 * steps_per_ms);
  return (double)w.spikes / (w.last - w.first + 1) / 0.9;
}

static inline void bands_rate(const char *name, const char *const *set, int seeds, double low, double high)
{
  double sum = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    struct mill_simulation *sim = bands_open(name, set, seed);
    sum += bands_run(sim);
    mill_simulation_free(sim);
  }
  ok(sum / seeds >= low && sum / seeds <= high, "%s%s, %d seeds: %.2f Hz in %g to %g", name, bands_settings(set), seeds, sum / seeds, low, high);
}

#endif
