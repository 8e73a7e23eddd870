/* Ways to run one network on a GPU, each to be compared with what the CPU makes of it: whole, in pieces with state and weights read on the way, and
   through checkpoints from either to the other. Everything that is simulated is compared bit for bit. */
#ifndef GPU_WAYS_H
#define GPU_WAYS_H

#include <time.h>

#include <spikemill/synapse-ops.h>
#include "gpu.h"
#include "net.h"
#include "random.h"
#include "simulation.h"

struct gpu_network {
  const char *text;
  uint32_t steps;
  int64_t t0;
};

/* The next number of a list, which *list goes on behind; 0: there is none. */
static inline int next_number(const char **list, uint32_t *number)
{
  char *end;
  *number = (uint32_t)strtoul(*list, &end, 10);
  if (end == *list)
    return 0;
  *list = end;
  return 1;
}

/* ---- What is compared ------------------------------------------------------------------------------------------------------ */

/* Bytes that grow. */
struct bytes {
  unsigned char *at;
  uint64_t count;
};

static inline void *grow(struct bytes *b, uint64_t count)
{
  b->at = realloc(b->at, b->count + count + 1);
  if (!b->at)
    bail("out of memory");
  b->count += count;
  return b->at + b->count - count;
}

static inline void add_bytes(struct bytes *b, const void *from, uint64_t count)
{
  void *to = grow(b, count);
  if (count)
    memcpy(to, from, count);
}

/* Everything that is simulated, at a step: states as doubles, rings; of plastic synapses the columns, and rows and traces. */
struct snapshot {
  struct bytes state, ring, column, row;
};

/* The trace of a target after its last spike, wherever that is kept: in the anchor or in the history. */
static inline void add_post(struct bytes *to, const struct mill_simulation *sim, const struct mill_plastic_run *run,
                            uint32_t target)
{
  const struct mill_synapse_code *code = run->plastic.code;
  const uint64_t *history = run->plastic.history + (uint64_t)target * run->plastic.words;
  int64_t last = run->post_step[target];
  double post[64]; /* bytes of a snapshot are not aligned */
  if (code->post_size > sizeof post)
    bail("a trace of %u bytes", code->post_size);
  memcpy(post, run->post + (uint64_t)target * code->post_size, code->post_size);
  for (int64_t b = 64 * (int64_t)run->plastic.words - 1; b >= 0; b--) {
    if (!(history[b / 64] >> (b % 64) & 1))
      continue;
    code->post_spike(run->param, run->decay, post, sim->step - 1 - b - last);
    last = sim->step - 1 - b;
  }
  add_bytes(to, post, code->post_size);
  add_bytes(to, &last, sizeof last);
}

static inline void take_plastic(struct mill_simulation *sim, struct snapshot *s)
{
  mill_plastic_flush(sim);
  if (sim->recorder.failed)
    bail("%s", sim->recorder.error.text);
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    const struct mill_plastic_run *run = sim->plastic[i];
    if (!run)
      continue;
    for (uint32_t c = 0; c < run->plastic.syn_count; c++)
      add_bytes(&s->column, run->syn[c], sim->projection[i].synapses * run->plastic.code->real_size);
    add_bytes(&s->row, run->pre, run->sources * (uint64_t)run->plastic.code->pre_size);
    add_bytes(&s->row, run->k_last, run->sources * sizeof *run->k_last);
    add_bytes(&s->row, run->u, run->sources * sizeof *run->u);
    add_bytes(&s->row, run->fired, run->sources);
    for (uint32_t t = 0; t < run->targets; t++)
      add_post(&s->row, sim, run, t);
  }
}

