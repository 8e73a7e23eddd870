/* INI files: every guard around iniparser 4.1, lines of keys, comments and quotes, --set, and the canonical text; everything twice,
   in the C locale and in one with a decimal comma. That the guards are needed is checked too, by what iniparser alone makes of the
   text. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <fcntl.h>
#include "german.h"
#include "ini-scan.h"
#include "tap.h"
#include "text.h"

static const char *locale_name;
static char folder[] = "/tmp/mill-ini-XXXXXX";

static struct mill_ini *parse(const char *text, size_t size, const char *const *overrides, size_t count, struct mill_error *error)
{
  struct mill_ini *ini = (void *)folder;
  int status = mill_ini_parse("net.ini", text, size, overrides, count, &ini, error);

  if (status != 0 && ini != NULL)
    bail("a failure must give no result");
  return ini;
}

static const char *value(const struct mill_ini *ini, const char *section, const char *key)
{
  struct mill_ini_section *s = ini == NULL ? NULL : mill_ini_section_find(ini, section);
  struct mill_ini_entry *e = s == NULL ? NULL : mill_ini_entry_find(s, key);

  return e == NULL ? NULL : e->value;
}

#define LONG_100 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LONG_1000 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100
#define TEXT(s) s, sizeof(s) - 1

static void refused_test(void)
{
  static const struct {
    const char *what, *text;
    size_t size;
    const char *message;
  } cases[] = {
      {"duplicate key", TEXT("[a]\nx = 1\n\nx = 2\n"), "net.ini:4: [a] has the key `x` already, in line 2"},
      {"duplicate section", TEXT("[a]\nx = 1\n[b]\n[a]\ny = 1\n"), "net.ini:4: [a] is a section already, in line 1"},
      {"upper-case key", TEXT("[a]\nTau_m = 1\n"), "net.ini:2: `Tau_m` is no key: write `tau_m` (names are lower case)"},
      {"upper-case section", TEXT("[population.Exc]\n"),
       "net.ini:1: `population.Exc` is no section name: write `population.exc` (names are lower case)"},
      {"key with a dash", TEXT("[a]\ntau-m = 1\n"), "net.ini:2: `tau-m` is no key: write `tau_m`"},
      {"colon in a section", TEXT("[a:b]\nx = 1\n"),
       "net.ini:1: `a:b` is no section name: expected lower-case letters, digits, `_`, `-` and single dots, starting with a letter "
       "(the parts are joined by `.`, not `:`)"},
      {"colon in a key", TEXT("[a]\nb:x = 1\n"),
       "net.ini:2: `b:x` is no key: expected lower-case letters, digits and `_`, starting with a letter"},
      {"non-ASCII key", TEXT("[a]\nä = 1\n"),
       "net.ini:2: `ä` is no key: expected lower-case letters, digits and `_`, starting with a letter"},
      {"dot at the end of a section", TEXT("[population.]\n"),
       "net.ini:1: `population.` is no section name: expected lower-case letters, digits, `_`, `-` and single dots, starting with "
       "a "
       "letter"},
      {"empty section name", TEXT("[]\n"), "net.ini:1: the section name is empty"},
      {"empty key", TEXT("[a]\n = 1\n"), "net.ini:2: the key is empty"},
      {"long section name", TEXT("[" LONG_100 LONG_100 "]\n"),
       "net.ini:1: the section name `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…` is longer than 128 bytes"},
      {"long key", TEXT("[a]\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaä" LONG_100 "=1\n"),
       "net.ini:2: the key `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…` is longer than 128 bytes"},
      {"key outside a section", TEXT("; hello\nx = 1\n[a]\n"), "net.ini:2: the key `x` stands before the first `[section]`"},
      {"neither", TEXT("[a]\nx 1\n"), "net.ini:2: expected `[section]`, `key = value` or a comment, found `x 1`"},
      {"a single letter at the end", TEXT("[a]\nx"), "net.ini:2: expected `[section]`, `key = value` or a comment, found `x`"},
      {"open header", TEXT("[a\nx = 1\n"), "net.ini:1: the section header lacks its `]`"},
      {"open header with a value", TEXT("[a x = 1\n"), "net.ini:1: the section header lacks its `]`"},
      {"comment after a header", TEXT("[a] ; x = 1\n"),
       "net.ini:1: text after the section header: a comment needs a line of its own"},
      {"two headers", TEXT("[a][b]\n"), "net.ini:1: text after the section header: a comment needs a line of its own"},
      {"backslash", TEXT("[a]\nx = 1\\\ny = 2\n"), "net.ini:2: a backslash at the end of a line: lines cannot be continued"},
      {"backslash and blanks", TEXT("[a]\nx = 1\\ \t\r\ny = 2\n"),
       "net.ini:2: a backslash at the end of a line: lines cannot be continued"},
      {"backslash in a comment", TEXT("[a]\n; C:\\\nx = 2\n"),
       "net.ini:2: a backslash at the end of a line: lines cannot be continued"},
      {"backslash at the end of file", TEXT("[a]\nx = 1\\"),
       "net.ini:2: a backslash at the end of a line: lines cannot be continued"},
      {"long line", TEXT("[a]\nx=" LONG_1000 "\n"), "net.ini:2: the line has 1002 characters, more than 1000"},
      {"long comment", TEXT(";" LONG_1000), "net.ini:1: the line has 1001 characters, more than 1000"},
      {"UTF-8 mark", TEXT("\xef\xbb\xbf[a]\n"),
       "net.ini:1: the file starts with a UTF-8 byte-order mark: save it as UTF-8 without one"},
      {"UTF-16 mark", TEXT("\xff\xfe[\0a\0]\0"),
       "net.ini:1: the file starts with a UTF-16 byte-order mark: save it as UTF-8 without one"},
      {"NUL", TEXT("[a]\nx = 1\0 2\n"), "net.ini:2: a NUL byte at character 6: this is no text file"},
      {"control character", TEXT("[a]\nx = \x01\n"), "net.ini:2: a control character (byte 0x01) at character 5"},
      {"form feed", TEXT("[a]\nx = 1\f\n"), "net.ini:2: a control character (byte 0x0c) at character 6"},
      {"CR alone", TEXT("[a]\rx = 1\r"), "net.ini:1: a control character (byte 0x0d) at character 4: lines must end in LF or CRLF"},
      {"not UTF-8", TEXT("[a]\nx = caf\xe9\n"), "net.ini:2: the line is not UTF-8 text"},
      {"open quote", TEXT("[a]\nx = \"1 ; 2\n"), "net.ini:2: [a] x: the quote \" is not closed"},
      {"open single quote", TEXT("[a]\nx = '1\n"), "net.ini:2: [a] x: the quote ' is not closed"},
      {"quote closed by the other", TEXT("[a]\nx = \"1'\n"), "net.ini:2: [a] x: the quote \" is not closed"},
      {"quote alone", TEXT("[a]\nx = \"\n"), "net.ini:2: [a] x: the quote \" is not closed"},
      {"text after a quote", TEXT("[a]\nx = \"1\" 2\n"), "net.ini:2: [a] x: text after the closing quote: `2`"},
      {"text after an empty quote", TEXT("[a]\nx = \"\"1\"\n"), "net.ini:2: [a] x: text after the closing quote: `1\"`"},
      {"cut by #", TEXT("[a]\nx = spikes#1.csv\n"),
       "net.ini:2: [a] x: `#` would start a comment here: put a blank before it, or quotes around the value if it is part of it"},
      {"cut by ;", TEXT("[a]\nx = 1;2\n"),
       "net.ini:2: [a] x: `;` would start a comment here: put a blank before it, or quotes around the value if it is part of it"},
      {"cut inside quotes", TEXT("[a]\nx = b \"c ; d\"\n"),
       "net.ini:2: [a] x: `;` would cut the value here, inside quotes that do not start it: quote the whole value"},
  };
  struct mill_error e;
  size_t i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    e = (struct mill_error){0, ""};
    ok(parse(cases[i].text, cases[i].size, NULL, 0, &e) == NULL, "%s: %s is refused", locale_name, cases[i].what);
    is_str(e.text, cases[i].message, "%s: %s: message", locale_name, cases[i].what);
    is_int(e.status, MILL_USAGE, "%s: %s: class", locale_name, cases[i].what);
  }
}

/* What iniparser alone does with such texts. */
static void alone_test(void)
{
  static const struct {
    const char *text, *key, *value;
  } cases[] = {
      {"[a]\nx = 1\nx = 2\n", "a:x", "2"},      {"[a]\nTAU = 1\n", "a:tau", "1"},   {"[a]\nx = b;c\n", "a:x", "b"},
      {"[a]\nx = \"b\" c\n", "a:x", "b"},       {"[a]\nx = \"b\n", "a:x", "b"},     {"[a]\nx = 1\\", "a:x", NULL},
      {"[a]\n; c\\\nx = 1\n", "a:x", NULL},     {"[a] ; x = 1]\n", "a:x", NULL},    {"[a]\nx = 1 ; c\n", "a:x", "1"},
      {"[a]\nx = \"b;c\" # d\n", "a:x", "b;c"}, {"[a]\nx = ' b '\n", "a:x", " b "},
  };
  char path[64];
  dictionary *d;
  size_t i;
  FILE *f;

  snprintf(path, sizeof path, "%s/alone.ini", folder);
  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    f = fopen(path, "w");
    if (f == NULL || fputs(cases[i].text, f) < 0 || fclose(f) != 0)
      bail("cannot write %s", path);
    d = iniparser_load(path);
    is_str(d == NULL ? "(not read)" : iniparser_getstring(d, cases[i].key, NULL), cases[i].value, "iniparser alone, case %zu", i);
    iniparser_freedict(d);
  }
  unlink(path);
}

