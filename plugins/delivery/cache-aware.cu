/* Cache-aware delivery on a device: rows are cut into column slices of 4 · `lanes` synapses, and all spikes are taken through one slice
   before the next: rows are sorted by target, so that the cells in use at a time lie together (Bautembach et al. 2021, section 3.2). A thread takes
   four synapses; one plastic synapse where visits are so few that there are threads enough. */
MILL_KERNEL __launch_bounds__(256, MILL_PLASTIC ? 4 : 1) mill_deliver(MILL_NETWORK, uint32_t slot, uint32_t steps, uint32_t lanes)
{
  const mill_now now = mill_epoch_at(net, slot, steps);
  const mill_list list = mill_last(net, now);
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (uint32_t q = 0; q < net.projections; q++) {
    const mill_device_projection &p = net.projection[q];
    const mill_device_population &source = net.population[p.source];
    const mill_device_ring &ring = net.population[p.target_population].ring[p.receptor];
    const uint32_t columns = (p.longest + lanes - 1) / lanes, entries = mill_is_plastic(p) ? list.entries : list.count;
    const uint32_t wide = MILL_GROUP * lanes;
    const uint32_t team = mill_is_plastic(p) && threads % wide == 0 && (uint64_t)wide * columns * entries <= threads ? wide : lanes;
    const uint32_t lane = thread % team;
    uint32_t column = 0, k = thread / team;
    for (; entries; k += threads / team) {
      column += k / entries; /* in one step: few entries among many groups go round the columns many times */
      k %= entries;
      if (column >= columns)
        break;
      const mill_device_spike spike = mill_entry(list, k);
      const uint32_t row = spike.neuron - source.first;
      if (row < source.size) {
        const mill_run_of_row run = mill_run(p, 0, row);
        if (column * lanes >= run.end - run.begin)
          continue;
        const uint32_t first = run.begin + column * lanes, end = run.end - first > lanes ? first + lanes : run.end;
        if (mill_is_plastic(p))
          mill_visit_run<uint32_t>(net, p, list, spike, row, MILL_GROUP * (uint64_t)first + lane, MILL_GROUP * (uint64_t)end, team, 0,
                                   mill_to_ring{ring});
        else
          mill_add_to_ring(p, ring, first + lane, end, lanes, spike.mask, list.first);
      }
    }
  }
}
