/* Random small networks without plasticity: every shipped model, connection rule, form of weights and stimulus; delays from 1 step on, one for
   all or drawn; empty populations, single neurons, projections without synapses, neurons that fire in every step, runs across 2^24, 2^31 and
   2^32 steps. Files that a network reads are written beside it. */
#ifndef STATIC_NETWORKS_H
#define STATIC_NETWORKS_H

#include <unistd.h>

#include "random.h"

enum { STATIC_POPULATIONS = 6 };

/* A model as a network is made of it. `weight` is what a spike may bring, `current` what drives it. */
struct static_model {
  const char *name, *lines[4], *receptor[3];
  double weight, current;
};

static const struct static_model static_models[] = {
    {"poisson", {"rate = 5", "rate = 60", "rate = 400", NULL}, {NULL}, 0, 0},
    {"lif-delta",
     {"v = uniform(0, 22)\nt_ref = 2", "v = normal(10, 5)\nt_ref = 0\ntau_m = 7",
      "t_ref = 0\nv = 25\nv_th = 20\nv_reset = 20\ne_l = 30", NULL},
     {"delta", NULL},
     3,
     15},
    {"lif-coba", {"v = uniform(-60, -50)", "i_bg = 25\nt_ref = 1\ng_exc = uniform(0, 0.5)", NULL}, {"exc", "inh", NULL}, 0.7, 6},
    {"iaf-psc-exp", {"i_e = 420", "v = uniform(-70, -54)\ntau_syn_inh = 6", NULL}, {"exc", "inh", NULL}, 400, 500},
    {"iaf-psc-alpha", {"i_e = 420", "v = uniform(-70, -54)\ni_exc = 30", NULL}, {"exc", "inh", NULL}, 300, 500},
    {"iaf-psc-delta", {"i_e = 420", "v = normal(-60, 3)\nt_ref = 1", NULL}, {"delta", NULL}, 5, 500},
    {"iaf-cond-exp", {"i_e = 300\ntau_syn_exc = 1", "g_exc = uniform(0, 20)\ntau_syn_exc = 3", NULL}, {"exc", "inh", NULL}, 8, 300},
    {"izhikevich",
     {"noise = 5", "scheme = published\nr = uniform(0, 1)\nc_span = 15\nd_span = -6", "scheme = euler\ni_e = 5\na_span = 0.05",
      NULL},
     {"in", NULL},
     4,
     6},
    {"parrot", {"", NULL}, {"in", "none", NULL}, 1, 0},
};
enum { STATIC_MODELS = sizeof static_models / sizeof *static_models };

struct static_network {
  struct text text;
  uint32_t tenths, steps; /* dt in 0.1 ms; length of the run */
  uint32_t delay; /* 0, or of all synapses, and the host sends no events: nothing waits in the rings then but after a short epoch */
  uint64_t t0;
  uint32_t size[STATIC_POPULATIONS];
  const struct static_model *model[STATIC_POPULATIONS];
  uint32_t populations, current[STATIC_POPULATIONS];
  char file[8][40];
  uint32_t files;
};

/* A time of so many steps, in ms. */
static inline void put_steps(struct static_network *n, uint64_t steps)
{
  put(&n->text, "%llu.%llu", (unsigned long long)(steps * n->tenths / 10), (unsigned long long)(steps * n->tenths % 10));
}

static inline FILE *static_file(struct static_network *n)
{
  char *path = n->file[n->files++];
  strcpy(path, "/tmp/mill-random-XXXXXX.csv");
  int file = mkstemps(path, 4);
  FILE *out = file < 0 ? NULL : fdopen(file, "w");
  if (!out)
    bail("cannot write to /tmp");
  return out;
}

static inline void static_remove(struct static_network *n)
{
  while (n->files)
    unlink(n->file[--n->files]);
}

static inline void put_population(struct static_network *n, uint32_t i)
{
  const struct static_model *model = &static_models[i == 0 && draw(2) ? 0 : draw(STATIC_MODELS)];
  uint32_t lines = 0;
  n->model[i] = model;
  n->size[i] = draw(12) == 0 ? 0 : draw(10) == 0 ? 1 : 1 + draw(draw(15) == 0 ? 1500 : draw(3) ? 50 : 300);
  while (model->lines[lines])
    lines++;
  put(&n->text, "[population.p%u]\nsize = %u\nmodel = %s\n%s\n", i, n->size[i], model->name, model->lines[draw(lines)]);
}

static inline void put_weight(struct static_network *n, const struct static_model *model, const char *receptor)
{
  const double w = model->weight;
  if (strcmp(receptor, "in") == 0 && strcmp(model->name, "parrot") == 0) {
    put(&n->text, "weight = 1\n");
    return;
  }
  switch (draw(8)) {
  case 0:
    put(&n->text, "weight = %g\n", -w);
    break;
  case 1:
    put(&n->text, "weight = normal(%g, %g)\n", w, 0.7 * w);
    break;
  case 2:
    put(&n->text, "weight = uniform(%g, %g)\n", -w, 2 * w);
    break;
  case 3:
    put(&n->text, "weight = lognormal(%g, 0.5)\n", log(w));
    break;
  case 4:
    put(&n->text, "weight = normal-clipped(%g, %g, 0, %g)\n", w, w, 2 * w);
    break;
  case 5:
    put(&n->text, "weight = normal-truncated(%g, %g, %g, %g)\n", w, w, 0.2 * w, 1.5 * w);
    break;
  default:
    put(&n->text, "weight = %g\n", w);
  }
}