static const char sample[] = "; a network\n"
                             "# and another comment = here [x]\n"
                             "[simulation]\r\n"
                             "  dt = 0.1   ; ms\n"
                             "\tduration=1000\t# ms\n"
                             "empty =\n"
                             "empty2 = ; nothing\n"
                             "empty3 =;nothing\n"
                             "empty4 = \"\"\n"
                             "\n"
                             "   [ population.exc-1_b ]   \n"
                             "v = uniform(-60, -50)\n"
                             "file = \"a; b # c.csv\"  ; quoted\n"
                             "title = 'say \"x\"';\n"
                             "blanks = \"  x \"\n"
                             "lone = Brunel's ; apostrophe\n"
                             "equation = a = b == c\n"
                             "mixed = say \"hi\" ; twice\n"
                             "utf8 = Käse – µS\n"
                             "slash = a\\b\n"
                             "quoted_slash = \"a\\\"\n"
                             "comma = 1,5\n"
                             "n010 = 010\n"
                             "nabc = 12abc\n"
                             "[last]\n"
                             "x=1";

static void accepted_test(void)
{
  static const struct {
    const char *section, *key, *value;
    int line;
  } cases[] = {
      {"simulation", "dt", "0.1", 4},
      {"simulation", "duration", "1000", 5},
      {"simulation", "empty", "", 6},
      {"simulation", "empty2", "", 7},
      {"simulation", "empty3", "", 8},
      {"simulation", "empty4", "", 9},
      {"population.exc-1_b", "v", "uniform(-60, -50)", 12},
      {"population.exc-1_b", "file", "a; b # c.csv", 13},
      {"population.exc-1_b", "title", "say \"x\"", 14},
      {"population.exc-1_b", "blanks", "  x ", 15},
      {"population.exc-1_b", "lone", "Brunel's", 16},
      {"population.exc-1_b", "equation", "a = b == c", 17},
      {"population.exc-1_b", "mixed", "say \"hi\"", 18},
      {"population.exc-1_b", "utf8", "Käse – µS", 19},
      {"population.exc-1_b", "slash", "a\\b", 20},
      {"population.exc-1_b", "quoted_slash", "a\\", 21},
      {"population.exc-1_b", "comma", "1,5", 22},
      {"population.exc-1_b", "n010", "010", 23},
      {"population.exc-1_b", "nabc", "12abc", 24},
      {"last", "x", "1", 26},
  };
  struct mill_error e = {0, ""};
  struct mill_ini *ini = parse(TEXT(sample), NULL, 0, &e), *again;
  struct mill_ini_entry *entry;
  char *text, *text2;
  size_t i, count = 0;

  if (!ok(ini != NULL, "%s: a file of everything: %s", locale_name, e.text))
    return;
  is_int((intmax_t)ini->count, 3, "%s: sections", locale_name);
  is_int(mill_ini_section_find(ini, "population.exc-1_b")->line, 11, "%s: line of a section", locale_name);
  for (i = 0; i < ini->count; i++)
    count += ini->section[i].count;
  is_int((intmax_t)count, sizeof cases / sizeof *cases, "%s: keys", locale_name);
  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    is_str(value(ini, cases[i].section, cases[i].key), cases[i].value, "%s: %s", locale_name, cases[i].key);
    entry = mill_ini_entry_find(mill_ini_section_find(ini, cases[i].section), cases[i].key);
    is_int(entry->line, cases[i].line, "%s: line of %s", locale_name, cases[i].key);
    is_int(entry->used, 0, "%s: nobody has read %s", locale_name, cases[i].key);
  }
  text = mill_ini_text(ini);
  again = parse(text, strlen(text), NULL, 0, &e);
  if (ok(again != NULL, "%s: the canonical text reads back: %s", locale_name, e.text)) {
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
      is_str(value(again, cases[i].section, cases[i].key), cases[i].value, "%s: %s again", locale_name, cases[i].key);
    text2 = mill_ini_text(again);
    is_str(text2, text, "%s: and gives itself", locale_name);
    free(text2);
  }
  free(text);
  mill_ini_free(again);
  mill_ini_free(ini);
  mill_ini_free(NULL);
}

