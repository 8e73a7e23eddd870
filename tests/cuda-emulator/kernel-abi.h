/* What an emulated kernel and the emulated driver share. The driver compiles it as C; NVRTC's double puts it before every program, where no
   system header exists, so only built-in types are used. */
#ifndef EMULATOR_KERNEL_ABI_H
#define EMULATOR_KERNEL_ABI_H

struct emulator_index {
  unsigned x, y, z;
};

/* A thread as its code sees it. */
struct emulator_thread {
  struct emulator_index index;
  unsigned lane, warp;
};

enum emulator_barrier { EMULATOR_SYNC, EMULATOR_COUNT, EMULATOR_BOTH, EMULATOR_EITHER };

/* Collectives of a warp. A shuffle's `source` is a lane; others ignore it. MATCH compares all 64 bits, the reductions 32. */
enum emulator_collective {
  EMULATOR_WARP_SYNC,
  EMULATOR_BALLOT,
  EMULATOR_SHUFFLE,
  EMULATOR_MATCH,
  EMULATOR_ADD,
  EMULATOR_AND,
  EMULATOR_OR,
  EMULATOR_XOR,
  EMULATOR_MIN,
  EMULATOR_MAX,
  EMULATOR_MIN_SIGNED,
  EMULATOR_MAX_SIGNED
};

/* One in each module, under the name emulator_control: the driver sets it before a kernel runs, and `self` before a thread goes on. */
struct emulator_control {
  struct emulator_thread *self;
  struct emulator_index block, block_dim, grid_dim;
  unsigned char *dynamic; /* the block's dynamic shared memory */
  int (*barrier)(int kind, int predicate, const char *file, int line);
  unsigned long long (*collective)(int kind, unsigned mask, unsigned long long value, unsigned source, const char *file, int line);
  void (*yield)(void); /* lets other threads of the block go on */
  void (*trap)(const char *what, const char *file, int line);
};

/* One a kernel, under the name emulator_entry_KERNEL: calls it with the parameters at these addresses. */
struct emulator_entry {
  void (*call)(void **parameters);
  unsigned count, bound; /* parameters; threads a block at most, 0: not said */
  const unsigned *bytes; /* of each parameter */
};

/* The header of an image, before the shared object. */
#define EMULATOR_MAGIC "MILLEMU1"
struct emulator_image {
  char magic[8];
  unsigned long long bytes; /* of the shared object that follows */
  unsigned architecture;    /* 90: compute capability 9.0 */
  unsigned reserved;
};

#endif
