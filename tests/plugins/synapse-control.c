/* Does on loading what a file linked with -ffast-math does: sets flush-to-zero in the thread that loads it. */
#define NAME "control"
#include "broken.h"

static void __attribute__((constructor)) change_control(void)
{
#if defined(__SSE__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
  unsigned long word;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(word));
  __asm__ __volatile__("msr fpcr, %0" : : "r"(word | 1ul << 24));
#endif
}
