// Connection rules: the same rows for every number of threads, exactly as the layout in core/connect-rows.c says, with the degrees
// that were asked for and the statistics that the rules promise. Limits are 5 standard deviations, with fixed keys.
#include "tap.h"
#include <spikemill/device.h>
#include "connect.h"
#include "memory.h"

static const uint32_t sizes[] = {1, 2, 3, 8};
static struct mill_team *teams[4];
static struct mill_error error;

static struct mill_connection rule_of(enum mill_rule rule, uint32_t sources, uint32_t targets)
{
  struct mill_connection c = {.rule = rule, .sources = sources, .targets = targets, .autapses = 1};
  c.key = mill_key(7, MILL_PURPOSE_CONNECT, 3);
  return c;
}

static struct mill_rows build(const struct mill_connection *c, int team)
{
  struct mill_rows rows;
  if (mill_connect(teams[team], c, &rows, &error))
    bail("cannot connect: %s", error.text);
  return rows;
}

static bool same_rows(const struct mill_rows *a, const struct mill_rows *b, uint32_t sources)
{
  return a->synapses == b->synapses && !memcmp(a->row, b->row, (sources + 1) * sizeof *a->row) &&
         !memcmp(a->column, b->column, a->synapses * sizeof *a->column);
}

// Sorted, in range, and without what is not allowed.
static bool sound(const struct mill_connection *c, const struct mill_rows *rows)
{
  if (rows->row[0] != 0 || rows->row[c->sources] != rows->synapses || rows->edge)
    return false;
  for (uint32_t s = 0; s < c->sources; s++) {
    for (uint64_t i = rows->row[s]; i < rows->row[s + 1]; i++) {
      uint32_t t = rows->column[i];
      if (t >= c->targets || (c->same && !c->autapses && t == s))
        return false;
      if (i > rows->row[s] && (c->multapses ? t < rows->column[i - 1] : t <= rows->column[i - 1]))
        return false;
    }
  }
  return true;
}

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

// ---- Threads

static void threads_agree(void)
{
  struct mill_connection cases[24];
  int n = 0;
  for (int rule = MILL_ALL_TO_ALL; rule <= MILL_FIXED_TOTAL; rule++) {
    for (int variant = 0; variant < 4; variant++) {
      struct mill_connection c = rule_of((enum mill_rule)rule, 700, variant & 1 ? 700 : 2500);
      c.same = variant & 1;
      c.autapses = rule == MILL_ONE_TO_ONE || !(variant & 1);
      c.multapses = rule >= MILL_FIXED_INDEGREE && (variant & 2);
      c.p = variant & 2 ? 0.3 : 0.01;
      c.n = rule == MILL_FIXED_TOTAL ? 100000 : variant & 2 ? 699 : 50;
      if (rule == MILL_ONE_TO_ONE)
        c.targets = 700;
      cases[n++] = c;
    }
  }
  for (int i = 0; i < n; i++) {
    struct mill_connection *c = &cases[i];
    struct mill_rows rows = build(c, 0);
    bool equal = true;
    for (int t = 1; t < 4; t++) {
      struct mill_rows others = build(c, t);
      equal = equal && same_rows(&rows, &others, c->sources);
      mill_rows_free(&others);
    }
    ok(equal, "rule %d, case %d: 1, 2, 3 and 8 threads make the same rows", (int)c->rule, i);
    ok(sound(c, &rows), "rule %d, case %d: rows are sorted, in range, and hold what is allowed", (int)c->rule, i);
    if (c->rule == MILL_FIXED_PROBABILITY)
      ok(rows.synapses <= mill_connection_estimate(c), "rule %d, case %d: not more than estimated", (int)c->rule, i);
    else
      is_int((intmax_t)rows.synapses, (intmax_t)mill_connection_estimate(c), "rule %d, case %d: as many as estimated", (int)c->rule,
             i);
    mill_rows_free(&rows);
  }
}

// ---- The layout, written out again from its description

