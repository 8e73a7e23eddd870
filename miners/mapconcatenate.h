/* MapConcatenate (Cao et al. 2009, section V), made exact: the stream is cut into P = 2^q segments of events, machines count an episode in
   each of them at the same time, and a tree of q levels of joins makes one count of it.

   What a machine of Algorithm 1 has seen before a cut at event s matters through its last completion c alone, and not even that when c
   lies more than Σh, the sum of the gaps' high bounds, before the cut: an occurrence that ends at s or later starts no earlier than that,
   and after c. So in each segment there is one machine for every c that there can be, an event within Σh before the cut at which an
   occurrence ends, started after c, and one for `none`, started Σh before the cut. A machine that completes before the cut contradicts
   its own hypothesis and is dropped: the right one has the same completions from c on as the whole stream, and so none before the cut.
   The others give tuples (c, completions in the segment, last completion that lies within Σh of the next cut). The last completion of a
   tuple is the c of one tuple of the next segment, since an occurrence ends there and no completion follows it before the cut; so joins
   never fail. As printed, the machines start at N fixed times instead, and are joined by the times of completions: see
   tests/mapconcatenate.c for what that misses.

   Machines of a segment run one after the other; one that completes where another has completed before goes on as that one did, and stops.
   Completions are named by the index of their event; `ties = strict` cuts between distinct times. */
#ifndef MAPCONCATENATE_H
#define MAPCONCATENATE_H

#include "machine.h"

#define TUPLES (1u << 18)   /* of a group of candidates that are counted together, at most; */
#define SEGMENTS (1u << 16) /* and segments of it */
#define MACHINES                                                                                                                   \
  8 /* of a segment besides that for `none`, at most: those of an episode that follows itself closely may never meet */

/* 0: none; else 1 + the index of an event at which an occurrence ends. */
typedef uint32_t completion;

struct tuple {
  completion in;  /* the last one before the segment */
  uint32_t count; /* completions in the segment */
  completion out; /* the last one before its end */
};

/* Events begin … end - 1 for one candidate. */
struct segment {
  uint32_t candidate, begin, end;
  uint32_t tuples;
  struct tuple *tuple; /* [tuples] in ascending order of `in`; an empty segment has none */
};

struct map_worker {
  uint64_t *nodes;  /* [types]: the set of the nodes of each type; zeroed between segments */
  char *memory;     /* of a machine */
  uint32_t *rest;   /* [longest]: of a completion at an event of the segment, how many there are from it to the end; 0: unknown */
  completion *last; /* [longest]: and the last of these */
  uint32_t *known;  /* [longest]: the events whose rest is known */
};

struct mapconcatenate {
  const struct mill_host *host;
  const struct mill_counter_input *in;
  const struct bounds *bounds;
  uint32_t segments;         /* P */
  uint32_t *cut;             /* [segments + 1] */
  struct map_worker *worker; /* [workers] */
  uint32_t shortest;         /* the longest segment when the stream has all of them */
  uint64_t machine_bytes;    /* room for so much, */
  uint32_t longest;          /* and for segments of so many events */
  struct segment *segment;   /* [segment_room]: of a group of candidates, */
  uint32_t *start;           /* [segment_room + 1]: those of its candidate k are start[k] … start[k + 1] - 1 */
  struct tuple *tuple;       /* [tuple_room] */
  uint32_t segment_room, tuple_room;
  uint64_t beside; /* of the counter's memory, what is not for this: the bounds, and more */
};

/* Candidates first … first + count - 1 of a batch. */
struct group {
  struct mapconcatenate *self;
  const struct mill_candidates *candidates;
  uint32_t first, count, segments, tuples;
  uint32_t longest;
  uint64_t *counts;
};

/* One segment at work. */
struct map {
  const struct mill_counter_input *in;
  struct map_worker *w;
  struct machine *machine;
  uint32_t begin, end, known;
};

/* ---- Where things are ---- */

static inline int64_t span_of(const struct mill_counter_input *in, uint32_t length, const uint32_t *interval)
{
  int64_t span = 0;
  for (uint32_t i = 0; i + 1 < length; i++)
    if (__builtin_add_overflow(span, in->interval[interval[i]].high, &span))
      return INT64_MAX;
  return span;
}

/* The first of time[from … end - 1] that lies no more than `span` before `until`. */
static inline uint32_t first_within(const int64_t *time, uint32_t from, uint32_t end, int64_t until, int64_t span)
{
  while (from < end) {
    const uint32_t middle = from + (end - from) / 2;
    if (until - time[middle] > span)
      from = middle + 1;
    else
      end = middle;
  }
  return from;
}

