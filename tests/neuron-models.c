/* Models against closed forms and against loops written from their equations: jumps and refractoriness of iaf-psc-delta, the
   Runge-Kutta steps of iaf-cond-exp, both schemes of izhikevich and its neurons that differ, what a parrot repeats. */
#include <math.h>

#include "net.h"

#define STEPS 2000
#define SPIKE "[stimulus.s]\ntype = spike-file\nfile = %s\ntarget = n\n"

/* A file in /tmp, gone when the test ends. */
static const char *file_of(const char *text)
{
  static char path[64][32];
  static int files;
  int fd;
  FILE *out;
  if (!text) {
    while (files)
      unlink(path[--files]);
    return NULL;
  }
  if (files == 64)
    bail("too many files");
  strcpy(path[files], "/tmp/mill-models-XXXXXX.csv");
  fd = mkstemps(path[files], 4);
  out = fd < 0 ? NULL : fdopen(fd, "w");
  if (!out)
    bail("cannot write to /tmp");
  fputs(text, out);
  fclose(out);
  return path[files++];
}

/* A spike file of `count` times of neuron 0, in tenths of a millisecond. */
static const char *spikes_at(const int *tenths, int count)
{
  char text[8192] = "time_ms,neuron\n";
  for (int i = 0; i < count; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%d.%d,0\n", tenths[i] / 10, tenths[i] % 10);
  return file_of(text);
}

/* Opens a network of a format and one word. */
static struct mill_simulation *open_with(const char *format, const char *word, const char *const *overrides)
{
  char text[4096];
  snprintf(text, sizeof text, format, word);
  return net(text, overrides, 1);
}

static void refused(const char *format, const char *word, const char *const *overrides, const char *part, const char *what)
{
  struct mill_error error;
  char text[4096];
  struct mill_simulation *sim;
  snprintf(text, sizeof text, format, word);
  sim = net_open(text, overrides, 1, &error);
  ok(!sim && error.status == MILL_USAGE && strstr(error.text, part), "%s is refused: %s", what, error.text);
  mill_simulation_free(sim);
}

/* ---- iaf-psc-delta ----------------------------------------------------------------------------------------------------- */

#define DELTA                                                                                                                    \
  "[simulation]\nprecision = double\n[population.n]\nmodel = iaf-psc-delta\nsize = 1\ntau_m = 20\ne_l = 0\nv_th = 20\nv_reset = 10\n" SPIKE  \
  "weight = 20\n[record]\nspikes = none\n"

static void delta_jumps(void)
{
  static const int times[] = {10, 10, 15};
  static const struct { const char *precision; double tolerance; } row[] = {{"simulation.precision=double", 1e-13}, {"simulation.precision=single", 2e-6}};
  const char *file = spikes_at(times, 3);
  for (int i = 0; i < 2; i++) {
    const char *overrides[] = {row[i].precision, "stimulus.s.weight=3.5", NULL};
    struct mill_simulation *sim = open_with(DELTA, file, overrides);
    net_advance(sim, 10);
    is_real(net_state(sim, "n", "v"), 0, 0, "%s: nothing before the spikes", row[i].precision + 21);
    net_advance(sim, 1);
    is_real(net_state(sim, "n", "v"), 7, 0, "both spikes of 1.0 ms jump at once");
    net_advance(sim, 4);
    is_real(net_state(sim, "n", "v"), 7 * exp(-0.4 / 20), row[i].tolerance, "and decay exactly");
    net_advance(sim, 1);
    is_real(net_state(sim, "n", "v"), 7 * exp(-0.5 / 20) + 3.5, row[i].tolerance, "the jump comes after the decay of its step");
    mill_simulation_free(sim);
  }
}

static void delta_threshold(void)
{
  static const int at[] = {10};
  static const struct { const char *weight; int fires; } row[] = {{"stimulus.s.weight=20", 1}, {"stimulus.s.weight=19.999999", 0}, {"stimulus.s.weight=-20", 0}};
  for (int i = 0; i < 3; i++) {
    const char *overrides[] = {row[i].weight, NULL};
    struct mill_simulation *sim = open_with(DELTA, spikes_at(at, 1), overrides);
    struct net_spikes spikes = {0};
    mill_simulation_listen(sim, net_collect, &spikes);
    net_advance(sim, 20);
    is_int((intmax_t)spikes.count, row[i].fires, "threshold 20 mV, %s: %d spikes", row[i].weight + 11, row[i].fires);
    mill_simulation_free(sim);
  }
}

/* A spike at step 10 makes the neuron skip the 20 steps from 11 on. */
static void delta_refractory(void)
{
  static const struct { int times[4], count; const char *what; } row[] = {
    {{10}, 1, "nothing else"}, {{10, 11, 20, 30}, 4, "input in the first, a middle and the last of them"}, {{10, 31}, 2, "input in the first after them"}};
  for (int i = 0; i < 3; i++) {
    struct mill_simulation *sim = open_with(DELTA, spikes_at(row[i].times, row[i].count), NULL);
    struct net_spikes spikes = {0};
    mill_simulation_listen(sim, net_collect, &spikes);
    net_advance(sim, 31);
    is_real(net_state(sim, "n", "v"), 10, 0, "the potential stays at the reset, with %s", row[i].what);
    net_advance(sim, 1);
    ok(spikes.count == (i == 2 ? 2u : 1u) && spikes.stamp[0] == 11 && (i < 2 || spikes.stamp[1] == 32), "refractory for 20 steps, with %s: %d spikes in all",
       row[i].what, (int)spikes.count);
    if (i < 2)
      is_real(net_state(sim, "n", "v"), 10 * exp(-0.1 / 20), 1e-13, "then it decays, with %s", row[i].what);
    mill_simulation_free(sim);
  }
}

/* ---- iaf-cond-exp ------------------------------------------------------------------------------------------------------ */

#define COND                                                                                                                     \
  "[simulation]\nprecision = double\n[population.n]\nmodel = iaf-cond-exp\nsize = 1\nc_m = 200\ng_l = 10\ne_l = -60\ne_inh = -80\n"  \
  "v_th = -50\nv_reset = -62\ntau_syn_exc = 5\ntau_syn_inh = 10\nt_ref = 3\ng_exc = 20\ng_inh = 35\ni_e = 20\n" SPIKE                  \
  "receptor = exc\nweight = 6\n[stimulus.dc]\ntype = dc\ntarget = n\namplitude = 50\nstart = 40\nstop = 90\n[record]\nspikes = none\n"

static void cond_slopes(const double *x, double i, int awake, double *dx)
{
  dx[0] = awake ? (10 * (-60 - x[0]) + x[1] * (0 - x[0]) + x[2] * (-80 - x[0]) + i) / 200 : 0;
  dx[1] = -x[1] / 5;
  dx[2] = -x[2] / 10;
}

static void cond_step(double *x, double h, double i, int awake)
{
  double k[4][3], y[3];
  static const double at[] = {0, 0.5, 0.5, 1};
  for (int n = 0; n < 4; n++) {
    for (int c = 0; c < 3; c++)
      y[c] = n ? x[c] + h * at[n] * k[n - 1][c] : x[c];
    cond_slopes(y, i, awake, k[n]);
  }
  for (int c = 0; c < 3; c++)
    x[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
}

static void cond_runge_kutta(void)
{
  int times[100], wait = 0, spikes = 0, next = 0;
  double x[3] = {-60, 20, 35}, furthest = 0, furthest_g = 0;
  struct mill_simulation *sim;
  struct net_spikes got = {0};
  int64_t stamp[64];
  for (int i = 0; i < 100; i++)
    times[i] = 100 + i * i / 6; /* ever rarer, some in one step */
  sim = open_with(COND, spikes_at(times, 100), NULL);
  mill_simulation_listen(sim, net_collect, &got);
  for (int k = 0; k < STEPS; k++) {
    cond_step(x, 0.1, 20 + (k >= 400 && k < 900 ? 50 : 0), wait == 0);
    for (; next < 100 && times[next] == k; next++)
      x[1] += 6;
    if (wait > 0)
      wait--;
    else if (x[0] >= -50) {
      x[0] = -62;
      wait = 30;
      stamp[spikes++] = k + 1;
    }
    net_advance(sim, 1);
    furthest = fmax(furthest, fabs(net_state(sim, "n", "v") - x[0]));
    furthest_g = fmax(furthest_g, fabs(net_state(sim, "n", "g_exc") - x[1]) + fabs(net_state(sim, "n", "g_inh") - x[2]));
  }
  ok(spikes > 3 && spikes < 64 && got.count == (size_t)spikes && memcmp(got.stamp, stamp, (size_t)spikes * sizeof *stamp) == 0,
     "iaf-cond-exp: %d spikes, those of a Runge-Kutta loop", spikes);
  ok(furthest < 1e-10 && furthest_g < 1e-10, "over 200 ms potentials within %.1e mV, conductances within %.1e nS", furthest, furthest_g);
  mill_simulation_free(sim);
}

/* Halving the step divides the error by 16. */
static void cond_order(void)
{
  static const char *const dt[] = {"simulation.dt=0.8", "simulation.dt=0.4", "simulation.dt=0.2", "simulation.dt=0.0125"};
  static const int steps[] = {10, 20, 40, 640};
  double v[4];
  for (int i = 0; i < 4; i++) {
    static const int late[] = {500};
    const char *overrides[] = {dt[i], "simulation.off_grid=allow", "population.n.v_th=0", "population.n.t_ref=0",
                               "stimulus.dc.start=0", "stimulus.dc.stop=-1", NULL};
    struct mill_simulation *sim = open_with(COND, spikes_at(late, 1), overrides);
    net_advance(sim, steps[i]);
    v[i] = net_state(sim, "n", "v");
    mill_simulation_free(sim);
  }
  ok((v[0] - v[3]) / (v[1] - v[3]) > 13 && (v[0] - v[3]) / (v[1] - v[3]) < 20 && (v[1] - v[3]) / (v[2] - v[3]) > 14 && (v[1] - v[3]) / (v[2] - v[3]) < 18,
     "iaf-cond-exp is of fourth order: errors %.2e %.2e %.2e mV at 0.8, 0.4, 0.2 ms", v[0] - v[3], v[1] - v[3], v[2] - v[3]);
}

static void cond_limits(void)
{
  static const struct { const char *set, *part; } row[] = {{"population.n.tau_syn_exc=0.035", "tau_syn_exc"},
                                                           {"population.n.tau_syn_inh=0.035", "tau_syn_inh"},
                                                           {"population.n.g_l=6000", "g_l"},
                                                           {"population.n.v_reset=-50", "v_reset"},
                                                           {"population.n.t_ref=0.25", "t_ref"}};
  static const int at[] = {10};
  const char *file = spikes_at(at, 1);
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const char *overrides[] = {row[i].set, NULL};
    refused(COND, file, overrides, row[i].part, row[i].set);
  }
}

/* ---- izhikevich -------------------------------------------------------------------------------------------------------- */

#define IZHIKEVICH                                                                                                               \
  "[simulation]\nprecision = double\ndt = 1\n[population.n]\nmodel = izhikevich\nsize = 1\ni_e = 4\n" SPIKE                          \
  "weight = 7\n[stimulus.dc]\ntype = dc\ntarget = n\namplitude = 6\nstart = 100\n[record]\nspikes = none\n"

/* The published program for one neuron, and forward Euler. */
static void izhikevich_schemes(void)
{
  static const struct { const char *scheme, *dt; double h; int euler; } row[] = {
    {"population.n.scheme=published", "simulation.dt=1", 1, 0},
    {"population.n.scheme=published", "simulation.dt=0.5", 0.5, 0},
    {"population.n.scheme=euler", "simulation.dt=0.25", 0.25, 1}};
  static const int times[] = {50, 50, 50, 120, 300, 310};
  for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
    const char *overrides[] = {row[r].scheme, row[r].dt, NULL};
    struct mill_simulation *sim = open_with(IZHIKEVICH, spikes_at(times, 6), overrides);
    struct net_spikes got = {0};
    int64_t stamp[1000];
    double h = row[r].h, v = -65, u = 0.2 * v;
    int spikes = 0, next = 0, same = 1;
    mill_simulation_listen(sim, net_collect, &got);
    for (int k = 0; k < STEPS; k++) {
      double input = 4 + (k * h >= 100 ? 6 : 0), old = v;
      int arrived = 0;
      for (; next < 6 && times[next] * 0.1 <= k * h; next++)
        arrived++;
      input += arrived * 7 * (1 / h);
      if (row[r].euler) {
        v = v + h * (0.04 * (v * v) + 5 * v + 140 - u + input);
        u = u + h * (0.02 * (0.2 * old - u));
      } else {
        v = v + 0.5 * h * (0.04 * (v * v) + 5 * v + 140 - u + input);
        v = v + 0.5 * h * (0.04 * (v * v) + 5 * v + 140 - u + input);
        u = u + h * (0.02 * (0.2 * v - u));
      }
      if (v >= 30) {
        v = -65;
        u = u + 8;
        stamp[spikes++] = k + 1;
      }
      net_advance(sim, 1);
      same &= net_state(sim, "n", "v") == v && net_state(sim, "n", "u") == u;
    }
    ok(same, "izhikevich, %s, %s: v and u of %d steps, bit for bit", row[r].scheme + 20, row[r].dt + 11, STEPS);
    ok(spikes > 5 && got.count == (size_t)spikes && memcmp(got.stamp, stamp, (size_t)spikes * sizeof *stamp) == 0, "and its %d spikes", spikes);
    mill_simulation_free(sim);
  }
}

