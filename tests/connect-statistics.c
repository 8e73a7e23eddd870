// Connection rules by their statistics: degrees, gaps, partners, and the independence of rows, chunks and projections. Limits are 5
// standard deviations, 6 for counts that are only about Poisson's, with fixed keys.
#include "rows.h"

static uint32_t *in_degrees(const struct mill_connection *c, const struct mill_rows *rows)
{
  uint32_t *degree = calloc(c->targets + 1, sizeof *degree);
  for (uint64_t i = 0; i < rows->synapses; i++)
    degree[rows->column[i]]++;
  return degree;
}

static bool has(const struct mill_rows *rows, uint32_t s, uint32_t t)
{
  uint64_t low = rows->row[s], high = rows->row[s + 1];
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (rows->column[middle] < t)
      low = middle + 1;
    else
      high = middle;
  }
  return low < rows->row[s + 1] && rows->column[low] == t;
}

// Deviation of a chi-square value with n degrees of freedom from what it should be, in standard deviations.
static double chi_deviation(double chi, double n)
{
  return (chi - n) / sqrt(2 * n);
}

static double binomial_deviation(double count, double n, double p)
{
  return (count - n * p) / sqrt(n * p * (1 - p));
}

static void chance_statistics(double p)
{
  struct mill_connection c = rule_of(MILL_FIXED_PROBABILITY, p < 0.1 ? 3000 : 600, 5000); // four whole chunks and one of 904
  double S = c.sources, T = c.targets, chi = 0, z;
  c.p = p;
  struct mill_rows rows = build(&c, 1);
  uint32_t *degree = in_degrees(&c, &rows);

  z = binomial_deviation((double)rows.synapses, S * T, p);
  ok(fabs(z) < 5, "p = %g: number of synapses (%.2f deviations)", p, z);
  for (uint32_t s = 0; s < c.sources; s++)
    chi += pow(binomial_deviation((double)(rows.row[s + 1] - rows.row[s]), T, p), 2);
  ok(fabs(chi_deviation(chi, S)) < 5, "p = %g: out-degrees are binomial (%.2f)", p, chi_deviation(chi, S));
  chi = 0;
  for (uint32_t t = 0; t < c.targets; t++)
    chi += pow(binomial_deviation(degree[t], S, p), 2);
  ok(fabs(chi_deviation(chi, T)) < 5, "p = %g: in-degrees are binomial (%.2f)", p, chi_deviation(chi, T));

  double worst = 0; // first and last targets of chunks are no rarer and no more frequent
  for (uint32_t border = 1024; border < c.targets; border += 1024)
    for (uint32_t t = border - 2; t < border + 2; t++)
      worst = fmax(worst, fabs(binomial_deviation(degree[t], S, p)));
  ok(worst < 5, "p = %g: targets at the borders of chunks (%.2f)", p, worst);

  // Gaps are geometric, also those that cross a border: classes 1 … last - 1, and the rest.
  enum { CLASSES = 40 };
  double inside[CLASSES] = {0}, across[CLASSES] = {0}, of_inside = 0, of_across = 0, chi_inside = 0, chi_across = 0;
  uint32_t width = p < 0.005 ? 12 : p < 0.1 ? (uint32_t)(3 / p / CLASSES) + 1 : 1, reach = width * CLASSES;
  for (uint32_t s = 0; s < c.sources; s++) {
    for (uint64_t i = rows.row[s]; i < rows.row[s + 1]; i++) {
      uint32_t a = rows.column[i], b = i + 1 < rows.row[s + 1] ? rows.column[i + 1] : c.targets, gap = b - a - 1,
               left = 1024 - a % 1024 - 1;
      if (a + 1 + reach > c.targets)
        continue; // too near the row's end to tell
      if (left >= reach) {
        inside[gap >= reach ? CLASSES - 1 : gap / width]++;
        of_inside++;
      } else if (gap >= left) { // crosses: the part beyond the border is geometric by itself
        uint32_t beyond = gap - left;
        across[beyond >= reach ? CLASSES - 1 : beyond / width]++;
        of_across++;
      }
    }
  }
  int used = 0;
  for (int k = 0; k < CLASSES; k++) {
    double q =
        k < CLASSES - 1 ? pow(1 - p, k * (double)width) - pow(1 - p, (k + 1) * (double)width) : pow(1 - p, k * (double)width);
    if (of_across * q < 5)
      continue;
    used++;
    chi_inside += pow(inside[k] - of_inside * q, 2) / (of_inside * q);
    chi_across += pow(across[k] - of_across * q, 2) / (of_across * q);
  }
  ok(used > 1 && chi_deviation(chi_inside, used) < 5, "p = %g: gaps inside chunks are geometric (%.2f)", p,
     chi_deviation(chi_inside, used));
  ok(used > 1 && chi_deviation(chi_across, used) < 5, "p = %g: gaps across borders are geometric (%.2f)", p,
     chi_deviation(chi_across, used));

  // Rows, and chunks of a row, have nothing to do with each other.
  double rows_both = 0, chunks_both = 0;
  for (uint32_t s = 0; s + 1 < c.sources; s++)
    for (uint64_t i = rows.row[s]; i < rows.row[s + 1]; i++) {
      rows_both += has(&rows, s + 1, rows.column[i]);
      chunks_both += rows.column[i] + 1024 < c.targets && has(&rows, s, rows.column[i] + 1024);
    }
  z = binomial_deviation(rows_both, (S - 1) * T, p * p);
  ok(fabs(z) < 5, "p = %g: neighbouring rows are independent (%.2f)", p, z);
  z = binomial_deviation(chunks_both, (S - 1) * (T - 1024), p * p);
  ok(fabs(z) < 5, "p = %g: neighbouring chunks are independent (%.2f)", p, z);

  struct mill_connection other = c;
  double both = 0;
  other.key = mill_key(7, MILL_PURPOSE_CONNECT, 4);
  struct mill_rows second = build(&other, 1);
  for (uint32_t s = 0; s < c.sources; s++)
    for (uint64_t i = rows.row[s]; i < rows.row[s + 1]; i++)
      both += has(&second, s, rows.column[i]);
  z = binomial_deviation(both, S * T, p * p);
  ok(fabs(z) < 5, "p = %g: another projection is independent (%.2f)", p, z);
  free(degree);
  mill_rows_free(&rows);
  mill_rows_free(&second);
}

