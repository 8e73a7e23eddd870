/* Many small random streams as one, for counters on a device, which need much to do at once: each has types of its own, so that an episode of
   these counts in all of them what it counts in the one by itself, where brute force finds it. The streams lie behind each other or, oftener, in
   each other, event by event in order of time; then a cut of the whole cuts each of them. Behind contest.h. */
#ifndef BATCHES_H
#define BATCHES_H

enum { SMALL_EVENTS = 14, SMALL_TYPES = 4, SMALL_MOST = 40, POOL = 12, BATCH_LEVELS = 6 };

struct small {
  struct mill_event event[SMALL_EVENTS];
  uint32_t events, types, first_type;
  uint32_t intervals, interval[3]; /* of the batch's */
  uint32_t most;                   /* candidates of a level */
};

struct batch {
  uint64_t number;
  uint32_t streams, events, types;
  struct small *small;      /* [streams] */
  struct mill_event *event; /* [events] of all of them, in order */
  struct mill_interval interval[POOL];
  int ties;
  uint64_t threshold;
  uint32_t levels;
};

/* Candidates of a level: BATCH_LEVELS words of each for types and for intervals. */
struct wide {
  uint32_t level, count;
  uint32_t extended; /* the first so many may be parents */
  uint32_t *type, *interval, *parent, *stream;
  uint64_t *counts[COUNTERS];
};

static void *zeroed(uint64_t count, size_t size)
{
  void *p = calloc(count ? count : 1, size);
  if (!p)
    bail("out of memory");
  return p;
}

/* ---- Streams ---- */

struct placed {
  struct mill_event event;
  uint32_t number, stream; /* of its stream */
};

/* Those of one stream stay in order. */
static int by_place(const void *a, const void *b)
{
  const struct placed *x = a, *y = b;
  if (x->event.tick != y->event.tick)
    return x->event.tick < y->event.tick ? -1 : 1;
  if (x->number != y->number)
    return x->number < y->number ? -1 : 1;
  return x->stream < y->stream ? -1 : 1;
}

static void merge_streams(struct batch *b)
{
  struct placed *all = zeroed(b->events, sizeof *all);
  uint32_t n = 0;
  for (uint32_t s = 0; s < b->streams; s++)
    for (uint32_t i = 0; i < b->small[s].events; i++)
      all[n++] = (struct placed){b->small[s].event[i], i, s};
  qsort(all, n, sizeof *all, by_place);
  b->event = zeroed(n, sizeof *b->event);
  for (uint32_t i = 0; i < n; i++)
    b->event[i] = all[i].event;
  free(all);
}

/* With few and many ties, in steps of one tick and of 2^33, near both ends of 64 bits. */
static void draw_batch(struct batch *b, uint64_t number, uint32_t streams)
{
  seed = number * UINT64_C(0x100000001b3);
  *b = (struct batch){.number = number, .streams = streams, .small = zeroed(streams, sizeof *b->small)};
  const int64_t unit = draw(4) ? 1 : INT64_C(1) << (1 + draw(33));
  const uint64_t behind = draw(4) == 0, longest = 2 + draw(10);
  int64_t end = 0, first = 0;
  b->ties = draw(2) ? MILL_TIES_ORDER : MILL_TIES_STRICT;
  b->threshold = 1 + draw(3) * draw(2);
  b->levels = 1 + (uint32_t)draw(BATCH_LEVELS);
  for (uint32_t j = 0; j < POOL; j++) {
    const int64_t low = draw(2) ? 0 : unit * (int64_t)draw(2 * longest) + (int64_t)draw(2) * (int64_t)draw(3);
    b->interval[j] = (struct mill_interval){low, draw(8) ? low + unit * (int64_t)draw(2 * longest) + 1 : INT64_MAX};
  }
  for (uint32_t s = 0; s < streams; s++) {
    struct small *m = &b->small[s];
    const uint64_t steps = 2 + draw(longest);
    int64_t time = behind ? end : unit * (int64_t)draw(longest);
    m->events = (uint32_t)(draw(8) ? SMALL_EVENTS / 2 + draw(SMALL_EVENTS / 2 + 1) : draw(SMALL_EVENTS + 1));
    m->types = 1 + (uint32_t)draw(SMALL_TYPES);
    m->first_type = b->types;
    m->most = 8 + (uint32_t)draw(SMALL_MOST - 8);
    for (uint32_t i = 0; i < m->events; i++) {
      m->event[i] = (struct mill_event){.tick = time, .unit = m->first_type + (uint32_t)draw(m->types)};
      end = time > end ? time : end;
      time += unit * (int64_t)draw(steps);
    }
    m->intervals = 1 + (uint32_t)draw(3);
    for (uint32_t j = 0; j < m->intervals; j++)
      m->interval[j] = (j ? m->interval[j - 1] + 1 : 0) + (uint32_t)draw(POOL / 3); /* all different, ascending */
    b->types += m->types;
    b->events += m->events;
  }
  first = draw(4) ? 0 : draw(2) ? INT64_MIN : INT64_MAX - end;
  for (uint32_t s = 0; s < streams; s++)
    for (uint32_t i = 0; i < b->small[s].events; i++)
      b->small[s].event[i].tick += first;
  merge_streams(b);
}

