/* The host's side of surrogates.cu: the recording goes to the device once, then surrogates are made there, as many at a time as there is memory
   for, and counts in them are added up there. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/device-surrogates.h"

#include <stdlib.h>
#include <string.h>

#include <spikemill/device.h>
#include "cuda/miner-private.h"
#include "cuda/texts.h"
#include "memory.h"
#include "surrogates-private.h"

#define THREADS 256u
#define MOVERS 32u    /* threads of a block that moves trains: there are few of them */
#define ROWS 64u      /* as in surrogates.cu */
#define GRID_Y 65535u /* blocks, at most */
#define MOVER_BLOCKS 65536u

/* As in surrogates.cu. */
struct device_trains {
  uint64_t time, place, train, first, type, apart;
  uint64_t moved[2], rank;
  uint64_t to_time, to_type_time, to_type, to_order, to_type_order;
  uint64_t key, width, reach;
  uint32_t events, trains, surrogates, kind, strict, reserved;
};
_Static_assert(sizeof(struct device_trains) == 160, "as in surrogates.cu");

enum { LAY, MOVE, MERGE, TRAINS, ORDER, TALLY, KERNELS };
static const char *const kernels[KERNELS] = {"surrogates_lay",    "surrogates_move",  "surrogates_merge",
                                             "surrogates_trains", "surrogates_order", "surrogates_tally"};

/* Arrays of the device that are there once. */
enum { COUNTS, LEAST, REACHED, SUM, ARRAYS };

struct mill_device_surrogates {
  struct mill_miner *miner;
  struct mill_cuda *cuda;
  mill_cu_function kernel[KERNELS];
  struct device_trains trains;
  struct mill_device_stream streams;
  uint64_t array[ARRAYS];
  uint64_t longest; /* events of a train */
  uint32_t narrow, room, episodes;
};

int mill_device_surrogates_are_narrow(const struct mill_trains *trains)
{
  return trains->width <= INT32_MAX;
}

int mill_device_surrogates_can(const struct mill_trains *trains)
{
  return trains->width - 1 <= INT64_MAX && trains->events > 0;
}

/* ---- The program -------------------------------------------------------------------------------------------------------- */

int mill_device_surrogates_compile(struct mill_compiler *compiler, int narrow, int major, int minor,
                                   struct mill_program_image *image, struct mill_error *error)
{
  const char *text = narrow ? "#define MILL_TIME int32_t\n#define MILL_TICKS uint32_t\n#include \"core/cuda/surrogates.cu\"\n"
                            : "#define MILL_TIME int64_t\n#define MILL_TICKS uint64_t\n#include \"core/cuda/surrogates.cu\"\n";
  const struct mill_program_source source = {.main = {"surrogates.cu", text},
                                             .header_count = mill_device_text_count,
                                             .header = mill_device_text,
                                             .major = major,
                                             .minor = minor};
  return mill_program_compile(compiler, &source, image, error);
}

/* The miner keeps it for the next window. */
static int load(struct mill_device_surrogates *s, struct mill_error *error)
{
  const struct mill_cuda_properties *p = &s->cuda->properties;
  mill_cu_module *module = &s->miner->surrogates[s->narrow];
  struct mill_program_image image = {0};
  int rc = *module ? 0 : mill_device_surrogates_compile(NULL, (int)s->narrow, p->major, p->minor, &image, error);
  if (rc == 0 && !*module)
    rc = mill_cuda_check(s->cuda, s->cuda->call.module_load(module, image.bytes), "loading the program of surrogates", error);
  free(image.bytes);
  for (int k = 0; rc == 0 && k < KERNELS; k++)
    rc = mill_cuda_check(s->cuda, s->cuda->call.module_function(&s->kernel[k], *module, kernels[k]), kernels[k], error);
  return rc;
}

