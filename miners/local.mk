# Episode counters, one plugin each, in the manner of plugins/local.mk.
pkglib_LTLIBRARIES += miners/counter-serial.la
miners_counter_serial_la_SOURCES = miners/serial.c
miners_counter_serial_la_CFLAGS = $(PLUGIN_CFLAGS)
miners_counter_serial_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += miners/counter-latest-start.la
miners_counter_latest_start_la_SOURCES = miners/latest-start.c \
  miners/latest-start-cache.h miners/latest-start-device.h miners/latest-start-join.h miners/latest-start-pairs.h \
  miners/latest-start-pool.h miners/latest-start-streams.h miners/on-device.h
miners_counter_latest_start_la_CFLAGS = $(PLUGIN_CFLAGS)
miners_counter_latest_start_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += miners/counter-a2.la
miners_counter_a2_la_SOURCES = miners/a2.c \
  miners/blocks.h miners/nodes.h miners/on-device.h miners/relaxed-device.h miners/relaxed.h miners/tiles-device.h
miners_counter_a2_la_CFLAGS = $(PLUGIN_CFLAGS)
miners_counter_a2_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += miners/counter-hybrid.la
miners_counter_hybrid_la_SOURCES = miners/hybrid.c \
  miners/algorithm-1-device.h miners/algorithm-1-there.h miners/blocks.h miners/machine.h miners/nodes.h miners/mapconcatenate.h miners/on-device.h \
  miners/ptpe.h miners/tiles-device.h
miners_counter_hybrid_la_CFLAGS = $(PLUGIN_CFLAGS)
miners_counter_hybrid_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += miners/counter-mapconcatenate.la
miners_counter_mapconcatenate_la_SOURCES = miners/mapconcatenate.c \
  miners/algorithm-1-device.h miners/algorithm-1-there.h miners/machine.h miners/mapconcatenate.h miners/nodes.h miners/on-device.h miners/tiles-device.h
miners_counter_mapconcatenate_la_CFLAGS = $(PLUGIN_CFLAGS)
miners_counter_mapconcatenate_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += miners/counter-ptpe.la
miners_counter_ptpe_la_SOURCES = miners/ptpe.c \
  miners/algorithm-1-device.h miners/algorithm-1-there.h miners/blocks.h miners/machine.h miners/nodes.h miners/on-device.h miners/ptpe.h \
  miners/tiles-device.h
miners_counter_ptpe_la_CFLAGS = $(PLUGIN_CFLAGS)
miners_counter_ptpe_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += miners/counter-two-pass.la
miners_counter_two_pass_la_SOURCES = miners/two-pass.c \
  miners/algorithm-1-device.h miners/algorithm-1-there.h miners/blocks.h miners/machine.h miners/nodes.h miners/on-device.h miners/ptpe.h \
  miners/relaxed-device.h miners/relaxed.h miners/tiles-device.h
miners_counter_two_pass_la_CFLAGS = $(PLUGIN_CFLAGS)
miners_counter_two_pass_la_LDFLAGS = $(PLUGIN_LDFLAGS)

# Their texts for devices; core/local.mk says how they become bytes.
miner_texts = miners/algorithm-1.cu miners/latest-start.cu miners/latest-start-streams.cu miners/relaxed.cu miners/tiles.cu
EXTRA_DIST += $(miner_texts)
BUILT_SOURCES += $(miner_texts:.cu=.cu_text)
CLEANFILES += $(miner_texts:.cu=.cu_text)
