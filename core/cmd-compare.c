/* spikemill compare: variants of one network or one mining job, interleaved; times, memory, and whether the results are the same. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include "compare-levels.h"
#include "memory.h"
#include "output.h"
#include "registry.h"
#include "simulation.h"
#include "text.h"
#include "variant.h"

struct request {
  struct mill_request common;
  const char *axis[MILL_AXIS_COUNT]; /* as given */
  const char *csv;
  int64_t repeat;
  const struct mill_subject *subject;
  struct mill_variants variants;
  char *difference;    /* the first, NULL: none */
  uint32_t compared;   /* variants that have another to equal */
  uint32_t bounds;     /* variants that have another to be a bound for, */
  uint32_t peers;      /* or bounds of the same counter to equal */
  char *part, *config; /* of the CSV file */
  FILE *out;
};

#define AXIS(name, value, doc, index) MILL_ROW_TEXT(name, 0, value, doc, struct request, axis[index])
static const struct mill_row rows[] = {
    AXIS("delivery", "A,B|all", "delivery strategies (networks)", MILL_AXIS_DELIVERY),
    AXIS("plasticity", "A,B|all", "plasticity strategies (networks)", MILL_AXIS_PLASTICITY),
    AXIS("precision", "single,double", "arithmetic of the neurons; results are compared within one (networks)",
         MILL_AXIS_PRECISION),
    AXIS("counter", "A,B|all", "episode counters (mining)", MILL_AXIS_COUNTER),
    AXIS("backend", "cpu,cuda", "where to run", MILL_AXIS_BACKEND),
    AXIS("threads", "1,2,…", "worker threads", MILL_AXIS_THREADS),
    MILL_ROW_INT("repeat", "N", "timed runs of each variant, interleaved, after one warm-up run (default 3)", struct request,
                 repeat, 1, 1000),
    MILL_ROW_TEXT("csv", 0, "FILE", "write the table as CSV", struct request, csv),
    MILL_ROWS_RUN,
    MILL_ROWS_MINING,
    MILL_ROWS_SIGNIFICANCE,
    MILL_ROWS_COMMON("exit status only"),
};
#define COUNT (sizeof rows / sizeof *rows)
MILL_ROWS_FIT(rows);

/* The axis that a row gives, MILL_AXIS_COUNT when it gives none. */
static enum mill_axis axis_of(const struct mill_row *row)
{
  enum mill_axis axis = 0;
  while (axis < MILL_AXIS_COUNT && (row->use != MILL_USE_TEXT || row->offset != offsetof(struct request, axis[axis])))
    axis++;
  return axis;
}

static int belongs(const struct mill_row *row, const struct mill_subject *subject)
{
  enum mill_axis axis = axis_of(row);
  size_t n = strlen(subject->section);
  if (axis < MILL_AXIS_COUNT)
    return subject->key[axis] != NULL;
  return !row->key || (strncmp(row->key, subject->section, n) == 0 && row->key[n] == '.');
}

/* Finds the subject and refuses options of the other one. */
static int choose_subject(struct request *r, struct mill_error *error)
{
  const char *found;
  char vary[96] = "";
  if (mill_subject_find(r->common.path, &r->subject, &found, error) < 0)
    return -1;
  for (int a = 0; a < MILL_AXIS_COUNT; a++) {
    size_t n = strlen(vary);
    if (r->subject->key[a])
      mill_text_format(vary + n, sizeof vary - n, "%s%s", n ? ", " : "", mill_axis_name(a));
  }
  for (size_t i = 0; i < COUNT; i++) {
    const struct mill_subject *other = r->subject == &mill_subject_network ? &mill_subject_mining : &mill_subject_network;
    if (!(r->common.given >> i & 1) || belongs(&rows[i], r->subject))
      continue;
    if (axis_of(&rows[i]) < MILL_AXIS_COUNT)
      return mill_fail(error, MILL_USAGE, "--%s is for %s, and %s is %s: what can vary there is %s", rows[i].option.name,
                       other->what, r->common.path, found, vary);
    return mill_fail(error, MILL_USAGE, "--%s is for %s, and %s is %s", rows[i].option.name, other->what, r->common.path, found);
  }
  return 0;
}