static void izhikevich_start(void)
{
  static const int late[] = {5000};
  const char *file = spikes_at(late, 1);
  const char *v[] = {"population.n.v=-70", "population.n.a=0", NULL}, *u[] = {"population.n.v=-70", "population.n.a=0", "population.n.u=3", NULL};
  struct mill_simulation *sim = open_with(IZHIKEVICH, file, v);
  net_advance(sim, 1);
  is_real(net_state(sim, "n", "u"), 0.2 * -70, 0, "u starts at b v");
  mill_simulation_free(sim);
  sim = open_with(IZHIKEVICH, file, u);
  net_advance(sim, 1);
  is_real(net_state(sim, "n", "u"), 3, 0, "or where it was given");
  mill_simulation_free(sim);
  {
    static const struct { const char *input; int fires; } row[] = {{"population.n.i_e=30", 1}, {"population.n.i_e=29.999", 0}};
    for (int i = 0; i < 2; i++) { /* v = 0, u = 140: the slope is i_e */
      const char *overrides[] = {row[i].input, "population.n.v=0", "population.n.u=140", "population.n.a=0", "population.n.scheme=euler", NULL};
      struct net_spikes got = {0};
      sim = open_with(IZHIKEVICH, file, overrides);
      mill_simulation_listen(sim, net_collect, &got);
      net_advance(sim, 1);
      is_int((intmax_t)got.count, row[i].fires, "a potential of %s mV, threshold 30: %d spikes", row[i].input + 17, row[i].fires);
      mill_simulation_free(sim);
    }
  }
}

