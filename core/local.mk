# The library and the command. libmill.la has every function of the core, for the command and the tests; libspikemill exports those
# of the public headers alone (core/libspikemill.sym).
noinst_LTLIBRARIES += core/libmill.la
core_libmill_la_SOURCES = \
  core/accumulate.c \
  core/build-population.c \
  core/build-stimulus.c \
  core/build.c \
  core/checkpoint.c \
  core/choice.c \
  core/connect-rows.c \
  core/connect.c \
  core/convert.c \
  core/counting.c \
  core/cuda/cache.c \
  core/cuda/candidates.c \
  core/cuda/columns.c \
  core/cuda/compose.c \
  core/cuda/device-surrogates.c \
  core/cuda/device.c \
  core/cuda/gpu-build.c \
  core/cuda/gpu-connect.c \
  core/cuda/gpu-cut.c \
  core/cuda/gpu-network.c \
  core/cuda/gpu-plastic.c \
  core/cuda/gpu-results.c \
  core/cuda/gpu-run.c \
  core/cuda/gpu-values.c \
  core/cuda/library.c \
  core/cuda/maker-pairs.c \
  core/cuda/maker-rows.c \
  core/cuda/maker.c \
  core/cuda/miner-log.c \
  core/cuda/miner-stream.c \
  core/cuda/miner.c \
  core/cuda/program.c \
  core/cuda/rows-back.c \
  core/cuda/rows.c \
  core/cuda/spike-log.c \
  core/cuda/texts.c \
  core/edges.c \
  core/engine.c \
  core/episodes.c \
  core/error.c \
  core/expr.c \
  core/generate-bursts.c \
  core/generate-drift.c \
  core/generate-planted.c \
  core/generate-poisson.c \
  core/generate-sym26.c \
  core/generate-train.c \
  core/generate-window.c \
  core/fingerprint.c \
  core/generate.c \
  core/hash.c \
  core/history.c \
  core/host.c \
  core/ini-scan.c \
  core/ini.c \
  core/intervals.c \
  core/job-files.c \
  core/job.c \
  core/levels-device.c \
  core/levels-host.c \
  core/levels.c \
  core/lines.c \
  core/memory-free.c \
  core/memory.c \
  core/mining-device.c \
  core/mining-open.c \
  core/mining-results.c \
  core/mining-slots.c \
  core/mining.c \
  core/netfile-population.c \
  core/netfile-projection.c \
  core/netfile-record.c \
  core/netfile.c \
  core/occurrences.c \
  core/order.c \
  core/output.c \
  core/param-check.c \
  core/param-print.c \
  core/param.c \
  core/plastic-build.c \
  core/plastic.c \
  core/plugin-check.c \
  core/plugin-search.c \
  core/record.c \
  core/reduce.c \
  core/registry.c \
  core/score.c \
  core/significance-device.c \
  core/significance-job.c \
  core/significance-model.c \
  core/significance-surrogate.c \
  core/significance.c \
  core/simulation.c \
  core/stream-find.c \
  core/stream-hash.c \
  core/stream-part.c \
  core/stream-sort.c \
  core/stream-text.c \
  core/stream.c \
  core/support.c \
  core/surrogates.c \
  core/text.c \
  core/threads.c \
  core/truth.c \
  core/value.c \
  core/weights.c \
  core/windows.c \
  core/writer.c
core_libmill_la_CPPFLAGS = $(AM_CPPFLAGS) -DMILL_PLUGIN_DIR='"$(pkglibdir)"'
core_libmill_la_LIBADD = $(INIPARSER_LIBS) $(XXHASH_LIBS) $(CJSON_LIBS)

noinst_HEADERS += \
  core/command.h \
  core/compare-levels.h \
  core/checkpoint.h \
  core/choice.h \
  core/connect.h \
  core/distribution.h \
  core/counting.h \
  core/cuda/api.h \
  core/cuda/cache.h \
  core/cuda/candidates.h \
  core/cuda/compose.h \
  core/cuda/device-surrogates.h \
  core/cuda/device.h \
  core/cuda/gpu.h \
  core/cuda/library.h \
  core/cuda/maker-private.h \
  core/cuda/maker.h \
  core/cuda/miner-private.h \
  core/cuda/miner.h \
  core/cuda/program.h \
  core/cuda/rows.h \
  core/cuda/spike-log.h \
  core/cuda/texts.h \
  core/episodes.h \
  core/expr.h \
  core/generate-private.h \
  core/fingerprint.h \
  core/generate.h \
  core/history.h \
  core/ini-scan.h \
  core/ini.h \
  core/job.h \
  core/levels-private.h \
  core/levels.h \
  core/lines.h \
  core/memory.h \
  core/mine-files.h \
  core/mine-graph.h \
  core/mine-report.h \
  core/mine-series.h \
  core/mining-private.h \
  core/netfile-private.h \
  core/netfile.h \
  core/new-text.h \
  core/occurrences.h \
  core/order.h \
  core/output.h \
  core/param.h \
  core/plastic.h \
  core/plugin-check.h \
  core/registry.h \
  core/run-mine.h \
  core/significance-job.h \
  core/significance-model.h \
  core/significance.h \
  core/simulation.h \
  core/stream-private.h \
  core/stream.h \
  core/surrogates-private.h \
  core/surrogates.h \
  core/text.h \
  core/threads.h \
  core/truth.h \
  core/value.h \
  core/variant.h \
  core/weights.h \
  core/windows.h

