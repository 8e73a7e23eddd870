/* INI files: iniparser behind guards (simulation networks and mining jobs). Every section and key keeps its line. */
#ifndef MILL_INI_H
#define MILL_INI_H

#include <stddef.h>
#include <spikemill/error.h>

struct mill_ini_entry {
  char *key;
  char *value;   /* trimmed, never NULL, comments and enclosing quotes removed; blanks inside quotes stay */
  int line;      /* 0 when it came from an override, */
  char *option;  /* and the option that the override was made of, "--support"; else NULL */
  int added;     /* 1 when the file has no such key */
  int used;      /* set by whoever reads it; what is left unused is an unknown key */
};

struct mill_ini_section {
  char *name;    /* "population.exc" */
  int line;      /* 0 when made by an override */
  size_t count;
  struct mill_ini_entry *entry;
};

struct mill_ini {
  char *path;    /* as given; used in messages */
  size_t count;
  struct mill_ini_section *section; /* in file order */
};

/* Reads a regular file of at most 16 MiB. Refuses, with file:line: duplicate sections and keys, keys outside a section, lines over
   1000 bytes, byte-order marks, NUL and other control bytes, what is not UTF-8, trailing backslashes, upper-case names, names with
   ':', lines that are neither, unterminated quotes, text after a closing quote or a section header, and a ';' or '#' that would cut
   a value (a comment after a value needs a blank before it).
   `overrides` are the texts of --set: SECTION.KEY=VALUE, the key being what follows the last dot before '='; they replace or add. A
   comment in one, or two for one key, are refused. One that was made of another option begins with its name and a blank,
   "--support mining.support=100", and messages name that.
   Returns 0 with *ini to be freed by mill_ini_free, or -1. */
int mill_ini_read(const char *path, const char *const *overrides, size_t override_count, struct mill_ini **ini,
                  struct mill_error *error);
/* The same from memory; `path` only names it. */
int mill_ini_parse(const char *path, const char *text, size_t size, const char *const *overrides, size_t override_count,
                   struct mill_ini **ini, struct mill_error *error);
void mill_ini_free(struct mill_ini *ini);

struct mill_ini_section *mill_ini_section_find(const struct mill_ini *ini, const char *name);
struct mill_ini_entry *mill_ini_entry_find(const struct mill_ini_section *section, const char *key);

/* "net.ini:12: [population.exc] size = many: ", "--set population.exc.size=many: " or "--support many: " as the start of every message,
   at most size bytes of it; a long value is cut. */
void mill_ini_where(const struct mill_ini *ini, const struct mill_ini_section *section, const struct mill_ini_entry *entry,
                    char *buffer, size_t size);
/* mill_fail with that start. Entry may be NULL (then it is the section), section may be NULL (then the file). Returns -1. */
int mill_ini_fail(struct mill_error *error, const struct mill_ini *ini, const struct mill_ini_section *section,
                  const struct mill_ini_entry *entry, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The whole as INI text, canonical (file order, overrides applied, [define] kept): what output files record as their configuration.
   malloc'ed; NULL when out of memory. */
char *mill_ini_text(const struct mill_ini *ini);

#endif
