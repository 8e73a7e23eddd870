/* Rows that a thread makes: drawn once, in shared memory, or made in two passes. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/maker-private.h"

#include <math.h>

/* ---- Drawn once ------------------------------------------------------------------------------------------------------------- */

#define RESERVED_SHARED 1024u /* bytes that a block takes beside its own */
#define OWN_SHARED 128u       /* what the kernel declares itself, and the 8 bytes behind the rings */
#define CHUNK 1024u
#define AHEAD (65536u - 2 * CHUNK)
#define SPARE_CHUNKS 8u /* a block draws again what lies before its first target in a chunk: this many chunks it makes at least */
#define TURNS 12u       /* blocks that follow one another, so that the last ones matter little */

/* Groups that n of w targets make on average, when each is one with probability p: sums the binomial distribution, from its largest term on. */
static double mean_groups(uint32_t w, double p)
{
  const double mean = w * p, odds = p / (1 - p);
  const uint32_t mode = (uint32_t)((w + 1.0) * p) < w ? (uint32_t)((w + 1.0) * p) : w;
  double sum = 0, all = 0, term = 1;
  for (uint32_t n = mode; n <= w && term > 1e-18; n++) {
    all += term;
    sum += term * ceil(n / (double)MILL_GROUP);
    term *= (double)(w - n) / (n + 1.0) * odds;
  }
  term = mode / ((double)(w - mode) + 1) / odds;
  for (uint32_t n = mode; n-- > 0 && term > 1e-18;) {
    all += term;
    sum += term * ceil(n / (double)MILL_GROUP);
    term *= n / ((double)(w - n) + 1) / odds;
  }
  return all > 0 ? sum / all : mean;
}

/* Room for six standard deviations more groups than there are on average; one network in a thousand million needs more, and is drawn again. */
static uint64_t likely_groups(const struct mill_connection *connection, const struct mill_cut *cut)
{
  const uint32_t last = connection->targets - (cut->slices - 1) * cut->width;
  const double rows = connection->sources,
               mean = rows * ((cut->slices - 1) * mean_groups(cut->width, connection->p) + mean_groups(last, connection->p)),
               variance = rows * connection->targets * connection->p * (1 - connection->p) / (MILL_GROUP * MILL_GROUP) +
                          rows * cut->slices;
  return (uint64_t)(mean + 6 * sqrt(variance)) + 1;
}

/* Targets of a row's ring, so that a slice's part fits with seven standard deviations; 0 when no block has the room. */
static uint32_t choose_ring(const struct mill_maker *k, const struct mill_connection *connection, const struct mill_cut *cut,
                            uint32_t *resident)
{
  const double mean = connection->p * (cut->width < connection->targets ? cut->width : connection->targets),
               need = mean + 7 * sqrt(mean) + 10;
  const struct mill_cuda_properties *p = &k->cuda->properties;
  for (uint32_t n = k->way ? k->way : 4; n > (k->way ? k->way - 1 : 0); n--) {
    uint32_t bytes = p->shared_multiprocessor / n - RESERVED_SHARED, ring;
    bytes = (bytes < p->shared_block ? bytes : p->shared_block) - OWN_SHARED;
    ring = (bytes / (MILL_ROWS * 2) - 2) / 4 * 4 + 2; /* an odd number of words: rows of a warp lie in all banks */
    if (ring >= need) {
      *resident = n;
      return ring;
    }
  }
  return 0;
}

