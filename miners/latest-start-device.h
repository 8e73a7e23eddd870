/* The host's side of latest-start.cu. Candidates are counted; then the ends of those that may become prefixes are written into pools in the
   device's memory, one for the prefixes and one for the candidates, which change places after each level. A prefix for which there was no
   room is made anew from its types, for as many candidates at a time as scratch memory allows. Part of latest-start.c, which includes it. */
#ifndef LATEST_START_DEVICE_H
#define LATEST_START_DEVICE_H

#include "latest-start-pool.h"

/* ---- Launches ---------------------------------------------------------------------------------------------------------- */

/* Segments that give the device enough to do; 1: there is no need, or no room for their marks. */
static uint32_t segments_for(const struct on_device *self, uint32_t jobs)
{
  const struct mill_device_host *device = self->device;
  const uint64_t warps = (uint64_t)device->multiprocessors * device->threads_multiprocessor / 32,
                 steps = self->longest / 32 + UINT64_C(1);
  uint64_t segments = warps / jobs < steps / STEPS ? warps / jobs : steps / STEPS;
  if (jobs * steps * sizeof(uint32_t) > (MARKS < self->in->memory ? MARKS : self->in->memory))
    segments = 1;
  return segments < 1 ? 1 : segments < SEGMENTS_MOST ? (uint32_t)segments : SEGMENTS_MOST;
}

static uint32_t blocks_for(uint64_t warps)
{
  return (uint32_t)((warps + THREADS / 32 - 1) / (THREADS / 32));
}

/* Counts jobs whose prefixes are in the table. */
static int launch_count(struct on_device *self, uint64_t table, uint64_t job, uint32_t jobs, uint32_t segments, uint64_t result,
                        struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  const uint64_t all = (uint64_t)jobs * segments;
  uint32_t words = self->longest / 32 + 1;
  void *whole[] = {&self->stream, &self->window.address, &table, &job, &jobs, &result};
  if (segments == 1)
    return device->launch(device->self, self->count, blocks_for(jobs), THREADS, 0, whole, error);
  if (room_make(device, &self->part, "segments of candidates", all * sizeof(struct device_part), error) ||
      room_make(device, &self->marks, "marks of segments", (uint64_t)jobs * words * sizeof(uint32_t), error))
    return -1;
  void *part[] = {&self->stream,       &self->window.address, &table, &job, &jobs, &segments,
                  &self->part.address, &self->marks.address,  &words};
  void *join[] = {&self->stream,       &self->window.address, &table, &job,   &jobs, &segments,
                  &self->part.address, &self->marks.address,  &words, &result};
  if (device->launch(device->self, self->segments, blocks_for(all), THREADS, 0, part, error))
    return -1;
  return device->launch(device->self, self->join, blocks_for(jobs), THREADS, 0, join, error);
}

/* Writes the ends of the batch's targets. With several segments: after launch_count. */
static int launch_write(struct on_device *self, uint64_t table, uint32_t targets, uint32_t segments, uint64_t made,
                        struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  void *arguments[] = {&self->stream, &self->window.address, &table, &self->target.address, &targets,
                       &segments,     &self->part.address,   &made};
  if (room_put(device, &self->target, "kept candidates", self->batch.target, targets * sizeof *self->batch.target, error))
    return -1;
  return device->launch(device->self, self->write, blocks_for((uint64_t)targets * segments), THREADS, 0, arguments, error);
}

/* ---- Candidates --------------------------------------------------------------------------------------------------------- */

/* Writes the ends of those of the counted jobs that reach the threshold. */
static int keep_jobs(struct on_device *self, uint64_t table, uint32_t jobs, uint32_t segments, const struct mill_candidates *c,
                     struct mill_error *error)
{
  struct device_batch *b = &self->batch;
  uint32_t targets = 0;
  for (uint32_t i = 0; i < jobs; i++) {
    const uint64_t end = b->result[i].count >= self->in->threshold ? take_room(self, b->result[i].ends) : 0;
    if (!end)
      continue;
    b->target[targets++] = (struct device_target){end, b->job[i], i};
    if (add_record(self, c->first + b->which[i], (struct device_ends){end, b->result[i].ends, 0}, error))
      return -1;
  }
  return targets ? launch_write(self, table, targets, segments, 0, error) : 0;
}

