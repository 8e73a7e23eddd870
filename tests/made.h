/* Synthetic streams for tests: made in memory, checked on the way, and taken apart unit by unit. */
#ifndef MADE_H
#define MADE_H

#include <inttypes.h>

#include "generate.h"
#include "stream.h"
#include "tap.h"

enum { OPTIONS = 32 };

/* A stream in memory, in order, and the same events unit by unit. */
struct made {
  struct mill_generated is;
  struct mill_event *event;
  uint64_t count, capacity, hash;
  int64_t done;
  int bad; /* events out of order, out of bounds, or of a unit that is none */
  int64_t **train;
  uint64_t *length;
};

static inline int take(const struct mill_event *events, size_t n, int64_t done, void *self, struct mill_error *error)
{
  struct made *m = self;
  (void)error;
  if (m->count + n > m->capacity) {
    m->capacity = 2 * (m->count + n);
    m->event = realloc(m->event, m->capacity * sizeof *m->event);
    if (!m->event)
      bail("out of memory");
  }
  for (size_t i = 0; i < n; i++) {
    const struct mill_event *e = &events[i], *before = m->count ? &m->event[m->count - 1] : NULL;
    m->bad += e->tick <= m->done || e->tick > done || e->unit >= m->is.units || e->reserved;
    m->bad += before && (e->tick < before->tick || (e->tick == before->tick && e->unit < before->unit));
    m->event[m->count++] = *e;
  }
  m->bad += done <= m->done || done > m->is.stop;
  m->done = done;
  return 0;
}

/* The parameters of a kind from "key=value key=value" (a value without blanks, '_' for a blank). */
static inline int read_params(const char *kind, const char *options, const struct mill_generator **generator, void **params,
                              struct mill_error *error)
{
  const char *text[OPTIONS] = {NULL};
  char *copy = strdup(options), *rest = copy, *word;
  *params = NULL;
  *generator = mill_generator_find(kind, error);
  while (*generator && (word = strsep(&rest, " "))) {
    char *value = strchr(word, '=');
    size_t i = 0;
    if (!value)
      continue;
    *value++ = 0;
    for (char *p = value; (p = strchr(p, '_'));)
      *p = ' ';
    while (i < (*generator)->param_count && strcmp((*generator)->params[i].key, word))
      i++;
    if (i == (*generator)->param_count)
      bail("%s has no parameter %s", kind, word);
    text[i] = value;
  }
  int result = *generator ? mill_generator_params(*generator, text, params, error) : -1;
  free(copy);
  return result;
}

static inline void made_free(struct made *m)
{
  for (uint32_t u = 0; m->train && u < m->is.units; u++)
    free(m->train[u]);
  free(m->train);
  free(m->length);
  free(m->event);
  free(m);
}

static inline struct made *make(const char *kind, const char *options)
{
  const struct mill_generator *g;
  struct made *m = calloc(1, sizeof *m);
  struct mill_error error = {0};
  void *params;
  if (!m || read_params(kind, options, &g, &params, &error) || g->describe(params, &m->is, &error) ||
      g->make(params, take, m, &error))
    bail("%s %s: %s", kind, options, error.text);
  mill_generator_free(g, params);
  m->bad += m->done != m->is.stop;
  struct mill_spike_hash *hash = mill_spike_hash_create();
  m->length = calloc(m->is.units, sizeof *m->length);
  m->train = calloc(m->is.units, sizeof *m->train);
  for (uint64_t i = 0; i < m->count; i++) {
    mill_spike_hash_add(hash, m->event[i].tick, m->event[i].unit, 0);
    m->length[m->event[i].unit]++;
  }
  m->hash = mill_spike_hash_value(hash);
  mill_spike_hash_free(hash);
  for (uint32_t u = 0; u < m->is.units; u++) {
    m->train[u] = malloc((m->length[u] + 1) * sizeof **m->train);
    m->length[u] = 0;
  }
  for (uint64_t i = 0; i < m->count; i++)
    m->train[m->event[i].unit][m->length[m->event[i].unit]++] = m->event[i].tick;
  return m;
}

/* The least distance of two events of a unit. */
static inline int64_t least_gap(const struct made *m)
{
  int64_t least = INT64_MAX;
  for (uint32_t u = 0; u < m->is.units; u++)
    for (uint64_t i = 1; i < m->length[u]; i++)
      if (m->train[u][i] - m->train[u][i - 1] < least)
        least = m->train[u][i] - m->train[u][i - 1];
  return least;
}

static inline int same_train(const struct made *a, const struct made *b, uint32_t unit)
{
  return a->length[unit] == b->length[unit] && !memcmp(a->train[unit], b->train[unit], a->length[unit] * sizeof **a->train);
}

#endif
