/* A stimulus that breaks the promise that every run gives the same spikes: a current that depends on the number of threads, or one that is
   another one in each network that this process builds. `spikemill compare` must notice (tests/compare.test). */
#include <dirent.h>
#include <spikemill/stimulus.h>

struct values {
  int32_t by;
};
enum { BY_THREADS, BY_RUN };

struct source {
  double amplitude;
};

static int threads(void)
{
  DIR *folder = opendir("/proc/self/task");
  const struct dirent *entry;
  int count = 0;
  while (folder && (entry = readdir(folder)))
    count += entry->d_name[0] != '.';
  if (folder)
    closedir(folder);
  return count;
}

static int prepare(const struct mill_host *host, const void *params, const struct mill_stimulus_target *target, void **self,
                   struct mill_error *error)
{
  static int run;
  struct source *source = host->allocate("stimulus", 1, sizeof *source);
  (void)target;
  *self = source;
  if (!source)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  source->amplitude = 30 + (((const struct values *)params)->by == BY_RUN ? run++ : threads());
  return 0;
}

static int current(const void *self, int64_t step, double *value)
{
  *value = step < 1000 ? 30 : ((const struct source *)self)->amplitude;
  return 1;
}

static void release(const struct mill_host *host, void *self)
{
  host->release(self);
}

static const struct mill_param_spec params[] = {
  {"by", "", NULL, "threads|run", "what the current depends on", 0, 0, offsetof(struct values, by), MILL_CHOICE, MILL_REQUIRED},
};
static const struct mill_stimulus_ops ops = {.prepare = prepare, .current = current, .release = release};
MILL_PLUGIN(MILL_STIMULUS, MILL_CPU, "unsteady", "a current that is not always the same", sizeof(struct values), params, 1, ops);