/* r between 0 and 1: each neuron has its own a, b, c and d. Neuron i is compared with one that has them as its parameters. */
static void izhikevich_kinds(void)
{
  static const double r[] = {0, 0.25, 0.5, 1};
  static const int late[] = {9000};
  char text[512], places[64] = "";
  const char *file = spikes_at(late, 1);
  const char *set[] = {text, "population.n.size=4", "population.n.a_span=0.08", "population.n.b_span=-0.05", "population.n.c_span=15", "population.n.d_span=-6",
                       "population.n.i_e=9", NULL};
  struct mill_simulation *sim;
  struct net_spikes all[4] = {{.unit = 0}};
  double v[4], u[4];
  for (int i = 0; i < 4; i++)
    snprintf(places + strlen(places), sizeof places - strlen(places), "%g\n", r[i]);
  snprintf(text, sizeof text, "population.n.r=%s", file_of(places));
  for (int i = 0; i < 4; i++) {
    struct net_spikes one = {0};
    char a[64], b[64], c[64], d[64];
    const char *own[] = {a, b, c, d, "population.n.i_e=9", NULL};
    double alone;
    snprintf(a, sizeof a, "population.n.a=%.17g", 0.02 + 0.08 * r[i]);
    snprintf(b, sizeof b, "population.n.b=%.17g", 0.2 + -0.05 * r[i]);
    snprintf(c, sizeof c, "population.n.c=%.17g", -65 + 15 * (r[i] * r[i]));
    snprintf(d, sizeof d, "population.n.d=%.17g", 8 + -6 * (r[i] * r[i]));
    sim = open_with(IZHIKEVICH, file, own);
    mill_simulation_listen(sim, net_collect, &one);
    net_advance(sim, 800);
    alone = net_state(sim, "n", "v");
    mill_simulation_free(sim);
    all[i].unit = (uint32_t)i;
    all[i].count = 0;
    sim = open_with(IZHIKEVICH, file, set);
    mill_simulation_listen(sim, net_collect, &all[i]);
    net_advance(sim, 800);
    if (mill_simulation_state(sim, "n", "v", v) < 0 || mill_simulation_state(sim, "n", "u", u) < 0)
      bail("no state");
    mill_simulation_free(sim);
    ok(one.count > 5 && one.count == all[i].count && memcmp(one.stamp, all[i].stamp, one.count * sizeof *one.stamp) == 0 && v[i] == alone,
       "r = %g: %d spikes, those of a neuron with a, b, c and d of its own", r[i], (int)one.count);
  }
  ok(all[0].count != all[3].count && all[1].count != all[3].count, "and the kinds differ");
}

