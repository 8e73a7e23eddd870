/* Surrogates of a recording: other recordings with the same events of each type and other times, in which nothing is left of how
   events of different types follow each other. S. Grün, "Data-driven significance estimation for precise spike correlation",
   J. Neurophysiology 101, 2009; Stella, Bouss, Palm, Grün, "Comparing surrogates to evaluate precisely timed higher-order spike
   correlations", eNeuro 9, 2022.

   dither             each event anywhere within ± `dither` ticks of its time, as far as the recording goes
   dither-refractory  the same, one event after another in a random order, and none nearer to a neighbour of its type, where that one
                      is by then, than the two nearest events of the type are in the recording
   isi-shuffle        the intervals between the events of a type in another order; its first event, and so its last one, stay
   shift              all events of a type later by one number of ticks, round from the end of the recording to its beginning

   Every choice among n has probability 1/n: all times are whole ticks. Surrogate k is a function of the seed, k and the types and
   times of the recording: the same on every machine, for every number of threads, and whatever other surrogates are made.

   Events of one time are in order of type when they are so all over the recording, as in files of simulations; else in the order in
   which they stand in the recording, which favours no type. So an order of ties that is no property of the spikes is one of the
   surrogates too, or of neither. */
#ifndef MILL_SURROGATES_H
#define MILL_SURROGATES_H

#include <stdint.h>
#include <spikemill/counter.h>
#include <spikemill/format.h>

enum mill_surrogate {
  MILL_SURROGATE_DITHER,
  MILL_SURROGATE_DITHER_REFRACTORY,
  MILL_SURROGATE_ISI_SHUFFLE,
  MILL_SURROGATE_SHIFT,
  MILL_SURROGATE_COUNT
};
extern const char *const mill_surrogate_names[MILL_SURROGATE_COUNT];

struct mill_surrogate_setup {
  enum mill_surrogate kind;
  int64_t dither; /* ticks, ≥ 0; of the first two kinds */
  uint64_t seed;
  int64_t begin, end; /* first and last tick of the recording; no event is before or after */
};

/* What surrogates are made of: the events of the types that matter. */
struct mill_trains;

/* The events of the types with number[type] != UINT32_MAX of a counter's input, which is not needed afterwards; number[type] are
   0, 1, … in order of type, and the units of the surrogates. Draws are told apart by the type, so that other types that matter, or
   do not, change nothing for it. NULL with MILL_RESOURCES when out of memory. */
struct mill_trains *mill_trains_create(const struct mill_surrogate_setup *setup, const struct mill_counter_input *input,
                                       const uint32_t *number, struct mill_error *error);
void mill_trains_free(struct mill_trains *trains);
uint64_t mill_trains_events(const struct mill_trains *trains);
uint32_t mill_trains_types(const struct mill_trains *trains);

/* Room for one surrogate, of one thread. */
struct mill_surrogate_room;
struct mill_surrogate_room *mill_surrogate_room_create(const struct mill_trains *trains, struct mill_error *error);
void mill_surrogate_room_free(struct mill_surrogate_room *room);

/* Surrogate `index`: [events] in order of tick, in the room until the next one. */
const struct mill_event *mill_surrogate_make(const struct mill_trains *trains, uint64_t index, struct mill_surrogate_room *room);

#endif
