/* Level 2 of latest-start, many pairs of types at once. The stream is swept with the window of an interval, which knows which
   first types have events in it; each event meets those and nothing else. So the work is that of the events that an interval
   joins, not of all pairs of types, and it is done for as many first types as there is room for when the first of them is asked
   for. Part of latest-start.c, which includes it. */
#ifndef LATEST_START_PAIRS_H
#define LATEST_START_PAIRS_H

#define SLOT_BYTES (4u << 20) /* for each worker: about what stays in its processor's cache */

/* What is found out about two types and an interval, or where it is written. */
struct slot {
  union {
    struct {
      uint32_t last; /* order + 1 of the last end that counted */
      uint32_t count;
    } found;
    struct link *link; /* NULL: it is not kept */
  };
  uint32_t links;
};

/* A first type and its events in the window: first … stop - 1, and the order + 1 of the last of them. */
struct row {
  uint32_t first, stop, start;
  uint32_t place; /* among the active ones */
};

struct sweeper {
  struct row *row;  /* [room] */
  uint32_t *active; /* [room]: the rows of the part with events in the window, in no order */
  uint32_t *number; /* [columns]: events so far of each second type */
};

struct sweep {
  const struct mill_host *host;
  const struct mill_counter_input *in;
  uint32_t *column; /* [types]: 1 … columns for those with enough events to be in a frequent pair, else 0 */
  uint32_t columns;
  uint32_t first, rows, room; /* columns first … first + rows - 1 are first types in the slots, which have room for `room` */
  uint32_t
      parts; /* that the first types are cut into: every one of them costs a walk through the stream, so as few as keep all busy */
  uint32_t *from; /* [parts + 1]: part i of the first types, with its share of their events, is rows from[i] … from[i + 1] - 1 */
  int writing;
  struct slot *slot;      /* [columns][intervals][room]: by second type, interval and first type */
  struct sweeper *worker; /* [workers] */
};

static struct slot *sweep_slot(const struct sweep *sweep, uint32_t a, uint32_t b, uint32_t j)
{
  return sweep->slot + ((sweep->column[b] - UINT64_C(1)) * sweep->in->interval_count + j) * sweep->room +
         (sweep->column[a] - sweep->first);
}

/* The first types are rows from … from + width - 1. Counts, or writes the links. */
static inline void sweep_interval(const struct sweep *sweep, const struct sweeper *w, uint32_t j, uint32_t from, uint32_t width,
                                  int writing)
{
  const struct mill_counter_input *in = sweep->in;
  const int64_t near = in->interval[j].low, far = in->interval[j].high;
  uint32_t enter = 0, leave = 0, active = 0; /* the window is events leave … enter - 1 */
  memset(w->row + from, 0, width * sizeof *w->row);
  memset(w->number, 0, sweep->columns * sizeof *w->number);
  for (uint32_t q = 0; q < in->events; q++) {
    const int64_t time = in->time[q];
    for (; time - in->time[enter] > near; enter++) {
      const uint32_t r = sweep->column[in->type[enter]] - sweep->first;
      if (r - from >= width)
        continue;
      struct row *row = &w->row[r];
      if (row->first == row->stop) {
        row->place = active;
        w->active[active++] = r;
      }
      row->stop++;
      row->start = in->order[enter] + 1;
    }
    for (; time - in->time[leave] > far; leave++) {
      const uint32_t r = sweep->column[in->type[leave]] - sweep->first;
      if (r - from >= width)
        continue;
      struct row *row = &w->row[r];
      if (++row->first == row->stop) {
        w->active[row->place] = w->active[--active];
        w->row[w->active[active]].place = row->place;
      }
    }
    const uint32_t b = sweep->column[in->type[q]];
    if (!b)
      continue;
    const uint32_t number = w->number[b - 1]++;
    struct slot *slots = sweep->slot + ((b - UINT64_C(1)) * in->interval_count + j) * sweep->room;
    for (uint32_t i = 0; i < active; i++) {
      const struct row *row = &w->row[w->active[i]];
      struct slot *slot = &slots[w->active[i]];
      if (writing) {
        if (slot->link)
          slot->link[slot->links] = (struct link){row->first, row->stop - 1, number};
      } else if (row->start > slot->found.last) {
        slot->found.count++;
        slot->found.last = in->order[q] + 1;
      }
      slot->links++;
    }
  }
}

static void sweep_piece(void *self, uint64_t piece, uint32_t worker)
{
  const struct sweep *sweep = (const struct sweep *)self;
  const uint32_t j = (uint32_t)(piece / sweep->parts), part = (uint32_t)(piece % sweep->parts);
  const uint32_t from = sweep->from[part], width = sweep->from[part + 1] - from;
  if (!width)
    return;
  if (sweep->writing)
    sweep_interval(sweep, &sweep->worker[worker], j, from, width, 1);
  else
    sweep_interval(sweep, &sweep->worker[worker], j, from, width, 0);
}

