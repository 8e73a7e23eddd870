/* Named, zeroed, counted memory. A block carries a 64-byte head with its size, so that release needs nothing else and the data stay
   aligned. Large blocks are anonymous mappings: zero without being touched, so the worker that first writes a page places it. Smaller ones come
   from malloc, which has them at hand when they come and go, as those of a counter on one surrogate after the other do. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "memory.h"
#include "text.h"

#define HEAD ((size_t)64)
#define HUGE_FROM ((size_t)2 << 20)
#ifdef __SANITIZE_ADDRESS__
#define MAP_FROM ((size_t)1 << 36) /* the sanitizer sees the ends of malloc's blocks only */
#else
#define MAP_FROM HUGE_FROM
#endif

struct head {
  uint64_t bytes;  /* asked for */
  uint64_t mapped; /* length of the mapping; 0: from malloc */
  char name[48];   /* for a debugger */
};
_Static_assert(sizeof(struct head) == HEAD, "the head keeps the data aligned");

static atomic_uint_fast64_t held, peak;
static _Thread_local struct mill_memory_account *own;

struct mill_memory_account *mill_memory_account(struct mill_memory_account *account)
{
  struct mill_memory_account *const before = own;
  own = account;
  return before;
}

static void count_own(uint64_t bytes)
{
  uint64_t now = __atomic_add_fetch(&own->held, bytes, __ATOMIC_RELAXED);
  uint64_t most = __atomic_load_n(&own->peak, __ATOMIC_RELAXED);
  while (now > most && !__atomic_compare_exchange_n(&own->peak, &most, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void count_up(uint64_t bytes)
{
  if (own)
    count_own(bytes);
  uint64_t now = atomic_fetch_add(&held, bytes) + bytes;
  uint64_t most = atomic_load(&peak);
  while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
    ;
}

static struct head *map_block(const char *name, size_t total)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (total > SIZE_MAX - page)
    return NULL;
  size_t length = (total + page - 1) / page * page;
  void *block = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    return NULL;
  if (length >= HUGE_FROM)
    (void)madvise(block, length, MADV_HUGEPAGE);
#ifdef PR_SET_VMA
  (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, block, length, name);
#else
  (void)name;
#endif
  struct head *head = block;
  head->mapped = length;
  return head;
}

void *mill_allocate(const char *name, uint64_t count, size_t size)
{
  if (size && count > (SIZE_MAX - 2 * HEAD) / size)
    return NULL;
  size_t bytes = (size_t)count * size;
  size_t total = (bytes + HEAD + 63) & ~(size_t)63;
  struct head *head;
  if (total >= MAP_FROM)
    head = map_block(name, total);
  else if ((head = aligned_alloc(64, total)))
    memset(head, 0, total);
  if (!head)
    return NULL;
  head->bytes = bytes;
  strncpy(head->name, name ? name : "", sizeof head->name - 1);
  count_up(bytes);
  return head + 1;
}

void mill_release(void *memory)
{
  if (!memory)
    return;
  struct head *head = (struct head *)memory - 1;
  atomic_fetch_sub(&held, head->bytes);
  if (own)
    __atomic_sub_fetch(&own->held, head->bytes, __ATOMIC_RELAXED);
  if (head->mapped)
    (void)munmap(head, head->mapped);
  else
    free(head);
}

void *mill_allocate_or_fail(const char *name, uint64_t count, size_t size, struct mill_error *error)
{
  void *memory = mill_allocate(name, count, size);
  if (memory)
    return memory;
  char need[32], have[32];
  if (size && count > UINT64_MAX / size)
    mill_fail(error, MILL_RESOURCES, "%s: %llu elements of %zu bytes are more than memory can address", name,
              (unsigned long long)count, size);
  else
    mill_fail(error, MILL_RESOURCES, "%s: no memory for %s (%llu elements of %zu bytes); %s can still be had", name,
              mill_memory_text(need, count * size), (unsigned long long)count, size, mill_memory_text(have, mill_memory_free()));
  return NULL;
}

uint64_t mill_memory_held(void)
{
  return atomic_load(&held);
}

uint64_t mill_memory_peak(void)
{
  return atomic_load(&peak);
}

void mill_memory_peak_restart(void)
{
  atomic_store(&peak, atomic_load(&held));
}

char *mill_memory_text(char *buffer, uint64_t bytes)
{
  static const char unit[][4] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    mill_text_format(buffer, 32, "%u B", (unsigned)bytes);
    return buffer;
  }
  for (int i = 0;; i++) {
    uint64_t one = (uint64_t)1 << (10 * (i + 1));
    uint64_t whole = bytes / one, rest = bytes % one;
    uint64_t tenths = whole * 10 + ((rest >> (10 * i)) * 10 + 512) / 1024;
    if (tenths >= 10240 && i < 5)
      continue;
    mill_text_format(buffer, 32, "%llu.%llu %s", (unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10), unit[i]);
    return buffer;
  }
}
