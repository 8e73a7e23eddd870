/* Read inside each model's namespace, after its text: its state between columns and registers, its input from cells. */
#define MILL_D_LOAD_(type, name, unit, init, doc) s.name = ((const MILL_TYPE_##type *)column[n++])[i];
#define MILL_D_STORE_(type, name, unit, init, doc) ((MILL_TYPE_##type *)column[n++])[i] = s.name;
#define MILL_D_VALUE_(type, name, unit, init, doc) if (n++ == state) value = (double)s.name;
#define MILL_D_RECEIVE_(name, unit, doc)                                                                                          \
  in.name = (mill_real)(MILL_SIGNED)(cells.take(n, k) + mill_stimulate(pop, n, i, in.step)) * (mill_real)pop.ring[n].scale;      \
  n++;
#define MILL_D_STATES_(type, name, unit, init, doc) +1
#define MILL_D_RECEPTORS_(name, unit, doc) +1

/* What the host must agree with: bytes of the parameters, states, receptors. */
struct mill_layout {
  static const uint32_t param = sizeof(mill_param), states = 0 MILL_STATE(MILL_D_STATES_), receptors = 0 MILL_RECEPTORS(MILL_D_RECEPTORS_);
};

/* Neuron i through the steps of an epoch; bit k of the result: it fired in step k. */
template <class cell_source>
static __device__ __forceinline__ uint32_t mill_advance(const mill_device_network &net, const mill_device_population &pop,
                                                        const mill_now &now, uint32_t i, const cell_source &cells)
{
  const mill_param p = *(const mill_param *)pop.param;
  const uint64_t *column = pop.column;
  const mill_real *current =
    pop.current == MILL_NO_TARGET
      ? 0
      : (const mill_real *)net.current + ((uint64_t)now.half * net.current_rows + pop.current) * MILL_DEVICE_EPOCHS * net.epoch_steps +
          now.index * net.epoch_steps;
  uint32_t mask = 0, n = 0;
  mill_state s;
  mill_input in;
  MILL_STATE(MILL_D_LOAD_)
  in.key = pop.key;
  in.id = pop.first + i;
  for (uint32_t k = 0; k < now.steps; k++) {
    in.step = now.first + k;
    in.current = current ? current[k] : (mill_real)0;
    n = 0;
    MILL_RECEPTORS(MILL_D_RECEIVE_)
    mask |= (uint32_t)(mill_step(&s, &p, &in) != 0) << k;
    if (pop.variables && (in.step + 1) % net.sample_every == 0) {
      const uint64_t row = (uint64_t)((in.step + 1) / net.sample_every - now.batch->first / net.sample_every - 1);
      double *sample = net.sample + ((uint64_t)now.half * net.sample_rows + row) * net.samples;
      for (uint32_t v = 0; v < pop.variables; v++) {
        const uint32_t place = pop.variable[v].place[i], state = pop.variable[v].state;
        double value = 0;
        n = 0;
        MILL_STATE(MILL_D_VALUE_)
        if (place != MILL_NO_TARGET)
          sample[place] = value;
      }
    }
  }
  n = 0;
  MILL_STATE(MILL_D_STORE_)
  (void)p;
  (void)column;
  return mask;
}
