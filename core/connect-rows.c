/* The graph itself, in row form. Every draw is a function of the projection's key and of what it is for, so threads share the work
   in any way and make the same rows. Nothing is drawn twice: lengths of rows are known before, or rows are put in place as they
   come, or synapses are kept as pairs (8 bytes each) while they are sorted.

   The layout of the draws, which every device repeats (key = connection->key):
   - fixed-probability: chunk c of row s is targets 1024 c … 1024 c + 1023. Its draws 2d and 2d + 1 are the two halves of
     mill_random_pair(key, s << 32 | c, d). Candidate t starts at the chunk's first target; each draw u moves it on by the whole
     part of mill_log(mill_uniform(u)) · (1 / mill_log1p(-p)) (a product of two doubles), t is a synapse, and the next candidate is
     t + 1; the first t past the chunk (compared before it is made an integer) ends it. A synapse of a neuron onto itself is then
     dropped when autapses are off. p = 0 and p = 1 draw nothing.
   - fixed-indegree(n): partner m of target j is mill_feistel(mill_random(key, j, 0), partners, m), or with multapses
     mill_below(mill_random(key, j, m), partners). Without autapses, partners is one less and those from j on are shifted by one.
   - fixed-outdegree(n): the same with source and target exchanged.
   - fixed-total(n): synapse i is pair mill_feistel(key, pairs, i), or mill_below(mill_random(key, i, 0), pairs), of all pairs in
     order of (source, target), those of neurons with themselves left out when autapses are off. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <spikemill/device.h>
#include "connect.h"
#include "memory.h"

#define CHUNK 1024u
#define ROWS_AT_ONCE 16u
#define ITEMS_AT_ONCE 4096u
#define SHORT_ROW 1024u /* synapses that are sorted with the help of a second array */
#define SCRATCH 131072u /* synapses; more when one row can have more */

struct job {
  const struct mill_connection *c;
  struct mill_rows *rows;
  int autapses;      /* allowed, or impossible because the populations differ */
  uint64_t partners; /* that one neuron may choose from */
};

static uint64_t parts_of(uint64_t n, uint64_t at_once)
{
  return n / at_once + (n % at_once != 0);
}

/* ---- Rows of a known length: each maker returns it and, when out is not NULL, fills the row ----------------------------- */

typedef uint64_t row_maker(const struct job *job, uint32_t source, uint32_t *out);

static uint64_t row_of_all(const struct job *job, uint32_t source, uint32_t *out)
{
  uint32_t targets = job->c->targets;
  for (uint32_t t = 0; out && t < targets; t++)
    if (job->autapses || t != source)
      *out++ = t;
  return job->autapses || !targets ? targets : targets - 1;
}

static uint64_t row_of_one(const struct job *job, uint32_t source, uint32_t *out)
{
  (void)job;
  if (out)
    *out = source;
  return 1;
}

static uint64_t row_of_none(const struct job *job, uint32_t source, uint32_t *out)
{
  (void)job, (void)source, (void)out;
  return 0;
}

/* Partner m of a neuron; `key` is that of its permutation. */
static uint32_t partner(const struct job *job, uint64_t key, uint32_t neuron, uint64_t m)
{
  uint64_t other;
  if (job->c->multapses)
    other = mill_below(mill_random(job->c->key, neuron, m), job->partners);
  else
    other = mill_feistel(key, job->partners, m);
  return (uint32_t)(other + (!job->autapses && other >= neuron));
}

/* One pass of a least-significant-digit radix sort, stable, by 8 bits. */
static void sort_by_digit(const uint32_t *from, uint32_t *to, uint64_t n, unsigned shift)
{
  uint32_t start[256] = {0}, sum = 0;
  for (uint64_t i = 0; i < n; i++)
    start[from[i] >> shift & 255]++;
  for (unsigned digit = 0; digit < 256; digit++) {
    uint32_t here = start[digit];
    start[digit] = sum;
    sum += here;
  }
  for (uint64_t i = 0; i < n; i++)
    to[start[from[i] >> shift & 255]++] = from[i];
}

/* Insertion sort that gives up (returns 0) once it has moved more than `moves` numbers: it does for rows
   that come almost in order. */
static int sort_by_insertion(uint32_t *a, uint64_t n, uint64_t moves)
{
  for (uint64_t i = 1; i < n; i++) {
    uint32_t x = a[i];
    uint64_t j = i;
    for (; j && a[j - 1] > x; j--)
      a[j] = a[j - 1];
    a[j] = x;
    if (i - j > moves)
      return 0;
    moves -= i - j;
  }
  return 1;
}

/* Ascending; `bit` is the highest that differs. Long rows are split in place by their bits (radix exchange; Knuth, TAOCP 3,
   5.2.2). */
