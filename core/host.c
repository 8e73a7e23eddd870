/* What plugins get from the host, and the notes that both give to the user. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "memory.h"
#include "registry.h"
#include "text.h"
#include "threads.h"

static pthread_mutex_t note_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*note_sink)(const char *line, void *self);
static void *note_self;

void mill_note_set(void (*sink)(const char *line, void *self), void *self)
{
  pthread_mutex_lock(&note_lock);
  note_sink = sink;
  note_self = self;
  pthread_mutex_unlock(&note_lock);
}

void mill_note(const char *format, ...)
{
  char line[1536];
  va_list arguments;
  va_start(arguments, format);
  mill_text_vformat(line, sizeof line, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&note_lock);
  if (note_sink)
    note_sink(line, note_self);
  else
    fprintf(stderr, "spikemill: %s\n", line);
  pthread_mutex_unlock(&note_lock);
}

static int (*interrupt_asked)(void);

void mill_interrupt_set(int (*asked)(void))
{
  interrupt_asked = asked;
}

static int interrupted(void)
{
  return interrupt_asked ? interrupt_asked() : 0;
}

const struct mill_host mill_host = {
    .size = sizeof(struct mill_host),
    .abi = (uint32_t)MILL_ABI_MAJOR << 16 | MILL_ABI_MINOR,
    .fail = mill_fail,
    .allocate = mill_allocate,
    .release = mill_release,
    .note = mill_note,
    .each = mill_team_each,
    .interrupted = interrupted,
};
