/* The host's side of latest-start-streams.cu: a tree of episodes in many streams. A level's episodes are counted by the piece, as many as there is
   room for the ends of; then those that extend them, and so on to the last level, before the next piece takes their room. Part of latest-start.c,
   which includes it. */
#ifndef LATEST_START_STREAMS_H
#define LATEST_START_STREAMS_H

#define NODES 4096u /* of a piece, at most */
#define NO_SLOT UINT32_MAX
#define BLOCKS_MOST (UINT32_C(1) << 30)

/* As in latest-start-streams.cu. */
struct device_ends_in {
  uint64_t time, start, count;
  uint64_t events;
  uint32_t slots, reserved;
};
struct device_node {
  uint64_t from, to;
  uint32_t type, interval, parent, slot, number, reserved;
};
_Static_assert(sizeof(struct device_ends_in) == 40 && sizeof(struct device_node) == 40, "as in latest-start-streams.cu");

/* A level's piece at work: episodes begin … stop - 1, where their ends are, and which slots and places these have. */
struct piece {
  uint32_t begin, stop;
  struct device_ends_in ends;
  uint32_t *slot; /* [NODES] */
  uint64_t *at;   /* [NODES] */
  struct room nodes, room;
  uint64_t wanted, bytes; /* of the room: what all of the level would take, and what there is */
};

struct forest {
  struct on_device *self;
  const struct mill_device_kernel *kernel;
  const struct mill_episode_tree *tree;
  struct mill_device_stream streams; /* those that are counted at a time: the first one, */
  uint32_t count;                    /* and how many */
  uint64_t counts;
  unsigned char *extended;  /* [episodes] */
  struct device_node *node; /* [NODES] */
  struct piece piece[65];   /* of levels 2 … */
};

/* Bytes of the ends of an episode in a stream. */
static uint64_t ends_bytes(const struct forest *f, uint32_t events)
{
  return (uint64_t)events * (f->streams.time_bytes + sizeof(uint32_t)) + sizeof(uint32_t);
}

/* The first episode of a level whose parent is not before this one. */
static uint32_t children_from(const struct mill_episode_tree *tree, uint32_t level, uint32_t parent)
{
  uint32_t at = tree->first[level], stop = tree->first[level + 1];
  while (at < stop) {
    const uint32_t middle = at + (stop - at) / 2;
    if (tree->parent[middle] < parent)
      at = middle + 1;
    else
      stop = middle;
  }
  return at;
}

/* Begins a piece at p->begin: as many episodes as its room takes, and at least one. */
static void cut_piece(const struct forest *f, struct piece *p, uint32_t stop)
{
  const struct on_device *self = f->self;
  uint64_t bytes = 0;
  p->ends = (struct device_ends_in){0};
  for (p->stop = p->begin; p->stop < stop && p->stop - p->begin < NODES; p->stop++) {
    const uint32_t k = p->stop - p->begin, events = length_of(self->in, f->tree->type[p->stop]);
    p->slot[k] = NO_SLOT;
    p->at[k] = 0;
    if (!f->extended[p->stop])
      continue;
    bytes += f->count * ends_bytes(f, events);
    if (p->ends.slots && bytes > p->bytes)
      break;
    p->slot[k] = p->ends.slots++;
    p->at[k] = p->ends.events;
    p->ends.events += events;
  }
  p->ends.time = p->room.address;
  p->ends.start = p->ends.time + f->count * p->ends.events * f->streams.time_bytes;
  p->ends.count = p->ends.start + f->count * p->ends.events * sizeof(uint32_t);
}

static int count_piece(struct forest *f, uint32_t level, struct mill_error *error)
{
  const struct mill_device_host *device = f->self->device;
  const struct mill_episode_tree *tree = f->tree;
  struct piece *p = &f->piece[level], *parents = level > 2 ? p - 1 : NULL;
  struct device_ends_in from =
      parents ? parents->ends
              : (struct device_ends_in){.time = f->streams.type_time, .start = f->streams.type_order, .events = f->streams.events};
  uint32_t nodes = p->stop - p->begin, episodes = tree->count;
  for (uint32_t k = 0; k < nodes; k++) {
    const uint32_t i = p->begin + k, parent = tree->parent[i], place = parents ? parent - parents->begin : 0;
    f->node[k] = (struct device_node){.from = parents ? parents->at[place] : f->self->in->first[parent],
                                      .to = p->at[k],
                                      .type = tree->type[i],
                                      .interval = tree->interval[i],
                                      .parent = parents ? parents->slot[place] : parent,
                                      .slot = p->slot[k],
                                      .number = i};
  }
  const uint64_t blocks = ((uint64_t)nodes * f->count + THREADS / 32 - 1) / (THREADS / 32);
  void *argument[] = {&f->streams, &f->count, &p->nodes.address, &nodes, &from, &p->ends, &f->counts, &episodes};
  return room_put(device, &p->nodes, "episodes", f->node, nodes * sizeof *f->node, error) ||
                 device->launch(device->self, f->kernel, blocks < BLOCKS_MOST ? (uint32_t)blocks : BLOCKS_MOST, THREADS, 0,
                                argument, error)
             ? -1
             : 0;
}

/* Counts episodes begin … stop - 1 of a level, whose parents are the piece of the level before, and all that extend them. */
static int count_level(struct forest *f, uint32_t level, uint32_t begin, uint32_t stop, struct mill_error *error)
{
  struct piece *p = &f->piece[level];
  for (p->begin = begin; p->begin < stop; p->begin = p->stop) {
    cut_piece(f, p, stop);
    if (count_piece(f, level, error))
      return -1;
    if (p->ends.slots &&
        count_level(f, level + 1, children_from(f->tree, level + 1, p->begin), children_from(f->tree, level + 1, p->stop), error))
      return -1;
  }
  return 0;
}

