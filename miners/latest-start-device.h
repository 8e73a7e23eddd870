/* The host's side of latest-start.cu. What is kept of a level is a pool of ends in the device's memory, which two levels use in turn: one
   holds the prefixes, into the other one the candidates put what may become prefixes. A prefix that has found no room there is made anew
   from its types, for as many candidates at a time as scratch memory allows. Part of latest-start.c, which includes it. */
#ifndef LATEST_START_DEVICE_H
#define LATEST_START_DEVICE_H

#include "on-device.h"

#define THREADS 256u                 /* of a block: a candidate for each 32 of them */
#define SCRATCH (UINT64_C(256) << 20) /* bytes for prefixes that are made anew, at most, unless one takes more */
#define MARKS (UINT64_C(64) << 20)   /* bytes for marks of segments, at most */
#define STEPS 8u                     /* of 32 events that a segment has at least */
#define LONG_SEGMENTS 1024u          /* at most */

/* As in latest-start.cu. */
struct device_end {
  uint32_t at, start;
};
struct device_ends {
  uint64_t end;
  uint32_t count, reserved;
};
struct device_job {
  uint32_t parent, type, interval;
};
struct device_pool {
  uint64_t end, room, used;
  uint32_t threshold, reserved;
};
struct device_part {
  uint32_t count, last, ends;
};

/* A candidate of which the ends are kept. */
struct device_record {
  uint64_t number;
  struct device_ends ends;
};

/* Arrays of the host for a batch. */
struct device_batch {
  uint32_t room;
  struct device_job *job;
  uint32_t *which;          /* the candidates that the jobs are of */
  uint32_t *counts;
  struct device_ends *kept;
};

struct on_device {
  const struct mill_host *host;
  const struct mill_device_host *device;
  const struct mill_counter_input *in;
  struct mill_device_stream stream;
  const struct mill_device_kernel *count, *segments, *join, *write;
  uint32_t longest, threshold;
  struct room window, event;  /* [intervals][events] and [events] */
  struct room table;          /* [parents] of struct device_ends */
  struct room job, counts, kept, part, marks;
  struct room used;           /* one 64-bit number */
  struct room pool[2];        /* of ends */
  uint32_t turn;              /* the one that the level puts its ends into */
  int begun;                  /* it is made for this level */
  struct room scratch[2], chain[2];
  uint32_t *type_of;          /* [types] of the candidates of level 1 */
  struct device_ends *parent; /* [parents] as in the table; their `end` is 0 where nothing is kept */
  uint32_t parents;
  struct device_record *record;
  uint64_t records, record_room;
  struct device_batch batch;
};

/* ---- Launches ---------------------------------------------------------------------------------------------------------- */

/* One candidate after the other, or each in segments when there are too few for the device. */
struct device_launch {
  uint64_t table;           /* of the prefixes */
  uint32_t jobs;            /* that are uploaded */
  uint64_t counts, kept;    /* kept: 0: nothing is */
  struct device_pool pool;
};

/* Segments that give the device enough to do; 1: there is no need, or no room for their marks. */
static uint32_t segments_for(const struct on_device *self, uint32_t jobs)
{
  const struct mill_device_host *device = self->device;
  const uint64_t warps = (uint64_t)device->multiprocessors * device->threads_multiprocessor / 32, steps = self->longest / 32 + UINT64_C(1);
  uint64_t segments = warps / jobs < steps / STEPS ? warps / jobs : steps / STEPS;
  if (jobs * steps * sizeof(uint32_t) > (MARKS < self->in->memory ? MARKS : self->in->memory))
    segments = 1;
  return segments < 1 ? 1 : segments < LONG_SEGMENTS ? (uint32_t)segments : LONG_SEGMENTS;
}

static uint32_t blocks_for(uint64_t warps)
{
  return (uint32_t)((warps + THREADS / 32 - 1) / (THREADS / 32));
}

static int launch_segments(struct on_device *self, struct device_launch *l, uint32_t segments, struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  uint32_t words = self->longest / 32 + 1;
  const uint64_t all = (uint64_t)l->jobs * segments;
  if (room_make(device, &self->part, "segments of candidates", all * sizeof(struct device_part), error) ||
      room_make(device, &self->marks, "marks of segments", (uint64_t)l->jobs * words * sizeof(uint32_t), error))
    return -1;
  void *first[] = {&self->stream, &self->window.address, &l->table, &self->job.address, &l->jobs, &segments,
                   &self->part.address, &self->marks.address, &words};
  void *second[] = {&self->stream, &self->window.address, &l->table, &self->job.address, &l->jobs, &segments, &self->part.address,
                    &self->marks.address, &words, &l->counts, &l->kept, &l->pool};
  void *third[] = {&self->stream, &self->window.address, &l->table, &self->job.address, &l->jobs, &segments, &self->part.address,
                   &l->kept};
  if (device->launch(device->self, self->segments, blocks_for(all), THREADS, 0, first, error) ||
      device->launch(device->self, self->join, blocks_for(l->jobs), THREADS, 0, second, error))
    return -1;
  return l->kept ? device->launch(device->self, self->write, blocks_for(all), THREADS, 0, third, error) : 0;
}

