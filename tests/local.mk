# Every test speaks TAP. C tests are programs with the whole core in them; *.test are bash scripts that use the command and the files.
# One line a test: tests/NAME.c needs no more than its name in check_PROGRAMS.
check_PROGRAMS += \
  tests/abi \
  tests/accumulate \
  tests/bands \
  tests/bands-plastic \
  tests/bands-static \
  tests/connect \
  tests/convert \
  tests/counter-memory \
  tests/counters \
  tests/counting \
  tests/connect-statistics \
  tests/cuda-load \
  tests/device \
  tests/device-random \
  tests/edges \
  tests/emulator \
  tests/emulator-driver \
  tests/emulator-nvrtc \
  tests/engine \
  tests/expr \
  tests/formats \
  tests/formats-binary \
  tests/formats-csv \
  tests/formats-foreign \
  tests/formats-spk \
  tests/golden \
  tests/gpu-maker \
  tests/gpu-candidates \
  tests/gpu-counters \
  tests/gpu-extremes \
  tests/gpu-golden \
  tests/gpu-levels \
  tests/gpu-networks \
  tests/gpu-results \
  tests/gpu-stream \
  tests/gpu-surrogates \
  tests/gpu-plastic \
  tests/gpu-values \
  tests/generate \
  tests/generate-law \
  tests/generate-truth \
  tests/ini \
  tests/job \
  tests/levels \
  tests/lines \
  tests/mapconcatenate \
  tests/memory \
  tests/mining \
  tests/neuron-models \
  tests/neuron-values \
  tests/nvrtc \
  tests/nvrtc-cache \
  tests/nvrtc-program \
  tests/nvrtc-rules \
  tests/occurrences \
  tests/order \
  tests/output \
  tests/param \
  tests/recordings \
  tests/random-networks \
  tests/reduce \
  tests/registry \
  tests/rule-values \
  tests/strategies \
  tests/significance \
  tests/significance-model \
  tests/significance-poisson \
  tests/stimuli \
  tests/stdp-values \
  tests/stream \
  tests/text \
  tests/threads \
  tests/truth \
  tests/value \
  tests/windows \
  tests/weights
LDADD = core/libmill.la

test_scripts = \
  tests/carry.test \
  tests/checkpoint.test \
  tests/commands.test \
  tests/convert-command.test \
  tests/compare.test \
  tests/cuda-prototypes.test \
  tests/cxx.test \
  tests/exports.test \
  tests/generate-command.test \
  tests/golden-counters.test \
  tests/gpu-auto.test \
  tests/gpu-errors.test \
  tests/gpu-hashes.test \
  tests/gpu-mine.test \
  tests/gpu-recordings.test \
  tests/gpu-rules.test \
  tests/gpu-run.test \
  tests/gpu-run-mine.test \
  tests/gpu-windows.test \
  tests/gpu-sanitizers.test \
  tests/hashes.test \
  tests/hostile.test \
  tests/info-device.test \
  tests/mine-results.test \
  tests/mine.test \
  tests/mine-windows.test \
  tests/new.test \
  tests/peers-neuron.test \
  tests/report.test \
  tests/run-mine.test \
  tests/significance-command.test

TESTS += $(check_PROGRAMS) $(test_scripts)
test_headers = \
  tests/batches.h \
  tests/chain.h \
  tests/contest.h \
  tests/bands.h \
  tests/replay.h \
  tests/formats.h \
  tests/brute.h \
  tests/emulator.h \
  tests/german.h \
  tests/gpu.h \
  tests/gpu-ways.h \
  tests/made.h \
  tests/mine.h \
  tests/mined.h \
  tests/net.h \
  tests/nvrtc.h \
  tests/plastic-networks.h \
  tests/random.h \
  tests/static-networks.h \
  tests/rows.h \
  tests/spikes.h \
  tests/tap.h \
  tests/weighing.h
EXTRA_DIST += $(test_scripts) $(test_headers) tests/installed.test tests/gpu.sh tests/peers-neuron.py tests/tap.sh tests/valgrind.supp tests/data

# Fuzzers, which are no tests: as ordinary programs they go through the files on their command line. Their first lines say how to build
# them for libFuzzer.
EXTRA_PROGRAMS += tests/fuzz-csv tests/fuzz-spk tests/fuzz-binary tests/fuzz-ini
tests_fuzz_csv_SOURCES = tests/fuzz-formats.c
tests_fuzz_csv_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_FILES
tests_fuzz_spk_SOURCES = tests/fuzz-formats.c
tests_fuzz_spk_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_FILES -DFUZZ_SPK
tests_fuzz_binary_SOURCES = tests/fuzz-formats.c
tests_fuzz_binary_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_FILES -DFUZZ_BINARY
CLEANFILES += $(EXTRA_PROGRAMS)

