/* An NVRTC that compiles nothing, for tests: its image is what it was given, its options included. Its version is FAKE_NVRTC_VERSION (13.0).
   A main text "FAIL CODE LOG" fails with that code and log; "EMPTY" gives an image of no bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/api.h"

#define PUBLIC __attribute__((visibility("default")))
#define DECLARE(name, symbol, parameters) PUBLIC int symbol parameters;
MILL_NVRTC_TABLE(DECLARE)

struct _nvrtcProgram {
  char *text, *image, *log;
  size_t size; /* of the image, without an end */
};

static void append(mill_nvrtc_program p, const char *text)
{
  const size_t n = strlen(text);
  char *more = realloc(p->image, p->size + n + 2);
  if (!more)
    abort();
  memcpy(more + p->size, text, n);
  memcpy(more + p->size + n, "\n", 2);
  p->image = more;
  p->size += n + 1;
}

int nvrtcVersion(int *major, int *minor)
{
  const char *text = getenv("FAKE_NVRTC_VERSION");
  return sscanf(text ? text : "13.0", "%d.%d", major, minor) == 2 ? 0 : 11;
}

int nvrtcCreateProgram(mill_nvrtc_program *program, const char *text, const char *name, int headers, const char *const *header_texts,
                       const char *const *header_names)
{
  mill_nvrtc_program p = calloc(1, sizeof *p);
  if (!p)
    return MILL_NVRTC_OUT_OF_MEMORY;
  p->text = strdup(text);
  append(p, name);
  append(p, text);
  for (int i = 0; i < headers; i++) {
    append(p, header_names[i]);
    append(p, header_texts[i]);
  }
  *program = p;
  return 0;
}

int nvrtcDestroyProgram(mill_nvrtc_program *program)
{
  free((*program)->text);
  free((*program)->image);
  free((*program)->log);
  free(*program);
  *program = NULL;
  return 0;
}

int nvrtcCompileProgram(mill_nvrtc_program p, int options, const char *const *option)
{
  char *log;
  if (!p->text)
    return MILL_NVRTC_OUT_OF_MEMORY;
  if (strncmp(p->text, "FAIL ", 5) == 0) {
    int code = (int)strtol(p->text + 5, &log, 10);
    p->log = strdup(log + (*log == ' '));
    return code;
  }
  if (strncmp(p->text, "EMPTY", 5) == 0)
    p->size = 0;
  else
    for (int i = 0; i < options; i++)
      append(p, option[i]);
  return 0;
}

int nvrtcGetProgramLogSize(mill_nvrtc_program p, size_t *bytes)
{
  *bytes = (p->log ? strlen(p->log) : 0) + 1;
  return 0;
}

int nvrtcGetProgramLog(mill_nvrtc_program p, char *log)
{
  strcpy(log, p->log ? p->log : "");
  return 0;
}

int nvrtcGetCUBINSize(mill_nvrtc_program p, size_t *bytes)
{
  *bytes = p->size;
  return 0;
}

int nvrtcGetCUBIN(mill_nvrtc_program p, char *cubin)
{
  memcpy(cubin, p->image, p->size);
  return 0;
}
