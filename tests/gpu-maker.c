/* Synapses made on a GPU: the rows of core/connect-rows.c, bit for bit, for random connections and cuts, in every way of making them; how many
   of them each neuron has; what is refused. SPIKEMILL_LONG=1 or a real GPU: more of them. */
#include "gpu.h"
#include "random.h"
#include "rows.h"
#include "cuda/maker.h"

static struct mill_cuda *cuda;
static struct mill_maker maker;

static void must(int rc, const struct mill_error *error)
{
  if (rc < 0)
    bail("%s", error->text);
}

static uint32_t *degrees(uint32_t count, mill_cu_address *address)
{
  struct mill_error error;
  uint32_t *zero = calloc(count + 1u, sizeof *zero);
  must(zero ? mill_cuda_put(cuda, "degrees", zero, count * sizeof *zero, address, &error) : -1, &error);
  return zero;
}

/* Whether synapses have the places in their list that the host gives them. */
static bool same_edges(const struct mill_laid *laid, mill_cu_address edge, struct mill_rows *got, const struct mill_rows *want)
{
  uint32_t *place = calloc(want->synapses + 1, sizeof *place);
  struct mill_error error;
  bool same = true;
  must(place ? mill_column_move(cuda, teams[1], laid, got, place, 4, edge, 1, &error) : -1, &error);
  for (uint64_t i = 0; i < want->synapses; i++)
    same = same && place[i] == want->edge[i];
  free(place);
  return same;
}

/* What differs between what the device made and the host's rows; NULL: nothing. */
static const char *difference(const struct mill_connection *c, const struct mill_cut *cut, struct mill_made *made,
                              const struct mill_rows *want)
{
  struct mill_error error;
  mill_cu_address out_at, in_at;
  struct mill_rows got;
  uint32_t *length = calloc(c->sources + 1u, sizeof *length);
  uint32_t *out = degrees(c->sources, &out_at), *in = degrees(c->targets, &in_at);
  uint64_t longest = 0;
  const char *differ = NULL;
  must(mill_maker_connect(&maker, "p", c, cut, &(struct mill_degrees){out_at, in_at, length, want->edge != NULL}, made, &error),
       &error);
  const struct mill_laid laid = {*cut, c->sources, made->groups, made->start, made->target};
  must(mill_rows_from_device(cuda, teams[1], &laid, &got, &error), &error);
  must(mill_cuda_download(cuda, out, out_at, c->sources * sizeof *out, &error), &error);
  must(mill_cuda_download(cuda, in, in_at, c->targets * sizeof *in, &error), &error);
  if (!same_rows(&got, want, c->sources))
    differ = "rows";
  else if (want->edge && !same_edges(&laid, made->edge, &got, want))
    differ = "places in the list";
  if (made->synapses != want->synapses)
    differ = "synapses";
  for (uint64_t i = 0; i < want->synapses; i++)
    in[want->column[i]]--;
  for (uint32_t t = 0; t < c->targets; t++)
    differ = in[t] ? "in-degrees" : differ;
  for (uint32_t s = 0; s < c->sources; s++) {
    uint64_t at = want->row[s];
    differ = out[s] != want->row[s + 1] - at || length[s] != out[s] ? "out-degrees" : differ;
    for (uint32_t slice = 0; slice < cut->slices; slice++) {
      uint64_t n = 0;
      while (at < want->row[s + 1] && (!cut->narrow || want->column[at] < (slice + UINT64_C(1)) * cut->width))
        at++, n++;
      longest = (n + 3) / 4 > longest ? (n + 3) / 4 : longest;
    }
  }
  if (made->longest != longest)
    differ = "the longest run";
  mill_rows_free(&got);
  mill_cuda_release(cuda, made->start);
  mill_cuda_release(cuda, made->target);
  mill_cuda_release(cuda, made->edge);
  mill_cuda_release(cuda, in_at);
  mill_cuda_release(cuda, out_at);
  free(in);
  free(length);
  free(out);
  return differ;
}

static struct mill_cut cut_of(uint32_t targets, uint32_t width)
{
  return (struct mill_cut){1, width, targets ? (targets - 1) / width + 1 : 0};
}

static struct mill_cut wide(uint32_t targets)
{
  return (struct mill_cut){0, targets, targets != 0};
}

/* ---- Random ones ------------------------------------------------------------------------------------------------------------ */

