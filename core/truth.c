/* Truth files, as `spikemill generate` writes them and as people may write them for their own recordings. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "netfile.h"
#include "param.h"
#include "stream.h"
#include "text.h"
#include "truth.h"

#define BLANKS " \t"
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct chain_values {
  char *units, *delay, *probability, *interval, *occurrences;
};
#define AT(member) offsetof(struct chain_values, member)
static const struct mill_param_spec chain_specs[] = {
    {"units", "", NULL, NULL, "types of the chain, separated by blanks", 0, 0, AT(units), MILL_TEXT, MILL_REQUIRED},
    {"delay_ms", "ms", NULL, NULL, "delay of its links, one for all or one for each", 0, 0, AT(delay), MILL_TEXT, MILL_REQUIRED},
    {"probability", "", NULL, NULL, "of a link; not looked at", 0, 0, AT(probability), MILL_TEXT, 0},
    {"interval", "", NULL, NULL, "that holds the lags of a link; not looked at", 0, 0, AT(interval), MILL_TEXT, 0},
    {"occurrences", "", NULL, NULL, "that were planted; not looked at", 0, 0, AT(occurrences), MILL_TEXT, 0},
};
#undef AT

/* A type by its name. */
struct named {
  const char *name;
  uint32_t type;
};

struct reader {
  const struct mill_truth_types *types;
  struct named *named; /* [types] by name */
  struct mill_ini *ini;
  struct mill_truth *truth;
};

static int out_of_memory(struct mill_error *error)
{
  return mill_fail(error, MILL_RESOURCES, "out of memory for the truth");
}

/* ---- Names ---- */

static int by_name(const void *a, const void *b)
{
  const struct named *x = a, *y = b;
  return strcmp(x->name, y->name);
}

static int sort_names(struct reader *r, struct mill_error *error)
{
  r->named = calloc(r->types->types + (size_t)1, sizeof *r->named);
  if (!r->named)
    return out_of_memory(error);
  for (uint32_t i = 0; i < r->types->types; i++)
    r->named[i] = (struct named){r->types->name[i], i};
  qsort(r->named, r->types->types, sizeof *r->named, by_name);
  return 0;
}

static int find_type(const struct reader *r, const struct mill_place *place, const char *name, uint32_t *type,
                     struct mill_error *error)
{
  const struct named wanted = {name, 0}, *named = bsearch(&wanted, r->named, r->types->types, sizeof wanted, by_name);
  const char *near;
  *type = named ? named->type : MILL_NO_TYPE;
  if (named || mill_stream_has_unit(r->types->info, name)) /* it may have no event */
    return 0;
  near = mill_text_nearest(name, (const char *const *)r->types->name, r->types->types);
  return mill_place_fail(error, place, "units", "the recording has no `%.60s`%s%s%s", name, near ? "; did you mean `" : "",
                         near ? near : "", near ? "`?" : "");
}

/* ---- Chains ---- */

/* The next word of a list, cut out of it; NULL at its end. */
static char *next_word(char **rest)
{
  if (*rest)
    *rest += strspn(*rest, BLANKS);
  return *rest && **rest ? strsep(rest, BLANKS) : NULL;
}

static uint32_t count_words(const char *text)
{
  uint32_t n = 0;
  for (text += strspn(text, BLANKS); *text; n++) {
    text += strcspn(text, BLANKS);
    text += strspn(text, BLANKS);
  }
  return n;
}

static int read_units(const struct reader *r, const struct mill_place *place, char *text, struct mill_chain *chain,
                      struct mill_error *error)
{
  uint32_t type;
  char *word;
  chain->length = count_words(text);
  if (chain->length < 2)
    return mill_place_fail(error, place, "units", "expected two types or more, separated by blanks");
  chain->link = calloc(chain->length - 1, sizeof *chain->link);
  if (!chain->link)
    return out_of_memory(error);
  for (uint32_t i = 0; (word = next_word(&text)); i++) {
    if (find_type(r, place, word, &type, error) < 0)
      return -1;
    if (i)
      chain->link[i - 1].target = type;
    if (i + 1 < chain->length)
      chain->link[i].source = type;
  }
  return 0;
}

static int read_delays(const struct mill_place *place, char *text, struct mill_chain *chain, struct mill_error *error)
{
  const uint32_t links = chain->length - 1, count = count_words(text);
  int64_t ps = 0;
  if (count != 1 && count != links)
    return mill_place_fail(error, place, "delay_ms", "%u delays; expected one, or %u: one for each link", count, links);
  for (uint32_t i = 0; i < links; i++) {
    const char *word = next_word(&text);
    if (word && (mill_text_ps(word, &ps) < 0 || ps <= 0))
      return mill_place_fail(error, place, "delay_ms", "`%.40s`: expected a time in ms above 0 with at most nine decimals", word);
    chain->link[i].delay_ps = ps;
  }
  return 0;
}

