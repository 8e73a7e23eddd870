/* All windows of a recording, onto standard output and into a file. Several are mined at a time, each by the thread of a slot, which also forms
   the text of its result; the calling thread takes the results in order, so that what is written, and which error ends it, are what they would
   be one after the other. A window for which there was no memory beside others is mined again alone. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "mine-series.h"
#include "mining-private.h"
#include "output.h"
#include "registry.h"
#include "text.h"

enum { SHOWN, FILED, PLACES };

#define AHEAD 8            /* windows of a slot that may be done before the one that is taken next */
#define FORMED 20000       /* episodes of which the text is formed in memory, at most */
#define LOOK_NS 50000000   /* between two looks at the progress */

/* A window that is mined, or waits to be taken. */
struct turn {
  struct pipeline *pipeline;
  int done, rc, result;
  struct mill_mining *mining; /* of which no text is formed */
  struct mill_series_text text[PLACES];
  struct mill_notes notes;
  struct mill_error error;
  struct mill_mining_progress state; /* as it was shown last; wall_s 0: never */
  struct mill_progress *shown;       /* on this thread; NULL: the calling thread shows it */
};

struct lane {
  struct pipeline *pipeline;
  struct mill_mining_slot slot;
  pthread_t thread;
};

struct pipeline {
  struct mill_mining *whole;
  struct mill_series series[PLACES];
  int quiet;
  uint64_t windows, room; /* of turn */
  struct turn *turn;      /* [room] that of window k at k % room */
  uint32_t lanes;
  struct lane *lane;
  pthread_mutex_t lock;       /* of all that follows, and of `done` and `state` */
  pthread_cond_t go, come;    /* there may be work; something was done */
  uint64_t next, taken;       /* windows that were begun, and taken */
  uint32_t busy;              /* lanes with a window at hand */
  int stop, pause;
};

/* ---- A window ------------------------------------------------------------------------------------------------------------- */

static int on_progress(const struct mill_mining_progress *state, void *self)
{
  struct turn *turn = self;
  struct pipeline *p = turn->pipeline;
  int stop;
  pthread_mutex_lock(&p->lock);
  turn->state = *state;
  stop = p->stop;
  pthread_mutex_unlock(&p->lock);
  if (turn->shown)
    mill_progress_mining(turn->shown, state);
  return stop || mill_interrupted();
}

static void mine(struct pipeline *p, struct mill_mining_slot *slot, uint64_t index, struct turn *turn)
{
  struct mill_mining *m = NULL;
  struct mill_mining_report report;
  struct mill_memory_account *const before = mill_memory_account(&slot->account);
  mill_notes_keep(&turn->notes);
  turn->rc = mill_mining_slot_window(p->whole, index, slot, &m, &turn->error);
  if (turn->rc == 0) {
    turn->rc = mill_mining_run(m, on_progress, turn, &turn->error);
    turn->result = turn->rc == 0 || mill_mine_has_result(m, &turn->error);
    mill_mining_report(m, &report);
  }
  if (turn->result && report.episodes > FORMED)
    turn->mining = m;
  else if (turn->result)
    turn->rc = mill_series_form(p->series, PLACES, m, index, turn->rc, turn->text, &turn->error);
  if (!turn->mining)
    mill_mining_free(m);
  mill_notes_keep(NULL);
  mill_memory_account(before);
}

static void forget(struct turn *turn)
{
  mill_series_forget(turn->text, PLACES);
  mill_notes_free(&turn->notes);
  mill_mining_free(turn->mining);
  *turn = (struct turn){.pipeline = turn->pipeline};
}

/* ---- Threads -------------------------------------------------------------------------------------------------------------- */

static void *work(void *self)
{
  struct lane *lane = self;
  struct pipeline *p = lane->pipeline;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    while (!p->stop && p->next < p->windows && (p->pause || p->next - p->taken >= p->room))
      pthread_cond_wait(&p->go, &p->lock);
    if (p->stop || p->next >= p->windows)
      break;
    const uint64_t index = p->next++;
    struct turn *turn = &p->turn[index % p->room];
    p->busy++;
    pthread_mutex_unlock(&p->lock);
    mine(p, &lane->slot, index, turn);
    pthread_mutex_lock(&p->lock);
    p->busy--;
    turn->done = 1;
    pthread_cond_broadcast(&p->come);
    for (const int holds = turn->mining != NULL; holds && !p->stop && p->taken <= index;) /* its memory is the slot's */
      pthread_cond_wait(&p->go, &p->lock);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Signals are the calling thread's. */
static int start(struct lane *lane)
{
  sigset_t caught, before;
  int failure;
  sigemptyset(&caught);
  sigaddset(&caught, SIGINT);
  sigaddset(&caught, SIGTERM);
  sigaddset(&caught, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &caught, &before);
  failure = pthread_create(&lane->thread, NULL, work, lane);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failure;
}

/* As many lanes as can be had, one at least. */
static int open_lanes(struct pipeline *p, struct mill_error *error)
{
  const uint32_t count = mill_mining_slots(p->whole);
  p->lane = calloc(count, sizeof *p->lane);
  p->room = (uint64_t)count * AHEAD;
  p->turn = calloc(p->room, sizeof *p->turn);
  if (!p->lane || !p->turn)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint64_t i = 0; i < p->room; i++)
    p->turn[i].pipeline = p;
  while (p->lanes < count) {
    struct lane *lane = &p->lane[p->lanes];
    int failure;
    lane->pipeline = p;
    if (mill_mining_slot_open(p->whole, p->lanes, count, &lane->slot, p->lanes ? NULL : error) < 0)
      return p->lanes ? 0 : -1;
    if ((failure = start(lane)) != 0) {
      mill_mining_slot_close(&lane->slot);
      return p->lanes ? 0 : mill_fail(error, MILL_RESOURCES, "a thread could not be started: %s", mill_text_errno(failure));
    }
    p->lanes++;
  }
  return 0;
}