# Plugins for the registry's test, most of them broken: each compiled by one command, as one from outside of the tree would be. The folder
# is not one that a program from the build tree searches.
test_plugins = \
  counter-mapconcatenate-printed \
  counter-miscount \
  counter-misled \
  counter-no-count \
  counter-older \
  counter-slow-mapconcatenate \
  counter-slow-ptpe \
  counter-underbound \
  counter-unsteady \
  delivery-other-kind \
  format-trial \
  neuron-clash \
  plasticity-no-member \
  stimulus-both \
  stimulus-unsteady \
  synapse-beyond \
  synapse-control \
  synapse-flags \
  synapse-function \
  synapse-half-text \
  synapse-long \
  synapse-magic \
  synapse-major \
  synapse-many-parameters \
  synapse-minor \
  synapse-no-closed-form \
  synapse-no-device \
  synapse-no-kind \
  synapse-no-licence \
  synapse-no-ops \
  synapse-no-symbol \
  synapse-older \
  synapse-ops-size \
  synapse-other-name \
  synapse-parameters \
  synapse-pointers \
  synapse-short \
  synapse-sound \
  synapse-text \
  synapse-tiny \
  synapse-undefined \
  synapse-unsteady
check_DATA += tests/plugins/.libs/stamp
EXTRA_DIST += $(test_plugins:%=tests/plugins/%.c) tests/plugins/broken.h
tests/plugins/.libs/stamp: $(test_plugins:%=tests/plugins/%.c) tests/plugins/broken.h $(spikemillinclude_HEADERS)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && rm -f $(@D)/* && for p in $(test_plugins); do \
	  $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) -I. $(PLUGIN_CFLAGS) $(CFLAGS) -fPIC $(LDFLAGS) -shared \
	    $(srcdir)/tests/plugins/$$p.c -o $(@D)/$$p.so || exit 1; done && echo >$@
# Libraries in the place of the GPU's driver and of NVRTC, whole ones and ones that lack a function.
fakes = tests/fakes/cuda-driver.c tests/fakes/nvrtc.c tests/fakes/nothing.c
check_DATA += tests/fakes/.libs/stamp
EXTRA_DIST += $(fakes)
FAKE_CC = $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) $(PLUGIN_CFLAGS) -D_GNU_SOURCE $(CFLAGS) -fPIC $(LDFLAGS) -shared
tests/fakes/.libs/stamp: $(fakes) $(top_srcdir)/core/cuda/api.h
	$(AM_V_GEN)$(MKDIR_P) $(@D) && rm -f $(@D)/* && \
	  $(FAKE_CC) $(srcdir)/tests/fakes/cuda-driver.c -o $(@D)/driver.so && \
	  $(FAKE_CC) -DcuGraphLaunch=cuGraphLaunch_late $(srcdir)/tests/fakes/cuda-driver.c -o $(@D)/driver-old.so && \
	  $(FAKE_CC) -DcuDriverGetVersion=cuNoVersion $(srcdir)/tests/fakes/cuda-driver.c -o $(@D)/driver-unversioned.so && \
	  $(FAKE_CC) $(srcdir)/tests/fakes/nvrtc.c -o $(@D)/libnvrtc.so.13 && \
	  $(FAKE_CC) -DnvrtcGetCUBIN=nvrtcGetPTX $(srcdir)/tests/fakes/nvrtc.c -o $(@D)/nvrtc-old.so && \
	  $(FAKE_CC) $(srcdir)/tests/fakes/nothing.c -o $(@D)/nothing.so && \
	  for v in 13.0 12.4 12.0; do cp $(@D)/nothing.so $(@D)/libnvrtc-builtins.so.$$v || exit 1; done && echo >$@
clean-local:
	rm -rf tests/plugins/.libs tests/fakes/.libs

# Under valgrind and the sanitizers: what parses, allocates, reads files and starts threads.
# Without the test of free memory, which valgrind's own use of it confuses, and without scripts.
VALGRIND_TESTS = \
  tests/accumulate \
  tests/connect \
  tests/convert \
  tests/counting \
  tests/connect-statistics \
  tests/cuda-load \
  tests/edges \
  tests/emulator \
  tests/emulator-driver \
  tests/engine \
  tests/expr \
  tests/formats \
  tests/formats-binary \
  tests/formats-csv \
  tests/formats-spk \
  tests/generate \
  tests/ini \
  tests/job \
  tests/levels \
  tests/mining \
  tests/lines \
  tests/mapconcatenate \
  tests/neuron-models \
  tests/neuron-values \
  tests/nvrtc-cache \
  tests/order \
  tests/output \
  tests/param \
  tests/reduce \
  tests/registry \
  tests/strategies \
  tests/stimuli \
  tests/stdp-values \
  tests/stream \
  tests/text \
  tests/threads \
  tests/truth \
  tests/value \
  tests/windows \
  tests/weights

SLOW_TESTS = tests/bands tests/bands-plastic tests/bands-static tests/gpu-rules.test tests/gpu-run.test tests/gpu-windows.test tests/nvrtc
SELF_CONTAINED_TESTS = tests/counters tests/gpu-candidates tests/gpu-counters tests/gpu-errors.test tests/gpu-extremes tests/gpu-golden \
  tests/gpu-levels tests/gpu-recordings.test \
  tests/gpu-maker tests/gpu-mine.test tests/gpu-networks tests/gpu-plastic tests/gpu-results tests/gpu-run-mine.test tests/gpu-stream \
  tests/gpu-surrogates tests/gpu-values tests/random-networks tests/significance-command.test tests/significance-poisson tests/strategies

CAREFUL_TESTS = $(VALGRIND_TESTS) \
  tests/random-networks \
  tests/gpu-maker \
  tests/gpu-candidates \
  tests/gpu-counters \
  tests/gpu-extremes \
  tests/gpu-levels \
  tests/gpu-networks \
  tests/gpu-results \
  tests/gpu-surrogates \
  tests/gpu-stream \
  tests/gpu-auto.test \
  tests/gpu-plastic \
  tests/gpu-values \
  tests/gpu-errors.test \
  tests/formats-foreign \
  tests/checkpoint.test \
  tests/commands.test \
  tests/convert-command.test \
  tests/counter-memory \
  tests/counters \
  tests/compare.test \
  tests/generate-command.test \
  tests/hostile.test \
  tests/info-device.test \
  tests/mine-results.test \
  tests/mine.test \
  tests/mine-windows.test \
  tests/occurrences \
  tests/memory \
  tests/significance \
  tests/significance-model

# SPIKEMILL_PLUGIN_PATH is for the programs that load plugins themselves; scripts run the command, which finds the build tree's.
AM_TESTS_ENVIRONMENT = \
  top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; SPIKEMILL='$(abs_top_builddir)/spikemill'; \
  SPIKEMILL_PLUGIN_PATH='$(abs_top_builddir)/neuron-models/.libs:$(abs_top_builddir)/plugins/.libs:$(abs_top_builddir)/miners/.libs'; \
  CC='$(CC)'; NM='$(NM)'; PKG_CONFIG='$(PKG_CONFIG)'; WITH_CUDA='$(WITH_CUDA)'; \
  export top_srcdir top_builddir SPIKEMILL SPIKEMILL_PLUGIN_PATH CC NM PKG_CONFIG WITH_CUDA;
TEST_EXTENSIONS = .test
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
TEST_LOG_DRIVER = $(TAP_DRIVER)
TEST_LOG_COMPILER = env -u SPIKEMILL_PLUGIN_PATH bash

# A GPU for tests: the driver and NVRTC as libraries that run kernels on the CPU (tests/cuda-emulator/README.md).
emulator_cflags = $(AM_CFLAGS) -fvisibility=hidden
emulator_ldflags = -rpath /nowhere -module -avoid-version -shared -Wl,-z,defs
check_LTLIBRARIES += tests/cuda-emulator/driver.la tests/cuda-emulator/nvrtc.la
tests_cuda_emulator_driver_la_SOURCES = \
  tests/cuda-emulator/block.c \
  tests/cuda-emulator/device.c \
  tests/cuda-emulator/emulator.h \
  tests/cuda-emulator/fiber.c \
  tests/cuda-emulator/fiber.h \
  tests/cuda-emulator/graph.c \
  tests/cuda-emulator/guarded.h \
  tests/cuda-emulator/kernel-abi.h \
  tests/cuda-emulator/launch.c \
  tests/cuda-emulator/memory.c \
  tests/cuda-emulator/module.c \
  tests/cuda-emulator/stream.c
tests_cuda_emulator_driver_la_CFLAGS = $(emulator_cflags)
tests_cuda_emulator_driver_la_LDFLAGS = $(emulator_ldflags)
tests_cuda_emulator_nvrtc_la_SOURCES = \
  tests/cuda-emulator/guarded.h \
  tests/cuda-emulator/kernel-abi.h \
  tests/cuda-emulator/nvrtc-entries.c \
  tests/cuda-emulator/nvrtc-log.c \
  tests/cuda-emulator/nvrtc-real.c \
  tests/cuda-emulator/nvrtc.c \
  tests/cuda-emulator/nvrtc.h
tests_cuda_emulator_nvrtc_la_CFLAGS = $(emulator_cflags) -DSHIM_FOLDER='"$(abs_srcdir)/tests/cuda-emulator"'
tests_cuda_emulator_nvrtc_la_LDFLAGS = $(emulator_ldflags)
emulator_headers = tests/cuda-emulator/shim.h tests/cuda-emulator/intrinsics.h
$(tests_cuda_emulator_nvrtc_la_OBJECTS): $(emulator_headers) tests/cuda-emulator/kernel-abi.h
EXTRA_DIST += $(emulator_headers) tests/cuda-emulator/kernels.cu tests/cuda-emulator/README.md
