#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "fingerprint.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "simulation.h"
#include "text.h"

static void add(XXH64_state_t *state, const void *data, uint64_t bytes)
{
  if (data && bytes)
    XXH64_update(state, data, bytes);
}

static void add_number(XXH64_state_t *state, uint64_t number)
{
  add(state, &number, sizeof number);
}

static void add_real(XXH64_state_t *state, double real)
{
  add(state, &real, sizeof real);
}

static void add_text(XXH64_state_t *state, const char *text)
{
  add(state, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* A plugin with its parameters, but the text of key `except`, which may be NULL. */
static void add_choice(XXH64_state_t *state, const struct mill_choice *choice, const char *except)
{
  static const size_t size[] = {[MILL_REAL] = 8, [MILL_INT] = 8, [MILL_BOOL] = 4, [MILL_CHOICE] = 4};
  const struct mill_plugin *plugin = choice->plugin;
  add_text(state, plugin->name);
  add_text(state, plugin->version);
  for (size_t i = 0; i < plugin->param_count; i++) {
    const struct mill_param_spec *spec = &plugin->params[i];
    const char *place = (const char *)choice->values + spec->offset, *text;
    if (spec->type != MILL_TEXT) {
      add(state, place, size[spec->type]);
    } else if (!except || strcmp(spec->key, except) != 0) {
      memcpy(&text, place, sizeof text);
      add_text(state, text);
    }
  }
}

static void add_simulation(XXH64_state_t *state, const struct mill_simulation *sim)
{
  const struct mill_netfile *file = sim->file;
  add_number(state, (uint64_t)file->dt_ps);
  add_number(state, (uint64_t)file->t0);
  add_number(state, file->seed);
  add_number(state, (uint64_t)file->precision);
}

static void add_population(XXH64_state_t *state, const struct mill_simulation *sim, uint32_t index)
{
  const struct mill_population_run *run = &sim->run[index];
  add_number(state, sim->population[index].size);
  add_choice(state, &sim->file->population[index].model, NULL);
  for (uint32_t r = 0; r < run->ops->receptor_count; r++) {
    add_number(state, run->accumulator[r].bits);
    add_real(state, run->accumulator[r].scale);
  }
}

/* Weights of plastic synapses are state. */
static void add_projection(XXH64_state_t *state, const struct mill_simulation *sim, uint32_t index)
{
  const struct mill_projection *p = &sim->projection[index];
  const uint64_t n = p->synapses;
  add_choice(state, &sim->file->projection[index].synapse, NULL);
  add_number(state, p->source);
  add_number(state, p->target);
  add_number(state, p->receptor);
  add(state, p->row, (sim->population[p->source].size + UINT64_C(1)) * sizeof *p->row);
  add(state, p->column, n * sizeof *p->column);
  add_number(state, p->delay_bits);
  add_number(state, p->delay_all);
  add(state, p->delay, n * p->delay_bits / 8);
  if (p->plastic)
    return;
  add_number(state, p->weight_bits);
  add_number(state, (uint64_t)(int64_t)p->weight_all);
  add(state, p->weight, n * p->weight_bits / 8);
}

static void add_stimulus(XXH64_state_t *state, const struct mill_simulation *sim, uint32_t index)
{
  const struct mill_stimulus_setup *setup = &sim->file->stimulus[index];
  const struct mill_stimulus_run *run = &sim->stimulus[index];
  add_choice(state, &setup->stimulus, run->ops->file_key);
  add_number(state, setup->target);
  add_number(state, run->receptor);
  add_number(state, (uint64_t)run->quanta);
  add(state, run->step, run->steps * sizeof *run->step);
  add(state, run->neuron, run->steps * sizeof *run->neuron);
}

static void finish(XXH64_state_t *state, struct mill_part *part, const char *kind, const char *name)
{
  mill_text_format(part->name, sizeof part->name, "%s%s%s", kind, name ? "." : "", name ? name : "");
  part->hash = XXH64_digest(state);
  XXH64_reset(state, 0);
}

int mill_fingerprint(const struct mill_simulation *sim, struct mill_part **parts, uint32_t *count, struct mill_error *error)
{
  const struct mill_netfile *file = sim->file;
  XXH64_state_t *state = XXH64_createState();
  struct mill_part *part;
  *count = 1 + file->population_count + file->projection_count + file->stimulus_count;
  *parts = part = calloc(*count, sizeof *part);
  if (!state || !part) {
    XXH64_freeState(state);
    free(part);
    *parts = NULL;
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  }
  XXH64_reset(state, 0);
  add_simulation(state, sim);
  finish(state, part++, "simulation", NULL);
  for (uint32_t i = 0; i < file->population_count; i++) {
    add_population(state, sim, i);
    finish(state, part++, "population", file->population[i].name);
  }
  for (uint32_t i = 0; i < file->projection_count; i++) {
    add_projection(state, sim, i);
    finish(state, part++, "projection", file->projection[i].name);
  }
  for (uint32_t i = 0; i < file->stimulus_count; i++) {
    add_stimulus(state, sim, i);
    finish(state, part++, "stimulus", file->stimulus[i].name);
  }
  XXH64_freeState(state);
  return 0;
}
