#define NAME "major"
#define MAJOR (MILL_ABI_MAJOR + 7)
#include "broken.h"
