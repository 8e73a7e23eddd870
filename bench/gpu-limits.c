/* What a GPU does in a second at most of what events are made of: gpu-limits REPEAT. Medians of so many runs, for the floors in
   doc/benchmarks.md:
     copy        bytes moved, read and written, of 2 GiB
     reduce      additions without a result at random cells of 32 bits, of memory that stays in the second-level cache
     shared      additions at random cells of 32 bits of shared memory
   An emulated GPU goes through less of it, for a trial. Built by `make bench/gpu-limits`. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cuda/device.h"
#include "cuda/texts.h"
#include "simulation.h"

enum { RUNS = 1000, THREADS = 1024, BLOCKS = 2 /* a multiprocessor */, CELLS = 1 << 20 /* 4 MiB */, SHARED_CELLS = 1 << 13 };

static const char text[] = "#include <spikemill/device.h>\n"
                           "#include \"core/cuda/kernel.cu\"\n"
                           "__device__ __forceinline__ uint32_t next(uint32_t x) { return x * 1664525u + 1013904223u; }\n"
                           "MILL_KERNEL copy(uint4 *to, const uint4 *from, uint64_t count)\n"
                           "{\n"
                           "  const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;\n"
                           "  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)\n"
                           "    to[i] = from[i];\n"
                           "}\n"
                           "MILL_KERNEL reduce(uint32_t *cell, uint32_t cells, uint64_t count)\n"
                           "{\n"
                           "  uint32_t x = next((blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u);\n"
                           "  for (uint64_t i = 0; i < count; i++) {\n"
                           "    atomicAdd(cell + (x >> 8) % cells, 1u);\n"
                           "    x = next(x);\n"
                           "  }\n"
                           "}\n"
                           "MILL_KERNEL shared(uint32_t *out, uint32_t cells, uint64_t count)\n"
                           "{\n"
                           "  MILL_DYNAMIC_SHARED(uint32_t, here);\n"
                           "  uint32_t x = next((blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u), sum = 0;\n"
                           "  for (uint32_t i = threadIdx.x; i < cells; i += blockDim.x)\n"
                           "    here[i] = 0;\n"
                           "  __syncthreads();\n"
                           "  for (uint64_t i = 0; i < count; i++) {\n"
                           "    atomicAdd(here + (x >> 8) % cells, 1u);\n"
                           "    x = next(x);\n"
                           "  }\n"
                           "  __syncthreads();\n"
                           "  for (uint32_t i = threadIdx.x; i < cells; i += blockDim.x)\n"
                           "    sum += here[i];\n"
                           "  atomicAdd(out, sum);\n"
                           "}\n";

static void must(int rc, const struct mill_error *error)
{
  if (rc < 0)
    stop(error->text);
}

static mill_cu_module compile(struct mill_cuda *cuda)
{
  const struct mill_program_source source = {.main = {"gpu-limits.cu", text},
                                             .header_count = mill_device_text_count,
                                             .header = mill_device_text,
                                             .major = cuda->properties.major,
                                             .minor = cuda->properties.minor};
  struct mill_program_image image = {0};
  struct mill_error error;
  mill_cu_module module;
  must(mill_program_compile(NULL, &source, &image, &error), &error);
  must(mill_cuda_check(cuda, cuda->call.module_load(&module, image.bytes), "loading a program", &error), &error);
  free(image.bytes);
  return module;
}

/* Median of the seconds that a kernel takes. */
static double measure(struct mill_cuda *cuda, mill_cu_module module, const char *name, uint32_t shared_bytes, void **parameters,
                      int repeat)
{
  static double seconds[RUNS];
  struct mill_error error;
  mill_cu_function kernel;
  must(mill_cuda_check(cuda, cuda->call.module_function(&kernel, module, name), name, &error), &error);
  for (int run = 0; run <= repeat; run++) { /* the first one warms up */
    const double begun = mill_seconds();
    must(mill_cuda_check(cuda,
                         cuda->call.launch(kernel, BLOCKS * cuda->properties.multiprocessors, 1, 1, THREADS, 1, 1, shared_bytes,
                                           NULL, parameters, NULL),
                         name, &error),
         &error);
    must(mill_cuda_check(cuda, cuda->call.synchronize(), name, &error), &error);
    seconds[run ? run - 1 : 0] = mill_seconds() - begun;
  }
  return median(seconds, repeat);
}

/* Cells add up to as many additions as were made: nothing was left out. */
static void check(struct mill_cuda *cuda, mill_cu_address cell, uint32_t cells, uint64_t want, const char *name)
{
  uint32_t *found = malloc(cells * sizeof *found), sum = 0;
  struct mill_error error;
  if (!found)
    stop("out of memory");
  must(mill_cuda_download(cuda, found, cell, cells * sizeof *found, &error), &error);
  for (uint32_t i = 0; i < cells; i++)
    sum += found[i];
  free(found);
  if (sum != (uint32_t)want)
    stop(name);
}

int main(int argc, char **argv)
{
  struct mill_cuda *cuda;
  struct mill_error error;
  mill_cu_address from, to, cell;
  mill_cu_module module;
  uint64_t bytes = UINT64_C(1) << 30, count, additions = 1 << 14;
  uint32_t cells = CELLS, few = SHARED_CELLS;
  int repeat;
  double seconds;
  if (argc != 2 || (repeat = atoi(argv[1])) < 1 || repeat > RUNS)
    stop("gpu-limits REPEAT");
  must(mill_cuda_open(&cuda, &error), &error);
  if (strcmp(cuda->properties.name, "emulated") == 0) {
    bytes >>= 10;
    additions = 4;
  }
  const uint64_t threads = (uint64_t)BLOCKS * cuda->properties.multiprocessors * THREADS,
                 all = threads * additions * ((uint64_t)repeat + 1);
  module = compile(cuda);
  must(mill_cuda_allocate(cuda, "bytes", bytes, &from, &error), &error);
  must(mill_cuda_fill(cuda, from, 1, bytes, &error), &error);
  must(mill_cuda_allocate(cuda, "bytes", bytes, &to, &error), &error);
  must(mill_cuda_allocate(cuda, "cells", CELLS * UINT64_C(4), &cell, &error), &error);
  must(mill_cuda_fill(cuda, cell, 0, CELLS * UINT64_C(4), &error), &error);
  count = bytes / 16;
  seconds = measure(cuda, module, "copy", 0, (void *[]){&to, &from, &count}, repeat);
  printf("%s\ncopy    %8.3g TB/s\n", cuda->properties.name, 2 * (double)bytes / seconds / 1e12);
  seconds = measure(cuda, module, "reduce", 0, (void *[]){&cell, &cells, &additions}, repeat);
  check(cuda, cell, CELLS, all, "reduce: additions are missing");
  printf("reduce  %8.3g G/s\n", (double)(threads * additions) / seconds / 1e9);
  must(mill_cuda_fill(cuda, cell, 0, 4, &error), &error);
  seconds = measure(cuda, module, "shared", SHARED_CELLS * 4, (void *[]){&cell, &few, &additions}, repeat);
  check(cuda, cell, 1, all, "shared: additions are missing");
  printf("shared  %8.3g G/s\n", (double)(threads * additions) / seconds / 1e9);
  must(mill_cuda_check(cuda, cuda->call.module_unload(module), "unloading the program", &error), &error);
  mill_cuda_close(cuda);
  return 0;
}
