/* Synapses of a device in the host's rows again: mill_rows_to_device the other way round. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/rows.h"

#include <string.h>

#include "memory.h"

#define ROWS_AT_ONCE 256u

struct back {
  const struct mill_laid *laid;
  const uint32_t *start;     /* [slices][blocks][257] */
  const unsigned char *from; /* a column as it lies on the device */
  struct mill_rows *rows;
  uint32_t blocks, bytes; /* bytes: of an entry of the column */
};

static uint32_t target_at(const struct back *b, uint64_t place)
{
  uint16_t narrow;
  uint32_t wide;
  if (b->laid->cut.narrow) {
    memcpy(&narrow, b->from + place * 2, 2);
    return narrow == MILL_NO_NARROW_TARGET ? MILL_NO_TARGET : narrow;
  }
  memcpy(&wide, b->from + place * 4, 4);
  return wide;
}

static const uint32_t *run_of(const struct back *b, uint32_t slice, uint64_t row)
{
  return b->start + (slice * (uint64_t)b->blocks + row / MILL_ROWS) * (MILL_ROWS + 1) + row % MILL_ROWS;
}

static void count_rows(void *self, uint64_t block, uint32_t worker)
{
  const struct back *b = self;
  (void)worker;
  for (uint64_t s = block * ROWS_AT_ONCE; s < (block + 1) * ROWS_AT_ONCE && s < b->laid->sources; s++) {
    uint64_t n = 0;
    for (uint32_t slice = 0; slice < b->laid->cut.slices; slice++) {
      const uint32_t *run = run_of(b, slice, s);
      uint64_t padding = 0;
      while (padding < MILL_GROUP && run[1] > run[0] && target_at(b, run[1] * UINT64_C(4) - 1 - padding) == MILL_NO_TARGET)
        padding++;
      n += (run[1] - run[0]) * UINT64_C(4) - padding;
    }
    b->rows->row[s + 1] = n;
  }
}

static void fill_rows(void *self, uint64_t block, uint32_t worker)
{
  const struct back *b = self;
  (void)worker;
  for (uint64_t s = block * ROWS_AT_ONCE; s < (block + 1) * ROWS_AT_ONCE && s < b->laid->sources; s++) {
    uint64_t at = b->rows->row[s];
    for (uint32_t slice = 0; slice < b->laid->cut.slices; slice++) {
      const uint32_t *run = run_of(b, slice, s), first = b->laid->cut.narrow ? slice * b->laid->cut.width : 0;
      for (uint64_t i = run[0] * UINT64_C(4); i < run[1] * UINT64_C(4) && target_at(b, i) != MILL_NO_TARGET; i++)
        b->rows->column[at++] = target_at(b, i) + first;
    }
  }
}

/* The starts of runs and a column, in the host's memory: to be released in any case. */
static int fetch(struct mill_cuda *cuda, const struct mill_laid *laid, mill_cu_address column, struct back *b, void *held[2],
                 struct mill_error *error)
{
  const uint64_t starts = (uint64_t)laid->cut.slices * b->blocks * (MILL_ROWS + 1), n = laid->groups * MILL_GROUP;
  held[0] = mill_allocate_or_fail("starts of runs", starts, sizeof *b->start, error);
  held[1] = mill_allocate_or_fail("synapses from the GPU", n, b->bytes, error);
  b->start = held[0];
  b->from = held[1];
  return held[0] && held[1] && mill_cuda_download(cuda, held[0], laid->start, starts * sizeof *b->start, error) == 0 &&
                 mill_cuda_download(cuda, held[1], column, n * b->bytes, error) == 0
             ? 0
             : -1;
}

int mill_rows_from_device(struct mill_cuda *cuda, struct mill_team *team, const struct mill_laid *laid, struct mill_rows *rows,
                          struct mill_error *error)
{
  struct back b = {.laid = laid, .rows = rows, .bytes = laid->cut.narrow ? 2 : 4};
  const uint64_t blocks = b.blocks = (uint32_t)((laid->sources + UINT64_C(255)) / MILL_ROWS);
  void *held[2] = {NULL, NULL};
  int rc = -1;
  memset(rows, 0, sizeof *rows);
  rows->row = mill_allocate_or_fail("rows of synapses", laid->sources + UINT64_C(1), sizeof *rows->row, error);
  if (!rows->row || fetch(cuda, laid, laid->target, &b, held, error) < 0)
    goto done;
  mill_team_each(team, blocks, count_rows, &b);
  for (uint64_t s = 0; s < laid->sources; s++)
    rows->row[s + 1] += rows->row[s];
  rows->synapses = rows->row[laid->sources];
  rows->column = mill_allocate_or_fail("targets of synapses", rows->synapses, sizeof *rows->column, error);
  if (!rows->column)
    goto done;
  mill_team_each(team, blocks, fill_rows, &b);
  rc = 0;
done:
  mill_release(held[0]);
  mill_release(held[1]);
  if (rc < 0)
    mill_rows_free(rows);
  return rc;
}
