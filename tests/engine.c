/* The engine's promises: one hash for every number of threads and every way to cut a run, delays and slots at every depth, neurons that
   fire in every step, empty and single populations, histories. */
#include "net.h"

/* A small network with every kind of storage: uniform and drawn weights, uniform and drawn delays, several populations and rules. */
static const char mixed[] = "[simulation]\nduration = 100\nseed = 7\n"
                            "[population.src]\nmodel = poisson\nsize = 300\nrate = 40\n"
                            "[population.exc]\nmodel = lif-coba\nsize = 1111\nv = uniform(-60, -50)\n"
                            "[population.inh]\nmodel = iaf-psc-exp\nsize = 257\nv = normal(-60, 3)\ni_e = 380\n"
                            "[population.one]\nmodel = lif-delta\nsize = 1\n"
                            "[population.none]\nmodel = iaf-psc-alpha\nsize = 0\n"
                            "[projection.a]\nsource = src\ntarget = exc\nrule = fixed-probability(0.1)\nreceptor = exc\nweight = 0.3\ndelay = 0.7\n"
                            "[projection.b]\nsource = exc\ntarget = exc\nrule = fixed-indegree(40)\nreceptor = exc\n"
                            "weight = normal-clipped(0.1, 0.05, 0, 1)\ndelay = uniform(0.7, 12)\n"
                            "[projection.c]\nsource = exc, inh\ntarget = inh, none\nrule = fixed-probability(0.05)\nreceptor = exc\n"
                            "weight = lognormal(3, 0.5)\ndelay = 1.5\n"
                            "[projection.d]\nsource = inh\ntarget = exc\nrule = fixed-outdegree(30)\nmultapses = yes\nreceptor = inh\n"
                            "weight = uniform(0.5, 1)\ndelay = uniform(1, 40)\n"
                            "[projection.e]\nsource = exc\ntarget = one\nrule = fixed-total(500)\nweight = 0.9\ndelay = 0.9\n"
                            "[stimulus.p]\ntype = poisson\ntarget = exc, inh\nreceptor = exc\nweight = 0.5\nrate = 300\n"
                            "[stimulus.i]\ntype = dc\ntarget = exc\namplitude = 3\nstart = 20\nstop = 60\n";

static uint64_t run(const char *text, const char *const *overrides, uint32_t threads, int64_t steps, int64_t cut, uint64_t *spikes)
{
  struct mill_simulation *sim = net(text, overrides, threads);
  struct mill_simulation_report report;
  for (int64_t done = 0; done < steps; done += cut)
    net_advance(sim, steps - done < cut ? steps - done : cut);
  mill_simulation_report(sim, &report);
  if (spikes)
    *spikes = report.spikes;
  mill_simulation_free(sim);
  return report.spike_hash;
}

static void one_hash(void)
{
  static const uint32_t threads[] = {1, 2, 3, 8};
  static const int64_t cuts[] = {1000, 1, 7, 333};
  static const char *const precisions[] = {"simulation.precision=single", "simulation.precision=double"};
  for (int p = 0; p < 2; p++) {
    const char *overrides[] = {precisions[p], NULL}, *other[] = {precisions[p], "simulation.seed=8", NULL};
    uint64_t spikes, first = run(mixed, overrides, 1, 1000, 1000, &spikes);
    ok(spikes > 2000, "%s: the network is alive, %llu spikes", precisions[p], (unsigned long long)spikes);
    for (size_t t = 0; t < 4; t++) {
      for (size_t c = 0; c < (t < 2 ? 4u : 2u); c++)
        ok(run(mixed, overrides, threads[t], 1000, cuts[c], NULL) == first, "%s: %u threads, cut into pieces of %d steps", precisions[p],
           threads[t], (int)cuts[c]);
    }
    ok(run(mixed, other, 2, 1000, 1000, NULL) != first, "%s: another seed gives another hash", precisions[p]);
  }
  ok(run(mixed, NULL, 1, 1000, 1000, NULL) != run(mixed, (const char *const[]){"simulation.precision=double", NULL}, 1, 1000, 1000, NULL),
     "precisions differ");
}

/* A chain of neurons, each spike one step: neuron i fires at step i·d, so that every slot of the ring is used. */
static void chain(void)
{
  static const int delays[] = {1, 2, 31, 32, 33, 64, 255, 256, 1000};
  for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
    char text[1024], path[] = "/tmp/mill-chain-XXXXXX";
    struct mill_simulation *sim;
    struct net_spikes last = {.unit = 6};
    int file = mkstemp(path);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    if (!out)
      bail("cannot write to /tmp");
    fputs("source,target\n0,1\n1,2\n2,3\n3,4\n4,5\n5,6\n", out);
    fclose(out);
    snprintf(text, sizeof text,
             "[population.n]\nmodel = lif-delta\nsize = 70\nt_ref = 0\n[projection.p]\nsource = n\ntarget = n\nrule = file(%s)\nweight = 25\ndelay = %.1f\n"
             "[population.start]\nmodel = poisson\nsize = 1\nnext = 3\nrate = 0\n"
             "[projection.s]\nsource = start\ntarget = n\nrule = fixed-total(1)\nweight = 0\ndelay = 0.1\n"
             "[stimulus.k]\ntype = spike-file\ntarget = n\nweight = 25\nfile = %s.csv\n[record]\nspikes = none\n",
             path, delays[i] * 0.1, path);
    {
      char first[80];
      snprintf(first, sizeof first, "%s.csv", path);
      out = fopen(first, "w");
      fputs("time_ms,neuron\n0.4,0\n", out);
      fclose(out);
      sim = net(text, NULL, 2);
      unlink(first);
    }
    unlink(path);
    mill_simulation_listen(sim, net_collect, &last);
    net_advance(sim, 10 + 7 * delays[i]);
    ok(last.count == 1 && last.stamp[0] == 5 + 6 * delays[i], "six synapses of %d steps: stamp %d", delays[i],
       last.count ? (int)last.stamp[0] : -1);
    mill_simulation_free(sim);
  }
}