/* Counts the batch's first `jobs` jobs, whose prefixes are in the table. */
static int count_jobs(struct on_device *self, uint64_t table, uint32_t jobs, const struct mill_candidates *c, uint64_t *counts,
                      struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  struct device_batch *b = &self->batch;
  if (!jobs)
    return 0;
  const uint32_t segments = segments_for(self, jobs);
  if (room_put(device, &self->job, "candidates", b->job, jobs * sizeof *b->job, error) ||
      room_make(device, &self->result, "counts of candidates", jobs * sizeof *b->result, error) ||
      launch_count(self, table, self->job.address, jobs, segments, self->result.address, error) ||
      device->download(device->self, b->result, self->result.address, jobs * sizeof *b->result, error))
    return -1;
  for (uint32_t i = 0; i < jobs; i++)
    counts[b->which[i]] = b->result[i].count;
  return c->last ? 0 : keep_jobs(self, table, jobs, segments, c, error);
}

/* The events of a type. */
static struct device_ends ends_of_type(const struct on_device *self, uint32_t type)
{
  return (struct device_ends){self->event.address + self->in->first[type] * sizeof(struct device_end), length_of(self->in, type),
                              0};
}

static struct mill_device_candidate job_of(const struct mill_candidates *c, uint64_t k, uint32_t node, uint32_t parent)
{
  return (struct mill_device_candidate){parent, 0, c->type[k * c->level + node], c->interval[k * (c->level - 1) + node - 1]};
}

/* Makes the prefixes of `jobs` candidates, each of another one, which[] telling whose: step by step, from the types' events on. Returns
   their table in *table. */
static int make_prefixes(struct on_device *self, const struct mill_candidates *c, const uint32_t *which, uint32_t jobs,
                         uint64_t *table, struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  struct device_batch *b = &self->batch;
  const uint64_t each = self->longest * (uint64_t)sizeof(struct device_end);
  int at = 0;
  for (uint32_t i = 0; i < jobs; i++)
    b->ends[i] = ends_of_type(self, c->type[(uint64_t)which[i] * c->level]);
  if (room_put(device, &self->chain[at], "prefixes", b->ends, jobs * sizeof *b->ends, error))
    return -1;
  for (uint32_t node = 1; node + 1 < c->level; node++, at ^= 1) {
    if (room_make(device, &self->scratch[at], "ends of prefixes", jobs * each, error) ||
        room_make(device, &self->chain[at ^ 1], "prefixes", jobs * sizeof *b->ends, error))
      return -1;
    for (uint32_t i = 0; i < jobs; i++)
      b->target[i] = (struct device_target){self->scratch[at].address + i * each, job_of(c, which[i], node, i), i};
    if (launch_write(self, self->chain[at].address, jobs, 1, self->chain[at ^ 1].address, error))
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

static int is_kept(const struct on_device *self, uint32_t parent)
{
  return parent < self->parents && self->parent[parent].end;
}

/* Those candidates whose prefix is not kept. */
static int count_unkept(struct on_device *self, const struct mill_candidates *c, uint64_t *counts, struct mill_error *error)
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
      if (is_kept(self, c->parent[k]))
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
      if (is_kept(self, c->parent[i]))
        continue;
      slot += c->parent[i] != c->parent[last];
      last = i;
      b->which[jobs] = i;
      b->job[jobs++] = job_of(c, i, c->level - 1, slot);
    }
    if (count_jobs(self, table, jobs, c, counts, error))
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
  host->release(b->result);
  host->release(b->target);
  host->release(b->ends);
  b->room = count;
  b->job = (struct mill_device_candidate *)host->allocate("candidates", count, sizeof *b->job);
  b->which = (uint32_t *)host->allocate("candidates", count, sizeof *b->which);
  b->result = (struct device_result *)host->allocate("counts of candidates", count, sizeof *b->result);
  b->target = (struct device_target *)host->allocate("kept candidates", count, sizeof *b->target);
  b->ends = (struct device_ends *)host->allocate("prefixes of candidates", count, sizeof *b->ends);
  if (b->job && b->which && b->result && b->target && b->ends)
    return 0;
  b->room = 0;
  return host->fail(error, MILL_RESOURCES, "no memory for a batch of %u candidates", count);
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
  if (batch_room(self, c->count, error))
    return -1;
  for (uint32_t k = 0; k < c->count; k++) {
    if (!is_kept(self, c->parent[k]))
      continue;
    b->which[jobs] = k;
    b->job[jobs++] = job_of(c, k, c->level - 1, c->parent[k]);
  }
  const int all = jobs == c->count;
  if (count_jobs(self, self->table.address, jobs, c, counts, error))
    return -1;
  return all ? 0 : count_unkept(self, c, counts, error);
}

