/* Leaky integrate-and-fire neuron with alpha-shaped postsynaptic currents, exact integration (Rotter & Diesmann 1999): potential and
   currents are propagated over a step, then what arrived is added, then the threshold is applied. The numbers are those of NEST's model
   of the same name. A weight is the peak of the current in pA; those of `inh` are negative. While refractory the potential stays and
   the currents go on. */
#define MILL_PARAMS(P)                                                                                                           \
  P(c_m, "pF", 250, 1e-3, 1e9, "membrane capacitance")                                                                           \
  P(tau_m, "ms", 10, 1e-3, 1e6, "membrane time constant")                                                                        \
  P(tau_syn_exc, "ms", 2, 1e-3, 1e6, "rise time of the excitatory current")                                                      \
  P(tau_syn_inh, "ms", 2, 1e-3, 1e6, "rise time of the inhibitory current")                                                      \
  P(e_l, "mV", -70, -1e4, 1e4, "resting potential")                                                                              \
  P(v_th, "mV", -55, -1e4, 1e4, "threshold")                                                                                     \
  P(v_reset, "mV", -70, -1e4, 1e4, "potential after a spike")                                                                    \
  P(t_ref, "ms", 2, 0, 1e6, "refractory period")                                                                                 \
  P(i_e, "pA", 0, -1e9, 1e9, "constant input current")
#define MILL_STATE(S)                                                                                                            \
  S(real, v, "mV", p->e_l, "membrane potential")                                                                                 \
  S(real, i_exc, "pA", 0, "excitatory synaptic current")                                                                         \
  S(real, d_exc, "pA/ms", 0, "its driving term")                                                                                 \
  S(real, i_inh, "pA", 0, "inhibitory synaptic current")                                                                         \
  S(real, d_inh, "pA/ms", 0, "its driving term")                                                                                 \
  S(int, wait, "steps", 0, "steps left to be refractory")
#define MILL_RECEPTORS(R)                                                                                                        \
  R(exc, "pA", "peak excitatory current")                                                                                        \
  R(inh, "pA", "peak inhibitory current")
#define MILL_DERIVED(D)                                                                                                          \
  D(real, keep_v, "decay of the potential over a step")                                                                          \
  D(real, keep_exc, "decay of the excitatory terms")                                                                             \
  D(real, keep_inh, "decay of the inhibitory terms")                                                                             \
  D(real, v_i_exc, "potential from i_exc")                                                                                       \
  D(real, v_d_exc, "potential from d_exc")                                                                                       \
  D(real, v_i_inh, "potential from i_inh")                                                                                       \
  D(real, v_d_inh, "potential from d_inh")                                                                                       \
  D(real, jump_exc, "d_exc per pA of peak")                                                                                      \
  D(real, jump_inh, "d_inh per pA of peak")                                                                                      \
  D(real, from_const, "potential from a constant current")                                                                       \
  D(int, ref_steps, "steps skipped after a spike")
#define MILL_CURRENT "pA"
#include <spikemill/neuron.h>
#include <spikemill/propagator.h>

static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt)
{
  double e = mill_exp(1.0);
  if (!mill_whole_steps(v->t_ref, dt, &p->ref_steps))
    return "t_ref: is not a whole number of steps";
  if (v->v_reset >= v->v_th)
    return "v_reset: must lie below v_th";
  p->keep_v = (mill_real)mill_exp(-dt / v->tau_m);
  p->keep_exc = (mill_real)mill_exp(-dt / v->tau_syn_exc);
  p->keep_inh = (mill_real)mill_exp(-dt / v->tau_syn_inh);
  p->v_i_exc = (mill_real)(mill_propagate_exp(dt, v->tau_m, v->tau_syn_exc) / v->c_m);
  p->v_d_exc = (mill_real)(mill_propagate_alpha(dt, v->tau_m, v->tau_syn_exc) / v->c_m);
  p->v_i_inh = (mill_real)(mill_propagate_exp(dt, v->tau_m, v->tau_syn_inh) / v->c_m);
  p->v_d_inh = (mill_real)(mill_propagate_alpha(dt, v->tau_m, v->tau_syn_inh) / v->c_m);
  p->jump_exc = (mill_real)(e / v->tau_syn_exc);
  p->jump_inh = (mill_real)(e / v->tau_syn_inh);
  p->from_const = (mill_real)(-mill_expm1(-dt / v->tau_m) * v->tau_m / v->c_m);
  return 0;
}

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  int awake = s->wait == 0, fires;
  mill_real v = p->e_l + ((s->v - p->e_l) * p->keep_v + s->i_exc * p->v_i_exc + s->d_exc * p->v_d_exc + s->i_inh * p->v_i_inh +
                          s->d_inh * p->v_d_inh + (p->i_e + in->current) * p->from_const);
  v = awake ? v : s->v;
  s->i_exc = (s->i_exc + p->dt * s->d_exc) * p->keep_exc;
  s->d_exc = s->d_exc * p->keep_exc + in->exc * p->jump_exc;
  s->i_inh = (s->i_inh + p->dt * s->d_inh) * p->keep_inh;
  s->d_inh = s->d_inh * p->keep_inh + in->inh * p->jump_inh;
  fires = awake & (v >= p->v_th);
  s->v = fires ? p->v_reset : v;
  s->wait = fires ? p->ref_steps : awake ? 0 : s->wait - 1;
  return fires;
}

MILL_NEURON_MODEL("iaf-psc-alpha", "leaky integrate-and-fire, alpha-shaped currents (exact integration)");