static void degree_statistics(enum mill_rule rule, int multapses, int autapses)
{
  struct mill_connection c = rule_of(rule, 1000, 1000);
  c.same = !autapses;
  c.autapses = autapses;
  c.multapses = multapses;
  c.n = rule == MILL_FIXED_TOTAL ? 60000 : 60;
  struct mill_rows rows = build(&c, 1);
  uint32_t *in = in_degrees(&c, &rows);
  const char *name = rule == MILL_FIXED_TOTAL ? "total" : rule == MILL_FIXED_INDEGREE ? "indegree" : "outdegree";
  bool exact = rows.synapses == 60000;
  double chi_in = 0, chi_out = 0, partners = autapses ? 1000 : 999, p = 60 / partners;
  double variance = multapses ? 60 * (1 - 1.0 / 1000) : 60 * (1 - p); // of a degree that is left to chance
  for (uint32_t i = 0; i < 1000; i++) {
    double out = (double)(rows.row[i + 1] - rows.row[i]);
    if (rule == MILL_FIXED_INDEGREE)
      exact = exact && in[i] == 60;
    if (rule == MILL_FIXED_OUTDEGREE)
      exact = exact && rows.row[i + 1] - rows.row[i] == 60;
    chi_in += pow(in[i] - 60.0, 2) / variance;
    chi_out += pow(out - 60.0, 2) / variance;
  }
  ok(exact, "fixed-%s, multapses %d, autapses %d: degrees are exact", name, multapses, autapses);
  if (rule != MILL_FIXED_INDEGREE)
    ok(fabs(chi_deviation(chi_in, 999)) < 5, "fixed-%s, multapses %d: in-degrees vary as they should (%.2f)", name, multapses,
       chi_deviation(chi_in, 999));
  if (rule != MILL_FIXED_OUTDEGREE)
    ok(fabs(chi_deviation(chi_out, 999)) < 5, "fixed-%s, multapses %d: out-degrees vary as they should (%.2f)", name, multapses,
       chi_deviation(chi_out, 999));

  // Distance from source to target: uniform over all that can be.
  double distance[100] = {0}, chi = 0;
  uint64_t repeats = 0;
  for (uint32_t s = 0; s < 1000; s++)
    for (uint64_t i = rows.row[s]; i < rows.row[s + 1]; i++) {
      distance[(rows.column[i] + 1000 - s) % 1000 / 10]++;
      repeats += i > rows.row[s] && rows.column[i] == rows.column[i - 1];
    }
  for (int k = 0; k < 100; k++) {
    double expected = 60000 * (k || autapses ? 10 : 9) / partners;
    chi += pow(distance[k] - expected, 2) / expected;
  }
  ok(fabs(chi_deviation(chi, 99)) < 5, "fixed-%s, multapses %d, autapses %d: partners are uniform (%.2f)", name, multapses,
     autapses, chi_deviation(chi, 99));
  if (multapses) { // pairs of draws that hit the same pair of neurons
    double expected = rule == MILL_FIXED_TOTAL ? 60000.0 * 59999 / 2 / (1000 * partners) : 1000 * 60.0 * 59 / 2 / partners;
    ok(fabs((double)repeats - expected) < 6 * sqrt(expected), "fixed-%s: %ju repeats, about %.0f expected", name,
       (uintmax_t)repeats, expected);
  }
  double both = 0; // neighbouring neurons choose independently
  for (uint32_t s = 0; s + 1 < 1000; s++)
    for (uint64_t i = rows.row[s]; i < rows.row[s + 1]; i++)
      both += has(&rows, s + 1, rows.column[i]);
  double expected = multapses ? 999.0 * 60 * (1 - pow(1 - 1 / partners, 60)) : 999.0 * 60 * p;
  ok(fabs(both - expected) < 6 * sqrt(expected), "fixed-%s, multapses %d: neighbours are independent (%.0f, about %.0f expected)",
     name, multapses, both, expected);
  free(in);
  mill_rows_free(&rows);
}

