/* Coroutines: one flow of control hands over to another, on stacks with a guard page. A switch costs a few nanoseconds on x86-64, where it is
   written by hand; elsewhere it is swapcontext. Sanitizers and valgrind are told of the stacks. */
#ifndef EMULATOR_FIBER_H
#define EMULATOR_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__) || defined(FIBER_PORTABLE)
#include <ucontext.h>
#endif

struct fiber {
#if defined(__x86_64__) && !defined(FIBER_PORTABLE)
  void *stack_pointer;
#else
  ucontext_t context;
#endif
  unsigned char *stack; /* its lowest byte; NULL: the thread's own */
  size_t bytes;
  void *fake; /* the sanitizer's */
  unsigned valgrind_id;
};

/* A stack; `number` tells those from each other that are used together. Returns -1 when there is no memory. */
int fiber_make(struct fiber *fiber, unsigned number);
void fiber_free(struct fiber *fiber);
void fiber_clean(struct fiber *fiber); /* after one that was left before its end */

/* Sets it to begin with `begin`, whatever it did before; `begin` calls fiber_begun first and must never return. */
void fiber_reset(struct fiber *fiber, void (*begin)(void));
void fiber_begun(struct fiber *from);

/* From one to another; returns when something switches back. `last`: `from` never goes on. */
void fiber_switch(struct fiber *from, struct fiber *to, int last);

#endif
