/* Random static networks on a GPU and on the CPU: the same spikes, weights, states, rings and numbers of events under every delivery, whole
   and in pieces, with state read on the way, and through checkpoints from either to the other. SPIKEMILL_LONG=1 or a real GPU: 100
   networks and all deliveries; else as many networks as half a minute has room for, emulated, with threads, blocks and streams in changing
   order. */
#include <pthread.h>
#include <time.h>

#include "gpu.h"
#include "net.h"
#include "simulation.h"
#include "static-networks.h"

#define SECONDS 25
#if defined(__SANITIZE_ADDRESS__)
#define LEAST 2 /* networks */
#else
#define LEAST 6
#endif

/* Everything that is simulated, at a step: states as doubles, then rings. */
struct snapshot {
  double *state;
  uint64_t states;
  unsigned char *ring;
  uint64_t bytes;
};

static void take(struct mill_simulation *sim, struct snapshot *s)
{
  *s = (struct snapshot){0};
  mill_engine_settle(sim);
  if (sim->recorder.failed)
    bail("%s", sim->recorder.error.text);
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    const struct mill_population *population = &sim->population[p];
    for (uint32_t v = 0; v < sim->run[p].ops->state_count; v++) {
      s->state = realloc(s->state, (s->states + population->size + 1) * sizeof *s->state);
      if (!s->state || mill_simulation_state(sim, population->name, sim->run[p].ops->state[v].name, s->state + s->states) < 0)
        bail("no state %s.%s", population->name, sim->run[p].ops->state[v].name);
      s->states += population->size;
    }
    for (uint32_t r = 0; r < population->receptor_count; r++) {
      const struct mill_ring *ring = &population->ring[r];
      const uint64_t bytes = (ring->mask + UINT64_C(1)) * ring->stride * ring->bits / 8;
      s->ring = realloc(s->ring, s->bytes + bytes + 1);
      if (!s->ring)
        bail("out of memory");
      if (bytes)
        memcpy(s->ring + s->bytes, ring->cell, bytes);
      s->bytes += bytes;
    }
  }
}

static void drop(struct snapshot *s)
{
  free(s->state);
  free(s->ring);
  *s = (struct snapshot){0};
}

/* Bit for bit, but that one NaN is as good as another. */
static const char *difference(const struct snapshot *got, const struct snapshot *want)
{
  if (got->states != want->states || got->bytes != want->bytes)
    return "sizes";
  for (uint64_t i = 0; i < got->states; i++) {
    if (memcmp(&got->state[i], &want->state[i], sizeof *got->state) != 0 && !(isnan(got->state[i]) && isnan(want->state[i])))
      return "states";
  }
  return got->bytes && memcmp(got->ring, want->ring, got->bytes) != 0 ? "rings" : NULL;
}

struct outcome {
  uint64_t spikes, weights, count, events;
  struct snapshot end;
};

static void finish(struct mill_simulation *sim, struct outcome *o)
{
  struct mill_simulation_report report;
  take(sim, &o->end);
  mill_simulation_report(sim, &report);
  o->spikes = report.spike_hash;
  o->count = report.spikes;
  o->events = report.synaptic_events;
  o->weights = mill_simulation_weight_hash(sim);
  mill_simulation_free(sim);
}

/* What the CPU makes of a network: its outcome, snapshots at two steps, a checkpoint at the first of them. */
struct truth {
  struct outcome whole;
  int64_t at[2];
  struct snapshot snapshot[2];
  char checkpoint[40];
};

static const char *const on_cpu[] = {"simulation.backend=cpu", "strategy.delivery=row-wise", NULL};

static void save(struct mill_simulation *sim, const char *path)
{
  struct mill_error error;
  if (mill_simulation_save(sim, path, &error) < 0)
    bail("%s", error.text);
}

static void temporary(char *path)
{
  strcpy(path, "/tmp/mill-checkpoint-XXXXXX");
  int file = mkstemp(path);
  if (file < 0)
    bail("cannot write to /tmp");
  close(file);
}

