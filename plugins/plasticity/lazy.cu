/* Lazy plasticity on a device: a synapse is updated when its source fires; the target's spikes since then are found by testing every step of
   its history (Bautembach et al. 2021, section 4.2). */
struct mill_spikes {
  template <class visitor> static __device__ __forceinline__ void each(visitor &v, const uint64_t *history, int32_t most, int32_t least)
  {
    const uint32_t *half = (const uint32_t *)history; /* 32 steps at a time, the one that is next on top */
    for (int32_t b = most; b >= least;) {
      const int32_t end = (b & ~31) > least ? b & ~31 : least;
      uint32_t bits = half[b / 32] << (31 - b % 32);
      for (;; b--, bits <<= 1) {
#pragma unroll 8
        for (; b >= end && (int32_t)bits >= 0; bits <<= 1)
          b--;
        if (b < end)
          break;
        v.arrive(b);
      }
    }
  }
};

template <class visitor> static __device__ __forceinline__ void mill_visit(visitor &v)
{
  v.template row<mill_spikes>();
}
