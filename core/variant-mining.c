/* Variants of a mining job: the time is that of counting, without reading the file, the result are the frequent episodes, their counts,
   and what tests say of them. Exact counters must agree; those that count upper bounds must have every frequent episode, with a count at
   least as high, and agree with themselves. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "variant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>
#include <spikemill/mining.h>
#include "memory.h"
#include "text.h"

static int open_mining(const struct mill_variant *variant, const char *path, struct mill_mining **mining, struct mill_error *error)
{
  return mill_mining_open(path, (const char *const *)variant->overrides.text, variant->overrides.count, mining, error);
}

static int stop(const struct mill_mining_progress *progress, void *self)
{
  (void)progress;
  (void)self;
  return mill_interrupted();
}

/* What tests say of an episode. */
static const struct value {
  const char *name;
  size_t offset;
} values[] = {
    {"p", offsetof(struct mill_mining_episode, p)},
    {"q", offsetof(struct mill_mining_episode, q)},
    {"threshold", offsetof(struct mill_mining_episode, threshold)},
    {"expected count", offsetof(struct mill_mining_episode, expected)},
    {"strength", offsetof(struct mill_mining_episode, strength)},
};
#define VALUES (sizeof values / sizeof *values)

/* -1: there is none; they are all at least 0. */
static double value_of(const struct mill_mining_episode *episode, size_t i)
{
  double value;
  memcpy(&value, (const char *)episode + values[i].offset, sizeof value);
  return isnan(value) ? -1 : value;
}

static uint64_t hash_tests(const struct mill_mining *mining)
{
  struct mill_mining_episode episode;
  uint64_t hash = 0;
  for (uint64_t at = 0; mill_mining_frequent(mining, at, &episode) == 0; at++) {
    double value[VALUES];
    for (size_t i = 0; i < VALUES; i++)
      value[i] = value_of(&episode, i);
    hash = XXH64(value, sizeof value, hash);
  }
  return hash;
}

static void take_levels(const struct mill_mining *mining, struct mill_result *result)
{
  struct mill_mining_level level;
  for (result->levels = 0; mill_mining_level(mining, result->levels + 1, &level) == 0; result->levels++)
    result->level[result->levels] = (struct mill_result_level){level.candidates, level.wall_s};
}

static int run(const struct mill_variant *variant, const char *path, struct mill_result *result, struct mill_error *error)
{
  struct mill_mining *mining = NULL;
  struct mill_mining_report report;
  int rc;
  mill_memory_peak_restart(); /* a report's memory is known from the process' peak */
  rc = open_mining(variant, path, &mining, error);
  if (rc == 0)
    rc = mill_mining_run(mining, stop, NULL, error);
  if (rc == 0) {
    mill_mining_report(mining, &report);
    result->seconds = report.wall_s;
    result->memory_bytes = report.memory_bytes;
    result->bound = !report.exact;
    result->group = 0;
    mill_text_format(result->counter, sizeof result->counter, "%s", report.counter);
    mill_text_format(result->backend, sizeof result->backend, "%s", report.backend);
    result->threads = report.threads;
    take_levels(mining, result);
    result->tested = report.tested;
    result->tests = report.tested ? hash_tests(mining) : 0;
    mill_text_format(result->hash, sizeof result->hash, "%016llx", (unsigned long long)report.count_hash);
  }
  mill_mining_free(mining);
  return rc;
}

static int same_episode(const struct mill_mining_episode *a, const struct mill_mining_episode *b)
{
  size_t gaps = a->length - 1;
  return a->length == b->length && memcmp(a->type, b->type, a->length * sizeof *a->type) == 0 &&
         memcmp(a->low, b->low, gaps * sizeof *a->low) == 0 && memcmp(a->high, b->high, gaps * sizeof *a->high) == 0;
}

