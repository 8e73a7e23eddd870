/* Occurrences of one episode after the other. The ends of an episode and the latest start of each are found as the counter
   latest-start finds them, without a thought of the nodes in between. Those of an occurrence that is taken lie between its start
   and its end, and are looked for there, from the start on. So memory is that of the two longest lists of events and of one
   occurrence's span, whatever the length of the episode. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "job.h"
#include "memory.h"
#include "occurrences.h"

/* An event of the type of a prefix' last node, by its number among those of its type: the prefix ends there, and its latest start. */
struct end {
  uint32_t event, start;
};

/* An event that a prefix can end at when it begins with the start of an occurrence, and the hop that it came from. */
struct hop {
  uint32_t event, before;
};

struct mill_occurrences {
  uint32_t *first; /* [types + 1] */
  int64_t *time;   /* [events] by types */
  uint32_t *order; /* [events] */
  struct end *end[2];
  struct hop *hop;
  uint32_t hops, hop_room;
};

/* The events of a type. */
struct list {
  const int64_t *time;
  const uint32_t *order;
  uint32_t count;
};

static struct list list_of(const struct mill_occurrences *o, uint32_t type)
{
  const uint32_t first = o->first[type];
  return (struct list){o->time + first, o->order + first, o->first[type + 1] - first};
}

/* ---- Starts and ends ---- */

static uint32_t begin(struct list a, struct end *out)
{
  for (uint32_t i = 0; i < a.count; i++)
    out[i] = (struct end){i, i};
  return a.count;
}

/* From the ends of a prefix, whose last type is a, to those of the prefix with one more node, of type b. Starts ascend with ends,
   so that the latest end in reach has the latest start. Returns how many there are. */
static uint32_t extend(struct list a, struct list b, struct mill_interval gap, const struct end *in, uint32_t ends, struct end *out)
{
  uint32_t far = 0, found = 0; /* ends 0 … far - 1 are further away than the low bound */
  for (uint32_t q = 0; q < b.count; q++) {
    while (far < ends && b.time[q] - a.time[in[far].event] > gap.low)
      far++;
    if (far && b.time[q] - a.time[in[far - 1].event] <= gap.high)
      out[found++] = (struct end){q, in[far - 1].start};
  }
  return found;
}

/* ---- The nodes of one occurrence ---- */