static int launch(struct on_device *self, struct device_launch *l, struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  const uint32_t segments = segments_for(self, l->jobs);
  void *arguments[] = {&self->stream, &self->window.address, &l->table, &self->job.address, &l->jobs, &l->counts, &l->kept, &l->pool};
  if (segments > 1)
    return launch_segments(self, l, segments, error);
  return device->launch(device->self, self->count, blocks_for(l->jobs), THREADS, 0, arguments, error);
}

/* ---- Candidates --------------------------------------------------------------------------------------------------------- */

static int add_record(struct on_device *self, uint64_t number, struct device_ends ends, struct mill_error *error)
{
  if (self->records == self->record_room) {
    const uint64_t room = self->record_room ? 2 * self->record_room : 1024;
    struct device_record *record = (struct device_record *)self->host->allocate("kept episodes", room, sizeof *record);
    if (!record)
      return self->host->fail(error, MILL_RESOURCES, "no memory for %llu episodes", (unsigned long long)room);
    if (self->records)
      memcpy(record, self->record, self->records * sizeof *record);
    self->host->release(self->record);
    self->record = record;
    self->record_room = room;
  }
  self->record[self->records++] = (struct device_record){number, ends};
  return 0;
}

/* Counts the batch's first `jobs` jobs, whose prefixes are in the table, and keeps what reaches the threshold when there is a pool. */
static int count_jobs(struct on_device *self, uint64_t table, uint32_t jobs, const struct mill_candidates *c, int keeps, uint64_t *counts,
                      struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  struct device_batch *b = &self->batch;
  const struct room *pool = &self->pool[self->turn];
  if (!jobs)
    return 0;
  keeps = keeps && pool->bytes;
  if (room_put(device, &self->job, "candidates", b->job, jobs * sizeof *b->job, error) ||
      room_make(device, &self->counts, "counts of candidates", jobs * sizeof *b->counts, error) ||
      (keeps && room_make(device, &self->kept, "kept candidates", jobs * sizeof *b->kept, error)))
    return -1;
  struct device_launch l = {table, jobs, self->counts.address, keeps ? self->kept.address : 0,
                            {pool->address, pool->bytes / sizeof(struct device_end), self->used.address, self->threshold, 0}};
  if (launch(self, &l, error) || (keeps && device->download(device->self, b->kept, self->kept.address, jobs * sizeof *b->kept, error)) ||
      device->download(device->self, b->counts, self->counts.address, jobs * sizeof *b->counts, error))
    return -1;
  for (uint32_t i = 0; i < jobs; i++) {
    counts[b->which[i]] = b->counts[i];
    if (keeps && b->kept[i].end && add_record(self, c->first + b->which[i], b->kept[i], error))
      return -1;
  }
  return 0;
}

/* Makes the prefixes of `jobs` candidates, each of another one, which[] telling whose: step by step, from the types' events on. Returns
   their table in *table. */
static int make_prefixes(struct on_device *self, const struct mill_candidates *c, const uint32_t *which, uint32_t jobs, uint64_t *table,
                         struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  struct device_batch *b = &self->batch;
  const uint64_t bytes = jobs * (uint64_t)self->longest * sizeof(struct device_end);
  int at = 0;
  for (uint32_t i = 0; i < jobs; i++) {
    const uint32_t type = c->type[(uint64_t)which[i] * c->level];
    b->kept[i] = (struct device_ends){self->event.address + self->in->first[type] * sizeof(struct device_end), length_of(self->in, type), 0};
  }
  if (room_put(device, &self->chain[at], "prefixes", b->kept, jobs * sizeof *b->kept, error))
    return -1;
  for (uint32_t node = 1; node + 1 < c->level; node++, at ^= 1) {
    for (uint32_t i = 0; i < jobs; i++)
      b->job[i] = (struct device_job){i, c->type[(uint64_t)which[i] * c->level + node],
                                      c->interval[(uint64_t)which[i] * (c->level - 1) + node - 1]};
    if (room_put(device, &self->job, "candidates", b->job, jobs * sizeof *b->job, error) ||
        room_make(device, &self->counts, "counts of candidates", jobs * sizeof *b->counts, error) ||
        room_make(device, &self->chain[at ^ 1], "prefixes", jobs * sizeof *b->kept, error) ||
        room_make(device, &self->scratch[at], "ends of prefixes", bytes, error) ||
        device->fill(device->self, self->used.address + sizeof(uint64_t), 0, sizeof(uint64_t), error))
      return -1;
    struct device_launch l = {self->chain[at].address, jobs, self->counts.address, self->chain[at ^ 1].address,
                              {self->scratch[at].address, bytes / sizeof(struct device_end), self->used.address + sizeof(uint64_t), 0, 0}};
    if (launch(self, &l, error))
      return -1;
  }
  *table = self->chain[at].address;
  return 0;
}

