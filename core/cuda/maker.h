/* One projection's synapses made on a device, those of core/connect.h, in the layout of <spikemill/device-network.h>. What a simulation makes of
   them is in gpu-connect.c. */
#ifndef MILL_CUDA_MAKER_H
#define MILL_CUDA_MAKER_H

#include <spikemill/device-network.h>
#include "connect.h"
#include "cuda/device.h"
#include "cuda/rows.h"
#include "value.h"

/* Ways to make rows that are drawn: as it sees fit; drawn once, with so many blocks a multiprocessor; drawn twice. No way changes what is
   made. */
#define MILL_MAKER_CHOOSES 0u
#define MILL_MAKER_TWICE 255u

enum {
  MILL_MAKER_ONCE_KERNEL,
  MILL_MAKER_COUNT,
  MILL_MAKER_PLACE,
  MILL_MAKER_NARROW,
  MILL_MAKER_WIDE,
  MILL_MAKER_FLOW,
  MILL_MAKER_DEGREES_NARROW,
  MILL_MAKER_DEGREES_BROAD,
  MILL_MAKER_DEGREES_WIDE,
  MILL_MAKER_ADD,
  MILL_MAKER_VALUES,
  MILL_MAKER_PAIRS_COUNT,
  MILL_MAKER_PAIRS_SCATTER,
  MILL_MAKER_PAIRS_SORT,
  MILL_MAKER_KERNELS
};

/* Programs: each is compiled and loaded when it is needed. */
enum { MILL_MAKER_OF_ROWS, MILL_MAKER_OF_PAIRS, MILL_MAKER_OF_VALUES, MILL_MAKER_PROGRAMS };

struct mill_maker {
  struct mill_cuda *cuda;
  mill_cu_module module[MILL_MAKER_PROGRAMS];
  mill_cu_function kernel[MILL_MAKER_KERNELS];
  uint32_t way;
  /* 0, or instead of what is likely to do: targets of a row's ring (2 less than a multiple of 4), groups that are drawn once. */
  uint32_t ring;
  uint64_t room;
  mill_cu_address scratch; /* numbers of the projection in the making; grows */
  uint64_t scratch_bytes;
};

/* Compiles and loads a program, unless it was. The maker is zeroed but for `cuda` and `way` before. What follows opens what it needs; whoever takes
   times does it before. Closing takes a maker that nothing was opened of. */
int mill_maker_open(struct mill_maker *maker, int program, struct mill_error *error);
void mill_maker_close(struct mill_maker *maker);
/* Gives back the scratch that connections were made with. */
void mill_maker_rest(struct mill_maker *maker);
/* The program of a connection's rule. */
int mill_maker_program(const struct mill_connection *connection);

/* What is made; its arrays belong to the maker's device. */
struct mill_made {
  mill_cu_address start, target;
  mill_cu_address
      edge; /* [groups][4] of uint32_t: a synapse's place in the list, what padding has is not defined; 0 when not wanted */
  uint64_t groups, synapses;
  uint32_t longest; /* groups of the longest run */
  uint32_t once;    /* 1: rows were drawn once */
};

/* Whether the device makes a connection: it does but for those without synapses, and pairs (lists, and numbers of sources, of targets, in all) of
   2^32 or more, which it counts in 32 bits. */
int mill_maker_makes(const struct mill_connection *connection);

/* What else is wanted. Numbers of synapses go to arrays on the device and added to what is there; 0 and NULL: nowhere. */
struct mill_degrees {
  mill_cu_address out, in; /* [sources], [targets] */
  uint32_t *length;        /* [sources] on the host, written: synapses of each row */
  int edges;               /* 1: made->edge is wanted, of a list */
};

/* Makes the targets. `name` is the projection's, for messages. On failure *made is empty. */
int mill_maker_connect(struct mill_maker *maker, const char *name, const struct mill_connection *connection,
                       const struct mill_cut *cut, const struct mill_degrees *degrees, struct mill_made *made,
                       struct mill_error *error);

/* Weights or delays: *values is filled but for what an aim alone wants. Then what is found comes back in found[8]. */
void mill_maker_values(const struct mill_laid *laid, const struct mill_connection *connection, const struct mill_dist *dist,
                       uint64_t key, struct mill_device_values *values);
int mill_maker_visit(struct mill_maker *maker, uint32_t aim, struct mill_device_values *values, uint64_t found[8],
                     struct mill_error *error);
/* The delays that a connection will have (MILL_VALUES_DELAYS), before it is made: *values with its distribution and dt_ps alone. */
int mill_maker_foresee(struct mill_maker *maker, const struct mill_connection *connection, struct mill_device_values *values,
                       uint64_t found[8], struct mill_error *error);

#endif
