/* Values of the rules that are not pair-based: short-term plasticity and the benchmark's rule, stepped plainly with the C library; and
   what holds for every rule: no pairing leaves a weight to the bit, and a weight far below the largest one arrives. */
#include "plastic.h"
#include "registry.h"
#include "replay.h"
#include "simulation.h"

/* ---- The benchmark's rule: traces lose dt/tau in a step and start at 1 ---- */

static int fires(const struct train *t, double delay, int64_t step)
{
  for (int i = 0; i < t->count; i++)
    if ((int64_t)floor((t->ms[i] + delay) / DT + 0.5) == step)
      return 1;
  return 0;
}

static double benchmark(const struct train *pre, const struct train *post, double w, double delay)
{
  const double left = 1 - DT / 20, most = 3e-4;
  double x = 1, y = 1; /* y is what arrives: the target's trace one delay ago */
  for (int64_t step = 1; step <= 4000; step++) {
    const int source = fires(pre, 0, step), target = fires(post, delay, step);
    x *= left;
    y = (double)step * DT > delay + DT / 2 ? y * left : 1;
    if (source && !target)
      w -= 0.0202 * w * exp(-y * 1000 / DT);
    if (target && !source)
      w += 0.01 * (1 - w) * exp(-x * 1000 / DT);
    w = w < 0 ? 0 : w < most ? w : most;
    x += source;
    y += target;
  }
  return w;
}

static void benchmark_rule(void)
{
  static const struct {
    const char *text;
    struct train pre, post;
  } row[] = {
      {"the target after 160 ms of the source's silence", {2, {10, 390}}, {1, {170}}},
      {"the source after 200 ms of the target's silence", {2, {10, 300}}, {1, {50}}},
      {"both, several times", {4, {10, 190, 191, 380}}, {4, {5, 20, 185, 370}}},
      {"one step: nothing", {1, {200}}, {1, {198.5}}},
      {"short intervals: nothing that shows", {4, {10, 20, 30, 40}}, {4, {12, 22, 32, 42}}},
  };
  static const char *const strategy[] = {"naive", "lazy", "event-driven"};
  double moved = 0;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const double want = benchmark(&row[i].pre, &row[i].post, 1e-4, 1.5);
    moved = fmax(moved, fabs(want - 1e-4));
    for (int s = 0; s < 3; s++)
      is_real(replay("paper-stdp", "", 1e-4, 1.5, &row[i].pre, &row[i].post, strategy[s]), want, 1e-16, "paper-stdp, %s, %s",
              strategy[s], row[i].text);
  }
  ok(moved > 1e-6, "paper-stdp: these trains move the weight, by %.3g V", moved);
}

/* ---- Short-term plasticity: what each spike delivers to a cell that keeps it ---- */

static void short_term(double u, double rec, double fac)
{
  static const double spike[] = {10, 12.5, 13, 40, 41, 42, 43, 250, 251, 390};
  enum { SPIKES = sizeof spike / sizeof *spike };
  char text[2048], file[] = "/tmp/mill-train-XXXXXX.csv";
  double worst = 0, before = 0, share = u, there = 1;
  FILE *out = fdopen(mkstemps(file, 4), "w");
  fputs("time_ms,neuron\n", out);
  for (int i = 0; i < SPIKES; i++)
    fprintf(out, "%.1f,0\n", spike[i]);
  fclose(out);
  snprintf(text, sizeof text,
           "[simulation]\nduration = 400\nprecision = double\n[population.pre]\nmodel = parrot\nsize = 1\n"
           "[population.post]\nmodel = lif-delta\nsize = 1\ntau_m = 1e6\nv_th = 1e4\n"
           "[stimulus.pre]\ntype = spike-file\ntarget = pre\nreceptor = in\nweight = 1\nfile = %s\n"
           "[projection.s]\nsource = pre\ntarget = post\nrule = all-to-all\nsynapse = stp\nweight = -3\ndelay = 1\n"
           "u = %.17g\ntau_rec = %.17g\ntau_fac = %.17g\n",
           file, u, rec, fac);
  struct mill_simulation *sim = net(text, NULL, 1);
  unlink(file);
  for (int64_t step = 1, next = 0; step < 4000; step++) {
    net_advance(sim, 1);
    const double v = net_state(sim, "post", "v"), moved = v - before * (1 - DT / 1e6);
    before = v;
    if (next == SPIKES || step != (int64_t)floor((spike[next] + 1) / DT + 0.5) + 1) { /* a parrot fires a step later */
      worst = fmax(worst, fabs(moved));
      continue;
    }
    if (next) {
      const double gap = spike[next] - spike[next - 1];
      there = 1 + (there - there * share - 1) * exp(-gap / rec);
      share = u + share * (1 - u) * exp(-gap / fac);
    }
    worst = fmax(worst, fabs(moved + 3 * share * there));
    next++;
  }
  mill_simulation_free(sim);
  ok(worst < 1e-6, "stp, u %g, tau_rec %g ms, tau_fac %g ms: %d spikes, worst error %.2g", u, rec, fac, SPIKES, worst);
}

/* ---- Every rule ---- */

