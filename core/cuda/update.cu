/* After all models and stimuli: the choice among the program's models, and the kernels that every strategy may use. MILL_MODELS(X) and
   MILL_STIMULI(X) list X(index). */

template <class cell_source>
static __device__ __forceinline__ uint32_t mill_advance_any(const mill_device_network &net, const mill_device_population &pop,
                                                            const mill_now &now, uint32_t i, const cell_source &cells)
{
  uint32_t mask = 0;
  switch (pop.model) {
#define MILL_CASE_(index)                                                                                                         \
  case index: mask = mill_model_##index::mill_advance(net, pop, now, i, cells); break;
    MILL_MODELS(MILL_CASE_)
#undef MILL_CASE_
  }
  mill_remember(net, pop, now, i, mask);
  return mask;
}

/* One epoch of slices of MILL_UNIT neurons, input from the rings. Launched with a block for each unit: unit u of the network is the
   population whose units include it, in order. */
MILL_KERNEL __launch_bounds__(MILL_UNIT) mill_update(MILL_NETWORK, uint32_t slot, uint32_t steps)
{
  __shared__ mill_device_spike spike[MILL_UNIT];
  __shared__ uint32_t count, at;
  const mill_now now = mill_epoch_at(net, slot, steps);
  const uint64_t base = mill_list_begin(net, now);
  const mill_collector collector = {spike, &count};
  uint32_t unit = blockIdx.x, p = 0;
  if (threadIdx.x == 0)
    count = 0;
  while (unit >= (net.population[p].size + MILL_UNIT - 1) / MILL_UNIT)
    unit -= (net.population[p++].size + MILL_UNIT - 1) / MILL_UNIT;
  const mill_device_population &pop = net.population[p];
  const uint32_t i = unit * MILL_UNIT + threadIdx.x;
  __syncthreads();
  if (i < pop.size) {
    const mill_from_ring cells = {pop.ring, now.first, i};
    mill_collect(collector, pop.first + i, mill_advance_any(net, pop, now, i, cells));
  }
  __syncthreads();
  mill_append(net, now, base, collector, &at);
}

/* Events that the host made, into the rings before an epoch. */
MILL_KERNEL mill_scatter(MILL_NETWORK, const mill_device_event *event, uint32_t count)
{
  for (uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
    const mill_device_event e = event[k];
    const mill_device_ring &ring = net.population[e.population].ring[e.receptor];
    atomicAdd((MILL_ATOMIC *)ring.cell + (uint64_t)e.slot * ring.stride + e.neuron, (MILL_ATOMIC)e.quanta);
  }
}

/* Sizes that the host compares with its own. */
#define MILL_LAYOUT_(index) mill_model_##index::mill_layout::param, mill_model_##index::mill_layout::states, mill_model_##index::mill_layout::receptors,
#define MILL_RULE_(index)                                                                                                         \
  mill_rule_##index::mill_code::rule_bytes, mill_rule_##index::mill_code::pre_bytes, mill_rule_##index::mill_code::post_bytes,     \
    mill_rule_##index::mill_code::last_bytes, mill_rule_##index::mill_code::columns, mill_rule_##index::mill_code::decays,
#define MILL_DATA_(index) (uint32_t)sizeof(mill_stimulus_##index::mill_data),
extern "C" __device__ const uint32_t mill_program_layout[] = {
  (uint32_t)sizeof(mill_device_network), (uint32_t)sizeof(mill_device_population), (uint32_t)sizeof(mill_device_projection),
  (uint32_t)sizeof(mill_device_batch), (uint32_t)sizeof(mill_device_plastic), (uint32_t)sizeof(mill_real),
  (uint32_t)sizeof(MILL_CELL), MILL_MODELS(MILL_LAYOUT_) MILL_STIMULI(MILL_DATA_) MILL_RULES(MILL_RULE_) 0};