static void close_lanes(struct pipeline *p)
{
  pthread_mutex_lock(&p->lock);
  p->stop = 1;
  pthread_cond_broadcast(&p->go);
  pthread_mutex_unlock(&p->lock);
  for (uint32_t i = 0; i < p->lanes; i++)
    pthread_join(p->lane[i].thread, NULL);
  for (uint32_t i = 0; i < p->lanes; i++)
    mill_mining_slot_close(&p->lane[i].slot);
  for (uint64_t i = 0; p->turn && i < p->room; i++)
    forget(&p->turn[i]);
  free(p->turn);
  free(p->lane);
}

/* ---- In order ------------------------------------------------------------------------------------------------------------- */

/* Waits for a window, and shows how far it is. */
static void wait_for(struct pipeline *p, struct turn *turn)
{
  struct mill_progress progress;
  pthread_mutex_lock(&p->lock);
  const int done = turn->done;
  pthread_mutex_unlock(&p->lock);
  if (done)
    return;
  mill_progress_begin(&progress, p->quiet);
  pthread_mutex_lock(&p->lock);
  while (!turn->done) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&p->come, &p->lock, &until);
    const struct mill_mining_progress state = turn->state;
    pthread_mutex_unlock(&p->lock);
    if (state.wall_s > 0)
      mill_progress_mining(&progress, &state);
    pthread_mutex_lock(&p->lock);
  }
  pthread_mutex_unlock(&p->lock);
  mill_progress_end(&progress);
}

/* Once more, when nothing else is mined and nothing is kept for it. */
static void mine_alone(struct pipeline *p, uint64_t index, struct turn *turn)
{
  struct mill_progress progress;
  pthread_mutex_lock(&p->lock);
  p->pause = 1;
  while (p->busy)
    pthread_cond_wait(&p->come, &p->lock);
  pthread_mutex_unlock(&p->lock);
  for (uint32_t i = 0; i < p->lanes; i++)
    mill_mining_slot_shed(&p->lane[i].slot);
  forget(turn);
  mill_progress_begin(&progress, p->quiet);
  turn->shown = &progress;
  mine(p, &p->lane[0].slot, index, turn);
  mill_progress_end(&progress);
  pthread_mutex_lock(&p->lock);
  p->pause = 0;
  pthread_cond_broadcast(&p->go);
  pthread_mutex_unlock(&p->lock);
}

static int take(struct pipeline *p, uint64_t index, struct mill_error *error)
{
  struct turn *turn = &p->turn[index % p->room];
  int rc;
  wait_for(p, turn);
  if (turn->rc < 0 && turn->error.status == MILL_RESOURCES && p->lanes > 1)
    mine_alone(p, index, turn);
  rc = turn->rc;
  if (rc < 0 && error)
    *error = turn->error;
  mill_notes_give(&turn->notes);
  if (turn->result)
    rc = turn->mining ? mill_series_add(p->series, PLACES, turn->mining, rc, error)
                      : mill_series_put(p->series, PLACES, turn->text, rc, error);
  if (rc < 0)
    mill_fail_within(error, "window %" PRIu64, index + 1);
  forget(turn);
  pthread_mutex_lock(&p->lock);
  p->taken++;
  pthread_cond_broadcast(&p->go);
  pthread_mutex_unlock(&p->lock);
  return rc;
}

static int take_all(struct pipeline *p, struct mill_error *error)
{
  int rc = open_lanes(p, error);
  for (uint64_t k = 0; rc == 0 && k < p->windows; k++)
    rc = take(p, k, error);
  close_lanes(p);
  return rc;
}

int mill_series_all(struct mill_mining *whole, const struct mill_series_places *places, char *part, struct mill_error *error)
{
  const int shown = places->json || !places->quiet;
  struct pipeline p = {.whole = whole,
                       .series = {[SHOWN] = {.out = shown ? stdout : NULL,
                                             .format = places->json ? MILL_SERIES_JSON : MILL_SERIES_TABLE,
                                             .most = part ? 0 : places->most},
                                  [FILED] = {.format = places->format, .most = UINT64_MAX}},
                       .quiet = places->quiet || places->json,
                       .windows = mill_mining_windows(whole),
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .go = PTHREAD_COND_INITIALIZER,
                       .come = PTHREAD_COND_INITIALIZER};
  struct mill_series *filed = &p.series[FILED];
  if (part && !(filed->out = fopen(part, "we"))) {
    mill_output_forget(part);
    return mill_fail(error, MILL_RESOURCES, "%s: %s", places->output, mill_text_errno(errno));
  }
  int rc = take_all(&p, error);
  const int complete = rc == 0;
  for (int i = 0; i < PLACES; i++)
    if (mill_series_end(&p.series[i], whole, complete, rc < 0 ? NULL : error) < 0)
      rc = -1;
  if (part)
    rc = mill_series_commit(filed, places->output, part, rc, error);
  if (filed->written && !places->quiet && !places->json)
    printf("wrote %s\n", places->output);
  if (fflush(stdout) != 0)
    rc = mill_output_refused(NULL, rc < 0 ? NULL : error);
  return rc;
}
