/* A network on a device, as the text of a delivery strategy sees it: one set of structs that the host fills and the device reads, so they
   hold only 32- and 64-bit numbers and addresses. simulation.md "Epoch" says what an epoch is.

   Synapses of a projection are kept slice by slice of the target (the population's slices; those of a plastic one may be others, see plastic_width of
   delivery.h): within a slice row after row of the source, each row's part (a run) padded to whole groups of four synapses, so that a thread
   loads four at once. `start` tells where runs begin, in groups: those of rows 256 b … 256 b + 255 in slice s are start[(s · blocks + b) · 257
   + 0 … 255], and entry 256 is where the last of them ends. Padding has the target MILL_NO_TARGET. */
#ifndef SPIKEMILL_DEVICE_NETWORK_H
#define SPIKEMILL_DEVICE_NETWORK_H

#include <spikemill/device.h>

#ifdef __CUDACC_RTC__
#define MILL_AT(type) type *
#else
#define MILL_AT(type) uint64_t
#endif

#define MILL_DEVICE_EPOCHS 32u   /* most epochs of a batch */
#define MILL_ROWS 256u           /* rows of a block of `start` */
#define MILL_UNIT 128u           /* neurons of a block of the host's own kernel */
#define MILL_GROUP 4u            /* synapses of a group */
#define MILL_NO_TARGET 0xffffffffu       /* padding among 32-bit targets */
#define MILL_NO_NARROW_TARGET 0xffffu    /* among 16-bit ones */

/* As struct mill_ring, the cells being MILL_CELL. */
struct mill_device_ring {
  MILL_AT(void) cell;            /* [mask + 1][stride] */
  uint64_t stride;
  double scale;
  uint32_t mask, reserved;
};

struct mill_device_stimulus {
  MILL_AT(const void) data;      /* what the stimulus's text reads */
  uint64_t quanta;               /* of one event */
  uint32_t kind;                 /* which of the program's stimuli */
  uint32_t receptor;
};

/* A state variable that is recorded. */
struct mill_device_variable {
  MILL_AT(const uint32_t) place; /* [size] of the neuron's value in a sample; MILL_NO_TARGET: not recorded */
  uint32_t state, reserved;
};

/* What a plastic projection has, as struct mill_plastic_run of the host. Columns are in the order of `target` of the projection; the traces
   of sources are kept thrice, like their rows. */
struct mill_decay;
struct mill_device_plastic {
  MILL_AT(const void) param;     /* struct mill_rule of the rule */
  MILL_AT(const struct mill_decay) decay; /* [decays] */
  MILL_AT(const uint64_t) column; /* [columns] addresses of [groups][4] of mill_real, the weight first */
  MILL_AT(void) pre;             /* [3][sources] struct mill_pre */
  MILL_AT(void) post;            /* [targets] struct mill_post after the last spike that left the history, */
  MILL_AT(int64_t) post_step;    /* [targets] and the step of that spike */
  MILL_AT(void) last;            /* [targets] struct mill_last of the rule: after the last spike of all */
  MILL_AT(void) trace;           /* [targets][2^trace_bits] struct mill_post as it was when the spike of step s came, at s modulo 2^trace_bits,
                                    where the history has a spike */
  MILL_AT(int32_t) over;         /* set to 1 when the rule delivers more than it may */
  double per_unit;               /* quanta in one unit of weight */
  int64_t limit;                 /* largest |quanta| that a synapse may deliver */
  uint32_t rule;                 /* which of the program's rules */
  uint32_t trace_bits;
};

/* A source's rows in all its plastic projections. */
struct mill_device_row {
  int64_t k_last, u;             /* last spike; what arrived before this step is applied */
  uint32_t fired, reserved;      /* 0: the source has not fired yet */
};

