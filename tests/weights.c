// Stored weights and delays: every number compared with its definition, the statistics of what is drawn, lists of edges, and the
// hash. Limits are 5 standard deviations, with fixed keys.
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "weighing.h"

// ---- Stored weights

static void stores(void)
{
  static const struct {
    struct mill_dist dist;
    uint32_t bits, width;
    const char *name;
  } cases[] = {
      {{MILL_DIST_NORMAL, 0.4, 0.1, 0, 0, NULL}, 32, 16, "normal"},
      {{MILL_DIST_NORMAL, -3, 0.9, 0, 0, NULL}, 32, 16, "negative normal"},
      {{MILL_DIST_UNIFORM, 0, 1, 0, 0, NULL}, 32, 16, "uniform"},
      {{MILL_DIST_LOGNORMAL, 0, 0.5, 0, 0, NULL}, 32, 16, "lognormal"},
      {{MILL_DIST_LOGNORMAL, 0, 1.5, 0, 0, NULL}, 32, 32, "wide lognormal"},
      {{MILL_DIST_NORMAL_CLIPPED, 0, 1, 0, 1, NULL}, 32, 16, "clipped"},
      {{MILL_DIST_NORMAL_TRUNCATED, 0, 1, -0.5, 2, NULL}, 32, 16, "truncated"},
      {{MILL_DIST_NORMAL, 0.4, 0.1, 0, 0, NULL}, 64, 32, "normal in 64 bits"},
  };
  struct mill_rows r, r2;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mill_weighing w = project(&r, MILL_FIXED_TOTAL, 0, 200000, 300, 400, cases[i].dist);
    struct mill_weighing other =
        project(&r2, MILL_ALL_TO_ALL, 0, 0, 7, 400, number(cases[i].dist.kind == MILL_DIST_LOGNORMAL ? 1 : -0.5));
    struct mill_weighing *list[] = {&w, &other};
    struct mill_accumulator acc = weigh(cases[i].bits, list, 2, 0);
    uint64_t zeroed, redrawn = w.redrawn, clipped = w.clipped;
    bool equal = true;
    char *first = malloc(200000 * 4);
    is_int(w.weight_bits, cases[i].width, "%s: width", cases[i].name);
    ok(as_drawn(&w, acc.exponent, &zeroed), "%s: every weight is its draw, rounded (k = %d)", cases[i].name, acc.exponent);
    is_int((intmax_t)w.zeroed, (intmax_t)zeroed, "%s: those that became 0 are counted", cases[i].name);
    ok(!zeroed == !strstr(notes, "became 0"), "%s: and noted", cases[i].name);
    is_int((intmax_t)acc.bound, (intmax_t)bound_of(list, 2), "%s: bound", cases[i].name);
    memcpy(first, w.weight_store, r.synapses * w.weight_bits / 8);
    for (int t = 1; t < 4; t++) {
      struct mill_accumulator again;
      w.redrawn = w.clipped = 0;
      again = weigh(cases[i].bits, list, 2, t);
      equal = equal && again.exponent == acc.exponent && again.bound == acc.bound && w.redrawn == redrawn && w.clipped == clipped &&
              w.zeroed == zeroed && w.weight_bits == cases[i].width &&
              !memcmp(first, w.weight_store, r.synapses * w.weight_bits / 8);
    }
    ok(equal, "%s: 1, 2, 3 and 8 threads agree", cases[i].name);
    free(first);
    mill_weighing_free(&w);
    mill_rows_free(&r);
    mill_rows_free(&r2);
  }
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void statistics(void)
{
  struct mill_rows r;
  struct mill_weighing w = project(&r, MILL_FIXED_PROBABILITY, 0.25, 0, 400, 500, dist(MILL_DIST_NORMAL, 2, 0.3, 0, 0));
  struct mill_weighing *list[] = {&w};
  struct mill_accumulator acc = weigh(32, list, 1, 1);
  double n = (double)r.synapses, sum = 0, squares = 0, worst = 0, along = 0, *x = malloc(r.synapses * sizeof *x);
  for (uint64_t i = 0; i < r.synapses; i++) {
    x[i] = (double)quanta(&w, i) * acc.scale;
    sum += x[i];
    squares += (x[i] - 2) * (x[i] - 2);
    along += i ? (x[i] - 2) * (x[i - 1] - 2) : 0;
  }
  is_real(sum / n, 2, 5 * 0.3 / sqrt(n), "normal: mean");
  is_real(sqrt(squares / n), 0.3, 5 * 0.3 / sqrt(2 * n), "normal: standard deviation");
  is_real(along / n / 0.09, 0, 5 / sqrt(n), "normal: neighbours are independent");
  qsort(x, r.synapses, sizeof *x, ascending);
  for (uint64_t i = 0; i < r.synapses; i++)
    worst = fmax(worst, fabs(0.5 * erfc((2 - x[i]) / 0.3 / sqrt(2)) - ((double)i + 0.5) / n));
  ok(worst * sqrt(n) < 1.95, "normal: Kolmogorov-Smirnov %.3f", worst * sqrt(n));
  free(x);
  is_int((intmax_t)(w.redrawn + w.clipped), 0, "normal: nothing redrawn or clipped");
  mill_weighing_free(&w);

  w.weight = dist(MILL_DIST_NORMAL_CLIPPED, 1, 1, 0, 3);
  acc = weigh(32, list, 1, 1);
  double p = 0.5 * erfc(1 / sqrt(2)) + 0.5 * erfc(2 / sqrt(2)), at_ends = 0;
  for (uint64_t i = 0; i < r.synapses; i++)
    at_ends += quanta(&w, i) == 0 || quanta(&w, i) == (int64_t)ldexp(3, acc.exponent);
  ok(fabs((double)w.clipped - n * p) < 5 * sqrt(n * p), "clipped: %ju, about %.0f expected", (uintmax_t)w.clipped, n * p);
  ok(at_ends >= (double)w.clipped && at_ends < (double)w.clipped + 20, "clipped: they lie on the bounds");
  is_int((intmax_t)w.redrawn, 0, "clipped: nothing redrawn");
  w.clipped = 0;

  w.weight = dist(MILL_DIST_NORMAL_TRUNCATED, 1, 1, 0, 3);
  acc = weigh(32, list, 1, 1);
  double redraws = n * p / (1 - p), low = 9, high = -9; // a geometric number for each
  for (uint64_t i = 0; i < r.synapses; i++) {
    low = fmin(low, (double)quanta(&w, i) * acc.scale);
    high = fmax(high, (double)quanta(&w, i) * acc.scale);
  }
  ok(fabs((double)w.redrawn - redraws) < 6 * sqrt(redraws), "truncated: %ju redrawn, about %.0f expected", (uintmax_t)w.redrawn,
     redraws);
  ok(low >= 0 && high <= 3 && low < 0.01 && high > 2.9, "truncated: from %g to %g", low, high);
  is_int((intmax_t)w.clipped, 0, "truncated: nothing clipped");
  mill_weighing_free(&w);
  mill_rows_free(&r);
}