static inline void take(struct mill_simulation *sim, struct snapshot *s)
{
  *s = (struct snapshot){0};
  mill_engine_settle(sim);
  if (sim->recorder.failed)
    bail("%s", sim->recorder.error.text);
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    const struct mill_population *population = &sim->population[p];
    for (uint32_t v = 0; v < sim->run[p].ops->state_count; v++) {
      double *values = malloc((population->size + 1u) * sizeof *values);
      if (!values || mill_simulation_state(sim, population->name, sim->run[p].ops->state[v].name, values) < 0)
        bail("no state %s.%s", population->name, sim->run[p].ops->state[v].name);
      for (uint32_t i = 0; i < population->size; i++) /* one NaN is as good as another */
        values[i] = isnan(values[i]) ? (double)NAN : values[i];
      add_bytes(&s->state, values, population->size * sizeof *values);
      free(values);
    }
    for (uint32_t r = 0; r < population->receptor_count; r++) {
      const struct mill_ring *ring = &population->ring[r];
      add_bytes(&s->ring, ring->cell, (ring->mask + UINT64_C(1)) * ring->stride * ring->bits / 8);
    }
  }
  take_plastic(sim, s);
}

static inline void drop(struct snapshot *s)
{
  free(s->state.at);
  free(s->ring.at);
  free(s->column.at);
  free(s->row.at);
  *s = (struct snapshot){0};
}

static inline int differ(const struct bytes *got, const struct bytes *want)
{
  return got->count != want->count || (got->count && memcmp(got->at, want->at, got->count) != 0);
}

static inline const char *difference(const struct snapshot *got, const struct snapshot *want)
{
  return differ(&got->column, &want->column) ? "states of synapses"
         : differ(&got->row, &want->row)     ? "rows or traces"
         : differ(&got->state, &want->state) ? "states"
         : differ(&got->ring, &want->ring)   ? "rings"
                                             : NULL;
}

struct outcome {
  uint64_t spikes, weights, count, events;
  struct snapshot end;
};

static inline void finish(struct mill_simulation *sim, struct outcome *o)
{
  const uint32_t before = draw(2);
  struct mill_simulation_report report;
  if (before)
    take(sim, &o->end);
  o->weights = mill_simulation_weight_hash(sim);
  if (!before)
    take(sim, &o->end);
  mill_simulation_report(sim, &report);
  o->spikes = report.spike_hash;
  o->count = report.spikes;
  o->events += report.synaptic_events;
  mill_simulation_free(sim);
}

static inline uint64_t events_of(const struct mill_simulation *sim)
{
  struct mill_simulation_report report;
  mill_simulation_report(sim, &report);
  return report.synaptic_events;
}

/* ---- On the CPU ------------------------------------------------------------------------------------------------------------ */

/* What the CPU makes of a network: its outcome; snapshots, and synaptic events so far, at two steps; a checkpoint at the first of them. */
struct truth {
  struct outcome whole;
  int64_t at[2];
  struct snapshot snapshot[2];
  uint64_t events[2];
  char checkpoint[40];
};

static const char *const on_cpu[] = {"simulation.backend=cpu", "strategy.delivery=row-wise", NULL};

static inline void save(struct mill_simulation *sim, const char *path)
{
  struct mill_error error;
  if (mill_simulation_save(sim, path, &error) < 0)
    bail("%s", error.text);
}

static inline void temporary(char *path)
{
  strcpy(path, "/tmp/mill-checkpoint-XXXXXX");
  int file = mkstemp(path);
  if (file < 0)
    bail("cannot write to /tmp");
  close(file);
}

static inline void simulate_on_cpu(const struct gpu_network *n, struct truth *t)
{
  struct mill_simulation *sim = net(n->text, on_cpu, 2);
  t->at[0] = draw(n->steps);
  t->at[1] = t->at[0] + draw(n->steps - (uint32_t)t->at[0]);
  net_advance(sim, t->at[0]);
  take(sim, &t->snapshot[0]);
  t->events[0] = events_of(sim);
  temporary(t->checkpoint);
  save(sim, t->checkpoint);
  net_advance(sim, t->at[1] - t->at[0]);
  take(sim, &t->snapshot[1]);
  t->events[1] = events_of(sim);
  net_advance(sim, n->steps - t->at[1]);
  finish(sim, &t->whole);
}