static void free_batch(struct batch *b)
{
  free(b->small);
  free(b->event);
}

/* ---- Candidates ---- */

static void open_wide(struct wide *w, uint64_t room)
{
  w->type = zeroed(room * BATCH_LEVELS, sizeof *w->type);
  w->interval = zeroed(room * BATCH_LEVELS, sizeof *w->interval);
  w->parent = zeroed(room, sizeof *w->parent);
  w->stream = zeroed(room, sizeof *w->stream);
  for (int c = 0; c < COUNTERS; c++)
    w->counts[c] = zeroed(room, sizeof *w->counts[c]);
}

static void close_wide(struct wide *w)
{
  free(w->type);
  free(w->interval);
  free(w->parent);
  free(w->stream);
  for (int c = 0; c < COUNTERS; c++)
    free(w->counts[c]);
}

static void first_level(const struct batch *b, struct wide *w)
{
  w->level = 1;
  w->count = 0;
  for (uint32_t s = 0; s < b->streams; s++)
    for (uint32_t e = 0; e < b->small[s].types; e++) {
      w->type[w->count] = b->small[s].first_type + e;
      w->stream[w->count++] = s;
    }
}

/* Every kept episode with every type and interval of its stream behind it, or as many of these as there may be, drawn. */
static void next_level(const struct batch *b, struct wide *to, const struct wide *from, const uint64_t *kept, uint32_t n)
{
  const uint32_t level = to->level = from->level + 1;
  to->count = 0;
  for (uint32_t p = 0, end; p < n; p = end) {
    const struct small *m = &b->small[from->stream[kept[p]]];
    const uint32_t begun = to->count;
    for (end = p + 1; end < n && from->stream[kept[end]] == from->stream[kept[p]];)
      end++;
    const uint64_t all = (uint64_t)(end - p) * m->types * m->intervals;
    for (uint64_t i = 0; i < all; i++) {
      const uint64_t parent = p + i / (m->types * m->intervals), k = to->count;
      if (k - begun == SMALL_MOST || (all > m->most && draw(all) >= m->most))
        continue;
      memcpy(to->type + k * level, from->type + kept[parent] * (level - 1), (level - 1) * sizeof *to->type);
      memcpy(to->interval + k * (level - 1), from->interval + kept[parent] * (level - 2), (level - 2) * sizeof *to->interval);
      to->type[k * level + level - 1] = m->first_type + (uint32_t)(i / m->intervals % m->types);
      to->interval[k * (level - 1) + level - 2] = m->interval[i % m->intervals];
      to->parent[k] = (uint32_t)parent;
      to->stream[k] = from->stream[kept[p]];
      to->count++;
    }
  }
}

/* ---- Counting ---- */

static int count_wide(struct mill_counting *counting, const struct batch *b, struct wide *w, int c, struct mill_error *error)
{
  const uint32_t n = w->level;
  for (uint32_t done = 0, piece; done < w->count; done += piece) {
    const uint32_t left = (done < w->extended ? w->extended : w->count) - done;
    piece = draw(3) ? left : 1 + (uint32_t)draw(left);
    const struct mill_candidates candidates = {.level = n,
                                               .count = piece,
                                               .first = done,
                                               .type = w->type + (size_t)done * n,
                                               .interval = n > 1 ? w->interval + (size_t)done * (n - 1) : NULL,
                                               .parent = n > 1 ? w->parent + done : NULL,
                                               .last = n == b->levels || done >= w->extended,
                                               .total = w->count};
    if (mill_counting_count(counting, &candidates, w->counts[c] + done, error))
      return -1;
  }
  return 0;
}

