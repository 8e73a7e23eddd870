/* How much of a truth a mining has found. Frequent episodes of two nodes come pair by pair, the intervals of a pair together. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <math.h>

#include "truth.h"

/* Whether gap k of an episode holds a link's delay. Bounds in ticks were whole picoseconds before, so that the products fit. */
static int holds(const struct mill_mining_episode *e, uint32_t k, const struct mill_link *link, int64_t tick_ps)
{
  return e->type[k] == link->source && e->type[k + 1] == link->target && e->low[k] * tick_ps < link->delay_ps &&
         link->delay_ps <= e->high[k] * tick_ps;
}

/* The first link whose ends are not below an episode's. */
static uint64_t first_link(const struct mill_truth *t, const struct mill_mining_episode *e)
{
  uint64_t first = 0, end = t->links;
  while (first < end) {
    const uint64_t middle = first + (end - first) / 2;
    const struct mill_link *link = &t->link[middle];
    if (link->source < e->type[0] || (link->source == e->type[0] && link->target < e->type[1]))
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* Marks the links that an episode of two nodes finds. Returns whether there are any. */
static int find_links(struct mill_truth *t, const struct mill_mining_episode *e, int64_t tick_ps)
{
  int any = 0;
  for (uint64_t i = first_link(t, e); i < t->links; i++) {
    if (t->link[i].source != e->type[0] || t->link[i].target != e->type[1])
      break;
    if (holds(e, 0, &t->link[i], tick_ps))
      t->link[i].found = any = 1;
  }
  return any;
}

static int is_chain(const struct mill_chain *chain, const struct mill_mining_episode *e, int64_t tick_ps)
{
  if (chain->length != e->length)
    return 0;
  for (uint32_t k = 0; k + 1 < chain->length; k++)
    if (!holds(e, k, &chain->link[k], tick_ps))
      return 0;
  return 1;
}

/* The pair of the episodes that are looked at. */
struct pair {
  uint32_t source, target;
  int planted; /* one of them finds a link */
};

static void take_link(struct mill_truth *t, const struct mill_mining_episode *e, int64_t tick_ps, struct pair *pair,
                      struct mill_mining_score *score)
{
  if (!score->pairs || e->type[0] != pair->source || e->type[1] != pair->target) {
    *pair = (struct pair){e->type[0], e->type[1], 0};
    score->pairs++;
    score->pairs_false++;
  }
  if (find_links(t, e, tick_ps) && !pair->planted) {
    pair->planted = 1;
    score->pairs_false--;
  }
}

void mill_truth_score(struct mill_truth *t, const struct mill_mining *m, struct mill_mining_score *score)
{
  struct mill_mining_report r;
  struct mill_mining_episode e;
  struct pair pair = {0};
  mill_mining_report(m, &r);
  *score = (struct mill_mining_score){.links = t->links, .chains = t->chains};
  for (uint64_t i = 0; i < t->links; i++)
    t->link[i].found = 0;
  for (uint32_t c = 0; c < t->chains; c++)
    t->chain[c].found = 0;
  for (uint64_t i = 0; mill_mining_frequent(m, i, &e) == 0; i++) {
    if (!e.reported)
      continue;
    if (e.length == 2)
      take_link(t, &e, r.tick_ps, &pair, score);
    for (uint32_t c = 0; c < t->chains; c++)
      t->chain[c].found |= is_chain(&t->chain[c], &e, r.tick_ps);
  }
  for (uint64_t i = 0; i < t->links; i++)
    score->links_found += (uint64_t)t->link[i].found;
  for (uint32_t c = 0; c < t->chains; c++)
    score->chains_found += (uint32_t)t->chain[c].found;
  score->precision = score->pairs ? (double)(score->pairs - score->pairs_false) / (double)score->pairs : (double)NAN;
  score->recall = score->links ? (double)score->links_found / (double)score->links : (double)NAN;
}