/* Euler with a = 0 and u = 0 tells the noise: it is (v' - v) / dt less the rest of the slope. */
static void izhikevich_noise(void)
{
  static const char *const dt[] = {"simulation.dt=1", "simulation.dt=0.25"};
  static const double step[] = {1, 0.25};
  static const int late[] = {5000};
  static double v[3][4000], again[4000];
  for (int i = 0; i < 2; i++) {
    const char *overrides[] = {dt[i], "population.n.size=4000", "population.n.noise=5", "population.n.a=0", "population.n.u=0", "population.n.v=-80",
                               "population.n.scheme=euler", "population.n.i_e=0", NULL};
    double sum = 0, square = 0, product = 0, neighbour = 0, before = 0, want = 5 / sqrt(step[i]);
    struct mill_simulation *sim = open_with(IZHIKEVICH, spikes_at(late, 1), overrides);
    for (int k = 0; k < 3; k++) {
      mill_simulation_state(sim, "n", "v", v[k]);
      net_advance(sim, 1);
    }
    mill_simulation_free(sim);
    sim = open_with(IZHIKEVICH, spikes_at(late, 1), overrides);
    net_advance(sim, 2);
    mill_simulation_state(sim, "n", "v", again);
    mill_simulation_free(sim);
    for (int n = 0; n < 4000; n++) {
      double x[2];
      for (int k = 0; k < 2; k++)
        x[k] = (v[k + 1][n] - v[k][n]) / step[i] - (0.04 * v[k][n] * v[k][n] + 5 * v[k][n] + 140);
      sum += x[0] + x[1];
      square += x[0] * x[0] + x[1] * x[1];
      product += x[0] * x[1];
      neighbour += x[0] * before;
      before = x[0];
    }
    ok(fabs(sum / 8000) < 4 * want / sqrt(8000) && fabs(sqrt(square / 8000) / want - 1) < 4 / sqrt(2 * 8000),
       "noise of 5, %s: mean %.3f, deviation %.3f (%.3f)", dt[i] + 11, sum / 8000, sqrt(square / 8000), want);
    ok(fabs(product / 4000) < 4 * want * want / sqrt(4000) && fabs(neighbour / 4000) < 4 * want * want / sqrt(4000),
       "independent from step to step (%.3f) and neuron to neuron (%.3f)", product / 4000 / want / want, neighbour / 4000 / want / want);
    ok(memcmp(again, v[2], sizeof again) == 0, "the same in a second run");
  }
}

