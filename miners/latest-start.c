/* Latest-start propagation. Of the occurrences of an episode that end at an event only the one that starts last matters, since it
   overlaps with the fewest others. Taking, in order, each end whose latest start lies after the end taken before is the greedy
   choice of intervals by their ends, and that is a largest set of disjoint ones; so the count is that of Cao et al. 2009 (arXiv
   0905.2200, section II), without lists.

   A *link* of two types and an interval is an event of the second type with the events of the first that the interval reaches
   back to; the *ends* of a prefix are the events at which it ends, each with its latest start. Level 2 finds the links
   (latest-start-pairs.h, latest-start-join.h). From then on a candidate goes through the links of its last two types and looks up the newest end of
   its prefix in each: neither the stream nor times matter any more. Links and ends of what is kept are a cache of limited size
   (latest-start-cache.h); what it lacks is found from the types. */
#include <stdint.h>
#include <string.h>

#include <spikemill/counter.h>

#include "latest-start-cache.h"
#include "latest-start-pairs.h"

#define SLICE 64 /* candidates that a worker takes at a time */
#define FILL 16  /* entries of a table written at once */

/* A value that is at hand is chosen by a conditional move; the processor guesses jumps wrong here half of the time. */
#ifdef __GNUC__
#define SETTLE(value) __asm__("" : "+r"(value))
#else
#define SETTLE(value) (void)0
#endif

/* Writes a number into entries at … stop - 1, and into some behind them, which are written over next time. Returns stop. */
static inline uint64_t fill_until(uint32_t *table, uint64_t at, uint64_t stop, uint32_t number)
{
  do {
    for (uint32_t i = 0; i < FILL; i++)
      table[at + i] = number;
    at += FILL;
  } while (at < stop);
  return stop;
}

#include "latest-start-join.h"
#include "latest-start-device.h"

struct worker {
  struct end *end[2]; /* [longest + 2] each */
  uint32_t parent;    /* the prefix that is loaded, or NONE */
  struct ends prefix;
  uint32_t *table; /* [longest + 1 + FILL]: at i >> shift the number of the prefix's ends among events 0 … i | ((1 << shift) - 1) */
  uint32_t shift;
  struct ranks ranks;
};

struct latest_start {
  const struct mill_host *host;
  const struct mill_counter_input *input;
  struct worker *worker; /* [workers] */
  struct sweep sweep;
  struct cache cache;
};

struct batch {
  struct latest_start *self;
  const struct mill_candidates *candidates;
  uint64_t *counts;
  uint32_t *keep;      /* [count]: how many links or ends each has, then the place of its record or NONE; NULL: none is kept */
  struct block *block; /* with these records; NULL while counting */
};

static uint32_t length(const struct mill_counter_input *in, uint32_t type)
{
  return in->first[type + 1] - in->first[type];
}

