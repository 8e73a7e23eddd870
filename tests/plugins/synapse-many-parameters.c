#define NAME "many-parameters"
#define PARAM_COUNT 0x7fffffff
#include "broken.h"
