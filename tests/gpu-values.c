/* Networks built on a GPU and on the CPU: the same synapses, weights, delays, accumulators, and numbers of values that were drawn again, clipped,
   rounded or became zero. Random static networks, and some with weights and lists that those have not. SPIKEMILL_LONG=1 or a real GPU: more of
   them. */
#include "gpu.h"
#include "net.h"
#include "simulation.h"
#include "static-networks.h"
#include "cuda/gpu.h"

static bool same_bytes(const void *a, const void *b, uint64_t n, uint32_t bits)
{
  return !bits || !n || (a && b && memcmp(a, b, n * bits / 8) == 0);
}

/* What differs of one projection; NULL: nothing. */
static const char *difference(const struct mill_simulation *a, const struct mill_simulation *b, uint32_t index)
{
  const struct mill_projection *p = &a->projection[index], *q = &b->projection[index];
  const struct mill_weighing *v = &a->weighing[index], *w = &b->weighing[index];
  const uint64_t n = p->synapses, rows = a->population[p->source].size + UINT64_C(1);
  if (n != q->synapses || memcmp(p->row, q->row, rows * sizeof *p->row) != 0 || !same_bytes(p->column, q->column, n, 32))
    return "rows";
  if (p->weight_bits != q->weight_bits || p->weight_all != q->weight_all || !same_bytes(p->weight, q->weight, n, p->weight_bits))
    return "weights";
  if (p->delay_bits != q->delay_bits || !same_bytes(p->delay, q->delay, n, p->delay_bits))
    return "delays";
  if (n && (p->delay_min != q->delay_min || p->delay_max != q->delay_max || p->delay_all != q->delay_all))
    return "limits of delays";
  if (v->redrawn != w->redrawn || v->clipped != w->clipped || v->zeroed != w->zeroed || v->most != w->most)
    return "numbers of values that were changed";
  if (n && v->delay_rounded_from_ps != w->delay_rounded_from_ps)
    return "the example of a delay that was rounded";
  return NULL;
}

static const char *difference_of_sums(const struct mill_simulation *a, const struct mill_simulation *b)
{
  for (uint32_t p = 0; p < a->network.population_count; p++) {
    for (uint32_t r = 0; r < a->run[p].ops->receptor_count; r++) {
      const struct mill_accumulator *v = &a->run[p].accumulator[r], *w = &b->run[p].accumulator[r];
      if (v->counts != w->counts || v->exponent != w->exponent || memcmp(&v->scale, &w->scale, sizeof v->scale) != 0 ||
          (!v->counts && v->bound != w->bound))
        return "accumulators";
    }
  }
  return NULL;
}

static uint32_t made; /* projections that the device made */

/* Builds it both ways; returns what differs. */
static const char *compare(const char *text, const char *delivery)
{
  char how[64];
  snprintf(how, sizeof how, "strategy.delivery=%s", delivery);
  const char *const gpu[] = {"simulation.backend=cuda", how, NULL}, *const cpu[] = {"simulation.backend=cpu", NULL};
  struct mill_simulation *a = net(text, cpu, 2), *b = net(text, gpu, 2);
  struct mill_error error = {0};
  const char *differ = difference_of_sums(a, b);
  for (uint32_t i = 0; i < b->network.projection_count; i++)
    made += b->projection[i].row == NULL;
  if (mill_build_rows(b, &error) < 0)
    bail("%s", error.text);
  for (uint32_t i = 0; !differ && i < a->network.projection_count; i++)
    differ = difference(a, b, i);
  mill_simulation_free(a);
  mill_simulation_free(b);
  return differ;
}

static void check_random(uint32_t count)
{
  static const char *const deliveries[] = {"row-wise", "shared-memory", "cache-aware"};
  static struct static_network n;
  uint32_t bad = 0;
  for (uint32_t number = 1; number <= count; number++) {
    const char *differ;
    char order[16];
    static_network(&n, 7000 + number, 1);
    snprintf(order, sizeof order, "%u", number);
    setenv("EMULATOR_ORDER", order, 1);
    differ = compare(n.text.buffer, deliveries[number % 3]);
    if (differ) {
      bad++;
      diag("network %u, %s: %s differ", number, deliveries[number % 3], differ);
    }
    static_remove(&n);
  }
  ok(!bad, "%u random networks are the same", count);
  ok(made > count, "%u projections of them were made on the device", made);
}

/* ---- Some that are special -------------------------------------------------------------------------------------------------- */

static const char cells[] = "[simulation]\nduration = 10\nseed = 3\n[population.p]\nmodel = lif-delta\nsize = 700\n";

