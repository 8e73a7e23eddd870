/* For tests that weigh synapses: projections made of a rule and a distribution, a team for each number of threads, and what is
   stored compared with its definition. */
#ifndef WEIGHING_H
#define WEIGHING_H

#include <unistd.h>

#include <spikemill/device.h>
#include "memory.h"
#include "registry.h"
#include "tap.h"
#include "weights.h"

static struct mill_team *teams[4]; // of 1, 2, 3 and 8 threads
static char notes[4096];           // what the last mill_weigh remarked

static inline void take_note(const char *line, void *self)
{
  (void)self;
  strncat(notes, line, sizeof notes - strlen(notes) - 2);
  strcat(notes, "\n");
}

static inline struct mill_dist dist(int kind, double a, double b, double lo, double hi)
{
  return (struct mill_dist){.kind = kind, .a = a, .b = b, .lo = lo, .hi = hi};
}

static inline struct mill_dist number(double a)
{
  return dist(MILL_DIST_NUMBER, a, 0, 0, 0);
}

// A projection of some rule; `rows` are freed by whoever asked.
static inline struct mill_weighing project(struct mill_rows *rows, enum mill_rule rule, double p, uint64_t n, uint32_t sources,
                                           uint32_t targets, struct mill_dist weight)
{
  static uint32_t index;
  struct mill_connection c = {.rule = rule, .p = p, .n = n, .sources = sources, .targets = targets, .autapses = 1};
  struct mill_error error;
  c.multapses = rule >= MILL_FIXED_INDEGREE;
  c.key = mill_key(3, MILL_PURPOSE_CONNECT, index);
  if (mill_connect(teams[1], &c, rows, &error))
    bail("%s", error.text);
  struct mill_weighing w = {
      .name = "some", .rows = rows, .sources = sources, .targets = targets, .weight = weight, .delay = number(1)};
  w.weight_key = mill_key(3, MILL_PURPOSE_WEIGHT, index);
  w.delay_key = mill_key(3, MILL_PURPOSE_DELAY, index++);
  return w;
}

static inline struct mill_weighing stimulate(double weight, uint32_t largest, uint32_t targets)
{
  return (struct mill_weighing){.name = "noise", .targets = targets, .weight = number(weight), .largest = largest};
}

static inline struct mill_accumulator weigh(uint32_t bits, struct mill_weighing *const *list, uint32_t n, int team)
{
  struct mill_accumulator a = {.bits = bits};
  struct mill_error error = {0};
  notes[0] = 0;
  if (mill_weigh(teams[team], list, n, "exc.gaba", &a, &error))
    bail("cannot weigh: %s", error.text);
  return a;
}

static inline int64_t quanta(const struct mill_weighing *w, uint64_t i)
{
  return w->weight_bits == 16 ? ((int16_t *)w->weight_store)[i] : w->weight_bits ? ((int32_t *)w->weight_store)[i] : w->weight_all;
}

// The largest sum of |quanta| over a neuron's synapses and stimuli, in the plainest way.
static inline uint64_t bound_of(struct mill_weighing *const *list, uint32_t n)
{
  uint32_t targets = list[0]->targets;
  uint64_t *sum = calloc(targets, sizeof *sum), most = 0;
  for (uint32_t k = 0; k < n; k++) {
    for (uint64_t i = 0; list[k]->rows && i < list[k]->rows->synapses; i++)
      sum[list[k]->rows->column[i]] += (uint64_t)llabs(quanta(list[k], i));
    for (uint32_t t = 0; !list[k]->rows && t < targets; t++)
      sum[t] += (uint64_t)list[k]->largest * (uint64_t)llabs(list[k]->weight_all);
  }
  for (uint32_t t = 0; t < targets; t++)
    most = sum[t] > most ? sum[t] : most;
  free(sum);
  return most;
}

// Every stored weight is its draw to the nearest even quantum; counts those that became 0.
static inline bool as_drawn(const struct mill_weighing *w, int exponent, uint64_t *zeroed)
{
  *zeroed = 0;
  for (uint32_t s = 0; s < w->sources; s++) {
    uint32_t m = 0;
    for (uint64_t i = w->rows->row[s]; i < w->rows->row[s + 1]; i++) {
      m = i > w->rows->row[s] && w->rows->column[i] == w->rows->column[i - 1] ? m + 1 : 0;
      double drawn = mill_dist_draw(&w->weight, w->weight_key, (uint64_t)s << 32 | w->rows->column[i], m, NULL, NULL);
      double want = rint(ldexp(drawn, exponent));
      if (fabs((double)quanta(w, i) - want) > 0)
        return false;
      *zeroed += quanta(w, i) == 0 && fabs(drawn) > 0;
    }
  }
  return true;
}

static inline struct mill_edges *edges_of(const char *text)
{
  char folder[] = "/tmp/spikemill-weights-XXXXXX", path[64];
  struct mill_edges *e;
  struct mill_error error;
  if (!mkdtemp(folder))
    bail("no temporary folder");
  snprintf(path, sizeof path, "%s/e.csv", folder);
  FILE *file = fopen(path, "w");
  if (!file || fputs(text, file) < 0 || fclose(file) || mill_edges_read(path, &e, &error))
    bail("no edges");
  unlink(path);
  rmdir(folder);
  return e;
}

static inline struct mill_weighing project_edges(struct mill_rows *rows, struct mill_edges *e, uint32_t sources, uint32_t targets)
{
  struct mill_connection c = {
      .rule = MILL_EDGES, .sources = sources, .targets = targets, .autapses = 1, .multapses = 1, .edges = e};
  struct mill_error error;
  if (mill_connect(teams[1], &c, rows, &error))
    bail("%s", error.text);
  return (struct mill_weighing){
      .name = "list", .rows = rows, .sources = sources, .targets = targets, .edges = e, .weight = number(9), .delay = number(2)};
}

// Makes the teams and listens to notes. Returns the bytes held, for weighing_end.
static inline uint64_t weighing_begin(void)
{
  static const uint32_t sizes[] = {1, 2, 3, 8};
  struct mill_error error;
  for (int i = 0; i < 4; i++)
    if (mill_team_create(sizes[i], &teams[i], &error))
      bail("%s", error.text);
  mill_note_set(take_note, NULL);
  return mill_memory_held();
}

static inline void weighing_end(uint64_t held)
{
  ok(mill_memory_held() == held, "all memory was given back");
  mill_note_set(NULL, NULL);
  for (int i = 0; i < 4; i++)
    mill_team_free(teams[i]);
}

#endif
