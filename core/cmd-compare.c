/* spikemill compare: variants of one network, interleaved; times, memory, and whether the results are the same. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include "memory.h"
#include "output.h"
#include "text.h"
#include "variant.h"

enum { DELIVERY, PLASTICITY, BACKEND, PRECISION, THREADS, REPEAT, CSV, SET, DURATION, SEED, QUIET, JSON, HELP };
static const struct mill_option options[] = {
  [DELIVERY] = {"delivery", 0, "A,B|all", "delivery strategies"},
  [PLASTICITY] = {"plasticity", 0, "A,B|all", "plasticity strategies"},
  [BACKEND] = {"backend", 0, "cpu,cuda", "where to run"},
  [PRECISION] = {"precision", 0, "single,double", "arithmetic of the neurons; results are compared within one precision"},
  [THREADS] = {"threads", 0, "1,2,…", "worker threads"},
  [REPEAT] = {"repeat", 0, "N", "timed runs of each variant, interleaved, after one warm-up run (default 3)"},
  [CSV] = {"csv", 0, "FILE", "write the table as CSV"},
  [SET] = {"set", 0, "SECTION.KEY=VALUE", "override a value of the file; may be repeated"},
  [DURATION] = {"duration", 0, "MS", "simulated time"},
  [SEED] = {"seed", 0, "N", "seed of every random number"},
  [QUIET] = {"quiet", 0, NULL, "exit status only"},
  [JSON] = {"json", 0, NULL, "one JSON object on standard output, nothing else"},
  [HELP] = {"help", 'h', NULL, "this text"},
};
#define COUNT (sizeof options / sizeof *options)
static const enum mill_axis axis_of[] = {[DELIVERY] = MILL_AXIS_DELIVERY,
                                         [PLASTICITY] = MILL_AXIS_PLASTICITY,
                                         [BACKEND] = MILL_AXIS_BACKEND,
                                         [PRECISION] = MILL_AXIS_PRECISION,
                                         [THREADS] = MILL_AXIS_THREADS};

struct request {
  const char *path, *csv;
  struct mill_overrides overrides;
  struct mill_variants variants;
  int64_t repeat;
  int quiet, json, help;
  char difference[512];
};

static int take(struct request *r, int at, const char *value, struct mill_error *error)
{
  switch (at) {
  case DELIVERY:
  case PLASTICITY:
  case BACKEND:
  case PRECISION:
  case THREADS: return mill_variants_axis(&r->variants, axis_of[at], value, error);
  case REPEAT: return mill_option_int("repeat", value, 1, 1000, &r->repeat, error);
  case SET: return mill_override_add(&r->overrides, value, error);
  case DURATION: return mill_override_set(&r->overrides, "simulation.duration", value, error);
  case SEED: return mill_override_set(&r->overrides, "simulation.seed", value, error);
  case CSV: r->csv = value; break;
  case QUIET: r->quiet = 1; break;
  case JSON: r->json = 1; break;
  default: r->help = 1;
  }
  return 0;
}

static int parse(struct request *r, int argc, char **argv, struct mill_error *error)
{
  struct mill_args args = {argc, argv, 1, 0};
  const char *value;
  int at;
  r->repeat = 3;
  while ((at = mill_option_next(&args, options, COUNT, &value, error)) != MILL_ARG_END) {
    if (at == MILL_ARG_ERROR)
      return -1;
    if (at == MILL_ARG_WORD) {
      if (r->path)
        return mill_fail(error, MILL_USAGE, "one file is enough, found `%s` and `%s`", r->path, value);
      r->path = value;
    } else if (take(r, at, value, error) < 0) {
      return -1;
    }
  }
  if (!r->path && !r->help)
    return mill_fail(error, MILL_USAGE, "no file given: spikemill compare NET.ini --threads 1,2");
  return 0;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void summarise(struct mill_variant *v)
{
  qsort(v->seconds, v->runs, sizeof *v->seconds, by_value);
  v->least = v->seconds[0];
  v->most = v->seconds[v->runs - 1];
  v->median = v->runs % 2 ? v->seconds[v->runs / 2] : (v->seconds[v->runs / 2 - 1] + v->seconds[v->runs / 2]) / 2;
}

/* The first variant of the same precision, which the others must equal. */
static const struct mill_variant *reference(const struct mill_variants *v, uint32_t index)
{
  for (uint32_t i = 0; i < index; i++) {
    if (v->variant[i].precision == v->variant[index].precision)
      return &v->variant[i];
  }
  return &v->variant[index];
}

static int run_all(struct request *r, struct mill_error *error)
{
  struct mill_variants *v = &r->variants;
  for (int64_t round = 0; round <= r->repeat; round++) {
    for (uint32_t i = 0; i < v->count; i++) {
      struct mill_variant *variant = &v->variant[i];
      uint64_t spikes = variant->spike_hash, weights = variant->weight_hash;
      if (round > 0 && !r->quiet && !r->json)
        fprintf(stderr, "round %d of %d: %s\n", (int)round, (int)r->repeat, variant->name);
      if (mill_variant_run(variant, r->path, &r->overrides, NULL, NULL, error) < 0)
        return mill_fail_within(error, "%s", variant->name);
      if (mill_interrupted())
        return mill_fail(error, MILL_INTERRUPTED, "interrupted; nothing was compared");
      if (round == 0)
        variant->runs = 0; /* warm-up */
      else if (spikes != variant->spike_hash || weights != variant->weight_hash)
        return mill_fail(error, MILL_DIFFERENT, "`%s` differs from itself: two runs gave other results", variant->name);
    }
  }
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *base = reference(v, i);
    summarise(&v->variant[i]);
    v->variant[i].differs = base->spike_hash != v->variant[i].spike_hash || base->weight_hash != v->variant[i].weight_hash;
    if (v->variant[i].differs && !r->difference[0] &&
        mill_variant_difference(base, &v->variant[i], r->path, &r->overrides, r->difference, sizeof r->difference, error) < 0)
      return -1;
  }
  return 0;
}

