/* The parts of the registry: where plugins are looked for, and what a file and a descriptor must be like. */
#ifndef MILL_PLUGIN_CHECK_H
#define MILL_PLUGIN_CHECK_H

#include <stddef.h>
#include <sys/types.h>
#include <spikemill/plugin.h>

/* ---- plugin-search.c */

/* Folders in the order of the search: SPIKEMILL_PLUGIN_PATH, the build tree, the installed one. NULL-terminated array in one block,
   freed with free; NULL when out of memory. */
char **mill_plugin_folders(void);

/* Names of the files KIND-NAME.so in the folders, sound or not, sorted and unique. As mill_plugin_list. */
char **mill_plugin_names(char *const *folders, int kind);

/* Path of the first KIND-NAME.so in the folders, malloc'ed. NULL when there is none (then *failed is 0) or no memory (1). */
char *mill_plugin_search(char *const *folders, int kind, const char *name, int *failed);

/* ---- plugin-check.c */

/* Kind, and the name's first byte and length, from the last component of a path, which must be KIND-NAME.so. */
int mill_plugin_file_name(const char *path, int *kind, const char **name, size_t *length, struct mill_error *error);

/* A regular, readable, whole ELF file for machines like this one, without loading it. */
int mill_plugin_check_file(const char *path, struct mill_error *error);

/* Everything about the descriptor at `plugin`, of which `size` bytes can be read (0: not known). */
int mill_plugin_check(const char *path, const struct mill_plugin *plugin, size_t size, struct mill_error *error);

#endif
