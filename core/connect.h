/* Connection rules: which pairs of neurons have synapses. Random access throughout, so that any number of threads (and any device)
   builds the same graph: simulation.md "Connectivity". */
#ifndef MILL_CONNECT_H
#define MILL_CONNECT_H

#include <stdint.h>
#include <spikemill/error.h>
#include "expr.h"
#include "threads.h"

enum mill_rule {
  MILL_ALL_TO_ALL,
  MILL_ONE_TO_ONE,
  MILL_FIXED_PROBABILITY,
  MILL_FIXED_INDEGREE,
  MILL_FIXED_OUTDEGREE,
  MILL_FIXED_TOTAL,
  MILL_EDGES
};

/* A list read from edges.csv: header line with the columns source,target[,weight][,delay] in any order (weight in the receptor's
   unit, delay in ms); blank lines and lines that start with # are skipped. */
struct mill_edges {
  char *path;
  uint64_t count;
  uint32_t *source, *target;
  double *weight;    /* NULL when there is no such column */
  int64_t *delay_ps; /* NULL when there is no such column */
  uint64_t *line;    /* of the file, for messages */
};
int mill_edges_read(const char *path, struct mill_edges **edges, struct mill_error *error);
void mill_edges_free(struct mill_edges *edges);

/* A rule and its operands, for one pair of populations. */
struct mill_connection {
  enum mill_rule rule;
  double p;                 /* FIXED_PROBABILITY */
  uint64_t n;               /* FIXED_INDEGREE, _OUTDEGREE, _TOTAL */
  char *file;               /* EDGES: as written, malloc'ed */
  struct mill_edges *edges; /* EDGES: read by the caller; not owned */
  int autapses, multapses;
  uint32_t sources, targets;
  int same;                 /* source and target are one population */
  uint64_t key;             /* random key of this projection: mill_key(seed, MILL_PURPOSE_CONNECT, projection) */
};

/* "fixed-probability(0.02)", "all-to-all", "file(edges.csv)" … into rule, p, n, file; nearest-name hints. Text without location. */
int mill_connection_parse(const char *text, const struct mill_defines *defines, struct mill_connection *connection,
                          struct mill_error *error);

/* Refuses what cannot be, at once: degrees above the number of partners (autapses counted), one-to-one of different sizes, totals
   above the number of pairs, edges out of range (file and line), equal edges without multapses, autapses in a file without
   autapses, multapses = yes with a rule that cannot make them. */
int mill_connection_check(const struct mill_connection *connection, struct mill_error *error);

/* Number of synapses: exact for every rule but fixed-probability, for which it is mean + 6 standard deviations, rounded up. */
uint64_t mill_connection_estimate(const struct mill_connection *connection);

/* Synapses in row form. Row s of `column` is sorted by (target, draw). `edge` (EDGES only) is each synapse's index in the file. */
struct mill_rows {
  uint64_t synapses;
  uint64_t *row;    /* [sources + 1] */
  uint32_t *column; /* [synapses] */
  uint64_t *edge;   /* [synapses] or NULL */
};
/* Checks the connection (as above) and makes the rows: the same ones for every size of team. What it holds meanwhile beside the
   rows is 8 bytes a synapse for fixed-indegree and fixed-total, and otherwise little. On failure *rows is empty. Once weights and
   delays are made, `edge` may be released. */
int mill_connect(struct mill_team *team, const struct mill_connection *connection, struct mill_rows *rows,
                 struct mill_error *error);
void mill_rows_free(struct mill_rows *rows);

#endif
