/* The values of the design's table: one LIF neuron under constant current, the alpha-shaped potential, refractoriness, the rules for
   delays and durations, starts at late steps. Every row for single and double precision where the numbers allow it. */
#include <math.h>

#include "net.h"

#define LIF                                                                                                                      \
  "[simulation]\nduration = 100\nprecision = double\n[population.n]\nmodel = %s\nsize = 1\n"                                     \
  "[stimulus.dc]\ntype = dc\ntarget = n\namplitude = 1000\n[record]\nspikes = none\n"

static char *with(const char *format, const char *word)
{
  static char text[4][4096];
  static int at;
  at = (at + 1) % 4;
  snprintf(text[at], sizeof text[at], format, word);
  return text[at];
}

static void constant_current(const char *model)
{
  static const struct { int steps; double v; } row[] = {{1, -69.602}, {2, -69.2079}, {3, -68.8178}, {47, -55.0001}};
  static const int64_t stamp[] = {48, 116, 184, 252};
  struct mill_simulation *sim = net(with(LIF, model), NULL, 1);
  struct net_spikes spikes = {0};
  int done = 0;
  mill_simulation_listen(sim, net_collect, &spikes);
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    net_advance(sim, row[i].steps - done);
    done = row[i].steps;
    is_real(net_state(sim, "n", "v"), row[i].v, 5.1e-5, "%s, 1000 pA: V after %.1f ms", model, done * 0.1);
  }
  net_advance(sim, 260 - done);
  for (size_t i = 0; i < 4; i++)
    is_int(spikes.count > i ? spikes.stamp[i] : -1, stamp[i], "%s, 1000 pA: spike %zu", model, i + 1);
  mill_simulation_free(sim);
}

static void first_spike(const char *model)
{
  static const char *const dt[] = {"simulation.dt=0.1", "simulation.dt=0.2", "simulation.dt=0.5", "simulation.dt=1"};
  static const double step[] = {0.1, 0.2, 0.5, 1};
  for (size_t i = 0; i < 4; i++) {
    const char *overrides[] = {dt[i], "stimulus.dc.amplitude=1450", NULL};
    struct mill_simulation *sim = net(with(LIF, model), overrides, 1);
    struct net_spikes spikes = {0};
    mill_simulation_listen(sim, net_collect, &spikes);
    net_advance(sim, (int64_t)(20 / step[i] + 0.5));
    is_real(spikes.count > 0 ? (double)spikes.stamp[0] * step[i] : -1, 3.0, 1e-9, "%s, 1450 pA, %s: first spike", model, dt[i]);
    is_real(spikes.count > 1 ? (double)spikes.stamp[1] * step[i] : -1, 8.0, 1e-9, "%s, 1450 pA, %s: second spike", model, dt[i]);
    mill_simulation_free(sim);
  }
}

static void intervals(const char *model)
{
  static const struct { const char *amplitude; double isi; } row[] = {
    {"stimulus.dc.amplitude=380", 45.4}, {"stimulus.dc.amplitude=400", 29.8}, {"stimulus.dc.amplitude=500", 15.9}, {"stimulus.dc.amplitude=750", 9.0}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const char *overrides[] = {row[i].amplitude, NULL};
    struct mill_simulation *sim = net(with(LIF, model), overrides, 1);
    struct net_spikes spikes = {0};
    mill_simulation_listen(sim, net_collect, &spikes);
    net_advance(sim, 2000);
    is_real(spikes.count > 2 ? (double)(spikes.stamp[2] - spikes.stamp[1]) * 0.1 : -1, row[i].isi, 1e-9, "%s: interval at %s pA", model,
            row[i].amplitude + 22);
    mill_simulation_free(sim);
  }
}

