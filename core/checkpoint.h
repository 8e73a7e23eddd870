/* Checkpoints: the whole state of a run in one file, so that it goes on later, with other strategies or threads, as if it had never
   stopped. */
#ifndef MILL_CHECKPOINT_H
#define MILL_CHECKPOINT_H

#include <spikemill/error.h>

struct mill_simulation;

/* Writes the state between two steps; the file appears whole or not at all. Changes no later result. */
int mill_checkpoint_save(struct mill_simulation *simulation, const char *path, struct mill_error *error);

/* Puts the state into a simulation of the same network that has not advanced. The network is compared by what was built (fingerprint.h), so
   that it may be written in another way, and that files which it reads must not have changed. What may differ: strategies, outputs, the
   duration, the backend, threads, initial states. Another network, or a file that is damaged, is refused (MILL_DATA). */
int mill_checkpoint_load(struct mill_simulation *simulation, const char *path, struct mill_error *error);

#endif
