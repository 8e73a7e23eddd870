/* Pins what plugins are compiled against. A number that changes here is a change of the interface: append and raise MILL_ABI_MINOR, or
   raise MILL_ABI_MAJOR. Numbers are those of machines with 64-bit pointers. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <spikemill/counter.h>
#include <spikemill/delivery.h>
#include <spikemill/format.h>
#include <spikemill/network.h>
#include <spikemill/neuron-ops.h>
#include <spikemill/plasticity.h>
#include <spikemill/plugin.h>
#include <spikemill/stimulus.h>
#include <spikemill/synapse-ops.h>

#include "registry.h"
#include "tap.h"

struct pin {
  const char *what;
  size_t got, want;
};

#define SIZE(type, size) {"size of " #type, sizeof(struct type), size}
#define AT(type, member, offset) {#type "." #member, offsetof(struct type, member), offset}

static const struct pin pins[] = {
  AT(mill_error, status, 0), AT(mill_error, text, 4), SIZE(mill_error, 1540),

  AT(mill_plugin, magic, 0), AT(mill_plugin, abi_major, 4), AT(mill_plugin, abi_minor, 6), AT(mill_plugin, size, 8),
  AT(mill_plugin, pointer_size, 12), AT(mill_plugin, kind, 14), AT(mill_plugin, flags, 16), AT(mill_plugin, ops_size, 20),
  AT(mill_plugin, params_size, 24), AT(mill_plugin, param_count, 28), AT(mill_plugin, name, 32), AT(mill_plugin, version, 40),
  AT(mill_plugin, summary, 48), AT(mill_plugin, licence, 56), AT(mill_plugin, params, 64), AT(mill_plugin, ops, 72),
  AT(mill_plugin, source, 80), AT(mill_plugin, source_end, 88), AT(mill_plugin, source_name, 96), SIZE(mill_plugin, 104),

  AT(mill_param_spec, key, 0), AT(mill_param_spec, unit, 8), AT(mill_param_spec, deflt, 16), AT(mill_param_spec, choices, 24),
  AT(mill_param_spec, doc, 32), AT(mill_param_spec, min, 40), AT(mill_param_spec, max, 48), AT(mill_param_spec, offset, 56),
  AT(mill_param_spec, type, 60), AT(mill_param_spec, flags, 62), SIZE(mill_param_spec, 64),

  AT(mill_host, size, 0), AT(mill_host, abi, 4), AT(mill_host, fail, 8), AT(mill_host, allocate, 16), AT(mill_host, release, 24),
  AT(mill_host, note, 32), AT(mill_host, each, 40), AT(mill_host, interrupted, 48),
  SIZE(mill_host, 56),

  AT(mill_ring, cell, 0), AT(mill_ring, stride, 8), AT(mill_ring, mask, 16), AT(mill_ring, bits, 20), AT(mill_ring, scale, 24),
  SIZE(mill_ring, 32),
  AT(mill_population, name, 0), AT(mill_population, index, 8), AT(mill_population, first, 12), AT(mill_population, size, 16),
  AT(mill_population, receptor_count, 20), AT(mill_population, ring, 24), SIZE(mill_population, 32),
  AT(mill_projection, name, 0), AT(mill_projection, index, 8), AT(mill_projection, source, 12), AT(mill_projection, target, 16),
  AT(mill_projection, receptor, 20), AT(mill_projection, synapses, 24), AT(mill_projection, row, 32),
  AT(mill_projection, column, 40), AT(mill_projection, weight_bits, 48), AT(mill_projection, weight_all, 52),
  AT(mill_projection, weight, 56), AT(mill_projection, delay_bits, 64), AT(mill_projection, delay_all, 68),
  AT(mill_projection, delay, 72), AT(mill_projection, delay_min, 80), AT(mill_projection, delay_max, 84),
  AT(mill_projection, plastic, 88), SIZE(mill_projection, 96),
  AT(mill_network, dt, 0), AT(mill_network, neurons, 8), AT(mill_network, population_count, 12),
  AT(mill_network, projection_count, 16), AT(mill_network, population, 24), AT(mill_network, projection, 32),
  AT(mill_network, epoch_steps, 40), AT(mill_network, delay_max, 44), AT(mill_network, workers, 48),
  AT(mill_network, slice_count, 52), AT(mill_network, slice, 56), AT(mill_network, slice_of, 64), SIZE(mill_network, 72),
  AT(mill_slice, population, 0), AT(mill_slice, first, 4), AT(mill_slice, count, 8), SIZE(mill_slice, 12),
  AT(mill_spike, neuron, 0), AT(mill_spike, mask, 4), SIZE(mill_spike, 8),
  AT(mill_epoch, first, 0), AT(mill_epoch, steps, 8), AT(mill_epoch, spikes, 16), AT(mill_epoch, count, 24),
  AT(mill_epoch, entries, 32), SIZE(mill_epoch, 40),
  AT(mill_entry, source, 0), AT(mill_entry, mask, 4), AT(mill_entry, k_last, 8), AT(mill_entry, u, 16), AT(mill_entry, fired, 24),
  AT(mill_entry, reserved, 28), SIZE(mill_entry, 32),
  AT(mill_entries, entry, 0), AT(mill_entries, pre, 8), AT(mill_entries, count, 16), SIZE(mill_entries, 24),

  AT(mill_state_spec, name, 0), AT(mill_state_spec, unit, 8), AT(mill_state_spec, initial, 16), AT(mill_state_spec, doc, 24),
  AT(mill_state_spec, type, 32), AT(mill_state_spec, reserved, 36), SIZE(mill_state_spec, 40),
  AT(mill_receptor_spec, name, 0), AT(mill_receptor_spec, unit, 8), AT(mill_receptor_spec, doc, 16), SIZE(mill_receptor_spec, 24),
  AT(mill_neuron_batch, count, 0), AT(mill_neuron_batch, id, 4), AT(mill_neuron_batch, step, 8), AT(mill_neuron_batch, key, 16),
  AT(mill_neuron_batch, param, 24), AT(mill_neuron_batch, state, 32), AT(mill_neuron_batch, input, 40),
  AT(mill_neuron_batch, current, 48), AT(mill_neuron_batch, fired, 56), SIZE(mill_neuron_batch, 64),
  AT(mill_neuron_code, real_size, 0), AT(mill_neuron_code, param_size, 4), AT(mill_neuron_code, derive, 8),
  AT(mill_neuron_code, init, 16), AT(mill_neuron_code, step, 24), SIZE(mill_neuron_code, 32),
  AT(mill_neuron_ops, state_count, 0), AT(mill_neuron_ops, receptor_count, 4), AT(mill_neuron_ops, state, 8),
  AT(mill_neuron_ops, receptor, 16), AT(mill_neuron_ops, current_unit, 24), AT(mill_neuron_ops, code, 32),
  SIZE(mill_neuron_ops, 96),

  AT(mill_decay, fine, 0), AT(mill_decay, coarse, 8), AT(mill_decay, coarse_count, 16), SIZE(mill_decay, 24),
  AT(mill_run, count, 0), AT(mill_run, delay_all, 4), AT(mill_run, delay, 8), AT(mill_run, target, 16), AT(mill_run, syn, 24),
  AT(mill_run, at, 32), AT(mill_run, pre, 40), AT(mill_run, k_last, 48), AT(mill_run, u, 56), AT(mill_run, fired, 64),
  AT(mill_run, words, 68), AT(mill_run, history, 72), AT(mill_run, newest, 80), AT(mill_run, post, 88),
  AT(mill_run, post_step, 96), AT(mill_run, param, 104), AT(mill_run, decay, 112), AT(mill_run, per_unit, 120),
  AT(mill_run, limit, 128), AT(mill_run, quanta, 136), AT(mill_run, over, 144), SIZE(mill_run, 152),
  AT(mill_synapse_code, real_size, 0), AT(mill_synapse_code, param_size, 4), AT(mill_synapse_code, pre_size, 8),
  AT(mill_synapse_code, post_size, 12), AT(mill_synapse_code, derive, 16), AT(mill_synapse_code, pre_init, 24),
  AT(mill_synapse_code, post_init, 32), AT(mill_synapse_code, syn_init, 40), AT(mill_synapse_code, pre_spike, 48),
  AT(mill_synapse_code, post_spike, 56), AT(mill_synapse_code, step, 64), AT(mill_synapse_code, scan, 72),
  AT(mill_synapse_code, jump, 80), SIZE(mill_synapse_code, 88),
  AT(mill_synapse_ops, plastic, 0), AT(mill_synapse_ops, syn_count, 4), AT(mill_synapse_ops, decay_count, 8),
  AT(mill_synapse_ops, reserved, 12), AT(mill_synapse_ops, syn, 16), AT(mill_synapse_ops, decays, 24),
  AT(mill_synapse_ops, bounds, 32), AT(mill_synapse_ops, code, 40), SIZE(mill_synapse_ops, 216),
  AT(mill_plasticity_ops, applicable, 0), AT(mill_plasticity_ops, every_row, 8), AT(mill_plasticity_ops, reserved, 12),
  AT(mill_plasticity_ops, visit, 16), SIZE(mill_plasticity_ops, 24),
  AT(mill_plastic, code, 0), AT(mill_plastic, visit, 8), AT(mill_plastic, param, 16), AT(mill_plastic, decay, 24),
  AT(mill_plastic, syn, 32), AT(mill_plastic, syn_count, 40), AT(mill_plastic, words, 44), AT(mill_plastic, history, 48),
  AT(mill_plastic, post, 56), AT(mill_plastic, post_step, 64), AT(mill_plastic, per_unit, 72), AT(mill_plastic, limit, 80),
  AT(mill_plastic, over, 88), SIZE(mill_plastic, 96),
  AT(mill_visit, run, 0), AT(mill_visit, plastic, 152), AT(mill_visit, ring, 160), AT(mill_visit, first, 168),
  AT(mill_visit, steps, 176), AT(mill_visit, mask, 180), AT(mill_visit, delay, 184), AT(mill_visit, quanta, 1208),
  AT(mill_visit, pre, 3256), SIZE(mill_visit, 3512),
  AT(mill_delivery_ops, applicable, 0), AT(mill_delivery_ops, slice_width, 8), AT(mill_delivery_ops, prepare, 16),
  AT(mill_delivery_ops, deliver, 24), AT(mill_delivery_ops, release, 32),
  AT(mill_delivery_ops, device, 40), SIZE(mill_delivery_ops, 48),
  AT(mill_delivery_device, narrow, 0), AT(mill_delivery_device, slice_widths, 8), AT(mill_delivery_device, epoch, 16),
  AT(mill_delivery_device, settle, 24), AT(mill_delivery_device, plastic_width, 32), SIZE(mill_delivery_device, 40),
  AT(mill_launch, kernel, 0), AT(mill_launch, blocks, 8), AT(mill_launch, threads, 12), AT(mill_launch, shared_bytes, 16),
  AT(mill_launch, argument, 20), SIZE(mill_launch, 24),
  AT(mill_device_shape, multiprocessors, 0), AT(mill_device_shape, shared_block, 4), AT(mill_device_shape, epoch_steps, 8),
  AT(mill_device_shape, cell_bytes, 12), AT(mill_device_shape, receptors, 16), AT(mill_device_shape, slices, 20),
  AT(mill_device_shape, width, 24), AT(mill_device_shape, run_groups, 32), AT(mill_device_shape, plastic, 40),
  SIZE(mill_device_shape, 48),

  AT(mill_stimulus_target, dt, 0), AT(mill_stimulus_target, dt_ps, 8), AT(mill_stimulus_target, t0, 16),
  AT(mill_stimulus_target, key, 24), AT(mill_stimulus_target, size, 32), AT(mill_stimulus_target, population, 40),
  AT(mill_stimulus_target, folder, 48), SIZE(mill_stimulus_target, 56),
  AT(mill_stimulus_batch, step, 0), AT(mill_stimulus_batch, first, 8), AT(mill_stimulus_batch, count, 12),
  SIZE(mill_stimulus_batch, 16),
  AT(mill_spike_table, count, 0), AT(mill_spike_table, step, 8), AT(mill_spike_table, neuron, 16), SIZE(mill_spike_table, 24),
  AT(mill_stimulus_ops, prepare, 0), AT(mill_stimulus_ops, file_key, 8), AT(mill_stimulus_ops, events_from, 16),
  AT(mill_stimulus_ops, largest, 24), AT(mill_stimulus_ops, events, 32), AT(mill_stimulus_ops, current, 40),
  AT(mill_stimulus_ops, release, 48), AT(mill_stimulus_ops, device, 56), SIZE(mill_stimulus_ops, 64),

  AT(mill_interval, low, 0), AT(mill_interval, high, 8), SIZE(mill_interval, 16),
  AT(mill_counter_input, events, 0), AT(mill_counter_input, types, 4), AT(mill_counter_input, time, 8),
  AT(mill_counter_input, type, 16), AT(mill_counter_input, order, 24), AT(mill_counter_input, first, 32),
  AT(mill_counter_input, type_time, 40), AT(mill_counter_input, type_order, 48), AT(mill_counter_input, interval_count, 56),
  AT(mill_counter_input, interval, 64), AT(mill_counter_input, strict, 72), AT(mill_counter_input, threshold, 80),
  AT(mill_counter_input, memory, 88), AT(mill_counter_input, team, 96), AT(mill_counter_input, workers, 104),
  SIZE(mill_counter_input, 112),
  AT(mill_candidates, level, 0), AT(mill_candidates, count, 4), AT(mill_candidates, first, 8), AT(mill_candidates, type, 16),
  AT(mill_candidates, interval, 24), AT(mill_candidates, parent, 32), AT(mill_candidates, last, 40), AT(mill_candidates, total, 48),
  SIZE(mill_candidates, 56), AT(mill_counter_level, culled, 0), AT(mill_counter_level, method, 8), SIZE(mill_counter_level, 16),
  AT(mill_counter_ops, open, 0), AT(mill_counter_ops, count, 8), AT(mill_counter_ops, keep, 16), AT(mill_counter_ops, close, 24),
  AT(mill_counter_ops, tell, 32), AT(mill_counter_ops, device, 40), SIZE(mill_counter_ops, 48),
  AT(mill_counter_device, open, 0), AT(mill_counter_device, count, 8), AT(mill_counter_device, keep, 16),
  AT(mill_counter_device, close, 24), AT(mill_counter_device, tell, 32), AT(mill_counter_device, there, 40),
  AT(mill_counter_device, count_streams, 48), SIZE(mill_counter_device, 56),
  AT(mill_counter_there, size, 0), AT(mill_counter_there, words, 4), AT(mill_counter_there, count, 8), AT(mill_counter_there, keep, 16),
  SIZE(mill_counter_there, 24),
  AT(mill_device_candidates, level, 0), AT(mill_device_candidates, count, 4), AT(mill_device_candidates, first, 8),
  AT(mill_device_candidates, total, 16), AT(mill_device_candidates, last, 24), AT(mill_device_candidates, candidate, 32),
  AT(mill_device_candidates, type, 40), AT(mill_device_candidates, interval, 48), AT(mill_device_candidates, result, 56),
  SIZE(mill_device_candidates, 64),
  AT(mill_device_candidate, parent, 0), AT(mill_device_candidate, suffix, 4), AT(mill_device_candidate, type, 8),
  AT(mill_device_candidate, interval, 12), SIZE(mill_device_candidate, 16),
  AT(mill_device_frequent, prefix, 0), AT(mill_device_frequent, suffix, 4), AT(mill_device_frequent, type, 8),
  AT(mill_device_frequent, interval, 12), AT(mill_device_frequent, first, 16), AT(mill_device_frequent, count, 20),
  AT(mill_device_frequent, more, 24), AT(mill_device_frequent, which, 28), SIZE(mill_device_frequent, 32),
  AT(mill_episode_tree, levels, 0),
  AT(mill_episode_tree, count, 4), AT(mill_episode_tree, first, 8), AT(mill_episode_tree, type, 16),
  AT(mill_episode_tree, interval, 24), AT(mill_episode_tree, parent, 32), SIZE(mill_episode_tree, 40),
  AT(mill_device_host, size, 0), AT(mill_device_host, multiprocessors, 4), AT(mill_device_host, shared_block, 8),
  AT(mill_device_host, shared_multiprocessor, 12), AT(mill_device_host, threads_multiprocessor, 16), AT(mill_device_host, self, 24),
  AT(mill_device_host, free_bytes, 32), AT(mill_device_host, allocate, 40), AT(mill_device_host, release, 48),
  AT(mill_device_host, upload, 56), AT(mill_device_host, download, 64), AT(mill_device_host, fill, 72),
  AT(mill_device_host, kernel, 80), AT(mill_device_host, occupancy, 88), AT(mill_device_host, launch, 96), SIZE(mill_device_host, 104),
  AT(mill_device_stream, time, 0), AT(mill_device_stream, type, 8), AT(mill_device_stream, order, 16), AT(mill_device_stream, first, 24),
  AT(mill_device_stream, type_time, 32), AT(mill_device_stream, type_order, 40), AT(mill_device_stream, interval, 48),
  AT(mill_device_stream, events, 56), AT(mill_device_stream, types, 60), AT(mill_device_stream, intervals, 64),
  AT(mill_device_stream, strict, 68), AT(mill_device_stream, time_bytes, 72), SIZE(mill_device_stream, 80),

  AT(mill_event, tick, 0), AT(mill_event, unit, 8), AT(mill_event, reserved, 12), SIZE(mill_event, 16),
  AT(mill_group, name, 0), AT(mill_group, first, 8), AT(mill_group, size, 12), SIZE(mill_group, 16),
  AT(mill_stream_info, tick_ps, 0), AT(mill_stream_info, start, 8), AT(mill_stream_info, stop, 16),
  AT(mill_stream_info, group_count, 24), AT(mill_stream_info, group, 32), AT(mill_stream_info, seed, 40),
  AT(mill_stream_info, version, 48), AT(mill_stream_info, config, 56),
  AT(mill_stream_info, sorted, 64), AT(mill_stream_info, reserved, 68), SIZE(mill_stream_info, 72),
  AT(mill_stream_end, events, 0), AT(mill_stream_end, spike_hash, 8), AT(mill_stream_end, stop, 16),
  AT(mill_stream_end, complete, 24), AT(mill_stream_end, reserved, 28), SIZE(mill_stream_end, 32),
  AT(mill_format_ops, extensions, 0), AT(mill_format_ops, probe, 8), AT(mill_format_ops, open, 16), AT(mill_format_ops, read, 24),
  AT(mill_format_ops, close, 32), AT(mill_format_ops, create, 40), AT(mill_format_ops, write, 48), AT(mill_format_ops, finish, 56),
  AT(mill_format_ops, abandon, 64), SIZE(mill_format_ops, 72),
};

static const struct {
  const char *what;
  long got, want;
} values[] = {
  {"ABI major", MILL_ABI_MAJOR, 0}, {"ABI minor", MILL_ABI_MINOR, 6}, {"magic", MILL_PLUGIN_MAGIC, 0x4c4c494d},
  {"neuron", MILL_NEURON, 1}, {"synapse", MILL_SYNAPSE, 2}, {"plasticity", MILL_PLASTICITY, 3}, {"delivery", MILL_DELIVERY, 4},
  {"stimulus", MILL_STIMULUS, 5}, {"counter", MILL_COUNTER, 6}, {"format", MILL_FORMAT, 7}, {"kinds", MILL_KIND_COUNT, 8},
  {"cpu", MILL_CPU, 1}, {"cuda", MILL_CUDA, 2}, {"exact", MILL_EXACT, 4},
  {"real", MILL_REAL, 1}, {"int", MILL_INT, 2}, {"bool", MILL_BOOL, 3}, {"choice", MILL_CHOICE, 4}, {"text", MILL_TEXT, 5},
  {"required", MILL_REQUIRED, 1}, {"per neuron", MILL_PER_NEURON, 2}, {"expert", MILL_EXPERT, 4}, {"deprecated", MILL_DEPRECATED, 8},
  {"state real", MILL_STATE_REAL, 1}, {"state int", MILL_STATE_INT, 2}, {"state long", MILL_STATE_LONG, 3},
  {"state double", MILL_STATE_DOUBLE, 4}, {"batch", MILL_BATCH, 1024}, {"epoch", MILL_EPOCH_MAX, 32},
  {"ok", MILL_OK, 0}, {"different", MILL_DIFFERENT, 1}, {"usage", MILL_USAGE, 2}, {"data", MILL_DATA, 3},
  {"resources", MILL_RESOURCES, 4}, {"interrupted", MILL_INTERRUPTED, 130},
};

static void test_head(void)
{
  static const struct mill_plugin p = {MILL_PLUGIN_HEAD(MILL_FORMAT), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  is_int(p.magic, MILL_PLUGIN_MAGIC, "the head macro: magic");
  is_int(p.abi_major, MILL_ABI_MAJOR, "major");
  is_int(p.abi_minor, MILL_ABI_MINOR, "minor");
  is_int(p.size, sizeof p, "size");
  is_int(p.pointer_size, sizeof(void *), "pointer size");
  is_int(p.kind, MILL_FORMAT, "kind");
  ok(!memcmp(&p, "MILL", 4) || ((const unsigned char *)&p)[0] == 0x4c, "the file shows MILL");
}

static void test_host(void)
{
  is_int(mill_host.size, sizeof mill_host, "the host's size");
  is_int(mill_host.abi >> 16, MILL_ABI_MAJOR, "the host's major version");
  is_int(mill_host.abi & 0xffff, MILL_ABI_MINOR, "the host's minor version");
  ok(mill_host.fail && mill_host.allocate && mill_host.release && mill_host.note && mill_host.each && !mill_host.interrupted(), "every function is there");
  struct mill_error error;
  is_int(mill_host.fail(&error, MILL_DATA, "%s %d", "line", 7), -1, "fail returns -1");
  is_str(error.text, "line 7", "and fills the error");
  unsigned char *memory = mill_host.allocate("x", 1000, 3);
  ok(memory && (uintptr_t)memory % 64 == 0 && !memory[2999], "memory is aligned and zero");
  mill_host.release(memory);
}

int main(void)
{
  plan_later();
  if (sizeof(void *) != 8) {
    skip(1, "pointers have %zu bytes here", sizeof(void *));
    return done_testing();
  }
  for (size_t i = 0; i < sizeof pins / sizeof *pins; i++)
    is_int((intmax_t)pins[i].got, (intmax_t)pins[i].want, "%s", pins[i].what);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    is_int(values[i].got, values[i].want, "%s", values[i].what);
  test_head();
  test_host();
  return done_testing();
}