static void izhikevich_limits(void)
{
  static const int late[] = {5000};
  const char *file = spikes_at(late, 1);
  refused(IZHIKEVICH, file, (const char *const[]){"simulation.dt=2", NULL}, "at most 1 ms", "a step of 2 ms");
  refused(IZHIKEVICH, file, (const char *const[]){"population.n.scheme=eular", NULL}, "euler", "an unknown scheme");
  refused(IZHIKEVICH, file, (const char *const[]){"population.n.noise=-1", NULL}, "noise", "a negative deviation");
}

/* ---- parrot ------------------------------------------------------------------------------------------------------------ */

#define PARROT                                                                                                                   \
  "[simulation]\nprecision = %s\n[population.n]\nmodel = parrot\nsize = 2\n[stimulus.s]\ntype = spike-file\nfile = %s\ntarget = n\n"  \
  "receptor = in\nweight = 1\ndelay = 1.5\n[stimulus.t]\ntype = spike-file\nfile = %s\ntarget = n\nreceptor = none\nweight = -3.25\n"    \
  "[population.m]\nmodel = parrot\nsize = 1\n[projection.p]\nsource = n\ntarget = m\nrule = all-to-all\nreceptor = in\nweight = 1\n"   \
  "delay = 0.7\n[record]\nspikes = none\n"

