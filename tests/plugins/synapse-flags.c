#define NAME "flags"
#define FLAGS (MILL_CPU | 0x400u)
#include "broken.h"
