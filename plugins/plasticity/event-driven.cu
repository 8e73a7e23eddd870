/* Event-driven plasticity on a device: as lazy, but from one spike of the target to the next by counting leading zeros, so that the cost is
   that of the spikes and not of the steps (Bautembach et al. 2021, section 4.3). Where no spike has come since the last visit, and the
   source has none either, there is nothing to do. */
struct mill_spikes {
  template <class visitor> static __device__ __forceinline__ void each(visitor &v, const uint64_t *history, int32_t most, int32_t least)
  {
    if (most < least || !v.came() || v.recent(most, least))
      return;
    int32_t w = most / 64;
    uint64_t bits = history[w] & ~0ull >> (63 - most % 64);
    for (;;) { /* one loop for words and bits: the threads of a warp need not find their spikes in the same word */
      while (!bits && w > least / 64)
        bits = history[--w];
      if (w == least / 64)
        bits &= ~0ull << least % 64;
      if (!bits)
        break;
      const int32_t b = 63 - __clzll((long long)bits);
      bits ^= 1ull << b;
      v.arrive(w * 64 + b);
    }
  }
};

template <class visitor> static __device__ __forceinline__ void mill_visit(visitor &v)
{
  if (v.mask() || v.came())
    v.template row<mill_spikes>();
}
