/* All windows of a recording, onto standard output and into a file. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <errno.h>

#include "mine-series.h"
#include "output.h"
#include "text.h"

enum { SHOWN, FILED, PLACES };

int mill_series_all(struct mill_mining *whole, const struct mill_series_places *places, char *part, struct mill_error *error)
{
  const int shown = places->json || !places->quiet;
  struct mill_series series[PLACES] = {
      [SHOWN] = {.out = shown ? stdout : NULL,
                 .format = places->json ? MILL_SERIES_JSON : MILL_SERIES_TABLE,
                 .most = part ? 0 : places->most},
      [FILED] = {.format = places->format, .most = UINT64_MAX},
  };
  if (part && !(series[FILED].out = fopen(part, "we"))) {
    mill_output_forget(part);
    return mill_fail(error, MILL_RESOURCES, "%s: %s", places->output, mill_text_errno(errno));
  }
  int rc = 0;
  for (uint64_t k = 0; rc == 0 && k < mill_mining_windows(whole); k++)
    rc = mill_series_mine(series, PLACES, whole, k, places->quiet || places->json, error);
  const int complete = rc == 0;
  for (int i = 0; i < PLACES; i++)
    if (mill_series_end(&series[i], whole, complete, rc < 0 ? NULL : error) < 0)
      rc = -1;
  if (part)
    rc = mill_series_commit(&series[FILED], places->output, part, rc, error);
  if (series[FILED].written && !places->quiet && !places->json)
    printf("wrote %s\n", places->output);
  if (fflush(stdout) != 0)
    rc = mill_fail(rc < 0 ? NULL : error, MILL_RESOURCES, "standard output: cannot write");
  return rc;
}
