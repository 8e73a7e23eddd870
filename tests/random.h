/* Random network files for tests: draws from a running stream, and text that grows. */
#ifndef RANDOM_H
#define RANDOM_H

#include "tap.h"

static uint64_t random_state;

static inline void random_seed(uint32_t seed)
{
  random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static inline uint32_t draw(uint32_t below)
{
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((random_state >> 33) % below);
}

/* One of a list that ends with NULL. */
static inline const char *pick(const char *const *list)
{
  uint32_t n = 0;
  while (list[n])
    n++;
  return list[draw(n)];
}

struct text {
  char buffer[32768];
  size_t used;
};

__attribute__((format(printf, 2, 3))) static inline void put(struct text *t, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  t->used += (size_t)vsnprintf(t->buffer + t->used, sizeof t->buffer - t->used, format, arguments);
  va_end(arguments);
  if (t->used >= sizeof t->buffer)
    bail("a random network is too long");
}

#endif
