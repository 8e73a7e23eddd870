/* Random small networks with plasticity: every rule, and a rule without a closed form, which is one of the tests' plugins; delays from 1 to 100
   steps, one for all or drawn; weights of every kind, autapses, multapses; several plastic projections from one population and into one;
   sources that are silent for longer than a history, neurons that fire in every step, runs across 2^24 and 2^31 steps. */
#ifndef PLASTIC_NETWORKS_H
#define PLASTIC_NETWORKS_H

#include <stdlib.h>

#include "random.h"

enum { PLASTIC_POPULATIONS = 4, PLASTIC_STEPS = 700, PLASTIC_LONG_STEPS = 1600 /* paper-stdp acts after silences of 138 ms */ };

static const char *const plastic_rules[] = {"stdp", "stdp-nearest", "stdp-triplet",   "paper-stdp",
                                            "stp",  "static",       "no-closed-form", NULL};

struct plastic_network {
  struct text text;
  uint32_t steps, least; /* length of the run; no delay is shorter */
  int64_t t0;
};

static inline void plastic_population(struct plastic_network *n, int index)
{
  struct text *t = &n->text;
  const uint32_t many = index == 0 && draw(2) ? 257 + draw(300) : 0; /* more rows than a block of them on a device */
  put(t, "[population.p%d]\nsize = %u\n", index, many ? many : draw(20) == 0 ? 1 : 1 + draw(draw(6) ? 40 : 120));
  switch (index == 0 ? 0 : index == 1 ? 2 : 1 + draw(4)) {
  case 0:
    put(t, "model = poisson\nrate = %s\n",
        many ? pick((const char *const[]){"0.5", "20", NULL}) : pick((const char *const[]){"0.5", "5", "60", "400", NULL}));
    break;
  case 2: /* by itself, every 32 or 9 ms */
    put(t, "model = lif-delta\nv = uniform(0, 20)\ne_l = %s\n", pick((const char *const[]){"25", "55", NULL}));
    break;
  case 1: /* in every step */
    put(t, "model = lif-delta\nt_ref = 0.1\nv = 25\nv_th = 20\nv_reset = 20\n");
    break;
  default:
    put(t, "model = lif-delta\nv = uniform(0, 22)\nt_ref = %s\n", pick((const char *const[]){"2", "0.5", "0.1", NULL}));
  }
}

static inline void plastic_weights(struct text *t, const char *rule)
{
  if (strcmp(rule, "paper-stdp") == 0)
    put(t, "weight = %s\nscale = 2e4\n", pick((const char *const[]){"uniform(0, 3e-4)", "1.5e-4", NULL}));
  else if (strcmp(rule, "static") == 0 || strcmp(rule, "stp") == 0)
    put(t, "weight = %s\n",
        pick((const char *const[]){"2", "-1.5", "normal(1, 0.7)", "uniform(-1, 3)", "lognormal(0, 0.5)", NULL}));
  else
    put(t, "weight = %s\nw_max = 6\n", pick((const char *const[]){"3", "uniform(0, 6)", "normal-clipped(3, 2, 0, 6)", NULL}));
}

static inline void plastic_delay(struct plastic_network *n)
{
  static const uint32_t range[][2] = {{1, 1}, {3, 3}, {15, 15}, {1, 100}, {1, 10}, {30, 100}, {100, 100}};
  const uint32_t *r = range[draw(sizeof range / sizeof *range)];
  const uint32_t low = r[0] < n->least ? n->least : r[0], high = r[1] < low ? low : r[1];
  if (low == high)
    put(&n->text, "delay = %u.%u\n", low / 10, low % 10);
  else
    put(&n->text, "delay = uniform(%u.%u, %u.%u)\n", low / 10, low % 10, high / 10, high % 10);
}