static void ranks(void)
{
  // 40 synapses of 0 … 3 to 0 … 1: each pair has several, and each of them a weight of its own.
  struct mill_rows r;
  struct mill_weighing w = project(&r, MILL_FIXED_OUTDEGREE, 0, 10, 4, 2, dist(MILL_DIST_UNIFORM, 1, 2, 0, 0));
  struct mill_weighing *list[] = {&w};
  struct mill_accumulator acc = weigh(64, list, 1, 1);
  uint64_t zeroed;
  bool differ = true;
  ok(as_drawn(&w, acc.exponent, &zeroed), "weights of multapses go by their rank");
  for (uint64_t i = 0; i < 40; i++)
    for (uint64_t j = 0; j < i; j++)
      differ = differ && quanta(&w, i) != quanta(&w, j);
  ok(differ, "and all differ");
  for (uint64_t i = 0; i < 40; i++) {
    uint32_t s, m, want = 0;
    mill_synapse_find(&r, 4, i, &s, &m);
    for (uint64_t j = r.row[i / 10]; j < i; j++)
      want += r.column[j] == r.column[i];
    if (s != i / 10 || m != want)
      ok(false, "synapse %ju is of neuron %u, rank %u", (uintmax_t)i, s, m);
  }
  // The weight of a synapse does not depend on what else there is.
  struct mill_rows all;
  struct mill_weighing full = project(&all, MILL_ALL_TO_ALL, 0, 0, 4, 2, w.weight);
  list[0] = &full;
  full.weight_key = w.weight_key;
  weigh(64, list, 1, 1);
  double first = mill_weight_draw(&w, 3, r.column[r.row[3]], 0, NULL, NULL);
  is_real((double)quanta(&full, 6 + r.column[r.row[3]]), rint(ldexp(first, 30)), 0, "the first of a pair is that of another graph");
  mill_weighing_free(&w);
  mill_weighing_free(&full);
  mill_rows_free(&r);
  mill_rows_free(&all);
}