/* The first event after event q. */
static inline uint32_t after(const struct mill_counter_input *in, uint32_t q)
{
  uint32_t next = q + 1;
  while (next < in->events && in->order[next] == in->order[q])
    next++;
  return next;
}

/* At most so many events before a cut can be a last completion. */
static inline uint32_t hypotheses(const struct mill_counter_input *in, uint32_t type, uint32_t cut, int64_t span)
{
  uint32_t from = in->first[type], end = in->first[type + 1];
  for (uint32_t low = from; low < end;) { /* those before the cut */
    const uint32_t middle = low + (end - low) / 2;
    if (in->type_order[middle] < in->order[cut])
      low = middle + 1;
    else
      end = middle;
  }
  return end - first_within(in->type_time, from, end, in->time[cut], span);
}

/* ---- Map ---- */

/* The next event of from … end - 1 at which an occurrence ends, or `end`. */
static inline uint32_t next_end(const struct map *map, uint32_t from, uint32_t end)
{
  for (uint32_t q = from; q < end; q++) {
    const uint64_t nodes = map->w->nodes[map->in->type[q]];
    if (nodes && machine_take(map->machine, nodes, map->in->time[q]))
      return q;
  }
  return end;
}

/* Runs the machine that starts at event `from`, after the completion tuple->in. Returns whether that can have been the last one. */
static inline int run_machine(struct map *map, uint32_t from, struct tuple *tuple)
{
  struct map_worker *w = map->w;
  const uint32_t before = map->known;
  machine_clear(map->machine);
  if (next_end(map, from, map->begin) < map->begin)
    return 0;
  uint32_t q = next_end(map, map->begin, map->end);
  while (q < map->end && !w->rest[q - map->begin]) {
    w->known[map->known++] = q - map->begin;
    machine_clear(map->machine);
    q = next_end(map, after(map->in, q), map->end);
  }
  tuple->count = 0;
  tuple->out = tuple->in;
  if (q < map->end) {
    tuple->count = w->rest[q - map->begin];
    tuple->out = w->last[q - map->begin];
  } else if (map->known > before) {
    tuple->out = map->begin + w->known[map->known - 1] + 1;
  }
  for (uint32_t k = map->known; k > before; k--) {
    w->rest[w->known[k - 1]] = ++tuple->count;
    w->last[w->known[k - 1]] = tuple->out;
  }
  return 1;
}

/* Sets the `in` of the segment's tuples: none, and every event within the span before the cut at which an occurrence ends. */
static inline void find_hypotheses(struct map *map, struct segment *segment, int64_t span)
{
  const struct mill_counter_input *in = map->in;
  const uint32_t cut = map->begin;
  const int64_t twice = span <= INT64_MAX / 2 ? 2 * span : INT64_MAX;
  segment->tuples = 0;
  segment->tuple[segment->tuples++].in = 0;
  machine_clear(map->machine);
  for (uint32_t q = first_within(in->time, 0, cut, in->time[cut], twice); (q = next_end(map, q, cut)) < cut; q++)
    if (in->time[cut] - in->time[q] <= span)
      segment->tuple[segment->tuples++].in = q + 1;
}

static inline void map_tuples(struct map *map, struct segment *segment, int64_t span)
{
  const struct mill_counter_input *in = map->in;
  const uint32_t found = segment->tuples, next = map->end;
  segment->tuples = 0;
  for (uint32_t k = 0; k < found; k++) {
    struct tuple tuple = {segment->tuple[k].in, 0, 0};
    const uint32_t from = tuple.in ? after(in, tuple.in - 1) : first_within(in->time, 0, map->begin, in->time[map->begin], span);
    if (!run_machine(map, from, &tuple))
      continue;
    if (tuple.out && (next == in->events || in->time[next] - in->time[tuple.out - 1] > span))
      tuple.out = 0;
    segment->tuple[segment->tuples++] = tuple;
  }
}

