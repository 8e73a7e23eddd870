#define NAME "no-kind"
#define KIND 77
#include "broken.h"
