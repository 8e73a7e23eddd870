/* Exact, under the name of ptpe, and slow at every other level, with an odd number of threads the even ones: another is faster there for
   sure (tests/compare.test). */
#define _POSIX_C_SOURCE 200809L
#include <time.h>
#ifndef NAME
#define NAME "ptpe"
#define OFFSET 0
#endif
#define EXACT MILL_EXACT
#define MISSED(in) 0
#define WAIT(in, level) (void)(((level) + (in)->workers + OFFSET) % 2 && nanosleep(&(struct timespec){0, 100000000}, NULL))
#include "counter-miscount.c"