static inline void map_segment(void *argument, uint64_t number, uint32_t worker)
{
  const struct group *group = (const struct group *)argument;
  const struct mapconcatenate *self = group->self;
  const struct mill_candidates *c = group->candidates;
  struct segment *segment = &self->segment[number];
  const uint64_t k = segment->candidate;
  const uint32_t *type = c->type + k * c->level, *interval = c->level > 1 ? c->interval + k * (c->level - 1) : NULL;
  if (segment->begin == segment->end)
    return;
  struct map map = {self->in, &self->worker[worker], NULL, segment->begin, segment->end, 0};
  const int64_t span = span_of(self->in, c->level, interval);
  map.machine = machine_make(map.w->memory, self->bounds, c->level, type, interval);
  for (uint32_t i = 0; i < c->level; i++)
    map.w->nodes[type[i]] |= node_at(c->level, i);
  find_hypotheses(&map, segment, span);
  map_tuples(&map, segment, span);
  for (uint32_t i = 0; i < c->level; i++)
    map.w->nodes[type[i]] = 0;
  for (uint32_t i = 0; i < map.known; i++)
    map.w->rest[map.w->known[i]] = 0;
}

/* ---- Concatenate ---- */

static inline const struct tuple *find_tuple(const struct segment *segment, completion in)
{
  uint32_t low = 0;
  for (uint32_t left = segment->tuples; left > 1;) { /* it is among low … low + left - 1 */
    const uint32_t half = left / 2;
    if (segment->tuple[low + half].in <= in) {
      low += half;
      left -= half;
    } else {
      left = half;
    }
  }
  return &segment->tuple[low];
}

/* Makes a segment and the one that follows it one. */
static inline void join(struct segment *a, const struct segment *b)
{
  if (!a->tuples) {
    *a = *b;
    return;
  }
  for (uint32_t i = 0; b->tuples && i < a->tuples; i++) {
    const struct tuple *next = find_tuple(b, a->tuple[i].out);
    a->tuple[i].count += next->count;
    a->tuple[i].out = next->out;
  }
}

/* All joins of a candidate: those of a level of the tree after those of the level below. */
static inline void concatenate(void *argument, uint64_t k, uint32_t worker)
{
  const struct group *group = (const struct group *)argument;
  const uint32_t *start = group->self->start + k, segments = start[1] - start[0];
  struct segment *segment = group->self->segment + start[0];
  (void)worker;
  for (uint32_t step = 1; step < segments; step *= 2)
    for (uint32_t s = 0; s + step < segments; s += 2 * step)
      join(&segment[s], &segment[s + step]);
  group->counts[group->first + k] = segment->tuples ? segment->tuple->count : 0;
}

/* ---- Groups ---- */

/* Gives a candidate segments of `stride` of the stream's each, with room for their tuples. Returns whether there is room. */
static inline int add_segments(struct group *group, uint32_t stride)
{
  const struct mapconcatenate *self = group->self;
  const struct mill_candidates *c = group->candidates;
  const uint32_t candidate = group->first + group->count;
  const uint32_t *type = c->type + (uint64_t)candidate * c->level;
  const int64_t span = span_of(self->in, c->level, c->level > 1 ? c->interval + (uint64_t)candidate * (c->level - 1) : NULL);
  uint32_t segments = group->segments, tuples = group->tuples;
  if (self->segments / stride > self->segment_room - segments)
    return 0;
  for (uint32_t s = 0; s < self->segments; s += stride) {
    const uint32_t begin = self->cut[s], end = self->cut[s + stride];
    const uint32_t room = begin < end ? 1 + hypotheses(self->in, type[c->level - 1], begin, span) : 0;
    if (room > self->tuple_room - tuples)
      return 0;
    self->segment[segments++] = (struct segment){candidate, begin, end, 0, self->tuple + tuples};
    tuples += room;
    group->longest = end - begin > group->longest ? end - begin : group->longest;
  }
  group->segments = segments;
  group->tuples = tuples;
  self->start[++group->count] = segments;
  return 1;
}

/* How many of the stream's segments make one of a candidate's, so that none has more machines than it is worth. */
static inline uint32_t stride_of(const struct group *group)
{
  const struct mapconcatenate *self = group->self;
  const struct mill_candidates *c = group->candidates;
  const uint32_t candidate = group->first + group->count, type = c->type[(uint64_t)(candidate + 1) * c->level - 1];
  const int64_t span = span_of(self->in, c->level, c->level > 1 ? c->interval + (uint64_t)candidate * (c->level - 1) : NULL);
  uint32_t stride = 1;
  for (uint32_t s = 0; s < self->segments; s = (s / stride + 1) * stride)
    while (stride < self->segments && s % stride == 0 && self->cut[s] < self->in->events &&
           hypotheses(self->in, type, self->cut[s], span) > MACHINES)
      stride *= 2;
  return stride;
}