/* Prefixes that scratch memory has room for at a time. */
static uint32_t prefixes_at_once(const struct on_device *self)
{
  const uint64_t each = 2 * (uint64_t)self->longest * sizeof(struct device_end);
  const uint64_t bytes = self->in->memory < SCRATCH ? self->in->memory : SCRATCH;
  return bytes / each < 1 ? 1 : bytes / each < UINT32_MAX ? (uint32_t)(bytes / each) : UINT32_MAX;
}

/* Those candidates whose prefix is not kept. */
static int count_unkept(struct on_device *self, const struct mill_candidates *c, int keeps, uint64_t *counts, struct mill_error *error)
{
  const uint32_t most = prefixes_at_once(self);
  struct device_batch *b = &self->batch;
  uint32_t k = 0;
  while (k < c->count) {
    const uint32_t begin = k;
    uint32_t prefixes = 0, jobs = 0;
    uint64_t table;
    for (; k < c->count; k++) {
      const int other = !prefixes || c->parent[k] != c->parent[b->which[prefixes - 1]];
      if (self->parent[c->parent[k]].end)
        continue;
      if (other && prefixes == most)
        break;
      if (other)
        b->which[prefixes++] = k;
    }
    if (!prefixes)
      break;
    if (make_prefixes(self, c, b->which, prefixes, &table, error))
      return -1;
    for (uint32_t i = begin, slot = 0, last = b->which[0]; i < k; i++) {
      if (self->parent[c->parent[i]].end)
        continue;
      slot += c->parent[i] != c->parent[last];
      last = i;
      b->which[jobs] = i;
      b->job[jobs++] = (struct device_job){slot, c->type[(i + UINT64_C(1)) * c->level - 1], c->interval[(i + UINT64_C(1)) * (c->level - 1) - 1]};
    }
    if (count_jobs(self, table, jobs, c, keeps, counts, error))
      return -1;
  }
  return 0;
}

static int batch_room(struct on_device *self, uint32_t count, struct mill_error *error)
{
  const struct mill_host *host = self->host;
  struct device_batch *b = &self->batch;
  if (count <= b->room)
    return 0;
  host->release(b->job);
  host->release(b->which);
  host->release(b->counts);
  host->release(b->kept);
  b->room = count;
  b->job = (struct device_job *)host->allocate("candidates", count, sizeof *b->job);
  b->which = (uint32_t *)host->allocate("candidates", count, sizeof *b->which);
  b->counts = (uint32_t *)host->allocate("counts of candidates", count, sizeof *b->counts);
  b->kept = (struct device_ends *)host->allocate("kept candidates", count, sizeof *b->kept);
  if (b->job && b->which && b->counts && b->kept)
    return 0;
  b->room = 0;
  return host->fail(error, MILL_RESOURCES, "no memory for a batch of %u candidates", count);
}

/* Before the first batch of a level that keeps something: half of the memory, unless less is enough for all of it. */
static int begin_level(struct on_device *self, const struct mill_candidates *c, struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  const uint64_t each = self->longest * (uint64_t)sizeof(struct device_end), total = c->total > c->count ? c->total : c->count;
  const uint64_t most = self->in->memory / 2, half = device->free_bytes(device->self) / 2, room = most < half ? most : half;
  struct room *pool = &self->pool[self->turn];
  self->begun = 1;
  if (device->fill(device->self, self->used.address, 0, sizeof(uint64_t), error))
    return -1;
  const uint64_t bytes = (each && total > room / each ? room : total * each) / sizeof(struct device_end) * sizeof(struct device_end);
  return bytes > pool->bytes ? room_make(device, pool, "ends of kept episodes", bytes, error) : 0;
}

