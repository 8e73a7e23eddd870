/* The oracle of the counters: every occurrence is enumerated, and the most that do not overlap are found by dynamic programming
   over the places where they end. Nothing is greedy here and nothing is kept in lists, so that it shares no thought with what it
   judges. With readers of streams and episodes as text, as in "A@0 B@1" and "A (0,1] B". */
#ifndef BRUTE_H
#define BRUTE_H

#include <inttypes.h>

#include <spikemill/counter.h>
#include <spikemill/format.h>
#include "tap.h"

enum { BRUTE_NODES = 8, BRUTE_EVENTS = 64 };

struct brute_episode {
  uint32_t length;
  uint32_t type[BRUTE_NODES];
  struct mill_interval gap[BRUTE_NODES];
};

struct brute {
  const struct mill_event *event;
  const struct brute_episode *episode;
  uint32_t
      place[BRUTE_EVENTS]; /* of each event, from 1: an occurrence may start at a place after the one where another has ended */
  uint32_t best[BRUTE_EVENTS + 1]; /* of occurrences that end at this place or before */
  uint64_t occurrences;
};

/* Event i is node k of an occurrence whose later nodes are chosen; it ends at `place`. */
__attribute__((noinline)) static void brute_back(struct brute *b, uint32_t k, uint32_t i, uint32_t place)
{
  if (b->event[i].unit != b->episode->type[k])
    return;
  if (k == 0) {
    b->occurrences++;
    if (b->best[b->place[i] - 1] + 1 > b->best[place])
      b->best[place] = b->best[b->place[i] - 1] + 1;
    return;
  }
  const struct mill_interval *gap = &b->episode->gap[k - 1];
  for (uint32_t p = 0; p < i; p++) {
    int64_t d = (int64_t)((uint64_t)b->event[i].tick - (uint64_t)b->event[p].tick);
    if (d > gap->low && d <= gap->high)
      brute_back(b, k - 1, p, place);
  }
}

/* The count of an episode in up to BRUTE_EVENTS events. A low bound of -1 allows gaps of zero, in the order of the events. */
static inline uint32_t brute_count(const struct mill_event *event, uint32_t n, const struct brute_episode *episode, int strict)
{
  struct brute b = {.event = event, .episode = episode};
  for (uint32_t i = 0; i < n; i++) {
    uint32_t before = i ? b.place[i - 1] : 0;
    b.place[i] = strict && i && event[i].tick == event[i - 1].tick ? before : before + 1;
    if (b.place[i] > before)
      b.best[b.place[i]] = b.best[before];
    brute_back(&b, episode->length - 1, i, b.place[i]);
  }
  return n ? b.best[b.place[n - 1]] : 0;
}

/* "A@0 B@1": types are letters or digits. Returns the number of events. */
static inline uint32_t brute_read_stream(const char *text, struct mill_event *event)
{
  uint32_t n = 0;
  for (const char *p = text; *p; n++) {
    char *end;
    if (n == BRUTE_EVENTS || p[1] != '@')
      bail("not a stream: %s", text);
    event[n] = (struct mill_event){.unit = (uint32_t)(*p >= 'A' ? *p - 'A' : *p - '1'), .tick = strtoll(p + 2, &end, 10)};
    p = end + strspn(end, " ");
  }
  return n;
}

/* "A (0,1] B (0,1] A" */
static inline void brute_read_episode(const char *text, struct brute_episode *episode)
{
  *episode = (struct brute_episode){0};
  for (const char *p = text; *p;) {
    uint32_t n = episode->length++;
    int used = 0;
    episode->type[n] = (uint32_t)(*p >= 'A' ? *p - 'A' : *p - '1');
    if (!p[1])
      return;
    if (n + 1 == BRUTE_NODES ||
        sscanf(p + 1, " (%" SCNd64 ",%" SCNd64 "] %n", &episode->gap[n].low, &episode->gap[n].high, &used) != 2 || !used)
      bail("not an episode: %s", text);
    p += 1 + used;
  }
}

/* A type as a letter while there are enough. */
static inline int brute_put(char *to, size_t size, uint32_t type)
{
  return type < 26 ? snprintf(to, size, "%c", (char)('A' + type)) : snprintf(to, size, "type %" PRIu32, type);
}

static inline void brute_show(const struct mill_event *event, uint32_t n, const struct brute_episode *episode)
{
  char line[900];
  size_t at = 0;
  for (uint32_t i = 0; i < n && at + 40 < sizeof line; i++) {
    at += (size_t)brute_put(line + at, sizeof line - at, event[i].unit);
    at += (size_t)snprintf(line + at, sizeof line - at, "@%" PRId64 " ", event[i].tick);
  }
  diag("%s", line);
  at = 0;
  for (uint32_t k = 0; k < episode->length && at + 60 < sizeof line; k++) {
    at += (size_t)brute_put(line + at, sizeof line - at, episode->type[k]);
    if (k + 1 < episode->length)
      at += (size_t)snprintf(line + at, sizeof line - at, " (%" PRId64 ",%" PRId64 "] ", episode->gap[k].low, episode->gap[k].high);
  }
  diag("%s", line);
}

#endif
