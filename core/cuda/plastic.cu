/* Plastic synapses, after the rules and the plasticity strategy: what neurons leave for them at the end of an epoch, and the visits of their
   rows in the next (doc/plasticity.md). MILL_RULES(X) lists X(index); MILL_PLASTIC is 0 when there is none.

   What a visit needs of the target's trace is worked out once, when the target fires: as it was when each spike in the history came, and after
   the last of them. So a visit looks at the spikes that are new to the synapse, and at no others. The strategy's text has

     template <class visitor> void mill_visit(visitor &v)

   which takes one synapse through the epoch: v.row<spikes>() when its source fires or it is due, v.every_step<spikes>() in each step.
   spikes::each(v, history, most, least) calls v.arrive(b) for every bit from `most` down to `least` that is set in the target's history. */

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

/* The distances between the last spikes of a neuron, MILL_BACK of them and the nearest lowest, in steps and 12 bits each; 0: it is not known
   that there is such a spike, 4095: that far or farther. MILL_SPIKE is set when the last spike is one that the history may hold. */
#define MILL_BACK 5
#define MILL_FAR 4095
#define MILL_SPIKE (1ull << 63)

static __device__ __forceinline__ uint32_t mill_back(uint64_t back, uint32_t n) { return (uint32_t)(back >> 12 * n) & MILL_FAR; }

static __device__ __forceinline__ uint64_t mill_further_back(uint64_t back, int64_t distance)
{
  const uint64_t nearest = !(back & MILL_SPIKE) ? 0 : distance < MILL_FAR ? (uint64_t)distance : MILL_FAR;
  return (back << 12 & ((1ull << 12 * MILL_BACK) - 1)) | nearest | MILL_SPIKE;
}

/* ---- Visits --------------------------------------------------------------------------------------------------------------- */

/* The trace of target i when its spike of a step came. */
template <class code>
static __device__ __forceinline__ typename code::post &mill_trace(const mill_device_plastic &plastic, uint32_t i, int64_t step)
{
  return ((typename code::post *)plastic.trace)[((uint64_t)i << plastic.trace_bits) + (step & ((1u << plastic.trace_bits) - 1))];
}

/* An entry of a list, as one projection sees it. */
struct mill_visit_of_row {
  const mill_device_row *row;    /* before the epoch */
  const void *pre;
  const uint64_t *history;       /* of the targets */
  int64_t first, newest;         /* steps of the epoch */
  uint32_t steps, mask, words;
};

