/* The integer accumulator of a receptor: what one count is worth, and every weight as a whole number of counts. Sums are of
   integers, so neither the number of threads nor the order of synapses shows. Weights are drawn once per pass instead of being
   kept. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "registry.h"
#include "text.h"
#include "weights.h"

#define ROWS_AT_ONCE 16u
#define SYNAPSES_AT_ONCE 16384u
#define SAMPLE 4096u       /* synapses that a median is taken of */
#define MEDIAN_GOOD 1024.0 /* quanta */
#define MEDIAN_LEAST 64.0

/* What is found out about a weighing before its weights are stored. */
struct found {
  double most;   /* largest |w| */
  double median; /* of |w|; 0 when there is none to speak of */
};

struct task {
  struct mill_team *team;
  struct mill_weighing *const *weighings;
  uint32_t count, targets;
  const char *receptor;
  struct found *found;
  uint64_t *sum; /* [targets] */
};

static int brings_nothing(const struct mill_weighing *w)
{
  return w->rows ? w->rows->synapses == 0 : w->largest == 0;
}

static const char *kind_of(const struct mill_weighing *w)
{
  return w->rows ? "projection" : "stimulus";
}

/* ---- Passes over the synapses of one weighing -------------------------------------------------------------------------- */

struct pass {
  struct mill_weighing *w;
  enum mill_weights_aim aim;
  int exponent; /* MILL_WEIGHTS_SUM, MILL_WEIGHTS_STORE: weights are times 2^exponent */
  uint64_t *sum;
  uint64_t most; /* bits of the largest |w|: bits of positive doubles have the order of the doubles, infinity and NaN last */
  uint64_t redrawn, clipped, zeroed;
};

