/* Leaky integrate-and-fire neuron whose potential jumps with every input, forward Euler: the neuron of the Brunel network as Spice
   (Bautembach et al. 2021) defines it. Order in a step: input moves the potential, unless refractory (then it is lost); a potential at
   or above threshold fires and is reset; otherwise the neuron integrates. */
#define MILL_PARAMS(P)                                                                                                           \
  P(tau_m, "ms", 20, 0.001, 1e6, "membrane time constant")                                                                       \
  P(e_l, "mV", 0, -1e4, 1e4, "resting potential")                                                                                \
  P(v_th, "mV", 20, -1e4, 1e4, "threshold")                                                                                      \
  P(v_reset, "mV", 0, -1e4, 1e4, "potential after a spike")                                                                      \
  P(t_ref, "ms", 2, 0, 1e6, "refractory period")
#define MILL_STATE(S)                                                                                                            \
  S(real, v, "mV", p->e_l, "membrane potential")                                                                                 \
  S(int, wait, "steps", 0, "steps left to be refractory")
#define MILL_RECEPTORS(R) R(delta, "mV", "jump of the membrane potential")
#define MILL_DERIVED(D)                                                                                                          \
  D(real, rate, "dt / tau_m")                                                                                                    \
  D(int, ref_steps, "steps skipped after a spike")
#define MILL_CURRENT "mV"
#include <spikemill/neuron.h>

static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt)
{
  int32_t steps;
  if (!mill_whole_steps(v->t_ref, dt, &steps))
    return "t_ref: is not a whole number of steps";
  if (v->tau_m < dt)
    return "tau_m: is shorter than a step, forward Euler would diverge";
  p->rate = (mill_real)(dt / v->tau_m);
  p->ref_steps = steps > 0 ? steps - 1 : 0;
  return 0;
}

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  int awake = s->wait == 0, fires;
  mill_real v = awake ? s->v + in->delta : s->v;
  mill_real next = v + p->rate * ((p->e_l - v) + in->current);
  fires = awake & (v >= p->v_th);
  s->v = fires ? p->v_reset : awake ? next : v;
  s->wait = fires ? p->ref_steps : awake ? 0 : s->wait - 1;
  return fires;
}

MILL_NEURON_MODEL("lif-delta", "leaky integrate-and-fire, delta synapses (Euler)");