/* Finds an episode among those from *at on, and moves there. Returns whether there is one. */
static int find_episode(const struct mill_mining *mining, uint64_t *at, const struct mill_mining_episode *wanted,
                        struct mill_mining_episode *found)
{
  for (; mill_mining_frequent(mining, *at, found) == 0; ++*at) {
    if (same_episode(found, wanted))
      return 1;
  }
  return 0;
}

static int has_episode(const struct mill_mining *mining, uint64_t at, const struct mill_mining_episode *wanted)
{
  struct mill_mining_episode found;
  return find_episode(mining, &at, wanted, &found);
}

/* "A -(0,5]→ B -(5,10]→ C", in ms; malloc'ed, NULL when out of memory. */
static char *episode_text(const struct mill_mining *mining, const struct mill_mining_episode *e)
{
  struct mill_mining_report report;
  char *text = mill_sentence("%s", mill_mining_type(mining, e->type[0]));
  mill_mining_report(mining, &report);
  for (uint32_t i = 0; text && i + 1 < e->length; i++) {
    char low[64], high[64], *longer;
    longer = mill_sentence("%s -(%s,%s]→ %s", text, mill_text_ms(low, e->low[i], report.tick_ps),
                           mill_text_ms(high, e->high[i], report.tick_ps), mill_mining_type(mining, e->type[i + 1]));
    free(text);
    text = longer;
  }
  return text;
}

/* Of the tests of an episode that both count alike, malloc'ed; *out_of_memory is set when there is one that cannot be said. */
static char *other_test(struct mill_mining *const mining[2], const struct mill_mining_episode episode[2], const char *const name[2],
                        int *out_of_memory)
{
  char number[2][32], *shown, *sentence;
  size_t i = 0;
  *out_of_memory = 0;
  while (i < VALUES && value_of(&episode[0], i) == value_of(&episode[1], i))
    i++;
  if (i == VALUES)
    return NULL;
  for (int k = 0; k < 2; k++)
    if (value_of(&episode[k], i) < 0)
      mill_text_format(number[k], sizeof number[k], "none");
    else
      mill_text_double(number[k], value_of(&episode[k], i));
  shown = episode_text(mining[0], &episode[0]);
  sentence = shown ? mill_sentence("first difference: %s: %s %s with `%s`, %s with `%s` (intervals in ms)", shown, values[i].name,
                                   number[0], name[0], number[1], name[1])
                   : NULL;
  free(shown);
  *out_of_memory = !sentence;
  return sentence;
}

/* Both list their episodes in one order, so that of the two at the first place where the lists differ one is missing in the other. */
static char *first_difference(struct mill_mining *const mining[2], const char *const name[2])
{
  struct mill_mining_episode episode[2];
  char *shown, *sentence;
  int has[2], same, only, failed;
  for (uint64_t at = 0;; at++) {
    has[0] = mill_mining_frequent(mining[0], at, &episode[0]) == 0;
    has[1] = mill_mining_frequent(mining[1], at, &episode[1]) == 0;
    if (!has[0] && !has[1])
      return mill_sentence("`%s` and `%s` gave other results before, but not when they ran again", name[0], name[1]);
    same = has[0] && has[1] && same_episode(&episode[0], &episode[1]);
    if (same && episode[0].count == episode[1].count) {
      sentence = other_test(mining, episode, name, &failed);
      if (sentence || failed)
        return sentence;
      continue;
    }
    only = !same && (!has[0] || (has[1] && has_episode(mining[1], at + 1, &episode[0])));
    break;
  }
  shown = episode_text(mining[only], &episode[only]);
  if (!shown)
    return NULL;
  if (same)
    sentence = mill_sentence("first difference: %s: %llu with `%s`, %llu with `%s` (intervals in ms)", shown,
                             (unsigned long long)episode[0].count, name[0], (unsigned long long)episode[1].count, name[1]);
  else
    sentence = mill_sentence("first difference: %s: %llu with `%s`, not frequent with `%s` (intervals in ms)", shown,
                             (unsigned long long)episode[only].count, name[only], name[!only]);
  free(shown);
  return sentence;
}