/* As many candidates from `first` on as there is room for, at least one. */
static inline void make_group(struct group *group, uint32_t first)
{
  const uint32_t left = group->candidates->count - first;
  group->first = first;
  group->count = group->segments = group->tuples = group->longest = 0;
  while (group->count < left && add_segments(group, stride_of(group)))
    continue;
  for (uint32_t stride = 2; !group->count; stride *= 2) /* one segment of all needs one tuple */
    add_segments(group, stride);
}

/* ---- Room ---- */

/* What the workers need for machines of so many bytes and segments of so many events, with the cuts. */
static inline uint64_t map_bytes(const struct mapconcatenate *self, uint64_t machine, uint32_t longest)
{
  const struct map_worker *w = self->worker;
  const uint64_t each =
      sizeof *w + self->in->types * sizeof *w->nodes + machine + longest * (sizeof *w->rest + sizeof *w->last + sizeof *w->known);
  return self->in->workers * each + (self->segments + UINT64_C(1)) * sizeof *self->cut;
}

static inline int group_room(struct mapconcatenate *self, uint32_t segments, struct mill_error *error)
{
  const struct mill_host *host = self->host;
  const uint64_t tuples = segments * (self->in->events < MACHINES ? self->in->events + UINT64_C(1) : MACHINES + 1);
  host->release(self->segment);
  host->release(self->start);
  host->release(self->tuple);
  self->segment_room = segments;
  self->tuple_room = tuples < TUPLES ? (uint32_t)tuples : TUPLES;
  self->segment = (struct segment *)host->allocate("segments", segments, sizeof *self->segment);
  self->start = (uint32_t *)host->allocate("segments", segments + UINT64_C(1), sizeof *self->start);
  self->tuple = (struct tuple *)host->allocate("tuples", self->tuple_room, sizeof *self->tuple);
  if (!self->segment || !self->start || !self->tuple)
    return host->fail(error, MILL_RESOURCES, "no memory for %u segments with %u tuples", segments, self->tuple_room);
  return 0;
}

/* For machines and for what workers know of a segment. */
static inline int map_room(struct mapconcatenate *self, uint64_t machine, uint32_t longest, struct mill_error *error)
{
  const struct mill_host *host = self->host;
  self->machine_bytes = machine;
  self->longest = longest;
  for (uint32_t i = 0; i < self->in->workers; i++) {
    struct map_worker *w = &self->worker[i];
    host->release(w->memory);
    host->release(w->rest);
    host->release(w->last);
    host->release(w->known);
    w->memory = (char *)host->allocate("machines of segments", machine, 1);
    w->rest = (uint32_t *)host->allocate("completions of segments", longest, sizeof *w->rest);
    w->last = (completion *)host->allocate("completions of segments", longest, sizeof *w->last);
    w->known = (uint32_t *)host->allocate("completions of segments", longest, sizeof *w->known);
    if (!w->memory || !w->rest || !w->last || !w->known)
      return host->fail(error, MILL_RESOURCES, "no memory for segments of %u events: %llu bytes of a machine for each thread",
                        longest, (unsigned long long)machine);
  }
  return 0;
}

#define SEGMENT_BYTES (sizeof(struct segment) + sizeof(uint32_t) + (MACHINES + 1) * sizeof(struct tuple))

/* The least that an episode takes with machines of so many bytes and segments of so many events or more: few segments are long, and many
   take room themselves. */
static inline int too_little(const struct mapconcatenate *self, const struct mill_candidates *c, uint64_t machine, uint32_t longest,
                             struct mill_error *error)
{
  uint64_t least = UINT64_MAX;
  for (uint32_t stride = 1; stride <= self->segments; stride *= 2) {
    uint32_t events = longest;
    for (uint32_t s = 0; s < self->segments; s += stride)
      events = self->cut[s + stride] - self->cut[s] > events ? self->cut[s + stride] - self->cut[s] : events;
    const uint64_t bytes = map_bytes(self, machine, events) + self->segments / stride * SEGMENT_BYTES;
    least = bytes < least ? bytes : least;
  }
  return self->host->fail(
      error, MILL_RESOURCES,
      "an episode of %u node%s takes %llu bytes on %u thread%s, and the counter's part of memory is %llu: raise memory, or "
      "take fewer threads or more segments",
      c->level, c->level == 1 ? "" : "s", (unsigned long long)(self->beside + least), self->in->workers,
      self->in->workers == 1 ? "" : "s", (unsigned long long)self->in->memory);
}

/* Makes room for the candidates' machines, for segments of so many events, and with what is left of the memory for groups of as many
   segments as fit, at least one. */
