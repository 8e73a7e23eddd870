/* Rows drawn on a GPU, in every way that there is: gpu-rows NEURONS PROBABILITY REPEAT. From 80 % of the neurons onto as many, in slices as wide as
   shared-memory delivery makes them (one a multiprocessor), and in one wide slice. Prints medians: all, and what allocating alone takes.
   Built by `make bench/gpu-rows`. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>

#include <spikemill/device.h>
#include "bench.h"
#include "cuda/maker.h"
#include "simulation.h"
#include "text.h"

enum { RUNS = 1000 };

static void must(int rc, const struct mill_error *error)
{
  if (rc < 0)
    stop(error->text);
}

static void release(struct mill_cuda *cuda, const struct mill_made *made)
{
  mill_cuda_release(cuda, made->start);
  mill_cuda_release(cuda, made->target);
}

/* What allocating as much takes. */
static double allocating(struct mill_cuda *cuda, const struct mill_cut *cut, uint64_t starts, uint64_t groups)
{
  struct mill_error error;
  mill_cu_address start, target;
  const double begun = mill_seconds();
  must(mill_cuda_allocate(cuda, "starts", starts * 4, &start, &error), &error);
  must(mill_cuda_allocate(cuda, "targets", groups * MILL_GROUP * (cut->narrow ? 2 : 4), &target, &error), &error);
  const double seconds = mill_seconds() - begun;
  mill_cuda_release(cuda, start);
  mill_cuda_release(cuda, target);
  return seconds;
}

static void measure(struct mill_maker *maker, const char *name, const struct mill_connection *c, const struct mill_cut *cut,
                    int repeat)
{
  static double all[RUNS], memory[RUNS];
  const uint64_t starts = (uint64_t)cut->slices * ((c->sources + UINT64_C(255)) / MILL_ROWS) * (MILL_ROWS + 1);
  struct mill_cuda *cuda = maker->cuda;
  struct mill_error error;
  struct mill_made made;
  mill_cu_address out;
  must(mill_cuda_allocate(cuda, "degrees", c->sources * UINT64_C(4), &out, &error), &error);
  must(mill_cuda_fill(cuda, out, 0, c->sources * UINT64_C(4), &error), &error);
  for (int run = 0; run <= repeat; run++) { /* the first one warms up */
    const double begun = mill_seconds();
    must(mill_maker_connect(maker, "rows", c, cut, &(struct mill_degrees){.out = out}, &made, &error), &error);
    all[run ? run - 1 : 0] = mill_seconds() - begun;
    release(cuda, &made);
    memory[run ? run - 1 : 0] = allocating(cuda, cut, starts, made.groups);
  }
  mill_cuda_release(cuda, out);
  const double whole = median(all, repeat), allocating = median(memory, repeat);
  printf("%-22s %s %8.2f ms, allocating %6.2f ms, %6.1f million synapses a ms (%6.1f without), %.3f bytes each\n", name,
         made.once ? "once " : "twice", whole * 1e3, allocating * 1e3, (double)made.synapses / whole / 1e9,
         (double)made.synapses / (whole - allocating) / 1e9,
         ((double)starts * 4 + (double)made.groups * MILL_GROUP * (cut->narrow ? 2 : 4)) / (double)made.synapses);
  fflush(stdout);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    uint32_t way;
  } ways[] = {{"as it chooses", MILL_MAKER_CHOOSES}, {"1 block a processor", 1}, {"2 blocks", 2}, {"3 blocks", 3}, {"4 blocks", 4},
              {"drawn twice", MILL_MAKER_TWICE}};
  struct mill_maker maker = {0};
  struct mill_error error;
  struct mill_connection c = {.rule = MILL_FIXED_PROBABILITY, .autapses = 1, .key = mill_key(1, MILL_PURPOSE_CONNECT, 0)};
  struct mill_cut cut;
  double neurons = 0;
  int repeat;
  if (argc != 4 || mill_text_real(argv[1], &neurons) || mill_text_real(argv[2], &c.p) || (repeat = atoi(argv[3])) < 1 ||
      repeat > RUNS)
    stop("gpu-rows NEURONS PROBABILITY REPEAT");
  c.sources = c.targets = (uint32_t)(0.8 * neurons);
  must(mill_cuda_open(&maker.cuda, &error), &error);
  must(mill_maker_open(&maker, MILL_MAKER_OF_ROWS, &error), &error);
  printf("%s: %u to %u neurons, p %g\n", maker.cuda->properties.name, c.sources, c.targets, c.p);
  cut.narrow = 1;
  cut.width = ((uint32_t)neurons + maker.cuda->properties.multiprocessors - 1) / maker.cuda->properties.multiprocessors;
  cut.slices = (c.targets - 1) / cut.width + 1;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    maker.way = ways[i].way;
    measure(&maker, ways[i].name, &c, &cut, repeat);
  }
  maker.way = MILL_MAKER_CHOOSES;
  cut = (struct mill_cut){0, c.targets, 1};
  measure(&maker, "one wide slice", &c, &cut, repeat);
  mill_maker_close(&maker);
  mill_cuda_close(maker.cuda);
  return 0;
}
