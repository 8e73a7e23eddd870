/* Leaky integrate-and-fire neuron whose potential jumps with every input, exact integration (Rotter & Diesmann 1999): the potential is
   propagated over a step, then what arrived is added, then the threshold is applied. The numbers are those of NEST's model of the same
   name with its defaults: while refractory the potential stays, and what arrives then is lost. */
#define MILL_PARAMS(P)                                                                                                           \
  P(c_m, "pF", 250, 1e-3, 1e9, "membrane capacitance")                                                                           \
  P(tau_m, "ms", 10, 1e-3, 1e6, "membrane time constant")                                                                        \
  P(e_l, "mV", -70, -1e4, 1e4, "resting potential")                                                                              \
  P(v_th, "mV", -55, -1e4, 1e4, "threshold")                                                                                     \
  P(v_reset, "mV", -70, -1e4, 1e4, "potential after a spike")                                                                    \
  P(t_ref, "ms", 2, 0, 1e6, "refractory period")                                                                                 \
  P(i_e, "pA", 0, -1e9, 1e9, "constant input current")
#define MILL_STATE(S)                                                                                                            \
  S(real, v, "mV", p->e_l, "membrane potential")                                                                                 \
  S(int, wait, "steps", 0, "steps left to be refractory")
#define MILL_RECEPTORS(R) R(delta, "mV", "jump of the membrane potential")
#define MILL_DERIVED(D)                                                                                                          \
  D(real, keep_v, "decay of the potential over a step")                                                                          \
  D(real, from_const, "potential from a constant current")                                                                       \
  D(int, ref_steps, "steps skipped after a spike")
#define MILL_CURRENT "pA"
#include <spikemill/neuron.h>

static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt)
{
  if (!mill_whole_steps(v->t_ref, dt, &p->ref_steps))
    return "t_ref: is not a whole number of steps";
  if (v->v_reset >= v->v_th)
    return "v_reset: must lie below v_th";
  p->keep_v = (mill_real)mill_exp(-dt / v->tau_m);
  p->from_const = (mill_real)(-mill_expm1(-dt / v->tau_m) * v->tau_m / v->c_m);
  return 0;
}

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  int awake = s->wait == 0, fires;
  mill_real v = p->e_l + ((s->v - p->e_l) * p->keep_v + (p->i_e + in->current) * p->from_const) + in->delta;
  v = awake ? v : s->v;
  fires = awake & (v >= p->v_th);
  s->v = fires ? p->v_reset : v;
  s->wait = fires ? p->ref_steps : awake ? 0 : s->wait - 1;
  return fires;
}

MILL_NEURON_MODEL("iaf-psc-delta", "leaky integrate-and-fire, delta synapses (exact integration)");