/* Whether all counts are those of brute force in the small streams. Shows the first that is not. */
static int check_wide(const struct batch *b, const struct wide *w)
{
  for (uint32_t k = 0; k < w->count; k++) {
    const struct small *m = &b->small[w->stream[k]];
    const struct mine as = {.event = m->event, .events = m->events, .threshold = b->threshold, .ties = b->ties, .brute = 1};
    struct brute_episode episode = {.length = w->level};
    for (uint32_t i = 0; i < w->level; i++)
      episode.type[i] = w->type[(size_t)k * w->level + i];
    for (uint32_t i = 0; i + 1 < w->level; i++)
      episode.gap[i] = b->interval[w->interval[(size_t)k * (w->level - 1) + i]];
    const uint64_t right = brute_count(m->event, m->events, &episode, b->ties == MILL_TIES_STRICT);
    checked++;
    for (int c = 0; c < COUNTERS; c++) {
      if (!miner[c] || is_right(&as, c, w->counts[c][k], right, &episode))
        continue;
      brute_show(m->event, m->events, &episode);
      diag("batch %" PRIu64 ", stream %u: %s: %" PRIu64 ", right %" PRIu64 "; ties %s, threshold %" PRIu64, b->number, w->stream[k],
           contestant[c].name, w->counts[c][k], right, b->ties == MILL_TIES_STRICT ? "strict" : "order", b->threshold);
      return 0;
    }
  }
  return 1;
}

/* Opens each counter that has a miner. */
static int open_batch(const struct batch *b, struct mill_counting **counting, struct parameters *parameters,
                      struct mill_error *error)
{
  static const char *const crossover[] = {NULL, "0", "100 1000", "1000000"};
  for (int c = 0; c < COUNTERS; c++) {
    if (!miner[c])
      continue;
    parameters[c] = (struct parameters){draw(4) ? INT64_C(1) << draw(7) : 0, crossover[draw(4)]};
    const struct mill_counting_setup setup = {.plugin = plugin[c],
                                              .params = &parameters[c],
                                              .event = b->event,
                                              .events = b->events,
                                              .types = b->types,
                                              .ties = b->ties,
                                              .interval = b->interval,
                                              .interval_count = POOL,
                                              .threshold = b->threshold,
                                              .memory = draw(3) ? UINT64_C(1) << 30 : 50000 + draw(2000000),
                                              .team = team[0],
                                              .miner = miner[c]};
    if (mill_counting_open(&setup, &counting[c], error))
      return -1;
  }
  return 0;
}

/* Mines a batch with every counter that has a miner, level by level. Returns whether all was right. */
static int mine_batch(const struct batch *b)
{
  struct mill_counting *counting[COUNTERS] = {NULL};
  struct parameters parameters[COUNTERS];
  struct mill_error error = {.text = ""};
  struct wide wide[2] = {{0}, {0}}, *w = &wide[0], *next = &wide[1];
  uint64_t *kept = zeroed((uint64_t)b->streams * SMALL_MOST, sizeof *kept);
  int good = !open_batch(b, counting, parameters, &error);
  for (int i = 0; i < 2; i++)
    open_wide(&wide[i], (uint64_t)b->streams * SMALL_MOST);
  first_level(b, w);
  while (good && w->count) {
    uint32_t n = 0;
    w->extended = w->level < 3 || draw(4) ? w->count : (uint32_t)draw(w->count + 1);
    for (int c = 0; c < COUNTERS && good; c++)
      good = !miner[c] || !count_wide(counting[c], b, w, c, &error);
    if (!good || !(good = check_wide(b, w)) || w->level == b->levels)
      break;
    const uint64_t one_in = draw(4) ? UINT64_MAX : 3; /* of those that may be kept, sometimes, one is not */
    for (uint32_t k = 0; k < w->extended; k++)
      if (w->counts[LATEST_START][k] >= b->threshold && draw(one_in))
        kept[n++] = k;
    for (int c = 0; c < COUNTERS && good; c++)
      good = !miner[c] || !mill_counting_keep(counting[c], w->level, n, kept, &error);
    next_level(b, next, w, kept, n);
    struct wide *swap = w;
    w = next;
    next = swap;
  }
  for (int c = 0; c < COUNTERS; c++)
    mill_counting_close(counting[c]);
  for (int i = 0; i < 2; i++)
    close_wide(&wide[i]);
  free(kept);
  if (error.text[0])
    diag("batch %" PRIu64 ": %s", b->number, error.text);
  return good;
}

/* Batches `first` … first + count - 1 of so many streams. */
static void random_batches(uint64_t first, uint64_t count, uint32_t streams)
{
  uint64_t right = 0;
  checked = 0;
  while (right < count) {
    struct batch b;
    draw_batch(&b, first + right, streams);
    const int good = mine_batch(&b);
    free_batch(&b);
    if (!good)
      break;
    right++;
  }
  ok(right == count,
     "%" PRIu64 " random streams in batches %" PRIu64 " to %" PRIu64 " of %u: %" PRIu64 " episodes counted as by brute force",
     count * streams, first, first + count - 1, streams, checked);
}

#endif
