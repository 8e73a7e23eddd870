/* Needs a function that nobody has; linked without -z defs. */
#define NAME "undefined"
#include "broken.h"

int nobody_has_this(void);
MILL_EXPORT int needs_it(void);
int needs_it(void)
{
  return nobody_has_this();
}
