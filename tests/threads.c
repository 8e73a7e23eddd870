/* The team: every worker runs, barriers separate phases, with fewer and with more threads than processors. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "tap.h"
#include "threads.h"

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each phase, every worker writes its cell and then reads all cells of the phase before the next barrier. Plain memory: what keeps it
   right is the barrier alone. */
struct phases {
  struct mill_team *team;
  uint32_t rounds, turns; /* turns: counted by the last of each barrier, alone */
  uint64_t cell[64][8];
  uint32_t wrong[64][16];
};

static void turn(void *self)
{
  struct phases *p = self;
  p->turns++;
}

static void run_phases(void *self, uint32_t worker)
{
  struct phases *p = self;
  uint32_t n = mill_team_size(p->team);
  for (uint32_t round = 1; round <= p->rounds; round++) {
    p->cell[worker][0] = (uint64_t)round * 1000 + worker;
    mill_team_barrier(p->team, turn, p);
    p->wrong[worker][0] += p->turns != round;
    for (uint32_t i = 0; i < n; i++)
      p->wrong[worker][0] += p->cell[i][0] != (uint64_t)round * 1000 + i;
    mill_team_barrier(p->team, NULL, NULL);
  }
}

static void test_barriers(uint32_t threads, uint32_t rounds)
{
  struct mill_error error;
  struct phases p = {.rounds = rounds};
  if (!ok(!mill_team_create(threads, &p.team, &error), "a team of %u", threads))
    return;
  is_int(mill_team_size(p.team), threads, "its size");
  double start = now();
  mill_team_run(p.team, run_phases, &p);
  double each = (now() - start) / (2.0 * rounds);
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < threads; i++)
    wrong += p.wrong[i][0];
  is_int(wrong, 0, "%u threads keep in step over %u barriers", threads, 2 * rounds);
  diag("%.3f microseconds a barrier", each * 1e6);
  mill_team_free(p.team);
}

struct calls {
  atomic_uint worker[64];
  pthread_t thread[64];
  int blocked[64];
};

static void count_call(void *self, uint32_t worker)
{
  struct calls *c = self;
  sigset_t set;
  atomic_fetch_add(&c->worker[worker], 1);
  c->thread[worker] = pthread_self();
  pthread_sigmask(SIG_BLOCK, NULL, &set);
  c->blocked[worker] = sigismember(&set, SIGINT) && sigismember(&set, SIGTERM);
}

static void test_run(uint32_t threads)
{
  struct mill_team *team;
  struct calls c = {0};
  if (!ok(!mill_team_create(threads, &team, NULL), "a team of %u", threads))
    return;
  for (int i = 0; i < 300; i++) {
    mill_team_run(team, count_call, &c);
    if (i % 100 == 0)
      nanosleep(&(struct timespec){0, 2000000}, NULL); /* long enough for the others to fall asleep */
  }
  int right = 1, apart = 1, blocked = 1;
  for (uint32_t i = 0; i < threads; i++) {
    right &= atomic_load(&c.worker[i]) == 300;
    blocked &= i == 0 || c.blocked[i];
    for (uint32_t j = 0; j < i; j++)
      apart &= !pthread_equal(c.thread[i], c.thread[j]);
  }
  ok(right, "every worker runs once a call");
  ok(apart && pthread_equal(c.thread[0], pthread_self()), "on a thread of its own, the caller's being worker 0");
  ok(blocked && !c.blocked[0], "signals are left to the caller's thread");
  mill_team_free(team);
}

static atomic_uchar seen[100003];
static void mark(void *self, uint64_t i, uint32_t worker)
{
  (void)worker;
  atomic_fetch_add((atomic_uint_fast64_t *)self, i);
  atomic_fetch_add(&seen[i], 1);
}

static void test_each(uint32_t threads, uint64_t count)
{
  struct mill_team *team;
  atomic_uint_fast64_t sum = 0;
  if (!ok(!mill_team_create(threads, &team, NULL), "a team of %u", threads))
    return;
  for (uint64_t i = 0; i < count; i++)
    atomic_store(&seen[i], 0);
  mill_team_each(team, count, mark, &sum);
  uint64_t once = 0;
  for (uint64_t i = 0; i < count; i++)
    once += atomic_load(&seen[i]) == 1;
  ok(once == count && atomic_load(&sum) == count * (count - !!count) / 2, "each of %llu once", (unsigned long long)count);
  mill_team_free(team);
}

static atomic_int nap_turn;
static pthread_t nap_thread[40];
static void nap(void *self, uint64_t i, uint32_t worker)
{
  (void)worker;
  (void)self;
  nap_thread[i] = pthread_self();
  if (i == 0) /* the first item lasts until another is done, which needs a second worker */
    while (!atomic_load(&nap_turn))
      sched_yield();
  else
    atomic_store(&nap_turn, 1);
}

static void test_shared(void)
{
  struct mill_team *team;
  if (!ok(!mill_team_create(3, &team, NULL), "a team of 3"))
    return;
  mill_team_each(team, 40, nap, NULL);
  ok(!pthread_equal(nap_thread[0], nap_thread[39]), "a worker that is busy does not keep the others from the rest");
  mill_team_free(team);
}

static void test_limits(void)
{
  struct mill_error error;
  struct mill_team *team;
  ok(mill_team_create(0, &team, &error) && error.status == MILL_USAGE && !team, "no threads: %s", error.text);
  ok(mill_team_create(100000, &team, &error) && error.status == MILL_USAGE && !team, "too many: %s", error.text);
  mill_team_free(NULL);
  uint32_t processors = mill_processors();
  ok(processors >= 1, "%u processors", processors);
  cpu_set_t before, one;
  if (sched_getaffinity(0, sizeof before, &before)) {
    skip(1, "more than 1024 processors");
    return;
  }
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
    if (CPU_ISSET(i, &before))
      CPU_SET(i, &one);
  sched_setaffinity(0, sizeof one, &one);
  is_int(mill_processors(), 1, "one when bound to one");
  test_barriers(5, 300); /* five threads on that one */
  sched_setaffinity(0, sizeof before, &before);
}

int main(void)
{
  static const uint32_t sizes[] = {1, 2, 3, 8, 33};
  plan_later();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    test_barriers(sizes[i], sizes[i] <= 2 ? 50000 : 1000);
    test_run(sizes[i]);
    test_each(sizes[i], 0);
    test_each(sizes[i], 1);
    test_each(sizes[i], 7);
    test_each(sizes[i], 100003);
  }
  test_shared();
  test_limits();
  return done_testing();
}
