/* Event-driven plasticity on a device: as lazy, but from one spike of the target to the next by counting leading zeros, so that the cost is
   that of the spikes and not of the steps (Bautembach et al. 2021, section 4.3). */
struct mill_spikes {
  template <class visitor>
  static __device__ __forceinline__ void each(visitor &v, const uint64_t *history, uint32_t words, int32_t least)
  {
    for (int32_t w = (int32_t)words - 1; w >= least / 64; w--) {
      uint64_t bits = history[w];
      if (w == least / 64)
        bits &= ~0ull << least % 64;
      while (bits) {
        const int32_t b = 63 - __clzll((long long)bits);
        bits ^= 1ull << b;
        v.arrive(w * 64 + b);
      }
    }
  }
};

template <class visitor> static __device__ __forceinline__ void mill_visit(visitor &v)
{
  v.template row<mill_spikes>();
}
