#define NAME "magic"
#define MAGIC 0x12345678u
#include "broken.h"
