/* Compiled programs on disk: one file an entry, which is whole or is none. */
#ifndef MILL_CUDA_CACHE_H
#define MILL_CUDA_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* All that an image depends on, one thing after the other: it names the entry and stands at its beginning. Zeroed, then filled. */
struct mill_cache_key {
  char *bytes;
  size_t size, room;
};

/* Append a number, or a text with its length. Return 0, or -1 when out of memory. */
int mill_cache_key_number(struct mill_cache_key *key, uint64_t number);
int mill_cache_key_text(struct mill_cache_key *key, const char *text);
void mill_cache_key_free(struct mill_cache_key *key);

/* Where the cache is: a path, malloc'ed, of a folder that need not exist. NULL without one: *reason says why, and *wanted is 0 when the user
   has said so. */
char *mill_cache_folder(int *wanted, const char **reason);

/* The image of a key, malloc'ed, and its size. NULL when there is none, or none that is whole: of another key, too short or too long, not
   what was written, no regular file. */
char *mill_cache_read(const char *folder, const struct mill_cache_key *key, uint64_t *size);

/* Makes the folder and its parents, for the user alone, and puts the image there: under a temporary name, which then takes the place of what
   was there. Returns 0, or an errno value; nothing is left behind then. */
int mill_cache_write(const char *folder, const struct mill_cache_key *key, const char *image, uint64_t size);

#endif
