/* Naive plasticity: every plastic synapse is updated in every step, whether something arrives or not (Spice 2021, section 4.1). The
   baseline of the other strategies. */
#include <spikemill/plasticity.h>

static int applicable(const struct mill_network *network, uint32_t plastic, char *why, size_t size)
{
  (void)network, (void)plastic, (void)why, (void)size;
  return 1;
}

static void visit(struct mill_visit *v)
{
  mill_visit_function *step = v->plastic->code->step;
  for (uint32_t s = 0; s < v->steps; s++) {
    if (v->mask >> s & 1)
      mill_visit_spike(v, step, v->first + s);
    else
      mill_visit_past(v, step, v->first + s + 1);
  }
}

static const unsigned char text[] = {
#include "plugins/plasticity/naive.cu_text"
};
static const struct mill_plasticity_ops ops = {applicable, 1, 0, visit};
MILL_PLUGIN_WITH_TEXT(MILL_PLASTICITY, MILL_CPU | MILL_CUDA | MILL_EXACT, "naive", "every plastic synapse in every step", 0, NULL, 0, ops,
                      text, text + sizeof text, "plugins/plasticity/naive.cu");
