/* A recording with chains of three, for tests of significance. */
#ifndef CHAIN_H
#define CHAIN_H

#include "mine.h"
#include "spikes.h"

enum { CHAIN_MOST = 300 }; /* events, at most */

static const struct mill_group groups[] = {{"A", 0, 1}, {"B", 1, 1}, {"C", 2, 1}, {"D", 3, 1}, {"E", 4, 1}};
#define MS INT64_C(1000000000)
static const struct mill_stream_info info = {
    .tick_ps = MS, .start = -1, .stop = 1000, .group_count = 5, .group = groups, .version = "", .config = ""};

/* A, B and C follow each other, D does as it likes, E comes once. */
static inline uint32_t make_chain(struct mill_event *event)
{
  uint64_t state = 3;
  uint32_t n = 0;
  for (int64_t t = 5; t < 900; t += 15) {
    event[n++] = (struct mill_event){t, 0, 0};
    event[n++] = (struct mill_event){t + 2 + below(&state, 2), 1, 0};
    event[n++] = (struct mill_event){t + 6, 2, 0};
    event[n++] = (struct mill_event){t + 6 + below(&state, 9), 3, 0};
  }
  event[n++] = (struct mill_event){999, 4, 0};
  return n;
}

/* Into a file of the test's folder. */
static inline void write_chain(const char *name, const struct mill_event *event, uint32_t n)
{
  struct mill_error error;
  if (write_stream(in_folder(name), NULL, &info, event, n, 1, &error))
    bail("%s", error.text);
}

#endif
