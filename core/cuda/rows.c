#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/rows.h"

#include <string.h>

#include "memory.h"

#define STAGE (UINT64_C(16) << 20) /* groups that are made on the host at a time, unless one slice has more */

struct layout {
  const struct mill_projection *p;
  struct mill_cut cut;
  uint32_t sources, blocks;
  uint32_t *start;                        /* [slices][blocks][257] */
  uint64_t *cursor;                       /* [sources] synapses that are laid out */
  uint32_t first, last;                   /* slices in the making: first … last-1 */
  uint64_t origin;                        /* group at which the stage begins */
  unsigned char *target, *weight, *delay; /* the stage */
};

static uint32_t *start_of(const struct layout *l, uint32_t slice, uint64_t block)
{
  return l->start + (slice * (uint64_t)l->blocks + block) * (MILL_ROWS + 1);
}

static uint64_t end_of_slice(const struct layout *l, uint32_t slice)
{
  return l->cut.narrow ? (slice + UINT64_C(1)) * l->cut.width : UINT64_MAX;
}

/* Synapses of a row, from `at`, that lie before a target. */
static uint64_t run_length(const struct mill_projection *p, uint32_t row, uint64_t at, uint64_t end)
{
  uint64_t i = at;
  while (i < p->row[row + 1] && p->column[i] < end)
    i++;
  return i - at;
}

static void count_block(void *self, uint64_t block, uint32_t worker)
{
  const struct layout *l = self;
  (void)worker;
  for (uint32_t r = 0; r < MILL_ROWS; r++) {
    const uint64_t row = block * MILL_ROWS + r;
    uint64_t at = row < l->sources ? l->p->row[row] : 0;
    for (uint32_t s = 0; s < l->cut.slices; s++) {
      const uint64_t n = row < l->sources ? run_length(l->p, (uint32_t)row, at, end_of_slice(l, s)) : 0;
      start_of(l, s, block)[r] = (uint32_t)((n + MILL_GROUP - 1) / MILL_GROUP);
      at += n;
    }
  }
}

static int lengths_to_starts(struct layout *l, uint64_t *groups, uint32_t *longest, struct mill_error *error)
{
  uint64_t at = 0;
  *longest = 0;
  for (uint64_t b = 0; b < (uint64_t)l->cut.slices * l->blocks; b++) {
    uint32_t *start = l->start + b * (MILL_ROWS + 1);
    for (uint32_t r = 0; r < MILL_ROWS; r++) {
      const uint32_t length = start[r];
      *longest = length > *longest ? length : *longest;
      start[r] = (uint32_t)at;
      at += length;
    }
    start[MILL_ROWS] = (uint32_t)at;
    if (at > MILL_GROUPS_MAX)
      return mill_fail(error, MILL_RESOURCES, "projection `%s` has more synapses than the %llu that one can have on a GPU",
                       l->p->name, (unsigned long long)MILL_GROUPS_MAX * MILL_GROUP);
  }
  *groups = at;
  return 0;
}

static void put_number(unsigned char *to, uint64_t place, uint32_t bytes, uint32_t number)
{
  const uint16_t half = (uint16_t)number;
  const uint8_t byte = (uint8_t)number;
  memcpy(to + place * bytes, bytes == 4 ? (const void *)&number : bytes == 2 ? (const void *)&half : (const void *)&byte, bytes);
}

/* One run; `place` is its first synapse in the stage. Padding keeps the weight and delay 0 of a cleared stage. */
static void lay_run(const struct layout *l, uint32_t slice, uint64_t at, uint64_t n, uint64_t place)
{
  const struct mill_projection *p = l->p;
  const uint32_t bytes = l->cut.narrow ? 2 : 4, offset = l->cut.narrow ? slice * l->cut.width : 0;
  for (uint64_t i = 0; i < n; i++)
    put_number(l->target, place + i, bytes, p->column[at + i] - offset);
  for (uint64_t i = n; i % MILL_GROUP != 0; i++)
    put_number(l->target, place + i, bytes, MILL_NO_TARGET);
  if (p->weight_bits)
    memcpy(l->weight + place * (p->weight_bits / 8), (const char *)p->weight + at * (p->weight_bits / 8), n * (p->weight_bits / 8));
  if (p->delay_bits)
    memcpy(l->delay + place * (p->delay_bits / 8), (const char *)p->delay + at * (p->delay_bits / 8), n * (p->delay_bits / 8));
}

static void lay_block(void *self, uint64_t block, uint32_t worker)
{
  const struct layout *l = self;
  (void)worker;
  for (uint32_t r = 0; r < MILL_ROWS && block * MILL_ROWS + r < l->sources; r++) {
    const uint32_t row = (uint32_t)(block * MILL_ROWS + r);
    for (uint32_t s = l->first; s < l->last; s++) {
      const uint64_t at = l->p->row[row] + l->cursor[row], n = run_length(l->p, row, at, end_of_slice(l, s));
      lay_run(l, s, at, n, (start_of(l, s, block)[r] - l->origin) * MILL_GROUP);
      l->cursor[row] += n;
    }
  }
}

