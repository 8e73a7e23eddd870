/* Device memory is memory of the process, in blocks of exactly the bytes asked for, so that a sanitizer or valgrind sees what a kernel
   does beyond them. What is allocated is counted against the device's size. */
#include "emulator.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif
#ifndef VALGRIND_MAKE_MEM_UNDEFINED
#define VALGRIND_MAKE_MEM_UNDEFINED(memory, bytes) ((void)0)
#endif

#pragma GCC visibility push(default)
#define DECLARE_(name, symbol, parameters) int symbol parameters;
MILL_CUDA_DRIVER_TABLE(DECLARE_)
#pragma GCC visibility pop

/* A block, in the list of device memory or in that of host memory. */
struct block {
  struct block *next;
  unsigned char *memory;
  uint64_t bytes, counted;
};
static struct block *device_blocks, *host_blocks;
static uint64_t held, sent;

void emu_sent(uint64_t bytes)
{
  sent += bytes;
}

uint64_t emu_sent_all(void)
{
  return sent;
}

static uint64_t capacity(void)
{
  return emu_setting("EMULATOR_MEMORY", (uint64_t)2 << 30);
}

/* Old bytes of other programs: whoever reads them gets the same on every run, and is told of by valgrind. Of large blocks only the first 16 MiB, so
   that what nobody uses needs no memory. Each byte is told by its address, so that no numbers which a program writes are taken for them. A
   sanitizer's guards may be among them. */
enum { UNWRITTEN_BYTES = 32 };

static unsigned char unwritten(const unsigned char *at)
{
  return (unsigned char)((uintptr_t)at % 256 * 167 + 0xa5);
}

__attribute__((no_sanitize("address"))) void emu_fill(void *memory, uint64_t bytes)
{
  unsigned char *at = memory;
  const uint64_t filled = bytes < 16u << 20 ? bytes : 16u << 20;
  for (uint64_t i = 0; i < filled; i++)
    at[i] = unwritten(at + i);
  (void)VALGRIND_MAKE_MEM_UNDEFINED(memory, bytes);
}

void emu_download(void *to, const void *from, uint64_t bytes)
{
  const unsigned char *at = from;
  uint64_t in_a_row = 0;
  for (uint64_t i = 0; i < bytes && in_a_row < UNWRITTEN_BYTES; i++)
    in_a_row = at[i] == unwritten(at + i) ? in_a_row + 1 : 0;
  memcpy(to, from, bytes);
  if (in_a_row == UNWRITTEN_BYTES) {
    emu_say("a copy of %" PRIu64 " bytes to the host takes memory that nobody has written", bytes);
    if (emu_strict())
      abort();
  }
}

static int block_new(struct block **list, uint64_t bytes, uint64_t counted, unsigned char **memory)
{
  struct block *block = malloc(sizeof *block);
  void *made = NULL;
  if (!block || posix_memalign(&made, 256, bytes)) {
    free(block);
    return EMU_OUT_OF_MEMORY;
  }
  emu_fill(made, bytes);
  *block = (struct block){*list, made, bytes, counted};
  *list = block;
  *memory = made;
  return 0;
}

static int block_free(struct block **list, uint64_t address)
{
  for (struct block **at = list, *block; (block = *at); at = &block->next)
    if ((uint64_t)(uintptr_t)block->memory == address) {
      *at = block->next;
      held -= block->counted;
      free(block->memory);
      free(block);
      return 0;
    }
  return EMU_INVALID_VALUE;
}

static unsigned count_of(const struct block *list)
{
  unsigned n = 0;
  for (; list; list = list->next)
    n++;
  return n;
}

unsigned emu_memory_alive(uint64_t *bytes)
{
  const struct block *first = device_blocks;
  while (first && first->next)
    first = first->next;
  *bytes = first ? first->bytes : 0;
  return count_of(device_blocks);
}

unsigned emu_host_alive(void)
{
  return count_of(host_blocks);
}

void emu_memory_drop(void)
{
  while (device_blocks)
    block_free(&device_blocks, (uint64_t)(uintptr_t)device_blocks->memory);
  while (host_blocks)
    block_free(&host_blocks, (uint64_t)(uintptr_t)host_blocks->memory);
}

