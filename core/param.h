/* Parameter tables at work: from INI entries to a parameter block, and back to text. */
#ifndef MILL_PARAM_H
#define MILL_PARAM_H

#include <stdio.h>
#include <spikemill/plugin.h>
#include "expr.h"
#include "ini.h"

/* A MILL_INT's bound that is this far from 0 or farther is none. */
#define MILL_INT_FREE 9.2e18

/* Fills `block` (zeroed, at least as large as every offset + size asks) from the section's entries, defaults for the rest, marks
   entries used. MILL_PER_NEURON specs are skipped here. Errors name file, line, key, what was found, what was expected. TEXT values
   are malloc'ed. Returns 0 or -1; call mill_param_free in both cases. */
int mill_param_parse(const struct mill_param_spec *specs, size_t count, const struct mill_ini *ini,
                     struct mill_ini_section *section, const struct mill_defines *defines, void *block,
                     struct mill_error *error);
void mill_param_free(const struct mill_param_spec *specs, size_t count, void *block);

/* One value into its place of the block; text without location. TEXT values are malloc'ed, and an earlier one is forgotten. */
int mill_param_value(const struct mill_param_spec *spec, const char *text, const struct mill_defines *defines, void *block,
                     struct mill_error *error);

/* Fails for the first entry that is still unused: "unknown key `siez`; did you mean `size`?". `tables` are all the spec tables that
   apply to the section, for the hint; the keys are listed when none is near. */
struct mill_param_table { const struct mill_param_spec *specs; size_t count; };
int mill_param_check_unused(const struct mill_ini *ini, const struct mill_ini_section *section,
                            const struct mill_param_table *tables, size_t table_count, struct mill_error *error);

/* Checks a table itself (for tests and the registry): keys well-formed and unique, unit and doc present, default parses and lies in
   [min, max], choices sane, offsets distinct, aligned and inside block_size. */
int mill_param_check_table(const struct mill_param_spec *specs, size_t count, size_t block_size, struct mill_error *error);

/* What a value may be: "0.1 … 10000", "≥ 0", "single | double", "yes | no" or "text"; "" when any number may be. Returns buffer. */
char *mill_param_range(const struct mill_param_spec *spec, char *buffer, size_t size);

/* A human table (key, default, unit, range, doc), and a commented INI template ("; doc\n; key = default  ; unit"). */
void mill_param_print(FILE *out, const struct mill_param_spec *specs, size_t count);
void mill_param_template(FILE *out, const struct mill_param_spec *specs, size_t count);

#endif
