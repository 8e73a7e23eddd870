/* Memory that a run owns: named, zeroed, 64-byte aligned, counted. */
#ifndef MILL_MEMORY_H
#define MILL_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <spikemill/error.h>

/* count × size bytes, zeroed; NULL when out of memory or the product overflows. Large blocks come straight from the system and are
   not touched, so that the workers that use a part place it. No bytes are a block too. Any thread. */
void *mill_allocate(const char *name, uint64_t count, size_t size);
void mill_release(void *memory);

/* As mill_allocate, with an error that names the array and its size. */
void *mill_allocate_or_fail(const char *name, uint64_t count, size_t size, struct mill_error *error);

/* Bytes held now (as asked for, without overhead), and the most ever held. */
uint64_t mill_memory_held(void);
uint64_t mill_memory_peak(void);
/* From now on the peak is that of what is held since this call: for a command that does one thing after the other. */
void mill_memory_peak_restart(void);

/* What a part of the work holds, of several that are done at a time. Zeroed before. */
struct mill_memory_account {
  uint64_t held, peak; /* atomic */
};
/* From now on what this thread allocates and releases is counted there, too; so is that of teams that it creates. NULL ends that. Returns the
   one before. */
struct mill_memory_account *mill_memory_account(struct mill_memory_account *account);

/* Bytes a new run may use: the least of MemAvailable, RLIMIT_AS/DATA headroom and the cgroup's headroom (v2 and v1). SPIKEMILL_MEMORY
   (bytes, with K M G T) lowers it: it is the most that may be held in all. A value that cannot be read gives 0 and a note. */
uint64_t mill_memory_free(void);

/* Reads SPIKEMILL_MEMORY: *bytes is UINT64_MAX when unset. Commands call it first, to refuse a value that is none. */
int mill_memory_limit(uint64_t *bytes, struct mill_error *error);

/* Bytes as users write them: "1.5G", with K, M, G, T for powers of 1024; a whole number of bytes below 9e18. Returns 0 or -1. */
int mill_memory_bytes(const char *text, uint64_t *bytes);

/* Headroom of the control groups that `cgroup` (/proc/self/cgroup) names, found through `mountinfo` (/proc/self/mountinfo);
   UINT64_MAX when there is no limit. */
uint64_t mill_memory_cgroup_free(const char *cgroup, const char *mountinfo);

/* "1.5 GiB" into buffer[32]. */
char *mill_memory_text(char *buffer, uint64_t bytes);

#endif
