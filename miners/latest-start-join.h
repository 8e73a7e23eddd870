/* Level 2 of latest-start, pair by pair, for when few of all pairs are asked for: a table tells how many events of the first type there
   are up to a time, so that each event of the second type finds those that an interval reaches back to without a search and without a
   jump that the processor would have to guess. Part of latest-start.c, which includes it. */
#ifndef LATEST_START_JOIN_H
#define LATEST_START_JOIN_H

#define RANKS_MOST (1u << 16) /* entries of a table, which is to stay in a processor's cache */
#define JOIN_GAIN 12          /* events joined while a sweep takes one with one interval, to count and to write */

/* The events of a type, by time. */
struct ranks {
  uint32_t type; /* or NONE */
  uint32_t shift;
  int64_t base;     /* time of the first one */
  uint64_t last;    /* entry of the last one */
  uint32_t *number; /* [ranks_room + FILL]: those with (time - base) >> shift at most i */
};

static uint32_t ranks_room(uint32_t events)
{
  return events < (RANKS_MOST - 64) / 32 ? 64 + 32 * events : RANKS_MOST;
}

static void ranks_load(const struct mill_counter_input *in, struct ranks *ranks, uint32_t type)
{
  const int64_t *time = in->type_time + in->first[type];
  const uint32_t events = in->first[type + 1] - in->first[type];
  uint64_t at = 0;
  if (ranks->type == type || !events)
    return;
  const uint64_t span = (uint64_t)(time[events - 1] - time[0]);
  ranks->type = type;
  ranks->base = time[0];
  for (ranks->shift = 0; span >> ranks->shift >= ranks_room(events);)
    ranks->shift++;
  ranks->last = span >> ranks->shift;
  for (uint32_t v = 0; v <= events; v++)
    at = fill_until(ranks->number, at, v < events ? (uint64_t)(time[v] - time[0]) >> ranks->shift : ranks->last + 1, v);
}

/* How many of the type are more than `gap` before an event that comes `since` after the first of them. */
static inline uint32_t rank_before(const struct ranks *ranks, const int64_t *time, int64_t since, int64_t gap, uint32_t shift)
{
  const uint64_t until = (uint64_t)since - (uint64_t)gap - 1, entry = until >> shift;
  uint32_t n = ranks->number[entry < ranks->last ? entry : ranks->last];
  if (shift) /* else the table is exact */
    while (n && (uint64_t)(time[n - 1] - ranks->base) > until)
      n--;
  return n & (0 - (uint32_t)(since > gap));
}

/* Of the pair of the loaded type and another one: the count, and the links into `out`, which has room for one more, or NULL. */
static inline uint64_t join_through(const struct mill_counter_input *in, const struct ranks *ranks, uint32_t b, uint32_t j,
                                    uint32_t shift, struct link *out, uint32_t *links)
{
  const int64_t *from = in->type_time + in->first[ranks->type], *to = in->type_time + in->first[b];
  const uint32_t *from_order = in->type_order + in->first[ranks->type], *to_order = in->type_order + in->first[b];
  const uint32_t events = in->first[b + 1] - in->first[b];
  const int64_t near = in->interval[j].low, far = in->interval[j].high;
  uint32_t last = 0, found = 0, count = 0;
  for (uint32_t q = 0; q < events; q++) {
    const int64_t since = to[q] - ranks->base;
    const uint32_t high = rank_before(ranks, from, since, near, shift), low = rank_before(ranks, from, since, far, shift);
    const uint32_t start = (from_order[high - (high > 0)] + 1) & (0 - (uint32_t)(low < high));
    uint32_t now = to_order[q] + 1;
    SETTLE(now);
    if (out)
      out[found] = (struct link){low, high - 1, q};
    found += low < high;
    count += start > last;
    last = start > last ? now : last;
  }
  *links = found;
  return count;
}

static uint64_t join(const struct mill_counter_input *in, struct ranks *ranks, const uint32_t *type, uint32_t j, struct link *out,
                     uint32_t *links)
{
  *links = 0;
  if (in->first[type[0]] == in->first[type[0] + 1])
    return 0;
  ranks_load(in, ranks, type[0]);
  if (ranks->shift)
    return join_through(in, ranks, type[1], j, ranks->shift, out, links);
  return join_through(in, ranks, type[1], j, 0, out, links);
}

/* Whether that is better than a sweep, which finds all pairs of `types` types. Where all are asked for they come in batches, and one
   sweep is for many of them. */
static int join_is_better(const struct mill_counter_input *in, uint32_t types, const struct mill_candidates *c)
{
  double events = 0;
  if (c->total >= (types - UINT64_C(1)) * types * in->interval_count)
    return 0;
  for (uint64_t k = 0; k < c->count; k++)
    events += in->first[c->type[2 * k + 1] + 1] - in->first[c->type[2 * k + 1]];
  return events * (double)c->total <= (double)JOIN_GAIN * in->events * in->interval_count * c->count;
}

#endif
