/* Variants and their runs. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "variant.h"

#include <stdlib.h>
#include <string.h>

#include <spikemill/plugin.h>
#include "registry.h"
#include "text.h"

static const struct axis {
  const char *option, *key;
  int kind; /* of plugins that "all" lists */
} axes[MILL_AXIS_COUNT] = {
    [MILL_AXIS_DELIVERY] = {"delivery", "strategy.delivery", MILL_DELIVERY},
    [MILL_AXIS_PLASTICITY] = {"plasticity", "strategy.plasticity", MILL_PLASTICITY},
    [MILL_AXIS_BACKEND] = {"backend", "simulation.backend", 0},
    [MILL_AXIS_PRECISION] = {"precision", "simulation.precision", 0},
    [MILL_AXIS_THREADS] = {"threads", NULL, 0},
};

int mill_variants_axis(struct mill_variants *v, enum mill_axis axis, const char *text, struct mill_error *error)
{
  if (v->list[axis])
    return mill_fail(error, MILL_USAGE, "--%s is given twice", axes[axis].option);
  if (strcmp(text, "all") == 0 && axes[axis].kind) {
    v->list[axis] = mill_plugin_list(axes[axis].kind, NULL, NULL);
    for (v->length[axis] = 0; v->list[axis] && v->list[axis][v->length[axis]];)
      v->length[axis]++;
  } else {
    v->list[axis] = mill_text_list(text, &v->length[axis]);
  }
  if (!v->list[axis])
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (size_t i = 0; i < v->length[axis]; i++) {
    int64_t threads;
    for (size_t k = 0; k < i; k++) {
      if (strcmp(v->list[axis][i], v->list[axis][k]) == 0)
        return mill_fail(error, MILL_USAGE, "--%s: `%s` is listed twice", axes[axis].option, v->list[axis][i]);
    }
    if (v->list[axis][i][0] == 0)
      return mill_fail(error, MILL_USAGE, "--%s: an empty item in `%s`", axes[axis].option, text);
    if (axis == MILL_AXIS_THREADS && mill_option_int("threads", v->list[axis][i], 1, 4096, &threads, error) < 0)
      return -1;
  }
  if (v->length[axis] == 0)
    return mill_fail(error, MILL_USAGE, "--%s: nothing to compare", axes[axis].option);
  return 0;
}

static int name_variant(const struct mill_variants *v, struct mill_variant *variant)
{
  char name[512] = "";
  for (int a = 0; a < MILL_AXIS_COUNT; a++) {
    size_t n = strlen(name);
    if (v->length[a] < 2 || !variant->value[a])
      continue;
    mill_text_format(name + n, sizeof name - n, "%s%s%s", n ? ", " : "", variant->value[a],
                     a != MILL_AXIS_THREADS                ? ""
                     : strcmp(variant->value[a], "1") == 0 ? " thread"
                                                           : " threads");
  }
  variant->name = strdup(*name ? name : "as configured");
  return variant->name ? 0 : -1;
}

int mill_variants_cross(struct mill_variants *v, uint32_t repeat, struct mill_error *error)
{
  size_t count = 1;
  for (int a = 0; a < MILL_AXIS_COUNT; a++) {
    count *= v->list[a] ? v->length[a] : 1;
    if (count > 1000)
      return mill_fail(error, MILL_USAGE, "more than 1000 variants");
  }
  v->variant = calloc(count, sizeof *v->variant);
  if (!v->variant)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  v->count = (uint32_t)count;
  for (uint32_t i = 0; i < v->count; i++) {
    struct mill_variant *variant = &v->variant[i];
    size_t rest = i;
    for (int a = MILL_AXIS_COUNT - 1; a >= 0; a--) {
      if (!v->list[a])
        continue;
      variant->value[a] = v->list[a][rest % v->length[a]];
      rest /= v->length[a];
    }
    if (variant->value[MILL_AXIS_THREADS]) {
      int64_t threads = 0;
      mill_text_int(variant->value[MILL_AXIS_THREADS], &threads);
      variant->threads = (uint32_t)threads;
    }
    variant->seconds = calloc(repeat + 1u, sizeof *variant->seconds);
    if (!variant->seconds || name_variant(v, variant) < 0)
      return mill_fail(error, MILL_RESOURCES, "out of memory");
  }
  return 0;
}

void mill_variants_free(struct mill_variants *v)
{
  for (uint32_t i = 0; i < v->count; i++) {
    free(v->variant[i].name);
    free(v->variant[i].seconds);
  }
  free(v->variant);
  for (int a = 0; a < MILL_AXIS_COUNT; a++)
    free(v->list[a]);
}

int mill_variant_run(struct mill_variant *variant, const char *path, const struct mill_overrides *overrides,
                     void (*sink)(const struct mill_event *events, size_t n, void *self), void *self, struct mill_error *error)
{
  struct mill_overrides all = {0};
  struct mill_options how = {0};
  struct mill_simulation *sim = NULL;
  struct mill_simulation_report report;
  int rc = 0;
  for (size_t i = 0; rc == 0 && i < overrides->count; i++)
    rc = mill_override_add(&all, overrides->text[i], error);
  for (int a = 0; rc == 0 && a < MILL_AXIS_COUNT; a++) {
    if (axes[a].key && variant->value[a])
      rc = mill_override_set(&all, axes[a].key, variant->value[a], error);
  }
  how.overrides = (const char *const *)all.text;
  how.override_count = all.count;
  how.threads = variant->threads;
  if (rc == 0)
    rc = mill_simulation_open(path, &how, &sim, error);
  if (rc == 0) {
    mill_simulation_listen(sim, sink, self);
    rc = mill_advance_all(sim, NULL, error);
  }
  if (rc == 0) {
    mill_simulation_report(sim, &report);
    variant->seconds[variant->runs++] = report.wall_s;
    variant->spike_hash = report.spike_hash;
    variant->weight_hash = mill_simulation_weight_hash(sim);
    variant->memory_bytes = report.memory_bytes;
    variant->precision = report.precision;
  }
  mill_simulation_free(sim);
  mill_overrides_free(&all);
  return rc;
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

int mill_variant_difference(const struct mill_variant *a, const struct mill_variant *b, const char *path,
                            const struct mill_overrides *overrides, char *text, size_t size, struct mill_error *error)
{
  struct tape tapes[2] = {{0}, {0}};
  double unused[2];
  char left[96], right[96];
  size_t at = 0;
  int rc = 0;
  for (int i = 0; rc == 0 && i < 2; i++) {
    struct mill_variant copy = i ? *b : *a;
    copy.seconds = unused;
    copy.runs = 0;
    rc = mill_variant_run(&copy, path, overrides, record, &tapes[i], error);
  }
  if (rc == 0 && (tapes[0].full || tapes[1].full))
    rc = mill_fail(error, MILL_RESOURCES, "out of memory for the spikes of both variants");
  if (rc == 0) {
    while (at < tapes[0].count && at < tapes[1].count && tapes[0].event[at].tick == tapes[1].event[at].tick &&
           tapes[0].event[at].unit == tapes[1].event[at].unit)
      at++;
    if (at == tapes[0].count && at == tapes[1].count) {
      mill_text_format(text, size, "`%s` and `%s`: the same spikes, other weights", a->name, b->name);
    } else {
      describe(left, sizeof left, &tapes[0], at);
      describe(right, sizeof right, &tapes[1], at);
      mill_text_format(text, size, "first difference, spike %zu: in `%s` %s, in `%s` %s", at + 1, a->name, left, b->name, right);
    }
  }
  free(tapes[0].event);
  free(tapes[1].event);
  return rc;
}
