/* Lazy plasticity: a synapse is updated when its source fires. The target's spikes since then are found by testing every step of its
   history (Spice 2021, section 4.2). */
#include <spikemill/plasticity.h>

static int applicable(const struct mill_network *network, uint32_t plastic, char *why, size_t size)
{
  (void)network, (void)plastic, (void)why, (void)size;
  return 1;
}

static void visit(struct mill_visit *v)
{
  mill_visit_row(v, v->plastic->code->scan);
}

static const unsigned char text[] = {
#include "plugins/plasticity/lazy.cu_text"
};
static const struct mill_plasticity_ops ops = {applicable, 0, 0, visit};
MILL_PLUGIN_WITH_TEXT(MILL_PLASTICITY, MILL_CPU | MILL_CUDA | MILL_EXACT, "lazy", "when the source fires, testing every step since", 0, NULL, 0, ops,
                      text, text + sizeof text, "plugins/plasticity/lazy.cu");
