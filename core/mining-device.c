/* Where a recording is mined: on the CPU or on a GPU, and why. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mining-private.h"

#include "counting.h"
#include "cuda/program.h"
#include "registry.h"

#define DEVICE_EVENTS 1000 /* of a window on average, at least, for `auto` to take a GPU */

/* Whether this machine has a GPU, and the compiler for it. */
static int has_gpu(void)
{
  struct mill_compiler *compiler = NULL;
  const int has = mill_cuda_present() && mill_compiler_open(&compiler, NULL) == 0;
  mill_compiler_close(compiler);
  return has;
}

static int try_gpu(struct mill_mining *m, struct mill_error *error)
{
  const int narrow = !m->events || mill_miner_is_narrow(m->first, m->last);
  if (mill_miner_open(m->job->counter.plugin, &m->miner, error) == 0 && mill_miner_load(m->miner, narrow, error) == 0)
    return 0;
  mill_miner_close(m->miner);
  m->miner = NULL;
  return -1;
}

/* Says when tests are not where episodes are counted. */
static void note_tests(const struct mill_mining *m)
{
  const struct mill_counting_setup counting = {.plugin = m->job->counter.plugin, .miner = m->miner};
  if (m->job->significance.kind == MILL_SIGNIFICANCE_SURROGATE && !mill_counting_takes_streams(&counting))
    mill_note("surrogates are counted on the CPU: counter `%s` cannot do that on a GPU", counting.plugin->name);
}

/* Whether the windows are so small that a GPU's launches take longer than the CPU's counting. */
static int are_small(const struct mill_mining *m)
{
  const struct mill_windows *w = &m->windows;
  const double share = w->count ? (double)w->length / ((double)w->step * (double)w->count) : 1; /* of the events, in each */
  return !m->live && w->count && (double)m->stream->count * share < DEVICE_EVENTS;
}

/* Chooses where to count. With `auto` that is a GPU when there is one, the counter has a text for it, and windows are large enough. */
int mill_mining_open_gpu(struct mill_mining *m, struct mill_error *error)
{
  const struct mill_job *job = m->job;
  const struct mill_plugin *plugin = job->counter.plugin;
  struct mill_error inner = {0};
  if (job->backend == 1 || (job->backend == 0 && !has_gpu()))
    return 0;
  if (job->backend == 0 && are_small(m))
    mill_fail(&inner, MILL_USAGE, "windows of fewer than %d events on average are counted faster there", DEVICE_EVENTS);
  else if (!mill_miner_device_of(plugin))
    mill_fail(&inner, MILL_USAGE, "counter `%s` has no text for a GPU", plugin->name);
  else if (try_gpu(m, &inner) == 0) {
    note_tests(m);
    return 0;
  }
  if (job->backend == 0) {
    mill_note("episodes are counted on the CPU: %s", inner.text);
    return 0;
  }
  mill_place_fail(error, &job->place, "backend", "%s", inner.text);
  if (error)
    error->status = inner.status;
  return -1;
}
