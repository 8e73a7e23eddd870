/* What varies, and the variants that come of it. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "variant.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <spikemill/plugin.h>
#include "cuda/miner.h"
#include "ini.h"
#include "registry.h"
#include "text.h"

static const struct axis {
  const char *option;
  int kind; /* of plugins that "all" lists */
} axes[MILL_AXIS_COUNT] = {
    [MILL_AXIS_DELIVERY] = {"delivery", MILL_DELIVERY}, [MILL_AXIS_PLASTICITY] = {"plasticity", MILL_PLASTICITY},
    [MILL_AXIS_COUNTER] = {"counter", MILL_COUNTER},    [MILL_AXIS_BACKEND] = {"backend", 0},
    [MILL_AXIS_PRECISION] = {"precision", 0},           [MILL_AXIS_THREADS] = {"threads", 0},
};

const char *mill_axis_name(enum mill_axis axis)
{
  return axes[axis].option;
}

char *mill_sentence(const char *format, ...)
{
  va_list arguments;
  char *text;
  int n;
  va_start(arguments, format);
  n = mill_text_vformat(NULL, 0, format, arguments);
  va_end(arguments);
  text = n < 0 ? NULL : malloc((size_t)n + 1);
  if (!text)
    return NULL;
  va_start(arguments, format);
  mill_text_vformat(text, (size_t)n + 1, format, arguments);
  va_end(arguments);
  return text;
}