static void sweep_all(struct sweep *sweep, int writing)
{
  sweep->writing = writing;
  sweep->host->each(sweep->in->team, (uint64_t)sweep->in->interval_count * sweep->parts, sweep_piece, sweep);
}

/* Shares out the rows. */
static void sweep_share(struct sweep *sweep)
{
  const struct mill_counter_input *in = sweep->in;
  uint64_t all = 0, events = 0;
  uint32_t part = 0, row = 0;
  for (uint32_t e = 0; e < in->types; e++)
    all += sweep->column[e] - sweep->first < sweep->rows ? in->first[e + 1] - in->first[e] : 0;
  for (uint32_t e = 0; e < in->types; e++) {
    if (sweep->column[e] - sweep->first >= sweep->rows)
      continue;
    for (; part <= events * sweep->parts / all; part++)
      sweep->from[part] = row;
    events += in->first[e + 1] - in->first[e];
    row++;
  }
  for (; part <= sweep->parts; part++)
    sweep->from[part] = row;
}

/* Makes the slots empty and those of first type a and of what follows it. */
static void sweep_begin(struct sweep *sweep, uint32_t a)
{
  const uint32_t left = sweep->columns + 1 - sweep->column[a];
  sweep->first = sweep->column[a];
  sweep->rows = left < sweep->room ? left : sweep->room;
  sweep_share(sweep);
  memset(sweep->slot, 0, (uint64_t)sweep->columns * sweep->in->interval_count * sweep->room * sizeof *sweep->slot);
}

/* What is known of a pair; NULL for types with too few events. First types are best asked for in ascending order. */
static const struct slot *sweep_count(struct sweep *sweep, uint32_t a, uint32_t b, uint32_t j)
{
  if (!sweep->column[a] || !sweep->column[b])
    return NULL;
  if (sweep->column[a] - sweep->first >= sweep->rows) {
    sweep_begin(sweep, a);
    sweep_all(sweep, 0);
  }
  return sweep_slot(sweep, a, b, j);
}

/* Writes the links of all records of the blocks that are not filled, which are in ascending order of first type. */
static void sweep_fill(struct sweep *sweep, const struct block *block)
{
  sweep->rows = 0;
  for (; block; block = block->next)
    for (const struct record *r = block->record; r < block->record + block->count && !block->filled; r++) {
      if (sweep->column[r->a] - sweep->first >= sweep->rows) {
        if (sweep->rows)
          sweep_all(sweep, 1);
        sweep_begin(sweep, r->a);
      }
      sweep_slot(sweep, r->a, r->b, r->j)->link = (struct link *)r->data;
    }
  if (sweep->rows)
    sweep_all(sweep, 1);
  sweep->rows = 0;
}

static void sweep_release(struct sweep *sweep)
{
  for (uint32_t i = 0; sweep->worker && i < sweep->in->workers; i++) {
    sweep->host->release(sweep->worker[i].row);
    sweep->host->release(sweep->worker[i].active);
    sweep->host->release(sweep->worker[i].number);
  }
  sweep->host->release(sweep->worker);
  sweep->host->release(sweep->column);
  sweep->host->release(sweep->from);
  sweep->host->release(sweep->slot);
}

/* Returns -1 when there is no memory. */
static int sweep_prepare(struct sweep *sweep, const struct mill_host *host, const struct mill_counter_input *in)
{
  sweep->host = host;
  sweep->in = in;
  sweep->column = (uint32_t *)host->allocate("types of pairs", in->types, sizeof *sweep->column);
  sweep->worker = (struct sweeper *)host->allocate("sweepers", in->workers, sizeof *sweep->worker);
  sweep->parts = in->interval_count ? (in->workers + in->interval_count - 1) / in->interval_count : 1;
  sweep->from = (uint32_t *)host->allocate("types of pairs", sweep->parts + UINT64_C(1), sizeof *sweep->from);
  if (!sweep->column || !sweep->worker || !sweep->from)
    return -1;
  for (uint32_t e = 0; e < in->types; e++)
    if (in->first[e + 1] - in->first[e] >= in->threshold)
      sweep->column[e] = ++sweep->columns;
  const uint64_t row = (uint64_t)sweep->columns * in->interval_count * sizeof(struct slot);
  const uint64_t fit = row ? (uint64_t)SLOT_BYTES * in->workers / row : 0;
  sweep->room = (uint32_t)(fit < 1 ? 1 : fit < sweep->columns ? fit : sweep->columns);
  sweep->slot = (struct slot *)host->allocate("pairs of types", row, sweep->room);
  if (!sweep->slot)
    return -1;
  for (uint32_t i = 0; i < in->workers; i++) {
    struct sweeper *w = &sweep->worker[i];
    w->row = (struct row *)host->allocate("types in a window", sweep->room, sizeof *w->row);
    w->active = (uint32_t *)host->allocate("types in a window", sweep->room, sizeof *w->active);
    w->number = (uint32_t *)host->allocate("events by type", sweep->columns, sizeof *w->number);
    if (!w->row || !w->active || !w->number)
      return -1;
  }
  return 0;
}

#endif
