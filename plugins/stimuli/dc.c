/* DC stimulus: the same constant current into every neuron, from one time to another. */
#include <spikemill/device.h>
#include <spikemill/stimulus.h>

struct values {
  double amplitude, start, stop;
};

struct source {
  double amplitude;
  int64_t start, stop; /* steps: first, and one past the last */
};

static int prepare(const struct mill_host *host, const void *params, const struct mill_stimulus_target *target, void **self,
                   struct mill_error *error)
{
  const struct values *values = (const struct values *)params;
  struct source source = {values->amplitude, 0, INT64_MAX}, *copy;
  *self = NULL;
  if (mill_stimulus_window(host, target, values->start, values->stop, &source.start, &source.stop, error) < 0)
    return -1;
  copy = (struct source *)host->allocate("stimulus", 1, sizeof *copy);
  if (!copy)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  *copy = source;
  *self = copy;
  return 0;
}

static int current(const void *self, int64_t step, double *value)
{
  const struct source *source = (const struct source *)self;
  if (step < source->start || step >= source->stop)
    return 0;
  *value = source->amplitude;
  return 1;
}

static void release(const struct mill_host *host, void *self)
{
  host->release(self);
}

static const struct mill_param_spec params[] = {
    {"amplitude", "", NULL, NULL, "current, in the unit of the model's current", -1e30, 1e30, offsetof(struct values, amplitude),
     MILL_REAL, MILL_REQUIRED},
    {"start", "ms", "0", NULL, "begin: steps from this time on", 0, 9e9, offsetof(struct values, start), MILL_REAL, 0},
    {"stop", "ms", "-1", NULL, "end: steps before this time; -1 for never", -1, 9e9, offsetof(struct values, stop), MILL_REAL, 0},
};

static const struct mill_stimulus_ops ops = {.prepare = prepare, .current = current, .release = release};

MILL_PLUGIN(MILL_STIMULUS, MILL_CPU | MILL_CUDA | MILL_EXACT, "dc", "constant current into every neuron", sizeof(struct values), params,
            sizeof params / sizeof *params, ops);
