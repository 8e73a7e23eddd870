/* A synapse between two neurons that repeat the spikes of files: what a rule makes of two trains. Times are multiples of DT below 400 ms. */
#ifndef REPLAY_H
#define REPLAY_H

#include <math.h>

#include "net.h"

#define DT 0.1

struct train {
  int count;
  double ms[64];
};

/* The final weight of a synapse that has heard both trains; keys are lines for its section. */
static inline double replay(const char *rule, const char *keys, double w, double delay, const struct train *pre, const struct train *post,
                            const char *plasticity)
{
  static const char *const names[] = {"pre.csv", "post.csv"};
  char folder[] = "/tmp/mill-stdp-XXXXXX", path[128], text[4096], line[512], config[160];
  struct mill_simulation *sim = NULL;
  struct mill_error error = {0};
  double value = -1;
  FILE *f;
  if (!mkdtemp(folder))
    bail("no folder");
  for (int i = 0; i < 2; i++) {
    const struct train *train = i ? post : pre;
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    f = fopen(path, "w");
    fputs("time_ms,neuron\n", f);
    for (int k = 0; k < train->count; k++)
      fprintf(f, "%.1f,0\n", train->ms[k]);
    fclose(f);
  }
  snprintf(text, sizeof text,
           "[simulation]\nduration = 400\nprecision = double\n[strategy]\nplasticity = %s\n"
           "[population.pre]\nmodel = parrot\nsize = 1\n[population.post]\nmodel = parrot\nsize = 1\n"
           "[stimulus.pre]\ntype = spike-file\ntarget = pre\nreceptor = in\nweight = 1\nfile = %s/pre.csv\n"
           "[stimulus.post]\ntype = spike-file\ntarget = post\nreceptor = in\nweight = 1\nfile = %s/post.csv\n"
           "[projection.s]\nsource = pre\ntarget = post\nrule = all-to-all\nreceptor = none\nsynapse = %s\nweight = %.17g\ndelay = %.17g\n%s"
           "[record]\nspikes = none\nweights = s\n",
           plasticity, folder, folder, rule, w, delay, keys);
  snprintf(config, sizeof config, "%s/net.ini", folder);
  f = fopen(config, "w");
  fputs(text, f);
  fclose(f);
  const struct mill_options how = {NULL, 0, 1, folder, NULL};
  if (mill_simulation_open(config, &how, &sim, &error) < 0 || mill_simulation_advance(sim, 4000, &error) < 0 ||
      mill_simulation_finish(sim, 1, &error) < 0)
    bail("%s", error.text);
  mill_simulation_free(sim);
  snprintf(path, sizeof path, "%s/weights.csv", folder);
  f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    if (strncmp(line, "s,", 2) == 0)
      sscanf(line, "s,pre,%*d,post,%*d,%lf", &value);
  }
  if (!f)
    bail("no weights");
  fclose(f);
  unlink(path);
  unlink(config);
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
  return value;
}

#endif
