/* Plastic synapses, after the rules and the plasticity strategy: what neurons leave for them at the end of an epoch, and the visits of their
   rows in the next (doc/plasticity.md). MILL_RULES(X) lists X(index); MILL_PLASTIC is 0 when there is none. The strategy's text has

     template <class visitor> void mill_visit(visitor &v)

   which takes one synapse through the epoch: v.row<spikes>() when its source fires or it is due, v.every_step<spikes>() in each step.
   spikes::each(v, history, words, least) calls v.arrive(b) for every bit b ≥ least that is set in the target's history, the highest first. */

static __device__ __forceinline__ bool mill_is_plastic(const mill_device_projection &p)
{
  return MILL_PLASTIC && p.plastic;
}

#if MILL_PLASTIC

template <class code>
static __device__ __forceinline__ typename code::rule mill_rule_of(const mill_device_plastic &plastic)
{
  typename code::rule p = *(const typename code::rule *)plastic.param;
  p.decay = plastic.decay;
  return p;
}

/* ---- Visits --------------------------------------------------------------------------------------------------------------- */

/* An entry of a list, as one projection sees it. */
struct mill_visit_of_row {
  const mill_device_row *row;    /* before the epoch */
  const void *pre;
  const uint64_t *history;       /* of the targets */
  int64_t first, newest;         /* steps of the epoch, */
  uint32_t steps, mask, words;
};

/* One synapse on its visit. sink(due, quanta) takes what is delivered. */
template <class code, class sink> struct mill_visitor {
  const mill_device_plastic &plastic;
  const mill_visit_of_row &v;
  const sink &out;
  typename code::rule rule;
  typename code::pre pre;
  typename code::walk walk;
  struct mill_run run;
  uint64_t place;                /* of the synapse in the columns */
  uint32_t target, delay;
  int64_t k;
  int fires;

  __device__ __forceinline__ mill_visitor(const mill_device_plastic &plastic_, const mill_visit_of_row &v_, const sink &out_,
                                          uint64_t place_, uint32_t target_, uint32_t delay_)
    : plastic(plastic_), v(v_), out(out_), place(place_), target(target_), delay(delay_)
  {
    rule = mill_rule_of<code>(plastic);
    pre = *(const typename code::pre *)v.pre;
    run.pre = &pre;
    run.k_last = v.row->k_last;
    run.u = v.row->u;
    run.fired = v.row->fired;
    run.per_unit = plastic.per_unit;
    run.limit = plastic.limit;
    run.over = plastic.over;
  }
  __device__ __forceinline__ void arrive(int32_t b) { code::arrive(walk, run, rule, v.newest - b, delay, k, fires); }

  template <class spikes> __device__ __forceinline__ void visit(int64_t step, int fires_)
  {
    k = step;
    fires = fires_;
    walk.y = ((const typename code::post *)plastic.post)[target];
    walk.y_step = plastic.post_step[target];
    walk.met = 0;
    spikes::each(*this, v.history + (uint64_t)target * v.words, v.words, (int32_t)(v.newest - k) + !fires + (int32_t)delay);
    run.u = k + fires;
    if (!fires)
      return;
    out(k + delay, target, code::fire(walk, run, rule, delay, k));
    code::pre_spike(pre, rule, k - run.k_last);
    run.k_last = k;
    run.fired = 1;
  }
  template <class spikes> __device__ __forceinline__ void row()
  {
    code::load(walk.s, plastic.column, place);
    for (uint32_t m = v.mask; m; m &= m - 1)
      visit<spikes>(v.first + (__ffs((int)m) - 1), 1);
    if (!v.mask)
      visit<spikes>(v.first + v.steps, 0);
    code::store(walk.s, plastic.column, place);
  }
  template <class spikes> __device__ __forceinline__ void every_step()
  {
    for (uint32_t s = 0; s < v.steps; s++) {
      const int spike = v.mask >> s & 1;
      code::load(walk.s, plastic.column, place);
      visit<spikes>(v.first + s + !spike, spike);
      code::store(walk.s, plastic.column, place);
      asm volatile("" ::: "memory"); /* it is in memory between steps */
    }
  }
};

