/* Hybrid A1 (Cao et al. 2009, section V): PTPE while there are enough candidates for all workers, else MapConcatenate, which splits the
   stream instead. On a GPU enough is what the kernel can have at work at once; here it is one candidate a thread. */
#include "mapconcatenate.h"
#include "ptpe.h"

#define LEVELS 64

struct parameters {
  int64_t segments;
  const char *crossover;
};
#define AT(member) offsetof(struct parameters, member)
static const struct mill_param_spec params[] = {
    {"segments", "", "0", NULL, "segments of the stream, a power of two; 0: as many as threads, rounded up to one", 0, SEGMENTS,
     AT(segments), MILL_INT, 0},
    {"crossover", "", NULL, NULL,
     "least candidates of a level that is counted by ptpe: a number, or one a level, the last for all further ones; without it the "
     "threads",
     0, 0, AT(crossover), MILL_TEXT, 0},
};
#undef AT

struct counter {
  const struct mill_host *host;
  struct ptpe ptpe;
  struct mapconcatenate map;
  uint64_t crossover[LEVELS]; /* [crossovers] of levels 1, 2, … */
  uint32_t crossovers;
  const char *method; /* of the level that is counted */
};

static int by_ptpe(const struct counter *counter, const struct mill_candidates *c)
{
  const uint32_t last = counter->crossovers - 1, at = c->level - 1 < last ? c->level - 1 : last;
  return c->total >= counter->crossover[at];
}

/* Reads whole numbers separated by blanks. */
static int read_crossovers(struct counter *counter, const char *text, struct mill_error *error)
{
  const char *p = text;
  uint32_t n = 0;
  for (;;) {
    uint64_t value = 0;
    const char *digits;
    while (*p == ' ')
      p++;
    for (digits = p; *p >= '0' && *p <= '9' && p - digits < 19; p++)
      value = 10 * value + (uint64_t)(*p - '0');
    if (p == digits || (*p && *p != ' ') || n == LEVELS) {
      p = digits;
      break;
    }
    counter->crossover[n++] = value;
  }
  counter->crossovers = n;
  if (*p || !n)
    return counter->host->fail(error, MILL_USAGE,
                               "crossover: expected up to %d whole numbers below 10^19 separated by blanks, at `%s`", LEVELS, p);
  return 0;
}

static void close_counter(void *self)
{
  struct counter *counter = (struct counter *)self;
  const struct mill_host *host = counter->host;
  mapconcatenate_close(&counter->map);
  ptpe_close(&counter->ptpe, host);
  host->release(counter);
}

static int open_counter(const struct mill_host *host, const void *block, const struct mill_counter_input *input, void **self,
                        struct mill_error *error)
{
  const struct parameters *parameters = (const struct parameters *)block;
  struct counter *counter = (struct counter *)host->allocate("hybrid counter", 1, sizeof *counter);
  if (!counter)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  counter->host = host;
  counter->ptpe.blocks.host = counter->map.host = host;
  counter->crossover[0] = input->workers;
  counter->crossovers = 1;
  if ((parameters->crossover && read_crossovers(counter, parameters->crossover, error)) ||
      ptpe_open(&counter->ptpe, host, input, error) ||
      mapconcatenate_open(&counter->map, host, input, &counter->ptpe.bounds, parameters->segments, error)) {
    close_counter(counter);
    return -1;
  }
  const uint64_t bounds = bounds_bytes(input); /* both have them, and half of the rest each */
  counter->ptpe.blocks.beside = counter->map.beside = bounds < input->memory ? bounds + (input->memory - bounds) / 2 : bounds;
  *self = counter;
  return 0;
}

static int count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  struct counter *counter = (struct counter *)self;
  const int ptpe = by_ptpe(counter, candidates);
  counter->method = ptpe ? "ptpe" : "mapconcatenate";
  if (ptpe)
    return ptpe_count(&counter->ptpe, candidates, NULL, candidates->count, counts, error);
  return mapconcatenate_count(&counter->map, candidates, counts, error);
}

static void tell(void *self, struct mill_counter_level *level)
{
  level->method = ((struct counter *)self)->method;
}

static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, tell, NULL};
MILL_PLUGIN(MILL_COUNTER, MILL_CPU | MILL_EXACT, "hybrid", "ptpe for levels of many candidates, mapconcatenate for those of few",
            sizeof(struct parameters), params, sizeof params / sizeof *params, ops);
