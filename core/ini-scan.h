/* Inside the INI reader: the pre-scan, and its comparison with what iniparser read. */
#ifndef MILL_INI_SCAN_H
#define MILL_INI_SCAN_H

#include <iniparser/iniparser.h>
#include "ini.h"

#define MILL_INI_LINE_MAX 1000   /* bytes; iniparser fails from 1024 on */
#define MILL_INI_NAME_MAX 128    /* bytes of a section's name, and of a key */
#define MILL_INI_COUNT_MAX 10000 /* sections and keys together: iniparser's time grows with the square */

/* Adds the sections and entries of a text to *ini, whose path is set. Returns 0 or -1. */
int mill_ini_scan(struct mill_ini *ini, const char *text, size_t size, struct mill_error *error);

/* Refuses, without location, what no line may have, comments included. */
int mill_ini_line_check(const char *begin, size_t n, struct mill_error *error);

/* What stands to the right of '=', to a malloc'ed value. Refuses, without location, what iniparser would cut short. */
int mill_ini_value_scan(const char *begin, size_t n, char **value, struct mill_error *error);

/* The same for the VALUE of --set: a comment is refused. */
int mill_ini_override_scan(const char *text, char **value, struct mill_error *error);

/* Refuses names that are no section or key, without location. */
int mill_ini_section_check(const char *name, struct mill_error *error);
int mill_ini_key_check(const char *key, struct mill_error *error);

/* Appends, taking no ownership; NULL when out of memory. */
struct mill_ini_section *mill_ini_section_add(struct mill_ini *ini, const char *name, int line);
struct mill_ini_entry *mill_ini_entry_add(struct mill_ini_section *section, const char *key, const char *value, int line);

/* iniparser_load in the C locale, with what it says written to `said` instead of standard error. */
dictionary *mill_ini_load(const char *path, char *said, size_t size);

/* Fails when the dictionary lacks something of the scan, has something more, or has another value. */
int mill_ini_agree(const struct mill_ini *ini, const dictionary *d, struct mill_error *error);

/* A value as it is written in a file: with quotes where it needs them. buffer ≥ strlen(value) + 3 bytes. Returns buffer. */
char *mill_ini_quote(char *buffer, const char *value);

#endif
