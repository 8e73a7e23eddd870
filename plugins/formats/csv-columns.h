/* What the columns of a csv file hold, found from the line that names them or from the parameter `columns`; and, since a unit is never
   guessed, how to say it when neither tells. Part of csv.c, which includes it. */
#ifndef CSV_COLUMNS_H
#define CSV_COLUMNS_H

#include <stdio.h>
#include <string.h>

#include "decimal.h"
#include "lines.h"

/* What a column holds. The first four are read. */
enum role { TIME, GROUP, INDEX, TYPE, ROLES, SKIPPED = ROLES, NO_UNIT, UNKNOWN };

struct column {
  enum role role;
  int scale; /* of a TIME: the power of ten that makes its unit picoseconds */
};

/* The columns of a file. */
struct layout {
  int place[ROLES]; /* -1 for none */
  int scale, width; /* width 0: not known yet */
  char delimiter;
};

enum { FIELDS = LINES_MOST + 1, COLUMN_NAME = 40, SUGGESTION = 200 };

static const char *const time_stems[] = {"time", "times", "timestamp", "timestamps", "t", "spike_time", "spike_times"};
static const char *const type_names[] = {"type",  "channel", "unit",    "electrode", "sender", "label",
                                         "event", "id",      "node_id", "node_ids",  "unit_id"};
#define TIMES "time_s, time_ms, time_us, time_ns or time_ps"

static int is_one_of(const char *name, const char *const *list, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!strcmp(name, list[i]))
      return 1;
  return 0;
}

/* "time_ms", "Time (ms)", "spike times [s]": a time with its unit, or without one. */
static struct column time_column(char *name)
{
  size_t n = strlen(name), cut = n;
  const char *unit = "";
  if (n && strchr(")]", name[n - 1]) && strpbrk(name, "([")) {
    cut = strcspn(name, "([");
    unit = name + cut + 1;
    name[n - 1] = 0;
  } else if (strrchr(name, '_') && decimal_scale(strrchr(name, '_') + 1, strlen(strrchr(name, '_') + 1)) >= 0) {
    cut = (size_t)(strrchr(name, '_') - name);
    unit = name + cut + 1;
  }
  name[cut] = 0;
  while (cut && name[cut - 1] == '_')
    name[--cut] = 0;
  if (!is_one_of(name, time_stems, sizeof time_stems / sizeof *time_stems))
    return (struct column){UNKNOWN, 0};
  int scale = decimal_scale(unit, strlen(unit));
  return scale < 0 ? (struct column){NO_UNIT, 0} : (struct column){TIME, scale};
}

/* What a name says, whatever its case; blanks and dashes count as underscores. */
static struct column column_of(const char *text)
{
  char name[COLUMN_NAME];
  size_t n = strlen(text);
  if (n >= sizeof name)
    return (struct column){UNKNOWN, 0};
  for (size_t i = 0; i <= n; i++)
    name[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i] == ' ' || text[i] == '-' ? '_' : text[i]);
  if (!strcmp(name, "population"))
    return (struct column){GROUP, 0};
  if (!strcmp(name, "neuron"))
    return (struct column){INDEX, 0};
  if (is_one_of(name, type_names, sizeof type_names / sizeof *type_names))
    return (struct column){TYPE, 0};
  return time_column(name);
}

/* What is wrong with a list of columns: with the one `at`, which may clash with an `other`. */
struct verdict {
  enum { COLUMNS_FINE, COLUMN_WITHOUT_UNIT, COLUMN_UNKNOWN, COLUMNS_CLASH, COLUMNS_WITHOUT_TIME, COLUMNS_WITHOUT_TYPE } fault;
  int at, other;
};