/* Synapses begin, begin + stride, … below `end` of a projection, padding included. `index` is uint16_t when targets are counted from that
   of the slice, which is slice_first, else uint32_t. */
template <class code, class index, class sink>
static __device__ __forceinline__ void mill_visit_synapses(const mill_device_projection &p, const mill_visit_of_row &v, uint64_t begin,
                                                           uint64_t end, uint32_t stride, uint32_t slice_first, const sink &out)
{
  for (uint64_t i = begin; i < end; i += stride) {
    const uint32_t target = ((const index *)p.target)[i];
    if (target == (index)MILL_NO_TARGET)
      continue;
    mill_visitor<code, sink> visitor(*p.plastic, v, out, i, slice_first + target, mill_delay(p, i));
    mill_visit(visitor);
  }
}

#endif

/* Visits a part of a row of a plastic projection for entry `spike` of the list, whose neuron is `row` of the source. */
template <class index, class sink>
static __device__ __forceinline__ void mill_visit_run(const mill_device_network &net, const mill_device_projection &p,
                                                      const mill_list &list, const mill_device_spike &spike, uint32_t row,
                                                      uint64_t begin, uint64_t end, uint32_t stride, uint32_t slice_first,
                                                      const sink &out)
{
#if MILL_PLASTIC
  const mill_device_population &source = net.population[p.source], &target = net.population[p.target_population];
  const uint64_t before = (uint64_t)(1 + list.parity) * source.size + row;
  mill_visit_of_row v;
  v.row = source.row + before;
  v.history = target.history;
  v.words = target.words;
  v.first = list.first;
  v.newest = list.first + list.steps - 1;
  v.steps = list.steps;
  v.mask = spike.mask;
  switch (p.plastic->rule) {
#define MILL_CASE_(number)                                                                                                        \
  case number:                                                                                                                    \
    v.pre = (const mill_rule_##number::mill_pre *)p.plastic->pre + before;                                                        \
    mill_visit_synapses<mill_rule_##number::mill_code, index>(p, v, begin, end, stride, slice_first, out);                        \
    break;
    MILL_RULES(MILL_CASE_)
#undef MILL_CASE_
  }
#endif
}

/* Into the ring in global memory. */
struct mill_to_ring {
  const mill_device_ring &ring;
  __device__ __forceinline__ void operator()(int64_t due, uint32_t target, int64_t quanta) const
  {
    mill_ring_add(ring, due, target, (MILL_CELL)quanta);
  }
};

/* ---- What an epoch leaves ------------------------------------------------------------------------------------------------- */

#if MILL_PLASTIC

/* Spikes of neuron i that leave its history, oldest first, into the anchor of one projection to it: bit b is step first - b. */
template <class code>
static __device__ __forceinline__ void mill_fold(const mill_device_plastic &plastic, uint32_t i, uint32_t leaving, int64_t first)
{
  const typename code::rule rule = mill_rule_of<code>(plastic);
  typename code::post y = ((const typename code::post *)plastic.post)[i];
  int64_t last = plastic.post_step[i];
  while (leaving) {
    const int32_t b = 31 - __clz((int)leaving);
    code::post_spike(y, rule, first - b - last);
    last = first - b;
    leaving ^= 1u << b;
  }
  ((typename code::post *)plastic.post)[i] = y;
  plastic.post_step[i] = last;
}

/* The traces of a source, kept as they are, then after the epoch's spikes. */
template <class code>
static __device__ __forceinline__ void mill_advance_pre(const mill_device_plastic &plastic, uint32_t size, uint32_t i, uint32_t parity,
                                                        uint32_t mask, int64_t first, int64_t k_last)
{
  typename code::pre *pre = (typename code::pre *)plastic.pre + i, x = *pre;
  pre[(uint64_t)(1 + parity) * size] = x;
  if (!mask)
    return;
  const typename code::rule rule = mill_rule_of<code>(plastic);
  for (; mask; mask &= mask - 1) {
    const int64_t k = first + (__ffs((int)mask) - 1);
    code::pre_spike(x, rule, k - k_last);
    k_last = k;
  }
  *pre = x;
}

#define MILL_EACH_RULE_(call)                                                                                                     \
  switch (plastic.rule) {                                                                                                         \
    MILL_RULES(call)                                                                                                              \
  }

static __device__ __forceinline__ void mill_push(const mill_device_network &net, const mill_device_population &pop, const mill_now &now,
                                                 uint32_t i, uint32_t mask)
{
  uint64_t *history = pop.history + (uint64_t)i * pop.words, bits = __brev(mask) >> (32 - now.steps);
  const uint32_t leaving = (uint32_t)(history[pop.words - 1] >> (64 - now.steps));
  if (leaving) {
    const uint32_t at = (uint32_t)(&pop - net.population), end = net.into_begin[(at + 1) * net.populations];
    for (uint32_t q = net.into_begin[at * net.populations]; q < end; q++) {
      if (!net.projection[net.into[q]].plastic)
        continue;
      const mill_device_plastic &plastic = *net.projection[net.into[q]].plastic;
#define MILL_CASE_(number)                                                                                                        \
  case number: mill_fold<mill_rule_##number::mill_code>(plastic, i, leaving, now.first - 64 * (int64_t)pop.words + now.steps - 1); break;
      MILL_EACH_RULE_(MILL_CASE_)
#undef MILL_CASE_
    }
  }
  for (uint32_t w = 0; w < pop.words; w++) {
    const uint64_t word = history[w];
    history[w] = word << now.steps | bits;
    bits = word >> (64 - now.steps);
  }
}

static __device__ __forceinline__ void mill_list_row(const mill_device_network &net, const mill_device_population &pop,
                                                     const mill_now &now, uint32_t i, uint32_t mask)
{
  const int64_t end = now.first + now.steps;
  mill_device_row row = pop.row[i];
  if (!mask && !net.every_row && row.u >= end - pop.patience)
    return;
  pop.row[(uint64_t)(1 + now.parity) * pop.size + i] = row;
  const uint32_t source = (uint32_t)(&pop - net.population);
  for (uint32_t q = net.from_begin[source]; q < net.from_begin[source + 1]; q++) {
    if (!net.projection[net.from[q]].plastic)
      continue;
    const mill_device_plastic &plastic = *net.projection[net.from[q]].plastic;
#define MILL_CASE_(number)                                                                                                        \
  case number: mill_advance_pre<mill_rule_##number::mill_code>(plastic, pop.size, i, now.parity, mask, now.first, row.k_last); break;
    MILL_EACH_RULE_(MILL_CASE_)
#undef MILL_CASE_
  }
  row.u = end;
  if (mask) {
    row.k_last = now.first + (31 - __clz((int)mask));
    row.fired = 1;
    row.u = net.every_row ? end : row.k_last + 1;
  } else {
    const uint32_t at = atomicAdd(&now.batch->due[now.index], 1u);
    mill_device_spike *to = net.due + (uint64_t)now.parity * net.neurons + at;
    to->neuron = pop.first + i;
    to->mask = 0;
  }
  pop.row[i] = row;
}

#endif

/* After neuron i went through an epoch: its spikes into its history, and what the visits of its rows need. */
static __device__ __forceinline__ void mill_remember(const mill_device_network &net, const mill_device_population &pop,
                                                     const mill_now &now, uint32_t i, uint32_t mask)
{
#if MILL_PLASTIC
  if (pop.history)
    mill_push(net, pop, now, i, mask);
  if (pop.row)
    mill_list_row(net, pop, now, i, mask);
#endif
}
