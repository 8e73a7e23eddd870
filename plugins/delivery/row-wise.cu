/* Row-wise delivery on a device: a group of `lanes` threads takes a spike and walks its source's rows, adding to the rings in global memory.
   Visits of plastic synapses wait for memory: more threads at once are worth fewer registers for each, and where few rows are visited, more
   threads take one. */
MILL_KERNEL __launch_bounds__(256, MILL_PLASTIC ? 4 : 1) mill_deliver(MILL_NETWORK, uint32_t slot, uint32_t steps, uint32_t lanes)
{
  const mill_now now = mill_epoch_at(net, slot, steps);
  const mill_list list = mill_last(net, now);
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  if (MILL_PLASTIC)
    lanes = mill_team(lanes, threads, list.entries);
  const uint32_t lane = thread % lanes;
  for (uint32_t k = thread / lanes; k < list.entries; k += threads / lanes) {
    const mill_device_spike spike = mill_entry(list, k);
    const uint32_t source = mill_population_of(net, spike.neuron), row = spike.neuron - net.population[source].first;
    for (uint32_t q = net.from_begin[source]; q < net.from_begin[source + 1]; q++) {
      const mill_device_projection &p = net.projection[net.from[q]];
      const mill_run_of_row run = mill_run(p, 0, row);
      const mill_device_ring &ring = net.population[p.target_population].ring[p.receptor];
      if (mill_is_plastic(p))
        mill_visit_run<uint32_t>(net, p, list, spike, row, MILL_GROUP * (uint64_t)run.begin + lane, MILL_GROUP * (uint64_t)run.end, lanes, 0,
                                 mill_to_ring{ring});
      else
        mill_add_to_ring(p, ring, run.begin + lane, run.end, lanes, spike.mask, list.first);
    }
  }
}