static void layout_of_chance(int autapses)
{
  struct mill_connection c = rule_of(MILL_FIXED_PROBABILITY, 2300, 2300);
  c.p = 0.037;
  c.same = 1;
  c.autapses = autapses;
  struct mill_rows rows = build(&c, 1);
  uint64_t at = 0;
  bool equal = true;
  for (uint64_t s = 0; s < c.sources; s++) {
    for (uint64_t chunk = 0; chunk * 1024 < c.targets; chunk++) {
      double end = fmin(c.targets, 1024.0 * (double)(chunk + 1)), t = 1024.0 * (double)chunk;
      for (uint64_t draw = 0;; draw++, t++) {
        uint64_t bits = mill_random_pair(c.key, s << 32 | chunk, draw / 2).x[draw % 2];
        t += floor(mill_log(mill_uniform(bits)) * (1 / mill_log1p(-c.p)));
        if (t >= end)
          break;
        if (t == (double)s && !autapses)
          continue;
        equal = equal && at < rows.synapses && (double)rows.column[at] == t;
        at++;
      }
    }
    equal = equal && rows.row[s + 1] == at;
  }
  ok(equal, "fixed-probability follows its layout, autapses %d", autapses);
  mill_rows_free(&rows);
}

static void layout_of_degrees(int multapses)
{
  struct mill_connection c = rule_of(MILL_FIXED_INDEGREE, 90, 90);
  c.n = 20;
  c.same = 1;
  c.autapses = 0;
  c.multapses = multapses;
  for (int out = 0; out < 2; out++) {
    uint32_t count[90][90] = {{0}};
    bool equal = true;
    c.rule = out ? MILL_FIXED_OUTDEGREE : MILL_FIXED_INDEGREE;
    struct mill_rows rows = build(&c, 1);
    for (uint64_t j = 0; j < 90; j++) {
      for (uint64_t m = 0; m < 20; m++) {
        uint64_t other = multapses ? mill_below(mill_random(c.key, j, m), 89) : mill_feistel(mill_random(c.key, j, 0), 89, m);
        other += other >= j;
        count[out ? j : other][out ? other : j]++;
      }
    }
    for (uint32_t s = 0; s < 90; s++)
      for (uint64_t i = rows.row[s]; i < rows.row[s + 1]; i++)
        count[s][rows.column[i]]--;
    for (int i = 0; i < 90 * 90; i++)
      equal = equal && count[i / 90][i % 90] == 0;
    ok(equal, "fixed-%sdegree follows its layout, multapses %d", out ? "out" : "in", multapses);
    mill_rows_free(&rows);
  }
}

static void layout_of_total(int multapses)
{
  struct mill_connection c = rule_of(MILL_FIXED_TOTAL, 40, 40);
  uint32_t count[40][40] = {{0}};
  bool equal = true;
  c.n = 800;
  c.same = 1;
  c.autapses = 0;
  c.multapses = multapses;
  struct mill_rows rows = build(&c, 1);
  for (uint64_t i = 0; i < c.n; i++) {
    uint64_t pair = multapses ? mill_below(mill_random(c.key, i, 0), 40 * 39) : mill_feistel(c.key, 40 * 39, i);
    uint64_t s = pair / 39, t = pair % 39;
    count[s][t + (t >= s)]++;
  }
  for (uint32_t s = 0; s < 40; s++)
    for (uint64_t i = rows.row[s]; i < rows.row[s + 1]; i++)
      count[s][rows.column[i]]--;
  for (int i = 0; i < 40 * 40; i++)
    equal = equal && count[i / 40][i % 40] == 0;
  ok(equal, "fixed-total follows its layout, multapses %d", multapses);
  mill_rows_free(&rows);
}

// ---- Statistics

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

// ---- Edges of the domain

