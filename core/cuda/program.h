/* Programs for a GPU: texts compiled by NVRTC, which is opened at run time, and kept in a cache on disk. */
#ifndef MILL_CUDA_PROGRAM_H
#define MILL_CUDA_PROGRAM_H

#include <spikemill/error.h>
#include "cuda/device.h"

/* NVRTC: SPIKEMILL_NVRTC (a path), or libnvrtc.so.13, .12, .11.2 from the loader's path, then from the toolkit's folder (CUDA_HOME, CUDA_PATH,
   /usr/local/cuda). Its libnvrtc-builtins.so.X.Y is loaded from the same folder when it is there; without it compiling
   fails and says so. Fails with MILL_RESOURCES and what was tried. */
struct mill_compiler {
  struct mill_nvrtc call;
  int major, minor;
  void *library;
  char *library_path;
};
int mill_compiler_open(struct mill_compiler **compiler, struct mill_error *error);
void mill_compiler_close(struct mill_compiler *compiler);

/* What is compiled: a main text, and texts that it includes by name. */
struct mill_program_text {
  const char *name;     /* as #include "name", and as messages call it */
  const char *text;     /* NUL-terminated */
};

struct mill_program_source {
  struct mill_program_text main;
  uint32_t header_count;
  const struct mill_program_text *header;
  uint32_t option_count;
  const char *const *option; /* besides those that results depend on, which are always given: no contraction, precise division and
                                square root, no flush to zero, C++17, the default device annotation */
  int major, minor;     /* architecture, as in sm_90 */
};

/* A compiled image (a cubin), malloc'ed. */
struct mill_program_image {
  char *bytes;
  uint64_t size;
  int cached;           /* 1: it came from the disk, and nothing was compiled */
  double seconds;       /* that it took */
};

/* The image of a source: from the cache, or compiled and put there. The cache is the folder SPIKEMILL_CACHE, else
   $XDG_CACHE_HOME/spikemill, else ~/.cache/spikemill; with none of them, or when it cannot be read and written (a note, once), every program
   is compiled anew; SPIKEMILL_CACHE empty: no cache. An entry is named by the hash of all texts, options, architecture and NVRTC's version, holds
   all of these lengths and a checksum of the image, and is put in place by rename: two writers leave one whole entry, and a damaged one is
   compiled again. `compiler` NULL: opened when it is needed. Errors of the compiler are MILL_USAGE, with its first messages, in which file and
   line are those of the texts' names. */
int mill_program_compile(struct mill_compiler *compiler, const struct mill_program_source *source, struct mill_program_image *image,
                         struct mill_error *error);

/* Programs compiled (not found in the cache) since the process began. */
uint64_t mill_program_compilations(void);

#endif
