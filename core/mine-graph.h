/* The links between types: the frequent episodes of two nodes, as a graph. */
#ifndef MILL_MINE_GRAPH_H
#define MILL_MINE_GRAPH_H

#include <stdio.h>
#include <spikemill/mining.h>

/* As the ending of the report's `graph` says. CSV: a head of comments, the names of the columns, and a line for each frequent episode of two
   nodes, listed or not. DOT: the head, a node for each type that has a link that counts as found, an edge for each such link, as wide as
   its count is large. */
int mill_mine_graph(FILE *out, const struct mill_mining *mining, struct mill_error *error);

#endif
