/* A fixed team of threads with a barrier. The calling thread is worker 0. */
#ifndef MILL_THREADS_H
#define MILL_THREADS_H

#include <stdint.h>
#include <spikemill/error.h>

struct mill_team;

/* count ≥ 1; more threads than processors are allowed. */
int mill_team_create(uint32_t count, struct mill_team **team, struct mill_error *error);
void mill_team_free(struct mill_team *team);
uint32_t mill_team_size(const struct mill_team *team);

/* Runs work(self, worker) on every worker and returns when all have. */
void mill_team_run(struct mill_team *team, void (*work)(void *self, uint32_t worker), void *self);

/* Inside `work`: waits until every worker is here; the last to come runs `last` (may be NULL) before the others go on. Spins for a short
   while, then sleeps, so that more threads than processors work. */
void mill_team_barrier(struct mill_team *team, void (*last)(void *self), void *self);

/* What a thread does while it waits for another in a loop: nothing, cheaply. */
void mill_team_rest(void);

/* Runs body(self, i, worker) for i in 0 … count-1, dynamically shared out. Not inside `work`. */
void mill_team_each(struct mill_team *team, uint64_t count, void (*body)(void *self, uint64_t i, uint32_t worker), void *self);

/* Processors this process may use. */
uint32_t mill_processors(void);

#endif
