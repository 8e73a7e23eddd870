/* Strict text: what is a number and what is none, exact picoseconds, shortest output, names, lists, and error texts; numbers twice,
   in the C locale and in one with a decimal comma. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <limits.h>
#include <spikemill/error.h>
#include "german.h"
#include "tap.h"
#include "text.h"

static const char *locale_name;

static void reals_test(void)
{
  static const struct {
    const char *text;
    double value;
  } good[] = {
      {"0", 0},
      {"-0", 0},
      {"+7", 7},
      {" 1.5\t", 1.5},
      {".5", .5},
      {"5.", 5},
      {"010", 10},
      {"1e9", 1e9},
      {"1E+2", 100},
      {"2.5e-3", .0025},
      {"12345678901234567890", 12345678901234567890.0},
      {"0e999", 0},
      {"4.9e-324", 5e-324},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {"0.1", 0.1},
  };
  static const char *const bad[] = {
      "",   " ",   ".",  "-",   "+-1",   "- 1",    "1,5",    "1.5.2", "12abc", "abc",  "0x10", "nan", "inf", "-inf",     "NaN",
      "1e", "1e+", "e5", "1 2", "1e400", "-1e309", "1e-400", "1_000", "1'000", "1.5f", "1d3",  "٣",   "1;",  "infinity", "1e5.0",
  };
  size_t i;
  double x;

  for (i = 0; i < sizeof good / sizeof *good; i++) {
    x = -1;
    ok(mill_text_real(good[i].text, &x) == 0, "%s: `%s` is a number", locale_name, good[i].text);
    is_real(x, good[i].value, 0, "%s: `%s` has its value", locale_name, good[i].text);
  }
  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    x = 77;
    ok(mill_text_real(bad[i], &x) == -1, "%s: `%s` is no number", locale_name, bad[i]);
    is_real(x, 77, 0, "%s: `%s` leaves the value alone", locale_name, bad[i]);
  }
}

static void ints_test(void)
{
  static const struct {
    const char *text;
    int64_t value;
  } good[] = {
      {"0", 0},
      {"-0", 0},
      {"010", 10},
      {"4000.0", 4000},
      {"1e9", 1000000000},
      {"1.5e1", 15},
      {"120e-1", 12},
      {"9007199254740993", 9007199254740993},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"9223372036854775.807e3", INT64_MAX},
      {"0e99999999999999999999", 0},
      {"1000000000000000000000e-20", 10},
      {"0.00000000000000000000000000001e29", 1},
  };
  static const char *const bad[] = {
      "4000.5",
      "1e-1",
      "9223372036854775808",
      "-9223372036854775809",
      "1e19",
      "1e99999999999999999999",
      "1e-99999999999999999999",
      "12abc",
      "",
      "0x10",
      "1,0",
      "92233720368547758070",
  };
  size_t i;
  int64_t n;

  for (i = 0; i < sizeof good / sizeof *good; i++) {
    n = 77;
    ok(mill_text_int(good[i].text, &n) == 0, "%s: `%s` is whole", locale_name, good[i].text);
    is_int(n, good[i].value, "%s: `%s` has its value", locale_name, good[i].text);
  }
  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    n = 77;
    ok(mill_text_int(bad[i], &n) == -1 && n == 77, "%s: `%s` is no whole number that fits", locale_name, bad[i]);
  }
}

static void times_test(void)
{
  static const struct {
    const char *text;
    int64_t ps;
  } good[] = {
      {"0.1", 100000000},
      {"0.8", 800000000},
      {"1e3", 1000000000000},
      {"0.000000001", 1},
      {"1e-9", 1},
      {"-0.5", -500000000},
      {"0.80000000000000", 800000000},
      {"9223372036.854775807", INT64_MAX},
      {"2.9999", 2999900000},
  };
  static const char *const bad[] = {"0.0000000001", "9223372036.854775808", "1e-10", "0.1 ms", "1e10", "", "0,1"};
  size_t i;
  int64_t ps;

  for (i = 0; i < sizeof good / sizeof *good; i++) {
    ps = 77;
    ok(mill_text_ps(good[i].text, &ps) == 0, "%s: %s ms is whole in ps", locale_name, good[i].text);
    is_int(ps, good[i].ps, "%s: %s ms in ps", locale_name, good[i].text);
  }
  for (i = 0; i < sizeof bad / sizeof *bad; i++)
    ok(mill_text_ps(bad[i], &ps) == -1, "%s: `%s` is no time in ps", locale_name, bad[i]);
}

static void bools_test(void)
{
  static const char *const yes[] = {"yes", "true", "on", "1", " yes "}, *const no[] = {"no", "false", "off", "0"};
  static const char *const bad[] = {"", "Yes", "y", "2", "yes no", "yess", "01"};
  size_t i;
  int value;

  for (i = 0; i < 5; i++)
    ok(mill_text_bool(yes[i], &value) == 0 && value == 1, "`%s` means yes", yes[i]);
  for (i = 0; i < 4; i++)
    ok(mill_text_bool(no[i], &value) == 0 && value == 0, "`%s` means no", no[i]);
  for (i = 0; i < 7; i++)
    ok(mill_text_bool(bad[i], &value) == -1, "`%s` means neither", bad[i]);
}

static uint64_t random_next(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void output_test(void)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = {
      {0.1, "0.1"},
      {1e9, "1000000000"},
      {1e22, "1e22"},
      {-0.0, "-0"},
      {5e-324, "5e-324"},
      {1e-5, "1e-5"},
      {1.0 / 3, "0.3333333333333333"},
      {0.1 + 0.2, "0.30000000000000004"},
      {-1e-300, "-1e-300"},
      {HUGE_VAL, "inf"},
      {-HUGE_VAL, "-inf"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {123456789012345680.0, "1.2345678901234568e17"},
      {100, "100"},
  };
  uint64_t state = 88172645463325252u, bits;
  uint32_t bits32;
  char buffer[64];
  double x, y;
  float f;
  size_t i, wrong = 0, wrong32 = 0, longest = 0;

  for (i = 0; i < sizeof cases / sizeof *cases; i++)
    is_str(mill_text_double(buffer, cases[i].value), cases[i].text, "%s: shortest text of %s", locale_name, cases[i].text);
  is_str(mill_text_float(buffer, 0.1f), "0.1", "%s: shortest text of a float", locale_name);
  is_str(mill_text_float(buffer, 16777216.0f), "16777216", "%s: a float of 8 digits", locale_name);
  is_str(mill_text_float(buffer, 1.401298464324817e-45f), "1e-45", "%s: the least float", locale_name);
  for (i = 0; i < 20000; i++) {
    bits = random_next(&state);
    memcpy(&x, &bits, sizeof x);
    bits32 = (uint32_t)(bits >> 32);
    memcpy(&f, &bits32, sizeof f);
    memset(buffer, 'x', sizeof buffer);
    if (isfinite(x)) {
      wrong += mill_text_real(mill_text_double(buffer, x), &y) != 0 || memcmp(&x, &y, sizeof x) != 0;
      longest = strlen(buffer) > longest ? strlen(buffer) : longest;
      wrong += buffer[32] != 'x';
    }
    if (isfinite(f))
      wrong32 += mill_text_real(mill_text_float(buffer, f), &y) != 0 || (float)y < f || (float)y > f;
  }
  is_int((intmax_t)wrong, 0, "%s: 20000 random doubles read back bit by bit", locale_name);
  is_int((intmax_t)wrong32, 0, "%s: 20000 random floats read back", locale_name);
  ok(longest < 32, "%s: at most 32 bytes, %zu seen", locale_name, longest + 1);
  mill_text_format(buffer, sizeof buffer, "%.2f|%g", 1234.5, 0.5);
  is_str(buffer, "1234.50|0.5", "%s: formats are those of the C locale", locale_name);
}

static void names_test(void)
{
  static const char *const keys[] = {"size", "model", "tau_m", "v_reset", NULL, "refractory_period"};

  is_str(mill_text_nearest("siez", keys, 6), "size", "a swap is near");
  is_str(mill_text_nearest("SIZE", keys, 6), "size", "case is no distance");
  is_str(mill_text_nearest("tau-m", keys, 6), "tau_m", "one letter changed");
  is_str(mill_text_nearest("refractry_peroid_", keys, 6), "refractory_period", "long names may differ more");
  is_str(mill_text_nearest("receptor", keys, 6), NULL, "nothing near");
  is_str(mill_text_nearest("x", keys, 6), NULL, "nothing near a single letter");
  is_str(mill_text_nearest("", keys, 6), NULL, "nothing near the empty name");
  is_str(mill_text_nearest("ab", (const char *const[]){"cd"}, 1), NULL, "two names without a common letter");
  is_str(mill_text_nearest("nan", (const char *const[]){"min"}, 1), NULL, "two of three letters are many");
  is_str(mill_text_nearest("mode", (const char *const[]){"node", "mode_", "model"}, 3), "node", "the first of equals");
  ok(mill_text_is_key("tau_m2", 0) && mill_text_is_key("a", 0), "keys");
  ok(!mill_text_is_key("", 0) && !mill_text_is_key("2a", 0) && !mill_text_is_key("A", 0) && !mill_text_is_key("a-b", 0), "no keys");
  ok(!mill_text_is_key("aB", 0) && !mill_text_is_key("a b", 0) && !mill_text_is_key("_a", 0) && !mill_text_is_key("ä", 0),
     "no keys");
  ok(mill_text_is_key("lif-coba", 1) && !mill_text_is_key("-a", 1), "names with dashes");
}

static void list_is(const char *text, size_t want, const char *joined)
{
  char buffer[256] = "";
  size_t count = 99, i;
  char **list = mill_text_list(text, &count);

  if (!ok(list != NULL, "`%s` is a list", text))
    return;
  is_int((intmax_t)count, (intmax_t)want, "`%s` has %zu items", text, want);
  ok(list[count] == NULL, "`%s` ends in NULL", text);
  for (i = 0; i < count; i++) {
    strcat(buffer, list[i]);
    strcat(buffer, "|");
  }
  is_str(buffer, joined, "items of `%s`", text);
  free(list);
}

static void pieces_test(void)
{
  char *s;

  list_is("a, b,c", 3, "a|b|c|");
  list_is("  exc  ", 1, "exc|");
  list_is("", 0, "");
  list_is(" \t", 0, "");
  list_is("a,", 2, "a||");
  list_is(",", 2, "||");
  list_is("f(a, b), (c, (d, e)), g", 3, "f(a, b)|(c, (d, e))|g|");
  list_is("a), b", 2, "a)|b|");
  list_is("(a, b", 1, "(a, b|");
  is_str(s = mill_text_trim("  a b\t\n", 7), "a b", "trimmed");
  free(s);
  is_str(s = mill_text_trim("abc", 2), "ab", "cut at n");
  free(s);
  is_str(s = mill_text_trim("a\0bc", 4), "a", "ends at a NUL");
  free(s);
  is_str(s = mill_text_trim("   ", 3), "", "blanks alone");
  free(s);
}

static void utf8_test(void)
{
  static const char *const bad[] = {
      "\x80", "\xc0\xaf", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xe0\x80\x80", "\xf0\x80\x80\x80"};
  size_t i;

  ok(mill_text_is_utf8("aä€𝄞", strlen("aä€𝄞")), "well-formed UTF-8");
  for (i = 0; i < sizeof bad / sizeof *bad; i++)
    ok(!mill_text_is_utf8(bad[i], strlen(bad[i])), "ill-formed UTF-8 %zu", i);
  is_int((intmax_t)mill_text_cut("aä€", 1), 1, "cut after a");
  is_int((intmax_t)mill_text_cut("aä€", 2), 1, "no cut inside ä");
  is_int((intmax_t)mill_text_cut("aä€", 3), 3, "cut after ä");
  is_int((intmax_t)mill_text_cut("aä€", 5), 3, "no cut inside €");
  is_int((intmax_t)mill_text_cut("aä€", 6), 6, "cut after €");
  is_int((intmax_t)mill_text_cut("a", 0), 0, "nothing to cut");
  is_int((intmax_t)mill_text_width("aä€𝄞"), 4, "characters, not bytes");
}

static void errors_test(void)
{
  struct mill_error e = {0, ""};
  char longest[2000];

  is_int(mill_fail(&e, MILL_DATA, "%s at %.1f", "x", 0.5), -1, "mill_fail gives -1");
  is_int(e.status, MILL_DATA, "the class is kept");
  is_str(e.text, "x at 0.5", "%s: the text, in the C locale", locale_name);
  is_int(mill_fail_within(&e, "line %d", 3), -1, "mill_fail_within gives -1");
  is_str(e.text, "line 3: x at 0.5", "the prefix stands first");
  is_int(e.status, MILL_DATA, "the class stays");
  mill_fail(&e, MILL_USAGE, "again: %s", e.text);
  is_str(e.text, "again: line 3: x at 0.5", "a text may be its own argument");
  is_int(mill_fail(NULL, MILL_USAGE, "x"), -1, "no error struct");
  is_int(mill_fail_within(NULL, "x"), -1, "no error struct");
  memset(longest, 'a', sizeof longest);
  longest[sizeof e.text - 1] = '\0';
  mill_fail(&e, MILL_USAGE, "%s", longest);
  is_str(e.text, longest, "a text that just fits is whole");
  strcpy(longest + sizeof e.text - 1, "bc");
  mill_fail(&e, MILL_USAGE, "%s", longest);
  is_int((intmax_t)strlen(e.text), sizeof e.text - 1, "a longer one fills the buffer");
  is_str(e.text + strlen(e.text) - 5, "aa…", "and ends in an ellipsis");
  memcpy(longest + sizeof e.text - 5, "ä", 2);
  mill_fail(&e, MILL_USAGE, "%s", longest);
  is_str(e.text + strlen(e.text) - 5, "aa…", "characters are not cut");
  ok(mill_text_is_utf8(e.text, strlen(e.text)), "the cut text is UTF-8");
  mill_fail_within(&e, "%s", longest);
  ok(strlen(e.text) < sizeof e.text && strcmp(e.text + strlen(e.text) - 3, "…") == 0, "a prefix that is too long");
  is_str(mill_text_errno(ENOENT), "No such file or directory", "%s: the system's words are English", locale_name);
}

static void all_test(void)
{
  locale_name = setlocale(LC_NUMERIC, NULL);
  reals_test();
  ints_test();
  times_test();
  output_test();
  errors_test();
}

int main(void)
{
  plan_later();
  all_test();
  bools_test();
  names_test();
  pieces_test();
  utf8_test();
  if (german_set())
    all_test();
  else
    skip(1, "no locale with a decimal comma");
  german_end();
  return done_testing();
}