/* The first event of b that lies more than `low` after `since`. */
static uint32_t first_beyond(struct list b, int64_t since, int64_t low)
{
  uint32_t first = 0, end = b.count;
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (b.time[middle] - since <= low)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

static int add_hop(struct mill_occurrences *o, uint32_t event, uint32_t before, struct mill_error *error)
{
  if (o->hops == o->hop_room) {
    const uint32_t room = o->hop_room > UINT32_MAX / 2 ? UINT32_MAX : 2 * o->hop_room + 64;
    struct hop *more = room > o->hops ? mill_allocate("nodes of an occurrence", room, sizeof *more) : NULL;
    if (!more)
      return mill_fail(error, MILL_RESOURCES, "out of memory: an occurrence whose nodes are to be found among %u events", o->hops);
    if (o->hops)
      memcpy(more, o->hop, o->hops * sizeof *more);
    mill_release(o->hop);
    o->hop = more;
    o->hop_room = room;
  }
  o->hop[o->hops++] = (struct hop){event, before};
  return 0;
}

/* From the hops from … o->hops - 1, which are of type a, to the events of type b up to the time `stop`. */
static int hop_on(struct mill_occurrences *o, struct list a, struct list b, struct mill_interval gap, uint32_t from, int64_t stop,
                  struct mill_error *error)
{
  const uint32_t end = o->hops;
  uint32_t v = from; /* the latest hop that is further away than the low bound */
  for (uint32_t q = first_beyond(b, a.time[o->hop[from].event], gap.low); q < b.count && b.time[q] <= stop; q++) {
    while (v + 1 < end && b.time[q] - a.time[o->hop[v + 1].event] > gap.low)
      v++;
    if (b.time[q] - a.time[o->hop[v].event] <= gap.high && add_hop(o, q, v, error) < 0)
      return -1;
  }
  return 0;
}

/* The ticks of the occurrence that begins and ends at these events. There is one, so that no node is without a hop. */
static int trace(struct mill_occurrences *o, uint32_t length, const uint32_t *type, const struct mill_interval *gap,
                 struct end ends, int64_t *ticks, struct mill_error *error)
{
  const int64_t stop = list_of(o, type[length - 1]).time[ends.event];
  uint32_t from = 0, at;
  o->hops = 0;
  if (add_hop(o, ends.start, 0, error) < 0)
    return -1;
  for (uint32_t k = 1; k < length; k++) {
    const uint32_t next = o->hops;
    if (hop_on(o, list_of(o, type[k - 1]), list_of(o, type[k]), gap[k - 1], from, stop, error) < 0)
      return -1;
    from = next;
  }
  at = o->hops - 1;
  while (at > from && o->hop[at].event != ends.event) /* others may have its time */
    at--;
  for (uint32_t k = length; k--; at = o->hop[at].before)
    ticks[k] = list_of(o, type[k]).time[o->hop[at].event];
  return 0;
}

/* ---- All of them ---- */

int mill_occurrences_find(struct mill_occurrences *o, uint32_t length, const uint32_t *type, const struct mill_interval *gap,
                          int (*take)(const int64_t *ticks, void *self), void *self, struct mill_error *error)
{
  const struct list a = list_of(o, type[0]), z = list_of(o, type[length - 1]);
  int64_t ticks[MILL_LENGTH_MAX];
  uint32_t ends = begin(a, o->end[0]), taken = 0, last = 0; /* last: of the last one taken, the order of its end */
  for (uint32_t k = 1; k < length; k++)
    ends = extend(list_of(o, type[k - 1]), list_of(o, type[k]), gap[k - 1], o->end[(k - 1) % 2], ends, o->end[k % 2]);
  const struct end *end = o->end[(length - 1) % 2];
  for (uint32_t i = 0; i < ends; i++) {
    if (taken && a.order[end[i].start] <= last)
      continue;
    if (trace(o, length, type, gap, end[i], ticks, error) < 0)
      return -1;
    if (take(ticks, self))
      return 1;
    last = z.order[end[i].event];
    taken = 1;
  }
  return 0;
}

int mill_occurrences_open(const struct mill_counter_input *in, struct mill_occurrences **out, struct mill_error *error)
{
  struct mill_occurrences *o = mill_allocate_or_fail("occurrences", 1, sizeof *o, error);
  uint64_t longest = 0;
  *out = NULL;
  if (!o)
    return -1;
  for (uint32_t e = 0; e < in->types; e++)
    if (in->first[e + 1] - in->first[e] > longest)
      longest = in->first[e + 1] - in->first[e];
  if (!(o->first = mill_allocate_or_fail("first events of types", in->types + UINT64_C(1), sizeof *o->first, error)) ||
      !(o->time = mill_allocate_or_fail("times by type", in->events, sizeof *o->time, error)) ||
      !(o->order = mill_allocate_or_fail("order by type", in->events, sizeof *o->order, error)) ||
      !(o->end[0] = mill_allocate_or_fail("ends of an episode", longest, sizeof **o->end, error)) ||
      !(o->end[1] = mill_allocate_or_fail("ends of an episode", longest, sizeof **o->end, error))) {
    mill_occurrences_free(o);
    return -1;
  }
  memcpy(o->first, in->first, (in->types + UINT64_C(1)) * sizeof *o->first);
  if (in->events) {
    memcpy(o->time, in->type_time, in->events * sizeof *o->time);
    memcpy(o->order, in->type_order, in->events * sizeof *o->order);
  }
  *out = o;
  return 0;
}

void mill_occurrences_free(struct mill_occurrences *o)
{
  if (!o)
    return;
  mill_release(o->first);
  mill_release(o->time);
  mill_release(o->order);
  mill_release(o->end[0]);
  mill_release(o->end[1]);
  mill_release(o->hop);
  mill_release(o);
}
