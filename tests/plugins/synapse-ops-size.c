#define NAME "ops-size"
#define OPS_SIZE 4
#include "broken.h"