static inline int make_room(struct mapconcatenate *self, const struct mill_candidates *c, uint64_t machine, uint32_t longest,
                            struct mill_error *error)
{
  const uint64_t all = (uint64_t)c->count * self->segments, wanted = all < SEGMENTS ? all : SEGMENTS,
                 memory = self->in->memory > self->beside ? self->in->memory - self->beside : 0;
  machine = machine > self->machine_bytes ? machine : self->machine_bytes;
  longest = longest > self->longest ? longest : self->longest;
  const uint64_t fixed = map_bytes(self, machine, longest);
  if (fixed + SEGMENT_BYTES > memory)
    return too_little(self, c, machine, longest, error);
  const uint64_t fit = (memory - fixed) / SEGMENT_BYTES, room = wanted < fit ? wanted : fit;
  if ((self->segment_room > fit || self->segment_room < room) && group_room(self, (uint32_t)room, error))
    return -1;
  return machine > self->machine_bytes || longest > self->longest ? map_room(self, machine, longest, error) : 0;
}

static inline int mapconcatenate_count(struct mapconcatenate *self, const struct mill_candidates *candidates, uint64_t *counts,
                                       struct mill_error *error)
{
  const uint64_t machine = machine_bytes_most(self->bounds, candidates);
  struct group group = {.self = self, .candidates = candidates, .counts = counts};
  if (make_room(self, candidates, machine, self->shortest, error))
    return -1;
  for (uint32_t first = 0; first < candidates->count; first += group.count) {
    make_group(&group, first);
    while (group.longest > self->longest) { /* which leaves less for the group */
      if (make_room(self, candidates, machine, group.longest, error))
        return -1;
      make_group(&group, first);
    }
    self->host->each(self->in->team, group.segments, map_segment, &group);
    self->host->each(self->in->team, group.count, concatenate, &group);
  }
  return 0;
}

/* ---- Open and close ---- */

static inline void mapconcatenate_close(struct mapconcatenate *self)
{
  const struct mill_host *host = self->host;
  for (uint32_t i = 0; self->worker && i < self->in->workers; i++) {
    struct map_worker *w = &self->worker[i];
    host->release(w->nodes);
    host->release(w->memory);
    host->release(w->rest);
    host->release(w->last);
    host->release(w->known);
  }
  host->release(self->worker);
  host->release(self->cut);
  host->release(self->start);
  host->release(self->segment);
  host->release(self->tuple);
}

static inline void find_cuts(struct mapconcatenate *self)
{
  const struct mill_counter_input *in = self->in;
  for (uint64_t s = 0; s <= self->segments; s++) {
    uint32_t cut = (uint32_t)(s * in->events / self->segments);
    while (cut && cut < in->events && in->order[cut] == in->order[cut - 1])
      cut++;
    self->cut[s] = cut;
    if (s && cut - self->cut[s - 1] > self->shortest)
      self->shortest = cut - self->cut[s - 1];
  }
}

/* Checks a number of segments. */
static inline int map_is_power(const struct mill_host *host, int64_t segments, struct mill_error *error)
{
  return segments & (segments - 1)
             ? host->fail(error, MILL_USAGE, "segments: expected a power of two, or 0 for one that is not below the threads")
             : 0;
}

/* `segments` is a power of two, or 0 for as many as there are threads, rounded up to one. What is open is to be closed whatever it
   returns: 0, or -1 with the error filled. */
static inline int mapconcatenate_open(struct mapconcatenate *self, const struct mill_host *host,
                                      const struct mill_counter_input *in, const struct bounds *bounds, int64_t segments,
                                      struct mill_error *error)
{
  *self = (struct mapconcatenate){.host = host, .in = in, .bounds = bounds, .segments = 1, .beside = bounds_bytes(in)};
  if (map_is_power(host, segments, error))
    return -1;
  while (self->segments < (segments ? (uint64_t)segments : in->workers))
    self->segments *= 2;
  self->worker = (struct map_worker *)host->allocate("workers of segments", in->workers, sizeof *self->worker);
  self->cut = (uint32_t *)host->allocate("cuts", self->segments + UINT64_C(1), sizeof *self->cut);
  int failed = !self->worker || !self->cut;
  for (uint32_t i = 0; !failed && i < in->workers; i++) {
    self->worker[i].nodes = (uint64_t *)host->allocate("nodes by type", in->types, sizeof(uint64_t));
    failed = !self->worker[i].nodes;
  }
  if (failed)
    return host->fail(error, MILL_RESOURCES, "no memory for %u segments and %u types", self->segments, in->types);
  find_cuts(self);
  return 0;
}

#endif