static void summarise(const struct request *r, struct mill_variant *v)
{
  v->median = mill_variant_median(v->seconds, v->runs);
  v->least = v->seconds[0];
  v->most = v->seconds[v->runs - 1];
  mill_compare_levels_summarise(v, (uint32_t)r->repeat);
}

/* To the first variant; negative when that took no time. */
static double ratio(const struct mill_variants *v, uint32_t index)
{
  return v->variant[0].median > 0 ? v->variant[index].median / v->variant[0].median : -1;
}

/* The first exact variant of the same group, which the others must equal and bounds must hold for; NULL when all are bounds. */
static const struct mill_variant *reference(const struct mill_variants *v, uint32_t index)
{
  for (uint32_t i = 0; i < v->count; i++) {
    if (!v->variant[i].result.bound && v->variant[i].result.group == v->variant[index].result.group)
      return &v->variant[i];
  }
  return NULL;
}

/* The first variant with bounds of the same counter, which must be the same. */
static const struct mill_variant *peer(const struct mill_variants *v, uint32_t index)
{
  const struct mill_result *bounds = &v->variant[index].result;
  for (uint32_t i = 0; i < index; i++) {
    const struct mill_result *other = &v->variant[i].result;
    if (other->bound && other->group == bounds->group && strcmp(other->counter, bounds->counter) == 0)
      return &v->variant[i];
  }
  return NULL;
}

static int is_same(const struct mill_result *a, const struct mill_result *b)
{
  return strcmp(a->hash, b->hash) == 0 && a->tests == b->tests;
}

static void ignore(const char *line, void *self)
{
  (void)line;
  (void)self;
}

/* Round 0 warms up: its time is not kept. */
static int run_one(const struct request *r, struct mill_variant *variant, int round, struct mill_error *error)
{
  struct mill_result result = {0};
  int rc;
  if (round > 0 && !r->common.quiet && !r->common.json)
    fprintf(stderr, "round %d of %d: %s\n", round, (int)r->repeat, variant->name);
  rc = r->subject->run(variant, r->common.path, &result, error);
  if (mill_interrupted())
    return mill_fail(error, MILL_INTERRUPTED, "interrupted; nothing was compared");
  if (rc < 0)
    return mill_fail_within(error, "%s", variant->name);
  mill_note_set(ignore, NULL); /* the first run has said it */
  if (round > 0 && (!is_same(&result, &variant->result) || result.levels != variant->result.levels))
    return mill_fail(error, MILL_DIFFERENT, "`%s` differs from itself: two runs gave other results", variant->name);
  variant->result = result;
  if (round == 0)
    return mill_compare_levels_begin(variant, (uint32_t)r->repeat, error);
  mill_compare_levels_take(variant, (uint32_t)r->repeat);
  variant->seconds[variant->runs++] = result.seconds;
  return 0;
}

/* Compares a variant with the first of its group or counter. */
static int check_equal(struct request *r, struct mill_variant *variant, const struct mill_variant *base, struct mill_error *error)
{
  variant->differs = !is_same(&base->result, &variant->result);
  if (variant->differs && !r->difference && r->subject->difference(base, variant, r->common.path, &r->difference, error) < 0)
    return mill_fail_within(error, "`%s` and `%s` differ, but the first difference was not found", base->name, variant->name);
  return 0;
}

/* Compares bounds with an exact variant. */
static int check_bound(struct request *r, struct mill_variant *variant, const struct mill_variant *exact, struct mill_error *error)
{
  char *sentence = NULL;
  if (r->subject->violation(exact, variant, r->common.path, &sentence, error) < 0)
    return mill_fail_within(error, "`%s` and `%s` could not be compared", exact->name, variant->name);
  r->bounds++;
  variant->violated = sentence != NULL;
  if (r->difference)
    free(sentence);
  else
    r->difference = sentence;
  return 0;
}