static int launch(const struct mill_device_surrogates *s, int kernel, uint64_t columns, uint32_t rows, uint32_t threads,
                  void **argument, struct mill_error *error)
{
  const uint64_t blocks = (columns + threads - 1) / threads;
  return mill_cuda_check(s->cuda,
                         s->cuda->call.launch(s->kernel[kernel], (unsigned)blocks, rows < GRID_Y ? rows : GRID_Y, 1, threads, 1, 1,
                                              0, s->miner->stream, argument, NULL),
                         kernels[kernel], error);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------------- */

static uint32_t ticks_bytes(const struct mill_device_surrogates *s)
{
  return s->narrow ? 4 : 8;
}

/* Bytes of an event of a surrogate, and of a surrogate. */
static uint64_t event_bytes(const struct mill_device_surrogates *s)
{
  return 2 * 2 * ticks_bytes(s) + 2 * ticks_bytes(s) + 4 * sizeof(uint32_t);
}

static uint64_t surrogate_bytes(const struct mill_device_surrogates *s)
{
  return s->trains.events * event_bytes(s) + s->episodes * sizeof(uint32_t);
}

static int take(struct mill_device_surrogates *s, const char *name, uint64_t bytes, uint64_t *address, struct mill_error *error)
{
  return mill_miner_allocate(s->miner, name, bytes, address, error);
}

static int put(struct mill_device_surrogates *s, const char *name, const void *from, uint64_t bytes, uint64_t *address,
               struct mill_error *error)
{
  return take(s, name, bytes, address, error) < 0 ? -1 : mill_cuda_upload(s->cuda, *address, from, bytes, error);
}

/* Of 32 or 64 bits. */
static int put_ticks(struct mill_device_surrogates *s, const char *name, const uint64_t *ticks, uint32_t count, uint64_t *address,
                     struct mill_error *error)
{
  uint32_t *narrow;
  int rc;
  if (!s->narrow)
    return put(s, name, ticks, count * sizeof *ticks, address, error);
  narrow = mill_allocate_or_fail(name, count, sizeof *narrow, error);
  if (!narrow)
    return -1;
  for (uint32_t i = 0; i < count; i++)
    narrow[i] = (uint32_t)ticks[i];
  rc = put(s, name, narrow, count * sizeof *narrow, address, error);
  mill_release(narrow);
  return rc;
}

static int put_trains(struct mill_device_surrogates *s, const struct mill_trains *t, struct mill_error *error)
{
  uint32_t *train = mill_allocate_or_fail("trains of events", t->events, sizeof *train, error);
  uint64_t *apart = mill_allocate_or_fail("least intervals", t->types, sizeof *apart, error);
  int rc = -1;
  if (!train || !apart)
    goto done;
  for (uint32_t e = 0; e < t->types; e++) {
    const uint32_t n = t->first[e + 1] - t->first[e];
    for (uint32_t i = t->first[e]; i < t->first[e + 1]; i++)
      train[i] = e;
    apart[e] = mill_train_least_interval(t->time + t->first[e], n);
    s->longest = n > s->longest ? n : s->longest;
  }
  rc = put_ticks(s, "times of trains", t->time, t->events, &s->trains.time, error) < 0 ||
               put(s, "places of trains", t->place, t->events * sizeof *t->place, &s->trains.place, error) < 0 ||
               put(s, "trains of events", train, t->events * sizeof *train, &s->trains.train, error) < 0 ||
               put(s, "first events of trains", t->first, (t->types + UINT64_C(1)) * sizeof *t->first, &s->trains.first, error) <
                   0 ||
               put(s, "types of trains", t->type, t->types * sizeof *t->type, &s->trains.type, error) < 0 ||
               put_ticks(s, "least intervals", apart, t->types, &s->trains.apart, error) < 0
           ? -1
           : 0;
done:
  mill_release(train);
  mill_release(apart);
  return rc;
}

static void release_surrogates(struct mill_device_surrogates *s)
{
  uint64_t *const array[] = {&s->trains.moved[0], &s->trains.moved[1],      &s->trains.rank,
                             &s->trains.to_time,  &s->trains.to_type_time,  &s->trains.to_type,
                             &s->trains.to_order, &s->trains.to_type_order, &s->array[COUNTS]};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
    mill_cuda_release(s->cuda, *array[i]);
    *array[i] = 0;
  }
}

