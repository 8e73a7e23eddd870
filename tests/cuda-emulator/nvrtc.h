/* Parts of the emulated NVRTC. */
#ifndef EMULATOR_NVRTC_H
#define EMULATOR_NVRTC_H

#include <stddef.h>

/* A text that grows; memory must suffice. */
struct emu_text {
  char *text; /* NUL-terminated, or NULL */
  size_t bytes, room;
};
void emu_append(struct emu_text *to, const char *from, size_t bytes);
__attribute__((format(printf, 2, 3))) void emu_print(struct emu_text *to, const char *format, ...);

/* What is compiled. */
struct emu_source {
  char *name, *text;
  int headers;
  char **header_name, **header_text;
};

/* nvrtc-entries.c: the preprocessed text with an entry after each kernel, on the line on which it ends. */
void emu_add_entries(const char *text, struct emu_text *to);

/* nvrtc-log.c: a compiler's messages in NVRTC's form; without the folder's name; `name` is the program's. */
void emu_rewrite_log(const char *log, const char *folder, const char *name, struct emu_text *to);

/* nvrtc-real.c: whether there is a real compiler, and its version. */
int emu_real_version(int *major, int *minor);
/* Its code and messages, and the image, when there is one; else 0. */
int emu_real_compile(const struct emu_source *source, int count, const char *const *option, struct emu_text *log,
                     struct emu_text *image);

#endif