static int is_folder(const char *path)
{
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int is_ini(const char *path)
{
  size_t n = strlen(path);
  return n > 4 && strcmp(path + n - 4, ".ini") == 0 && !is_folder(path);
}

int mill_is_job(const char *path, int *job, struct mill_error *error)
{
  struct mill_ini *ini;
  *job = 0;
  if (!is_ini(path))
    return 0;
  if (mill_ini_read(path, NULL, 0, &ini, error) < 0)
    return -1;
  *job = mill_ini_section_find(ini, "mining") != NULL;
  mill_ini_free(ini);
  return 0;
}

int mill_subject_find(const char *path, const struct mill_subject **subject, const char **found, struct mill_error *error)
{
  int job;
  if (mill_is_job(path, &job, error) < 0)
    return -1;
  *subject = job || !is_ini(path) ? &mill_subject_mining : &mill_subject_network;
  *found = job ? "a mining job" : is_ini(path) ? "a network file" : is_folder(path) ? "a folder" : "a spike file";
  return 0;
}

/* Moves exact counters before counters of bounds; else the order stays. */
static int put_exact_first(char **list, size_t count, struct mill_error *error)
{
  size_t exact = 0;
  for (size_t i = 0; i < count; i++) {
    char *name = list[i];
    const struct mill_plugin *plugin;
    if (mill_plugin_load(MILL_COUNTER, name, NULL, &plugin, error) < 0)
      return -1;
    if (!(plugin->flags & MILL_EXACT))
      continue;
    memmove(&list[exact + 1], &list[exact], (i - exact) * sizeof *list);
    list[exact++] = name;
  }
  return 0;
}

int mill_variants_axis(struct mill_variants *v, enum mill_axis axis, const char *text, struct mill_error *error)
{
  v->all[axis] = strcmp(text, "all") == 0 && axes[axis].kind;
  if (v->all[axis]) {
    v->list[axis] = mill_plugin_list(axes[axis].kind, NULL, NULL);
    for (v->length[axis] = 0; v->list[axis] && v->list[axis][v->length[axis]];)
      v->length[axis]++;
    if (axis == MILL_AXIS_COUNTER && v->list[axis] && put_exact_first(v->list[axis], v->length[axis], error) < 0)
      return -1;
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

/* " thread", " threads" */
static const char *unit(enum mill_axis axis, const char *value)
{
  return axis != MILL_AXIS_THREADS ? "" : strcmp(value, "1") == 0 ? " thread" : " threads";
}

/* Of the values of those axes that have several. */
static char *name_variant(const struct mill_variants *v, const char *const value[MILL_AXIS_COUNT])
{
  char *name = strdup("");
  for (int a = 0; name && a < MILL_AXIS_COUNT; a++) {
    char *longer;
    if (v->length[a] < 2)
      continue;
    longer = mill_sentence("%s%s%s%s", name, *name ? ", " : "", value[a], unit(a, value[a]));
    free(name);
    name = longer;
  }
  if (name && !*name) {
    free(name);
    name = strdup("as configured");
  }
  return name;
}

static void find_values(const struct mill_variants *v, size_t index, const char *value[MILL_AXIS_COUNT])
{
  for (int a = MILL_AXIS_COUNT - 1; a >= 0; a--) {
    value[a] = NULL;
    if (!v->list[a])
      continue;
    value[a] = v->list[a][index % v->length[a]];
    index /= v->length[a];
  }
}

/* Whether a counter that nobody named cannot do what the backend wants. */
static int is_left_out(const struct mill_variants *v, const char *const value[MILL_AXIS_COUNT])
{
  const struct mill_plugin *plugin;
  return v->all[MILL_AXIS_COUNTER] && value[MILL_AXIS_BACKEND] && strcmp(value[MILL_AXIS_BACKEND], "cuda") == 0 &&
         mill_plugin_load(MILL_COUNTER, value[MILL_AXIS_COUNTER], NULL, &plugin, NULL) == 0 && !mill_miner_device_of(plugin);
}

static int make_variant(const struct mill_variants *v, struct mill_variant *variant, const struct mill_subject *subject,
                        const struct mill_overrides *overrides, uint32_t runs, struct mill_error *error)
{
  const char **value = variant->value;
  int rc = 0;
  for (size_t i = 0; rc == 0 && i < overrides->count; i++)
    rc = mill_override_add(&variant->overrides, overrides->text[i], error);
  for (int a = 0; rc == 0 && a < MILL_AXIS_COUNT; a++) {
    if (value[a] && *subject->key[a])
      rc = mill_override_set(&variant->overrides, axes[a].option, subject->key[a], value[a], error);
  }
  if (value[MILL_AXIS_THREADS]) {
    int64_t threads = 0;
    mill_text_int(value[MILL_AXIS_THREADS], &threads);
    variant->threads = (uint32_t)threads;
  }
  variant->seconds = calloc(runs, sizeof *variant->seconds);
  variant->name = name_variant(v, value);
  if (rc == 0 && (!variant->seconds || !variant->name))
    rc = mill_fail(error, MILL_RESOURCES, "out of memory");
  return rc;
}

int mill_variants_cross(struct mill_variants *v, const struct mill_subject *subject, const struct mill_overrides *overrides,
                        uint32_t runs, struct mill_error *error)
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
  const char *told = NULL;
  for (size_t i = 0; i < count; i++) {
    struct mill_variant *variant = &v->variant[v->count];
    find_values(v, i, variant->value);
    if (is_left_out(v, variant->value)) {
      if (told != variant->value[MILL_AXIS_COUNTER])
        mill_note("`%s` is left out with cuda: it has no text for a GPU", variant->value[MILL_AXIS_COUNTER]);
      told = variant->value[MILL_AXIS_COUNTER];
      continue;
    }
    v->count++;
    if (make_variant(v, variant, subject, overrides, runs, error) < 0)
      return -1;
  }
  return v->count ? 0 : mill_fail(error, MILL_USAGE, "nothing to compare");
}

void mill_variants_free(struct mill_variants *v)
{
  for (uint32_t i = 0; i < v->count; i++) {
    free(v->variant[i].name);
    free(v->variant[i].seconds);
    free(v->variant[i].level_seconds);
    mill_overrides_free(&v->variant[i].overrides);
  }
  free(v->variant);
  for (int a = 0; a < MILL_AXIS_COUNT; a++)
    free(v->list[a]);
}

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double mill_variant_median(double *seconds, uint32_t runs)
{
  qsort(seconds, runs, sizeof *seconds, by_value);
  return runs % 2 ? seconds[runs / 2] : (seconds[runs / 2 - 1] + seconds[runs / 2]) / 2;
}