/* An alpha-shaped potential from one spike at 3.0 ms over a delay of 1 ms. */
static void alpha_potential(const char *precision, double tolerance)
{
  static const struct { double t, v; } row[] = {{3.5, -70}, {4.0, -70}, {4.1, -69.9974}, {4.2, -69.9899}, {4.5, -69.9434}, {5.0, -69.8108}, {5.5, -69.6435}};
  static const char *const dt[] = {"simulation.dt=0.1", "simulation.dt=0.2", "simulation.dt=0.5", "simulation.dt=1"};
  static const double step[] = {0.1, 0.2, 0.5, 1};
  char folder[] = "/tmp/mill-alpha-XXXXXX", file[64], text[1024];
  FILE *out;
  if (!mkdtemp(folder))
    bail("cannot make a folder in /tmp");
  snprintf(file, sizeof file, "%s/one.csv", folder);
  out = fopen(file, "w");
  if (!out)
    bail("cannot write %s", file);
  fputs("time_ms,neuron\n3.0,0\n", out);
  fclose(out);
  snprintf(text, sizeof text,
           "[simulation]\nduration = 100\nprecision = %s\n[population.n]\nmodel = iaf-psc-alpha\nsize = 1\n[stimulus.spike]\n"
           "type = spike-file\ntarget = n\nreceptor = exc\nweight = 100\ndelay = 1\nfile = %s\n[record]\nspikes = none\n",
           precision, file);
  for (size_t d = 0; d < 4; d++) {
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
      const char *overrides[] = {dt[d], NULL};
      struct mill_simulation *sim;
      double steps = row[i].t / step[d];
      if (fabs(steps - floor(steps + 0.5)) > 1e-6)
        continue; /* not on this grid */
      sim = net(text, overrides, 1);
      net_advance(sim, (int64_t)(steps + 0.5));
      is_real(net_state(sim, "n", "v"), row[i].v, tolerance, "alpha potential, %s, %s: V at %.1f ms", precision, dt[d], row[i].t);
      mill_simulation_free(sim);
    }
  }
  unlink(file);
  rmdir(folder);
}

/* tau_m = tau_syn, and nearly so, against the closed forms. */
static void equal_time_constants(void)
{
  static const char *const tau[] = {"population.n.tau_syn_exc=10", "population.n.tau_syn_exc=10.000001"};
  for (size_t i = 0; i < 2; i++) {
    const char *overrides[] = {tau[i], "population.n.i_exc=100", "population.n.v=-70", NULL};
    struct mill_simulation *sim = net("[simulation]\nprecision = double\n[population.n]\nmodel = iaf-psc-exp\nsize = 1\n", overrides, 1);
    net_advance(sim, 50);
    is_real(net_state(sim, "n", "v"), -70 + 100.0 / 250 * 5 * exp(-0.5), 1e-6, "iaf-psc-exp with %s", tau[i]);
    mill_simulation_free(sim);
    overrides[1] = "population.n.d_exc=100";
    sim = net("[simulation]\nprecision = double\n[population.n]\nmodel = iaf-psc-alpha\nsize = 1\n", overrides, 1);
    net_advance(sim, 50);
    is_real(net_state(sim, "n", "v"), -70 + 100.0 / 250 * 12.5 * exp(-0.5), 1e-5, "iaf-psc-alpha with %s", tau[i]);
    mill_simulation_free(sim);
  }
}

/* A neuron driven hard fires every t_ref + 1 steps (exact models) or every t_ref steps (Spice's order). */
static void refractoriness(void)
{
  static const struct { const char *model, *drive, *t_ref; int64_t interval; } row[] = {
    {"iaf-psc-exp", "stimulus.dc.amplitude=1e7", "population.n.t_ref=2", 21}, {"iaf-psc-exp", "stimulus.dc.amplitude=1e7", "population.n.t_ref=0", 1},
    {"iaf-psc-alpha", "stimulus.dc.amplitude=1e7", "population.n.t_ref=0.1", 2}, {"iaf-psc-delta", "stimulus.dc.amplitude=1e7", "population.n.t_ref=2", 21},
    {"iaf-psc-delta", "stimulus.dc.amplitude=1e7", "population.n.t_ref=0", 1}, {"iaf-cond-exp", "stimulus.dc.amplitude=1e7", "population.n.t_ref=2", 21},
    {"iaf-cond-exp", "stimulus.dc.amplitude=1e7", "population.n.t_ref=0", 1}, {"lif-delta", "stimulus.dc.amplitude=1e7", "population.n.t_ref=2", 21},
    {"lif-coba", "stimulus.dc.amplitude=1e6", "population.n.t_ref=5", 51},   {"lif-coba", "stimulus.dc.amplitude=1e6", "population.n.t_ref=0", 2}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const char *overrides[] = {row[i].drive, row[i].t_ref, NULL};
    struct mill_simulation *sim = net(with(LIF, row[i].model), overrides, 1);
    struct net_spikes spikes = {0};
    mill_simulation_listen(sim, net_collect, &spikes);
    net_advance(sim, 300);
    is_int(spikes.count > 3 ? spikes.stamp[3] - spikes.stamp[2] : -1, row[i].interval, "%s, %s: interval of a neuron that is always ready", row[i].model,
           row[i].t_ref + 13);
    mill_simulation_free(sim);
  }
}

