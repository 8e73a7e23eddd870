/* A stream and candidates on a device, as the text of an episode counter sees them: struct mill_counter_input, made there of times and types, and
   what its sieve (core/cuda/candidates.cu) makes there. Structs that one side fills and the other reads, so they hold only 32- and 64-bit
   numbers and addresses.

   In a program for a device MILL_TIME is the type of times: int32_t, ticks since the first event, when no two events are 2^31 - 1 or more
   ticks apart, else int64_t, ticks as the recording has them. Bounds of intervals are of the same type; one that is beyond it is its
   largest value, which no gap exceeds. */
#ifndef SPIKEMILL_DEVICE_COUNTER_H
#define SPIKEMILL_DEVICE_COUNTER_H

#ifdef __CUDACC_RTC__
#include <spikemill/device.h>
#ifndef MILL_AT
#define MILL_AT(type) type *
#endif
/* As struct mill_interval. */
struct mill_gap {
  MILL_TIME low, high;
};
#else
#include <stdint.h>
#ifndef MILL_AT
#define MILL_AT(type) uint64_t
#endif
#endif

struct mill_device_stream {
  MILL_AT(const MILL_TIME) time;      /* [events] */
  MILL_AT(const uint32_t) type;       /* [events] */
  MILL_AT(const uint32_t) order;      /* [events] */
  MILL_AT(const uint32_t) first;      /* [types + 1] */
  MILL_AT(const MILL_TIME) type_time; /* [events] */
  MILL_AT(const uint32_t) type_order; /* [events] */
  MILL_AT(const struct mill_gap) interval; /* [intervals] */
  uint32_t events, types, intervals, strict;
  uint32_t time_bytes;                /* of MILL_TIME: 4 or 8 */
  uint32_t reserved;
};

/* ABI 0.5. A candidate of level 2 or more: an episode kept at the level before, and one more node. */
struct mill_device_candidate {
  uint32_t parent, suffix;            /* that it extends; that it is without its first node: numbers among those kept at the level before */
  uint32_t type, interval;            /* of the last node, and of the gap before it */
};

/* ABI 0.5. One that reached the threshold. */
struct mill_device_frequent {
  uint32_t prefix, suffix, type, interval; /* as of the candidate */
  uint32_t first;                     /* type of the first node */
  uint32_t count, more;               /* its result: the second word is 0 when there is none */
  uint32_t which;                     /* of its batch */
};

#ifdef __CUDACC_RTC__
static_assert(sizeof(mill_device_candidate) == 16 && sizeof(mill_device_frequent) == 32, "the host's structs have 16 and 32 bytes");
static_assert(sizeof(mill_device_stream) == 80, "the host's struct has 80 bytes");
/* A kernel's first parameter. */
#define MILL_STREAM const __grid_constant__ mill_device_stream stream
#endif

#endif
