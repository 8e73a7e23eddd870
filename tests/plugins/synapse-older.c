/* Built for ABI 0.0, whose descriptor ends before `source`: works, and what stands there is not read. */
#define NAME "older"
#define MINOR 0
#define SIZE offsetof(struct mill_plugin, source)
#define SOURCE (const char *)1
#define SOURCE_END (const char *)2
#include "broken.h"
