/* Spike-file stimulus: replays recorded spikes, neuron i of the file's population into neuron i of the target. The core reads the
   file and puts its times on the grid; a spike with stamp s belongs to step s - 1, as one of a neuron in the network would, so it
   is part of the input of step s - 1 + delay. Spikes of one neuron and step add up. */
#include <spikemill/device.h>
#include <spikemill/stimulus.h>

struct values {
  const char *file, *population;
  double delay;
};

struct source {
  struct mill_spike_table table;
  int64_t delay;    /* steps */
  uint32_t largest; /* events of one neuron in one step */
};

static int prepare(const struct mill_host *host, const void *params, const struct mill_stimulus_target *target, void **self,
                   struct mill_error *error)
{
  const struct values *values = (const struct values *)params;
  int64_t ps = mill_round_int64(values->delay * 1e9), delay = ps / target->dt_ps, rest = ps % target->dt_ps;
  struct source *source;
  *self = NULL;
  if (!values->file || !*values->file)
    return host->fail(error, MILL_USAGE, "file: expected the name of a spike file");
  if (values->delay == -1) {
    delay = 1;
    rest = 0;
  } else if (values->delay < 0)
    return host->fail(error, MILL_USAGE, "delay: expected a time of at least a step (%.10g ms), or -1 for one step, not %.10g ms",
                      target->dt, values->delay);
  delay += rest >= target->dt_ps - rest;
  if (delay < 1)
    return host->fail(error, MILL_USAGE, "delay: %.10g ms rounds to 0 steps of %.10g ms; expected at least one step", values->delay,
                      target->dt);
  if (rest)
    host->note("stimulus of `%s`: delay: %.10g ms rounded to %lld step%s, %.10g ms", target->population, values->delay,
               (long long)delay, delay == 1 ? "" : "s", (double)delay * target->dt);
  source = (struct source *)host->allocate("stimulus", 1, sizeof *source);
  if (!source)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  source->delay = delay;
  *self = source;
  return 0;
}

static void events_from(void *self, const struct mill_spike_table *table)
{
  struct source *source = (struct source *)self;
  uint32_t run = 0;
  source->table = *table;
  source->largest = 0;
  for (uint64_t i = 0; i < table->count; i++) {
    run = i && table->step[i] == table->step[i - 1] && table->neuron[i] == table->neuron[i - 1] ? run + 1 : 1;
    source->largest = run > source->largest ? run : source->largest;
  }
}

static uint32_t largest(const void *self)
{
  return ((const struct source *)self)->largest;
}

/* The first event at or after (step, neuron) in the table's order. */
static uint64_t find(const struct mill_spike_table *table, int64_t step, uint32_t neuron)
{
  uint64_t low = 0, high = table->count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (table->step[middle] < step || (table->step[middle] == step && table->neuron[middle] < neuron))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int events(const void *self, const struct mill_stimulus_batch *batch, uint32_t *counts)
{
  const struct source *source = (const struct source *)self;
  const struct mill_spike_table *table = &source->table;
  int64_t stamp = batch->step + 1 - source->delay;
  uint64_t i = find(table, stamp, batch->first);
  if (i == table->count || table->step[i] != stamp || table->neuron[i] - batch->first >= batch->count)
    return 0;
  for (uint32_t n = 0; n < batch->count; n++)
    counts[n] = 0;
  for (; i < table->count && table->step[i] == stamp && table->neuron[i] - batch->first < batch->count; i++)
    counts[table->neuron[i] - batch->first]++;
  return 1;
}

static void release(const struct mill_host *host, void *self)
{
  host->release(self);
}

static const struct mill_param_spec params[] = {
    {"file", "", NULL, NULL, "spike file, relative to the network's", 0, 0, offsetof(struct values, file), MILL_TEXT,
     MILL_REQUIRED},
    {"population", "", NULL, NULL, "population of the file; needed when it has several", 0, 0, offsetof(struct values, population),
     MILL_TEXT, 0},
    {"delay", "ms", "-1", NULL, "from spike to input, rounded to whole steps; -1 for one step", -1, 9e9,
     offsetof(struct values, delay), MILL_REAL, 0},
};

static const struct mill_stimulus_ops ops = {
    .prepare = prepare, .file_key = "file", .events_from = events_from, .largest = largest, .events = events, .release = release};

MILL_PLUGIN(MILL_STIMULUS, MILL_CPU | MILL_CUDA | MILL_EXACT, "spike-file", "recorded spikes from a file", sizeof(struct values), params,
            sizeof params / sizeof *params, ops);
