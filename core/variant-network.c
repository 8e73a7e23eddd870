/* Variants of a network: the time is that of the step loop, the result are its spikes and its weights at the end. Precisions give
   different results, so variants are compared within one. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "variant.h"

#include <stdlib.h>
#include <string.h>

#include <spikemill/format.h>
#include "ini.h"
#include "text.h"

/* `sink` may be NULL. */
static int simulate(const struct mill_variant *variant, const char *path,
                    void (*sink)(const struct mill_event *events, size_t n, void *self), void *self, struct mill_result *result,
                    struct mill_error *error)
{
  const struct mill_options how = {(const char *const *)variant->overrides.text, variant->overrides.count, variant->threads, NULL};
  struct mill_simulation *sim = NULL;
  struct mill_simulation_report report;
  int rc = mill_simulation_open(path, &how, &sim, error);
  if (rc == 0) {
    mill_simulation_listen(sim, sink, self);
    rc = mill_advance_all(sim, NULL, error);
  }
  if (rc == 0 && mill_interrupted())
    rc = mill_fail(error, MILL_INTERRUPTED, "interrupted");
  if (rc == 0) {
    mill_simulation_report(sim, &report);
    result->seconds = report.wall_s;
    result->memory_bytes = report.memory_bytes;
    result->group = report.precision;
    mill_text_format(result->hash, sizeof result->hash, "%016llx:%016llx", (unsigned long long)report.spike_hash,
                     (unsigned long long)mill_simulation_weight_hash(sim));
  }
  mill_simulation_free(sim);
  return rc;
}

static int run(const struct mill_variant *variant, const char *path, struct mill_result *result, struct mill_error *error)
{
  return simulate(variant, path, NULL, NULL, result, error);
}

struct tape {
  struct mill_event *event;
  size_t count, capacity;
  int full;
};

static void record(const struct mill_event *events, size_t n, void *self)
{
  struct tape *tape = self;
  if (tape->count + n > tape->capacity) {
    size_t capacity = 2 * (tape->count + n);
    struct mill_event *bigger = tape->full ? NULL : realloc(tape->event, capacity * sizeof *bigger);
    if (!bigger) {
      tape->full = 1;
      return;
    }
    tape->event = bigger;
    tape->capacity = capacity;
  }
  memcpy(tape->event + tape->count, events, n * sizeof *events);
  tape->count += n;
}

static void describe(char *text, size_t size, const struct tape *tape, size_t at)
{
  if (at < tape->count)
    mill_text_format(text, size, "neuron %u fires at step %lld", tape->event[at].unit, (long long)tape->event[at].tick);
  else
    mill_text_format(text, size, "there is no further spike");
}

static int difference(const struct mill_variant *a, const struct mill_variant *b, const char *path, char **sentence,
                      struct mill_error *error)
{
  const struct mill_variant *variant[2] = {a, b};
  struct tape tapes[2] = {{0}, {0}};
  struct mill_result result;
  char left[96], right[96];
  size_t at = 0;
  int rc = 0;
  for (int i = 0; rc == 0 && i < 2; i++)
    rc = simulate(variant[i], path, record, &tapes[i], &result, error);
  if (rc == 0 && (tapes[0].full || tapes[1].full))
    rc = mill_fail(error, MILL_RESOURCES, "out of memory for the spikes of both variants");
  if (rc < 0)
    goto done;
  while (at < tapes[0].count && at < tapes[1].count && tapes[0].event[at].tick == tapes[1].event[at].tick &&
         tapes[0].event[at].unit == tapes[1].event[at].unit)
    at++;
  describe(left, sizeof left, &tapes[0], at);
  describe(right, sizeof right, &tapes[1], at);
  *sentence = at == tapes[0].count && at == tapes[1].count
                  ? mill_sentence("`%s` and `%s`: the same spikes, other weights", a->name, b->name)
                  : mill_sentence("first difference, spike %zu: in `%s` %s, in `%s` %s", at + 1, a->name, left, b->name, right);
  if (!*sentence)
    rc = mill_fail(error, MILL_RESOURCES, "out of memory");
done:
  free(tapes[0].event);
  free(tapes[1].event);
  return rc;
}

static int config(const struct mill_variant *variant, const char *path, char **text, struct mill_error *error)
{
  struct mill_ini *ini;
  if (mill_ini_read(path, (const char *const *)variant->overrides.text, variant->overrides.count, &ini, error) < 0)
    return -1;
  *text = mill_ini_text(ini);
  mill_ini_free(ini);
  return *text ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
}

const struct mill_subject mill_subject_network = {
    .what = "networks",
    .section = "simulation",
    .hash = "hash of spikes:weights",
    .equal = "all variants of one precision gave the same spikes and weights",
    .alone = "one variant of each precision",
    .key =
        {
            [MILL_AXIS_DELIVERY] = "strategy.delivery",
            [MILL_AXIS_PLASTICITY] = "strategy.plasticity",
            [MILL_AXIS_BACKEND] = "simulation.backend",
            [MILL_AXIS_PRECISION] = "simulation.precision",
            [MILL_AXIS_THREADS] = "",
        },
    .run = run,
    .difference = difference,
    .config = config,
};