/* One synapse on its visit. sink(due, quanta) takes what is delivered. */
template <class code, class sink> struct mill_visitor {
  const mill_device_plastic &plastic;
  const mill_visit_of_row &row_of;
  const sink &out;
  const typename code::rule &rule;
  typename code::pre &pre;       /* of the source: run points at it, so it lies elsewhere, and all of this can be in registers */
  typename code::walk walk;
  struct mill_run run;
  typename code::last last;      /* of the target */
  uint64_t place;                /* of the synapse in the columns */
  uint32_t target, delay;
  int64_t k;
  int fires, passed;             /* passed: a spike of the target has arrived before step k */

  __device__ __forceinline__ mill_visitor(const mill_device_plastic &plastic_, const mill_visit_of_row &row_of_, const sink &out_,
                                          const typename code::rule &rule_, typename code::pre &pre_, uint64_t place_, uint32_t target_,
                                          uint32_t delay_)
    : plastic(plastic_), row_of(row_of_), out(out_), rule(rule_), pre(pre_), place(place_), target(target_), delay(delay_)
  {
    run.pre = &pre;
    run.k_last = row_of.row->k_last;
    run.u = row_of.row->u;
    run.fired = row_of.row->fired;
    run.per_unit = plastic.per_unit;
    run.limit = plastic.limit;
    run.over = plastic.over;
    last = ((const typename code::last *)plastic.last)[target];
  }

  /* The source's spikes of the epoch; 0: the row is due. */
  __device__ __forceinline__ uint32_t mask() const { return row_of.mask; }

  /* Whether a spike of the target may have arrived that is new to the synapse. */
  __device__ __forceinline__ bool came() const { return last.step + delay >= run.u; }

  __device__ __forceinline__ typename code::post trace(int64_t step) const { return mill_trace<code>(plastic, target, step); }

  /* The target's spike in bit b of its history. */
  __device__ __forceinline__ void arrive(int32_t b)
  {
    const int64_t at = row_of.newest - b;
    code::meet(walk, run, rule, at == last.step ? last.was : trace(at), at, delay, k, fires);
    passed |= at + delay < k;
  }

  /* When all spikes from bit `most` on are among the last ones, whose distances are at hand: calls arrive(b) for those down to bit `least`
     and returns true. */
  __device__ __forceinline__ bool recent(int32_t most, int32_t least)
  {
    int32_t b = (int32_t)(row_of.newest - last.step);
    uint32_t n = 0;
    if (!(last.back & MILL_SPIKE))
      return false;
    for (uint32_t back = mill_back(last.back, 0); back && b + (int32_t)back <= most; back = mill_back(last.back, n)) {
      if (back == MILL_FAR || ++n == MILL_BACK)
        return false;
      b += back;
    }
    for (; b >= least; b -= mill_back(last.back, --n)) {
      arrive(b);
      if (!n)
        break;
    }
    return true;
  }

  /* The lowest bit of the target's history from bit b on, 64 words when there is none. */
  __device__ __forceinline__ uint32_t next(uint32_t b) const
  {
    const uint64_t *history = row_of.history + (uint64_t)target * row_of.words;
    uint32_t w = b / 64;
    uint64_t bits = w < row_of.words ? history[w] & ~0ull << b % 64 : 0;
    while (!bits && ++w < row_of.words)
      bits = history[w];
    return bits ? w * 64 + __ffsll((long long)bits) - 1 : 64 * row_of.words;
  }

  /* The target's trace after the last of its spikes that arrived before step k. */
  __device__ __forceinline__ void find_trace()
  {
    if (last.step + delay < k) {
      walk.y = last.y;
      walk.y_step = last.step;
    } else if (!passed) {
      const uint32_t from = (uint32_t)(row_of.newest - k) + delay + 1, back = mill_back(last.back, 0);
      uint32_t b = (uint32_t)(row_of.newest - last.step) + back; /* mostly the one before the last */
      if (b < from || !back || back == MILL_FAR)
        b = next(from);
      if (b < 64 * row_of.words) {
        walk.y_step = row_of.newest - b;
        walk.y = trace(walk.y_step);
        code::post_up(walk.y, rule);
      } else {
        walk.y = ((const typename code::post *)plastic.post)[target];
        walk.y_step = plastic.post_step[target];
      }
    }
  }

  template <class spikes> __device__ __forceinline__ void visit(int64_t step, int fires_)
  {
    const int32_t most = (int32_t)(row_of.newest - run.u) + (int32_t)delay;
    k = step;
    fires = fires_;
    passed = walk.met = 0;
    spikes::each(*this, row_of.history + (uint64_t)target * row_of.words, most, (int32_t)(row_of.newest - k) + !fires + (int32_t)delay);
    run.u = k + fires;
    if (!fires)
      return;
    find_trace();
    out(k + delay, target, code::fire(walk, run, rule, delay, k));
    code::pre_spike(pre, rule, k - run.k_last);
    run.k_last = k;
    run.fired = 1;
  }
  template <class spikes> __device__ __forceinline__ void row()
  {
    code::load(walk.s, plastic.column, place);
    for (uint32_t m = row_of.mask; m; m &= m - 1)
      visit<spikes>(row_of.first + (__ffs((int)m) - 1), 1);
    if (!row_of.mask)
      visit<spikes>(row_of.first + row_of.steps, 0);
    code::store(walk.s, plastic.column, place);
  }
  template <class spikes> __device__ __forceinline__ void every_step()
  {
    for (uint32_t s = 0; s < row_of.steps; s++) {
      const int spike = row_of.mask >> s & 1;
      code::load(walk.s, plastic.column, place);
      visit<spikes>(row_of.first + s + !spike, spike);
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
  const typename code::rule rule = mill_rule_of<code>(*p.plastic);
  const uint32_t ahead = 2 * stride;
  for (uint64_t i = begin; i < end; i += stride) {
    const uint32_t target = __ldcs((const index *)p.target + i);
    if (i + ahead < end) {
      MILL_PREFETCH((const index *)p.target + i + ahead);
      code::prefetch(p.plastic->column, i + ahead);
    }
    if (target == (index)MILL_NO_TARGET)
      continue;
    typename code::pre pre = *(const typename code::pre *)v.pre;
    mill_visitor<code, sink> visitor(*p.plastic, v, out, rule, pre, i, slice_first + target, mill_delay(p, i));
    mill_visit(visitor);
  }
}

#endif

/* Threads of a team: `lanes`, and where the parts of rows to visit are few, as many times two as there are threads for: up to 2048, so that
   the number of a group, at most MILL_GROUPS_MAX (core/cuda/rows.h), and lanes are not 2^32. Whole teams make up `threads`. */
static __device__ __forceinline__ uint32_t mill_team(uint32_t lanes, uint32_t threads, uint64_t parts)
{
  while (lanes < 2048 && threads % (2 * lanes) == 0 && 2 * lanes * parts <= threads)
    lanes *= 2;
  return lanes;
}

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

/* A spike of neuron i. */
template <class code>
static __device__ __forceinline__ void mill_after(const mill_device_plastic &plastic, const typename code::rule &rule, uint32_t i, int64_t step,
                                                  typename code::last &last)
{
  last.was = code::post_later(last.y, rule, step - last.step);
  mill_trace<code>(plastic, i, step) = last.was;
  last.y = last.was;
  code::post_up(last.y, rule);
  last.back = mill_further_back(last.back, step - last.step);
  last.step = step;
}

/* Spikes of neuron i that leave its history, oldest first, into the anchor of one projection to it: bit b is step oldest - b. Then its spikes
   of an epoch, bit b being step first + b: what its trace was, and what it is. */
template <class code>
static __device__ __forceinline__ void mill_hear(const mill_device_plastic &plastic, uint32_t i, uint32_t leaving, int64_t oldest,
                                                 uint32_t mask, int64_t first)
{
  const typename code::rule rule = mill_rule_of<code>(plastic);
  if (leaving) {
    const int64_t step = oldest - (__ffs((int)leaving) - 1); /* the last of them */
    typename code::post y = mill_trace<code>(plastic, i, step);
    code::post_up(y, rule);
    ((typename code::post *)plastic.post)[i] = y;
    plastic.post_step[i] = step;
  }
  if (!mask)
    return;
  typename code::last last = ((const typename code::last *)plastic.last)[i];
  for (; mask; mask &= mask - 1) {
    const int64_t step = first + (__ffs((int)mask) - 1);
    mill_after<code>(plastic, rule, i, step, last);
  }
  ((typename code::last *)plastic.last)[i] = last;
}

/* What mill_hear leaves, from the anchor and the history of neuron i, whose bit 0 is step `newest`. */
template <class code>
static __device__ __forceinline__ void mill_recall_one(const mill_device_plastic &plastic, const mill_device_population &pop, uint32_t i,
                                                       int64_t newest)
{
  const typename code::rule rule = mill_rule_of<code>(plastic);
  typename code::last last;
  last.y = ((const typename code::post *)plastic.post)[i];
  last.was = last.y;
  last.step = plastic.post_step[i];
  last.back = 0;
  for (int32_t b = 64 * (int32_t)pop.words - 1; b >= 0; b--) {
    if (!(pop.history[(uint64_t)i * pop.words + b / 64] >> b % 64 & 1))
      continue;
    mill_after<code>(plastic, rule, i, newest - b, last);
  }
  ((typename code::last *)plastic.last)[i] = last;
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

static __device__ __forceinline__ void mill_hear_all(const mill_device_network &net, const mill_device_population &pop,
                                                     const mill_now &now, uint32_t i, uint32_t leaving, uint32_t mask)
{
  const uint32_t *into = net.into_begin + (&pop - net.population) * net.populations;
  const int64_t oldest = now.first - 64 * (int64_t)pop.words + now.steps - 1;
  for (uint32_t q = into[0]; q < into[net.populations]; q++) {
    if (!net.projection[net.into[q]].plastic)
      continue;
    const mill_device_plastic &plastic = *net.projection[net.into[q]].plastic;
#define MILL_CASE_(number)                                                                                                        \
  case number: mill_hear<mill_rule_##number::mill_code>(plastic, i, leaving, oldest, mask, now.first); break;
    MILL_EACH_RULE_(MILL_CASE_)
#undef MILL_CASE_
  }
}

static __device__ __forceinline__ void mill_push(const mill_device_network &net, const mill_device_population &pop, const mill_now &now,
                                                 uint32_t i, uint32_t mask)
{
  uint64_t *history = pop.history + (uint64_t)i * pop.words, bits = __brev(mask) >> (32 - now.steps);
  const uint32_t leaving = (uint32_t)(history[pop.words - 1] >> (64 - now.steps));
  if (leaving || mask)
    mill_hear_all(net, pop, now, i, leaving, mask);
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

#if MILL_PLASTIC
/* Before the step `first` of a run that begins or goes on: what visits need of the targets' spikes. A thread for each neuron. */
MILL_KERNEL mill_recall(MILL_NETWORK, int64_t first)
{
  const uint32_t neuron = blockIdx.x * blockDim.x + threadIdx.x;
  if (neuron >= net.neurons)
    return;
  const uint32_t at = mill_population_of(net, neuron), end = net.into_begin[(at + 1) * net.populations];
  const mill_device_population &pop = net.population[at];
  for (uint32_t q = net.into_begin[at * net.populations]; q < end; q++) {
    if (!net.projection[net.into[q]].plastic)
      continue;
    const mill_device_plastic &plastic = *net.projection[net.into[q]].plastic;
#define MILL_CASE_(number)                                                                                                        \
  case number: mill_recall_one<mill_rule_##number::mill_code>(plastic, pop, neuron - pop.first, first - 1); break;
    MILL_EACH_RULE_(MILL_CASE_)
#undef MILL_CASE_
  }
}
#endif
