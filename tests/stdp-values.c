/* Values of the plastic rules, by replaying spike trains into a synapse between two neurons that repeat them: the numbers of the design's
   table, and many random trains against the rules' formulas, stepped plainly with the C library's exponential. In double precision, under
   each plasticity strategy. */
#include "registry.h"
#include "replay.h"

static const char *const strategies[] = {"naive", "lazy", "event-driven"};
#define PAIR "lambda = 0.01\nalpha = 0.85\ntau_plus = 16.8\ntau_minus = 33.7\nw_max = 1\n"

static void table(void)
{
  static const struct {
    double dt, change;
  } pair[] = {{1, .0094221310}, {10, .0055143126}, {-1, -.0082514800}, {-10, -.0063175423}};
  static const struct train pre = {8, {1, 5, 6, 7, 9, 11, 12, 13}}, post = {7, {2, 3, 4, 8, 9, 10, 12}}, pre2 = {3, {1, 2, 9}},
                            post2 = {2, {4, 7}};
  for (int s = 0; s < 3; s++) {
    for (int i = 0; i < 4; i++) {
      struct train a = {1, {100}}, b = {1, {100 + pair[i].dt - DT}};
      is_real(replay("stdp", PAIR, 0.5, DT, &a, &b, strategies[s]) - 0.5, pair[i].change, 1e-9, "%s: a pair %+.0f ms apart", strategies[s],
              pair[i].dt);
    }
    is_real(replay("stdp", PAIR, 0.5, DT, &pre, &post, strategies[s]), .455838994466, 1e-12, "%s: a sequence, all pairs", strategies[s]);
    is_real(replay("stdp-nearest", PAIR, 0.5, DT, &pre, &post, strategies[s]), .508148715613, 1e-12, "%s: a sequence, nearest pairs",
            strategies[s]);
    is_real(replay("stdp", PAIR, 0.5, DT, &pre2, &post2, strategies[s]), .516093168736, 1e-12,
            "%s: the sequence that separates schemes, all pairs", strategies[s]);
    is_real(replay("stdp-nearest", PAIR, 0.5, DT, &pre2, &post2, strategies[s]), .508172710055, 1e-12, "%s: and nearest ones",
            strategies[s]);
  }
}

/* ---- Random trains against the formulas -------------------------------------------------------------------------------- */

/* Traces as sums over all spikes before, from their definition. */
static double all(const struct train *t, double shift, double now, double tau)
{
  double sum = 0;
  for (int i = 0; i < t->count; i++) {
    if (t->ms[i] + shift < now - DT / 2)
      sum += exp((t->ms[i] + shift - now) / tau);
  }
  return sum;
}

static double nearest(const struct train *t, double shift, double now, double tau)
{
  double z = 0;
  for (int i = 0; i < t->count; i++) {
    if (t->ms[i] + shift < now - DT / 2)
      z = exp((t->ms[i] + shift - now) / tau);
  }
  return z;
}

static int fires(const struct train *t, double shift, double now)
{
  for (int i = 0; i < t->count; i++) {
    if (fabs(t->ms[i] + shift - now) < DT / 2)
      return 1;
  }
  return 0;
}

static double pairs(const struct train *pre, const struct train *post, double w, double delay, double mu, int near_only)
{
  double (*trace)(const struct train *, double, double, double) = near_only ? nearest : all;
  for (int step = 0; step <= 4000; step++) {
    double now = step * DT;
    if (fires(post, delay, now)) {
      w += 0.01 * pow(1 - w, mu) * trace(pre, 0, now, 16.8);
      w = w < 1 ? w : 1;
    }
    if (fires(pre, 0, now)) {
      w -= 0.01 * 0.85 * pow(w, mu) * trace(post, delay, now, 33.7);
      w = w > 0 ? w : 0;
    }
  }
  return w;
}

static double triplets(const struct train *pre, const struct train *post, double w, double delay)
{
  for (int step = 0; step <= 4000; step++) {
    double now = step * DT;
    if (fires(post, delay, now)) {
      w += all(pre, 0, now, 16.8) * (0.01 + 0.02 * all(post, delay, now, 125));
      w = w < 1 ? w : 1;
    }
    if (fires(pre, 0, now)) {
      w -= all(post, delay, now, 33.7) * (0.007 + 0.003 * all(pre, 0, now, 101));
      w = w > 0 ? w : 0;
    }
  }
  return w;
}

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((state >> 33) % below);
}