/* Both list their episodes in one order, and the bounds have all that are frequent: one walk finds them. */
static int first_violation(struct mill_mining *const mining[2], const char *const name[2], char **sentence)
{
  struct mill_mining_episode exact, bound;
  uint64_t at = 0;
  char *shown;
  *sentence = NULL;
  for (uint64_t i = 0; mill_mining_frequent(mining[0], i, &exact) == 0; i++) {
    const int found = find_episode(mining[1], &at, &exact, &bound);
    if (found && bound.count >= exact.count)
      continue;
    shown = episode_text(mining[0], &exact);
    if (shown && found)
      *sentence = mill_sentence("no upper bound: %s: %llu with `%s`, %llu with `%s` (intervals in ms)", shown,
                                (unsigned long long)exact.count, name[0], (unsigned long long)bound.count, name[1]);
    else if (shown)
      *sentence = mill_sentence("no upper bound: %s: %llu with `%s`, not frequent with `%s` (intervals in ms)", shown,
                                (unsigned long long)exact.count, name[0], name[1]);
    free(shown);
    return *sentence ? 0 : -1;
  }
  return 0;
}

/* Mines with both variants. Both minings are to be freed, whatever it returns. */
static int run_both(const struct mill_variant *const variant[2], const char *path, struct mill_mining *mining[2],
                    struct mill_error *error)
{
  for (int i = 0; i < 2; i++) {
    if (open_mining(variant[i], path, &mining[i], error) < 0 || mill_mining_run(mining[i], stop, NULL, error) < 0)
      return -1;
  }
  return 0;
}

static int difference(const struct mill_variant *a, const struct mill_variant *b, const char *path, char **sentence,
                      struct mill_error *error)
{
  const struct mill_variant *const variant[2] = {a, b};
  const char *const name[2] = {a->name, b->name};
  struct mill_mining *mining[2] = {NULL, NULL};
  int rc = run_both(variant, path, mining, error);
  if (rc == 0) {
    *sentence = first_difference(mining, name);
    if (!*sentence)
      rc = mill_fail(error, MILL_RESOURCES, "out of memory");
  }
  mill_mining_free(mining[0]);
  mill_mining_free(mining[1]);
  return rc;
}

static int violation(const struct mill_variant *exact, const struct mill_variant *bound, const char *path, char **sentence,
                     struct mill_error *error)
{
  const struct mill_variant *const variant[2] = {exact, bound};
  const char *const name[2] = {exact->name, bound->name};
  struct mill_mining *mining[2] = {NULL, NULL};
  int rc = run_both(variant, path, mining, error);
  if (rc == 0 && first_violation(mining, name, sentence) < 0)
    rc = mill_fail(error, MILL_RESOURCES, "out of memory");
  mill_mining_free(mining[0]);
  mill_mining_free(mining[1]);
  return rc;
}

static int config(const struct mill_variant *variant, const char *path, char **text, char **input, struct mill_error *error)
{
  struct mill_mining *mining = NULL;
  struct mill_mining_report report;
  *text = *input = NULL;
  if (open_mining(variant, path, &mining, error) < 0)
    return -1;
  mill_mining_report(mining, &report);
  *text = strdup(mill_mining_config(mining));
  *input = strdup(report.input);
  mill_mining_free(mining);
  return *text && *input ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
}

const struct mill_subject mill_subject_mining = {
    .what = "mining",
    .section = "mining",
    .hash = "hash of counts",
    .equal = "all variants found the same episodes and counts",
    .equal_tested = "all variants found the same episodes and counts, with the same p and q",
    .equal_bounds = "all variants of one counter gave the same upper bounds",
    .alone = "one variant",
    .key =
        {
            [MILL_AXIS_COUNTER] = "mining.counter",
            [MILL_AXIS_BACKEND] = "mining.backend",
            [MILL_AXIS_THREADS] = "mining.threads",
        },
    .run = run,
    .difference = difference,
    .violation = violation,
    .config = config,
};
