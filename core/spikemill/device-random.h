/* Random numbers as functions of a key and a counter; part of <spikemill/device.h>, which is what to include.

   Nothing here has a running state: whoever asks for draw (key, a, b) gets the same number, on any device, in any order. */
#ifndef SPIKEMILL_DEVICE_RANDOM_H
#define SPIKEMILL_DEVICE_RANDOM_H

/* What a key is for: keys of different purposes are unrelated. */
enum mill_purpose {
  MILL_PURPOSE_CONNECT = 1,
  MILL_PURPOSE_WEIGHT = 2,
  MILL_PURPOSE_DELAY = 3,
  MILL_PURPOSE_STATE = 4,
  MILL_PURPOSE_NEURON = 5,
  MILL_PURPOSE_STIMULUS = 6,
  MILL_PURPOSE_SURROGATE = 7,
  MILL_PURPOSE_GENERATE = 8
};

struct mill_u32x4 {
  uint32_t x[4];
};

struct mill_u64x2 {
  uint64_t x[2];
};

/* Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3. As in Random123
   the key's words are {low, high} of `key` and the counter's {low, high} of `lo`, then of `hi`. */
MILL_FN struct mill_u32x4 mill_philox(uint64_t key, uint64_t lo, uint64_t hi)
{
  struct mill_u32x4 r;
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  uint32_t c0 = (uint32_t)lo, c1 = (uint32_t)(lo >> 32), c2 = (uint32_t)hi, c3 = (uint32_t)(hi >> 32);
  for (int32_t round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xd2511f53u * c0, p1 = (uint64_t)0xcd9e8d57u * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  r.x[0] = c0;
  r.x[1] = c1;
  r.x[2] = c2;
  r.x[3] = c3;
  return r;
}

/* The 128 bits of draw (key, a, b) as two numbers: words {0, 1} and {2, 3}, low word first. */
MILL_FN struct mill_u64x2 mill_random_pair(uint64_t key, uint64_t a, uint64_t b)
{
  struct mill_u32x4 r = mill_philox(key, a, b);
  struct mill_u64x2 p;
  p.x[0] = (uint64_t)r.x[1] << 32 | r.x[0];
  p.x[1] = (uint64_t)r.x[3] << 32 | r.x[2];
  return p;
}

/* The first 64 of them. */
MILL_FN uint64_t mill_random(uint64_t key, uint64_t a, uint64_t b)
{
  return mill_random_pair(key, a, b).x[0];
}

/* A bijection of 64-bit numbers in which every input bit flips every output bit about half the time: the finaliser of MurmurHash3
   with the constants of D. Stafford's variant 13, as in SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
MILL_FN uint64_t mill_mix(uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* The key of the index-th thing (projection, population, stimulus) that needs numbers for `purpose`. Of one seed, no two (purpose,
   index) have the same key. */
MILL_FN uint64_t mill_key(uint64_t seed, uint32_t purpose, uint32_t index)
{
  return mill_mix(mill_mix(seed + 0x9e3779b97f4a7c15u) + ((uint64_t)purpose << 32 | index));
}

/* Uniform in the open interval (0, 1): the odd multiples of 2^-53, from the upper 52 bits. (With one bit more, the last value would
   be 1 - 2^-54, which rounds to 1.) Symmetric about 1/2. */
MILL_FN double mill_uniform(uint64_t bits)
{
  return mill_from_bits(((uint64_t)0x3ff << 52) | (bits >> 12)) - 0x1.fffffffffffffp-1;
}

/* The same in single precision: the odd multiples of 2^-24, from the upper 23 bits. */
MILL_FN float mill_uniformf(uint32_t bits)
{
  return mill_from_bitsf((127u << 23) | (bits >> 9)) - 0x1.fffffep-1f;
}

/* 0 … n-1 (n ≥ 1). Probabilities differ from 1/n by less than 2^-64, the distribution by at most n / 2^64. */
MILL_FN uint64_t mill_below(uint64_t bits, uint64_t n)
{
  return mill_multiply_high(bits, n);
}

/* ---- Normal ----------------------------------------------------------------------------------------------------------- */

MILL_FN double mill_polynomial7(double x, double c0, double c1, double c2, double c3, double c4, double c5, double c6, double c7)
{
  return ((((((c7 * x + c6) * x + c5) * x + c4) * x + c3) * x + c2) * x + c1) * x + c0;
}

/* The standard normal quantile of p in (0, 1), relative error about 1e-15: M. J. Wichura, algorithm AS 241 (PPND16), Applied
   Statistics 37, 1988. */
MILL_FN double mill_normal_quantile(double p)
{
  double q = p - 0.5, r, x;
  if (q >= -0.425 && q <= 0.425) {
    r = 0.180625 - q * q;
    x = mill_polynomial7(r, 3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
                         4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3);
    return q * x /
           mill_polynomial7(r, 1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                            2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3);
  }
  r = mill_sqrt(-mill_log(q < 0 ? p : 1.0 - p));
  if (r <= 5.0) {
    r -= 1.6;
    x = mill_polynomial7(r, 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                         3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
                         7.74545014278341407640e-4) /
        mill_polynomial7(r, 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                         1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                         1.05075007164441684324e-9);
  } else {
    r -= 5.0;
    x = mill_polynomial7(r, 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                         2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                         2.71155556874348757815e-5, 2.01033439929228813265e-7) /
        mill_polynomial7(r, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                         7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                         2.04426310338993978564e-15);
  }
  return q < 0 ? -x : x;
}

/* A standard normal deviate, within ±8.21. */
MILL_FN double mill_normal(uint64_t bits)
{
  return mill_normal_quantile(mill_uniform(bits));
}

/* ---- Permutations ----------------------------------------------------------------------------------------------------- */

/* Where a keyed permutation of 0 … n-1 takes i, for 1 ≤ n ≤ 2^63 and i < n: a Feistel network of 6 rounds (Luby and Rackoff, SIAM
   J. Computing 17, 1988) over the smallest power of four that is at least n (and 4), walked along its cycle until it is back below
   n (Black and Rogaway, CT-RSA 2002); at most four networks on average. Up to 64 elements it has 18 rounds: so small a round has
   few functions to choose from, and with 6 some pairs of images were a quarter too frequent. */
MILL_FN uint64_t mill_feistel(uint64_t key, uint64_t n, uint64_t i)
{
  int32_t half = 1, rounds;
  while (half < 32 && (n - 1) >> (2 * half))
    half++;
  rounds = half < 4 ? 18 : 6;
  uint64_t low = ((uint64_t)1 << half) - 1;
  do {
    uint64_t left = i >> half, right = i & low, round_key = key;
    for (int32_t round = 0; round < rounds; round++) {
      round_key += 0x9e3779b97f4a7c15u;
      uint64_t next = left ^ (mill_mix(right ^ round_key) >> (64 - half));
      left = right;
      right = next;
    }
    i = left << half | right;
  } while (i >= n);
  return i;
}

/* ---- Poisson ---------------------------------------------------------------------------------------------------------- */

/* Counts with mean λ by inversion: a 64-bit draw gives the number of thresholds that it reaches, threshold[c] = 2^64 P(X ≤ c), the
   last one the last below 2^64: the tail that is left out has a probability under 2^-64. A mean above 64 is split into `parts`
   equal parts, each with the table and a draw of its own. */
struct mill_poisson {
  uint32_t parts;
  uint32_t size;             /* thresholds; the largest count of one part */
  uint64_t threshold[256];   /* ascending; 2^64 - 1 past the end */
  uint32_t guide[64];        /* 256 bytes: the least count for a draw's upper 8 bits (Chen and Asau, AIIE Trans. 6, 1974) */
};

#define MILL_POISSON_MAX (64.0 * 4096.0)

/* The whole part of 2^64 (a.hi + a.lo), for 0 ≤ a < 1. */
MILL_FN uint64_t mill_poisson_fixed(struct mill_pair a)
{
  double upper = a.hi * 0x1p32, lower;
  uint64_t head = (uint64_t)upper;
  upper = upper - (double)head;                 /* exact, and so is the sum but for its last bits */
  lower = (upper + a.lo * 0x1p32) * 0x1p32;     /* within ±2^32: a.lo may be negative */
  head <<= 32;
  return lower < 0 ? head - (uint64_t)-lower - 1 : head + (uint64_t)lower;
}

/* Makes the table for mean λ (0 … MILL_POISSON_MAX). Returns 0, or -1 for another λ. Probabilities are relative to the mode's and
   summed in pairs of doubles, so no exponential is needed and a threshold is right within 2 units. */
MILL_FN int mill_poisson_table(double lambda, struct mill_poisson *table)
{
  struct mill_pair weight[257], mean, j, total, part, zero;
  uint64_t tail;
  uint32_t count, mode, c, top;
  if (!(lambda >= 0 && lambda <= MILL_POISSON_MAX))
    return -1;
  zero.hi = zero.lo = 0;
  j = zero;
  table->parts = 1;
  if (lambda > 64.0) {
    table->parts = (uint32_t)(lambda / 64.0);
    table->parts += (double)table->parts * 64.0 < lambda;
  }
  j.hi = (double)table->parts;
  mean = zero;
  mean.hi = lambda;
  mean = mill_pair_quotient(mean, j);
  mode = (uint32_t)mean.hi;
  weight[mode] = zero;
  weight[mode].hi = 1.0;
  for (c = mode; c > 0; c--) { /* w[c-1] = w[c] c / mean */
    j.hi = (double)c;
    weight[c - 1] = mill_pair_quotient(mill_pair_product(weight[c], j), mean);
  }
  for (c = mode; c < 256 && weight[c].hi > 0x1p-90; c++) { /* w[c+1] = w[c] mean / (c+1) */
    j.hi = (double)(c + 1);
    weight[c + 1] = mill_pair_quotient(mill_pair_product(weight[c], mean), j);
  }
  count = c; /* weights past it are negligible */
  total = zero;
  for (c = 0; c <= count; c++)
    total = mill_pair_sum(total, weight[c]);
  for (c = 0; c < 256; c++)
    table->threshold[c] = ~(uint64_t)0;
  part = zero;
  for (c = 0; c < mode; c++) { /* P(X ≤ c) */
    part = mill_pair_sum(part, weight[c]);
    table->threshold[c] = mill_poisson_fixed(mill_pair_quotient(part, total));
  }
  table->size = mode;
  part = zero;
  for (c = count; c > mode; c--) { /* 1 - P(X ≥ c), from the small end */
    part = mill_pair_sum(part, weight[c]);
    tail = mill_poisson_fixed(mill_pair_quotient(part, total));
    if (tail == 0)
      continue;
    if (table->size < c)
      table->size = c;
    table->threshold[c - 1] = ~tail + 1;
  }
  for (c = 0; c < 64; c++)
    table->guide[c] = 0;
  for (c = 0, top = 0; top < 256; top++) {
    while (c < table->size && table->threshold[c] <= (uint64_t)top << 56)
      c++;
    table->guide[top >> 2] |= c << (8 * (top & 3));
  }
  return 0;
}

/* The largest count that a draw can give. */
MILL_FN uint32_t mill_poisson_largest(const struct mill_poisson *table)
{
  return table->parts * table->size;
}

/* The count of one part for one 64-bit draw. */
MILL_FN uint32_t mill_poisson_count(const struct mill_poisson *table, uint64_t bits)
{
  if (bits < table->threshold[0])
    return 0;
  uint32_t c = table->guide[bits >> 58] >> (8 * ((bits >> 56) & 3)) & 255u;
  while (c < table->size && bits >= table->threshold[c])
    c++;
  return c;
}

/* Neuron i in step k: part p takes half i & 1 of draw (key, i >> 1, k · parts + p), so that two neighbours share one Philox. */
MILL_FN void mill_poisson_pair(const struct mill_poisson *table, uint64_t key, uint64_t pair, int64_t step, uint32_t counts[2])
{
  counts[0] = counts[1] = 0;
  for (uint32_t p = 0; p < table->parts; p++) {
    struct mill_u64x2 r = mill_random_pair(key, pair, (uint64_t)step * table->parts + p);
    counts[0] += mill_poisson_count(table, r.x[0]);
    counts[1] += mill_poisson_count(table, r.x[1]);
  }
}

/* The same for one neuron. */
MILL_FN uint32_t mill_poisson_draw(const struct mill_poisson *table, uint64_t key, uint64_t i, int64_t step)
{
  uint32_t counts[2];
  mill_poisson_pair(table, key, i >> 1, step, counts);
  return counts[i & 1];
}

#endif
