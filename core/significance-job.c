/* The keys of significance. Which of them have an effect is a table, so that one that has none is told, and is left out where a job is
   written down with its defaults. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "significance-job.h"

#include <string.h>

#include "expr.h"
#include "ini-scan.h"
#include "netfile.h"
#include "text.h"

struct values {
  char *significance, *dither, *e0, *bin;
  int64_t seed;
  double q, epsilon;
  int32_t surrogate;
};
#define AT(member) offsetof(struct values, member)
static const struct mill_param_spec specs[] = {
    {"significance", "", "none", NULL, "how episodes are tested: none, model, or surrogate=N by N surrogates", 0, 0,
     AT(significance), MILL_TEXT, 0},
    {"surrogate", "", "dither", "dither|dither-refractory|isi-shuffle|shift", "how surrogates are made", 0, 0, AT(surrogate),
     MILL_CHOICE, 0},
    {"dither", "ms", "20", NULL, "how far an event may move", 0, 0, AT(dither), MILL_TEXT, 0},
    {"seed", "", "1", NULL, "seed of the surrogates", 0, 9.2e18, AT(seed), MILL_INT, 0},
    {"e0", "", "independence", NULL, "conditional probability of a link that the model takes for weak, or independence", 0, 0,
     AT(e0), MILL_TEXT, 0},
    {"bin", "ms", "1", NULL, "time bin of the model", 0, 0, AT(bin), MILL_TEXT, 0},
    {"q", "", "0.05", NULL, "false discovery rate at which an episode is significant", 1e-9, 1, AT(q), MILL_REAL, 0},
    {"epsilon", "", "0.05", NULL, "level of the model's threshold: the p of an episode with that count", 1e-9, 1, AT(epsilon),
     MILL_REAL, 0},
};
#undef AT
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum { BY_MODEL = 1 << MILL_SIGNIFICANCE_MODEL, BY_SURROGATE = 1 << MILL_SIGNIFICANCE_SURROGATE };
static const struct effect {
  const char *key;
  int of; /* with which kinds of significance */
  const char *needs;
} effects[] = {
    {"surrogate", BY_SURROGATE, "significance = surrogate=N"},
    {"dither", BY_SURROGATE, "significance = surrogate=N"},
    {"seed", BY_SURROGATE, "significance = surrogate=N"},
    {"e0", BY_MODEL, "significance = model"},
    {"epsilon", BY_MODEL, "significance = model"},
    {"bin", BY_MODEL | BY_SURROGATE, "significance"},
    {"q", BY_MODEL | BY_SURROGATE, "significance"},
};

struct mill_param_table mill_significance_table(void)
{
  return (struct mill_param_table){specs, COUNT(specs)};
}

/* What a key lacks to have an effect; NULL when it has one. */
static const char *lacks(const struct mill_significance_options *o, const char *key)
{
  for (size_t i = 0; i < COUNT(effects); i++)
    if (strcmp(effects[i].key, key) == 0 && !(effects[i].of >> o->kind & 1))
      return effects[i].needs;
  if (strcmp(key, "dither") == 0 && o->surrogate != MILL_SURROGATE_DITHER && o->surrogate != MILL_SURROGATE_DITHER_REFRACTORY)
    return "surrogate = dither` or `dither-refractory";
  return NULL;
}

int mill_significance_heeds(const struct mill_significance_options *o, const char *key)
{
  return !lacks(o, key);
}

static int read_kind(const struct mill_place *place, const struct mill_defines *defines, const char *text,
                     struct mill_significance_options *o, struct mill_error *error)
{
  static const char *const names[] = {
      [MILL_SIGNIFICANCE_NONE] = "none", [MILL_SIGNIFICANCE_MODEL] = "model", [MILL_SIGNIFICANCE_SURROGATE] = "surrogate="};
  struct mill_error inner = {0};
  int64_t number;
  const char *near;
  if (strncmp(text, "surrogate=", 10) == 0) {
    if (mill_expr_int(text + 10, defines, &number, &inner) < 0)
      return mill_place_fail(error, place, "significance", "the number of surrogates: %s", inner.text);
    if (number < 1 || number > MILL_SURROGATES_MOST)
      return mill_place_fail(error, place, "significance", "the number of surrogates must be in 1 … %d", MILL_SURROGATES_MOST);
    o->kind = MILL_SIGNIFICANCE_SURROGATE;
    o->surrogates = (uint32_t)number;
    return 0;
  }
  for (size_t i = 0; i < MILL_SIGNIFICANCE_SURROGATE; i++) {
    o->kind = (enum mill_significance)i;
    if (strcmp(text, names[i]) == 0)
      return 0;
  }
  near = mill_text_nearest(text, names, COUNT(names));
  return mill_place_fail(error, place, "significance", "expected none, model or surrogate=N, as surrogate=1000%s%s%s",
                         near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static int read_time(const struct mill_place *place, const struct mill_defines *defines, const char *key, const char *text,
                     int64_t *ps, struct mill_error *error)
{
  struct mill_error inner = {0};
  if (mill_expr_ps(text, defines, ps, &inner) < 0)
    return mill_place_fail(error, place, key, "%s", inner.text);
  return *ps > 0 ? 0 : mill_place_fail(error, place, key, "must be above 0 ms");
}

static int read_e0(const struct mill_place *place, const struct mill_defines *defines, const char *text, double *e0,
                   struct mill_error *error)
{
  struct mill_error inner = {0};
  *e0 = 0;
  if (strcmp(text, "independence") == 0)
    return 0;
  if (mill_expr_real(text, defines, e0, &inner) < 0)
    return mill_place_fail(error, place, "e0", "expected independence or a probability: %s", inner.text);
  return *e0 > 0 && *e0 < 1 ? 0 : mill_place_fail(error, place, "e0", "expected independence or a probability above 0 and below 1");
}

static int check_effects(const struct mill_place *place, const struct mill_significance_options *o, struct mill_error *error)
{
  for (size_t i = 0; i < COUNT(specs); i++) {
    const char *needs = lacks(o, specs[i].key);
    if (needs && mill_ini_entry_find(place->section, specs[i].key))
      return mill_place_fail(error, place, specs[i].key, "has no effect without `%s`", needs);
  }
  return 0;
}

int mill_significance_read(const struct mill_place *place, const struct mill_defines *defines, struct mill_significance_options *o,
                           struct mill_error *error)
{
  struct values v = {0};
  int rc = -1;
  if (mill_param_parse(specs, COUNT(specs), place->ini, place->section, defines, &v, error) < 0)
    goto done;
  o->surrogate = (enum mill_surrogate)v.surrogate;
  o->seed = (uint64_t)v.seed;
  o->q = v.q;
  o->epsilon = v.epsilon;
  if (read_kind(place, defines, v.significance, o, error) < 0 ||
      read_time(place, defines, "dither", v.dither, &o->dither, error) < 0 ||
      read_time(place, defines, "bin", v.bin, &o->bin, error) < 0 || read_e0(place, defines, v.e0, &o->e0, error) < 0)
    goto done;
  rc = check_effects(place, o, error);
done:
  mill_param_free(specs, COUNT(specs), &v);
  return rc;
}

char *mill_significance_text(const struct mill_significance_options *o, char *buffer)
{
  if (o->kind == MILL_SIGNIFICANCE_SURROGATE)
    mill_text_format(buffer, 32, "surrogate=%u", o->surrogates);
  else
    mill_text_format(buffer, 32, "%s", o->kind == MILL_SIGNIFICANCE_MODEL ? "model" : "none");
  return buffer;
}
