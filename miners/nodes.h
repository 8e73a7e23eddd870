/* Sets of nodes of an episode, as what an event of a type can be: bit 0 is the last node, bit 1 the one before, so that the lowest bit is
   the one to begin with. */
#ifndef NODES_H
#define NODES_H

#include <stdint.h>

/* The set of the node at place i, from 0. */
static inline uint64_t node_at(uint32_t length, uint32_t i)
{
  return UINT64_C(1) << (length - 1 - i);
}

#endif
