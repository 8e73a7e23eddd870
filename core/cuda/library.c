/* Libraries opened at run time. RTLD_LOCAL: their symbols are for nobody else. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "cuda/library.h"

void *mill_library_open(const char *name, const char **reason)
{
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  *reason = library ? NULL : dlerror();
  if (!library && !*reason)
    *reason = "no reason given";
  return library;
}

const char *mill_library_fill(void *library, void *functions, const struct mill_library_entry *entry, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    void *function = dlsym(library, entry[i].symbol);
    if (!function)
      return entry[i].symbol;
    memcpy((char *)functions + entry[i].offset, &function, sizeof function);
  }
  return NULL;
}

char *mill_library_path(void *library, const char *name)
{
  struct link_map *map;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !map->l_name || !*map->l_name)
    return strdup(name);
  return strdup(map->l_name);
}
