// The accumulator of a receptor: rules worked out by hand, at the ends of what 32 and 64 bits hold, and what is refused or remarked.
#include <float.h>
#include "weighing.h"

static void refuses(uint32_t bits, struct mill_weighing *const *list, uint32_t n, const char *part, const char *second)
{
  struct mill_accumulator a = {.bits = bits};
  struct mill_error error = {0};
  int result = mill_weigh(teams[1], list, n, "exc.gaba", &a, &error);
  ok(result == -1 && error.status == MILL_USAGE && !strncmp(error.text, "exc.gaba: ", 10) && strstr(error.text, part) &&
         strstr(error.text, second),
     "refused: %s", error.text);
  for (uint32_t i = 0; i < n; i++)
    if (list[i]->weight_store)
      ok(false, "a store is left");
}

// ---- Rule (a)

static void counting(void)
{
  // Vogels: one weight on each receptor, whatever the population it comes from.
  struct mill_rows r1, r2;
  struct mill_weighing a = project(&r1, MILL_FIXED_PROBABILITY, 0.02, 0, 3200, 800, number(0.4));
  struct mill_weighing b = project(&r2, MILL_FIXED_PROBABILITY, 0.02, 0, 800, 800, number(0.4));
  struct mill_weighing noise = stimulate(0.4, 7, 800), silent = stimulate(99, 0, 800);
  struct mill_weighing *list[] = {&a, &b, &noise, &silent};
  struct mill_accumulator acc = weigh(32, list, 2, 1);
  ok(acc.counts && acc.scale <= 0.4 && acc.scale >= 0.4, "one weight: a count of it");
  ok(a.weight_bits == 0 && a.weight_all == 1 && b.weight_all == 1 && !a.weight_store, "each synapse counts once");
  is_int((intmax_t)acc.bound, (intmax_t)bound_of(list, 2), "bound is the largest in-degree");
  struct mill_accumulator more = weigh(32, list, 4, 2);
  is_int((intmax_t)more.bound, (intmax_t)acc.bound + 7, "a stimulus counts with its largest number");
  ok(more.counts && noise.weight_all == 1 && silent.weight_all == 0, "a stimulus that never gives anything has no say");
  acc = weigh(64, list, 2, 0);
  ok(acc.counts && acc.bits == 64, "64 bits count as well");
  is_str(notes, "", "nothing to remark");
  noise.weight = number(-0.4);
  acc = weigh(32, list, 3, 1);
  ok(!acc.counts, "the other sign is another weight");
  noise.weight = number(nextafter(0.4, 1));
  acc = weigh(32, list, 3, 1);
  ok(!acc.counts, "so is the next number");
  mill_rows_free(&r1);
  mill_rows_free(&r2);

  a = project(&r1, MILL_ALL_TO_ALL, 0, 0, 50, 3, number(-5.1));
  acc = weigh(32, list, 1, 1);
  ok(acc.counts && acc.scale < -5 && acc.bound == 50 && a.weight_all == 1, "inhibition counts upwards, too: the scale is negative");
  noise = stimulate(-5.1, INT32_MAX - 50, 3);
  list[1] = &noise;
  acc = weigh(32, list, 2, 1);
  is_int((intmax_t)acc.bound, INT32_MAX, "the largest count that 32 bits hold");
  noise.largest++;
  refuses(32, list, 2, "2147483648 inputs in a step", "accumulate = int64");
  acc = weigh(64, list, 2, 1);
  ok(acc.bound == 2147483648, "and 64 bits hold more");
  mill_rows_free(&r1);
}

