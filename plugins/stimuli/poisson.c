/* Poisson stimulus: every neuron gets an independent Poisson number of events in every step. A count is a function of the
   stimulus's key, the neuron and the step (two neighbours share one Philox, see mill_poisson_pair); nothing is kept. */
#include <spikemill/device.h>
#include <spikemill/stimulus.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_AVX2 1
#endif

#define PAIRS 8u /* of neurons, drawn at a time */

struct values {
  double rate, start, stop;
};

typedef void draw_function(uint64_t key, uint64_t pair, uint64_t b, uint64_t *bits);

/* As in poisson.cu. */
struct data {
  uint64_t key;
  int64_t start, stop; /* steps: first, and one past the last */
  struct mill_poisson table;
};

struct source {
  struct data data;
  draw_function *draw;
};

/* bits[2 i], bits[2 i + 1] = draw (key, pair + i, b) for i = 0 … PAIRS-1. */
static void draw_plain(uint64_t key, uint64_t pair, uint64_t b, uint64_t *bits)
{
  for (uint32_t i = 0; i < PAIRS; i++) {
    struct mill_u64x2 r = mill_random_pair(key, pair + i, b);
    bits[2 * i] = r.x[0];
    bits[2 * i + 1] = r.x[1];
  }
}

#ifdef HAVE_AVX2
/* The same in a third of the time: eight Philox side by side, each 32-bit word in the low half of a 64-bit lane (the high halves
   are not looked at until the end). */
__attribute__((target("avx2"))) static void draw_avx2(uint64_t key, uint64_t pair, uint64_t b, uint64_t *bits)
{
  const __m256i m0 = _mm256_set1_epi64x(0xd2511f53), m1 = _mm256_set1_epi64x(0xcd9e8d57), low = _mm256_set1_epi64x(0xffffffff);
  __m256i c0[2], c1[2], c2[2], c3[2];
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int i = 0; i < 2; i++) {
    c0[i] = _mm256_add_epi64(_mm256_set1_epi64x((int64_t)pair + 4 * i), _mm256_set_epi64x(3, 2, 1, 0));
    c1[i] = _mm256_srli_epi64(c0[i], 32);
    c2[i] = _mm256_set1_epi64x((int64_t)b);
    c3[i] = _mm256_srli_epi64(c2[i], 32);
  }
  for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
    const __m256i key0 = _mm256_set1_epi64x(k0), key1 = _mm256_set1_epi64x(k1);
    for (int i = 0; i < 2; i++) {
      __m256i p0 = _mm256_mul_epu32(m0, c0[i]), p1 = _mm256_mul_epu32(m1, c2[i]);
      c0[i] = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(c1[i], key0));
      c2[i] = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(c3[i], key1));
      c1[i] = p1;
      c3[i] = p0;
    }
  }
  for (int i = 0; i < 2; i++) {
    __m256i first = _mm256_or_si256(_mm256_slli_epi64(c1[i], 32), _mm256_and_si256(c0[i], low));
    __m256i second = _mm256_or_si256(_mm256_slli_epi64(c3[i], 32), _mm256_and_si256(c2[i], low));
    __m256i even = _mm256_unpacklo_epi64(first, second), odd = _mm256_unpackhi_epi64(first, second);
    _mm256_storeu_si256((__m256i *)(void *)(bits + 8 * i), _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(bits + 8 * i + 4), _mm256_permute2x128_si256(even, odd, 0x31));
  }
}
#endif

static int prepare(const struct mill_host *host, const void *params, const struct mill_stimulus_target *target, void **self,
                   struct mill_error *error)
{
  const struct values *values = (const struct values *)params;
  double mean = values->rate * target->dt / 1000;
  struct source source = {{target->key, 0, INT64_MAX, {0}}, draw_plain}, *copy;
  *self = NULL;
#ifdef HAVE_AVX2
  if (__builtin_cpu_supports("avx2"))
    source.draw = draw_avx2;
#endif
  if (mill_stimulus_window(host, target, values->start, values->stop, &source.data.start, &source.data.stop, error) < 0)
    return -1;
  if (mill_poisson_table(mean, &source.data.table) < 0)
    return host->fail(error, MILL_USAGE, "rate: %.10g Hz are %.10g events in a step of %.10g ms; expected at most %.10g",
                      values->rate, mean, target->dt, MILL_POISSON_MAX);
  copy = (struct source *)host->allocate("stimulus", 1, sizeof *copy);
  if (!copy)
    return host->fail(error, MILL_RESOURCES, "out of memory");
  *copy = source;
  *self = copy;
  return 0;
}

static uint32_t largest(const void *self)
{
  return mill_poisson_largest(&((const struct source *)self)->data.table);
}

static int events(const void *self, const struct mill_stimulus_batch *batch, uint32_t *counts)
{
  const struct source *source = (const struct source *)self;
  const struct data *data = &source->data;
  const struct mill_poisson *table = &data->table;
  uint64_t bits[2 * PAIRS], draw = (uint64_t)batch->step * table->parts;
  uint32_t any = 0;
  if (batch->step < data->start || batch->step >= data->stop || table->size == 0)
    return 0;
  for (uint32_t first = 0; first < batch->count; first += 2 * PAIRS) {
    uint32_t count = batch->count - first < 2 * PAIRS ? batch->count - first : 2 * PAIRS;
    for (uint32_t part = 0; part < table->parts; part++) {
      source->draw(data->key, (batch->first + first) >> 1, draw + part, bits);
      for (uint32_t i = 0; i < count; i++) {
        uint32_t n = mill_poisson_count(table, bits[i]);
        counts[first + i] = part ? counts[first + i] + n : n;
        any |= n;
      }
    }
  }
  return any != 0;
}

static void release(const struct mill_host *host, void *self)
{
  host->release(self);
}

static const struct mill_param_spec params[] = {
    {"rate", "Hz", NULL, NULL, "mean rate of each neuron's events", 0, 1e9, offsetof(struct values, rate), MILL_REAL,
     MILL_REQUIRED},
    {"start", "ms", "0", NULL, "begin: steps from this time on", 0, 9e9, offsetof(struct values, start), MILL_REAL, 0},
    {"stop", "ms", "-1", NULL, "end: steps before this time; -1 for never", -1, 9e9, offsetof(struct values, stop), MILL_REAL, 0},
};

static const void *device(const void *self, size_t *bytes)
{
  const struct source *source = (const struct source *)self;
  *bytes = sizeof source->data;
  return &source->data;
}

static const unsigned char text[] = {
#include "plugins/stimuli/poisson.cu_text"
};
static const struct mill_stimulus_ops ops = {
    .prepare = prepare, .largest = largest, .events = events, .release = release, .device = device};

MILL_PLUGIN_WITH_TEXT(MILL_STIMULUS, MILL_CPU | MILL_CUDA | MILL_EXACT, "poisson", "independent Poisson events for every neuron",
                      sizeof(struct values), params, sizeof params / sizeof *params, ops, text, text + sizeof text,
                      "plugins/stimuli/poisson.cu");