/* "-" is a column that is skipped where `skips`. */
static struct verdict layout_find(struct layout *layout, char *const *name, int n, int skips)
{
  struct verdict v = {.at = 0};
  *layout = (struct layout){.place = {-1, -1, -1, -1}, .width = n, .delimiter = layout->delimiter};
  for (; v.at < n; v.at++) {
    struct column c = column_of(name[v.at]);
    if (skips && !strcmp(name[v.at], "-"))
      continue;
    if (c.role >= ROLES) {
      v.fault = c.role == NO_UNIT ? COLUMN_WITHOUT_UNIT : COLUMN_UNKNOWN;
      return v;
    }
    int other = layout->place[c.role];
    if (c.role == TYPE && other < 0)
      other = layout->place[GROUP] >= 0 ? layout->place[GROUP] : layout->place[INDEX];
    else if (c.role != TIME && other < 0)
      other = layout->place[TYPE];
    if (other >= 0) {
      v.fault = COLUMNS_CLASH;
      v.other = other;
      return v;
    }
    layout->place[c.role] = v.at;
    if (c.role == TIME)
      layout->scale = c.scale;
  }
  if (layout->place[TIME] < 0)
    v.fault = COLUMNS_WITHOUT_TIME;
  else if (layout->place[TYPE] < 0 && layout->place[INDEX] < 0)
    v.fault = COLUMNS_WITHOUT_TYPE;
  return v;
}

/* The name of the time's column as `columns` would have it. */
static const char *time_name(int scale)
{
  static const char *const name[] = {"time_ps", "time_ns", "time_us", "time_ms", "time_s"};
  return name[scale / 3];
}

static int is_number(const char *s)
{
  struct decimal d;
  return decimal_read(s, 0, &d) != DECIMAL_NONE;
}

/* A number but for a decimal comma. */
static int has_decimal_comma(const char *s)
{
  char number[DECIMAL_TEXT];
  const char *comma = strchr(s, ',');
  if (!comma || comma[1] < '0' || comma[1] > '9' || strlen(s) >= sizeof number)
    return 0;
  strcpy(number, s);
  number[comma - s] = '.';
  return is_number(number);
}

/* Whether a field where a time belongs is a name rather than a bad time: it begins like one and is none of the words for a missing
   value. */
static int is_name(const char *s)
{
  static const char *const missing[] = {"nan", "inf", "infinity", "na", "n/a", "null", "none"};
  char word[16] = "";
  for (size_t i = 0; i < sizeof word - 1 && s[i]; i++)
    word[i] = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] - 'A' + 'a' : s[i]);
  return ((*word >= 'a' && *word <= 'z') || *word == '_' || (unsigned char)*word >= 0x80) &&
         !is_one_of(word, missing, sizeof missing / sizeof *missing);
}

/* Where the time is among names, or among the fields of a first event: a name with its unit, one without, the last number with a point,
   the last number. -1 when nothing looks like one. */
static int guess_time(char *const *name, int n, int nameless)
{
  int best = -1, rank = 0;
  for (int i = 0; i < n; i++) {
    struct column c = column_of(nameless ? "" : name[i]);
    int one = c.role == TIME ? 4 : c.role == NO_UNIT ? 3 : !is_number(name[i]) ? 0 : strchr(name[i], '.') ? 2 : 1;
    if (one > rank || (one == rank && one && one < 3)) {
      rank = one;
      best = i;
    }
  }
  return best;
}

/* A value of `columns` for these names, or fields of an event when `nameless`, with a first guess at what they leave open; *guessed is 1
   when that includes the unit. Returns out. */
static const char *suggest(char out[SUGGESTION], char *const *name, int n, int nameless, int *guessed)
{
  int time = guess_time(name, n, nameless), type = -1, network = 0;
  size_t used = 0;
  for (int i = 0; i < n; i++) {
    struct column c = column_of(nameless ? "" : name[i]);
    network |= c.role == GROUP || c.role == INDEX;
    if (c.role == TYPE && type < 0)
      type = i;
  }
  network &= type < 0;
  for (int i = 0; type < 0 && !network && i < n; i++)
    if (i != time && (nameless || (column_of(name[i]).role != TIME && column_of(name[i]).role != NO_UNIT)))
      type = i;
  struct column at = column_of(time < 0 || nameless ? "" : name[time]);
  *guessed = at.role != TIME;
  if (*guessed) /* whole numbers are rarely seconds */
    at.scale = time >= 0 && at.role == UNKNOWN && !strchr(name[time], '.') ? 9 : 12;
  for (int i = 0; i < n; i++) {
    struct column c = column_of(name[i]);
    const char *text = i == time                    ? time_name(at.scale)
                       : i == type                  ? "type"
                       : network && c.role == GROUP ? "population"
                       : network && c.role == INDEX ? "neuron"
                                                    : "-";
    if (used + strlen(text) + 8 > SUGGESTION) {
      strcpy(out + used, ",\xe2\x80\xa6");
      return out;
    }
    used += (size_t)sprintf(out + used, "%s%s", i ? "," : "", text);
  }
  return out;
}

