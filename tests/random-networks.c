/* Random small networks: one hash of spikes and one of weights for every delivery, plasticity, number of threads, length of the histories,
   for runs that are cut, and for runs that go on from a checkpoint, also under another strategy. Rules, delays from 1 to 100 steps, weights
   of every kind, autapses, multapses, sources that are silent for longer than a history, neurons that fire in every step. */
#include "net.h"

#include <spikemill/device.h>
#include "random.h"

#define STEPS 700
#define LONG_STEPS 1600 /* with paper-stdp, which acts after silences of 138 ms */
#if defined(__SANITIZE_ADDRESS__)
#define USUAL 4
#else
#define USUAL 20
#endif

enum { POPULATIONS = 4 };

static void population(struct text *t, int index)
{
  put(t, "[population.p%d]\nsize = %u\n", index, 1 + draw(draw(4) ? 40 : 150));
  switch (index == 0 ? 0 : 1 + draw(4)) {
  case 0:
    put(t, "model = poisson\nrate = %s\n", pick((const char *const[]){"0.5", "5", "60", "400", NULL}));
    break;
  case 1: /* fires in every step */
    put(t, "model = lif-delta\nt_ref = 0.1\nv = 25\nv_th = 20\nv_reset = 20\n");
    break;
  default:
    put(t, "model = lif-delta\nv = uniform(0, 22)\nt_ref = %s\n", pick((const char *const[]){"2", "0.5", "0.1", NULL}));
  }
}

static void weights(struct text *t, const char *rule)
{
  if (strcmp(rule, "paper-stdp") == 0)
    put(t, "weight = uniform(0, 3e-4)\nscale = 2e4\n");
  else if (strcmp(rule, "static") == 0 || strcmp(rule, "stp") == 0)
    put(t, "weight = %s\n",
        pick((const char *const[]){"2", "-1.5", "normal(1, 0.7)", "uniform(-1, 3)", "lognormal(0, 0.5)", NULL}));
  else
    put(t, "weight = %s\nw_max = 6\n", pick((const char *const[]){"3", "uniform(0, 6)", "normal-clipped(3, 2, 0, 6)", NULL}));
}

static void projection(struct text *t, int index)
{
  static const char *const rules[] = {"stdp", "stdp-nearest", "stdp-triplet",   "paper-stdp",
                                      "stp",  "static",       "no-closed-form", NULL};
  static const char *const connect[] = {"fixed-probability(0.3)", "all-to-all", NULL};
  static const char *const delays[] = {"0.1", "0.3", "1.5", "uniform(0.1, 10)", "uniform(0.1, 1)", "uniform(3, 10)", "10", NULL};
  const char *rule = index == 0 ? "stdp" : pick(rules);
  const uint32_t multapses = draw(3) == 0;
  put(t, "[projection.c%d]\nsource = p%u\ntarget = p%u\n", index, draw(POPULATIONS), 1 + draw(POPULATIONS - 1));
  put(t, "rule = %s\nmultapses = %s\nautapses = %s\n", multapses ? "fixed-total(200)" : pick(connect), multapses ? "yes" : "no",
      multapses || draw(2) ? "yes" : "no");
  put(t, "synapse = %s\ndelay = %s\n", rule, pick(delays));
  weights(t, rule);
  if (strncmp(rule, "stdp", 4) == 0 && strcmp(rule, "stdp-triplet") != 0)
    put(t, "lambda = 0.05\nmu_plus = %s\nmu_minus = %s\ntau_plus = %s\n", pick((const char *const[]){"0", "1", "0.4", NULL}),
        pick((const char *const[]){"0", "1", "0.4", NULL}), pick((const char *const[]){"1", "17", "200", NULL}));
}

static void make(struct text *t, uint32_t seed)
{
  random_seed(seed);
  t->used = 0;
  put(t, "[simulation]\nduration = 160\nseed = %u\nprecision = %s\naccumulate = %s\nt0 = %s\n", seed, draw(2) ? "single" : "double",
      draw(2) ? "int32" : "int64", pick((const char *const[]){"0", "0", "16777211", "2147483643", NULL}));
  for (int i = 0; i < POPULATIONS; i++)
    population(t, i);
  for (uint32_t i = 0, n = 3 + draw(3); i < n; i++)
    projection(t, (int)i);
}

struct hashes {
  uint64_t spikes, weights, count;
};

static struct hashes hashes_of(struct mill_simulation *sim)
{
  struct mill_simulation_report report;
  struct hashes h;
  mill_simulation_report(sim, &report);
  h.spikes = report.spike_hash;
  h.count = report.spikes;
  h.weights = mill_simulation_weight_hash(sim);
  return h;
}