static void size_test(void)
{
  struct mill_error e = {0, ""};
  struct mill_ini *ini = parse("", 0, NULL, 0, &e);
  size_t n = (size_t)16 << 20;
  char *text = malloc(n + 1), *p;

  ok(ini != NULL && ini->count == 0, "%s: an empty file", locale_name);
  mill_ini_free(ini);
  ini = parse(TEXT("[a]\nx=" LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100 LONG_100
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\ny = 1\n"),
              NULL, 0, &e);
  if (ok(ini != NULL, "%s: a line of 1000 characters: %s", locale_name, e.text)) {
    is_int((intmax_t)strlen(value(ini, "a", "x")), 998, "%s: is whole", locale_name);
    p = mill_ini_text(ini);
    mill_ini_free(ini);
    ini = parse(p, strlen(p), NULL, 0, &e);
    ok(ini != NULL && strlen(value(ini, "a", "x")) == 998, "%s: its canonical text reads back: %s", locale_name, e.text);
    free(p);
  }
  mill_ini_free(ini);
  memset(text, '\n', n + 1);
  text[0] = ';';
  ini = parse(text, n, NULL, 0, &e);
  ok(ini != NULL, "%s: 16 MiB", locale_name);
  mill_ini_free(ini);
  ok(parse(text, n + 1, NULL, 0, &e) == NULL, "%s: more than 16 MiB", locale_name);
  is_str(e.text, "net.ini: larger than 16 MiB: this is no configuration", "%s: message", locale_name);
  free(text);
}

static void many_test(void)
{
  struct mill_error e = {0, ""};
  char *text = malloc(1 << 20), *p = stpcpy(text, "[a]\n");
  struct mill_ini *ini;
  int i;

  for (i = 0; i < 3000; i++)
    p += sprintf(p, "x%d=%d\n", i, i);
  ini = parse(text, (size_t)(p - text), NULL, 0, &e);
  ok(ini != NULL && ini->section[0].count == 3000, "3000 keys: %s", e.text);
  if (ini != NULL)
    is_str(value(ini, "a", "x2999"), "2999", "the last of 3000 keys");
  mill_ini_free(ini);
  p = stpcpy(text, "[a]\n");
  for (i = 0; i < MILL_INI_COUNT_MAX; i++)
    p += sprintf(p, "x%d=%d\n", i, i);
  ok(parse(text, (size_t)(p - text), NULL, 0, &e) == NULL, "too many keys");
  is_str(e.text, "net.ini:10001: more than 10000 sections and keys", "message");
  free(text);
}

static void disagreement_test(void)
{
  struct mill_error e = {0, ""};
  struct mill_ini *ini = parse(TEXT("[a]\nx = 1\n\n[b]\ny = 2\n"), NULL, 0, &e);
  static const struct {
    const char *name, *value; /* set, or removed when the value is "-" */
    const char *message;
  } cases[] = {
      {"a:x", "3", "net.ini:2: two readings of the file disagree: iniparser has another value for `a:x`"},
      {"b:y", "-", "net.ini:5: two readings of the file disagree: iniparser misses the key `b:y`"},
      {"b", "-", "net.ini:4: two readings of the file disagree: iniparser misses the section `b`"},
      {"b:z", "1", "net.ini:5: two readings of the file disagree: iniparser finds, here or below, also `b:z`"},
      {"c", NULL, "net.ini:5: two readings of the file disagree: iniparser finds, here or below, also `c`"},
  };
  dictionary *d;
  size_t i;

  for (i = 0; i <= sizeof cases / sizeof *cases; i++) {
    d = dictionary_new(0);
    dictionary_set(d, "a", NULL);
    dictionary_set(d, "a:x", "1");
    dictionary_set(d, "b", NULL);
    dictionary_set(d, "b:y", "2");
    if (i == sizeof cases / sizeof *cases) {
      is_int(mill_ini_agree(ini, d, &e), 0, "two readings that agree");
    } else {
      if (cases[i].value != NULL && strcmp(cases[i].value, "-") == 0)
        dictionary_unset(d, cases[i].name);
      else
        dictionary_set(d, cases[i].name, cases[i].value);
      is_int(mill_ini_agree(ini, d, &e), -1, "a disagreement about %s", cases[i].name);
      is_str(e.text, cases[i].message, "message");
    }
    dictionary_del(d);
  }
  mill_ini_free(ini);
}

static void set_test(void)
{
  static const char *const good[] = {"population.exc-1_b.v=3",    "simulation.new = a = b ", "define.scale=1e9",
                                     "simulation.path=\"a;b#c\"", "define.other=2",          "simulation.dt="};
  static const struct {
    const char *text, *message;
  } bad[] = {
      {"", "--set : expected SECTION.KEY=VALUE"},
      {"simulation.dt", "--set simulation.dt: expected SECTION.KEY=VALUE"},
      {"dt=1", "--set dt=1: expected SECTION.KEY=VALUE"},
      {"dt=1.5", "--set dt=1.5: expected SECTION.KEY=VALUE"},
      {"=1", "--set =1: expected SECTION.KEY=VALUE"},
      {".dt=1", "--set .dt=1: the section name is empty"},
      {"simulation.=1", "--set simulation.=1: the key is empty"},
      {"simulation.DT=1", "--set simulation.DT=1: `DT` is no key: write `dt` (names are lower case)"},
      {"Simulation.dt=1", "--set Simulation.dt=1: `Simulation` is no section name: write `simulation` (names are lower case)"},
      {"a.x=1;2", "--set a.x=1;2: `;` starts a comment: if it is part of the value, the value needs quotes"},
      {"a.x=1 # c", "--set a.x=1 # c: `#` starts a comment: if it is part of the value, the value needs quotes"},
      {"a.x='b' ; c", "--set a.x='b' ; c: `;` starts a comment: if it is part of the value, the value needs quotes"},
      {"a.x='b' c", "--set a.x='b' c: text after the closing quote: `c`"},
      {"a.x='b", "--set a.x='b: the quote ' is not closed"},
      {"a.x=1\ny=2", "--set a.x=1?y=2: a control character (byte 0x0a) at character 6"},
      {"a.x=b\\", "--set a.x=b\\: a backslash at the end of a line: lines cannot be continued"},
      {"a\xff.x=1", "--set a?.x=1: the line is not UTF-8 text"},
      {"a.x=caf\xe9", "--set a.x=caf?: the line is not UTF-8 text"},
      {"a.x=" LONG_1000,
       "--set a.x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…: the line has 1004 characters, more than 1000"},
  };
  struct mill_error e = {0, ""};
  struct mill_ini *ini = parse(TEXT(sample), good, 6, &e), *again;
  struct mill_ini_section *section;
  const char *two[2] = {"define.a=1", "define.a=2"};
  char *text, where[256];
  size_t i;

  if (!ok(ini != NULL, "overrides: %s", e.text))
    return;
  is_str(value(ini, "population.exc-1_b", "v"), "3", "an override replaces");
  is_str(value(ini, "simulation", "new"), "a = b", "an override adds a key");
  is_str(value(ini, "simulation", "path"), "a;b#c", "quotes in an override");
  is_str(value(ini, "simulation", "dt"), "", "an empty override");
  is_str(value(ini, "define", "scale"), "1e9", "an override adds a section");
  is_str(value(ini, "define", "other"), "2", "and a second key to it");
  section = mill_ini_section_find(ini, "define");
  is_int(section->line, 0, "a section of --set has no line");
  mill_ini_where(ini, section, &section->entry[0], where, sizeof where);
  is_str(where, "--set define.scale=1e9: ", "place of an override");
  mill_ini_where(ini, section, NULL, where, sizeof where);
  is_str(where, "--set: [define]: ", "place of a section of --set");
  text = mill_ini_text(ini);
  again = parse(text, strlen(text), NULL, 0, &e);
  ok(again != NULL, "the canonical text has the overrides: %s", e.text);
  is_str(value(again, "define", "scale"), "1e9", "also in the end");
  is_str(value(again, "simulation", "path"), "a;b#c", "also what needs quotes");
  free(text);
  mill_ini_free(again);
  mill_ini_free(ini);
  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    ok(parse(TEXT("[a]\nx = 1\n"), &bad[i].text, 1, &e) == NULL, "--set %.60s is refused", bad[i].text);
    is_str(e.text, bad[i].message, "message");
    is_int(e.status, MILL_USAGE, "class");
  }
  ok(parse(TEXT("[a]\n"), two, 2, &e) == NULL, "the same override twice");
  is_str(e.text, "--set define.a=2: [define] a is set twice, the first time to `1`", "message");
}

