/* The levels of mining jobs for `spikemill compare`. Which counters are ways of which, and by what parameter, is a table here: a counter
   tells how it has counted a level, not how it might have. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "compare-levels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include "text.h"

/* A counter that takes one way for levels of at least as many candidates as a parameter says, a number a level, and the other for those
   of fewer. */
static const struct choice {
  const char *counter, *parameter, *many, *few;
} choices[] = {
    {"hybrid", "crossover", "ptpe", "mapconcatenate"},
};
#define CHOICES (sizeof choices / sizeof *choices)

int mill_compare_levels_begin(struct mill_variant *variant, uint32_t rounds, struct mill_error *error)
{
  const uint32_t levels = variant->result.levels;
  if (!levels)
    return 0;
  variant->level_seconds = calloc((size_t)levels * rounds, sizeof *variant->level_seconds);
  return variant->level_seconds ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
}

void mill_compare_levels_take(struct mill_variant *variant, uint32_t rounds)
{
  for (uint32_t i = 0; i < variant->result.levels; i++)
    variant->level_seconds[(size_t)i * rounds + variant->runs] = variant->result.level[i].seconds;
}

void mill_compare_levels_summarise(struct mill_variant *variant, uint32_t rounds)
{
  for (uint32_t i = 0; i < variant->result.levels; i++)
    variant->level_median[i] = mill_variant_median(&variant->level_seconds[(size_t)i * rounds], variant->runs);
}

void mill_compare_levels_json(const struct mill_variant *variant, struct cJSON *object)
{
  cJSON *list = cJSON_AddArrayToObject(object, "levels");
  for (uint32_t i = 0; i < variant->result.levels; i++) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "level", i + 1);
    mill_json_int(item, "candidates", variant->result.level[i].candidates);
    cJSON_AddNumberToObject(item, "median_s", variant->level_median[i]);
    cJSON_AddItemToArray(list, item);
  }
}

/* ---- Table. Levels are numbered from 1, and stand in arrays from 0 on. ---- */

/* Whether both have a level, of as many candidates. */
static int is_comparable(const struct mill_variant *a, const struct mill_variant *b, uint32_t level)
{
  return level <= a->result.levels && level <= b->result.levels &&
         a->result.level[level - 1].candidates == b->result.level[level - 1].candidates;
}

/* The first of the fastest of those with the candidates of `base`, and that count as it does, exactly or bounds; NULL when that is the only one. */
static const struct mill_variant *fastest(const struct mill_variants *v, const struct mill_variant *base, uint32_t level)
{
  const struct mill_variant *best = NULL;
  uint32_t compared = 0;
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *x = &v->variant[i];
    if (!is_comparable(x, base, level) || x->result.bound != base->result.bound)
      continue;
    compared++;
    if (!best || x->level_median[level - 1] < best->level_median[level - 1])
      best = x;
  }
  return compared > 1 ? best : NULL;
}

struct table {
  const struct mill_variants *variants;
  const struct mill_variant *base;
  const struct mill_variant *best[MILL_LENGTH_MAX];
};

/* "* 0.0123", "(84) 0.0123" */
static const char *cell(char text[64], const struct table *table, const struct mill_variant *x, uint32_t level)
{
  char candidates[32] = "";
  if (level > x->result.levels)
    return "-";
  if (!is_comparable(x, table->base, level))
    mill_text_format(candidates, sizeof candidates, "(%" PRIu64 ") ", x->result.level[level - 1].candidates);
  mill_text_format(text, 64, "%s%s%.4g", x == table->best[level - 1] ? "* " : "", candidates, x->level_median[level - 1]);
  return text;
}

/* Of a variant's column. */
static int width(const struct table *table, const struct mill_variant *x)
{
  size_t most = strlen(x->name);
  char text[64];
  for (uint32_t level = 2; level <= x->result.levels; level++) {
    const size_t n = strlen(cell(text, table, x, level));
    most = n > most ? n : most;
  }
  return (int)most;
}