struct variant {
  char delivery[64], plasticity[64], words[64];
  const char *overrides[6];
  uint32_t threads;
};

static void vary(struct variant *v)
{
  static const char *const deliveries[] = {"row-wise", "cache-aware", "shared-memory", NULL};
  static const char *const plasticities[] = {"naive", "lazy", "event-driven", NULL};
  static const char *const words[] = {"1", "2", "8", NULL};
  const char *delivery = pick(deliveries);
  snprintf(v->delivery, sizeof v->delivery, "strategy.delivery=%s", delivery);
  snprintf(v->plasticity, sizeof v->plasticity, "strategy.plasticity=%s", pick(plasticities));
  snprintf(v->words, sizeof v->words, "strategy.history_words=%s", pick(words));
  v->overrides[0] = v->delivery;
  v->overrides[1] = v->plasticity;
  v->overrides[2] = v->words;
  v->overrides[3] = strcmp(delivery, "cache-aware") == 0     ? "strategy.slice_width=64"
                    : strcmp(delivery, "shared-memory") == 0 ? "strategy.chunk=64"
                                                             : NULL;
  v->overrides[4] = NULL;
  v->threads = 1 + draw(3);
}

/* The network under a variant: whole; cut, with the weights asked for in between; or through a checkpoint into another variant. */
static struct hashes run(const char *text, const struct variant *v, const struct variant *then)
{
  const int64_t steps = strstr(text, "paper-stdp") ? LONG_STEPS : STEPS;
  struct mill_simulation *sim = net(text, v->overrides, v->threads);
  struct mill_error error;
  struct hashes h;
  if (then) {
    char path[] = "/tmp/mill-checkpoint-XXXXXX";
    int64_t at = 1 + draw((uint32_t)steps - 1);
    int file = mkstemp(path);
    close(file);
    net_advance(sim, at);
    if (mill_simulation_save(sim, path, &error) < 0)
      bail("%s", error.text);
    mill_simulation_free(sim);
    sim = net_resume(text, then->overrides, then->threads, path);
    unlink(path);
    net_advance(sim, steps - at);
  } else if (draw(2)) {
    int64_t at = draw((uint32_t)steps);
    net_advance(sim, at);
    mill_simulation_weight_hash(sim);
    net_advance(sim, steps - at);
  } else {
    net_advance(sim, steps);
  }
  h = hashes_of(sim);
  mill_simulation_free(sim);
  return h;
}

/* The rule without a closed form is one of the tests' own plugins. */
static void add_plugins(void)
{
  const char *path = getenv("SPIKEMILL_PLUGIN_PATH"), *top = getenv("top_builddir");
  char longer[4096];
  if (path && top && snprintf(longer, sizeof longer, "%s:%s/tests/plugins/.libs", path, top) < (int)sizeof longer)
    setenv("SPIKEMILL_PLUGIN_PATH", longer, 1);
}

int main(void)
{
  const uint32_t networks = getenv("SPIKEMILL_LONG") ? 200 : USUAL, variants = 8;
  static struct text text;
  uint64_t spikes = 0;
  plan_later();
  add_plugins();
  for (uint32_t n = 0; n < networks; n++) {
    static const struct variant plain = {.overrides = {"strategy.delivery=row-wise", "strategy.plasticity=naive", NULL},
                                         .threads = 1};
    struct hashes want;
    uint32_t differ = 0;
    make(&text, n + 1);
    want = run(text.buffer, &plain, NULL);
    spikes += want.count;
    for (uint32_t i = 0; i < variants; i++) {
      struct variant v, w;
      struct hashes got;
      int resumed = i % 2;
      vary(&v);
      vary(&w);
      got = run(text.buffer, &v, resumed ? &w : NULL);
      if (got.spikes != want.spikes || got.weights != want.weights) {
        diag("network %u: %s %s %s %s, %u threads%s%s %s: spikes %s, weights %s", n + 1, v.delivery, v.plasticity, v.words,
             v.overrides[3] ? v.overrides[3] : "", v.threads, resumed ? ", then " : "", resumed ? w.delivery : "",
             resumed ? w.plasticity : "", got.spikes == want.spikes ? "equal" : "differ",
             got.weights == want.weights ? "equal" : "differ");
        differ++;
      }
    }
    if (!ok(!differ, "network %u: %u variants and one result, %llu spikes", n + 1, variants, (unsigned long long)want.count))
      diag("%.900s", text.buffer);
  }
  ok(spikes > 1000 * (uint64_t)networks, "the networks are alive");
  return done_testing();
}
