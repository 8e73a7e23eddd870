/* Lazy plasticity on a device: a synapse is updated when its source fires; the target's spikes since then are found by testing every step of
   its history (Bautembach et al. 2021, section 4.2). */
struct mill_spikes {
  template <class visitor>
  static __device__ __forceinline__ void each(visitor &v, const uint64_t *history, uint32_t words, int32_t least)
  {
    for (int32_t b = 64 * (int32_t)words - 1; b >= least; b--) {
      if (history[b / 64] >> b % 64 & 1)
        v.arrive(b);
    }
  }
};

template <class visitor> static __device__ __forceinline__ void mill_visit(visitor &v)
{
  v.template row<mill_spikes>();
}