static int by_number(const void *a, const void *b)
{
  const uint64_t x = ((const struct device_record *)a)->number, y = ((const struct device_record *)b)->number;
  return (x > y) - (x < y);
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
  if (self->disorder)
    qsort(self->record, self->records, sizeof *self->record, by_number);
  self->disorder = 0;
  self->unkept = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (level == 1) {
      self->parent[i] = ends_of_type(self, self->type_of[kept[i]]);
      continue;
    }
    while (at < self->records && self->record[at].number < kept[i])
      at++;
    if (at < self->records && self->record[at].number == kept[i])
      self->parent[i] = self->record[at].ends;
    self->unkept += !self->parent[i].end;
  }
  self->records = 0;
  self->turn ^= 1; /* the prefixes of the level that is complete are not needed any more */
  self->pool[self->turn].in_use = 0;
  self->pool[self->turn].used = 0;
  return room_put(self->device, &self->table, "prefixes", self->parent, n * sizeof *self->parent, error);
}

/* ---- Candidates of the device ------------------------------------------------------------------------------------------- */

/* Those of a level of which not all prefixes are kept go the way of candidates of the host. */
static int count_by_host(struct on_device *self, const struct mill_device_candidates *there, struct mill_error *error)
{
  const struct mill_device_host *device = self->device;
  const struct mill_host *host = self->host;
  const uint64_t n = there->count, level = there->level;
  struct mill_device_candidate *candidate = (struct mill_device_candidate *)host->allocate("candidates", n, sizeof *candidate);
  uint32_t *node = (uint32_t *)host->allocate("nodes of candidates", n * 2 * level, sizeof *node);
  uint64_t *counts = (uint64_t *)host->allocate("counts of candidates", n, sizeof *counts);
  struct device_result *result = (struct device_result *)host->allocate("counts of candidates", n, sizeof *result);
  int failed = !candidate || !node || !counts || !result;
  if (failed)
    host->fail(error, MILL_RESOURCES, "no memory for a batch of %u candidates", there->count);
  else
    failed = device->download(device->self, candidate, there->candidate, n * sizeof *candidate, error) ||
             device->download(device->self, node, there->type, n * level * sizeof *node, error) ||
             device->download(device->self, node + n * level, there->interval, n * (level - 1) * sizeof *node, error);
  if (!failed) {
    uint32_t *parent = node + n * (2 * level - 1);
    for (uint64_t k = 0; k < n; k++)
      parent[k] = candidate[k].parent;
    const struct mill_candidates here = {there->level,     there->count, there->first, node,
                                         node + n * level, parent,       there->last,  there->total};
    failed = device_count(self, &here, counts, error);
  }
  for (uint64_t k = 0; k < n && !failed; k++)
    result[k].count = (uint32_t)counts[k];
  failed = failed || device->upload(device->self, there->result, result, n * sizeof *result, error);
  host->release(candidate);
  host->release(node);
  host->release(counts);
  host->release(result);
  return failed ? -1 : 0;
}

