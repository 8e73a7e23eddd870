#define NAME "no-device"
#define FLAGS MILL_EXACT
#include "broken.h"