static double first_weight(struct mill_simulation *sim)
{
  mill_plastic_flush(sim);
  return mill_plastic_weight(sim->projection[0].plastic, 0);
}

/* A source that never fires, a target that does all the time, in single precision, where w · (1 / w_max) · w_max is not w. */
static void no_drift(const char *rule)
{
  char text[1024];
  int kept = 0;
  enum { TRIALS = 20 };
  for (int i = 0; i < TRIALS; i++) {
    snprintf(text, sizeof text,
             "[simulation]\nduration = 100\n[population.pre]\nmodel = poisson\nsize = 1\nrate = 0\n"
             "[population.post]\nmodel = parrot\nsize = 1\n"
             "[stimulus.noise]\ntype = poisson\ntarget = post\nreceptor = in\nrate = 1e4\nweight = 1\n"
             "[projection.s]\nsource = pre\ntarget = post\nrule = all-to-all\nreceptor = none\nsynapse = %s\n"
             "w_max = %.9g\nweight = %.9g\ndelay = 1\n",
             rule, 0.5 + 0.0137 * i, 0.095 + 0.0071 * i);
    struct mill_simulation *sim = net(text, NULL, 1);
    const double before = first_weight(sim);
    net_advance(sim, 1000);
    const double after = first_weight(sim);
    kept += !(after < before) && !(after > before);
    mill_simulation_free(sim);
  }
  is_int(kept, TRIALS, "%s: a weight without pairs is kept to the bit", rule);
}

/* What arrives in a conductance per ms, of weights w with the default largest weight of 100. */
static double arriving(const char *weight, const char *accumulate)
{
  char text[1024];
  double values[10], sum = 0;
  snprintf(text, sizeof text,
           "[simulation]\nduration = 300\naccumulate = %s\n[population.in]\nmodel = poisson\nsize = 100\nrate = 20\n"
           "[population.out]\nmodel = lif-coba\nsize = 10\n"
           "[projection.s]\nsource = in\ntarget = out\nrule = all-to-all\nreceptor = exc\nsynapse = stdp\nlambda = 0\n"
           "weight = %s\ndelay = 1\n",
           accumulate, weight);
  struct mill_simulation *sim = net(text, NULL, 1);
  for (int i = 0; i < 300; i++) {
    net_advance(sim, 10);
    mill_simulation_state(sim, "out", "g_exc", values);
    for (int k = 0; k < 10; k++)
      sum += values[k];
  }
  mill_simulation_free(sim);
  return sum / 3000;
}

static void take_note(const char *line, void *self)
{
  *(int *)self |= strstr(line, "coarse") != NULL;
}

static void small_weights(void)
{
  static const char *const weight[] = {"0.1", "0.005", "0.002", "0.001"};
  struct mill_error error;
  int noted = 0;
  mill_note_set(take_note, &noted);
  for (size_t i = 0; i < sizeof weight / sizeof *weight; i++) {
    const double fine = arriving(weight[i], "int64"), got = arriving(weight[i], "int32");
    ok(fine > 0 && fabs(got / fine - 1) < 0.005, "plastic weights of %s below 100 arrive: %.5g, %.5g with int64", weight[i], got,
       fine);
  }
  mill_note_set(NULL, NULL);
  ok(noted, "it is said when they are coarse");
  ok(!net_open(
         "[simulation]\n[population.in]\nmodel = poisson\nsize = 100\n[population.out]\nmodel = lif-coba\nsize = 1\n"
         "[projection.s]\nsource = in\ntarget = out\nrule = all-to-all\nreceptor = exc\nsynapse = stdp\nweight = 1e-5\ndelay = 1\n",
         NULL, 1, &error) &&
         strstr(error.text, "too small beside the others"),
     "too small ones are refused: %s", error.text);
}

/* A rule that delivers more than it declares is refused when it does: a sum could overflow. */
static void beyond(void)
{
  static const char *const weight[] = {"0", "0.5", "1", "1.01"};
  const char *top = getenv("top_builddir");
  struct mill_error error;
  char text[1024], path[512];
  if (!realpath(top ? top : ".", path))
    bail("no build folder");
  for (int i = 0; i < 4; i++) {
    snprintf(text, sizeof text,
             "[simulation]\n[population.a]\nmodel = poisson\nsize = 3\nrate = 100\n[population.b]\nmodel = lif-delta\nsize = 1\n"
             "[projection.s]\nsource = a\ntarget = b\nrule = all-to-all\nsynapse = %s/tests/plugins/.libs/synapse-beyond.so\n"
             "weight = %s\ndelay = 1\n",
             path, weight[i]);
    struct mill_simulation *sim = net(text, NULL, 1);
    const int failed = mill_simulation_advance(sim, 500, &error) < 0;
    is_int(failed, i == 3, "a rule that delivers %s and declares 1%s%s", weight[i], failed ? ": " : "", failed ? error.text : "");
    mill_simulation_free(sim);
  }
}

int main(void)
{
  plan_later();
  benchmark_rule();
  short_term(0.5, 800, 10);
  short_term(0.1, 50, 1000);
  short_term(1, 200, 1e-3);
  no_drift("stdp");
  no_drift("stdp-nearest");
  no_drift("stdp-triplet");
  small_weights();
  beyond();
  return done_testing();
}