static int count_there(void *argument, const struct mill_device_candidates *c, struct mill_error *error)
{
  struct on_device *self = (struct on_device *)argument;
  if (self->unkept)
    return count_by_host(self, c, error);
  return launch_count(self, self->table.address, c->candidate, c->count, segments_for(self, c->count), c->result, error);
}

static int keep_there(void *argument, const struct mill_device_candidates *c, const struct mill_device_frequent *kept, uint32_t n,
                      struct mill_error *error)
{
  struct on_device *self = (struct on_device *)argument;
  struct device_target *target;
  uint32_t targets = 0;
  if (self->unkept) /* they are kept already, as far as there is room */
    return 0;
  if (batch_room(self, n, error))
    return -1;
  target = self->batch.target;
  for (uint32_t i = 0; i < n; i++) {
    const struct mill_device_frequent *k = &kept[i];
    const uint64_t end = take_room(self, k->more);
    if (!end)
      continue;
    target[targets++] = (struct device_target){end, {k->prefix, k->suffix, k->type, k->interval}, k->which};
    if (add_record(self, c->first + k->which, (struct device_ends){end, k->more, 0}, error))
      return -1;
  }
  return targets ? launch_write(self, self->table.address, targets, segments_for(self, c->count), 0, error) : 0;
}

static const struct mill_counter_there there = {sizeof there, sizeof(struct device_result) / sizeof(uint32_t), count_there,
                                                keep_there};

/* ---- Open and close ----------------------------------------------------------------------------------------------------- */

static void device_close(void *argument)
{
  struct on_device *self = (struct on_device *)argument;
  const struct mill_host *host = self->host;
  host->release(self->batch.job);
  host->release(self->batch.which);
  host->release(self->batch.result);
  host->release(self->batch.target);
  host->release(self->batch.ends);
  host->release(self->pool[0].block);
  host->release(self->pool[1].block);
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
      room_make(device, &self->event, "ends of types", events * sizeof(struct device_end), error))
    return -1;
  return device->launch(device->self, windows, events ? blocks < most ? (uint32_t)blocks : most : 0, THREADS, 0, arguments, error);
}

/* Allocates what most levels need, so that none of them waits for it. */
static int make_room(struct on_device *self, struct mill_error *error)
{
  const double most =
      (double)self->in->types * self->in->types * self->in->types * self->in->interval_count * self->in->interval_count;
  const uint64_t batch = most < (double)BATCH ? (uint64_t)most + 1 : BATCH, bytes = block_bytes(self, &self->pool[0]);
  if (room_make(self->device, &self->job, "candidates", batch * sizeof(struct mill_device_candidate), error) ||
      room_make(self->device, &self->result, "counts of candidates", batch * sizeof(struct device_result), error) ||
      batch_room(self, (uint32_t)batch, error))
    return -1;
  for (int i = 0; i < 2 && bytes; i++)
    (void)add_block(self, &self->pool[i], bytes);
  return 0;
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
  for (uint32_t e = 0; e < input->types; e++)
    self->longest = length_of(input, e) > self->longest ? length_of(input, e) : self->longest;
  self->type_of = (uint32_t *)host->allocate("types", input->types, sizeof *self->type_of);
  if (!self->type_of)
    host->fail(error, MILL_RESOURCES, "no memory for %u types", input->types);
  if (!self->type_of || device->kernel(device->self, "latest_start_count", &self->count, error) ||
      device->kernel(device->self, "latest_start_segments", &self->segments, error) ||
      device->kernel(device->self, "latest_start_join", &self->join, error) ||
      device->kernel(device->self, "latest_start_write", &self->write, error) || find_windows(self, error) ||
      make_room(self, error)) {
    device_close(self);
    return -1;
  }
  *out = self;
  return 0;
}

#include "latest-start-streams.h"

static const struct mill_counter_device on_device = {device_open, device_count, device_keep,          device_close,
                                                     NULL,        &there,       device_count_streams};
static const unsigned char text[] = {
#include "miners/latest-start.cu_text"
#include "miners/latest-start-streams.cu_text"
};

#endif
