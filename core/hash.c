/* The hash of a stream of spikes. Records are gathered, so that XXH64 sees blocks and not sixteen bytes at a time. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the size of a state */
#include <xxhash.h>

#include "stream.h"

struct mill_spike_hash {
  XXH64_state_t *state;
  XXH64_state_t *scratch; /* for a value in between */
  uint32_t used;
  struct mill_hash_record record[256];
};

struct mill_spike_hash *mill_spike_hash_create(void)
{
  struct mill_spike_hash *hash = malloc(sizeof *hash);
  if (!hash)
    return NULL;
  hash->used = 0;
  hash->state = XXH64_createState();
  hash->scratch = XXH64_createState();
  if (!hash->state || !hash->scratch) {
    mill_spike_hash_free(hash);
    return NULL;
  }
  XXH64_reset(hash->state, 0);
  return hash;
}

static void empty(struct mill_spike_hash *hash)
{
  XXH64_update(hash->state, hash->record, hash->used * sizeof *hash->record);
  hash->used = 0;
}

void mill_spike_hash_add(struct mill_spike_hash *hash, int64_t tick, uint32_t group, uint32_t index)
{
  hash->record[hash->used++] = mill_hash_record(tick, group, index);
  if (hash->used == sizeof hash->record / sizeof *hash->record)
    empty(hash);
}

void mill_spike_hash_records(struct mill_spike_hash *hash, const struct mill_hash_record *record, size_t n)
{
  if (!n)
    return;
  empty(hash);
  XXH64_update(hash->state, record, n * sizeof *record);
}

uint64_t mill_spike_hash_value(const struct mill_spike_hash *hash)
{
  XXH64_copyState(hash->scratch, hash->state);
  XXH64_update(hash->scratch, hash->record, hash->used * sizeof *hash->record);
  return XXH64_digest(hash->scratch);
}

void *mill_spike_hash_state(struct mill_spike_hash *hash, size_t *bytes)
{
  empty(hash);
  *bytes = sizeof(XXH64_state_t);
  return hash->state;
}

void mill_spike_hash_free(struct mill_spike_hash *hash)
{
  if (!hash)
    return;
  XXH64_freeState(hash->state);
  XXH64_freeState(hash->scratch);
  free(hash);
}