static void ends_of_probability(void)
{
  struct mill_connection c = rule_of(MILL_FIXED_PROBABILITY, 50, 2049);
  struct {
    double p;
    uint64_t want;
  } cases[] = {{0, 0}, {1, 50 * 2049}, {1e-300, 0}, {4.9e-324, 0}, {1 - 0x1p-53, 50 * 2049}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    c.p = cases[i].p;
    struct mill_rows rows = build(&c, 1);
    is_int((intmax_t)rows.synapses, (intmax_t)cases[i].want, "p = %g", c.p);
    mill_rows_free(&rows);
  }
  c = rule_of(MILL_FIXED_PROBABILITY, 300, 300);
  c.same = 1;
  c.autapses = 0;
  c.p = 1;
  struct mill_rows rows = build(&c, 2), all;
  is_int((intmax_t)rows.synapses, 300 * 299, "p = 1 without autapses");
  c.rule = MILL_ALL_TO_ALL;
  all = build(&c, 0);
  ok(same_rows(&rows, &all, 300), "p = 1 is all-to-all");
  mill_rows_free(&rows);
  mill_rows_free(&all);
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

static void whole_degrees(void)
{
  for (int rule = MILL_FIXED_INDEGREE; rule <= MILL_FIXED_TOTAL; rule++) {
    struct mill_connection c = rule_of((enum mill_rule)rule, 70, 70);
    c.same = 1;
    c.autapses = 0;
    c.n = rule == MILL_FIXED_TOTAL ? 70 * 69 : 69;
    struct mill_rows rows = build(&c, 2), all;
    c.rule = MILL_ALL_TO_ALL;
    all = build(&c, 0);
    ok(same_rows(&rows, &all, 70), "rule %d with every partner is all-to-all", rule);
    mill_rows_free(&rows);
    mill_rows_free(&all);
  }
}

static void long_rows(void)
{
  // Rows of more than 1024 synapses, whose sorting has more cases, and many multapses on few targets.
  struct mill_connection c = rule_of(MILL_FIXED_OUTDEGREE, 5, 100000);
  c.n = 60000;
  struct mill_rows rows = build(&c, 1);
  ok(sound(&c, &rows), "rows of 60,000 of 100,000 are sorted and without repeats");
  mill_rows_free(&rows);
  c.targets = 1;
  c.multapses = 1;
  rows = build(&c, 1);
  ok(sound(&c, &rows) && rows.synapses == 300000, "rows of 60,000 synapses to one target");
  mill_rows_free(&rows);
  c.rule = MILL_FIXED_TOTAL;
  c.targets = 3;
  rows = build(&c, 2);
  ok(sound(&c, &rows) && rows.synapses == 60000, "60,000 synapses between 5 and 3 neurons");
  mill_rows_free(&rows);
}

static void small_populations(void)
{
  for (int rule = MILL_ALL_TO_ALL; rule <= MILL_FIXED_TOTAL; rule++) {
    for (int shape = 0; shape < 4; shape++) {
      static const uint32_t shapes[4][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}};
      struct mill_connection c = rule_of((enum mill_rule)rule, shapes[shape][0], shapes[shape][1]);
      c.same = shape == 3 || shape == 0;
      c.p = 0.5;
      c.n = shape == 3;
      if (rule == MILL_ONE_TO_ONE && c.sources != c.targets)
        continue;
      struct mill_rows rows = build(&c, 2);
      intmax_t want = shape == 3 ? (rule == MILL_FIXED_PROBABILITY ? (intmax_t)rows.synapses : 1) : 0;
      ok((intmax_t)rows.synapses == want && want <= 1 && sound(&c, &rows), "rule %d, %u to %u neurons", rule, c.sources, c.targets);
      mill_rows_free(&rows);
    }
  }
  struct mill_connection c = rule_of(MILL_ALL_TO_ALL, 1, 1);
  c.same = 1;
  c.autapses = 0;
  struct mill_rows rows = build(&c, 0);
  is_int((intmax_t)rows.synapses, 0, "one neuron without autapses has no synapse");
  mill_rows_free(&rows);
  c = rule_of(MILL_ONE_TO_ONE, 100, 100);
  rows = build(&c, 2);
  bool diagonal = rows.synapses == 100;
  for (uint32_t s = 0; s < 100; s++)
    diagonal = diagonal && rows.column[rows.row[s]] == s;
  ok(diagonal, "one-to-one is the diagonal");
  mill_rows_free(&rows);
}