static inline void truth_drop(struct truth *t)
{
  for (int i = 0; i < 2; i++)
    drop(&t->snapshot[i]);
  drop(&t->whole.end);
  unlink(t->checkpoint);
}

/* ---- On the GPU ------------------------------------------------------------------------------------------------------------ */

struct variant {
  char text[5][64], name[160];
  const char *overrides[6];
  uint32_t count;
};

__attribute__((format(printf, 2, 3))) static inline void vary_by(struct variant *v, const char *format, ...)
{
  va_list arguments;
  char *text = v->text[v->count];
  va_start(arguments, format);
  vsnprintf(text, sizeof v->text[0], format, arguments);
  va_end(arguments);
  v->overrides[v->count++] = text;
  v->overrides[v->count] = NULL;
  if (strchr(text, '=')) /* names leave out the section */
    snprintf(v->name + strlen(v->name), sizeof v->name - strlen(v->name), " %s", strchr(text, '.') + 1);
}

static const char *const gpu_deliveries[][2] = {
    {"row-wise", NULL},      {"cache-aware", NULL},         {"cache-aware", "columns=4"},  {"cache-aware", "columns=128"},
    {"shared-memory", NULL}, {"shared-memory", "chunk=64"}, {"shared-memory", "chunk=128"}};
enum { GPU_DELIVERIES = sizeof gpu_deliveries / sizeof *gpu_deliveries };

static inline void vary_delivery(struct variant *v, uint32_t delivery)
{
  *v = (struct variant){.count = 0};
  vary_by(v, "simulation.backend=cuda");
  v->name[0] = '\0';
  vary_by(v, "strategy.delivery=%s", gpu_deliveries[delivery][0]);
  if (gpu_deliveries[delivery][1])
    vary_by(v, "strategy.%s", gpu_deliveries[delivery][1]);
}

enum way { WHOLE, PIECES, TO_CPU, FROM_CPU, TO_GPU, WAYS };
static const char *const ways[] = {"whole", "in pieces", "resumed on the CPU", "resumed from the CPU", "resumed under"};

/* Advances in pieces that are no whole epochs; what is read in between changes nothing. */
static inline void advance_oddly(struct mill_simulation *sim, int64_t steps)
{
  while (steps > 0) {
    int64_t piece = 1 + draw(draw(4) ? 40 : 700);
    piece = piece < steps ? piece : steps;
    net_advance(sim, piece);
    steps -= piece;
    if (draw(6) == 0)
      mill_engine_settle(sim);
    if (draw(12) == 0)
      mill_simulation_weight_hash(sim);
  }
}

/* The last 64 steps of each neuron of population p0, from the spikes that are heard. */
struct heard {
  uint64_t *bits; /* [size] */
  uint32_t first, size;
  int64_t end;
};

static inline void hear(const struct mill_event *events, size_t n, void *self)
{
  struct heard *heard = self;
  for (size_t i = 0; i < n; i++) {
    if (events[i].unit - heard->first < heard->size && heard->end - events[i].tick < 64)
      heard->bits[events[i].unit - heard->first] |= UINT64_C(1) << (heard->end - events[i].tick);
  }
}

/* The whole run, with the history of one of the populations p0, p1 kept, and made longer on the way. */
static inline const char *simulate_whole(const struct gpu_network *n, struct mill_simulation *sim)
{
  struct heard heard = {.end = n->t0 + n->steps};
  struct mill_error error;
  const char *bad = NULL;
  const int64_t at = draw(2) ? 0 : draw(n->steps);
  uint32_t p = 0;
  while (strcmp(sim->population[p].name, "p0") != 0)
    p++;
  p += p + 1 < sim->network.population_count && strcmp(sim->population[p + 1].name, "p1") == 0 && draw(2);
  heard.first = sim->population[p].first;
  heard.size = sim->population[p].size;
  heard.bits = calloc(heard.size + 1u, sizeof *heard.bits);
  mill_simulation_listen(sim, hear, &heard);
  net_advance(sim, at);
  if (!heard.bits || mill_simulation_keep_history(sim, sim->population[p].name, 1 + draw(20), &error) < 0)
    bail("no history");
  net_advance(sim, n->steps - at);
  for (uint32_t i = 0; i < heard.size && n->steps - at >= 64; i++) {
    if (*mill_simulation_history(sim, sim->population[p].name, i) != heard.bits[i])
      bad = "histories";
  }
  mill_simulation_listen(sim, NULL, NULL);
  free(heard.bits);
  return bad;
}