static void nothing(void)
{
  struct mill_rows r;
  struct mill_weighing a = project(&r, MILL_FIXED_PROBABILITY, 0, 0, 10, 10, dist(MILL_DIST_NORMAL, 1, 1, 0, 0)),
                       b = stimulate(0, 4, 10);
  struct mill_weighing *list[] = {&a, &b};
  struct mill_accumulator acc = weigh(32, NULL, 0, 1);
  ok(acc.counts && acc.bound == 0 && acc.scale >= 1 && acc.scale <= 1, "a receptor that nothing reaches");
  acc = weigh(32, list, 1, 1);
  ok(acc.counts && acc.bound == 0 && acc.scale >= 1 && acc.scale <= 1 && !a.weight_all && !a.weight_bits,
     "a projection without synapses");
  mill_rows_free(&r);
  a = project(&r, MILL_ALL_TO_ALL, 0, 0, 10, 10, number(0));
  acc = weigh(32, list, 2, 1);
  ok(acc.counts && acc.bound == 0 && isfinite(acc.scale) && !a.weight_all && !b.weight_all, "weights that are all 0");
  a.weight = dist(MILL_DIST_UNIFORM, 0, 0, 0, 0);
  acc = weigh(32, list, 2, 1);
  ok(acc.bound == 0 && !a.weight_all && !a.weight_bits && a.zeroed == 0, "and drawn ones");
  b = stimulate(0.5, 3, 10);
  acc = weigh(32, list, 2, 1);
  ok(!acc.counts && acc.bound == 3 * (uint64_t)b.weight_all && b.weight_all > 0, "zeros beside another weight");
  is_str(notes, "", "zeros are no small weights");
  mill_weighing_free(&a);
  mill_rows_free(&r);
}

// ---- Rule (b), by hand

static void by_hand(void)
{
  struct mill_rows r1, r2;
  struct mill_weighing a = project(&r1, MILL_FIXED_PROBABILITY, 0.1, 0, 1800, 200, number(0.1));
  struct mill_weighing b = project(&r2, MILL_FIXED_PROBABILITY, 0.1, 0, 200, 200, number(-0.5));
  struct mill_weighing *list[] = {&a, &b, NULL};
  struct mill_accumulator acc = weigh(32, list, 2, 1);
  ok(!acc.counts, "brunel: two weights");
  is_int(acc.exponent, 15, "brunel: k is 15, the largest with 0.5 below 2^15 quanta");
  is_real(acc.scale, 0x1p-15, 0, "and the scale is 2^-15");
  is_int(a.weight_all, 3277, "0.1 is 3276.8 quanta");
  is_int(b.weight_all, -16384, "-0.5 is -2^14");
  ok(a.weight_bits == 0 && b.weight_bits == 0, "nothing is stored");
  is_int((intmax_t)acc.bound, (intmax_t)bound_of(list, 2), "bound is the largest sum");
  is_str(notes, "", "nothing to remark");
  acc = weigh(64, list, 2, 1);
  is_int(acc.exponent, 31, "64 bits: 0.5 · 2^31 is below 2^31, 0.5 · 2^32 is not");
  is_int(b.weight_all, -1073741824, "and -0.5 is -2^30");
  mill_rows_free(&r1);
  mill_rows_free(&r2);

  // One synapse of each on one neuron.
  a = project(&r1, MILL_ALL_TO_ALL, 0, 0, 1, 1, number(1));
  b = project(&r2, MILL_ALL_TO_ALL, 0, 0, 1, 1, number(0.75));
  acc = weigh(32, list, 2, 1);
  is_int(acc.exponent, 14, "1 and 0.75: 2^14 quanta");
  b.weight = number(0.0625);
  acc = weigh(32, list, 2, 1);
  is_int(acc.exponent, 14, "1 and 1/16: the median keeps 2^10");
  b.weight = number(0.0624);
  acc = weigh(32, list, 2, 1);
  is_int(acc.exponent, 30, "1 and less: it would not, so k stays where 1.0624 · 2^k is below 2^31");
  is_int(a.weight_all, 1 << 30, "1 is 2^30");
  b.weight = number(-1.5);
  acc = weigh(32, list, 2, 1);
  is_int(acc.exponent, 14, "1 and -1.5: 1.5 · 2^14 is below 2^15");
  b.weight = number(2 - 0x1p-20);
  acc = weigh(32, list, 2, 1);
  is_int(acc.exponent, 13, "a weight that rounds to 2^15 is not below it");
  b.weight = number(0x1p-24);
  acc = weigh(64, list, 2, 1);
  is_int(acc.exponent, 30, "64 bits: below 2^31 quanta");
  is_int(b.weight_all, 64, "and 2^-24 is 64 quanta");
  mill_rows_free(&r1);
  mill_rows_free(&r2);
}