static int device_count(void *argument, const struct mill_candidates *c, uint64_t *counts, struct mill_error *error)
{
  struct on_device *self = (struct on_device *)argument;
  struct device_batch *b = &self->batch;
  uint32_t jobs = 0;
  if (c->level == 1) {
    for (uint32_t k = 0; k < c->count; k++) {
      counts[k] = events_of(self->in, c->type[k]);
      self->type_of[c->first + k] = c->type[k];
    }
    return 0;
  }
  if (batch_room(self, c->count, error) || (!c->last && !self->begun && begin_level(self, c, error)))
    return -1;
  for (uint32_t k = 0; k < c->count; k++) {
    if (!self->parent[c->parent[k]].end)
      continue;
    b->which[jobs] = k;
    b->job[jobs++] = (struct device_job){c->parent[k], c->type[(k + UINT64_C(1)) * c->level - 1],
                                         c->interval[(k + UINT64_C(1)) * (c->level - 1) - 1]};
  }
  const int all = jobs == c->count;
  if (count_jobs(self, self->table.address, jobs, c, !c->last, counts, error))
    return -1;
  return all ? 0 : count_unkept(self, c, !c->last, counts, error);
}

static int device_keep(void *argument, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error)
{
  struct on_device *self = (struct on_device *)argument;
  uint64_t at = 0;
  self->host->release(self->parent);
  self->parents = n;
  self->parent = (struct device_ends *)self->host->allocate("prefixes", n, sizeof *self->parent);
  if (!self->parent)
    return self->host->fail(error, MILL_RESOURCES, "no memory for %u episodes", n);
  for (uint32_t i = 0; i < n; i++) {
    if (level == 1) {
      const uint32_t type = self->type_of[kept[i]];
      self->parent[i] =
          (struct device_ends){self->event.address + self->in->first[type] * sizeof(struct device_end), length_of(self->in, type), 0};
      continue;
    }
    while (at < self->records && self->record[at].number < kept[i])
      at++;
    if (at < self->records && self->record[at].number == kept[i])
      self->parent[i] = self->record[at].ends;
  }
  self->records = 0;
  self->begun = 0;
  self->turn ^= 1;
  return room_put(self->device, &self->table, "prefixes", self->parent, n * sizeof *self->parent, error);
}

/* ---- Open and close ----------------------------------------------------------------------------------------------------- */

static void device_close(void *argument)
{
  struct on_device *self = (struct on_device *)argument;
  const struct mill_host *host = self->host;
  host->release(self->batch.job);
  host->release(self->batch.which);
  host->release(self->batch.counts);
  host->release(self->batch.kept);
  host->release(self->record);
  host->release(self->parent);
  host->release(self->type_of);
  host->release(self); /* what is on the device is the host's to release */
}

static int find_windows(struct on_device *self, struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  const uint64_t events = self->in->events, blocks = (events * self->in->interval_count + events) / THREADS + 1;
  const uint32_t most = 8 * device->multiprocessors;
  const struct mill_device_kernel *windows;
  void *arguments[] = {&self->stream, &self->window.address, &self->event.address};
  if (device->kernel(device->self, "latest_start_windows", &windows, error) ||
      room_make(device, &self->window, "windows of events", events * self->in->interval_count * 2 * sizeof(uint32_t), error) ||
      room_make(device, &self->event, "ends of types", events * sizeof(struct device_end), error) ||
      room_make(device, &self->used, "marks of pools", 2 * sizeof(uint64_t), error))
    return -1;
  return device->launch(device->self, windows, events ? blocks < most ? (uint32_t)blocks : most : 0, THREADS, 0, arguments, error);
}

static int device_open(const struct mill_host *host, const struct mill_device_host *device, const void *params,
                       const struct mill_counter_input *input, const struct mill_device_stream *stream, void **out,
                       struct mill_error *error)
{
  struct on_device *self = (struct on_device *)host->allocate("latest-start counter", 1, sizeof *self);
  (void)params;
  if (!self)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  self->host = host;
  self->device = device;
  self->in = input;
  self->stream = *stream;
  self->longest = 1;
  self->threshold = input->threshold < UINT32_MAX ? (uint32_t)input->threshold : UINT32_MAX;
  for (uint32_t e = 0; e < input->types; e++)
    self->longest = length_of(input, e) > self->longest ? length_of(input, e) : self->longest;
  self->type_of = (uint32_t *)host->allocate("types", input->types, sizeof *self->type_of);
  if (!self->type_of)
    host->fail(error, MILL_RESOURCES, "no memory for %u types", input->types);
  if (!self->type_of || device->kernel(device->self, "latest_start_count", &self->count, error) ||
      device->kernel(device->self, "latest_start_segments", &self->segments, error) ||
      device->kernel(device->self, "latest_start_join", &self->join, error) ||
      device->kernel(device->self, "latest_start_write", &self->write, error) || find_windows(self, error)) {
    device_close(self);
    return -1;
  }
  *out = self;
  return 0;
}

static const struct mill_counter_device on_device = {device_open, device_count, device_keep, device_close, NULL};
static const unsigned char text[] = {
#include "miners/latest-start.cu_text"
};

#endif
