/* Shared by the files that read a network file, section kind by section kind. */
#ifndef MILL_NETFILE_PRIVATE_H
#define MILL_NETFILE_PRIVATE_H

#include "netfile.h"
#include "param.h"

/* Parses a section's own keys into `block`. */
int mill_section_parse(struct mill_netfile *net, const struct mill_place *place, const struct mill_param_spec *specs, size_t count,
                       void *block, struct mill_error *error);

/* Entries that nobody used are an error; the section's own specs, the plugin's and `extra` names are the valid ones. */
int mill_section_close(const struct mill_place *place, const struct mill_param_spec *specs, size_t count,
                       const struct mill_plugin *plugin, const struct mill_param_spec *extra, size_t extra_count,
                       struct mill_error *error);

/* Index of a name among the netfile's populations; an error with the nearest one otherwise. */
int mill_population_find(const struct mill_netfile *net, const struct mill_place *place, const char *key, const char *name,
                         uint32_t *index, struct mill_error *error);
/* Index of a receptor of population `target`; NULL or "" picks the only one. */
int mill_receptor_find(const struct mill_netfile *net, const struct mill_place *place, const char *name, uint32_t target,
                       uint32_t *receptor, struct mill_error *error);

/* A comma list of a key, each item once and none empty; as mill_text_list. NULL after an error. */
char **mill_section_list(const struct mill_place *place, const char *key, const char *text, size_t *count, struct mill_error *error);

/* The text after "PREFIX." of a section name, or NULL. */
const char *mill_section_suffix(const struct mill_ini_section *section, const char *prefix);

int mill_populations_read(struct mill_netfile *net, struct mill_error *error);
int mill_projections_read(struct mill_netfile *net, struct mill_error *error);
int mill_stimuli_read(struct mill_netfile *net, struct mill_error *error);
int mill_record_read(struct mill_netfile *net, struct mill_error *error);
void mill_record_free(struct mill_record_setup *record);

#endif