static void small_medians(void)
{
  struct mill_rows r1, r2;
  struct mill_weighing a = project(&r1, MILL_ALL_TO_ALL, 0, 0, 100000, 1, number(1));
  struct mill_weighing b = project(&r2, MILL_ALL_TO_ALL, 0, 0, 1, 1, number(0.01)), noise = stimulate(0.01, 2, 1);
  struct mill_weighing *list[] = {&a, &b};
  struct mill_accumulator acc;
  b.name = "tiny";
  weigh(64, list, 2, 1);
  acc = weigh(32, list, 2, 1);
  is_int(acc.exponent, 14, "100,000.01 · 2^14 is below 2^31, twice that is not");
  is_int(b.weight_all, 164, "0.01 is 163.84 quanta");
  ok(strstr(notes, "exc.gaba: ") && strstr(notes, "`tiny`") && strstr(notes, "164 quanta") && strstr(notes, "int64"), "noted: %s",
     notes);
  b.weight = number(64 * 0x1p-14);
  acc = weigh(32, list, 2, 1);
  ok(strstr(notes, "64 quanta") && b.weight_all == 64, "64 quanta are just enough");
  b.weight = number(63.9 * 0x1p-14);
  refuses(32, list, 2, "projection `tiny`", "accumulate = int64");
  acc = weigh(64, list, 2, 1);
  ok(acc.exponent == 30 && !*notes, "with 64 bits there is no need to remark");
  b.weight = number(1e-8);
  refuses(64, list, 2, "projection `tiny`", "Choose weights that differ less");
  mill_rows_free(&r2);
  b = project(&r2, MILL_ALL_TO_ALL, 0, 0, 5000, 1, dist(MILL_DIST_NORMAL_CLIPPED, -0.01, 0.01, 0, 1));
  acc = weigh(32, list, 2, 1);
  ok(acc.exponent == 14 && strstr(notes, "are coarse"), "zeros have no say in a median: %s", notes);
  mill_weighing_free(&b);
  list[1] = &noise;
  noise.weight = number(1e-4);
  refuses(32, list, 2, "stimulus `noise`", "accumulate = int64");
  noise.weight = number(0.25);
  noise.largest = 400000;
  acc = weigh(32, list, 2, 1);
  is_int(acc.exponent, 13, "a stimulus takes part in the bound: 200,000 · 2^13 is below 2^31");
  noise.weight = number(8);
  acc = weigh(32, list, 2, 1);
  is_int(acc.exponent, 9, "and with its weight: 8 · 400,000 + 100,000 is below 2^22");
  mill_rows_free(&r1);
  mill_rows_free(&r2);
}