/* 1: made; 0: a row or the whole did not fit where they should have; -1: failed. */
static int make_once(struct mill_maker *k, const char *name, const struct mill_connection *connection, const struct mill_cut *cut,
                     struct mill_device_connection *c, uint64_t found[4], struct mill_error *error)
{
  uint32_t resident, least;
  uint64_t wanted, segments;
  if (k->way == MILL_MAKER_TWICE || !cut->narrow || c->rows != MILL_ROWS_DRAWN || cut->width > AHEAD || c->targets >> 31 ||
      !(c->ring = choose_ring(k, connection, cut, &resident)))
    return 0;
  least = (SPARE_CHUNKS * CHUNK + cut->width - 1) / cut->width;
  wanted = (uint64_t)TURNS * resident * k->cuda->properties.multiprocessors / c->blocks + 1;
  c->segment = (uint32_t)((cut->slices + wanted - 1) / wanted);
  c->segment = c->segment < least ? least : c->segment;
  segments = (cut->slices + c->segment - 1) / c->segment;
  c->ring = k->ring ? k->ring : c->ring;
  c->room = k->room ? k->room : likely_groups(connection, cut);
  c->room = c->room < MILL_GROUPS_MAX ? c->room : MILL_GROUPS_MAX;
  if (mill_maker_room(k, cut, c, error) < 0 ||
      mill_maker_start(k, MILL_MAKER_ONCE_KERNEL, segments * c->blocks, MILL_ROWS, c->ring * MILL_ROWS * 2 + 8, c, error) < 0 ||
      mill_maker_fetch(k, c, found, error) < 0)
    return -1;
  if (!found[3] && found[0] <= c->room)
    return 1;
  if (!found[3] && mill_maker_check(name, found[0], error) < 0)
    return -1;
  mill_cuda_release(k->cuda, c->target);
  c->target = 0;
  return mill_cuda_fill(k->cuda, c->found, 0, 4 * sizeof *found, error) < 0 ||
                 mill_cuda_fill(k->cuda, c->out_degree, 0, c->sources * UINT64_C(4), error) < 0
             ? -1
             : 0;
}

/* ---- In two passes ---------------------------------------------------------------------------------------------------------- */

/* Targets of a row's ring of 32-bit targets, an odd number, so that rows of a warp lie in all banks; three blocks share a multiprocessor. */
#define WIDE_RING 67u

static int write_rows(struct mill_maker *k, const struct mill_cut *cut, struct mill_device_connection *c, struct mill_error *error)
{
  const uint32_t bytes = WIDE_RING * MILL_ROWS * 4 + 16;
  if (cut->narrow)
    return mill_maker_start(k, MILL_MAKER_NARROW, c->blocks, MILL_ROWS, 0, c, error);
  if (c->rows != MILL_ROWS_DRAWN || bytes > k->cuda->properties.shared_block)
    return mill_maker_start(k, MILL_MAKER_WIDE, c->blocks, MILL_ROWS, 0, c, error);
  c->ring = WIDE_RING;
  return mill_maker_start(k, MILL_MAKER_FLOW, c->blocks, MILL_ROWS, bytes, c, error);
}

static int make_twice(struct mill_maker *k, const char *name, const struct mill_cut *cut, struct mill_device_connection *c,
                      uint64_t found[4], struct mill_error *error)
{
  if (mill_maker_start(k, MILL_MAKER_COUNT, c->blocks, MILL_ROWS, 0, c, error) < 0 ||
      mill_maker_start(k, MILL_MAKER_PLACE, c->blocks * (uint64_t)c->slices, MILL_ROWS, 0, c, error) < 0 ||
      mill_maker_fetch(k, c, found, error) < 0 || mill_maker_check(name, found[0], error) < 0)
    return -1;
  c->room = found[0];
  return mill_maker_room(k, cut, c, error) < 0 || write_rows(k, cut, c, error) < 0 ? -1 : 0;
}

int mill_maker_rows(struct mill_maker *k, const char *name, const struct mill_connection *connection, const struct mill_cut *cut,
                    struct mill_device_connection *c, uint64_t found[4], uint32_t *once, struct mill_error *error)
{
  const int rc = make_once(k, name, connection, cut, c, found, error);
  *once = rc > 0;
  return rc ? (rc > 0 ? 0 : -1) : make_twice(k, name, cut, c, found, error);
}
