/* The links between types: the frequent episodes of two nodes, as a graph. */
#ifndef MILL_MINE_GRAPH_H
#define MILL_MINE_GRAPH_H

#include <stdio.h>
#include <spikemill/mining.h>

/* A head of comments, the names of the columns, and a line for each frequent episode of two nodes, listed or not. */
int mill_mine_graph_csv(FILE *out, const struct mill_mining *mining, struct mill_error *error);

/* The same for Graphviz: a node for each type that has a link, an edge for each link, as wide as its count is large. */
int mill_mine_graph_dot(FILE *out, const struct mill_mining *mining, struct mill_error *error);

/* As the ending of the report's `graph` says. */
int mill_mine_graph(FILE *out, const struct mill_mining *mining, struct mill_error *error);

#endif
