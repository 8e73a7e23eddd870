/* Parameter tables: every type, defaults, ranges, missing and unknown keys, the checks of a table, and its two printed forms, of
   which the template must read back. Everything twice, in the C locale and in one with a decimal comma. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stddef.h>
#include "german.h"
#include "param.h"
#include "registry.h"
#include "tap.h"
#include "text.h"

struct block {
  double tau_m, rate;
  int64_t size, seed;
  int32_t autapses, precision;
  const char *spikes, *label;
  double old;
};

#define AT(member) offsetof(struct block, member)
#define BIG 1.7976931348623157e308

static const struct mill_param_spec specs[] = {
    {"size", "", NULL, NULL, "number of neurons", 0, 4294967295.0, AT(size), MILL_INT, MILL_REQUIRED},
    {"tau_m", "ms", "20", NULL, "membrane time constant", 0.1, 10000, AT(tau_m), MILL_REAL, 0},
    {"rate", "Hz", "0.5", NULL, "rate", 0, BIG, AT(rate), MILL_REAL, 0},
    {"seed", "", "1", NULL, "seed of all random numbers", -9223372036854775808.0, 9223372036854775808.0, AT(seed), MILL_INT,
     MILL_EXPERT},
    {"autapses", "", "no", NULL, "synapses of a neuron on itself", 0, 0, AT(autapses), MILL_BOOL, 0},
    {"precision", "", "single", "single|double", "floating-point numbers", 0, 0, AT(precision), MILL_CHOICE, 0},
    {"spikes", "", NULL, NULL, "file of spikes", 0, 0, AT(spikes), MILL_TEXT, 0},
    {"label", "", "a;b", NULL, "a name", 0, 0, AT(label), MILL_TEXT, 0},
    {"old_tau", "µs", "1", NULL, "use tau_m", 0, 10, AT(old), MILL_REAL, MILL_DEPRECATED},
    {"v", "mV", "uniform(-60, -50)", NULL, "membrane potential", -1000, 1000, 0, MILL_REAL, MILL_PER_NEURON},
};
#define COUNT (sizeof specs / sizeof *specs)

static struct mill_define names[] = {{(char *)(uintptr_t) "a", -1.5}};
static const struct mill_defines defines = {1, names};
static const char *locale_name;
static char noted[512];

static void note_take(const char *line, void *self)
{
  (void)self;
  snprintf(noted, sizeof noted, "%s", line);
}

static struct mill_ini *ini_of(const char *keys)
{
  struct mill_error e = {0, ""};
  struct mill_ini *ini;
  char text[512];

  snprintf(text, sizeof text, "[population.exc]\n%s\n", keys);
  if (mill_ini_parse("net.ini", text, strlen(text), NULL, 0, &ini, &e) != 0)
    bail("%s", e.text);
  return ini;
}

static void values_test(void)
{
  struct mill_ini *ini =
      ini_of("size = 32e2\ntau_m = -$a * 2\nautapses = yes\nprecision = double\nspikes = out 1.csv\nseed = 9007199254740993\n"
             "old_tau = 2\nv = 3\n");
  struct mill_error e = {0, ""};
  struct block b = {0};
  size_t i, unused = 0;

  noted[0] = '\0';
  mill_note_set(note_take, NULL);
  is_int(mill_param_parse(specs, COUNT, ini, ini->section, &defines, &b, &e), 0, "%s: a section is read (%s)", locale_name, e.text);
  mill_note_set(NULL, NULL);
  is_int(b.size, 3200, "%s: a whole number", locale_name);
  is_real(b.tau_m, 3, 0, "%s: an expression", locale_name);
  is_real(b.rate, 0.5, 0, "%s: a default", locale_name);
  is_int(b.seed, 9007199254740993, "%s: a whole number beyond 2^53", locale_name);
  is_int(b.autapses, 1, "%s: yes", locale_name);
  is_int(b.precision, 1, "%s: a choice", locale_name);
  is_str(b.spikes, "out 1.csv", "%s: a text", locale_name);
  is_str(b.label, "a;b", "%s: the default of a text", locale_name);
  is_real(b.old, 2, 0, "%s: a deprecated key works", locale_name);
  is_str(noted, "net.ini:8: [population.exc] old_tau = 2: `old_tau` is deprecated (use tau_m)", "%s: and is noted", locale_name);
  for (i = 0; i < ini->section->count; i++)
    unused += !ini->section->entry[i].used;
  is_int((intmax_t)unused, 1, "%s: all but the value per neuron are used", locale_name);
  ok(!mill_ini_entry_find(ini->section, "v")->used, "%s: which is left to its reader", locale_name);
  mill_param_free(specs, COUNT, &b);
  ok(b.spikes == NULL && b.label == NULL, "%s: texts are freed", locale_name);
  mill_param_free(specs, COUNT, &b);
  mill_ini_free(ini);

  ini = ini_of("size = 0");
  b = (struct block){0};
  noted[0] = '\0';
  is_int(mill_param_parse(specs, COUNT, ini, ini->section, &defines, &b, &e), 0, "%s: defaults alone", locale_name);
  ok(b.size == 0 && b.seed == 1 && b.autapses == 0 && b.precision == 0 && b.spikes == NULL, "%s: are right", locale_name);
  is_str(noted, "", "%s: a deprecated key that is not given is not noted", locale_name);
  mill_param_free(specs, COUNT, &b);
  mill_ini_free(ini);
}

static void refused_test(void)
{
  static const struct {
    const char *keys, *message;
  } cases[] = {
      {"size = 1\ntau_m = -3", "net.ini:3: [population.exc] tau_m = -3: must lie in 0.1 … 10000 ms"},
      {"size = 1\ntau_m = 10000.1", "net.ini:3: [population.exc] tau_m = 10000.1: must lie in 0.1 … 10000 ms"},
      {"size = 1\ntau_m = $a * 2", "net.ini:3: [population.exc] tau_m = $a * 2: gives -3, must lie in 0.1 … 10000 ms"},
      {"size = 1\nrate = -1", "net.ini:3: [population.exc] rate = -1: must be ≥ 0 Hz"},
      {"size = 1\ntau_m = 20 ms", "net.ini:3: [population.exc] tau_m = 20 ms: write the number without its unit (it is in ms)"},
      {"size = 1\ntau_m = 20ms", "net.ini:3: [population.exc] tau_m = 20ms: write the number without its unit (it is in ms)"},
      {"size = 1\ntau_m = 1,5",
       "net.ini:3: [population.exc] tau_m = 1,5: expected an operator or the end, found `,5` at character 2"},
      {"size = 1\ntau_m =", "net.ini:3: [population.exc] tau_m = : there is no value (membrane time constant)"},
      {"size = 1\ntau_m = normal(1, 2)", "net.ini:3: [population.exc] tau_m = normal(1, 2): `normal` is no number, no `$name` and "
                                         "none of sqrt, floor, round, min, max"},
      {"size = -1", "net.ini:2: [population.exc] size = -1: must lie in 0 … 4294967295"},
      {"size = 4294967296", "net.ini:2: [population.exc] size = 4294967296: must lie in 0 … 4294967295"},
      {"size = 2 * 2147483648", "net.ini:2: [population.exc] size = 2 * 2147483648: gives 4294967296, must lie in 0 … 4294967295"},
      {"size = 4000.5", "net.ini:2: [population.exc] size = 4000.5: 4000.5 is not a whole number (round it: round(…))"},
      {"size = many",
       "net.ini:2: [population.exc] size = many: `many` is no number, no `$name` and none of sqrt, floor, round, min, max"},
      {"size = 1\nautapses = Yes", "net.ini:3: [population.exc] autapses = Yes: must be yes or no"},
      {"size = 1\nprecision = doubel",
       "net.ini:3: [population.exc] precision = doubel: must be one of single | double; did you mean `double`?"},
      {"size = 1\nprecision = half", "net.ini:3: [population.exc] precision = half: must be one of single | double"},
      {"size = 1\nprecision = singl",
       "net.ini:3: [population.exc] precision = singl: must be one of single | double; did you mean `single`?"},
      {"size = 1\nspikes = \"\"", "net.ini:3: [population.exc] spikes = : there is no value (file of spikes)"},
      {"tau_m = 1", "net.ini:1: [population.exc]: `size` is missing (number of neurons)"},
      {"siez = 1", "net.ini:1: [population.exc]: `size` is missing (number of neurons); is it the `siez` given here?"},
      {"", "net.ini:1: [population.exc]: `size` is missing (number of neurons)"},
  };
  struct mill_error e;
  struct mill_ini *ini;
  struct block b;
  size_t i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    ini = ini_of(cases[i].keys);
    b = (struct block){0};
    e = (struct mill_error){0, ""};
    is_int(mill_param_parse(specs, COUNT, ini, ini->section, &defines, &b, &e), -1, "%s: `%s` is refused", locale_name,
           cases[i].keys);
    is_str(e.text, cases[i].message, "%s: message", locale_name);
    is_int(e.status, MILL_USAGE, "%s: class", locale_name);
    mill_param_free(specs, COUNT, &b);
    mill_ini_free(ini);
  }
}

static void unused_is(const char *keys, const struct mill_param_table *tables, size_t count, const char *message)
{
  struct mill_ini *ini = ini_of(keys);
  struct mill_error e = {0, ""};

  is_int(mill_param_check_unused(ini, ini->section, tables, count, &e), message == NULL ? 0 : -1, "%s: unused keys of `%s`",
         locale_name, keys);
  is_str(e.text, message == NULL ? "" : message, "%s: message", locale_name);
  mill_ini_free(ini);
}

static void unused_test(void)
{
  static const struct mill_param_spec more[] = {{"model", "", NULL, NULL, "model", 0, 0, 0, MILL_TEXT, 0}};
  const struct mill_param_table tables[] = {{specs, COUNT}, {more, 1}};

  unused_is("", tables, 2, NULL);
  unused_is("siez = 1", tables, 2, "net.ini:2: [population.exc] siez = 1: unknown key `siez`; did you mean `size`?");
  unused_is("modle = 1", tables, 2, "net.ini:2: [population.exc] modle = 1: unknown key `modle`; did you mean `model`?");
  unused_is(
      "old_tua = 1", tables, 2,
      "net.ini:2: [population.exc] old_tua = 1: unknown key `old_tua`; known here: `size`, `tau_m`, `rate`, `seed`, `autapses`, "
      "`precision`, `spikes`, `label`, `v`, `model`");
  unused_is("x = 1", NULL, 0, "net.ini:2: [population.exc] x = 1: unknown key `x`; there are no keys here");
}

static void table_is(struct mill_param_spec one, const char *message)
{
  struct mill_param_spec two[2] = {{"first", "", "1", NULL, "first", 0, 1, 0, MILL_REAL, 0}, one};
  struct mill_error e = {0, ""};

  is_int(mill_param_check_table(two, 2, 24, &e), message == NULL ? 0 : -1, "%s: check of `%s`", locale_name,
         one.key == NULL ? "" : one.key);
  is_str(e.text, message == NULL ? "" : message, "%s: message", locale_name);
}

static void table_test(void)
{
  struct mill_error e = {0, ""};
  char longer[500];

  memset(longer, 'a', sizeof longer);
  longer[sizeof longer - 1] = '\0';
  is_int(mill_param_check_table(specs, COUNT, sizeof(struct block), &e), 0, "%s: a sound table (%s)", locale_name, e.text);
  is_int(mill_param_check_table(NULL, 0, 0, &e), 0, "%s: an empty table", locale_name);
  is_int(mill_param_check_table(specs, COUNT, sizeof(struct block) - 1, &e), -1, "%s: a block that is too small", locale_name);
  is_str(e.text, "parameter `old_tau`: lies at 56 … 64, outside the block of 63 bytes", "%s: message", locale_name);
#define SPEC(key, unit, deflt, choices, doc, min, max, offset, type, flags)                                                        \
  (struct mill_param_spec){key, unit, deflt, choices, doc, min, max, offset, type, flags}
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 8, MILL_REAL, 0), NULL);
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 0, MILL_REAL, MILL_PER_NEURON), NULL);
  table_is(SPEC(NULL, "", "1", NULL, "x", 0, 1, 8, MILL_REAL, 0), "parameter 1: the key `` is not of the form [a-z][a-z0-9_]*");
  table_is(SPEC("tau-m", "", "1", NULL, "x", 0, 1, 8, MILL_REAL, 0),
           "parameter 1: the key `tau-m` is not of the form [a-z][a-z0-9_]*");
  table_is(SPEC("first", "", "1", NULL, "x", 0, 1, 8, MILL_REAL, 0), "parameter `first`: the key occurs twice");
  table_is(SPEC("x", NULL, "1", NULL, "x", 0, 1, 8, MILL_REAL, 0), "parameter `x`: the unit is missing (\"\" for none)");
  table_is(SPEC("x", "", "1", NULL, NULL, 0, 1, 8, MILL_REAL, 0), "parameter `x`: the doc is missing");
  table_is(SPEC("x", "", "1", NULL, "", 0, 1, 8, MILL_REAL, 0), "parameter `x`: the doc is missing");
  table_is(SPEC("x", "", "1", NULL, "a\nb", 0, 1, 8, MILL_REAL, 0),
           "parameter `x`: unit, doc and default must be lines of UTF-8 of at most 400 bytes");
  table_is(SPEC("x", "\xff", "1", NULL, "x", 0, 1, 8, MILL_REAL, 0),
           "parameter `x`: unit, doc and default must be lines of UTF-8 of at most 400 bytes");
  table_is(SPEC("x", "", "1", NULL, longer, 0, 1, 8, MILL_REAL, 0),
           "parameter `x`: unit, doc and default must be lines of UTF-8 of at most 400 bytes");
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 8, 9, 0), "parameter `x`: the type 9 is unknown");
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 8, 0, 0), "parameter `x`: the type 0 is unknown");
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 8, MILL_REAL, 64), "parameter `x`: the flags 0x40 are unknown");
  table_is(SPEC("x", "", "2", NULL, "x", 0, 1, 8, MILL_REAL, 0), "parameter `x`: the default `2`: must lie in 0 … 1");
  table_is(SPEC("x", "", "2", NULL, "x", 0, 1, 0, MILL_REAL, MILL_PER_NEURON), "parameter `x`: the default `2`: must lie in 0 … 1");
  table_is(SPEC("x", "", "normal(1)", NULL, "x", 0, 1, 0, MILL_REAL, MILL_PER_NEURON),
           "parameter `x`: the default `normal(1)`: normal takes 2 arguments (mean, standard deviation), found 1");
  table_is(SPEC("x", "", "one", NULL, "x", 0, 1, 8, MILL_REAL, 0),
           "parameter `x`: the default `one`: `one` is no number, no `$name` and none of sqrt, floor, round, min, max");
  table_is(SPEC("x", "", "0.5", NULL, "x", 0, 1, 8, MILL_INT, 0),
           "parameter `x`: the default `0.5`: 0.5 is not a whole number (round it: round(…))");
  table_is(SPEC("x", "", "1", NULL, "x", 2, 1, 8, MILL_REAL, 0), "parameter `x`: the range is empty");
  table_is(SPEC("x", "", "1", NULL, "x", strtod("nan", NULL), 1, 8, MILL_REAL, 0), "parameter `x`: the range is empty");
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 4, MILL_REAL, 0), "parameter `x`: the offset 4 is not a multiple of 8");
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 0, MILL_REAL, 0), "parameter `x`: overlaps `first`, at 0");
  table_is(SPEC("x", "", "yes", NULL, "x", 0, 1, 4, MILL_BOOL, 0), "parameter `x`: overlaps `first`, at 0");
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 24, MILL_REAL, 0), "parameter `x`: lies at 24 … 32, outside the block of 24 bytes");
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 4294967288u, MILL_REAL, 0),
           "parameter `x`: lies at 4294967288 … 4294967296, outside the block of 24 bytes");
  table_is(SPEC("x", "", NULL, NULL, "x", 0, 1, 8, MILL_REAL, 0), "parameter `x`: has no default and is not required");
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 8, MILL_REAL, MILL_REQUIRED),
           "parameter `x`: is required, and has a default or is deprecated");
  table_is(SPEC("x", "", "1", "a|b", "x", 0, 1, 8, MILL_REAL, 0), "parameter `x`: has choices, but is not of type CHOICE");
  table_is(SPEC("x", "", "a", NULL, "x", 0, 1, 8, MILL_CHOICE, 0), "parameter `x`: has no choices");
  table_is(SPEC("x", "", "a", "a||b", "x", 0, 1, 8, MILL_CHOICE, 0), "parameter `x`: the choice `` is no name ([a-z][a-z0-9_-]*)");
  table_is(SPEC("x", "", "a", "a|b|a", "x", 0, 1, 8, MILL_CHOICE, 0), "parameter `x`: the choice `a` occurs twice");
  table_is(SPEC("x", "", "c", "a|b", "x", 0, 1, 8, MILL_CHOICE, 0), "parameter `x`: the default `c`: must be one of a | b");
  table_is(SPEC("x", "", "1", NULL, "x", 0, 1, 8, MILL_INT, MILL_PER_NEURON), "parameter `x`: a value per neuron must be REAL");
}

static const char columns[] = "key        default            unit  range             meaning\n"
                              "size       required           -     0 … 4294967295    number of neurons\n"
                              "tau_m      20                 ms    0.1 … 10000       membrane time constant\n"
                              "rate       0.5                Hz    ≥ 0               rate\n"
                              "seed       1                  -     any whole number  seed of all random numbers (expert)\n"
                              "autapses   no                 -     yes | no          synapses of a neuron on itself\n"
                              "precision  single             -     single | double   floating-point numbers\n"
                              "spikes     none               -     text              file of spikes\n"
                              "label      a;b                -     text              a name\n"
                              "old_tau    1                  µs    0 … 10            use tau_m (deprecated)\n"
                              "v          uniform(-60, -50)  mV    -1000 … 1000      membrane potential (initial value: number or "
                              "distribution)\n";

static const char template[] = "; number of neurons (0 … 4294967295)\n"
                               "size =\n"
                               "; membrane time constant (0.1 … 10000)\n"
                               "; tau_m = 20  ; ms\n"
                               "; rate (≥ 0)\n"
                               "; rate = 0.5  ; Hz\n"
                               "; seed of all random numbers\n"
                               "; seed = 1\n"
                               "; synapses of a neuron on itself (yes | no)\n"
                               "; autapses = no\n"
                               "; floating-point numbers (single | double)\n"
                               "; precision = single\n"
                               "; file of spikes\n"
                               "; spikes =\n"
                               "; a name\n"
                               "; label = \"a;b\"\n"
                               "; membrane potential (-1000 … 1000)\n"
                               "; v = uniform(-60, -50)  ; mV\n";

static void print_is(void (*print)(FILE *, const struct mill_param_spec *, size_t), const char *want, const char *what)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL)
    bail("no memory stream");
  print(out, specs, COUNT);
  fclose(out);
  is_str(text, want, "%s: %s", locale_name, what);
  free(text);
}

/* The template with every default taken over gives what the defaults give. */
static void template_test(void)
{
  struct mill_error e = {0, ""};
  struct mill_ini *ini;
  struct block b = {0};
  char text[2048] = "[a]\n", line[256], *p;
  const char *from = template;
  size_t n;

  for (; *from != '\0'; from += n + 1) {
    n = strcspn(from, "\n");
    snprintf(line, sizeof line, "%.*s\n", (int)n, from);
    p = strstr(line, " =");
    if (strcmp(line, "size =\n") == 0)
      strcpy(line, "size = 1\n");
    else if (p != NULL && strncmp(line, "; spikes", 8) != 0)
      memmove(line, line + 2, strlen(line) - 1);
    strcat(text, line);
  }
  if (!ok(mill_ini_parse("t", text, strlen(text), NULL, 0, &ini, &e) == 0, "%s: the template is INI text: %s", locale_name, e.text))
    return;
  is_int((intmax_t)ini->section[0].count, 8, "%s: with the keys", locale_name);
  is_int(mill_param_parse(specs, COUNT, ini, ini->section, NULL, &b, &e), 0, "%s: and is read: %s", locale_name, e.text);
  ok(b.tau_m == 20 && b.rate == 0.5 && b.seed == 1 && b.precision == 0, "%s: as the defaults are", locale_name);
  is_str(b.label, "a;b", "%s: quotes included", locale_name);
  mill_param_free(specs, COUNT, &b);
  mill_ini_free(ini);
}

/* A bound of a whole number that is none: seeds go up to 9.2e18 in their tables, as no double is 2^63 - 1. */
static void unbounded_test(void)
{
  static const struct mill_param_spec spec = {"n", "", "1", NULL, "n", 0, 9.2e18, 0, MILL_INT, 0};
  const struct mill_defines none = {0};
  struct mill_error error;
  int64_t n = 0;
  is_int(mill_param_value(&spec, "9223372036854775807", &none, &n, &error), 0, "%s: 2^63 - 1", locale_name);
  is_int(n, INT64_MAX, "%s: as it is", locale_name);
  ok(mill_param_value(&spec, "-1", &none, &n, &error) < 0 && strstr(error.text, "must be ≥ 0"), "%s: its other bound holds: %s", locale_name,
     error.text);
}

static void all_test(void)
{
  locale_name = setlocale(LC_NUMERIC, NULL);
  unbounded_test();
  values_test();
  refused_test();
  unused_test();
  table_test();
  print_is(mill_param_print, columns, "columns");
  print_is(mill_param_template, template, "template");
  template_test();
}

int main(void)
{
  plan_later();
  all_test();
  if (german_set())
    all_test();
  else
    skip(1, "no locale with a decimal comma");
  german_end();
  return done_testing();
}
