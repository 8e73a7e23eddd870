/* A counter that is exact but for one episode, type 0 -(first interval]→ type 1, of which it misses MISSED occurrences: `spikemill compare`
   must notice (tests/compare.test). It counts by the latest start of every prefix, one candidate after the other. */
#include <stdlib.h>
#include <spikemill/counter.h>

#ifndef NAME
#define NAME "miscount"
#define EXACT MILL_EXACT
#endif
#ifndef MISSED
#define MISSED(in) 1
#endif
#ifndef WAIT
#define WAIT(in, level) (void)0
#endif

struct node {
  uint32_t count;
  struct found {
    int64_t time;
    uint32_t start; /* order of the latest possible first event of an occurrence up to here */
  } * found;        /* [events] */
};

struct miscount {
  const struct mill_host *host;
  const struct mill_counter_input *in;
};

static int start(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **self,
                 struct mill_error *error)
{
  struct miscount *m = malloc(sizeof *m);
  (void)params;
  if (!m)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  m->host = host;
  m->in = input;
  *self = m;
  return 0;
}

/* The latest find of the node before that lies far enough back, when it is not too far. */
static const struct found *partner(const struct node *before, int64_t time, struct mill_interval gap)
{
  for (uint32_t i = before->count; i-- > 0;) {
    if (time - before->found[i].time > gap.low)
      return time - before->found[i].time <= gap.high ? &before->found[i] : NULL;
  }
  return NULL;
}

static uint64_t count_one(const struct mill_counter_input *in, const uint32_t *type, const uint32_t *interval, struct node *node,
                          uint32_t n)
{
  uint64_t count = 0;
  uint32_t last = 0;
  for (uint32_t i = 0; i < n; i++)
    node[i].count = 0;
  for (uint32_t q = 0; q < in->events; q++) {
    for (uint32_t i = n; i-- > 0;) {
      struct found here = {in->time[q], in->order[q]};
      const struct found *before;
      if (type[i] != in->type[q])
        continue;
      if (i > 0) {
        before = partner(&node[i - 1], here.time, in->interval[interval[i - 1]]);
        if (!before)
          continue;
        here.start = before->start;
      }
      node[i].found[node[i].count++] = here;
      if (i == n - 1 && (count == 0 || here.start > last)) {
        count++;
        last = in->order[q];
      }
    }
  }
  return count;
}

static int count(void *self, const struct mill_candidates *c, uint64_t *counts, struct mill_error *error)
{
  const struct miscount *m = self;
  struct node *node = calloc(c->level, sizeof *node);
  struct found *found = calloc((size_t)c->level * m->in->events, sizeof *found);
  int rc = node && found ? 0 : m->host->fail(error, MILL_RESOURCES, "out of memory");
  WAIT(m->in, c->level);
  for (uint32_t i = 0; rc == 0 && i < c->level; i++)
    node[i].found = found + (size_t)i * m->in->events;
  for (uint32_t k = 0; rc == 0 && k < c->count; k++) {
    const uint32_t *type = c->type + (size_t)k * c->level;
    const uint32_t *interval = c->level > 1 ? c->interval + (size_t)k * (c->level - 1) : NULL;
    counts[k] = count_one(m->in, type, interval, node, c->level);
    if (c->level == 2 && type[0] == 0 && type[1] == 1 && interval[0] == 0 && counts[k] > 0)
      counts[k] -= (uint64_t)(MISSED(m->in));
  }
  free(found);
  free(node);
  return rc;
}

static void end(void *self)
{
  free(self);
}

static const struct mill_counter_ops ops = {start, count, mill_keep_nothing, end, NULL, NULL};
MILL_PLUGIN(MILL_COUNTER, MILL_CPU | EXACT, NAME, "exact but for one episode", 0, NULL, 0, ops);