/* Compares a variant with those that it must equal or be a bound for. */
static int check(struct request *r, uint32_t index, struct mill_error *error)
{
  struct mill_variant *x = &r->variants.variant[index];
  const struct mill_variant *base = reference(&r->variants, index);
  const struct mill_variant *same = x->result.bound ? peer(&r->variants, index) : base;
  r->compared += !x->result.bound && same != x;
  r->peers += x->result.bound && same;
  if (same && check_equal(r, x, same, error) < 0)
    return -1;
  return x->result.bound && base ? check_bound(r, x, base, error) : 0;
}

static int run_all(struct request *r, struct mill_error *error)
{
  struct mill_variants *v = &r->variants;
  for (int round = 0; round <= r->repeat; round++) {
    for (uint32_t i = 0; i < v->count; i++) {
      if (run_one(r, &v->variant[i], round, error) < 0)
        return -1;
    }
  }
  for (uint32_t i = 0; i < v->count; i++) {
    summarise(r, &v->variant[i]);
    if (check(r, i, error) < 0)
      return -1;
  }
  return 0;
}

/* What has come of it when there is no difference. */
static void print_agreement(const struct request *r)
{
  const struct mill_subject *s = r->subject;
  const int exact = reference(&r->variants, 0) != NULL;
  if (r->compared)
    printf("equal: %s\n", r->variants.variant[0].result.tested ? s->equal_tested : s->equal);
  if (r->peers)
    printf("equal: %s\n", s->equal_bounds);
  if (r->bounds)
    puts("upper bounds: no result is above them");
  if (!r->compared && !r->bounds && exact)
    printf("nothing to compare: %s\n", s->alone);
  if (!exact)
    puts("upper bounds: there is no exact counter among the variants to hold them against");
}

static void print(const struct request *r)
{
  const struct mill_variants *v = &r->variants;
  const struct mill_variant *base = reference(v, 0);
  static const char *const mark[2][2] = {{"", ""}, {"  upper bound", "  NO UPPER BOUND"}};
  char memory[32], times[32];
  printf("%-40s %10s %10s %10s %8s %10s  %s\n", "variant", "median s", "min s", "max s", "ratio", "memory", r->subject->hash);
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *x = &v->variant[i];
    mill_text_format(times, sizeof times, ratio(v, i) < 0 ? "-" : "%.3f", ratio(v, i));
    printf("%-40s %10.4g %10.4g %10.4g %8s %10s  %s%s%s\n", x->name, x->median, x->least, x->most, times,
           mill_memory_text(memory, x->result.memory_bytes), x->result.hash, mark[x->result.bound][x->violated],
           x->differs ? "  DIFFERS" : "");
  }
  if (r->difference)
    puts(r->difference);
  else
    print_agreement(r);
  mill_compare_levels_print(v, base ? base : &v->variant[0]);
}

static int print_json(const struct request *r, struct mill_error *error)
{
  const struct mill_variants *v = &r->variants;
  cJSON *object = cJSON_CreateObject(), *list;
  cJSON_AddStringToObject(object, "version", mill_version());
  cJSON_AddBoolToObject(object, "equal", !r->difference);
  cJSON_AddStringToObject(object, "baseline", v->variant[0].name);
  if (r->difference)
    cJSON_AddStringToObject(object, "difference", r->difference);
  list = cJSON_AddArrayToObject(object, "variants");
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *x = &v->variant[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", x->name);
    cJSON_AddNumberToObject(item, "median_s", x->median);
    cJSON_AddNumberToObject(item, "min_s", x->least);
    cJSON_AddNumberToObject(item, "max_s", x->most);
    if (ratio(v, i) < 0)
      cJSON_AddNullToObject(item, "ratio");
    else
      cJSON_AddNumberToObject(item, "ratio", ratio(v, i));
    mill_json_int(item, "memory_bytes", x->result.memory_bytes);
    cJSON_AddStringToObject(item, "hash", x->result.hash);
    if (x->result.bound)
      cJSON_AddTrueToObject(item, "upper_bound");
    if (r->subject == &mill_subject_mining)
      mill_compare_levels_json(x, item);
    cJSON_AddItemToArray(list, item);
  }
  return mill_json_print(object, error);
}

