/* A spike file written by a thread of its own. The caller fills one block while the thread writes the ones before it; when all
   are full the caller waits, so memory is bounded and nothing is lost. The plugin's `create` and `finish` run on the caller's
   thread, since only `write` may run on another. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "output.h"
#include "registry.h"
#include "stream-private.h"

enum { BLOCKS = 4, BLOCK_EVENTS = 65536 };

struct mill_writer {
  const struct mill_format_ops *ops;
  void *file; /* the plugin's writer; NULL when it is closed */
  char *path, *part;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int locking, running; /* what of the above there is */
  int stop;             /* write what is queued, then end */
  int drop;             /* end at once */
  int failed;           /* error says why */
  struct mill_error error;
  unsigned first, queued; /* full blocks */
  size_t filled[BLOCKS];
  struct mill_event *block[BLOCKS];
};

static void *work(void *self)
{
  struct mill_writer *w = self;
  pthread_mutex_lock(&w->lock);
  for (;;) {
    while (!w->queued && !w->stop && !w->drop)
      pthread_cond_wait(&w->changed, &w->lock);
    if (w->drop || w->failed || !w->queued)
      break;
    unsigned b = w->first;
    pthread_mutex_unlock(&w->lock);
    int result = w->ops->write(w->file, w->block[b], w->filled[b], &w->error);
    pthread_mutex_lock(&w->lock);
    if (result) {
      w->file = NULL;
      w->failed = 1;
    }
    w->filled[b] = 0;
    w->first = (b + 1) % BLOCKS;
    w->queued--;
    pthread_cond_broadcast(&w->changed);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* The thread takes no signals: an interrupt is the main thread's, and SIGXFSZ becomes an error of write. */
static int start(struct mill_writer *w)
{
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before))
    return -1;
  w->running = !pthread_create(&w->thread, NULL, work, w);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return w->running ? 0 : -1;
}

static void tell(struct mill_writer *w, int *flag)
{
  pthread_mutex_lock(&w->lock);
  *flag = 1;
  pthread_cond_broadcast(&w->changed);
  pthread_mutex_unlock(&w->lock);
}

static void join(struct mill_writer *w)
{
  if (w->running)
    pthread_join(w->thread, NULL);
  w->running = 0;
}

void mill_writer_abandon(struct mill_writer *w)
{
  if (!w)
    return;
  if (w->running)
    tell(w, &w->drop);
  join(w);
  if (w->file)
    w->ops->abandon(&mill_host, w->file);
  if (w->part)
    mill_output_forget(w->part);
  if (w->locking) {
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
  }
  mill_release(w->block[0]);
  free(w->path);
  free(w);
}

/* A plugin's error, which may name the part file, as one of the file that the caller knows. */
static int blame(const struct mill_writer *w, const struct mill_error *why, struct mill_error *error)
{
  const char *at = strstr(why->text, w->part);
  if (!at)
    return mill_fail(error, why->status, "%s: %s", w->path, why->text);
  return mill_fail(error, why->status, "%.*s%s%s", (int)(at - why->text), why->text, w->path, at + strlen(w->part));
}

int mill_writer_open(const char *path, const char *format, const struct mill_stream_info *info, struct mill_writer **writer,
                     struct mill_error *error)
{
  const struct mill_plugin *plugin;
  *writer = NULL;
  if (mill_format_find(path, format, NULL, 1, &plugin, error) || mill_stream_check(path, info, error))
    return -1;
  struct mill_writer *w = calloc(1, sizeof *w);
  if (!w)
    return mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
  w->ops = plugin->ops;
  w->path = strdup(path);
  w->block[0] = mill_allocate_or_fail("spikes to be written", (uint64_t)BLOCKS * BLOCK_EVENTS, sizeof *w->block[0], error);
  if (!w->block[0])
    goto failed;
  for (unsigned i = 1; i < BLOCKS; i++)
    w->block[i] = w->block[i - 1] + BLOCK_EVENTS;
  if (!w->path || pthread_mutex_init(&w->lock, NULL)) {
    mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
    goto failed;
  }
  if (pthread_cond_init(&w->changed, NULL)) {
    pthread_mutex_destroy(&w->lock);
    mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
    goto failed;
  }
  w->locking = 1;
  if (mill_output_begin(path, &w->part, error))
    goto failed;
  if (w->ops->create(&mill_host, w->part, info, &w->file, &w->error)) {
    w->file = NULL;
    blame(w, &w->error, error);
    goto failed;
  }
  if (start(w)) {
    mill_fail(error, MILL_RESOURCES, "%s: no thread to write it can be started", path);
    goto failed;
  }
  *writer = w;
  return 0;
failed:
  mill_writer_abandon(w);
  return -1;
}

/* Queues the block that is being filled and waits for an empty one. */
static int hand_over(struct mill_writer *w, struct mill_error *error)
{
  pthread_mutex_lock(&w->lock);
  w->queued++;
  pthread_cond_broadcast(&w->changed);
  while (w->queued == BLOCKS && !w->failed)
    pthread_cond_wait(&w->changed, &w->lock);
  int result = w->failed ? blame(w, &w->error, error) : 0;
  pthread_mutex_unlock(&w->lock);
  return result;
}

int mill_writer_push(struct mill_writer *w, const struct mill_event *events, size_t n, struct mill_error *error)
{
  pthread_mutex_lock(&w->lock);
  unsigned b = (w->first + w->queued) % BLOCKS;
  int result = w->failed ? blame(w, &w->error, error) : 0;
  pthread_mutex_unlock(&w->lock);
  while (!result && n) {
    size_t room = BLOCK_EVENTS - w->filled[b], part = n < room ? n : room;
    memcpy(w->block[b] + w->filled[b], events, part * sizeof *events);
    w->filled[b] += part;
    events += part;
    n -= part;
    if (w->filled[b] == BLOCK_EVENTS) {
      result = hand_over(w, error);
      b = (b + 1) % BLOCKS;
    }
  }
  return result;
}

int mill_writer_close(struct mill_writer *w, const struct mill_stream_end *end, struct mill_error *error)
{
  int result = -1;
  pthread_mutex_lock(&w->lock);
  if (!w->failed && w->filled[(w->first + w->queued) % BLOCKS])
    w->queued++;
  pthread_mutex_unlock(&w->lock);
  tell(w, &w->stop);
  join(w);
  if (w->failed) {
    blame(w, &w->error, error);
  } else {
    result = w->ops->finish(&mill_host, w->file, end, &w->error);
    w->file = NULL;
    if (result) {
      blame(w, &w->error, error);
    } else {
      result = mill_output_commit(w->path, w->part, error);
      w->part = NULL;
    }
  }
  mill_writer_abandon(w);
  return result;
}