static double random_probability(void)
{
  static const double list[] = {1e-7, 1e-4, 0.003, 0.02, 0.02, 0.1, 0.3, 0.5, 0.9, 0.999, 1};
  const double p = list[draw(sizeof list / sizeof *list)];
  return p * (1 - draw(1000) * 1e-4);
}

/* Pairs in any order, some of them often. */
static void random_edges(struct mill_connection *c, struct mill_edges *e)
{
  e->count = 1 + draw(3000);
  e->source = malloc(e->count * sizeof *e->source);
  e->target = malloc(e->count * sizeof *e->target);
  for (uint64_t i = 0; e->source && e->target && i < e->count; i++) {
    const int again = i && draw(3) == 0;
    const uint32_t of = again ? draw((uint32_t)i) : 0;
    e->source[i] = again ? e->source[of] : draw(c->sources);
    e->target[i] = again ? e->target[of] : draw(c->targets);
  }
  c->edges = e;
  c->multapses = c->autapses = 1;
}

static void random_connection(struct mill_connection *c, enum mill_rule rule, struct mill_edges *e)
{
  static const uint32_t sizes[] = {1, 2, 3, 255, 256, 257, 700, 1023, 1024, 1025, 2049, 3000};
  uint32_t from, to;
  *c = rule_of(rule, sizes[draw(12)], sizes[draw(12)]);
  c->key = mill_key(draw(1000), MILL_PURPOSE_CONNECT, draw(9));
  c->p = random_probability();
  c->same = draw(2);
  if (c->same || rule == MILL_ONE_TO_ONE)
    c->targets = c->sources;
  c->autapses = rule == MILL_ONE_TO_ONE || draw(2);
  c->multapses = rule >= MILL_FIXED_INDEGREE && draw(2);
  from = c->sources - (c->same && !c->autapses);
  to = c->targets - (c->same && !c->autapses);
  if (rule == MILL_FIXED_INDEGREE)
    c->n = !from ? 0 : c->multapses ? draw(600) : draw((from < 600 ? from : 600) + 1);
  if (rule == MILL_FIXED_OUTDEGREE)
    c->n = !to ? 0 : c->multapses ? draw(600) : draw((to < 600 ? to : 600) + 1);
  if (rule == MILL_FIXED_TOTAL)
    c->n = !from || !to ? 0 : c->multapses ? draw(200000) : draw(c->sources * to < 200000 ? c->sources * to + 1 : 200000);
  if (rule == MILL_EDGES)
    random_edges(c, e);
}

static void check_random(enum mill_rule rule, uint32_t count)
{
  uint32_t once = 0, bad = 0;
  for (uint32_t k = 0; k < count; k++) {
    static const uint32_t ways[] = {MILL_MAKER_CHOOSES, 1, 2, 4, MILL_MAKER_TWICE};
    struct mill_connection c;
    struct mill_made made;
    struct mill_cut cut;
    struct mill_rows rows;
    const char *differ;
    struct mill_edges edges = {0};
    char order[16];
    random_connection(&c, rule, &edges);
    snprintf(order, sizeof order, "%u", draw(100));
    setenv("EMULATOR_ORDER", order, 1);
    cut = draw(4) ? cut_of(c.targets, draw(3) ? 1 + draw(c.targets) : c.targets) : wide(c.targets);
    maker.way = ways[draw(5)];
    if (!mill_maker_makes(&c))
      continue;
    rows = build(&c, 1);
    differ = difference(&c, &cut, &made, &rows);
    once += made.once;
    if (differ) {
      bad++;
      diag("rule %d, %s differ: %u to %u, p %.17g, n %llu%s, %s%u slices of %u, way %u%s%s", (int)rule, differ, c.sources,
           c.targets, c.p, (unsigned long long)c.n, c.multapses ? ", multapses" : "", cut.narrow ? "" : "wide, ", cut.slices,
           cut.width, maker.way, c.same ? ", same" : "", c.autapses ? "" : ", no autapses");
    }
    mill_rows_free(&rows);
    free(edges.source);
    free(edges.target);
  }
  maker.way = MILL_MAKER_CHOOSES;
  ok(bad == 0, "rule %d, %u random connections: the host's rows and degrees", (int)rule, count);
  if (rule == MILL_FIXED_PROBABILITY)
    ok(once > count / 5 && once < count, "%u of them were drawn once", once);
}

/* ---- Some that are special -------------------------------------------------------------------------------------------------- */

