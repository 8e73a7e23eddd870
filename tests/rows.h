/* For tests of connection rules: a rule for two populations, its rows, and a team for each number of threads. */
#ifndef ROWS_H
#define ROWS_H

#include <spikemill/device.h>
#include "connect.h"
#include "memory.h"
#include "tap.h"

static struct mill_team *teams[4]; // of 1, 2, 3 and 8 threads

static inline struct mill_connection rule_of(enum mill_rule rule, uint32_t sources, uint32_t targets)
{
  struct mill_connection c = {.rule = rule, .sources = sources, .targets = targets, .autapses = 1};
  c.key = mill_key(7, MILL_PURPOSE_CONNECT, 3);
  return c;
}

static inline struct mill_rows build(const struct mill_connection *c, int team)
{
  struct mill_rows rows;
  struct mill_error error;
  if (mill_connect(teams[team], c, &rows, &error))
    bail("cannot connect: %s", error.text);
  return rows;
}

static inline bool same_rows(const struct mill_rows *a, const struct mill_rows *b, uint32_t sources)
{
  return a->synapses == b->synapses && !memcmp(a->row, b->row, (sources + 1) * sizeof *a->row) &&
         !memcmp(a->column, b->column, a->synapses * sizeof *a->column);
}

// Sorted, in range, and without what is not allowed.

// Makes the teams. Returns the bytes held, for rows_end.
static inline uint64_t rows_begin(void)
{
  static const uint32_t sizes[] = {1, 2, 3, 8};
  struct mill_error error;
  for (int i = 0; i < 4; i++)
    if (mill_team_create(sizes[i], &teams[i], &error))
      bail("%s", error.text);
  return mill_memory_held();
}

static inline void rows_end(uint64_t held)
{
  ok(mill_memory_held() == held, "all memory was given back");
  for (int i = 0; i < 4; i++)
    mill_team_free(teams[i]);
}

#endif