static void sort_row(uint32_t *a, uint64_t n, uint32_t bit)
{
  uint32_t other[SHORT_ROW];
  if (!bit || sort_by_insertion(a, n, n < 24 ? UINT64_MAX : 2 * n))
    return;
  while (n > SHORT_ROW && bit) {
    uint64_t i = 0, j = n;
    while (i < j) {
      uint32_t x = a[i];
      if (!(x & bit)) {
        i++;
      } else {
        a[i] = a[--j];
        a[j] = x;
      }
    }
    bit >>= 1;
    sort_row(a + i, n - i, bit);
    n = i;
  }
  for (unsigned shift = 0; shift < 32 && bit >> shift; shift += 16) {
    sort_by_digit(a, other, n, shift);
    sort_by_digit(other, a, n, shift + 8);
  }
}

static uint32_t highest_bit(uint32_t x)
{
  return x ? UINT32_C(1) << (31 - __builtin_clz(x)) : 0;
}

static uint64_t row_of_outdegree(const struct job *job, uint32_t source, uint32_t *out)
{
  uint64_t n = job->c->n, key = mill_random(job->c->key, source, 0);
  for (uint64_t m = 0; out && m < n; m++)
    out[m] = partner(job, key, source, m);
  if (out)
    sort_row(out, n, highest_bit(job->c->targets));
  return n;
}

static row_maker *row_maker_of(const struct mill_connection *c)
{
  switch (c->rule) {
  case MILL_ALL_TO_ALL:
    return row_of_all;
  case MILL_ONE_TO_ONE:
    return row_of_one;
  case MILL_FIXED_PROBABILITY:
    return c->p <= 0 || !c->targets ? row_of_none : c->p >= 1 ? row_of_all : NULL;
  case MILL_FIXED_OUTDEGREE:
    return row_of_outdegree;
  default:
    return NULL;
  }
}

/* Lengths in row[1 …] to starts: that of row s goes to row[s], or, for fill_pairs, to row[s + 1]. */
static int lengths_to_starts(const struct job *job, int shifted, struct mill_error *error)
{
  uint64_t *row = job->rows->row, start = 0;
  for (uint64_t s = 0; s < job->c->sources; s++) {
    uint64_t length = row[s + 1];
    if (length > UINT32_MAX)
      return mill_fail(error, MILL_RESOURCES, "neuron %" PRIu64 " would have %" PRIu64 " synapses; at most %" PRIu32 " can be had",
                       s, length, UINT32_MAX);
    row[s + 1] = shifted ? start : start + length;
    start += length;
  }
  job->rows->synapses = start;
  return 0;
}

static int allocate_columns(struct mill_rows *rows, uint64_t synapses, struct mill_error *error)
{
  rows->column = mill_allocate_or_fail("targets of synapses", synapses, sizeof *rows->column, error);
  return rows->column ? 0 : -1;
}

struct known {
  struct job job;
  row_maker *make;
};

static void fill_rows(void *self, uint64_t block, uint32_t worker)
{
  (void)worker;
  struct known *known = self;
  struct mill_rows *rows = known->job.rows;
  uint64_t end = (block + 1) * ROWS_AT_ONCE;
  for (uint64_t s = block * ROWS_AT_ONCE; s < end && s < known->job.c->sources; s++)
    known->make(&known->job, (uint32_t)s, rows->column + rows->row[s]);
}

static int make_known(struct mill_team *team, const struct job *job, row_maker *make, struct mill_error *error)
{
  struct known known = {.job = *job, .make = make};
  for (uint64_t s = 0; s < job->c->sources; s++)
    job->rows->row[s + 1] = make(job, (uint32_t)s, NULL);
  if (lengths_to_starts(job, 0, error) || allocate_columns(job->rows, job->rows->synapses, error))
    return -1;
  mill_team_each(team, parts_of(job->c->sources, ROWS_AT_ONCE), fill_rows, &known);
  return 0;
}

/* ---- Fixed probability -------------------------------------------------------------------------------------------------- */

/* Blocks of rows are begun in order, each by whoever is free, made in a scratch, and put in place in order. */
struct chance {
  struct job job;
  double inverse;    /* 1 / log(1 - p) */
  uint32_t *scratch; /* [team size][block_rows * targets] */
  uint64_t block_rows, blocks, capacity;
  uint64_t begun, placed; /* blocks */
  uint64_t synapses;      /* of the blocks placed */
};