// ---- Refusals

static void refused(const struct mill_connection *c, const char *part)
{
  struct mill_rows rows;
  struct mill_error e = {0};
  int result = mill_connection_check(c, &e);
  ok(result == -1 && e.status == MILL_USAGE && strstr(e.text, part), "refused: %s", e.text);
  ok(mill_connect(teams[0], c, &rows, &e) == -1 && !rows.row && !rows.column, "and not built");
}

static void impossible(void)
{
  struct mill_connection c = rule_of(MILL_FIXED_INDEGREE, 100, 200);
  c.n = 101;
  refused(&c, "only 100 possible sources");
  c.rule = MILL_FIXED_OUTDEGREE;
  c.n = 201;
  refused(&c, "only 200 possible targets");
  c.targets = 100;
  c.same = 1;
  c.autapses = 0;
  c.n = 100;
  refused(&c, "only 99 possible targets (autapses = no)");
  c.rule = MILL_FIXED_INDEGREE;
  refused(&c, "only 99 possible sources (autapses = no)");
  c.rule = MILL_FIXED_TOTAL;
  c.n = 9901;
  refused(&c, "only 9900 pairs");
  c.rule = MILL_ONE_TO_ONE;
  refused(&c, "only autapses");
  c.multapses = 1;
  c.autapses = 1;
  refused(&c, "never makes multapses");
  c.rule = MILL_ALL_TO_ALL;
  refused(&c, "never makes multapses");
  c.rule = MILL_FIXED_PROBABILITY;
  refused(&c, "never makes multapses");
  c.multapses = 0;
  c.p = 1.5;
  refused(&c, "from 0 to 1");
  c = rule_of(MILL_ONE_TO_ONE, 5, 6);
  refused(&c, "5 sources and 6 targets");
  c = rule_of(MILL_FIXED_INDEGREE, 0, 6);
  c.n = 1;
  c.multapses = 1;
  refused(&c, "only 0 possible sources");
  c = rule_of(MILL_FIXED_TOTAL, 1, 1);
  c.n = 1;
  c.same = 1;
  c.autapses = 0;
  c.multapses = 1;
  refused(&c, "only 0 pairs");
  c = rule_of(MILL_FIXED_INDEGREE, 10, 10);
  c.n = (uint64_t)1 << 32;
  c.multapses = 1;
  refused(&c, "a degree is at most");
  c = rule_of(MILL_EDGES, 10, 10);
  refused(&c, "was not read");
}

// ---- Text

static void reads(const char *text, enum mill_rule rule, double p, uint64_t n, const char *file)
{
  struct mill_connection c = {0};
  static struct mill_define entry[] = {{"k", 12.0}};
  struct mill_defines defines = {1, entry};
  int result = mill_connection_parse(text, &defines, &c, &error);
  ok(!result && c.rule == rule && fabs(c.p - p) < 1e-15 && c.n == n && (file ? c.file && !strcmp(c.file, file) : !c.file),
     "%s is read", text);
  free(c.file);
}

static void refuses(const char *text, const char *part)
{
  struct mill_connection c = {0};
  struct mill_defines defines = {0};
  struct mill_error e = {0};
  ok(mill_connection_parse(text, &defines, &c, &e) == -1 && e.status == MILL_USAGE && strstr(e.text, part) && !c.file, "`%s`: %s",
     text, e.text);
}