// ---- Edges

static void listed(void)
{
  struct mill_edges *e = edges_of("source,target,weight,delay\n1,0,0.5,1.25\n0,1,-1,0.3\n1,0,0.25,7\n0,0,0,25.6\n");
  struct mill_rows r;
  struct mill_weighing w = project_edges(&r, e, 2, 2), *list[] = {&w};
  struct mill_accumulator acc = weigh(32, list, 1, 1);
  struct mill_error error = {0};
  is_int(acc.exponent, 14, "1 is the largest of the list");
  static const int16_t want[] = {0, -16384, 8192, 4096};
  ok(w.weight_bits == 16 && !memcmp(w.weight_store, want, sizeof want), "weights of the list, in the order of the rows");
  ok(!mill_delay(teams[1], &w, 100000000, &error) && w.delay_bits == 16, "delays of the list");
  static const uint16_t steps[] = {256, 3, 13, 70};
  ok(!memcmp(w.delay_store, steps, sizeof steps), "in the order of the rows; 1.25 ms is 13 steps");
  is_int(w.delay_min, 3, "smallest");
  is_int(w.delay_max, 256, "largest");
  is_int(w.delay_rounded_from_ps, 1250000000, "1.25 ms was rounded");
  is_int((intmax_t)mill_weighing_estimate(&w, 100), 600, "estimate: 4 and 2 bytes");
  mill_weighing_free(&w);
  ok(mill_delay(teams[1], &w, 700000000, &error) == -1 && error.status == MILL_DATA && strstr(error.text, "e.csv:3: delay: 0.3 ms"),
     "refused: %s", error.text);
  mill_edges_free(e);
  mill_rows_free(&r);

  e = edges_of("source,target\n1,0\n0,1\n");
  w = project_edges(&r, e, 2, 2);
  acc = weigh(32, list, 1, 1);
  ok(acc.counts && acc.scale >= 9 && acc.scale <= 9, "without a column the projection's weight holds");
  ok(!mill_delay(teams[1], &w, 100000000, &error) && w.delay_bits == 0 && w.delay_all == 20, "and its delay");
  is_int((intmax_t)mill_weighing_estimate(&w, 100), 0, "estimate: nothing");
  mill_edges_free(e);
  mill_rows_free(&r);
}

// ---- Delays

static void refuses_delay(struct mill_weighing *w, struct mill_dist delay, const char *part)
{
  struct mill_error error = {0};
  w->delay = delay;
  ok(mill_delay(teams[1], w, 100000000, &error) == -1 && error.status == MILL_USAGE && !strncmp(error.text, "delay: ", 7) &&
         strstr(error.text, part) && !w->delay_store,
     "refused: %s", error.text);
}

