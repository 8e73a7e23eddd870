/* Poisson processes with dead time, of which the generators are made: a unit's events, beginnings of bursts, of planted episodes. Time 0
   falls anywhere in an interval, as in a recording: it may be in the dead time of an event before
   (D. R. Cox, Renewal Theory, 1962, chapter 2). And lists among the parameters. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>

#include "expr.h"
#include "generate-private.h"
#include "memory.h"
#include "text.h"

int mill_law_set(struct mill_law *law, double rate, int64_t tick_ps, int64_t dead, const char *dead_name, struct mill_error *error)
{
  char shown[32];
  law->mean = 1e12 / (double)tick_ps / rate;
  law->dead = dead;
  if (!(rate >= 0))
    return mill_fail(error, MILL_USAGE, "expected 0 Hz or more");
  if (law->mean < 1)
    return mill_fail(error, MILL_USAGE, "expected at most one event a tick of %s ms on average (--tick)",
                     mill_generator_ms(shown, tick_ps));
  if (law->mean <= (double)dead)
    return mill_fail(error, MILL_USAGE, "intervals of %s ms on average must be longer than %s",
                     mill_text_double(shown, 1000 / rate), dead_name);
  return 0;
}

int mill_law_read(struct mill_law *law, const char *text, int64_t tick_ps, int64_t dead, const char *dead_name,
                  struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  double rate;
  if (mill_expr_real(text, &none, &rate, error) < 0)
    return -1;
  return mill_law_set(law, rate, tick_ps, dead, dead_name, error);
}

static double free_gap(const struct mill_law *law, uint32_t unit, uint64_t *draws)
{
  return mill_gap(law->key, unit, draws, law->mean - (double)law->dead);
}

/* Time 0 lies at a uniform place of an interval that counts by its length, so with probability dead / mean in the dead time, at a
   uniform place of it. */
int64_t mill_train_begin(struct mill_train *train, const struct mill_law *law, uint32_t unit)
{
  struct mill_point free_from = {0, 0};
  train->draws = 0;
  double place = mill_uniform(mill_random(law->key, unit, train->draws++)) * law->mean;
  if (place < (double)law->dead)
    free_from = mill_point_after(free_from, place);
  train->next = mill_point_after(free_from, free_gap(law, unit, &train->draws));
  return free_from.tick;
}

void mill_train_step(struct mill_train *train, const struct mill_law *law, uint32_t unit)
{
  train->next.tick += law->dead;
  train->next = mill_point_after(train->next, free_gap(law, unit, &train->draws));
}

int mill_ensemble_begin(struct mill_ensemble *t, const struct mill_law *law, uint32_t laws, uint32_t units,
                        struct mill_error *error)
{
  *t = (struct mill_ensemble){law, laws, units, mill_allocate_or_fail("units", units, sizeof *t->train, error)};
  for (uint32_t i = 0; t->train && i < units; i++)
    mill_train_begin(&t->train[i], &law[i % laws], i);
  return t->train ? 0 : -1;
}

int mill_ensemble_fill(const struct mill_ensemble *ensemble, int64_t end, struct mill_window *window, struct mill_error *error)
{
  for (uint32_t i = 0; i < ensemble->units; i++)
    for (struct mill_train *t = &ensemble->train[i]; t->next.tick < end; mill_train_step(t, &ensemble->law[i % ensemble->laws], i))
      if (mill_window_add(window, t->next, i, error) < 0)
        return -1;
  return 0;
}

void mill_ensemble_free(struct mill_ensemble *ensemble)
{
  mill_release(ensemble->train);
}

int mill_generator_each(const char *key, const char *text, uint32_t most,
                        int (*read)(const char *item, uint32_t i, void *self, struct mill_error *error), void *self,
                        uint32_t *count, struct mill_error *error)
{
  size_t n;
  char **item = mill_text_list(text, &n);
  int result = 0;
  if (!item)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (n < 1 || n > most)
    result = mill_fail(error, MILL_USAGE, "--%s: a list of %zu; expected 1 to %u", key, n, most);
  for (size_t i = 0; !result && i < n; i++)
    if (read(item[i], (uint32_t)i, self, error) < 0)
      result = mill_fail_within(error, "--%s %s", key, item[i]);
  free(item);
  *count = (uint32_t)n;
  return result;
}