struct mill_device_population {
  MILL_AT(const void) param;                          /* struct mill_param of the model */
  MILL_AT(const uint64_t) column;                     /* [states] addresses of [size] */
  MILL_AT(const struct mill_device_ring) ring;        /* [receptors] */
  MILL_AT(const struct mill_device_stimulus) stimulus; /* [stimuli] that give events */
  MILL_AT(const struct mill_device_variable) variable; /* [variables] */
  MILL_AT(uint64_t) history;                          /* [size][words] as of struct mill_run; 0: no plastic projection leads here */
  MILL_AT(struct mill_device_row) row;                /* [3][size] as they are, and as they were before the last epoch of either parity;
                                                         0: no plastic projection begins here */
  int64_t patience;                                   /* a row is due when its u lies more steps than this before the end of the epoch */
  uint64_t key;
  uint32_t words;                                     /* of a history */
  uint32_t first, size;
  uint32_t model;                /* which of the program's models */
  uint32_t receptors, stimuli, variables;
  uint32_t current;              /* row of the batch's currents; MILL_NO_TARGET: none */
};

/* A run of neurons of one population: slice `index` of it. */
struct mill_device_slice {
  uint32_t population, first, count, index;
};

struct mill_device_projection {
  MILL_AT(const uint32_t) start; /* [slices][blocks][257] */
  MILL_AT(const void) target;    /* [groups][4] of uint16_t within the slice, or of uint32_t within the population */
  MILL_AT(const void) weight;    /* [groups][4] of int16_t or int32_t; 0 when all are weight_all */
  MILL_AT(const void) delay;     /* [groups][4] of uint8_t or uint16_t; 0 when all are delay_all */
  MILL_AT(const struct mill_device_plastic) plastic; /* 0: the weights above are constant; else they are not used */
  uint32_t source, target_population, receptor;
  uint32_t blocks;               /* of rows */
  uint32_t slices, width;        /* of its targets */
  uint32_t longest;              /* groups of the longest run */
  uint32_t weight_bits, delay_bits;
  int32_t weight_all;
  uint32_t delay_all;
};

/* A neuron's spikes of one epoch: bit b is step b of it. 0: its rows are due to be visited. */
struct mill_device_spike {
  uint32_t neuron;               /* global id */
  uint32_t mask;
};

/* A batch of epochs: slots 32 h … 32 h + 31 of half h. Uploaded whole before the batch. */
struct mill_device_batch {
  int64_t first;                 /* step of the first epoch */
  uint32_t last, last_steps;     /* slot and steps of the epoch before it; MILL_NO_TARGET: none that is to be delivered */
  uint32_t ring_live;            /* 1: the rings may hold input for the epochs of this batch */
  uint32_t parity;               /* of the first epoch, by which what was before it is told from what was before the next */
  uint32_t count[MILL_DEVICE_EPOCHS]; /* neurons that fired, epoch by epoch, */
  uint32_t due[MILL_DEVICE_EPOCHS];   /* and those that did not, but whose rows are due */
};

struct mill_device_network {
  MILL_AT(const struct mill_device_population) population;
  MILL_AT(const struct mill_device_projection) projection;
  MILL_AT(const struct mill_device_slice) slice;
  /* Projections of population s into population t: into[into_begin[t · populations + s]] … up to the next entry of into_begin; and those of
     s into any: from[from_begin[s]] … */
  MILL_AT(const uint32_t) into_begin;
  MILL_AT(const uint32_t) into;
  MILL_AT(const uint32_t) from_begin;
  MILL_AT(const uint32_t) from;
  MILL_AT(struct mill_device_batch) batch;            /* [2] */
  MILL_AT(uint64_t) base;                             /* [64] where the list of each slot begins within its half */
  MILL_AT(struct mill_device_spike) spike;            /* [2][capacity] */
  uint64_t capacity;
  MILL_AT(struct mill_device_spike) due;              /* [2][neurons] of the last epoch of either parity */
  MILL_AT(const void) current;                        /* [2][rows][MILL_DEVICE_EPOCHS · epoch_steps] of mill_real */
  MILL_AT(double) sample;                             /* [2][sample_rows][samples] after each step of the batch that is recorded */
  int64_t sample_every;          /* steps; 0: nothing is recorded */
  uint32_t samples, sample_rows; /* values of a sample; steps of a batch that are recorded, at most */
  uint32_t current_rows, reserved;
  uint32_t neurons, populations, projections, slices;
  uint32_t epoch_steps;
  uint32_t every_row;            /* 1: all rows of plastic projections are due in every epoch, and are visited to its end */
};

/* Rows of a connection: drawn with a probability, all targets, the one of the source's index. */
#define MILL_ROWS_DRAWN 0u
#define MILL_ROWS_OF_ALL 1u
#define MILL_ROWS_OF_ONE 2u

