#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "choice.h"

#include <stdlib.h>

#include "param.h"
#include "registry.h"

int mill_choice_load(const struct mill_given *given, const char *key, int kind, const char *name, struct mill_choice *choice,
                     struct mill_error *error)
{
  static struct mill_ini_section none = {"", 0, 0, NULL};
  const struct mill_place *place = given->place;
  struct mill_error inner = {0};
  if (mill_plugin_load(kind, name, given->folder, &choice->plugin, &inner) < 0)
    return mill_place_fail(error, place, key, "%s", inner.text);
  choice->values = calloc(1, choice->plugin->params_size + 8u);
  if (!choice->values)
    return mill_fail(error, MILL_RESOURCES, "out of memory for the parameters of %s", name);
  return mill_param_parse(choice->plugin->params, choice->plugin->param_count, place->ini, place->section ? place->section : &none,
                          given->defines, choice->values, error);
}

void mill_choice_free(struct mill_choice *choice)
{
  if (choice->values)
    mill_param_free(choice->plugin->params, choice->plugin->param_count, choice->values);
  free(choice->values);
}

/* Says which keys of a plugin are left in the section. Returns whether there are any. */
static int tell_left(const struct mill_given *given, int kind, const struct mill_plugin *plugin, const struct mill_choice *chosen)
{
  int found = 0;
  for (size_t k = 0; k < plugin->param_count; k++) {
    const struct mill_ini_entry *entry = mill_ini_entry_find(given->place->section, plugin->params[k].key);
    struct mill_error said;
    if (!entry || entry->used)
      continue;
    found = 1;
    mill_place_fail(&said, given->place, entry->key, "no effect: a key of %s `%s`, and `%s` is chosen", mill_kind_name(kind),
                    plugin->name, chosen->plugin->name);
    mill_note("%s", said.text);
  }
  return found;
}

static int any_left(const struct mill_ini_section *section)
{
  for (size_t i = 0; i < section->count; i++)
    if (!section->entry[i].used)
      return 1;
  return 0;
}

int mill_choice_others(const struct mill_given *given, int kind, const struct mill_choice *chosen, struct mill_error *error)
{
  char **names = any_left(given->place->section) ? mill_plugin_list(kind, NULL, NULL) : NULL; /* loads them all */
  int rc = 0;
  for (size_t i = 0; names && names[i] && rc == 0; i++) {
    const struct mill_plugin *plugin;
    struct mill_choice other = {0};
    rc = mill_plugin_load(kind, names[i], given->folder, &plugin, error);
    if (rc == 0 && tell_left(given, kind, plugin, chosen))
      rc = mill_choice_load(given, mill_kind_name(kind), kind, names[i], &other, error);
    mill_choice_free(&other);
  }
  free(names);
  return rc;
}