static int by_time(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Up to 40 spikes in bursts within the first 380 ms, at different steps. */
static struct train random_train(void)
{
  struct train t = {0};
  int n = 1 + (int)draw(40);
  double at = 0.1 * (1 + draw(300));
  for (int i = 0; i < n && at < 350; i++) {
    t.ms[t.count++] = floor(at * 10 + 0.5) / 10;
    at += draw(4) ? 0.1 * (1 + draw(20)) : 0.1 * (1 + draw(900));
  }
  qsort(t.ms, (size_t)t.count, sizeof *t.ms, by_time);
  return t;
}

static void random_trains(void)
{
  double worst[4] = {0};
  int count = getenv("SPIKEMILL_LONG") ? 300 : 30;
  for (int i = 0; i < count; i++) {
    struct train pre = random_train(), post = random_train();
    double w = 0.1 * (1 + draw(9)), delay = 0.1 * (1 + (draw(3) ? draw(20) : draw(250))), got, want;
    const char *strategy = strategies[draw(3)];
    got = replay("stdp", PAIR, w, delay, &pre, &post, strategy);
    want = pairs(&pre, &post, w, delay, 0, 0);
    worst[0] = fmax(worst[0], fabs(got - want));
    got = replay("stdp", PAIR "mu_plus = 0.4\nmu_minus = 0.4\n", w, delay, &pre, &post, strategy);
    want = pairs(&pre, &post, w, delay, 0.4, 0);
    worst[1] = fmax(worst[1], fabs(got - want));
    got = replay("stdp-nearest", PAIR, w, delay, &pre, &post, strategy);
    want = pairs(&pre, &post, w, delay, 0, 1);
    worst[2] = fmax(worst[2], fabs(got - want));
    got = replay("stdp-triplet", "a_plus = 0.01\na_plus_triplet = 0.02\na_minus = 0.007\na_minus_triplet = 0.003\nw_max = 1\n", w, delay,
                 &pre, &post, strategy);
    want = triplets(&pre, &post, w, delay);
    worst[3] = fmax(worst[3], fabs(got - want));
  }
  ok(worst[0] < 1e-12, "stdp: %d random trains, worst error %.2g", count, worst[0]);
  ok(worst[1] < 1e-12, "stdp with soft bounds: worst error %.2g", worst[1]);
  ok(worst[2] < 1e-12, "stdp-nearest: worst error %.2g", worst[2]);
  ok(worst[3] < 1e-12, "stdp-triplet: worst error %.2g", worst[3]);
}

static void special_cases(void)
{
  static const struct train none = {0}, one = {1, {50}}, two = {2, {50, 60}}, before = {1, {20}};
  is_real(replay("stdp", PAIR, 0.5, DT, &one, &(struct train){1, {50 - DT}}, "lazy"), 0.5, 0, "coincident spikes change nothing");
  is_real(replay("stdp", PAIR, 0.5, DT, &one, &none, "lazy"), 0.5, 0, "a silent target");
  is_real(replay("stdp", PAIR, 0.5, DT, &none, &two, "event-driven"), 0.5, 0, "a silent source");
  is_real(replay("stdp", PAIR, 0.5, DT, &one, &before, "event-driven"), 0.5 - 0.01 * 0.85 * exp(-(30 - DT) / 33.7), 1e-15,
          "the target before the source's first spike");
  is_real(replay("stdp", PAIR, 0.5, 25, &two, &one, "event-driven"), 0.5 + 0.01 * (exp(-25 / 16.8) + exp(-15 / 16.8)), 1e-15,
          "a delay longer than the intervals");
}

static void take_note(const char *line, void *self)
{
  *(int *)self |= strstr(line, "clipped") != NULL;
}

/* What a user of the library may do beside: draw initial weights that are clipped, and keep histories of the targets. */
static void beside(void)
{
  static const char text[] = "[simulation]\nduration = 100\n[population.a]\nmodel = poisson\nsize = 50\nrate = 100\n"
                             "[population.b]\nmodel = lif-delta\nsize = 50\n"
                             "[projection.p]\nsource = a\ntarget = b\nrule = all-to-all\nsynapse = stdp\nw_max = 4\ndelay = 1\n"
                             "weight = normal-clipped(2, 2, 0, 4)\n";
  struct mill_error error;
  int noted = 0;
  uint64_t plain;
  mill_note_set(take_note, &noted);
  struct mill_simulation *sim = net(text, NULL, 1);
  mill_note_set(NULL, NULL);
  ok(noted, "clipped initial weights are told");
  net_advance(sim, 1000);
  plain = mill_simulation_weight_hash(sim);
  mill_simulation_free(sim);
  for (uint32_t words = 1; words <= 16; words *= 16) {
    sim = net(text, NULL, 1);
    net_advance(sim, 300);
    ok(!mill_simulation_keep_history(sim, "b", words, &error), "a history of %u words may be kept of targets", words);
    ok(mill_simulation_keep_history(sim, "b", words, &error) < 0, "once");
    net_advance(sim, 700);
    ok(mill_simulation_weight_hash(sim) == plain, "and changes no weight");
    mill_simulation_free(sim);
  }
  sim = net_open("[simulation]\nduration = 1\n[population.a]\nmodel = poisson\nsize = 5\n[population.b]\nmodel = lif-delta\nsize = 5\n"
                 "[projection.p]\nsource = a\ntarget = b\nrule = all-to-all\nsynapse = stdp\nw_max = 4\nweight = 4.5\ndelay = 1\n",
                 NULL, 1, &error);
  ok(!sim && strstr(error.text, ":15: ") && strstr(error.text, "4.5") && strstr(error.text, "0 … 4"), "a weight above w_max: %s", error.text);
}

int main(void)
{
  plan_later();
  beside();
  table();
  special_cases();
  random_trains();
  return done_testing();
}