static const char every_step[] = "[population.n]\nmodel = iaf-psc-exp\nsize = 2500\nt_ref = 0\ni_e = 1e7\n"
                                 "[projection.p]\nsource = n\ntarget = n\nrule = fixed-probability(0.02)\nreceptor = exc\nweight = 1\ndelay = 0.3\n"
                                 "[record]\nspikes = none\n";

static void a_spike_in_every_step(void)
{
  uint64_t spikes, first = run(every_step, NULL, 1, 200, 200, &spikes);
  is_int((intmax_t)spikes, 2500 * 200, "every neuron fires in every step, nothing is dropped");
  ok(run(every_step, NULL, 2, 200, 200, NULL) == first && run(every_step, NULL, 3, 200, 11, NULL) == first, "the same for 2 and 3 threads, cut");
}

static void histories(void)
{
  struct mill_error error;
  struct mill_simulation *sim = net(mixed, NULL, 2);
  struct net_spikes spikes = {.unit = 300};
  uint64_t want[3] = {0};
  const uint64_t *got;
  ok(mill_simulation_keep_history(sim, "exc", 3, &error) == 0, "a history of three words");
  ok(mill_simulation_keep_history(sim, "exc", 3, &error) < 0 && mill_simulation_keep_history(sim, "exx", 3, &error) < 0 &&
       mill_simulation_keep_history(sim, "inh", 0, &error) < 0 && mill_simulation_keep_history(sim, "inh", 65, &error) < 0,
     "one per population, of 1 to 64 words");
  mill_simulation_listen(sim, net_collect, &spikes);
  net_advance(sim, 500);
  net_advance(sim, 313);
  for (size_t i = 0; i < spikes.count; i++) {
    int64_t age = 813 - spikes.stamp[i];
    if (age < 192)
      want[age / 64] |= UINT64_C(1) << (age % 64);
  }
  got = mill_simulation_history(sim, "exc", 0);
  ok(got && memcmp(got, want, sizeof want) == 0, "bits are the recorded spikes, newest first");
  ok(want[0] | want[1] | want[2], "and there are some");
  ok(mill_simulation_history(sim, "inh", 0) == NULL && mill_simulation_history(sim, "exc", 1111) == NULL, "none where none is kept");
  mill_simulation_free(sim);
}

static void corners(void)
{
  static const struct { const char *what, *text; } row[] = {
    {"no projection", "[population.n]\nmodel = lif-coba\nsize = 100\n"},
    {"one neuron, connected to itself",
     "[population.n]\nmodel = lif-coba\nsize = 1\n[projection.p]\nsource = n\ntarget = n\nrule = all-to-all\nautapses = yes\nreceptor = exc\nweight = 1\n"
     "delay = 0.1\n"},
    {"an empty population, connected both ways",
     "[population.n]\nmodel = lif-coba\nsize = 10\n[population.z]\nmodel = lif-coba\nsize = 0\n[projection.p]\nsource = n, z\ntarget = n, z\n"
     "rule = fixed-probability(0.5)\nreceptor = exc\nweight = 1\ndelay = 0.1\n"},
    {"p = 0",
     "[population.n]\nmodel = lif-coba\nsize = 10\n[projection.p]\nsource = n\ntarget = n\nrule = fixed-probability(0)\nreceptor = exc\nweight = 1\n"
     "delay = 0.1\n"},
    {"only an empty population", "[population.n]\nmodel = lif-coba\nsize = 0\n"},
    {"weight 0",
     "[population.n]\nmodel = lif-coba\nsize = 10\n[projection.p]\nsource = n\ntarget = n\nrule = all-to-all\nreceptor = exc\nweight = 0\ndelay = 6553\n"}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    struct mill_error error;
    struct mill_simulation *sim = net_open(row[i].text, NULL, 3, &error);
    ok(sim && mill_simulation_advance(sim, 100, &error) == 0, "%s%s%s", row[i].what, error.text[0] ? ": " : "", error.text);
    mill_simulation_free(sim);
  }
}

static void misuse(void)
{
  struct mill_error error;
  struct mill_simulation *sim = net(mixed, NULL, 1);
  struct mill_population_report population;
  ok(mill_simulation_advance(sim, -1, &error) < 0, "no step backwards: %s", error.text);
  ok(mill_simulation_advance(sim, INT64_MAX, &error) < 0, "no step past 64 bits: %s", error.text);
  ok(mill_simulation_advance(sim, 0, &error) == 0, "no step at all is fine");
  ok(mill_simulation_finish(sim, 1, &error) == 0 && mill_simulation_finish(sim, 1, &error) < 0, "finished once");
  ok(mill_simulation_advance(sim, 1, &error) < 0, "not after the end: %s", error.text);
  ok(mill_simulation_population(sim, 5, &population) < 0 && mill_simulation_population(sim, 2, &population) == 0, "five populations");
  is_str(population.name, "inh", "the third by name");
  mill_simulation_free(sim);
}

int main(void)
{
  plan_later();
  one_hash();
  chain();
  a_spike_in_every_step();
  histories();
  corners();
  misuse();
  return done_testing();
}