/* Refuses a file with a column for each unit, and shows how to make one event a line of it. When its line ends are `lost` all of it
   stands on one line, and the names are the fields before the first number. */
static int refuse_units(struct lines *in, char *const *name, int names, char delimiter, int lost)
{
  static const struct {
    char delimiter;
    const char *tr, *awk;
  } table[] = {{'\t', "'\\t'", "-F'\\t' "}, {';', "';'", "-F';' "}, {',', "','", "-F, "}, {' ', "-s ' '", ""}};
  char first[LINES_SHOWN], second[LINES_SHOWN];
  size_t d = 0;
  while (table[d].delimiter != delimiter)
    d++;
  lines_show(first, name[0]);
  lines_show(second, name[1]);
  if (lost)
    return LINES_REFUSE(
        in,
        "%d names, \"%s\", \"%s\" and so on, none of them of a time, and numbers on the same line. This looks like one "
        "column per unit whose line ends are lost; spikemill reads one event a line, under the header \"unit,time_s\". If "
        "these are seconds, this rewrites the file: tr %s '\\n' <FILE | awk 'NR <= %d { unit[NR] = $0 } NR == %d { print "
        "\"unit,time_s\" } NR > %d && /[0-9]/ { print unit[(NR - 1) %% %d + 1] \",\" $0 }' >NEW.csv",
        names, first, second, table[d].tr, names, names, names, names);
  return LINES_REFUSE(
      in,
      "%d names, \"%s\", \"%s\" and so on, and none of a time. This looks like one column per unit; spikemill reads one "
      "event a line, under the header \"unit,time_s\". If these are seconds, this rewrites the file: tr %s <FILE | awk "
      "%s'NR == 1 { n = split($0, unit); print \"unit,time_s\"; next } { for (i = 1; i <= n; i++) if ($i ~ /[0-9]/) print "
      "unit[i] \",\" $i }' >NEW.csv",
      names, first, second, in->end_of_line == '\r' ? "'\\r' '\\n'" : "-d '\\r'", table[d].awk);
}

/* Refuses a line that should name the columns and has no name that is known. */
static int refuse_nameless(struct lines *in, char *const *name, int n, char delimiter, int numbers)
{
  char first[LINES_SHOWN], second[LINES_SHOWN], columns[SUGGESTION];
  int guessed, names = 0;
  while (names < n && *name[names] && !is_number(name[names]))
    names++;
  if (names >= 3 && (names == n || 2 * names <= n))
    return refuse_units(in, name, names, delimiter, names < n);
  if (n < 2)
    return LINES_REFUSE(in,
                        "one column only, \"%s\"; expected at least a type and a time, between tabs, semicolons, commas or blanks",
                        n ? lines_show(first, name[0]) : "");
  if (numbers)
    return LINES_REFUSE(
        in,
        "no line names the columns; say what they hold with --columns, such as --columns %s (the time is one of " TIMES
        ", and - is a column that isn't read)",
        suggest(columns, name, n, 1, &guessed));
  return LINES_REFUSE(
      in,
      "the columns \"%s\", \"%s\" are unknown; say what they hold with --columns, such as --columns type,time_s (the time "
      "is one of " TIMES ", and - is a column that isn't read)",
      lines_show(first, name[0]), lines_show(second, name[1]));
}

