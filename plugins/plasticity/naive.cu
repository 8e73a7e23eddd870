/* Naive plasticity on a device: every plastic synapse is read, updated and written in every step, whether something arrives or not
   (Bautembach et al. 2021, section 4.1). */
struct mill_spikes {
  template <class visitor> static __device__ __forceinline__ void each(visitor &v, const uint64_t *history, int32_t most, int32_t least)
  {
    for (int32_t b = most; b >= least; b--) {
      if (history[b / 64] >> b % 64 & 1)
        v.arrive(b);
    }
  }
};

template <class visitor> static __device__ __forceinline__ void mill_visit(visitor &v)
{
  v.template every_step<mill_spikes>();
}
