/* INI files. A file is read once into memory, scanned (ini-scan.c), and handed to iniparser as a memory file, so that both see the
   same bytes; the entries are the scan's, iniparser must agree with every one of them. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ini-scan.h"
#include "text.h"

#define FILE_MAX ((size_t)16 << 20)
#define SHOWN_MAX 60 /* bytes of a value in a message */
#define SHOWN_SIZE (SHOWN_MAX + sizeof "…")

/* ---- iniparser ---- */

/* iniparser has one error callback for the whole process: what it says is kept here while the lock is held. */
static pthread_mutex_t parser_lock = PTHREAD_MUTEX_INITIALIZER;
static char parser_said[256];

static int parser_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int parser_say(const char *format, ...)
{
  va_list arguments;
  char *p;
  int n;

  va_start(arguments, format);
  n = mill_text_vformat(parser_said, sizeof parser_said, format, arguments);
  va_end(arguments);
  for (p = parser_said; *p != '\0'; p++)
    if (*p == '\n')
      *p = ' ';
  return n;
}

/* In the C locale: iniparser's isspace, tolower and sscanf depend on it. */
dictionary *mill_ini_load(const char *path, char *said, size_t size)
{
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), old;
  dictionary *d;

  pthread_mutex_lock(&parser_lock);
  old = uselocale(c);
  parser_said[0] = '\0';
  iniparser_set_error_callback(parser_say);
  d = iniparser_load(path);
  iniparser_set_error_callback(NULL);
  mill_text_format(said, size, "%s", parser_said);
  uselocale(old);
  pthread_mutex_unlock(&parser_lock);
  if (c != (locale_t)0)
    freelocale(c);
  return d;
}

