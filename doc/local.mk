dist_man_MANS += \
  doc/spikemill.1 \
  doc/spikemill-config.5 \
  doc/spikemill-plugin.7
EXTRA_DIST += \
  doc/benchmarks.md \
  doc/figures \
  doc/formats.md \
  doc/plasticity.md
