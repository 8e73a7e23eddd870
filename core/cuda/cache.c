/* The cache of compiled programs. An entry is named by the hash of its key and holds

     "MILLCUB1", bytes of the key, the key, bytes of the image, XXH64 of the image, the image

   with numbers of 64 bits, little-endian. The whole key is there, so that one of the same hash is not mistaken for it. An entry is never
   changed in place: it is written beside its name and renamed. It is not synced, since a reader finds out what a crash has left. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "cuda/cache.h"

#define MAGIC "MILLCUB1"
enum { NUMBER = 8, FRONT = 16, BACK = 16 }; /* bytes: of a number; of the head before and behind the key */

static void put_number(char *to, uint64_t number)
{
  for (int i = 0; i < NUMBER; i++)
    to[i] = (char)(number >> (8 * i));
}

static uint64_t get_number(const char *from)
{
  uint64_t number = 0;
  for (int i = 0; i < NUMBER; i++)
    number |= (uint64_t)(unsigned char)from[i] << (8 * i);
  return number;
}

static int key_append(struct mill_cache_key *key, const void *bytes, size_t size)
{
  if (size > key->room - key->size) {
    size_t room = 2 * (key->size + size) + 4096;
    char *more = realloc(key->bytes, room);
    if (!more)
      return -1;
    key->bytes = more;
    key->room = room;
  }
  memcpy(key->bytes + key->size, bytes, size);
  key->size += size;
  return 0;
}

int mill_cache_key_number(struct mill_cache_key *key, uint64_t number)
{
  char bytes[NUMBER];
  put_number(bytes, number);
  return key_append(key, bytes, sizeof bytes);
}

int mill_cache_key_text(struct mill_cache_key *key, const char *text)
{
  size_t size = strlen(text);
  return mill_cache_key_number(key, size) ? -1 : key_append(key, text, size);
}

void mill_cache_key_free(struct mill_cache_key *key)
{
  free(key->bytes);
  *key = (struct mill_cache_key){0};
}

/* ---- Where it is */

static char *joined(const char *folder, const char *below)
{
  char *path;
  return asprintf(&path, "%s/%s", folder, below) < 0 ? NULL : path;
}

char *mill_cache_folder(int *wanted, const char **reason)
{
  const char *own = secure_getenv("SPIKEMILL_CACHE"), *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
  char *path;
  *wanted = !own || *own;
  *reason = "out of memory";
  if (own)
    path = *own ? strdup(own) : NULL;
  else if (xdg && *xdg == '/') /* a relative one is void, says the specification */
    path = joined(xdg, "spikemill");
  else if (home && *home == '/')
    path = joined(home, ".cache/spikemill");
  else {
    path = NULL;
    *reason = "none of SPIKEMILL_CACHE, XDG_CACHE_HOME and HOME names a folder";
  }
  if (!*wanted)
    *reason = "SPIKEMILL_CACHE is empty";
  return path;
}

static char *entry_path(const char *folder, const struct mill_cache_key *key)
{
  char name[32];
  snprintf(name, sizeof name, "%016llx.cubin", (unsigned long long)XXH64(key->bytes, key->size, 0));
  return joined(folder, name);
}

/* ---- Reading */

static int read_all(int file, char *to, size_t size)
{
  while (size) {
    ssize_t got = read(file, to, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return -1;
    to += got;
    size -= (size_t)got;
  }
  return 0;
}

/* What an entry of the key begins with, malloc'ed; FRONT + key->size bytes, and room for BACK more. */
static char *make_head(const struct mill_cache_key *key)
{
  char *head = malloc(FRONT + key->size + BACK);
  if (!head)
    return NULL;
  memcpy(head, MAGIC, NUMBER);
  put_number(head + NUMBER, key->size);
  memcpy(head + FRONT, key->bytes, key->size);
  return head;
}

static char *read_entry(int file, const struct mill_cache_key *key, uint64_t *size)
{
  const size_t front = FRONT + key->size, head_size = front + BACK;
  char *head = make_head(key), *found = malloc(head_size), *image = NULL;
  struct stat st;
  if (!head || !found || fstat(file, &st) || !S_ISREG(st.st_mode) || st.st_size <= (off_t)head_size)
    goto done;
  if (read_all(file, found, head_size) || memcmp(head, found, front))
    goto done;
  *size = get_number(found + front);
  if (*size != (uint64_t)st.st_size - head_size || !(image = malloc(*size)))
    goto done;
  if (read_all(file, image, *size) || XXH64(image, *size, 0) != get_number(found + front + NUMBER)) {
    free(image);
    image = NULL;
  }
done:
  free(head);
  free(found);
  return image;
}

char *mill_cache_read(const char *folder, const struct mill_cache_key *key, uint64_t *size)
{
  char *path = entry_path(folder, key), *image = NULL;
  int file = path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1; /* a pipe must not hold us up */
  if (file >= 0) {
    image = read_entry(file, key, size);
    close(file);
  }
  free(path);
  return image;
}

/* ---- Writing. Each returns 0 or an errno value. */

static int make_folders(const char *folder)
{
  char *path = strdup(folder);
  int reason = 0;
  if (!path)
    return ENOMEM;
  for (char *p = path; !reason && *p;) {
    p += strspn(p, "/");
    p += strcspn(p, "/");
    char end = *p;
    *p = 0;
    struct stat st;
    if (mkdir(path, 0700) && (reason = errno) && !stat(path, &st) && S_ISDIR(st.st_mode))
      reason = 0;
    *p = end;
  }
  free(path);
  return reason;
}

static int write_all(int file, const char *from, size_t size)
{
  while (size) {
    ssize_t put = write(file, from, size);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return errno;
    from += put;
    size -= (size_t)put;
  }
  return 0;
}

static int write_entry(int file, const struct mill_cache_key *key, const char *image, uint64_t size)
{
  const size_t front = FRONT + key->size;
  char *head = make_head(key);
  if (!head)
    return ENOMEM;
  put_number(head + front, size);
  put_number(head + front + NUMBER, XXH64(image, size, 0));
  int reason = write_all(file, head, front + BACK);
  free(head);
  return reason ? reason : write_all(file, image, size);
}

int mill_cache_write(const char *folder, const struct mill_cache_key *key, const char *image, uint64_t size)
{
  int reason = make_folders(folder);
  if (reason)
    return reason;
  char *path = entry_path(folder, key), *part = joined(folder, ".part-XXXXXX");
  int file = path && part ? mkostemp(part, O_CLOEXEC) : -1;
  if (file < 0) {
    reason = path && part ? errno : ENOMEM;
    goto done;
  }
  reason = write_entry(file, key, image, size);
  if (close(file) && !reason)
    reason = errno;
  if (!reason && rename(part, path))
    reason = errno;
  if (reason)
    (void)unlink(part);
done:
  free(path);
  free(part);
  return reason;
}