spikemillincludedir = $(includedir)/spikemill
spikemillinclude_HEADERS = \
  core/spikemill/counter.h \
  core/spikemill/delivery.h \
  core/spikemill/device-counter.h \
  core/spikemill/device-host.h \
  core/spikemill/device-math.h \
  core/spikemill/device-network.h \
  core/spikemill/device-random.h \
  core/spikemill/device.h \
  core/spikemill/error.h \
  core/spikemill/format.h \
  core/spikemill/mining.h \
  core/spikemill/network.h \
  core/spikemill/neuron-ops.h \
  core/spikemill/neuron.h \
  core/spikemill/pair-rule.h \
  core/spikemill/plasticity.h \
  core/spikemill/plugin.h \
  core/spikemill/propagator.h \
  core/spikemill/spikemill.h \
  core/spikemill/stimulus.h \
  core/spikemill/synapse-ops.h \
  core/spikemill/synapse.h

lib_LTLIBRARIES += libspikemill.la
libspikemill_la_SOURCES =
libspikemill_la_LIBADD = core/libmill.la
libspikemill_la_LDFLAGS = -version-info 0:0:0 -no-undefined -export-symbols core/libspikemill.sym
EXTRA_libspikemill_la_DEPENDENCIES = core/libspikemill.sym

# The functions that these headers declare, each on a line that starts with its type.
exported_headers = core/spikemill/error.h core/spikemill/mining.h core/spikemill/spikemill.h
core/libspikemill.sym: $(exported_headers)
	$(AM_V_GEN)$(MKDIR_P) core && for h in $(exported_headers); do cat "$(top_srcdir)/$$h"; done | \
	  $(SED) -n -e '/^static/d' -e 's/^[a-z].*[ *]\(mill_[a-z0-9_]*\)(.*/\1/p' | LC_ALL=C sort -u >$@-t && mv -f $@-t $@
CLEANFILES += core/libspikemill.sym

bin_PROGRAMS += spikemill
spikemill_SOURCES = \
  core/cmd-check.c \
  core/cmd-compare.c \
  core/cmd-convert.c \
  core/cmd-generate.c \
  core/cmd-info.c \
  core/cmd-mine.c \
  core/cmd-new.c \
  core/cmd-run.c \
  core/compare-levels.c \
  core/info-device.c \
  core/main.c \
  core/mine-files.c \
  core/mine-graph.c \
  core/mine-occurrences.c \
  core/mine-json.c \
  core/mine-report.c \
  core/mine-series.c \
  core/mine-windows.c \
  core/options.c \
  core/progress.c \
  core/run-mine.c \
  core/variant-mining.c \
  core/variant-network.c \
  core/variant.c
spikemill_LDADD = core/libmill.la

# Texts for devices, which are compiled at run time: each as a list of its bytes, which the C file that holds it includes.
device_texts = core/cuda/candidates.cu core/cuda/connect.cu core/cuda/connect-common.cu core/cuda/connect-degrees.cu core/cuda/connect-draw.cu \
  core/cuda/connect-once.cu core/cuda/connect-pairs.cu core/cuda/connect-ring.cu core/cuda/connect-twice.cu core/cuda/connect-values.cu \
  core/cuda/forget.cu core/cuda/kernel.cu core/cuda/log.cu core/cuda/model.cu core/cuda/plastic.cu core/cuda/prelude.cu core/cuda/rule.cu \
  core/cuda/stimuli.cu core/cuda/stream.cu core/cuda/surrogates.cu core/cuda/update.cu
device_headers = core/distribution.h core/spikemill/device.h core/spikemill/device-counter.h core/spikemill/device-math.h core/spikemill/device-network.h \
  core/spikemill/device-random.h core/spikemill/neuron.h core/spikemill/pair-rule.h core/spikemill/propagator.h \
  core/spikemill/synapse-ops.h core/spikemill/synapse.h
EXTRA_DIST += $(device_texts)
BUILT_SOURCES += $(device_texts:.cu=.cu_text) $(device_headers:.h=.h_text)
CLEANFILES += $(device_texts:.cu=.cu_text) $(device_headers:.h=.h_text)
SUFFIXES = .cu .cu_text .h .h_text
TO_BYTES = $(MKDIR_P) $(@D) && od -An -v -tu1 $< | $(SED) 's/[0-9][0-9]*/&,/g' >$@-t && mv -f $@-t $@
.cu.cu_text:
	$(AM_V_GEN)$(TO_BYTES)
.h.h_text:
	$(AM_V_GEN)$(TO_BYTES)