/* Overrides that other options make. */
static void option_test(void)
{
  static const char *const good[] = {"--support mining.support=1 2", "--duration a.x=3"};
  static const struct {
    const char *text, *message;
  } bad[] = {
      {"--support mining.support='5", "--support '5: the quote ' is not closed"},
      {"--support mining.support=a\nb", "--support a?b: a control character (byte 0x0a) at character 17"},
      {"--support mining", "--support mining: expected SECTION.KEY=VALUE"},
      {"--support", "--set --support: expected SECTION.KEY=VALUE"},
  };
  const char *const twice[] = {"mining.support=1", "--support mining.support=2"};
  struct mill_error e;
  char where[200];
  struct mill_ini *ini = parse(TEXT("[a]\nx = 1\n"), good, 2, &e);
  struct mill_ini_section *section = ini ? mill_ini_section_find(ini, "mining") : NULL;
  if (!ok(section != NULL && section->count == 1, "overrides of options: %s", e.text))
    return;
  is_str(value(ini, "mining", "support"), "1 2", "the value");
  mill_ini_where(ini, section, &section->entry[0], where, sizeof where);
  is_str(where, "--support 1 2: ", "its place is the option");
  mill_ini_where(ini, section, NULL, where, sizeof where);
  is_str(where, "the options: [mining]: ", "and that of a section that options made");
  section = mill_ini_section_find(ini, "a");
  mill_ini_where(ini, section, &section->entry[0], where, sizeof where);
  is_str(where, "--duration 3: ", "in the place of a value of the file");
  mill_ini_where(ini, section, NULL, where, sizeof where);
  is_str(where, "net.ini:1: [a]: ", "whose section keeps its own");
  mill_ini_free(ini);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ok(parse(TEXT("[a]\nx = 1\n"), &bad[i].text, 1, &e) == NULL && e.status == MILL_USAGE, "%s is refused", bad[i].message);
    is_str(e.text, bad[i].message, "message");
  }
  ok(parse(TEXT("[a]\n"), twice, 2, &e) == NULL, "an option and --set for one key");
  is_str(e.text, "--support 2: [mining] support is set twice, the first time to `1`", "message");
}

