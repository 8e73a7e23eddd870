#define NAME "no-ops"
#define OPS 0
#include "broken.h"
