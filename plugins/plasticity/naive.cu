/* Naive plasticity on a device: every plastic synapse is read, updated and written in every step, whether something arrives or not
   (Bautembach et al. 2021, section 4.1). Only when something does, the target's trace is needed, and its spikes are looked for. */
struct mill_spikes {
  template <class visitor>
  static __device__ __forceinline__ void each(visitor &v, const uint64_t *history, uint32_t words, int32_t least)
  {
    if (!v.fires && !(history[least / 64] >> least % 64 & 1))
      return;
    for (int32_t b = 64 * (int32_t)words - 1; b >= least; b--) {
      if (history[b / 64] >> b % 64 & 1)
        v.arrive(b);
    }
  }
};

template <class visitor> static __device__ __forceinline__ void mill_visit(visitor &v)
{
  v.template every_step<mill_spikes>();
}