static void add_to(uint64_t *sum, uint64_t value)
{
  __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

static void store(struct mill_weighing *w, uint64_t i, int32_t quanta)
{
  if (w->weight_bits == 16)
    ((int16_t *)w->weight_store)[i] = (int16_t)quanta;
  else
    ((int32_t *)w->weight_store)[i] = quanta;
}

static void draw_rows(void *self, uint64_t block, uint32_t worker)
{
  (void)worker;
  struct pass *pass = self;
  struct mill_weighing *w = pass->w;
  const struct mill_rows *rows = w->rows;
  uint64_t end = (block + 1) * ROWS_AT_ONCE, most = 0, redrawn = 0, clipped = 0, zeroed = 0;
  for (uint64_t s = block * ROWS_AT_ONCE; s < end && s < w->sources; s++) {
    uint32_t m = 0;
    for (uint64_t i = rows->row[s]; i < rows->row[s + 1]; i++) {
      m = i > rows->row[s] && rows->column[i] == rows->column[i - 1] ? m + 1 : 0;
      double weight = mill_weight_at(w, (uint32_t)s, i, m, &redrawn, &clipped), size = fabs(weight);
      if (pass->aim == MILL_WEIGHTS_MOST) {
        uint64_t bits;
        memcpy(&bits, &size, sizeof bits);
        most = bits > most ? bits : most;
      } else if (pass->aim == MILL_WEIGHTS_SUM) {
        add_to(&pass->sum[rows->column[i]], mill_weight_units(weight, pass->exponent));
      } else {
        int32_t quanta = mill_weight_quanta(weight, pass->exponent);
        zeroed += quanta == 0 && size > 0;
        store(w, i, quanta);
      }
    }
  }
  uint64_t now = __atomic_load_n(&pass->most, __ATOMIC_RELAXED);
  while (most > now && !__atomic_compare_exchange_n(&pass->most, &now, most, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  add_to(&pass->redrawn, redrawn);
  add_to(&pass->clipped, clipped);
  add_to(&pass->zeroed, zeroed);
}

/* Passes that draw nothing: MILL_WEIGHTS_SUM of weights that are one number, and MILL_WEIGHTS_BOUND of what is stored. */
static void add_synapses(void *self, uint64_t block, uint32_t worker)
{
  (void)worker;
  const struct pass *pass = self;
  const struct mill_weighing *w = pass->w;
  const struct mill_rows *rows = w->rows;
  uint64_t first = block * SYNAPSES_AT_ONCE;
  uint64_t end = rows->synapses - first < SYNAPSES_AT_ONCE ? rows->synapses : first + SYNAPSES_AT_ONCE;
  uint64_t all = pass->aim == MILL_WEIGHTS_SUM ? mill_weight_units(w->weight.a, pass->exponent) : (uint64_t)llabs(w->weight_all);
  const int16_t *narrow = w->weight_bits == 16 ? w->weight_store : NULL;
  const int32_t *wide = w->weight_bits == 32 ? w->weight_store : NULL;
  for (uint64_t i = first; i < end; i++) {
    uint64_t one = narrow ? (uint64_t)abs(narrow[i]) : wide ? (uint64_t)llabs(wide[i]) : all;
    add_to(&pass->sum[rows->column[i]], one);
  }
}

static int run_pass(const struct task *task, struct pass *pass, struct mill_error *error)
{
  struct mill_weighing *w = pass->w;
  if (!w->rows->column) {
    struct mill_weights_found found = {0};
    if (w->elsewhere->pass(w->elsewhere->self, w, pass->aim, pass->exponent, pass->sum, &found, error) < 0)
      return -1;
    memcpy(&pass->most, &found.most, sizeof pass->most);
    pass->redrawn = found.redrawn;
    pass->clipped = found.clipped;
    pass->zeroed = found.zeroed;
  } else if (pass->aim == MILL_WEIGHTS_BOUND || (pass->aim == MILL_WEIGHTS_SUM && mill_weight_is_number(w))) {
    mill_team_each(task->team, w->rows->synapses / SYNAPSES_AT_ONCE + (w->rows->synapses % SYNAPSES_AT_ONCE != 0), add_synapses,
                   pass);
  } else {
    mill_team_each(task->team, ((uint64_t)w->sources + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, draw_rows, pass);
  }
  return 0;
}

/* The largest sum over a neuron's synapses and stimuli, in units of 2^-exponent (SUM) or in quanta as stored (BOUND); UINT64_MAX
   when it does not fit. */
static int largest_sum(const struct task *task, enum mill_weights_aim aim, int exponent, uint64_t *largest, struct mill_error *error)
{
  uint64_t constant = 0;
  *largest = 0;
  memset(task->sum, 0, task->targets * sizeof *task->sum);
  for (uint32_t i = 0; i < task->count; i++) {
    struct mill_weighing *w = task->weighings[i];
    struct pass pass = {.w = w, .aim = aim, .exponent = exponent, .sum = task->sum};
    uint64_t one, all;
    if (brings_nothing(w))
      continue;
    if (w->rows && (w->rows->column || !mill_weight_is_number(w))) {
      if (run_pass(task, &pass, error) < 0)
        return -1;
      continue;
    }
    one = aim == MILL_WEIGHTS_SUM ? mill_weight_units(w->weight.a, exponent) : (uint64_t)llabs(w->weight_all);
    for (uint32_t t = 0; w->rows && t < w->targets; t++)
      task->sum[t] += one * (w->in_degree ? w->in_degree[t] : w->sources);
    if (w->rows)
      continue;
    if (__builtin_mul_overflow(one, (uint64_t)w->largest, &all) || __builtin_add_overflow(constant, all, &constant)) {
      *largest = UINT64_MAX;
      return 0;
    }
  }
  for (uint32_t t = 0; t < task->targets; t++)
    *largest = task->sum[t] > *largest ? task->sum[t] : *largest;
  if (__builtin_add_overflow(*largest, constant, largest))
    *largest = UINT64_MAX;
  return 0;
}

/* ---- What the weights are like ----------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double weight_of(const struct mill_weighing *w, uint64_t synapse)
{
  uint32_t source, m;
  mill_synapse_find(w->rows, w->sources, synapse, &source, &m);
  return mill_weight_at(w, source, synapse, m, NULL, NULL);
}

/* Weights of exactly 0 are whole in any quantum and have no say. */
double mill_weight_median(const struct mill_weighing *w, struct mill_error *error)
{
  double *sample, median = -1;
  uint64_t *place;
  uint32_t n, kept = 0;
  if (mill_weight_is_number(w))
    return fabs(w->weight.a);
  n = w->rows->synapses < SAMPLE ? (uint32_t)w->rows->synapses : SAMPLE;
  sample = mill_allocate_or_fail("sample of weights", n, sizeof *sample, error);
  place = mill_allocate_or_fail("sample of weights", n, sizeof *place, error);
  if (!sample || !place)
    goto done;
  for (uint32_t i = 0; i < n; i++)
    place[i] = i * w->rows->synapses / n;
  for (uint32_t i = 0; i < n && w->rows->column; i++)
    sample[i] = weight_of(w, place[i]);
  if (n && !w->rows->column && w->elsewhere->sample(w->elsewhere->self, w, n, place, sample, error) < 0)
    goto done;
  for (uint32_t i = 0; i < n; i++) {
    const double size = fabs(sample[i]);
    if (size > 0)
      sample[kept++] = size;
  }
  qsort(sample, kept, sizeof *sample, ascending);
  median = kept ? sample[kept / 2] : 0;
done:
  mill_release(sample);
  mill_release(place);
  return median;
}

static int examine(const struct task *task, struct mill_error *error)
{
  for (uint32_t i = 0; i < task->count; i++) {
    struct mill_weighing *w = task->weighings[i];
    struct found *f = &task->found[i];
    struct pass pass = {.w = w, .aim = MILL_WEIGHTS_MOST};
    if (brings_nothing(w))
      continue;
    if (mill_weight_is_number(w)) {
      f->most = fabs(w->weight.a);
    } else {
      if (run_pass(task, &pass, error) < 0)
        return -1;
      memcpy(&f->most, &pass.most, sizeof f->most);
      w->redrawn += pass.redrawn;
      w->clipped += pass.clipped;
    }
    if (!isfinite(f->most))
      return mill_fail(error, MILL_USAGE,
                       "%s: a weight of %s `%s` is not finite; expected a distribution without such large values", task->receptor,
                       kind_of(w), w->name);
    f->median = w->varies ? w->typical : mill_weight_median(w, error);
    if (f->median < 0)
      return mill_fail_within(error, "%s", task->receptor);
  }
  return 0;
}

/* Inputs of 32-bit accumulators are handed on in single precision. */
static int check_total(const struct task *task, const struct mill_accumulator *a, double total, struct mill_error *error)
{
  if (total <= (a->bits == 32 ? (double)FLT_MAX : DBL_MAX))
    return 0;
  return mill_fail(error, MILL_USAGE, "%s: the weights into one neuron can add up to more than %s; expected smaller weights",
                   task->receptor,
                   a->bits == 32 ? "single precision holds, about 3.4e38" : "double precision holds, about 1.8e308");
}

/* ---- Rule (b): the quantum --------------------------------------------------------------------------------------------- */

/* The largest k with round(weight · 2^k) < 2^n, for weight > 0. */
static int exponent_below(double weight, int n)
{
  int e;
  double f = frexp(weight, &e);
  return n - e - (nearbyint(ldexp(f, n)) >= ldexp(1, n));
}

/* The sum in units of 2^(ceil(log2 most) - shift): shift is 31 unless there are so many inputs that a sum could overflow. Plastic
   weights are kept by their rule, so that only static ones ask for 16 bits. */
static int choose_exponent(const struct task *task, const struct mill_accumulator *a, int *exponent, struct mill_error *error)
{
  double most = 0, most_of_synapses = 0;
  uint64_t inputs = 0, sum;
  int e, shift = 31, limit = a->bits == 32 ? 31 : 62, enough = 1, narrow;
  for (uint32_t i = 0; i < task->count; i++) {
    const struct mill_weighing *w = task->weighings[i];
    most = fmax(most, task->found[i].most);
    if (w->rows && !w->varies)
      most_of_synapses = fmax(most_of_synapses, task->found[i].most);
    inputs += w->rows ? w->rows->synapses : w->largest;
  }
  e = frexp(most, &e) > 0.5 ? e : e - 1;
  while (inputs >> (64 - shift))
    shift--;
  if (largest_sum(task, MILL_WEIGHTS_SUM, shift - e, &sum, error) < 0)
    return -1;
  if (sum == UINT64_MAX)
    return mill_fail(error, MILL_USAGE, "%s: more weights than can be added up go into one neuron", task->receptor);
  if (check_total(task, a, ldexp((double)sum, e - shift), error))
    return -1;
  *exponent = limit - (64 - __builtin_clzll(sum)) - (e - shift);
  if (*exponent > exponent_below(most, 31))
    *exponent = exponent_below(most, 31);
  if (*exponent > (a->bits == 32 ? 126 : 1022)) /* the quantum is a normal number */
    *exponent = a->bits == 32 ? 126 : 1022;
  if (a->bits != 32 || most_of_synapses <= 0)
    return 0;
  narrow = exponent_below(most_of_synapses, 15);
  for (uint32_t i = 0; i < task->count; i++)
    enough &= task->found[i].median <= 0 || ldexp(task->found[i].median, narrow) >= MEDIAN_GOOD;
  if (narrow < *exponent && enough)
    *exponent = narrow;
  return 0;
}

static int check_medians(const struct task *task, const struct mill_accumulator *a, struct mill_error *error)
{
  for (uint32_t i = 0; i < task->count; i++) {
    const struct mill_weighing *w = task->weighings[i];
    double median = task->found[i].median, quanta = ldexp(median, a->exponent);
    char weight[32], in[32], quantum[32];
    if (median <= 0 || quanta >= MEDIAN_GOOD)
      continue;
    mill_text_double(weight, median);
    mill_text_format(in, sizeof in, "%.3g", quanta);
    mill_text_double(quantum, a->scale);
    if (quanta < MEDIAN_LEAST)
      return mill_fail(error, MILL_USAGE,
                       "%s: weights of %s `%s` are too small beside the others: their median %s is %s quanta of %s in %" PRIu32
                       "-bit accumulation; expected at least %g. %s weights that differ less",
                       task->receptor, kind_of(w), w->name, weight, in, quantum, a->bits, MEDIAN_LEAST,
                       a->bits == 32 ? "Set accumulate = int64, or choose" : "Choose");
    mill_note("%s: weights of %s `%s` are coarse: their median %s is %s quanta of %s%s", task->receptor, kind_of(w), w->name,
              weight, in, quantum, a->bits == 32 ? "; accumulate = int64 makes them finer" : "");
  }
  return 0;
}

static int store_weights(const struct task *task, struct mill_weighing *w, double most, int exponent, struct mill_error *error)
{
  struct pass pass = {.w = w, .aim = MILL_WEIGHTS_STORE, .exponent = exponent};
  uint32_t bits = fabs((double)mill_weight_quanta(most, exponent)) < 32768 ? 16 : 32;
  w->zeroed = 0;
  w->most = 0;
  if (brings_nothing(w))
    return 0;
  w->most = llabs(mill_weight_quanta(most, exponent));
  if (mill_weight_is_number(w)) {
    w->weight_all = mill_weight_quanta(w->weight.a, exponent);
    w->zeroed = w->weight_all || !(most > 0) ? 0 : w->rows ? w->rows->synapses : 1;
    return 0;
  }
  if (w->weight_bits != bits) {
    mill_release(w->weight_store);
    w->weight_bits = bits;
    w->weight_store = NULL;
    if (w->rows->column && !(w->weight_store = mill_allocate_or_fail("weights", w->rows->synapses, bits / 8, error)))
      return mill_fail_within(error, "%s `%s`", kind_of(w), w->name);
  }
  if (run_pass(task, &pass, error) < 0)
    return mill_fail_within(error, "%s `%s`", kind_of(w), w->name);
  w->zeroed = pass.zeroed;
  return 0;
}

static int quantise(const struct task *task, struct mill_accumulator *a, struct mill_error *error)
{
  uint64_t limit = (uint64_t)1 << (a->bits == 32 ? 31 : 62);
  a->counts = 0;
  if (choose_exponent(task, a, &a->exponent, error))
    return -1;
  for (;; a->exponent--) {
    a->scale = ldexp(1, -a->exponent);
    for (uint32_t i = 0; i < task->count; i++)
      if (store_weights(task, task->weighings[i], task->found[i].most, a->exponent, error))
        return -1;
    if (largest_sum(task, MILL_WEIGHTS_BOUND, 0, &a->bound, error) < 0)
      return -1;
    if (a->bound < limit)
      break;
  }
  if (check_medians(task, a, error))
    return -1;
  for (uint32_t i = 0; i < task->count; i++) {
    const struct mill_weighing *w = task->weighings[i];
    char quantum[32];
    if (w->zeroed)
      mill_note("%s: %" PRIu64 " weight%s of %s `%s` %s below half a quantum of %s and became 0", task->receptor, w->zeroed,
                w->zeroed == 1 ? "" : "s", kind_of(w), w->name, w->zeroed == 1 ? "is" : "are", mill_text_double(quantum, a->scale));
  }
  return 0;
}

/* ---- Both rules -------------------------------------------------------------------------------------------------------- */

/* Rule (a): every weighing that brings something has the same number, not 0. */
static int one_number(const struct task *task, double *number)
{
  int found = 0;
  for (uint32_t i = 0; i < task->count; i++) {
    const struct mill_weighing *w = task->weighings[i];
    if (brings_nothing(w))
      continue;
    if (w->varies || !mill_weight_is_number(w) || !(fabs(w->weight.a) > 0) ||
        (found && (w->weight.a < *number || w->weight.a > *number)))
      return 0;
    *number = w->weight.a;
    found = 1;
  }
  return found;
}

static int count_inputs(const struct task *task, struct mill_accumulator *a, struct mill_error *error)
{
  uint64_t limit = (uint64_t)1 << (a->bits == 32 ? 31 : 62);
  for (uint32_t i = 0; i < task->count; i++)
    task->weighings[i]->weight_all = !brings_nothing(task->weighings[i]);
  if (largest_sum(task, MILL_WEIGHTS_BOUND, 0, &a->bound, error) < 0)
    return -1;
  if (check_total(task, a, fabs(a->scale) * (double)a->bound, error))
    return -1;
  if (a->bound < limit)
    return 0;
  return mill_fail(error, MILL_USAGE,
                   "%s: one neuron can get %" PRIu64 " inputs in a step; %" PRIu32 "-bit accumulation holds fewer than %" PRIu64
                   "%s",
                   task->receptor, a->bound, a->bits, limit, a->bits == 32 ? ". Set accumulate = int64" : "");
}

int mill_weigh(struct mill_team *team, struct mill_weighing *const *weighings, uint32_t count, const char *receptor,
               struct mill_accumulator *a, struct mill_error *error)
{
  struct task task = {.team = team, .weighings = weighings, .count = count, .receptor = receptor};
  double most = 0;
  int result = -1;

  a->counts = 1;
  a->scale = 1;
  a->exponent = 0;
  a->bound = 0;
  for (uint32_t i = 0; i < count; i++) {
    struct mill_weighing *w = weighings[i];
    mill_release(w->weight_store);
    w->weight_store = NULL;
    w->weight_bits = 0;
    w->weight_all = 0;
    w->zeroed = 0;
    task.targets = w->targets > task.targets ? w->targets : task.targets;
    if (!w->rows && !mill_weight_is_number(w))
      return mill_fail(error, MILL_USAGE, "%s: the weight of stimulus `%s` varies; expected one number", receptor, w->name);
  }
  if (a->bits != 32 && a->bits != 64)
    return mill_fail(error, MILL_USAGE, "%s: accumulators have 32 or 64 bits, not %" PRIu32, receptor, a->bits);
  if (!(task.sum = mill_allocate_or_fail("sums of weights", task.targets, sizeof *task.sum, error)) ||
      !(task.found = mill_allocate_or_fail("kinds of weights", count, sizeof *task.found, error)))
    goto done;
  if (one_number(&task, &a->scale)) {
    result = count_inputs(&task, a, error);
    goto done;
  }
  if (examine(&task, error))
    goto done;
  for (uint32_t i = 0; i < count; i++)
    most = fmax(most, task.found[i].most);
  result = most > 0 ? quantise(&task, a, error) : 0;
done:
  mill_release(task.sum);
  mill_release(task.found);
  for (uint32_t i = 0; result && i < count; i++) {
    mill_release(weighings[i]->weight_store);
    weighings[i]->weight_store = NULL;
    weighings[i]->weight_bits = 0;
  }
  return result;
}