static int read_chain(struct reader *r, struct mill_ini_section *section, struct mill_error *error)
{
  static const struct mill_defines none = {0, NULL};
  const struct mill_param_table table = {chain_specs, COUNT(chain_specs)};
  const struct mill_place place = {r->ini, section};
  struct mill_chain *chain = &r->truth->chain[r->truth->chains++];
  struct chain_values v = {0};
  int rc = mill_param_parse(chain_specs, COUNT(chain_specs), r->ini, section, &none, &v, error);
  if (rc == 0)
    rc = mill_param_check_unused(r->ini, section, &table, 1, error);
  if (rc == 0)
    rc = read_units(r, &place, v.units, chain, error);
  if (rc == 0)
    rc = read_delays(&place, v.delay, chain, error);
  mill_param_free(chain_specs, COUNT(chain_specs), &v);
  return rc;
}

/* ---- Links ---- */

static int by_ends(const void *a, const void *b)
{
  const struct mill_link *x = a, *y = b;
  if (x->source != y->source)
    return x->source < y->source ? -1 : 1;
  if (x->target != y->target)
    return x->target < y->target ? -1 : 1;
  return (x->delay_ps > y->delay_ps) - (x->delay_ps < y->delay_ps);
}

/* The links of all chains, each once. Those of two silent units count one by one. */
static int gather_links(struct mill_truth *t, struct mill_error *error)
{
  uint64_t all = 0, kept = 0;
  for (uint32_t c = 0; c < t->chains; c++)
    all += t->chain[c].length - 1;
  t->link = calloc(all + 1, sizeof *t->link);
  if (!t->link)
    return out_of_memory(error);
  for (uint32_t c = 0; c < t->chains; c++)
    for (uint32_t i = 0; i + 1 < t->chain[c].length; i++)
      t->link[t->links++] = t->chain[c].link[i];
  qsort(t->link, t->links, sizeof *t->link, by_ends);
  for (uint64_t i = 0; i < all; i++) {
    const struct mill_link *link = &t->link[i];
    if (!kept || by_ends(link, &t->link[kept - 1]) != 0 || link->source == MILL_NO_TYPE || link->target == MILL_NO_TYPE)
      t->link[kept++] = *link;
  }
  t->links = kept;
  return 0;
}

/* ---- The file ---- */

static int read_sections(struct reader *r, struct mill_error *error)
{
  static const char *const known[] = {"generate", "stream", "chain.1"};
  const struct mill_ini *ini = r->ini;
  for (size_t i = 0; i < ini->count; i++) {
    const char *name = ini->section[i].name, *near;
    const struct mill_place place = {ini, &ini->section[i]};
    if (strcmp(name, "generate") == 0 || strcmp(name, "stream") == 0)
      continue;
    if (strncmp(name, "chain.", 6) == 0) {
      if (read_chain(r, &ini->section[i], error) < 0)
        return -1;
      continue;
    }
    near = mill_text_nearest(name, known, COUNT(known));
    return mill_place_fail(error, &place, NULL, "unknown section; %s%s%s",
                           near ? "did you mean `" : "a truth file has generate, stream, chain.1, chain.2 and so on",
                           near ? near : "", near ? "`?" : "");
  }
  if (!r->truth->chains && !mill_ini_section_find(ini, "stream"))
    return mill_fail(error, MILL_DATA, "%s: no truth: there is neither a section [chain.1] nor one [stream]", ini->path);
  return gather_links(r->truth, error);
}

int mill_truth_read(const char *path, const struct mill_truth_types *types, struct mill_truth **truth, struct mill_error *error)
{
  struct mill_error inner = {0};
  struct reader r = {.types = types};
  int rc = -1;
  *truth = NULL;
  if (mill_ini_read(path, NULL, 0, &r.ini, &inner) < 0 || sort_names(&r, &inner) < 0)
    goto done;
  r.truth = calloc(1, sizeof *r.truth);
  if (r.truth)
    r.truth->chain = calloc(r.ini->count + 1, sizeof *r.truth->chain);
  rc = r.truth && r.truth->chain ? read_sections(&r, &inner) : out_of_memory(&inner);
done:
  mill_ini_free(r.ini);
  free(r.named);
  if (rc < 0) {
    mill_truth_free(r.truth);
    return mill_fail(error, inner.status == MILL_USAGE ? MILL_DATA : inner.status, "%s", inner.text);
  }
  *truth = r.truth;
  return 0;
}

void mill_truth_free(struct mill_truth *truth)
{
  if (!truth)
    return;
  for (uint32_t c = 0; truth->chain && c < truth->chains; c++)
    free(truth->chain[c].link);
  free(truth->chain);
  free(truth->link);
  free(truth);
}
