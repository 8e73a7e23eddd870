/* Expressions: values, precedence, whole results, picoseconds, and what every error says; [define] in file order. Everything twice,
   in the C locale and in one with a decimal comma. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "expr.h"
#include "german.h"
#include "tap.h"

static const char *locale_name;

static struct mill_define names[] = {
    {(char *)(uintptr_t) "n", 10},
    {(char *)(uintptr_t) "synapses", 2e6},
    {(char *)(uintptr_t) "zero", 0},
    {(char *)(uintptr_t) "w_2", -0.25},
};
static const struct mill_defines defines = {sizeof names / sizeof *names, names};

static void values_test(void)
{
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"1", 1},
      {" 0.5 ", 0.5},
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"2-3-4", -5},
      {"16/4/2", 2},
      {"2*-3", -6},
      {"--3", 3},
      {"-+-3", 3},
      {"-(2+1)*2", -6},
      {"2 - -1", 3},
      {"1e3/4", 250},
      {"2e0+1", 3},
      {"$n", 10},
      {"$n*$w_2", -2.5},
      {"-$n", -10},
      {"sqrt($synapses / 0.02)", 10000},
      {"sqrt (16)", 4},
      {"floor(2.7)+floor(-2.5)", -1},
      {"round(2.5)", 3},
      {"round(-2.5)", -3},
      {"min(3, 1, 2)", 1},
      {"max(1, $n)", 10},
      {"max(min(1,2),-(3))", 1},
      {"((((1))))", 1},
      {"0.8 * $n", 8},
  };
  struct mill_error e;
  size_t i;
  double x;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    e = (struct mill_error){0, ""};
    x = 12345;
    is_int(mill_expr_real(cases[i].text, &defines, &x, &e), 0, "%s: `%s` has a value (%s)", locale_name, cases[i].text, e.text);
    is_real(x, cases[i].value, 0, "%s: `%s` is right", locale_name, cases[i].text);
  }
}

#define DEEP_32 "(((((((((((((((((((((((((((((((("
#define CLOSE_32 "))))))))))))))))))))))))))))))))"
#define MINUS_32 "--------------------------------"

static void errors_test(void)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "there is no value: expected a number or an expression"},
      {"   ", "there is no value: expected a number or an expression"},
      {"12abc", "`12abc` at character 1 is not a number that can be read whole"},
      {"0x10", "`0x10` at character 1 is not a number that can be read whole"},
      {"1.2.3", "`1.2.3` at character 1 is not a number that can be read whole"},
      {"1e", "`1e` at character 1 is not a number that can be read whole"},
      {"1e400", "`1e400` at character 1 is too large or too small for a number"},
      {"1e-400", "`1e-400` at character 1 is too large or too small for a number"},
      {"1,5", "expected an operator or the end, found `,5` at character 2"},
      {"20 ms", "expected an operator or the end, found `ms` at character 4"},
      {"2^3", "expected one of the operators + - * / (a power is a product), found `^3` at character 2"},
      {"nan", "`nan` is no number, no `$name` and none of sqrt, floor, round, min, max"},
      {"inf", "`inf` is no number, no `$name` and none of sqrt, floor, round, min, max"},
      {"qwertz", "`qwertz` is no number, no `$name` and none of sqrt, floor, round, min, max"},
      {"2 +", "expected a number, `$name`, a function or `(`, found the end"},
      {"(1 + 2", "expected an operator or `)`, found the end"},
      {"(1 2)", "expected an operator or `)`, found `2)` at character 4"},
      {"1)", "expected an operator or the end, found `)` at character 2"},
      {"()", "expected a number, `$name`, a function or `(`, found `)` at character 2"},
      {"* 3", "expected a number, `$name`, a function or `(`, found `* 3` at character 1"},
      {"µ + ?", "expected a number, `$name`, a function or `(`, found `µ + ?` at character 1"},
      {"1 + µ + 1111111111111111111111111",
       "expected a number, `$name`, a function or `(`, found `µ + 1111111111111111111…` at character 5"},
      {"min(1, µ)", "expected a number, `$name`, a function or `(`, found `µ)` at character 8"},
      {"$synapse", "unknown name `$synapse`; did you mean `$synapses`?"},
      {"$qwertz", "unknown name `$qwertz`; known here: `$n`, `$synapses`, `$zero`, `$w_2`"},
      {"$", "expected a name after `$`, found the end"},
      {"$ n", "expected a name after `$`, found ` n` at character 2"},
      {"synapses", "`synapses` is a name of [define]: write `$synapses`"},
      {"sqr(4)", "unknown function `sqr`; did you mean `sqrt`?"},
      {"sqrt", "expected `(` after a function's name, found the end"},
      {"sqrt(1", "expected `)`, found the end"},
      {"sqrt(1, 2)", "`sqrt` takes one argument: `, 2)` at character 7"},
      {"min(1)", "`min` takes two arguments or more: `min(1)` at character 1"},
      {"max(1,)", "expected a number, `$name`, a function or `(`, found `)` at character 7"},
      {"max(1;2)", "expected `,` or `)`, found `;2)` at character 6"},
      {"1/0", "division by zero: `/0` at character 2"},
      {"1/$zero", "division by zero: `/$zero` at character 2"},
      {"1/(-0)", "division by zero: `/(-0)` at character 2"},
      {"0/0", "division by zero: `/0` at character 2"},
      {"sqrt(-1)", "square root of a negative number: `sqrt(-1)` at character 1"},
      {"1e300*1e300", "the result is too large at `*1e300` at character 6"},
      {"1e308+1e308", "the result is too large at `+1e308` at character 6"},
      {"1e300/1e-300", "the result is too large at `/1e-300` at character 6"},
      {DEEP_32 DEEP_32 "1" CLOSE_32 CLOSE_32, "nested deeper than 64"},
      {MINUS_32 MINUS_32 "1", "nested deeper than 64"},
  };
  struct mill_error e;
  size_t i;
  double x;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    e = (struct mill_error){0, ""};
    x = 12345;
    is_int(mill_expr_real(cases[i].text, &defines, &x, &e), -1, "%s: `%s` is refused", locale_name, cases[i].text);
    is_str(e.text, cases[i].message, "%s: message", locale_name);
    is_int(e.status, MILL_USAGE, "%s: class", locale_name);
    is_real(x, 12345, 0, "%s: the value is left alone", locale_name);
  }
  is_int(mill_expr_real(DEEP_32 "1" CLOSE_32, &defines, &x, &e), 0, "%s: 32 parentheses are fine", locale_name);
  is_int(mill_expr_real("$n", NULL, &x, &e), -1, "%s: names without [define]", locale_name);
  is_str(e.text, "unknown name `$n`: [define] has no names", "%s: message", locale_name);
  is_int(mill_expr_real("1/0", NULL, &x, NULL), -1, "%s: no error struct", locale_name);
}

static void ints_test(void)
{
  static const struct {
    const char *text;
    int64_t value;
    const char *message;
  } cases[] = {
      {"4000", 4000, NULL},
      {"1e9", 1000000000, NULL},
      {"4000.0", 4000, NULL},
      {"9007199254740993", 9007199254740993, NULL},
      {"-9223372036854775808", INT64_MIN, NULL},
      {"0.8 * $n", 8, NULL},
      {"round(0.85 * $n)", 9, NULL},
      {"1e9 * 4", 4000000000, NULL},
      {"4000.5", 0, "4000.5 is not a whole number (round it: round(…))"},
      {"-0.5", 0, "-0.5 is not a whole number (round it: round(…))"},
      {"$n / 4", 0, "2.5 is not a whole number (round it: round(…))"},
      {"0.1*3*10", 0, "3.0000000000000004 is not a whole number (round it: round(…))"},
      {"9223372036854775808", 0, "9.223372036854776e18 does not fit into 64 bits"},
      {"1e30", 0, "1e30 does not fit into 64 bits"},
      {"-1e19", 0, "-1e19 does not fit into 64 bits"},
      {"1e17 * 1", 0, "1e17 is beyond 2^53, where expressions are no longer exact: write the number itself"},
      {"12abc", 0, "`12abc` at character 1 is not a number that can be read whole"},
  };
  struct mill_error e;
  size_t i;
  int64_t n;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    e = (struct mill_error){0, ""};
    n = 12345;
    is_int(mill_expr_int(cases[i].text, &defines, &n, &e), cases[i].message == NULL ? 0 : -1, "%s: `%s`", locale_name,
           cases[i].text);
    if (cases[i].message == NULL) {
      is_int(n, cases[i].value, "%s: `%s` as a whole number (%s)", locale_name, cases[i].text, e.text);
    } else {
      is_str(e.text, cases[i].message, "%s: message", locale_name);
      is_int(n, 12345, "%s: the value is left alone", locale_name);
    }
  }
}

static void times_test(void)
{
  static const struct {
    const char *text;
    int64_t ps;
    const char *message;
  } cases[] = {
      {"0.1", 100000000, NULL},
      {"0.000000001", 1, NULL},
      {"0.1 * 3", 300000000, NULL},
      {"1 / 3", 333333333, NULL},
      {"-2 / 3", -666666667, NULL},
      {"$n", 10000000000, NULL},
      {"9223372036.854775807", INT64_MAX, NULL},
      {"9000000000 + 0.5", 9000000000500000000, NULL},
      {"0.0000000001", 0, "a time in ms has at most nine decimals (picoseconds)"},
      {"1e10", 0, "10000000000 ms is longer than 64 bits of picoseconds"},
      {"1e9 * -100", 0, "-100000000000 ms is longer than 64 bits of picoseconds"},
      {"0.1 ms", 0, "expected an operator or the end, found `ms` at character 5"},
  };
  struct mill_error e;
  size_t i;
  int64_t ps;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    e = (struct mill_error){0, ""};
    is_int(mill_expr_ps(cases[i].text, &defines, &ps, &e), cases[i].message == NULL ? 0 : -1, "%s: `%s` ms", locale_name,
           cases[i].text);
    if (cases[i].message == NULL)
      is_int(ps, cases[i].ps, "%s: `%s` in ps (%s)", locale_name, cases[i].text, e.text);
    else
      is_str(e.text, cases[i].message, "%s: message", locale_name);
  }
}

static void read_is(const char *text, const char *message)
{
  struct mill_error e = {0, ""};
  struct mill_ini *ini;
  struct mill_defines d;

  if (mill_ini_parse("net.ini", text, strlen(text), NULL, 0, &ini, &e) != 0)
    bail("%s", e.text);
  is_int(mill_defines_read(ini, &d, &e), -1, "%s: definitions are refused", locale_name);
  is_str(e.text, message, "%s: message", locale_name);
  ok(d.count == 0 && d.define == NULL, "%s: nothing is left", locale_name);
  mill_defines_free(&d);
  mill_ini_free(ini);
}

static void defines_test(void)
{
  static const char text[] = "[define]\nsynapses = 1e9 ; as many\nn = round(sqrt($synapses / 0.02))\nhalf = $n / 2\n[a]\nx = $n\n";
  static const char *const overrides[] = {"define.synapses=2e6", "define.last=$half * 2", "a.y=$last"};
  struct mill_error e = {0, ""};
  struct mill_ini *ini;
  struct mill_defines d;
  double x;

  mill_ini_parse("net.ini", text, sizeof text - 1, NULL, 0, &ini, &e);
  is_int(mill_defines_read(ini, &d, &e), 0, "%s: definitions: %s", locale_name, e.text);
  is_int((intmax_t)d.count, 3, "%s: three of them", locale_name);
  is_real(d.define[1].value, 223607, 0, "%s: one uses the one before", locale_name);
  ok(ini->section[0].entry[0].used && ini->section[0].entry[2].used && !ini->section[1].entry[0].used, "%s: they are used",
     locale_name);
  is_int(mill_expr_real("$half * 2", &d, &x, &e), 0, "%s: an expression with them", locale_name);
  is_real(x, 223607, 0, "%s: its value", locale_name);
  mill_defines_free(&d);
  mill_ini_free(ini);
  mill_ini_parse("net.ini", text, sizeof text - 1, overrides, 3, &ini, &e);
  is_int(mill_defines_read(ini, &d, &e), 0, "%s: with --set: %s", locale_name, e.text);
  is_real(d.define[1].value, 10000, 0, "%s: what depends on it changes", locale_name);
  is_real(d.define[3].value, 10000, 0, "%s: a new one comes last", locale_name);
  mill_defines_free(&d);
  mill_ini_free(ini);
  mill_ini_parse("net.ini", "[a]\n", 4, NULL, 0, &ini, &e);
  is_int(mill_defines_read(ini, &d, &e), 0, "%s: no [define]", locale_name);
  is_int((intmax_t)d.count, 0, "%s: has no names", locale_name);
  mill_defines_free(&d);
  mill_ini_free(ini);
  read_is("[define]\na = 1\nb = 2 * $c\nc = 3\n", "net.ini:3: [define] b = 2 * $c: `$c` is defined only after this");
  read_is("[define]\na = $a\n", "net.ini:2: [define] a = $a: `$a` cannot use itself");
  read_is("[define]\nscale = 1\nb = $scael\n", "net.ini:3: [define] b = $scael: unknown name `$scael`; did you mean `$scale`?");
  read_is("[define]\nscale =\n", "net.ini:2: [define] scale = : there is no value: expected a number or an expression");
  read_is("[define]\nscale = normal(1, 2)\n",
          "net.ini:2: [define] scale = normal(1, 2): `normal` is no number, no `$name` and none of sqrt, floor, round, min, max");
  read_is(
      "[define]\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1\n",
      "net.ini:2: [define] aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1: a name of [define] has at most 62 "
      "characters");
}

static void all_test(void)
{
  locale_name = setlocale(LC_NUMERIC, NULL);
  values_test();
  errors_test();
  ints_test();
  times_test();
  defines_test();
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