static int take_surrogates(struct mill_device_surrogates *s, struct mill_error *error)
{
  const uint64_t n = (uint64_t)s->room * s->trains.events, ticks = n * ticks_bytes(s), number = n * sizeof(uint32_t);
  return take(s, "moved events", 2 * ticks, &s->trains.moved[0], error) < 0 ||
                 take(s, "moved events", 2 * ticks, &s->trains.moved[1], error) < 0 ||
                 take(s, "ranks of events", number, &s->trains.rank, error) < 0 ||
                 take(s, "times of surrogates", ticks, &s->trains.to_time, error) < 0 ||
                 take(s, "times of surrogates by type", ticks, &s->trains.to_type_time, error) < 0 ||
                 take(s, "types of surrogates", number, &s->trains.to_type, error) < 0 ||
                 take(s, "order of surrogates", number, &s->trains.to_order, error) < 0 ||
                 take(s, "order of surrogates by type", number, &s->trains.to_type_order, error) < 0 ||
                 take(s, "counts in surrogates", (uint64_t)s->room * s->episodes * sizeof(uint32_t), &s->array[COUNTS], error) < 0
             ? -1
             : 0;
}

/* As many as memory allows, and fewer when the device does not have it. */
static int make_room(struct mill_device_surrogates *s, const struct mill_device_surrogates_setup *setup, struct mill_error *error)
{
  const uint64_t fit = setup->memory / surrogate_bytes(s);
  s->room = fit < 1 ? 1 : fit < setup->most ? (uint32_t)fit : setup->most;
  while (take_surrogates(s, s->room > 1 ? NULL : error) < 0) {
    release_surrogates(s);
    if (s->room == 1)
      return -1;
    s->room /= 2;
  }
  return 0;
}

static int put_sums(struct mill_device_surrogates *s, const uint32_t *least, struct mill_error *error)
{
  const uint64_t n = s->episodes;
  return put(s, "counts of episodes", least, n * sizeof *least, &s->array[LEAST], error) < 0 ||
                 take(s, "surrogates that reach a count", n * sizeof(uint32_t), &s->array[REACHED], error) < 0 ||
                 take(s, "sums of counts", n * sizeof(uint64_t), &s->array[SUM], error) < 0 ||
                 mill_cuda_fill(s->cuda, s->array[REACHED], 0, n * sizeof(uint32_t), error) < 0 ||
                 mill_cuda_fill(s->cuda, s->array[SUM], 0, n * sizeof(uint64_t), error) < 0
             ? -1
             : 0;
}

/* ---- Open and close ------------------------------------------------------------------------------------------------------- */

static void describe(struct mill_device_surrogates *s)
{
  const struct mill_device_stream *like = mill_miner_stream(s->miner);
  s->streams = (struct mill_device_stream){.time = s->trains.to_time,
                                           .type = s->trains.to_type,
                                           .order = s->trains.to_order,
                                           .first = s->trains.first,
                                           .type_time = s->trains.to_type_time,
                                           .type_order = s->trains.to_type_order,
                                           .interval = like->interval,
                                           .events = s->trains.events,
                                           .types = s->trains.trains,
                                           .intervals = like->intervals,
                                           .strict = s->trains.strict,
                                           .time_bytes = ticks_bytes(s)};
}

int mill_device_surrogates_open(const struct mill_device_surrogates_setup *setup, struct mill_device_surrogates **surrogates,
                                struct mill_error *error)
{
  const struct mill_trains *t = setup->trains;
  struct mill_device_surrogates *s = mill_allocate_or_fail("surrogates", 1, sizeof *s, error);
  *surrogates = NULL;
  if (!s)
    return -1;
  s->miner = setup->miner;
  s->cuda = setup->miner->cuda;
  s->narrow = (uint32_t)mill_device_surrogates_are_narrow(t);
  s->episodes = setup->episodes;
  s->trains = (struct device_trains){.key = mill_key(t->setup.seed, MILL_PURPOSE_SURROGATE, (uint32_t)t->setup.kind),
                                     .width = t->width,
                                     .reach = (uint64_t)t->setup.dither,
                                     .events = t->events,
                                     .trains = t->types,
                                     .kind = (uint32_t)t->setup.kind,
                                     .strict = setup->strict};
  if (mill_miner_attach(s->miner, error) < 0 || load(s, error) < 0 || put_trains(s, t, error) < 0 ||
      put_sums(s, setup->least, error) < 0 || make_room(s, setup, error) < 0) {
    mill_device_surrogates_close(s);
    return -1;
  }
  describe(s);
  *surrogates = s;
  return 0;
}

