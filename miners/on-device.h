/* What counters on a device share on the host's side. */
#ifndef ON_DEVICE_H
#define ON_DEVICE_H

#include <spikemill/counter.h>

/* Device memory that grows. Zeroed before. */
struct room {
  uint64_t address, bytes;
};

/* Makes room for so many bytes; what was there is lost when it grows. */
static inline int room_make(const struct mill_device_host *device, struct room *room, const char *name, uint64_t bytes,
                            struct mill_error *error)
{
  if (room->address && bytes <= room->bytes)
    return 0;
  device->release(device->self, room->address);
  *room = (struct room){0, 0};
  if (device->allocate(device->self, name, bytes, &room->address, error))
    return -1;
  room->bytes = bytes;
  return 0;
}

/* Makes room and sends something there. */
static inline int room_put(const struct mill_device_host *device, struct room *room, const char *name, const void *from,
                           uint64_t bytes, struct mill_error *error)
{
  return room_make(device, room, name, bytes, error) || device->upload(device->self, room->address, from, bytes, error) ? -1 : 0;
}

/* The count of a type: its events that lie after each other. */
static inline uint64_t events_of(const struct mill_counter_input *in, uint32_t type)
{
  uint64_t count = 0;
  for (uint32_t q = in->first[type]; q < in->first[type + 1]; q++)
    count += q == in->first[type] || in->type_order[q] > in->type_order[q - 1];
  return count;
}

static inline uint32_t length_of(const struct mill_counter_input *in, uint32_t type)
{
  return in->first[type + 1] - in->first[type];
}

#endif
