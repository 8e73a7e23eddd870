#define NAME "half-text"
#define SOURCE 0
#define SOURCE_END "end"
#include "broken.h"