static void where_test(void)
{
  struct mill_error e = {0, ""};
  struct mill_ini *ini = parse(TEXT("\n[population.exc]\nsize = many\nlong = " LONG_100 "\n"), NULL, 0, &e);
  struct mill_ini_section *s = &ini->section[0];
  char where[256];

  mill_ini_where(ini, s, &s->entry[0], where, sizeof where);
  is_str(where, "net.ini:3: [population.exc] size = many: ", "place of an entry");
  mill_ini_where(ini, s, NULL, where, sizeof where);
  is_str(where, "net.ini:2: [population.exc]: ", "place of a section");
  mill_ini_where(ini, NULL, NULL, where, sizeof where);
  is_str(where, "net.ini: ", "place of a file");
  mill_ini_where(ini, s, &s->entry[1], where, sizeof where);
  is_str(where, "net.ini:4: [population.exc] long = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…: ",
         "a long value is cut");
  mill_ini_where(ini, s, &s->entry[1], where, 10);
  is_str(where, "net.ini:4", "no more than the buffer");
  is_int(mill_ini_fail(&e, ini, s, &s->entry[0], "expected %d", 7), -1, "mill_ini_fail gives -1");
  is_str(e.text, "net.ini:3: [population.exc] size = many: expected 7", "mill_ini_fail gives the place");
  is_int(e.status, MILL_USAGE, "class");
  is_int(mill_ini_fail(NULL, ini, s, NULL, "x"), -1, "no error struct");
  mill_ini_free(ini);
}

