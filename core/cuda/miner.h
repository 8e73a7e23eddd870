/* A counter on a GPU: the device, the counter's program, and the stream in the device's memory. What the counter asks of the device goes
   through struct mill_device_host. It outlives the countings that use it, one at a time, so that windows and surrogates share a device and
   a program. By one thread at a time. */
#ifndef MILL_CUDA_MINER_H
#define MILL_CUDA_MINER_H

#include <spikemill/counter.h>
#include "cuda/program.h"
#include "cuda/spike-log.h"

struct mill_miner;

/* A counter's device side; NULL when it has none, or no text. */
const struct mill_counter_device *mill_miner_device_of(const struct mill_plugin *plugin);

/* How it counts candidates that are made on the device; NULL when it takes all of them from the host. */
const struct mill_counter_there *mill_miner_there_of(const struct mill_plugin *plugin);

/* Whether it counts in many streams at a time: struct mill_counter_device, count_streams. */
int mill_miner_takes_streams(const struct mill_plugin *plugin);

/* Opens the device. *miner is NULL after a failure. Close it with mill_miner_close, which takes NULL. */
int mill_miner_open(const struct mill_plugin *plugin, struct mill_miner **miner, struct mill_error *error);
/* Another one, with the programs that this one has loaded; of its own in all else. Another thread may use this one meanwhile. */
int mill_miner_open_like(struct mill_miner *like, struct mill_miner **miner, struct mill_error *error);
void mill_miner_close(struct mill_miner *miner);

/* Compiles the counter's program for times of 32 or 64 bits, or takes it from the cache, unless it is loaded already. */
int mill_miner_load(struct mill_miner *miner, int narrow, struct mill_error *error);
/* Whether times between these two fit 32 bits. */
int mill_miner_is_narrow(int64_t first, int64_t last);

/* The device side of a miner's counter, with NULL for what its version of the ABI does not have. */
struct mill_counter_device mill_miner_calls(const struct mill_plugin *plugin);

/* From the next counting on: 1: times have 64 bits, 0: as many as they need. */
void mill_miner_widen(struct mill_miner *miner, int wide);

/* The spikes in (start, stop] of a simulation on the same device; log NULL: none. */
struct mill_miner_log {
  const struct mill_spike_log *log;
  int64_t start, stop;
};
/* Begins a counting: the stream goes to the device, in the memory of the one before where that is large enough. `log`: where the same events are
   on the device, types being the units with events; NULL, or not whole: they are sent. Fails with MILL_RESOURCES, also when there is
   another number of them. */
int mill_miner_begin(struct mill_miner *miner, const struct mill_counter_input *input, const struct mill_miner_log *log,
                     struct mill_error *error);
/* Makes the device current for the calling thread, which is to be done before the plugin is called. */
int mill_miner_attach(const struct mill_miner *miner, struct mill_error *error);
/* Ends it: what the plugin has left on the device is released. That and the stream's memory is kept for the next one, until something else
   needs it. */
void mill_miner_end(struct mill_miner *miner);

/* Between countings: releases all that is kept for the next one. */
void mill_miner_shed(struct mill_miner *miner);
/* Whether the user limits the device's memory, which what is open at a time does not share. */
int mill_miner_is_limited(const struct mill_miner *miner);

/* Since mill_miner_begin: */
const struct mill_device_host *mill_miner_host(const struct mill_miner *miner);
const struct mill_device_stream *mill_miner_stream(const struct mill_miner *miner);

/* The device's name. */
const char *mill_miner_name(const struct mill_miner *miner);

/* The text of a counter's program, for times of 32 or 64 bits, compiled for an architecture or taken from the cache. */
int mill_miner_compile(struct mill_compiler *compiler, const struct mill_plugin *plugin, int narrow, int major, int minor,
                       struct mill_program_image *image, struct mill_error *error);

#endif
