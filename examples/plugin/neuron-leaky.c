#define MILL_PARAMS(P) P(tau, "ms", 20, 0.1, 1e6, "time constant") P(theta, "mV", 20, 1e-3, 1e6, "threshold")
#define MILL_STATE(S) S(real, v, "mV", 0, "membrane potential")
#define MILL_RECEPTORS(R) R(in, "mV", "what a spike adds to the potential")
#include <spikemill/neuron.h>
static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  s->v += in->in - p->dt / p->tau * s->v;
  return s->v >= p->theta ? (s->v = 0, 1) : 0;
}
MILL_NEURON_MODEL("leaky", "leaky integrator that fires at a threshold");
