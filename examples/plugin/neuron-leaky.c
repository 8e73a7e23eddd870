/* leaky: a leaky integrate-and-fire neuron, to be changed into a model of your own.

   This one file is the whole plugin. `make` compiles it to neuron-leaky.so, `make check` runs it.
   A network file uses it by its path (`model = ./neuron-leaky.so`) or, when its folder is in
   SPIKEMILL_PLUGIN_PATH, by its name (`model = leaky`). `spikemill info neuron ./neuron-leaky.so`
   shows what users get to see.

   The model is the equation   tau_m dv/dt = e_l - v + I   (Euler), with a threshold, a reset and a
   refractory period. */

/* Who may use the plugin, and which one it is. */
#define MILL_PLUGIN_VERSION "0.1"
#define MILL_PLUGIN_LICENCE "MIT"

/* What a user can set in [population.…], one line each: name, unit, default, least and greatest
   value, meaning. The function below reads a parameter as p->name. */
#define MILL_PARAMS(P)                                            \
  P(tau_m, "ms", 20, 0.001, 1e6, "membrane time constant")        \
  P(e_l, "mV", 0, -1e4, 1e4, "resting potential")                 \
  P(v_th, "mV", 20, -1e4, 1e4, "threshold")                       \
  P(v_reset, "mV", 0, -1e4, 1e4, "potential after a spike")       \
  P(t_ref, "ms", 2, 0, 1e6, "refractory period")

/* What each neuron remembers from step to step: type (real, int or long), name, unit, value at the
   start, meaning. A network file may give another start, such as `v = uniform(0, 20)`. */
#define MILL_STATE(S)                                             \
  S(real, v, "mV", p->e_l, "membrane potential")                  \
  S(int, wait, "steps", 0, "steps left to be refractory")

/* Where synapses can end: name, unit of the weights, meaning. in->input is the sum of the weights
   that arrive in this step. */
#define MILL_RECEPTORS(R)                                         \
  R(input, "mV", "jump of the membrane potential")

/* Numbers that are the same for all neurons and all steps, computed once, by mill_derive: type,
   name, meaning. */
#define MILL_DERIVED(D)                                           \
  D(real, rate, "dt / tau_m")                                     \
  D(int, ref_steps, "refractory steps")

/* The model also takes a real-valued input from stimuli such as dc: in->current, in this unit. */
#define MILL_CURRENT "mV"

#include <spikemill/neuron.h>

/* Runs once, before the first step. v holds the parameters, in double; dt is the step in ms.
   Returns 0, or "KEY: what is wrong" to refuse what the user asked for. */
static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt)
{
  int32_t steps;
  if (!mill_whole_steps(v->t_ref, dt, &steps))
    return "t_ref: is not a whole number of steps";
  if (v->tau_m < dt)
    return "tau_m: is shorter than a step";
  p->rate = (mill_real)(dt / v->tau_m);
  p->ref_steps = steps;
  return 0;
}

/* One neuron, one step. Returns 1 when the neuron fires, else 0. The compiler makes one loop of it
   that does many neurons at once, so write a choice as `a ? b : c`. Numbers are mill_real (float or
   double, as the user chooses) and constants MILL_R(0.5). Allowed are + - * / comparisons,
   MILL_SQRT, MILL_EXP, MILL_LOG and MILL_POW: then every machine computes the same spikes. */
static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  int awake = s->wait == 0;
  mill_real v = s->v + p->rate * (p->e_l - s->v + in->current) + in->input;
  int fires = awake & (v >= p->v_th);
  s->v = fires ? p->v_reset : awake ? v : s->v;
  s->wait = fires ? p->ref_steps : awake ? 0 : s->wait - 1;
  return fires;
}

MILL_NEURON_MODEL("leaky", "leaky integrate-and-fire, from the skeleton");