static void hash_text(char *text, size_t size, const struct mill_variant *v)
{
  mill_text_format(text, size, "%016llx:%016llx", (unsigned long long)v->spike_hash, (unsigned long long)v->weight_hash);
}

static void print(const struct request *r)
{
  const struct mill_variants *v = &r->variants;
  char hash[40], memory[32];
  printf("%-36s %10s %10s %10s %8s %10s  %s\n", "variant", "median s", "min s", "max s", "ratio", "memory", "hash of spikes:weights");
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *x = &v->variant[i];
    hash_text(hash, sizeof hash, x);
    printf("%-36s %10.4g %10.4g %10.4g %8.3f %10s  %s%s\n", x->name, x->median, x->least, x->most, x->median / v->variant[0].median,
           mill_memory_text(memory, x->memory_bytes), hash, x->differs ? "  DIFFERS" : "");
  }
  printf("%s\n", r->difference[0] ? r->difference : "equal: all variants of one precision gave the same spikes and weights");
}

static int print_json(const struct request *r, struct mill_error *error)
{
  const struct mill_variants *v = &r->variants;
  cJSON *object = cJSON_CreateObject(), *list;
  cJSON_AddStringToObject(object, "version", mill_version());
  cJSON_AddBoolToObject(object, "equal", r->difference[0] == 0);
  cJSON_AddStringToObject(object, "baseline", v->variant[0].name);
  if (r->difference[0])
    cJSON_AddStringToObject(object, "difference", r->difference);
  list = cJSON_AddArrayToObject(object, "variants");
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *x = &v->variant[i];
    cJSON *item = cJSON_CreateObject();
    char hash[40];
    hash_text(hash, sizeof hash, x);
    cJSON_AddStringToObject(item, "name", x->name);
    cJSON_AddNumberToObject(item, "median_s", x->median);
    cJSON_AddNumberToObject(item, "min_s", x->least);
    cJSON_AddNumberToObject(item, "max_s", x->most);
    cJSON_AddNumberToObject(item, "ratio", x->median / v->variant[0].median);
    mill_json_int(item, "memory_bytes", x->memory_bytes);
    cJSON_AddStringToObject(item, "hash", hash);
    cJSON_AddItemToArray(list, item);
  }
  return mill_json_print(object, error);
}

static int write_csv(const struct request *r, struct mill_error *error)
{
  const struct mill_variants *v = &r->variants;
  size_t size = 256 + 256 * (size_t)v->count, n = 0;
  char *text;
  int rc;
  for (uint32_t i = 0; i < v->count; i++)
    size += strlen(v->variant[i].name);
  text = malloc(size);
  if (!text)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  n += (size_t)mill_text_format(text + n, size - n, "# spikemill %s compare %s\nvariant,median_s,min_s,max_s,ratio,memory_bytes,hash\n",
                                mill_version(), r->path);
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *x = &v->variant[i];
    char hash[40];
    hash_text(hash, sizeof hash, x);
    n += (size_t)mill_text_format(text + n, size - n, "\"%s\",%.9g,%.9g,%.9g,%.6g,%llu,%s\n", x->name, x->median, x->least, x->most,
                                  x->median / v->variant[0].median, (unsigned long long)x->memory_bytes, hash);
  }
  rc = mill_output_text(r->csv, text, error);
  free(text);
  return rc;
}

static int compare(struct request *r, struct mill_error *error)
{
  mill_interrupt_catch();
  if (mill_variants_cross(&r->variants, (uint32_t)r->repeat + 1, error) < 0 || run_all(r, error) < 0)
    return -1;
  if (r->csv && write_csv(r, error) < 0)
    return -1;
  if (r->json && print_json(r, error) < 0)
    return -1;
  if (!r->json && !r->quiet)
    print(r);
  return r->difference[0] ? mill_fail(error, MILL_DIFFERENT, "results differ: %s", r->difference) : 0;
}

int mill_cmd_compare(int argc, char **argv)
{
  struct request q = {0};
  struct mill_error error = {0};
  int status = MILL_OK;
  if (parse(&q, argc, argv, &error) < 0)
    status = mill_report_error(&error);
  else if (q.help)
    mill_usage(stdout, "compare NET.ini [option]…",
               "Runs every combination of the listed variants on the same network and compares times and results.\n"
               "Exits with 1 when results differ.",
               options, COUNT);
  else if (compare(&q, &error) < 0)
    status = mill_report_error(&error);
  mill_overrides_free(&q.overrides);
  mill_variants_free(&q.variants);
  return status;
}
