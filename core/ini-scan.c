/* The pre-scan of INI text. iniparser 4.1 forgets line numbers, lets the last duplicate win, folds case, cuts values at comment
   signs, joins lines that end in a backslash, drops what follows a quoted value and lines of one character; so every line is first
   read here, by a grammar that is narrower than iniparser's, and what iniparser then finds must be the same. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>
#include "ini-scan.h"
#include "text.h"

static int is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static int no_memory(struct mill_error *error)
{
  return mill_fail(error, MILL_RESOURCES, "out of memory while reading a configuration");
}

/* Bytes of [begin, end) that a message shows, for "%.*s". */
static int excerpt(const char *begin, const char *end)
{
  size_t n = (size_t)(end - begin);

  return (int)(n <= 40 ? n : mill_text_cut(begin, 40));
}

/* ---- names ---- */

static int is_name_char(char c, int section)
{
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (section && (c == '-' || c == '.'));
}

/* The name with what can be mended in it mended: lower case, and '_' for what a key cannot have. */
static void name_mend(char *mended, size_t size, const char *name, int section)
{
  size_t i;

  for (i = 0; name[i] != '\0' && i + 1 < size; i++) {
    mended[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    if (!section && mended[i] == '-')
      mended[i] = '_';
  }
  mended[i] = '\0';
}

static int name_is_good(const char *name, int section)
{
  const char *p;

  if (!(*name >= 'a' && *name <= 'z'))
    return 0;
  for (p = name; *p != '\0'; p++)
    if (!is_name_char(*p, section) || (*p == '.' && (p[1] == '.' || p[1] == '\0')))
      return 0;
  return 1;
}

static int name_check(const char *name, int section, struct mill_error *error)
{
  const char *what = section ? "section name" : "key";
  const char *rule = section ? "lower-case letters, digits, `_`, `-` and single dots, starting with a letter"
                             : "lower-case letters, digits and `_`, starting with a letter";
  char mended[MILL_INI_NAME_MAX + 1];

  if (*name == '\0')
    return mill_fail(error, MILL_USAGE, "the %s is empty", what);
  if (strlen(name) > MILL_INI_NAME_MAX)
    return mill_fail(error, MILL_USAGE, "the %s `%.*s…` is longer than %d bytes", what, excerpt(name, name + strlen(name)), name,
                     MILL_INI_NAME_MAX);
  if (name_is_good(name, section))
    return 0;
  name_mend(mended, sizeof mended, name, section);
  if (name_is_good(mended, section))
    return mill_fail(error, MILL_USAGE, "`%s` is no %s: write `%s`%s", name, what, mended,
                     strcmp(mended, name) != 0 && strpbrk(name, "-") == NULL ? " (names are lower case)" : "");
  return mill_fail(error, MILL_USAGE, "`%s` is no %s: expected %s%s", name, what, rule,
                   section && strchr(name, ':') != NULL ? " (the parts are joined by `.`, not `:`)" : "");
}

int mill_ini_section_check(const char *name, struct mill_error *error)
{
  return name_check(name, 1, error);
}

int mill_ini_key_check(const char *key, struct mill_error *error)
{
  return name_check(key, 0, error);
}

/* ---- values ---- */

int mill_ini_line_check(const char *begin, size_t n, struct mill_error *error)
{
  size_t i;

  if (n > MILL_INI_LINE_MAX)
    return mill_fail(error, MILL_USAGE, "the line has %zu characters, more than %d", n, MILL_INI_LINE_MAX);
  for (i = 0; i < n; i++) {
    if (begin[i] == '\0')
      return mill_fail(error, MILL_USAGE, "a NUL byte at character %zu: this is no text file", i + 1);
    if (((unsigned char)begin[i] < 0x20 && begin[i] != '\t') || begin[i] == 0x7f)
      return mill_fail(error, MILL_USAGE, "a control character (byte 0x%02x) at character %zu%s", (unsigned)begin[i], i + 1,
                       begin[i] == '\r' ? ": lines must end in LF or CRLF" : "");
  }
  if (!mill_text_is_utf8(begin, n))
    return mill_fail(error, MILL_USAGE, "the line is not UTF-8 text");
  while (n > 0 && is_blank(begin[n - 1]))
    n--;
  if (n > 0 && begin[n - 1] == '\\')
    return mill_fail(error, MILL_USAGE, "a backslash at the end of a line: lines cannot be continued");
  return 0;
}

/* A value in quotes, at `begin`; only a comment may follow. */
static int quoted_scan(const char *begin, const char *end, char **value, struct mill_error *error)
{
  const char *close = memchr(begin + 1, *begin, (size_t)(end - begin - 1)), *p;

  if (close == NULL)
    return mill_fail(error, MILL_USAGE, "the quote %c is not closed", *begin);
  for (p = close + 1; p < end && is_blank(*p); p++)
    ;
  if (p < end && *p != ';' && *p != '#')
    return mill_fail(error, MILL_USAGE, "text after the closing quote: `%.*s`", excerpt(p, end), p);
  *value = strndup(begin + 1, (size_t)(close - begin - 1));
  return *value == NULL ? no_memory(error) : 0;
}

int mill_ini_value_scan(const char *begin, size_t n, char **value, struct mill_error *error)
{
  const char *end = begin + n, *p, *comment;
  int quotes = 0;

  *value = NULL;
  while (begin < end && is_blank(*begin))
    begin++;
  while (end > begin && is_blank(end[-1]))
    end--;
  if (begin < end && (*begin == '"' || *begin == '\''))
    return quoted_scan(begin, end, value, error);
  for (comment = begin; comment < end && *comment != ';' && *comment != '#'; comment++)
    quotes += *comment == '"';
  if (comment < end && quotes % 2 != 0)
    return mill_fail(error, MILL_USAGE, "`%c` would cut the value here, inside quotes that do not start it: quote the whole value",
                     *comment);
  if (comment < end && comment > begin && !is_blank(comment[-1]))
    return mill_fail(error, MILL_USAGE,
                     "`%c` would start a comment here: put a blank before it, or quotes around the value if it is part of it",
                     *comment);
  for (p = comment; p > begin && is_blank(p[-1]); p--)
    ;
  *value = strndup(begin, (size_t)(p - begin));
  return *value == NULL ? no_memory(error) : 0;
}

int mill_ini_override_scan(const char *text, char **value, struct mill_error *error)
{
  const char *begin = text, *comment;

  *value = NULL;
  while (is_blank(*begin))
    begin++;
  comment = *begin == '"' || *begin == '\'' ? strchr(begin + 1, *begin) : begin;
  comment = comment == NULL ? NULL : strpbrk(comment, ";#");
  if (comment != NULL)
    return mill_fail(error, MILL_USAGE, "`%c` starts a comment: if it is part of the value, the value needs quotes", *comment);
  return mill_ini_value_scan(text, strlen(text), value, error);
}

char *mill_ini_quote(char *buffer, const char *value)
{
  size_t n = strlen(value);
  char quote = strchr(value, '"') == NULL ? '"' : '\'';

  if (n > 0 && (strpbrk(value, ";#") != NULL || strchr("\"' \t", value[0]) != NULL || strchr(" \t\\", value[n - 1]) != NULL)) {
    buffer[0] = quote;
    memcpy(buffer + 1, value, n);
    buffer[n + 1] = quote;
    buffer[n + 2] = '\0';
  } else {
    memcpy(buffer, value, n + 1);
  }
  return buffer;
}

/* ---- growing ---- */

/* Room for one more of `count` items; capacities are the powers of two. */
static int grow(void **items, size_t count, size_t size)
{
  void *more;

  if ((count & (count - 1)) != 0)
    return 0;
  more = realloc(*items, (count == 0 ? 1 : 2 * count) * size);
  if (more == NULL)
    return -1;
  *items = more;
  return 0;
}

struct mill_ini_section *mill_ini_section_add(struct mill_ini *ini, const char *name, int line)
{
  void *items = ini->section;
  struct mill_ini_section *section;

  if (grow(&items, ini->count, sizeof *ini->section) < 0)
    return NULL;
  ini->section = items;
  section = &ini->section[ini->count];
  *section = (struct mill_ini_section){.name = strdup(name), .line = line};
  if (section->name == NULL)
    return NULL;
  ini->count++;
  return section;
}

struct mill_ini_entry *mill_ini_entry_add(struct mill_ini_section *section, const char *key, const char *value, int line)
{
  void *items = section->entry;
  struct mill_ini_entry *entry;

  if (grow(&items, section->count, sizeof *section->entry) < 0)
    return NULL;
  section->entry = items;
  entry = &section->entry[section->count];
  *entry = (struct mill_ini_entry){.key = strdup(key), .value = strdup(value), .line = line};
  if (entry->key == NULL || entry->value == NULL) {
    free(entry->key);
    free(entry->value);
    return NULL;
  }
  section->count++;
  return entry;
}

/* ---- lines ---- */

struct scan {
  struct mill_ini *ini;
  struct mill_ini_section *section; /* NULL before the first header */
  int line;
  size_t total; /* sections and entries */
};

static int header_scan(struct scan *scan, const char *begin, const char *end, struct mill_error *error)
{
  const char *close = memchr(begin, ']', (size_t)(end - begin));
  struct mill_ini_section *same;
  char *name;
  int status = -1;

  if (close == NULL)
    return mill_fail(error, MILL_USAGE, "the section header lacks its `]`");
  if (close + 1 < end)
    return mill_fail(error, MILL_USAGE, "text after the section header: a comment needs a line of its own");
  name = mill_text_trim(begin + 1, (size_t)(close - begin - 1));
  if (name == NULL)
    return no_memory(error);
  if (mill_ini_section_check(name, error) < 0)
    goto done;
  same = mill_ini_section_find(scan->ini, name);
  if (same != NULL) {
    mill_fail(error, MILL_USAGE, "[%s] is a section already, in line %d", name, same->line);
    goto done;
  }
  scan->section = mill_ini_section_add(scan->ini, name, scan->line);
  status = scan->section == NULL ? no_memory(error) : 0;
done:
  free(name);
  return status;
}

static int entry_scan(struct scan *scan, const char *begin, const char *end, struct mill_error *error)
{
  const char *equals = memchr(begin, '=', (size_t)(end - begin));
  struct mill_ini_entry *same;
  char *key = NULL, *value = NULL;
  int status = -1;

  if (equals == NULL)
    return mill_fail(error, MILL_USAGE, "expected `[section]`, `key = value` or a comment, found `%.*s`", excerpt(begin, end),
                     begin);
  key = mill_text_trim(begin, (size_t)(equals - begin));
  if (key == NULL) {
    no_memory(error);
    goto done;
  }
  if (mill_ini_key_check(key, error) < 0)
    goto done;
  if (scan->section == NULL) {
    mill_fail(error, MILL_USAGE, "the key `%s` stands before the first `[section]`", key);
    goto done;
  }
  same = mill_ini_entry_find(scan->section, key);
  if (same != NULL) {
    mill_fail(error, MILL_USAGE, "[%s] has the key `%s` already, in line %d", scan->section->name, key, same->line);
    goto done;
  }
  if (mill_ini_value_scan(equals + 1, (size_t)(end - equals - 1), &value, error) < 0) {
    mill_fail_within(error, "[%s] %s", scan->section->name, key);
    goto done;
  }
  status = mill_ini_entry_add(scan->section, key, value, scan->line) == NULL ? no_memory(error) : 0;
done:
  free(key);
  free(value);
  return status;
}

static int line_scan(struct scan *scan, const char *begin, size_t n, struct mill_error *error)
{
  const char *end = begin + n;

  if (mill_ini_line_check(begin, n, error) < 0)
    return -1;
  while (begin < end && is_blank(*begin))
    begin++;
  while (end > begin && is_blank(end[-1]))
    end--;
  if (begin == end || *begin == ';' || *begin == '#')
    return 0;
  if (++scan->total > MILL_INI_COUNT_MAX)
    return mill_fail(error, MILL_USAGE, "more than %d sections and keys", MILL_INI_COUNT_MAX);
  return *begin == '[' ? header_scan(scan, begin, end, error) : entry_scan(scan, begin, end, error);
}

static const char *mark_find(const char *text, size_t size)
{
  static const struct {
    const char *bytes;
    size_t n;
    const char *name;
  } marks[] = {
      {"\xef\xbb\xbf", 3, "UTF-8"},
      {"\xff\xfe", 2, "UTF-16"},
      {"\xfe\xff", 2, "UTF-16"},
  };
  size_t i;

  for (i = 0; i < sizeof marks / sizeof *marks; i++)
    if (size >= marks[i].n && memcmp(text, marks[i].bytes, marks[i].n) == 0)
      return marks[i].name;
  return NULL;
}

int mill_ini_scan(struct mill_ini *ini, const char *text, size_t size, struct mill_error *error)
{
  struct scan scan = {.ini = ini, .line = 1};
  const char *mark = mark_find(text, size), *p = text, *end = text + size, *newline;
  size_t n;

  if (mark != NULL) {
    mill_fail(error, MILL_USAGE, "the file starts with a %s byte-order mark: save it as UTF-8 without one", mark);
    return mill_fail_within(error, "%s:1", ini->path);
  }
  for (; p < end; p = newline + 1, scan.line++) {
    newline = memchr(p, '\n', (size_t)(end - p));
    n = (size_t)((newline == NULL ? end : newline) - p);
    if (newline != NULL && n > 0 && p[n - 1] == '\r')
      n--;
    if (line_scan(&scan, p, n, error) < 0)
      return mill_fail_within(error, "%s:%d", ini->path, scan.line);
    if (newline == NULL)
      break;
  }
  return 0;
}

/* ---- agreement ---- */

static int disagree(const struct mill_ini *ini, int line, const char *what, const char *name, struct mill_error *error)
{
  mill_fail(error, MILL_USAGE, "two readings of the file disagree: iniparser %s `%s`", what, name);
  return mill_fail_within(error, "%s:%d", ini->path, line);
}

/* The line of what the dictionary calls NAME or SECTION:KEY; 0 when the scan has no such thing. */
static int line_find(const struct mill_ini *ini, const char *name)
{
  const char *colon = strchr(name, ':');
  const struct mill_ini_section *section;
  const struct mill_ini_entry *entry;
  size_t i, n = colon == NULL ? strlen(name) : (size_t)(colon - name);

  for (i = 0; i < ini->count; i++) {
    section = &ini->section[i];
    if (strlen(section->name) == n && memcmp(section->name, name, n) == 0) {
      entry = colon == NULL ? NULL : mill_ini_entry_find(section, colon + 1);
      return colon == NULL ? section->line : entry == NULL ? 0 : entry->line;
    }
  }
  return 0;
}

int mill_ini_agree(const struct mill_ini *ini, const dictionary *d, struct mill_error *error)
{
  const struct mill_ini_section *section;
  const struct mill_ini_entry *entry;
  char name[2 * MILL_INI_NAME_MAX + 2];
  const char *value;
  size_t i, j, count = 0;
  int line = 1;

  for (i = 0; i < ini->count; i++) {
    section = &ini->section[i];
    if (!iniparser_find_entry(d, section->name))
      return disagree(ini, section->line, "misses the section", section->name, error);
    for (j = 0; j < section->count; j++) {
      entry = &section->entry[j];
      mill_text_format(name, sizeof name, "%s:%s", section->name, entry->key);
      value = iniparser_getstring(d, name, NULL);
      if (value == NULL)
        return disagree(ini, entry->line, "misses the key", name, error);
      if (strcmp(value, entry->value) != 0)
        return disagree(ini, entry->line, "has another value for", name, error);
    }
    count += 1 + section->count;
  }
  if ((size_t)d->n == count)
    return 0;
  /* Entries keep the order of the file, so that one that is too many follows the line of the one before it. */
  for (i = 0; i < (size_t)d->size; i++)
    if (d->key[i] != NULL) {
      if (line_find(ini, d->key[i]) == 0)
        return disagree(ini, line, "finds, here or below, also", d->key[i], error);
      line = line_find(ini, d->key[i]);
    }
  return disagree(ini, line, "counts more entries than", ini->path, error);
}
