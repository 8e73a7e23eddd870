/* Leaky integrate-and-fire neuron with conductances that decay exponentially:
     c_m dv/dt = -g_l (v - e_l) - g_exc (v - e_exc) - g_inh (v - e_inh) + i,  dg/dt = -g / tau_syn.
   One step of the classical Runge-Kutta method of fourth order on (v, g_exc, g_inh), input current constant within it; then what arrived
   is added to the conductances, then the threshold is applied, in the order and with the parameters of NEST's model of the same name
   (which integrates adaptively). Weights are conductances in nS, positive for both receptors. While refractory the potential stays and
   the conductances go on. */
#define MILL_PARAMS(P)                                                                                                           \
  P(c_m, "pF", 250, 1e-3, 1e9, "membrane capacitance")                                                                           \
  P(g_l, "nS", 16.6667, 1e-6, 1e9, "leak conductance")                                                                           \
  P(tau_syn_exc, "ms", 0.2, 1e-3, 1e6, "decay time of the excitatory conductance")                                               \
  P(tau_syn_inh, "ms", 2, 1e-3, 1e6, "decay time of the inhibitory conductance")                                                 \
  P(e_l, "mV", -70, -1e4, 1e4, "leak reversal potential")                                                                        \
  P(e_exc, "mV", 0, -1e4, 1e4, "excitatory reversal potential")                                                                  \
  P(e_inh, "mV", -85, -1e4, 1e4, "inhibitory reversal potential")                                                                \
  P(v_th, "mV", -55, -1e4, 1e4, "threshold")                                                                                     \
  P(v_reset, "mV", -60, -1e4, 1e4, "potential after a spike")                                                                    \
  P(t_ref, "ms", 2, 0, 1e6, "refractory period")                                                                                 \
  P(i_e, "pA", 0, -1e9, 1e9, "constant input current")
#define MILL_STATE(S)                                                                                                            \
  S(real, v, "mV", p->e_l, "membrane potential")                                                                                 \
  S(real, g_exc, "nS", 0, "excitatory conductance")                                                                              \
  S(real, g_inh, "nS", 0, "inhibitory conductance")                                                                              \
  S(int, wait, "steps", 0, "steps left to be refractory")
#define MILL_RECEPTORS(R)                                                                                                        \
  R(exc, "nS", "excitatory conductance")                                                                                         \
  R(inh, "nS", "inhibitory conductance")
#define MILL_DERIVED(D)                                                                                                          \
  D(real, half, "dt / 2")                                                                                                        \
  D(real, sixth, "dt / 6")                                                                                                       \
  D(real, per_c, "1 / c_m")                                                                                                      \
  D(real, exc_2, "g_exc at the method's second point, over that at the first")                                                   \
  D(real, exc_3, "at its third")                                                                                                 \
  D(real, exc_4, "at its fourth")                                                                                                \
  D(real, keep_exc, "after the step")                                                                                            \
  D(real, inh_2, "the same of g_inh")                                                                                            \
  D(real, inh_3, "at the third")                                                                                                 \
  D(real, inh_4, "at the fourth")                                                                                                \
  D(real, keep_inh, "after the step")                                                                                            \
  D(int, ref_steps, "steps skipped after a spike")
#define MILL_CURRENT "pA"
#include <spikemill/neuron.h>

/* Beyond this ratio of dt to a time constant the method makes a decaying quantity grow. */
#define STABLE 2.785

static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt)
{
  double x = dt / v->tau_syn_exc, y = dt / v->tau_syn_inh;
  if (!mill_whole_steps(v->t_ref, dt, &p->ref_steps))
    return "t_ref: is not a whole number of steps";
  if (v->v_reset >= v->v_th)
    return "v_reset: must lie below v_th";
  if (x > STABLE)
    return "tau_syn_exc: is below dt / 2.785, the Runge-Kutta method would diverge";
  if (y > STABLE)
    return "tau_syn_inh: is below dt / 2.785, the Runge-Kutta method would diverge";
  if (dt * v->g_l / v->c_m > STABLE)
    return "g_l: c_m / g_l is below dt / 2.785, the Runge-Kutta method would diverge";
  p->half = (mill_real)(dt / 2);
  p->sixth = (mill_real)(dt / 6);
  p->per_c = (mill_real)(1 / v->c_m);
  p->exc_2 = (mill_real)(1 - x / 2);
  p->exc_3 = (mill_real)(1 - x / 2 * (1 - x / 2));
  p->exc_4 = (mill_real)(1 - x * (1 - x / 2 * (1 - x / 2)));
  p->keep_exc = (mill_real)(1 - x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4))));
  p->inh_2 = (mill_real)(1 - y / 2);
  p->inh_3 = (mill_real)(1 - y / 2 * (1 - y / 2));
  p->inh_4 = (mill_real)(1 - y * (1 - y / 2 * (1 - y / 2)));
  p->keep_inh = (mill_real)(1 - y * (1 - y / 2 * (1 - y / 3 * (1 - y / 4))));
  return 0;
}

/* dv/dt in mV/ms. */
#undef slope
#define slope MILL_LOCAL(slope)
static inline mill_real slope(const struct mill_param *p, mill_real v, mill_real g_exc, mill_real g_inh, mill_real i)
{
  return (p->g_l * (p->e_l - v) + g_exc * (p->e_exc - v) + g_inh * (p->e_inh - v) + i) * p->per_c;
}

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  int awake = s->wait == 0, fires;
  mill_real i = p->i_e + in->current, v = s->v;
  mill_real k1 = slope(p, v, s->g_exc, s->g_inh, i);
  mill_real k2 = slope(p, v + p->half * k1, s->g_exc * p->exc_2, s->g_inh * p->inh_2, i);
  mill_real k3 = slope(p, v + p->half * k2, s->g_exc * p->exc_3, s->g_inh * p->inh_3, i);
  mill_real k4 = slope(p, v + p->dt * k3, s->g_exc * p->exc_4, s->g_inh * p->inh_4, i);
  v = awake ? v + p->sixth * (k1 + MILL_R(2) * (k2 + k3) + k4) : v;
  s->g_exc = s->g_exc * p->keep_exc + in->exc;
  s->g_inh = s->g_inh * p->keep_inh + in->inh;
  fires = awake & (v >= p->v_th);
  s->v = fires ? p->v_reset : v;
  s->wait = fires ? p->ref_steps : awake ? 0 : s->wait - 1;
  return fires;
}

MILL_NEURON_MODEL("iaf-cond-exp", "leaky integrate-and-fire, conductance-based exponential synapses (Runge-Kutta)");
