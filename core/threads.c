/* A team of threads that meets at one barrier, for the start of work, inside it, and at its end. The barrier counts arrivals and then
   raises a generation that the others watch: for a while in a loop, which takes a fraction of a microsecond when each thread has its
   processor, then asleep in the kernel, so that a thread that has none gets one. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"
#include "threads.h"

#define SPINS 2000       /* while there is a processor for each thread: some 30 microseconds */
#define SPINS_CROWDED 20 /* else */
#define THREADS_MAX 4096

struct worker {
  pthread_t thread;
  struct mill_team *team;
  uint32_t index;
};

struct mill_team {
  _Alignas(64) atomic_uint arrived;
  _Alignas(64) atomic_uint generation;
  _Alignas(64) atomic_uint sleepers;
  _Alignas(64) atomic_uint_fast64_t next; /* of mill_team_each */
  _Alignas(64) uint32_t count;
  uint32_t spins;
  int stop;
  void (*work)(void *self, uint32_t worker);
  void *self;
  pthread_mutex_t gate; /* held until the team is whole */
  struct worker *worker;
  struct mill_memory_account *account; /* its creator's */
};

void mill_team_rest(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

void mill_team_barrier(struct mill_team *team, void (*last)(void *self), void *self)
{
  unsigned generation = atomic_load_explicit(&team->generation, memory_order_relaxed);
  if (atomic_fetch_add(&team->arrived, 1) + 1 == team->count) {
    if (last)
      last(self);
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    atomic_store(&team->generation, generation + 1);
    /* A thread counts itself as a sleeper before it looks at the generation for the last time: either it sees the new one, or its
       count is seen here. */
    if (atomic_load(&team->sleepers))
      syscall(SYS_futex, &team->generation, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    return;
  }
  for (uint32_t i = 0; i < team->spins; i++) {
    if (atomic_load_explicit(&team->generation, memory_order_acquire) != generation)
      return;
    mill_team_rest();
  }
  atomic_fetch_add(&team->sleepers, 1);
  while (atomic_load(&team->generation) == generation)
    syscall(SYS_futex, &team->generation, FUTEX_WAIT_PRIVATE, generation, NULL, NULL, 0);
  atomic_fetch_sub(&team->sleepers, 1);
}

static void *worker_main(void *argument)
{
  struct worker *worker = argument;
  struct mill_team *team = worker->team;
  mill_memory_account(team->account);
  pthread_mutex_lock(&team->gate);
  pthread_mutex_unlock(&team->gate);
  for (;;) {
    mill_team_barrier(team, NULL, NULL);
    if (team->stop)
      return NULL;
    team->work(team->self, worker->index);
    mill_team_barrier(team, NULL, NULL);
  }
}

/* Starts workers 1 … count-1 with every signal blocked, so that signals reach the caller's thread. Returns 0 or an errno value; the
   team's count is how many there are. */
static int start_workers(struct mill_team *team, uint32_t count)
{
  sigset_t all, before;
  int failure = 0;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGBUS);
  sigdelset(&all, SIGFPE);
  sigdelset(&all, SIGILL);
  sigdelset(&all, SIGABRT);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_mutex_lock(&team->gate);
  for (team->count = 1; team->count < count && !failure; team->count += !failure) {
    struct worker *worker = &team->worker[team->count];
    worker->team = team;
    worker->index = team->count;
    failure = pthread_create(&worker->thread, NULL, worker_main, worker);
  }
  pthread_mutex_unlock(&team->gate);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failure;
}

int mill_team_create(uint32_t count, struct mill_team **out, struct mill_error *error)
{
  *out = NULL;
  if (count < 1 || count > THREADS_MAX)
    return mill_fail(error, MILL_USAGE, "%u threads asked for; 1 to %u can be had", count, THREADS_MAX);
  struct mill_team *team = aligned_alloc(_Alignof(struct mill_team), sizeof *team);
  if (!team)
    return mill_fail(error, MILL_RESOURCES, "no memory for a team of %u threads", count);
  memset(team, 0, sizeof *team);
  team->worker = calloc(count, sizeof *team->worker);
  if (!team->worker) {
    free(team);
    return mill_fail(error, MILL_RESOURCES, "no memory for a team of %u threads", count);
  }
  team->account = mill_memory_account(NULL);
  mill_memory_account(team->account);
  team->spins = count <= mill_processors() ? SPINS : SPINS_CROWDED;
  pthread_mutex_init(&team->gate, NULL);
  int failure = start_workers(team, count);
  if (failure) {
    mill_fail(error, MILL_RESOURCES, "thread %u of %u could not be started: %s", team->count + 1, count, strerror(failure));
    mill_team_free(team);
    return -1;
  }
  *out = team;
  return 0;
}

void mill_team_free(struct mill_team *team)
{
  if (!team)
    return;
  team->stop = 1;
  mill_team_barrier(team, NULL, NULL);
  for (uint32_t i = 1; i < team->count; i++)
    pthread_join(team->worker[i].thread, NULL);
  pthread_mutex_destroy(&team->gate);
  free(team->worker);
  free(team);
}

uint32_t mill_team_size(const struct mill_team *team)
{
  return team->count;
}

void mill_team_run(struct mill_team *team, void (*work)(void *self, uint32_t worker), void *self)
{
  team->work = work;
  team->self = self;
  mill_team_barrier(team, NULL, NULL);
  work(self, 0);
  mill_team_barrier(team, NULL, NULL);
}

struct each {
  struct mill_team *team;
  uint64_t count;
  void (*body)(void *self, uint64_t i, uint32_t worker);
  void *self;
};

/* Takes shrinking pieces: few visits to the shared counter, and an even end. */
static void each_work(void *argument, uint32_t worker)
{
  const struct each *each = argument;
  atomic_uint_fast64_t *next = &each->team->next;
  const uint64_t shares = (uint64_t)each->team->count * 8;
  uint64_t first = atomic_load(next);
  while (first < each->count) {
    uint64_t piece = (each->count - first) / shares;
    piece += !piece;
    if (!atomic_compare_exchange_weak(next, &first, first + piece))
      continue;
    for (uint64_t i = first; i < first + piece; i++)
      each->body(each->self, i, worker);
    first = atomic_load(next);
  }
}

void mill_team_each(struct mill_team *team, uint64_t count, void (*body)(void *self, uint64_t i, uint32_t worker), void *self)
{
  struct each each = {team, count, body, self};
  if (!count)
    return;
  atomic_store(&team->next, 0);
  if (team->count == 1 || count == 1)
    each_work(&each, 0);
  else
    mill_team_run(team, each_work, &each);
}

uint32_t mill_processors(void)
{
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    cpu_set_t *set = CPU_ALLOC((size_t)most);
    size_t size = CPU_ALLOC_SIZE((size_t)most);
    if (!set)
      break;
    int failed = sched_getaffinity(0, size, set);
    int reason = errno, count = failed ? 0 : CPU_COUNT_S(size, set);
    CPU_FREE(set);
    if (count > 0)
      return (uint32_t)count;
    if (reason != EINVAL)
      break;
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (uint32_t)online : 1;
}