static void extremes(void)
{
  struct mill_rows r1, r2;
  struct mill_weighing a = project(&r1, MILL_ALL_TO_ALL, 0, 0, 100, 4, dist(MILL_DIST_NORMAL, 1e30, 1e29, 0, 0));
  struct mill_weighing b = project(&r2, MILL_ALL_TO_ALL, 0, 0, 10, 4, number(-2e30));
  struct mill_weighing *list[] = {&a, &b};
  struct mill_accumulator acc = weigh(32, list, 2, 1);
  uint64_t zeroed;
  ok(acc.exponent < 0 && isfinite((float)acc.scale) && acc.bound < 2147483648 && as_drawn(&a, acc.exponent, &zeroed) &&
         acc.bound == bound_of(list, 2),
     "weights about 1e30: k = %d", acc.exponent);
  a.weight = dist(MILL_DIST_NORMAL, 1e37, 1e36, 0, 0);
  refuses(32, list, 2, "single precision", "smaller weights");
  acc = weigh(64, list, 1, 1);
  ok(isfinite(acc.scale) && as_drawn(&a, acc.exponent, &zeroed), "weights about 1e37 in 64 bits");
  a.weight = dist(MILL_DIST_NORMAL, 1e307, 1e306, 0, 0);
  refuses(64, list, 2, "double precision", "smaller weights");
  a.weight = number(1e39);
  refuses(32, list, 1, "single precision", "smaller weights");
  a.weight = dist(MILL_DIST_LOGNORMAL, 700, 10, 0, 0);
  refuses(32, list, 2, "projection `some` is not finite", "distribution");
  a.weight = dist(MILL_DIST_NORMAL, 1e-30, 1e-31, 0, 0);
  acc = weigh(32, list, 1, 1);
  ok(acc.scale >= (double)FLT_MIN && as_drawn(&a, acc.exponent, &zeroed) && a.weight_bits == 16, "weights about 1e-30: k = %d",
     acc.exponent);
  a.weight = dist(MILL_DIST_NORMAL, 1e-50, 1e-51, 0, 0);
  refuses(32, list, 1, "too small", "accumulate = int64");
  acc = weigh(64, list, 1, 1);
  ok(acc.scale > 0 && as_drawn(&a, acc.exponent, &zeroed), "weights about 1e-50 in 64 bits");
  a.weight = dist(MILL_DIST_UNIFORM, 4e-324, 9e-323, 0, 0);
  refuses(64, list, 1, "too small", "differ less");
  b = stimulate(1, UINT32_MAX, 4);
  a.weight = number(0x1p-10);
  refuses(32, list, 2, "too small", "accumulate = int64");
  acc = weigh(64, list, 2, 1);
  ok(acc.bound < (uint64_t)1 << 62 && acc.exponent == 30, "the largest stimulus in 64 bits: k = %d", acc.exponent);
  struct mill_weighing many[40], *pointers[40];
  for (int i = 0; i < 40; i++) {
    many[i] = stimulate(1 + i, UINT32_MAX, 4);
    pointers[i] = &many[i];
  }
  acc = weigh(64, pointers, 40, 1);
  ok(acc.bound < (uint64_t)1 << 62 && acc.bound == bound_of(pointers, 40), "40 of them: k = %d", acc.exponent);
  b.weight = dist(MILL_DIST_NORMAL, 1, 1, 0, 0);
  refuses(32, list, 2, "stimulus `noise` varies", "one number");
  mill_weighing_free(&a);
  mill_rows_free(&r1);
  mill_rows_free(&r2);
}

static void rounding_at_the_limit(void)
{
  // Four weights of 1 - 2^-31 on one neuron: their sum is below 2^31 quanta of 2^-29, but each rounds to 2^29. A small weight
  // elsewhere keeps k from being lowered for 16 bits.
  struct mill_edges *e =
      edges_of("source,target,weight\n0,0,0.99999999953433871\n1,0,0.99999999953433871\n2,0,0.99999999953433871\n"
               "3,0,0.99999999953433871\n");
  struct mill_rows r, r2;
  struct mill_weighing w = project_edges(&r, e, 4, 2), small = project(&r2, MILL_FIXED_TOTAL, 0, 1, 1, 2, number(0.01));
  struct mill_weighing *list[] = {&w, &small};
  r2.column[0] = 1;
  struct mill_accumulator acc = weigh(32, list, 2, 1);
  is_int(acc.exponent, 28, "k is one less when rounding would reach 2^31");
  ok(acc.bound < (uint64_t)1 << 31 && acc.bound == bound_of(list, 2), "bound is %ju", (uintmax_t)acc.bound);
  mill_weighing_free(&w);
  mill_edges_free(e);
  mill_rows_free(&r);
  mill_rows_free(&r2);
}

int main(void)
{
  plan_later();
  uint64_t held = weighing_begin();
  counting();
  nothing();
  by_hand();
  small_medians();
  extremes();
  rounding_at_the_limit();
  weighing_end(held);
  return done_testing();
}