static void delays(void)
{
  static const struct {
    double ms;
    uint32_t steps;
    int rounded;
  } cases[] = {{0.8, 8, 0},  {1.5, 15, 0},   {0.81, 8, 1}, {0.82, 8, 1}, {0.8499, 8, 1},    {0.85, 9, 1},
               {0.86, 9, 1}, {0.8999, 9, 1}, {0.06, 1, 1}, {0.05, 1, 1}, {6553.5, 65535, 0}};
  const int64_t dt = 100000000;
  struct mill_rows r;
  struct mill_weighing w = project(&r, MILL_FIXED_TOTAL, 0, 100000, 200, 300, number(1));
  struct mill_error error = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    w.delay = number(cases[i].ms);
    int result = mill_delay(teams[1], &w, dt, &error);
    ok(!result && w.delay_bits == 0 && !w.delay_store && w.delay_all == cases[i].steps && w.delay_min == w.delay_all &&
           w.delay_max == w.delay_all && (w.delay_rounded_from_ps != 0) == cases[i].rounded,
       "%g ms at 0.1 ms is %u steps", cases[i].ms, w.delay_all);
  }
  refuses_delay(&w, number(0.04), "0.04 ms rounds to 0 steps; expected at least half a step of 0.1 ms");
  refuses_delay(&w, number(0), "rounds to 0 steps");
  refuses_delay(&w, number(-1), "negative");
  refuses_delay(&w, number(6553.55), "more than 65535 steps of 0.1 ms; expected at most 6553.5 ms");
  refuses_delay(&w, number(1e300), "out of range");
  refuses_delay(&w, dist(MILL_DIST_NORMAL, 1, 0.5, 0, 0), "from neuron");
  refuses_delay(&w, dist(MILL_DIST_UNIFORM, 0.01, 1, 0, 0), "rounds to 0 steps");
  refuses_delay(&w, dist(MILL_DIST_UNIFORM, 6000, 7000, 0, 0), "more than 65535 steps");

  struct mill_dist spreads[] = {dist(MILL_DIST_UNIFORM, 0.05, 25.5, 0, 0), dist(MILL_DIST_UNIFORM, 0.1, 40, 0, 0),
                                dist(MILL_DIST_NORMAL_TRUNCATED, 1, 0.5, 0.1, 5), dist(MILL_DIST_NORMAL_CLIPPED, 1, 0.5, 0.1, 5)};
  for (size_t k = 0; k < sizeof spreads / sizeof *spreads; k++) {
    uint16_t *first = calloc(r.synapses, 2);
    uint64_t redrawn = 0, clipped = 0;
    bool equal = true, right = true;
    w.delay = spreads[k];
    for (int t = 0; t < 4; t++) {
      uint32_t low = UINT32_MAX, high = 0;
      w.redrawn = w.clipped = 0;
      if (mill_delay(teams[t], &w, dt, &error))
        bail("%s", error.text);
      for (uint32_t s = 0; s < 200; s++)
        for (uint64_t i = r.row[s]; i < r.row[s + 1]; i++) {
          uint16_t steps = w.delay_bits == 8 ? ((uint8_t *)w.delay_store)[i] : ((uint16_t *)w.delay_store)[i];
          uint32_t source, m;
          low = steps < low ? steps : low;
          high = steps > high ? steps : high;
          if (t) {
            equal = equal && steps == first[i];
            continue;
          }
          mill_synapse_find(&r, 200, i, &source, &m);
          double ms = mill_dist_draw(&w.delay, w.delay_key, (uint64_t)source << 32 | r.column[i], m, NULL, NULL);
          right = right && source == s && fabs(steps - ms * 10) <= 0.5 + 1e-8;
          first[i] = steps;
        }
      right = right && low == w.delay_min && high == w.delay_max && w.delay_bits == (high < 256 ? 8 : 16) &&
              w.delay_rounded_from_ps % dt;
      equal = equal && (!t || (redrawn == w.redrawn && clipped == w.clipped));
      redrawn = w.redrawn;
      clipped = w.clipped;
      mill_weighing_free(&w);
    }
    ok(right, "drawn delays %zu: each is its draw, rounded; u%u, %u to %u", k, w.delay_bits, w.delay_min, w.delay_max);
    ok(equal, "drawn delays %zu: 1, 2, 3 and 8 threads agree", k);
    ok((k == 2) == (redrawn > 0) && (k == 3) == (clipped > 0), "drawn delays %zu: redraws and clips are counted", k);
    free(first);
  }
  w.delay = dist(MILL_DIST_UNIFORM, 0.96, 1.04, 0, 0);
  ok(!mill_delay(teams[1], &w, dt, &error) && !w.delay_bits && w.delay_all == 10 && !w.delay_store, "equal ones need no store");
  mill_rows_free(&r);
  w = project(&r, MILL_FIXED_TOTAL, 0, 0, 5, 5, number(1));
  w.delay = dist(MILL_DIST_UNIFORM, 1, 2, 0, 0);
  ok(!mill_delay(teams[1], &w, dt, &error) && !w.delay_bits && w.delay_all >= 1 && w.delay_min == w.delay_max,
     "no synapses, no delays");
  mill_rows_free(&r);
}

