/* Recording: each epoch's spikes in order of (step, neuron) to the hash, the counters and the background writer; samples of state
   variables and weights as CSV. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "simulation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/spikemill.h>
#include "memory.h"
#include "output.h"
#include "text.h"

static char *output_path(const struct mill_simulation *sim, const char *name)
{
  size_t n = strlen(sim->folder) + strlen(name) + 2;
  char *path = malloc(n);
  if (path)
    mill_text_format(path, n, "%s/%s", sim->folder, name);
  return path;
}

/* Step stamp × dt as an exact decimal of ms. */
static void format_ms(char *buffer, size_t size, int64_t ps)
{
  int n = mill_text_format(buffer, size, "%lld.%09lld", (long long)(ps / 1000000000), (long long)(ps % 1000000000));
  while (n > 0 && buffer[n - 1] == '0')
    buffer[--n] = 0;
  if (n > 0 && buffer[n - 1] == '.')
    buffer[--n] = 0;
}

void mill_write_config(FILE *out, const char *config)
{
  for (const char *line = config; *line;) {
    size_t n = strcspn(line, "\n");
    fprintf(out, "# config %.*s\n", (int)n, line);
    line += n + (line[n] == '\n');
  }
}

/* ---- CSV files ---- */

static int open_table(const struct mill_simulation *sim, struct mill_table *table, const char *name, const char *columns,
                      struct mill_error *error)
{
  table->path = output_path(sim, name);
  if (!table->path)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (mill_output_begin(table->path, &table->part, error) < 0)
    return -1;
  table->out = fopen(table->part, "w");
  if (!table->out)
    return mill_fail(error, MILL_RESOURCES, "%s: %s", table->part, strerror(errno));
  fprintf(table->out, "# spikemill %s\n# seed %llu\n", mill_version(), (unsigned long long)sim->file->seed);
  mill_write_config(table->out, sim->config);
  fprintf(table->out, "%s\n", columns);
  return 0;
}

static void drop_table(struct mill_table *table)
{
  if (table->out)
    fclose(table->out);
  if (table->part)
    mill_output_forget(table->part);
  free(table->path);
  *table = (struct mill_table){0};
}

/* Puts the file in its place, among those of the run. */
static int close_table(struct mill_simulation *sim, struct mill_table *table, int complete, struct mill_error *error)
{
  FILE *out = table->out;
  char *part = table->part;
  int failed;
  fprintf(out, "# spike_hash %016llx\n# complete %s\n", (unsigned long long)mill_spike_hash_value(sim->recorder.hash),
          complete ? "yes" : "no");
  failed = ferror(out);
  table->out = NULL;
  if (fclose(out) != 0 || failed)
    return mill_fail(error, MILL_RESOURCES, "%s: %s", table->path, strerror(errno));
  table->part = NULL;
  if (mill_output_commit(table->path, part, error) < 0)
    return -1;
  sim->recorder.file[sim->recorder.file_count++] = table->path;
  table->path = NULL;
  return 0;
}

/* ---- Weights ---- */

#define WEIGHT_COLUMNS "projection,source_population,source,target_population,target,weight,delay_ms"

static void write_weight(FILE *out, const struct mill_simulation *sim, const struct mill_projection *p, uint32_t source, uint64_t i)
{
  const struct mill_ring *ring = &sim->population[p->target].ring[p->receptor];
  int32_t quanta = p->weight_bits == 0    ? p->weight_all
                   : p->weight_bits == 16 ? ((const int16_t *)p->weight)[i]
                                          : ((const int32_t *)p->weight)[i];
  uint32_t delay = p->delay_bits == 0   ? p->delay_all
                   : p->delay_bits == 8 ? ((const uint8_t *)p->delay)[i]
                                        : ((const uint16_t *)p->delay)[i];
  char weight[32], ms[48];
  mill_text_double(weight, p->plastic ? mill_plastic_weight(p->plastic, i) : quanta * ring->scale);
  format_ms(ms, sizeof ms, delay * sim->file->dt_ps);
  fprintf(out, "%s,%s,%u,%s,%u,%s,%s\n", p->name, sim->population[p->source].name, source, sim->population[p->target].name,
          p->column[i], weight, ms);
}