/* One spike through one synapse with the delay given; the step in which the target fires says how long it took. */
static void delays(void)
{
  static const struct { const char *delay; int64_t steps; } row[] = {
    {"0.81", 8}, {"0.82", 8}, {"0.8499", 8}, {"0.85", 9}, {"0.86", 9}, {"0.8999", 9}, {"0.06", 1}, {"0.04", 0}, {"0", 0}, {"-1", 0}};
  static const char text[] = "[simulation]\nduration = 10\n[population.a]\nmodel = poisson\nsize = 1\nnext = 4\nrate = 0.000001\n"
                             "[population.b]\nmodel = lif-delta\nsize = 1\n[projection.ab]\nsource = a\ntarget = b\nrule = all-to-all\n"
                             "weight = 30\ndelay = 1\n[record]\nspikes = none\n";
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    char delay[64];
    const char *overrides[] = {delay, NULL};
    struct mill_simulation *sim;
    struct mill_error error;
    struct net_spikes a = {0}, b = {.unit = 1};
    snprintf(delay, sizeof delay, "projection.ab.delay=%s", row[i].delay);
    sim = net_open(text, overrides, 1, &error);
    if (row[i].steps == 0) {
      ok(!sim && error.status == MILL_USAGE, "delay %s ms is refused: %s", row[i].delay, error.text);
      mill_simulation_free(sim);
      continue;
    }
    if (!sim)
      bail("%s", error.text);
    mill_simulation_listen(sim, net_collect, &b);
    net_advance(sim, 50);
    is_int(b.count == 1 ? b.stamp[0] : -1, 5 + row[i].steps, "delay %s ms takes %d steps", row[i].delay, (int)row[i].steps);
    (void)a;
    mill_simulation_free(sim);
  }
}

/* Spike files: what lies near a step is that step, what lies between two is refused, and so is the start itself. */
static void spike_files(void)
{
  static const struct { const char *time; int64_t step; } row[] = {{"2.9999", 30}, {"3.0001", 30}, {"4.3001", 43}, {"0.1", 1}, {"0.0", 0}, {"3.05", 0}};
  char folder[] = "/tmp/mill-times-XXXXXX", file[64], text[1024];
  if (!mkdtemp(folder))
    bail("cannot make a folder in /tmp");
  snprintf(file, sizeof file, "%s/one.csv", folder);
  snprintf(text, sizeof text,
           "[population.n]\nmodel = lif-delta\nsize = 1\n[stimulus.s]\ntype = spike-file\ntarget = n\nweight = 30\nfile = %s\n[record]\nspikes = none\n",
           file);
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    struct net_spikes spikes = {0};
    struct mill_error error;
    struct mill_simulation *sim;
    FILE *out = fopen(file, "w");
    if (!out)
      bail("cannot write %s", file);
    fprintf(out, "time_ms,neuron\n%s,0\n", row[i].time);
    fclose(out);
    sim = net_open(text, NULL, 1, &error);
    if (row[i].step == 0) {
      ok(!sim && error.status == MILL_DATA, "a spike at %s ms is refused: %s", row[i].time, error.text);
    } else if (sim) {
      mill_simulation_listen(sim, net_collect, &spikes);
      net_advance(sim, 60);
      is_int(spikes.count == 1 ? spikes.stamp[0] : -1, row[i].step + 1, "a spike at %s ms is step %d", row[i].time, (int)row[i].step);
    } else {
      ok(0, "a spike at %s ms: %s", row[i].time, error.text);
    }
    mill_simulation_free(sim);
  }
  {
    const char *const overrides[] = {"simulation.off_grid=allow", NULL};
    struct net_spikes spikes = {0};
    struct mill_simulation *sim = net(text, overrides, 1);
    mill_simulation_listen(sim, net_collect, &spikes);
    net_advance(sim, 60);
    is_int(spikes.count == 1 ? spikes.stamp[0] : -1, 32, "off_grid = allow rounds 3.05 ms to step 31");
    mill_simulation_free(sim);
  }
  unlink(file);
  rmdir(folder);
}

