/* Hybrid A1 (Cao et al. 2009, section V): PTPE while there are enough candidates for all workers, else MapConcatenate, which splits the
   stream instead. On a GPU enough is what the kernel can have at work at once; here it is one candidate a thread. */
#include "algorithm-1-there.h"
#include "mapconcatenate.h"
#include "ptpe.h"

#define LEVELS 64

struct parameters {
  int64_t segments;
  const char *crossover;
};
#define AT(member) offsetof(struct parameters, member)
static const struct mill_param_spec params[] = {
    {"segments", "", "0", NULL,
     "segments of the stream, a power of two; 0: as many as threads, rounded up to one; on a GPU as many as keep it busy", 0,
     SEGMENTS, AT(segments), MILL_INT, 0},
    {"crossover", "", NULL, NULL,
     "least candidates of a level that is counted by ptpe: a number, or one a level, the last for all further ones; without it the "
     "threads, on a GPU those that it has at work at once",
     0, 0, AT(crossover), MILL_TEXT, 0},
};
#undef AT

/* Least candidates that are counted by PTPE: [count] of levels 1, 2, … */
struct crossovers {
  uint64_t least[LEVELS];
  uint32_t count;
};

struct counter {
  const struct mill_host *host;
  struct ptpe ptpe;
  struct mapconcatenate map;
  struct crossovers crossovers;
  const char *method; /* of the level that is counted */
};

static const char *const methods[] = {"mapconcatenate", "ptpe"};

static int by_ptpe(const struct crossovers *crossovers, uint32_t level, uint64_t total)
{
  const uint32_t last = crossovers->count - 1, at = level - 1 < last ? level - 1 : last;
  return total >= crossovers->least[at];
}

/* Reads whole numbers separated by blanks. */
static int read_crossovers(const struct mill_host *host, struct crossovers *crossovers, const char *text, struct mill_error *error)
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
    crossovers->least[n++] = value;
  }
  crossovers->count = n;
  if (*p || !n)
    return host->fail(error, MILL_USAGE, "crossover: expected up to %d whole numbers below 10^19 separated by blanks, at `%s`",
                      LEVELS, p);
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
  counter->crossovers = (struct crossovers){{input->workers}, 1};
  if ((parameters->crossover && read_crossovers(host, &counter->crossovers, parameters->crossover, error)) ||
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
  const int ptpe = by_ptpe(&counter->crossovers, candidates->level, candidates->total);
  counter->method = methods[ptpe];
  if (ptpe)
    return ptpe_count(&counter->ptpe, candidates, NULL, candidates->count, counts, error);
  return mapconcatenate_count(&counter->map, candidates, counts, error);
}

static void tell(void *self, struct mill_counter_level *level)
{
  level->method = ((struct counter *)self)->method;
}

/* ---- On a device ---- */

struct on_device {
  const struct mill_host *host;
  struct a1 a1;
  uint32_t segments;
  struct crossovers crossovers; /* of none: what the device has at work at once */
  const char *method;
};

static void device_close(void *self)
{
  struct on_device *counter = (struct on_device *)self;
  a1_close(&counter->a1);
  counter->host->release(counter);
}

static int device_open(const struct mill_host *host, const struct mill_device_host *device, const void *block,
                       const struct mill_counter_input *input, const struct mill_device_stream *stream, void **self,
                       struct mill_error *error)
{
  const struct parameters *parameters = (const struct parameters *)block;
  struct on_device *counter = (struct on_device *)host->allocate("hybrid counter", 1, sizeof *counter);
  if (!counter)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  counter->host = host;
  counter->segments = (uint32_t)parameters->segments;
  if (a1_open(&counter->a1, host, device, input, stream, 1, error) || map_is_power(host, parameters->segments, error) ||
      (parameters->crossover && read_crossovers(host, &counter->crossovers, parameters->crossover, error))) {
    device_close(counter);
    return -1;
  }
  *self = counter;
  return 0;
}

/* Whether a batch of `count` candidates, of `total` of the level, is counted by PTPE; its lists have no more than `longest` times. By the rule it is
   where MapConcatenate would have one segment, which is PTPE too. */
static int device_choose(struct on_device *counter, uint32_t level, uint64_t total, uint32_t count, uint32_t longest, int *ptpe,
                         struct mill_error *error)
{
  if (counter->crossovers.count) {
    *ptpe = by_ptpe(&counter->crossovers, level, total);
  } else {
    const uint64_t at_once = ptpe_at_once(&counter->a1, level, longest, error);
    if (!at_once)
      return -1;
    *ptpe = total >= at_once || map_wanted(&counter->a1, counter->segments, count) == 1;
  }
  counter->method = methods[*ptpe];
  return 0;
}

static int device_count(void *self, const struct mill_candidates *candidates, uint64_t *counts, struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)self;
  struct a1 *a1 = &counter->a1;
  struct tiles_batch batch;
  int ptpe;
  if (candidates->level == 1) {
    count_level_one(a1->tiles.in, candidates, counts);
    counter->method = NULL;
    return 0;
  }
  if (device_choose(counter, candidates->level, candidates->total, candidates->count,
                    a1_longest(a1, candidates, NULL, candidates->count), &ptpe, error))
    return -1;
  if (tiles_send(&a1->tiles, candidates, &batch, error))
    return -1;
  if (ptpe)
    return ptpe_on_device(a1, candidates, &batch, NULL, candidates->count, counts, error);
  return map_on_device(a1, candidates, &batch, counter->segments, counts, error);
}

static void device_tell(void *self, struct mill_counter_level *level)
{
  level->method = ((struct on_device *)self)->method;
}

static int count_there(void *self, const struct mill_device_candidates *candidates, struct mill_error *error)
{
  struct on_device *counter = (struct on_device *)self;
  struct a1 *a1 = &counter->a1;
  const struct tiles_batch batch = tiles_there(&a1->tiles, candidates);
  uint32_t longest;
  int ptpe;
  if (there_longest(a1, &batch, &longest, error) ||
      device_choose(counter, candidates->level, candidates->total, candidates->count, longest, &ptpe, error))
    return -1;
  if (ptpe)
    return ptpe_there(a1, &batch, 0, batch.count, longest, candidates->result, error);
  return map_there(a1, &batch, counter->segments, longest, candidates->result, error);
}

static const struct mill_counter_there there = {sizeof there, 1, count_there, NULL};

static const unsigned char text[] = {
#include "miners/tiles.cu_text"
#include "miners/algorithm-1.cu_text"
};
static const struct mill_counter_device on_device = {device_open, device_count, mill_keep_nothing, device_close, device_tell,
                                                     &there,      NULL};
static const struct mill_counter_ops ops = {open_counter, count, mill_keep_nothing, close_counter, tell, &on_device};
MILL_PLUGIN_WITH_TEXT(MILL_COUNTER, MILL_CPU | MILL_CUDA | MILL_EXACT, "hybrid",
                      "ptpe for levels of many candidates, mapconcatenate for those of few", sizeof(struct parameters), params,
                      sizeof params / sizeof *params, ops, text, text + sizeof text, "miners/tiles.cu");