static void parrot_repeats(void)
{
  static const char *const precision[] = {"single", "double"};
  const char *spikes = file_of("time_ms,neuron\n1.0,0\n1.0,0\n1.0,0\n1.0,1\n1.1,0\n2.0,1\n");
  const char *others = file_of("time_ms,neuron\n3.0,0\n3.0,1\n3.0,1\n");
  for (int i = 0; i < 2; i++) {
    struct net_spikes first = {0}, second = {.unit = 1}, third = {.unit = 2}, *which[] = {&first, &second, &third};
    double heard[2], third_heard = 0;
    char text[4096];
    snprintf(text, sizeof text, PARROT, precision[i], spikes, others);
    for (int n = 0; n < 3; n++) { /* a simulation has one listener */
      struct mill_simulation *sim = net(text, NULL, 2);
      mill_simulation_listen(sim, net_collect, which[n]);
      net_advance(sim, 25);
      mill_simulation_state(sim, "n", "heard", heard);
      net_advance(sim, 7);
      mill_simulation_state(sim, "m", "heard", &third_heard);
      net_advance(sim, 28);
      mill_simulation_free(sim);
    }
    ok(first.count == 2 && first.stamp[0] == 25 && first.stamp[1] == 26, "%s: one spike for three in a step, 1.5 ms later, and one for the next",
       precision[i]);
    ok(second.count == 2 && second.stamp[0] == 25 && second.stamp[1] == 35, "the other neuron repeats its own, and none of the ignored receptor");
    ok(heard[0] == 3 && heard[1] == 1 && third_heard == 2, "heard %g, %g and %g spikes", heard[0], heard[1], third_heard);
    ok(third.count == 3 && third.stamp[0] == 32 && third.stamp[1] == 33 && third.stamp[2] == 42, "a parrot of parrots, 0.7 ms after them");
  }
}

/* 3000 spikes at once. */
static void parrot_crowd(void)
{
  static const char text[] = "[population.a]\nmodel = iaf-psc-exp\nsize = 3000\nt_ref = 0\ni_e = 1e7\n[population.n]\nmodel = parrot\nsize = 1\n"
                             "[projection.p]\nsource = a\ntarget = n\nrule = all-to-all\nreceptor = in\nweight = 1\ndelay = 0.1\n"
                             "[projection.q]\nsource = a\ntarget = n\nrule = all-to-all\nreceptor = none\nweight = normal(0, 2)\ndelay = 0.1\n"
                             "[record]\nspikes = none\n";
  struct mill_simulation *sim = net(text, NULL, 1);
  struct net_spikes got = {.unit = 3000};
  mill_simulation_listen(sim, net_collect, &got);
  net_advance(sim, 11);
  ok(got.count == 10 && got.stamp[0] == 2 && net_state(sim, "n", "heard") == 3000, "3000 spikes in every step: one of the parrot in each");
  mill_simulation_free(sim);
}

