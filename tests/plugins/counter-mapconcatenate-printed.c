/* MapConcatenate as the paper prints it (Cao et al. 2009, arXiv 0905.2200, section V), which is not exact: for tests/mapconcatenate.c. One
   cut at a time T makes two segments, (…, T] and (T, …). In the second N machines of Algorithm 1 start, the k-th the first k high bounds
   before the cut. A machine gives (a, count, b): the first completion after the segment's start that an occurrence can have begun before
   it, the completions in the segment, and the first one after its end of the same kind; none where there is no such completion. Neighbours
   whose b and a agree are joined. */
#include <stdlib.h>

#include <spikemill/counter.h>

struct parameters {
  int64_t cut;
  int32_t inclusive, last;
};
#define AT(member) offsetof(struct parameters, member)
static const struct mill_param_spec params[] = {
    {"cut", "ticks", "0", NULL, "where the second segment begins", -1e18, 1e18, AT(cut), MILL_INT, 0},
    {"start", "", "exclusive", "exclusive|inclusive", "whether machines take events at the time at which they start", 0, 0,
     AT(inclusive), MILL_CHOICE, 0},
    {"pick", "", "first", "first|last", "which machine is taken when several can be joined", 0, 0, AT(last), MILL_CHOICE, 0},
};
#undef AT

struct printed {
  const struct mill_host *host;
  const struct mill_counter_input *in;
  const struct parameters *parameters;
};

/* The times of a node since the last completion: [events] of them have room. */
struct list {
  uint32_t count;
  int64_t *time;
};

struct tuple {
  int has_a, has_b;
  int64_t a, b;
  uint64_t count;
};

/* A segment (low, high]; low is INT64_MIN and high INT64_MAX at the ends of the stream. */
struct span {
  int64_t low, high, sum; /* sum of the gaps' high bounds */
};

static int reaches(const struct list *list, int64_t time, struct mill_interval gap)
{
  for (uint32_t i = list->count; i-- > 0;)
    if (time - list->time[i] > gap.low)
      return time - list->time[i] <= gap.high;
  return 0;
}

/* Whether the machine completes with an event of this type and time. */
static int take(const struct mill_counter_input *in, struct list *list, uint32_t n, const uint32_t *type, const uint32_t *interval,
                uint32_t event, int64_t time)
{
  for (uint32_t i = n; i-- > 0;) {
    if (type[i] != event || (i && !reaches(&list[i - 1], time, in->interval[interval[i - 1]])))
      continue;
    if (i == n - 1)
      return 1;
    list[i].time[list[i].count++] = time;
  }
  return 0;
}

static void complete(struct tuple *tuple, struct span span, int64_t time)
{
  if (time > span.low && time <= span.high)
    tuple->count++;
  if (!tuple->has_a && span.low != INT64_MIN && time > span.low && time < span.low + span.sum) {
    tuple->has_a = 1;
    tuple->a = time;
  }
  if (!tuple->has_b && span.high != INT64_MAX && time > span.high && time < span.high + span.sum) {
    tuple->has_b = 1;
    tuple->b = time;
  }
}

/* The machine that starts at a time, INT64_MIN: with the stream. */
static struct tuple run(const struct printed *p, struct list *list, uint32_t n, const uint32_t *type, const uint32_t *interval,
                        int64_t start, struct span span)
{
  const struct mill_counter_input *in = p->in;
  struct tuple tuple = {0, 0, 0, 0, 0};
  for (uint32_t i = 0; i < n; i++)
    list[i].count = 0;
  for (uint32_t q = 0; q < in->events; q++) {
    if (start != INT64_MIN && (p->parameters->inclusive ? in->time[q] < start : in->time[q] <= start))
      continue;
    if (!take(in, list, n, type, interval, in->type[q], in->time[q]))
      continue;
    for (uint32_t i = 0; i < n; i++)
      list[i].count = 0;
    complete(&tuple, span, in->time[q]);
  }
  return tuple;
}

static int join(const struct printed *p, struct list *list, uint32_t n, const uint32_t *type, const uint32_t *interval,
                uint64_t *count, struct mill_error *error)
{
  struct span first = {INT64_MIN, p->parameters->cut, 0}, second = {p->parameters->cut, INT64_MAX, 0};
  struct tuple before;
  int64_t start = p->parameters->cut;
  int found = 0;
  for (uint32_t i = 0; i + 1 < n; i++)
    first.sum = second.sum += p->in->interval[interval[i]].high;
  before = run(p, list, n, type, interval, INT64_MIN, first);
  for (uint32_t k = 0; k < n && !(found && !p->parameters->last); k++) {
    struct tuple after;
    if (k)
      start -= p->in->interval[interval[k - 1]].high;
    after = run(p, list, n, type, interval, start, second);
    if (after.has_a != before.has_b || (after.has_a && after.a != before.b))
      continue;
    found = 1;
    *count = before.count + after.count;
  }
  return found ? 0 : p->host->fail(error, MILL_DIFFERENT, "no tuple matches");
}

static int begin(const struct mill_host *host, const void *block, const struct mill_counter_input *input, void **self,
                 struct mill_error *error)
{
  struct printed *p = malloc(sizeof *p);
  if (!p)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  *p = (struct printed){host, input, block};
  *self = p;
  return 0;
}

static int count(void *self, const struct mill_candidates *c, uint64_t *counts, struct mill_error *error)
{
  const struct printed *p = self;
  struct list *list = calloc(c->level, sizeof *list);
  int64_t *time = calloc((size_t)c->level * p->in->events + 1, sizeof *time);
  int rc = list && time ? 0 : p->host->fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t i = 0; rc == 0 && i < c->level; i++)
    list[i].time = time + (size_t)i * p->in->events;
  for (uint32_t k = 0; rc == 0 && k < c->count; k++)
    rc = join(p, list, c->level, c->type + (size_t)k * c->level, c->level > 1 ? c->interval + (size_t)k * (c->level - 1) : NULL,
              &counts[k], error);
  free(time);
  free(list);
  return rc;
}

static void end(void *self)
{
  free(self);
}

static const struct mill_counter_ops ops = {begin, count, mill_keep_nothing, end, NULL, NULL};
MILL_PLUGIN(MILL_COUNTER, MILL_CPU, "mapconcatenate-printed", "MapConcatenate as printed, which is not exact",
            sizeof(struct parameters), params, sizeof params / sizeof *params, ops);
