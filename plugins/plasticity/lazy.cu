/* Lazy plasticity on a device: a synapse is updated when its source fires; the target's spikes since then are found by testing every step of
   its history (Bautembach et al. 2021, section 4.2). */
struct mill_spikes {
  template <class visitor> static __device__ __forceinline__ void each(visitor &v, const uint64_t *history, int32_t most, int32_t least)
  {
    uint64_t word = most < least ? 0 : history[most / 64];
    for (int32_t b = most; b >= least; b--) {
      if (word >> b % 64 & 1)
        v.arrive(b);
      if (b % 64 == 0 && b > least)
        word = history[b / 64 - 1];
    }
  }
};

template <class visitor> static __device__ __forceinline__ void mill_visit(visitor &v)
{
  v.template row<mill_spikes>();
}
