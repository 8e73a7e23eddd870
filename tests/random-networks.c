/* Random small networks: one hash of spikes and one of weights for every delivery, plasticity, number of threads, length of the histories,
   for runs that are cut, and for runs that go on from a checkpoint, also under another strategy. Rules, delays from 1 to 100 steps, weights
   of every kind, autapses, multapses, sources that are silent for longer than a history, neurons that fire in every step. */
#include "net.h"

#include <spikemill/device.h>
#include "plastic-networks.h"

#if defined(__SANITIZE_ADDRESS__)
#define USUAL 4
#else
#define USUAL 20
#endif

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
static struct hashes run(const struct plastic_network *n, const struct variant *v, const struct variant *then)
{
  const int64_t steps = n->steps;
  const char *text = n->text.buffer;
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

int main(void)
{
  const uint32_t networks = getenv("SPIKEMILL_LONG") ? 200 : USUAL, variants = 8;
  static struct plastic_network network;
  uint64_t spikes = 0;
  plan_later();
  plastic_plugins();
  for (uint32_t n = 0; n < networks; n++) {
    static const struct variant plain = {.overrides = {"strategy.delivery=row-wise", "strategy.plasticity=naive", NULL},
                                         .threads = 1};
    struct hashes want;
    uint32_t differ = 0;
    plastic_network(&network, n + 1, -1);
    want = run(&network, &plain, NULL);
    spikes += want.count;
    for (uint32_t i = 0; i < variants; i++) {
      struct variant v, w;
      struct hashes got;
      int resumed = i % 2;
      vary(&v);
      vary(&w);
      got = run(&network, &v, resumed ? &w : NULL);
      if (got.spikes != want.spikes || got.weights != want.weights) {
        diag("network %u: %s %s %s %s, %u threads%s%s %s: spikes %s, weights %s", n + 1, v.delivery, v.plasticity, v.words,
             v.overrides[3] ? v.overrides[3] : "", v.threads, resumed ? ", then " : "", resumed ? w.delivery : "",
             resumed ? w.plasticity : "", got.spikes == want.spikes ? "equal" : "differ",
             got.weights == want.weights ? "equal" : "differ");
        differ++;
      }
    }
    if (!ok(!differ, "network %u: %u variants and one result, %llu spikes", n + 1, variants, (unsigned long long)want.count))
      diag("%.900s", network.text.buffer);
  }
  ok(spikes > 1000 * (uint64_t)networks, "the networks are alive");
  return done_testing();
}