static inline void plastic_projection(struct plastic_network *n, uint32_t index)
{
  static const char *const connect[] = {"fixed-probability(0.3)", "fixed-probability(0.3)", "all-to-all", NULL};
  struct text *t = &n->text;
  const char *rule = index == 0 ? "stdp" : pick(plastic_rules);
  const uint32_t multapses = draw(4) == 0, source = draw(PLASTIC_POPULATIONS), target = 1 + draw(PLASTIC_POPULATIONS - 1);
  put(t, "[projection.c%u]\nsource = p%u\ntarget = p%u\n", index, source, target);
  put(t, "rule = %s\nmultapses = %s\nautapses = %s\n", multapses ? "fixed-total(200)" : pick(connect), multapses ? "yes" : "no",
      multapses || draw(2) ? "yes" : "no");
  put(t, "synapse = %s\n", rule);
  plastic_delay(n);
  plastic_weights(t, rule);
  if (strncmp(rule, "stdp", 4) == 0 && strcmp(rule, "stdp-triplet") != 0)
    put(t, "lambda = 0.05\nmu_plus = %s\nmu_minus = %s\ntau_plus = %s\n", pick((const char *const[]){"0", "1", "0.4", NULL}),
        pick((const char *const[]){"0", "1", "0.4", NULL}), pick((const char *const[]){"1", "17", "200", NULL}));
}

/* Models of all networks and a synapse of every rule, between neurons that never fire, so that networks have their program in common. */
static inline void plastic_prologue(struct plastic_network *n)
{
  put(&n->text, "[population.z0]\nmodel = poisson\nsize = 0\n[population.z1]\nmodel = lif-delta\nsize = 0\n"
                "[population.z2]\nmodel = parrot\nsize = 1\n");
  for (uint32_t i = 0; plastic_rules[i]; i++) {
    const char *rule = plastic_rules[i];
    put(&n->text, "[projection.z%u]\nsource = z2\ntarget = z2\nreceptor = none\nrule = all-to-all\nautapses = yes\nsynapse = %s\n",
        i, rule);
    put(&n->text, "delay = %u.%u\n%s\n", n->least / 10, n->least % 10,
        strcmp(rule, "paper-stdp") == 0                           ? "weight = 2e-4\nscale = 2e4"
        : strcmp(rule, "stp") == 0 || strcmp(rule, "static") == 0 ? "weight = 2"
                                                                  : "weight = 2\nw_max = 6");
  }
}

/* Network `seed`. With `kind` from 0 to 2, its precision and the width of its cells are those of that kind, and all networks of a kind are one
   program on a device; -1: as drawn, and the program is its own. */
static inline void plastic_network(struct plastic_network *n, uint32_t seed, int kind)
{
  static const char *const precision[] = {"single", "double", "single", "double"};
  static const char *const cells[] = {"int32", "int64", "int64", "int32"};
  static const int64_t starts[] = {0, 0, 16777211, INT64_C(2147483643)};
  const int common = kind >= 0;
  size_t from;
  random_seed(seed);
  n->text.used = 0;
  n->least = (const uint32_t[]){1, 1, 2, 4, 7, 15, 31, 32, 40}[draw(9)];
  n->t0 = starts[draw(4)];
  kind = kind < 0 ? (int)draw(4) : kind;
  put(&n->text, "[simulation]\nduration = 160\nseed = %u\nprecision = %s\naccumulate = %s\nt0 = %lld\n", seed, precision[kind],
      cells[kind], (long long)n->t0);
  if (common)
    plastic_prologue(n);
  from = n->text.used;
  for (int i = 0; i < PLASTIC_POPULATIONS; i++)
    plastic_population(n, i);
  for (uint32_t i = 0, count = 3 + draw(4); i < count; i++)
    plastic_projection(n, i);
  n->steps = strstr(n->text.buffer + from, "paper-stdp") ? PLASTIC_LONG_STEPS : PLASTIC_STEPS;
}

/* The rule without a closed form is one of the tests' own plugins. */
static inline void plastic_plugins(void)
{
  const char *path = getenv("SPIKEMILL_PLUGIN_PATH"), *top = getenv("top_builddir");
  char longer[4096];
  if (path && top && snprintf(longer, sizeof longer, "%s:%s/tests/plugins/.libs", path, top) < (int)sizeof longer)
    setenv("SPIKEMILL_PLUGIN_PATH", longer, 1);
}

#endif
