/* Coroutines; see fiber.h. */
#include "fiber.h"
#include "guarded.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if EMU_GUARDED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES (256u << 10)
#else
#define STACK_BYTES (64u << 10)
#endif

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(from, to) 0
#define VALGRIND_STACK_DEREGISTER(id) ((void)0)
#endif

static size_t page(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

int fiber_make(struct fiber *fiber, unsigned number)
{
  size_t guard = page();
  unsigned char *memory =
      mmap(NULL, guard + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return -1;
  if (mprotect(memory, guard, PROT_NONE) != 0) {
    munmap(memory, guard + STACK_BYTES);
    return -1;
  }
  memset(fiber, 0, sizeof *fiber);
  fiber->stack = memory + guard;
  fiber->bytes = STACK_BYTES - number % 64 * 64; /* the tops of all stacks in one set of the cache would push each other out */
  fiber->valgrind_id = VALGRIND_STACK_REGISTER(fiber->stack, fiber->stack + STACK_BYTES);
  return 0;
}

void fiber_clean(struct fiber *fiber)
{
#if EMU_GUARDED
  __asan_unpoison_memory_region(fiber->stack, fiber->bytes);
#else
  (void)fiber;
#endif
}

void fiber_free(struct fiber *fiber)
{
  if (!fiber->stack)
    return;
  VALGRIND_STACK_DEREGISTER(fiber->valgrind_id);
  fiber_clean(fiber);
  munmap(fiber->stack - page(), page() + STACK_BYTES);
  fiber->stack = NULL;
}

#if defined(__x86_64__) && !defined(FIBER_PORTABLE)

/* Keeps what a function must keep, but for the modes of the floating-point units, which nobody changes. */
void fiber_jump(void **save, void *to);
__asm__(".pushsection .text\n"
        ".hidden fiber_jump\n"
        ".globl fiber_jump\n"
        ".type fiber_jump, @function\n"
        "fiber_jump:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  ret\n"
        ".size fiber_jump, .-fiber_jump\n"
        ".popsection\n");

void fiber_reset(struct fiber *fiber, void (*begin)(void))
{
  uint64_t *top = (uint64_t *)(void *)(fiber->stack + fiber->bytes);
  /* As a call leaves it: 8 below a multiple of 16 at the first instruction of `begin`, with no address to return to. */
  *--top = 0;
  *--top = (uint64_t)(uintptr_t)begin;
  for (int i = 0; i < 6; i++)
    *--top = 0;
  fiber->stack_pointer = top;
  fiber->fake = NULL;
}

#define JUMP(from, to) fiber_jump(&(from)->stack_pointer, (to)->stack_pointer)

#else

void fiber_reset(struct fiber *fiber, void (*begin)(void))
{
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = fiber->bytes;
  fiber->context.uc_link = NULL;
  makecontext(&fiber->context, begin, 0);
  fiber->fake = NULL;
}

#define JUMP(from, to) swapcontext(&(from)->context, &(to)->context)

#endif

#if EMU_GUARDED

void fiber_begun(struct fiber *from)
{
  const void *bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(NULL, &bottom, &bytes);
  if (!from->stack) {
    memcpy(&from->stack, &bottom, sizeof bottom);
    from->bytes = bytes;
  }
}

void fiber_switch(struct fiber *from, struct fiber *to, int last)
{
  __sanitizer_start_switch_fiber(last ? NULL : &from->fake, to->stack, to->bytes);
  JUMP(from, to);
  __sanitizer_finish_switch_fiber(from->fake, NULL, NULL);
}

#else

void fiber_begun(struct fiber *from)
{
  (void)from;
}

void fiber_switch(struct fiber *from, struct fiber *to, int last)
{
  (void)last;
  JUMP(from, to);
}

#endif
