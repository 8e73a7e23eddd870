#define NAME "somebody-else"
#include "broken.h"