/* A connection that is made on the device, as core/connect.h has it. */
struct mill_device_connection {
  double inverse;                /* 1 / log(1 - p) */
  uint64_t key;
  uint64_t room;                 /* groups of `target` */
  MILL_AT(uint32_t) start;
  MILL_AT(void) target;
  MILL_AT(uint64_t) found;       /* [4] groups in all, groups of the longest run, synapses, whether a row had no room; from 0 */
  MILL_AT(uint32_t) in_degree;   /* [targets], from 0 */
  MILL_AT(uint32_t) out_degree;  /* [sources], from 0 */
  uint32_t sources, targets, width, slices, blocks;
  uint32_t rows;                 /* MILL_ROWS_ */
  uint32_t no_autapses;
  uint32_t ring, segment;        /* of connect-once.cu: targets of a row's ring, slices of a block */
  uint32_t round_key[20];        /* of `key`, as mill_philox makes them */
  uint32_t reserved;
  float rough;                   /* inverse · log 2 */
  float open;                    /* what leaves a gap's whole part open: core/cuda/connect-draw.cu */
};

/* A connection that is given by pairs of neurons: a list, so many sources of each target, so many targets of each source, so many in all. */
#define MILL_PAIRS_LISTED 0u
#define MILL_PAIRS_BY_TARGET 1u
#define MILL_PAIRS_BY_SOURCE 2u
#define MILL_PAIRS_IN_ALL 3u

struct mill_device_pairs {
  uint64_t items, n;             /* pairs; of one neuron */
  uint64_t partners;             /* that one neuron can have */
  MILL_AT(const uint32_t) source; /* [items] of a list */
  MILL_AT(const uint32_t) target;
  MILL_AT(uint32_t) length;      /* as `start` of the connection: synapses of each run, from 0 */
  MILL_AT(uint32_t) edge;        /* [groups][4] places in the list; 0: not wanted */
  uint32_t rule, multapses, narrow, reserved;
};

/* What is to be known of weights or delays, or stored: the largest |weight|; sums of |weight| · 2^exponent, rounded up; weights as quanta; sums of
   |quanta|; weights as numbers; some weights as doubles; shortest and longest delay, of synapses, or of rows yet to be made; delays as steps. */
#define MILL_VALUES_MOST 0u
#define MILL_VALUES_SUM 1u
#define MILL_VALUES_QUANTA 2u
#define MILL_VALUES_BOUND 3u
#define MILL_VALUES_REALS 4u
#define MILL_VALUES_PICK 5u
#define MILL_VALUES_DELAYS 6u
#define MILL_VALUES_FORESEEN 7u
#define MILL_VALUES_STEPS 8u

/* Weights or delays of a connection's synapses as they lie on the device. `found`: bits of the largest |weight| or the longest delay; the inverted
   shortest delay; values drawn again, clipped, become zero; the inverted first pair (source << 32 | target) that is refused, and whose
   delay is rounded; synapses. From 0. */
struct mill_device_values {
  int32_t kind, exponent;        /* of the distribution; weights are times 2^exponent */
  double a, b, lo, hi;
  uint64_t key;
  int64_t dt_ps;
  double least, most;            /* what a plastic synapse's rule allows */
  MILL_AT(const uint32_t) start;
  MILL_AT(const void) target;
  MILL_AT(const uint32_t) edge;  /* [groups][4] of the list that has the values; 0: they are drawn */
  MILL_AT(const void) listed;    /* doubles, or picoseconds as int64_t */
  MILL_AT(void) store;           /* [groups][4] */
  MILL_AT(uint64_t) sum;         /* [targets], added to */
  MILL_AT(uint64_t) found;       /* [8] */
  MILL_AT(const uint32_t) pick;  /* [picks][2] source, and place in its row */
  uint32_t picks, blocks, slices, width;
  uint32_t narrow, multapses;
  uint32_t bits;                 /* of an entry of `store` */
  uint32_t aim;                  /* MILL_VALUES_ */
};

/* Events from the host for the step `step` of the epoch to come. */
struct mill_device_event {
  uint64_t quanta;
  uint32_t population, neuron;   /* within the population */
  uint32_t receptor, slot;       /* of the ring */
};

#endif