static void simulate_on_cpu(const struct static_network *n, struct truth *t)
{
  struct mill_simulation *sim = net(n->text.buffer, on_cpu, 2);
  t->at[0] = draw(n->steps);
  t->at[1] = t->at[0] + draw(n->steps - (uint32_t)t->at[0]);
  net_advance(sim, t->at[0]);
  take(sim, &t->snapshot[0]);
  temporary(t->checkpoint);
  save(sim, t->checkpoint);
  net_advance(sim, t->at[1] - t->at[0]);
  take(sim, &t->snapshot[1]);
  net_advance(sim, n->steps - t->at[1]);
  finish(sim, &t->whole);
}

/* ---- Ways to run it on the GPU --------------------------------------------------------------------------------------------- */

static const char *const deliveries[][2] = {
    {"row-wise", NULL},      {"cache-aware", NULL},         {"cache-aware", "columns=4"},  {"cache-aware", "columns=128"},
    {"shared-memory", NULL}, {"shared-memory", "chunk=64"}, {"shared-memory", "chunk=128"}};
enum { DELIVERIES = sizeof deliveries / sizeof *deliveries };

struct variant {
  char delivery[64], key[64], name[64];
  const char *overrides[4];
};

static void choose(struct variant *v, uint32_t delivery)
{
  const char *key = deliveries[delivery][1];
  snprintf(v->delivery, sizeof v->delivery, "strategy.delivery=%s", deliveries[delivery][0]);
  snprintf(v->key, sizeof v->key, "strategy.%s", key ? key : "");
  snprintf(v->name, sizeof v->name, "%s%s%s", deliveries[delivery][0], key ? " " : "", key ? key : "");
  v->overrides[0] = "simulation.backend=cuda";
  v->overrides[1] = v->delivery;
  v->overrides[2] = key ? v->key : NULL;
  v->overrides[3] = NULL;
}

enum way { WHOLE, PIECES, TO_CPU, FROM_CPU, TO_GPU, WAYS };
static const char *const ways[] = {"whole", "in pieces", "resumed on the CPU", "resumed from the CPU",
                                   "resumed under another delivery"};

/* Advances in pieces that are no whole epochs. */
static void advance_oddly(struct mill_simulation *sim, int64_t steps)
{
  while (steps > 0) {
    int64_t piece = 1 + draw(draw(4) ? 40 : 700);
    piece = piece < steps ? piece : steps;
    net_advance(sim, piece);
    steps -= piece;
  }
}

/* The last 64 steps of each neuron of population p0, from the spikes that are heard. */
struct heard {
  uint64_t *bits; /* [size] */
  uint32_t first, size;
  int64_t end;
};

static void hear(const struct mill_event *events, size_t n, void *self)
{
  struct heard *heard = self;
  for (size_t i = 0; i < n; i++) {
    if (events[i].unit - heard->first < heard->size && heard->end - events[i].tick < 64)
      heard->bits[events[i].unit - heard->first] |= UINT64_C(1) << (heard->end - events[i].tick);
  }
}

/* The whole run, with the history of population p0 kept. */
static const char *simulate_whole(const struct static_network *n, struct mill_simulation *sim)
{
  struct heard heard = {.size = n->size[0], .end = (int64_t)n->t0 + n->steps, .bits = calloc(n->size[0] + 1u, sizeof *heard.bits)};
  struct mill_error error;
  const char *differ = NULL;
  while (heard.bits && sim->population[heard.first].name[0] != 'p')
    heard.first++;
  heard.first = sim->population[heard.first].first;
  if (!heard.bits || mill_simulation_keep_history(sim, "p0", 1, &error) < 0)
    bail("no history");
  mill_simulation_listen(sim, hear, &heard);
  net_advance(sim, n->steps);
  for (uint32_t i = 0; i < heard.size; i++) {
    if (*mill_simulation_history(sim, "p0", i) != heard.bits[i])
      differ = "histories";
  }
  free(heard.bits);
  return differ;
}

