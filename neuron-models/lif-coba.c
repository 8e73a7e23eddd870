/* Leaky integrate-and-fire neuron with conductance-based exponential synapses, forward Euler: the neuron of the Vogels-Abbott network
   as Spice (Bautembach et al. 2021) defines it. Conductances are in units of the leak. Order in a step: what arrived is added to the
   conductances, also while refractory; a potential at or above threshold fires and is reset; otherwise the neuron integrates; then
   the conductances decay. */
#define MILL_PARAMS(P)                                                                                                           \
  P(tau_m, "ms", 20, 0.001, 1e6, "membrane time constant")                                                                       \
  P(e_l, "mV", -60, -1e4, 1e4, "leak reversal potential")                                                                        \
  P(e_exc, "mV", 0, -1e4, 1e4, "excitatory reversal potential")                                                                  \
  P(e_inh, "mV", -80, -1e4, 1e4, "inhibitory reversal potential")                                                                \
  P(v_th, "mV", -50, -1e4, 1e4, "threshold")                                                                                     \
  P(v_reset, "mV", -60, -1e4, 1e4, "potential after a spike")                                                                    \
  P(tau_exc, "ms", 5, 0.001, 1e6, "decay time of the excitatory conductance")                                                    \
  P(tau_inh, "ms", 10, 0.001, 1e6, "decay time of the inhibitory conductance")                                                   \
  P(t_ref, "ms", 5, 0, 1e6, "refractory period")                                                                                 \
  P(i_bg, "mV", 20, -1e6, 1e6, "constant drive, as a potential over the leak")
#define MILL_STATE(S)                                                                                                            \
  S(real, v, "mV", p->e_l, "membrane potential")                                                                                 \
  S(real, g_exc, "leak", 0, "excitatory conductance")                                                                            \
  S(real, g_inh, "leak", 0, "inhibitory conductance")                                                                            \
  S(int, wait, "steps", 0, "steps left to be refractory")
#define MILL_RECEPTORS(R)                                                                                                        \
  R(exc, "leak", "excitatory conductance")                                                                                       \
  R(inh, "leak", "inhibitory conductance")
#define MILL_DERIVED(D)                                                                                                          \
  D(real, rate, "dt / tau_m")                                                                                                    \
  D(real, keep_exc, "1 - dt / tau_exc")                                                                                          \
  D(real, keep_inh, "1 - dt / tau_inh")                                                                                          \
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
  if (v->tau_exc < dt)
    return "tau_exc: is shorter than a step, forward Euler would diverge";
  if (v->tau_inh < dt)
    return "tau_inh: is shorter than a step, forward Euler would diverge";
  p->rate = (mill_real)(dt / v->tau_m);
  p->keep_exc = (mill_real)(1 - dt / v->tau_exc);
  p->keep_inh = (mill_real)(1 - dt / v->tau_inh);
  p->ref_steps = steps > 0 ? steps - 1 : 0;
  return 0;
}

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  mill_real g_exc = s->g_exc + in->exc, g_inh = s->g_inh + in->inh, v = s->v;
  mill_real drive = (p->e_l - v) + g_exc * (p->e_exc - v) + g_inh * (p->e_inh - v) + (p->i_bg + in->current);
  mill_real next = v + p->rate * drive;
  int awake = s->wait == 0, fires = awake & (v >= p->v_th);
  s->v = fires ? p->v_reset : awake ? next : v;
  s->wait = fires ? p->ref_steps : awake ? 0 : s->wait - 1;
  s->g_exc = g_exc * p->keep_exc;
  s->g_inh = g_inh * p->keep_inh;
  return fires;
}

MILL_NEURON_MODEL("lif-coba", "leaky integrate-and-fire, conductance-based exponential synapses (Euler)");