void mill_device_surrogates_close(struct mill_device_surrogates *s)
{
  if (!s)
    return;
  const uint64_t recording[] = {s->trains.time, s->trains.place, s->trains.train, s->trains.first, s->trains.type, s->trains.apart};
  (void)mill_miner_attach(s->miner, NULL);
  (void)s->cuda->call.stream_synchronize(s->miner->stream);
  release_surrogates(s);
  for (size_t i = 0; i < sizeof recording / sizeof *recording; i++)
    mill_cuda_release(s->cuda, recording[i]);
  for (int i = 0; i < ARRAYS; i++)
    mill_cuda_release(s->cuda, s->array[i]);
  mill_release(s);
}

uint32_t mill_device_surrogates_room(const struct mill_device_surrogates *s)
{
  return s->room;
}

uint64_t mill_device_surrogates_counts(const struct mill_device_surrogates *s)
{
  return s->array[COUNTS];
}

/* ---- Surrogates --------------------------------------------------------------------------------------------------------- */

static int merge(struct mill_device_surrogates *s, uint32_t *which, uint64_t length, uint32_t trains, struct mill_error *error)
{
  void *argument[] = {&s->trains, which, &length, &trains};
  const int rc = launch(s, MERGE, s->trains.events, s->trains.surrogates, THREADS, argument, error);
  *which ^= 1;
  return rc;
}

static int is_sorted_by_train(const struct mill_device_surrogates *s)
{
  return s->trains.kind == MILL_SURROGATE_DITHER_REFRACTORY || s->trains.kind == MILL_SURROGATE_ISI_SHUFFLE;
}

static int move(struct mill_device_surrogates *s, uint64_t first, struct mill_error *error)
{
  const uint64_t trains = (uint64_t)s->trains.surrogates * s->trains.trains, most = (uint64_t)MOVER_BLOCKS * MOVERS;
  void *argument[] = {&s->trains, &first};
  if (launch(s, LAY, s->trains.events, s->trains.surrogates, THREADS, argument, error) < 0)
    return -1;
  return is_sorted_by_train(s) ? launch(s, MOVE, trains < most ? trains : most, 1, MOVERS, argument, error) : 0;
}

int mill_device_surrogates_make(struct mill_device_surrogates *s, uint64_t first, uint32_t count,
                                struct mill_device_stream *streams, struct mill_error *error)
{
  uint32_t which = 0;
  void *argument[] = {&s->trains, &which};
  int rc;
  s->trains.surrogates = count;
  *streams = s->streams;
  rc = mill_miner_attach(s->miner, error) < 0 ? -1 : move(s, first, error);
  for (uint64_t length = 1; rc == 0 && !is_sorted_by_train(s) && length < s->longest; length *= 2)
    rc = merge(s, &which, length, 0, error);
  if (rc == 0)
    rc = launch(s, TRAINS, s->trains.events, count, THREADS, argument, error);
  for (uint64_t trains = 1; rc == 0 && trains < s->trains.trains; trains *= 2)
    rc = merge(s, &which, 0, (uint32_t)trains, error);
  return rc == 0 ? launch(s, ORDER, s->trains.events, count, THREADS, argument, error) : -1;
}

int mill_device_surrogates_tally(struct mill_device_surrogates *s, uint32_t count, struct mill_error *error)
{
  uint32_t episodes = s->episodes;
  void *argument[] = {&s->array[COUNTS], &count, &episodes, &s->array[LEAST], &s->array[REACHED], &s->array[SUM]};
  if (launch(s, TALLY, episodes, (count + ROWS - 1) / ROWS, THREADS, argument, error) < 0)
    return -1;
  return mill_cuda_check(s->cuda, s->cuda->call.stream_synchronize(s->miner->stream), "counting in surrogates on the GPU", error);
}

int mill_device_surrogates_results(struct mill_device_surrogates *s, uint32_t *reached, uint64_t *sum, struct mill_error *error)
{
  return mill_miner_attach(s->miner, error) < 0 ||
                 mill_cuda_download(s->cuda, reached, s->array[REACHED], s->episodes * sizeof *reached, error) < 0 ||
                 mill_cuda_download(s->cuda, sum, s->array[SUM], s->episodes * sizeof *sum, error) < 0
             ? -1
             : 0;
}
