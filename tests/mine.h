/* What the tests of mining share: streams made by chance, and the definition of an episode's count at work, without any cleverness. */
#ifndef MINE_H
#define MINE_H

#include <stdint.h>
#include <spikemill/counter.h>
#include <spikemill/format.h>

/* splitmix64 */
static inline uint64_t chance(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static inline uint32_t below(uint64_t *state, uint32_t n)
{
  return (uint32_t)(chance(state) % n);
}

/* Events of `types` types with gaps of 0 … longest ticks. */
static inline void make_events(uint64_t *state, struct mill_event *event, uint32_t n, uint32_t types, uint32_t longest)
{
  int64_t tick = (int64_t)below(state, 100) - 50;
  for (uint32_t i = 0; i < n; i++) {
    tick += below(state, longest + 1);
    event[i] = (struct mill_event){.tick = tick, .unit = below(state, types)};
  }
}

/* Occurrences that end at event q and start as late as they can; of the ends in order, each whose start lies after the last one taken.
   n ≤ 512, length ≤ 64. */
static inline uint64_t count_plainly(const struct mill_event *event, uint32_t n, uint32_t length, const uint32_t *type,
                                     const struct mill_interval *gap, int strict)
{
  int start[512], next[512], last = -1;
  uint64_t count = 0;
  for (uint32_t q = 0; q < n; q++)
    start[q] = event[q].unit == type[0] ? (int)q : -1;
  for (uint32_t k = 1; k < length; k++) {
    for (uint32_t q = 0; q < n; q++) {
      next[q] = -1;
      for (uint32_t r = 0; r < q && event[q].unit == type[k]; r++) {
        int64_t d = event[q].tick - event[r].tick;
        if (start[r] > next[q] && gap[k - 1].low < d && d <= gap[k - 1].high)
          next[q] = start[r];
      }
    }
    for (uint32_t q = 0; q < n; q++)
      start[q] = next[q];
  }
  for (uint32_t q = 0; q < n; q++) {
    if (start[q] < 0 || (last >= 0 && (strict ? event[start[q]].tick <= event[last].tick : start[q] <= last)))
      continue;
    count++;
    last = (int)q;
  }
  return count;
}

#endif
