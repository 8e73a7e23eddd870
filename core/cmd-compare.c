/* spikemill compare: variants of one network, interleaved; times, memory, and whether the results are the same. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include "ini.h"
#include "memory.h"
#include "output.h"
#include "registry.h"
#include "simulation.h"
#include "text.h"
#include "variant.h"

enum { DELIVERY, PLASTICITY, BACKEND, PRECISION, THREADS, REPEAT, CSV, SET, DURATION, SEED, QUIET, JSON, HELP };
static const struct mill_option options[] = {
    [DELIVERY] = {"delivery", 0, "A,B|all", "delivery strategies", 0},
    [PLASTICITY] = {"plasticity", 0, "A,B|all", "plasticity strategies", 0},
    [BACKEND] = {"backend", 0, "cpu,cuda", "where to run", 0},
    [PRECISION] = {"precision", 0, "single,double", "arithmetic of the neurons; results are compared within one precision", 0},
    [THREADS] = {"threads", 0, "1,2,…", "worker threads", 0},
    [REPEAT] = {"repeat", 0, "N", "timed runs of each variant, interleaved, after one warm-up run (default 3)", 0},
    [CSV] = {"csv", 0, "FILE", "write the table as CSV", 0},
    [SET] = {"set", 0, "SECTION.KEY=VALUE", "override a value of the file; may be repeated", 1},
    [DURATION] = {"duration", 0, "MS", "simulated time", 0},
    [SEED] = {"seed", 0, "N", "seed of every random number", 0},
    [QUIET] = {"quiet", 0, NULL, "exit status only", 0},
    [JSON] = {"json", 0, NULL, "one JSON object on standard output, nothing else", 0},
    [HELP] = {"help", 'h', NULL, "this text", 0},
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
  uint32_t compared; /* variants that have another to equal */
  char *part;        /* of the CSV file */
  FILE *out;
};

static int take(struct request *r, int at, const char *value, struct mill_error *error)
{
  switch (at) {
  case DELIVERY:
  case PLASTICITY:
  case BACKEND:
  case PRECISION:
  case THREADS:
    return mill_variants_axis(&r->variants, axis_of[at], value, error);
  case REPEAT:
    return mill_option_int("repeat", value, 1, 1000, &r->repeat, error);
  case SET:
    return mill_override_add(&r->overrides, value, error);
  case DURATION:
    return mill_override_set(&r->overrides, "simulation.duration", value, error);
  case SEED:
    return mill_override_set(&r->overrides, "simulation.seed", value, error);
  case CSV:
    r->csv = value;
    break;
  case QUIET:
    r->quiet = 1;
    break;
  case JSON:
    r->json = 1;
    break;
  default:
    r->help = 1;
  }
  return 0;
}

static int parse(struct request *r, int argc, char **argv, struct mill_error *error)
{
  struct mill_args args = {argc, argv, 1, 0, 0};
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

static void ignore(const char *line, void *self)
{
  (void)line;
  (void)self;
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
      mill_note_set(ignore, NULL); /* the first run has said it */
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
    r->compared += base != &v->variant[i];
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
  printf("%-36s %10s %10s %10s %8s %10s  %s\n", "variant", "median s", "min s", "max s", "ratio", "memory",
         "hash of spikes:weights");
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *x = &v->variant[i];
    hash_text(hash, sizeof hash, x);
    printf("%-36s %10.4g %10.4g %10.4g %8.3f %10s  %s%s\n", x->name, x->median, x->least, x->most, x->median / v->variant[0].median,
           mill_memory_text(memory, x->memory_bytes), hash, x->differs ? "  DIFFERS" : "");
  }
  if (r->difference[0])
    printf("%s\n", r->difference);
  else if (r->compared == 0)
    puts("nothing to compare: one variant of each precision");
  else
    puts("equal: all variants of one precision gave the same spikes and weights");
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

static int open_csv(struct request *r, struct mill_error *error)
{
  if (mill_output_begin(r->csv, &r->part, error) < 0)
    return -1;
  r->out = fopen(r->part, "w");
  return r->out ? 0 : mill_fail(error, MILL_RESOURCES, "%s: %s", r->csv, strerror(errno));
}

/* The configuration as comments, then a line a variant. */
static int write_csv(struct request *r, struct mill_error *error)
{
  const struct mill_variants *v = &r->variants;
  struct mill_ini *ini = NULL;
  char *config = NULL, *part = r->part, number[4][32], hash[40];
  FILE *out = r->out;
  int failed;
  if (mill_ini_read(r->path, (const char *const *)r->overrides.text, r->overrides.count, &ini, error) < 0)
    return -1;
  config = mill_ini_text(ini);
  mill_ini_free(ini);
  if (!config)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  fprintf(out, "# spikemill %s\n", mill_version());
  mill_write_config(out, config);
  free(config);
  fputs("variant,median_s,min_s,max_s,ratio,memory_bytes,hash\n", out);
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *x = &v->variant[i];
    hash_text(hash, sizeof hash, x);
    fprintf(out, "\"%s\",%s,%s,%s,%s,%llu,%s\n", x->name, mill_text_double(number[0], x->median),
            mill_text_double(number[1], x->least), mill_text_double(number[2], x->most),
            mill_text_double(number[3], x->median / v->variant[0].median), (unsigned long long)x->memory_bytes, hash);
  }
  failed = ferror(out);
  r->out = NULL;
  r->part = NULL;
  if (fclose(out) != 0 || failed) {
    mill_fail(error, MILL_RESOURCES, "%s: %s", r->csv, strerror(errno));
    mill_output_forget(part);
    return -1;
  }
  return mill_output_commit(r->csv, part, error);
}

static int compare(struct request *r, struct mill_error *error)
{
  int rc = 0;
  mill_interrupt_catch();
  if ((r->csv && open_csv(r, error) < 0) || mill_variants_cross(&r->variants, (uint32_t)r->repeat + 1, error) < 0 ||
      run_all(r, error) < 0)
    return -1;
  if (r->json)
    rc = print_json(r, error);
  else if (!r->quiet)
    print(r);
  if (rc == 0 && r->csv)
    rc = write_csv(r, error);
  if (rc < 0)
    return -1;
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
  if (q.out)
    fclose(q.out);
  if (q.part)
    mill_output_forget(q.part);
  mill_overrides_free(&q.overrides);
  mill_variants_free(&q.variants);
  return status;
}
