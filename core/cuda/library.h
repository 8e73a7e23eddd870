/* Libraries that are opened at run time: their functions by a table, and where they came from. */
#ifndef MILL_CUDA_LIBRARY_H
#define MILL_CUDA_LIBRARY_H

#include <stddef.h>

/* A function: the name of its symbol, and where its pointer goes in a struct of function pointers. */
struct mill_library_entry {
  const char *symbol;
  size_t offset;
};

/* Opens a library for this use alone. NULL when it cannot be: *reason is then the loader's words, good until its next call. It is
   never closed: once called it may have threads and work for the end of the process, and opening it again is cheap. */
void *mill_library_open(const char *name, const char **reason);

/* Fills the pointers of `functions`. Returns NULL, or the symbol that is missing; the pointers after it are not filled. */
const char *mill_library_fill(void *library, void *functions, const struct mill_library_entry *entry, size_t count);

/* The path of the file, malloc'ed; `name` when the loader does not know. NULL when out of memory. */
char *mill_library_path(void *library, const char *name);

#endif
