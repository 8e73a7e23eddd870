/* A simulation on a GPU: populations and projections cut into slices (gpu-cut.c), connected there or from the host's rows (gpu-connect.c,
   rows.c), put together (gpu-network.c, gpu-build.c), advanced by batches of epochs (gpu-run.c) whose spikes are recorded (gpu-results.c). The
   device's arrays are the state while it runs; mill_gpu_fetch brings them back to the host's. */
#ifndef MILL_CUDA_GPU_H
#define MILL_CUDA_GPU_H

#include <spikemill/delivery.h>
#include <spikemill/device-network.h>
#include "cuda/compose.h"
#include "cuda/device.h"
#include "order.h"
#include "cuda/maker.h"
#include "cuda/spike-log.h"
#include "simulation.h"

/* A kernel of the epoch, ready to be launched. */
struct mill_gpu_kernel {
  mill_cu_function function;
  struct mill_launch launch;
};

/* What comes back of a half's epochs, in pinned memory; `ready` when it is there. */
struct mill_gpu_half {
  struct mill_device_batch *batch;   /* to be uploaded: [1], then the currents */
  struct mill_device_batch *result;  /* counts */
  struct mill_device_spike *spike;   /* [landing] the first spikes; grows when there are more */
  uint64_t landing;                  /* spikes that are copied before their number is known */
  double *sample;                    /* [sample_rows][samples] */
  mill_cu_event done, ready;
  mill_cu_graph_exec graph;          /* all epochs of the half */
  uint32_t epochs, last_steps;       /* in flight; steps of the last of them */
};

/* An epoch's spikes, and how far they are. */
enum mill_gpu_phase { MILL_GPU_LANDED, MILL_GPU_ORDERED, MILL_GPU_FAILED };
struct mill_gpu_epoch {
  struct mill_ordered ordered;
  uint32_t phase;                    /* atomic */
  struct mill_error error;
};

struct mill_gpu {
  struct mill_cuda *cuda;
  mill_cu_module module;
  mill_cu_stream stream, copies;
  struct mill_device_shape shape;
  struct mill_device_network net;
  struct mill_cut *cut;              /* [projections] of their targets */
  struct mill_gpu_kernel kernel[MILL_LAUNCHES], settle, scatter, recall;
  uint32_t kernels;
  struct mill_device_population *population; /* [populations] as on the device */
  mill_cu_address **column;          /* [populations][states] */
  struct mill_device_ring **ring;    /* [populations][receptors] */
  mill_cu_address **synapse;         /* [projections][columns] of plastic ones; NULL of others */
  mill_cu_address over;              /* [projections] int32_t: a rule delivered more than it may; 0: no synapse is plastic */
  struct mill_device_plastic *plastic; /* [projections] as on the device */
  uint32_t *current_of;              /* [current_rows] populations with currents */
  struct mill_gpu_half half[2];
  uint32_t epochs;                   /* of a batch */
  uint32_t turn;                     /* half of the next batch */
  uint32_t last, last_steps;         /* slot and steps of the epoch that is not delivered yet; MILL_NO_TARGET: none */
  int64_t live_until;                /* rings may hold input for steps before this one */
  int always_live;                   /* delays differ, or the host sends events */
  uint32_t host_events;              /* stimuli that the host evaluates */
  mill_cu_address event;             /* their events */
  uint64_t event_capacity;
  uint32_t *out_degree;              /* [neurons] synapses of each */
  struct mill_device_projection *made; /* [projections] those made on the device, and later all */
  uint64_t *groups;                  /* [projections] of synapses */
  struct mill_order_scratch *scratch; /* [workers] */
  struct mill_gpu_epoch *epoch;      /* [epochs] of the batch that is put in order */
  uint64_t synaptic_events, due_events;
  uint32_t parity;                   /* of the next epoch */
  int stale, stale_synapses;         /* 1: the host's arrays, the states of synapses, are behind the device's */
  struct mill_maker maker;           /* of synapses, opened when it is needed */
  mill_cu_address *real;             /* [projections] initial weights of plastic ones that were made on the device, until they are a column */
  mill_cu_address *edge;             /* [projections] made->edge of those whose list has weights or delays, until both are stored */
  uint32_t **length;                 /* [projections] synapses of each row, NULL when nobody will ask */
  struct mill_spike_log *log;        /* NULL: nobody wants one */
  double connect_s;                  /* that making synapses on the device took */
};

/* Whether a network can run on a GPU (with its delivery, when one is chosen already): 1, or 0 with the reason in why[size]. Asks nothing of
   the machine. */
int mill_gpu_serves(const struct mill_netfile *file, char *why, size_t size);
/* Whether this machine has one, and the compiler for it: 1, or 0 with what is missing beside a GPU in why[size], "" when there is none. Makes no
   context, which takes a tenth of a second. */
int mill_gpu_present(char *why, size_t size);
/* Whether the device evaluates a stimulus of this plugin: it gives events, and has a text for it. */
int mill_gpu_has_events(const struct mill_plugin *plugin);

/* What a delivery strategy has for devices; NULL: nothing. */
const struct mill_delivery_device *mill_gpu_delivery(const struct mill_plugin *plugin);

/* Fails with what the delivery strategy has against this network on this device. */
int mill_gpu_refuse(const struct mill_simulation *simulation, const char *why, struct mill_error *error);

/* Opens the device. Before anything is built. */
int mill_gpu_open(struct mill_simulation *simulation, struct mill_error *error);
/* Whether a projection can be made on the device: build.c then leaves it without rows. */
int mill_gpu_makes(const struct mill_projection_setup *setup);
/* Cuts populations and projections into slices, once delays are known, and makes the projections that have no rows. */
int mill_gpu_cut(struct mill_simulation *simulation, struct mill_error *error);
/* Whether a projection is cut otherwise than its target: plastic_width. */
int mill_gpu_cut_apart(const struct mill_simulation *simulation, uint32_t projection);
int mill_gpu_connect(struct mill_simulation *simulation, struct mill_error *error);
/* Of gpu-values.c. Delays of a projection that is to be made on the device, as mill_delay finds them; nothing of it is kept. *possible becomes 0
   when one of them cannot be had: the host then says which. */
