# Three lines a plugin. The target's name is the installed file's, KIND-NAME, without the folder of its source.
pkglib_LTLIBRARIES += plugins/delivery-row-wise.la
plugins_delivery_row_wise_la_SOURCES = plugins/delivery/row-wise.c plugins/delivery/rows.h
plugins_delivery_row_wise_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_delivery_row_wise_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/format-binary.la
plugins_format_binary_la_SOURCES = plugins/formats/binary.c
plugins_format_binary_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_format_binary_la_LDFLAGS = $(PLUGIN_LDFLAGS)

text_formats = plugins/formats/decimal.h plugins/formats/lines.h plugins/formats/names.h

pkglib_LTLIBRARIES += plugins/format-csv.la
plugins_format_csv_la_SOURCES = plugins/formats/csv.c \
  plugins/formats/csv-columns.h plugins/formats/csv-comments.h plugins/formats/csv-read.h $(text_formats)
plugins_format_csv_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_format_csv_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/format-spk.la
plugins_format_spk_la_SOURCES = plugins/formats/spk.c $(text_formats)
plugins_format_spk_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_format_spk_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/plasticity-naive.la
plugins_plasticity_naive_la_SOURCES = plugins/plasticity/naive.c
plugins_plasticity_naive_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_plasticity_naive_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/stimulus-dc.la
plugins_stimulus_dc_la_SOURCES = plugins/stimuli/dc.c
plugins_stimulus_dc_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_stimulus_dc_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/stimulus-poisson.la
plugins_stimulus_poisson_la_SOURCES = plugins/stimuli/poisson.c
plugins_stimulus_poisson_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_stimulus_poisson_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/stimulus-spike-file.la
plugins_stimulus_spike_file_la_SOURCES = plugins/stimuli/spike-file.c
plugins_stimulus_spike_file_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_stimulus_spike_file_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/synapse-static.la
plugins_synapse_static_la_SOURCES = plugins/synapses/static.c
plugins_synapse_static_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_synapse_static_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/plasticity-event-driven.la
plugins_plasticity_event_driven_la_SOURCES = plugins/plasticity/event-driven.c
plugins_plasticity_event_driven_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_plasticity_event_driven_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/plasticity-lazy.la
plugins_plasticity_lazy_la_SOURCES = plugins/plasticity/lazy.c
plugins_plasticity_lazy_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_plasticity_lazy_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/synapse-stdp.la
plugins_synapse_stdp_la_SOURCES = plugins/synapses/stdp.c
plugins_synapse_stdp_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_synapse_stdp_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/synapse-paper-stdp.la
plugins_synapse_paper_stdp_la_SOURCES = plugins/synapses/paper-stdp.c
plugins_synapse_paper_stdp_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_synapse_paper_stdp_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/synapse-stdp-nearest.la
plugins_synapse_stdp_nearest_la_SOURCES = plugins/synapses/stdp-nearest.c
plugins_synapse_stdp_nearest_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_synapse_stdp_nearest_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/synapse-stdp-triplet.la
plugins_synapse_stdp_triplet_la_SOURCES = plugins/synapses/stdp-triplet.c
plugins_synapse_stdp_triplet_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_synapse_stdp_triplet_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/synapse-stp.la
plugins_synapse_stp_la_SOURCES = plugins/synapses/stp.c
plugins_synapse_stp_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_synapse_stp_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/delivery-cache-aware.la
plugins_delivery_cache_aware_la_SOURCES = plugins/delivery/cache-aware.c plugins/delivery/rows.h
plugins_delivery_cache_aware_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_delivery_cache_aware_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += plugins/delivery-shared-memory.la
plugins_delivery_shared_memory_la_SOURCES = plugins/delivery/shared-memory.c plugins/delivery/rows.h
plugins_delivery_shared_memory_la_CFLAGS = $(PLUGIN_CFLAGS)
plugins_delivery_shared_memory_la_LDFLAGS = $(PLUGIN_LDFLAGS)

# Their texts for devices; core/local.mk says how they become bytes.
plugin_texts = plugins/delivery/cache-aware.cu plugins/delivery/row-wise.cu plugins/delivery/shared-memory.cu \
  plugins/plasticity/event-driven.cu plugins/plasticity/lazy.cu plugins/plasticity/naive.cu plugins/stimuli/poisson.cu
EXTRA_DIST += $(plugin_texts)
BUILT_SOURCES += $(plugin_texts:.cu=.cu_text)
CLEANFILES += $(plugin_texts:.cu=.cu_text)
