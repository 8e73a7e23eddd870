#define NAME "short"
#define SIZE (sizeof(struct mill_plugin) - 8)
#include "broken.h"
