/* Random static networks on a GPU and on the CPU: the same spikes, weights, states, rings and numbers of events under every delivery, whole
   and in pieces, with state read on the way, and through checkpoints from either to the other. SPIKEMILL_LONG=1 or a real GPU: 100
   networks and all deliveries; else as many networks as half a minute has room for, emulated, with threads, blocks and streams in changing
   order. NETWORK="N …": only these. */
#include <pthread.h>

#include "gpu-ways.h"
#include "static-networks.h"

#define SECONDS 25
#if defined(__SANITIZE_ADDRESS__)
#define LEAST 2 /* networks */
#else
#define LEAST 6
#endif

static uint32_t check(const struct gpu_network *n, const struct truth *t, uint32_t delivery, enum way way, uint32_t number)
{
  struct variant v, then, cpu = {.count = 0};
  vary_by(&cpu, "simulation.backend=cpu");
  vary_delivery(&v, delivery);
  vary_delivery(&then, draw(GPU_DELIVERIES));
  return check_way(n, t, &v, &then, &cpu, way, number);
}

static void check_network(struct static_network *n, uint32_t number, int all, uint64_t *spikes)
{
  struct truth t = {0};
  struct gpu_network it;
  uint32_t runs = 0, bad = 0;
  static_network(n, number, number % 4 != 0);
  it = (struct gpu_network){n->text.buffer, n->steps, (int64_t)n->t0};
  simulate_on_cpu(&it, &t);
  if (all) {
    for (uint32_t d = 0; d < GPU_DELIVERIES; d++, runs += 2) {
      bad += check(&it, &t, d, WHOLE, number);
      bad += check(&it, &t, d, (enum way)(1 + (number + d) % (WAYS - 1)), number);
    }
  } else {
    const uint32_t chosen[] = {0, 1 + draw(3), 4 + draw(3)};
    for (uint32_t i = 0; i < 3; i++, runs += 2) {
      bad += check(&it, &t, chosen[i], (enum way)((number + i) % WAYS), number);
      bad += check(&it, &t, chosen[i], (enum way)((number + i + 2) % WAYS), number);
    }
  }
  if (!ok(!bad, "network %u: %u runs and one result, %llu spikes, %llu synaptic events", number, runs,
          (unsigned long long)t.whole.count, (unsigned long long)t.whole.events))
    diag("%.900s", n->text.buffer);
  *spikes += t.whole.count;
  truth_drop(&t);
  static_remove(n);
}

/* Two at once, one of them advanced by another thread, and what is left when one is freed. */
static void *advance_elsewhere(void *self)
{
  net_advance(self, 100);
  return NULL;
}

static void check_two(void)
{
  static const char text[] = "[simulation]\nduration = 1000\nt0 = 0\n"
                             "[population.p]\nmodel = lif-delta\nsize = 100\nv = uniform(0, 22)\nt_ref = 1\n"
                             "[projection.pp]\nsource = p\ntarget = p\nrule = fixed-probability(0.2)\nweight = 2\ndelay = 0.7\n";
  const char *const gpu[] = {"simulation.backend=cuda", NULL}, *const cpu[] = {"simulation.backend=cpu", NULL};
  struct mill_simulation *a = net(text, gpu, 1), *b = net(text, gpu, 1), *c = net(text, cpu, 1);
  struct mill_simulation_report ra, rb, rc;
  pthread_t thread;
  net_advance(a, 50);
  net_advance(b, 150);
  if (pthread_create(&thread, NULL, advance_elsewhere, a))
    bail("no thread");
  pthread_join(thread, NULL);
  net_advance(c, 150);
  mill_simulation_report(a, &ra);
  mill_simulation_report(b, &rb);
  mill_simulation_report(c, &rc);
  ok(ra.spike_hash == rc.spike_hash && rb.spike_hash == rc.spike_hash && rc.spikes, "two simulations at once, and another thread");
  mill_simulation_free(b);
  net_advance(a, 50);
  net_advance(c, 50);
  mill_simulation_report(a, &ra);
  mill_simulation_report(c, &rc);
  ok(ra.spike_hash == rc.spike_hash, "one goes on when the other is freed");
  mill_simulation_free(a);
  mill_simulation_free(c);
}

int main(void)
{
  static struct static_network n;
  const double start = now();
  const char *only = getenv("NETWORK");
  uint64_t spikes = 0;
  enum gpu gpu;
  int all;
  uint32_t number = 0;
  plan_later();
  gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  all = gpu == GPU_REAL || getenv("SPIKEMILL_LONG");
  if (only) {
    while (next_number(&only, &number))
      check_network(&n, number, 1, &spikes);
    return done_testing();
  }
  check_two();
  while (number < 100 && (all || number < LEAST || now() - start < SECONDS))
    check_network(&n, ++number, all, &spikes);
  ok(spikes > 500 * (uint64_t)number, "the networks are alive: %llu spikes in %u", (unsigned long long)spikes, number);
  return done_testing();
}
