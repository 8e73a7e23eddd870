/* A compiler's messages as NVRTC would put them: `file(line): error: text`. */
#include "nvrtc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "./" and the places where texts lie are ours and not the user's. */
static const char *bare(const char *name)
{
  for (int again = 1; again;) {
    again = 0;
    if (strncmp(name, "./", 2) == 0 || strncmp(name, "../", 3) == 0) {
      name = strchr(name, '/') + 1;
      again = 1;
    }
  }
  return name;
}

/* Copies a line without the names of folders. */
static void plain(const char *line, const char *folder, struct emu_text *to)
{
  size_t n = strlen(folder);
  for (const char *at; (at = strstr(line, folder)); line = at + n + (at[n] == '/')) {
    emu_append(to, line, (size_t)(at - line));
    if (strncmp(at + n, "/text/", 6) == 0)
      at += 5;
  }
  emu_print(to, "%s\n", line);
}

/* FILE:LINE:COLUMN: [fatal ]error: TEXT. 1: it is an error, 2: a warning, 0: something else. */
static int message(char *line, const char *folder, struct emu_text *to)
{
  for (char *at = line; (at = strchr(at, ':')); at++) {
    char *number = at + 1, *end;
    unsigned long of = strtoul(number, &end, 10);
    int error = 1;
    if (end == number || !isdigit((unsigned char)*number) || *end != ':')
      continue;
    if (isdigit((unsigned char)end[1]))
      end += 1 + strspn(end + 1, "0123456789");
    if (strncmp(end, ": fatal error: ", 15) == 0)
      end += 15;
    else if (strncmp(end, ": error: ", 9) == 0)
      end += 9;
    else if (strncmp(end, ": warning: ", 11) == 0) {
      end += 11;
      error = 0;
    } else
      return 0;
    *at = 0;
    emu_print(to, "%s(%lu): %s: ", bare(line), of, error ? "error" : "warning");
    plain(end, folder, to);
    return error ? 1 : 2;
  }
  return 0;
}

void emu_rewrite_log(const char *log, const char *folder, const char *name, struct emu_text *to)
{
  unsigned errors = 0;
  struct emu_text rest = {NULL, 0, 0};
  for (const char *next; *log; log = next) {
    size_t n = strcspn(log, "\n");
    struct emu_text line = {NULL, 0, 0};
    next = log + n + (log[n] == '\n');
    emu_append(&line, log, n);
    if (strncmp(line.text, folder, strlen(folder)) == 0 && strncmp(line.text + strlen(folder), "/text/", 6) == 0)
      memmove(line.text, line.text + strlen(folder) + 6, strlen(line.text + strlen(folder) + 6) + 1);
    int kind = message(line.text, folder, to);
    errors += kind == 1;
    if (!kind)
      plain(line.text, folder, &rest);
    free(line.text);
  }
  if (errors)
    emu_print(to, "%u error%s detected in the compilation of \"%s\".\n", errors, errors == 1 ? "" : "s", name);
  else if (rest.text)
    emu_append(to, rest.text, rest.bytes);
  free(rest.text);
}
