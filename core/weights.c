/* Weights and delays of single synapses, drawn wherever they are needed: nothing is kept but what a run reads. What a receptor's
   weights become together is decided in accumulate.c. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <math.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "memory.h"
#include "text.h"
#include "plastic.h"
#include "weights.h"

#define ROWS_AT_ONCE 16u

double mill_weight_draw(const struct mill_weighing *weighing, uint32_t source, uint32_t target, uint32_t m, uint64_t *redraws,
                        uint64_t *clips)
{
  return mill_dist_draw(&weighing->weight, weighing->weight_key, (uint64_t)source << 32 | target, m, redraws, clips);
}

int mill_weight_is_number(const struct mill_weighing *weighing)
{
  return !(weighing->edges && weighing->edges->weight) && weighing->weight.kind == MILL_DIST_NUMBER;
}

double mill_weight_at(const struct mill_weighing *weighing, uint32_t source, uint64_t synapse, uint32_t m, uint64_t *redraws,
                      uint64_t *clips)
{
  if (weighing->edges && weighing->edges->weight)
    return weighing->edges->weight[weighing->rows->edge[synapse]];
  return mill_weight_draw(weighing, source, weighing->rows->column[synapse], m, redraws, clips);
}

/* ---- Delays ------------------------------------------------------------------------------------------------------------ */

int mill_delay_is_number(const struct mill_weighing *w)
{
  return !(w->edges && w->edges->delay_ps) && w->delay.kind == MILL_DIST_NUMBER;
}

struct delay_job {
  struct mill_weighing *w;
  int64_t dt_ps;
  int storing;
  uint32_t low, high;    /* steps */
  uint64_t bad, rounded; /* first synapse whose delay cannot be had, or was rounded; UINT64_MAX: none */
  uint64_t redrawn, clipped;
};

static int64_t delay_at(const struct mill_weighing *w, uint32_t source, uint64_t i, uint32_t m, uint64_t *redraws, uint64_t *clips)
{
  if (w->edges && w->edges->delay_ps)
    return w->edges->delay_ps[w->rows->edge[i]];
  return mill_picoseconds(mill_dist_draw(&w->delay, w->delay_key, (uint64_t)source << 32 | w->rows->column[i], m, redraws, clips));
}