static uint64_t make_chunk(const struct chance *chance, uint32_t source, uint32_t chunk, uint32_t *out)
{
  const struct mill_connection *c = chance->job.c;
  uint64_t made = 0, counter = (uint64_t)source << 32 | chunk;
  uint32_t at = chunk * CHUNK, left = c->targets - at < CHUNK ? c->targets - at : CHUNK;
  for (uint64_t d = 0;; d++) {
    struct mill_u64x2 draw = mill_random_pair(c->key, counter, d);
    for (int half = 0; half < 2; half++) {
      double gap = mill_log(mill_uniform(draw.x[half])) * chance->inverse;
      if (!(gap < (double)left))
        return made;
      uint32_t target = at + (uint32_t)gap;
      left -= target + 1 - at;
      at = target + 1;
      if (chance->job.autapses || target != source)
        out[made++] = target;
    }
  }
}

static void make_blocks(void *self, uint32_t worker)
{
  struct chance *chance = self;
  const struct mill_connection *c = chance->job.c;
  struct mill_rows *rows = chance->job.rows;
  uint32_t *own = chance->scratch + worker * chance->block_rows * c->targets;
  uint64_t block;
  while ((block = __atomic_fetch_add(&chance->begun, 1, __ATOMIC_RELAXED)) < chance->blocks) {
    uint64_t n = 0, at, end = (block + 1) * chance->block_rows;
    for (uint64_t s = block * chance->block_rows; s < end && s < c->sources; s++) {
      uint64_t before = n;
      for (uint32_t chunk = 0; chunk < parts_of(c->targets, CHUNK); chunk++)
        n += make_chunk(chance, (uint32_t)s, chunk, own + n);
      rows->row[s + 1] = n - before;
    }
    while (__atomic_load_n(&chance->placed, __ATOMIC_ACQUIRE) != block)
      sched_yield();
    at = chance->synapses;
    chance->synapses += n;
    __atomic_store_n(&chance->placed, block + 1, __ATOMIC_RELEASE);
    if (at + n <= chance->capacity)
      memcpy(rows->column + at, own, n * sizeof *own);
  }
}

static int make_by_chance(struct mill_team *team, const struct job *job, struct mill_error *error)
{
  const struct mill_connection *c = job->c;
  struct chance chance = {.job = *job, .inverse = 1 / mill_log1p(-c->p), .capacity = mill_connection_estimate(c)};
  int result = -1;
  chance.block_rows = c->targets < SCRATCH ? SCRATCH / c->targets : 1;
  chance.blocks = parts_of(c->sources, chance.block_rows);
  chance.scratch = mill_allocate_or_fail("rows in the making", mill_team_size(team) * chance.block_rows * c->targets,
                                         sizeof *chance.scratch, error);
  while (chance.scratch && !allocate_columns(job->rows, chance.capacity, error)) {
    mill_team_run(team, make_blocks, &chance);
    if (chance.synapses <= chance.capacity) {
      result = lengths_to_starts(job, 0, error);
      break;
    }
    /* Six standard deviations above the mean: one network in a thousand million comes here. */
    mill_release(job->rows->column);
    job->rows->column = NULL;
    chance.capacity = chance.synapses;
    chance.begun = chance.placed = chance.synapses = 0;
  }
  mill_release(chance.scratch);
  return result;
}

/* ---- Rules that give pairs, to be sorted by source --------------------------------------------------------------------- */

struct items {
  struct job job;
  uint64_t count;
  uint64_t *pair; /* source << 32 | target; NULL when there are edges */
};

static uint64_t pair_of_total(const struct job *job, uint64_t i)
{
  const struct mill_connection *c = job->c;
  uint64_t width = (uint64_t)c->targets - !job->autapses, pairs = c->sources * width;
  uint64_t pair = c->multapses ? mill_below(mill_random(c->key, i, 0), pairs) : mill_feistel(c->key, pairs, i);
  uint64_t source = pair / width, target = pair % width;
  return source << 32 | (target + (!job->autapses && target >= source));
}

static void count_pairs(void *self, uint64_t block, uint32_t worker)
{
  (void)worker;
  const struct items *items = self;
  const struct mill_connection *c = items->job.c;
  uint64_t *row = items->job.rows->row, first = block * ITEMS_AT_ONCE, key = 0;
  uint64_t end = items->count - first < ITEMS_AT_ONCE ? items->count : first + ITEMS_AT_ONCE;
  for (uint64_t i = first; i < end; i++) {
    uint64_t pair;
    if (c->rule == MILL_EDGES) {
      __atomic_fetch_add(&row[c->edges->source[i] + (uint64_t)1], 1, __ATOMIC_RELAXED);
      continue;
    }
    if (c->rule == MILL_FIXED_INDEGREE) {
      uint32_t target = (uint32_t)(i / c->n);
      if (i == first || i % c->n == 0)
        key = mill_random(c->key, target, 0);
      pair = (uint64_t)partner(&items->job, key, target, i % c->n) << 32 | target;
    } else {
      pair = pair_of_total(&items->job, i);
    }
    items->pair[i] = pair;
    __atomic_fetch_add(&row[(pair >> 32) + 1], 1, __ATOMIC_RELAXED);
  }
}

