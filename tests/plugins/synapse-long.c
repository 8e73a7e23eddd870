#define NAME "long"
#define SIZE (sizeof(struct mill_plugin) + 8)
#include "broken.h"