/* Every weight that is asked for, as it is now. */
static int write_weights(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_record_setup *record = &sim->file->record;
  struct mill_table *table = &sim->recorder.weights;
  char time[48] = "";
  if (record->weights_every) {
    format_ms(time, sizeof time, sim->step * sim->file->dt_ps);
    strcat(time, ",");
  }
  mill_plastic_flush(sim);
  if (mill_build_rows(sim, error) < 0)
    return -1;
  for (uint32_t k = 0; k < record->weight_count; k++) {
    const struct mill_projection *p = &sim->projection[record->weight[k]];
    for (uint32_t s = 0; s < sim->population[p->source].size; s++) {
      for (uint64_t i = p->row[s]; i < p->row[s + 1]; i++) {
        fputs(time, table->out);
        write_weight(table->out, sim, p, s, i);
      }
    }
  }
  sim->recorder.weights_step = sim->step;
  return ferror(table->out) ? mill_fail(error, MILL_RESOURCES, "%s: %s", table->path, strerror(errno)) : 0;
}

int64_t mill_record_next(const struct mill_simulation *sim)
{
  const int64_t every = sim->recorder.weights.out ? sim->file->record.weights_every : 0;
  return every ? (sim->step / every + 1) * every : INT64_MAX;
}

void mill_record_step(struct mill_simulation *sim)
{
  struct mill_recorder *r = &sim->recorder;
  const int64_t every = r->weights.out ? sim->file->record.weights_every : 0;
  if (every && sim->step % every == 0 && !r->failed && write_weights(sim, &r->error) < 0)
    r->failed = 1;
}

/* ---- Opening ---- */

static int open_spikes(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_netfile *file = sim->file;
  struct mill_group *groups = calloc(file->population_count + 1u, sizeof *groups);
  char *path = output_path(sim, file->record.spikes);
  int rc = -1;
  if (!groups || !path) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto done;
  }
  for (uint32_t p = 0; p < file->population_count; p++)
    groups[p] = (struct mill_group){sim->population[p].name, sim->population[p].first, sim->population[p].size};
  {
    const struct mill_stream_info info = {.tick_ps = file->dt_ps,
                                          .start = sim->begun,
                                          .stop = file->t0 + file->duration,
                                          .group_count = file->population_count,
                                          .group = groups,
                                          .seed = file->seed,
                                          .version = mill_version(),
                                          .config = sim->config};
    rc = mill_writer_open(path, NULL, &info, &sim->recorder.writer, error);
  }
done:
  free(groups);
  free(path);
  return rc;
}

/* The rows of the state file: every variable of every chosen neuron. */
static int plan_samples(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_record_setup *record = &sim->file->record;
  struct mill_sample_plan *plan = &sim->recorder.plan;
  const struct mill_range all = {0, UINT32_MAX};
  const struct mill_range *range = record->range_count ? record->range : &all;
  uint32_t ranges = record->range_count ? record->range_count : 1;
  uint64_t n = 0;
  plan->of_variable = calloc(record->variable_count + 1u, sizeof *plan->of_variable);
  if (!plan->of_variable)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (int fill = 0; fill < 2; fill++) {
    n = 0;
    for (uint32_t v = 0; v < record->variable_count; v++) {
      uint32_t size = sim->population[record->variable[v].population].size;
      plan->of_variable[v] = (uint32_t)n;
      for (uint32_t r = 0; r < ranges; r++) {
        for (uint64_t i = range[r].first; i <= range[r].last && i < size; i++, n++) {
          if (fill)
            plan->sample[n] = (struct mill_sample){record->variable[v].population, record->variable[v].state, (uint32_t)i};
        }
      }
    }
    if (n > UINT32_MAX)
      return mill_place_fail(error, &record->place, "neurons", "more than 2^32 values per sample");
    if (!fill) {
      plan->sample = mill_allocate_or_fail("sample plan", n + 1, sizeof *plan->sample, error);
      if (!plan->sample)
        return -1;
    }
  }
  plan->of_variable[record->variable_count] = plan->count = (uint32_t)n;
  for (int g = 0; g < 2; g++) {
    sim->generation[g].sample = mill_allocate_or_fail("samples", n * sim->network.epoch_steps + 1, sizeof(double), error);
    if (!sim->generation[g].sample)
      return -1;
  }
  return 0;
}

int mill_record_prepare(struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_recorder *r = &sim->recorder;
  r->hash = mill_spike_hash_create();
  r->population_spikes = calloc(sim->network.population_count + 1u, sizeof *r->population_spikes);
  return r->hash && r->population_spikes ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
}

