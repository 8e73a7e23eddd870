/* A counter plugin at work on a stream: the input it wants, made from events, and its calls. */
#ifndef MILL_COUNTING_H
#define MILL_COUNTING_H

#include <spikemill/counter.h>
#include <spikemill/format.h>
#include "threads.h"

enum mill_ties { MILL_TIES_ORDER, MILL_TIES_STRICT };

struct mill_miner; /* cuda/miner.h */
struct mill_miner_log;

struct mill_counting_setup {
  const struct mill_plugin *plugin; /* of kind counter */
  const void *params;               /* its parameter block, NULL when it has none */
  const struct mill_event *event;   /* [events] in order of tick; not needed after open */
  uint64_t events;
  uint32_t types;                   /* units are 0 … types-1 */
  int ties;                         /* enum mill_ties */
  const struct mill_interval *interval; /* [interval_count]; stays the caller's, until close */
  uint32_t interval_count;
  uint64_t threshold, memory;
  struct mill_team *team;
  struct mill_miner *miner;         /* a GPU, opened for this plugin: it counts there; NULL: on the CPU */
  const struct mill_miner_log *log; /* where the events are on that GPU already, not needed after open; NULL: nowhere */
};

struct mill_counting;

/* Fails with MILL_DATA for more than 2^32 - 1 events, times further apart than INT64_MAX ticks, events out of order or of unknown
   types, with MILL_USAGE for an interval that is not 0 <= low < high and for threshold 0, with MILL_RESOURCES when memory is
   short, with what the plugin says, behind its name. A miner stays the caller's, until close. */
int mill_counting_open(const struct mill_counting_setup *setup, struct mill_counting **counting, struct mill_error *error);
/* What the counter says of its parameters, of a plugin's form "KEY: reason", by opening it on a stream without events. */
int mill_counting_check(const struct mill_plugin *plugin, const void *params, struct mill_error *error);
/* Begins anew with other events, as many and of as many types, and the setup of the opening in all else: what the plugin kept is gone,
   the memory of the columns is used again. After a failure the counting can be closed, and nothing else. */
int mill_counting_restart(struct mill_counting *counting, const struct mill_counting_setup *setup, struct mill_error *error);
int mill_counting_count(struct mill_counting *counting, const struct mill_candidates *candidates, uint64_t *counts,
                        struct mill_error *error);
int mill_counting_keep(struct mill_counting *counting, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error);
/* How the counter takes candidates from the device's memory: NULL when it does not. Then there is a miner, with which they are made. */
const struct mill_counter_there *mill_counting_there(const struct mill_counting *counting, struct mill_miner **miner);
/* Its calls. */
int mill_counting_count_there(struct mill_counting *counting, const struct mill_device_candidates *candidates, struct mill_error *error);
int mill_counting_keep_there(struct mill_counting *counting, const struct mill_device_candidates *candidates,
                             const struct mill_device_frequent *kept, uint32_t n, struct mill_error *error);
/* Whether it is one that counts on a GPU, and can do so in many streams at a time: struct mill_counter_device, count_streams, which is what
   mill_counting_streams calls. */
int mill_counting_takes_streams(const struct mill_counting_setup *setup);
int mill_counting_streams(struct mill_counting *counting, const struct mill_device_stream *streams, uint32_t count,
                          const struct mill_episode_tree *episodes, uint64_t counts, struct mill_error *error);
/* What the counter tells of the level; zeroes when it tells nothing. */
void mill_counting_tell(const struct mill_counting *counting, struct mill_counter_level *level);
void mill_counting_close(struct mill_counting *counting);
const struct mill_counter_input *mill_counting_input(const struct mill_counting *counting);

#endif
