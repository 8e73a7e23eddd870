/* What every text with kernels begins with. */
#define MILL_KERNEL extern "C" __global__ void

/* `type *name` to the block's dynamic shared memory. */
#ifndef MILL_DYNAMIC_SHARED
#define MILL_DYNAMIC_SHARED(type, name)                                                                                           \
  extern __shared__ __align__(16) unsigned char mill_shared_bytes[];                                                             \
  type *name = (type *)mill_shared_bytes
#endif
