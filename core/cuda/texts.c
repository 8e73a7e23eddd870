#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cuda/texts.h"

/* A file as a list of its bytes, made when the product is built. */
#define END 0
static const unsigned char device_h[] = {
#include "core/spikemill/device.h_text"
    END};
static const unsigned char device_math_h[] = {
#include "core/spikemill/device-math.h_text"
    END};
static const unsigned char device_random_h[] = {
#include "core/spikemill/device-random.h_text"
    END};
static const unsigned char device_counter_h[] = {
#include "core/spikemill/device-counter.h_text"
    END};
static const unsigned char device_network_h[] = {
#include "core/spikemill/device-network.h_text"
    END};
static const unsigned char neuron_h[] = {
#include "core/spikemill/neuron.h_text"
    END};
static const unsigned char propagator_h[] = {
#include "core/spikemill/propagator.h_text"
    END};
static const unsigned char pair_rule_h[] = {
#include "core/spikemill/pair-rule.h_text"
    END};
static const unsigned char synapse_ops_h[] = {
#include "core/spikemill/synapse-ops.h_text"
    END};
static const unsigned char synapse_h[] = {
#include "core/spikemill/synapse.h_text"
    END};
static const unsigned char distribution_h[] = {
#include "core/distribution.h_text"
    END};
static const unsigned char candidates[] = {
#include "core/cuda/candidates.cu_text"
    END};
static const unsigned char connect_text[] = {
#include "core/cuda/connect.cu_text"
    END};
static const unsigned char connect_draw[] = {
#include "core/cuda/connect-draw.cu_text"
    END};
static const unsigned char connect_once[] = {
#include "core/cuda/connect-once.cu_text"
    END};
static const unsigned char connect_twice[] = {
#include "core/cuda/connect-twice.cu_text"
    END};
static const unsigned char connect_degrees[] = {
#include "core/cuda/connect-degrees.cu_text"
    END};
static const unsigned char connect_values[] = {
#include "core/cuda/connect-values.cu_text"
    END};
static const unsigned char connect_pairs[] = {
#include "core/cuda/connect-pairs.cu_text"
    END};
static const unsigned char connect_common[] = {
#include "core/cuda/connect-common.cu_text"
    END};
static const unsigned char connect_ring[] = {
#include "core/cuda/connect-ring.cu_text"
    END};
static const unsigned char prelude[] = {
#include "core/cuda/prelude.cu_text"
    END};
static const unsigned char stimuli[] = {
#include "core/cuda/stimuli.cu_text"
    END};
static const unsigned char kernel[] = {
#include "core/cuda/kernel.cu_text"
    END};
static const unsigned char stream[] = {
#include "core/cuda/stream.cu_text"
    END};
static const unsigned char log_text[] = {
#include "core/cuda/log.cu_text"
    END};
static const unsigned char model[] = {
#include "core/cuda/model.cu_text"
    END};
static const unsigned char forget[] = {
#include "core/cuda/forget.cu_text"
    END};
static const unsigned char rule[] = {
#include "core/cuda/rule.cu_text"
    END};
static const unsigned char plastic[] = {
#include "core/cuda/plastic.cu_text"
    END};
static const unsigned char surrogates[] = {
#include "core/cuda/surrogates.cu_text"
    END};
static const unsigned char update[] = {
#include "core/cuda/update.cu_text"
    END};

const struct mill_program_text mill_device_text[] = {
    {"spikemill/device.h", (const char *)device_h},
    {"spikemill/device-math.h", (const char *)device_math_h},
    {"spikemill/device-random.h", (const char *)device_random_h},
    {"spikemill/device-counter.h", (const char *)device_counter_h},
    {"spikemill/device-network.h", (const char *)device_network_h},
    {"spikemill/neuron.h", (const char *)neuron_h},
    {"spikemill/propagator.h", (const char *)propagator_h},
    {"spikemill/pair-rule.h", (const char *)pair_rule_h},
    {"spikemill/synapse-ops.h", (const char *)synapse_ops_h},
    {"spikemill/synapse.h", (const char *)synapse_h},
    {"core/distribution.h", (const char *)distribution_h},
    {"core/cuda/candidates.cu", (const char *)candidates},
    {"core/cuda/connect.cu", (const char *)connect_text},
    {"core/cuda/connect-draw.cu", (const char *)connect_draw},
    {"core/cuda/connect-once.cu", (const char *)connect_once},
    {"core/cuda/connect-twice.cu", (const char *)connect_twice},
    {"core/cuda/connect-degrees.cu", (const char *)connect_degrees},
    {"core/cuda/connect-values.cu", (const char *)connect_values},
    {"core/cuda/connect-pairs.cu", (const char *)connect_pairs},
    {"core/cuda/connect-common.cu", (const char *)connect_common},
    {"core/cuda/connect-ring.cu", (const char *)connect_ring},
    {"core/cuda/prelude.cu", (const char *)prelude},
    {"core/cuda/stimuli.cu", (const char *)stimuli},
    {"core/cuda/kernel.cu", (const char *)kernel},
    {"core/cuda/stream.cu", (const char *)stream},
    {"core/cuda/log.cu", (const char *)log_text},
    {"core/cuda/model.cu", (const char *)model},
    {"core/cuda/forget.cu", (const char *)forget},
    {"core/cuda/rule.cu", (const char *)rule},
    {"core/cuda/plastic.cu", (const char *)plastic},
    {"core/cuda/surrogates.cu", (const char *)surrogates},
    {"core/cuda/update.cu", (const char *)update},
};
const uint32_t mill_device_text_count = sizeof mill_device_text / sizeof *mill_device_text;
