/* The occurrences of the listed episodes as CSV, written as they are found. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mine-files.h"

#include <inttypes.h>
#include <stdlib.h>

#include "command.h"
#include "mine-report.h"
#include "text.h"

/* An episode whose occurrences are written. */
struct writing {
  FILE *out;
  int64_t tick_ps;
  uint64_t episode, occurrence;
  uint32_t length;
  const char *types;
};

static int put_occurrence(const int64_t *ticks, void *self)
{
  struct writing *w = self;
  char time[64];
  fprintf(w->out, "%" PRIu64 ",%" PRIu64 ",", w->episode, w->occurrence++);
  mill_mine_field(w->out, w->types);
  for (uint32_t k = 0; k < w->length; k++)
    fprintf(w->out, "%c%s", k ? ' ' : ',', mill_text_ms(time, ticks[k], w->tick_ps));
  fputc('\n', w->out);
  return ferror(w->out) || mill_interrupted();
}

static int put_episode(struct writing *w, struct mill_mining *m, const struct mill_mining_episode *episode,
                       struct mill_error *error)
{
  char *types = mill_mine_types(m, episode);
  int rc;
  if (!types)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  w->length = episode->length;
  w->types = types;
  w->occurrence = 0;
  rc = mill_mining_occurrences(m, w->episode, put_occurrence, w, error);
  free(types);
  return rc;
}

int mill_mine_occurrences(FILE *out, struct mill_mining *m, struct mill_error *error)
{
  struct mill_mining_report r;
  struct mill_mining_episode episode;
  struct writing w = {.out = out};
  int rc = 0;
  if (mill_interrupted())
    return mill_fail(error, MILL_INTERRUPTED, "interrupted before the occurrences");
  mill_mining_report(m, &r);
  w.tick_ps = r.tick_ps;
  mill_mine_head(out, m, &r);
  fputs("episode,occurrence,types,times_ms\n", out);
  for (; rc == 0 && mill_mining_episode(m, w.episode, &episode) == 0; w.episode++)
    if (episode.length > 1)
      rc = put_episode(&w, m, &episode, error);
  return ferror(out) ? mill_fail(error, MILL_RESOURCES, "the occurrences cannot be written") : rc;
}
