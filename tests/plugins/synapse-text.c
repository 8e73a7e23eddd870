#define NAME "text"
static const char text[] = "the text";
#define SOURCE text
#define SOURCE_END (text + 8)
#include "broken.h"