static void print_table(struct table *table, uint32_t levels)
{
  const struct mill_variants *v = table->variants;
  const struct mill_result *base = &table->base->result;
  char text[64];
  for (uint32_t level = 2; level <= levels; level++)
    table->best[level - 1] = fastest(v, table->base, level);
  printf("\nmedian s of each level; *: the fastest%s, (n): of other candidates, n, and not compared\n",
         base->bound ? "" : " exact counter");
  printf("%5s %14s", "level", "candidates");
  for (uint32_t i = 0; i < v->count; i++)
    printf("  %*s", width(table, &v->variant[i]), v->variant[i].name);
  for (uint32_t level = 2; level <= levels; level++) {
    mill_text_format(text, sizeof text, "%" PRIu64, base->level[level - 1].candidates);
    printf("\n%5" PRIu32 " %14s", level, level <= base->levels ? text : "-");
    for (uint32_t i = 0; i < v->count; i++)
      printf("  %*s", width(table, &v->variant[i]), cell(text, table, &v->variant[i], level));
  }
  putchar('\n');
}

/* ---- Crossovers ---- */

/* The first variant with a counter that differs from another one in nothing else. */
static const struct mill_variant *counterpart(const struct mill_variants *v, const struct mill_variant *x, const char *counter)
{
  for (uint32_t i = 0; i < v->count; i++) {
    const struct mill_variant *y = &v->variant[i];
    int same = strcmp(y->result.counter, counter) == 0;
    for (int a = 0; same && a < MILL_AXIS_COUNT; a++)
      same = a == MILL_AXIS_COUNTER || x->value[a] == y->value[a];
    if (same)
      return y;
  }
  return NULL;
}

/* The least candidates of a level that should be counted the way that is for many. */
static uint64_t least(const struct mill_variant *many, const struct mill_variant *few, uint32_t level)
{
  const uint64_t candidates = many->result.level[level - 1].candidates;
  return many->level_median[level - 1] < few->level_median[level - 1] ? candidates : candidates + 1;
}

/* Level 1 is not measured, since on a GPU neither way counts it: it has the value of the nearest level that is, as levels without candidates
   have, which come behind the last one and by the parameter's own rule have its value. Of two that `auto` has run on different backends
   there is nothing to say: hybrid counts both ways on one. */
static void print_choice(const struct choice *choice, const struct mill_variant *many, const struct mill_variant *few)
{
  const uint32_t levels = many->result.levels, threads = many->result.threads;
  if (levels < 2 || levels != few->result.levels || strcmp(many->result.backend, few->result.backend) != 0)
    return;
  for (uint32_t level = 2; level <= levels; level++)
    if (!is_comparable(many, few, level))
      return;
  printf("%s = %" PRIu64, choice->parameter, least(many, few, 2));
  for (uint32_t level = 2; level <= levels; level++)
    printf(" %" PRIu64, least(many, few, level));
  printf("  # of %s: the faster of %s and %s, measured on %s with %" PRIu32 " thread%s", choice->counter, choice->many, choice->few,
         many->result.backend, threads, threads == 1 ? "" : "s");
  if (levels > 2)
    printf(" at levels 2 to %" PRIu32 "\n", levels);
  else
    puts(" at level 2");
}

void mill_compare_levels_print(const struct mill_variants *v, const struct mill_variant *base)
{
  struct table table = {.variants = v, .base = base};
  uint32_t levels = 0;
  for (uint32_t i = 0; i < v->count; i++)
    levels = v->variant[i].result.levels > levels ? v->variant[i].result.levels : levels;
  if (levels < 2)
    return;
  print_table(&table, levels);
  for (size_t c = 0; c < CHOICES; c++) {
    for (uint32_t i = 0; i < v->count; i++) {
      const struct mill_variant *many = &v->variant[i];
      const struct mill_variant *few =
          strcmp(many->result.counter, choices[c].many) == 0 ? counterpart(v, many, choices[c].few) : NULL;
      if (few)
        print_choice(&choices[c], many, few);
    }
  }
}
