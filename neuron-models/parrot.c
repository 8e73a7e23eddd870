/* A neuron that repeats what it hears: it fires in the step whose input holds at least one spike on `in`, so a spike arrives and leaves at
   once, after the delay of its synapse. Several spikes of one step are one spike, as no neuron fires twice in a step; `heard` has their
   number. `in` counts spikes, which is why every weight into it is 1: an input could else be 0, by weights that cancel or are rounded
   away, although spikes arrived. What arrives on `none` is ignored, whatever its weight, and so serves as the target of plastic synapses
   between spike trains that are given. */
#define MILL_STATE(S) S(real, heard, "spikes", 0, "spikes that arrived on `in` in the last step")
#define MILL_RECEPTORS(R)                                                                                                        \
  R(in, MILL_SPIKES, "spikes to repeat")                                                                                         \
  R(none, "", "ignored")
#include <spikemill/neuron.h>

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  (void)p;
  s->heard = in->in;
  return in->in >= MILL_R(1);
}

MILL_NEURON_MODEL("parrot", "repeats the spikes that it gets");
