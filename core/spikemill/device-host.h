/* What the host offers a plugin that works on a device by itself: the device's memory, and the kernels of the plugin's text, which the
   host compiles. What is asked for happens in the order in which it is asked for. One thread at a time. */
#ifndef SPIKEMILL_DEVICE_HOST_H
#define SPIKEMILL_DEVICE_HOST_H

#include <stdint.h>
#include <spikemill/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel of the plugin's program; the host's, until the plugin is closed. */
struct mill_device_kernel;

/* Functions take `self` first. Those that return int fail with -1 and the error filled: MILL_RESOURCES, with the driver's words. */
struct mill_device_host {
  uint32_t size;                   /* of this struct: check before using a late member */

  /* The device. */
  uint32_t multiprocessors;
  uint32_t shared_block;           /* bytes of shared memory that a block can have, */
  uint32_t shared_multiprocessor;  /* and that the blocks of a multiprocessor can have together */
  uint32_t threads_multiprocessor; /* most at work at a time */
  uint32_t reserved;
  void *self;

  /* Bytes that can still be allocated, about; 0 when the driver does not tell. */
  uint64_t (*free_bytes)(void *self);
  /* Device memory, not cleared, 256-byte aligned; `name` is for messages. What is left at the plugin's close is released then. */
  int (*allocate)(void *self, const char *name, uint64_t bytes, uint64_t *address, struct mill_error *error);
  void (*release)(void *self, uint64_t address); /* 0 is allowed */

  /* `from` may be changed on return. */
  int (*upload)(void *self, uint64_t to, const void *from, uint64_t bytes, struct mill_error *error);
  /* Waits for all that was asked for before. */
  int (*download)(void *self, void *to, uint64_t from, uint64_t bytes, struct mill_error *error);
  int (*fill)(void *self, uint64_t to, unsigned char value, uint64_t bytes, struct mill_error *error);

  /* Finds a kernel of the program by its name. */
  int (*kernel)(void *self, const char *name, const struct mill_device_kernel **kernel, struct mill_error *error);
  /* Blocks of so many threads, each with so many bytes of dynamic shared memory, that a multiprocessor has at work at once: what registers
     and shared memory of the compiled kernel allow. */
  int (*occupancy)(void *self, const struct mill_device_kernel *kernel, uint32_t threads, uint32_t shared_bytes, uint32_t *blocks,
                   struct mill_error *error);
  /* argument[i] points to the kernel's parameter i. No blocks: nothing happens. What goes wrong in a kernel is said by what waits for it. */
  int (*launch)(void *self, const struct mill_device_kernel *kernel, uint32_t blocks, uint32_t threads, uint32_t shared_bytes,
                void **argument, struct mill_error *error);
};

#ifdef __cplusplus
}
#endif
#endif