int emu_reaches(mill_cu_address address, uint64_t bytes)
{
  for (const struct block *b = device_blocks; b; b = b->next) {
    uint64_t first = (uint64_t)(uintptr_t)b->memory;
    if (address >= first && address - first <= b->bytes && bytes <= b->bytes - (address - first))
      return 1;
  }
  return emu_module_reaches(address, bytes);
}

int emu_pinned(const void *memory, uint64_t bytes)
{
  uint64_t address = (uint64_t)(uintptr_t)memory;
  for (const struct block *b = host_blocks; b; b = b->next) {
    uint64_t first = (uint64_t)(uintptr_t)b->memory;
    if (address >= first && address - first <= b->bytes && bytes <= b->bytes - (address - first))
      return 1;
  }
  return 0;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
  int code = emu_enter(1);
  if (!code && (!free_bytes || !total))
    code = EMU_INVALID_VALUE;
  if (!code) {
    *total = capacity();
    *free_bytes = held < *total ? *total - held : 0;
  }
  return emu_leave(code);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
  int code = emu_enter(0);
  if (!code && !bytes)
    code = EMU_INVALID_VALUE;
  if (!code && device != 0)
    code = EMU_INVALID_DEVICE;
  if (!code)
    *bytes = capacity();
  return emu_leave(code);
}

int cuMemAlloc_v2(mill_cu_address *address, size_t bytes)
{
  int code = emu_enter(1);
  unsigned char *memory;
  if (!code && emu_captures())
    code = emu_disturb();
  if (!code && (!address || bytes == 0))
    code = EMU_INVALID_VALUE;
  if (!code) {
    uint64_t most = capacity(), counted = (bytes + 255) / 256 * 256;
    if (counted < bytes || held > most || counted > most - held)
      code = EMU_OUT_OF_MEMORY;
    else if (!(code = block_new(&device_blocks, bytes, counted, &memory))) {
      held += counted;
      *address = (uint64_t)(uintptr_t)memory;
    }
  }
  return emu_leave(code);
}

/* Nothing is kept back after a failure: the block is gone, and the error is told all the same. */
int cuMemFree_v2(mill_cu_address address)
{
  int code = emu_enter(1), freed;
  if (!code && emu_captures())
    code = emu_disturb();
  if (!code)
    emu_streams_wait();
  if (address && (!code || code == emu_broken()) && (freed = block_free(&device_blocks, address)) && !code)
    code = freed;
  return emu_leave(code);
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
  int code = emu_enter(1);
  unsigned char *made;
  if (!code && emu_captures())
    code = emu_disturb();
  if (!code && (!memory || bytes == 0 || flags > 7))
    code = EMU_INVALID_VALUE;
  if (!code && !(code = block_new(&host_blocks, bytes, 0, &made)))
    *memory = made;
  return emu_leave(code);
}

int cuMemFreeHost(void *memory)
{
  int code = emu_enter(1), freed;
  if (!code)
    emu_streams_wait();
  if ((!code || code == emu_broken()) && (freed = block_free(&host_blocks, (uint64_t)(uintptr_t)memory)) && !code)
    code = freed;
  return emu_leave(code);
}

int cuMemcpyHtoD_v2(mill_cu_address to, const void *from, size_t bytes)
{
  int code = emu_enter(1);
  if (!code && emu_captures())
    code = emu_disturb();
  if (!code && bytes && (!from || !emu_reaches(to, bytes)))
    code = EMU_INVALID_VALUE;
  if (!code && bytes && !(code = emu_legacy_wait()))
    memcpy((void *)(uintptr_t)to, from, bytes);
  if (!code)
    emu_sent(bytes);
  return emu_leave(code);
}

int cuMemcpyDtoH_v2(void *to, mill_cu_address from, size_t bytes)
{
  int code = emu_enter(1);
  if (!code && emu_captures())
    code = emu_disturb();
  if (!code && bytes && (!to || !emu_reaches(from, bytes)))
    code = EMU_INVALID_VALUE;
  if (!code && bytes && !(code = emu_legacy_wait()))
    emu_download(to, (const void *)(uintptr_t)from, bytes);
  return emu_leave(code);
}
