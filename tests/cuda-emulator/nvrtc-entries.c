/* Finds kernels in preprocessed text by the mark that __global__ leaves, and puts after each what the driver calls it by. */
#include "nvrtc.h"

#include <ctype.h>
#include <string.h>

static int word(int c)
{
  return isalnum(c) || c == '_' || c == '$';
}

static const char *blanks(const char *at)
{
  while (isspace((unsigned char)*at))
    at++;
  return at;
}

/* Behind one piece of text: a word, a literal, a line for the preprocessor, or one character. */
static const char *piece(const char *text, const char *at)
{
  if (*at == '"' || *at == '\'') {
    char quote = *at++;
    while (*at && *at != quote)
      at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
  }
  if (*at == '#' && (at == text || at[-1] == '\n'))
    return at + strcspn(at, "\n");
  if (word((unsigned char)*at)) {
    /* a quote within a number separates digits */
    while (word((unsigned char)*at) || (*at == '\'' && word((unsigned char)at[1])))
      at++;
    return at;
  }
  return *at ? at + 1 : at;
}

static int is(const char *at, const char *end, const char *text)
{
  return (size_t)(end - at) == strlen(text) && memcmp(at, text, strlen(text)) == 0;
}

/* Behind the bracket that closes the one at `at`, or NULL. */
static const char *closed(const char *text, const char *at)
{
  int depth = 0;
  const char open = *at, close = open == '(' ? ')' : '}';
  for (const char *end; *at; at = end) {
    end = piece(text, at);
    depth += *at == open ? 1 : *at == close ? -1 : 0;
    if (depth == 0)
      return end;
  }
  return NULL;
}

struct kernel {
  const char *name, *bounds, *end; /* bounds: "(256)", or "()"; end: behind its body */
  int name_bytes, bounds_bytes;
};

/* A kernel's definition after its mark. Returns 0 when it is none, as a declaration. */
static int definition(const char *text, const char *at, struct kernel *kernel)
{
  const char *next, *after;
  *kernel = (struct kernel){NULL, "()", NULL, 0, 2};
  for (; *at; at = next) {
    next = piece(text, at);
    after = blanks(next);
    if (is(at, next, "emulator_bounds")) {
      if (*after != '(' || !(next = closed(text, after)))
        return 0;
      kernel->bounds = after;
      kernel->bounds_bytes = (int)(next - after);
    } else if (!kernel->name && word((unsigned char)*at) && *after == '(' && !is(at, next, "__attribute__") &&
               !is(at, next, "alignas")) {
      kernel->name = at;
      kernel->name_bytes = (int)(next - at);
      if (!(next = closed(text, after)))
        return 0;
    } else if (*at == ';')
      return 0;
    else if (*at == '{')
      return kernel->name && (kernel->end = closed(text, at));
  }
  return 0;
}

void emu_add_entries(const char *text, struct emu_text *to)
{
  const char *from = text; /* what is not copied yet */
  int template = 0;
  for (const char *at = text, *next; *at; at = next) {
    struct kernel k;
    next = piece(text, at);
    if (*at == ';' || *at == '}' || *at == '{')
      template = 0;
    else if (is(at, next, "template"))
      template = 1;
    if (!is(at, next, "emulator_kernel") || template || !definition(text, next, &k))
      continue;
    emu_append(to, from, (size_t)(k.end - from));
    emu_print(to,
              " extern \"C\" { extern const ::emulator_entry emulator_entry_%.*s; __attribute__((used)) const ::emulator_entry "
              "emulator_entry_%.*s = ::emulator_entry_of<decltype(&%.*s), &%.*s>(::emulator_bound%.*s); } ",
              k.name_bytes, k.name, k.name_bytes, k.name, k.name_bytes, k.name, k.name_bytes, k.name, k.bounds_bytes, k.bounds);
    from = next = k.end;
  }
  emu_append(to, from, strlen(from));
}
