/* Finding, checking and loading plugins. A loaded plugin stays for the life of the process. */
#ifndef MILL_REGISTRY_H
#define MILL_REGISTRY_H

#include <spikemill/plugin.h>

/* The plugin KIND-NAME.so on the search path, or the file itself when `name` contains '/' (relative to `folder`, which may be NULL for
   the working directory). Every refusal is one sentence with the path and both numbers; unknown names get the nearest one. Thread
   safe; the same plugin is loaded once. */
int mill_plugin_load(int kind, const char *name, const char *folder, const struct mill_plugin **plugin, struct mill_error *error);

/* Opens and checks one file. `kind` 0 accepts any kind. */
int mill_plugin_open(const char *path, int kind, const struct mill_plugin **plugin, struct mill_error *error);

/* Names of all sound plugins of a kind, sorted, first on the path wins; broken ones are reported through `note` (may be NULL) and
   skipped. NULL-terminated array in one block, freed by the caller with free; NULL when out of memory. */
char **mill_plugin_list(int kind, void (*note)(const char *sentence, void *self), void *self);

/* The path a loaded plugin came from. */
const char *mill_plugin_path(const struct mill_plugin *plugin);

/* "neuron" … and back (0 when unknown). */
const char *mill_kind_name(int kind);
int mill_kind_find(const char *name);

/* The host table handed to plugins. */
extern const struct mill_host mill_host;

/* Where host->note goes: NULL (default) writes to stderr. The sink is never called by two threads at once. */
void mill_note_set(void (*sink)(const char *line, void *self), void *self);
/* Notes that were given. While this thread has such a list, a note of it that is there already is not given again. NULL ends that; the list is to
   be freed, and begins as zeros. */
struct mill_notes {
  char **text;
  size_t count;
};
void mill_notes_once(struct mill_notes *notes);
/* Keeps the notes of this thread in the list from now on, all of them and in order, for mill_notes_give, which any thread may call. NULL ends
   that. */
void mill_notes_keep(struct mill_notes *notes);
void mill_notes_give(const struct mill_notes *notes);
void mill_notes_free(struct mill_notes *notes);
/* What host->interrupted asks; NULL (default): nobody, it says 0. Set before plugins work. */
void mill_interrupt_set(int (*asked)(void));
void mill_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