// ---- The hash

static void hash(void)
{
  struct mill_rows r[3];
  struct mill_weighing w[3] = {project(&r[0], MILL_FIXED_TOTAL, 0, 3000, 20, 30, dist(MILL_DIST_LOGNORMAL, 0, 1.5, 0, 0)),
                               project(&r[1], MILL_FIXED_PROBABILITY, 0.5, 0, 30, 20, number(-0.3)),
                               project(&r[2], MILL_FIXED_TOTAL, 0, 500, 30, 30, dist(MILL_DIST_NORMAL, 1, 0.1, 0, 0))};
  struct mill_ring rings[2][2] = {{{0}}};
  struct mill_population p[2] = {{.size = 20, .receptor_count = 2, .ring = rings[0]},
                                 {.size = 30, .receptor_count = 2, .ring = rings[1]}};
  struct mill_projection x[3];
  static const uint32_t ends[3][3] = {{0, 1, 0}, {1, 0, 1}, {1, 1, 1}};
  size_t n = 0;
  unsigned char *bytes = malloc(24 * (r[0].synapses + r[1].synapses + r[2].synapses));
  for (uint32_t k = 0; k < 3; k++) {
    struct mill_weighing *list[] = {&w[k]};
    struct mill_accumulator acc = weigh(32, list, 1, 1);
    rings[ends[k][1]][ends[k][2]].scale = acc.scale;
    x[k] = (struct mill_projection){.index = k,
                                    .source = ends[k][0],
                                    .target = ends[k][1],
                                    .receptor = ends[k][2],
                                    .synapses = r[k].synapses,
                                    .row = r[k].row,
                                    .column = r[k].column,
                                    .weight_bits = w[k].weight_bits,
                                    .weight_all = w[k].weight_all,
                                    .weight = w[k].weight_store};
    for (uint32_t s = 0; s < p[ends[k][0]].size; s++)
      for (uint64_t i = r[k].row[s]; i < r[k].row[s + 1]; i++, n += 24) {
        uint32_t found, m, head[4] = {k, s, r[k].column[i], 0};
        double weight = (double)quanta(&w[k], i) * acc.scale;
        mill_synapse_find(&r[k], w[k].sources, i, &found, &m);
        head[3] = m;
        memcpy(bytes + n, head, 16); // this test runs on little-endian machines
        memcpy(bytes + n + 16, &weight, 8);
      }
  }
  ok(w[0].weight_bits == 32 && w[1].weight_bits == 0 && w[2].weight_bits == 16, "all three widths");
  struct mill_network network = {.population_count = 2, .projection_count = 3, .population = p, .projection = x};
  ok(mill_weight_hash(&network) == XXH64(bytes, n, 0), "weight_hash is that of its records");
  ((int16_t *)w[2].weight_store)[77]++;
  ok(mill_weight_hash(&network) != XXH64(bytes, n, 0), "and another when one weight is");
  network.projection_count = 0;
  ok(mill_weight_hash(&network) == XXH64(bytes, 0, 0), "no projections: that of nothing");
  free(bytes);
  for (int k = 0; k < 3; k++) {
    mill_weighing_free(&w[k]);
    mill_rows_free(&r[k]);
  }
}

int main(void)
{
  plan_later();
  uint64_t held = weighing_begin();
  stores();
  statistics();
  ranks();
  listed();
  delays();
  hash();
  weighing_end(held);
  return done_testing();
}
