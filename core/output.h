/* Output files appear whole or not at all: written beside their name, synced, and renamed. */
#ifndef MILL_OUTPUT_H
#define MILL_OUTPUT_H

#include <stdio.h>
#include <spikemill/error.h>

/* Makes the file to write for `path`, empty: ".NAME.PID-N.part" in the same folder; *part is its path, malloc'ed. A missing folder is
   made (its last component only; mill_output_folder makes parents too). Fails when path is a folder or anything else but a regular
   file, or when the folder cannot be written. A symbolic link is followed: the file it leads to is replaced. The parts that are open are
   removed by mill_output_forget, or all of them, before leaving after a signal or an error, by mill_output_forget_all. Any thread. */
int mill_output_begin(const char *path, char **part, struct mill_error *error);
/* Syncs and renames part to path; frees part. A file that is replaced gives it its permissions. On failure the part is removed. */
int mill_output_commit(const char *path, char *part, struct mill_error *error);
void mill_output_forget(char *part);
/* The names stay their owners' to commit (which then fails) or forget. */
void mill_output_forget_all(void);
/* The same from a signal handler that leaves the process next: unlinks only, takes no lock. */
void mill_output_unlink_all(void);

/* Fails for what could not be written, with errno as it is then: MILL_INTERRUPTED when a signal came meanwhile, else MILL_RESOURCES. `name`
   is a file's, or NULL for standard output. */
int mill_output_refused(const char *name, struct mill_error *error);

/* Whether two names are of one file, which need not be there: of one name in one folder, or the same by way of a link. */
int mill_output_is(const char *a, const char *b);

/* Fails with MILL_USAGE when both names are of one file, so that writing `path` would replace what is read. `input` may be NULL. */
int mill_output_spares(const char *path, const char *input, struct mill_error *error);

/* Makes a folder and its parents. An existing folder is fine. */
int mill_output_folder(const char *path, struct mill_error *error);

/* Writes a whole text file. */
int mill_output_text(const char *path, const char *text, struct mill_error *error);

#endif
