/* One spike hash and one weight hash over the whole product of deliveries, plasticities, threads, lengths of histories, and ways to run:
   whole, cut, and gone on from a checkpoint under another strategy. The hashes of the short runs stand here, so that every compiler meets
   them; SPIKEMILL_LONG=1: the networks at their own sizes, for longer. */
#include <inttypes.h>

#include "net.h"
#include "registry.h"

static const char *const delivery[] = {"row-wise", "cache-aware", "shared-memory"};
static const char *const plasticity[] = {"naive", "lazy", "event-driven"};
static const uint32_t words[] = {1, 2, 8};
enum { DELIVERIES = 3, PLASTICITIES = 3, THREADS = 3, WORDS = 3, VARIANTS = DELIVERIES * PLASTICITIES * THREADS * WORDS };
enum way { WHOLE, CUT, RESUMED, WAYS };

struct subject {
  const char *network, *size; /* of the short runs */
  int64_t steps, long_steps;
  uint64_t spikes, weights;
};
static const struct subject subjects[] = {
    /* the rule of brunel-plus acts after silences of 138 ms */
    {"vogels", "define.synapses=80000", 500, 3000, UINT64_C(0x8b729e8a272a336c), UINT64_C(0x042eb3492c925a30)},
    {"brunel", "define.synapses=20000", 500, 3000, UINT64_C(0x01f723723acb9298), UINT64_C(0xd9bbc9a3b66501a5)},
    {"brunel-plus", "define.synapses=20000", 1700, 3000, UINT64_C(0xbf050ddb4a8f057e), UINT64_C(0x00aee2228a995591)},
    {"brunel-plus-stdp", "define.synapses=20000", 600, 3000, UINT64_C(0x83ce5ed8ce458afd), UINT64_C(0x8f603d115c640c2f)},
};

struct hashes {
  uint64_t spikes, weights, count;
};

static struct mill_simulation *open_variant(const struct subject *s, int longer, uint32_t variant, const char *checkpoint)
{
  const char *top = getenv("top_srcdir");
  char path[512], text[3][64];
  const char *overrides[] = {text[0], text[1], text[2], "strategy.slice_width=128", "strategy.chunk=128", s->size};
  const uint32_t threads = 1 + variant / (DELIVERIES * PLASTICITIES * WORDS);
  const struct mill_options how = {overrides, longer ? 5 : 6, threads, NULL, checkpoint};
  struct mill_simulation *sim = NULL;
  struct mill_error error;
  snprintf(path, sizeof path, "%s/examples/%s.ini", top ? top : ".", s->network);
  snprintf(text[0], sizeof text[0], "strategy.delivery=%s", delivery[variant % DELIVERIES]);
  snprintf(text[1], sizeof text[1], "strategy.plasticity=%s", plasticity[variant / DELIVERIES % PLASTICITIES]);
  snprintf(text[2], sizeof text[2], "strategy.history_words=%u", words[variant / (DELIVERIES * PLASTICITIES) % WORDS]);
  if (mill_simulation_open(path, &how, &sim, &error) < 0)
    bail("%s", error.text);
  return sim;
}

static struct hashes run(const struct subject *s, int longer, uint32_t variant, enum way way)
{
  const int64_t steps = longer ? s->long_steps : s->steps, at = 100 + 37 * (variant % 11);
  struct mill_simulation *sim = open_variant(s, longer, variant, NULL);
  struct mill_simulation_report report;
  struct hashes hashes;
  struct mill_error error;
  if (way == CUT) {
    net_advance(sim, 1);
    net_advance(sim, at - 1);
  } else if (way == RESUMED) {
    char path[] = "/tmp/mill-checkpoint-XXXXXX";
    close(mkstemp(path));
    net_advance(sim, at);
    if (mill_simulation_save(sim, path, &error) < 0)
      bail("%s", error.text);
    mill_simulation_free(sim);
    sim = open_variant(s, longer, (variant * 7 + 5) % VARIANTS, path);
    unlink(path);
  }
  net_advance(sim, way == WHOLE ? steps : steps - at);
  hashes.weights = mill_simulation_weight_hash(sim);
  mill_simulation_report(sim, &report);
  hashes.spikes = report.spike_hash;
  hashes.count = report.spikes;
  mill_simulation_free(sim);
  return hashes;
}

/* Notes of keys that a strategy does not use. */
static void drop(const char *line, void *self)
{
  (void)line;
  (void)self;
}

int main(void)
{
  static const char *const name[] = {"whole", "cut", "resumed under another strategy"};
  const int longer = getenv("SPIKEMILL_LONG") != NULL;
  plan_later();
  mill_note_set(drop, NULL);
  for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
    const struct subject *s = &subjects[k];
    struct hashes want = run(s, longer, 0, WHOLE);
    if (!longer) {
      if (!ok(want.spikes == s->spikes && want.weights == s->weights, "%s: the hashes that stand here", s->network))
        diag("0x%016" PRIx64 ", 0x%016" PRIx64, want.spikes, want.weights);
    }
    ok(want.count > 300, "%s is alive: %llu spikes", s->network, (unsigned long long)want.count);
    for (enum way way = WHOLE; way < WAYS; way++) {
      uint32_t equal = 0;
      for (uint32_t v = 0; v < VARIANTS; v++) {
        const struct hashes got = run(s, longer, v, way);
        if (got.spikes == want.spikes && got.weights == want.weights)
          equal++;
        else
          diag("%s, %s: %s, %s, %u words, %u threads differs", s->network, name[way], delivery[v % DELIVERIES],
               plasticity[v / DELIVERIES % PLASTICITIES], words[v / (DELIVERIES * PLASTICITIES) % WORDS],
               1 + v / (DELIVERIES * PLASTICITIES * WORDS));
      }
      is_int(equal, VARIANTS, "%s, %s: strategies, threads and histories with one result", s->network, name[way]);
    }
  }
  return done_testing();
}
