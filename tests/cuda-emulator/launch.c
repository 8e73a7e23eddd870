/* Launches: what the driver refuses, and a grid's blocks one after the other. */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#define DECLARE_(name, symbol, parameters) int symbol parameters;
MILL_CUDA_DRIVER_TABLE(DECLARE_)
#pragma GCC visibility pop

int emu_launch_check(const struct emu_launch *q, unsigned parameters_given)
{
  const struct emulator_index *g = &q->grid, *b = &q->block;
  const struct emulator_entry *entry;
  uint64_t threads = (uint64_t)b->x * b->y * b->z;
  if (!emu_function_valid(q->function))
    return EMU_INVALID_HANDLE;
  entry = q->function->entry;
  if (!g->x || !g->y || !g->z || g->x > 2147483647u || g->y > 65535 || g->z > 65535)
    return EMU_INVALID_VALUE;
  if (!b->x || !b->y || !b->z || b->x > 1024 || b->y > 1024 || b->z > 64 || threads > EMU_THREADS)
    return EMU_INVALID_VALUE;
  if (q->shared > q->function->shared_allowed || (entry->count && !parameters_given))
    return EMU_INVALID_VALUE;
  return entry->bound && threads > entry->bound ? EMU_OUT_OF_RESOURCES : 0;
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int emu_launch_run(const struct emu_launch *q)
{
  static uint64_t launches;
  uint64_t order = emu_setting("EMULATOR_ORDER", 0), random = order ? order * 0x2545f4914f6cdd1du + ++launches : 0;
  uint64_t blocks = (uint64_t)q->grid.x * q->grid.y * q->grid.z, first = 0, step = 1;
  unsigned threads = q->block.x * q->block.y * q->block.z;
  struct emulator_control *control = emu_control(q->function->module);
  void *shared = NULL;
  int failed = 0;
  if (q->shared && posix_memalign(&shared, 1024, q->shared))
    return EMU_OUT_OF_MEMORY;
  if (random && blocks > 1) {
    first = emu_random(&random) % blocks;
    do
      step = 1 + emu_random(&random) % blocks;
    while (divisor(step, blocks) != 1);
  }
  control->block_dim = q->block;
  control->grid_dim = q->grid;
  control->dynamic = shared;
  for (uint64_t i = 0, b = first; i < blocks && !failed; i++, b = (b + step) % blocks) {
    control->block = (struct emulator_index){(unsigned)(b % q->grid.x), (unsigned)(b / q->grid.x % q->grid.y),
                                             (unsigned)(b / q->grid.x / q->grid.y)};
    emu_shared_forget(q->function->module);
    if (shared)
      emu_fill(shared, q->shared);
    failed = emu_block_run(control, q, threads, &random);
  }
  control->dynamic = NULL;
  free(shared);
  if (failed)
    emu_break(EMU_LAUNCH_FAILED);
  return 0;
}

int cuFuncGetAttribute(int *value, int attribute, mill_cu_function function)
{
  int code = emu_enter(1);
  if (!code && !value)
    code = EMU_INVALID_VALUE;
  if (!code && !emu_function_valid(function))
    code = EMU_INVALID_HANDLE;
  if (!code)
    switch (attribute) {
    case 0:
      *value = function->entry->bound ? (int)function->entry->bound : (int)EMU_THREADS;
      break;
    case MILL_CU_FUNCTION_LOCAL_BYTES:
      *value = 0;
      break;
    case MILL_CU_FUNCTION_REGISTERS:
      *value = 32;
      break;
    case MILL_CU_FUNCTION_DYNAMIC_SHARED:
      *value = (int)function->shared_allowed;
      break;
    default:
      code = EMU_INVALID_VALUE;
    }
  return emu_leave(code);
}

int cuFuncSetAttribute(mill_cu_function function, int attribute, int value)
{
  int code = emu_enter(1);
  if (!code && !emu_function_valid(function))
    code = EMU_INVALID_HANDLE;
  if (!code && attribute == MILL_CU_FUNCTION_DYNAMIC_SHARED && value >= 0 && (unsigned)value <= EMU_SHARED_MOST)
    function->shared_allowed = (unsigned)value;
  else if (!code && attribute == 9 && value >= -1 && value <= 100) /* preferred carve-out, a hint */
    ;
  else if (!code)
    code = EMU_INVALID_VALUE;
  return emu_leave(code);
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, mill_cu_function function, int threads, size_t shared_bytes)
{
  int code = emu_enter(1);
  if (!code && (!blocks || threads <= 0))
    code = EMU_INVALID_VALUE;
  if (!code && !emu_function_valid(function))
    code = EMU_INVALID_HANDLE;
  if (!code) {
    int by_threads = threads > 1024 ? 0 : 2048 / ((threads + 31) / 32 * 32), by_shared = 0;
    if (shared_bytes <= function->shared_allowed)
      by_shared = (int)((EMU_SHARED_MOST + 1024) / (shared_bytes + 1024));
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    if (*blocks > 32)
      *blocks = 32;
  }
  return emu_leave(code);
}
