#define NAME "minor"
#define MINOR (MILL_ABI_MINOR + 90)
#include "broken.h"