/* From slice l->first on, as many as fit the stage and at least one; returns the synapses in them, padding included. */
static uint64_t choose_slices(struct layout *l, uint64_t groups)
{
  l->origin = start_of(l, l->first, 0)[0];
  l->last = l->first + 1;
  while (l->last < l->cut.slices && start_of(l, l->last, 0)[0] - l->origin < STAGE)
    l->last++;
  return ((l->last < l->cut.slices ? start_of(l, l->last, 0)[0] : groups) - l->origin) * MILL_GROUP;
}

/* Slices first … last-1: made on the host and sent. */
static int send_slices(struct mill_cuda *cuda, struct mill_team *team, struct layout *l, const struct mill_device_projection *out,
                       uint64_t groups, struct mill_error *error)
{
  const uint32_t target_bytes = l->cut.narrow ? 2 : 4, weight_bytes = l->p->weight_bits / 8, delay_bytes = l->p->delay_bits / 8;
  const uint64_t n = choose_slices(l, groups);
  int rc = -1;
  l->target = mill_allocate_or_fail("synapses for the GPU", n, target_bytes, error);
  l->weight = mill_allocate_or_fail("weights for the GPU", n, weight_bytes, error);
  l->delay = mill_allocate_or_fail("delays for the GPU", n, delay_bytes, error);
  if (!l->target || !l->weight || !l->delay)
    goto done;
  mill_team_each(team, l->blocks, lay_block, l);
  if (mill_cuda_upload(cuda, out->target + l->origin * MILL_GROUP * target_bytes, l->target, n * target_bytes, error) < 0 ||
      (weight_bytes &&
       mill_cuda_upload(cuda, out->weight + l->origin * MILL_GROUP * weight_bytes, l->weight, n * weight_bytes, error) < 0) ||
      (delay_bytes &&
       mill_cuda_upload(cuda, out->delay + l->origin * MILL_GROUP * delay_bytes, l->delay, n * delay_bytes, error) < 0))
    goto done;
  rc = 0;
done:
  mill_release(l->target);
  mill_release(l->weight);
  mill_release(l->delay);
  return rc;
}

int mill_rows_to_device(struct mill_cuda *cuda, struct mill_team *team, const struct mill_projection *p, uint32_t sources,
                        const struct mill_cut *cut, struct mill_device_projection *out, uint64_t *groups, struct mill_error *error)
{
  struct layout l = {.p = p, .cut = *cut, .sources = sources, .blocks = (uint32_t)((sources + UINT64_C(255)) / MILL_ROWS)};
  const uint64_t entries = (uint64_t)cut->slices * l.blocks * (MILL_ROWS + 1);
  int rc = -1;
  *out = (struct mill_device_projection){.source = p->source,
                                         .target_population = p->target,
                                         .receptor = p->receptor,
                                         .blocks = l.blocks,
                                         .weight_bits = p->weight_bits,
                                         .delay_bits = p->delay_bits,
                                         .weight_all = p->weight_all,
                                         .delay_all = p->delay_all};
  l.start = mill_allocate_or_fail("starts of runs", entries, sizeof *l.start, error);
  l.cursor = mill_allocate_or_fail("starts of runs", sources, sizeof *l.cursor, error);
  if (!l.start || !l.cursor)
    goto done;
  mill_team_each(team, l.blocks, count_block, &l);
  if (lengths_to_starts(&l, groups, &out->longest, error) < 0 ||
      mill_cuda_put(cuda, "starts of runs", l.start, entries * sizeof *l.start, &out->start, error) < 0 ||
      mill_cuda_allocate(cuda, "synapses", *groups * MILL_GROUP * (cut->narrow ? 2 : 4), &out->target, error) < 0 ||
      (p->weight_bits && mill_cuda_allocate(cuda, "weights", *groups * MILL_GROUP * p->weight_bits / 8, &out->weight, error) < 0) ||
      (p->delay_bits && mill_cuda_allocate(cuda, "delays", *groups * MILL_GROUP * p->delay_bits / 8, &out->delay, error) < 0))
    goto done;
  for (l.first = 0; l.first < cut->slices; l.first = l.last) {
    if (send_slices(cuda, team, &l, out, *groups, error) < 0)
      goto done;
  }
  rc = 0;
done:
  mill_release(l.start);
  mill_release(l.cursor);
  return rc;
}

uint64_t mill_rows_device_bytes(uint64_t sources, uint64_t n, const struct mill_cut *cut, uint32_t weight_bits, uint32_t delay_bits)
{
  const uint64_t runs = (sources + MILL_ROWS - 1) / MILL_ROWS * (MILL_ROWS + 1) * cut->slices;
  const uint64_t each = (cut->narrow ? 2 : 4) + weight_bits / 8 + delay_bits / 8;
  const uint64_t padded = n + (runs < n ? runs : n) * (MILL_GROUP - 1);
  return runs * 4 + padded * each;
}