/* Shares memory out among the levels: what all ends of a level take where that is less than its share, and what it leaves to the others. One
   episode has room in any case. */
static void share_memory(struct forest *f)
{
  const struct on_device *self = f->self;
  const struct mill_episode_tree *tree = f->tree;
  const uint64_t least = f->count * ends_bytes(f, self->longest);
  uint64_t left = self->in->memory, share = 0;
  uint32_t without = 0, before = 0; /* levels that have no room yet */
  for (uint32_t level = 2; level < tree->levels; level++, without++)
    for (uint32_t i = tree->first[level]; i < tree->first[level + 1]; i++)
      if (f->extended[i])
        f->piece[level].wanted += f->count * ends_bytes(f, length_of(self->in, tree->type[i]));
  while (without && without != before) {
    before = without;
    share = left / without;
    for (uint32_t level = 2; level < tree->levels; level++) {
      struct piece *p = &f->piece[level];
      if (p->bytes || p->wanted > share)
        continue;
      p->bytes = p->wanted;
      left -= p->bytes;
      without--;
    }
  }
  for (uint32_t level = 2; level < tree->levels; level++)
    if (!f->piece[level].bytes)
      f->piece[level].bytes = share > least ? share : least;
}

static int make_pieces(struct forest *f, struct mill_error *error)
{
  const struct on_device *self = f->self;
  const struct mill_episode_tree *tree = f->tree;
  share_memory(f);
  for (uint32_t level = 2; level <= tree->levels; level++) {
    struct piece *p = &f->piece[level];
    const uint32_t all = tree->first[level + 1] - tree->first[level], nodes = all < NODES ? all : NODES;
    p->slot = (uint32_t *)self->host->allocate("slots of episodes", nodes, sizeof *p->slot);
    p->at = (uint64_t *)self->host->allocate("places of episodes", nodes, sizeof *p->at);
    if (!p->slot || !p->at)
      return self->host->fail(error, MILL_RESOURCES, "no memory for %u episodes", nodes);
    if (room_make(self->device, &p->nodes, "episodes", nodes * sizeof(struct device_node), error) ||
        (p->bytes && room_make(self->device, &p->room, "ends in streams", p->bytes, error)))
      return -1;
  }
  return 0;
}

static void forest_release(struct forest *f)
{
  const struct mill_host *host = f->self->host;
  const struct mill_device_host *device = f->self->device;
  for (uint32_t level = 2; level <= f->tree->levels; level++) {
    struct piece *p = &f->piece[level];
    host->release(p->slot);
    host->release(p->at);
    device->release(device->self, p->nodes.address);
    device->release(device->self, p->room.address);
  }
  host->release(f->extended);
  host->release(f->node);
}

/* What is kept between levels is not needed any more. */
static void release_pools(struct on_device *self)
{
  for (int i = 0; i < 2; i++) {
    struct pool *pool = &self->pool[i];
    for (uint32_t b = 0; b < pool->blocks; b++)
      self->device->release(self->device->self, pool->block[b].address);
    self->host->release(pool->block);
    *pool = (struct pool){0};
  }
}

/* Streams that can be counted at a time: so many that each level has room for an episode in all of them. */
static uint32_t streams_at_once(const struct forest *f, uint64_t share, uint32_t count)
{
  const uint64_t fit = share / ends_bytes(f, f->self->longest);
  return fit < 1 ? 1 : fit < count ? (uint32_t)fit : count;
}

static int count_forest(struct forest *f, uint32_t count, struct mill_error *error)
{
  struct on_device *self = f->self;
  const struct mill_episode_tree *tree = f->tree;
  const struct mill_device_stream first = f->streams;
  const uint64_t counts = f->counts, share = self->in->memory / (tree->levels > 2 ? tree->levels - 2 : 1);
  const uint32_t most = streams_at_once(f, share, count);
  for (uint32_t level = 3; level <= tree->levels; level++)
    for (uint32_t i = tree->first[level]; i < tree->first[level + 1]; i++)
      f->extended[tree->parent[i]] = 1;
  f->count = most;
  if (make_pieces(f, error))
    return -1;
  for (uint32_t at = 0; at < count; at += f->count) {
    const uint64_t before = (uint64_t)at * first.events;
    f->count = count - at < most ? count - at : most;
    f->streams.type_time = first.type_time + before * first.time_bytes;
    f->streams.type_order = first.type_order + before * sizeof(uint32_t);
    f->counts = counts + (uint64_t)at * tree->count * sizeof(uint32_t);
    if (count_level(f, 2, tree->first[2], tree->first[3], error))
      return -1;
  }
  return 0;
}

static int device_count_streams(void *argument, const struct mill_device_stream *streams, uint32_t count,
                                const struct mill_episode_tree *tree, uint64_t counts, struct mill_error *error)
{
  struct on_device *self = (struct on_device *)argument;
  struct forest *f = (struct forest *)self->host->allocate("levels of a tree", 1, sizeof *f);
  int failed = -1;
  if (!f)
    return self->host->fail(error, MILL_RESOURCES, "out of memory");
  f->self = self;
  f->tree = tree;
  f->streams = *streams;
  f->counts = counts;
  f->extended = (unsigned char *)self->host->allocate("marks of episodes", tree->count, 1);
  f->node = (struct device_node *)self->host->allocate("episodes of a piece", NODES, sizeof *f->node);
  release_pools(self);
  if (!f->extended || !f->node)
    self->host->fail(error, MILL_RESOURCES, "no memory for %u episodes", tree->count);
  else if (!self->device->kernel(self->device->self, "latest_start_streams", &f->kernel, error))
    failed = count_forest(f, count, error);
  forest_release(f);
  self->host->release(f);
  return failed;
}

#endif
