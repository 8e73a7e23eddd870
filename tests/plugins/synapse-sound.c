#define NAME "sound"
#include "broken.h"