static void check_one(const char *text, const struct mill_connection *c, const struct mill_cut *cut, uint32_t once)
{
  struct mill_rows rows = build(c, 1);
  struct mill_made made;
  const char *differ = difference(c, cut, &made, &rows);
  ok(!differ, "%s: the host's rows%s%s", text, differ ? ", but for " : "", differ ? differ : "");
  is_int(made.once, once, "%s: drawn %s", text, once ? "once" : "twice");
  mill_rows_free(&rows);
}

/* Runs that no warp sorts in shared memory. */
static void check_long(void)
{
  struct mill_connection c = rule_of(MILL_FIXED_OUTDEGREE, 5, 5000);
  struct mill_cut cut = cut_of(c.targets, 5000);
  c.n = 4999;
  check_one("runs of 4999", &c, &cut, 0);
  c.multapses = 1;
  cut = wide(c.targets);
  check_one("wide runs of 4999, some equal", &c, &cut, 0);
}

static void check_special(void)
{
  struct mill_connection c = rule_of(MILL_FIXED_PROBABILITY, 300, 140000);
  struct mill_cut cut = cut_of(c.targets, 63488);
  c.p = 0.001;
  check_one("slices of 63488", &c, &cut, 1);
  cut = cut_of(c.targets, 65535);
  check_one("slices of 65535", &c, &cut, 0);
  cut = wide(c.targets);
  check_one("more than 65535 targets, wide", &c, &cut, 0);
  c.p = 1e-5;
  cut = cut_of(c.targets, 1000);
  check_one("slices that most rows have nothing in", &c, &cut, 1);
  check_long();
  c.targets = 9000;
  c.p = 0.8;
  cut = cut_of(c.targets, 4500);
  check_one("rows that fill no ring", &c, &cut, 0);
  cut = cut_of(c.targets, 3);
  check_one("slices of 3", &c, &cut, 1);
}

/* Rings and room that are too small: all is drawn again. */
static void check_too_small(void)
{
  struct mill_connection c = rule_of(MILL_FIXED_PROBABILITY, 700, 5000);
  struct mill_cut cut = cut_of(c.targets, 600);
  c.p = 0.05;
  check_one("rings that fit", &c, &cut, 1);
  maker.ring = 30;
  check_one("rings that are too small for most rows", &c, &cut, 0);
  maker.ring = 46;
  check_one("rings that are too small for a few rows", &c, &cut, 0);
  maker.ring = 0;
  maker.room = 40000;
  check_one("less room than is needed", &c, &cut, 0);
  maker.room = 60000;
  check_one("more room than is needed", &c, &cut, 1);
  maker.room = 0;
}

static void check_refused(void)
{
  struct mill_connection c = rule_of(MILL_FIXED_PROBABILITY, 3000, 3000);
  struct mill_cut cut = cut_of(3000, 100);
  struct mill_error error;
  struct mill_made made;
  const uint64_t held = cuda->held;
  c.p = 0.5;
  cuda->limit = cuda->held + 1000000;
  is_int(mill_maker_connect(&maker, "narrow-place", &c, &cut, &(struct mill_degrees){0}, &made, &error), -1,
         "no room for the synapses");
  ok(strstr(error.text, "synapses") && error.status == MILL_RESOURCES, "says so: %s", error.text);
  ok(!made.start && !made.target && cuda->held == held, "nothing is left");
  cuda->limit = UINT64_MAX;
}

int main(void)
{
  const char *longer = getenv("SPIKEMILL_LONG");
  struct mill_error error;
  uint64_t held;
  enum gpu gpu;
  plan_later();
  gpu = gpu_find();
  if (gpu == GPU_NONE)
    return done_testing();
  held = rows_begin();
  must(mill_cuda_open(&cuda, &error), &error);
  maker.cuda = cuda;
  must(mill_maker_open(&maker, MILL_MAKER_OF_ROWS, &error), &error);
  random_seed(5);
  for (int rule = MILL_ALL_TO_ALL; rule <= MILL_EDGES; rule++) {
    const uint32_t some = rule == MILL_FIXED_PROBABILITY ? 50 : 12;
    check_random((enum mill_rule)rule, gpu == GPU_REAL || (longer && *longer == '1') ? 40 * some : some);
  }
  check_special();
  check_too_small();
  check_refused();
  mill_maker_rest(&maker);
  ok(cuda->held == 0, "all memory of the device was given back");
  mill_maker_close(&maker);
  mill_cuda_close(cuda);
  rows_end(held);
  return done_testing();
}