/* Times that fall into one step after rounding: no spike is lost, whatever the order of neurons, and all of one neuron add up. */
static void merged_ticks(void)
{
  char path[] = "/tmp/mill-merge-XXXXXX", file[64], text[1024];
  struct mill_simulation *sim;
  struct mill_simulation_report report;
  double v[2000];
  int fd = mkstemp(path);
  FILE *out;
  if (fd < 0)
    bail("cannot write to /tmp");
  close(fd);
  snprintf(file, sizeof file, "%s.csv", path);
  out = fopen(file, "w");
  if (!out)
    bail("cannot write %s", file);
  fputs("time_ms,neuron\n0.5000,1500\n0.5002,7\n0.5005,2\n0.5006,7\n0.5007,900\n", out);
  fclose(out);
  snprintf(text, sizeof text,
           "[population.n]\nmodel = lif-delta\nsize = 2000\nv_th = 100\n[stimulus.s]\ntype = spike-file\ntarget = n\nweight = 31\nfile = %s\n"
           "[stimulus.t]\ntype = poisson\nrate = 0\ntarget = n\nweight = 0.5\n[record]\nspikes = none\n",
           file);
  sim = net(text, NULL, 2);
  net_advance(sim, 6);
  mill_simulation_report(sim, &report);
  mill_simulation_state(sim, "n", "v", v);
  ok(v[1500] > 30 && v[2] > 30 && v[900] > 30 && v[7] > 60 && v[8] == 0, "spikes of one step in any order: %.3f %.3f %.3f, twice %.3f", v[2], v[900],
     v[1500], v[7]);
  mill_simulation_free(sim);
  unlink(file);
  unlink(path);
}

static void durations(void)
{
  static const struct { const char *override; int good; } row[] = {
    {"population.n.t_ref=2.0001", 1}, {"population.n.t_ref=2.05", 0}, {"population.n.t_ref=2.0019", 0}, {"simulation.duration=1.05", 0},
    {"simulation.duration=1.0005", 1}, {"simulation.duration=0", 1},  {"simulation.duration=-1", 0}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const char *overrides[] = {row[i].override, NULL};
    struct mill_error error;
    struct mill_simulation *sim = net_open(with(LIF, "iaf-psc-exp"), overrides, 1, &error);
    ok(!!sim == row[i].good, "%s is %s%s%s", row[i].override, row[i].good ? "taken" : "refused", error.text[0] ? ": " : "", error.text);
    mill_simulation_free(sim);
  }
}

/* The same neuron, started at 0, 2^24 - 5 and 2^31 - 5: the same spikes, counted from the start. */
static void late_starts(void)
{
  static const struct { const char *t0; int64_t first; } row[] = {
    {"simulation.t0=0", 0}, {"simulation.t0=16777211", 16777211}, {"simulation.t0=2147483643", 2147483643}};
  for (size_t i = 0; i < 3; i++) {
    const char *overrides[] = {row[i].t0, NULL};
    struct mill_simulation *sim = net(with(LIF, "iaf-psc-exp"), overrides, 1);
    struct net_spikes spikes = {0};
    mill_simulation_listen(sim, net_collect, &spikes);
    net_advance(sim, 200);
    is_int(spikes.count > 2 ? spikes.stamp[2] - row[i].first : -1, 184, "third spike with %s", row[i].t0);
    mill_simulation_free(sim);
  }
}

int main(void)
{
  plan_later();
  constant_current("iaf-psc-exp");
  constant_current("iaf-psc-alpha");
  constant_current("iaf-psc-delta");
  first_spike("iaf-psc-exp");
  first_spike("iaf-psc-alpha");
  first_spike("iaf-psc-delta");
  intervals("iaf-psc-exp");
  intervals("iaf-psc-alpha");
  intervals("iaf-psc-delta");
  alpha_potential("double", 5.1e-5);
  alpha_potential("single", 8e-5);
  equal_time_constants();
  refractoriness();
  delays();
  spike_files();
  merged_ticks();
  durations();
  late_starts();
  return done_testing();
}
