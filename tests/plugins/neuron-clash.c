/* A model with a state and a parameter of one name: a configuration key would mean two things. */
#define MILL_PARAMS(P) P(v, "mV", 1, 0, 10, "a parameter")
#define MILL_STATE(S) S(real, v, "mV", 0, "a state")
#include <spikemill/neuron.h>

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  s->v += p->v + in->current;
  return 0;
}

MILL_NEURON_MODEL("clash", "a plugin of the tests");
