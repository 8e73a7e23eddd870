/* Leaky integrate-and-fire neuron with exponential postsynaptic currents, exact integration (Rotter & Diesmann 1999): potential and
   currents are propagated over a step, then what arrived is added to the currents, then the threshold is applied. The numbers are those
   of NEST's model of the same name. Weights are currents in pA; those of `inh` are negative. While refractory the potential stays and
   the currents go on. */
#define MILL_PARAMS(P)                                                                                                           \
  P(c_m, "pF", 250, 1e-3, 1e9, "membrane capacitance")                                                                           \
  P(tau_m, "ms", 10, 1e-3, 1e6, "membrane time constant")                                                                        \
  P(tau_syn_exc, "ms", 2, 1e-3, 1e6, "decay time of the excitatory current")                                                     \
  P(tau_syn_inh, "ms", 2, 1e-3, 1e6, "decay time of the inhibitory current")                                                     \
  P(e_l, "mV", -70, -1e4, 1e4, "resting potential")                                                                              \
  P(v_th, "mV", -55, -1e4, 1e4, "threshold")                                                                                     \
  P(v_reset, "mV", -70, -1e4, 1e4, "potential after a spike")                                                                    \
  P(t_ref, "ms", 2, 0, 1e6, "refractory period")                                                                                 \
  P(i_e, "pA", 0, -1e9, 1e9, "constant input current")
#define MILL_STATE(S)                                                                                                            \
  S(real, v, "mV", p->e_l, "membrane potential")                                                                                 \
  S(real, i_exc, "pA", 0, "excitatory synaptic current")                                                                         \
  S(real, i_inh, "pA", 0, "inhibitory synaptic current")                                                                         \
  S(int, wait, "steps", 0, "steps left to be refractory")
#define MILL_RECEPTORS(R)                                                                                                        \
  R(exc, "pA", "excitatory current")                                                                                             \
  R(inh, "pA", "inhibitory current")
#define MILL_DERIVED(D)                                                                                                          \
  D(real, keep_v, "decay of the potential over a step")                                                                          \
  D(real, keep_exc, "decay of the excitatory current")                                                                           \
  D(real, keep_inh, "decay of the inhibitory current")                                                                           \
  D(real, from_exc, "potential from the excitatory current")                                                                     \
  D(real, from_inh, "potential from the inhibitory current")                                                                     \
  D(real, from_const, "potential from a constant current")                                                                       \
  D(int, ref_steps, "steps skipped after a spike")
#define MILL_CURRENT "pA"
#include <spikemill/neuron.h>
#include <spikemill/propagator.h>

static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt)
{
  if (!mill_whole_steps(v->t_ref, dt, &p->ref_steps))
    return "t_ref: is not a whole number of steps";
  if (v->v_reset >= v->v_th)
    return "v_reset: must lie below v_th";
  p->keep_v = (mill_real)mill_exp(-dt / v->tau_m);
  p->keep_exc = (mill_real)mill_exp(-dt / v->tau_syn_exc);
  p->keep_inh = (mill_real)mill_exp(-dt / v->tau_syn_inh);
  p->from_exc = (mill_real)(mill_propagate_exp(dt, v->tau_m, v->tau_syn_exc) / v->c_m);
  p->from_inh = (mill_real)(mill_propagate_exp(dt, v->tau_m, v->tau_syn_inh) / v->c_m);
  p->from_const = (mill_real)(-mill_expm1(-dt / v->tau_m) * v->tau_m / v->c_m);
  return 0;
}

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  int awake = s->wait == 0, fires;
  mill_real v = p->e_l + ((s->v - p->e_l) * p->keep_v + s->i_exc * p->from_exc + s->i_inh * p->from_inh +
                          (p->i_e + in->current) * p->from_const);
  v = awake ? v : s->v;
  s->i_exc = s->i_exc * p->keep_exc + in->exc;
  s->i_inh = s->i_inh * p->keep_inh + in->inh;
  fires = awake & (v >= p->v_th);
  s->v = fires ? p->v_reset : v;
  s->wait = fires ? p->ref_steps : awake ? 0 : s->wait - 1;
  return fires;
}

MILL_NEURON_MODEL("iaf-psc-exp", "leaky integrate-and-fire, exponential currents (exact integration)");