static inline void put_delay(struct static_network *n)
{
  static const uint32_t range[][2] = {{1, 10}, {30, 100}, {1, 100}, {5, 7}, {100, 300}};
  const uint32_t drawn = draw(12), *r = range[drawn % 5];
  put(&n->text, "delay = ");
  if (n->delay) {
    put_steps(n, n->delay);
    put(&n->text, "\n");
    return;
  }
  if (drawn < 5) {
    put(&n->text, "uniform(");
    put_steps(n, r[0]);
    put(&n->text, ", ");
    put_steps(n, r[1]);
    put(&n->text, ")\n");
    return;
  }
  put_steps(n, drawn < 7 ? 1 : drawn < 9 ? 15 : 1 + draw(100));
  put(&n->text, "\n");
}

/* Pairs below sizes, and with them weights of any kind and delays. */
static inline void put_edges(struct static_network *n, uint32_t sources, uint32_t targets, const struct static_model *model,
                             int free_weights)
{
  FILE *out = static_file(n);
  fprintf(out, "source,target,weight,delay\n");
  for (uint32_t i = 0, count = sources && targets ? draw(400) : 0; i < count; i++)
    fprintf(out, "%u,%u,%g,%g\n", draw(sources), draw(targets), free_weights ? model->weight * (1 + draw(64)) / 32 : 1.0,
            (double)(n->tenths * (n->delay ? n->delay : 1 + draw(60))) / 10);
  fclose(out);
  put(&n->text, "rule = file(%s)\nmultapses = yes\nautapses = yes\n", n->file[n->files - 1]);
}

static inline void put_rule(struct static_network *n, uint32_t sources, uint32_t targets, int same)
{
  const int autapses = draw(2) != 0, large = (uint64_t)sources * targets > 60000;
  const uint32_t from = same && !autapses && sources ? sources - 1 : sources,
                 to = same && !autapses && targets ? targets - 1 : targets;
  int multapses = draw(3) == 0;
  put(&n->text, "autapses = %s\n", autapses ? "yes" : "no");
  switch (draw(7)) {
  case 0:
    if (sources == targets && (autapses || !same || !sources)) {
      put(&n->text, "rule = one-to-one\n");
      return;
    }
    put(&n->text, "rule = fixed-probability(%s)\n", large ? "0.01" : "0.1");
    return;
  case 1:
    put(&n->text, "rule = %s\n", large ? "fixed-probability(0.02)" : "all-to-all");
    return;
  case 2:
    put(&n->text, "rule = fixed-probability(%s)\n", pick((const char *const[]){"0", "0.02", large ? "0.05" : "1", NULL}));
    return;
  case 3:
    put(&n->text, "rule = fixed-indegree(%u)\n", !from ? 0 : multapses ? draw(40) : draw(from < 40 ? from + 1 : 40));
    break;
  case 4:
    put(&n->text, "rule = fixed-outdegree(%u)\n", !to ? 0 : multapses ? draw(40) : draw(to < 40 ? to + 1 : 40));
    break;
  case 5:
    put(&n->text, "rule = fixed-total(%u)\n",
        !from || !to ? 0
        : multapses  ? draw(900)
                     : draw(sources * to < 900 ? sources * to + 1 : 900));
    break;
  default:
    put(&n->text, "rule = fixed-probability(%s)\n", large ? "0.02" : "0.3");
    return;
  }
  put(&n->text, "multapses = %s\n", multapses ? "yes" : "no");
}

static inline void put_projection(struct static_network *n, uint32_t i)
{
  uint32_t source = draw(n->populations), target = draw(n->populations), receptors = 0;
  const struct static_model *model;
  const char *receptor;
  for (uint32_t k = 0; k < n->populations && !n->model[target]->receptor[0]; k++)
    target = (target + 1) % n->populations;
  model = n->model[target];
  while (model->receptor[receptors])
    receptors++;
  if (!receptors)
    return;
  receptor = model->receptor[draw(receptors)];
  put(&n->text, "[projection.c%u]\nsource = p%u\ntarget = p%u\nreceptor = %s\n", i, source, target, receptor);
  if (draw(7) == 0 && n->files < 8) {
    put_edges(n, n->size[source], n->size[target], model, strcmp(model->name, "parrot") != 0);
    return;
  }
  put_rule(n, n->size[source], n->size[target], source == target);
  put_weight(n, model, receptor);
  put_delay(n);
}

static inline void put_window(struct static_network *n)
{
  if (draw(2)) {
    put(&n->text, "start = ");
    put_steps(n, n->t0 + draw(n->steps));
    put(&n->text, "\n");
  } else if (draw(2)) {
    put(&n->text, "stop = ");
    put_steps(n, n->t0 + draw(n->steps));
    put(&n->text, "\n");
  }
}