static void autapses(void)
{
  struct mill_connection c = rule_of(MILL_FIXED_PROBABILITY, 2000, 2000);
  double count = 0;
  c.p = 0.2;
  c.same = 1;
  struct mill_rows with = build(&c, 1);
  c.autapses = 0;
  struct mill_rows without = build(&c, 1);
  for (uint32_t s = 0; s < 2000; s++)
    count += has(&with, s, s);
  ok(fabs(binomial_deviation(count, 2000, 0.2)) < 5, "autapses = yes gives %g of 2000 at p = 0.2", count);
  is_int((intmax_t)with.synapses, (intmax_t)without.synapses + (intmax_t)count, "autapses = no leaves out these and nothing else");
  c.same = 0;
  struct mill_rows apart = build(&c, 1);
  ok(same_rows(&with, &apart, 2000), "autapses = no means nothing between two populations");
  mill_rows_free(&with);
  mill_rows_free(&without);
  mill_rows_free(&apart);
}

int main(void)
{
  plan_later();
  uint64_t held = rows_begin();
  chance_statistics(0.002);
  chance_statistics(0.02);
  chance_statistics(0.5);
  chance_statistics(0.9);
  for (int rule = MILL_FIXED_INDEGREE; rule <= MILL_FIXED_TOTAL; rule++)
    for (int multapses = 0; multapses < 2; multapses++)
      for (int allowed = 0; allowed < 2; allowed++)
        degree_statistics((enum mill_rule)rule, multapses, allowed);
  autapses();
  rows_end(held);
  return done_testing();
}