static void check(const char *name, const char *projections)
{
  char text[4096];
  const char *differ[2];
  snprintf(text, sizeof text, "%s%s", cells, projections);
  differ[0] = compare(text, "row-wise");
  differ[1] = compare(text, "shared-memory");
  ok(!differ[0] && !differ[1], "%s%s%s", name, differ[0] || differ[1] ? ": " : "",
     differ[0]   ? differ[0]
     : differ[1] ? differ[1]
                 : "");
}

/* Lists in no order, with equal pairs, and with or without values of their own. */
static void check_lists(void)
{
  static struct static_network n;
  static const char *const columns[] = {"source,target", "source,target,weight", "source,target,delay", "delay,target,source,weight"};
  for (int k = 0; k < 4; k++) {
    const bool weights = k & 1, delays = k & 2;
    char name[64], text[512];
    FILE *out = static_file(&n);
    random_seed(40 + (uint32_t)k);
    fprintf(out, "%s\n", columns[k]);
    for (int i = 0; i < 3000; i++) {
      const uint32_t source = draw(20), target = draw(700);
      if (k == 3)
        fprintf(out, "%u.%u,%u,%u,%u.5\n", 1 + draw(9), draw(100), target, source, draw(30));
      else
        fprintf(out, "%u,%u%s\n", source, target, weights ? ",-1.25" : delays ? ",12.37" : "");
    }
    fclose(out);
    snprintf(name, sizeof name, "a list with %s", columns[k]);
    snprintf(text, sizeof text, "[projection.a]\nsource = p\ntarget = p\nautapses = yes\nmultapses = yes\nrule = file(%s)\n%s%s",
             n.file[n.files - 1], weights ? "" : "weight = normal-truncated(3, 1, 2, 4)\n", delays ? "" : "delay = uniform(0.1, 3)\n");
    check(name, text);
  }
  static_remove(&n);
}

static void check_special(void)
{
  check("weights whose rounding loses some",
        "[projection.a]\nsource = p\ntarget = p\nrule = fixed-probability(0.1)\nweight = lognormal(0, 2)\ndelay = 1\n");
  check("equal pairs with weights and delays of their own",
        "[projection.a]\nsource = p\ntarget = p\nrule = fixed-total(20000)\nmultapses = yes\nweight = normal(1, 3)\ndelay = "
        "uniform(0.1, 40)\n"
        "[projection.b]\nsource = p\ntarget = p\nrule = fixed-indegree(900)\nmultapses = yes\nweight = uniform(-1, 1)\n"
        "delay = normal-truncated(2, 2, 0.3, 3.123456)\n");
  check(
      "wide weights",
      "[projection.a]\nsource = p\ntarget = p\nrule = all-to-all\nweight = 1e-3\ndelay = 1\n"
      "[projection.b]\nsource = p\ntarget = p\nrule = fixed-outdegree(30)\nweight = normal-clipped(40, 20, 0, 60)\ndelay = 7.77\n");
  check(
      "no synapses, by chance",
      "[projection.a]\nsource = p\ntarget = p\nrule = fixed-probability(1e-9)\nweight = normal(1, 1)\ndelay = uniform(1, 2)\n"
      "[projection.b]\nsource = p\ntarget = p\nrule = fixed-probability(1e-9)\nweight = 2\ndelay = 1\n"
      "[projection.c]\nsource = p\ntarget = p\nrule = one-to-one\nweight = uniform(1, 4)\ndelay = uniform(1, 2)\nautapses = yes\n");
  check("weights that are all zero",
        "[projection.a]\nsource = p\ntarget = p\nrule = fixed-probability(0.1)\nweight = normal-clipped(-3, 1, 0, 1)\n"
        "delay = uniform(3, 3)\n");
}

/* What cannot be is refused in the host's words. */
static void check_refused(const char *name, const char *projections)
{
  const char *const gpu[] = {"simulation.backend=cuda", NULL}, *const cpu[] = {"simulation.backend=cpu", NULL};
  struct mill_error want, got;
  char text[4096];
  snprintf(text, sizeof text, "%s%s", cells, projections);
  struct mill_simulation *a = net_open(text, cpu, 1, &want), *b = net_open(text, gpu, 1, &got);
  const char *w = strchr(want.text, '['), *g = strchr(got.text, '[');
  ok(!a && !b && want.status == got.status && w && g && strcmp(w, g) == 0, "%s: %s", name, got.text);
  mill_simulation_free(a);
  mill_simulation_free(b);
}

/* ---- Plastic synapses ------------------------------------------------------------------------------------------------------- */

/* Makes the only projection of a network that was built on the CPU again on the GPU. */
static void make_again(struct mill_simulation *sim)
{
  struct mill_error error;
  sim->projection[0].row = NULL;
  if (mill_gpu_open(sim, &error) < 0 || mill_gpu_cut(sim, &error) < 0 || mill_gpu_connect(sim, &error) < 0)
    bail("%s", error.text);
  sim->projection[0].row = sim->rows[0].row;
}

