/* Rows of synapses made on the device, those that core/connect-rows.c makes, in the layout of <spikemill/device-network.h>. */
#include "core/cuda/connect-common.cu"
#include "core/cuda/connect-draw.cu"
#include "core/cuda/connect-ring.cu"
#include "core/cuda/connect-once.cu"
#include "core/cuda/connect-twice.cu"
#include "core/cuda/connect-degrees.cu"