static int all_write(int fd, const char *text, size_t size)
{
  ssize_t n;

  while (size > 0) {
    n = write(fd, text, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return -1;
    text += n;
    size -= (size_t)n;
  }
  return 0;
}

/* Has iniparser read the same text, and compares. */
static int parser_check(const struct mill_ini *ini, const char *text, size_t size, struct mill_error *error)
{
  char path[40], said[256];
  dictionary *d = NULL;
  int fd, status = -1;

  fd = memfd_create("spikemill-ini", MFD_CLOEXEC);
  if (fd < 0 || all_write(fd, text, size) < 0) {
    mill_fail(error, MILL_RESOURCES, "%s: no memory file for it: %s", ini->path, mill_text_errno(errno));
    goto done;
  }
  mill_text_format(path, sizeof path, "/proc/self/fd/%d", fd);
  d = mill_ini_load(path, said, sizeof said);
  if (d == NULL) {
    mill_fail(error, MILL_RESOURCES, "%s: iniparser does not read it (is /proc mounted?): %s", ini->path, said);
    goto done;
  }
  status = mill_ini_agree(ini, d, error);
done:
  if (d != NULL)
    iniparser_freedict(d);
  if (fd >= 0)
    close(fd);
  return status;
}

/* ---- --set ---- */

/* The start of a text for a message: no control characters, no half characters, nothing but UTF-8. */
static void shown_make(char *buffer, const char *text)
{
  size_t i, n = strlen(text), cut = n <= SHOWN_MAX ? n : mill_text_cut(text, SHOWN_MAX);
  int is_utf8 = mill_text_is_utf8(text, cut);

  for (i = 0; i < cut; i++)
    buffer[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f || (!is_utf8 && (unsigned char)text[i] > 0x7f) ? '?' : text[i];
  strcpy(buffer + cut, cut < n ? "…" : "");
}

/* "--support", malloc'ed, of "--support mining.support=100", and moves the text on to what is behind it; NULL when there is none. */
static int option_take(const char **text, char **option)
{
  const size_t n = strncmp(*text, "--", 2) == 0 ? strcspn(*text, " ") : 0;
  *option = NULL;
  if (!n || !(*text)[n])
    return 0;
  *option = strndup(*text, n);
  *text += n + 1;
  return *option ? 0 : -1;
}

static int override_fail(struct mill_error *error, const char *option, const char *text)
{
  const char *equals = strchr(text, '=');
  char shown[SHOWN_SIZE];

  shown_make(shown, option && equals ? equals + 1 : text);
  return mill_fail_within(error, "%s %s", option ? option : "--set", shown);
}

static int override_apply(struct mill_ini *ini, const char *text, struct mill_error *error)
{
  const char *equals, *dot;
  char *option, *name = NULL, *key = NULL, *value = NULL;
  struct mill_ini_section *section;
  struct mill_ini_entry *entry;
  int status = -1;

  if (option_take(&text, &option) < 0)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  if (mill_ini_line_check(text, strlen(text), error) < 0)
    goto done;
  equals = strchr(text, '=');
  dot = equals == NULL ? NULL : memrchr(text, '.', (size_t)(equals - text));
  if (dot == NULL) {
    mill_fail(error, MILL_USAGE, "expected SECTION.KEY=VALUE");
    goto done;
  }
  name = mill_text_trim(text, (size_t)(dot - text));
  key = mill_text_trim(dot + 1, (size_t)(equals - dot - 1));
  if (name == NULL || key == NULL) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto done;
  }
  if (mill_ini_section_check(name, error) < 0 || mill_ini_key_check(key, error) < 0 ||
      mill_ini_override_scan(equals + 1, &value, error) < 0)
    goto done;
  section = mill_ini_section_find(ini, name);
  entry = section == NULL ? NULL : mill_ini_entry_find(section, key);
  if (entry != NULL && entry->line == 0) {
    mill_fail(error, MILL_USAGE, "[%s] %s is set twice, the first time to `%s`", name, key, entry->value);
    goto done;
  }
  if (entry != NULL) {
    free(entry->value);
    entry->value = value;
    entry->line = 0;
    value = NULL;
  } else {
    if (section == NULL)
      section = mill_ini_section_add(ini, name, 0);
    entry = section == NULL ? NULL : mill_ini_entry_add(section, key, value, 0);
    if (entry == NULL) {
      mill_fail(error, MILL_RESOURCES, "out of memory");
      goto done;
    }
    entry->added = 1;
  }
  entry->option = option;
  option = NULL;
  status = 0;
done:
  if (status < 0)
    override_fail(error, option, text);
  free(option);
  free(name);
  free(key);
  free(value);
  return status;
}

/* ---- reading ---- */

int mill_ini_parse(const char *path, const char *text, size_t size, const char *const *overrides, size_t override_count,
                   struct mill_ini **ini, struct mill_error *error)
{
  struct mill_ini *made;
  size_t i;

  *ini = NULL;
  if (size > FILE_MAX)
    return mill_fail(error, MILL_USAGE, "%s: larger than 16 MiB: this is no configuration", path);
  made = calloc(1, sizeof *made);
  if (made == NULL || (made->path = strdup(path)) == NULL) {
    mill_fail(error, MILL_RESOURCES, "%s: out of memory", path);
    goto failed;
  }
  if (mill_ini_scan(made, text, size, error) < 0 || parser_check(made, text, size, error) < 0)
    goto failed;
  for (i = 0; i < override_count; i++)
    if (override_apply(made, overrides[i], error) < 0)
      goto failed;
  *ini = made;
  return 0;
failed:
  mill_ini_free(made);
  return -1;
}

/* The whole of an open file, growing while there is more; one byte more than allowed is enough to refuse. */
static int all_read(int fd, char **text, size_t *size)
{
  size_t capacity = 1 << 14, n = 0;
  char *buffer = malloc(capacity), *more;
  ssize_t got = 1;

  while (buffer != NULL && got != 0 && n <= FILE_MAX) {
    if (n == capacity) {
      capacity *= 2;
      more = realloc(buffer, capacity);
      if (more == NULL)
        goto failed;
      buffer = more;
    }
    got = read(fd, buffer + n, capacity - n);
    if (got < 0 && errno != EINTR)
      goto failed;
    n += got > 0 ? (size_t)got : 0;
  }
  *text = buffer;
  *size = n;
  return buffer == NULL ? -1 : 0;
failed:
  free(buffer);
  return -1;
}

int mill_ini_read(const char *path, const char *const *overrides, size_t override_count, struct mill_ini **ini,
                  struct mill_error *error)
{
  struct stat about;
  char *text = NULL;
  size_t size = 0;
  int fd, status = -1;

  *ini = NULL;
  fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return mill_fail(error, MILL_USAGE, "%s: cannot be opened: %s", path, mill_text_errno(errno));
  if (fstat(fd, &about) < 0)
    mill_fail(error, MILL_USAGE, "%s: %s", path, mill_text_errno(errno));
  else if (!S_ISREG(about.st_mode))
    mill_fail(error, MILL_USAGE, "%s: is %s, not a regular file", path,
              S_ISDIR(about.st_mode) ? "a folder" : "a device, pipe or socket");
  else if (all_read(fd, &text, &size) < 0)
    mill_fail(error, MILL_USAGE, "%s: cannot be read: %s", path, mill_text_errno(errno));
  else
    status = mill_ini_parse(path, text, size, overrides, override_count, ini, error);
  free(text);
  close(fd);
  return status;
}

void mill_ini_free(struct mill_ini *ini)
{
  size_t i, j;

  if (ini == NULL)
    return;
  for (i = 0; i < ini->count; i++) {
    for (j = 0; j < ini->section[i].count; j++) {
      free(ini->section[i].entry[j].key);
      free(ini->section[i].entry[j].value);
      free(ini->section[i].entry[j].option);
    }
    free(ini->section[i].entry);
    free(ini->section[i].name);
  }
  free(ini->section);
  free(ini->path);
  free(ini);
}

/* ---- asking ---- */

struct mill_ini_section *mill_ini_section_find(const struct mill_ini *ini, const char *name)
{
  size_t i;

  for (i = 0; i < ini->count; i++)
    if (strcmp(ini->section[i].name, name) == 0)
      return &ini->section[i];
  return NULL;
}

struct mill_ini_entry *mill_ini_entry_find(const struct mill_ini_section *section, const char *key)
{
  size_t i;

  for (i = 0; i < section->count; i++)
    if (strcmp(section->entry[i].key, key) == 0)
      return &section->entry[i];
  return NULL;
}

static int has_options(const struct mill_ini_section *section)
{
  for (size_t i = 0; i < section->count; i++)
    if (section->entry[i].option != NULL)
      return 1;
  return 0;
}

void mill_ini_where(const struct mill_ini *ini, const struct mill_ini_section *section, const struct mill_ini_entry *entry,
                    char *buffer, size_t size)
{
  char shown[SHOWN_SIZE];
  int line = entry != NULL ? entry->line : section != NULL ? section->line : 0;

  if (entry != NULL)
    shown_make(shown, entry->value);
  if (section == NULL)
    mill_text_format(buffer, size, "%s: ", ini->path);
  else if (entry == NULL && line > 0)
    mill_text_format(buffer, size, "%s:%d: [%s]: ", ini->path, line, section->name);
  else if (entry == NULL)
    mill_text_format(buffer, size, "%s: [%s]: ", has_options(section) ? "the options" : "--set", section->name);
  else if (line > 0)
    mill_text_format(buffer, size, "%s:%d: [%s] %s = %s: ", ini->path, line, section->name, entry->key, shown);
  else if (entry->option != NULL)
    mill_text_format(buffer, size, "%s %s: ", entry->option, shown);
  else
    mill_text_format(buffer, size, "--set %s.%s=%s: ", section->name, entry->key, shown);
}

int mill_ini_fail(struct mill_error *error, const struct mill_ini *ini, const struct mill_ini_section *section,
                  const struct mill_ini_entry *entry, const char *format, ...)
{
  struct mill_error what;
  char where[sizeof what.text];
  va_list arguments;

  if (error == NULL)
    return -1;
  mill_ini_where(ini, section, entry, where, sizeof where);
  va_start(arguments, format);
  mill_text_vformat(what.text, sizeof what.text, format, arguments);
  va_end(arguments);
  return mill_fail(error, MILL_USAGE, "%s%s", where, what.text);
}

char *mill_ini_text(const struct mill_ini *ini)
{
  const struct mill_ini_section *section;
  const struct mill_ini_entry *entry;
  size_t i, j, length, size = 1;
  char *text, *p;

  for (i = 0; i < ini->count; i++) {
    size += strlen(ini->section[i].name) + sizeof "\n[]\n";
    for (j = 0; j < ini->section[i].count; j++)
      size += strlen(ini->section[i].entry[j].key) + strlen(ini->section[i].entry[j].value) + sizeof " = ''\n";
  }
  p = text = malloc(size);
  if (text == NULL)
    return NULL;
  *p = '\0';
  for (i = 0; i < ini->count; i++) {
    section = &ini->section[i];
    if (i > 0)
      p = stpcpy(p, "\n");
    p = stpcpy(stpcpy(stpcpy(p, "["), section->name), "]\n");
    for (j = 0; j < section->count; j++) {
      entry = &section->entry[j];
      length = strlen(entry->key) + strlen(entry->value) + sizeof " = ''" - 1;
      p = stpcpy(stpcpy(p, entry->key), length > MILL_INI_LINE_MAX ? "=" : " = ");
      p += strlen(mill_ini_quote(p, entry->value));
      p = stpcpy(p, "\n");
    }
  }
  return text;
}