/* Returns what differs on the way, or NULL. */
static const char *simulate(const struct static_network *n, const struct truth *t, const struct variant *v,
                            const struct variant *then, enum way way, struct outcome *o)
{
  const char *differ = NULL;
  char path[40];
  struct mill_simulation *sim =
      way == FROM_CPU ? net_resume(n->text.buffer, v->overrides, 2, t->checkpoint) : net(n->text.buffer, v->overrides, 1 + draw(3));
  if (!sim->gpu)
    bail("this is not on a GPU");
  if (way == WHOLE) {
    differ = simulate_whole(n, sim);
  } else if (way == PIECES) {
    struct snapshot s;
    for (int i = 0; i < 2; i++) {
      advance_oddly(sim, t->at[i] - (i ? t->at[0] : 0));
      take(sim, &s);
      differ = differ ? differ : difference(&s, &t->snapshot[i]);
      drop(&s);
    }
    advance_oddly(sim, n->steps - t->at[1]);
  } else if (way == FROM_CPU) {
    net_advance(sim, n->steps - t->at[0]);
  } else {
    const int64_t at = t->at[draw(2)];
    net_advance(sim, at);
    temporary(path);
    save(sim, path);
    if (draw(2)) { /* going on after a save changes nothing */
      net_advance(sim, 1 + draw(50));
    }
    mill_simulation_free(sim);
    sim = net_resume(n->text.buffer, way == TO_CPU ? on_cpu : then->overrides, 2, path);
    unlink(path);
    advance_oddly(sim, n->steps - at);
  }
  finish(sim, o);
  return differ;
}

/* ---- All networks ---------------------------------------------------------------------------------------------------------- */

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* No result may depend on it. */
static void stir(uint32_t k)
{
  char order[16];
  snprintf(order, sizeof order, "%u", k % 7 == 0 ? 0 : 1 + draw(1000));
  setenv("EMULATOR_ORDER", order, 1);
  setenv("EMULATOR_LAZY", k % 2 ? "1" : "0", 1);
}

static uint32_t check(const struct static_network *n, const struct truth *t, uint32_t delivery, enum way way, uint32_t number)
{
  struct variant v, then;
  struct outcome o = {0};
  const char *differ;
  uint32_t bad;
  choose(&v, delivery);
  choose(&then, draw(DELIVERIES));
  stir(number + delivery + (uint32_t)way);
  differ = simulate(n, t, &v, &then, way, &o);
  if (!differ)
    differ = o.spikes != t->whole.spikes                   ? "spikes"
             : o.weights != t->whole.weights               ? "weights"
             : way < TO_CPU && o.events != t->whole.events ? "numbers of synaptic events"
                                                           : difference(&o.end, &t->whole.end);
  bad = differ != NULL;
  if (bad)
    diag("network %u, %s %s%s%s, EMULATOR_ORDER=%s EMULATOR_LAZY=%s: %s differ", number, v.name, ways[way],
         way == TO_GPU ? ", " : "", way == TO_GPU ? then.name : "", getenv("EMULATOR_ORDER"), getenv("EMULATOR_LAZY"), differ);
  drop(&o.end);
  return bad;
}

static void check_network(struct static_network *n, uint32_t number, int all, uint64_t *spikes)
{
  struct truth t = {0};
  uint32_t runs = 0, bad = 0;
  static_network(n, number, number % 4 != 0);
  simulate_on_cpu(n, &t);
  if (all) {
    for (uint32_t d = 0; d < DELIVERIES; d++, runs += 2) {
      bad += check(n, &t, d, WHOLE, number);
      bad += check(n, &t, d, (enum way)(1 + (number + d) % (WAYS - 1)), number);
    }
  } else {
    const uint32_t chosen[] = {0, 1 + draw(3), 4 + draw(3)};
    for (uint32_t i = 0; i < 3; i++, runs += 2) {
      bad += check(n, &t, chosen[i], (enum way)((number + i) % WAYS), number);
      bad += check(n, &t, chosen[i], (enum way)((number + i + 2) % WAYS), number);
    }
  }
  if (!ok(!bad, "network %u: %u runs and one result, %llu spikes, %llu synaptic events", number, runs,
          (unsigned long long)t.whole.count, (unsigned long long)t.whole.events))
    diag("%.900s", n->text.buffer);
  *spikes += t.whole.count;
  for (int i = 0; i < 2; i++)
    drop(&t.snapshot[i]);
  drop(&t.whole.end);
  unlink(t.checkpoint);
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
  check_two();
  all = gpu == GPU_REAL || getenv("SPIKEMILL_LONG");
  if (only) {
    check_network(&n, (uint32_t)strtoul(only, NULL, 10), 1, &spikes);
    return done_testing();
  }
  while (number < 100 && (all || number < LEAST || now() - start < SECONDS))
    check_network(&n, ++number, all, &spikes);
  ok(spikes > 500 * (uint64_t)number, "the networks are alive: %llu spikes in %u", (unsigned long long)spikes, number);
  return done_testing();
}
