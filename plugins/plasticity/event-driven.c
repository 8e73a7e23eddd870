/* Event-driven plasticity: as lazy, but the target's spikes are found by counting leading zeros from one to the next, so that the cost
   is that of the spikes and not of the steps (Spice 2021, section 4.3). */
#include <spikemill/plasticity.h>

static int applicable(const struct mill_network *network, uint32_t plastic, char *why, size_t size)
{
  (void)network, (void)plastic, (void)why, (void)size;
  return 1;
}

static void visit(struct mill_visit *v)
{
  mill_visit_row(v, v->plastic->code->jump);
}

static const unsigned char text[] = {
#include "plugins/plasticity/event-driven.cu_text"
};
static const struct mill_plasticity_ops ops = {applicable, 0, 0, visit};
MILL_PLUGIN_WITH_TEXT(MILL_PLASTICITY, MILL_CPU | MILL_CUDA | MILL_EXACT, "event-driven", "when the source fires, from one spike of the target to the next", 0, NULL, 0, ops,
                      text, text + sizeof text, "plugins/plasticity/event-driven.cu");