int mill_record_open(struct mill_simulation *sim, struct mill_error *error)
{
  const struct mill_record_setup *record = &sim->file->record;
  struct mill_recorder *r = &sim->recorder;
  r->before = r->spikes;
  if (sim->begun != sim->file->t0 && !(r->file_hash = mill_spike_hash_create()))
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (!sim->folder)
    return 0;
  if (mill_output_folder(sim->folder, error) < 0)
    return -1;
  if (record->spikes && open_spikes(sim, error) < 0)
    return -1;
  if (record->variable_count && (plan_samples(sim, error) < 0 || open_table(sim, &r->state, record->state_file,
                                                                            "time_ms,population,neuron,variable,value", error) < 0))
    return -1;
  if (!record->weight_count)
    return 0;
  if (open_table(sim, &r->weights, record->weight_file, record->weights_every ? "time_ms," WEIGHT_COLUMNS : WEIGHT_COLUMNS, error) <
      0)
    return -1;
  r->weights_step = -1;
  return record->weights_every && sim->begun == sim->file->t0 ? write_weights(sim, error) : 0;
}

int mill_record_spares(const struct mill_simulation *sim, const char *path, struct mill_error *error)
{
  const struct mill_record_setup *record = &sim->file->record;
  const char *const name[] = {record->spikes, record->state_file, record->weight_file};
  int rc = 0;
  for (size_t i = 0; rc == 0 && sim->folder && i < sizeof name / sizeof *name; i++) {
    char *own = name[i] ? output_path(sim, name[i]) : NULL;
    if (name[i] && !own)
      rc = mill_fail(error, MILL_RESOURCES, "out of memory");
    else if (own && mill_output_is(path, own))
      rc = mill_fail(error, MILL_USAGE, "%s: is a file that the run writes: expected another name", path);
    free(own);
  }
  return rc;
}

static int reserve(struct mill_recorder *r, uint64_t n)
{
  struct mill_event *bigger;
  uint64_t capacity = r->event_capacity ? r->event_capacity : 1024;
  if (n <= r->event_capacity)
    return 0;
  while (capacity < n)
    capacity *= 2;
  bigger = realloc(r->event, capacity * sizeof *bigger);
  if (!bigger)
    return mill_fail(&r->error, MILL_RESOURCES, "out of memory for the %llu spikes of an epoch", (unsigned long long)n);
  r->event = bigger;
  r->event_capacity = capacity;
  return 0;
}

/* A counting sort by step. This counts: begin[MILL_EPOCH_MAX + 1] is where each step begins; the number of all is returned. */
static uint64_t count_spikes(const struct mill_spike *const *lists, const uint32_t *count, uint32_t populations, uint64_t *begin)
{
  memset(begin, 0, (MILL_EPOCH_MAX + 1) * sizeof *begin);
  for (uint32_t p = 0; p < populations; p++) {
    for (uint32_t k = 0; k < count[p]; k++) {
      for (uint32_t mask = lists[p][k].mask; mask; mask &= mask - 1)
        begin[__builtin_ctz(mask) + 1]++;
    }
  }
  for (uint32_t s = 0; s < MILL_EPOCH_MAX; s++)
    begin[s + 1] += begin[s];
  return begin[MILL_EPOCH_MAX];
}

/* This writes the events, and moves begin on. */
static void sort_spikes(const struct mill_population *population, const struct mill_spike *const *lists, const uint32_t *count,
                        uint32_t populations, int64_t first, uint64_t *begin, struct mill_event *event)
{
  for (uint32_t p = 0; p < populations; p++) {
    for (uint32_t k = 0; k < count[p]; k++) {
      for (uint32_t mask = lists[p][k].mask; mask; mask &= mask - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctz(mask);
        event[begin[bit]++] = (struct mill_event){first + bit + 1, population[p].first + lists[p][k].neuron, 0};
      }
    }
  }
}

/* Spikes that are counted and hashed, to whoever else wants them. */
static int hand_on(struct mill_recorder *r, const struct mill_event *event, uint64_t n)
{
  r->spikes += n;
  if (r->sink && n)
    r->sink(event, n, r->sink_self);
  return r->writer && n ? mill_writer_push(r->writer, event, n, &r->error) : 0;
}

static int record_spikes(struct mill_simulation *sim, const struct mill_event *event, uint64_t n)
{
  struct mill_recorder *r = &sim->recorder;
  for (uint64_t i = 0, p = 0; i < n; i++) {
    uint32_t unit = event[i].unit;
    while (unit < sim->population[p].first || unit - sim->population[p].first >= sim->population[p].size)
      p = unit < sim->population[p].first ? 0 : p + 1;
    r->population_spikes[p]++;
    mill_spike_hash_add(r->hash, event[i].tick, (uint32_t)p, unit - sim->population[p].first);
    if (r->file_hash)
      mill_spike_hash_add(r->file_hash, event[i].tick, (uint32_t)p, unit - sim->population[p].first);
  }
  return hand_on(r, event, n);
}

