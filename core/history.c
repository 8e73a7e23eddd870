/* Spike histories as shift registers. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "history.h"

void mill_history_push(uint64_t *history, uint32_t words, uint32_t first, uint32_t count, const uint64_t (*bits)[MILL_BATCH / 64],
                       uint32_t steps)
{
  for (uint32_t i = 0; i < count; i++) {
    uint64_t *word = history + (uint64_t)(first + i) * words, recent = 0;
    for (uint32_t s = 0; s < steps; s++)
      recent = recent << 1 | (bits[s][i / 64] >> (i % 64) & 1);
    for (uint32_t w = words; w-- > 1;)
      word[w] = word[w] << steps | word[w - 1] >> (64 - steps);
    word[0] = word[0] << steps | recent;
  }
}
