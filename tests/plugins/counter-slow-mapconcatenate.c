/* The same under the name of mapconcatenate, slow at the other levels. */
#define NAME "mapconcatenate"
#define OFFSET 1
#include "counter-slow-ptpe.c"