int mill_gpu_foresee_delays(struct mill_simulation *simulation, uint32_t projection, int *possible, struct mill_error *error);
/* Its delays, once it was made, into gpu->made. */
int mill_gpu_make_delays(struct mill_simulation *simulation, uint32_t projection, struct mill_error *error);
/* Places in lists are not needed any more. */
void mill_gpu_forget_edges(struct mill_simulation *simulation, uint32_t projection);
/* What accumulate.c asks of weights that the host has not. */
int mill_gpu_weights_pass(void *simulation, struct mill_weighing *weighing, enum mill_weights_aim aim, int exponent, uint64_t *sum,
                          struct mill_weights_found *found, struct mill_error *error);
int mill_gpu_weights_sample(void *simulation, const struct mill_weighing *weighing, uint32_t count, const uint64_t *synapse, double *weight,
                            struct mill_error *error);
/* The initial weights of a plastic projection that was made on the device: *column [groups][4] of the network's precision, padding 0, which
   belongs to gpu->cuda. Adds what was drawn again and clipped as plastic-build.c does. A weight that the rule does not allow is refused with
   its place. */
int mill_gpu_make_reals(struct mill_simulation *simulation, uint32_t projection, mill_cu_address *column, struct mill_error *error);
/* Of all such projections, into gpu->real. */
int mill_gpu_make_all_reals(struct mill_simulation *simulation, struct mill_error *error);
/* Synapses of a projection as they lie on the device. */
struct mill_laid mill_gpu_laid(const struct mill_simulation *simulation, uint32_t projection);
/* Brings rows, weights and delays of a projection to the host too; they are the same as if they had been made there. */
int mill_gpu_complete(struct mill_simulation *simulation, uint32_t projection, struct mill_error *error);
/* Builds the network on it, from the host's arrays, and the program. */
int mill_gpu_build(struct mill_simulation *simulation, struct mill_error *error);
/* Once recording is prepared: what the device samples, and the graphs. */
int mill_gpu_ready(struct mill_simulation *simulation, struct mill_error *error);
void mill_gpu_free(struct mill_simulation *simulation);

/* As mill_engine_run. An error is left in the recorder. */
void mill_gpu_run(struct mill_simulation *simulation, int64_t until);
/* Delivers the spikes of the last epoch and brings state and rings to the host's arrays. */
int mill_gpu_fetch(struct mill_simulation *simulation, struct mill_error *error);
/* After mill_gpu_fetch: brings the states of plastic synapses too, whose rows it makes on the host when they are not there. */
int mill_gpu_fetch_synapses(struct mill_simulation *simulation, struct mill_error *error);

/* Of gpu-network.c: the arrays of the network, and the models and stimuli that the program needs; then what the device samples. */
int mill_gpu_put_network(struct mill_simulation *simulation, struct mill_composition *composition, struct mill_error *error);
int mill_gpu_put_recorded(struct mill_simulation *simulation, struct mill_error *error);

/* Of gpu-plastic.c: bytes that the synapses of a plastic projection take besides targets and delays, before it is made; puts its state, rules and
   the strategy there, once projections and populations are; and fetches all of it but the synapses. mill_gpu_check_rules brings what the rules
   noted (mill_plastic_check), after the epochs are done. */
uint64_t mill_gpu_plastic_bytes(const struct mill_simulation *simulation, uint32_t projection);
int mill_gpu_put_plastic(struct mill_simulation *simulation, struct mill_composition *composition, struct mill_error *error);
/* The history of a population again, when the host has made it longer. */
int mill_gpu_lengthen(struct mill_simulation *simulation, uint32_t population, struct mill_error *error);
/* What visits need of the targets' spikes, from the histories: before the first step, and when they are longer. */
int mill_gpu_recall(struct mill_simulation *simulation, struct mill_error *error);
/* Bytes of what is kept of a target's last spike: struct mill_last of core/cuda/rule.cu. */
static inline uint64_t mill_gpu_last_bytes(const struct mill_synapse_code *code)
{
  return 16 + (2 * code->post_size + UINT64_C(15)) / 16 * 16;
}
int mill_gpu_fetch_plastic(struct mill_simulation *simulation, struct mill_error *error);
int mill_gpu_check_rules(struct mill_simulation *simulation, struct mill_error *error);
void mill_gpu_plastic_free(struct mill_simulation *simulation);

/* Of gpu-results.c: buffers; room for the first spikes of a half, as many as asked for or all that there can be; waits for a half's epochs and
   records them. An error of recording is left in the recorder. */
int mill_gpu_results_build(struct mill_simulation *simulation, struct mill_error *error);
void mill_gpu_results_free(struct mill_simulation *simulation);
int mill_gpu_landing(struct mill_gpu *gpu, uint32_t half, uint64_t spikes, struct mill_error *error);
int mill_gpu_take(struct mill_simulation *simulation, uint32_t half, struct mill_error *error);

/* From now on spikes are kept on the device, too, once and before the first step: for a miner there. The log is the simulation's. */
struct mill_spike_log *mill_gpu_keep_spikes(struct mill_simulation *simulation, struct mill_error *error);

/* Of gpu-run.c, for the graphs: launches the kernels of the epoch in `slot`. */
int mill_gpu_launch(struct mill_gpu *gpu, uint32_t slot, uint32_t steps, struct mill_error *error);

#endif
