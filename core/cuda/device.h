/* A GPU: the driver's library opened at run time, one device, its memory. Nothing here knows what is computed. */
#ifndef MILL_CUDA_DEVICE_H
#define MILL_CUDA_DEVICE_H

#include <spikemill/error.h>
#include "cuda/api.h"

struct mill_cuda_properties {
  char name[128];
  int major, minor;                 /* compute capability */
  int driver;                       /* version that it supports: 13000 is 13.0 */
  uint32_t multiprocessors;
  uint32_t shared_block;            /* bytes that one block can ask for */
  uint32_t shared_multiprocessor;
  uint32_t threads_multiprocessor;
  uint64_t l2, memory;              /* bytes */
};

/* The device in use, by one thread at a time, which mill_cuda_attach makes it current for. Several may be open: they share the device's primary
   context, and after one is closed none is current. */
struct mill_cuda {
  struct mill_cuda_driver call;
  struct mill_cuda_properties properties;
  void *library;
  char *library_path;
  mill_cu_context context;
  int device;
  uint64_t held;                    /* bytes allocated and not released */
  uint64_t limit;                   /* the most that may be held: SPIKEMILL_CUDA_MEMORY, else UINT64_MAX */
  struct mill_cuda_block *block;    /* all that is allocated */
};

/* Opens the driver (SPIKEMILL_CUDA_DRIVER, a path, or libcuda.so.1), takes the first device and its primary context. Fails with
   MILL_RESOURCES and the reason: no library (the loader's words), a symbol missing, no device, a device below compute capability 7.5,
   an error of the driver by name; with MILL_USAGE when SPIKEMILL_CUDA_MEMORY is no number of bytes. *cuda is NULL then. Close it with
   mill_cuda_close, which releases all its memory and takes NULL; the library stays loaded. */
int mill_cuda_open(struct mill_cuda **cuda, struct mill_error *error);
void mill_cuda_close(struct mill_cuda *cuda);

/* Whether mill_cuda_open finds a device, as far as that can be told without its context. */
int mill_cuda_present(void);

/* 0 when code is success; else fails with MILL_RESOURCES: what was being done, the driver's name of the error and its text. */
int mill_cuda_check(const struct mill_cuda *cuda, int code, const char *doing, struct mill_error *error);

/* Makes the device current for the calling thread. */
int mill_cuda_attach(const struct mill_cuda *cuda, struct mill_error *error);

/* Bytes that can still be allocated, less a reserve for the driver; SPIKEMILL_CUDA_MEMORY (bytes, with K M G T; read when the device was
   opened) lowers it as SPIKEMILL_MEMORY does for the host: it is the most that may be held in all. 0 when the driver fails. */
uint64_t mill_cuda_free_bytes(const struct mill_cuda *cuda);

/* The same, and for a message what is kept of it: " (…)", the reserve, or "" when the limit is what tells. */
uint64_t mill_cuda_free_and_kept(const struct mill_cuda *cuda, const char **kept);

/* `bytes` of device memory (plain, not managed), not cleared; 256-byte aligned; no bytes are a block too. When there is no room, or
   it would be more than SPIKEMILL_CUDA_MEMORY: fails with MILL_RESOURCES, naming the array, its size and what is free. `name` is for such
   messages. */
int mill_cuda_allocate(struct mill_cuda *cuda, const char *name, uint64_t bytes, mill_cu_address *address, struct mill_error *error);
void mill_cuda_release(struct mill_cuda *cuda, mill_cu_address address); /* 0 is allowed */

/* Copies and fills, finished on return, so that every stream sees them; more than 4 GiB at once too. What other streams have under way is
   not waited for. */
int mill_cuda_upload(struct mill_cuda *cuda, mill_cu_address to, const void *from, uint64_t bytes, struct mill_error *error);
int mill_cuda_download(struct mill_cuda *cuda, void *to, mill_cu_address from, uint64_t bytes, struct mill_error *error);
int mill_cuda_fill(struct mill_cuda *cuda, mill_cu_address to, unsigned char value, uint64_t bytes, struct mill_error *error);

/* Allocates and uploads. */
int mill_cuda_put(struct mill_cuda *cuda, const char *name, const void *from, uint64_t bytes, mill_cu_address *address,
                  struct mill_error *error);

#endif
