/* A recording mined through the public functions, with settings as of --set. */
#ifndef MINED_H
#define MINED_H

#include <spikemill/mining.h>
#include "tap.h"

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline struct mill_mining *opened(const char *path, const char *const *sets, struct mill_error *error)
{
  struct mill_mining *m = NULL;
  size_t n = 0;
  while (sets[n])
    n++;
  *error = (struct mill_error){0};
  if (mill_mining_open(path, sets, n, &m, error) && m)
    bail("a mining and an error");
  return m;
}

static inline struct mill_mining *mined(const char *path, const char *const *sets)
{
  struct mill_error error;
  struct mill_mining *m = opened(path, sets, &error);
  if (!m || mill_mining_run(m, NULL, NULL, &error))
    bail("%s: %s", path, error.text);
  return m;
}

#endif