/* row[s + 1] is where row s goes on, and in the end where it ends. */
static void fill_pairs(void *self, uint64_t block, uint32_t worker)
{
  (void)worker;
  const struct items *items = self;
  const struct mill_edges *edges = items->job.c->edges;
  struct mill_rows *rows = items->job.rows;
  uint64_t first = block * ITEMS_AT_ONCE, end = items->count - first < ITEMS_AT_ONCE ? items->count : first + ITEMS_AT_ONCE;
  for (uint64_t i = first; i < end; i++) {
    uint64_t source = items->pair ? items->pair[i] >> 32 : edges->source[i];
    uint64_t at = __atomic_fetch_add(&rows->row[source + 1], 1, __ATOMIC_RELAXED);
    if (items->pair)
      rows->column[at] = (uint32_t)items->pair[i];
    else
      rows->edge[at] = i;
  }
}

static int by_target(const void *a, const void *b, void *self)
{
  const struct mill_edges *edges = self;
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  if (edges->target[x] != edges->target[y])
    return edges->target[x] < edges->target[y] ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Synapses of one pair that differ in nothing need no order among them; edges keep that of the file. */
static void sort_rows(void *self, uint64_t block, uint32_t worker)
{
  (void)worker;
  const struct items *items = self;
  struct mill_rows *rows = items->job.rows;
  struct mill_edges *edges = items->job.c->edges;
  uint64_t end = (block + 1) * ROWS_AT_ONCE;
  for (uint64_t s = block * ROWS_AT_ONCE; s < end && s < items->job.c->sources; s++) {
    uint64_t at = rows->row[s], n = rows->row[s + 1] - at;
    if (items->pair) {
      sort_row(rows->column + at, n, highest_bit(items->job.c->targets));
      continue;
    }
    qsort_r(rows->edge + at, n, sizeof *rows->edge, by_target, edges);
    for (uint64_t i = at; i < at + n; i++)
      rows->column[i] = edges->target[rows->edge[i]];
  }
}

static int make_from_pairs(struct mill_team *team, const struct job *job, struct mill_error *error)
{
  const struct mill_connection *c = job->c;
  struct mill_rows *rows = job->rows;
  struct items items = {.job = *job};
  int result = -1;
  items.count = c->rule == MILL_FIXED_INDEGREE ? c->n * c->targets : c->rule == MILL_FIXED_TOTAL ? c->n : c->edges->count;
  if (c->rule != MILL_EDGES && !(items.pair = mill_allocate_or_fail("pairs to sort", items.count, sizeof *items.pair, error)))
    return -1;
  mill_team_each(team, parts_of(items.count, ITEMS_AT_ONCE), count_pairs, &items);
  if (lengths_to_starts(job, 1, error) || allocate_columns(rows, rows->synapses, error))
    goto done;
  if (!items.pair && !(rows->edge = mill_allocate_or_fail("edges of synapses", rows->synapses, sizeof *rows->edge, error)))
    goto done;
  mill_team_each(team, parts_of(items.count, ITEMS_AT_ONCE), fill_pairs, &items);
  mill_team_each(team, parts_of(c->sources, ROWS_AT_ONCE), sort_rows, &items);
  result = 0;
done:
  mill_release(items.pair);
  return result;
}

/* ---- All of them ------------------------------------------------------------------------------------------------------- */

int mill_connect(struct mill_team *team, const struct mill_connection *c, struct mill_rows *rows, struct mill_error *error)
{
  struct job job = {.c = c, .rows = rows, .autapses = c->autapses || !c->same};
  row_maker *make = row_maker_of(c);
  int result = -1;

  memset(rows, 0, sizeof *rows);
  if (mill_connection_check(c, error))
    return -1;
  job.partners = (c->rule == MILL_FIXED_INDEGREE ? c->sources : c->targets) - (uint64_t)!job.autapses;
  if ((rows->row = mill_allocate_or_fail("rows of synapses", (uint64_t)c->sources + 1, sizeof *rows->row, error))) {
    if (make)
      result = make_known(team, &job, make, error);
    else if (c->rule == MILL_FIXED_PROBABILITY)
      result = make_by_chance(team, &job, error);
    else
      result = make_from_pairs(team, &job, error);
  }
  if (result)
    mill_rows_free(rows);
  return result;
}

void mill_rows_free(struct mill_rows *rows)
{
  mill_release(rows->row);
  mill_release(rows->column);
  mill_release(rows->edge);
  memset(rows, 0, sizeof *rows);
}
