/* Output files that appear whole or not at all. The part file is made at once, in the folder of the final name, so that a folder that
   cannot be written is known before hours of work, and so that the rename stays within one file system. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "text.h"

#define NAME_KEPT 200 /* bytes of a long name that go into the part's name */

/* The parts that are open, for mill_output_forget_all. */
struct open_part {
  struct open_part *next;
  char path[];
};
static struct open_part *open_parts;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

static int remember(const char *part)
{
  size_t n = strlen(part) + 1;
  struct open_part *entry = malloc(sizeof *entry + n);
  if (!entry)
    return -1;
  memcpy(entry->path, part, n);
  pthread_mutex_lock(&open_lock);
  entry->next = open_parts;
  open_parts = entry;
  pthread_mutex_unlock(&open_lock);
  return 0;
}

static void unremember(const char *part)
{
  pthread_mutex_lock(&open_lock);
  for (struct open_part **link = &open_parts; *link; link = &(*link)->next)
    if (!strcmp((*link)->path, part)) {
      struct open_part *entry = *link;
      *link = entry->next;
      free(entry);
      break;
    }
  pthread_mutex_unlock(&open_lock);
}

/* Length of the folder's part of a path, its last '/' included. */
static size_t folder_length(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash + 1 - path) : 0;
}

static int make_one(const char *path, struct mill_error *error)
{
  struct stat st;
  if (!mkdir(path, 0777))
    return 0;
  int reason = errno;
  if (!stat(path, &st)) {
    if (S_ISDIR(st.st_mode))
      return 0;
    return mill_fail(error, MILL_USAGE, "%s: is a file, where a folder is needed", path);
  }
  return mill_fail(error, MILL_RESOURCES, "%s: the folder cannot be made: %s", path, strerror(reason));
}

int mill_output_folder(const char *path, struct mill_error *error)
{
  if (!*path)
    return mill_fail(error, MILL_USAGE, "the name of a folder is empty");
  char *copy = strdup(path);
  if (!copy)
    return mill_fail(error, MILL_RESOURCES, "%s: no memory for the name", path);
  int result = 0;
  for (char *p = copy; !result && *p;) {
    p += strspn(p, "/");
    p += strcspn(p, "/");
    char end = *p;
    *p = 0;
    result = make_one(copy, error);
    *p = end;
    p += strspn(p, "/");
  }
  free(copy);
  return result;
}

/* The final name must be free or a regular file: renaming over /dev/null would replace it. */
static int check_target(const char *path, struct mill_error *error)
{
  struct stat st;
  size_t n = strlen(path);
  if (!n || path[n - 1] == '/')
    return mill_fail(error, MILL_USAGE, "\"%s\" is not the name of a file", path);
  if (stat(path, &st)) {
    if (errno == ENOENT || errno == ENOTDIR) /* of what lies before the name, make_parent speaks */
      return 0;
    return mill_fail(error, MILL_USAGE, "%s: cannot be written: %s", path, strerror(errno));
  }
  if (S_ISDIR(st.st_mode))
    return mill_fail(error, MILL_USAGE, "%s: is a folder, where a file is to be written", path);
  if (!S_ISREG(st.st_mode))
    return mill_fail(error, MILL_USAGE, "%s: is no regular file, so it cannot be replaced", path);
  return 0;
}

/* What a path stands for, malloc'ed: the file that a link leads to, else the path itself. */
static char *resolve(const char *path, struct mill_error *error)
{
  struct stat st;
  char *real;
  if (check_target(path, error))
    return NULL;
  if (lstat(path, &st) || !S_ISLNK(st.st_mode)) {
    real = strdup(path);
    if (!real)
      mill_fail(error, MILL_RESOURCES, "%s: no memory for the name", path);
    return real;
  }
  real = realpath(path, NULL);
  if (!real)
    mill_fail(error, MILL_USAGE, "%s: is a link that leads to no file: %s", path, strerror(errno));
  return real;
}

static int make_parent(const char *path, struct mill_error *error)
{
  size_t n = folder_length(path);
  if (!n)
    return 0;
  char *folder = strndup(path, n > 1 ? n - 1 : 1);
  if (!folder)
    return mill_fail(error, MILL_RESOURCES, "%s: no memory for the name", path);
  int result = make_one(folder, error);
  free(folder);
  return result;
}

