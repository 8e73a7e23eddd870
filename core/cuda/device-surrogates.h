/* Surrogates made on a GPU, many at a time, where a counter counts in them; those of surrogates.h, to the bit. By one thread at a time. */
#ifndef MILL_CUDA_SURROGATES_H
#define MILL_CUDA_SURROGATES_H

#include "cuda/miner.h"
#include "surrogates.h"

struct mill_device_surrogates;

struct mill_device_surrogates_setup {
  struct mill_miner *miner;        /* in a counting, whose stream has the trains as its types, and times of as many bits */
  const struct mill_trains *trains; /* with events; not needed after open */
  uint32_t strict;                 /* 1: ties = strict */
  uint64_t memory;                 /* bytes of the device's memory for surrogates and counts, unless one surrogate takes more */
  uint32_t most;                   /* surrogates at a time, at most */
  uint32_t episodes;               /* that are counted in them, */
  const uint32_t *least;           /* [episodes] and what a count is compared to */
};

/* Whether times of the trains' surrogates have 32 bits on a device. */
int mill_device_surrogates_are_narrow(const struct mill_trains *trains);
/* Whether they can be made there: a recording of more than INT64_MAX ticks has surrogates that cannot be counted. */
int mill_device_surrogates_can(const struct mill_trains *trains);

/* Allocates memory, of which the device may have less than it should: then fewer are made at a time. Fails with MILL_RESOURCES. */
int mill_device_surrogates_open(const struct mill_device_surrogates_setup *setup, struct mill_device_surrogates **surrogates,
                                struct mill_error *error);
void mill_device_surrogates_close(struct mill_device_surrogates *surrogates); /* NULL is allowed */

/* How many can be made at a time. */
uint32_t mill_device_surrogates_room(const struct mill_device_surrogates *surrogates);

/* Makes surrogates first … first + count - 1. *streams gets the first of these streams: the arrays of each other one follow those of the one
   before. Times are ticks since the beginning of the recording. When ties are strict the order of an event is that of the first event of its
   time. They are there until the next ones are made. */
int mill_device_surrogates_make(struct mill_device_surrogates *surrogates, uint64_t first, uint32_t count,
                                struct mill_device_stream *streams, struct mill_error *error);

/* Where the counts in them are to be written: [surrogates at a time][episodes]. */
uint64_t mill_device_surrogates_counts(const struct mill_device_surrogates *surrogates);
/* Adds up the counts of the last `count` ones, and waits for that. */
int mill_device_surrogates_tally(struct mill_device_surrogates *surrogates, uint32_t count, struct mill_error *error);
/* What has been added up: in how many surrogates each episode occurred as often as asked, and how often in all. [episodes] */
int mill_device_surrogates_results(struct mill_device_surrogates *surrogates, uint32_t *reached, uint64_t *sum, struct mill_error *error);

/* The program for times of 32 or 64 bits, compiled for an architecture or taken from the cache. */
int mill_device_surrogates_compile(struct mill_compiler *compiler, int narrow, int major, int minor, struct mill_program_image *image,
                                   struct mill_error *error);

#endif