static void texts(void)
{
  reads("all-to-all", MILL_ALL_TO_ALL, 0, 0, NULL);
  reads("one-to-one", MILL_ONE_TO_ONE, 0, 0, NULL);
  reads("fixed-probability(0.02)", MILL_FIXED_PROBABILITY, 0.02, 0, NULL);
  reads("fixed-probability( 1 / $k )", MILL_FIXED_PROBABILITY, 1 / 12.0, 0, NULL);
  reads("fixed-indegree(round($k * 1.1))", MILL_FIXED_INDEGREE, 0, 13, NULL);
  reads("fixed-outdegree(0)", MILL_FIXED_OUTDEGREE, 0, 0, NULL);
  reads("fixed-total(1e9)", MILL_FIXED_TOTAL, 0, 1000000000, NULL);
  reads("file(edges.csv)", MILL_EDGES, 0, 0, "edges.csv");
  refuses("fixed-probabilty(0.1)", "did you mean `fixed-probability`");
  refuses("gaussian(3)", "expected all-to-all, one-to-one");
  refuses("fixed-probability(1.01)", "1.01; expected 0 to 1");
  refuses("fixed-probability(-0.1)", "expected 0 to 1");
  refuses("fixed-probability", "expected fixed-probability(p)");
  refuses("fixed-probability(0.1, 0.2)", "2 operands");
  refuses("fixed-probability(x)", "fixed-probability(x)");
  refuses("fixed-indegree(3.5)", "whole number");
  refuses("fixed-indegree(-3)", "expected 0 or more");
  refuses("all-to-all(3)", "expected all-to-all");
  refuses("file", "expected file(edges.csv)");
  refuses("fixed-indegree(3", "");
  refuses("", "");
}

static void estimates(void)
{
  struct mill_connection c = rule_of(MILL_FIXED_PROBABILITY, 20000, 20000);
  c.p = 0.02;
  is_int((intmax_t)mill_connection_estimate(&c), 8000000 + 16800, "estimate is 6 standard deviations (2800) above the mean");
  c.p = 0.999999999;
  ok(mill_connection_estimate(&c) <= 400000000, "estimate is never above the number of pairs");
  c = rule_of(MILL_FIXED_INDEGREE, 10, UINT32_MAX);
  c.n = (uint64_t)1 << 40;
  ok(mill_connection_estimate(&c) == UINT64_MAX, "estimate does not wrap");
  c = rule_of(MILL_ALL_TO_ALL, UINT32_MAX, UINT32_MAX);
  ok(mill_connection_estimate(&c) == (uint64_t)UINT32_MAX * UINT32_MAX, "estimate of the largest network");
}

static void out_of_memory(void)
{
  struct mill_connection c = rule_of(MILL_FIXED_TOTAL, 10, 10);
  struct mill_rows rows;
  struct mill_error e = {0};
  uint64_t held = mill_memory_held();
  c.multapses = 1;
  c.n = (uint64_t)1 << 60;
  ok(mill_connect(teams[1], &c, &rows, &e) == -1 && e.status == MILL_RESOURCES && strstr(e.text, "pairs to sort"), "no memory: %s",
     e.text);
  ok(!rows.row && !rows.column && mill_memory_held() == held, "nothing is held after that");
}

int main(void)
{
  plan_later();
  for (int i = 0; i < 4; i++)
    if (mill_team_create(sizes[i], &teams[i], &error))
      bail("%s", error.text);
  uint64_t held = mill_memory_held();
  threads_agree();
  layout_of_chance(0);
  layout_of_chance(1);
  for (int multapses = 0; multapses < 2; multapses++) {
    layout_of_degrees(multapses);
    layout_of_total(multapses);
  }
  chance_statistics(0.002);
  chance_statistics(0.02);
  chance_statistics(0.5);
  chance_statistics(0.9);
  for (int rule = MILL_FIXED_INDEGREE; rule <= MILL_FIXED_TOTAL; rule++)
    for (int multapses = 0; multapses < 2; multapses++)
      for (int allowed = 0; allowed < 2; allowed++)
        degree_statistics((enum mill_rule)rule, multapses, allowed);
  ends_of_probability();
  autapses();
  whole_degrees();
  long_rows();
  small_populations();
  impossible();
  texts();
  estimates();
  out_of_memory();
  ok(mill_memory_held() == held, "all memory was given back");
  for (int i = 0; i < 4; i++)
    mill_team_free(teams[i]);
  return done_testing();
}
