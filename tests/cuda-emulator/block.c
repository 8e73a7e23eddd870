/* The threads of one block: coroutines that run until they wait at a barrier or for a warp. What they wait for is given when all have come;
   when nobody can go on, the block has failed, and where its threads stand is said. */
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fiber.h"

enum state { READY, AT_BARRIER, AT_WARP, DONE };

struct thread {
  struct emulator_thread seen; /* what the kernel's code points to */
  struct fiber fiber;
  enum state state;
  int kind, predicate, line;
  unsigned mask, source;
  unsigned long long value, result;
  const char *file;
};

static struct {
  struct thread *thread; /* EMU_THREADS of them; the first `made` have stacks */
  unsigned made, count, done, waiting;
  struct thread *now;
  struct fiber scheduler;
  const struct emu_launch *launch;
  struct emulator_control *control;
  int failed;
  unsigned order[EMU_THREADS];
} block;

uint64_t emu_random(uint64_t *state)
{
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static const char *kernel(void)
{
  return block.launch->function->name;
}

static void say_thread(const char *what, const struct thread *t)
{
  emu_say("%s: block (%u, %u, %u), thread (%u, %u, %u): %s", kernel(), block.control->block.x, block.control->block.y,
          block.control->block.z, t->seen.index.x, t->seen.index.y, t->seen.index.z, what);
}

/* Ends the block from within a thread. */
__attribute__((noreturn)) static void give_up(void)
{
  block.failed = 1;
  fiber_switch(&block.now->fiber, &block.scheduler, 0);
  abort();
}

/* Forgets threads that have not ended. */
static int left(void)
{
  for (unsigned i = 0; i < block.count; i++)
    fiber_clean(&block.thread[i].fiber);
  return -1;
}

static void wait_for_others(struct thread *t)
{
  fiber_switch(&t->fiber, &block.scheduler, 0);
}

static int at_barrier(int kind, int predicate, const char *file, int line)
{
  struct thread *t = block.now;
  t->state = AT_BARRIER;
  t->kind = kind;
  t->predicate = predicate;
  t->file = file;
  t->line = line;
  block.waiting++;
  wait_for_others(t);
  return t->predicate;
}

static unsigned long long reduce(int kind, unsigned long long a, unsigned long long b)
{
  switch (kind) {
  case EMULATOR_ADD:
    return (unsigned)(a + b);
  case EMULATOR_AND:
    return a & b;
  case EMULATOR_OR:
    return a | b;
  case EMULATOR_XOR:
    return a ^ b;
  case EMULATOR_MIN:
    return a < b ? a : b;
  case EMULATOR_MAX:
    return a > b ? a : b;
  case EMULATOR_MIN_SIGNED:
    return (int)a < (int)b ? a : b;
  default:
    return (int)a > (int)b ? a : b;
  }
}

/* What the lanes of `mask` get, those that still run: they stand at the same collective. A shuffle from a lane that takes no part gets
   0xA5…, as its value is undefined. */
static void finish_collective(struct thread *warp, unsigned lanes, int kind)
{
  unsigned long long all = 0;
  int first = 1;
  if (kind != EMULATOR_WARP_SYNC && kind != EMULATOR_SHUFFLE && kind != EMULATOR_MATCH)
    for (unsigned i = 0; i < 32; i++)
      if (lanes >> i & 1) {
        if (kind == EMULATOR_BALLOT)
          all |= (unsigned long long)(warp[i].value != 0) << i;
        else
          all = first ? warp[i].value : reduce(kind, all, warp[i].value);
        first = 0;
      }
  for (unsigned i = 0; i < 32; i++)
    if (lanes >> i & 1) {
      struct thread *t = &warp[i];
      if (kind == EMULATOR_SHUFFLE)
        all = lanes >> t->source & 1 ? warp[t->source].value : 0xa5a5a5a5a5a5a5a5u;
      else if (kind == EMULATOR_MATCH) {
        all = 0;
        for (unsigned j = 0; j < 32; j++)
          if (lanes >> j & 1 && warp[j].value == t->value)
            all |= 1u << j;
      }
      t->result = all;
      t->state = READY;
    }
}

/* Of `mask`, the lanes that have not ended. */
static unsigned running(const struct thread *warp, unsigned size, unsigned mask)
{
  unsigned lanes = 0;
  for (unsigned i = 0; i < size; i++)
    if (mask >> i & 1 && warp[i].state != DONE)
      lanes |= 1u << i;
  return lanes;
}

static struct thread *warp_of(const struct thread *t, unsigned *size)
{
  unsigned first = t->seen.warp * 32;
  *size = block.count - first < 32 ? block.count - first : 32;
  return &block.thread[first];
}

/* Gives the collective that `t` waits for when all others of its mask are there. */
static void try_collective(struct thread *t)
{
  unsigned size, lanes;
  struct thread *warp = warp_of(t, &size);
  lanes = running(warp, size, t->mask);
  for (unsigned i = 0; i < size; i++)
    if (lanes >> i & 1 && (warp[i].state != AT_WARP || warp[i].kind != t->kind || warp[i].mask != t->mask))
      return;
  finish_collective(warp, lanes, t->kind);
}

static unsigned long long at_warp(int kind, unsigned mask, unsigned long long value, unsigned source, const char *file, int line)
{
  struct thread *t = block.now;
  t->kind = kind;
  t->mask = mask;
  t->value = value;
  t->source = source;
  t->file = file;
  t->line = line;
  if (!(mask >> t->seen.lane & 1)) {
    char text[300];
    snprintf(text, sizeof text, "its lane %u is not in the mask 0x%08x at %s(%d)", t->seen.lane, mask, file, line);
    say_thread(text, t);
    give_up();
  }
  t->state = AT_WARP;
  try_collective(t);
  if (t->state == AT_WARP)
    wait_for_others(t);
  return t->result;
}

static void yield(void)
{
  wait_for_others(block.now);
}

static void trap(const char *what, const char *file, int line)
{
  char text[400];
  snprintf(text, sizeof text, "%s at %s(%d)", what, file, line);
  say_thread(text, block.now);
  give_up();
}

void emu_block_hooks(struct emulator_control *control)
{
  control->barrier = at_barrier;
  control->collective = at_warp;
  control->yield = yield;
  control->trap = trap;
}

/* A thread's life. One that ends may be what the others of its warp wait for: the mask means those that run. */
static void live(void)
{
  struct thread *t = block.now;
  unsigned size;
  fiber_begun(&block.scheduler);
  block.launch->function->entry->call(block.launch->parameter);
  t->state = DONE;
  block.done++;
  struct thread *warp = warp_of(t, &size);
  for (unsigned i = 0; i < size; i++)
    if (warp[i].state == AT_WARP)
      try_collective(&warp[i]);
  fiber_switch(&t->fiber, &block.scheduler, 1);
  abort();
}

/* Where threads stand, those at one place as one. */
static void say_stuck(void)
{
  unsigned told = 0;
  emu_say("%s: block (%u, %u, %u): its threads wait for ever:", kernel(), block.control->block.x, block.control->block.y,
          block.control->block.z);
  if (block.done)
    emu_say("  %u threads have ended", block.done);
  for (unsigned i = 0; i < block.count && told < 8; i++) {
    const struct thread *t = &block.thread[i];
    unsigned same = 0, before = 0;
    if (t->state == DONE)
      continue;
    for (unsigned j = 0; j < block.count; j++) {
      const struct thread *u = &block.thread[j];
      if (u->state == t->state && u->line == t->line && u->file == t->file && u->kind == t->kind &&
          (t->state == AT_BARRIER || (u->mask == t->mask && u->seen.warp == t->seen.warp))) {
        before += j < i;
        same++;
      }
    }
    if (before)
      continue;
    told++;
    if (t->state == AT_BARRIER)
      emu_say("  %u threads, the first (%u, %u, %u), at the barrier of %s(%d)", same, t->seen.index.x, t->seen.index.y,
              t->seen.index.z, t->file, t->line);
    else
      emu_say("  %u threads, the first (%u, %u, %u), for the mask 0x%08x at %s(%d)", same, t->seen.index.x, t->seen.index.y,
              t->seen.index.z, t->mask, t->file, t->line);
  }
}

/* All threads wait at the barrier: what it gives them, or -1 when it is not one barrier. */
static int finish_barrier(void)
{
  const struct thread *first = &block.thread[0];
  int count = 0, given;
  for (unsigned i = 0; i < block.count; i++) {
    const struct thread *t = &block.thread[i];
    if (t->kind != first->kind || t->line != first->line || (t->file != first->file && strcmp(t->file, first->file) != 0))
      return -1;
    count += t->predicate;
  }
  given = first->kind == EMULATOR_COUNT ? count : first->kind == EMULATOR_BOTH ? count == (int)block.count : count > 0;
  for (unsigned i = 0; i < block.count; i++) {
    block.thread[i].predicate = given;
    block.thread[i].state = READY;
  }
  block.waiting = 0;
  return 0;
}

static void shuffle(uint64_t *random)
{
  for (unsigned i = block.count - 1; *random && i > 0; i--) {
    unsigned j = (unsigned)(emu_random(random) % (i + 1)), k = block.order[i];
    block.order[i] = block.order[j];
    block.order[j] = k;
  }
}

static int prepare(const struct emu_launch *launch, unsigned threads)
{
  if (!block.thread && !(block.thread = calloc(EMU_THREADS, sizeof *block.thread)))
    return -1;
  for (; block.made < threads; block.made++)
    if (fiber_make(&block.thread[block.made].fiber, block.made))
      return -1;
  block.count = threads;
  block.done = block.waiting = 0;
  block.failed = 0;
  block.launch = launch;
  for (unsigned i = 0; i < threads; i++) {
    struct thread *t = &block.thread[i];
    struct emulator_index index = {i % launch->block.x, i / launch->block.x % launch->block.y,
                                   i / launch->block.x / launch->block.y};
    t->seen = (struct emulator_thread){index, i % 32, i / 32};
    t->state = READY;
    fiber_reset(&t->fiber, live);
    block.order[i] = i;
  }
  return 0;
}

int emu_block_run(struct emulator_control *control, const struct emu_launch *launch, unsigned threads, uint64_t *random)
{
  if (prepare(launch, threads)) {
    emu_say("no memory for %u threads", threads);
    return -1;
  }
  block.control = control;
  memset(&block.scheduler, 0, sizeof block.scheduler);
  shuffle(random);
  while (block.done < threads) {
    int ran = 0;
    for (unsigned i = 0; i < threads; i++) {
      struct thread *t = &block.thread[block.order[i]];
      if (t->state != READY)
        continue;
      block.now = t;
      control->self = &t->seen;
      fiber_switch(&block.scheduler, &t->fiber, 0);
      if (block.failed)
        return left();
      ran = 1;
    }
    if (block.waiting == threads ? finish_barrier() : !ran || (block.waiting && block.waiting + block.done == threads)) {
      say_stuck();
      return left();
    }
    shuffle(random);
  }
  return 0;
}

void emu_block_drop(void)
{
  for (unsigned i = 0; i < block.made; i++)
    fiber_free(&block.thread[i].fiber);
  free(block.thread);
  block.thread = NULL;
  block.made = 0;
}
