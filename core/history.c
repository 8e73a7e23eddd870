/* Spike histories as shift registers. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "history.h"

static void shift(uint64_t *word, uint32_t words, uint32_t steps, uint64_t recent)
{
  for (uint32_t w = words; w-- > 1;)
    word[w] = word[w] << steps | word[w - 1] >> (64 - steps);
  word[0] = word[0] << steps | recent;
}

void mill_history_mark(uint64_t *history, uint32_t words, uint32_t first, uint32_t size, const struct mill_event *event,
                       uint64_t events, int64_t step, uint32_t steps)
{
  for (uint32_t i = 0; i < size; i++)
    shift(history + (uint64_t)i * words, words, steps, 0);
  for (uint64_t k = 0; k < events; k++) {
    if (event[k].unit - first < size)
      history[(uint64_t)(event[k].unit - first) * words] |= UINT64_C(1) << (step + steps - event[k].tick);
  }
}

void mill_history_push(uint64_t *history, uint32_t words, uint32_t first, uint32_t count, const uint64_t (*bits)[MILL_BATCH / 64],
                       uint32_t steps)
{
  for (uint32_t i = 0; i < count; i++) {
    uint64_t *word = history + (uint64_t)(first + i) * words, recent = 0;
    for (uint32_t s = 0; s < steps; s++)
      recent = recent << 1 | (bits[s][i / 64] >> (i % 64) & 1);
    shift(word, words, steps, recent);
  }
}
