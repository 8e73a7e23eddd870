/* Order by bitmaps: one pass sets a bit a spike, another takes the bits out. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

static uint64_t words_of(const struct mill_network *network)
{
  return network->neurons / 64 + UINT64_C(1);
}

static uint64_t some_of(const struct mill_network *network)
{
  return words_of(network) / 64 + 1;
}

int mill_order_scratch_build(const struct mill_network *network, struct mill_order_scratch *scratch, struct mill_error *error)
{
  const uint32_t steps = network->epoch_steps;
  scratch->fired = mill_allocate_or_fail("spikes of an epoch", steps * words_of(network), sizeof *scratch->fired, error);
  scratch->some = mill_allocate_or_fail("spikes of an epoch", steps * some_of(network), sizeof *scratch->some, error);
  scratch->population_spikes =
      mill_allocate_or_fail("spikes of an epoch", network->population_count, sizeof *scratch->population_spikes, error);
  return scratch->fired && scratch->some && scratch->population_spikes ? 0 : -1;
}

void mill_order_scratch_free(struct mill_order_scratch *scratch)
{
  mill_release(scratch->fired);
  mill_release(scratch->some);
  mill_release(scratch->population_spikes);
}

void mill_order_free(struct mill_ordered *epoch)
{
  mill_release(epoch->record);
  mill_release(epoch->event);
}

/* Bits that are set, without the call that a compiler makes of it for a processor of which it knows nothing. */
static inline uint32_t ones(uint32_t x)
{
  x -= x >> 1 & 0x55555555u;
  x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
  return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

/* Sees to it that the list is one of this network, and counts. */
static int count_spikes(const struct mill_network *network, const uint32_t *out_degree, struct mill_ordered *epoch,
                        struct mill_error *error)
{
  uint32_t last = 0, masks = 0;
  uint64_t spikes = 0, synaptic_events = 0;
  for (uint32_t k = 0; k < epoch->count; k++) {
    last = epoch->spike[k].neuron > last ? epoch->spike[k].neuron : last;
    masks |= epoch->spike[k].mask;
    spikes += ones(epoch->spike[k].mask);
  }
  epoch->spikes = spikes;
  if (epoch->count && last >= network->neurons)
    return mill_fail(error, MILL_RESOURCES, "a spike of neuron %u is reported in step %lld, and there are %u", last,
                     (long long)epoch->first, network->neurons);
  if ((uint64_t)masks >> epoch->steps)
    return mill_fail(error, MILL_RESOURCES, "a spike is reported after the end of the epoch of step %lld", (long long)epoch->first);
  for (uint32_t k = 0; k < epoch->count; k++)
    synaptic_events += ones(epoch->spike[k].mask) * (uint64_t)out_degree[epoch->spike[k].neuron];
  epoch->synaptic_events = synaptic_events;
  return 0;
}

static int reserve(struct mill_ordered *epoch, struct mill_error *error)
{
  const uint64_t capacity = epoch->spikes + epoch->spikes / 2;
  if (epoch->spikes > epoch->record_capacity) {
    mill_release(epoch->record);
    epoch->record = mill_allocate_or_fail("spikes of an epoch", capacity, sizeof *epoch->record, error);
    epoch->record_capacity = epoch->record ? capacity : 0;
    if (!epoch->record)
      return -1;
  }
  if (epoch->with_events && epoch->spikes > epoch->event_capacity) {
    mill_release(epoch->event);
    epoch->event = mill_allocate_or_fail("spikes of an epoch", capacity, sizeof *epoch->event, error);
    epoch->event_capacity = epoch->event ? capacity : 0;
    if (!epoch->event)
      return -1;
  }
  return 0;
}

static void set_bits(const struct mill_network *network, const struct mill_order_scratch *scratch, const struct mill_ordered *epoch)
{
  const uint64_t words = words_of(network), somes = some_of(network);
  for (uint32_t k = 0; k < epoch->count; k++) {
    const struct mill_device_spike spike = epoch->spike[k];
    const uint64_t word = spike.neuron / 64, bit = UINT64_C(1) << spike.neuron % 64, some = UINT64_C(1) << word % 64;
    for (uint32_t mask = spike.mask; mask; mask &= mask - 1) {
      const uint32_t step = (uint32_t)__builtin_ctz(mask);
      scratch->fired[step * words + word] |= bit;
      scratch->some[step * somes + word / 64] |= some;
    }
  }
}

struct cursor {
  const struct mill_population *population;
  struct mill_hash_record *record;
  struct mill_event *event;
};

/* Takes a step's bits out. */
static inline __attribute__((always_inline)) void take_step(struct cursor *cursor, uint64_t *fired, uint64_t *some, uint64_t somes,
                                                            int64_t tick, uint64_t *population_spikes, int with_events)
{
  struct mill_hash_record *record = cursor->record;
  struct mill_event *event = cursor->event;
  uint64_t before = 0;
  uint32_t p = 0, first = cursor->population[0].first;
  for (uint64_t m = 0; m < somes; m++) {
    for (uint64_t left = some[m]; left; left &= left - 1) {
      const uint64_t word = m * 64 + (uint64_t)__builtin_ctzll(left);
      uint64_t bits = fired[word];
      fired[word] = 0;
      do {
        const uint32_t neuron = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
        while (neuron - first >= cursor->population[p].size) {
          const uint64_t n = (uint64_t)(record - cursor->record);
          population_spikes[p++] += n - before;
          before = n;
          first = cursor->population[p].first;
        }
        *record++ = mill_hash_record(tick, p, neuron - first);
        if (with_events)
          *event++ = (struct mill_event){tick, neuron, 0};
      } while (bits &= bits - 1);
    }
    some[m] = 0;
  }
  population_spikes[p] += (uint64_t)(record - cursor->record) - before;
  cursor->record = record;
  cursor->event = event;
}

int mill_order(const struct mill_network *network, const uint32_t *out_degree, struct mill_order_scratch *scratch,
               struct mill_ordered *epoch, struct mill_error *error)
{
  const uint64_t words = words_of(network), somes = some_of(network);
  struct cursor cursor = {network->population, NULL, NULL};
  if (count_spikes(network, out_degree, epoch, error) < 0 || reserve(epoch, error) < 0)
    return -1;
  if (!epoch->spikes)
    return 0;
  set_bits(network, scratch, epoch);
  cursor.record = epoch->record;
  cursor.event = epoch->event;
  for (uint32_t s = 0; s < epoch->steps; s++) {
    uint64_t *fired = scratch->fired + s * words, *some = scratch->some + s * somes;
    if (epoch->with_events)
      take_step(&cursor, fired, some, somes, epoch->first + s + 1, scratch->population_spikes, 1);
    else
      take_step(&cursor, fired, some, somes, epoch->first + s + 1, scratch->population_spikes, 0);
  }
  if (cursor.record != epoch->record + epoch->spikes)
    return mill_fail(error, MILL_RESOURCES, "a neuron is reported twice in the epoch of step %lld", (long long)epoch->first);
  return 0;
}
