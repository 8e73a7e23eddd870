/* What plugins get from the host, and the notes that both give to the user. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "registry.h"
#include "text.h"
#include "threads.h"

static pthread_mutex_t note_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*note_sink)(const char *line, void *self);
static void *note_self;
static _Thread_local struct mill_notes *given, *kept;

void mill_note_set(void (*sink)(const char *line, void *self), void *self)
{
  pthread_mutex_lock(&note_lock);
  note_sink = sink;
  note_self = self;
  pthread_mutex_unlock(&note_lock);
}

void mill_notes_once(struct mill_notes *notes)
{
  given = notes;
}

void mill_notes_keep(struct mill_notes *notes)
{
  kept = notes;
}

void mill_notes_give(const struct mill_notes *notes)
{
  for (size_t i = 0; i < notes->count; i++)
    mill_note("%s", notes->text[i]);
}

void mill_notes_free(struct mill_notes *notes)
{
  for (size_t i = 0; i < notes->count; i++)
    free(notes->text[i]);
  free(notes->text);
  *notes = (struct mill_notes){0};
}

/* As far as there is memory. */
static void add(struct mill_notes *notes, const char *line)
{
  char **bigger = realloc(notes->text, (notes->count + 1) * sizeof *bigger);
  if (bigger) {
    notes->text = bigger;
    notes->text[notes->count] = strdup(line);
    notes->count += notes->text[notes->count] != NULL;
  }
}

/* Whether a note was given already; keeps it when not. */
static int is_known(struct mill_notes *notes, const char *line)
{
  for (size_t i = 0; i < notes->count; i++) {
    if (strcmp(notes->text[i], line) == 0)
      return 1;
  }
  add(notes, line);
  return 0;
}

void mill_note(const char *format, ...)
{
  char line[1536];
  va_list arguments;
  va_start(arguments, format);
  mill_text_vformat(line, sizeof line, format, arguments);
  va_end(arguments);
  if (given && is_known(given, line))
    return;
  if (kept) {
    add(kept, line);
    return;
  }
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
