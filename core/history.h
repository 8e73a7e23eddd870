/* Spike histories: the last steps of each neuron as bits, newest in bit 0 of word 0. A plasticity strategy reads those of a plastic
   synapse's targets; they are kept only when somebody asks. */
#ifndef MILL_HISTORY_H
#define MILL_HISTORY_H

#include <stdint.h>
#include <spikemill/format.h>
#include <spikemill/network.h>

/* Shifts `steps` steps (≤ MILL_EPOCH_MAX) of fired bits into the histories of neurons first … first+count-1. bits[s] holds step s of the
   batch, the newest last. `history` is [neurons][words]. */
void mill_history_push(uint64_t *history, uint32_t words, uint32_t first, uint32_t count, const uint64_t (*bits)[MILL_BATCH / 64],
                       uint32_t steps);

/* The same for all neurons of a population, whose ids are first … first+size-1, from the events of the epoch that begins with `step`, in order of
   (tick, unit). */
void mill_history_mark(uint64_t *history, uint32_t words, uint32_t first, uint32_t size, const struct mill_event *event, uint64_t events,
                       int64_t step, uint32_t steps);

#endif
