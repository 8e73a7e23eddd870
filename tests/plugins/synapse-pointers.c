#define NAME "pointers"
#define POINTER_SIZE 2
#include "broken.h"