static int take_spikes(struct mill_simulation *sim, const struct mill_generation *g)
{
  struct mill_recorder *r = &sim->recorder;
  const struct mill_spike *const *lists = (const struct mill_spike *const *)g->spikes;
  const uint32_t populations = sim->network.population_count;
  uint64_t begin[MILL_EPOCH_MAX + 1], n = count_spikes(lists, g->count, populations, begin);
  if (n == 0)
    return 0;
  if (reserve(r, n) < 0)
    return -1;
  sort_spikes(sim->population, lists, g->count, populations, g->first, begin, r->event);
  return record_spikes(sim, r->event, n);
}

static int take_samples(struct mill_simulation *sim, const struct mill_generation *g)
{
  struct mill_recorder *r = &sim->recorder;
  char time[48], value[32];
  for (uint32_t s = 0; s < g->steps; s++) {
    if ((g->first + s + 1) % sim->file->record.every != 0)
      continue;
    format_ms(time, sizeof time, (g->first + s + 1) * sim->file->dt_ps);
    for (uint32_t i = 0; i < r->plan.count; i++) {
      const struct mill_sample *sample = &r->plan.sample[i];
      const struct mill_state_spec *state = &sim->run[sample->population].ops->state[sample->state];
      double x = g->sample[(uint64_t)s * r->plan.count + i];
      if (state->type == MILL_STATE_REAL && !sim->file->precision)
        mill_text_float(value, (float)x);
      else
        mill_text_double(value, x);
      fprintf(r->state.out, "%s,%s,%u,%s,%s\n", time, sim->population[sample->population].name, sample->neuron, state->name, value);
    }
  }
  return ferror(r->state.out) ? mill_fail(&r->error, MILL_RESOURCES, "%s: %s", r->state.path, strerror(errno)) : 0;
}

void mill_record_ordered(struct mill_simulation *sim, const struct mill_generation *g, const struct mill_ordered *epoch)
{
  struct mill_recorder *r = &sim->recorder;
  if (r->failed)
    return;
  mill_spike_hash_records(r->hash, epoch->record, epoch->spikes);
  if (r->file_hash)
    mill_spike_hash_records(r->file_hash, epoch->record, epoch->spikes);
  if (hand_on(r, epoch->event, epoch->spikes) < 0 || (r->state.out && take_samples(sim, g) < 0))
    r->failed = 1;
}

void mill_record_counts(struct mill_simulation *sim, uint64_t *spikes)
{
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    sim->recorder.population_spikes[p] += spikes[p];
    spikes[p] = 0;
  }
}

void mill_record_epoch(struct mill_simulation *sim, const struct mill_generation *g)
{
  struct mill_recorder *r = &sim->recorder;
  if (!r->failed && (take_spikes(sim, g) < 0 || (r->state.out && take_samples(sim, g) < 0)))
    r->failed = 1;
}

int mill_record_close(struct mill_simulation *sim, int complete, struct mill_error *error)
{
  struct mill_recorder *r = &sim->recorder;
  const struct mill_stream_end end = {.events = r->spikes - r->before,
                                      .spike_hash = mill_spike_hash_value(r->file_hash ? r->file_hash : r->hash),
                                      .stop = sim->step,
                                      .complete = complete != 0};
  int rc = 0;
  if (r->failed) {
    if (error)
      *error = r->error;
    mill_record_abandon(sim);
    return -1;
  }
  if (r->writer) {
    struct mill_writer *writer = r->writer;
    r->writer = NULL;
    rc = mill_writer_close(writer, &end, error);
    if (rc == 0)
      r->file[r->file_count++] = output_path(sim, sim->file->record.spikes);
  }
  if (rc == 0 && r->state.out)
    rc = close_table(sim, &r->state, complete, error);
  if (rc == 0 && r->weights.out && !(sim->file->record.weights_every && r->weights_step == sim->step))
    rc = write_weights(sim, error);
  if (rc == 0 && r->weights.out)
    rc = close_table(sim, &r->weights, complete, error);
  return rc;
}

void mill_record_abandon(struct mill_simulation *sim)
{
  struct mill_recorder *r = &sim->recorder;
  if (r->writer)
    mill_writer_abandon(r->writer);
  r->writer = NULL;
  drop_table(&r->state);
  drop_table(&r->weights);
}

void mill_record_free_recorder(struct mill_simulation *sim)
{
  struct mill_recorder *r = &sim->recorder;
  for (uint32_t i = 0; i < r->file_count; i++)
    free(r->file[i]);
  free(r->event);
  free(r->population_spikes);
  free(r->plan.of_variable);
  mill_release(r->plan.sample);
  mill_spike_hash_free(r->hash);
  mill_spike_hash_free(r->file_hash);
}
