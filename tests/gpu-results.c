/* Spikes of a GPU run on their way through the host: more in a batch than there is room for at first, put in order by one thread and by
   several; the listener and the histories get what they get on the CPU, and nobody else pays for them. */
#include <xxhash.h>

#include "gpu.h"
#include "cuda/gpu.h"
#include "net.h"

enum { WORDS = 3, ROOM = 1 << 15 /* spikes of a batch that there is room for at first */ };

static const char text[] = "[simulation]\nduration = 200\nseed = 3\n"
                           "[population.empty]\nmodel = poisson\nsize = 0\nrate = 1\n"
                           "[population.many]\nmodel = poisson\nsize = 6001\nrate = 900\n"
                           "[population.few]\nmodel = lif-delta\nsize = 70\nv = uniform(0, 19)\n"
                           "[projection.all]\nsource = many\ntarget = few\nrule = fixed-outdegree(2)\nweight = 0.5\ndelay = 0.8\n";

struct outcome {
  struct mill_simulation_report report;
  uint64_t heard, sequence, population[3], history, landing;
};

struct listener {
  XXH64_state_t *state;
  uint64_t heard;
};

static void listen_to(const struct mill_event *event, size_t n, void *self)
{
  struct listener *l = self;
  XXH64_update(l->state, event, n * sizeof *event);
  l->heard += n;
}

/* In pieces that are no whole epochs, in the last one nobody listens. */
static struct outcome simulate(const char *backend, uint32_t threads, int listened)
{
  const char *const overrides[] = {backend, NULL};
  struct outcome o = {0};
  struct mill_error error;
  struct mill_simulation *sim = net(text, overrides, threads);
  struct listener l = {XXH64_createState(), 0};
  struct mill_population_report population;
  XXH64_reset(l.state, 0);
  if (listened && mill_simulation_keep_history(sim, "few", WORDS, &error) < 0)
    bail("%s", error.text);
  for (int piece = 0; piece < 3; piece++) {
    mill_simulation_listen(sim, listened && piece != 2 ? listen_to : NULL, &l);
    net_advance(sim, piece == 2 ? 77 : 400);
  }
  mill_simulation_report(sim, &o.report);
  for (uint32_t i = 0; i < 3; i++) {
    mill_simulation_population(sim, i, &population);
    o.population[i] = population.spikes;
  }
  for (uint32_t i = 0; listened && i < 70; i++)
    o.history = XXH64(mill_simulation_history(sim, "few", i), WORDS * sizeof(uint64_t), o.history);
  if (sim->gpu)
    o.landing = sim->gpu->half[0].landing;
  for (uint32_t e = 0; sim->gpu && !listened && e < sim->gpu->epochs; e++)
    o.landing = sim->gpu->epoch[e].ordered.event ? 0 : o.landing;
  o.heard = l.heard;
  o.sequence = XXH64_digest(l.state);
  XXH64_freeState(l.state);
  mill_simulation_free(sim);
  return o;
}

int main(void)
{
  plan_later();
  if (gpu_find() == GPU_NONE)
    return done_testing();
  const struct outcome cpu = simulate("simulation.backend=cpu", 2, 1);
  diag("%llu spikes", (unsigned long long)cpu.report.spikes);
  ok(cpu.report.spikes > 200000 && cpu.population[2] > 10, "there are spikes");
  ok(cpu.heard < cpu.report.spikes && cpu.heard > cpu.report.spikes / 2, "the listener heard most of them");
  for (uint32_t threads = 1; threads <= 5; threads += 2) {
    const struct outcome gpu = simulate("simulation.backend=cuda", threads, 1);
    ok(gpu.report.spike_hash == cpu.report.spike_hash, "%u threads: the CPU's spikes", threads);
    is_int((intmax_t)gpu.report.spikes, (intmax_t)cpu.report.spikes, "as many");
    ok(memcmp(gpu.population, cpu.population, sizeof cpu.population) == 0, "and as many of each population");
    is_int((intmax_t)gpu.report.synaptic_events, (intmax_t)cpu.report.synaptic_events, "as many synaptic events");
    ok(gpu.heard == cpu.heard && gpu.sequence == cpu.sequence, "the listener hears the same in the same order");
    ok(gpu.history == cpu.history, "the same histories");
    ok(gpu.landing > ROOM, "room was made for more spikes than there was at first: %llu", (unsigned long long)gpu.landing);
  }
  const struct outcome alone = simulate("simulation.backend=cuda", 3, 0);
  ok(alone.report.spike_hash == cpu.report.spike_hash && alone.landing > ROOM,
     "with nobody who listens: the same, and no events are made");
  return done_testing();
}
