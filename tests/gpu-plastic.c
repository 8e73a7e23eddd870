/* Random plastic networks on a GPU and on the CPU: the same spikes, weights, states of synapses, traces, rings and numbers of events under every
   delivery, plasticity and length of the histories, whole and in pieces, with state and weights read on the way, and through checkpoints from
   either to the other. A real GPU: 100 networks; else as many as half a minute has room for, emulated, with threads, blocks and streams in
   changing order. Each under three pairs of strategies, so that few programs are compiled; SPIKEMILL_LONG=1: 100 networks under all pairs.
   NETWORK="N …": only these. */
#include "gpu-ways.h"
#include "plastic-networks.h"

#define SECONDS 25
#if defined(__SANITIZE_ADDRESS__)
#define LEAST 1 /* networks */
#else
#define LEAST 3
#endif
enum { EPOCHS = 150 /* of a run on an emulated GPU, about */, REAL_EPOCHS = 2000, KINDS = 3, PLASTICITIES = 3, PAIRS = GPU_DELIVERIES * PLASTICITIES };

static const char *const plasticities[] = {"naive", "lazy", "event-driven"};
static const uint32_t lengths[] = {1, 2, 8};

static void vary(struct variant *v, uint32_t delivery, uint32_t plasticity)
{
  vary_delivery(v, delivery);
  vary_by(v, "strategy.plasticity=%s", plasticities[plasticity % PLASTICITIES]);
  vary_by(v, "strategy.history_words=%u", lengths[draw(3)]);
}

static void vary_on_cpu(struct variant *v)
{
  *v = (struct variant){.count = 0};
  vary_by(v, "simulation.backend=cpu");
  vary_by(v, "strategy.delivery=%s", pick((const char *const[]){"row-wise", "cache-aware", "shared-memory", NULL}));
  vary_by(v, "strategy.plasticity=%s", plasticities[draw(PLASTICITIES)]);
  vary_by(v, "strategy.history_words=%u", lengths[draw(3)]);
}

/* Of a kind of network one plasticity for each delivery, so that there are few programs; three kinds have all pairs. */
static uint32_t plasticity_for(uint32_t delivery, uint32_t kind)
{
  return (delivery == 0 ? 0 : delivery < 4 ? 1 : 2) + kind;
}

static uint32_t check(const struct gpu_network *n, const struct truth *t, uint32_t delivery, uint32_t plasticity, int all,
                      uint32_t kind, enum way way, uint32_t number)
{
  const uint32_t other = draw(GPU_DELIVERIES);
  struct variant v, then, cpu;
  vary(&v, delivery, plasticity);
  vary(&then, other, all ? draw(PLASTICITIES) : plasticity_for(other, kind));
  vary_on_cpu(&cpu);
  return check_way(n, t, &v, &then, &cpu, way, number);
}

static void check_network(struct plastic_network *network, uint32_t number, int all, uint32_t epochs, uint64_t *spikes)
{
  const uint32_t kind = number % KINDS;
  struct truth t = {0};
  struct gpu_network n;
  uint32_t runs = 0, bad = 0;
  plastic_network(network, number, all && number % 10 == 0 ? -1 : (int)kind);
  n = (struct gpu_network){network->text.buffer, network->steps, network->t0};
  if (n.steps > epochs * network->least)
    n.steps = epochs * network->least;
  simulate_on_cpu(&n, &t);
  if (all) {
    for (uint32_t d = 0; d < GPU_DELIVERIES; d++, runs += PLASTICITIES) {
      for (uint32_t p = 0; p < PLASTICITIES; p++)
        bad += check(&n, &t, d, p, 1, kind, (enum way)((number + d + 2 * p) % WAYS), number);
    }
  } else {
    const uint32_t chosen[] = {0, 1 + draw(3), 4 + draw(3)};
    for (uint32_t i = 0; i < 3; i++, runs += 2) {
      bad += check(&n, &t, chosen[i], plasticity_for(chosen[i], kind), 0, kind, (enum way)((number + i) % WAYS), number);
      bad += check(&n, &t, chosen[i], plasticity_for(chosen[i], kind), 0, kind, (enum way)((number + i + 2) % WAYS), number);
    }
  }
  if (!ok(!bad, "network %u: %u runs and one result, %llu spikes, %llu synaptic events", number, runs,
          (unsigned long long)t.whole.count, (unsigned long long)t.whole.events))
    diag("%.2000s", n.text);
  *spikes += t.whole.count;
  truth_drop(&t);
}