static void parrot_weights(void)
{
  static const char format[] = "[population.a]\nmodel = poisson\nsize = 3\nrate = 10\n[population.n]\nmodel = parrot\nsize = 3\n[projection.p]\nsource = a\n"
                               "target = n\nreceptor = in\ndelay = 1\n%s\n[record]\nspikes = none\n";
  static const char *const bad[] = {"weight = 2\nrule = all-to-all", "weight = -1\nrule = all-to-all", "weight = 0\nrule = all-to-all",
                                    "weight = uniform(1, 2)\nrule = all-to-all", "weight = normal(1, 0.1)\nrule = all-to-all"};
  char text[256];
  struct mill_error error;
  struct mill_simulation *sim;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    refused(format, bad[i], NULL, "counts spikes", bad[i]);
  snprintf(text, sizeof text, "rule = file(%s)", file_of("source,target,weight\n0,1,1\n1,1,1\n2,2,0.5\n"));
  refused(format, text, NULL, ":4: ", "an edge of another weight");
  snprintf(text, sizeof text, "rule = file(%s)", file_of("source,target,weight\n0,1,1\n1,1,1\n"));
  {
    char whole[1024];
    snprintf(whole, sizeof whole, format, text);
    sim = net_open(whole, NULL, 1, &error);
    ok(!!sim, "edges of weight 1 are taken%s", sim ? "" : error.text);
    mill_simulation_free(sim);
  }
  refused("[population.n]\nmodel = parrot\nsize = 3\n[stimulus.s]\ntype = poisson\ntarget = n\nreceptor = in\nrate = 10\nweight = %s\n", "0.5", NULL,
          "counts spikes", "a stimulus of weight 0.5");
  refused("[population.n]\nmodel = parrot\nsize = 3\n[stimulus.s]\ntype = dc\ntarget = n\namplitude = %s\n", "1", NULL, "no current", "a current");
}

/* ---- All of them ------------------------------------------------------------------------------------------------------- */

/* At rest at the threshold: the threshold is reached, not passed. */
static void at_threshold(void)
{
  static const char *const models[] = {"iaf-psc-exp", "iaf-psc-alpha", "iaf-psc-delta", "iaf-cond-exp"};
  for (int i = 0; i < 8; i++) {
    const char *overrides[] = {i & 1 ? "population.n.v_th=-49.99999" : "population.n.v_th=-50", NULL};
    struct mill_simulation *sim = open_with("[population.n]\nmodel = %s\nsize = 1\ne_l = -50\nv_reset = -80\n[record]\nspikes = none\n", models[i / 2], overrides);
    struct net_spikes got = {0};
    mill_simulation_listen(sim, net_collect, &got);
    net_advance(sim, 10);
    ok(i & 1 ? got.count == 0 : got.count == 1 && got.stamp[0] == 1, "%s at -50 mV, %s: %d spikes", models[i / 2], overrides[0] + 13, (int)got.count);
    mill_simulation_free(sim);
  }
}

static void precisions(void)
{
  static const struct { const char *model, *set; double tolerance; } row[] = {{"iaf-psc-delta", "population.n.i_e=370", 2e-5},
                                                                              {"iaf-cond-exp", "population.n.i_e=240", 2e-5},
                                                                              {"izhikevich", "population.n.i_e=2", 1e-4}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    double v[2];
    for (int p = 0; p < 2; p++) {
      const char *overrides[] = {row[i].set, p ? "simulation.precision=double" : "simulation.precision=single", NULL};
      struct mill_simulation *sim = open_with("[population.n]\nmodel = %s\nsize = 1\n[record]\nspikes = none\n", row[i].model, overrides);
      net_advance(sim, 300);
      v[p] = net_state(sim, "n", "v");
      mill_simulation_free(sim);
    }
    ok(fabs(v[0] - v[1]) < row[i].tolerance && fabs(v[0] - v[1]) > 0, "%s: single and double precision differ by %.1e mV after 300 steps", row[i].model,
       fabs(v[0] - v[1]));
  }
}

int main(void)
{
  plan_later();
  delta_jumps();
  delta_threshold();
  delta_refractory();
  cond_runge_kutta();
  cond_order();
  cond_limits();
  izhikevich_schemes();
  izhikevich_start();
  izhikevich_kinds();
  izhikevich_noise();
  izhikevich_limits();
  parrot_repeats();
  parrot_crowd();
  parrot_weights();
  at_threshold();
  precisions();
  file_of(NULL);
  return done_testing();
}
