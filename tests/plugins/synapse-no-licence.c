#define NAME "no-licence"
#define LICENCE ""
#include "broken.h"