/* The first of time[from … count - 1], which ascend, that is later than since + gap; found in steps that double. */
static uint32_t first_beyond(const int64_t *time, uint32_t from, uint32_t count, int64_t since, int64_t gap)
{
  uint64_t step = 1;
  while (step < count - from && time[from + step - 1] - since <= gap) {
    from += (uint32_t)step;
    step *= 2;
  }
  for (uint32_t left = step < count - from ? (uint32_t)step : count - from; left;) { /* it is among from … from + left */
    const uint32_t half = left / 2;
    if (time[from + half] - since <= gap) {
      from += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return from;
}

/* ---- Ends --------------------------------------------------------------------------------------------------------------- */

/* Makes `ends` the worker's prefix. Its last type has `events` events. */
static void load(struct worker *w, struct ends ends, uint32_t events)
{
  const uint64_t entries = 64 + 16 * (uint64_t)ends.count; /* more than that would take longer to fill than they save */
  uint32_t shift = 0;
  uint64_t at = 0;
  while (events >> shift > entries)
    shift++;
  for (uint32_t v = 0; v <= ends.count; v++) {
    at = fill_until(w->table, at, v < ends.count ? (ends.end[v + 1].at - 1) >> shift : (events >> shift) + 1, v);
  }
  w->prefix = ends;
  w->shift = shift;
}

/* The start of the newest end that the link reaches, 0 when there is none. Without a jump that the processor would have to
   guess. */
static inline uint32_t start_of(const struct worker *w, struct link link, uint32_t shift)
{
  const struct end *end = w->prefix.end + w->table[link.high >> shift];
  if (shift) /* else the table is exact */
    while (end->at > link.high + 1)
      end--;
  return end->start & (0 - (uint32_t)(end->at > link.low));
}

/* The count of the prefix with one more node, `order` being that of the node's events; and its number of ends. */
static inline uint64_t count_through(const struct worker *w, struct links links, const uint32_t *order, uint32_t shift,
                                     uint32_t *ends)
{
  uint32_t last = 0, found = 0, count = 0;
  for (uint32_t i = 0; i < links.count; i++) {
    const uint32_t start = start_of(w, links.link[i], shift);
    uint32_t now = order[links.link[i].end] + 1;
    SETTLE(now);
    found += start != 0;
    count += start > last;
    last = start > last ? now : last;
  }
  *ends = found;
  return count;
}

/* The same ends, into `out`, which has room for two more. */
static void extend_through(const struct worker *w, struct links links, struct end *out)
{
  uint32_t count = 0;
  out[0] = (struct end){0, 0};
  for (uint32_t i = 0; i < links.count; i++) {
    const uint32_t start = start_of(w, links.link[i], w->shift);
    out[count + 1] = (struct end){links.link[i].end + 1, start};
    count += start != 0;
  }
}

/* Both without links: the ends of the prefix, whose last type is a, with one more node of type b. `out` may be NULL. */
static uint64_t follow(const struct mill_counter_input *in, struct ends prefix, uint32_t a, uint32_t b, uint32_t j, struct end *out,
                       uint32_t *ends)
{
  const int64_t *from = in->type_time + in->first[a], *to = in->type_time + in->first[b];
  const int64_t near = in->interval[j].low, far = in->interval[j].high;
  const uint32_t *order = in->type_order + in->first[b], to_count = length(in, b);
  uint32_t last = 0, found = 0;
  uint64_t count = 0;
  if (out)
    out[0] = (struct end){0, 0};
  uint32_t next = prefix.count ? first_beyond(to, 0, to_count, from[prefix.end[1].at - 1], near) : 0;
  for (uint32_t v = 1; v <= prefix.count && next < to_count; v++) {
    const int64_t time = from[prefix.end[v].at - 1];
    const uint32_t start = prefix.end[v].start;
    uint32_t q = next;
    next = v < prefix.count ? first_beyond(to, q, to_count, from[prefix.end[v + 1].at - 1], near) : to_count;
    for (; q < next && to[q] - time <= far; q++) {
      found++;
      if (out)
        out[found] = (struct end){q + 1, start};
      if (start > last) {
        count++;
        last = order[q] + 1;
      }
    }
  }
  *ends = found;
  return count;
}

/* The ends of a type, or of a type and the next one by their links. */
static struct ends begin(const uint32_t *order, uint32_t events, struct links links, struct end *out)
{
  const uint32_t count = links.link ? links.count : events;
  out[0] = (struct end){0, 0};
  for (uint32_t i = 0; i < count; i++)
    out[i + 1] =
        links.link ? (struct end){links.link[i].end + 1, order[links.link[i].high] + 1} : (struct end){i + 1, order[i] + 1};
  return (struct ends){out, count};
}

/* Makes the prefix of candidate k the worker's: from the cache, or from the candidate's types. */
static void load_parent(const struct latest_start *self, struct worker *w, const struct mill_candidates *c, uint64_t k)
{
  const struct mill_counter_input *in = self->input;
  const uint32_t *type = c->type + k * c->level, *interval = c->interval + k * (c->level - 1), parent = c->parent[k];
  const uint32_t events = length(in, type[c->level - 2]);
  if (w->parent == parent)
    return;
  w->parent = parent;
  const struct record *record = cache_parent(&self->cache, parent);
  if (record) {
    load(w, (struct ends){(const struct end *)record->data, record->count}, events);
    return;
  }
  const struct links links = cache_links(&self->cache, type[0], type[1], interval[0]);
  struct ends ends = begin(in->type_order + in->first[type[0]], length(in, type[0]), links, w->end[0]);
  for (uint32_t i = links.link ? 2 : 1; i < c->level - 1; i++) {
    struct end *out = ends.end == w->end[0] ? w->end[1] : w->end[0];
    uint32_t count;
    follow(in, ends, type[i - 1], type[i], interval[i - 1], out, &count);
    ends = (struct ends){out, count};
  }
  load(w, ends, events);
}

/* ---- Candidates --------------------------------------------------------------------------------------------------------- */

static uint64_t count_type(const struct mill_counter_input *in, uint32_t type)
{
  uint64_t count = 0;
  for (uint32_t q = in->first[type]; q < in->first[type + 1]; q++)
    count += q == in->first[type] || in->type_order[q] > in->type_order[q - 1];
  return count;
}

/* A candidate above level 2: counts it or, when there is a block, fills its record. */
static void take_candidate(const struct batch *batch, struct worker *w, uint64_t k)
{
  const struct mill_counter_input *in = batch->self->input;
  const struct mill_candidates *c = batch->candidates;
  const uint32_t *type = c->type + (k + 1) * c->level - 2, j = c->interval[(k + 1) * (c->level - 1) - 1];
  const uint32_t *order = in->type_order + in->first[type[1]];
  const struct links links = cache_links(&batch->self->cache, type[0], type[1], j);
  uint32_t ends;
  load_parent(batch->self, w, c, k);
  if (batch->block) {
    struct end *out = (struct end *)batch->block->record[batch->keep[k]].data;
    if (links.link)
      extend_through(w, links, out);
    else
      follow(in, w->prefix, type[0], type[1], j, out, &ends);
    return;
  }
  if (!links.link)
    batch->counts[k] = follow(in, w->prefix, type[0], type[1], j, NULL, &ends);
  else if (w->shift)
    batch->counts[k] = count_through(w, links, order, w->shift, &ends);
  else
    batch->counts[k] = count_through(w, links, order, 0, &ends);
  if (batch->keep)
    batch->keep[k] = ends;
}

/* A candidate of level 2 that is not swept: the same. */
static void take_pair(const struct batch *batch, struct worker *w, uint64_t k)
{
  struct link *out = batch->block ? (struct link *)batch->block->record[batch->keep[k]].data : NULL;
  uint32_t links;
  const uint64_t count =
      join(batch->self->input, &w->ranks, batch->candidates->type + 2 * k, batch->candidates->interval[k], out, &links);
  if (batch->block)
    return;
  batch->counts[k] = count;
  if (batch->keep)
    batch->keep[k] = links;
}

static void take_slice(void *argument, uint64_t slice, uint32_t worker)
{
  const struct batch *batch = (const struct batch *)argument;
  const struct mill_candidates *c = batch->candidates;
  for (uint64_t k = slice * SLICE; k < (slice + 1) * SLICE && k < c->count; k++) {
    if (c->level == 1)
      batch->counts[k] = count_type(batch->self->input, c->type[k]);
    else if (batch->block && batch->keep[k] == NONE)
      continue;
    else if (c->level == 2)
      take_pair(batch, &batch->self->worker[worker], k);
    else
      take_candidate(batch, &batch->self->worker[worker], k);
  }
}

static void take(struct batch *batch)
{
  batch->self->host->each(batch->self->input->team, ((uint64_t)batch->candidates->count + SLICE - 1) / SLICE, take_slice, batch);
}

static void count_pairs(struct batch *batch)
{
  struct latest_start *self = batch->self;
  const struct mill_counter_input *in = self->input;
  for (uint64_t k = 0; k < batch->candidates->count; k++) {
    const uint32_t *type = batch->candidates->type + 2 * k, j = batch->candidates->interval[k];
    const struct slot *slot = sweep_count(&self->sweep, type[0], type[1], j);
    uint32_t links = slot ? slot->links : 0;
    if (slot) {
      batch->counts[k] = slot->found.count;
    } else {
      struct end *out = self->worker->end[0];
      struct ends ends = begin(in->type_order + in->first[type[0]], length(in, type[0]), (struct links){NULL, 0}, out);
      batch->counts[k] = follow(in, ends, type[0], type[1], j, NULL, &links);
    }
    if (batch->keep)
      batch->keep[k] = links;
  }
}

/* ---- The plugin --------------------------------------------------------------------------------------------------------- */

static int count(void *argument, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  struct latest_start *self = (struct latest_start *)argument;
  const struct mill_host *host = self->host;
  const struct mill_candidates *c = candidates;
  struct batch batch = {self, c, counts, NULL, NULL};
  const int keeps = c->level > 1 && !c->last;
  if (!c->count)
    return 0;
  if (keeps)
    batch.keep = (uint32_t *)host->allocate("ends of candidates", c->count, sizeof *batch.keep);
  if (keeps && !batch.keep)
    return host->fail(error, MILL_RESOURCES, "no memory for a batch of %u candidates of level %u", c->count, c->level);
  for (uint32_t w = 0; w < self->input->workers; w++)
    self->worker[w].parent = self->worker[w].ranks.type = NONE;
  const int sweeps = c->level == 2 && !join_is_better(self->input, self->sweep.columns, c);
  if (sweeps)
    count_pairs(&batch);
  else
    take(&batch);
  if (keeps)
    batch.block = cache_block(&self->cache, c, counts, self->input->threshold, batch.keep);
  if (batch.block && !sweeps)
    take(&batch);
  if (batch.block)
    batch.block->filled = !sweeps;
  host->release(batch.keep);
  return 0;
}

static int keep(void *argument, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error)
{
  struct latest_start *self = (struct latest_start *)argument;
  (void)error;
  cache_keep(&self->cache, level, n, kept);
  if (level == 2)
    sweep_fill(&self->sweep, self->cache.pair_block);
  return 0;
}

static void close_counter(void *argument)
{
  struct latest_start *self = (struct latest_start *)argument;
  const struct mill_host *host = self->host;
  cache_release(&self->cache);
  sweep_release(&self->sweep);
  for (uint32_t i = 0; self->worker && i < self->input->workers; i++) {
    host->release(self->worker[i].end[0]);
    host->release(self->worker[i].end[1]);
    host->release(self->worker[i].table);
    host->release(self->worker[i].ranks.number);
  }
  host->release(self->worker);
  host->release(self);
}

static int open_counter(const struct mill_host *host, const void *params, const struct mill_counter_input *input, void **out,
                        struct mill_error *error)
{
  struct latest_start *self = (struct latest_start *)host->allocate("latest-start counter", 1, sizeof *self);
  uint32_t longest = 0;
  (void)params;
  if (!self)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  self->host = host;
  self->input = input;
  self->cache.host = host;
  self->cache.memory = input->memory;
  self->cache.tail = &self->cache.block;
  for (uint32_t e = 0; e < input->types; e++)
    longest = length(input, e) > longest ? length(input, e) : longest;
  self->worker = (struct worker *)host->allocate("workers of a counter", input->workers, sizeof *self->worker);
  int failed = sweep_prepare(&self->sweep, host, input) || !self->worker;
  for (uint32_t i = 0; i < input->workers && !failed; i++) {
    struct worker *w = &self->worker[i];
    w->end[0] = (struct end *)host->allocate("ends of an episode", longest + UINT64_C(2), sizeof **w->end);
    w->end[1] = (struct end *)host->allocate("ends of an episode", longest + UINT64_C(2), sizeof **w->end);
    w->table = (uint32_t *)host->allocate("table of ends", longest + UINT64_C(1) + FILL, sizeof *w->table);
    w->ranks.number = (uint32_t *)host->allocate("events by time", ranks_room(longest) + UINT64_C(1) * FILL, sizeof(uint32_t));
    failed = !w->end[0] || !w->end[1] || !w->table || !w->ranks.number;
  }
  if (failed) {
    close_counter(self);
    return host->fail(error, MILL_RESOURCES, "no memory for %u threads that hold up to %u ends of an episode each", input->workers,
                      longest);
  }
  *out = self;
  return 0;
}

static const struct mill_counter_ops ops = {open_counter, count, keep, close_counter, NULL, &on_device};
MILL_PLUGIN_WITH_TEXT(MILL_COUNTER, MILL_CPU | MILL_CUDA | MILL_EXACT, "latest-start",
                      "the latest start of each end, through links between types: the fastest", 0, NULL, 0, ops, text,
                      text + sizeof text, "miners/latest-start.cu");