/* Makes the part file; *part is its name. Returns 0 or an errno value. */
static int make_part(const char *path, char **part)
{
  static atomic_uint number;
  int folder = (int)folder_length(path);
  for (;;) {
    if (asprintf(part, "%.*s.%.*s.%ld-%u.part", folder, path, NAME_KEPT, path + folder, (long)getpid(),
                 atomic_fetch_add(&number, 1) + 1) < 0) {
      *part = NULL;
      return ENOMEM;
    }
    int fd = open(*part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int reason = errno;
    if (fd >= 0) {
      close(fd);
      return remember(*part) ? ENOMEM : 0;
    }
    free(*part);
    *part = NULL;
    if (reason != EEXIST)
      return reason;
  }
}

int mill_output_begin(const char *path, char **part, struct mill_error *error)
{
  *part = NULL;
  char *real = resolve(path, error);
  if (!real)
    return -1;
  int reason = make_parent(real, error) ? -1 : make_part(real, part);
  free(real);
  if (!reason)
    return 0;
  mill_output_forget(*part);
  *part = NULL;
  return reason < 0 ? -1 : mill_fail(error, MILL_RESOURCES, "%s: cannot be written: %s", path, strerror(reason));
}

/* Flushes a file or folder to the disk. File systems that cannot do so for folders say EINVAL. */
static int sync_path(const char *path, int flags)
{
  int fd = open(path, flags | O_CLOEXEC);
  if (fd < 0)
    return -1;
  int result = fsync(fd);
  int reason = errno;
  if (close(fd) && !result)
    return -1;
  errno = reason;
  return result && reason != EINVAL && reason != EROFS ? -1 : 0;
}

/* The part gets the permissions of the file whose place it takes. */
static int replace(const char *part, const char *real)
{
  struct stat st;
  if (!stat(real, &st) && chmod(part, st.st_mode & 07777))
    return -1;
  return rename(part, real);
}

int mill_output_commit(const char *path, char *part, struct mill_error *error)
{
  char *real = resolve(path, error);
  if (!real)
    goto bad;
  if (sync_path(part, O_RDONLY) || replace(part, real)) {
    mill_fail(error, MILL_RESOURCES, "%s: cannot be written: %s", path, strerror(errno));
    goto bad;
  }
  unremember(part);
  part[folder_length(part)] = 0;
  (void)sync_path(*part ? part : ".", O_RDONLY | O_DIRECTORY);
  free(part);
  free(real);
  return 0;
bad:
  free(real);
  mill_output_forget(part);
  return -1;
}

void mill_output_forget(char *part)
{
  if (!part)
    return;
  (void)unlink(part);
  unremember(part);
  free(part);
}

void mill_output_forget_all(void)
{
  pthread_mutex_lock(&open_lock);
  while (open_parts) {
    struct open_part *entry = open_parts;
    open_parts = entry->next;
    (void)unlink(entry->path);
    free(entry);
  }
  pthread_mutex_unlock(&open_lock);
}

int mill_output_text(const char *path, const char *text, struct mill_error *error)
{
  char *part;
  if (mill_output_begin(path, &part, error))
    return -1;
  FILE *file = fopen(part, "we");
  int bad = !file || fputs(text, file) < 0;
  int reason = errno;
  if (file && fclose(file) && !bad) {
    bad = 1;
    reason = errno;
  }
  if (!bad)
    return mill_output_commit(path, part, error);
  mill_output_forget(part);
  return mill_fail(error, MILL_RESOURCES, "%s: cannot be written: %s", path, strerror(reason));
}

static int is_same(const char *a, const char *b)
{
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int mill_output_refused(const char *name, struct mill_error *error)
{
  const int now = errno;
  return mill_fail(error, now == EINTR ? MILL_INTERRUPTED : MILL_RESOURCES, "%s: cannot write: %s", name ? name : "standard output",
                   now == EINTR ? "interrupted" : mill_text_errno(now));
}

int mill_output_is(const char *a, const char *b)
{
  const char *const path[] = {a, b};
  const char *name[2];
  char *folder[2];
  for (int i = 0; i < 2; i++) {
    const size_t n = folder_length(path[i]);
    name[i] = path[i] + n;
    folder[i] = n ? strndup(path[i], n) : strdup(".");
  }
  const int same = strcmp(name[0], name[1]) == 0 && folder[0] && folder[1] && is_same(folder[0], folder[1]);
  free(folder[0]);
  free(folder[1]);
  return same || is_same(a, b);
}

int mill_output_spares(const char *path, const char *input, struct mill_error *error)
{
  if (!input || !is_same(path, input))
    return 0;
  return mill_fail(error, MILL_USAGE, "%s: would replace what is read: %s is the same file", path, input);
}

void mill_output_unlink_all(void)
{
  for (struct open_part *entry = open_parts; entry; entry = entry->next)
    unlink(entry->path);
}
