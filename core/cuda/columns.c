/* An array of one entry a synapse, between the host's rows and a device, in pieces of some size. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/rows.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define STAGE (UINT64_C(16) << 20) /* groups that are held on the host at a time, unless one block has more */

/* A block of rows in a slice is contiguous on the device, but when it was made there, blocks lie in any order. */
struct piece {
  uint32_t begin, end; /* groups */
  uint32_t slice, block;
};

struct moving {
  const struct mill_laid *laid;
  const struct mill_rows *rows;
  uint32_t blocks;
  uint32_t *start;           /* [slices][blocks][257] */
  const struct piece *piece; /* the first on the stage */
  unsigned char *column, *stage;
  uint32_t bytes;            /* of an entry */
  int down;                  /* 1: from the device */
};

static const uint32_t *start_of(const struct moving *m, uint32_t slice, uint64_t block)
{
  return m->start + (slice * (uint64_t)m->blocks + block) * (MILL_ROWS + 1);
}

/* Empty pieces before the one that begins where they do. */
static int by_place(const void *a, const void *b)
{
  const struct piece *x = a, *y = b;
  return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin) : (x->end > y->end) - (x->end < y->end);
}

/* The first synapse of a row that lies in a slice or behind it. */
static uint64_t find_slice(const struct moving *m, uint32_t row, uint64_t slice)
{
  uint64_t low = m->rows->row[row], high = m->rows->row[row + 1];
  if (!m->laid->cut.narrow)
    return slice ? high : low;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (m->rows->column[middle] < slice * m->laid->cut.width)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void move_piece(void *self, uint64_t index, uint32_t worker)
{
  const struct moving *m = self;
  const struct piece *piece = &m->piece[index];
  const uint32_t *start = start_of(m, piece->slice, piece->block);
  (void)worker;
  for (uint32_t r = 0; r < MILL_ROWS && piece->block * (uint64_t)MILL_ROWS + r < m->laid->sources; r++) {
    const uint32_t row = piece->block * MILL_ROWS + r;
    const uint64_t at = find_slice(m, row, piece->slice), n = find_slice(m, row, piece->slice + UINT64_C(1)) - at;
    unsigned char *here = m->column + at * m->bytes,
                  *there = m->stage + (uint64_t)(start[r] - m->piece->begin) * MILL_GROUP * m->bytes;
    memcpy(m->down ? here : there, m->down ? there : here, n * m->bytes);
  }
}

/* As many pieces as fit the stage, and at least one; returns their number. */
static uint64_t move_some(struct mill_cuda *cuda, struct mill_team *team, struct moving *m, uint64_t left, mill_cu_address there,
                          struct mill_error *error)
{
  uint64_t count = 1, n;
  while (count < left && m->piece[count].end - m->piece->begin <= STAGE)
    count++;
  n = (m->piece[count - 1].end - m->piece->begin) * (uint64_t)MILL_GROUP;
  there += m->piece->begin * (uint64_t)MILL_GROUP * m->bytes;
  m->stage = mill_allocate_or_fail("a column of synapses", n, m->bytes, error);
  if (!m->stage || (m->down && mill_cuda_download(cuda, m->stage, there, n * m->bytes, error) < 0))
    count = 0;
  if (count)
    mill_team_each(team, count, move_piece, m);
  if (count && !m->down && mill_cuda_upload(cuda, there, m->stage, n * m->bytes, error) < 0)
    count = 0;
  mill_release(m->stage);
  return count;
}

int mill_column_move(struct mill_cuda *cuda, struct mill_team *team, const struct mill_laid *laid, const struct mill_rows *rows,
                     void *column, uint32_t bytes, mill_cu_address there, int down, struct mill_error *error)
{
  struct moving m = {.laid = laid,
                     .rows = rows,
                     .blocks = (uint32_t)((laid->sources + UINT64_C(255)) / MILL_ROWS),
                     .column = column,
                     .bytes = bytes,
                     .down = down};
  const uint64_t pieces = (uint64_t)laid->cut.slices * m.blocks, entries = pieces * (MILL_ROWS + 1);
  struct piece *piece = mill_allocate_or_fail("blocks of rows", pieces, sizeof *piece, error);
  int rc = -1;
  m.start = mill_allocate_or_fail("starts of runs", entries, sizeof *m.start, error);
  if (!piece || !m.start || mill_cuda_download(cuda, m.start, laid->start, entries * sizeof *m.start, error) < 0)
    goto done;
  for (uint64_t i = 0; i < pieces; i++) {
    const uint32_t slice = (uint32_t)(i / m.blocks), block = (uint32_t)(i % m.blocks), *start = start_of(&m, slice, block);
    piece[i] = (struct piece){start[0], start[MILL_ROWS], slice, block};
  }
  qsort(piece, pieces, sizeof *piece, by_place);
  rc = 0;
  for (uint64_t i = 0, n; i < pieces && rc == 0; i += n) {
    m.piece = &piece[i];
    n = move_some(cuda, team, &m, pieces - i, there, error);
    rc = n ? 0 : -1;
  }
done:
  mill_release(m.start);
  mill_release(piece);
  return rc;
}