/* Rows that are made on the device, whose blocks lie there in an order that changes. */
static void check_blocks(void)
{
  static const char text[] = "[simulation]\nduration = 1000\n"
                             "[population.in]\nmodel = poisson\nsize = 900\nrate = 30\n"
                             "[population.out]\nmodel = lif-delta\nsize = 40\ne_l = 25\nv = uniform(0, 20)\n"
                             "[projection.c]\nsource = in\ntarget = out\nrule = fixed-probability(0.2)\nweight = 0.3\ndelay = 1.5\n"
                             "synapse = stdp\nw_max = 1\nlambda = 0.1\n";
  const char *const cuda[] = {"simulation.backend=cuda", "strategy.delivery=row-wise", NULL};
  uint64_t want = 0;
  uint32_t bad = 0;
  for (uint32_t order = 0; order < 9; order++) { /* 0: on the CPU */
    char number[16];
    struct mill_simulation *sim;
    uint64_t got;
    snprintf(number, sizeof number, "%u", order);
    setenv("EMULATOR_ORDER", number, 1);
    sim = net(text, order ? cuda : on_cpu, 1);
    net_advance(sim, 150);
    got = mill_simulation_weight_hash(sim);
    mill_simulation_free(sim);
    want = order ? want : got;
    bad += got != want;
  }
  ok(!bad, "weights of rows that were made on the device, in any order");
}

/* A network with a spike or two in an epoch keeps most of a GPU idle, and still takes about as long under every delivery. */
static void check_pace(void)
{
  static const char text[] = "[simulation]\nduration = 1000\n"
                             "[population.in]\nmodel = poisson\nsize = 20\nrate = 10\n"
                             "[population.out]\nmodel = lif-delta\nsize = 3000\ne_l = 0\n"
                             "[projection.c]\nsource = in\ntarget = out\nrule = all-to-all\nweight = 0.01\ndelay = 1.5\n"
                             "synapse = stdp\nw_max = 1\nlambda = 0.1\n";
  double took[GPU_DELIVERIES], least = 1e9;
  for (uint32_t d = 0; d < GPU_DELIVERIES; d++) {
    struct variant v;
    struct mill_simulation *sim;
    double start;
    vary_delivery(&v, d);
    sim = net(text, v.overrides, 1);
    net_advance(sim, 500);
    mill_engine_settle(sim);
    start = now();
    net_advance(sim, 5000);
    mill_engine_settle(sim);
    took[d] = now() - start;
    least = took[d] < least ? took[d] : least;
    mill_simulation_free(sim);
  }
  for (uint32_t d = 0; d < GPU_DELIVERIES; d++)
    ok(took[d] <= 6 * least, "few spikes, %s %s: %.1f ms", gpu_deliveries[d][0], gpu_deliveries[d][1] ? gpu_deliveries[d][1] : "",
       1e3 * took[d]);
}

int main(void)
{
  static struct plastic_network network;
  const double start = now();
  const char *only = getenv("NETWORK");
  uint64_t spikes = 0;
  enum gpu gpu;
  int all, hundred;
  uint32_t number = 0, epochs;
  plan_later();
  plastic_plugins();
  gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  if (gpu == GPU_EMULATED) {
    setenv("EMULATOR_CXXFLAGS", "-O0", 0); /* programs with all rules: compiling them is most of the time */
    setenv("EMULATOR_MULTIPROCESSORS", "1", 0);
  }
  all = getenv("SPIKEMILL_LONG") != NULL;
  hundred = all || gpu == GPU_REAL;
  epochs = gpu == GPU_REAL ? REAL_EPOCHS : EPOCHS;
  if (only) {
    while (next_number(&only, &number))
      check_network(&network, number, all, epochs, &spikes);
    return done_testing();
  }
  check_blocks();
  if (gpu == GPU_REAL)
    check_pace();
  while (number < 100 && (hundred || number < LEAST || now() - start < SECONDS))
    check_network(&network, ++number, all, epochs, &spikes);
  ok(spikes > 1000 * (uint64_t)number, "the networks are alive: %llu spikes in %u", (unsigned long long)spikes, number);
  return done_testing();
}
