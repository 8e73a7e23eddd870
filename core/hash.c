/* The hash of a stream of spikes. Records are gathered, so that XXH64 sees blocks and not sixteen bytes at a time. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the size of a state */
#include <xxhash.h>

#include "stream.h"

#define RECORD_BYTES 16

struct mill_spike_hash {
  XXH64_state_t *state;
  XXH64_state_t *scratch; /* for a value in between */
  size_t used;
  unsigned char record[256 * RECORD_BYTES];
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

/* A compiler makes one store of this, and not of byte after byte. */
static inline void put64(unsigned char *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap64(v);
#endif
  memcpy(p, &v, sizeof v);
}

void mill_spike_hash_add(struct mill_spike_hash *hash, int64_t tick, uint32_t group, uint32_t index)
{
  unsigned char *p = hash->record + hash->used;
  put64(p, (uint64_t)tick);
  put64(p + 8, (uint64_t)index << 32 | group);
  hash->used += RECORD_BYTES;
  if (hash->used == sizeof hash->record) {
    XXH64_update(hash->state, hash->record, hash->used);
    hash->used = 0;
  }
}

uint64_t mill_spike_hash_value(const struct mill_spike_hash *hash)
{
  XXH64_copyState(hash->scratch, hash->state);
  XXH64_update(hash->scratch, hash->record, hash->used);
  return XXH64_digest(hash->scratch);
}

void *mill_spike_hash_state(struct mill_spike_hash *hash, size_t *bytes)
{
  XXH64_update(hash->state, hash->record, hash->used);
  hash->used = 0;
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
