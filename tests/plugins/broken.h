/* A synapse plugin whose descriptor is wrong in the one thing that the including file defines. A file KIND-NAME.c here becomes
   KIND-NAME.so, for tests/registry.c. */
#include <spikemill/synapse-ops.h>

#ifndef MAGIC
#define MAGIC MILL_PLUGIN_MAGIC
#endif
#ifndef MAJOR
#define MAJOR MILL_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR MILL_ABI_MINOR
#endif
#ifndef SIZE
#define SIZE sizeof(struct mill_plugin)
#endif
#ifndef POINTER_SIZE
#define POINTER_SIZE sizeof(void *)
#endif
#ifndef KIND
#define KIND MILL_SYNAPSE
#endif
#ifndef FLAGS
#define FLAGS (MILL_CPU | MILL_EXACT)
#endif
#ifndef OPS_SIZE
#define OPS_SIZE sizeof ops
#endif
#ifndef OPS
#define OPS &ops
#endif
#ifndef LICENCE
#define LICENCE "MIT"
#endif
#ifndef PARAMS
#define PARAMS {"tau", "ms", "20", 0, "time constant", 0.1, 100, 0, MILL_REAL, 0}
#endif
#ifndef PARAM_COUNT
#define PARAM_COUNT (sizeof params / sizeof *params)
#endif
#ifndef SOURCE
#define SOURCE 0
#define SOURCE_END 0
#endif

struct values {
  double tau;
};
static const struct mill_param_spec params[] = {PARAMS};
#ifndef OPS_TABLE
static const struct mill_synapse_ops ops = {0};
#else
OPS_TABLE;
#endif

MILL_EXPORT extern const struct mill_plugin spikemill_plugin;
const struct mill_plugin spikemill_plugin = {
  MAGIC,    MAJOR,      MINOR,  (uint32_t)(SIZE),        (uint16_t)(POINTER_SIZE), KIND, FLAGS, (uint32_t)(OPS_SIZE),
  (uint32_t)sizeof(struct values), (uint32_t)(PARAM_COUNT), NAME, "1.2", "a plugin of the tests", LICENCE, params, OPS,
  SOURCE,   SOURCE_END,  NULL,
};
