/* Where a recording is mined and tested: on the CPU or on a GPU, by which counter, and why. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mining-private.h"

#include <stdlib.h>

#include "counting.h"
#include "registry.h"

#define DEVICE_EVENTS 1000 /* of a window on average, at least, for `auto` to take a GPU */

/* Opens a GPU for a plugin, of which `like`, unless it is NULL, has the program. *miner is NULL after a failure. */
static int open_gpu(const struct mill_plugin *plugin, struct mill_miner *like, int narrow, struct mill_miner **miner,
                    struct mill_error *error)
{
  if ((like ? mill_miner_open_like(like, miner, error) : mill_miner_open(plugin, miner, error)) == 0 &&
      mill_miner_load(*miner, narrow, error) == 0)
    return 0;
  mill_miner_close(*miner);
  *miner = NULL;
  return -1;
}

/* What cannot be had of a GPU: with `auto` it is done on the CPU. */
static int refuse(const struct mill_mining *m, const char *what, const struct mill_error *reason, struct mill_error *error)
{
  if (m->job->backend == 0) {
    mill_note("%s are counted on the CPU: %s", what, reason->text);
    return 0;
  }
  mill_place_fail(error, &m->job->place, "backend", "%s", reason->text);
  if (error)
    error->status = reason->status;
  return -1;
}

/* Whether a plugin's counts are those of every exact counter, and it counts in many streams on a GPU; then *choice is it, with default
   parameters. */
static int is_tester(const char *name, struct mill_choice *choice)
{
  static const struct mill_place nowhere = {NULL, NULL};
  const struct mill_given given = {.place = &nowhere};
  if (mill_choice_load(&given, "counter", MILL_COUNTER, name, choice, NULL) == 0 && choice->plugin->flags & MILL_EXACT &&
      mill_miner_takes_streams(choice->plugin))
    return 1;
  mill_choice_free(choice);
  *choice = (struct mill_choice){0};
  return 0;
}

/* Finds what counts in surrogates, and says so when it is not the job's counter on the GPU. */
static void choose_tester(struct mill_mining *m)
{
  const struct mill_plugin *plugin = m->job->counter.plugin;
  char **names;
  if (m->job->significance.kind != MILL_SIGNIFICANCE_SURROGATE || mill_miner_takes_streams(plugin))
    return;
  names = plugin->flags & MILL_EXACT ? mill_plugin_list(MILL_COUNTER, NULL, NULL) : NULL;
  for (size_t i = 0; names && names[i] && !is_tester(names[i], &m->testing); i++)
    ;
  free(names);
  if (m->testing.plugin)
    mill_note("surrogates are counted by `%s`: counter `%s` cannot do that on a GPU", m->testing.plugin->name, plugin->name);
  else
    mill_note("surrogates are counted on the CPU: counter `%s` cannot do that on a GPU", plugin->name);
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
  if (job->backend == 1 || (job->backend == 0 && !mill_cuda_present()))
    return 0;
  if (job->backend == 0 && are_small(m))
    mill_fail(&inner, MILL_USAGE, "windows of fewer than %d events on average are counted faster there", DEVICE_EVENTS);
  else if (!mill_miner_device_of(plugin))
    mill_fail(&inner, MILL_USAGE, "counter `%s` has no text for a GPU", plugin->name);
  else if (open_gpu(plugin, NULL, !m->events || mill_miner_is_narrow(m->first, m->last), &m->miner, &inner) == 0) {
    choose_tester(m);
    return 0;
  }
  return refuse(m, "episodes", &inner, error);
}

/* Slots begin their tests at about the same time: the program is compiled for one of them, and that of the whole, which the first slot uses, is
   what others are opened like. A program in use is loaded already, so that this changes nothing of it. */
int mill_mining_begin_tests(int narrow, struct mill_counting_setup *counting, void *self, struct mill_error *error)
{
  struct mill_mining *m = self, *whole = m->whole ? m->whole : m;
  struct mill_miner **own = m->slot && !m->slot->first ? &m->slot->tester : &whole->tester;
  struct mill_error inner = {0};
  int rc = 0;
  pthread_mutex_lock(&whole->lock);
  if (whole->refused) {
    counting->miner = NULL;
  } else if (whole->testing.plugin) {
    mill_miner_shed(m->miner);
    if (!whole->tester)
      rc = open_gpu(whole->testing.plugin, NULL, narrow, &whole->tester, &inner);
    if (rc == 0 && !*own)
      rc = open_gpu(whole->testing.plugin, whole->tester, narrow, own, &inner);
    if (rc == 0)
      rc = mill_miner_load(*own, narrow, &inner);
    if (rc < 0) {
      whole->refused = m->job->backend == 0;
      rc = refuse(m, "surrogates", &inner, error);
    } else {
      m->tester = *own;
      counting->plugin = whole->testing.plugin;
      counting->params = whole->testing.values;
      counting->miner = *own;
    }
  }
  pthread_mutex_unlock(&whole->lock);
  return rc;
}

int mill_mining_tests_refused(const struct mill_error *reason, void *self)
{
  struct mill_mining *m = self, *whole = m->whole ? m->whole : m;
  int first;
  if (m->job->backend != 0 || reason->status != MILL_RESOURCES)
    return 0;
  pthread_mutex_lock(&whole->lock);
  first = !whole->refused;
  whole->refused = 1;
  pthread_mutex_unlock(&whole->lock);
  if (first)
    mill_note("surrogates are counted on the CPU: %s", reason->text);
  return 1;
}

void mill_mining_end_tests(struct mill_mining *m)
{
  if (m->whole && m->tester)
    mill_miner_shed(m->tester);
  if (!m->whole)
    mill_miner_close(m->tester);
  m->tester = NULL;
}
