/* How often an episode of weakly connected neurons occurs: P. S. Sastry and K. P. Unnikrishnan, "Conditional probability based
   significance tests for sequential patterns in multi-neuronal spike trains", Neural Computation 22, 2010 (arXiv 0808.3511),
   sections 3 and 4.

   The recording is a row of bins. Where no occurrence is under way one begins in a bin with probability p, and then it takes `span`
   bins; p is that of a spike of the first neuron in a bin, times that of each link: how likely the next neuron answers in its
   window. The count F, its mean square G and its variance V in L bins are

     F(L) = (1-p) F(L-1) + p (1 + F(L-span))
     G(L) = (1-p) G(L-1) + p (1 + G(L-span) + 2 F(L-span))
     V(L) = G(L) - F(L)²  =  (1-p) V(L-1) + p V(L-span) + p (1-p) (1 + F(L-span) - F(L-1))²

   with 0 for L < span. The last form, which is the law of total variance, does not subtract large numbers from each other. */
#ifndef MILL_SIGNIFICANCE_MODEL_H
#define MILL_SIGNIFICANCE_MODEL_H

#include <stdint.h>

struct mill_model {
  uint64_t bins, span; /* ≥ 1 */
  double start;        /* probability of a spike of the first neuron in a bin */
  uint32_t links;      /* ≥ 1 */
  /* May be NULL. Asked several times a second by what takes long; once it returns 1 that ends soon, with a value of no use. */
  int (*stop)(void *self);
  void *self;
};

struct mill_moments {
  double mean, variance;
};

/* 1 - exp(-rate · time): of at least one event of a Poisson process. */
double mill_model_chance(double rate, double time);

/* F and V for a probability p of an occurrence in a bin. ring[2 × span] is room to work in (none is needed when span > bins: both
   are 0 then). The recursion runs bin by bin until, over the last `span` bins, F and V have grown evenly to 1e-11; from there on
   they are straight lines. For F nothing is lost but that: each growth is a weighted mean of earlier ones, so that it stays between
   the least and the largest of the last `span`. */
struct mill_moments mill_model_moments(const struct mill_model *model, double p, double *ring);

/* The count that is significant at a level: F + sqrt(V / level) by Chebyshev's inequality. */
double mill_model_threshold(struct mill_moments moments, double level);

/* The level at which a count is just significant, at most 1: V / (count - F)². 1 when the count is not above F. */
double mill_model_p(struct mill_moments moments, uint64_t count);

/* The conditional probability e, the same for each link, that makes F the count. 1 when even sure links would not. */
double mill_model_strength(const struct mill_model *model, uint64_t count, double *ring);

#endif
