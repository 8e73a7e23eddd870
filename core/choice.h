/* A plugin that a section of a configuration chooses, with its parameters from the same section. */
#ifndef MILL_CHOICE_H
#define MILL_CHOICE_H

#include <spikemill/plugin.h>
#include "expr.h"
#include "ini.h"

/* Where something was said, for messages of later stages. */
struct mill_place {
  const struct mill_ini *ini;
  struct mill_ini_section *section; /* NULL: the file has none */
};
/* mill_fail with the place of `key` (or of the section when it has no such key). Returns -1. */
int mill_place_fail(struct mill_error *error, const struct mill_place *place, const char *key, const char *format, ...)
  MILL_PRINTF(4, 5);
/* Puts a plugin's "KEY: reason" (or any other text) behind the place of KEY. Returns -1. */
int mill_place_refuse(struct mill_error *error, const struct mill_place *place, int status, const char *reason);

/* The section, the names that its values may use, and the folder that paths of plugins are seen from. */
struct mill_given {
  const struct mill_place *place;
  const struct mill_defines *defines;
  const char *folder;
};

struct mill_choice {
  const struct mill_plugin *plugin;
  void *values; /* its parameter block */
};

/* Loads the plugin `name`, which `key` names, and reads its parameters. Freed with mill_choice_free also after a failure. */
int mill_choice_load(const struct mill_given *given, const char *key, int kind, const char *name, struct mill_choice *choice,
                     struct mill_error *error);
void mill_choice_free(struct mill_choice *choice);

/* Keys of plugins of a kind that are not chosen may stand in the section, so that it serves whichever is: those that are left are checked,
   and a note says that they have no effect. The section is there. */
int mill_choice_others(const struct mill_given *given, int kind, const struct mill_choice *chosen, struct mill_error *error);

#endif