/* Returns what differs on the way, or NULL. *o is zeroed; its events are those of both parts of a resumed run. */
static inline const char *simulate(const struct gpu_network *n, const struct truth *t, const struct variant *v,
                                   const char *const *then, enum way way, struct outcome *o)
{
  const char *bad = NULL;
  char path[40];
  struct mill_simulation *sim =
      way == FROM_CPU ? net_resume(n->text, v->overrides, 2, t->checkpoint) : net(n->text, v->overrides, 1 + draw(3));
  if (!sim->gpu)
    bail("this is not on a GPU");
  if (way == WHOLE) {
    bad = simulate_whole(n, sim);
  } else if (way == PIECES) {
    struct snapshot s;
    for (int i = 0; i < 2; i++) {
      advance_oddly(sim, t->at[i] - (i ? t->at[0] : 0));
      take(sim, &s);
      bad = bad ? bad : difference(&s, &t->snapshot[i]);
      drop(&s);
    }
    advance_oddly(sim, n->steps - t->at[1]);
  } else if (way == FROM_CPU) {
    o->events = t->events[0];
    net_advance(sim, n->steps - t->at[0]);
  } else {
    const uint32_t which = draw(2);
    const int64_t at = t->at[which];
    o->events = t->events[which];
    net_advance(sim, at);
    temporary(path);
    save(sim, path);
    if (draw(2)) /* going on after a save changes nothing */
      net_advance(sim, 1 + draw(50));
    mill_simulation_free(sim);
    sim = net_resume(n->text, then, 2, path);
    unlink(path);
    advance_oddly(sim, n->steps - at);
  }
  finish(sim, o);
  return bad;
}

/* ---- Checks ---------------------------------------------------------------------------------------------------------------- */

static inline double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* No result may depend on it. */
static inline void stir(uint32_t k)
{
  char order[16];
  snprintf(order, sizeof order, "%u", k % 7 == 0 ? 0 : 1 + draw(1000));
  setenv("EMULATOR_ORDER", order, 1);
  setenv("EMULATOR_LAZY", k % 2 ? "1" : "0", 1);
}

/* One way; `then` is what TO_GPU goes on under, `cpu` what TO_CPU does. 1: something differs, and it was said what. */
static inline uint32_t check_way(const struct gpu_network *n, const struct truth *t, const struct variant *v,
                                 const struct variant *then, const struct variant *cpu, enum way way, uint32_t number)
{
  struct outcome o = {0};
  const char *bad;
  stir(number + (uint32_t)way);
  bad = simulate(n, t, v, way == TO_CPU ? cpu->overrides : then->overrides, way, &o);
  if (!bad)
    bad = o.spikes != t->whole.spikes     ? "spikes"
          : o.weights != t->whole.weights ? "weights"
          : o.events != t->whole.events   ? "numbers of synaptic events"
                                          : difference(&o.end, &t->whole.end);
  if (bad)
    diag("network %u,%s, %s%s, EMULATOR_ORDER=%s EMULATOR_LAZY=%s: %s differ", number, v->name, ways[way],
         way == TO_GPU   ? then->name
         : way == TO_CPU ? cpu->name
                         : "",
         getenv("EMULATOR_ORDER"), getenv("EMULATOR_LAZY"), bad);
  drop(&o.end);
  return bad != NULL;
}

#endif
