/* Firing rates of cuba, coba, brunel2000 and izhikevich2003 against published values and other simulators. */
#include "bands.h"

#define DELAY 15 /* steps, of brunel2000 */

struct phases {
  int64_t from;
  uint64_t spikes, at[DELAY]; /* by stamp modulo the delay */
};

static void count_phases(const struct mill_event *events, size_t n, void *self)
{
  struct phases *p = self;
  for (size_t i = 0; i < n; i++) {
    if (events[i].tick <= p->from)
      continue;
    p->spikes++;
    p->at[events[i].tick % DELAY]++;
  }
}

/* Rate over 150 ms after the first 100, and the share of spikes that come at the same phase of the delay. */
static double phase_locking(const char *const *set, double *rate)
{
  struct mill_simulation *sim = bands_open("brunel2000", set, 1);
  struct mill_simulation_report report;
  struct phases p = {.from = 1000};
  uint64_t most = 0;
  mill_simulation_report(sim, &report);
  mill_simulation_listen(sim, count_phases, &p);
  net_advance(sim, 2500);
  mill_simulation_free(sim);
  for (int i = 0; i < DELAY; i++)
    most = p.at[i] > most ? p.at[i] : most;
  *rate = (double)p.spikes / report.neurons / 0.15;
  return (double)most / (double)p.spikes;
}

/* At g = 3, eta = 2 two halves of the neurons make each other fire in turn, a delay of 1.5 ms apart: each fires every 3 ms, at 333 Hz.
   NEST 3.10 gives the same. (In Brian2 a spike acts one step later, and it is 313 Hz.) */
static void regimes(const char *const *synchronous, const char *const *irregular)
{
  double rate, share = phase_locking(synchronous, &rate);
  ok(rate > 331 && rate < 333.4 && share > 0.9, "brunel2000%s: synchronous regular, %.1f Hz, %.0f %% of the spikes at one phase", bands_settings(synchronous),
     rate, 100 * share);
  share = phase_locking(irregular, &rate);
  ok(share < 0.15, "brunel2000%s: asynchronous, %.0f %% at one phase", bands_settings(irregular), 100 * share);
}

int main(void)
{
  const int more = getenv("SPIKEMILL_LONG") != NULL;
  plan_later();
  bands_rate("cuba", SET(NULL), 3, 5.3, 5.75);
  bands_rate("coba", SET(NULL), 3, 16, 23);
  bands_rate("brunel2000", SET("define.v_reset=10"), more ? 3 : 1, 36, 42);
  bands_rate("brunel2000", SET("define.v_reset=0"), more ? 3 : 1, 31.5, 32.5);
  regimes(SET("define.g=3", "define.excitatory=4000", "define.weight=0.25"), SET("define.g=5", "define.excitatory=4000", "define.weight=0.25"));
  if (more)
    regimes(SET("define.g=3"), SET("define.g=5"));
  /* The published program, run 100 times: 7.19 Hz after the first 100 ms, with a standard deviation of 0.16 Hz; four of the mean of 8. */
  bands_rate("izhikevich2003", SET(NULL), 8, 6.97, 7.42);
  return done_testing();
}