/* Weights that are asked for before the first step. */
static void check_unmoved(const char *precision)
{
  char text[2048], as[64];
  snprintf(as, sizeof as, "simulation.precision=%s", precision);
  snprintf(text, sizeof text, "%s[projection.a]\nsource = p\ntarget = p\nrule = fixed-probability(0.1)\ndelay = 1\nsynapse = stdp\nw_max = 2\n"
           "weight = uniform(0, 2)\n",
           cells);
  const char *const gpu[] = {as, "simulation.backend=cuda", NULL}, *const cpu[] = {as, "simulation.backend=cpu", NULL};
  struct mill_simulation *a = net(text, cpu, 2), *b = net(text, gpu, 2);
  const bool made_there = !b->projection[0].row;
  mill_plastic_flush(b);
  ok(made_there && b->plastic[0]->syn[0] &&
         memcmp(a->plastic[0]->syn[0], b->plastic[0]->syn[0], a->projection[0].synapses * (a->file->precision ? 8 : 4)) == 0 &&
         mill_simulation_weight_hash(a) == mill_simulation_weight_hash(b),
     "plastic weights before the first step, %s", precision);
  mill_simulation_free(a);
  mill_simulation_free(b);
}

static void check_reals(const char *precision, const char *projection)
{
  char text[2048], outside[4096], as[64];
  const char *const how[] = {as, "strategy.delivery=shared-memory", "simulation.backend=cpu", NULL};
  struct mill_error error, want;
  mill_cu_address column;
  void *real;
  uint32_t bytes;
  snprintf(as, sizeof as, "simulation.precision=%s", precision);
  snprintf(text, sizeof text, "%s[projection.a]\nsource = p\ntarget = p\nsynapse = stdp\nw_max = 2\n%s", cells, projection);
  snprintf(outside, sizeof outside, "%sweight = uniform(0, 2.01)\n", text);
  strncat(text, "weight = uniform(0, 2)\n", sizeof text - strlen(text) - 1);
  struct mill_simulation *sim = net(text, how, 2), *refused = net_open(outside, how, 2, &want);
  make_again(sim);
  bytes = sim->file->precision ? 8 : 4;
  real = calloc(sim->projection[0].synapses + 1, bytes);
  if (!real || mill_gpu_make_reals(sim, 0, &column, &error) < 0)
    bail("%s", error.text);
  const struct mill_laid laid = mill_gpu_laid(sim, 0);
  if (mill_column_move(sim->gpu->cuda, sim->team, &laid, &sim->rows[0], real, bytes, column, 1, &error) < 0)
    bail("%s", error.text);
  ok(sim->projection[0].synapses > 5000 && memcmp(real, sim->plastic[0]->syn[0], sim->projection[0].synapses * bytes) == 0,
     "initial weights of plastic synapses, %s", precision);
  sim->file->projection[0].weight.b = 2.01;
  ok(!refused && mill_gpu_make_reals(sim, 0, &column, &error) < 0 && !column, "one that the rule does not allow, %s", precision);
  ok(strchr(error.text, ']') && strstr(want.text, "lies outside") &&
         strcmp(strstr(error.text, ", of the synapse"), strstr(want.text, ", of the synapse")) == 0,
     "is refused as on the host: %s", error.text);
  free(real);
  mill_simulation_free(sim);
}

int main(void)
{
  const char *longer = getenv("SPIKEMILL_LONG");
  enum gpu gpu;
  plan_later();
  gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  check_random(gpu == GPU_REAL || (longer && *longer == '1') ? 300 : 10);
  check_special();
  check_lists();
  check_unmoved("single");
  check_unmoved("double");
  check_reals("single", "rule = fixed-probability(0.1)\ndelay = 1\n");
  check_reals("double", "rule = fixed-total(30000)\nmultapses = yes\ndelay = uniform(1, 9)\n");
  check_refused("a delay below half a step",
                "[projection.a]\nsource = p\ntarget = p\nrule = fixed-probability(0.01)\nweight = 1\ndelay = uniform(0, 1)\n");
  check_refused(
      "a delay that is too long",
      "[projection.a]\nsource = p\ntarget = p\nrule = fixed-total(500)\nmultapses = yes\nweight = 1\ndelay = normal(6000, 2000)\n");
  check_refused("weights that are too small beside others",
                "[projection.a]\nsource = p\ntarget = p\nrule = fixed-probability(0.1)\nweight = uniform(1e-9, 2e-9)\ndelay = 1\n"
                "[projection.b]\nsource = p\ntarget = p\nrule = fixed-probability(0.1)\nweight = 20\ndelay = 1\n");
  check_refused("more sources than there are",
                "[projection.a]\nsource = p\ntarget = p\nrule = fixed-indegree(701)\nweight = 1\ndelay = 1\n");
  return done_testing();
}
