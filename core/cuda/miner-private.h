/* A counter on a GPU, for the files that implement it. */
#ifndef MILL_CUDA_MINER_PRIVATE_H
#define MILL_CUDA_MINER_PRIVATE_H

#include <pthread.h>

#include "cuda/miner.h"

/* A kernel that was asked for. */
struct mill_device_kernel {
  struct mill_device_kernel *next;
  const char *name;
  mill_cu_function function;
  int narrow;      /* of which program */
  uint32_t shared; /* bytes of dynamic shared memory that it may have */
};

/* Memory that the plugin has, or has had: the next counting wants about the same. */
struct mill_miner_block {
  struct mill_miner_block *next;
  mill_cu_address address;
  uint64_t bytes;
};

enum {
  MILL_MINER_TIME,
  MILL_MINER_TYPE,
  MILL_MINER_ORDER,
  MILL_MINER_FIRST,
  MILL_MINER_TYPE_TIME,
  MILL_MINER_TYPE_ORDER,
  MILL_MINER_INTERVAL,
  MILL_MINER_ARRAYS
};

struct mill_miner {
  const struct mill_plugin *plugin;
  struct mill_cuda *cuda;
  mill_cu_stream stream;
  mill_cu_module module[2]; /* for times of 64 and of 32 bits */
  struct mill_program_image image[2]; /* that they were loaded from */
  pthread_mutex_t lock;     /* of images, while they are set and while mill_miner_open_like copies them */
  mill_cu_module surrogates[2]; /* the program of device-surrogates.c, likewise, once it was needed */
  int narrow;               /* the one in use */
  int wide;                 /* 1: never that for 32 bits */
  struct mill_device_kernel *kernel;
  struct mill_miner_block *block, *spare;
  uint64_t spare_bytes;
  char *stage;     /* pinned memory */
  uint64_t staged; /* bytes of it that copies under way may use */
  char *back;      /* pinned memory for mill_miner_fetch, when the counter takes candidates from the device */
  struct mill_device_host host;
  struct mill_device_stream device;
  mill_cu_address array[MILL_MINER_ARRAYS];
  uint64_t room[MILL_MINER_ARRAYS]; /* bytes */
};

/* Device memory, for which what is spare makes room. */
int mill_miner_allocate(struct mill_miner *miner, const char *name, uint64_t bytes, mill_cu_address *address, struct mill_error *error);

#define MILL_MINER_BACK (UINT64_C(1) << 20) /* bytes that are fetched at a time, at most */

/* A part of what is fetched. */
struct mill_miner_piece {
  mill_cu_address from;
  uint64_t bytes;
  const void *here; /* set to where it is, until the next fetch */
};

/* For a counter that takes candidates from the device: waits for all that was asked for before, and for these pieces, each up to a multiple of 64 bytes of MILL_MINER_BACK. */
int mill_miner_fetch(struct mill_miner *miner, struct mill_miner_piece *piece, uint32_t pieces, struct mill_error *error);

/* Room for so many bytes of pinned memory, until what the stream has to do is done; *stage is NULL when there is not so much of it, and the
   stream is idle then. */
int mill_miner_stage(struct mill_miner *miner, uint64_t bytes, char **stage, struct mill_error *error);

/* Starts a kernel of 256 threads a block; the first entries of a table become the sums of those before each. */
int mill_miner_launch(struct mill_miner *miner, const char *name, uint32_t blocks, uint32_t shared, void **argument,
                      struct mill_error *error);
int mill_miner_scan(struct mill_miner *miner, mill_cu_address table, uint32_t entries, struct mill_error *error);

/* Of miner-log.c: makes times and types of a log. */
int mill_miner_take_log(struct mill_miner *miner, const struct mill_counter_input *input, const struct mill_miner_log *log,
                        struct mill_error *error);

#endif
