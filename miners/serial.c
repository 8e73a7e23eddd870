/* Algorithm 1 of Cao et al. 2009 (arXiv 0905.2200, section IV), the reference: each episode scans the whole stream, with one list
   of times per node: those at which an occurrence of the nodes up to it has ended since the last whole one. It is exact because
   the occurrence that ends first leaves the most room for others, and the lists hold every start of it that an interval can still
   reach. */
#include <stdint.h>

#include <spikemill/counter.h>

/* The newest times of a node, as a ring that holds as many as any type has events within the longest interval: what it
   overwrites is too old for every interval. */
struct list {
  uint32_t first, end; /* numbers of the oldest time and of the next */
  int64_t *time;       /* [mask + 1], at number & mask */
};

/* What one worker needs. */
struct scratch {
  struct list *list; /* [level] */
  int64_t *time;     /* of all lists */
  uint32_t *before;  /* [level]: the next lower node of the same type */
  uint32_t *newest;  /* [types]: the highest node of each type; zeroed between episodes. Nodes count from 1 here, 0 is none */
};

struct serial {
  const struct mill_host *host;
  const struct mill_counter_input *input;
  uint32_t mask, level;    /* the scratch is made for episodes of so many nodes */
  struct scratch *scratch; /* [workers] */
};

struct batch {
  struct serial *serial;
  const struct mill_candidates *candidates;
  uint64_t *counts;
};

static void push(struct list *list, uint32_t mask, int64_t time)
{
  list->time[list->end++ & mask] = time;
  if (list->end - list->first > mask + UINT64_C(1))
    list->first++;
}

/* Whether one of the list's times lies in the interval before `time`. The newest beyond the low bound decides, found by halving: a list may
   be long when many events share a time. */
static int reaches(const struct list *list, uint32_t mask, int64_t time, const struct mill_interval *interval)
{
  uint32_t first = list->first, end = list->end;
  while (first != end) {
    const uint32_t middle = first + (end - first) / 2;
    if (time - list->time[middle & mask] > interval->low)
      first = middle + 1;
    else
      end = middle;
  }
  return first != list->first && time - list->time[(first - 1) & mask] <= interval->high;
}

static void clear(struct list *list, uint32_t level)
{
  for (uint32_t i = 0; i < level; i++)
    list[i].first = list[i].end = 0;
}

static uint64_t count_episode(const struct serial *serial, struct scratch *w, uint32_t level, const uint32_t *type,
                              const uint32_t *interval)
{
  const struct mill_counter_input *in = serial->input;
  const uint32_t mask = serial->mask;
  uint64_t count = 0;
  int64_t completed = 0; /* the time of the last completion, when there is one */
  for (uint32_t i = 0; i < level; i++) {
    w->before[i] = w->newest[type[i]];
    w->newest[type[i]] = i + 1;
  }
  clear(w->list, level);
  for (uint32_t q = 0; q < in->events; q++) {
    uint32_t node = w->newest[in->type[q]];
    if (!node)
      continue;
    const int64_t time = in->time[q];
    if (in->strict && count && time == completed)
      continue;
    /* From the last node to the first, so that an event does not serve two. */
    for (; node; node = w->before[node - 1]) {
      if (node > 1 && !reaches(&w->list[node - 2], mask, time, &in->interval[interval[node - 2]]))
        continue;
      if (node == level) {
        count++;
        completed = time;
        clear(w->list, level);
        break;
      }
      push(&w->list[node - 1], mask, time);
    }
  }
  for (uint32_t i = 0; i < level; i++)
    w->newest[type[i]] = 0;
  return count;
}

static void count_candidate(void *self, uint64_t i, uint32_t worker)
{
  const struct batch *batch = (const struct batch *)self;
  const struct mill_candidates *c = batch->candidates;
  batch->counts[i] = count_episode(batch->serial, &batch->serial->scratch[worker], c->level, c->type + i * c->level,
                                   c->level > 1 ? c->interval + i * (c->level - 1) : 0);
}

static void release_scratch(struct serial *serial)
{
  for (uint32_t w = 0; w < serial->input->workers; w++) {
    struct scratch *s = &serial->scratch[w];
    serial->host->release(s->list);
    serial->host->release(s->time);
    serial->host->release(s->before);
    serial->host->release(s->newest);
    *s = (struct scratch){0, 0, 0, 0};
  }
  serial->level = 0;
}

static int make_scratch(struct serial *serial, uint32_t level, struct mill_error *error)
{
  const struct mill_host *host = serial->host;
  const uint64_t length = serial->mask + UINT64_C(1);
  release_scratch(serial);
  for (uint32_t w = 0; w < serial->input->workers; w++) {
    struct scratch *s = &serial->scratch[w];
    s->list = (struct list *)host->allocate("lists of episodes", level, sizeof *s->list);
    s->time = (int64_t *)host->allocate("times in lists", level * length, sizeof *s->time);
    s->before = (uint32_t *)host->allocate("nodes of episodes", level, sizeof *s->before);
    s->newest = (uint32_t *)host->allocate("nodes by type", serial->input->types, sizeof *s->newest);
    if (!s->list || !s->time || !s->before || !s->newest)
      return host->fail(error, MILL_RESOURCES,
                        "no memory for the lists of episodes of %u nodes: %llu times for each node and thread", level,
                        (unsigned long long)length);
    for (uint32_t i = 0; i < level; i++)
      s->list[i].time = s->time + i * length;
  }
  serial->level = level;
  return 0;
}

/* The most events of one type of which the last comes no more than the longest interval after the first. */
static uint32_t most_in_reach(const struct mill_counter_input *in)
{
  int64_t reach = 0;
  uint32_t most = 0;
  for (uint32_t j = 0; j < in->interval_count; j++)
    reach = in->interval[j].high > reach ? in->interval[j].high : reach;
  for (uint32_t e = 0; e < in->types; e++) {
    for (uint32_t oldest = in->first[e], q = oldest; q < in->first[e + 1]; q++) {
      while (in->type_time[q] - in->type_time[oldest] > reach)
        oldest++;
      most = q - oldest + 1 > most ? q - oldest + 1 : most;
    }
  }
  return most;
}

static void close_counter(void *self)
{
  struct serial *serial = (struct serial *)self;
  const struct mill_host *host = serial->host;
  release_scratch(serial);
  host->release(serial->scratch);
  host->release(serial);
}

static int open_counter(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **self,
                        struct mill_error *error)
{
  struct serial *serial = (struct serial *)host->allocate("serial counter", 1, sizeof *serial);
  struct scratch *scratch = (struct scratch *)host->allocate("serial counter", input->workers, sizeof *scratch);
  (void)params;
  if (!serial || !scratch) {
    host->release(serial);
    host->release(scratch);
    return host->fail(error, MILL_RESOURCES, "out of memory");
  }
  serial->host = host;
  serial->input = input;
  serial->scratch = scratch;
  for (uint32_t most = most_in_reach(input); serial->mask < most;)
    serial->mask = 2 * serial->mask + 1;
  *self = serial;
  return 0;
}

static int count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  struct serial *serial = (struct serial *)self;
  struct batch batch = {serial, candidates, counts};
  if (candidates->level > serial->level && make_scratch(serial, candidates->level, error))
    return -1;
  serial->host->each(serial->input->team, candidates->count, count_candidate, &batch);
  return 0;
}

/* Every candidate is counted from the start, so nothing is kept. */
static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, NULL, NULL};
MILL_PLUGIN(MILL_COUNTER, MILL_CPU | MILL_EXACT, "serial", "each episode scans the whole stream: the reference", 0, NULL, 0, ops);
