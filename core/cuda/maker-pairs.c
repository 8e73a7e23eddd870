/* Connections that are given by pairs of neurons. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/maker-private.h"

#define BLOCKS_A_PROCESSOR 16u

static int launch(struct mill_maker *k, int kernel, uint64_t blocks, const struct mill_device_connection *c,
                  struct mill_device_pairs *p, struct mill_error *error)
{
  void *parameters[] = {(void *)(uintptr_t)c, p};
  return mill_maker_launch(k, kernel, blocks, MILL_ROWS, 0, parameters, error);
}

static void describe(const struct mill_connection *connection, const struct mill_cut *cut, struct mill_device_pairs *p)
{
  const uint64_t from = connection->rule == MILL_FIXED_INDEGREE ? connection->sources : connection->targets;
  *p = (struct mill_device_pairs){.items = mill_connection_estimate(connection),
                                  .n = connection->n,
                                  .partners = from - (connection->same && !connection->autapses),
                                  .rule = connection->rule == MILL_EDGES             ? MILL_PAIRS_LISTED
                                          : connection->rule == MILL_FIXED_INDEGREE  ? MILL_PAIRS_BY_TARGET
                                          : connection->rule == MILL_FIXED_OUTDEGREE ? MILL_PAIRS_BY_SOURCE
                                                                                     : MILL_PAIRS_IN_ALL,
                                  .multapses = (uint32_t)connection->multapses,
                                  .narrow = cut->narrow};
}

int mill_maker_pairs(struct mill_maker *k, const char *name, const struct mill_connection *connection, const struct mill_cut *cut,
                     struct mill_device_connection *c, uint64_t found[4], mill_cu_address *edge, struct mill_error *error)
{
  const struct mill_edges *edges = connection->rule == MILL_EDGES ? connection->edges : NULL;
  const uint64_t runs = (uint64_t)c->slices * c->blocks, starts = runs * (MILL_ROWS + 1) * 4;
  struct mill_device_pairs p;
  uint64_t blocks;
  int rc = -1;
  describe(connection, cut, &p);
  blocks = (p.items + MILL_ROWS - 1) / MILL_ROWS;
  if (blocks > k->cuda->properties.multiprocessors * (uint64_t)BLOCKS_A_PROCESSOR)
    blocks = k->cuda->properties.multiprocessors * (uint64_t)BLOCKS_A_PROCESSOR;
  if (edges && (mill_cuda_put(k->cuda, "sources of edges", edges->source, p.items * 4, &p.source, error) < 0 ||
                mill_cuda_put(k->cuda, "targets of edges", edges->target, p.items * 4, &p.target, error) < 0))
    goto done;
  if (mill_cuda_fill(k->cuda, c->start, 0, starts, error) < 0 || launch(k, MILL_MAKER_PAIRS_COUNT, blocks, c, &p, error) < 0 ||
      mill_maker_start(k, MILL_MAKER_PLACE, runs, MILL_ROWS, 0, c, error) < 0 || mill_maker_fetch(k, c, found, error) < 0 ||
      mill_maker_check(name, found[0], error) < 0)
    goto done;
  found[2] = p.items;
  c->room = found[0];
  if (mill_maker_room(k, cut, c, error) < 0 ||
      mill_cuda_fill(k->cuda, c->target, 0xff, c->room * MILL_GROUP * (cut->narrow ? 2 : 4), error) < 0 ||
      mill_cuda_allocate(k->cuda, "lengths of runs", starts, &p.length, error) < 0 ||
      mill_cuda_fill(k->cuda, p.length, 0, starts, error) < 0 ||
      (edge && mill_cuda_allocate(k->cuda, "places of edges", c->room * MILL_GROUP * 4, edge, error) < 0))
    goto done;
  p.edge = edge ? *edge : 0;
  if (launch(k, MILL_MAKER_PAIRS_SCATTER, blocks, c, &p, error) < 0 || launch(k, MILL_MAKER_PAIRS_SORT, runs, c, &p, error) < 0 ||
      mill_cuda_check(k->cuda, k->cuda->call.synchronize(), "making synapses", error) < 0)
    goto done;
  rc = 0;
done:
  mill_cuda_release(k->cuda, p.source);
  mill_cuda_release(k->cuda, p.target);
  mill_cuda_release(k->cuda, p.length);
  return rc;
}
