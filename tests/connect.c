// Connection rules: the same rows for every number of threads, exactly as the layout in core/connect-rows.c says, with the degrees
// that were asked for, up to the ends of their domains; what is refused, read and estimated.
#include "rows.h"

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
  struct mill_error error = {0};
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
  uint64_t held = rows_begin();
  threads_agree();
  layout_of_chance(0);
  layout_of_chance(1);
  for (int multapses = 0; multapses < 2; multapses++) {
    layout_of_degrees(multapses);
    layout_of_total(multapses);
  }
  ends_of_probability();
  whole_degrees();
  long_rows();
  small_populations();
  impossible();
  texts();
  estimates();
  out_of_memory();
  rows_end(held);
  return done_testing();
}