static inline void put_spike_file(struct static_network *n, uint32_t size, const char *receptor, double weight)
{
  FILE *out = static_file(n);
  fprintf(out, "time_ms,neuron\n");
  for (uint32_t k = 0, count = 1 + draw(300); k < count && size; k++) {
    const uint64_t at = (n->t0 + 1 + draw(n->steps)) * n->tenths;
    fprintf(out, "%llu.%llu,%u\n", (unsigned long long)(at / 10), (unsigned long long)(at % 10), draw(size));
  }
  fclose(out);
  put(&n->text, "type = spike-file\nreceptor = %s\nweight = %g\nfile = %s\ndelay = ", receptor, weight, n->file[n->files - 1]);
  put_steps(n, 1 + draw(40));
  put(&n->text, "\n");
}

static inline void put_stimulus(struct static_network *n, uint32_t i)
{
  const uint32_t target = draw(n->populations), kind = draw(4);
  const struct static_model *model = n->model[target];
  const char *receptor = model->receptor[model->receptor[0] && model->receptor[1] ? draw(2) : 0];
  const double weight = strcmp(model->name, "parrot") == 0 ? 1 : model->weight * (draw(3) ? 0.5 : -0.25);
  if (!receptor || (kind == 1 && !model->current) || (kind == 2 && (n->delay || n->files >= 8 || !n->size[target])))
    return;
  put(&n->text, "[stimulus.s%u]\ntarget = p%u\n", i, target);
  if (kind == 1) {
    put(&n->text, "type = dc\namplitude = %g\n", model->current * (1 + draw(8)) / 4);
    put_window(n);
  } else if (kind == 2) {
    put_spike_file(n, n->size[target], receptor, weight);
  } else {
    put(&n->text, "type = poisson\nreceptor = %s\nrate = %s\nweight = %g\n", receptor,
        pick((const char *const[]){"0", "800", "3000", "15000", draw(4) ? "800" : "1e6", NULL}), weight);
    put_window(n);
  }
}

/* All models and the stimulus that devices evaluate, on nothing: so networks have their program in common. */
static inline void put_prologue(struct static_network *n)
{
  for (uint32_t i = 0; i < STATIC_MODELS; i++)
    put(&n->text, "[population.z%u]\nmodel = %s\nsize = 0\n%s\n", i, static_models[i].name, static_models[i].lines[0]);
  put(&n->text, "[stimulus.z]\ntype = poisson\ntarget = z1\nrate = 10\nweight = 1\n");
}

/* Poisson neurons onto a population that takes more than one chunk of 1024 targets of a row's draws. */
static inline void put_wide(struct static_network *n)
{
  put(&n->text, "[population.feed]\nmodel = poisson\nsize = %u\nrate = 60\n", 1 + draw(300));
  put(&n->text, "[population.wide]\nmodel = iaf-psc-delta\ni_e = 300\nsize = %s\n",
      pick((const char *const[]){"1024", "1025", "1500", "2048", "2049", NULL}));
  put(&n->text, "[projection.wide]\nsource = feed\ntarget = wide\nrule = fixed-probability(%s)\n",
      pick((const char *const[]){"0.002", "0.02", "0.2", NULL}));
  put_weight(n, &static_models[5], "delta");
  put_delay(n);
}

/* Network `seed`; with `common`, its program is one of three, by precision and width of cells. */
static inline void static_network(struct static_network *n, uint32_t seed, int common)
{
  static const uint64_t starts[] = {0, 0, 0, 16777211, UINT64_C(2147483643), UINT64_C(4294967290)};
  random_seed(seed);
  n->text.used = 0;
  n->files = 0;
  n->tenths = (const uint32_t[]){1, 1, 1, 5, 10}[draw(5)];
  n->steps = 60 + draw(draw(6) ? 300 : 1600);
  n->delay = draw(3) ? 0 : 1 + draw(32);
  n->t0 = starts[draw(n->tenths == 10 ? 5 : 6)]; /* 64 bits of picoseconds hold no more */
  put(&n->text, "[simulation]\ndt = %u.%u\nduration = ", n->tenths / 10, n->tenths % 10);
  put_steps(n, n->steps);
  put(&n->text, "\nseed = %u\nprecision = %s\naccumulate = %s\nt0 = %llu\n", seed, draw(3) ? "single" : "double",
      draw(3) ? "int32" : "int64", (unsigned long long)n->t0);
  if (common)
    put_prologue(n);
  n->populations = draw(10) ? 3 + draw(STATIC_POPULATIONS - 2) : 1 + draw(2);
  for (uint32_t i = 0; i < n->populations; i++)
    put_population(n, i);
  for (uint32_t i = 0, count = 1 + draw(2 * n->populations + 1); i < count; i++)
    put_projection(n, i);
  for (uint32_t i = 0, count = draw(6); i < count; i++)
    put_stimulus(n, i);
  if (seed % 3 == 2)
    put_wide(n);
  put(&n->text, "[record]\nspikes = none\n");
}

#endif