/* Before anything runs, so that what is wrong with the file is said at once. */
static int open_csv(struct request *r, struct mill_error *error)
{
  char *input = NULL;
  int rc = r->subject->config(&r->variants.variant[0], r->common.path, &r->config, &input, error);
  if (rc == 0)
    rc = mill_output_spares(r->csv, r->common.path, error) | mill_output_spares(r->csv, input, error);
  free(input);
  if (rc < 0 || mill_output_begin(r->csv, &r->part, error) < 0)
    return -1;
  r->out = fopen(r->part, "w");
  return r->out ? 0 : mill_fail(error, MILL_RESOURCES, "%s: %s", r->csv, mill_text_errno(errno));
}

/* A quote in a name is doubled. */
static void put_quoted(FILE *out, const char *text)
{
  putc('"', out);
  for (; *text; text++) {
    if (*text == '"')
      putc('"', out);
    putc(*text, out);
  }
  putc('"', out);
}

/* The configuration of the first variant as comments, then a line a variant. */
static int write_csv(struct request *r, struct mill_error *error)
{
  const struct mill_variants *v = &r->variants;
  char *part = r->part, number[4][32];
  FILE *out = r->out;
  int failed;
  fprintf(out, "# spikemill %s\n", mill_version());
  mill_write_config(out, r->config);
  for (uint32_t i = 0; i < v->count; i++) {
    if (v->variant[i].result.bound)
      fprintf(out, "# upper bound: %s\n", v->variant[i].name);
  }
  fputs("variant,median_s,min_s,max_s,ratio,memory_bytes,hash\n", out);
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *x = &v->variant[i];
    put_quoted(out, x->name);
    fprintf(out, ",%s,%s,%s,%s,%llu,%s\n", mill_text_double(number[0], x->median), mill_text_double(number[1], x->least),
            mill_text_double(number[2], x->most), ratio(v, i) < 0 ? "" : mill_text_double(number[3], ratio(v, i)),
            (unsigned long long)x->result.memory_bytes, x->result.hash);
  }
  failed = ferror(out);
  r->out = NULL;
  r->part = NULL;
  if (fclose(out) != 0 || failed) {
    mill_fail(error, MILL_RESOURCES, "%s: %s", r->csv, mill_text_errno(errno));
    mill_output_forget(part);
    return -1;
  }
  return mill_output_commit(r->csv, part, error);
}

static int compare(struct request *r, struct mill_error *error)
{
  int rc = 0;
  mill_interrupt_catch();
  if (choose_subject(r, error) < 0)
    return -1;
  for (int a = 0; a < MILL_AXIS_COUNT; a++) {
    if (r->axis[a] && mill_variants_axis(&r->variants, a, r->axis[a], error) < 0)
      return -1;
  }
  if (mill_variants_cross(&r->variants, r->subject, &r->common.overrides, (uint32_t)r->repeat, error) < 0 ||
      (r->csv && open_csv(r, error) < 0) || run_all(r, error) < 0)
    return -1;
  if (r->common.json)
    rc = print_json(r, error);
  else if (!r->common.quiet)
    print(r);
  if (rc == 0 && r->csv)
    rc = write_csv(r, error);
  if (rc < 0)
    return -1;
  return r->difference ? mill_fail(error, MILL_DIFFERENT, "results differ: %s", r->difference) : 0;
}

int mill_cmd_compare(int argc, char **argv)
{
  static const struct mill_request_words words = {"file", "compare NET.ini|JOB.ini|SPIKES --threads 1,2"};
  struct request q = {.repeat = 3};
  struct mill_error error = {0};
  int rc = mill_request_parse(&q.common, rows, COUNT, argc, argv, &words, &error);
  if (rc == 0 && q.common.help)
    mill_request_usage(
        stdout, "compare NET.ini|JOB.ini|SPIKES [option]…",
        "Runs every combination of the listed variants on the same network or the same mining job, and compares times\n"
        "and results. SPIKES is a spike file or the folder of a run. Exits with 1 when results differ.",
        rows, COUNT);
  else if (rc == 0)
    rc = compare(&q, &error);
  if (q.out)
    fclose(q.out);
  if (q.part)
    mill_output_forget(q.part);
  free(q.config);
  free(q.difference);
  mill_overrides_free(&q.common.overrides);
  mill_variants_free(&q.variants);
  return rc < 0 ? mill_report_error(&error) : MILL_OK;
}