static void read_is(const char *name, const char *message)
{
  struct mill_error e = {0, ""};
  struct mill_ini *ini = NULL;
  char path[128], want[256];

  snprintf(path, sizeof path, "%s/%s", folder, name);
  snprintf(want, sizeof want, "%s: %s", path, message);
  is_int(mill_ini_read(path, NULL, 0, &ini, &e), -1, "`%s` is refused", name);
  ok(ini == NULL, "and gives nothing");
  is_str(e.text, want, "message");
}

static void files_test(void)
{
  struct mill_error e = {0, ""};
  struct mill_ini *ini = NULL;
  const char *override = "a.x=2";
  char path[64], big[64], pipe[64];
  FILE *f;
  int fd;

  read_is("", "is a folder, not a regular file");
  read_is("none.ini", "cannot be opened: No such file or directory");
  snprintf(pipe, sizeof pipe, "%s/pipe", folder);
  if (mkfifo(pipe, 0600) != 0)
    bail("cannot make a pipe");
  read_is("pipe", "is a device, pipe or socket, not a regular file");
  unlink(pipe);
  snprintf(big, sizeof big, "%s/big.ini", folder);
  fd = open(big, O_WRONLY | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, (16 << 20) + 1) != 0)
    bail("cannot make a large file");
  close(fd);
  read_is("big.ini", "larger than 16 MiB: this is no configuration");
  unlink(big);
  snprintf(path, sizeof path, "%s/net.ini", folder);
  f = fopen(path, "w");
  fputs("[a]\nx = 1\n", f);
  fclose(f);
  is_int(mill_ini_read(path, NULL, 0, &ini, &e), 0, "a file is read");
  is_str(value(ini, "a", "x"), "1", "its value");
  is_str(ini->path, path, "its path");
  mill_ini_free(ini);
  is_int(mill_ini_read(path, &override, 1, &ini, &e), 0, "with an override");
  is_str(value(ini, "a", "x"), "2", "its value");
  mill_ini_free(ini);
  unlink(path);
}