static void lower_to(uint64_t *shared, uint64_t value)
{
  uint64_t now = __atomic_load_n(shared, __ATOMIC_RELAXED);
  while (value < now && !__atomic_compare_exchange_n(shared, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void lower_step(uint32_t *shared, uint32_t value)
{
  uint32_t now = __atomic_load_n(shared, __ATOMIC_RELAXED);
  while (value < now && !__atomic_compare_exchange_n(shared, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void raise_step(uint32_t *shared, uint32_t value)
{
  uint32_t now = __atomic_load_n(shared, __ATOMIC_RELAXED);
  while (value > now && !__atomic_compare_exchange_n(shared, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void delay_rows(void *self, uint64_t block, uint32_t worker)
{
  (void)worker;
  struct delay_job *job = self;
  struct mill_weighing *w = job->w;
  const struct mill_rows *rows = w->rows;
  uint64_t end = (block + 1) * ROWS_AT_ONCE, bad = UINT64_MAX, rounded = UINT64_MAX, redrawn = 0, clipped = 0;
  uint32_t low = UINT32_MAX, high = 0;
  for (uint64_t s = block * ROWS_AT_ONCE; s < end && s < w->sources; s++) {
    uint32_t m = 0;
    for (uint64_t i = rows->row[s]; i < rows->row[s + 1]; i++) {
      m = i > rows->row[s] && rows->column[i] == rows->column[i - 1] ? m + 1 : 0;
      int64_t ps = delay_at(w, (uint32_t)s, i, m, &redrawn, &clipped);
      uint32_t steps = mill_steps_of(ps, job->dt_ps);
      if (job->storing) {
        if (w->delay_bits == 8)
          ((uint8_t *)w->delay_store)[i] = (uint8_t)steps;
        else
          ((uint16_t *)w->delay_store)[i] = (uint16_t)steps;
        continue;
      }
      if (!steps && bad == UINT64_MAX)
        bad = i;
      if (ps % job->dt_ps && rounded == UINT64_MAX)
        rounded = i;
      low = steps < low ? steps : low;
      high = steps > high ? steps : high;
    }
  }
  if (job->storing)
    return;
  lower_to(&job->bad, bad);
  lower_to(&job->rounded, rounded);
  lower_step(&job->low, low);
  raise_step(&job->high, high);
  __atomic_fetch_add(&job->redrawn, redrawn, __ATOMIC_RELAXED);
  __atomic_fetch_add(&job->clipped, clipped, __ATOMIC_RELAXED);
}

void mill_synapse_find(const struct mill_rows *rows, uint32_t sources, uint64_t synapse, uint32_t *source, uint32_t *m)
{
  uint64_t low = 0, high = sources; /* row[low] ≤ synapse < row[high] */
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    if (rows->row[middle] <= synapse)
      low = middle;
    else
      high = middle;
  }
  *source = (uint32_t)low;
  *m = 0;
  while (synapse > rows->row[low] && rows->column[synapse - 1] == rows->column[synapse])
    synapse--, ++*m;
}

static int64_t delay_of(const struct mill_weighing *w, uint64_t i)
{
  uint32_t source, m;
  mill_synapse_find(w->rows, w->sources, i, &source, &m);
  return delay_at(w, source, i, m, NULL, NULL);
}

/* Why a delay cannot be had; `where` says whose it is. */
static int refuse(int64_t ps, int64_t dt_ps, int status, const char *where, struct mill_error *error)
{
  char delay[32], step[32], most[32];
  mill_text_double(delay, (double)ps / 1e9);
  mill_text_double(step, (double)dt_ps / 1e9);
  if (ps < 0)
    return mill_fail(error, status, "negative or out of range%s; expected at least half a step of %s ms", where, step);
  if (mill_delay_steps(ps, dt_ps) == 0)
    return mill_fail(error, status, "%s ms%s rounds to 0 steps; expected at least half a step of %s ms", delay, where, step);
  return mill_fail(error, status, "%s ms%s is more than %u steps of %s ms; expected at most %s ms", delay, where, MILL_DELAY_STEPS_MAX, step,
                   mill_text_double(most, (double)dt_ps * MILL_DELAY_STEPS_MAX / 1e9));
}

static int refuse_synapse(const struct mill_weighing *w, uint64_t i, int64_t dt_ps, struct mill_error *error)
{
  char where[128];
  uint32_t source, m;
  mill_synapse_find(w->rows, w->sources, i, &source, &m);
  mill_text_format(where, sizeof where, " from neuron %" PRIu32 " to %" PRIu32, source, w->rows->column[i]);
  if (!w->edges || !w->edges->delay_ps) {
    refuse(delay_of(w, i), dt_ps, MILL_USAGE, where, error);
    return mill_fail_within(error, "delay");
  }
  refuse(delay_of(w, i), dt_ps, MILL_DATA, where, error);
  return mill_fail_within(error, "%s:%" PRIu64 ": delay", w->edges->path, w->edges->line[w->rows->edge[i]]);
}

static int one_delay(struct mill_weighing *w, int64_t dt_ps, struct mill_error *error)
{
  int64_t ps = mill_picoseconds(w->delay.a);
  uint32_t steps = mill_steps_of(ps, dt_ps);
  if (!steps)
    return refuse(ps, dt_ps, MILL_USAGE, "", error), mill_fail_within(error, "delay");
  w->delay_bits = 0;
  w->delay_all = w->delay_min = w->delay_max = steps;
  w->delay_rounded_from_ps = ps % dt_ps ? ps : 0;
  return 0;
}

void mill_delay_between(struct mill_weighing *w, uint32_t low, uint32_t high)
{
  w->delay_min = low;
  w->delay_all = w->delay_max = high;
  w->delay_bits = low == high ? 0 : high < 256 ? 8 : 16;
}

int mill_delay(struct mill_team *team, struct mill_weighing *w, int64_t dt_ps, struct mill_error *error)
{
  struct delay_job job = {.w = w, .dt_ps = dt_ps, .low = UINT32_MAX, .bad = UINT64_MAX, .rounded = UINT64_MAX};
  uint64_t blocks = ((uint64_t)w->sources + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
  if (mill_delay_is_number(w))
    return one_delay(w, dt_ps, error);
  w->delay_bits = 0;
  w->delay_rounded_from_ps = 0;
  w->delay_all = w->delay_min = w->delay_max = MILL_EPOCH_MAX; /* no synapses: what limits no epoch */
  if (!w->rows->synapses)
    return 0;
  mill_team_each(team, blocks, delay_rows, &job);
  if (job.bad != UINT64_MAX)
    return refuse_synapse(w, job.bad, dt_ps, error);
  w->redrawn += job.redrawn;
  w->clipped += job.clipped;
  mill_delay_between(w, job.low, job.high);
  if (job.rounded != UINT64_MAX)
    w->delay_rounded_from_ps = delay_of(w, job.rounded);
  if (!w->delay_bits)
    return 0;
  if (!(w->delay_store = mill_allocate_or_fail("delays", w->rows->synapses, w->delay_bits / 8, error)))
    return mill_fail_within(error, "%s", w->name);
  job.storing = 1;
  mill_team_each(team, blocks, delay_rows, &job);
  return 0;
}

/* ---- The rest ---------------------------------------------------------------------------------------------------------- */

uint64_t mill_weighing_estimate(const struct mill_weighing *w, uint64_t synapses)
{
  uint64_t each = (mill_weight_is_number(w) ? 0 : 4) + (mill_delay_is_number(w) ? 0 : 2);
  return each && synapses > UINT64_MAX / each ? UINT64_MAX : synapses * each;
}

void mill_weighing_free(struct mill_weighing *w)
{
  mill_release(w->weight_store);
  mill_release(w->delay_store);
  mill_release(w->in_degree);
  w->weight_store = w->delay_store = NULL;
  w->in_degree = NULL;
}

static int64_t quanta_at(const struct mill_projection *p, uint64_t i)
{
  switch (p->weight_bits) {
  case 16:
    return ((const int16_t *)p->weight)[i];
  case 32:
    return ((const int32_t *)p->weight)[i];
  default:
    return p->weight_all;
  }
}

static void put_bytes(unsigned char *to, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++)
    to[i] = (unsigned char)(value >> (8 * i));
}

uint64_t mill_weight_hash(const struct mill_network *network)
{
  enum { RECORD = 24, BATCH = 512 };
  unsigned char batch[BATCH * RECORD];
  size_t n = 0;
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  for (uint32_t p = 0; p < network->projection_count; p++) {
    const struct mill_projection *projection = &network->projection[p];
    double scale = network->population[projection->target].ring[projection->receptor].scale;
    for (uint32_t s = 0; s < network->population[projection->source].size; s++) {
      uint32_t m = 0;
      for (uint64_t i = projection->row[s]; i < projection->row[s + 1]; i++) {
        double weight = projection->plastic ? mill_plastic_weight(projection->plastic, i) : (double)quanta_at(projection, i) * scale;
        uint64_t bits;
        unsigned char *record = batch + n * RECORD;
        m = i > projection->row[s] && projection->column[i] == projection->column[i - 1] ? m + 1 : 0;
        memcpy(&bits, &weight, sizeof bits);
        put_bytes(record, p, 4);
        put_bytes(record + 4, s, 4);
        put_bytes(record + 8, projection->column[i], 4);
        put_bytes(record + 12, m, 4);
        put_bytes(record + 16, bits, 8);
        if (++n == BATCH) {
          XXH64_update(&state, batch, sizeof batch);
          n = 0;
        }
      }
    }
  }
  XXH64_update(&state, batch, n * RECORD);
  return XXH64_digest(&state);
}