/* Refuses a line that names the columns, for the reason found. */
static int refuse_columns(struct lines *in, char *const *name, int n, char delimiter, struct verdict v)
{
  char shown[LINES_SHOWN], other[LINES_SHOWN], columns[SUGGESTION];
  int guessed, known = 0, numbers = 0;
  for (int i = 0; i < n; i++) {
    known += column_of(name[i]).role != UNKNOWN;
    numbers += is_number(name[i]);
  }
  if (!known || numbers || n < 2)
    return refuse_nameless(in, name, n, delimiter, numbers);
  suggest(columns, name, n, 0, &guessed);
  const char *units = guessed ? " (the time is one of " TIMES ", and - is a column that isn't read)" : "";
  switch (v.fault) {
  case COLUMNS_FINE:
    return 0;
  case COLUMN_WITHOUT_UNIT:
    return LINES_REFUSE(in, "the column \"%s\" names no unit; say it with --columns %s (or time_ms, time_us, time_ns, time_ps)",
                        lines_show(shown, name[v.at]), columns);
  case COLUMN_UNKNOWN:
    return LINES_REFUSE(in, "the column \"%s\" is unknown; say what is to be read with --columns, such as --columns %s%s",
                        lines_show(shown, name[v.at]), columns, units);
  case COLUMNS_CLASH:
    return LINES_REFUSE(in, "the columns \"%s\" and \"%s\" say the same thing twice; choose with --columns, such as --columns %s%s",
                        lines_show(other, name[v.other]), lines_show(shown, name[v.at]), columns, units);
  case COLUMNS_WITHOUT_TIME:
    return LINES_REFUSE(in, "no column holds the time; expected %s", TIMES);
  case COLUMNS_WITHOUT_TYPE:
    break;
  }
  return LINES_REFUSE(in, "no column tells the events apart; expected %s, or population and neuron",
                      "type, channel, unit, electrode, sender, label, event or id");
}

/* The parameter `columns`, "type,-,time_s", split in place. MILL_USAGE with the reason when it is no list of columns. */
static int columns_given(struct lines *in, char *text, char **name, struct layout *layout)
{
  const char *const known = "type, " TIMES ", population, neuron, or - for a column that isn't read";
  char shown[LINES_SHOWN], whole[LINES_SHOWN];
  lines_show(whole, text);
  if (lines_good(text, strlen(text)) < strlen(text))
    return in->host->fail(in->error, MILL_USAGE, "%s: --columns is no UTF-8 text; expected names between commas: %s", in->path,
                          known);
  int n = lines_split(text, ',', name, FIELDS);
  if (n < 0 || n > FIELDS)
    return in->host->fail(in->error, MILL_USAGE, "%s: --columns %s: expected names between commas: %s", in->path, whole, known);
  struct verdict v = layout_find(layout, name, n, 1);
  switch (v.fault) {
  case COLUMNS_FINE:
    return 0;
  case COLUMN_WITHOUT_UNIT:
    return in->host->fail(in->error, MILL_USAGE, "%s: --columns %s: \"%s\" names no unit; expected " TIMES, in->path, whole,
                          lines_show(shown, name[v.at]));
  case COLUMN_UNKNOWN:
    return in->host->fail(in->error, MILL_USAGE, "%s: --columns %s: \"%s\" is unknown; expected %s", in->path, whole,
                          lines_show(shown, name[v.at]), known);
  case COLUMNS_CLASH:
    return in->host->fail(in->error, MILL_USAGE,
                          "%s: --columns %s: \"%s\" after \"%s\"; expected one type, or population and neuron, and one time",
                          in->path, whole, name[v.at], name[v.other]);
  case COLUMNS_WITHOUT_TIME:
    return in->host->fail(in->error, MILL_USAGE, "%s: --columns %s: no time; expected " TIMES, in->path, whole);
  case COLUMNS_WITHOUT_TYPE:
    break;
  }
  return in->host->fail(in->error, MILL_USAGE, "%s: --columns %s: no type; expected %s", in->path, whole, known);
}

/* What a header that was skipped contradicts: the first column that `columns` gives another unit or another place, or -1. */
static int contradiction(const struct layout *layout, char *const *name)
{
  for (int i = 0; i < layout->width; i++) {
    struct column c = column_of(name[i]);
    int role = TIME;
    while (role < ROLES && layout->place[role] != i)
      role++;
    if (role == ROLES || c.role == UNKNOWN)
      continue;
    if ((role == TIME) != (c.role == TIME || c.role == NO_UNIT) || (c.role == TIME && c.scale != layout->scale) ||
        (role == GROUP && c.role == INDEX) || (role == INDEX && c.role == GROUP))
      return i;
  }
  return -1;
}

#endif