/* iniparser writes to stderr on its own; nothing of it may arrive there. */
static void silence_test(void)
{
  char path[64], seen[64] = "", said[256] = "", want[128];
  int saved = dup(2), fd;

  snprintf(path, sizeof path, "%s/stderr", folder);
  fd = open(path, O_RDWR | O_CREAT, 0600);
  dup2(fd, 2);
  refused_test();
  mill_ini_free(parse(TEXT(sample), NULL, 0, NULL));
  ok(mill_ini_load("/no/such/file", said, sizeof said) == NULL, "%s: iniparser finds no file", locale_name);
  is_str(said, "iniparser: cannot open /no/such/file ", "%s: and says so to us", locale_name);
  if (write(fd, "x 1\n", 4) != 4)
    bail("cannot write %s", path);
  ok(mill_ini_load(path, said, sizeof said) == NULL, "%s: iniparser refuses a line", locale_name);
  snprintf(want, sizeof want, "iniparser: syntax error in %s (1): -> x 1 ", path);
  is_str(said, want, "%s: and says so to us", locale_name);
  if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
    bail("cannot empty %s", path);
  iniparser_freedict(mill_ini_load(path, said, sizeof said));
  is_str(said, "", "%s: what was said does not last", locale_name);
  dup2(saved, 2);
  is_int(pread(fd, seen, sizeof seen - 1, 0), 0, "nothing on standard error (%s)", seen);
  close(fd);
  close(saved);
  unlink(path);
}

static void all_test(void)
{
  locale_name = setlocale(LC_NUMERIC, NULL);
  silence_test();
  alone_test();
  accepted_test();
  size_test();
  set_test();
  option_test();
}

int main(void)
{
  plan_later();
  if (mkdtemp(folder) == NULL)
    bail("no temporary folder");
  all_test();
  many_test();
  disagreement_test();
  where_test();
  files_test();
  if (german_set())
    all_test();
  else
    skip(1, "no locale with a decimal comma");
  german_end();
  rmdir(folder);
  return done_testing();
}
