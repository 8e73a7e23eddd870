# Episode counters, one plugin each, in the manner of plugins/local.mk.
pkglib_LTLIBRARIES += miners/counter-serial.la
miners_counter_serial_la_SOURCES = miners/serial.c
miners_counter_serial_la_CFLAGS = $(PLUGIN_CFLAGS)
miners_counter_serial_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += miners/counter-latest-start.la
miners_counter_latest_start_la_SOURCES = miners/latest-start.c \
  miners/latest-start-cache.h miners/latest-start-pairs.h
miners_counter_latest_start_la_CFLAGS = $(PLUGIN_CFLAGS)
miners_counter_latest_start_la_LDFLAGS = $(PLUGIN_LDFLAGS)
