/* After the stimuli's namespaces: what arrives from outside. MILL_STIMULI(X) lists X(index). */
static __device__ __forceinline__ uint32_t mill_events_of(const mill_device_stimulus &stimulus, uint32_t neuron, int64_t step)
{
  switch (stimulus.kind) {
#define MILL_CASE_(index)                                                                                                         \
  case index: return mill_stimulus_##index::mill_events((const mill_stimulus_##index::mill_data *)stimulus.data, neuron, step);
    MILL_STIMULI(MILL_CASE_)
#undef MILL_CASE_
  }
  return 0;
}

/* What the stimuli of a receptor add to a neuron's cell in a step. */
static __device__ __forceinline__ MILL_CELL mill_stimulate(const mill_device_population &pop, uint32_t receptor, uint32_t neuron,
                                                           int64_t step)
{
  MILL_CELL sum = 0;
  for (uint32_t s = 0; s < pop.stimuli; s++) {
    if (pop.stimulus[s].receptor == receptor)
      sum += (MILL_CELL)mill_events_of(pop.stimulus[s], neuron, step) * (MILL_CELL)pop.stimulus[s].quanta;
  }
  return sum;
}
