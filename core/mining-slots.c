/* Slots in which the windows of a recording are mined side by side. Each has a thread of its own and a share of the others for its team; on a GPU
   also a stream, a program and memory of its own, so that copies, kernels and the host's work of different windows overlap. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "mining-private.h"

#define ON_DEVICE 8 /* slots: more of them wait for the driver and for each other */
#define EACH 4      /* windows of a slot on the CPU, at least: with fewer its threads are used better inside of them */

uint32_t mill_mining_slots(const struct mill_mining *whole)
{
  const uint64_t windows = whole->windows.count, each = whole->job->memory;
  uint64_t slots = whole->threads;
  if (whole->miner && slots > ON_DEVICE)
    slots = ON_DEVICE;
  if (whole->miner && mill_miner_is_limited(whole->miner))
    slots = 1;
  if (each && slots > mill_memory_free() / each)
    slots = mill_memory_free() / each;
  if (whole->miner && slots > windows)
    slots = windows;
  if (!whole->miner && slots > windows / EACH)
    slots = 1;
  return slots ? (uint32_t)slots : 1;
}

int mill_mining_slot_open(struct mill_mining *whole, uint32_t index, uint32_t count, struct mill_mining_slot *slot,
                          struct mill_error *error)
{
  struct mill_memory_account *const before = mill_memory_account(&slot->account);
  int rc;
  *slot = (struct mill_mining_slot){.first = !index, .miner = index ? NULL : whole->miner};
  rc = mill_team_create(whole->threads / count, &slot->team, error);
  mill_memory_account(before);
  if (rc == 0 && index && whole->miner && mill_miner_open_like(whole->miner, &slot->miner, error) < 0) {
    mill_team_free(slot->team);
    rc = -1;
  }
  return rc;
}

void mill_mining_slot_close(struct mill_mining_slot *slot)
{
  if (!slot->first)
    mill_miner_close(slot->miner);
  mill_miner_close(slot->tester);
  mill_team_free(slot->team);
}

void mill_mining_slot_shed(struct mill_mining_slot *slot)
{
  if (slot->miner)
    mill_miner_shed(slot->miner);
}
