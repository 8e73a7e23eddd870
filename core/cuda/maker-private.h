/* What the files of the maker share. */
#ifndef MILL_CUDA_MAKER_PRIVATE_H
#define MILL_CUDA_MAKER_PRIVATE_H

#include "cuda/maker.h"

/* Launches a kernel, one-dimensional; no blocks are no launch. */
int mill_maker_launch(struct mill_maker *maker, int kernel, uint64_t blocks, uint32_t threads, uint32_t shared_bytes,
                      void **parameters, struct mill_error *error);
/* One whose only parameter is the connection. */
int mill_maker_start(struct mill_maker *maker, int kernel, uint64_t blocks, uint32_t threads, uint32_t shared_bytes,
                     const struct mill_device_connection *connection, struct mill_error *error);
/* Waits, and brings `found` of the connection. */
int mill_maker_fetch(struct mill_maker *maker, const struct mill_device_connection *connection, uint64_t found[4],
                     struct mill_error *error);
/* Fails when a projection has more groups than it can. */
int mill_maker_check(const char *name, uint64_t groups, struct mill_error *error);
/* Takes memory for connection->room groups of targets. */
int mill_maker_room(struct mill_maker *maker, const struct mill_cut *cut, struct mill_device_connection *connection,
                    struct mill_error *error);

/* Of maker-rows.c and maker-pairs.c: fill start, target, out_degree and found of a connection whose arrays but `target` are there. *once says whether
   rows were drawn once. */
int mill_maker_rows(struct mill_maker *maker, const char *name, const struct mill_connection *connection,
                    const struct mill_cut *cut, struct mill_device_connection *c, uint64_t found[4], uint32_t *once,
                    struct mill_error *error);
int mill_maker_pairs(struct mill_maker *maker, const char *name, const struct mill_connection *connection,
                     const struct mill_cut *cut, struct mill_device_connection *c, uint64_t found[4], mill_cu_address *edge,
                     struct mill_error *error);

#endif
